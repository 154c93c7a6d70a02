"""What a run costs: instructions, bytes, bank conflicts, sectors, work of the tensor cores.

profile = sim.Profile()
sim.run(ptx, "kernel", grid, args=args, observers=[profile])
assert profile.bank_conflicts == 0
assert all(access.bytes_per_lane == 16 for access in profile.global_loads)
print(profile.report())
"""

from __future__ import annotations

from .profiler import Profile
from .sites import Accesses

__all__ = ["Accesses", "Profile"]
