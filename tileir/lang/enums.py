"""Enumerations that options of functions take."""

from __future__ import annotations

from enum import Enum

__all__ = ["MemoryOrder", "MemoryScope", "PaddingMode", "RoundingMode"]


class PaddingMode(Enum):
    """What a tile holds where it reaches beyond the edge of an array."""

    UNDETERMINED = "undetermined"
    ZERO = "zero"
    NEG_ZERO = "neg_zero"
    NAN = "nan"
    POS_INF = "pos_inf"
    NEG_INF = "neg_inf"


class MemoryOrder(Enum):
    """How an access to memory is ordered with respect to other blocks."""

    WEAK = "weak"
    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"


class MemoryScope(Enum):
    """Which blocks see an ordered access in order."""

    NONE = "none"
    BLOCK = "block"
    CLUSTER = "cluster"
    DEVICE = "device"
    SYS = "sys"


class RoundingMode(Enum):
    """How results are rounded: RN to nearest even, RZ towards zero, RM down, RP up, RA to nearest
    with ties away from zero; FULL and APPROX are the hardware's faster functions."""

    RN = "nearest_even"
    RZ = "zero"
    RM = "negative_inf"
    RP = "positive_inf"
    RA = "nearest_away"
    FULL = "full"
    APPROX = "approx"
    RZI = "nearest_int_to_zero"
