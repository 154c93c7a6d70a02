"""tileir.parse: every kind of source, and errors with their place."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import tileir
from tileir.entries import choose_entry, entries
from tileir.errors import BytecodeError, LaunchError, ParseError, VerificationError
from tileir.mlir_parser import check_text

CASES = Path(__file__).resolve().parents[1] / "data" / "cases"
VADD = CASES / "vadd-13.3.tilebc"
BARE = (CASES / "vadd-13.3.mlir").read_text()
PARAMETERS = ("ptr<f32>", "i32", "i32") * 3


def bytecode_of(module: Any) -> bytes:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def with_locations(module: Any) -> str:
    return module.operation.get_asm(enable_debug_info=True)


@pytest.fixture(scope="module")
def module() -> Any:
    return tileir.parse(BARE)


def test_every_kind_of_source_gives_the_same_module(module: Any, tmp_path: Path) -> None:
    text = str(module)
    (tmp_path / "vadd.mlir").write_text(text)
    (tmp_path / "bare.mlir").write_text(BARE)
    sources = [
        str(VADD),
        VADD.read_bytes(),
        bytearray(VADD.read_bytes()),
        text,
        text.encode(),
        bytecode_of(module),
        tmp_path / "vadd.mlir",
        str(tmp_path / "vadd.mlir"),
        module,
        BARE,
        tmp_path / "bare.mlir",
    ]
    for source in sources:
        assert str(tileir.parse(source)) == text, type(source)


def test_a_module_is_cloned_in_its_context(module: Any) -> None:
    clone = tileir.parse(module)
    assert clone.operation != module.operation
    assert clone.context == module.context


def test_attributes_and_location_of_the_module_survive() -> None:
    parsed = tileir.parse('module attributes {gpu.container_module} { } loc("here":3:4)')
    assert "gpu.container_module" in str(parsed)
    assert 'loc("here":3:4)' in with_locations(parsed)


def test_cuda_tile_module_alone() -> None:
    parsed = tileir.parse("cuda_tile.module @m {\n entry @k() { return }\n}")
    assert entries(parsed) == {"k": ()}


def test_several_operations_on_top() -> None:
    text = "llvm.func @a()\nllvm.func @b()\n"
    assert len(tileir.parse(text).body.operations) == 2


def test_bare_contents_with_comments_and_aliases() -> None:
    text = (
        '// a comment\n#loc = loc("f.py":1:2)\n\n'
        "entry @k(%p: tile<ptr<f32>>) {\n  return loc(#later)\n} loc(#loc) // last\n"
        '#later = loc("f.py":7:8)\n\n// end\n'
    )
    parsed = tileir.parse(text)
    assert entries(parsed) == {"k": ("ptr<f32>",)}
    assert '"f.py":7:8' in with_locations(parsed)


def test_debug_form_of_the_disassembler(module: Any) -> None:
    parsed = tileir.parse(CASES / "vadd-13.3.debug.mlir")
    assert str(parsed) == str(module)
    assert '"/kernels/kernels.py":16' in with_locations(parsed)


def test_locations_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "bare.mlir"
    path.write_text(BARE)
    asm = with_locations(tileir.parse(path))
    assert f'"{path}":2:' in asm


def test_entries(module: Any) -> None:
    assert entries(module) == {"vadd": PARAMETERS}
    assert choose_entry(module, None) == "vadd"
    with pytest.raises(LaunchError, match="no kernel 'x'\n.*vadd"):
        choose_entry(module, "x")
    with pytest.raises(LaunchError, match="the module has no kernel"):
        choose_entry(tileir.parse("module {}"), None)
    two = tileir.parse("entry @a() { return }\nentry @b() { return }")
    with pytest.raises(LaunchError, match="2 kernels\n  choose one: a, b"):
        choose_entry(two, None)


@pytest.mark.parametrize(
    ("text", "kind", "location"),
    [
        ("entry @k() {\n  %0 = bogus : tile<i32>\n  return\n}", ParseError, "k.mlir:2:8"),
        ("entry @k() { %0 = bogus }", ParseError, "k.mlir:1:19"),
        ("module {\n", ParseError, "k.mlir:1:9"),
        (
            "entry @k(%a: tile<4xi32>) {\n  return\n}",
            VerificationError,
            "k.mlir:1:1",
        ),
    ],
)
def test_errors_have_a_place(text: str, kind: type[tileir.TileError], location: str) -> None:
    with pytest.raises(kind) as caught:
        tileir.parse(text, name="k.mlir")
    assert caught.value.location == location


def test_what_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="cannot read nothing.mlir: No such file"):
        tileir.parse("nothing.mlir")
    with pytest.raises(ParseError, match="neither text nor bytecode .byte 0 is no UTF-8"):
        tileir.parse(b"\xff\xfe")
    with pytest.raises(ParseError, match="cannot parse int"):
        tileir.parse(3)
    with pytest.raises(ParseError, match="cannot read .*Is a directory"):
        tileir.parse(tmp_path)
    with pytest.raises(BytecodeError, match="^v.tilebc: byte 12: section function"):
        tileir.parse(VADD.read_bytes()[:40], name="v.tilebc")
    with pytest.raises(tileir.TileError):
        tileir.parse(b"ML\xefR garbage")


def test_deep_nesting_is_an_error_and_no_crash() -> None:
    for bracket in "([{<":
        with pytest.raises(ParseError, match="f:1:507: brackets are nested more than 500 deep"):
            check_text("x = 3" + "\t" + bracket * 100_000, "f")
    check_text('"((((' * 2 + '"' + "// " + "(" * 1000, "f")
    with pytest.raises(ParseError, match="nested"):
        tileir.parse('module { "a.b"(' + "{" * 5000)


def test_recognising_bare_contents_takes_linear_time() -> None:
    with pytest.raises(ParseError):
        tileir.parse("// / " * 50_000 + "\n" * 50_000 + "#a = 1\n" * 20_000 + "x")
