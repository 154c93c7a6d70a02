"""Groups of bulk copies to global memory: cp.async.bulk.commit_group and wait_group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .asynchronous import Operation
from .cohort import Cohort, Lanes

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction
    from .launch import Launch


class BulkGroups:
    """For each thread that has any: the operations not committed, and its groups, oldest first."""

    def __init__(self, launch: Launch):
        self._launch = launch
        self._open: dict[int, list[Operation]] = {}
        self._groups: dict[int, list[list[Operation]]] = {}

    def add(self, thread: int, operation: Operation) -> None:
        self._open.setdefault(thread, []).append(operation)
        self._launch.issue(operation)

    def commit(self, w: Cohort, lanes: Lanes, site: Instruction) -> None:
        # A group without operations counts too, for threads that have others.
        for thread in self._concerned(w, lanes, self._open | self._groups):
            self._groups.setdefault(thread, []).append(self._open.pop(thread, []))
        if self._launch.watch:
            self._launch.watch.group_committed("bulk", site, w.warps, lanes)

    def wait(
        self, w: Cohort, allowed: int, read_only: bool, lanes: Lanes, site: Instruction
    ) -> None:
        """Completes all but the youngest `allowed` groups, or only their reading."""
        launch = self._launch
        for thread in self._concerned(w, lanes, self._groups):
            groups = self._groups[thread]
            for group in groups[: len(groups) - allowed]:
                for operation in group:
                    if operation not in launch.pending:
                        continue
                    if read_only:
                        operation.read(launch)
                    else:
                        launch.complete(operation)
            self._settle(thread)
        if launch.watch:
            launch.watch.group_waited("bulk", allowed, read_only, site, w.warps, lanes)

    def _settle(self, thread: int) -> None:
        """Forgets groups at the front that are complete."""
        groups = self._groups[thread]
        while groups and not any(one in self._launch.pending for one in groups[0]):
            del groups[0]

    def _concerned(self, w: Cohort, lanes: Lanes, table: Mapping[int, Any]) -> list[int]:
        """The threads of the cohort that are in a table."""
        if not table:
            return []
        active = w.chosen(lanes)
        mine = set(w.threads[active].tolist())
        return sorted(mine & table.keys())
