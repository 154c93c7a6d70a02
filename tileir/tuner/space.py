"""Spaces of configurations: products of choices, and a walk through those that are too large.

The walk measures a sample that is spread over the space, then goes from the fastest to their
neighbours, which differ in one choice by one place. Choices should stand in an order in which
neighbours are alike: 64, 128, 256.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .result import Measurement

Point = tuple[int, ...]
"""A configuration, by the place of each choice."""

#: Part of the measurements that go to the sample.
_SAMPLE = 3
#: So many of the fastest have their neighbours measured.
_FRONT = 3


class Space:
    """All combinations of choices: `{"TM": (64, 128), "occupancy": (1, 2)}`."""

    def __init__(self, choices: Mapping[str, Sequence[Any]]):
        self.names = tuple(choices)
        self.choices = tuple(tuple(values) for values in choices.values())
        self.size = math.prod(map(len, self.choices))

    def config(self, point: Point) -> dict[str, Any]:
        values = (values[place] for values, place in zip(self.choices, point, strict=True))
        return dict(zip(self.names, values, strict=True))

    def points(self) -> Iterator[Point]:
        return itertools.product(*(range(len(values)) for values in self.choices))

    def neighbours(self, point: Point) -> Iterator[Point]:
        """Points that differ in one choice by one place."""
        for dim, place in enumerate(point):
            for other in (place - 1, place + 1):
                if 0 <= other < len(self.choices[dim]):
                    yield (*point[:dim], other, *point[dim + 1 :])

    def spread(self, count: int, seed: int) -> list[Point]:
        """About `count` points with each value about equally often (a Latin hypercube)."""
        order = random.Random(seed)
        columns = []
        for values in self.choices:
            column = [row * len(values) // count for row in range(count)]
            order.shuffle(column)
            columns.append(column)
        return list(dict.fromkeys(zip(*columns, strict=True)))


def walk(
    space: Space,
    measure: Callable[[Sequence[Point]], Sequence[Measurement[Any] | None]],
    budget: int,
    seed: int,
) -> int:
    """Measures at most `budget` points of a space. Returns how many were left out."""
    if space.size <= budget:
        measure(list(space.points()))
        return 0
    times: dict[Point, float] = {}

    def look_at(points: Sequence[Point]) -> None:
        new = [point for point in dict.fromkeys(points) if point not in times]
        new = new[: budget - len(times)]
        for point, found in zip(new, measure(new), strict=True):
            times[point] = math.inf if found is None else found.mean_us

    look_at(space.spread(max(1, budget // _SAMPLE), seed))
    expanded: set[Point] = set()
    while len(times) < budget:
        fastest = sorted(times, key=lambda point: (times[point], point))
        if math.isinf(times[fastest[0]]):  # nothing works so far: another sample
            before = len(times)
            seed += 1
            look_at(space.spread(max(1, budget // _SAMPLE), seed))
            if len(times) == before:
                break
            continue
        front = [p for p in fastest[:_FRONT] if p not in expanded and not math.isinf(times[p])]
        if not front:
            break
        expanded.update(front)
        look_at([near for point in front for near in space.neighbours(point)])
    return space.size - len(times)
