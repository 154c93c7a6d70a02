"""What is known along the axes of a tile, against what the interpreter computes.

Random programs of integers and addresses; every fact that the analysis claims must hold for the
values that come out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interp_support import tile_type

import tileir
from tileir import interp
from tileir.passes.analysis.axis_facts import Axis, AxisAnalysis, AxisFacts
from tileir.passes.walk import walk

WIDTHS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
POINTEE_BYTES = 4
POINTER = "ptr<f32>"

# ---- what facts mean -----------------------------------------------------------------------------


def check(values: np.ndarray, facts: AxisFacts, width: int, step: int) -> None:
    """Raises AssertionError unless `facts` hold for `values`, whose unit is `step` (the size of a
    pointee for addresses). Integers of `width` bits wrap around."""
    modulus = 1 << width
    exact = values.astype(object)
    for dim, axis in enumerate(facts.axes):
        lines = np.moveaxis(exact, dim, -1) if exact.ndim else exact.reshape(1)
        size = lines.shape[-1]
        for first in range(0, size, axis.contiguity):
            group = lines[..., first : first + axis.contiguity]
            assert group.shape[-1] == axis.contiguity, f"{axis}: no whole group at {first}"
            steps = (group[..., 1:] - group[..., :-1]) % modulus
            assert np.all(steps == step), f"{axis}: does not grow by one at {first}"
            assert np.all(group[..., 0] % modulus % axis.multiple == 0), f"{axis}: at {first}"
        for first in range(0, size, axis.constancy):
            group = lines[..., first : first + axis.constancy]
            assert np.all(group == group[..., :1]), f"{axis}: not equal at {first}"


def test_the_check_itself():
    values = np.arange(16).reshape(2, 8)
    check(values, AxisFacts((Axis(1, 1, 1), Axis(8, 8, 1))), 32, 1)
    for wrong in (Axis(8, 16, 1), Axis(1, 2, 1), Axis(1, 1, 2)):
        with pytest.raises(AssertionError):
            check(values, AxisFacts((Axis(), wrong)), 32, 1)


# ---- random programs -----------------------------------------------------------------------------


class Program:
    """Text of operations on integers, and the values that may be used further."""

    def __init__(self, draw: Any):
        self.draw = draw
        self.lines: list[str] = []
        self.parameters: list[str] = []
        self.arguments: list[Any] = []
        self.values: list[tuple[str, tuple[int, ...], str]] = []

    def choose(self, options: Any) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def name(self) -> str:
        return f"%v{len(self.lines)}"

    def line(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def define(self, text: str, shape: tuple[int, ...], element: str) -> None:
        self.values.append((self.line(text), shape, element))

    def pick(self, *elements: str) -> tuple[str, tuple[int, ...], str] | None:
        fitting = [v for v in self.values if not elements or v[2] in elements]
        return self.choose(fitting) if fitting else None

    def pair(self) -> tuple[str, str, tuple[int, ...], str] | None:
        first = self.pick(*WIDTHS)
        if first is None:
            return None
        same = [v for v in self.values if v[1:] == first[1:]]
        return first[0], self.choose(same)[0], first[1], first[2]

    # ---- leaves

    def iota(self) -> None:
        size, element = self.choose((1, 4, 8, 12, 64, 256)), self.choose(WIDTHS)
        if size <= 1 << (WIDTHS[element] - 1):
            self.define(f"iota : {tile_type((size,), element)}", (size,), element)

    def constant(self) -> None:
        element = self.choose(WIDTHS)
        shape = self.choose(((), (8,), (12,), (4, 8), (64,)))
        number = self.choose((0, 1, 3, 4, 6, 16, 64, -8, 96))
        self.define(f"constant <{element}: {number}> : {tile_type(shape, element)}", shape, element)

    def parameter(self) -> None:
        """A number known at run time only, and what is promised of it."""
        element = self.choose(("i32", "i64"))
        factor = self.choose((1, 2, 16, 24))
        name = f"%p{len(self.parameters)}"
        self.parameters.append(f"{name}: {tile_type((), element)}")
        number = self.draw(st.integers(-5, 100)) * factor
        self.arguments.append(np.dtype(f"int{WIDTHS[element]}").type(number))
        promise = f"assume div_by<{factor & -factor}>, {name} : {tile_type((), element)}"
        self.define(promise, (), element)

    # ---- operations

    def binary(self) -> None:
        pair = self.pair()
        if pair is not None:
            a, b, shape, element = pair
            op = self.choose(("addi", "subi", "muli", "andi", "ori", "xori", "maxi", "mini"))
            suffix = " signed" if op in ("maxi", "mini") else ""
            self.define(f"{op} {a}, {b}{suffix} : {tile_type(shape, element)}", shape, element)

    def with_constant(self) -> None:
        picked = self.pick(*WIDTHS)
        if picked is None:
            return
        a, shape, element = picked
        op, numbers = self.choose(
            (("shli", (0, 1, 3)), ("shri", (1, 2)), ("remi", (4, 6, 64)), ("divi", (4, 3)))
        )
        suffix = "" if op == "shli" else self.choose((" signed", " unsigned"))
        type_ = tile_type(shape, element)
        b = self.line(f"constant <{element}: {self.choose(numbers)}> : {type_}")
        self.define(f"{op} {a}, {b}{suffix} : {type_}", shape, element)

    def widen_or_narrow(self) -> None:
        picked = self.pick(*WIDTHS)
        if picked is None:
            return
        a, shape, element = picked
        to = self.choose(WIDTHS)
        types = f"{tile_type(shape, element)} -> {tile_type(shape, to)}"
        if WIDTHS[to] > WIDTHS[element]:
            self.define(f"exti {a} {self.choose(('signed', 'unsigned'))} : {types}", shape, to)
        elif WIDTHS[to] < WIDTHS[element]:
            self.define(f"trunci {a} : {types}", shape, to)

    def select(self) -> None:
        pair = self.pair()
        if pair is None:
            return
        a, b, shape, element = pair
        predicates = ("less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal",
                      "equal", "not_equal")  # fmt: skip
        sign = self.choose(("signed", "unsigned"))
        flags = tile_type(shape, "i1")
        condition = self.line(
            f"cmpi {self.choose(predicates)} {a}, {b}, {sign} "
            f": {tile_type(shape, element)} -> {flags}"
        )
        self.values.append((condition, shape, "i1"))
        self.define(
            f"select {condition}, {b}, {a} : {flags}, {tile_type(shape, element)}", shape, element
        )

    def reshape(self) -> None:
        picked = self.pick()
        assert picked is not None
        a, shape, element = picked
        kept = [n for n in shape if n != 1]
        at = self.draw(st.integers(0, len(kept)))
        new = (*kept[:at], 1, *kept[at:])
        if len(kept) == 2 and self.draw(st.booleans()):
            new = (math.prod(kept),)
        self.define(
            f"reshape {a} : {tile_type(shape, element)} -> {tile_type(new, element)}", new, element
        )

    def broadcast(self) -> None:
        picked = self.pick()
        assert picked is not None
        a, shape, element = picked
        new = tuple(self.choose((1, 4, 8, 12)) if n == 1 else n for n in shape)
        if math.prod(new) <= 1024:
            types = f"{tile_type(shape, element)} -> {tile_type(new, element)}"
            self.define(f"broadcast {a} : {types}", new, element)

    def permute(self) -> None:
        picked = self.pick()
        assert picked is not None
        a, shape, element = picked
        if len(shape) == 2:
            new = (shape[1], shape[0])
            types = f"{tile_type(shape, element)} -> {tile_type(new, element)}"
            self.define(f"permute {a} [1, 0] : {types}", new, element)

    def promise_of_groups(self) -> None:
        """iota + c with c a multiple of 8: groups of `every` start at multiples."""
        start, every = self.choose((0, 8, 24)), self.choose((2, 4, 8))
        shape = self.choose(((16,), (4, 16)))
        dim = len(shape) - 1
        a = self.line("iota : tile<16xi32>")
        c = self.line(f"constant <i32: {start}> : tile<16xi32>")
        b = self.line(f"addi {a}, {c} : tile<16xi32>")
        if len(shape) == 2:
            b = self.line(f"reshape {b} : tile<16xi32> -> tile<1x16xi32>")
            b = self.line(f"broadcast {b} : tile<1x16xi32> -> tile<4x16xi32>")
            shift = self.line("iota : tile<4xi32>")
            shift = self.line(f"reshape {shift} : tile<4xi32> -> tile<4x1xi32>")
            shift = self.line(f"broadcast {shift} : tile<4x1xi32> -> tile<4x16xi32>")
            eight = self.line("constant <i32: 8> : tile<4x16xi32>")
            shift = self.line(f"muli {shift}, {eight} : tile<4x16xi32>")
            b = self.line(f"addi {b}, {shift} : tile<4x16xi32>")
        predicate = f"div_by<{every}, every {every} along {dim}>"
        self.define(f"assume {predicate}, {b} : {tile_type(shape, 'i32')}", shape, "i32")

    def address(self) -> None:
        """A pointer somewhere, moved by a tile of numbers."""
        picked = self.pick("i32", "i64")
        if picked is None:
            return
        a, shape, element = picked
        start = self.choose((0, 16, 256, 4, 1 << 20))
        base = self.line(f"constant <i64: {start}> : {tile_type(shape, 'i64')}")
        types = f"{tile_type(shape, 'i64')} -> {tile_type(shape, POINTER)}"
        p = self.line(f"int_to_ptr {base} : {types}")
        types = f"{tile_type(shape, POINTER)}, {tile_type(shape, element)}"
        self.define(f"offset {p}, {a} : {types} -> {tile_type(shape, POINTER)}", shape, POINTER)

    def text(self) -> tuple[str, list[np.ndarray]]:
        """The kernel, which stores every value, and where."""
        outputs = []
        for number, (name, shape, element) in enumerate(self.values):
            stored = "i64" if element == POINTER else element
            if element == POINTER:
                types = f"{tile_type(shape, POINTER)} -> {tile_type(shape, 'i64')}"
                self.lines.append(f"%a{number} = ptr_to_int {name} : {types}")
                name = f"%a{number}"
            self._store(number, name, shape, stored)
            dtype = bool if stored == "i1" else f"int{WIDTHS[stored]}"
            outputs.append(np.zeros(shape, dtype))
            self.parameters.append(f"%o{number}: tile<ptr<{stored}>>")
        body = "\n".join(self.lines)
        return (
            "cuda_tile.module @m attributes {cuda_tile.extended} {\n"
            f"entry @k({', '.join(self.parameters)}) {{\n{body}\nreturn\n}}\n}}"
        ), outputs

    def _store(self, number: int, name: str, shape: tuple[int, ...], element: str) -> None:
        count, q = math.prod(shape), f"%q{number}"
        pointers, flat = tile_type((count,), f"ptr<{element}>"), tile_type((count,), element)
        one = f"tile<1xptr<{element}>>"
        self.lines += [
            f"{q}a = reshape %o{number} : tile<ptr<{element}>> -> {one}",
            f"{q}b = broadcast {q}a : {one} -> {pointers}",
            f"{q}c = iota : {tile_type((count,), 'i32')}",
            f"{q}d = offset {q}b, {q}c : {pointers}, {tile_type((count,), 'i32')} -> {pointers}",
            f"{q}e = reshape {name} : {tile_type(shape, element)} -> {flat}",
            f"{q}f = store_ptr_tko weak {q}d, {q}e : {pointers}, {flat} -> token",
        ]


@st.composite
def programs(draw: Any) -> Program:
    program = Program(draw)
    program.iota()
    program.constant()
    program.parameter()
    steps = [
        program.iota, program.constant, program.parameter, program.binary, program.binary,
        program.with_constant, program.widen_or_narrow, program.select, program.reshape,
        program.broadcast, program.broadcast, program.permute, program.promise_of_groups,
        program.address,
    ]  # fmt: skip
    for _ in range(draw(st.integers(4, 16))):
        program.choose(steps)()
    return program


@given(programs())
@settings(max_examples=60, deadline=None)
def test_facts_hold(program):
    values = list(program.values)
    text, outputs = program.text()
    module = tileir.parse(text, name="facts.mlir")
    interp.run(module, "k", 1, [*program.arguments, *outputs])
    analysis = AxisAnalysis()
    stores = [op for op in walk(module.operation) if op.operation.name.endswith("store_ptr_tko")]
    for (name, _, element), store, output in zip(values, stores, outputs, strict=True):
        stored = store.operation.operands[1].owner.operands[0]  # before it was made flat
        if element == POINTER:
            stored = stored.owner.operands[0]
        width, step = (64, POINTEE_BYTES) if element == POINTER else (WIDTHS.get(element, 1), 1)
        try:
            check(output, analysis.of(stored), width, step)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}\n{text}") from None


# ---- facts that must not be lost -----------------------------------------------------------------


def facts_of(body: str, parameters: str = "") -> AxisFacts:
    """Facts of the tile %r."""
    text = f"cuda_tile.module @m {{\nentry @k({parameters}) {{\n{body}\nreturn\n}}\n}}"
    module = tileir.parse(text)
    *_, last, _ = [op for op in walk(module.operation) if op.operation.name != "cuda_tile.print"]
    return AxisAnalysis().of(last.operation.results[0])


def test_a_block_of_indices():
    """pid * 256 + iota: one run, which starts at a multiple of 256."""
    facts = facts_of(
        """%s = constant <i32: 256> : tile<i32>
        %b = muli %pid, %s : tile<i32>
        %c = reshape %b : tile<i32> -> tile<1xi32>
        %d = broadcast %c : tile<1xi32> -> tile<256xi32>
        %i = iota : tile<256xi32>
        %r = addi %d, %i : tile<256xi32>""",
        "%pid: tile<i32>",
    )
    assert facts.axes == (Axis(contiguity=256, multiple=256, constancy=1),)


def test_addresses_of_a_matrix():
    """p + row * stride + column: contiguous along columns, aligned as p and the stride are."""
    facts = facts_of(
        """%p16 = assume div_by<16>, %p : tile<ptr<f16>>
        %s8 = assume div_by<8>, %s : tile<i32>
        %rows = iota : tile<16xi32>
        %row = reshape %rows : tile<16xi32> -> tile<16x1xi32>
        %rowb = broadcast %row : tile<16x1xi32> -> tile<16x64xi32>
        %s1 = reshape %s8 : tile<i32> -> tile<1x1xi32>
        %sb = broadcast %s1 : tile<1x1xi32> -> tile<16x64xi32>
        %skip = muli %rowb, %sb : tile<16x64xi32>
        %columns = iota : tile<64xi32>
        %column = reshape %columns : tile<64xi32> -> tile<1x64xi32>
        %columnb = broadcast %column : tile<1x64xi32> -> tile<16x64xi32>
        %o = addi %skip, %columnb : tile<16x64xi32>
        %p1 = reshape %p16 : tile<ptr<f16>> -> tile<1x1xptr<f16>>
        %pb = broadcast %p1 : tile<1x1xptr<f16>> -> tile<16x64xptr<f16>>
        %r = offset %pb, %o : tile<16x64xptr<f16>>, tile<16x64xi32> -> tile<16x64xptr<f16>>""",
        "%p: tile<ptr<f16>>, %s: tile<i32>",
    )
    assert facts.axes[1] == Axis(contiguity=8, multiple=16, constancy=1)


def test_a_mask_against_a_multiple():
    facts = facts_of(
        """%n16 = assume div_by<16>, %n : tile<i32>
        %i = iota : tile<64xi32>
        %a = reshape %n16 : tile<i32> -> tile<1xi32>
        %b = broadcast %a : tile<1xi32> -> tile<64xi32>
        %r = cmpi less_than %i, %b, signed : tile<64xi32> -> tile<64xi1>""",
        "%n: tile<i32>",
    )
    assert facts.axes[0].constancy == 16


def test_runs_end_where_narrow_integers_wrap_around():
    facts = facts_of(
        """%i = iota : tile<512xi32>
        %n = trunci %i : tile<512xi32> -> tile<512xi8>
        %r = exti %n signed : tile<512xi8> -> tile<512xi32>"""
    )
    assert facts.axes == (Axis(contiguity=128, multiple=128, constancy=1),)


def test_runs_that_start_anywhere_may_straddle_a_bound():
    """i + 4 < 8 changes within the first eight elements."""
    facts = facts_of(
        """%i = iota : tile<64xi32>
        %four = constant <i32: 4> : tile<64xi32>
        %x = addi %i, %four : tile<64xi32>
        %n = constant <i32: 8> : tile<64xi32>
        %r = cmpi less_than %x, %n, signed : tile<64xi32> -> tile<64xi1>"""
    )
    assert facts.axes[0].constancy == 4


def test_runs_of_sums_are_aligned_as_their_parts():
    """(i + 4) as i8 and back: a run of four crosses no power of two, one of eight might."""
    facts = facts_of(
        """%i = iota : tile<64xi8>
        %four = constant <i8: 4> : tile<64xi8>
        %x = addi %i, %four : tile<64xi8>
        %r = exti %x unsigned : tile<64xi8> -> tile<64xi32>"""
    )
    assert facts.axes[0].contiguity == 4
