"""What people write in kernels, checked against Python or NumPy."""

from __future__ import annotations

import enum
import functools
import math
import operator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from lang_support import run
from plain_python import check

import tileir.lang as ct

ConstInt = ct.Constant[int]
F32 = np.float32
INF = math.inf
OPERATIONS = {"add": operator.add, "subtract": operator.sub}


def out(n: int = 16) -> np.ndarray:
    return np.full(n, -1, np.int32)


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


# Control flow on scalars, as Python has it.


@ct.kernel
def gcd(out, a, b):
    while b != 0:
        a, b = b, a - a // b * b
    ct.store(out, (0,), a)


@ct.kernel
def integer_square_root(out, n):
    low, high = 0, 65536
    while low + 1 < high:
        middle = (low + high) // 2
        if middle <= n // middle:
            low = middle
        else:
            high = middle
    ct.store(out, (0,), low)


@ct.kernel
def primes(out, n):
    count = 0
    for i in range(2, n):
        is_prime = True
        for j in range(2, i):
            if j * j > i:
                break
            if i - i // j * j == 0:
                is_prime = False
                break
        if is_prime:
            if count < 16:
                ct.store(out, (count,), i)
            count += 1
    if count < 16:
        ct.store(out, (15,), count)


@ct.kernel
def six_loops(out, n):
    total = 0
    for a in range(n):
        for b in range(2):
            for c in range(n):
                for d in range(2):
                    for e in range(n):
                        for f in range(2):
                            total += a + b * c + d * e * f
    ct.store(out, (0,), total)


@ct.kernel
def flags(out, n):
    found, position, tries = False, -1, 0
    i = 0
    while not found and i < 20:
        tries += 1
        if i * 3 == n or (i > 10 and n > 40):
            found = True
            position = i
        i += 1
    ct.store(out, (0,), position)
    ct.store(out, (1,), tries)
    ct.store(out, (2,), 1 if found else 0)


@ct.kernel
def state_machine(out, n):
    state = 0
    for i in range(n):
        if state == 0:
            state = 1 if i > 2 else 0
        elif state == 1:
            state = 2
            if i == 5:
                continue
        elif state == 2:  # noqa: SIM102
            if i > 8:
                state = 3
                break
        if i < 12:
            ct.store(out, (i,), state)
    ct.store(out, (15,), state)


@ct.kernel
def loops_with_else_branches(out, n):
    i = 0
    while True:
        i += 1
        if i < n:
            if i == 3:
                ct.store(out, (3,), 33)
            elif i == 5:
                break
            else:
                ct.store(out, (i,), i)
        else:
            ct.store(out, (0,), i)
            break
    for j in range(n):
        if j == 1:
            pass
        elif j == 4:
            ct.store(out, (10,), j)
            return
    ct.store(out, (11,), 1)


@ct.kernel
def bit_tricks(out, n):
    x = n ^ 5
    x |= 8
    x &= ~1
    x <<= 2
    x >>= 1
    ct.store(out, (0,), x)
    ct.store(out, (1,), -n + +n - ~n)
    count = 0
    while n > 0:
        count += n & 1
        n >>= 1
    ct.store(out, (2,), count)


@ct.kernel
def do_while(out, n):
    while True:
        n = n - 3
        if not n > 0:
            break
    ct.store(out, (0,), n)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@ct.kernel
def static_recursion(out, M: ConstInt, N: ConstInt):
    ct.store(out, (0,), ackermann(M, N))


def tree_sum(values):
    if len(values) == 1:
        return values[0]
    middle = len(values) // 2
    return tree_sum(values[:middle]) + tree_sum(values[middle:])


@ct.kernel
def sums_of_tuples(out, n):
    values = tuple(n * i for i in ct.static_iter(range(7)))
    ct.store(out, (0,), tree_sum(values))
    ct.store(out, (1,), sum(values))
    ct.store(out, (2,), functools.reduce(lambda a, b: a * 2 + b, values, 1))
    ct.store(out, (3,), max(values[1:]) - min(values))
    ct.store(out, (4,), 1 if any(v > 10 for v in values) else 0)
    ct.store(out, (5,), 1 if all(v < 10 for v in values) else 0)
    ct.store(out, (6,), sum(i * v for i, v in enumerate(reversed(values))))
    doubled = list(map(lambda v: v * 2, values))  # noqa: C417
    ct.store(out, (7,), doubled[3])
    by_name = {name: OPERATIONS[name](n, 3) for name in sorted(OPERATIONS)}
    ct.store(out, (8,), by_name["subtract"] + by_name["add"])
    ct.store(out, (9,), abs(n - 20))


@ct.kernel
def options(out, n, OPTIONS: ct.Constant):
    total = n
    for name, factor in ct.static_iter(OPTIONS):
        if name == "add":
            total = total + factor
        elif name == "scale":
            total = total * factor
        else:
            ct.static_assert(False, f"unknown option {name}")
    ct.store(out, (0,), total)


class Direction(enum.IntEnum):
    UP = 1
    DOWN = 2


@ct.kernel
def int_enums(out, n):
    ct.store(out, (0,), n * Direction.DOWN)
    ct.store(out, (1,), 1 if n == Direction.UP else 0)


@dataclass(frozen=True)
class Counter:
    value: Any
    step: int = 1

    def next(self):
        return Counter(self.value + self.step, self.step)

    @staticmethod
    def starting_at(value):
        return Counter(value)


@ct.kernel
def objects_in_loops(out, n):
    c = Counter.starting_at(0)
    fast = Counter(0, step=3)
    while c.value < n:
        c = c.next()
        if c.value > 2:  # noqa: SIM108
            fast = fast.next()
        else:
            fast = fast.next().next()
    ct.store(out, (0,), c.value)
    ct.store(out, (1,), fast.value)


@ct.kernel
def operands(out, n, m):
    """`and` and `or` give one of their operands."""
    ct.store(out, (0,), n or 7)
    ct.store(out, (1,), n and m)
    ct.store(out, (2,), n and m or 9)
    step = 0
    for i in range(n):
        step = step or i or m
    ct.store(out, (3,), step)
    same = n > 2 or m == 4
    ct.store(out, (4,), 1 if same and n else 0)
    ct.store(out, (5,), 1 if not (n and m > 1) else 0)
    while n > 0 and m:
        n, m = n - 1, m - 1
    ct.store(out, (6,), n - m)


@ct.kernel
def python_numbers(out, n, x):
    ct.store(out, (0,), int(x))
    ct.store(out, (1,), int(float(n) / 2))
    ct.store(out, (2,), int(n > 2) + int(float(n > 2) * 2))
    ct.store(out, (3,), int(x or 2.5))


class Point(NamedTuple):
    x: Any
    y: Any = 0


@dataclass(frozen=True)
class Interval:
    low: Any
    high: Any

    def __contains__(self, value):
        return self.low <= value and value <= self.high

    def __len__(self):
        return self.high - self.low

    def __abs__(self):
        return abs(self.low) + abs(self.high)


@ct.kernel
def special_methods(out, n, m):
    p = Point(n)._replace(y=m)
    ct.store(out, (0,), p.x * 10 + p.y)
    ct.store(out, (1,), 1 if n in Interval(2, m) else 0)
    ct.store(out, (2,), 1 if n not in Interval(2, m) else 0)
    ct.store(out, (3,), len(Interval(n, m)) + abs(Interval(-n, m)))


@ct.kernel
def shadowed(out, n):
    sum = n + 1
    for n in range(3):
        sum += n
    ct.store(out, (0,), sum)
    ct.store(out, (1,), n)

    def max(x):
        return x + sum

    ct.store(out, (2,), max(1))


CASES = [
    (gcd, (48, 36), (17, 5), (7, 0)),
    (integer_square_root, (0,), (99,), (100,), (12345,)),
    (primes, (3,), (30,), (60,)),
    (six_loops, (0,), (2,)),
    (flags, (9,), (50,), (1,)),
    (state_machine, (3,), (6,), (14,)),
    (loops_with_else_branches, (0,), (4,), (9,)),
    (bit_tricks, (0,), (13,)),
    (do_while, (1,), (10,)),
    (sums_of_tuples, (1,), (4,)),
    (int_enums, (1,), (5,)),
    (objects_in_loops, (0,), (5,)),
    (shadowed, (5,)),
    (special_methods, (3, 7), (1, 7), (9, 9)),
    (operands, (5, 4), (0, 4), (3, 0), (0, 0)),
    (python_numbers, (5, 2.75), (0, -2.75), (3, 0.0)),
    (options, (3, (("add", 2), ("scale", 5)))),
    (static_recursion, (2, 2)),
]


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [(kernel, arguments) for kernel, *cases in CASES for arguments in cases],
    ids=lambda value: value.name if isinstance(value, ct.Kernel) else str(value),
)
def test_as_python(kernel, arguments):
    check(kernel, out(), *arguments)


# Tiles, against NumPy.


@ct.kernel
def newton(x, y, TILE: ConstInt):
    """Square roots by iteration until all elements of a tile have converged."""
    i = ct.bid(0)
    v = ct.load(x, (i,), (TILE,))
    root = ct.full((TILE,), 1.0, ct.float32)
    error = ct.full((), INF, ct.float32)
    rounds = 0
    while error > 1e-6 and rounds < 50:
        following = (root + v / root) * 0.5
        error = ct.max(abs(following - root))
        root = following
        rounds += 1
    ct.store(y, (i,), root)


def test_newton():
    x = rng().uniform(0.5, 50, 32).astype(F32)
    y = np.zeros_like(x)
    run(newton, 2, x, y, 16)
    np.testing.assert_allclose(y, np.sqrt(x.astype(np.float64)), rtol=1e-6)


@ct.kernel
def running_maximum(x, top, where, CHUNK: ConstInt):
    """The largest element and its position, in chunks; a tuple goes round."""
    best = (ct.full((), -INF, ct.float32), ct.full((), -1, ct.int32))
    for j in range(ct.num_tiles(x, 0, (CHUNK,))):
        v = ct.load(x, (j,), (CHUNK,), padding_mode=ct.PaddingMode.NEG_INF)
        here = ct.max(v)
        if here > best[0]:
            best = (here, j * CHUNK + ct.argmax(v))
    ct.store(top, (0,), best[0])
    ct.store(where, (0,), best[1])


def test_running_maximum():
    x = rng().standard_normal(100).astype(F32)
    top, where = np.zeros(1, F32), np.zeros(1, np.int32)
    run(running_maximum, 1, x, top, where, 16)
    assert top[0] == x.max()
    assert where[0] == x.argmax()


@dataclass(frozen=True)
class Softmax:
    """A running softmax: maximum, sum, weighted sum."""

    top: Any
    total: Any
    acc: Any
    TM: int

    @staticmethod
    def start(TM, D):
        return Softmax(
            ct.full((TM, 1), -INF, ct.float32),
            ct.zeros((TM, 1), ct.float32),
            ct.zeros((TM, D), ct.float32),
            TM,
        )

    def update(self, scores, values):
        top = ct.maximum(self.top, ct.max(scores, axis=1, keepdims=True))
        weights = ct.exp(scores - top)
        shrink = ct.exp(self.top - top)
        total = self.total * shrink + ct.sum(weights, axis=1, keepdims=True)
        return Softmax(top, total, ct.mma(weights, values, self.acc * shrink), self.TM)

    @property
    def result(self):
        return self.acc / self.total


@ct.kernel
def attention(q, k, v, o, TM: ConstInt, TN: ConstInt, D: ConstInt):
    i = ct.bid(0)
    query = ct.load(q, (i, 0), (TM, D))
    state = Softmax.start(TM, D)
    for j in range(ct.cdiv(k.shape[0], TN)):
        keys = ct.transpose(ct.load(k, (j, 0), (TN, D)))
        scores = ct.mma(query, keys, ct.zeros((state.TM, TN), ct.float32))
        state = state.update(scores, ct.load(v, (j, 0), (TN, D)))
    ct.store(o, (i, 0), state.result)


def test_attention_with_a_dataclass():
    q, k, v = (rng().standard_normal((n, 16)).astype(F32) for n in (32, 64, 64))
    o = np.zeros_like(q)
    run(attention, 2, q, k, v, o, 16, 16, 16)
    scores = (q.astype(np.float64)) @ k.T.astype(np.float64)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = weights / weights.sum(axis=1, keepdims=True) @ v
    np.testing.assert_allclose(o, expected, rtol=1e-4, atol=1e-5)


def make_elementwise(function):
    """A kernel made for a function."""

    @ct.kernel
    def elementwise(x, y, TILE: ConstInt):
        i = ct.bid(0)
        ct.store(y, (i,), function(ct.load(x, (i,), (TILE,))))

    return elementwise


square, cube = make_elementwise(lambda v: v * v), make_elementwise(lambda v: v * v * v)


def test_kernels_made_by_a_function():
    x = np.arange(32, dtype=F32)
    for kernel, power in ((square, 2), (cube, 3)):
        y = np.zeros_like(x)
        run(kernel, 4, x, y, 8)
        np.testing.assert_array_equal(y, x**power)


@ct.kernel
def choose_source(a, b, c, o, n, TILE: ConstInt):
    """Arrays chosen at run time, from tuples and by conditions."""
    i = ct.bid(0)
    source = a if n > 0 else b
    for array in ct.static_iter((source, c)):
        ct.store(o, (i,), ct.load(o, (i,), (TILE,)) + ct.load(array, (i,), (TILE,)))


@pytest.mark.parametrize("n", [0, 1])
def test_arrays_are_values(n):
    a, b, c = (np.full(16, k, F32) for k in (1, 2, 3))
    o = np.zeros(16, F32)
    run(choose_source, 2, a, b, c, o, n, 8)
    np.testing.assert_array_equal(o, np.full(16, 4 if n else 5))


@ct.kernel
def ping_pong(a, b, n, TILE: ConstInt):
    """Smooths back and forth between two arrays, which change places each round."""
    source, target = a, b
    for _ in range(n):
        v = ct.load(source, (0,), (TILE,))
        ct.store(target, (0,), v * 0.5 + 1.0)
        source, target = target, source


@pytest.mark.parametrize("n", [0, 3, 4])
def test_arrays_change_places(n):
    a, b = np.arange(8, dtype=F32), np.zeros(8, F32)
    x = a.copy()
    for _ in range(n):
        x = x * F32(0.5) + F32(1)
    run(ping_pong, 1, a, b, n, 8)
    np.testing.assert_array_equal(b if n % 2 else a, x)


@ct.kernel
def loose_constants(x, y, n):
    """Python's numbers take the dtype of what they meet, also after a branch."""
    scale = 0.5 if n > 3 else 2.0
    shift = 1
    if n > 5:
        shift = 3
    v = ct.load(x, (0,), (8,))
    ct.store(y, (0,), v * scale + shift)


@pytest.mark.parametrize("n", [0, 4, 6])
def test_loose_constants_stay_loose(n):
    x = np.arange(8, dtype=np.float16)
    y = np.zeros_like(x)
    run(loose_constants, 1, x, y, n)
    scale, shift = (0.5 if n > 3 else 2.0), (3 if n > 5 else 1)
    np.testing.assert_array_equal(y, x * scale + shift)


@ct.kernel
def printing(x, n):
    total = ct.sum(ct.load(x, (0,), (4,)))
    print(f"n = {n}, sum = {total}, constant = {1 + 1:03d}")
    if n > 2:
        print("large")


def test_printing_with_names():
    @ct.kernel
    def show(x):
        n, v = ct.bid(0), ct.load(x, (0,), (2,))
        print(f"{n=} {v = } {n!r} {v!s}")

    assert run(show, 1, np.arange(2, dtype=np.int32)) == ["n=0 v = [0, 1] 0 [0, 1]"]


def test_printing():
    lines = run(printing, 1, np.arange(4, dtype=np.int32), 3)
    assert "".join(lines).replace("\n", "") == "n = 3, sum = 6, constant = 002large"


@ct.kernel
def checked(x, n):
    v = ct.load(x, (0,), (4,))
    assert n < 4, "n is too large"
    ct.store(x, (0,), v + n)


def test_assert_at_run_time():
    x = np.arange(4, dtype=np.int32)
    run(checked, 1, x, 3)
    assert x.tolist() == [3, 4, 5, 6]
    with pytest.raises(Exception, match="n is too large"):
        run(checked, 1, x, 4)


COEFFICIENTS = np.array([0.5, 2.0, 3.0], dtype=F32)
SIZES = np.array([4, 8])


@ct.kernel
def numpy_constants(x, y):
    """Elements of NumPy arrays, and what NumPy computes of constants, are numbers."""
    v = ct.load(x, (0,), (SIZES[1],))
    total = v * COEFFICIENTS[0]
    for c in ct.static_iter(COEFFICIENTS[1:]):
        total = total * v + c
    ct.store(y, (0,), total + np.log2(8.0) + SIZES.max())


def test_numpy_constants():
    x = np.arange(8, dtype=F32)
    y = np.zeros_like(x)
    run(numpy_constants, 1, x, y)
    np.testing.assert_allclose(y, (0.5 * x * x + 2) * x + 3 + 11, rtol=1e-6)
