"""Rules that all files of the repository keep."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Source files of ours; what lies in test/data was made by other tools.
SUFFIXES = (".py", ".cpp", ".h", ".td", ".md", ".mlir", ".toml", ".txt")
PACKAGES = ("tileir", "dialects", "passes", "tools")


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a checkout")
    files = [Path(line) for line in listed.stdout.splitlines()]
    return [f for f in files if f.suffix in SUFFIXES and f.parts[:2] != ("test", "data")]


def test_nothing_is_left_to_do_and_no_path_leads_outside() -> None:
    this = Path("test/python/test_sources.py")
    words = re.compile(r"TODO|FIXME|XXX|NotImplementedError|\.\./shared|/tmp/|/home/|/root/")
    found = [
        f"{path}:{number}: {line.strip()}"
        for path in tracked()
        if path != this and (ROOT / path).exists()
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1)
        if words.search(line)
    ]
    assert found == []


def test_modules_and_public_classes_say_what_they_are_for() -> None:
    silent = []
    for path in tracked():
        if path.suffix != ".py" or path.parts[0] not in PACKAGES or not (ROOT / path).exists():
            continue
        tree = ast.parse((ROOT / path).read_text())
        if tree.body and not ast.get_docstring(tree):
            silent.append(str(path))
        silent += [
            f"{path}: {node.name}"
            for node in tree.body
            if isinstance(node, ast.ClassDef)
            and not node.name.startswith("_")
            and not ast.get_docstring(node)
        ]
    assert silent == []


def test_every_operation_of_tile_gpu_has_a_test_of_its_syntax() -> None:
    definitions = "".join(f.read_text() for f in (ROOT / "dialects/tile_gpu").glob("*Ops.td"))
    operations = set(re.findall(r'^def \w+ : TileGPU_\w*Op<"(\w+)"', definitions, re.MULTILINE))
    tests = "".join(f.read_text() for f in (ROOT / "test/dialect").glob("tile-gpu-syntax*.mlir"))
    assert len(operations) > 50
    assert sorted(operations - set(re.findall(r"tile_gpu\.(\w+)", tests))) == []
