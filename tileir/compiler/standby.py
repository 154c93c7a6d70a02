"""Tools that read standard input, started before their input is there.

Half of what ptxas takes for a small kernel is its start, 10 ms. So it starts while another works,
or when a compilation begins, and waits for its PTX. It takes 20 MB meanwhile, and ends when its
standard input does, at the latest with this process.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence

#: Processes that wait at a time: of two targets, say, or two levels.
_MOST = 2


class Tool:
    """A process that reads its standard input and writes its standard output. Raises OSError where
    it cannot start. A context that it does not outlive."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]):
        self.call = (command, environment)
        # A file, so that who complains at length does not wait for a reader.
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `close`)
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=self._said, env=environment
            )
        except OSError:
            self._said.close()
            raise

    def __enter__(self) -> Tool:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def runs(self) -> bool:
        return self._process.poll() is None

    def feed(self, data: bytes) -> None:
        """Gives it all of its input."""
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):  # it has ended: `result` says why
            self._process.stdin.write(data)
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def result(self) -> tuple[int, bytes, str]:
        """Its exit code, its output, and what it said on standard error."""
        assert self._process.stdout
        output = self._process.stdout.read()
        code = self._process.wait()
        self._said.seek(0)
        return code, output, self._said.read().decode(errors="replace")

    def end(self) -> None:
        """Ends the process, if it runs, and closes what leads to it."""
        self._process.kill()
        self._process.wait()
        self.close()

    def close(self) -> None:
        """Closes what leads to the process."""
        for stream in (self._process.stdin, self._process.stdout, self._said):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


class Standby:
    """Processes that wait for their input, at most one for each command."""

    def __init__(self) -> None:
        #: The oldest first.
        self._waiting: list[Tool] = []
        self._lock = threading.Lock()

    def take(self, command: Sequence[str], environment: Mapping[str, str]) -> Tool:
        """The process of `command` that waits, or a new one. Raises OSError."""
        with self._lock:
            waiting = next((t for t in self._waiting if t.call == (command, environment)), None)
            if waiting is not None:
                self._waiting.remove(waiting)
        if waiting is not None:
            if waiting.runs():
                return waiting
            waiting.end()
        return Tool(command, environment)

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Starts the process that the next `take` of `command` will want, if none waits. The oldest
        of too many ends."""
        with self._lock, contextlib.suppress(OSError):
            if any(tool.call == (command, environment) for tool in self._waiting):
                return
            self._waiting.append(Tool(command, environment))
            if len(self._waiting) > _MOST:
                self._waiting.pop(0).end()

    def stop(self) -> None:
        """Ends all that wait."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for tool in waiting:
            tool.end()

    def forget(self) -> None:
        """In a forked child: the processes are the parent's, and their input must end with that."""
        waiting, self._waiting = self._waiting, []
        self._lock = threading.Lock()  # a thread of the parent may hold the other
        for tool in waiting:
            tool.close()


#: The assemblers that wait.
assembler = Standby()

os.register_at_fork(after_in_child=assembler.forget)
atexit.register(assembler.stop)
