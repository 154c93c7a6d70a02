"""A pass from a file: puts a prefix in front of the names of entries."""

from __future__ import annotations

from dataclasses import dataclass

from tileir.ir import Operation, StringAttr
from tileir.passes.base import ModulePass
from tileir.passes.walk import entries


@dataclass(frozen=True)
class RenameEntries(ModulePass):
    """Put a prefix in front of the names of entries."""

    name = "rename-entries"

    prefix: str = "my_"

    def apply(self, module: Operation) -> None:
        for entry in entries(module):
            old = StringAttr(entry.attributes["sym_name"]).value
            entry.attributes["sym_name"] = StringAttr.get(self.prefix + old)
