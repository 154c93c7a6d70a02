"""Every module imports, from an editable and from a plain installation; importing is cheap."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Imports every module of the package; prints how many, and where the package lies.
IMPORT_ALL = """
import importlib, os, pkgutil, sys
import tileir
names = set()
# Each folder by itself: an editable installation's __path__ holds the checkout as well.
for package in ("tileir", "tileir.dialects", "tileir.passes", "tileir.tools"):
    folder = os.path.dirname(importlib.import_module(package).__file__)
    names |= {found.name for found in pkgutil.walk_packages([folder], package + ".")}
for name in sorted(names):
    if not name.endswith(("__main__", ".libTileIR")):  # the native library is no Python module
        importlib.import_module(name)
print(len(names), tileir.__file__, tileir.__version__)
"""


def run(code: str, folder: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder, env=environment or None, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_imports(tmp_path: Path) -> None:
    count, *_ = run(IMPORT_ALL, tmp_path).split()
    assert int(count) > 60


@pytest.mark.slow
def test_every_module_imports_from_a_plain_installation(tmp_path: Path) -> None:
    site = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps",
         "--target", str(site), str(ROOT)],
        check=True, timeout=900,
    )  # fmt: skip
    # What editable installs add to sys.path would hide the plain one.
    code = (
        "import sys; sys.meta_path[:] = [finder for finder in sys.meta_path"
        " if 'Editable' not in type(finder).__name__]\n" + IMPORT_ALL
    )
    count, file, _ = run(code, tmp_path, PYTHONPATH=str(site)).split()
    assert int(count) > 60
    assert file.startswith(str(site))


def test_importing_the_package_loads_neither_mlir_nor_numpy(tmp_path: Path) -> None:
    code = "import sys, tileir; print({'mlir', 'numpy'} & set(sys.modules))"
    assert run(code, tmp_path) == "set()\n"


def test_public_names_exist(tmp_path: Path) -> None:
    code = (
        "import tileir\n"
        "missing = [name for name in tileir.__all__ if not hasattr(tileir, name)]\n"
        "print(missing)\n"
        "try: tileir.nonsense\n"
        "except AttributeError as error: print(error)\n"
    )
    assert run(code, tmp_path) == "[]\nmodule 'tileir' has no attribute 'nonsense'\n"


def test_version_is_the_distributions(tmp_path: Path) -> None:
    from importlib.metadata import version

    import tileir

    assert tileir.__version__ == version("tileir")
