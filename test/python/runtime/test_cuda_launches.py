"""Runs launches_on_stub.py in a process of its own, where the stub is the machine's driver."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("cuda.bindings")

from fake_cuda import build_stub, run_here


def test_launches_on_a_stub_of_the_driver(tmp_path: Path) -> None:
    build_stub(tmp_path)
    cases = Path(__file__).with_name("launches_on_stub.py")
    run_here(
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", str(cases)],
        tmp_path, STUB_DEVICES="2", TILEIR_BACKEND="cuda",
    )  # fmt: skip
