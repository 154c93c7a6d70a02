"""What scalar code computes from given integers, beside Python's arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import pytest
from mlir import ir

from tileir.dialects import make_context
from tileir.passes.analysis.scalar_values import scalar_value

#: For what nothing is known about.
UNKNOWN = 1 << 20


@cache
def shared_context() -> ir.Context:
    return make_context()


def evaluated(
    text: str, *known: int, parameters: str = "%x: i32, %y: i32", unknown: int = UNKNOWN
) -> int | None:
    """The last operation of a function, if its first parameters have these values."""
    source = f"func.func @f({parameters}) {{\n{text}\nreturn\n}}"
    with shared_context(), ir.Location.unknown():
        module = ir.Module.parse(source)
        body = module.body.operations[0].regions[0].blocks[0]
        values: dict[ir.Value, int] = dict(zip(body.arguments, known, strict=False))
        *_, last, _ = list(body.operations)
        return scalar_value(last.operation.results[0], values, unknown)


def towards_zero(a: int, b: int) -> int:
    return math.trunc(Fraction(a, b))


BINARY = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "divui": lambda a, b: math.floor(Fraction(a, b)),
    "divsi": towards_zero,
    "ceildivui": lambda a, b: math.ceil(Fraction(a, b)),
    "ceildivsi": lambda a, b: math.ceil(Fraction(a, b)),
    "floordivsi": lambda a, b: math.floor(Fraction(a, b)),
    "remui": lambda a, b: a - b * math.floor(Fraction(a, b)),
    "remsi": lambda a, b: int(math.fmod(a, b)),
    "minui": lambda a, b: a if a < b else b,
    "minsi": lambda a, b: a if a < b else b,
    "maxui": lambda a, b: b if a < b else a,
    "maxsi": lambda a, b: b if a < b else a,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
}
#: Whose operands are unsigned, so that only the positive ones of a signed type mean themselves.
UNSIGNED = {name for name in BINARY if name.endswith("ui")}
DIVISIONS = {name for name in BINARY if "div" in name or "rem" in name}
NUMBERS = (0, 1, 2, 7, 8, 9, 63, 1000, -1, -7, -8, -9, -1000)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    for a in NUMBERS:
        for b in NUMBERS:
            if (name in UNSIGNED and min(a, b) < 0) or (name in DIVISIONS and b == 0):
                continue
            assert evaluated(f"%r = arith.{name} %x, %y : i32", a, b) == BINARY[name](a, b), (a, b)


@pytest.mark.parametrize("name", sorted(DIVISIONS))
def test_division_by_zero(name):
    assert evaluated(f"%r = arith.{name} %x, %y : i32", 5, 0) is None
    # Nor is there a value of what is computed from it.
    assert evaluated(f"%q = arith.{name} %x, %y : i32\n%r = arith.addi %x, %q : i32", 5, 0) is None


@pytest.mark.parametrize(
    ("predicate", "holds"),
    [
        ("eq", (False, True, False)),
        ("ne", (True, False, True)),
        *((f"{sign}lt", (True, False, False)) for sign in "su"),
        *((f"{sign}le", (True, True, False)) for sign in "su"),
        *((f"{sign}gt", (False, False, True)) for sign in "su"),
        *((f"{sign}ge", (False, True, True)) for sign in "su"),
    ],
)
def test_comparisons(predicate, holds):
    for pair, expected in zip(((2, 3), (3, 3), (4, 3)), holds, strict=True):
        assert evaluated(f"%r = arith.cmpi {predicate}, %x, %y : i32", *pair) == int(expected)


def test_signed_comparisons_of_negative_numbers():
    assert evaluated("%r = arith.cmpi slt, %x, %y : i32", -1, 0) == 1
    assert evaluated("%r = arith.cmpi sge, %x, %y : i32", -1, 0) == 0


def test_select():
    text = "%c = arith.cmpi slt, %x, %y : i32\n%r = arith.select %c, %x, %y : i32"
    assert evaluated(text, 3, 5) == 3
    assert evaluated(text, 8, 5) == 5


@pytest.mark.parametrize(
    "text",
    [
        "%r = arith.extui %x : i32 to i64",
        "%r = arith.extsi %x : i32 to i64",
        "%r = arith.trunci %x : i32 to i16",
        "%r = arith.index_cast %x : i32 to index",
        "%r = tile_gpu.first_lane %x : i32",
    ],
)
def test_conversions_keep_the_number(text):
    assert evaluated(text, 77) == 77


def test_constants():
    assert evaluated("%r = arith.constant 12 : i32") == 12
    assert evaluated("%r = arith.constant -3 : i64") == -3


def test_what_is_not_known():
    """Parameters, and the hardware's registers."""
    assert evaluated("%r = arith.addi %x, %y : i32", 5) == 5 + UNKNOWN
    assert evaluated("%r = nvvm.read.ptx.sreg.nctaid.x : i32", unknown=9) == 9


def test_operations_on_other_things():
    """What is no integer is not known, nor what is computed from it."""
    for name in ("%r = math.absi %x : i32", "%r = arith.shli %x, %y : i32"):
        assert evaluated(name, 1, 1) is None
    text = "%s = arith.shli %x, %y : i32\n%r = arith.muli %s, %y : i32"
    assert evaluated(text, 1, 1) is None
    assert evaluated("%r = arith.fptosi %f : f32 to i32", parameters="%f: f32") is None
    # A value that is given needs no operation.
    assert evaluated("%r = arith.addi %x, %x : i32", 21) == 42


def test_a_grouped_raster():
    """Row and column of block `x` of a grid of `y` rows, by groups of 8 rows, of 5 columns."""
    text = """
      %eight = arith.constant 8 : i32
      %forty = arith.constant 40 : i32
      %g = arith.divsi %x, %forty : i32
      %first = arith.muli %g, %eight : i32
      %left = arith.subi %y, %first : i32
      %height = arith.minsi %left, %eight : i32
      %before = arith.muli %g, %forty : i32
      %place = arith.subi %x, %before : i32
      %below = arith.remsi %place, %height : i32
    """
    rows, blocks = 19, []
    for x in range(rows * 5):
        row = evaluated(text + "%r = arith.addi %first, %below : i32", x, rows)
        column = evaluated(text + "%r = arith.divsi %place, %height : i32", x, rows)
        blocks.append((row, column))
    heights = {0: 8, 1: 8, 2: 3}
    assert blocks == [
        (8 * group + i, j) for group, height in heights.items() for j in range(5)
        for i in range(height)
    ]  # fmt: skip
