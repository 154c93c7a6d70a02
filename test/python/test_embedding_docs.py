"""The programs of docs/embedding.md run and print what the page says."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "embedding.md"
PROGRAM = re.compile(r"```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```", re.DOTALL)


def test_programs_print_what_the_page_says(capsys):
    """They share one namespace: later ones use what earlier ones define."""
    namespace: dict[str, object] = {}
    programs = PROGRAM.findall(PAGE.read_text())
    assert len(programs) == 3
    for program, output in programs:
        exec(compile(program, str(PAGE), "exec"), namespace)
        assert capsys.readouterr().out == output
