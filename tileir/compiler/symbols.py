"""Names of what the compiler adds to a module, beside the names of the program."""

from __future__ import annotations

import itertools

from tileir.ir import Block, StringAttr

#: No kernel and no global of a program may have a name that starts so.
OWN_PREFIX = "__tileir_"


def has_symbol(block: Block, name: str) -> bool:
    """Whether the body of a module defines `name`."""
    return any(
        "sym_name" in op.operation.attributes
        and StringAttr(op.operation.attributes["sym_name"]).value == name
        for op in block
    )


def free_symbol(block: Block, stem: str) -> str:
    """`stem`, or `stem` with a number, which the body of a module does not define yet."""
    numbered = (f"{stem}_{i}" for i in itertools.count())
    return next(n for n in itertools.chain([stem], numbered) if not has_symbol(block, n))
