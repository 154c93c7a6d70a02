"""Processes that wait for their input: who gets them, and when they end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tileir
from tileir.compiler.standby import Standby
from tileir.compiler.toolchain import assemble

VADD = Path(__file__).parents[1] / "data" / "cases" / "vadd-13.3.tilebc"
ENVIRONMENT = dict(os.environ)
CAT = ["/bin/sh", "-c", "exec cat"]


def test_the_process_that_waits_is_the_one_that_is_taken() -> None:
    standby = Standby()
    standby.start(CAT, ENVIRONMENT)
    (waiting,) = standby._waiting
    standby.start(CAT, ENVIRONMENT)
    assert standby._waiting == [waiting], "one is enough"
    with standby.take(CAT, ENVIRONMENT) as tool:
        assert tool is waiting
        tool.feed(b"text")
        assert tool.result() == (0, b"text", "")


def test_what_it_says_does_not_stop_it() -> None:
    """More than a pipe holds, before all of the input is read."""
    talks = ["/bin/sh", "-c", "head -c 300000 /dev/zero >&2; cat >/dev/null; echo done"]
    with Standby().take(talks, ENVIRONMENT) as tool:
        tool.feed(b"x" * 1_000_000)
        code, output, said = tool.result()
    assert (code, output, len(said)) == (0, b"done\n", 300_000)


@pytest.mark.parametrize(
    ("command", "environment"), [(["/bin/cat"], ENVIRONMENT), (CAT, {**ENVIRONMENT, "A": "b"})]
)
def test_another_command_or_environment_starts_anew(
    command: list[str], environment: dict[str, str]
) -> None:
    standby = Standby()
    standby.start(CAT, ENVIRONMENT)
    (waiting,) = standby._waiting
    with standby.take(command, environment) as tool:
        assert tool is not waiting
        tool.feed(b"text")
        assert tool.result()[:2] == (0, b"text")
    with standby.take(CAT, ENVIRONMENT) as tool:
        assert tool is waiting


def test_the_oldest_of_too_many_ends() -> None:
    standby = Standby()
    standby.start([*CAT, "a"], ENVIRONMENT)
    (oldest,) = standby._waiting
    for name in "bc":
        standby.start([*CAT, name], ENVIRONMENT)
    assert [tool.call[0][-1] for tool in standby._waiting] == ["b", "c"]
    assert not oldest.runs()
    standby.stop()


def test_a_process_that_has_ended_is_replaced() -> None:
    standby = Standby()
    standby.start(["/bin/false"], ENVIRONMENT)
    standby._waiting[0]._process.wait()
    with standby.take(["/bin/false"], ENVIRONMENT) as tool:
        tool.feed(b"x" * 1_000_000)
        assert tool.result()[0] == 1


def test_what_cannot_start_is_reported_when_it_is_wanted() -> None:
    standby = Standby()
    standby.start(["/nowhere/ptxas"], ENVIRONMENT)
    with pytest.raises(FileNotFoundError):
        standby.take(["/nowhere/ptxas"], ENVIRONMENT)


def test_stop_ends_it() -> None:
    standby = Standby()
    standby.start(CAT, ENVIRONMENT)
    (waiting,) = standby._waiting
    standby.stop()
    assert not waiting.runs()


CHILDREN = """
import os, subprocess, sys
from pathlib import Path
import tileir
from tileir.compiler import standby

tileir.compile(Path(sys.argv[1]), target="sm_90a", cache=False).cubin
process = standby.assembler._waiting[0]._process
print(process.pid, flush=True)
if sys.argv[2] == "fork":
    if os.fork() == 0:
        assert standby.assembler._waiting == []
        sys.stdin.readline()  # lives on
        os._exit(0)
if sys.argv[2] == "killed":
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("how", ["ends", "fork", "killed"])
def test_the_assembler_ends_with_the_process(how: str) -> None:
    """Also where the process is killed, or has a child that lives on."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", CHILDREN, VADD, how]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as script:
        assert script.stdin and script.stdout
        waiting = int(script.stdout.readline())
        script.wait()
        deadline = time.monotonic() + 10
        while _runs(waiting) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not _runs(waiting)
        script.stdin.close()


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(
    ("action", "complaint"),
    [("cat >/dev/null; echo hello", "hello"), ("kill -9 $$", "exit code -9")],
    ids=["output is no cubin", "killed"],
)
def test_an_assembler_that_fails_is_an_error(tmp_path: Path, action: str, complaint: str) -> None:
    fake = tmp_path / "ptxas"
    fake.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exit\n{action}\n')
    fake.chmod(0o755)
    with pytest.raises(tileir.TileError, match=f"failed for sm_90a: {complaint}"):
        assemble("", "sm_90a", 3, str(fake))
