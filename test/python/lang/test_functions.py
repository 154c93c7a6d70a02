"""Functions, closures, tuples, dataclasses, context managers: as Python has them."""

import contextlib
import enum
import functools
import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from plain_python import check

import tileir.lang as ct

LIMIT = 7
TABLE = (3, 1, 4, 1, 5)
OPTIONS = {"scale": 3, "offset": 5}


def out(n: int = 16) -> np.ndarray:
    return np.full(n, -1, np.int32)


def clamp(x, low=0, high=LIMIT):
    if x < low:
        return low
    if x > high:
        return high
    return x


@ct.kernel
def helper_with_returns(out, n):
    ct.store(out, (0,), clamp(n))
    ct.store(out, (1,), clamp(n, high=3))
    ct.store(out, (2,), clamp(n - 5, -2))


def find_divisor(n):
    for i in range(2, 100):
        if n - n // i * i == 0:
            return i
    return -1


@ct.kernel
def return_from_loop_of_helper(out, n):
    d = find_divisor(n)
    ct.store(out, (0,), d)
    ct.store(out, (1,), find_divisor(n + 1))


def search(n):
    i = 0
    while True:
        j = 0
        while j <= i:
            if i * i + j * j == n:
                return i, j
            j += 1
        i += 1
        if i > 20:
            return -1, -1


@ct.kernel
def return_from_nested_loops(out, n):
    i, j = search(n)
    ct.store(out, (0,), i)
    ct.store(out, (1,), j)


def classify(n):
    if n > 0:
        if n > 10:
            return 2
        n = n + 100
    else:
        if n < -10:
            return -2
        n = n - 100
    return n


@ct.kernel
def partial_returns(out, n):
    ct.store(out, (0,), classify(n))


def nothing(out, n):
    if n > 3:
        return
    ct.store(out, (5,), 1)


@ct.kernel
def helper_without_value(out, n):
    nothing(out, n)
    ct.store(out, (0,), 2)


def apply(function, *values, **names):
    return function(*values, **names)


@ct.kernel
def lambdas_and_closures(out, n):
    k = 3

    def times(x, by=2):
        return x * by + k

    double = lambda x: times(x)  # noqa: E731
    ct.store(out, (0,), double(n))
    k = 10
    ct.store(out, (1,), double(n))
    ct.store(out, (2,), apply(times, n, by=5))
    ct.store(out, (3,), apply(lambda a, *rest: a + rest[1], 1, n, 4))
    ct.store(out, (4,), (lambda *, y: y - 1)(y=n))


def compose(*functions):
    def composed(x):
        for function in ct.static_iter(functions):
            x = function(x)
        return x

    return composed


@ct.kernel
def functions_of_functions(out, n):
    f = compose(lambda x: x + 1, lambda x: x * 3, clamp)
    ct.store(out, (0,), f(n))
    ct.store(out, (1,), compose()(n))


def factorial(n):
    return 1 if n == 0 else n * factorial(n - 1)


@ct.kernel
def recursion(out, N: ct.Constant[int]):
    ct.store(out, (0,), factorial(N))


@ct.kernel
def closure_in_loop(out, n):
    total = 0
    for i in range(n):

        def add(x):
            return x + i  # noqa: B023

        total = add(total)
    ct.store(out, (0,), total)


def make_scaler(factor):
    def scale(x):
        return x * factor

    return scale


triple = make_scaler(3)


@ct.kernel
def closure_from_outside(out, n):
    ct.store(out, (0,), triple(n))
    ct.store(out, (1,), functools.partial(clamp, high=2)(n))


@ct.kernel
def unpacking(out, n):
    a, (b, *c), d = n, (1, 2, 3), 4
    first, *middle, last = (a, b, *c, d)
    [x, y] = middle[0], middle[-1]
    p = q = n + 1
    z: int = 5
    ct.store(out, (0,), first)
    ct.store(out, (1,), last)
    ct.store(out, (2,), x * 10 + y)
    ct.store(out, (3,), p + q + z)
    ct.store(out, (4,), len(middle))


@ct.kernel
def tuples(out, n):
    t = (1, n) + (3,) * 2
    ct.store(out, (0,), t[1] + t[-1])
    ct.store(out, (1,), len(t[1:3]))
    if 3 in t[2:]:
        ct.store(out, (2,), 1)
    if n in t:
        ct.store(out, (3,), 1)
    if (n, 2) == (5, 2):
        ct.store(out, (4,), 1)
    if (n, 2) != (5, 2):
        ct.store(out, (5,), 1)
    squares = tuple(i * i + n for i in ct.static_iter(range(4)) if i != 2)
    ct.store(out, (6,), squares[2])
    ct.store(out, (7,), len(squares))
    pairs = tuple((i, j) for i, j in ct.static_iter(zip((1, 2), (3, 4), strict=True)))
    ct.store(out, (8,), pairs[1][1] + n)
    for i, each in ct.static_iter(enumerate(TABLE)):
        ct.store(out, (9 + i,), each)


@ct.kernel
def dictionaries(out, n):
    d = {"a": n, "b": 2, **OPTIONS}
    ct.store(out, (0,), d["a"] + d["scale"])
    d["c"] = n * 2
    ct.store(out, (1,), d["c"] + len(d))
    if n > 2:
        d["a"] = 50
    ct.store(out, (2,), d["a"])
    ct.store(out, (3,), d.get("missing", 8))
    ct.store(out, (4,), apply(clamp, **{"x": n, "high": 1}))
    for i, key in ct.static_iter(enumerate(d)):
        ct.store(out, (5 + i,), d[key])


class Mode(enum.Enum):
    ADD = "add"
    MULTIPLY = "multiply"


@ct.kernel
def enums_and_strings(out, n, MODE: ct.Constant):
    ct.store(out, (0,), n + 2 if MODE is Mode.ADD else n * 2)
    if MODE == Mode.MULTIPLY and MODE.value == "multiply":
        ct.store(out, (1,), 1)
    name = f"{MODE.name}-{LIMIT:03d}"
    ct.store(out, (2,), len(name))
    if name.startswith("ADD"):
        ct.store(out, (3,), 1)


@dataclass(frozen=True)
class Running:
    total: Any
    count: Any
    width: int = 4

    def push(self, value, weight=1):
        return replace(self, total=self.total + value * weight, count=self.count + 1)

    @property
    def twice(self):
        return self.total * 2

    def __add__(self, other):
        return Running(self.total + other.total, self.count + other.count)

    def __call__(self, x):
        return self.total + x

    def __getitem__(self, index):
        return self.total if index == 0 else self.count


@ct.kernel
def dataclasses(x, out, n):
    state = Running(0, 0)
    for i in range(n):
        if i != 1:
            state = state.push(i, weight=2)
        tile = ct.load(x, (i,), (state.width,))
        ct.store(out, (i + 2,), tile)
    both = state + Running(100, n)
    ct.store(out, (0,), both.twice + both.count)
    ct.store(out, (1,), both(1) + both[0] - both[1])


class Point(NamedTuple):
    x: Any
    y: Any


@ct.kernel
def named_tuples(out, n):
    p = Point(n, 2)
    if n > 3:
        p = Point(p.y, p.x)
    ct.store(out, (0,), p.x * 10 + p[1])


@contextlib.contextmanager
def marked(out, position, value):
    ct.store(out, (position,), value)
    scale = 2
    yield value * scale
    ct.store(out, (position + 1,), value + scale)


@contextlib.contextmanager
def undone(out, position):
    try:
        yield
    finally:
        ct.store(out, (position,), 1)


@ct.kernel
def context_managers(out, n):
    with marked(out, 0, n) as doubled, undone(out, 2):
        ct.store(out, (3,), doubled)
    for i in range(4):
        with undone(out, 4 + i):
            if i == n:
                break
            ct.store(out, (8 + i,), i)
    with undone(out, 12):
        if n > 2:
            return
    ct.store(out, (13,), 1)


def inside_with(out, n):
    with undone(out, 0):
        if n > 2:
            return n
        return n * 10


@ct.kernel
def return_from_with(out, n):
    ct.store(out, (1,), inside_with(out, n))


@ct.kernel
def conditions(out, n, m):
    ct.store(out, (0,), 1 if 2 < n < 6 else 0)
    ct.store(out, (1,), 1 if n < m and m < 8 else 0)
    ct.store(out, (2,), 1 if n > 6 or m > 6 else 0)
    ct.store(out, (3,), 1 if not n > 6 else 0)
    ct.store(out, (4,), n if n > m else m if m > 3 else 3)
    ct.store(out, (5,), 1 if n and m else 0)
    ct.store(out, (6,), 1 if n != 0 and 12 // n == 3 else 0)
    if n == 1 or m == 1 or n == m:
        ct.store(out, (7,), 1)
    if not (n > 0 and not m > 0):
        ct.store(out, (8,), 1)
    while n < m and n < 100:
        n += 3
    ct.store(out, (9,), n)
    if (half := n // 2) > 3:
        ct.store(out, (10,), half)


@ct.kernel
def static_things(out, n):
    ct.store(out, (0,), ct.static_eval(sum(sorted(TABLE)[:2]) + LIMIT))
    ct.static_assert(LIMIT == 7, "limit")
    ct.store(out, (1,), math.ceil(math.sqrt(10)) + n)
    ct.store(out, (2,), max(TABLE) + min(1, LIMIT) + abs(-3))
    total = 0
    for name, value in ct.static_iter(sorted(OPTIONS.items())):
        total += value * len(name)
    ct.store(out, (3,), total)
    assert LIMIT > 3, "holds"


CASES = [
    (helper_with_returns, (-3,), (5,), (20,)),
    (return_from_loop_of_helper, (15,), (49,), (97,)),
    (return_from_nested_loops, (25,), (3,), (400,)),
    (partial_returns, (5,), (50,), (-5,), (-50,)),
    (helper_without_value, (1,), (9,)),
    (lambdas_and_closures, (4,)),
    (functions_of_functions, (0,), (5,)),
    (closure_in_loop, (0,), (5,)),
    (closure_from_outside, (4,)),
    (unpacking, (3,)),
    (tuples, (5,), (6,)),
    (dictionaries, (1,), (6,)),
    (named_tuples, (2,), (5,)),
    (context_managers, (2,), (7,)),
    (return_from_with, (2,), (5,)),
    (conditions, (3, 5), (0, 0), (4, 9), (7, 1), (1, 1), (9, 0)),
    (static_things, (1,)),
]


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [(kernel, arguments) for kernel, *cases in CASES for arguments in cases],
    ids=lambda value: value.name if isinstance(value, ct.Kernel) else str(value),
)
def test_as_python(kernel, arguments):
    check(kernel, out(), *arguments)


def test_constant_arguments():
    check(recursion, out(), 6)
    check(enums_and_strings, out(), 3, Mode.ADD)
    check(enums_and_strings, out(), 3, Mode.MULTIPLY)


def test_state_goes_round():
    check(dataclasses, np.arange(100, 132, dtype=np.int32), np.full(64, -1, np.int32), 5)


@ct.kernel
def return_from_loop_in_with(out, n):
    with undone(out, 0):
        for i in range(5):
            with undone(out, 1):
                if i == n:
                    return
            ct.store(out, (2 + i,), i)
    ct.store(out, (9,), 1)


def leaves_loop_in_with(out, n):
    with undone(out, 0):
        for i in range(5):
            with undone(out, 1):
                if i == n:
                    return i * 10
    return -5


@ct.kernel
def helper_returns_from_loop_in_with(out, n):
    ct.store(out, (3,), leaves_loop_in_with(out, n))


@pytest.mark.parametrize("n", [0, 3, 8])
def test_all_contexts_are_left(n):
    check(return_from_loop_in_with, out(), n)
    check(helper_returns_from_loop_in_with, out(), n)
