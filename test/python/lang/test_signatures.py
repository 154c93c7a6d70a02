"""The language has the names and arguments of cuda.tile (test/data/lang/signatures.json)."""

from __future__ import annotations

import inspect
import json
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import tileir.lang as ct

TESTS = Path(__file__).resolve().parents[2]
PUBLIC = json.loads((TESTS / "data" / "lang" / "signatures.json").read_text())
#: What the language lacks on purpose.
LACKING = {
    "Array.foreign_pointer": "pointers of SIMT functions, a preview",
    "Array.from_foreign": "pointers of SIMT functions, a preview",
    "foreign_pointer_dtype": "pointers of SIMT functions, a preview",
    "compiler_timeout": "a limit on NVIDIA's compiler; tileir.compile has its own",
}


#: Read as syntax, so that its argument has no name.
SYNTAX = ("static_iter",)


def member(name: str) -> Any:
    value: Any = ct
    for part in name.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("name", PUBLIC)
def test_name_exists(name: str) -> None:
    cls, _, attribute = name.rpartition(".")
    if name in LACKING:
        assert not hasattr(member(cls) if cls else ct, attribute)
    elif cls:
        fields = getattr(member(cls), "__dataclass_fields__", {})
        assert hasattr(member(cls), attribute) or attribute in fields
    else:
        assert name in ct.__all__ and hasattr(ct, name)


def shown(default: Any) -> str:
    return str(default) if isinstance(default, Enum) else repr(default)


@pytest.mark.parametrize("name", [n for n, known in PUBLIC.items() if known and n not in LACKING])
def test_arguments_are_those_of_cuda_tile(name: str) -> None:
    """In order, with the same names and defaults; further ones have defaults. What cuda.tile takes
    only by position may be nameable."""
    ours = list(inspect.signature(member(name)).parameters.values())
    theirs = PUBLIC[name]
    for parameter, (argument, kind, *default) in zip(ours, theirs, strict=False):
        if kind != "p":
            assert parameter.name == argument
            assert parameter.kind is not parameter.POSITIONAL_ONLY or name in SYNTAX
        assert [shown(parameter.default)] * len(default) == default
        assert (parameter.default is parameter.empty) == (not default)
    assert len(ours) >= len(theirs)
    assert all(parameter.default is not parameter.empty for parameter in ours[len(theirs) :])
