"""MLIR locations of every kind through bytecode; NVIDIA's verifier judges the scopes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bytecode_support import disassemble

import tileir
from tileir.bytecode import read_bytecode, write_bytecode
from tileir.bytecode.decode import decode

SCOPES = """
#file = #cuda_tile.di_file<"k.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#k = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k",
                              compileUnit = #unit, scopeLine = 2>
#helper = #cuda_tile.di_subprogram<file = #file, line = 9, name = "helper",
                                   linkageName = "helper_1", compileUnit = #unit, scopeLine = 9>
#block = #cuda_tile.di_lexical_block<scope = #k, file = #file, line = 3, column = 4>
#source = loc("/src/k.py":5:6)
#call = loc("/src/k.py":7:8)
#in_k = #cuda_tile.di_loc<#source in #k>
#in_block = #cuda_tile.di_loc<#source in #block>
#in_helper = #cuda_tile.di_loc<#source in #helper>
#call_in_k = #cuda_tile.di_loc<#call in #k>
"""


def kernel(op_location: str, entry_location: str, name: str = "k") -> str:
    return f"""{SCOPES}
    cuda_tile.module @kernels {{
      entry @{name}(%x: tile<f32>) {{
        %r = absf %x : tile<f32> loc({op_location})
        return loc(unknown)
      }} loc({entry_location})
    }}"""


def round_trip(text: str, folder: Path) -> dict[str, str]:
    """Locations after writing and reading, by operation; the disassembler accepts the file."""
    written = write_bytecode(tileir.parse(text), "13.3")
    disassemble(written, folder, "-g")
    module = read_bytecode(written)
    assert write_bytecode(module, "13.3") == written
    (entry,) = module.body.operations[0].regions[0].blocks[0].operations
    found = {"entry": str(entry.operation.location)}
    for op in entry.regions[0].blocks[0].operations:
        found[op.operation.name.removeprefix("cuda_tile.")] = str(op.operation.location)
    return found


def scope(location: str) -> str:
    """The linkage names of the scopes of a location, from the left."""
    return " ".join(re.findall(r'linkageName = "(\w+)"', location))


def places(location: str) -> list[str]:
    return re.findall(r'loc\("([^"]*":\d+:\d+)\)', location)


@pytest.mark.parametrize("location", ["#in_k", "#in_block"])
def test_debug_locations_are_kept(location: str, tmp_path: Path) -> None:
    text = kernel(location, "#call_in_k")
    module = tileir.parse(text)
    (entry,) = module.body.operations[0].regions[0].blocks[0].operations
    absf = entry.regions[0].blocks[0].operations[0].operation
    found = round_trip(text, tmp_path)
    assert found["absf"] == str(absf.location)
    assert found["entry"] == str(entry.operation.location)
    assert found["return"] == "loc(unknown)"


def test_call_sites_are_kept(tmp_path: Path) -> None:
    found = round_trip(kernel("callsite(#in_helper at #in_block)", "#call_in_k"), tmp_path)
    assert found["absf"].startswith("loc(callsite(")
    assert scope(found["absf"]) == "helper_1 k"


def test_file_locations_get_a_subprogram(tmp_path: Path) -> None:
    found = round_trip(kernel('"/a/b.py":3:4', '"/a/b.py":1:2'), tmp_path)
    assert places(found["absf"]) == ['/a/b.py":3:4']
    assert places(found["entry"]) == ['/a/b.py":1:2']
    assert scope(found["absf"]) == scope(found["entry"]) == "k"
    assert 'file = <"b.py" in "/a">' in found["entry"]
    assert "line = 1" in found["entry"]


def test_file_locations_within_a_known_subprogram(tmp_path: Path) -> None:
    found = round_trip(kernel('"/a/b.py":3:4', "#call_in_k"), tmp_path)
    assert places(found["absf"]) == ['/a/b.py":3:4']
    assert 'file = <"k.py" in "/src">' in found["absf"]


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ('"x"("a.py":3:4)', 'a.py":3:4'),
        ('fused["a.py":3:4, "b.py":5:6]', 'a.py":3:4'),
        ('fused[unknown, "b.py":5:6]', 'b.py":5:6'),
        ('fused<"pass">["a.py":3:4]', 'a.py":3:4'),
        ('callsite("a.py":3:4 at unknown)', 'a.py":3:4'),
        ('callsite(unknown at "a.py":3:4)', 'a.py":3:4'),
        ('callsite(unknown at "x"("a.py":3:4))', 'a.py":3:4'),
        ('"a.py":3:4 to 5:6', 'a.py":3:4'),
    ],
)
def test_other_locations_keep_a_place(location: str, place: str, tmp_path: Path) -> None:
    found = round_trip(kernel(location, '"a.py":1:2'), tmp_path)
    assert places(found["absf"]) == [place]
    assert found["absf"].startswith("#cuda_tile.di_loc")


def test_call_sites_of_files(tmp_path: Path) -> None:
    found = round_trip(kernel('callsite("a.py":3:4 at "b.py":5:6)', '"a.py":1:2'), tmp_path)
    assert places(found["absf"]) == ['a.py":3:4', 'b.py":5:6']


@pytest.mark.parametrize("location", ["unknown", '"x"(unknown)', "fused[unknown]"])
def test_unknown_stays_unknown(location: str, tmp_path: Path) -> None:
    found = round_trip(kernel(location, '"a.py":1:2'), tmp_path)
    assert found["absf"] == "loc(unknown)"
    nothing = round_trip(kernel(location, "unknown"), tmp_path)
    assert set(nothing.values()) == {"loc(unknown)"}
    assert decode(write_bytecode(tileir.parse(kernel(location, "unknown")))).debug[0].spec.tag == 0


def test_an_entry_gets_the_location_of_an_operation(tmp_path: Path) -> None:
    found = round_trip(kernel('"/a/b.py":3:4', "unknown"), tmp_path)
    assert places(found["entry"]) == ['/a/b.py":3:4']


def test_an_inlined_function_with_an_unknown_caller(tmp_path: Path) -> None:
    found = round_trip(kernel("callsite(#in_helper at unknown)", "#call_in_k"), tmp_path)
    assert scope(found["absf"]) == "helper_1 k"
    assert places(found["absf"]) == ['/src/k.py":5:6', '/src/k.py":7:8']


def test_a_scope_without_a_place(tmp_path: Path) -> None:
    found = round_trip(
        kernel("#cuda_tile.di_loc<loc(unknown) in #k>", "#cuda_tile.di_loc<loc(unknown) in #k>"),
        tmp_path,
    )
    assert found["absf"] == "loc(unknown)"
    assert places(found["entry"]) == ['/src/k.py":1:0']


def test_lines_beyond_the_range_of_the_format(tmp_path: Path) -> None:
    found = round_trip(kernel('"a.py":4294967295:4294967295', '"a.py":1:2'), tmp_path)
    assert places(found["absf"]) == ['a.py":2147483647:2147483647']


def test_file_names_that_are_not_utf8(tmp_path: Path) -> None:
    found = round_trip(kernel('"a\\FF.py":3:4', '"a\\FF.py":1:2'), tmp_path)
    assert places(found["absf"]) == ['a\\EF\\BF\\BD.py":3:4']
