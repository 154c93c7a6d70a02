"""What a launcher must know about a compiled kernel, as versioned JSON.

`KernelInfo` describes one kernel.  In plain mode the kernel has exactly the entry's parameters
and runs on the program's grid, so any launcher can use it.  In managed mode our launcher appends
hidden parameters, in the order of `hidden`, and computes the grid from `grid`.

Fields with a default may be missing from the JSON; a reader refuses a schema newer than its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..errors import LaunchError
from .expressions import Expression, check
from .tensor_map import TensorMapRecipe

SCHEMA = 1
"""Version of the JSON. Raised when a reader of the old version would launch a kernel wrongly."""

#: A grid or a cluster: extents along x, y and z.
Extents = tuple[Expression, Expression, Expression]
#: The grid that the program is launched on.
PROGRAM_GRID: Extents = ("grid:0", "grid:1", "grid:2")
#: No clusters.
ONE_BLOCK: Extents = (1, 1, 1)


@dataclass(frozen=True)
class Workspace:
    """A hidden pointer to device memory of the launcher's, one block of it per stream.

    Launches on one stream share it in turn; `zeroed` asks for zeros before each launch.
    """

    bytes: Expression
    zeroed: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"kind": "workspace", "bytes": self.bytes, "zeroed": self.zeroed}


@dataclass(frozen=True)
class HiddenScalar:
    """A hidden i32, such as the program's grid in a kernel that loops over its blocks."""

    value: Expression

    def to_json(self) -> dict[str, Any]:
        return {"kind": "scalar", "value": self.value}


HiddenParameter = TensorMapRecipe | Workspace | HiddenScalar


@dataclass(frozen=True)
class KernelInfo:
    """One compiled kernel.

    `parameters` are the entry's parameters as the IR spells their types (`ptr<f16>`, `i32`);
    `block` is threads per block, `shared_bytes` static and `dynamic_shared_bytes` dynamic shared
    memory per block; `cluster` the blocks per cluster and `grid` the grid to launch, as expressions
    (one block, and the program's own grid by default).  `registers`, `spill_bytes` and
    `stack_bytes` per thread are what the assembler reported, None where it was not run.
    """

    name: str
    parameters: tuple[str, ...]
    block: tuple[int, int, int]
    target: str
    cluster: Extents = ONE_BLOCK
    shared_bytes: int = 0
    dynamic_shared_bytes: int = 0
    launch: Literal["plain", "managed"] = "plain"
    grid: Extents = PROGRAM_GRID
    hidden: tuple[HiddenParameter, ...] = field(default=())
    ptx_version: str | None = None
    registers: int | None = None
    spill_bytes: int | None = None
    stack_bytes: int | None = None

    def __post_init__(self) -> None:
        has_recipe = self.grid != PROGRAM_GRID or not all(isinstance(x, int) for x in self.cluster)
        if self.launch == "plain" and (self.hidden or has_recipe):
            raise LaunchError(
                f"kernel '{self.name}': plain launch mode has no hidden parameters and no recipe "
                "for grid or cluster"
            )
        for expression in (*self.grid, *self.cluster):
            check(expression, len(self.parameters))

    def to_json(self) -> dict[str, Any]:
        """The description as JSON values, every field present."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "parameters": list(self.parameters),
            "block": list(self.block),
            "cluster": list(self.cluster),
            "target": self.target,
            "ptx_version": self.ptx_version,
            "shared_bytes": self.shared_bytes,
            "dynamic_shared_bytes": self.dynamic_shared_bytes,
            "registers": self.registers,
            "spill_bytes": self.spill_bytes,
            "stack_bytes": self.stack_bytes,
            "launch": self.launch,
            "grid": list(self.grid),
            "hidden": [parameter.to_json() for parameter in self.hidden],
        }

    @classmethod
    def from_json(cls, data: Any) -> KernelInfo:
        """Reads what `to_json` wrote; `LaunchError` says which field is wrong."""
        reader = _Reader(data)
        name = reader.take("name", str)
        reader.where = f"kernel '{name}'"
        parameters = tuple(reader.take("parameters", list))
        return cls(
            name=name,
            parameters=parameters,
            block=reader.triple("block", (1, 1, 1)),
            cluster=_extents(reader, "cluster", ONE_BLOCK),
            target=reader.take("target", str),
            ptx_version=reader.optional("ptx_version", str),
            shared_bytes=reader.take("shared_bytes", int, 0),
            dynamic_shared_bytes=reader.take("dynamic_shared_bytes", int, 0),
            registers=reader.optional("registers", int),
            spill_bytes=reader.optional("spill_bytes", int),
            stack_bytes=reader.optional("stack_bytes", int),
            launch=reader.one_of("launch", ("plain", "managed"), "plain"),
            grid=_extents(reader, "grid", PROGRAM_GRID),
            hidden=tuple(
                hidden_parameter_from_json(one, len(parameters))
                for one in reader.take("hidden", list, [])
            ),
        )


class _Reader:
    """Typed access to the fields of a JSON object."""

    def __init__(self, data: Any):
        self.where = "kernel"
        if not isinstance(data, Mapping):
            raise self.error("it is not a JSON object")
        self.data = data
        schema = self.take("schema", int)
        if schema > SCHEMA:
            raise LaunchError(
                f"kernel metadata has schema {schema}; this version of tileir reads up to {SCHEMA}",
                remedy="launch with a newer tileir, or compile again with this one",
            )

    def error(self, reason: str) -> LaunchError:
        return LaunchError(f"metadata of {self.where}: {reason}")

    def take(self, key: str, kind: type, default: Any = None) -> Any:
        value = self.data.get(key, default)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.error(f"'{key}' should be {kind.__name__}, found {value!r}")
        return value

    def optional(self, key: str, kind: type) -> Any:
        return None if self.data.get(key) is None else self.take(key, kind)

    def one_of(self, key: str, allowed: tuple[str, ...], default: str) -> Any:
        value = self.data.get(key, default)
        if value not in allowed:
            raise self.error(f"'{key}' should be one of {', '.join(allowed)}, found {value!r}")
        return value

    def triple(self, key: str, default: tuple[int, int, int]) -> tuple[int, int, int]:
        value = self.take(key, list, list(default))
        if len(value) != 3 or not all(isinstance(one, int) and one > 0 for one in value):
            raise self.error(f"'{key}' should be three positive integers, found {value}")
        return (value[0], value[1], value[2])


def _extents(reader: _Reader, key: str, default: Extents) -> Extents:
    value = reader.take(key, list, list(default))
    if len(value) != 3:
        raise reader.error(f"'{key}' should be three expressions, found {value}")
    return (value[0], value[1], value[2])


def hidden_parameter_from_json(data: Any, parameter_count: int) -> HiddenParameter:
    """Reads what `to_json` of a hidden parameter wrote, for a kernel whose entry has so many
    parameters."""
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if kind == "tensor_map":
        return TensorMapRecipe.from_json(data, parameter_count)
    if kind == "workspace":
        return Workspace(check(data.get("bytes"), parameter_count), bool(data.get("zeroed")))
    if kind == "scalar":
        return HiddenScalar(check(data.get("value"), parameter_count))
    raise LaunchError(f"metadata: unknown hidden parameter {data!r}")
