"""Type-checks the package as it is installed.

The folders dialects/, passes/ and tools/ become parts of the package `tileir` only when it is
installed, which a type checker does not follow.  So the sources are laid out as in an
installation under build/types, checked there, and the messages name the original files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import tileir

ROOT = Path(__file__).resolve().parents[1]
LAID_OUT = ROOT / "build" / "types"
# Folder of the checkout -> its place in the installed package.
FOLDERS = {
    "tileir": "tileir",
    "dialects": "tileir/dialects",
    "passes": "tileir/passes",
    "tools": "tileir/tools",
}


def lay_out() -> None:
    shutil.rmtree(LAID_OUT, ignore_errors=True)
    for source, place in FOLDERS.items():
        shutil.copytree(
            ROOT / source,
            LAID_OUT / place,
            dirs_exist_ok=True,
            ignore=lambda folder, names: [
                name for name in names if not (name.endswith(".py") or Path(folder, name).is_dir())
            ],
        )
    for folder in tileir.__path__:
        for generated in Path(folder).glob("dialects/*_gen.py"):
            shutil.copy(generated, LAID_OUT / "tileir" / "dialects")
    shutil.copytree(ROOT / "test" / "python", LAID_OUT / "test")
    shutil.copy(ROOT / "benchmarks" / "gemm_program.py", LAID_OUT / "test")  # tests run it too
    shutil.copy(ROOT / "pyproject.toml", LAID_OUT)


def original_names(text: str) -> str:
    """Messages about the laid-out files, as messages about the sources."""
    # Longest place first: tileir/dialects is a part of tileir.
    for source, place in sorted(FOLDERS.items(), key=lambda item: -len(item[1])):
        text = text.replace(f"{LAID_OUT / place}{os.sep}", f"{ROOT / source}{os.sep}")
    return text.replace(f"{LAID_OUT / 'test'}{os.sep}", f"{ROOT / 'test' / 'python'}{os.sep}")


def main() -> int:
    lay_out()
    checker = Path(sys.executable).with_name("basedpyright")
    done = subprocess.run(
        [checker, "--pythonpath", sys.executable, "."], cwd=LAID_OUT, capture_output=True, text=True
    )
    print(original_names(done.stdout + done.stderr), end="")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
