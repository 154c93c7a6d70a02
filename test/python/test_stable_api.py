"""docs/stable-api.md names all that is public, and nothing that does not exist."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import tileir

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "stable-api.md").read_text()


def names_under(heading: str) -> set[str]:
    """The names in the first column of the table under a heading."""
    section = PAGE.split(f" {heading}\n", 1)[1]
    table = re.search(r"^\| \w+ \| what \|\n.*\n((?:\|.*\n)+)", section, re.MULTILINE)
    assert table is not None
    cells = [row.split("|")[1] for row in table[1].splitlines()]
    names = [name for cell in cells for name in re.findall(r"`([\w-]+)`", cell)]
    assert len(names) == len(set(names))
    return set(names)


MODULES = re.findall(r"^## `(tileir[\w.]*)`$", PAGE, re.MULTILINE)
CLASSES = re.findall(r"^### `(tileir[\w.]*)\.(\w+)`$", PAGE, re.MULTILINE)


def public_members(value: Any) -> set[str]:
    own = {name for name in dir(value) if not name.startswith("_")}
    return own - set(dir(Exception))


def sample(name: str) -> Any:
    """An object of a class: some members exist in instances only."""
    text = "cuda_tile.module @m { entry @k(%p: tile<ptr<f32>>) { return } }"
    program = tileir.compile(text)
    match name:
        case "TileError":
            return tileir.TileError("reason")
        case "Kernel":
            return tileir.runtime.load_program(program)["k"]
        case "KernelInfo":
            return program.kernels["k"]
    assert name == "Program"
    return program


def test_the_page_has_modules_and_classes() -> None:
    assert {"tileir", "tileir.runtime", "tileir.bytecode"} <= set(MODULES)
    assert {name for _, name in CLASSES} == {"Program", "TileError", "Kernel", "KernelInfo"}


@pytest.mark.parametrize("module", MODULES)
def test_modules_have_the_names_of_the_page_and_no_others(module: str) -> None:
    loaded = import_module(module)
    assert names_under(f"`{module}`") == set(loaded.__all__)
    for name in loaded.__all__:
        assert hasattr(loaded, name)


@pytest.mark.parametrize(("module", "name"), CLASSES)
def test_classes_have_the_members_of_the_page_and_no_others(module: str, name: str) -> None:
    value = sample(name)
    assert isinstance(value, getattr(import_module(module), name))
    assert names_under(f"`{module}.{name}`") == public_members(value)
    if dataclasses.is_dataclass(value):
        assert {field.name for field in dataclasses.fields(value)} <= public_members(value)


def test_names_of_the_language_exist() -> None:
    import tileir.lang

    assert len(set(tileir.lang.__all__)) == len(tileir.lang.__all__) > 100
    for name in tileir.lang.__all__:
        assert hasattr(tileir.lang, name)


def test_commands_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert names_under("Commands") == set(project["scripts"])


USER = """
from typing import assert_type

import tileir
from tileir.bytecode import FileBuilder
from tileir.runtime import KernelInfo

program = tileir.compile("kernel.tilebc", target="sm_90a")
assert_type(program, tileir.Program)
assert_type(program.ptx, str)
assert_type(program.cubin, bytes)
assert_type(program.stage("nvvm"), str)
assert_type(program.kernels, dict[str, KernelInfo])
assert_type(tileir.run("kernel.tilebc", grid=(8, 1, 1), backend="interp"), list[str])
assert_type(FileBuilder("13.3").encode(), bytes)
tileir.run("kernel.tilebc", backend="gpu")
tileir.compile("kernel.tilebc", traget="sm_80")
"""


def test_types_are_seen_from_outside(tmp_path: Path) -> None:
    """A type checker of somebody else's code finds our annotations, and their mistakes."""
    assert (Path(tileir.__file__).parent / "py.typed").exists()
    (tmp_path / "user.py").write_text(USER)
    checker = Path(sys.executable).with_name("basedpyright")
    done = subprocess.run(
        [checker, "--pythonpath", sys.executable, "user.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    errors = re.findall(r"user\.py:(\d+):\d+ - error: (.*)", done.stdout)
    assert [int(line) for line, _ in errors] == [16, 17], done.stdout
    assert "gpu" in errors[0][1]
    assert "traget" in errors[1][1]
