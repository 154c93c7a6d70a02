"""Compiled specialisations of kernels: made once, kept in memory and on disk.

compiled = compile_kernel(kernel, signature, "sm_90a")
compiled.launch(grid, words)            # flat, as `tileir.runtime.Kernel`
compiled.ptx, compiled.info, compiled.remarks
"""

from __future__ import annotations

import hashlib
import sys
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

from .. import trace
from ..errors import LaunchError
from ..signature import Signature
from . import disk_cache
from .cache_file import Entry
from .compiler_identity import compiler_identity
from .content import NoContent, content_of
from .metadata import KernelInfo
from .module import Image, Kernel, Loader
from .specialize import Rule, describe_signature, rule_of

if TYPE_CHECKING:
    from ..compiler.program import Program

_KIND = "kernel"
_IN_MEMORY = 1024
_FASTEST_ZLIB = 1


class KernelSource(Protocol):
    """What is asked of a kernel (`tileir.lang.Kernel`).

    `parameters` describe what calls pass; `source` and `hints` determine what is compiled,
    together with a signature and a target; `trace` makes the module of one specialisation.
    """

    name: str

    @property
    def parameters(self) -> Sequence[Any]: ...
    @property
    def hints(self) -> Any: ...
    @property
    def source(self) -> str: ...
    def trace(self, signature: Signature, target: str) -> Any: ...


class CompiledKernel(Kernel):
    """One specialisation, compiled: a `Kernel` on the words of its signature.

    `seconds` is what compiling took, `from_disk` whether it was found there.
    """

    def __init__(
        self,
        image: Image,
        signature: Signature,
        rules: Sequence[Rule],
        ptx: str = "",
        remarks: Sequence[str] = (),
        seconds: float = 0.0,
        from_disk: bool = False,
    ):
        (name,) = image.kernels
        self.loader = Loader()
        super().__init__(name, [image], self.loader)
        self.signature = signature
        self.rules = tuple(rules)
        self.ptx = ptx
        self.remarks = tuple(remarks)
        self.seconds = seconds
        self.from_disk = from_disk

    @property
    def image(self) -> Image:
        return self.images[0]

    @property
    def cubin(self) -> bytes:
        return self.image.code


# MLIR's contexts belong to one thread at a time.
_compiling = threading.RLock()
_memory: OrderedDict[str, CompiledKernel] = OrderedDict()
_memory_lock = threading.Lock()


def compile_kernel(
    kernel: KernelSource, signature: Signature, target: str, opt_level: int | None = None
) -> CompiledKernel:
    """The kernel for one signature and target (`sm_90a`), from memory, from disk, or made now.

    `opt_level` overrides the kernel's hint. Threads take turns; of several processes that want the
    same, one compiles while the others wait. Raises TileError.
    """
    precompiled = getattr(kernel, "precompiled", None)
    if precompiled is not None:
        return precompiled(signature, target)
    level = _level(kernel, target) if opt_level is None else opt_level
    content = _content(kernel, signature, target, level)
    if content is None:
        with _compiling, _facts(kernel, signature, target):
            return _compile(kernel, signature, target, level)
    found = _recall(content)
    if found is None:
        with _compiling, _facts(kernel, signature, target):
            # Another thread may have made it while we waited.
            found = _recall(content) or _from_disk_or_now(kernel, signature, target, level, content)
            _remember(content, found)
    return found


def _recall(content: str) -> CompiledKernel | None:
    with _memory_lock:
        found = _memory.get(content)
        if found is not None:
            _memory.move_to_end(content)
        return found


def _remember(content: str, compiled: CompiledKernel) -> None:
    with _memory_lock:
        _memory[content] = compiled
        if len(_memory) > _IN_MEMORY:
            _memory.popitem(last=False)


def _level(kernel: KernelSource, target: str) -> int:
    """The optimisation level that the kernel asks for."""
    level = getattr(kernel.hints, "level", None)
    return 3 if level is None else level(target.rstrip("af"))


def _content(kernel: KernelSource, signature: Signature, target: str, level: int) -> str | None:
    """Everything but the compiler that determines the code; None where that is not known."""
    try:
        arguments, source = content_of(signature), kernel.source
    except NoContent:
        return None
    parts = (kernel.name, source, repr(kernel.hints), arguments, target, f"O{level}", "managed")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _from_disk_or_now(
    kernel: KernelSource, signature: Signature, target: str, level: int, content: str
) -> CompiledKernel:
    if disk_cache.disk_cache() is None:
        return _compile(kernel, signature, target, level)
    key = _key(content)
    rules = [rule_of(info) for info in kernel.parameters]
    found = from_entry(disk_cache.look_up(_KIND, key), signature, rules)
    if found is not None:
        return found
    with disk_cache.one_at_a_time(key):
        # Another process may have made it while we waited.
        found = from_entry(disk_cache.look_up(_KIND, key), signature, rules)
        if found is not None:
            return found
        made = _compile(kernel, signature, target, level)
        disk_cache.keep(to_entry(key, made, target))
    return made


def _key(content: str) -> str:
    """The key on disk: content, and the compiler that compiles it."""
    return hashlib.sha256(f"{compiler_identity()} {content}".encode()).hexdigest()


def _compile(kernel: KernelSource, signature: Signature, target: str, level: int) -> CompiledKernel:
    from ..compiler import compile

    start = time.perf_counter()
    with trace.slice(f"compile {kernel.name}"):
        with trace.slice("front end"):
            module = kernel.trace(signature, target)
        program = compile(module, target, level, launch="managed", cache=False)
        assert program.cubin, "machine code was made"
    return _from_program(kernel, signature, program, time.perf_counter() - start)


def _from_program(
    kernel: KernelSource, signature: Signature, program: Program, seconds: float
) -> CompiledKernel:
    rules = [rule_of(info) for info in kernel.parameters]
    (info,) = program.kernels.values()
    image = Image(program.cubin, [info], f"kernel '{kernel.name}'")
    return CompiledKernel(image, signature, rules, program.ptx, program.remarks, seconds)


# ---- compiled elsewhere --------------------------------------------------------------------------


def find_compiled(
    kernel: KernelSource, signature: Signature, target: str, level: int
) -> CompiledKernel | None:
    """What `compile_kernel` would find in memory or on disk."""
    content = _content(kernel, signature, target, level)
    if content is None:
        return None
    found = _recall(content)
    if found is None and disk_cache.disk_cache() is not None:
        rules = [rule_of(info) for info in kernel.parameters]
        found = from_entry(disk_cache.look_up(_KIND, _key(content)), signature, rules)
        if found is not None:
            _remember(content, found)
    return found


def adopt(
    kernel: KernelSource,
    signature: Signature,
    target: str,
    level: int,
    program: Program,
    seconds: float,
) -> CompiledKernel:
    """Keeps a program (managed, of the traced kernel) as `compile_kernel` would have."""
    made = _from_program(kernel, signature, program, seconds)
    content = _content(kernel, signature, target, level)
    if content is not None:
        _remember(content, made)
        if disk_cache.disk_cache() is not None:
            disk_cache.keep(to_entry(_key(content), made, target))
    return made


def _facts(
    kernel: KernelSource, signature: Signature, target: str
) -> AbstractContextManager[object]:
    """What every slice of a trace says of a specialisation."""
    if not trace.is_on():
        return nullcontext()
    described = describe_signature([rule_of(info) for info in kernel.parameters], signature)
    return trace.facts(kernel=kernel.name, specialization=described, target=target)


# ---- on disk -------------------------------------------------------------------------------------


def to_entry(key: str, compiled: CompiledKernel, target: str) -> Entry:
    """What is kept of a compiled kernel."""
    facts = {
        "title": f"{compiled.name}({describe_signature(compiled.rules, compiled.signature)}) "
        f"for {target}",
        "seconds": round(compiled.seconds, 4),
        "kernel": compiled.info.to_json(),
        "remarks": list(compiled.remarks),
    }
    ptx = zlib.compress(compiled.ptx.encode(), _FASTEST_ZLIB)
    return Entry(_KIND, key, facts, {"cubin": compiled.cubin, "ptx": ptx})


def from_entry(
    entry: Entry | None, signature: Signature, rules: Sequence[Rule]
) -> CompiledKernel | None:
    """What an entry holds; None if there is none, or one of another version."""
    if entry is None:
        return None
    try:
        info = KernelInfo.from_json(entry.facts["kernel"])
        remarks = [str(one) for one in entry.facts["remarks"]]
        seconds = float(entry.facts["seconds"])
        ptx = zlib.decompress(entry.sections["ptx"]).decode()
        image = Image(entry.sections["cubin"], [info], f"kernel '{info.name}'")
    except (KeyError, TypeError, ValueError, zlib.error, LaunchError):
        return None
    _tell(ptx, remarks)
    return CompiledKernel(image, signature, rules, ptx, remarks, seconds, from_disk=True)


def _tell(ptx: str, remarks: Sequence[str]) -> None:
    """Logs what the compiler would have, as far as that is kept."""
    logging = sys.modules.get("tileir.logging")
    if logging is None:
        return
    for remark in remarks:
        logging.tell("remarks", remark)
    logging.tell("ptx", ptx)


def forget() -> None:
    """Drops what is in memory."""
    with _memory_lock:
        _memory.clear()
