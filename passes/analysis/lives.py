"""When the operations of a kernel stand in its order, and how long what they use must live.

A value lives until its last use; from outside a loop that uses it, as long as the loop, and
likewise with specialised warps, which run side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from tileir.compiler.ir_util import ancestors
from tileir.ir import Operation, OpView


class Timeline:
    """Positions of the operations that `find` gives, counted among themselves. Those called `whole`
    keep alive all that they use from outside."""

    def __init__(
        self,
        kernel: Operation,
        find: Callable[[Operation | OpView], list[OpView]],
        whole: tuple[str, ...],
    ):
        self._find, self._whole = find, whole
        self.ops = find(kernel)
        self.position = {op.operation: index for index, op in enumerate(self.ops)}
        #: Of operations with regions: the position of the last one inside.
        self.end = {op.operation: self._end(op) for op in self.ops if len(op.operation.regions)}

    def _end(self, op: OpView) -> int:
        inside = self._find(op)
        return self.position[(inside[-1] if inside else op).operation]

    def span(self, home: Operation, user: OpView) -> tuple[int, int]:
        """The life that a use asks for of what is made in `home`: the outermost operation inside
        that which keeps it alive as a whole, or just the use."""
        around = takewhile(lambda op: op != home, ancestors(user))
        whole = [op for op in around if op.name in self._whole and op in self.position]
        if whole:
            return self.position[whole[-1]], self.end[whole[-1]]
        at = self.position[user.operation]
        return at, at
