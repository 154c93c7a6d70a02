"""The simulator: PTX on the CPU, and the rules of asynchronous hardware.

    from tileir import sim
    sim.run(program.ptx, "kernel", grid=(8, 1, 1), args=[x, y, np.int32(1000)])

See docs/simulator.md for what it supports and how it works.
"""

from __future__ import annotations

from .arguments import MappedTensor, tensor_map
from .observer import Observer
from .profile import Profile
from .runner import Result, Simulator, run

__all__ = ["MappedTensor", "Observer", "Profile", "Result", "Simulator", "run", "tensor_map"]
