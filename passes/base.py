"""What every pass is: a frozen dataclass of options with a name and `apply`."""

from __future__ import annotations

import dataclasses
import typing
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Self

from tileir.errors import TileError
from tileir.ir import Operation


@dataclasses.dataclass(frozen=True)
class ModulePass(ABC):
    """A transformation of a `builtin.module`, in place.

    Subclasses are frozen dataclasses whose fields are the options of the pass, each with a
    default. The first line of the docstring is the sentence that `tile-opt --help` prints.
    """

    name: ClassVar[str]

    @abstractmethod
    def apply(self, module: Operation) -> None:
        """Transforms `module`. Raises a TileError where the input cannot be handled."""

    @classmethod
    def from_options(cls, options: Mapping[str, str]) -> Self:
        """The pass with options given as text, as in `name{key=value}`."""
        fields = {field.name.replace("_", "-"): field for field in dataclasses.fields(cls)}
        types = typing.get_type_hints(cls) if options else {}
        values = {}
        for key, text in options.items():
            field = fields.get(key)
            if field is None:
                known = ", ".join(fields) or "none"
                raise TileError(f"pass {cls.name} has no option '{key}'", remedy=f"known: {known}")
            values[field.name] = _convert(cls.name, key, text, types[field.name])
        return cls(**values)


_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _convert(pass_name: str, key: str, text: str, type_: type) -> object:
    try:
        if type_ is bool:
            return {"true": True, "1": True, "": True, "false": False, "0": False}[text.lower()]
        return type_(text)
    except (KeyError, ValueError):
        reason = f"option '{key}' of pass {pass_name} cannot be '{text}'"
        raise TileError(reason, remedy=f"give {_KINDS[type_]}") from None
