"""Arguments of a launch: the bytes of the entry's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import LaunchError
from ..interp.memory import AddressSpace
from ..runtime.arrays import PointerTable, address
from ..runtime.dtypes import holds, name_of
from ..runtime.scalars import describe, mismatch, pack_scalar, wrong_count
from ..runtime.tensor_map import BYTES, TensorMap
from .code.program import Code
from .machine.storage import Bytes
from .machine.tensor_map_format import encode
from .ptx.syntax import Variable
from .ptx.types import TYPES, Type


@dataclass(frozen=True)
class MappedTensor:
    """A tensor map together with the array that it is of, so that the array is reachable."""

    array: np.ndarray
    map: TensorMap


def tensor_map(
    array: np.ndarray,
    box: Sequence[int],
    *,
    swizzle: int = 0,
    element_strides: Sequence[int] | None = None,
    fill: str = "zero",
    dtype: str | None = None,
) -> MappedTensor:
    """The tensor map of an array; `box` counts elements in the array's own order of dimensions.

    `dtype` names the elements as the IR does (default: the array's own type).
    """
    name = dtype or name_of(array.dtype)
    if name is None:
        raise LaunchError(f"there is no tensor map of {array.dtype.name} elements")
    steps = tuple(element_strides or (1,) * array.ndim)
    if array.ndim and array.strides[-1] != array.itemsize:
        raise LaunchError("the last dimension of a tensor map's array must be contiguous")
    return MappedTensor(
        array,
        TensorMap(
            name,
            address(array),
            tuple(reversed(array.shape)),
            tuple(reversed(array.strides[:-1])),
            tuple(reversed(tuple(box))),
            tuple(reversed(steps)),
            swizzle,
            fill,
        ),
    )


def bind(
    space: AddressSpace, code: Code, args: Sequence[Any], memory: Sequence[np.ndarray]
) -> Bytes:
    """The parameters' bytes; arrays become reachable in `space`.

    `LaunchError` names the parameter, what it should be and what was given.
    """
    parameters = [p for p in code.entry.parameters if isinstance(p, Variable)]
    if len(args) != len(parameters):
        raise LaunchError(
            f"kernel '{code.entry.name}' has {len(parameters)} parameters, {len(args)} arguments "
            "were given"
        )
    space.map_arrays(_arrays(args, memory))
    storage = Bytes(code.parameter_bytes, "the parameters", 0)
    for index, (parameter, value) in enumerate(zip(parameters, args, strict=True)):
        data = _encode(space, parameter, value, index)
        start = code.parameter_offsets[parameter.name, id(parameter)]
        storage.data[start : start + len(data)] = np.frombuffer(data, np.uint8)
    return storage


def typed(parameters: Sequence[str], args: Sequence[Any]) -> list[Any]:
    """Arguments of a kernel of the IR, whose parameters' types are known by name (`ptr<f16>`,
    `i32`): arrays are checked, scalars made bytes."""
    if len(args) != len(parameters):
        raise wrong_count(parameters, len(args))
    return [
        _typed(value, name, k) for k, (value, name) in enumerate(zip(args, parameters, strict=True))
    ]


def _typed(value: Any, name: str, index: int) -> Any:
    if not name.startswith("ptr<"):
        return pack_scalar(value[()] if isinstance(value, np.ndarray) else value, name, index)
    if isinstance(value, np.ndarray) and not holds(value.dtype, name[4:-1]):
        raise mismatch(index, name, describe(value))
    # An array without dimensions is an address here, and no number.
    return value.reshape(1) if isinstance(value, np.ndarray) and not value.ndim else value


def _arrays(args: Sequence[Any], memory: Sequence[np.ndarray]) -> list[tuple[str, np.ndarray]]:
    found = [(f"array {k} of memory", array) for k, array in enumerate(memory)]
    for index, value in enumerate(args):
        if isinstance(value, np.ndarray) and value.ndim:
            found.append((f"parameter {index}", value))
        elif isinstance(value, PointerTable):
            found += [
                (f"array {k} of parameter {index}", one) for k, one in enumerate(value.arrays)
            ]
        elif isinstance(value, MappedTensor):
            found.append((f"parameter {index}", value.array))
    return found


def _encode(space: AddressSpace, parameter: Variable, value: Any, index: int) -> bytes:
    if isinstance(value, MappedTensor):
        return _encode_map(space, parameter, value.map, space.address_of(value.array), index)
    if isinstance(value, TensorMap):
        return _encode_map(space, parameter, value, _simulated(space, value.base, index), index)
    if isinstance(value, PointerTable):
        words = value.words(space.address_of)
        table = space.allocate(words.view(np.uint8), f"the table of parameter {index}")
        return scalar_bytes(parameter, table.base, index)
    if isinstance(value, np.ndarray) and value.ndim:
        if parameter.size != 8:
            raise _mismatch(parameter, value, index)
        return scalar_bytes(parameter, space.address_of(value), index)
    if isinstance(value, (bytes, bytearray)):
        if len(value) != parameter.size:
            raise _mismatch(parameter, value, index)
        return bytes(value)
    return scalar_bytes(parameter, value, index)


def _simulated(space: AddressSpace, base: int, index: int) -> int:
    """The address in `space` of a host address."""
    found = space.simulated(base)
    if found is None:
        raise LaunchError(
            f"parameter {index}: the tensor map's base {base:#x} lies in no array of this launch",
            remedy="pass the array among the arguments or in `memory`, or use sim.tensor_map",
        )
    return found


def _encode_map(
    space: AddressSpace, parameter: Variable, map_: TensorMap, base: int, index: int
) -> bytes:
    if parameter.size != BYTES:
        raise _mismatch(parameter, map_, index)
    moved = TensorMap(
        map_.dtype, base, map_.dims, map_.strides, map_.box, map_.element_strides, map_.swizzle,
        map_.fill,
    )  # fmt: skip
    return encode(moved)


def scalar_bytes(parameter: Variable, value: Any, index: int) -> bytes:
    """A scalar as the bytes of the parameter.

    PTX often declares floats as bits: what is given decides then.
    """
    type_, size = parameter.type, parameter.size
    if isinstance(value, np.ndarray):
        value = value[()]
    if isinstance(value, np.generic) and value.dtype.itemsize == size and value.dtype.kind != "b":
        return value.tobytes()
    if parameter.is_array or not isinstance(value, (bool, int, float, np.generic)):
        raise _mismatch(parameter, value, index)
    number: Any = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, float) or type_.is_float:
        kind: Type | None = type_ if type_.is_float else TYPES.get(f"f{8 * size}")
        if kind is None:
            raise _mismatch(parameter, value, index)
        return np.array(number).astype(kind.dtype).tobytes()
    if not -(1 << 8 * size - 1) <= number < 1 << 8 * size:
        raise LaunchError(f"parameter {index}: {number} does not fit .{type_}")
    return (int(number) & (1 << 8 * size) - 1).to_bytes(size, "little")


def _mismatch(parameter: Variable, value: Any, index: int) -> LaunchError:
    expected = f"{parameter.size} bytes" if parameter.is_array else f".{parameter.type}"
    found = "a tensor map" if isinstance(value, TensorMap) else describe(value)
    return LaunchError(f"parameter {index}: expected {expected}, found {found}")
