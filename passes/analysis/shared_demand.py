"""What to say of a kernel that needs more shared memory than there is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tileir.compiler.locations import location_text
from tileir.compiler.target import Target
from tileir.compiler.tile_types import bytes_of, is_buffer_type, operand_of
from tileir.dialects import tile_gpu
from tileir.errors import ResourceError
from tileir.ir import Operation, StringAttr
from tileir.passes.analysis.shared_lives import SharedBuffer, alive_together
from tileir.passes.walk import ops_of

#: A product stays at least so deep, in bytes of its operands' rows, as long as its tile can shrink
#: otherwise: shorter rows waste memory transactions.
_ROW_BYTES = 128
#: Rows and columns of the smallest tile that is worth a kernel.
_SMALLEST = 16
#: Places that an error names.
_MOST_PLACES = 4
_SMALLER = "use smaller tiles, or fewer at a time"


def too_much_shared_memory(
    kernel: Operation, buffers: Sequence[SharedBuffer], needed: int, target: Target
) -> ResourceError:
    """The error for a kernel that needs so many bytes; with the nearest shape that fits where it
    multiplies matrices once, else with the places of what it holds at once."""
    name = StringAttr(kernel.attributes["sym_name"]).value
    reason = f"kernel '{name}' needs {needed} bytes of shared memory, {target} has "
    reason += str(target.shared_bytes)
    products = _products(kernel)
    if len(products) != 1:
        return _held_at_once(reason, buffers)
    ((op, demand),) = products
    others = max(0, needed - demand.bytes)
    fitting = demand.shrunk_to(target.shared_bytes - others)
    return ResourceError(
        f"{reason}; {demand.bytes} of them hold the operands of a product of {demand}",
        location=location_text(op),
        remedy=f"a product of {fitting} fits" if fitting else _SMALLER,
    )


def _held_at_once(reason: str, buffers: Sequence[SharedBuffer]) -> ResourceError:
    """Says what the kernel holds where it holds most. Tiles are named by the lines that they come
    from, since their shapes may be those of slices."""
    held: dict[str, int] = {}
    for buffer in alive_together(buffers):
        place = location_text(buffer.op)
        if place is not None:
            held[place] = held.get(place, 0) + buffer.bytes
    largest = sorted(held.items(), key=lambda item: -item[1])
    parts = [f"{size} for {place}" for place, size in largest[:_MOST_PLACES]]
    if len(parts) > 1:
        reason += f"; at once it holds {', '.join(parts)}"
    return ResourceError(reason, location=largest[0][0] if largest else None, remedy=_SMALLER)


def _products(kernel: Operation) -> list[tuple[tile_gpu.DotOp, _Demand]]:
    """The matrix products with operands in shared memory."""
    found = []
    for op in ops_of(kernel, tile_gpu.DotOp):
        left, right = operand_of(op, 0), operand_of(op, 1)
        batch, (m, k), n = math.prod(left.shape[:-2]), left.shape[-2:], right.shape[-1]
        stored = (is_buffer_type(op.lhs.type), is_buffer_type(op.rhs.type))
        found.append((op, _Demand(batch, m, n, k, bytes_of(left.element), stored)))
    return found


@dataclass(frozen=True)
class _Demand:
    """A product of m x n x k, `batch` times; `stored` says which operands are in shared memory."""

    batch: int
    m: int
    n: int
    k: int
    element_bytes: int
    stored: tuple[bool, bool]

    def __str__(self) -> str:
        return f"{self.m}x{self.n}x{self.k}"

    @property
    def bytes(self) -> int:
        rows = self.m * self.stored[0] + self.n * self.stored[1]
        return self.batch * rows * self.k * self.element_bytes

    def shrunk_to(self, room: int) -> _Demand | None:
        """The same with dimensions halved until the operands fit: first the depth, then rows or
        columns, whichever are more."""
        found = self
        while found.bytes > room:
            smaller = found.k % 2 == 0 and found.k * found.element_bytes > _ROW_BYTES
            if smaller:
                found = replace(found, k=found.k // 2)
            elif max(found.m, found.n) > _SMALLEST:
                halved = "m" if found.m >= found.n else "n"
                found = replace(found, **{halved: getattr(found, halved) // 2})
            else:
                return None
        return found
