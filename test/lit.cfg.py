"""Configuration of lit: `lit -v test` runs every .mlir file below this folder."""

import shutil
import sys
from pathlib import Path

import lit.formats

config.name = "tileir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["data", "gpu", "python"]
config.test_source_root = str(Path(__file__).parent)
config.test_exec_root = str(Path(__file__).parent.parent / "build" / "test")


def command(tool: str) -> str:
    """The tool that is installed next to this Python, or else on the search path."""
    beside = Path(sys.executable).parent / tool
    path = str(beside) if beside.exists() else shutil.which(tool)
    if path is None:
        lit_config.fatal(f"{tool} is not installed: pip install -e '.[test]'")
    return path


# Substitutions apply to whole words, FileCheck among them.
for tool in ("tile-opt", "tile-translate", "tile-run"):
    config.substitutions.append((rf"(?<![\w-]){tool}(?![\w-])", command(tool)))
config.substitutions.append((r"\bFileCheck\b", command("filecheck")))
