"""Loops and branches do what Python does."""

import numpy as np
import pytest
from plain_python import check

import tileir.lang as ct


def out(n: int = 16) -> np.ndarray:
    return np.full(n, -1, np.int32)


@ct.kernel
def count(out, n):
    total = 0
    for i in range(n):
        total += i
    ct.store(out, (0,), total)


@ct.kernel
def count_from_to_by(out, a, b, s):
    total = 0
    steps = 0
    for i in range(a, b, s):
        total += i
        steps = steps + 1
    ct.store(out, (0,), total)
    ct.store(out, (1,), steps)


@ct.kernel
def collatz(out, n):
    steps = 0
    while n != 1:
        if n - (n - 1) // 2 * 2 == 2:  # noqa: SIM108
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    ct.store(out, (0,), steps)


@ct.kernel
def first_above(out, n, limit):
    found = -1
    for i in range(n):
        if i * i > limit:
            found = i
            break
    ct.store(out, (0,), found)


@ct.kernel
def skip_some(out, n):
    total = 0
    for i in range(n):
        if i == 2:
            continue
        if i > 5:
            total += 100
            continue
        total += i
    ct.store(out, (0,), total)


@ct.kernel
def while_true(out, n):
    i = 0
    total = 0
    while True:
        if i >= n:
            break
        i += 1
        if i == 3:
            continue
        total += i
    ct.store(out, (0,), total)
    ct.store(out, (1,), i)


@ct.kernel
def nested(out, n, m):
    total = 0
    for i in range(n):
        for j in range(i, m):
            if j == 4:
                break
            if i == j:
                continue
            total += i * 10 + j
        total += 1000
    ct.store(out, (0,), total)


@ct.kernel
def value_of_last_round(out, n):
    last = 0
    square = 0
    for last in range(n):
        square = last * last
    ct.store(out, (0,), last)
    ct.store(out, (1,), square)


@ct.kernel
def swap(out, n):
    a = 0
    b = 1
    for _ in range(n):
        a, b = b, a + b
    ct.store(out, (0,), a)
    ct.store(out, (1,), b)


@ct.kernel
def early_return(out, n):
    ct.store(out, (0,), 1)
    if n > 3:
        return
    ct.store(out, (1,), 2)
    if n < 1:
        ct.store(out, (2,), 3)
        return
    else:
        ct.store(out, (3,), 4)
    ct.store(out, (4,), 5)


@ct.kernel
def return_from_loop(out, n):
    for i in range(10):
        for j in range(10):
            if i * j == n:
                ct.store(out, (0,), i)
                ct.store(out, (1,), j)
                return
        ct.store(out, (2,), i)
    ct.store(out, (3,), 77)


@ct.kernel
def return_from_while(out, n):
    i = 0
    while i < 10:
        if i == n:
            return
        ct.store(out, (i,), i)
        i += 1
    ct.store(out, (15,), 99)


@ct.kernel
def if_chain(out, n):
    if n < 2:
        x = 10
    elif n < 4:
        x = 20
    elif n < 6:
        x = n
        y = 5
        x += y
    else:
        x = 40
    ct.store(out, (0,), x)


@ct.kernel
def branch_without_else(out, n):
    x = 1
    y = n
    if n > 2:
        x = n
        y = y + x
    ct.store(out, (0,), x)
    ct.store(out, (1,), y)


@ct.kernel
def both_branches_leave(out, n):
    total = 0
    for i in range(10):
        if i < n:
            total += 1
            continue
        else:
            total += 100
            break
    ct.store(out, (0,), total)


@ct.kernel
def break_in_else(out, n):
    x = 0
    while True:
        if x < n:
            x += 1
            y = x
        else:
            break
        x = x + y
    ct.store(out, (0,), x)


@ct.kernel
def unrolled(out, n, N: ct.Constant[int]):
    total = n
    for i in ct.static_iter(range(N)):
        if i == 1:
            continue
        if i == 4:
            break
        total += i
        ct.store(out, (i,), total)
    ct.store(out, (10,), total)


@ct.kernel
def unrolled_with_branch(out, n, N: ct.Constant[int]):
    total = 0
    for i in ct.static_iter(range(N)):
        if n > i:
            total = total + i
        for j in range(i):
            total += j
    ct.store(out, (0,), total)


@ct.kernel
def constant_branches(out, n, FLAG: ct.Constant[bool]):
    if FLAG:  # noqa: SIM108
        x = (n, 1)
    else:
        x = n
    if FLAG:
        x = x[0]
    ct.store(out, (0,), x)


@ct.kernel
def loop_in_branch(out, n):
    x = 0
    if n > 2:
        for i in range(n):
            x += i
    else:
        while x < 5:
            x += n + 1
    ct.store(out, (0,), x)


@ct.kernel
def tile_carried(x, out, n):
    acc = ct.full((4,), 0, ct.int32)
    for i in range(n):
        acc = acc + ct.load(x, (i,), (4,))
    ct.store(out, (0,), acc)


@ct.kernel
def in_place(x, n):
    for i in range(1, n):
        before = ct.load(x, (i - 1,), (1,))
        here = ct.load(x, (i,), (1,))
        ct.store(x, (i,), before + here)


@ct.kernel
def block_numbers(out):
    i = ct.bid(0)
    for j in range(ct.num_blocks(1)):
        if j == ct.bid(1):
            ct.store(out, (i * ct.num_blocks(1) + j,), i * 10 + j)


@ct.kernel
def tuple_carried(out, n):
    state = (0, (1, n))
    for i in range(n):
        total, (product, last) = state
        state = (total + i, (product * 2, i))
    ct.store(out, (0,), state[0])
    ct.store(out, (1,), state[1][0])
    ct.store(out, (2,), state[1][1])


@ct.kernel
def constants_in_a_tuple(x, out, n):
    state = (0, 4)
    for i in range(n):
        tile = ct.load(x, (i,), (state[1],))
        ct.store(out, (i,), tile + state[0])
        state = (state[0] + 1, state[1])


CASES = [
    (count, (0,), (1,), (10,)),
    (count_from_to_by, (0, 10, 3), (5, 5, 1), (7, 3, 2), (-4, 9, 5)),
    (collatz, (1,), (6,), (27,)),
    (first_above, (10, 30), (10, 1000), (0, 0)),
    (skip_some, (0,), (3,), (9,)),
    (while_true, (0,), (2,), (7,)),
    (nested, (3, 4), (5, 6), (0, 3), (6, 0)),
    (value_of_last_round, (0,), (5,)),
    (swap, (0,), (1,), (20,)),
    (early_return, (0,), (2,), (5,)),
    (return_from_loop, (6,), (81,), (7,), (11,)),
    (return_from_while, (0,), (4,), (20,)),
    (if_chain, (0,), (3,), (5,), (9,)),
    (branch_without_else, (1,), (7,)),
    (both_branches_leave, (0,), (4,), (11,)),
    (break_in_else, (0,), (9,)),
    (loop_in_branch, (0,), (2,), (6,)),
    (tuple_carried, (0,), (4,)),
]


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [(kernel, arguments) for kernel, *cases in CASES for arguments in cases],
    ids=lambda value: value.name if isinstance(value, ct.Kernel) else str(value),
)
def test_as_python(kernel, arguments):
    check(kernel, out(), *arguments)


def test_unrolled():
    for size in (0, 1, 3, 6):
        check(unrolled, out(), 5, size)
        check(unrolled_with_branch, out(), 2, size)


def test_constants_choose_branches():
    check(constant_branches, out(), 3, True)
    check(constant_branches, out(), 3, False)


def test_tiles_go_round():
    x = np.arange(64, dtype=np.int32)
    check(tile_carried, x, out(), 5)
    check(tile_carried, x, out(), 0)
    check(constants_in_a_tuple, x, out(), 3)


def test_stores_are_seen_by_later_rounds():
    check(in_place, np.arange(20, dtype=np.int32), 20)


def test_blocks():
    check(block_numbers, out(), grid=(3, 4))
