"""Signatures, which the language and the launcher share: see `tileir.signature`."""

from ..signature import (
    DIVISOR,
    MAX_RANK_WITH_FACTS,
    ArrayParameter,
    ConstantParameter,
    ListParameter,
    Parameter,
    ScalarParameter,
    Signature,
    TupleParameter,
    array_facts,
    constant_key,
    disjoint,
    signless,
    words,
)

__all__ = [
    "DIVISOR",
    "MAX_RANK_WITH_FACTS",
    "ArrayParameter",
    "ConstantParameter",
    "ListParameter",
    "Parameter",
    "ScalarParameter",
    "Signature",
    "TupleParameter",
    "array_facts",
    "constant_key",
    "disjoint",
    "signless",
    "words",
]
