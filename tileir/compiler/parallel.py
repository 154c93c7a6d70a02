"""Compiling many programs at once, each in one of several warm worker processes.

    programs = tileir.compile_many([first, second], target="sm_90a")
    for program in programs: ...          # a Program, or the TileError that it ended in

A worker (`tileir.compiler.worker`) does all of a compilation, so that none waits for Python here.
Workers that are free stay for later calls; those that work when a call is interrupted end with it.
"""

from __future__ import annotations

import atexit
import contextlib
import contextvars
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tileir.compiler.effort import FastCompile, choose_level
from tileir.compiler.mlir_bytecode import to_bytecode
from tileir.compiler.pipeline import Options
from tileir.compiler.program import Program
from tileir.compiler.target import Target
from tileir.compiler.worker import Worker
from tileir.errors import ParseError, TileError
from tileir.source import parse


@dataclass(frozen=True)
class Request:
    """One compilation; the fields are the arguments of `tileir.compile`."""

    source: Any
    target: str = "sm_90a"
    opt_level: int = 3
    launch: Literal["plain", "managed"] = "plain"
    fast_compile: FastCompile | None = None

    def options(self) -> Options:
        level = choose_level(self.opt_level, self.fast_compile)
        return Options(str(Target.parse(self.target)), level, self.launch)

    def contents(self) -> tuple[bytes, str]:
        """What a worker gets: text or bytecode, and its name in messages."""
        source = self.source
        if isinstance(source, bytes | bytearray | memoryview):
            return bytes(source), "<bytes>"
        if isinstance(source, Path) or (isinstance(source, str) and "\n" not in source):
            try:
                return Path(source).read_bytes(), str(source)
            except (OSError, ValueError) as error:
                if isinstance(source, Path) or "{" not in source:
                    reason = getattr(error, "strerror", None) or error
                    raise ParseError(f"cannot read {source}: {reason}") from None
        if isinstance(source, str):
            return source.encode(), "<text>"
        return to_bytecode(parse(source)), "<module>"


class CompilerPool:
    """Up to `size` compilations at once; by default as many as there are cores.

        with CompilerPool() as pool:
            futures = [pool.submit(request) for request in requests]

    Leaving the `with` statement by an exception ends all that is not done. `timeout` is seconds
    for one compilation.
    """

    def __init__(
        self, size: int | None = None, timeout: float | None = None, ptxas: str | None = None
    ):
        self.size = size or available_cores()
        self._timeout = timeout
        self._ptxas = ptxas
        self._threads = ThreadPoolExecutor(self.size, "tileir-compile")
        self._busy: set[Worker] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def submit(self, request: Request, then: Callable[[Program], Any] | None = None) -> Future[Any]:
        """The program of a request, or what `then` makes of it, in a while. The future raises the
        TileError of the compilation."""
        # Facts of traces are the caller's.
        context = contextvars.copy_context()
        return self._threads.submit(context.run, self._compile, request, then)

    def _compile(self, request: Request, then: Callable[[Program], Any] | None) -> Any:
        options = request.options()
        contents, name = request.contents()
        with self._worker() as worker:
            output = worker.compile(contents, name, options, self._ptxas, self._timeout)
        program = Program(lambda: parse(contents, name=name), options, output, ptxas=self._ptxas)
        return then(program) if then else program

    @contextlib.contextmanager
    def _worker(self) -> Iterator[Worker]:
        worker = _idle.take()
        with self._lock:
            if self._is_closed:
                worker.stop()
                raise TileError("the compilation was cancelled")
            self._busy.add(worker)
        try:
            yield worker
        finally:
            with self._lock:
                self._busy.discard(worker)
            if self._is_closed:
                worker.stop()
            else:
                _idle.put_back(worker)

    def close(self, cancel: bool = False) -> None:
        """Waits for what was submitted, or with `cancel` ends it."""
        if cancel:
            with self._lock:
                self._is_closed = True
                busy = list(self._busy)
            self._threads.shutdown(wait=False, cancel_futures=True)
            for worker in busy:
                worker.abandon()
        self._threads.shutdown(wait=True)

    def __enter__(self) -> CompilerPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(cancel=kind is not None)


def compile_many(
    sources: Iterable[Any],
    target: str = "sm_90a",
    opt_level: int = 3,
    *,
    launch: Literal["plain", "managed"] = "plain",
    fast_compile: FastCompile | None = None,
    workers: int | None = None,
    timeout: float | None = None,
    ptxas: str | None = None,
) -> list[Program | TileError]:
    """Compiles many programs on all cores: for each source its program, cubin included where there
    is a ptxas, or the TileError that it ended in, in the order of the sources.

    A source is what `tileir.compile` takes, or a `Request`, which has a target and options of its
    own. `workers` limits the processes, `timeout` the seconds for one program (CompileTimeout).
    Programs are those that `tileir.compile` makes, to the bit. Ctrl-C ends all processes that work.
    """

    def request_of(source: Any) -> Request:
        if isinstance(source, Request):
            return source
        return Request(source, target, opt_level, launch, fast_compile)

    requests = [request_of(source) for source in sources]
    if not requests:
        return []
    size = min(workers or available_cores(), len(requests))
    with CompilerPool(size, timeout, ptxas) as pool:
        futures = [pool.submit(request) for request in requests]
        return [_result_of(future) for future in futures]


def compile_apart(
    request: Request, timeout: float | None = None, ptxas: str | None = None
) -> Program:
    """One compilation, all of it in a worker process. Raises a TileError."""
    options = request.options()
    contents, name = request.contents()
    worker = _idle.take()
    try:
        output = worker.compile(contents, name, options, ptxas, timeout)
    finally:
        _idle.put_back(worker)
    return Program(lambda: parse(contents, name=name), options, output, ptxas=ptxas)


def _result_of(future: Future[Program]) -> Program | TileError:
    try:
        return future.result()
    except TileError as error:
        return error


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


class _Idle:
    """Workers that wait for work; no more than there are cores."""

    def __init__(self) -> None:
        self._workers: list[Worker] = []
        self._lock = threading.Lock()

    def take(self) -> Worker:
        with self._lock:
            return self._workers.pop() if self._workers else Worker()

    def put_back(self, worker: Worker) -> None:
        with self._lock:
            if len(self._workers) < available_cores():
                self._workers.append(worker)
                return
        worker.stop()

    def stop(self) -> None:
        with self._lock:
            workers, self._workers = self._workers, []
        for worker in workers:
            worker.stop()

    def forget(self) -> None:
        """In a forked child: the workers belong to the parent."""
        self._workers = []
        self._lock = threading.Lock()


_idle = _Idle()
os.register_at_fork(after_in_child=_idle.forget)
atexit.register(_idle.stop)
