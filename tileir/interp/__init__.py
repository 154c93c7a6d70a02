"""The interpreter: Tile IR on NumPy, and the definition of what a kernel computes.

    from tileir import interp
    lines = interp.run(module, "kernel", (8, 1, 1), [x, y, np.int32(1000)])

See docs/interpreter.md for every choice it makes and what it detects.
"""

from __future__ import annotations

from .runner import Interpreter, run

__all__ = ["Interpreter", "run"]
