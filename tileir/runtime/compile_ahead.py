"""Kernels of the language compiled in worker processes, many at once, before they are launched."""

from __future__ import annotations

import io
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING

from .. import trace
from ..signature import Signature
from .compiled import CompiledKernel, KernelSource, adopt, find_compiled
from .specialize import describe_signature, rule_of

if TYPE_CHECKING:
    from ..compiler.parallel import CompilerPool
    from ..compiler.program import Program


def compile_ahead(
    kernel: KernelSource, signature: Signature, target: str, level: int, pool: CompilerPool
) -> Future[CompiledKernel]:
    """What `compile_kernel` gives, in a while: from memory or disk at once, otherwise traced here
    and compiled by the pool. Launches find it from then on.

    Raises the TileError of a kernel that is wrong; the future, that of the compilation.
    """
    from ..compiler.parallel import Request

    found = find_compiled(kernel, signature, target, level)
    if found is not None:
        future: Future[CompiledKernel] = Future()
        future.set_result(found)
        return future
    start = time.perf_counter()
    rules = [rule_of(info) for info in kernel.parameters]
    described = describe_signature(rules, signature) if trace.is_on() else ""
    with trace.facts(kernel=kernel.name, specialization=described, target=target):
        with trace.slice("front end"):
            buffer = io.BytesIO()
            kernel.trace(signature, target).operation.write_bytecode(buffer)

        def keep(program: Program) -> CompiledKernel:
            seconds = time.perf_counter() - start
            return adopt(kernel, signature, target, level, program, seconds)

        request = Request(buffer.getvalue(), target, level, launch="managed")
        return pool.submit(request, keep)
