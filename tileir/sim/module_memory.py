"""Variables of a module in global and constant memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..interp.memory import AddressSpace
from .machine.addressing import SHARED_WINDOW
from .ptx.operands import Immediate
from .ptx.syntax import Module, Symbol, Variable
from .ptx.types import TYPES

Array = np.ndarray[Any, np.dtype[Any]]


class ModuleMemory:
    """The bytes of .global and .const variables; they live as long as the module."""

    def __init__(self, module: Module):
        self._variables = [v for v in module.variables.values() if v.space in ("global", "const")]
        self._bytes = {v.name: _initial(v) for v in self._variables}

    def map_into(self, space: AddressSpace) -> dict[str, int]:
        """Makes the variables reachable; their addresses by name."""
        addresses: dict[str, int] = {}
        for variable in self._variables:
            data = self._bytes[variable.name]
            name = f"variable {variable.name}"
            buffer = space.allocate(data, name, max(1, variable.alignment))
            buffer.writeable = variable.space == "global"
            addresses[variable.name] = buffer.base
        for variable in self._variables:
            for index, value in enumerate(variable.values):
                if isinstance(value, Symbol):
                    self._store_address(variable, index, value, addresses)
        return addresses

    def _store_address(
        self, variable: Variable, index: int, symbol: Symbol, addresses: dict[str, int]
    ) -> None:
        address = addresses.get(symbol.target.name, SHARED_WINDOW) + symbol.offset
        size = variable.type.bytes
        place = self._bytes[variable.name][index * size : (index + 1) * size]
        place[...] = np.frombuffer(address.to_bytes(8, "little")[:size], np.uint8)


def _initial(variable: Variable) -> Array:
    """Initial bytes; zeros where no value is given."""
    data = np.zeros(max(variable.size, 1), np.uint8)
    size = variable.type.bytes
    for index, value in enumerate(variable.values):
        if not isinstance(value, Symbol):
            data[index * size : (index + 1) * size] = _encoded(value, variable)
    return data


def _encoded(value: Any, variable: Variable) -> Array:
    type_ = variable.type
    if isinstance(value, Immediate) and value.bits is not None:
        bits = value.bits
        if value.width != type_.bits:  # a double for a float variable
            bits = int(np.float32(value.value).view(np.uint32))
        return np.frombuffer(bits.to_bytes(type_.bytes, "little"), np.uint8)
    number = value.value if isinstance(value, Immediate) else value
    if isinstance(number, float):
        kind = type_ if type_.is_float else TYPES[f"f{type_.bits}"]
        return np.frombuffer(np.array(number).astype(kind.dtype).tobytes(), np.uint8)
    if type_.is_float and type_.bits >= 32:
        return np.frombuffer(np.array(number).astype(type_.dtype).tobytes(), np.uint8)
    masked = number & (1 << type_.bits) - 1
    return np.frombuffer(masked.to_bytes(type_.bytes, "little"), np.uint8)
