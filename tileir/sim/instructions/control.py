"""Control flow: branches, calls, returns, exits."""

from __future__ import annotations

import numpy as np

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..machine.calls import enter_function, leave_function, leave_kernel
from ..machine.cohort import STOP, Array, Cohort, Lanes
from ..machine.faults import ThreadFault, first_lane
from ..ptx.syntax import Arguments, Function, Label, Operand, Register, Sink, Symbol, Variable
from ..ptx.types import U32, bits_type
from .heap import allocate, release
from .printing import print_formatted, read_local, read_string


@instruction("bra", ends=True, results=0)
def branch(e: Emitter, f: Form) -> None:
    f.has("uni")
    target = e.target(f.operand(0))
    guard = e.guard
    if guard is None:
        e.line(f"return {target}")
    else:
        e.line(f"return w.branch({guard}, {target}, {e.next_block})")


@instruction("brx.idx", ends=True, results=0)
def branch_indexed(e: Emitter, f: Form) -> None:
    f.has("uni")
    label = f.operand(1)
    assert isinstance(label, Label)
    targets = [e.target(one) for one in e.function.targets[label.name]]
    index = e.read(f.operand(0), U32)
    call = e.call(branch_to, index, e.lanes(), tuple(targets), e.next_block)
    e.line(f"return {call}")


def branch_to(
    w: Cohort, index: Array, lanes: Lanes, targets: tuple[int, ...], following: int
) -> int:
    """Each lane goes to the target that its index names; those outside `lanes` go on."""
    active = w.chosen(lanes)
    index = np.broadcast_to(index, active.shape)
    wrong = active & (index >= len(targets))
    if wrong.any():
        raise ThreadFault(
            f"brx.idx {int(index[wrong][0])} of {len(targets)} targets",
            thread=first_lane(w.threads, wrong),
        )
    for number in np.unique(index[active]).tolist():
        w.launch.scheduler.add(w.fork(active & (index == number), targets[number]))
    rest = w.active & ~active
    if rest.any():
        w.launch.scheduler.add(w.fork(rest, following))
    return STOP


@instruction("exit", ends=True)
def exit_(e: Emitter, f: Form) -> None:
    e.line(f"return {e.use(leave_kernel)}(w, {e.lanes()}, {e.next_block})")


@instruction("ret", ends=True)
def return_(e: Emitter, f: Form) -> None:
    f.has("uni")
    helper = leave_kernel if e.function.is_entry else leave_function
    e.line(f"return {e.use(helper)}(w, {e.lanes()}, {e.next_block})")


@instruction("trap", "brkpt", ends=True)
def trap(e: Emitter, f: Form) -> None:
    e.line(f"{e.use(fail)}(w, {e.lanes()})")
    e.line(f"return {e.next_block}")


def fail(w: Cohort, lanes: Lanes) -> None:
    active = w.chosen(lanes)
    if active.any():
        raise ThreadFault("trap", thread=first_lane(w.threads, active))


# --- calls ---------------------------------------------------------------------------------------


@instruction("call", ends=True)
def call(e: Emitter, f: Form) -> None:
    f.has("uni")
    results, target, given = _parts(f)
    if not isinstance(target, Symbol) or not isinstance(target.target, Function):
        raise f.error("calls through a register are not supported")
    function = target.target
    if function.body is None:
        _call_builtin(e, f, function, results, given)
        return
    callee = e.code.callee(function.name)
    frame = e.callee.frame_bytes
    values = []
    for formal, actual in zip(function.parameters, given, strict=True):
        if isinstance(formal, Register):
            dtype = e.dtype_name(callee.homes[formal.slot])
            value = e.read(actual, bits_type(formal.type.bits))
            value = value if isinstance(actual, Register) else f"w.fill({value})"
            values.append(f"({formal.slot}, {value}.view({dtype}))")
        else:
            e.line(_copy(e, actual, formal, frame, to_callee=True))
    helper, here = e.use(enter_function), e.object(callee, function.name)
    arguments = f"{here}, {frame}, [{', '.join(values)}], {e.lanes()}, {e.next_block}"
    e.line(f"return {helper}(w, {arguments})")


@instruction("call!")
def take_results(e: Emitter, f: Form) -> None:
    f.has("uni")
    results, target, _ = _parts(f)
    if not isinstance(target, Symbol) or not isinstance(target.target, Function):
        return
    function = target.target
    if function.body is None:
        return
    for formal, actual in zip(function.results, results, strict=True):
        if isinstance(formal, Register):
            raise f.error("results in registers are not supported, only .param ones")
        if not isinstance(actual, Sink):
            e.line(_copy(e, actual, formal, e.callee.frame_bytes, to_callee=False))


def _parts(f: Form) -> tuple[tuple[Operand, ...], Operand, tuple[Operand, ...]]:
    """Results, target and arguments of `call (r), f, (a), prototype`."""
    operands = list(f.operands)
    results: tuple[Operand, ...] = ()
    if isinstance(operands[0], Arguments):
        results, operands = operands[0].elements, operands[1:]
    target = operands.pop(0)
    given = operands[0].elements if operands and isinstance(operands[0], Arguments) else ()
    return results, target, given


def _copy(e: Emitter, actual: Operand, formal: Variable, frame: int, *, to_callee: bool) -> str:
    """A statement that copies a parameter between the caller's frame and the callee's."""
    if not isinstance(actual, Symbol) or not isinstance(actual.target, Variable):
        raise e.error("arguments must be .param variables")
    mine, theirs = actual.target.address + actual.offset, frame + formal.address
    source, target = (mine, theirs) if to_callee else (theirs, mine)
    return f"{e.use(copy_local)}(w, {source}, {target}, {formal.size})"


def copy_local(w: Cohort, source: int, target: int, size: int) -> None:
    """Moves bytes within each active thread's local memory, relative to its frame."""
    memory = w.launch.local
    memory.reserve(w.frame + max(source, target) + size)
    rows = memory.data.reshape(-1, memory.stride)
    threads = w.threads[w.active]
    source, target = source + w.frame, target + w.frame
    rows[threads, target : target + size] = rows[threads, source : source + size]


def _call_builtin(
    e: Emitter,
    f: Form,
    function: Function,
    results: tuple[Operand, ...],
    given: tuple[Operand, ...],
) -> None:
    """What the driver provides: vprintf, __assertfail, malloc and free."""
    places: list[int] = []
    for actual in (*given, *results):
        if not isinstance(actual, Symbol) or not isinstance(actual.target, Variable):
            raise f.error("arguments and results must be .param variables")
        places.append(actual.target.address + actual.offset)
    if function.name == "vprintf":
        e.line(f"{e.use(print_formatted)}(w, {places[0]}, {places[1]}, {e.lanes()})")
    elif function.name == "__assertfail":
        e.line(f"{e.use(fail_assertion)}(w, {places[0]}, {e.lanes()})")
    elif function.name == "malloc":
        e.line(f"{e.use(allocate)}(w, {places[0]}, {places[1]}, {e.lanes()})")
    elif function.name == "free":
        e.line(f"{e.use(release)}(w, {places[0]}, {e.lanes()})")
    else:
        raise f.error(f"function '{function.name}' is not defined in this module")
    e.line(f"return {e.next_block}")


def fail_assertion(w: Cohort, message: int, lanes: Lanes) -> None:
    active = w.chosen(lanes)
    if not active.any():
        return
    thread = first_lane(w.threads, active)
    text = read_string(w, int(read_local(w, message, np.dtype(np.uint64))[active][0]))
    raise ThreadFault(f"assertion failed: {text}", thread=thread)
