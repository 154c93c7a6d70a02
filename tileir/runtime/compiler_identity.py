"""What determines the machine code of a kernel besides the kernel: the compiler itself.

The name of a compiler is a digest of the contents of its files. They are read once an installation:
the digest is kept in the cache under a list of the files' sizes, times and inodes. Nothing of the
compiler is imported.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec

from .. import __version__
from . import disk_cache
from .cache_file import Entry

#: Packages that have a say in it, and the libraries that they load.
_PACKAGES = ("tileir.lang", "tileir.compiler", "tileir.passes", "tileir.dialects")
_CONTENTS = (".py", ".so")
#: MLIR comes with a version, which decides the size of its library.
_MLIR = "_mlir_libs/libMLIRPythonCAPI.so"

_lock = threading.Lock()


def compiler_identity() -> str:
    """A digest of the compiler's version, sources, native library, MLIR and ptxas."""
    with _lock:
        return _identity()


@cache
def _identity() -> str:
    tools = list(_tools())
    files = sorted(file for root in _roots() for file in _files(root))
    listing = hashlib.sha256(repr([*map(_facts, files), *map(_facts, tools)]).encode()).hexdigest()
    found = disk_cache.look_up("compiler", listing)
    if found is not None and isinstance(found.facts.get("digest"), str):
        return found.facts["digest"]
    digest = hashlib.sha256(f"tileir {__version__}".encode())
    for path in files:
        with open(path, "rb") as file:
            digest.update(f"\0{os.path.basename(path)}\0".encode() + file.read())
    for path in tools:
        digest.update(f"\0{os.path.basename(path)} {os.path.getsize(path)}".encode())
    facts = {"digest": digest.hexdigest(), "title": f"tileir {__version__}"}
    disk_cache.keep(Entry("compiler", listing, facts))
    return digest.hexdigest()


def _roots() -> Iterator[str]:
    """Folders of the compiler. None of its packages is imported."""
    for package in _PACKAGES:
        spec = find_spec(package)
        yield from (spec.submodule_search_locations or ()) if spec else ()


def _files(folder: str) -> Iterator[str]:
    if not os.path.isdir(folder):
        return
    with os.scandir(folder) as listing:
        for item in listing:
            if item.name.endswith(_CONTENTS):
                yield item.path
            elif "." not in item.name and item.name != "__pycache__" and item.is_dir():
                yield from _files(item.path)


def _tools() -> Iterator[str]:
    """Files of others: large, and told apart by their sizes."""
    mlir = find_spec("mlir")
    for root in (mlir.submodule_search_locations or ()) if mlir else ():
        if os.path.exists(os.path.join(root, _MLIR)):
            yield os.path.join(root, _MLIR)
    from ..compiler.toolchain import find_tool
    from ..errors import ToolError

    try:
        yield os.path.realpath(find_tool("ptxas"))
    except ToolError:
        return  # without it nothing is compiled, and nothing kept


def _facts(path: str) -> tuple[str, int, int, int, int]:
    status = os.stat(path)
    return (path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
