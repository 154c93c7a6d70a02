"""Measuring one candidate somewhere else: what is sent, and what runs there.

Everything goes by content: the module of the kernel, arguments as recipes. Nothing of the user's
program is imported there; tileir must be installed, the same version of it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import tempfile
import threading
import uuid
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .. import __version__, trace
from ..errors import LaunchError, TileError
from .recipe import Word, make_words
from .result import Limits

if TYPE_CHECKING:
    from ..compiler.program import Program
    from ..runtime.driver import CudaDriver

How = Literal["device", "estimate"]
_MOST_PROGRAMS = 64


@dataclass(frozen=True)
class Task:
    """One candidate. `module` is MLIR bytecode of cuda_tile with one kernel; `traced_by` is the
    process that wants slices, if one does."""

    module: bytes
    target: str
    opt_level: int
    how: How
    grid: tuple[int, int, int]
    words: tuple[Word, ...]
    limits: Limits
    compile_seconds: float | None
    cutoff_us: float | None = None
    version: str = __version__
    traced_by: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a task: a time, or the name of an error's class and what it says."""

    device: str
    mean_us: float = 0.0
    margin_us: float = 0.0
    samples: int = 0
    stopped_early: bool = False
    error: str | None = None
    reason: str = ""
    events: dict[str, Any] | None = None


@dataclass(frozen=True)
class Place:
    """Where tasks run: the device's name, its target, and whether times are measured there."""

    device: str
    target: str
    how: How


def describe_place(target: str) -> Place:
    """This process as a place; without a GPU, times are estimated for `target`."""
    from ..runtime.driver import cuda_driver
    from ..runtime.targets import native_target

    try:
        device = cuda_driver().device()
    except LaunchError:
        return Place(f"estimate for {target}", target, "estimate")
    return Place(device.name, native_target(device.capability), "device")


def run_task(task: Task) -> Outcome:
    """Compiles and measures. Runs in whatever process an executor chooses."""
    if task.traced_by in (None, this_process()):
        return _run(task)
    # Other threads may run other tasks: slices are those of this one by a fact.
    mark = uuid.uuid4().hex
    with trace.recording() as recorder, trace.facts(task=mark):
        outcome = _run(task)
    events = [event for event in recorder.events if event.facts.get("task") == mark]
    return replace(outcome, events=trace.pack(events))


def this_process() -> str:
    """A name for this process among those of all machines."""
    return f"{platform.node()} {os.getpid()}"


def _run(task: Task) -> Outcome:
    device = ""
    try:
        if task.version != __version__:
            raise TileError(
                f"tileir {__version__} is installed here, {task.version} where the search runs",
                remedy="install one version everywhere",
            )
        device = describe_place(task.target).device
        if task.how == "estimate":
            return _estimate(task, device)
        return _measure(task, device)
    except (TileError, MemoryError) as error:
        return Outcome(device, error=type(error).__name__, reason=str(error))


def _estimate(task: Task, device: str) -> Outcome:
    from .estimate import estimate

    program = _program(task, "plain")
    cost = estimate(program, task.grid, make_words(task.words))
    return Outcome(device, cost.microseconds, 0.0, 1)


def _measure(task: Task, device: str) -> Outcome:
    from ..runtime.driver import CudaDriver, cuda_driver
    from ..runtime.module import load_program
    from .device_words import DeviceWords
    from .local import starter
    from .timer import DeviceTimer

    program = _program(task, "managed")
    (name,) = program.kernels
    driver = cuda_driver()
    assert isinstance(driver, CudaDriver)
    with _alone_on(driver), DeviceWords(driver, make_words(task.words)) as words:
        timer = DeviceTimer()
        try:
            start = starter(load_program(program)[name], task.grid, words.words, 0)
            samples, early = timer.measure(start, task.limits, task.cutoff_us)
        finally:
            timer.close()
    margin = samples.margin if len(samples.times) > 1 else samples.mean
    return Outcome(device, samples.mean, margin, len(samples.times), early)


_programs: OrderedDict[str, Program] = OrderedDict()
_programs_lock = threading.Lock()


def _program(task: Task, launch: Literal["plain", "managed"]) -> Program:
    """The program of a task; kept, since the fastest are measured again."""
    from ..compiler.parallel import Request, compile_apart

    text = f"{task.target} {task.opt_level} {launch} ".encode()
    key = hashlib.sha256(text + task.module).hexdigest()
    with _programs_lock:
        found = _programs.get(key)
    if found is None:
        request = Request(task.module, task.target, task.opt_level, launch)
        found = compile_apart(request, task.compile_seconds)
        with _programs_lock:
            _programs[key] = found
            if len(_programs) > _MOST_PROGRAMS:
                _programs.popitem(last=False)
    return found


_measuring = threading.Lock()


@contextlib.contextmanager
def _alone_on(driver: CudaDriver) -> Iterator[None]:
    """One measurement at a time on a device, of all threads and processes of a user here."""
    cu = driver.bindings
    bus = cu.cuDeviceGetPCIBusId(16, driver.device().ordinal)[1]
    name = bus.split(b"\0")[0].decode().replace(":", "-").replace(".", "-")
    path = Path(tempfile.gettempdir(), f"tileir-tuning-{os.getuid()}-{name}")
    with _measuring:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        finally:
            os.close(file)
