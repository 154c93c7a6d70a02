"""Random programs of shape and integer operations, against NumPy with every tile spelled out.

The interpreter keeps repeated elements implicit; this is where a wrong shape would show.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from interp_support import compute, tile_type

I32 = np.int32
MAX_ELEMENTS = 256


class Program:
    """Text of operations, and the value that each result must have."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.values: list[tuple[str, np.ndarray]] = []

    def add(self, text: str, value: np.ndarray) -> None:
        name = f"%v{len(self.values)}"
        self.lines.append(f"{name} = {text}")
        self.values.append((name, np.array(value, I32, order="C")))

    def pick(self) -> tuple[str, np.ndarray]:
        return self.random.choice(self.values)

    def constant(self) -> None:
        shape = [self.random.choice((1, 2, 4, 8)) for _ in range(self.random.randint(0, 3))]
        number = self.random.randint(-9, 9)
        self.add(f"constant <i32: {number}> : {tile_type(shape, 'i32')}", np.full(shape, number))

    def iota(self) -> None:
        n = self.random.choice((2, 4, 8, 16))
        self.add(f"iota : tile<{n}xi32>", np.arange(n))

    def reshape(self) -> None:
        name, x = self.pick()
        rest, shape = x.size, []
        while rest > 1:
            extent = 2 ** self.random.randint(0, rest.bit_length() - 1)
            shape.append(extent)
            rest //= extent
        shape += [1] * self.random.randint(0, 2)
        self.random.shuffle(shape)
        types = f"{tile_type(x.shape, 'i32')} -> {tile_type(shape, 'i32')}"
        self.add(f"reshape {name} : {types}", x.reshape(shape))

    def broadcast(self) -> None:
        name, x = self.pick()
        shape = [n if n > 1 else self.random.choice((1, 2, 4)) for n in x.shape]
        if np.prod(shape, dtype=int) <= MAX_ELEMENTS:
            types = f"{tile_type(x.shape, 'i32')} -> {tile_type(shape, 'i32')}"
            self.add(f"broadcast {name} : {types}", np.broadcast_to(x, shape))

    def permute(self) -> None:
        name, x = self.pick()
        if x.ndim >= 2:
            order = self.random.sample(range(x.ndim), x.ndim)
            out = x.transpose(order)
            types = f"{tile_type(x.shape, 'i32')} -> {tile_type(out.shape, 'i32')}"
            self.add(f"permute {name} {order} : {types}", out)

    def _pair(self) -> list[tuple[str, np.ndarray]]:
        name, x = self.pick()
        partners = [one for one in self.values if one[1].shape == x.shape]
        return [(name, x), self.random.choice(partners)]

    def binary(self) -> None:
        (a, x), (b, y) = self._pair()
        op, truth = self.random.choice(
            [
                ("addi {}, {}", np.add),
                ("muli {}, {}", np.multiply),
                ("maxi {}, {} signed", np.maximum),
                ("xori {}, {}", np.bitwise_xor),
            ]
        )
        self.add(f"{op.format(a, b)} : {tile_type(x.shape, 'i32')}", truth(x, y))

    def select(self) -> None:
        (a, x), (b, y) = self._pair()
        shape = tile_type(x.shape, "i32")
        bits = tile_type(x.shape, "i1")
        mask = f"%m{len(self.values)}"
        self.lines.append(f"{mask} = cmpi less_than {a}, {b}, signed : {shape} -> {bits}")
        self.add(f"select {mask}, {b}, {a} : {bits}, {shape}", np.where(x < y, y, x))

    def concatenate(self) -> None:
        (a, x), (b, y) = self._pair()
        if x.ndim and x.size < MAX_ELEMENTS:
            axis = self.random.randrange(x.ndim)
            out = np.concatenate([x, y], axis)
            one, two = tile_type(x.shape, "i32"), tile_type(out.shape, "i32")
            self.add(f"cat {a}, {b} dim = {axis} : {one}, {one} -> {two}", out)

    def extract(self) -> None:
        name, x = self.pick()
        if not x.ndim:
            return
        shape = [max(1, n // self.random.choice((1, 2))) for n in x.shape]
        index = [self.random.randrange(n // k) for n, k in zip(x.shape, shape, strict=True)]
        names = [f"%i{len(self.values)}_{d}" for d in range(x.ndim)]
        self.lines += [
            f"{i} = constant <i32: {k}> : tile<i32>" for i, k in zip(names, index, strict=True)
        ]
        where = tuple(slice(k * n, k * n + n) for k, n in zip(index, shape, strict=True))
        types = f"{tile_type(x.shape, 'i32')} -> {tile_type(shape, 'i32')}"
        self.add(f"extract {name}[{', '.join(names)}] : {types}", x[where])

    def reduce_or_scan(self) -> None:
        name, x = self.pick()
        if not x.ndim:
            return
        axis = self.random.randrange(x.ndim)
        reduces = self.random.random() < 0.5
        out = np.add.reduce(x, axis) if reduces else np.add.accumulate(x, axis)
        kind = f"reduce {name} dim={axis}" if reduces else f"scan {name} dim={axis} reverse=false"
        types = f"{tile_type(x.shape, 'i32')} -> {tile_type(out.shape, 'i32')}"
        self.add(
            f"""{kind} identities=[0 : i32] : {types}
            (%e: tile<i32>, %a: tile<i32>) {{
              %s = addi %e, %a : tile<i32>
              yield %s : tile<i32>
            }}""",
            out,
        )

    def loop(self) -> None:
        """Two rounds of a loop that carries the tile."""
        name, x = self.pick()
        shape, n = tile_type(x.shape, "i32"), len(self.values)
        self.lines += [f"%c{n}_{k} = constant <i32: {k}> : tile<i32>" for k in range(3)]
        self.add(
            f"""for %k in (%c{n}_0 to %c{n}_2, step %c{n}_1) : tile<i32>
                iter_values(%a = {name}) -> ({shape}) {{
              %b = addi %a, {name} : {shape}
              continue %b : {shape}
            }}""",
            x * 3,
        )


@pytest.mark.parametrize("check", (True, False))
@pytest.mark.parametrize("seed", range(25))
def test_random_program(seed, check):
    program = Program(seed)
    x = np.random.default_rng(seed).integers(-100, 100, (4, 8)).astype(I32)
    program.values.append(("%x0", x))
    steps = [
        program.constant,
        program.iota,
        program.reshape,
        program.broadcast,
        program.permute,
        program.binary,
        program.select,
        program.concatenate,
        program.extract,
        program.reduce_or_scan,
        program.loop,
        program.broadcast,
        program.binary,
    ]
    for _ in range(40):
        program.random.choice(steps)()
    chosen = program.random.sample(program.values[1:], 6)
    body = "\n".join(program.lines)
    for k, (name, value) in enumerate(chosen):
        shape = tile_type(value.shape, "i32")
        flat = tile_type([value.size], "i32")
        body += f"\n%r{k} = reshape {name} : {shape} -> {flat}"
    results = compute(body, [x], [((v.size,), I32) for _, v in chosen], check=check)
    for got, (name, want) in zip(results, chosen, strict=True):
        assert (got == want.reshape(-1)).all(), name
