"""split-tile: a kernel whose tile is too large for the registers computes it slice by slice.

    entry @k(...) {                          entry @k(...) {
      %x = load %p[%i]  : 512x512              for %s in (0 to 8) {
      %y = exp %x                      =>        %x = load %p'[%i * 8 + %s]  : 64x512
      store %y, %q[%i]                           %y = exp %x
    }                                            store %y, %q'[%i * 8 + %s]
                                             } }

See docs/split-tile.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.locations import plain_location
from tileir.dialects.diagnostics import emit_remark
from tileir.ir import Operation
from tileir.passes.attach_target import target_of
from tileir.passes.base import ModulePass
from tileir.passes.choose_num_warps import hinted_warps
from tileir.passes.split_tile.plan import Limits, Plan, make_plan
from tileir.passes.split_tile.slicer import Slicer
from tileir.passes.split_tile.warpgroups import on_warpgroups
from tileir.passes.walk import entries

EXTENDED_ATTRIBUTE = "cuda_tile.extended"

#: 16 warps with 64 words in each thread.
_BUDGET = 16 * 32 * 64
#: Registers of a thread that a warp of a kernel with few warps may fill with one tile.
_WORDS_PER_THREAD = 128
_THREADS_PER_WARP = 32


@dataclass(frozen=True)
class SplitTile(ModulePass):
    """Compute tiles that are too large for a block's registers slice by slice.

    budget   registers (32-bit words) of a block that its largest tile may fill, as may all its
             accumulators together: 16 warps with 64 words in each thread, or 8 with 128.
             Warpgroups that come in threes hold 9/8 of it; hints leave warpgroups as many warps
             as they need
    rows     rows and columns of the smallest matrix product that slicing may make
    columns
    """

    name = "split-tile"

    budget: int = _BUDGET
    rows: int = 16
    columns: int = 8

    def apply(self, module: Operation) -> None:
        for entry in entries(module):
            limits = Limits(self._budget_of(entry, module), self.rows, self.columns)
            while _split(entry, limits):
                pass

    def _budget_of(self, entry: Operation, module: Operation) -> int:
        """The budget, less where a hint leaves the kernel with few warps."""
        most = on_warpgroups(entry, target_of(module))
        if most is not None:
            return max(self.budget, self.budget * most // _BUDGET)
        warps = hinted_warps(entry.attributes.get("optimization_hints"), target_of(module))
        if warps is None:
            return self.budget
        return min(self.budget, warps * _THREADS_PER_WARP * _WORDS_PER_THREAD)


def _split(entry: Operation, limits: Limits) -> bool:
    """Splits a kernel along one dimension, if it must be; true if that is not enough."""
    found = make_plan(entry, limits, _is_extended(entry))
    if found is None:
        return False
    emit_remark(plain_location(found.place.location), found.remark(limits.budget))
    if not isinstance(found, Plan):
        return False
    Slicer(found).run()
    return found.is_partial


def _is_extended(entry: Operation) -> bool:
    """Whether tile dimensions need not be powers of two."""
    assert entry.parent is not None, "an entry is in a module"
    return EXTENDED_ATTRIBUTE in entry.parent.operation.attributes
