"""How the processes that we start get their memory.

A compiler allocates tens of megabytes in small pieces. By default, each page of 4 KiB of them comes
by a page fault of its own: ptxas has 7,000, which take an eighth of its time.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Pages of 2 MiB where the kernel gives them to those who ask, much at once, and nothing given back
#: before the process ends. Other C libraries ignore it, older glibc what it does not know.
_TUNABLES = ":".join(
    (
        "glibc.malloc.hugetlb=1",
        f"glibc.malloc.top_pad={1 << 24}",
        f"glibc.malloc.mmap_threshold={1 << 25}",
        f"glibc.malloc.trim_threshold={1 << 30}",
    )
)


def large_allocations(environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` for a process that takes its memory in large pieces, except where
    `GLIBC_TUNABLES` says otherwise."""
    given = environment.get("GLIBC_TUNABLES")
    return {**environment, "GLIBC_TUNABLES": f"{_TUNABLES}:{given}" if given else _TUNABLES}
