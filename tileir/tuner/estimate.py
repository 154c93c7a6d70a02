"""Without a GPU: how long a launch would take, from what the simulator counts.

The launch is simulated, and its work divided by what a multiprocessor can do of each kind in a
cycle; the kind that takes longest decides, as in a roofline. Blocks that do not fill the device, or
fill it once and a bit, cost what the fullest multiprocessor does. This puts configurations into
an order; it is no time. It knows nothing of latencies that are not hidden, of which data lies in
the second-level cache, or of clocks that drop under load.

Rates are those of an H100 SXM (NVIDIA H100 Tensor Core GPU Architecture, 2022; CUDA C++ Programming
Guide, arithmetic instructions), scaled to no other device: an order needs none.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..compiler.program import Program
    from ..runtime.metadata import KernelInfo
    from ..sim import Profile

_CLOCK_MHZ = 1755
_MULTIPROCESSORS = 132
_THREADS, _REGISTERS, _SHARED_BYTES, _BLOCKS = 2048, 65536, 228 << 10, 32
#: Shared memory that the system takes of each block.
_SYSTEM_SHARED = 1 << 10
#: Warp instructions that a multiprocessor starts in a cycle.
_ISSUE = 4
#: Cycles of a multiprocessor for one warp instruction, where that is more than issuing it.
_CYCLES = {"special functions": 2.0, "conversions": 0.5}
#: Multiplications and additions of the tensor cores of a multiprocessor in a cycle, by operand.
_TENSOR = {"f16": 4096, "bf16": 4096, "tf32": 2048, "e4m3": 8192, "e5m2": 8192, "s8": 8192,
           "u8": 8192, "f64": 256}  # fmt: skip
_SHARED_BYTES_A_CYCLE = 128
#: Bytes a cycle between all multiprocessors and the second-level cache.
_L2_BYTES_A_CYCLE = 3100
_SECTOR = 32
#: Cycles from one instruction of a warp to the next that needs its result.
_DEPENDENT = 4.5
_LAUNCH_US = 2.0


@dataclass(frozen=True)
class Cost:
    """Cycles of one multiprocessor if the work were spread evenly, by kind; `latency` is that of
    one block. `at_once` blocks share a multiprocessor."""

    cycles: dict[str, float]
    blocks: int
    at_once: int

    @property
    def microseconds(self) -> float:
        """The kind that takes longest, on the multiprocessor with the most blocks."""
        fullest = math.ceil(self.blocks / _MULTIPROCESSORS) * _MULTIPROCESSORS / self.blocks
        work = max(value for kind, value in self.cycles.items() if kind != "latency")
        waves = math.ceil(self.blocks / (_MULTIPROCESSORS * self.at_once))
        return max(work * fullest, self.cycles["latency"] * waves) / _CLOCK_MHZ + _LAUNCH_US


def estimate(program: Program, grid: Sequence[int], words: Sequence[Any]) -> Cost:
    """Simulates a launch of the only kernel of a program compiled for any launcher.

    Raises ExecutionError for what the simulator cannot run.
    """
    from ..sim import Profile, run
    from ..sim.arguments import typed

    (info,) = program.kernels.values()
    profile = Profile()
    cluster = [extent for extent in info.cluster if isinstance(extent, int)]
    run(
        program.ptx, info.name, tuple(grid), info.block, typed(info.parameters, words),
        cluster=cluster, shared=info.dynamic_shared_bytes, checks=False, observers=[profile],
    )  # fmt: skip
    return cost_of(profile, info, math.prod(grid))


def cost_of(profile: Profile, info: KernelInfo, blocks: int) -> Cost:
    """What the counts of a launch cost."""
    from ..sim.profile.kinds import matrix_work

    instructions = profile.instructions
    warps = blocks * -(-math.prod(info.block) // 32)
    total = sum(instructions.values())
    cycles: defaultdict[str, float] = defaultdict(float, issue=total / _ISSUE)
    for kind, each in _CYCLES.items():
        cycles[kind] = instructions[kind] * each
    for site, count in profile.executed.items():
        if work := matrix_work(site):
            cycles["tensor cores"] += work * count / _tensor_rate(site.opcode)
    wavefronts = sum(one.wavefronts for one in profile.shared)
    copied = _bytes(profile, "shared, async")
    cycles["shared memory"] = wavefronts + copied / _SHARED_BYTES_A_CYCLE
    sectors = sum(one.sectors for one in profile.accesses if one.space == "global")
    traffic = _bytes(profile, "global, async") + _SECTOR * sectors
    spread = {kind: value / _MULTIPROCESSORS for kind, value in cycles.items()}
    spread["second-level cache"] = traffic / _L2_BYTES_A_CYCLE
    spread["latency"] = total / max(1, warps) * _DEPENDENT
    return Cost(spread, blocks, blocks_at_once(info))


def _bytes(profile: Profile, space: str) -> int:
    return sum(size for (where, _), size in profile.bytes.items() if where == space)


def blocks_at_once(info: KernelInfo) -> int:
    """Blocks that a multiprocessor holds, by threads, registers and shared memory."""
    threads = math.prod(info.block)
    limits = [_BLOCKS, _THREADS // threads]
    if info.registers:
        limits.append(_REGISTERS // (threads * -(-info.registers // 8) * 8))
    shared = info.shared_bytes + info.dynamic_shared_bytes + _SYSTEM_SHARED
    limits.append(_SHARED_BYTES // shared)
    return max(1, min(limits))


def _tensor_rate(opcode: str) -> int:
    """Multiplications and additions a cycle for a matrix instruction."""
    found = re.findall(r"\.(f16|bf16|tf32|e4m3|e5m2|s8|u8|f64)\b", opcode)
    # Types stand in the order of D, A, B, C; the operand's is the second or the only one.
    return _TENSOR[found[1] if len(found) > 2 else found[-1]] if found else _TENSOR["f16"]
