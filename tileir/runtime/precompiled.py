"""Kernels of the language that were compiled on another machine, in bundles.

    write_kernels("kernels.tileir", [compile_kernel(kernel, signature, "sm_90a"), ...])

    kernel = load_kernel("kernels.tileir", "vector_add")
    launch(stream, grid, kernel, (a, b, out))

The launch needs neither MLIR nor a compiler; it finds the specialisation for the arguments, or says
which there are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import LaunchError
from ..signature import Signature
from .bundle import open_bundle, write_images
from .compiled import CompiledKernel
from .content import NoContent, content_of
from .module import Image
from .specialize import Rule, describe_signature

_MANIFEST_KEY = "specializations"
_MOST_LISTED = 8


def write_kernels(path: str | Path, compiled: Iterable[CompiledKernel]) -> None:
    """Writes compiled specialisations, of any kernels and targets, into a bundle.

    Raises LaunchError for constants that have no text, such as functions.
    """
    kept = list(compiled)
    images = [
        (f"images/{number}.{one.image.target}.cubin", one.cubin, [one.info])
        for number, one in enumerate(kept)
    ]
    manifest = [
        {
            "kernel": one.name,
            "target": one.image.target,
            "file": file,
            "signature": _name(one.signature, one.name),
            "described": describe_signature(one.rules, one.signature),
            "parameters": [_rule_to_json(rule) for rule in one.rules],
        }
        for one, (file, _, _) in zip(kept, images, strict=True)
    ]
    write_images(path, images, {_MANIFEST_KEY: manifest})


def load_kernel(path: str | Path, name: str) -> PrecompiledKernel:
    """The kernel called `name` of a bundle. Raises LaunchError."""
    manifest, images = open_bundle(path)
    entries = manifest.get(_MANIFEST_KEY, [])
    try:
        found = [
            _Specialization(
                entry["target"],
                entry["signature"],
                entry["described"],
                images[entry["file"]],
                tuple(_rule_from_json(rule) for rule in entry["parameters"]),
            )  # fmt: skip
            for entry in entries
            if entry["kernel"] == name
        ]
        names = sorted({entry["kernel"] for entry in entries})
    except (KeyError, TypeError) as error:
        raise LaunchError(f"cannot read bundle {path}: {error!r}") from error
    if not found:
        raise LaunchError(
            f"{path} has no kernel '{name}' for launch()",
            remedy=f"it has {', '.join(names)}" if names else "write it with write_kernels()",
        )
    return PrecompiledKernel(name, found)


@dataclass(frozen=True)
class _Specialization:
    target: str
    signature: str
    described: str
    image: Image
    rules: tuple[Rule, ...]


class PrecompiledKernel:
    """A kernel whose specialisations are all compiled; for `launch`."""

    def __init__(self, name: str, specializations: Sequence[_Specialization]):
        self.name = name
        self.parameters = specializations[0].rules
        self._specializations = list(specializations)

    def precompiled(self, signature: Signature, target: str) -> CompiledKernel:
        """The specialisation for a signature. Raises LaunchError listing those there are."""
        wanted = _name(signature, self.name)
        for one in self._specializations:
            if one.signature == wanted and one.target == target:
                return CompiledKernel(one.image, signature, one.rules)
        have = [f"{one.described} for {one.target}" for one in self._specializations]
        more = f"\n    and {len(have) - _MOST_LISTED} more" if len(have) > _MOST_LISTED else ""
        raise LaunchError(
            f"kernel '{self.name}' was not compiled for "
            f"{describe_signature(self.parameters, signature)} for {target}; there is\n    "
            + "\n    ".join(have[:_MOST_LISTED])
            + more,
            remedy="add this specialisation to the bundle",
        )


def _name(signature: Signature, kernel: str) -> str:
    """A signature's name, the same on every machine."""
    try:
        return hashlib.sha256(content_of(signature).encode()).hexdigest()
    except NoContent as value:
        raise LaunchError(
            f"kernel '{kernel}': a constant of type {value} cannot be found again on another "
            "machine",
            remedy="pass numbers, text, enumerations or frozen dataclasses of those",
        ) from None


def _rule_to_json(rule: Rule) -> dict[str, Any]:
    """A rule without the parameter's default, which may be anything: bundled kernels have none."""
    return {
        "name": rule.name,
        "constant": rule.constant,
        "scalar_bits": rule.scalar_bits,
        "index_bits": rule.index_bits,
        "shape_dims": list(rule.shape_dims),
        "stride_dims": list(rule.stride_dims),
        "items": [_rule_to_json(item) for item in rule.items],
        "each": None if rule.each is None else _rule_to_json(rule.each),
    }


def _rule_from_json(data: Any) -> Rule:
    return Rule(
        name=str(data["name"]),
        constant=bool(data["constant"]),
        scalar_bits=int(data["scalar_bits"]),
        index_bits=int(data["index_bits"]),
        shape_dims=tuple(map(int, data["shape_dims"])),
        stride_dims=tuple(map(int, data["stride_dims"])),
        items=tuple(map(_rule_from_json, data["items"])),
        each=None if data["each"] is None else _rule_from_json(data["each"]),
    )
