"""The page of reference for `tileir.lang`: signatures and docstrings of all its public names."""

from __future__ import annotations

import enum
import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import tileir.lang as ct

_HEAD = """# The language, name by name

Generated from the docstrings; [operations.md](../operations.md) gives an overview. Arguments before
`/` are positional, those after `*` are given by name.
"""
#: Modules in the order of the page; the first sentence of each one's docstring is the heading.
_OPERATIONS = (
    "grid memory offsets gather indexing atomics hints construct shape casts selection arithmetic "
    "comparison bitwise math activations reduce histogram matmul epilogue printing control raster "
    "threads ptx"
)
_CLASSES = ("Tile", "Array", "ArrayList", "TiledView", "RawArrayMemory", "Slice")
_ENUMERATIONS = ("PaddingMode", "RoundingMode", "MemoryOrder", "MemoryScope")
_KERNELS = (
    "kernel function Kernel Hints ByTarget Constant ConstantAnnotation ScalarInt64 "
    "ScalarAnnotation IndexedWithInt64 ArrayAnnotation ListAnnotation Signature static_assert "
    "static_eval static_iter static_exception ensure_constant"
)
#: Names without a docstring of their own.
_ALIASES = {
    "Constant": "`Constant[int]`, or `Constant` alone for a constant of any type.",
    "IndexedWithInt64": "An array whose extents and strides may exceed 32 bits.",
    "ScalarInt64": "A Python integer that may exceed 32 bits.",
}


def page() -> str:
    """The page in Markdown."""
    return "\n".join([_HEAD, *_kernels(), *_operations(), *_objects(), *_dtypes(), *_errors()])


def _kernels() -> Iterator[str]:
    yield "## Kernels and what is known at compile time\n"
    for name in _KERNELS.split():
        yield _entry(name)


def _operations() -> Iterator[str]:
    for family in _OPERATIONS.split():
        module = importlib.import_module(f"tileir.lang.ops.{family}")
        names = [n for n in ct.__all__ if _is_function_of(_value(n), module.__name__)]
        if names:
            yield f"## {_first_sentence(module)}\n"
            yield from map(_entry, names)


def _is_function_of(value: Any, module: str) -> bool:
    return inspect.isfunction(value) and value.__module__ == module


def _objects() -> Iterator[str]:
    yield "## Objects in kernels\n"
    for name in _CLASSES:
        yield _entry(name)
        yield from _methods(name, _value(name))
    yield "## Options\n"
    for name in _ENUMERATIONS:
        yield _entry(name)
        yield " ".join(f"`{member.name}`" for member in _value(name)) + "\n"


def _dtypes() -> Iterator[str]:
    yield f"## Dtypes\n\n{_text(ct.DType)}\n\n| dtype | kind | bits | from |\n|---|---|---|---|"
    for name in ct.__all__:
        dtype = _value(name)
        if isinstance(dtype, ct.DType):
            since = f"sm_{dtype.since}" if dtype.since else ""
            yield f"| `{name}` | {dtype.category.name.lower()} | {dtype.bitwidth} | {since} |"
    yield ""


def _errors() -> Iterator[str]:
    yield "## Errors\n"
    for name in ct.__all__:
        value = _value(name)
        if inspect.isclass(value) and issubclass(value, ct.TileError):
            yield _entry(name)


def _value(name: str) -> Any:
    # What is imported when it is first used comes from other packages, one of which needs PyTorch.
    return vars(ct).get(name)


def _entry(name: str) -> str:
    value = _value(name)
    shown = name + _signature(value) if inspect.isfunction(value) else name
    return f"### `{shown}`\n\n{_ALIASES.get(name) or _text(value)}\n"


def _methods(name: str, cls: type) -> Iterator[str]:
    for method, value in vars(cls).items():
        if method.startswith("_") or not inspect.isfunction(value) or not value.__doc__:
            continue
        yield f"#### `{name}.{method}{_signature(value)}`\n\n{_text(value)}\n"


def _signature(function: Any) -> str:
    """The arguments with their defaults; their types are in the text."""
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=parameter.empty, default=_Shown.of(parameter.default))
        for name, parameter in signature.parameters.items()
        if name != "self"
    ]
    shown = signature.replace(parameters=parameters, return_annotation=signature.empty)
    return str(shown)


class _Shown:
    """A default value as a kernel would write it."""

    def __init__(self, value: Any):
        self.value = value

    def __repr__(self) -> str:
        return str(self.value) if isinstance(self.value, enum.Enum) else repr(self.value)

    @staticmethod
    def of(default: Any) -> Any:
        return default if default is inspect.Parameter.empty else _Shown(default)


def _text(value: Any) -> str:
    """A docstring in Markdown: its indented blocks become blocks of code."""
    return inspect.cleandoc(value.__doc__ or "")


def _first_sentence(module: Any) -> str:
    first = inspect.cleandoc(module.__doc__).partition("\n\n")[0].replace("\n", " ")
    return first.rstrip(".")
