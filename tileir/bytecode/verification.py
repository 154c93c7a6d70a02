"""MLIR's verifier as exceptions and places."""

from __future__ import annotations

from typing import NamedTuple

from tileir import ir


class Failure(NamedTuple):
    """Why an operation does not verify; `location` is that of the operation at fault."""

    reason: str
    location: ir.Location | None


def failure_of(op: ir.Operation) -> Failure | None:
    """What the verifier says about an operation and all in it; None if nothing."""
    try:
        op.verify()
    except ir.MLIRError as error:
        if not error.error_diagnostics:
            return Failure(str(error), None)
        first = error.error_diagnostics[0]
        return Failure(first.message, first.location)
    return None


def innermost_failure(op: ir.Operation) -> ir.Operation:
    """The first operation in `op` that does not verify although those within it do; or `op`."""
    while True:
        children = (child.operation for region in op.regions for block in region for child in block)
        bad = next((child for child in children if failure_of(child) is not None), None)
        if bad is None:
            return op
        op = bad
