"""Tensor maps: what the Tensor Memory Accelerator is told about a tensor in global memory.

`TensorMap` is one map with concrete numbers; the launcher encodes it for the hardware
(`CudaDriver.encode_tensor_map`) and the simulator reads it as it is.  `TensorMapRecipe` is how
metadata describes one before the arguments are known.

Dimension 0 is the innermost (contiguous) one, as in the driver's interface.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import LaunchError
from .dtypes import element
from .expressions import Environment, Expression, check, evaluate

SWIZZLES = (0, 32, 64, 128)
"""Widths in bytes of the swizzled shared-memory row; 0 is a plain row-major box."""

FILLS = ("zero", "nan")
BYTES = 128
"""Size of an encoded map, also as a kernel parameter; it is aligned to 64 bytes."""


ZEROS = 16
"""Bytes of zeros that stand in for a tensor without elements, aligned to as many."""


@dataclass(frozen=True)
class TensorMap:
    """A tensor in global memory and the box of it that one copy moves.

    `base` is a device address; `dims` and `box` count elements; `strides` are the byte strides of
    dimensions 1 and up; `element_strides` are steps inside the box; `fill` is what elements
    outside the tensor read as.  The constructor checks the rules of cuTensorMapEncodeTiled.
    """

    dtype: str
    base: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...]
    swizzle: int = 0
    fill: str = "zero"

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem:
            raise LaunchError(f"tensor map: {problem}")

    def _problem(self) -> str | None:
        rank, size = len(self.dims), element(self.dtype).bytes
        if not 1 <= rank <= 5:
            return f"rank {rank} is not 1 to 5"
        if (len(self.strides), len(self.box), len(self.element_strides)) != (rank - 1, rank, rank):
            return f"a map of rank {rank} needs {rank - 1} strides and {rank} box sizes and steps"
        if self.base % 16:
            return f"address {self.base:#x} is not a multiple of 16"
        if not all(0 < extent <= 1 << 32 for extent in self.dims):
            return f"dimensions {self.dims} are not all from 1 to 2^32"
        if not all(stride % 16 == 0 and 0 <= stride < 1 << 40 for stride in self.strides):
            return f"byte strides {self.strides} are not all multiples of 16 below 2^40"
        if not all(0 < extent <= 256 for extent in self.box):
            return f"box {self.box} is not 1 to 256 in every dimension"
        if not all(0 < step <= 8 for step in self.element_strides):
            return f"element strides {self.element_strides} are not all from 1 to 8"
        inner = self.box[0] * size
        if inner % 16:
            return f"the box's inner {inner} bytes are not a multiple of 16"
        if self.swizzle not in SWIZZLES:
            return f"swizzle {self.swizzle} is not one of {SWIZZLES}"
        if self.swizzle and inner > self.swizzle:
            return f"the box's inner {inner} bytes exceed the swizzle of {self.swizzle}"
        if self.fill not in FILLS:
            return f"fill '{self.fill}' is not one of {FILLS}"
        if self.fill == "nan" and element(self.dtype).kind != "float":
            return f"only floating-point elements can be filled with NaN, not {self.dtype}"
        return None


@dataclass(frozen=True)
class TensorMapRecipe:
    """A hidden tensor-map parameter: `TensorMap` with expressions over the entry's parameters.

    `base` is the index of the pointer parameter, to which `offset` bytes are added.
    """

    dtype: str
    base: int
    dims: tuple[Expression, ...]
    strides: tuple[Expression, ...]
    box: tuple[Expression, ...]
    element_strides: tuple[int, ...]
    offset: Expression = 0
    swizzle: int = 0
    fill: str = "zero"

    def instantiate(
        self, environment: Environment, zeros: Callable[[], int] | None = None
    ) -> TensorMap:
        """The map for one launch; pointer parameters in `environment` are device addresses.

        A tensor without elements is what a product has whose K is 0. The hardware knows no
        dimension of 0, though copies may ask for tiles of padding, and prefetch the map. `zeros`
        gives the address of `ZEROS` bytes of zeros, whose first element is a tensor in its place:
        what is padded with zeros then reads as zero wherever a box starts. Nothing may be
        written there: no index of such a tensor is one that a store may have.
        """
        dims = tuple(evaluate(extent, environment) for extent in self.dims)
        if min(dims) == 0 and self.fill == "zero" and zeros is not None:
            base = zeros()
            dims, strides = (1,) * len(dims), (ZEROS,) * len(self.strides)
        else:
            base = int(environment.parameters[self.base]) + evaluate(self.offset, environment)
            strides = tuple(evaluate(stride, environment) for stride in self.strides)
        box = tuple(evaluate(extent, environment) for extent in self.box)
        return TensorMap(
            self.dtype, base, dims, strides, box, self.element_strides, self.swizzle, self.fill
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "tensor_map",
            "dtype": self.dtype,
            "base": self.base,
            "offset": self.offset,
            "dims": list(self.dims),
            "strides": list(self.strides),
            "box": list(self.box),
            "element_strides": list(self.element_strides),
            "swizzle": self.swizzle,
            "fill": self.fill,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], parameter_count: int) -> TensorMapRecipe:
        try:
            base = data["base"]
            if not (isinstance(base, int) and 0 <= base < parameter_count):
                raise LaunchError(f"metadata: a tensor map's base {base!r} is no parameter")
            return cls(
                dtype=element(data["dtype"]).name,
                base=base,
                offset=check(data.get("offset", 0), parameter_count),
                dims=tuple(check(one, parameter_count) for one in data["dims"]),
                strides=tuple(check(one, parameter_count) for one in data["strides"]),
                box=tuple(check(one, parameter_count) for one in data["box"]),
                element_strides=tuple(int(one) for one in data["element_strides"]),
                swizzle=int(data.get("swizzle", 0)),
                fill=str(data.get("fill", "zero")),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise LaunchError(f"metadata: malformed tensor map: {error!r}") from error
