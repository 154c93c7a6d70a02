"""From the arguments of a call to the specialisation of a kernel: its signature and its words.

This is what a call means; `native/arguments.cpp` does the same for the usual arguments, in a
microsecond, and leaves the rest and all errors to this file.

| argument | parameter |
|---|---|
| array | `ArrayParameter`; its address, extents and strides are words |
| arrays at one address | such, in one alias group: an array that is passed twice |
| `int` | i32, i64 where annotated so |
| `float`, `bool` | f32, i1 |
| NumPy scalar | as the Python number that it is |
| list of arrays | `ListParameter` |
| tuple | `TupleParameter` of its items |
| None, and anything annotated `Constant` | `ConstantParameter` |
"""

from __future__ import annotations

import inspect
import math
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..errors import LaunchError
from ..signature import (
    MAX_RANK_WITH_FACTS,
    ArrayParameter,
    ConstantParameter,
    ListParameter,
    Parameter,
    ScalarParameter,
    Signature,
    TupleParameter,
    array_facts,
)
from .array_view import ArrayView
from .arrays import PointerTable
from .scalars import describe

#: Reads an argument as an array, None if it is none; the text names it in errors.
Read = Callable[[Any, str], ArrayView | None]

_INT32 = range(-(1 << 31), 1 << 31)
_INT64 = range(-(1 << 63), 1 << 63)
_DEEPEST = 32
_MISSING: Any = inspect.Parameter.empty


class ArrayAnnotation(Protocol):
    """How a kernel's source wants an array specialised (`tileir.lang.ArrayAnnotation`)."""

    @property
    def static_shape_dims(self) -> tuple[int, ...]: ...
    @property
    def static_stride_dims(self) -> tuple[int, ...]: ...


@dataclass(frozen=True)
class Rule:
    """What a kernel's source says about one parameter; its fields are those of
    `native/arguments.h`."""

    name: str
    constant: bool = False
    scalar_bits: int = 32
    index_bits: int = 32
    shape_dims: tuple[int, ...] = ()
    stride_dims: tuple[int, ...] = ()
    items: tuple[Rule, ...] = ()
    each: Rule | None = None
    default: Any = _MISSING

    def item(self, index: int, count: int) -> Rule:
        """The rule for an item of a tuple."""
        name = f"{self.name}[{index}]"
        if len(self.items) == count:
            return self.items[index]
        if self.each is not None:
            return replace(self.each, name=name)
        return Rule(name, self.constant)


def rule_of(info: Any) -> Rule:
    """The rule for a parameter of a kernel (`tileir.lang.annotations.ParameterInfo`)."""
    if isinstance(info, Rule):
        return info
    array = info.list.element if info.list is not None else info.array
    return Rule(
        name=info.name,
        constant=info.constant,
        scalar_bits=64 if info.scalar is not None and info.scalar.dtype.ir == "i64" else 32,
        index_bits=info.index_bits,
        shape_dims=array.static_shape_dims if array is not None else (),
        stride_dims=array.static_stride_dims if array is not None else (),
        items=tuple(rule_of(item) for item in info.items or ()),
        each=None if info.each is None else rule_of(info.each),
        default=info.default,
    )


def native_rule(rule: Rule) -> tuple[Any, ...]:
    """A rule as `native/arguments.cpp` reads it."""
    array = (rule.index_bits, *_pins(rule.shape_dims), *_pins(rule.stride_dims))
    each = () if rule.each is None else (native_rule(rule.each),)
    items = tuple(map(native_rule, rule.items))
    return (rule.constant, rule.scalar_bits, array, array, items, each)


def _pins(dims: Sequence[int]) -> tuple[int, int]:
    """Dimensions as two sets of bits, counted from the first and from the last."""
    return (
        sum(1 << dim for dim in set(dims) if 0 <= dim < 32),
        sum(1 << -1 - dim for dim in set(dims) if -32 <= dim < 0),
    )


@dataclass(frozen=True)
class Specialization:
    """What is known of one call: the signature, and the words that the entry takes.

    A word is a number, or for a pointer what was passed: an array, or a `PointerTable`.
    """

    signature: Signature
    words: tuple[Any, ...]
    arrays: tuple[ArrayView, ...]


def as_arguments(kernel: str, args: Any) -> Sequence[Any]:
    """The arguments of a launch, in their order. Raises LaunchError for what holds none."""
    if isinstance(args, (tuple, list)):
        return args
    # An array is an argument, though one may iterate over it.
    is_one = isinstance(args, (str, bytes, dict)) or hasattr(args, "shape")
    if is_one or not isinstance(args, Iterable):
        raise LaunchError(
            f"kernel '{kernel}': arguments are a tuple, not {type(args).__name__}",
            remedy=f"launch(stream, grid, {kernel}, (a, b, c)); of one argument, (a,)",
        )
    return tuple(args)


def with_defaults(kernel: str, rules: Sequence[Rule], args: Any) -> tuple[Any, ...]:
    """One argument a parameter. Raises LaunchError if there are too few or too many."""
    args = as_arguments(kernel, args)
    rest = [rule.default for rule in rules[len(args) :]]
    if len(args) > len(rules) or any(value is _MISSING for value in rest):
        names = ", ".join(rule.name for rule in rules)
        raise LaunchError(
            f"kernel '{kernel}' takes {len(rules)} arguments, {len(args)} were given",
            remedy=f"parameters: {names or 'none'}",
        )
    return (*args, *rest)


def specialize(
    kernel: str, rules: Sequence[Rule], args: Sequence[Any], read: Read
) -> Specialization:
    """The specialisation for a call of the kernel with that name. Raises LaunchError."""
    found = _Specializer(kernel, read)
    parameters = tuple(
        found.parameter(value, rule)
        for value, rule in zip(with_defaults(kernel, rules, args), rules, strict=True)
    )
    parameters = _with_alias_groups(parameters, found.starts)
    return Specialization(Signature(parameters), tuple(found.words), tuple(found.arrays))


def _with_alias_groups(
    parameters: tuple[Parameter, ...], starts: Sequence[int | None]
) -> tuple[Parameter, ...]:
    """The parameters, with those in one alias group whose arrays begin at one address. Others are
    taken not to overlap, so that loads of one need not wait for stores to the other."""
    counts = Counter(start for start in starts if start is not None)
    shared = [start for start, count in counts.items() if count > 1]
    if not shared:
        return parameters
    groups = {start: (f"address {number}",) for number, start in enumerate(shared)}
    remaining = iter(starts)

    def grouped(parameter: Parameter) -> Parameter:
        if isinstance(parameter, TupleParameter):
            return TupleParameter(tuple(map(grouped, parameter.items)))
        if isinstance(parameter, ArrayParameter):
            return replace(parameter, alias_groups=groups.get(next(remaining) or 0, ()))
        return parameter

    return tuple(map(grouped, parameters))


class _Specializer:
    """Collects words and arrays while it describes parameters."""

    def __init__(self, kernel: str, read: Read):
        self._kernel = kernel
        self._read = read
        self.words: list[Any] = []
        self.arrays: list[ArrayView] = []
        #: Addresses of the arrays that are parameters themselves, None for those without elements.
        self.starts: list[int | None] = []

    def parameter(self, value: Any, rule: Rule, depth: int = 0) -> Parameter:
        if rule.constant or value is None:
            return self._constant(value, rule)
        number = value.item() if isinstance(value, np.generic) else value
        if isinstance(number, bool):
            self.words.append(number)
            return ScalarParameter("i1")
        if isinstance(number, int):
            return self._integer(int(number), rule)
        if isinstance(number, float):
            return self._float(float(number), rule)
        if isinstance(value, tuple):
            return self._tuple(value, rule, depth)
        if isinstance(value, list):
            return self._list(value, rule)
        array = self._view(value, rule.name)
        if array is None:
            raise self._error(
                rule.name,
                f"{describe(value)} cannot be passed to a kernel",
                "pass an array (PyTorch, CuPy, JAX, NumPy, DLPack, __cuda_array_interface__), a "
                f"number, a tuple or a list of arrays; or annotate it: {rule.name}: ct.Constant",
            )
        self.words += [array.passed, *array.shape, *array.strides]
        self.starts.append(array.address if all(array.shape) else None)
        return self._facts(array, rule)

    def _integer(self, value: int, rule: Rule) -> ScalarParameter:
        if value not in (_INT32 if rule.scalar_bits == 32 else _INT64):
            remedy = (
                f"integers of Python and NumPy are int32 unless annotated: {rule.name}: "
                "ct.ScalarInt64"
                if value in _INT64
                else "pass it in an array"
            )
            raise self._error(rule.name, f"{value} does not fit int{rule.scalar_bits}", remedy)
        self.words.append(value)
        return ScalarParameter(f"i{rule.scalar_bits}")

    def _float(self, value: float, rule: Rule) -> ScalarParameter:
        try:
            struct.pack("<f", value)
        except OverflowError:
            raise self._error(
                rule.name, f"{value} does not fit float32", "pass it in an array of float64"
            ) from None
        self.words.append(value)
        return ScalarParameter("f32")

    def _constant(self, value: Any, rule: Rule) -> ConstantParameter:
        constant = ConstantParameter(plain_constant(value))
        try:
            hash(constant)
        except TypeError:
            raise self._error(
                rule.name,
                f"a {type(value).__name__} cannot be a constant: it is not hashable",
                "pass a tuple or a frozen dataclass",
            ) from None
        return constant

    def _tuple(self, value: tuple[Any, ...], rule: Rule, depth: int) -> TupleParameter:
        if depth >= _DEEPEST:
            raise self._error(rule.name, "tuples are nested too deeply", "flatten them")
        return TupleParameter(
            tuple(
                self.parameter(item, rule.item(index, len(value)), depth + 1)
                for index, item in enumerate(value)
            )
        )

    # ---- arrays ------------------------------------------------------------------------------

    def _view(self, value: Any, name: str) -> ArrayView | None:
        array = self._read(value, f"kernel '{self._kernel}', parameter '{name}'")
        if array is not None:
            self.arrays.append(array)
        return array

    def _facts(self, array: ArrayView, rule: Rule) -> ArrayParameter:
        self._check_index(array, rule)
        rank = len(array.shape)
        strides = _listed(rule.stride_dims, rank, array.strides)
        found = array_facts(
            array.dtype, array.itemsize, array.address, array.shape, array.strides,
            index_bits=rule.index_bits, static_shape=_listed(rule.shape_dims, rank, array.shape),
            static_strides=strides,
        )  # fmt: skip
        if not rule.stride_dims or rank > MAX_RANK_WITH_FACTS:
            return found
        # Where strides are listed, no others become constants.
        return replace(found, static_strides=strides)

    def _check_index(self, array: ArrayView, rule: Rule) -> None:
        for axis, stride in enumerate(array.strides):
            if stride < 0:  # compiled kernels rely on it that there are none
                raise self._error(
                    rule.name,
                    f"stride {stride} of dimension {axis} is negative",
                    "pass a copy, x[::-1].copy() say, or the array as it was before it was "
                    "reversed, and count down in the kernel",
                )
        if rule.index_bits == 64:
            return
        for what, numbers in (("extent", array.shape), ("stride", array.strides)):
            for axis, number in enumerate(numbers):
                if number not in _INT32:
                    raise self._error(
                        rule.name,
                        f"{what} {number} of dimension {axis} does not fit int32",
                        f"annotate it: {rule.name}: ct.IndexedWithInt64",
                    )

    def _list(self, value: list[Any], rule: Rule) -> ListParameter:
        arrays = []
        for index, item in enumerate(value):
            array = self._view(item, f"{rule.name}[{index}]")
            if array is None:
                raise self._error(
                    f"{rule.name}[{index}]",
                    f"lists hold arrays, this is {describe(item)}",
                    "pass numbers in a tuple",
                )
            arrays.append(array)
        if not arrays:
            raise self._error(
                rule.name, "an empty list does not tell the type of its arrays", "pass no list"
            )
        facts = [self._facts(array, rule) for array in arrays]
        for index, one in enumerate(facts):
            if (one.dtype, one.rank) != (facts[0].dtype, facts[0].rank):
                raise self._error(
                    f"{rule.name}[{index}]",
                    f"{one.rank}-dimensional {one.dtype} in a list that begins with "
                    f"{facts[0].rank}-dimensional {facts[0].dtype}",
                    "the arrays of a list must have one type and rank",
                )
        self._check_pinned(facts, rule)
        self.words += [PointerTable([array.passed for array in arrays]), len(arrays)]
        return ListParameter(joined(facts))

    def _check_pinned(self, facts: Sequence[ArrayParameter], rule: Rule) -> None:
        """What the annotation makes constant must be the same in all arrays of a list."""
        pinned = [("static_shape", dim) for dim in rule.shape_dims]
        pinned += [("static_strides", dim) for dim in rule.stride_dims]
        for field, dim in pinned:
            numbers = {getattr(one, field)[dim] for one in facts if -one.rank <= dim < one.rank}
            if len(numbers) > 1:
                raise self._error(
                    rule.name,
                    f"{field.replace('_', ' ')} of dimension {dim} differs between the arrays of "
                    f"the list: {sorted(numbers)}",
                    "launch once for each, or do not annotate the dimension",
                )

    def _error(self, name: str, reason: str, remedy: str) -> LaunchError:
        return LaunchError(f"kernel '{self._kernel}', parameter '{name}': {reason}", remedy=remedy)


def plain_constant(value: Any) -> Any:
    """A constant as kernels see it: NumPy's scalars are the numbers that they are."""
    return value.item() if isinstance(value, np.generic) else value


def joined(facts: Sequence[ArrayParameter]) -> ArrayParameter:
    """What holds for each of several arrays of one type and rank."""

    def common(field: str) -> tuple[int | None, ...]:
        columns = zip(*(getattr(one, field) for one in facts), strict=True)
        return tuple(column[0] if len(set(column)) == 1 else None for column in columns)

    def divisors(field: str) -> tuple[int, ...]:
        columns = zip(*(getattr(one, field) for one in facts), strict=True)
        return tuple(math.gcd(*column) for column in columns)

    return replace(
        facts[0],
        pointer_divisible_by=math.gcd(*(one.pointer_divisible_by for one in facts)),
        shape_divisible_by=divisors("shape_divisible_by"),
        stride_divisible_by=divisors("stride_divisible_by"),
        static_shape=common("static_shape"),
        static_strides=common("static_strides"),
        disjoint=all(one.disjoint for one in facts),
    )


def _listed(dims: Sequence[int], rank: int, numbers: Sequence[int]) -> tuple[int | None, ...]:
    """The numbers of the dimensions that are listed, None for the others."""
    chosen = {dim % rank for dim in dims if rank and -rank <= dim < rank}
    return tuple(number if axis in chosen else None for axis, number in enumerate(numbers))


def describe_signature(rules: Sequence[Rule], signature: Signature) -> str:
    """A specialisation in short: `a: f16[?, 16k], n: i32, TILE=128`."""
    return ", ".join(
        part
        for rule, parameter in zip(rules, signature.parameters, strict=True)
        for part in _described(rule.name, parameter)
    )


def _described(name: str, parameter: Parameter) -> Iterator[str]:
    match parameter:
        case ConstantParameter(value):
            yield f"{name}={value!r:.40}"
        case ScalarParameter(dtype):
            yield f"{name}: {dtype}"
        case ListParameter(element):
            yield f"{name}: list of {_described_array(element)}"
        case TupleParameter(items):
            inside = [part for item in items for part in _described("", item)]
            yield f"{name}: ({', '.join(part.removeprefix(': ') for part in inside)})"
        case _:
            yield f"{name}: {_described_array(parameter)}"


def _described_array(array: ArrayParameter) -> str:
    """`f16[?, 16k; 8k, 1]`: extents; strides. `16k` is a multiple of 16."""

    def numbers(static: Sequence[int | None], divisors: Sequence[int]) -> str:
        return ", ".join(
            str(value) if value is not None else f"{divisor}k" if divisor > 1 else "?"
            for value, divisor in zip(static, divisors, strict=True)
        )

    shape = numbers(array.static_shape, array.shape_divisible_by)
    strides = numbers(array.static_strides, array.stride_divisible_by)
    aligned = "" if array.pointer_divisible_by > 1 else " unaligned"
    return f"{array.dtype}[{shape}; {strides}]{aligned}" if array.rank else f"{array.dtype}[]"
