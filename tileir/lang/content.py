"""What a kernel depends on beside its arguments, as text: a key for caches.

The text of its function and of all functions that it may call, without comments and layout, and
the values that their names have outside of them.  Where the source stands is not part of it.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from types import FunctionType, ModuleType
from typing import Any

from .calls import closure_of, is_inlined
from .source import FunctionSource, source_of


def content_of(function: FunctionType) -> str:
    """Everything that decides what tracing `function` gives, one thing a paragraph."""
    return "\n".join(_Content().function(function))


class _Content:
    """Collects; each function and class once."""

    def __init__(self) -> None:
        self.seen: set[int] = set()
        # Keeps what was seen, so that no other object gets its identity.
        self.kept: list[Any] = []

    def is_new(self, value: Any) -> bool:
        if id(value) in self.seen:
            return False
        self.seen.add(id(value))
        self.kept.append(value)
        return True

    def function(self, function: FunctionType) -> Iterator[str]:
        function = getattr(function, "__wrapped__", function)
        if not self.is_new(function):
            return
        source = source_of(function)
        yield source.normalized
        names = {**function.__globals__, **closure_of(function)}
        for name in source.free_names:
            if name in names:
                yield from self.value(name, names[name], source)
        for name, default in _defaults(function).items():
            yield from self.value(f"{source.name}.{name}", default, source)

    def value(self, name: str, value: Any, source: FunctionSource) -> Iterator[str]:
        """What a name stands for, under that name."""
        if isinstance(value, ModuleType):
            yield from self.module(name, value, source)
        elif isinstance(value, FunctionType):
            yield f"{name} = {value.__module__}.{value.__qualname__}"
            if is_inlined(value):
                yield from self.function(value)
        elif isinstance(value, type):
            yield f"{name} = {value.__module__}.{value.__qualname__}"
            yield from self.cls(value, source)
        elif isinstance(value, functools.partial):
            yield from self.value(f"{name}.func", value.func, source)
            yield from self.value(f"{name}.args", (value.args, value.keywords), source)
        elif isinstance(value, (tuple, list)):
            yield f"{name} = {type(value).__name__} of {len(value)}"
            for index, item in enumerate(value):
                yield from self.value(f"{name}[{index}]", item, source)
        elif isinstance(value, dict):
            for key, item in value.items():
                yield from self.value(f"{name}[{key!r}]", item, source)
        elif isinstance(value, Enum):
            yield f"{name} = {value!r}"
            yield from self.cls(type(value), source)
        elif is_dataclass(value):
            yield from self.value(f"{name}.__class__", type(value), source)
            for field in fields(value):
                yield from self.value(f"{name}.{field.name}", getattr(value, field.name), source)
        else:
            number = value.hex() if isinstance(value, float) else repr(value)
            yield f"{name} = {type(value).__name__} {number}"

    def module(self, name: str, module: ModuleType, source: FunctionSource) -> Iterator[str]:
        """The attributes of a module that a function uses; our own are part of our version."""
        yield f"{name} = {module.__name__}"
        if module.__name__.partition(".")[0] in ("tileir", "numpy", "math"):
            return
        for node in ast.walk(source.node):
            match node:
                case ast.Attribute(ast.Name(id), attribute):
                    if id == name and hasattr(module, attribute):
                        value = getattr(module, attribute)
                        yield from self.value(f"{name}.{attribute}", value, source)

    def cls(self, cls: type, source: FunctionSource) -> Iterator[str]:
        """The methods and constants of a class of the kernel's author."""
        if cls.__module__.startswith("tileir.") or cls.__module__ == "builtins":
            return
        if not self.is_new(cls):
            return
        for name, member in sorted(vars(cls).items()):
            if isinstance(member, property):
                member = member.fget
            if isinstance(member, (staticmethod, classmethod)):
                member = member.__func__
            if isinstance(member, FunctionType):
                if is_inlined(member) and not _is_generated(getattr(member, "__wrapped__", member)):
                    yield from self.function(member)
            elif isinstance(member, (int, float, str, bool, tuple, Enum)) and name[:2] != "__":
                yield from self.value(f"{cls.__qualname__}.{name}", member, source)


def _is_generated(function: FunctionType) -> bool:
    """Whether it is one of the methods that `@dataclass` writes, which have no source."""
    return function.__code__.co_filename.startswith("<")


def _defaults(function: FunctionType) -> dict[str, Any]:
    values = function.__defaults__ or ()
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    first = len(positional) - len(values)
    found = dict(zip(positional[first:], values, strict=True))
    return {**found, **(function.__kwdefaults__ or {})}
