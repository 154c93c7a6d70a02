"""Checks of a run: observers that raise an error when a kernel breaks a rule.

    races           accesses to shared or global memory without an order
    proxies         accesses by the async proxy without a proxy fence
    registers       registers of wgmma touched while products are on their way
    uninitialised   values nobody wrote that decide what a kernel does
    swizzles        matrices that wgmma reads with another swizzle than they were written with
    barriers        barriers with different counts of threads
    arrivals        threads that arrive twice at a barrier, perhaps in one phase
    mbarriers       mbarriers overwritten, used before others know them, or with too many bytes
    tensor_maps     maps that kernels make, used before they are finished, or overwritten too early
    exits           blocks that end while asynchronous operations still need them

Accesses outside allocations, misaligned ones and deadlocks are found by the machine itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import LaunchError
from ..observer import Observer
from ..order.accesses import Accesses
from ..order.happens_before import HappensBefore
from .arrivals import Arrivals
from .barriers import BarrierCounts
from .exits import Exits
from .mbarriers import MbarrierRules
from .proxies import check_proxies
from .races import check_races
from .registers import Registers
from .swizzles import Swizzles
from .tensor_maps import TensorMaps
from .uninitialised import Uninitialised

NAMES = (
    "races", "proxies", "registers", "uninitialised", "swizzles", "barriers", "arrivals",
    "mbarriers", "tensor_maps", "exits",
)  # fmt: skip


def make_checks(chosen: bool | Iterable[str]) -> list[Observer]:
    """The observers of the chosen checks (True: all), in the order in which they must be told."""
    names = (NAMES if chosen else ()) if isinstance(chosen, bool) else tuple(chosen)
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise LaunchError(f"there is no check '{unknown[0]}'", remedy=f"checks: {', '.join(NAMES)}")
    order = HappensBefore()
    accesses = Accesses(order)
    if "races" in names:
        check_races(accesses, order)
    if "proxies" in names:
        check_proxies(accesses, order)
    found: dict[str, Observer] = {
        "races": accesses,
        "proxies": accesses,
        "registers": Registers(),
        "uninitialised": Uninitialised(),
        "swizzles": Swizzles(),
        "barriers": BarrierCounts(),
        "arrivals": Arrivals(order),
        "mbarriers": MbarrierRules(order),
        "tensor_maps": TensorMaps(order),
        "exits": Exits(order),
    }
    observers = list(dict.fromkeys(found[name] for name in NAMES if name in names))
    ordered = {"races", "proxies", "arrivals", "mbarriers", "tensor_maps", "exits"} & set(names)
    # Whoever asks for the order comes in front: a release makes known what came before it.
    return [*observers, order] if ordered else observers
