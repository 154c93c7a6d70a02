"""What a run tells those who watch it: checkers, profilers, tracers.

An `Observer` is attached with `run(..., observers=[...])` and overrides the methods it needs.
Without observers no event is built. Events come in the order of execution; what the lanes of one
event do happens at once.

Names used by all events:

    site       the PTX instruction (`ptx.syntax.Instruction`): `.line`, `.location`, `.opcode`,
               `.text`
    warps      int64[n], numbers of warps: slot * (warps per block) + warp within the block
    active     bool[n, 32], the lanes that take part, or None if all do
    slot       the place of a resident block: a block keeps its slot from `block_started` to
               `block_finished`, then another one gets it
    thread     warp * 32 + lane
    storage    memory that bytes lie in (`machine.storage.Storage`): a global buffer, or the
               shared memory of all slots, or the local memory of all threads. Offsets count bytes
               from its start; `storage.describe(offset)` puts one into words.

Happens-before can be rebuilt from `access` (with its order and scope), `fence`, `warp_synced`,
the barrier events and the mbarrier events. Operations of the async proxy are not program order:
they read and write between `async_issued` and `async_completed`, and what makes their issuer know
is a wait on their group (`group_waited`) or on an mbarrier phase to which they completed bytes.

An observer that must follow values through registers (say, whether they are defined) sets
`instruments` and overrides `emit_before` and `emit_after`: these add lines to the translated code
of each instruction. `Emitter.shadow(register)` names a second slot of the register, an array
[n, 32] like the register's own, which is split and merged with it when warps diverge. There is one
such slot: the check of uninitialised values uses it, unless it is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from .code.emitter import Emitter
    from .machine.launch import Launch
    from .machine.storage import Storage
    from .ptx.syntax import Instruction

Array = np.ndarray[Any, np.dtype[Any]]
Order = Literal["weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "sc", "mmio"]
Scope = Literal["cta", "cluster", "gpu", "sys"]


@dataclass(frozen=True, slots=True)
class Access:
    """A load, store or atomic update by the generic proxy, one address a lane.

    `offset` int64[n, 32] is meaningful in active lanes; each lane touches `size` bytes there.
    An instruction whose lanes fall into several storages makes several events. Instructions of
    the matrix unit (ldmatrix, stmatrix) give the 16-byte row of each address-giving lane.
    `stored` are the neighbouring elements that a store writes, [n, 32] or scalars; None where the
    lanes' own registers do not hold what goes to their addresses.
    """

    kind: Literal["load", "store", "atomic", "reduce"]
    space: Literal["global", "shared", "local", "param", "const"]
    order: Order
    scope: Scope | None
    site: Instruction
    warps: Array
    active: Array | None
    storage: Storage
    offset: Array
    size: int
    stored: tuple[Any, ...] | None = None

    def stored_bytes(self) -> Array | None:
        """What the active lanes store, uint8[m, size]."""
        if self.stored is None:
            return None
        full = np.stack([np.broadcast_to(v, self.offset.shape) for v in self.stored], axis=-1)
        lanes = full.reshape(-1, full.shape[-1]) if self.active is None else full[self.active]
        return np.ascontiguousarray(lanes).view(np.uint8)


@dataclass(frozen=True, slots=True)
class AsyncAccess:
    """Bytes that an asynchronous operation reads or writes.

    `offset` int64[k]: the starts of k runs of `size` bytes. `owner` int64[k], for operations of
    many lanes (cp.async), is the thread of each run, else None. `which` is "a" or "b" for the
    operands of wgmma, whose runs are 16 bytes: neighbours along K or along M and N, whichever is
    contiguous, in the order of the matrix [M or N, K]; `swizzle` is their descriptor's, in bytes.
    """

    kind: Literal["read", "write", "reduce"]
    storage: Storage
    offset: Array
    size: int
    owner: Array | None = None
    which: str | None = None
    swizzle: int | None = None


@dataclass(frozen=True, slots=True)
class Fence:
    """A fence or membar.

    `kind`: "thread" (fence.sc, fence.acq_rel, membar), "proxy.async", "proxy.alias",
    "proxy.tensormap", "mbarrier_init", "wgmma". `space` restricts a proxy fence: "global",
    "shared::cta", "shared::cluster" or None for all. `addresses` are the generic addresses
    uint64[n, 32] of a tensormap acquire.
    """

    kind: str
    order: Order
    scope: Scope | None
    space: str | None
    site: Instruction
    warps: Array
    active: Array | None
    addresses: Array | None = None


@dataclass(frozen=True, slots=True)
class BarrierArrival:
    """Warps that arrive at a barrier of their block (`bar`) or of their cluster.

    `number` int64[n] is the barrier's of each warp (-1: the cluster's), `expected` int64[n] how
    many threads complete it, `waits` whether the warps also wait here.
    """

    number: Array
    expected: Array
    waits: bool
    order: Order
    site: Instruction
    warps: Array
    active: Array | None


@dataclass(frozen=True, slots=True)
class MbarrierEvent:
    """One step of an mbarrier object at `offset` of `storage`.

    `arrive` counts `count` arrivals down, `drop` also lowers the next phase's count,
    `expect_tx` and `complete_tx` move the transaction count by `count` bytes, `wait` is a
    successful test: the phase before number `phase` is complete. `phase` is the one in progress,
    counted from 0 at `init`. `threads` int64[k] took the step together; none did, and `operation`
    is set, where an asynchronous operation did.
    """

    kind: Literal["init", "invalidate", "arrive", "drop", "expect_tx", "complete_tx", "wait"]
    storage: Storage
    offset: int
    count: int
    phase: int
    order: Order
    scope: Scope | None
    site: Instruction
    threads: Array
    operation: Any = None


class Observer:
    """Watches a run; every method does nothing unless overridden."""

    instruments = False
    """Whether `emit_before` and `emit_after` take part in translation."""
    marks_unwritten = False
    """Whether the second slots of registers that nobody wrote yet are to be ones in every bit, as
    unsigned integers or bools; others are None."""

    # --- translation -----------------------------------------------------------------------------

    def emit_before(self, e: Emitter, instruction: Instruction) -> None:
        """Adds lines in front of an instruction's own."""

    def emit_after(self, e: Emitter, instruction: Instruction) -> None:
        """Adds lines behind an instruction's own; it has not left its basic block yet."""

    # --- the life of blocks ----------------------------------------------------------------------

    def launch_started(self, launch: Launch) -> None:
        """Before the first block; `launch` knows grid, block, cluster, memory and names."""

    def launch_finished(self, launch: Launch) -> None:
        """After the last block, all asynchronous operations done."""

    def block_started(self, slot: int, block: tuple[int, int, int]) -> None: ...

    def block_finished(self, slot: int, block: tuple[int, int, int], pending: list[Any]) -> None:
        """All threads have exited; `pending` asynchronous operations still touch its memory."""

    def threads_exited(self, warps: Array, active: Array | None) -> None: ...

    # --- memory ----------------------------------------------------------------------------------

    def access(self, access: Access) -> None: ...

    def fence(self, fence: Fence) -> None: ...

    # --- asynchronous operations -----------------------------------------------------------------
    # `operation` is a machine.asynchronous.Operation (`.kind` is "cp.async", "bulk", "bulk.reduce",
    # "bulk.tensor", "bulk.tensor.reduce" or "cp.async.mbarrier.arrive"), or a product of a
    # warpgroup ("wgmma", with `.warps`); `.site` is its instruction, `.threads` issued it.

    def async_issued(self, operation: Any) -> None: ...

    def async_access(self, operation: Any, access: AsyncAccess) -> None:
        """The operation reads or writes now."""

    def async_completed(self, operation: Any) -> None:
        """Everything is read, written and signalled; nobody need know yet."""

    def group_committed(
        self, kind: str, site: Instruction, warps: Array, active: Array | None
    ) -> None:
        """`kind`: "cp.async", "bulk" or "wgmma"."""

    def group_waited(
        self,
        kind: str,
        allowed: int,
        read_only: bool,
        site: Instruction,
        warps: Array,
        active: Array | None,
    ) -> None:
        """All but the youngest `allowed` groups are done (`read_only`: have read their sources)."""

    # --- synchronisation -------------------------------------------------------------------------

    def barrier_arrived(self, arrival: BarrierArrival) -> None: ...

    def barrier_completed(self, slot: int, number: int) -> None:
        """The barrier of a block; for clusters, number -1 and the slot of the first block."""

    def barrier_left(
        self, number: Array, order: Order, site: Instruction, warps: Array, active: Array | None
    ) -> None:
        """Warps that waited for a completed barrier go on."""

    def mbarrier(self, event: MbarrierEvent) -> None: ...

    def mbarrier_completed(self, storage: Storage, offset: int, phase: int) -> None:
        """Phase number `phase` (0 is the first since init) is complete."""

    def warp_synced(self, site: Instruction, warps: Array, members: Array) -> None:
        """bar.warp.sync or a vote, shuffle, match or reduction; members bool[n, 32]."""


class Observers:
    """Several observers as one: `watch.event("access", ...)` calls them in order."""

    def __init__(self, observers: tuple[Observer, ...]):
        self._observers = observers
        self.instruments = [o for o in observers if o.instruments]
        for name in vars(Observer):
            if name.startswith(("_", "emit")) or not callable(getattr(Observer, name)):
                continue
            setattr(self, name, self._fan_out(name))

    def _fan_out(self, name: str) -> Any:
        methods = [
            getattr(o, name)
            for o in self._observers
            if getattr(type(o), name) is not getattr(Observer, name)
        ]
        if len(methods) == 1:
            return methods[0]

        def call(*args: Any) -> None:
            for method in methods:
                method(*args)

        return call

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


def attach(observers: tuple[Observer, ...]) -> Observers | None:
    """One object for all observers, None for none."""
    return Observers(observers) if observers else None
