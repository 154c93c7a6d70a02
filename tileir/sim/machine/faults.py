"""What goes wrong while a kernel runs; the runner adds the place in the code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...interp.faults import Fault

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction

__all__ = ["Fault", "ThreadFault"]


class ThreadFault(Fault):
    """A fault of one thread (warp * 32 + lane), or of all if None.

    `at` is the instruction at fault where it is not the one that runs: the issue of an
    asynchronous operation, say.
    """

    def __init__(
        self,
        reason: str,
        remedy: str | None = None,
        *,
        thread: int | None = None,
        at: Instruction | None = None,
    ):
        super().__init__(reason, remedy)
        self.thread = thread
        self.at = at


def first_lane(threads: Any, wrong: Any) -> int:
    """The thread of the first lane for which `wrong` holds; both are [n, 32]."""
    return int(threads.ravel()[int(wrong.ravel().argmax())])
