"""The tuner: which of several configurations of a kernel is the fastest.

`tileir.lang.tune` and `tileir.lang.autotune` are what users call; here is how it works.

    result.py      what a search finds: measurements, failures, the best
    candidate.py   one configuration of a kernel: grid, arguments, hints, traced to a module
    engine.py      a search: which candidates are measured, how often, what is given up early
    space.py       spaces too large to measure all of, searched by neighbourhood
    local.py       compiles on all cores, measures in this process
    executors.py   compiles and measures elsewhere: futures, Dask, Ray
    task.py        what is sent there, all by content, and what runs there
    recipe.py      arguments by content
    timer.py       times on a GPU: CUDA events, second-level cache flushed
    estimate.py    without a GPU: an estimate from what the simulator counts
    winners.py     winners on disk
"""
