"""Planted faults: a kernel that is right, and the same one with a line missing or changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from sim_support import module, pointers

import tileir
from tileir import sim

SEEDS = (0, 1, 2)

HEAD = """.reg .b32 %i, %w, %v<40>; .reg .b64 %a, %b, %c, %d<20>; .reg .f32 %f<40>;
    .reg .pred %p, %q; mov.u32 %i, %tid.x; shr.u32 %w, %i, 5;"""
LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
STORE = "cp.async.bulk.global.shared::cta.bulk_group"


def wait(at: str, parity: int = 0) -> str:
    """Waits for a phase of an mbarrier."""
    test = f"mbarrier.try_wait.parity.shared.b64 w, [{at}], {parity};"
    return f"{{ .reg .pred w; W: {test} @!w bra W; }}"


def init(at: str, count: int | str = 1) -> str:
    """Thread 0 makes an mbarrier that everybody knows, copies too."""
    return f"""setp.eq.u32 %p, %i, 0; @%p mbarrier.init.shared.b64 [{at}], {count};
        fence.mbarrier_init.release.cluster; bar.sync 0;"""


def run_text(body: str, arrays: Sequence[np.ndarray], **options: Any) -> sim.Result:
    """Runs a kernel whose parameters are the arrays, in %a, %b and %c, ..."""
    names = [f"ld.param.u64 %{'abc'[k]}, [p{k}];" for k in range(len(arrays))]
    text = module("\n".join([HEAD, *names, body, "ret;"]), pointers(len(arrays)))
    threads, grid = options.pop("threads", 32), options.pop("grid", 1)
    return sim.run(text, "k", grid, threads, list(arrays), **options)


def planted(
    body: str,
    right: str,
    wrong: str,
    match: str,
    arrays: Sequence[np.ndarray] = (),
    seeds: Sequence[int] = SEEDS,
    **options: Any,
) -> None:
    """`body` runs clean with `right` for its %%, and is reported with `wrong` for it."""
    assert body.count("%%") == 1
    faulty(
        lambda text, seed: run_text(text, [x.copy() for x in arrays], seed=seed, **options),
        body.replace("%%", right),
        body.replace("%%", wrong),
        match,
        seeds,
    )


def faulty(
    go: Callable[[str, int], Any], right: str, wrong: str, match: str, seeds: Sequence[int] = SEEDS
) -> None:
    """`go(text, seed)` is fine for `right` and reported for `wrong`, on every schedule."""
    for seed in seeds:
        go(right, seed)
        with pytest.raises(tileir.ExecutionError, match=match):
            go(wrong, seed)
