"""Names of entries: the name of a function and, for each parameter, what was known of it.

    add_Kt2_A1f32_1i16l0_p16_I256

after `_K` and the calling convention, one code a parameter: `A` an array, `L` a list, `T` a tuple,
`S` a scalar, `I`, `F`, `B` constants, `C...` others.  Of an array: rank and dtype; for sets of
dimensions, as a hexadecimal mask, `s` extent, `i` its divisor, `t` stride, `v` its divisor, `l` the
least stride; `p` divisor of the address, `g` alias groups, `i` elements may share memory, `w`
64-bit indices.  It is the scheme of cuTile, so that programs find entries under the names they
expect.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import Any

from ..signature import (
    ArrayParameter,
    ConstantParameter,
    ListParameter,
    Parameter,
    ScalarParameter,
    TupleParameter,
)
from .dtypes import BY_NAME, DType

_CODES = {
    "i1": "b8",
    "f8E4M3FN": "f8m3fn",
    "f8E5M2": "f8m2",
    "f8E8M0FNU": "f8m0fnu",
}
_DTYPES = {code: name for name, code in _CODES.items()}


def mangle(function: str, convention: str, parameters: Sequence[Parameter]) -> str:
    """The name of the entry. Raises ValueError for constants that have no code."""
    groups: dict[str, int] = {}
    for array in _arrays(parameters):
        for group in array.alias_groups:
            groups.setdefault(group, len(groups))
    codes = [f"_{_parameter(parameter, groups)}" for parameter in parameters]
    return f"{function}_K{convention}{''.join(codes)}"


def _arrays(parameters: Sequence[Parameter]) -> list[ArrayParameter]:
    found: list[ArrayParameter] = []
    for parameter in parameters:
        if isinstance(parameter, ArrayParameter):
            found.append(parameter)
        elif isinstance(parameter, ListParameter):
            found.append(parameter.element)
        elif isinstance(parameter, TupleParameter):
            found += _arrays(parameter.items)
    return found


def _parameter(parameter: Parameter, groups: dict[str, int]) -> str:
    match parameter:
        case ScalarParameter(dtype):
            return f"S{_dtype(dtype)}"
        case ListParameter(element):
            return f"L{_parameter(element, groups)}"
        case TupleParameter(items):
            return f"T{len(items)}" + "".join(_parameter(item, groups) for item in items)
        case ConstantParameter(value):
            return _constant(value)
    return f"A{_array(parameter, groups)}"


def _dtype(name: str) -> str:
    return _CODES.get(name, name)


def _number(value: int) -> str:
    return f"_{-value}" if value < 0 else str(value)


def _constant(value: Any) -> str:
    if isinstance(value, bool):
        return f"B{int(value)}"
    if isinstance(value, int):
        return f"I{_number(int(value))}"
    if isinstance(value, float):
        return f"F{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}"
    if value is None:
        return "Cn_"
    if isinstance(value, str):
        return f"Cs_{_text(value)}"
    if isinstance(value, DType):
        return f"Cd_{_dtype(value.ir)}"
    raise ValueError(f"the constant {value!r} has no place in a name: give the entry a symbol")


def _text(value: str) -> str:
    def escaped(match: re.Match[str]) -> str:
        character = match[0]
        code = ord(character)
        if character in "_K":
            return "__" if character == "_" else "_k"
        if code <= 0xFF:
            return f"_{code:02x}"
        return f"_u{code:04x}" if code <= 0xFFFF else f"_w{code:08x}"

    return re.sub(r"[^a-zA-JL-Z0-9]", escaped, value) + "_z"


def _array(array: ArrayParameter, groups: dict[str, int]) -> str:
    least = tuple(None if stride is not None else 0 for stride in array.static_strides)
    facts: dict[str, int] = {}
    for letter, values, default in (
        ("s", array.static_shape, None),
        ("i", array.shape_divisible_by, 1),
        ("t", array.static_strides, None),
        ("v", array.stride_divisible_by, 1),
        ("l", least, None),
    ):
        for dimension, value in enumerate(values):
            if value is not None and value != default:
                fact = f"{letter}{_number(value)}"
                facts[fact] = facts.get(fact, 0) | 1 << dimension
    by_mask: dict[int, str] = {}
    for fact, mask in facts.items():
        by_mask[mask] = by_mask.get(mask, "") + fact
    code = f"{array.rank}{_dtype(array.dtype)}"
    code += "".join(f"_{mask:x}{by_mask[mask]}" for mask in sorted(by_mask))
    rest = f"p{array.pointer_divisible_by}" if array.pointer_divisible_by != 1 else ""
    rest += "".join(f"g{number:x}" for number in sorted(groups[g] for g in array.alias_groups))
    rest += "" if array.disjoint else "i"
    rest += "w" if array.index_bits == 64 else ""
    return f"{code}_{rest}" if rest else code


def demangle(symbol: str) -> tuple[str, str, tuple[Parameter, ...]]:
    """Function, calling convention and parameters that a name stands for. Raises ValueError."""
    function, found, codes = symbol.rpartition("_K")
    if not found:
        raise ValueError(f"'{symbol}' is not the name of an entry")
    reader = _Reader(symbol, codes)
    convention = reader.take(r"[^_]+")
    parameters = []
    while reader.rest:
        reader.take("_")
        parameters.append(reader.parameter())
    return function, convention, tuple(parameters)


class _Reader:
    """Reads codes from the beginning of `rest`."""

    def __init__(self, symbol: str, rest: str):
        self.symbol = symbol
        self.rest = rest

    def find(self, pattern: str) -> str | None:
        """What the text begins with, if it does; it is taken away."""
        match = re.match(pattern, self.rest)
        if match is None:
            return None
        self.rest = self.rest[match.end() :]
        return match[0]

    def take(self, pattern: str) -> str:
        found = self.find(pattern)
        if found is None:
            raise ValueError(f"'{self.symbol}' is not the name of an entry, near '{self.rest}'")
        return found

    def number(self) -> int:
        sign = -1 if self.find("_") else 1
        return sign * int(self.take(r"\d+"))

    def dtype(self) -> str:
        code = self.take(r"[a-z0-9]+")
        name = _DTYPES.get(code, code)
        if name not in BY_NAME or name in _CODES and code not in _DTYPES:
            raise ValueError(f"'{self.symbol}' has an unknown dtype '{code}'")
        return name

    def parameter(self) -> Parameter:
        kind = self.take(r"[ABFILST]|C[nsd]_")
        match kind:
            case "A":
                return self.array()
            case "L":
                self.take("A")
                return ListParameter(self.array())
            case "S":
                return ScalarParameter(self.dtype())
            case "T":
                count = int(self.take(r"\d+"))
                return TupleParameter(tuple(self.parameter() for _ in range(count)))
        return ConstantParameter(self.constant(kind))

    def constant(self, kind: str) -> Any:
        match kind:
            case "B":
                return self.take("[01]") == "1"
            case "I":
                return self.number()
            case "F":
                bits = int(self.take("[0-9a-f]{16}"), 16)
                return struct.unpack("<d", struct.pack("<Q", bits))[0]
            case "Cs_":
                return self.text()
            case "Cd_":
                return BY_NAME[self.dtype()]
        return None

    def text(self) -> str:
        found = ""
        while True:
            found += self.find(r"[a-zA-JL-Z0-9]+") or ""
            escape = self.take(r"_(?:[_kz]|u[0-9a-f]{4}|w[0-9a-f]{8}|[0-9a-f]{2})")[1:]
            if escape == "z":
                return found
            special = {"_": "_", "k": "K"}.get(escape)
            found += special if special is not None else chr(int(escape.lstrip("uw"), 16))

    def array(self) -> ArrayParameter:
        rank = int(self.take(r"\d+"))
        dtype = self.dtype()
        known: dict[str, list[Any]] = {
            "s": [None] * rank,
            "i": [1] * rank,
            "t": [None] * rank,
            "v": [1] * rank,
            "l": [None] * rank,
        }
        while (mask_text := self.find(r"_[0-9a-f]+(?=[sitvl])")) is not None:
            mask = int(mask_text[1:], 16)
            if mask >> rank:
                raise ValueError(f"'{self.symbol}' speaks of dimensions that are not there")
            for letter in "sitvl":
                if self.find(letter) is not None:
                    value = self.number()
                    for dimension in range(rank):
                        if mask >> dimension & 1:
                            known[letter][dimension] = value
        address, groups, shared, wide = 1, [], False, False
        if self.find(r"_(?=[pgiw])"):
            address = self.number() if self.find("p") else 1
            while self.find("g"):
                groups.append(f"group{int(self.take('[0-9a-f]+'), 16)}")
            shared, wide = bool(self.find("i")), bool(self.find("w"))
        return ArrayParameter(
            dtype,
            rank,
            64 if wide else 32,
            address,
            tuple(known["i"]),
            tuple(known["v"]),
            tuple(known["s"]),
            tuple(known["t"]),
            not shared,
            tuple(groups),
        )
