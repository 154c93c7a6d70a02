"""The collector of garbage rests while a module is compiled, and only then."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from collections.abc import Iterator

import pytest
from kernel_cases import load_case

import tileir
from tileir.garbage import CollectorPause, collector_pause

SOURCE = load_case("vector_add_f32_even").bytecode


@pytest.fixture(autouse=True)
def enabled() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def test_it_rests_inside_and_works_outside() -> None:
    with CollectorPause():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_pauses_nest() -> None:
    pause = CollectorPause()
    with pause:
        with pause:
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_works_again_after_an_exception() -> None:
    pause = CollectorPause()

    @pause
    def fail() -> None:
        assert not gc.isenabled()
        raise ValueError

    with pytest.raises(ValueError):
        fail()
    assert gc.isenabled()


def test_who_had_it_off_finds_it_off() -> None:
    gc.disable()
    with CollectorPause():
        pass
    assert not gc.isenabled()


def test_it_rests_until_the_last_thread_is_out() -> None:
    pause = CollectorPause()
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with pause:
            inside.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with pause:
        thread.start()
        inside.wait()
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()


class Node:
    """What only the collector frees: a cycle."""

    def __init__(self) -> None:
        self.itself = self


def test_threads_without_a_break_do_not_keep_garbage() -> None:
    pause = CollectorPause(longest=0)
    garbage = weakref.ref(Node())
    with pause:
        assert garbage() is not None
        with pause:
            pass
        assert garbage() is None
        assert not gc.isenabled()


def test_that_collects_nothing_for_who_had_it_off() -> None:
    gc.disable()
    pause = CollectorPause(longest=0)
    garbage = weakref.ref(Node())
    with pause, pause:
        pass
    assert garbage() is not None


def test_it_works_in_a_child_forked_meanwhile() -> None:
    with collector_pause:
        child = os.fork()
        if child == 0:
            os._exit(0 if gc.isenabled() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_child_leaves_the_pause_that_it_was_forked_in() -> None:
    child = None
    try:
        with collector_pause:
            child = os.fork()
    finally:
        if child == 0:
            with collector_pause:
                rested = not gc.isenabled()
            os._exit(0 if rested and gc.isenabled() else 1)
    assert child is not None
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("is_on", [True, False])
@pytest.mark.parametrize("source", [SOURCE, "entry @k() { nonsense }", "entry @k() { return }"])
def test_compiling_leaves_it_as_it_was(source: bytes | str, is_on: bool) -> None:
    if not is_on:
        gc.disable()
    try:
        tileir.compile(source, cache=False)
    except tileir.TileError:
        assert source == "entry @k() { nonsense }"
    assert gc.isenabled() == is_on


def test_it_rests_in_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    from tileir.passes import PassEntry

    states = []
    run = PassEntry.run

    def watched(entry: PassEntry, *arguments: object) -> None:
        states.append(gc.isenabled())
        run(entry, *arguments)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(PassEntry, "run", watched)
    tileir.compile(SOURCE, cache=False)
    assert states
    assert not any(states)
