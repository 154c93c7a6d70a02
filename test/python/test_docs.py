"""The commands and programs in docs/*.md print what the pages show."""

from __future__ import annotations

import doctest
import linecache
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from tileir.compiler.pipeline import MLIR_STAGES, Options, passes_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "tools.md", "pipeline.md", "layouts.md", "hopper.md", "writing-a-pass.md", "embedding.md",
    "pytorch.md",
)  # fmt: skip
PAGES_WITH_PROGRAMS = {
    "embedding.md": 4, "layouts.md": 4, "hopper.md": 3, "first-kernels.md": 4, "pytorch.md": 3,
    "language.md": 6, "compile-time.md": 1, "tracing.md": 1,
    "autotuning.md": 3,
}  # fmt: skip

#: Indented lines; an empty one is part of what was printed unless a command follows.
_BLOCK = re.compile(r"(?:^ {4}.*\n|^\n(?= {4}(?!\$ )))+", re.MULTILINE)
_FILE = re.compile(r"`([\w./-]+)`:\n\n```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_PROGRAM = re.compile(
    r"^```python\n(.*?)^```\n\nprints\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Session:
    """`$ command` in an indented block, and the output shown below it."""

    page: str
    command: str
    shown: str


def sessions(page: str) -> list[Session]:
    text = (ROOT / "docs" / page).read_text()
    found = []
    for block in _BLOCK.findall(text):
        command, _, shown = textwrap.dedent(block).strip("\n").partition("\n")
        if command.startswith("$ "):
            found.append(Session(page, command[2:], shown))
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with what the pages' commands name: our examples and test data."""
    for name in ("examples", "test"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def write_files(page: str, folder: Path) -> None:
    """The files that a page shows: a name and a colon at the end of a line, then the text."""
    for name, content in _FILE.findall((ROOT / "docs" / page).read_text()):
        (folder / name).write_text(content)


@pytest.mark.parametrize(
    "session", [s for page in PAGES for s in sessions(page)], ids=lambda s: s.page
)
def test_commands_print_what_is_shown(session: Session, folder: Path) -> None:
    write_files(session.page, folder)
    path = f"PATH={Path(sys.executable).parent}:$PATH"
    done = subprocess.run(
        ["sh", "-c", f"{path}\n{session.command}"],
        cwd=folder, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    printed = (done.stdout + done.stderr).rstrip()
    matches = doctest.OutputChecker().check_output(session.shown, printed, doctest.ELLIPSIS)
    assert matches, f"{session.command}\nprinted:\n{printed[:3000]}"


@pytest.mark.parametrize(("page", "count"), PAGES_WITH_PROGRAMS.items())
def test_programs_print_what_is_shown(
    page: str, count: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of a page share one namespace: later ones use what earlier ones define."""
    namespace: dict[str, object] = {}
    text = (ROOT / "docs" / page).read_text()
    programs = list(_PROGRAM.finditer(text))
    assert len(programs) == count
    monkeypatch.chdir(ROOT)
    register_source(page, text, programs)
    for program in programs:
        before = "\n" * text.count("\n", 0, program.start(1))
        exec(compile(before + program[1], page, "exec"), namespace)
        assert capsys.readouterr().out == program[2]


def register_source(page: str, text: str, programs: list[re.Match[str]]) -> None:
    """Makes the programs of a page the source of a file called like it, at the same lines.

    Kernels are compiled from their source, and show it in errors.
    """
    lines = [""] * (text.count("\n") + 1)
    for program in programs:
        first = text.count("\n", 0, program.start(1))
        lines[first : first + program[1].count("\n")] = program[1].splitlines()
    source = "\n".join(lines)
    linecache.cache[page] = (len(source), None, source.splitlines(keepends=True), page)


def test_links_between_pages_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not link.startswith("http"):
                assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_pipeline_page_follows_the_pipeline() -> None:
    """Its tables name every pass, in order."""
    text = (ROOT / "docs" / "pipeline.md").read_text()
    shown = re.findall(r"^\| `([a-z-]+)` \| [A-Z]", text, re.MULTILINE)
    passes = [name for stage in MLIR_STAGES for name in passes_of(stage, Options())]
    names = re.sub(r"\{.*?\}|gpu\.module\(|\)", "", ",".join(passes)).split(",")
    assert shown == names


def test_every_environment_variable_is_listed() -> None:
    sources = [path for folder in ("tileir", "tools") for path in (ROOT / folder).rglob("*.py")]
    text = "".join(path.read_text() for path in sources)
    # Neither is for users: the first bytes of a file, and what a process tells those it starts.
    named = set(re.findall(r"\b(?:TILEIR|CT_LOG)_[A-Z_]+\b", text)) - {
        "TILEIR_MAGIC", "TILEIR_TRACE_RUN",
    }  # fmt: skip
    listed = (ROOT / "docs" / "install.md").read_text()
    assert [name for name in sorted(named) if f"`{name}" not in listed] == []
