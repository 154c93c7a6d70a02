"""What the compiler tells while it works.

    TILEIR_LOG=stages,timing,remarks,ptx    any of these, on standard error
    CT_LOG_LEVEL=0..3                       0 nothing, 1 remarks, 2 and timing, 3 and PTX

stages    the module at each stage of MLIR, as text
timing    how long each pass, LLVM, ptxas, cache lookup and launch took
remarks   what passes and ptxas say of their decisions
ptx       the PTX

Underneath are the loggers `tileir.stages`, ... of the standard library at level INFO, so a
program can send them where it likes; with one of the variables set they go to standard error.
"""

from __future__ import annotations

import difflib
import logging
import os
import sys
from collections.abc import Collection, Iterable

from tileir import trace

#: What can be asked for, in the order of the documentation.
WORDS = ("stages", "timing", "remarks", "ptx")
#: What each CT_LOG_LEVEL means.
LEVELS: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset({"remarks"}),
    frozenset({"remarks", "timing"}),
    frozenset({"remarks", "timing", "ptx"}),
)

_root = logging.getLogger("tileir")
_loggers = {word: logging.getLogger(f"tileir.{word}") for word in WORDS}


def wants(word: str) -> bool:
    """Whether anybody reads the log called `word`."""
    return _loggers[word].isEnabledFor(logging.INFO)


def tell(word: str, text: str) -> None:
    """Writes to the log called `word`."""
    _loggers[word].info("%s", text)


class _StandardError(logging.StreamHandler):
    """Writes to whatever `sys.stderr` is at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


class _Timings:
    """The sink of slices that is the log of timings."""

    def begin(self, name: str, category: str) -> None:
        pass

    def end(self, event: trace.Event) -> None:
        if wants("timing"):
            facts = " ".join(f"{key}={value}" for key, value in trace.plain(event.facts).items())
            text = f"{event.duration / 1e6:10.3f} ms  {event.category:<8} {event.name:<28} {facts}"
            tell("timing", text.rstrip())

    def arrive(self, event: trace.Event) -> None:
        self.end(event)


_handler = _StandardError()
_handler.setFormatter(logging.Formatter("[tileir %(short)s] %(message)s"))
_handler.addFilter(lambda record: setattr(record, "short", record.name.partition(".")[2]) or True)
_timings = _Timings()


def show(words: Collection[str]) -> None:
    """Sends the logs called `words` to standard error, and no others."""
    for word, logger in _loggers.items():
        logger.setLevel(logging.INFO if word in words else logging.NOTSET)
    _root.removeHandler(_handler)
    trace.remove_sink(_timings)
    _root.propagate = not words
    if words:
        _root.addHandler(_handler)
    if "timing" in words:
        trace.add_sink(_timings)


def _words(text: str) -> Iterable[str]:
    """The words of TILEIR_LOG; of unknown ones it warns."""
    for word in filter(None, (part.strip().lower() for part in text.split(","))):
        if word in WORDS:
            yield word
            continue
        near = difflib.get_close_matches(word, WORDS, 1)
        meant = f" (did you mean '{near[0]}'?)" if near else ""
        _warn(f"TILEIR_LOG: there is no log '{word}'{meant}; there are {', '.join(WORDS)}")


def _level(text: str) -> frozenset[str]:
    if text.strip() in ("0", "1", "2", "3"):
        return LEVELS[int(text)]
    _warn(f"CT_LOG_LEVEL must be 0, 1, 2 or 3, not '{text}'")
    return frozenset()


def _warn(text: str) -> None:
    print(f"tileir: warning: {text}", file=sys.stderr)


def _from_environment() -> None:
    words = {*_words(os.environ.get("TILEIR_LOG", ""))}
    words |= _level(os.environ.get("CT_LOG_LEVEL", "0") or "0")
    if words:
        show(words)


_from_environment()
