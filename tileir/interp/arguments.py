"""Arguments of a launch: checked against the entry, mapped into the run's memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import LaunchError
from ..runtime.arrays import PointerTable
from ..runtime.dtypes import holds
from ..runtime.scalars import describe, mismatch, pack_scalar, wrong_count
from .codegen import access
from .codegen.access import Op
from .memory import AddressSpace
from .numerics.formats import PointerFormat, Tile, pointer_tile


def bind(space: AddressSpace, entry: Op, args: Sequence[Any]) -> list[Tile]:
    """The entry's parameters as rank-0 tiles; arrays become reachable in `space`.

    `LaunchError` names the parameter, what it should be and what was given.
    """
    parameters = entry.operation.regions[0].blocks[0].arguments
    types = [argument.type.element_type for argument in parameters]
    names = [str(type_).removeprefix("!cuda_tile.") for type_ in types]
    if len(args) != len(types):
        raise wrong_count(names, len(args))
    resolved = [
        _resolve(value, type_, name, index)
        for index, (value, type_, name) in enumerate(zip(args, types, names, strict=True))
    ]
    space.map_arrays(_arrays(resolved))
    return [
        _tile(space, value, type_, name, index)
        for index, (value, type_, name) in enumerate(zip(resolved, types, names, strict=True))
    ]


def _resolve(value: Any, type_: Any, name: str, index: int) -> Any:
    """Arrays as NumPy arrays of the right type, scalars as they are."""
    fmt = access.format_of(type_)
    if not isinstance(fmt, PointerFormat):
        return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if hasattr(value, "words") and hasattr(value, "arrays"):
        if fmt.pointee.memory_bits != 64:
            raise mismatch(index, name, "a PointerTable, whose words are 64 bits")
        return PointerTable([_array(one, None, name, index) for one in value.arrays])
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    return _array(value, fmt.pointee.name, name, index)


def _array(value: Any, pointee: str | None, name: str, index: int) -> np.ndarray:
    if not isinstance(value, np.ndarray):
        value = _as_array(value, name, index)
    if pointee is not None and not holds_elements(value.dtype, pointee):
        raise mismatch(index, name, describe(value))
    return value


def holds_elements(dtype: np.dtype[Any], pointee: str) -> bool:
    """Whether an array's elements can be those of a pointer."""
    return dtype == np.uint8 if pointee == "fnv8E5M3FNU" else holds(dtype, pointee)


def _as_array(value: Any, name: str, index: int) -> np.ndarray:
    """Another library's array in host memory, without a copy."""
    if isinstance(value, np.generic):
        raise mismatch(index, name, describe(value))
    try:
        if hasattr(value, "__array_interface__"):
            return np.asarray(value)
        if hasattr(value, "__dlpack__"):
            return np.from_dlpack(value)
    except Exception as error:  # producers raise what they like
        raise LaunchError(f"parameter {index}: {type(value).__name__}: {error}") from error
    raise mismatch(index, name, describe(value))


def _arrays(values: list[Any]) -> list[tuple[str, np.ndarray]]:
    """Every array among the arguments, with words for messages."""
    found = []
    for index, value in enumerate(values):
        if isinstance(value, np.ndarray):
            found.append((f"parameter {index}", value))
        elif isinstance(value, PointerTable):
            found += [
                (f"array {k} of parameter {index}", one) for k, one in enumerate(value.arrays)
            ]
    return found


def _tile(space: AddressSpace, value: Any, type_: Any, name: str, index: int) -> Tile:
    fmt = access.format_of(type_)
    if not isinstance(fmt, PointerFormat):
        data = np.frombuffer(pack_scalar(value, name, index), fmt.memory_dtype)
        return data.astype(fmt.dtype)[0]
    if isinstance(value, PointerTable):
        words = value.words(space.address_of)
        table = space.allocate(words.view(np.uint8), f"the table of parameter {index}")
        return pointer_tile(table.base)
    address = value if isinstance(value, int) else space.address_of(value)
    return pointer_tile(address)
