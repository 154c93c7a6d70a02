"""The programs and commands of docs/launch.md and docs/cache.md print what the pages show."""

from __future__ import annotations

import doctest
import linecache
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tileir.runtime import compiler_identity
from tileir.runtime.compiled import forget

DOCS = Path(__file__).resolve().parents[3] / "docs"
_PROGRAM = re.compile(
    r"^```python\n(.*?)^```\n\nprints\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL
)
_COMMAND = re.compile(r"^    \$ (.*)\n((?:    .*\n)*)", re.MULTILINE)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that is empty, and no GPU."""
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TILEIR_BACKEND", "interp")
    forget()
    compiler_identity._identity.cache_clear()
    return tmp_path


def check(shown: str, printed: str) -> None:
    matches = doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS)
    assert matches, f"printed:\n{printed}"


@pytest.mark.parametrize("page", ["launch.md", "cache.md"])
def test_pages(page: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (DOCS / page).read_text()
    programs = list(_PROGRAM.finditer(text))
    assert programs
    # Kernels are compiled from their source: the page is the file, line for line.
    lines = [""] * (text.count("\n") + 1)
    for program in programs:
        first = text.count("\n", 0, program.start(1))
        lines[first : first + program[1].count("\n")] = program[1].splitlines()
    linecache.cache[page] = (len(text), None, [f"{line}\n" for line in lines], page)
    names: dict[str, object] = {"__name__": page}
    for program in programs:
        before = "\n" * text.count("\n", 0, program.start(1))
        exec(compile(before + program[1], page, "exec"), names)
        check(program[2], capsys.readouterr().out)
    for command in _COMMAND.finditer(text):
        words = command[1].split()
        assert words[0] == "tileir"
        done = subprocess.run(
            [sys.executable, "-m", "tileir.tools.tileir_command", *words[1:]],
            env={**os.environ}, cwd=place, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        check(textwrap.dedent(command[2]), done.stdout + done.stderr)
