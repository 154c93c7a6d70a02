"""What wrong kernels are told: every message is in a file of messages/.

A section of a file is a title, a kernel, and after a line `---` the message. Parameters are
described by their names: `x`, `y`, `out` are arrays of 32 int32, `f`, `g` of 32 float32, `a` of
8 x 8 float16; `n`, `m` are int32 scalars, `s` is a float32, `c` a bool; names in capital letters
are the constant 4.  `TILEIR_UPDATE_MESSAGES=1 pytest test_messages.py` writes the messages that
kernels get now; read the difference before you keep it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import tileir
import tileir.lang as ct
from tileir.lang.signature import (
    ConstantParameter,
    Parameter,
    ScalarParameter,
    Signature,
    array_facts,
)

FOLDER = Path(__file__).with_name("messages")
PREAMBLE = "import tileir.lang as ct\n"
SCALARS = {"n": "i32", "m": "i32", "s": "f32", "c": "i1"}


@dataclass
class Section:
    title: str
    kernel: str
    message: str


def sections(path: Path) -> Iterator[Section]:
    for part in re.split(r"(?m)^== ", path.read_text())[1:]:
        title, _, rest = part.partition("\n")
        kernel, _, message = rest.partition("\n---\n")
        yield Section(title, kernel.strip("\n"), message.strip("\n"))


def parameter(name: str) -> Parameter:
    if name.isupper():
        return ConstantParameter(4)
    if name in SCALARS:
        return ScalarParameter(SCALARS[name])
    if name == "a":
        return array_facts("f16", 2, 0, (8, 8), (8, 1))
    return array_facts("f32" if name in "fg" else "i32", 4, 0, (32,), (1,))


def message_of(kernel: str, folder: Path) -> str:
    path = folder / "kernel.py"
    path.write_text(PREAMBLE + kernel + "\n")
    spec = importlib.util.spec_from_file_location("kernel", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernel"] = module
    spec.loader.exec_module(module)
    [entry] = [value for value in vars(module).values() if isinstance(value, ct.Kernel)]
    signature = Signature(tuple(parameter(each.name) for each in entry.parameters))
    with pytest.raises(tileir.TileError) as caught:
        entry.trace(signature)
    text = f"{type(caught.value).__name__}: {caught.value}"
    return text.replace(str(path), "kernel.py")


CASES = [(path, section) for path in sorted(FOLDER.glob("*.txt")) for section in sections(path)]


@pytest.mark.parametrize(
    ("path", "section"), CASES, ids=[f"{path.stem}: {each.title}" for path, each in CASES]
)
def test_message(path: Path, section: Section, tmp_path: Path):
    message = message_of(section.kernel, tmp_path)
    if os.environ.get("TILEIR_UPDATE_MESSAGES"):
        section.message = message
        rest = [each for other, each in CASES if other == path]
        path.write_text("\n".join(f"== {s.title}\n{s.kernel}\n---\n{s.message}\n" for s in rest))
    assert message == section.message
