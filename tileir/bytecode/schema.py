"""The operations of the format: one table for reader, writer and documentation.

An operation is stored as

    varint opcode
    results      one type each; behind a count if any operand or result is variadic
    flags        one varint, present if the version knows anything optional of the operation:
                 one bit for each unit attribute, optional attribute and optional operand,
                 those of older versions first, attributes before operands, in the table's order
    attributes   in order; an optional one only if its flag is set, a newer one not at all
    operands     fixed: a value number each
                 segmented: each in order, a variadic one behind its count, an optional one only
                 if its flag is set
                 counted (other operations with a variadic or optional operand): one count for all
    regions      only if it has any: their count, then for each region the number of blocks, for
                 each block its argument types and its operations, each behind a count
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum as PythonEnum
from functools import cache
from typing import Any

from tileir.bytecode import enums
from tileir.bytecode.fields import (
    BOOL,
    BOOL_ARRAY,
    CONSTANT,
    I32_ARRAY,
    STRING,
    SYMBOL,
    U63,
    UNIT,
    Encoding,
    Enum,
)
from tileir.bytecode.tags import HINTS, Tagged, TaggedList
from tileir.bytecode.version import V13_1, V13_2, V13_3, V13_4, V13_5, Version


class Arity(PythonEnum):
    """How many values stand for an operand."""

    ONE = ""
    OPTIONAL = "?"
    VARIADIC = "*"


class Scheme(PythonEnum):
    """How the operands are stored; see above."""

    FIXED = 0
    COUNTED = 1
    SEGMENTED = 2


@dataclass(frozen=True)
class Operand:
    """An operand of an operation, which may be newer than the operation."""

    name: str
    arity: Arity
    since: Version = V13_1


@dataclass(frozen=True)
class Attribute:
    """`default` (for an enumeration the case) holds where the file version lacks the attribute."""

    name: str
    encoding: Encoding
    optional: bool = False
    since: Version = V13_1
    default: Any = None

    @property
    def has_flag(self) -> bool:
        return self.optional or self.encoding is UNIT


@dataclass(frozen=True, eq=False)
class OpSpec:
    """One row. `results` is None for a variadic number."""

    opcode: int
    name: str
    since: Version
    operands: tuple[Operand, ...]
    attributes: tuple[Attribute, ...]
    results: int | None
    results_since: Version
    segmented: bool
    regions: int

    @property
    def scheme(self) -> Scheme:
        if self.segmented:
            return Scheme.SEGMENTED
        fixed = all(operand.arity is Arity.ONE for operand in self.operands)
        return Scheme.FIXED if fixed else Scheme.COUNTED

    @property
    def minimum_operands(self) -> int:
        return sum(operand.arity is Arity.ONE for operand in self.operands)

    @property
    def maximum_operands(self) -> int | None:
        if any(operand.arity is Arity.VARIADIC for operand in self.operands):
            return None
        return len(self.operands)


@dataclass(frozen=True, eq=False)
class Layout:
    """What of an operation exists in one version. If `flags` is empty, there is no varint."""

    spec: OpSpec
    results: int | None
    counted_results: bool
    flags: Mapping[str, int]
    flag_mask: int
    attributes: tuple[Attribute, ...]
    missing: tuple[Attribute, ...]
    operands: tuple[Operand, ...]
    scheme: Scheme


@cache
def layout_of(spec: OpSpec, version: Version) -> Layout:
    attributes = tuple(a for a in spec.attributes if a.since <= version)
    operands = tuple(o for o in spec.operands if o.since <= version)
    flagged: list[Attribute | Operand] = [a for a in attributes if a.has_flag]
    if spec.segmented:
        flagged += [o for o in operands if o.arity is Arity.OPTIONAL]
    flagged.sort(key=lambda item: item.since)
    variadic = any(operand.arity is Arity.VARIADIC for operand in spec.operands)
    return Layout(
        spec=spec,
        results=spec.results if spec.results_since <= version else 0,
        counted_results=variadic or spec.results is None,
        flags={item.name: 1 << bit for bit, item in enumerate(flagged)},
        flag_mask=(1 << len(flagged)) - 1,
        attributes=attributes,
        missing=tuple(a for a in spec.attributes if a.since > version),
        operands=operands,
        scheme=spec.scheme,
    )


def _operands(text: str) -> tuple[Operand, ...]:
    """`"a b? c*"`: one, optional, variadic; `"b?13.2"`: since that version."""
    operands = []
    for word in text.split():
        mark = next((character for character in "?*" if character in word), "")
        name, _, minor = word.partition(mark) if mark else (word, "", "")
        since = Version(13, int(minor.removeprefix("13."))) if minor else V13_1
        operands.append(Operand(name, Arity(mark), since))
    return tuple(operands)


def _op(
    opcode: int,
    name: str,
    operands: str = "",
    *attributes: Attribute,
    since: Version = V13_1,
    results: int | None = 1,
    results_since: Version = V13_1,
    segmented: bool = False,
    regions: int = 0,
) -> OpSpec:
    return OpSpec(
        opcode,
        name,
        since,
        _operands(operands),
        attributes,
        results,
        results_since,
        segmented,
        regions,
    )


def _enum(name: str, enumeration: enums.Enumeration, **options: Any) -> Attribute:
    return Attribute(name, Enum(enumeration), **options)


def _rounding(default: str, since: Version = V13_1) -> Attribute:
    return _enum("rounding_mode", enums.ROUNDING, since=since, default=default)


_IEEE = _rounding("nearest_even")
_FLUSH_TO_ZERO = Attribute("flush_to_zero", UNIT)
_PROPAGATE_NAN = Attribute("propagate_nan", UNIT)
_OVERFLOW = _enum("overflow", enums.OVERFLOW, default="none")
_SIGNEDNESS = _enum("signedness", enums.SIGNEDNESS)
_PREDICATE = _enum("comparison_predicate", enums.PREDICATE)
_ORDERING = _enum("memory_ordering_semantics", enums.ORDERING)
_SCOPE = _enum("memory_scope", enums.SCOPE)
_OPTIONAL_SCOPE = _enum("memory_scope", enums.SCOPE, optional=True)
_MODE = _enum("mode", enums.ATOMIC_MODE)
_REDUCTION = _enum("reduction", enums.MULTIMEM_REDUCTION)
_OP_HINTS = Attribute("optimization_hints", HINTS, optional=True)
_DIM = Attribute("dim", U63)
_IDENTITIES = Attribute("identities", TaggedList("integer", "float", "bool"))
_PREDICATE_OF_ASSUME = Attribute("predicate", Tagged("div_by", "same_elements", "bounded"))


def _inbounds(since: Version) -> Attribute:
    """One bool per index. In MLIR absent if no dimension is promised to be inside."""
    return Attribute("inbounds", BOOL_ARRAY, since=since)


OPERATIONS: tuple[OpSpec, ...] = (
    _op(0x00, "absf", "source"),
    _op(0x01, "absi", "source"),
    _op(0x02, "addf", "lhs rhs", _IEEE, _FLUSH_TO_ZERO),
    _op(0x03, "addi", "lhs rhs", _OVERFLOW),
    _op(0x04, "andi", "lhs rhs"),
    _op(0x05, "assert", "condition", Attribute("message", STRING), results=0),
    _op(0x06, "assume", "value", _PREDICATE_OF_ASSUME),
    _op(
        0x07, "atomic_cas_tko", "pointers cmp val mask? token?", _ORDERING, _SCOPE,
        results=2, segmented=True,
    ),
    _op(
        0x08, "atomic_rmw_tko", "pointers arg mask? token?", _ORDERING, _SCOPE, _MODE,
        results=2, segmented=True,
    ),
    _op(0x09, "bitcast", "source"),
    _op(0x0A, "break", "operands*", results=0),
    _op(0x0B, "broadcast", "source"),
    _op(0x0C, "cat", "lhs rhs", _DIM),
    _op(0x0D, "ceil", "source"),
    _op(
        0x0E, "cmpf", "lhs rhs",
        _PREDICATE, _enum("comparison_ordering", enums.COMPARISON_ORDERING),
    ),
    _op(0x0F, "cmpi", "lhs rhs", _PREDICATE, _SIGNEDNESS),
    _op(0x10, "constant", "", Attribute("value", CONSTANT)),
    _op(0x11, "continue", "operands*", results=0),
    _op(0x12, "cos", "source"),
    _op(0x13, "cosh", "source"),
    _op(0x14, "divf", "lhs rhs", _IEEE, _FLUSH_TO_ZERO),
    _op(0x15, "divi", "lhs rhs", _SIGNEDNESS, _enum("rounding", enums.ROUNDING, default="zero")),
    # 0x16 entry: lives in the function section
    _op(0x17, "exp", "source", _rounding("full", since=V13_3)),
    _op(0x18, "exp2", "source", _FLUSH_TO_ZERO),
    _op(0x25, "exti", "source", _SIGNEDNESS),
    _op(0x26, "extract", "source indices*"),
    _op(0x27, "floor", "source"),
    _op(0x28, "fma", "lhs rhs acc", _IEEE, _FLUSH_TO_ZERO),
    _op(
        0x29, "for", "lower_bound upper_bound step init_values*",
        Attribute("unsignedCmp", UNIT, since=V13_2), results=None, regions=1,
    ),
    _op(0x2A, "ftof", "source", _IEEE),
    _op(
        0x2B, "ftoi", "source",
        _SIGNEDNESS, _rounding("nearest_int_to_zero"), Attribute("saturating", UNIT, since=V13_4),
    ),
    _op(0x2C, "get_global", "", Attribute("name", SYMBOL)),
    _op(0x2D, "get_index_space_shape", "view", results=None),
    _op(0x2E, "get_num_tile_blocks", results=3),
    _op(0x2F, "get_tensor_shape", "view", results=None),
    _op(0x30, "get_tile_block_id", results=3),
    # 0x31 global: has its own section
    _op(0x32, "if", "condition", results=None, regions=2),
    _op(0x33, "int_to_ptr", "source"),
    _op(0x3A, "iota"),
    _op(0x3B, "itof", "source", _SIGNEDNESS, _IEEE),
    _op(0x3C, "join_tokens", "tokens*"),
    _op(
        0x3D, "load_ptr_tko", "source mask? padding_value? token?",
        _ORDERING, _OPTIONAL_SCOPE, _OP_HINTS, results=2, segmented=True,
    ),
    _op(
        0x3E, "load_view_tko", "view index* token?",
        _ORDERING, _OPTIONAL_SCOPE, _OP_HINTS, _inbounds(V13_4), results=2, segmented=True,
    ),
    _op(0x3F, "log", "source"),
    _op(0x40, "log2", "source"),
    _op(0x41, "loop", "init_values*", results=None, regions=1),
    _op(0x42, "make_partition_view", "tensor_view"),
    _op(
        0x43, "make_tensor_view", "base dynamic_shape* dynamic_strides*",
        segmented=True,
    ),
    _op(0x44, "make_token"),
    _op(0x45, "maxf", "lhs rhs", _PROPAGATE_NAN, _FLUSH_TO_ZERO),
    _op(0x46, "maxi", "lhs rhs", _SIGNEDNESS),
    _op(0x47, "minf", "lhs rhs", _PROPAGATE_NAN, _FLUSH_TO_ZERO),
    _op(0x48, "mini", "lhs rhs", _SIGNEDNESS),
    _op(0x49, "mmaf", "lhs rhs acc", Attribute("fast_acc", UNIT, since=V13_3)),
    _op(
        0x4A, "mmai", "lhs rhs acc",
        _enum("signedness_lhs", enums.SIGNEDNESS), _enum("signedness_rhs", enums.SIGNEDNESS),
    ),
    # 0x4B module: the file itself
    _op(0x4C, "mulf", "lhs rhs", _IEEE, _FLUSH_TO_ZERO),
    _op(0x4D, "mulhii", "lhs rhs"),
    _op(0x4E, "muli", "lhs rhs", _OVERFLOW),
    _op(0x4F, "negf", "source"),
    _op(0x50, "negi", "source", _enum("overflow", enums.OVERFLOW, since=V13_2, default="none")),
    _op(0x51, "offset", "pointer offset"),
    _op(0x52, "ori", "lhs rhs"),
    _op(0x53, "permute", "source", Attribute("permutation", I32_ARRAY)),
    _op(0x54, "fpowf", "source exponent"),
    # `print` in 13.1, without tokens
    _op(
        0x55, "print_tko", "args* token?13.2", Attribute("str", STRING),
        results_since=V13_2, segmented=True,
    ),
    _op(0x56, "ptr_to_int", "source"),
    _op(0x57, "ptr_to_ptr", "source"),
    _op(0x58, "reduce", "operands*", _DIM, _IDENTITIES, results=None, regions=1),
    _op(0x59, "remf", "lhs rhs"),
    _op(0x5A, "remi", "lhs rhs", _SIGNEDNESS),
    _op(0x5B, "reshape", "source"),
    _op(0x5C, "return", "operands*", results=0),
    _op(0x5D, "rsqrt", "source", _FLUSH_TO_ZERO),
    _op(
        0x5E, "scan", "operands*",
        _DIM, Attribute("reverse", BOOL), _IDENTITIES, results=None, regions=1,
    ),
    _op(0x5F, "select", "condition true_value false_value"),
    _op(0x60, "shli", "lhs rhs", _OVERFLOW),
    _op(0x61, "shri", "lhs rhs", _SIGNEDNESS),
    _op(0x62, "sin", "source"),
    _op(0x63, "sinh", "source"),
    _op(0x64, "sqrt", "source", _IEEE, _FLUSH_TO_ZERO),
    _op(
        0x65, "store_ptr_tko", "destination value mask? token?",
        _ORDERING, _OPTIONAL_SCOPE, _OP_HINTS, segmented=True,
    ),
    _op(
        0x66, "store_view_tko", "tile view index* token?",
        _ORDERING, _OPTIONAL_SCOPE, _OP_HINTS, _inbounds(V13_4), segmented=True,
    ),
    _op(0x67, "subf", "lhs rhs", _IEEE, _FLUSH_TO_ZERO),
    _op(0x68, "subi", "lhs rhs", _OVERFLOW),
    _op(0x69, "tan", "source"),
    _op(0x6A, "tanh", "source", _rounding("full", since=V13_2)),
    _op(0x6B, "trunci", "source", _OVERFLOW),
    _op(0x6C, "xori", "lhs rhs"),
    _op(0x6D, "yield", "operands*", results=0),
    _op(0x6E, "atan2", "lhs rhs", since=V13_2),
    _op(0x6F, "pack", "source", since=V13_3),
    _op(0x70, "unpack", "source", since=V13_3),
    _op(
        0x71, "alloca", "",
        Attribute("num_elem", U63), Attribute("alignment", U63), Attribute("global", UNIT),
        since=V13_3,
    ),
    _op(0x72, "mmaf_scaled", "lhs rhs acc lhs_scale rhs_scale", since=V13_3),
    _op(0x73, "make_gather_scatter_view", "tensor_view", since=V13_3),
    _op(0x74, "make_strided_view", "tensor_view", since=V13_3),
    _op(
        0x75, "atomic_red_view_tko", "view index* tile token?",
        _ORDERING, _SCOPE, _MODE, _inbounds(V13_5), since=V13_3, segmented=True,
    ),
    _op(0x76, "insert", "source destination indices*", since=V13_4),
    _op(0x77, "gdc_launch_dependents_tko", "token?", since=V13_4),
    _op(0x78, "gdc_wait_tko", "token?", since=V13_4),
    _op(0x79, "fpowi", "source exponent", since=V13_4),
    _op(0x7A, "memory_fence_alias_tko", "token", since=V13_4),
    _op(
        0x7B, "multimem_load_reduce_view_tko", "view index* token?",
        _ORDERING, _OPTIONAL_SCOPE, _REDUCTION, _inbounds(V13_5),
        since=V13_5, results=2, segmented=True,
    ),
    _op(
        0x7C, "multimem_reduce_view_tko", "view tile index* token?",
        _ORDERING, _SCOPE, _REDUCTION, _inbounds(V13_5), since=V13_5, segmented=True,
    ),
    _op(
        0x7D, "multimem_store_view_tko", "view tile index* token?",
        _ORDERING, _OPTIONAL_SCOPE, _inbounds(V13_5), since=V13_5, segmented=True,
    ),
)  # fmt: skip

BY_OPCODE: Mapping[int, OpSpec] = {spec.opcode: spec for spec in OPERATIONS}
TERMINATORS = frozenset(("break", "continue", "return", "yield"))
"""Operations that end a block."""

BY_NAME: Mapping[str, OpSpec] = {spec.name: spec for spec in OPERATIONS}

FUNCTION_PRIVATE = 1
FUNCTION_KERNEL = 2
FUNCTION_HAS_HINTS = 4
"""Flags of a function. From 13.5 on, bit 2 marks an external implementation (a preview feature)
instead, and hints are always stored."""
