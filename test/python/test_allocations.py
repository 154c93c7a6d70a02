"""Processes that we start take their memory in large pieces, unless the user says otherwise."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import tileir
from tileir.compiler.allocations import large_allocations
from tileir.compiler.toolchain import assemble

LOADER = Path("/lib64/ld-linux-x86-64.so.2")


def tunables(environment: dict[str, str]) -> dict[str, int]:
    """What glibc (2.35 or newer) makes of an environment, by its own account."""
    done = subprocess.run(
        [LOADER, "--list-tunables"], env=environment, capture_output=True, text=True, check=True
    )
    lines = re.findall(r"^([\w.]+): (0x\w+) ", done.stdout, re.MULTILINE)
    return {name: int(value, 0) for name, value in lines}


def test_glibc_understands() -> None:
    found = tunables(large_allocations({}))
    assert found["glibc.malloc.hugetlb"] == 1
    assert found["glibc.malloc.top_pad"] == 16 << 20
    assert found["glibc.malloc.mmap_threshold"] == 32 << 20


def test_the_users_settings_prevail() -> None:
    given = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=0:glibc.malloc.arena_max=2"}
    found = tunables(large_allocations(given))
    assert found["glibc.malloc.hugetlb"] == 0
    assert found["glibc.malloc.arena_max"] == 2
    assert found["glibc.malloc.top_pad"] == 16 << 20


def test_the_rest_of_the_environment_stays() -> None:
    assert large_allocations({"HOME": "/srv/ada"})["HOME"] == "/srv/ada"


def test_the_assembler_gets_it(tmp_path: Path) -> None:
    fake = tmp_path / "ptxas"
    fake.write_text('#!/bin/sh\necho "tunables $GLIBC_TUNABLES" >&2\nexit 1\n')
    fake.chmod(0o755)
    with pytest.raises(tileir.TileError, match=r"tunables .*glibc\.malloc\.hugetlb=1"):
        assemble("", "sm_90a", 3, str(fake))
