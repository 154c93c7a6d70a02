"""Writes signatures.json: names and arguments of cuda.tile's public functions and methods.

    python test/data/lang/make_signatures.py

Needs cuda-tile 1.7.0. An argument is its name, the letter of its kind (`p` positional, `e` either,
`k` by name, `v` any number of them) and its default as text, if it has one.
"""

from __future__ import annotations

import enum
import inspect
import json
from pathlib import Path
from typing import Any

import cuda.tile as ct

HERE = Path(__file__).resolve().parent
_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "p",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "e",
    inspect.Parameter.KEYWORD_ONLY: "k",
    inspect.Parameter.VAR_POSITIONAL: "v",
    inspect.Parameter.VAR_KEYWORD: "v",
}


def arguments(function: Any) -> list[list[str]]:
    found = []
    for parameter in inspect.signature(function).parameters.values():
        shown = [parameter.name, _KINDS[parameter.kind]]
        default = parameter.default
        if isinstance(default, enum.Enum):
            shown.append(str(default))
        elif default is not parameter.empty:
            shown.append(repr(default))
        found.append(shown)
    return found


def public() -> dict[str, Any]:
    """Names of functions, and of methods after their classes'; None for other names."""
    found: dict[str, Any] = {}
    for name in dir(ct):
        value = getattr(ct, name)
        if name.startswith("_") or inspect.ismodule(value):
            continue
        found[name] = arguments(value) if inspect.isfunction(value) else None
        for method in vars(value) if name in ("Tile", "Array", "TiledView") else ():
            member = inspect.getattr_static(value, method)
            if not method.startswith("_"):
                function = getattr(value, method)
                called = inspect.isfunction(member) or isinstance(member, staticmethod)
                found[f"{name}.{method}"] = arguments(function) if called else None
    return found


def main() -> None:
    rows = [f' "{name}": {json.dumps(shown)}' for name, shown in sorted(public().items())]
    (HERE / "signatures.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
