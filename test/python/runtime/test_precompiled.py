"""Kernels of the language in bundles, and the compile that fills them."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_cuda import FakeKernel, Parameter

from tileir.errors import LaunchError
from tileir.runtime import Bundle
from tileir.runtime.array_view import view
from tileir.runtime.compiled import CompiledKernel
from tileir.runtime.precompiled import load_kernel, write_kernels
from tileir.runtime.specialize import rule_of, specialize

PARAMETERS = (Parameter("a"), Parameter("n", constant=True))


def compiled(n: Any, shape: tuple[int, ...] = (32,)) -> CompiledKernel:
    kernel = FakeKernel(*PARAMETERS)
    rules = [rule_of(parameter) for parameter in PARAMETERS]
    found = specialize("fake", rules, (np.zeros(shape, np.float32), n), view)
    return kernel.precompiled(found.signature, "sm_90a")


def test_what_was_written_is_found_by_signature(tmp_path: Path) -> None:
    path = tmp_path / "k.tileir"
    one, other = compiled(1), compiled(True)
    write_kernels(path, [one, other])
    kernel = load_kernel(path, one.name)
    assert [rule.name for rule in kernel.parameters] == ["a", "n"]
    assert kernel.parameters[1].constant
    for wanted in (one, other):
        found = kernel.precompiled(wanted.signature, "sm_90a")
        assert found.info == wanted.info and found.cubin == wanted.cubin
        assert found.signature == wanted.signature
    assert Bundle.load(path).names() == [one.name], "other readers see the kernels, too"


def test_what_was_not_compiled_is_an_error_that_lists_what_was(tmp_path: Path) -> None:
    path = tmp_path / "k.tileir"
    one = compiled(1)
    write_kernels(path, [one])
    with pytest.raises(LaunchError) as caught:
        load_kernel(path, one.name).precompiled(compiled(2, (5,)).signature, "sm_90a")
    assert str(caught.value) == (
        f"kernel '{one.name}' was not compiled for a: f32[?; 1], n=2 for sm_90a; there is\n"
        "    a: f32[16k; 1], n=1 for sm_90a\n"
        "  add this specialisation to the bundle"
    )


def test_kernels_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "k.tileir"
    one = compiled(1)
    write_kernels(path, [one])
    with pytest.raises(LaunchError, match=f"no kernel 'x' for launch.*\n.*it has {one.name}"):
        load_kernel(path, "x")


class Color(enum.Enum):
    RED = 1


def test_constants_that_have_no_text(tmp_path: Path) -> None:
    write_kernels(tmp_path / "k.tileir", [compiled(Color.RED), compiled((1, "x", None, 2.5))])
    with pytest.raises(LaunchError, match="a constant of type builtins.function cannot be found"):
        write_kernels(tmp_path / "k.tileir", [compiled(lambda: 1)])
