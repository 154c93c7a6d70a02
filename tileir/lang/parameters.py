"""Parameters of a kernel: from the words that its entry takes to values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tileir.ir import Value

from .builder import Builder
from .dtypes import BY_NAME, DType, int32, int64
from .frames import Frame
from .signature import (
    ArrayParameter,
    ConstantParameter,
    ListParameter,
    Parameter,
    ScalarParameter,
    Signature,
    TupleParameter,
)
from .values import Tile

if TYPE_CHECKING:
    from .kernel import Kernel


def bind_parameters(builder: Builder, kernel: Kernel, signature: Signature, frame: Frame) -> None:
    """Adds the words to the kernel's block and binds its parameters to what they describe."""
    types = [type_ for parameter in signature.parameters for type_ in _types(builder, parameter)]
    location = frame.location()
    for type_ in types:
        builder.entry_block.add_argument(type_, location)
    words = iter(builder.entry_block.arguments)
    for info, parameter in zip(kernel.parameters, signature.parameters, strict=True):
        frame.locals[info.name] = _value(builder, parameter, info.name, words)


def _types(builder: Builder, parameter: Parameter) -> Iterator[Any]:
    types = builder.types
    match parameter:
        case ScalarParameter(dtype):
            yield types.tile((), BY_NAME[dtype])
        case ArrayParameter(dtype, rank, index_bits):
            yield types.pointers((), BY_NAME[dtype])
            index = types.tile((), _index_dtype(index_bits))
            yield from [index] * (2 * rank)
        case ListParameter():
            yield types.pointers((), int64)
            yield types.tile((), int32)
        case TupleParameter(items):
            for item in items:
                yield from _types(builder, item)


def _index_dtype(bits: int) -> DType:
    return int64 if bits == 64 else int32


def _value(builder: Builder, parameter: Parameter, name: str, words: Iterator[Value]) -> Any:
    from .arrays import array_parameter
    from .lists import list_parameter

    match parameter:
        case ScalarParameter(dtype):
            return Tile(next(words), BY_NAME[dtype], ())
        case ConstantParameter(value):
            return value
        case TupleParameter(items):
            return tuple(
                _value(builder, item, f"{name}[{index}]", words) for index, item in enumerate(items)
            )
        case ListParameter():
            return list_parameter(
                builder, parameter, name, next(words), Tile(next(words), int32, ())
            )
    assert isinstance(parameter, ArrayParameter)
    base = next(words)
    index = _index_dtype(parameter.index_bits)
    shape = [Tile(next(words), index, ()) for _ in range(parameter.rank)]
    strides = [Tile(next(words), index, ()) for _ in range(parameter.rank)]
    return array_parameter(builder, parameter, name, base, shape, strides)
