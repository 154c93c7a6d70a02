"""What the compiler and the launcher spend their time on, as a trace for Perfetto or Chrome.

    with trace.facts(kernel="matmul", specialization="f16[16,16]"):
        with trace.slice("ptxas", category="tool", opt_level=3) as slice:
            ...
            slice.note(registers=168)

A slice is an interval with a name and facts; `facts` adds to every slice inside it. Whoever wants
to know of slices is a sink: the recorder of a trace file, the log of timings, NVTX. Without a sink
a slice costs a function call.

`TILEIR_TRACE=FILE` records from the start of a process to its end; processes that it starts add
theirs to the same file. Times are those of the machine's monotonic clock, which all its processes
share; slices from other machines are moved by the difference of the wall clocks.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Event:
    """A slice that has ended. `start` and `duration` are nanoseconds."""

    name: str
    category: str
    start: int
    duration: int
    process: int
    thread: int
    facts: dict[str, Any]


class Sink(Protocol):
    """Learns when slices begin and end, on the thread that runs them."""

    def begin(self, name: str, category: str) -> None: ...

    def end(self, event: Event) -> None: ...

    def arrive(self, event: Event) -> None:
        """A slice that ended in another process a while ago."""
        ...


_sinks: tuple[Sink, ...] = ()
_sinks_lock = threading.Lock()
_NO_FACTS: Facts = {}
_facts: ContextVar[Facts] = ContextVar("tileir.trace.facts", default=_NO_FACTS)


def add_sink(sink: Sink) -> None:
    """Has `sink` told of every slice from now on."""
    global _sinks
    with _sinks_lock:
        _sinks = (*_sinks, sink)


def remove_sink(sink: Sink) -> None:
    """The end of `add_sink`."""
    global _sinks
    with _sinks_lock:
        _sinks = tuple(one for one in _sinks if one is not sink)


def is_on() -> bool:
    """Whether anybody wants to know of slices."""
    return bool(_sinks)


class Slice:
    """An interval that has begun."""

    __slots__ = ("_category", "_facts", "_name", "_start", "_told")

    def __init__(self, name: str, category: str, facts: dict[str, Any], told: tuple[Sink, ...]):
        self._name, self._category, self._facts, self._told = name, category, facts, told

    def __enter__(self) -> Slice:
        for sink in self._told:
            sink.begin(self._name, self._category)
        self._start = time.perf_counter_ns()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        duration = time.perf_counter_ns() - self._start
        if kind is not None:
            self._facts["error"] = kind.__name__
        event = Event(
            self._name, self._category, self._start, duration, os.getpid(),
            threading.get_native_id(), self._facts,
        )  # fmt: skip
        for sink in self._told:
            sink.end(event)

    def note(self, **facts: Any) -> None:
        """Adds facts that were not known when the slice began."""
        self._facts.update(facts)


class _Nothing:
    """The slice that nobody wants to know of."""

    __slots__ = ()

    def __enter__(self) -> _Nothing:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def note(self, **facts: Any) -> None:
        pass


_nothing = _Nothing()


def slice(name: str, category: str = "compile", **facts: Any) -> Slice | _Nothing:
    """An interval called `name`, to be used in a `with` statement.

    `category` groups slices: compile, pass, tool, cache, launch, tune. Facts are what JSON can
    hold; others are written as text.
    """
    if not _sinks:
        return _nothing
    return Slice(name, category, {**_facts.get(), **facts}, _sinks)


def facts(**more: Any) -> AbstractContextManager[object]:
    """Adds facts to all slices of this thread (or task) inside a `with` statement."""
    return _more_facts(more) if _sinks else _nothing


@contextmanager
def _more_facts(more: Facts) -> Iterator[None]:
    token = _facts.set({**_facts.get(), **more})
    try:
        yield
    finally:
        _facts.reset(token)


# ---- collecting ----------------------------------------------------------------------------------

#: Events of one name that are kept; the rest are counted. A program may launch for days.
_MOST_OF_A_NAME = 50_000


class Recorder:
    """A sink that keeps events, its own and those of other processes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._counts: dict[str, int] = {}

    def begin(self, name: str, category: str) -> None:
        pass

    def end(self, event: Event) -> None:
        with self._lock:
            count = self._counts.get(event.name, 0)
            self._counts[event.name] = count + 1
            if count < _MOST_OF_A_NAME:
                self._events.append(event)

    def arrive(self, event: Event) -> None:
        self.end(event)

    @property
    def events(self) -> list[Event]:
        with self._lock:
            return list(self._events)

    @property
    def left_out(self) -> dict[str, int]:
        """How many events of a name were not kept."""
        with self._lock:
            counts = self._counts.items()
            return {name: n - _MOST_OF_A_NAME for name, n in counts if n > _MOST_OF_A_NAME}

    def forget(self) -> None:
        """Drops all events."""
        with self._lock:
            self._events.clear()
            self._counts.clear()


def _clock() -> tuple[str, int]:
    """This machine, and what to add to its monotonic clock to get the time of day."""
    return platform.node(), time.time_ns() - time.perf_counter_ns()


def pack(events: Sequence[Event]) -> dict[str, Any]:
    """Events as plain values, to be sent to another process."""
    machine, to_wall = _clock()
    rows = [
        [e.name, e.category, e.start, e.duration, e.process, e.thread, plain(e.facts)]
        for e in events
    ]
    return {"machine": machine, "to_wall": to_wall, "events": rows}


def merge(packed: Mapping[str, Any]) -> None:
    """Takes the events that another process has packed. The facts around this call hold for
    them too, unless they say otherwise."""
    if not _sinks:
        return
    machine, to_wall = _clock()
    same = packed["machine"] == machine
    shift = 0 if same else packed["to_wall"] - to_wall
    around = _facts.get() if same else {**_facts.get(), "machine": packed["machine"]}
    for name, category, start, duration, process, thread, own in packed["events"]:
        event = Event(name, category, start + shift, duration, process, thread, {**around, **own})
        for sink in _sinks:
            sink.arrive(event)


def plain(facts: Facts) -> dict[str, Any]:
    """Facts as JSON can hold them."""
    return {
        key: value if isinstance(value, str | int | float | bool | None) else str(value)
        for key, value in facts.items()
    }


@contextmanager
def recording() -> Iterator[Recorder]:
    """Keeps the slices inside a `with` statement."""
    recorder = Recorder()
    add_sink(recorder)
    try:
        yield recorder
    finally:
        remove_sink(recorder)


@contextmanager
def to_file(path: str | None) -> Iterator[None]:
    """Writes the slices inside a `with` statement to a file; does nothing without one.

    Raises ToolError if the file cannot be written.
    """
    if path is None:
        yield
        return
    from tileir.trace_file import check_writable, write

    check_writable(path)
    with recording() as recorder:
        try:
            yield
        finally:
            write(path, recorder)


def _from_environment() -> None:
    if os.environ.get("TILEIR_TRACE"):
        from tileir.trace_file import record_process

        record_process(os.environ["TILEIR_TRACE"])
    if os.environ.get("TILEIR_LOG") or os.environ.get("CT_LOG_LEVEL"):
        import tileir.logging  # noqa: F401  (its log of timings is a sink)


_from_environment()
