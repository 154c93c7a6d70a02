"""Bundles: compiled kernels in one file, made on one machine and launched on another.

A bundle is a zip archive of `manifest.json` and the images (cubins, or PTX as a fallback):

    {"format": "tileir-bundle", "schema": 1, "producer": "tileir 0.1.0",
     "images": [{"file": "images/0.sm_90a.cubin", "kernels": [KernelInfo as JSON, ...]}]}

Launching needs NumPy and cuda-bindings only.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..errors import LaunchError
from .driver import Driver
from .metadata import KernelInfo
from .module import Image, KernelSet

FORMAT = "tileir-bundle"
SCHEMA = 1
_MANIFEST = "manifest.json"
_LARGEST_MEMBER = 1 << 30


class Bundle(KernelSet):
    """The kernels of a bundle: `Bundle.load(path)["name"].launch(grid, args)`."""

    producer: str = ""

    @classmethod
    def load(cls, path: str | Path, driver: Driver | None = None) -> Bundle:
        """Reads a bundle; `LaunchError` if it is missing, damaged, or newer than this reader."""
        manifest, images = open_bundle(path)
        bundle = cls(list(images.values()), driver)
        bundle.producer = str(manifest.get("producer", ""))
        return bundle


def open_bundle(path: str | Path) -> tuple[dict[str, Any], dict[str, Image]]:
    """The manifest of a bundle, and its images by file; `LaunchError` as `Bundle.load`."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(_member(archive, _MANIFEST))
            _check_manifest(manifest, path)
            images = [_read_image(archive, entry) for entry in manifest["images"]]
    except (OSError, zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise LaunchError(f"cannot read bundle {path}: {error}") from error
    return manifest, {image.name: image for image in images}


def write_bundle(path: str | Path, programs: Iterable[Any], ptx: bool = False) -> None:
    """Writes the kernels of `programs` (compiled `tileir.Program`s, for any targets) to `path`.

    `ptx` adds each program's PTX, which the driver compiles for devices that no cubin suits.
    """
    images: list[tuple[str, bytes, list[KernelInfo]]] = []
    for number, program in enumerate(programs):
        # First the cubin: the assembler's report of registers is known only then.
        cubin = program.cubin
        kernels = list(program.kernels.values())
        stem = f"images/{number}.{kernels[0].target}" if kernels else f"images/{number}"
        images.append((f"{stem}.cubin", cubin, kernels))
        if ptx:
            images.append((f"{stem}.ptx", program.ptx.encode(), kernels))
    write_images(path, images)


def write_images(
    path: str | Path,
    images: Iterable[tuple[str, bytes, Iterable[KernelInfo]]],
    more: Mapping[str, Any] | None = None,
) -> None:
    """Writes a bundle from `(file name inside the bundle, code, kernels)`; `more` goes into the
    manifest, where readers that do not know it pass it over."""
    from .. import __version__

    entries = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, code, kernels in images:
            _write(archive, file, code)
            entries.append({"file": file, "kernels": [info.to_json() for info in kernels]})
        manifest = {
            "format": FORMAT,
            "schema": SCHEMA,
            "producer": f"tileir {__version__}",
            "images": entries,
            **(more or {}),
        }
        _write(archive, _MANIFEST, json.dumps(manifest, indent=1).encode())


def _write(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    # A fixed time stamp makes equal bundles equal files.
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data)


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    if info.file_size > _LARGEST_MEMBER:
        raise LaunchError(f"bundle member {name} has {info.file_size} bytes, too many to load")
    return archive.read(info)


def _check_manifest(manifest: Any, path: str | Path) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise LaunchError(f"{path} is no tileir bundle")
    if manifest["schema"] > SCHEMA:
        raise LaunchError(
            f"bundle {path} has schema {manifest['schema']}; this version of tileir reads up to "
            f"{SCHEMA}",
            remedy="launch with a newer tileir, or write the bundle with this one",
        )


def _read_image(archive: zipfile.ZipFile, entry: Any) -> Image:
    kernels = [KernelInfo.from_json(one) for one in entry["kernels"]]
    return Image(_member(archive, entry["file"]), kernels, name=entry["file"])
