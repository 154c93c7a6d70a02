"""The commands in docs/*.md print what the pages show."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("tools.md", "writing-a-pass.md")

#: Indented lines; an empty one is part of what was printed unless a command follows.
_BLOCK = re.compile(r"(?:^ {4}.*\n|^\n(?= {4}(?!\$ )))+", re.MULTILINE)
_FILE = re.compile(r"`([\w./-]+)`:\n\n```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)


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


def test_links_between_pages_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not link.startswith("http"):
                assert (page.parent / link).exists(), f"{page.name}: {link}"
