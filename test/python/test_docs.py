"""The commands in docs/tools.md print what the page shows."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def sessions(page: str) -> list[tuple[str, str]]:
    """The commands of a page, `$ command` in an indented block, with the output shown."""
    text = (ROOT / "docs" / page).read_text()
    blocks = re.findall(r"(?:^(?: {4}.*)\n)+", text, re.M)
    shown = [textwrap.dedent(block) for block in blocks if block.startswith("    $ ")]
    return [(block.partition("\n")[0][2:], block.partition("\n")[2]) for block in shown]


@pytest.mark.parametrize(("command", "shown"), sessions("tools.md"))
def test_commands_print_what_is_shown(command: str, shown: str) -> None:
    path = f"PATH={Path(sys.executable).parent}:$PATH"
    done = subprocess.run(
        ["sh", "-c", f"{path}\n{command}"], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    printed = done.stdout + done.stderr
    matches = doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS)
    assert matches, f"{command}\nprinted:\n{printed[:3000]}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not link.startswith("http"):
                assert (page.parent / link).exists(), f"{page.name}: {link}"
