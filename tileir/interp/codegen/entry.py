"""From an entry to the Python function that runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mlir import ir

from ...errors import UnsupportedError
from . import (  # noqa: F401  (register their translations)
    access,
    conversion_ops,
    debug_ops,
    float_ops,
    int_ops,
    matmul_ops,
    memory_ops,
    ptx_ops,
    reduce_ops,
    shape_ops,
    view_ops,
)
from .access import Op
from .control_flow import translate_block
from .emitter import Emitter, Section
from .undefined import undefined_values


@dataclass(frozen=True)
class Code:
    """An entry ready to run.

    `launch(run, *arguments)` gives the function of a block; that function is a generator if
    `suspends`. `site_of_line` and `locations` lead from a line of `source` to its operation.
    """

    launch: Callable[..., Callable[[Any], Any]]
    suspends: bool
    filename: str
    source: str
    site_of_line: list[int]
    locations: list[str]


def generate(entry: Op, *, check: bool) -> Code:
    """Translates an entry; with `check`, into code that detects undefined behaviour."""
    try:
        return _generate(entry, check)
    except (SyntaxError, RecursionError) as error:
        # Python limits how deep blocks may nest.
        name = ir.StringAttr(entry.operation.attributes["sym_name"]).value
        raise UnsupportedError(
            f"control flow in '{name}' is nested too deeply for the interpreter ({error})",
            location=access.location(entry),
        ) from None


def _generate(entry: Op, check: bool) -> Code:
    e = Emitter(check, undefined_values(entry) if check else set())
    body = entry.operation.regions[0].blocks[0]
    e.begin(entry)
    arguments = [e.new_slot(argument, invariant=True).name for argument in body.arguments]
    translate_block(e, body)
    e.begin(entry)
    lines = _assemble(e, arguments)
    source = "\n".join(text for text, _ in lines) + "\n"
    name = ir.StringAttr(entry.operation.attributes["sym_name"]).value
    filename = f"<tileir interpreter: {name}>"
    exec(compile(source, filename, "exec"), e.namespace)
    sites = [-1, *(site for _, site in lines)]  # line numbers start at 1
    return Code(e.namespace["launch"], e.suspends, filename, source, sites, e.sites)


def _assemble(e: Emitter, arguments: list[str]) -> list[tuple[str, int]]:
    def part(section: Section) -> list[tuple[str, int]]:
        return section.lines

    return [
        (f"def launch({', '.join(['run', *arguments])}):", e.site),
        *part(e.launch),
        ("    def block(t):", e.site),
        *part(e.block),
        ("    return block", e.site),
    ]
