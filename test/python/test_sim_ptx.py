"""Parsing PTX: scopes, operands, declarations, debug information, errors."""

from __future__ import annotations

import pytest
from sim_support import module

import tileir
from tileir import sim
from tileir.sim.ptx import Instruction, parse
from tileir.sim.ptx.syntax import (
    Address,
    Immediate,
    Label,
    Negated,
    Pair,
    Register,
    Sink,
    Special,
    Symbol,
    Variable,
    Vector,
)


def body(text: str, **options) -> list:
    return parse(module(text, **options)).functions["k"].body or []


def only(text: str) -> Instruction:
    return next(s for s in body(text) if isinstance(s, Instruction))


def test_operands():
    declare = ".reg .b32 %r<4>, x; .reg .pred %p<3>; .shared .align 4 .b8 s[16];"
    i = only(
        f"{declare} @!%p1 foo.a::b.c %r1|%p0, [%r2+-8], {{%r0, _, 5}}, [s+4], !%p2, %tid.x, -3;"
    )
    assert i.opcode == "foo.a::b.c" and isinstance(i.guard, Negated)
    pair, address, vector, shared, negated, special, number = i.operands
    assert isinstance(pair, Pair) and isinstance(pair.first, Register)
    assert isinstance(address, Address) and address.offset == -8
    assert isinstance(vector, Vector) and isinstance(vector.elements[1], Sink)
    assert isinstance(shared, Address) and isinstance(shared.base, Symbol) and shared.offset == 4
    assert isinstance(negated, Negated) and special == Special("%tid.x")
    assert number == Immediate(-3)


def test_numbers():
    i = only(
        "foo 10, 0x1F, 017, 0b101, 0U, 0f3F800000, 0d3FF0000000000000, 1.5, -0f3F800000, 3+4, ~1;"
    )
    assert [o.value for o in i.operands if isinstance(o, Immediate)] == [
        10, 31, 15, 5, 0, 1.0, 1.0, 1.5, -1.0, 7, -2
    ]  # fmt: skip
    bits = [o.bits for o in i.operands if isinstance(o, Immediate)]
    assert bits[5:9] == [0x3F800000, 0x3FF0000000000000, None, 0xBF800000]


def test_coordinates():
    i = only(".reg .b64 %m; .reg .b32 %x<3>; foo [%m, {%x0, %x1}], [%x2];")
    assert isinstance(i.operands[0], Address)
    assert isinstance(i.operands[0].coordinates[0], Vector)


def test_labels_of_scopes():
    statements = body("L: bra L; { L: bra L; bra M; } M: { L: bra L; } ret;")
    names = [s.name for s in statements if isinstance(s, Label)]
    assert len(set(names)) == 4
    targets = [s.operands[0] for s in statements if isinstance(s, Instruction) and s.operands]
    assert [t.name for t in targets if isinstance(t, Label)] == [
        names[0], names[1], names[2], names[3]
    ]  # fmt: skip


def test_declarations():
    text = """.version 8.0 .target sm_90a, debug .address_size 64
    .file 1 "a.cu"
    .global .align 16 .v4 .f32 table[3][2];
    .const .u8 bytes[] = {1, 2, {3, 4}};
    .extern .shared .align 128 .b8 dynamic[];
    .weak .global .u64 pointers[2] = {table, generic(bytes)+1};
    .visible .entry first(.param .u64 .ptr .global .align 16 p, .param .align 64 .b8 m[128])
    .maxntid 256, 1, 1 .minnctapersm 2 .pragma "x";
    { ret; }
    .func (.reg .b32 %out) helper(.reg .b32 %in) { mov.b32 %out, %in; ret; }
    .extern .func (.param .b32 r) outside(.param .b64 a);
    .section .debug_info { .b8 1, 2 { .b8 3 } }
    """
    found = parse(text)
    table, byte_array = found.variables["table"], found.variables["bytes"]
    assert isinstance(table, Variable) and isinstance(byte_array, Variable)
    assert (table.size, table.alignment) == (96, 16)
    assert (byte_array.size, byte_array.values) == (4, (1, 2, 3, 4))
    assert found.variables["dynamic"].count is None
    assert [v.generic for v in found.variables["pointers"].values] == [False, True]
    first = found.functions["first"]
    parameters = [p for p in first.parameters if isinstance(p, Variable)]
    assert [(p.name, p.size, p.alignment) for p in parameters] == [("p", 8, 8), ("m", 128, 64)]
    assert len(first.parameters) == 2
    assert first.directives == {"maxntid": (256, 1, 1), "minnctapersm": (2,)}
    assert found.functions["outside"].body is None and found.entries == ["first"]
    assert (found.version, found.target) == ("8.0", "sm_90a")


def test_lines_and_locations():
    text = module(
        """
      .loc 1 7 3
      add.u32 %r0,
              %r0, 1;   // two lines
      .loc 2 9 1, function_name $L__info+3, inlined_at 1 7 3
      ret;""".replace("add", ".reg .b32 %r<2>; add"),
        around='.file 1 "dir/a.cu"\n.file 2 "b.h"',
    )
    add, ret = (s for s in parse(text).functions["k"].body or [] if isinstance(s, Instruction))
    assert (add.location, ret.location) == ("dir/a.cu:7:3", "b.h:9:1")
    assert text.splitlines()[add.line - 1].strip().startswith(".reg")
    assert add.text == "add.u32 %r0, %r0, 1;"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("foo %x;", "unknown register '%x'"),
        ("bra L;", "'L' is no register, variable or label of 'k'"),
        ("L: L: ret;", "label 'L' is defined twice in this scope"),
        ("foo [1;", "expected ']', found ';'"),
        ("foo 1 2;", "expected ',', found '2'"),
        (".reg .b32 %r<4>; foo %r4;", "unknown register '%r4'"),
        (".reg .q32 %r;", "unknown or unsupported type '.q32'"),
        ("foo $;", "unexpected character|is no register"),
        ("foo `;", "unexpected character '`'"),
        ("@%p ret;", "unknown predicate '%p'"),
    ],
)
def test_errors(text, message):
    with pytest.raises(tileir.ParseError, match=message) as caught:
        parse(module(text), name="bad.ptx")
    assert caught.value.location and caught.value.location.startswith("bad.ptx:")


def test_text_without_a_function():
    with pytest.raises(tileir.ParseError, match="the text has no function"):
        parse(".version 8.0 .target sm_90")
    with pytest.raises(tileir.ParseError, match="found the end of the text"):
        parse(".version 8.0 .target sm_90 .entry k() { ret;")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("frobnicate.b32 %r0, %r1;", r"the instruction 'frobnicate.b32' \(PTX line 10\)"),
        ("add.wobble.u32 %r0, %r1, %r1;", r"u32' \(PTX line 10\): modifier .wobble is not"),
        ("tex.2d.v4.f32.f32 %r0, [%r1];", "does not know the instruction 'tex"),
        ("add.u64 %r0, %r1, %r1;", "%r1 has 32 bits, too few for .b64|has 32 bits, too few"),
        ("selp.b32 %r0, %r1, %r1, %r0;", "%r0 is .b32, expected .pred"),
        ("ld.global.v4.u32 {%r0, %r1}, [%r1];", "expected 4 registers, found 2"),
        ("add.u32 %r0, %r1;", "expected 3 operands, found 2"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0, %r0}, {%r0}, {%r0}, {%r0};",
         "expected 4, 2 and 4 registers for A, B and C"),
    ],
)  # fmt: skip
def test_unsupported_instructions(text, message):
    with pytest.raises(tileir.UnsupportedError, match=message):
        sim.run(module(f".reg .b32 %r<4>;\n{text} ret;"), "k", 1, 32, [])


def test_choosing_a_kernel_and_a_shape():
    text = module("ret;") + ".visible .entry other() .reqntid 64 { ret; }"
    with pytest.raises(tileir.LaunchError, match="several kernels"):
        sim.run(text)
    with pytest.raises(tileir.LaunchError, match="there is no kernel 'x'"):
        sim.run(text, "x")
    with pytest.raises(tileir.LaunchError, match="does not say how many threads a block has"):
        sim.run(text, "k")
    with pytest.raises(
        tileir.LaunchError, match=r"block \(32, 1, 1\) given, but kernel 'other' re"
    ):
        sim.run(text, "other", block=32)
    with pytest.raises(tileir.LaunchError, match="2048 threads a block, at most 1024"):
        sim.run(text, "k", block=2048)
    with pytest.raises(tileir.LaunchError, match="grid x of 3 blocks is not a multiple of the clu"):
        sim.run(text, "k", 3, 32, cluster=2)
    with pytest.raises(tileir.ResourceError, match="needs 400000 bytes of shared memory"):
        sim.run(text, "k", 1, 32, shared=400000)
    sim.run(text, "other", 2)
