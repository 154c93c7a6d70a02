"""Integer instructions against Python's integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sim_support import compute, one

CORNERS = [0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF]


def words(bits: int, count: int, seed: int) -> np.ndarray:
    """Random bit patterns of all magnitudes, and corners, as unsigned integers."""
    r = np.random.default_rng(seed)
    random = (
        r.integers(0, 1 << bits, count, np.uint64, endpoint=False)
        if bits < 64
        else (r.integers(0, 1 << 64, count, np.uint64, endpoint=False))
    )
    shifted = random >> r.integers(0, bits, count).astype(np.uint64)
    top = (1 << bits) - 1
    corners = [c & top for c in CORNERS] + [top - c & top for c in CORNERS]
    corners += [top >> 1, (top >> 1) + 1]
    found = np.concatenate([random, shifted, np.array(corners, np.uint64)])
    return found.astype(f"u{bits // 8}")


def signed(x: int, bits: int) -> int:
    return x - (1 << bits) if x >> (bits - 1) & 1 else x


def check(body: str, bits: int, count: int, truth: Callable[..., int], *, result: int = 0,
          read_signed: bool = False, third: np.ndarray | None = None) -> None:  # fmt: skip
    """Compares `body`, of `count` operands of `bits` bits, with `truth` on Python integers."""
    r = np.random.default_rng(5)
    columns = [words(bits, 40, seed) for seed in range(count)]
    columns = [columns[0], *(r.permutation(column) for column in columns[1:])]
    if third is not None:
        columns.append(np.resize(third, len(columns[0])))
    out = result or bits
    got = one(body, columns, f"u{out // 8}")
    for index, values in enumerate(zip(*columns, strict=True)):
        plain = [int(v) for v in values]
        given = [signed(v, bits) if read_signed else v for v in plain[:count]] + plain[count:]
        want = truth(*given) & (1 << out) - 1
        assert int(got[index]) == want, (body, plain, hex(int(got[index])), hex(want))


@pytest.mark.parametrize("bits", (16, 32, 64))
@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("add.s", lambda a, b: a + b),
        ("sub.s", lambda a, b: a - b),
        ("mul.lo.s", lambda a, b: a * b),
        ("min.u", min),
        ("max.u", max),
        ("and.b", lambda a, b: a & b),
        ("or.b", lambda a, b: a | b),
        ("xor.b", lambda a, b: a ^ b),
    ],
)
def test_of_two(name, bits, truth):
    check(f"{name}{bits} %r0, %a0, %a1;", bits, 2, truth)


@pytest.mark.parametrize("bits", (16, 32, 64))
def test_signed_of_two(bits):
    for name, truth in (("min", min), ("max", max)):
        check(f"{name}.s{bits} %r0, %a0, %a1;", bits, 2, truth, read_signed=True)
    check(f"mul.hi.s{bits} %r0, %a0, %a1;", bits, 2, lambda a, b: a * b >> bits, read_signed=True)
    check(f"mul.hi.u{bits} %r0, %a0, %a1;", bits, 2, lambda a, b: a * b >> bits)


def _quotient(a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@pytest.mark.parametrize("bits", (16, 32, 64))
def test_division(bits):
    def rest(a, b):
        return -1 if b == 0 else a - _quotient(a, b) * b

    for kind in "us":
        s = kind == "s"
        check(f"div.{kind}{bits} %r0, %a0, %a1;", bits, 2, _quotient, read_signed=s)
        check(f"rem.{kind}{bits} %r0, %a0, %a1;", bits, 2, rest, read_signed=s)


@pytest.mark.parametrize("bits", (16, 32))
def test_wide(bits):
    for kind in "us":
        s = kind == "s"
        check(f"mul.wide.{kind}{bits} %r0, %a0, %a1;", bits, 2, lambda a, b: a * b,
              result=2 * bits, read_signed=s)  # fmt: skip
    declare = "cvt.u64.u32 %d0, %a1; shl.b64 %d0, %d0, 20;"
    if bits == 32:
        check(f"{declare} mad.wide.s32 %r0, %a0, %a1, %d0;", 32, 2,
              lambda a, b: a * b + ((b & 0xFFFFFFFF) << 20), result=64,
              read_signed=True)  # fmt: skip


def test_multiply_add():
    check("mad.lo.s32 %r0, %a0, %a1, %a2;", 32, 3, lambda a, b, c: a * b + c)
    check("mad.lo.u64 %r0, %a0, %a1, %a2;", 64, 3, lambda a, b, c: a * b + c)
    check("mad.hi.u32 %r0, %a0, %a1, %a2;", 32, 3, lambda a, b, c: (a * b >> 32) + c)
    check("mad.hi.s32 %r0, %a0, %a1, %a2;", 32, 3, lambda a, b, c: (a * b >> 32) + c,
          read_signed=True)  # fmt: skip

    def clamp(x):
        return max(-(2**31), min(2**31 - 1, x))

    check("mad.hi.sat.s32 %r0, %a0, %a1, %a2;", 32, 3, lambda a, b, c: clamp((a * b >> 32) + c),
          read_signed=True)  # fmt: skip
    check("add.sat.s32 %r0, %a0, %a1;", 32, 2, lambda a, b: clamp(a + b), read_signed=True)
    check("sub.sat.s32 %r0, %a0, %a1;", 32, 2, lambda a, b: clamp(a - b), read_signed=True)


def test_multiply_24():
    def low(x, s):
        x &= 0xFFFFFF
        return x - (1 << 24) if s and x >> 23 else x

    for kind in "us":
        s = kind == "s"
        check(f"mul24.lo.{kind}32 %r0, %a0, %a1;", 32, 2, lambda a, b, s=s: low(a, s) * low(b, s))
        check(f"mul24.hi.{kind}32 %r0, %a0, %a1;", 32, 2,
              lambda a, b, s=s: low(a, s) * low(b, s) >> 16)  # fmt: skip
        check(f"mad24.lo.{kind}32 %r0, %a0, %a1, %a2;", 32, 3,
              lambda a, b, c, s=s: low(a, s) * low(b, s) + c)  # fmt: skip


@pytest.mark.parametrize("bits", (16, 32, 64))
def test_of_one(bits):
    check(f"neg.s{bits} %r0, %a0;", bits, 1, lambda a: -a)
    check(f"abs.s{bits} %r0, %a0;", bits, 1, lambda a: abs(a), read_signed=True)
    check(f"not.b{bits} %r0, %a0;", bits, 1, lambda a: ~a)
    check(f"cnot.b{bits} %r0, %a0;", bits, 1, lambda a: a == 0)


@pytest.mark.parametrize("bits", (32, 64))
def test_counting_bits(bits):
    check(f"popc.b{bits} %r0, %a0;", bits, 1, lambda a: a.bit_count(), result=32)
    check(f"clz.b{bits} %r0, %a0;", bits, 1, lambda a: bits - a.bit_length(), result=32)
    check(f"brev.b{bits} %r0, %a0;", bits, 1, lambda a: int(f"{a:0{bits}b}"[::-1], 2))
    check(f"bfind.u{bits} %r0, %a0;", bits, 1, lambda a: a.bit_length() - 1, result=32)

    def find_signed(a):
        return (~a if a < 0 else a).bit_length() - 1

    check(f"bfind.s{bits} %r0, %a0;", bits, 1, find_signed, result=32, read_signed=True)
    check(f"bfind.shiftamt.u{bits} %r0, %a0;", bits, 1,
          lambda a: bits - a.bit_length() if a else -1, result=32)  # fmt: skip


AMOUNTS = np.array(
    [0, 1, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 1 << 31, 2**32 - 1], np.uint32
)


@pytest.mark.parametrize("bits", (16, 32, 64))
def test_shifts(bits):
    check(f"shl.b{bits} %r0, %a0, %a1;", bits, 1, lambda a, n: a << n if n < bits else 0,
          third=AMOUNTS)  # fmt: skip
    check(f"shr.u{bits} %r0, %a0, %a1;", bits, 1, lambda a, n: a >> n if n < bits else 0,
          third=AMOUNTS)  # fmt: skip
    check(f"shr.s{bits} %r0, %a0, %a1;", bits, 1, lambda a, n: a >> min(n, bits - 1),
          read_signed=True, third=AMOUNTS)  # fmt: skip
    for n in (0, 3, bits - 1, bits, 200):
        check(f"shl.b{bits} %r0, %a0, {n};", bits, 1, lambda a, n=n: a << n if n < bits else 0)
        check(f"shr.s{bits} %r0, %a0, {n};", bits, 1, lambda a, n=n: a >> min(n, bits - 1),
              read_signed=True)  # fmt: skip


def test_funnel_shifts():
    def left(low, high, n):
        return ((high << 32 | low) << n) >> 32

    def right(low, high, n):
        return (high << 32 | low) >> n

    for name, truth in (("l", left), ("r", right)):
        check(f"shf.{name}.wrap.b32 %r0, %a0, %a1, %a2;", 32, 2,
              lambda a, b, n, truth=truth: truth(a, b, n & 31), third=AMOUNTS)  # fmt: skip
        check(f"shf.{name}.clamp.b32 %r0, %a0, %a1, %a2;", 32, 2,
              lambda a, b, n, truth=truth: truth(a, b, min(n, 32)), third=AMOUNTS)  # fmt: skip


@pytest.mark.parametrize("bits", (32, 64))
def test_bit_fields(bits):
    """The ISA's own formulas, with position and length from the same word."""
    places = np.array([p | n << 8 for p in (0, 1, 7, 31, 32, 40, 63, 255)
                       for n in (0, 1, 5, 31, 32, 33, 64, 255)], np.uint32)  # fmt: skip
    split = "and.b32 %t0, %a1, 255; shr.u32 %t1, %a1, 8;"

    def extract(a, place, is_signed):
        p, n = place & 255, place >> 8
        msb = bits - 1
        plain = a & (1 << bits) - 1
        sign = 0 if not is_signed or n == 0 else plain >> min(p + n - 1, msb) & 1
        out = 0
        for i in range(bits):
            inside = i < n and p + i <= msb
            out |= (plain >> (p + i) & 1 if inside else sign) << i
        return out

    for kind in "us":
        check(f"{split} bfe.{kind}{bits} %r0, %a0, %t0, %t1;", bits, 1,
              lambda a, place, kind=kind: extract(a, place, kind == "s"), third=places)  # fmt: skip

    split = "and.b32 %t0, %a2, 255; shr.u32 %t1, %a2, 8;"

    def insert(a, b, place):
        p, n = place & 255, place >> 8
        for i in range(n):
            if p + i < bits:
                b = b & ~(1 << p + i) | (a >> i & 1) << p + i
        return b

    check(f"{split} bfi.b{bits} %r0, %a0, %a1, %t0, %t1;", bits, 2, insert, third=places)


def test_masks():
    places = np.array([p | n << 8 for p in (0, 1, 31, 32, 40) for n in (0, 1, 5, 31, 32, 33)],
                      np.uint32)  # fmt: skip
    split = "and.b32 %t0, %a1, 255; shr.u32 %t1, %a1, 8;"

    def clamped(_, place):
        p, n = min(place & 255, 32), min(place >> 8, 32)
        return ((1 << n) - 1) << p

    def wrapped(_, place):
        p, n = place & 31, place >> 8 & 31
        return ((1 << n) - 1) << p

    check(f"{split} bmsk.clamp.b32 %r0, %t0, %t1;", 32, 1, clamped, third=places)
    check(f"{split} bmsk.wrap.b32 %r0, %t0, %t1;", 32, 1, wrapped, third=places)

    def extend(a, n):
        n = min(n, 32)
        return 0 if n == 0 else signed(a & (1 << n) - 1, n)

    check("szext.clamp.s32 %r0, %a0, %a1;", 32, 1, extend, third=AMOUNTS)
    check("szext.clamp.u32 %r0, %a0, %a1;", 32, 1, lambda a, n: a & (1 << min(n, 32)) - 1,
          third=AMOUNTS)  # fmt: skip


def test_find_nth():
    def truth(mask, word):
        base, offset = word & 31, (word >> 5 & 7) - 3
        if offset == 0:
            return base if mask >> base & 1 else -1
        ones = [i for i in (range(base, 32) if offset > 0 else range(base, -1, -1))
                if mask >> i & 1]  # fmt: skip
        return ones[abs(offset) - 1] if len(ones) >= abs(offset) else -1

    body = "and.b32 %t0, %a1, 31; bfe.u32 %t1, %a1, 5, 3; sub.s32 %t1, %t1, 3;"
    check(f"{body} fns.b32 %r0, %a0, %t0, %t1;", 32, 1, truth,
          third=np.arange(256, dtype=np.uint32) * 7)  # fmt: skip


@pytest.mark.parametrize("table", (0x00, 0x01, 0x80, 0xE8, 0x96, 0xCA, 0xD8, 0xFF, 0x3C))
def test_logic_of_three(table):
    def truth(a, b, c):
        out = 0
        for i in range(32):
            index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1
            out |= (table >> index & 1) << i
        return out

    check(f"lop3.b32 %r0, %a0, %a1, %a2, {table};", 32, 3, truth)


def test_logic_of_three_gives_a_predicate():
    x = words(32, 50, 1)
    body = """setp.lt.u32 %q0, %a0, 1000;
        lop3.or.b32 %t0|%q1, %a0, 15, 0, 0xC0, %q0; selp.b32 %r0, 1, 0, %q1;"""
    want = ((x & 15) != 0) | (x < 1000)
    assert (one(body, [x], np.uint32) == want).all()


def test_permuting_bytes():
    def pick(a, b, n):
        byte = (b << 32 | a) >> 8 * (n & 7) & 255
        return 255 * (byte >> 7) if n & 8 else byte

    def default(a, b, c):
        return sum(pick(a, b, c >> 4 * i & 15) << 8 * i for i in range(4))

    check("prmt.b32 %r0, %a0, %a1, %a2;", 32, 3, default)
    modes = {
        "f4e": lambda n: (n, n + 1, n + 2, n + 3),
        "b4e": lambda n: (n, (n + 7) % 8, (n + 6) % 8, (n + 5) % 8),
        "rc8": lambda n: (n, n, n, n),
        "ecl": lambda n: (n, max(n, 1), max(n, 2), 3),
        "ecr": lambda n: (0, min(1, n), min(2, n), n),
        "rc16": lambda n: ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3))[n],
    }
    for mode, places in modes.items():

        def truth(a, b, c, places=places):
            return sum(pick(a, b, n) << 8 * i for i, n in enumerate(places(c & 3)))

        check(f"prmt.b32.{mode} %r0, %a0, %a1, %a2;", 32, 3, truth)


def test_dot_products():
    def part(x, i, width, s):
        value = x >> width * i & (1 << width) - 1
        return signed(value, width) if s else value

    for a in "us":
        for b in "us":

            def four(x, y, c, a=a, b=b):
                return c + sum(part(x, i, 8, a == "s") * part(y, i, 8, b == "s") for i in range(4))

            check(f"dp4a.{a}32.{b}32 %r0, %a0, %a1, %a2;", 32, 3, four)
            for half, start in (("lo", 0), ("hi", 2)):

                def two(x, y, c, a=a, b=b, start=start):
                    return c + sum(
                        part(x, i, 16, a == "s") * part(y, start + i, 8, b == "s") for i in (0, 1)
                    )

                check(f"dp2a.{half}.{a}32.{b}32 %r0, %a0, %a1, %a2;", 32, 3, two)


def test_absolute_differences():
    check("sad.u32 %r0, %a0, %a1, %a2;", 32, 3, lambda a, b, c: c + abs(a - b))
    check("sad.s32 %r0, %a0, %a1, %a2;", 32, 3, lambda a, b, c: c + abs(a - b), read_signed=True)


def test_carries():
    """128-bit sums and differences from two words each."""
    a, b, c, d = (words(64, 100, seed) for seed in range(4))
    add = "add.cc.u64 %r0, %a0, %a2; addc.u64 %r1, %a1, %a3;"
    subtract = "sub.cc.u64 %r0, %a0, %a2; subc.u64 %r1, %a1, %a3;"
    for body, sign in ((add, 1), (subtract, -1)):
        low, high = compute(body, [a, b, c, d], [np.uint64, np.uint64])
        for i in range(len(a)):
            first, second = int(b[i]) << 64 | int(a[i]), int(d[i]) << 64 | int(c[i])
            assert int(high[i]) << 64 | int(low[i]) == first + sign * second & (1 << 128) - 1


def test_packed_halves():
    x, y = words(32, 100, 1), words(32, 100, 2)

    def halves(word, kind):
        return word.view(f"{kind}2").reshape(-1, 2)

    for name, function in (("add", np.add), ("min", np.minimum), ("max", np.maximum)):
        for kind, code in (("u", "u"), ("s", "i")):
            got = one(f"{name}.{kind}16x2 %r0, %a0, %a1;", [x, y], np.uint32)
            want = function(halves(x, code), halves(y, code))
            assert (halves(got, code) == want).all()


@pytest.mark.parametrize("bits", (16, 32, 64))
def test_comparisons(bits):
    r = np.random.default_rng(1)
    x = words(bits, 60, 1)
    y = np.where(r.random(len(x)) < 0.3, x, r.permutation(x))
    for operator, function in (("eq", np.equal), ("ne", np.not_equal), ("lt", np.less),
                               ("le", np.less_equal), ("gt", np.greater),
                               ("ge", np.greater_equal)):  # fmt: skip
        for kind, code in (("u", "u"), ("s", "i")):
            body = f"setp.{operator}.{kind}{bits} %q0, %a0, %a1; selp.b32 %r0, 1, 0, %q0;"
            a, b = x.view(f"{code}{bits // 8}"), y.view(f"{code}{bits // 8}")
            assert (one(body, [x, y], np.uint32) == function(a, b)).all(), (operator, kind)
    for operator, function in (("lo", np.less), ("ls", np.less_equal), ("hi", np.greater),
                               ("hs", np.greater_equal)):  # fmt: skip
        body = f"setp.{operator}.u{bits} %q0, %a0, %a1; selp.b32 %r0, 1, 0, %q0;"
        assert (one(body, [x, y], np.uint32) == function(x, y)).all()


def test_combined_comparisons():
    x = np.arange(64, dtype=np.uint32)
    body = """and.b32 %t0, %a0, 1; setp.ne.u32 %q2, %t0, 0;
        setp.lt.and.u32 %q0|%q1, %a0, 10, %q2; selp.b32 %r0, 1, 0, %q0; selp.b32 %r1, 1, 0, %q1;"""
    below, odd = x < 10, (x & 1) == 1
    first, second = compute(body, [x], [np.uint32, np.uint32])
    assert (first == (below & odd)).all() and (second == (~below & odd)).all()
    body = "set.lt.u32.s32 %r0, %a0, 10; slct.b32.s32 %r1, 7, 8, %a0;"
    first, second = compute(body, [x.view(np.int32) - 20], [np.uint32, np.uint32])
    assert (first == np.where(x.astype(int) - 20 < 10, 0xFFFFFFFF, 0)).all()
    assert (second == np.where(x.astype(int) - 20 >= 0, 7, 8)).all()


def test_moves():
    x = words(64, 40, 3)
    body = "mov.b64 {%t0, %t1}, %a0; mov.b64 %r0, {%t1, %t0};"
    assert (one(body, [x], np.uint64) == (x << np.uint64(32) | x >> np.uint64(32))).all()
    body = "mov.b32 {%h0, %h1}, %a0; mov.b32 %r0, {%h1, %h0};"
    y = x.astype(np.uint32)
    assert (one(body, [y], np.uint32) == (y << np.uint32(16) | y >> np.uint32(16))).all()
    body = "mov.b64 {_, %t1}, %a0; mov.b32 %r0, %t1;"
    assert (one(body, [x], np.uint32) == (x >> np.uint64(32))).all()
    body = ".reg .b128 %w; mov.b128 %w, {%a0, 5}; mov.b128 {%r1, %r0}, %w;"
    high, low = compute(body, [x], [np.uint64, np.uint64])
    assert (high == 5).all() and (low == x).all()


def test_guards():
    """A predicated instruction leaves the register alone where its guard is false."""
    x = np.arange(64, dtype=np.uint32)
    body = """mov.u32 %r0, 7; setp.lt.u32 %q0, %a0, 20; @%q0 mov.u32 %r0, %a0;
        @!%q0 add.u32 %r0, %r0, 1;"""
    assert (one(body, [x], np.uint32) == np.where(x < 20, x, 8)).all()
