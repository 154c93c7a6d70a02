"""Enumerations of the format. A value is stored as its position in `cases`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tileir.bytecode.version import V13_1, V13_4, V13_5, Version


@dataclass(frozen=True, eq=False)
class Enumeration:
    """`mnemonic` is the MLIR attribute, `#cuda_tile.mnemonic<case>`; `since` dates late cases."""

    mnemonic: str
    cases: tuple[str, ...]
    since: Mapping[str, Version] = field(default_factory=dict)

    def available_since(self, value: int) -> Version:
        return self.since.get(self.cases[value], V13_1)

    def value(self, case: str) -> int:
        return self.cases.index(case)


def _enumeration(mnemonic: str, cases: str, **since: Version) -> Enumeration:
    return Enumeration(mnemonic, tuple(cases.split()), since)


SIGNEDNESS = _enumeration("signedness", "unsigned signed")
OVERFLOW = _enumeration("overflow", "none no_signed_wrap no_unsigned_wrap no_wrap")
ROUNDING = _enumeration(
    "rounding",
    "nearest_even zero negative_inf positive_inf approx full nearest_int_to_zero nearest_away",
    nearest_away=V13_4,
)
PREDICATE = _enumeration(
    "comparison_predicate",
    "equal not_equal less_than less_than_or_equal greater_than greater_than_or_equal",
)
COMPARISON_ORDERING = _enumeration("comparison_ordering", "unordered ordered")
ATOMIC_MODE = _enumeration("atomic_rmw_mode", "and or xor add addf max min umax umin xchg")
SCOPE = _enumeration("memory_scope", "tl_blk device sys")
ORDERING = _enumeration("memory_ordering_semantics", "weak relaxed acquire release acq_rel")
PADDING_VALUE = _enumeration("padding_value", "zero neg_zero nan pos_inf neg_inf")
VISIBILITY = _enumeration("symbol_visibility", "public private")
PTR_KIND = _enumeration("ptr_attr", "none unicast multicast", unicast=V13_5, multicast=V13_5)
MULTIMEM_REDUCTION = _enumeration("multimem_reduction_kind", "add min max and or xor umin umax")
