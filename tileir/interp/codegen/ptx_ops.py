"""PTX instructions in the program."""

from __future__ import annotations

from ...errors import ParseError, UnsupportedError
from ..numerics.inline_ptx import InlinePtx
from . import access
from .access import Op, string
from .emitter import Emitter
from .registry import translates


@translates("inline_ptx")
def _inline_ptx(e: Emitter, op: Op) -> None:
    formats = [e.format_of(value) for value in (*op.results, *op.operands)]
    try:
        function = InlinePtx(string(op, "ptx"), formats)
    except (ParseError, UnsupportedError) as error:
        raise UnsupportedError(
            f"the simulator, which runs inline_ptx here, says: {error}",
            location=access.location(op),
        ) from None
    name = e.constant(function, e.fresh("ptx"))
    e.elementwise(op, lambda *operands: f"{name}({', '.join(operands)})")
