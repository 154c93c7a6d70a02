"""The page about bytecode shows what is true."""

from __future__ import annotations

from pathlib import Path

from bytecode_support import case

from tileir.bytecode.dump import dump

PAGE = (Path(__file__).parents[2] / "docs" / "bytecode.md").read_text()


def test_listing() -> None:
    assert dump(case("vadd-13.3")) in PAGE


def test_row_of_the_schema() -> None:
    source = (Path(__file__).parents[2] / "tileir" / "bytecode" / "schema.py").read_text()
    start = PAGE.index("    _op(")
    row = PAGE[start : PAGE.index("    ),\n", start) + len("    ),\n")]
    assert row in source
