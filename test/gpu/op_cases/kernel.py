"""One kernel of the battery: its text, its arguments, and how its results are judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tileir.runtime.dtypes import storage_dtype
from tileir.runtime.tolerance import Tolerance

EXACT = Tolerance(0.0)


def tile(shape: Sequence[int], element: str) -> str:
    """The text of a tile type."""
    return f"tile<{'x'.join([*map(str, shape), element])}>"


@dataclass
class Argument:
    """One parameter. `array` starts `offset` elements into its buffer; `strides` count elements
    (None: contiguous)."""

    element: str
    array: np.ndarray
    pointer: bool = True
    offset: int = 0


@dataclass
class Judgement:
    """How one output is judged; `expected` None means that the interpreter knows."""

    argument: int
    label: str
    tolerance: Tolerance
    expected: np.ndarray | None


class Kernel:
    """An entry under construction.

    Methods that build a value return its SSA name. Loads and stores go through partition views of
    contiguous arrays; along the first dimension, the block's number in the grid selects the tile.
    """

    def __init__(self, name: str, blocks: int = 1):
        self.name = name
        self.grid = (blocks, 1, 1)
        self.arguments: list[Argument] = []
        self.judgements: list[Judgement] = []
        self.globals: list[str] = []
        self.hints = ""
        self.prints = False
        self.lines: list[str] = []
        self._count = 0
        self.emit("%bx, %by, %bz = get_tile_block_id : tile<i32>")
        self._constants: dict[tuple[str, Any], str] = {}

    # ---- text ------------------------------------------------------------------------------

    def fresh(self, stem: str = "v") -> str:
        self._count += 1
        return f"%{stem}{self._count}"

    def emit(self, text: str) -> None:
        self.lines.append(text)

    def op(self, text: str) -> str:
        """An operation with one result."""
        name = self.fresh()
        self.emit(f"{name} = {text}")
        return name

    def scalar(self, value: Any, element: str = "i32") -> str:
        """A rank-0 constant, emitted once at the start of the kernel."""
        key = (element, value)
        if key not in self._constants:
            name = self._constants[key] = self.fresh("c")
            self.lines.insert(0, f"{name} = constant <{element}: {value}> : tile<{element}>")
        return self._constants[key]

    def full(self, value: Any, shape: Sequence[int], element: str) -> str:
        return self.op(f"constant <{element}: {value}> : {tile(shape, element)}")

    def text(self) -> str:
        parameters = ", ".join(
            f"%p{i}: {f'tile<ptr<{a.element}>>' if a.pointer else f'tile<{a.element}>'}"
            for i, a in enumerate(self.arguments)
        )
        body = "\n  ".join([*self.lines, "return"])
        return f"entry @{self.name}({parameters}) {self.hints} {{\n  {body}\n}}\n"

    # ---- arguments ---------------------------------------------------------------------------

    def pointer(self, array: np.ndarray, element: str, offset: int = 0) -> str:
        """A parameter for the address of `array`, `offset` elements into a larger buffer."""
        self.arguments.append(Argument(element, array, offset=offset))
        return f"%p{len(self.arguments) - 1}"

    def number(self, value: Any, element: str) -> str:
        """A scalar parameter."""
        self.arguments.append(Argument(element, storage_dtype(element).type(value), False))
        return f"%p{len(self.arguments) - 1}"

    def output(
        self,
        array: np.ndarray,
        element: str,
        label: str,
        tolerance: Tolerance = EXACT,
        expected: np.ndarray | None = None,
        offset: int = 0,
    ) -> str:
        """A parameter for an array whose contents after the launch are judged."""
        name = self.pointer(array, element, offset)
        self.judgements.append(Judgement(len(self.arguments) - 1, label, tolerance, expected))
        return name

    # ---- whole tiles ---------------------------------------------------------------------------

    def view(self, pointer: str, element: str, shape: Sequence[int], cut: Sequence[int]) -> tuple:
        """(view, its type, its index) of the tile that this block has of a contiguous array."""
        strides = [int(np.prod(shape[d + 1 :], dtype=int)) for d in range(len(shape))]
        tensor = (
            f"tensor_view<{'x'.join([*map(str, shape), element])}, "
            f"strides=[{','.join(map(str, strides))}]>"
        )
        size, step = ", ".join(map(str, shape)), ", ".join(map(str, strides))
        view = self.op(
            f"make_tensor_view {pointer}, shape = [{size}], strides = [{step}] : {tensor}"
        )
        type_ = f"partition_view<tile=({'x'.join(map(str, cut))}), {tensor}>"
        parts = self.op(f"make_partition_view {view} : {type_}")
        zero = self.scalar(0) if len(shape) > 1 or self.grid[0] == 1 else ""
        first = zero if self.grid[0] == 1 else "%bx"
        return parts, type_, ", ".join([first, *[zero] * (len(shape) - 1)])

    def _cut(self, shape: Sequence[int]) -> list[int]:
        return [shape[0] // self.grid[0], *shape[1:]]

    def load(self, array: np.ndarray, element: str) -> str:
        """This block's tile of an input array."""
        pointer = self.pointer(array, element)
        cut = self._cut(array.shape)
        parts, type_, index = self.view(pointer, element, array.shape, cut)
        name = self.fresh("x")
        self.emit(
            f"{name}, {name}t = load_view_tko weak {parts}[{index}] : {type_}, tile<i32> -> "
            f"{tile(cut, element)}, token"
        )
        return name

    def store(
        self,
        value: str,
        element: str,
        shape: Sequence[int],
        label: str,
        tolerance: Tolerance = EXACT,
        expected: np.ndarray | None = None,
    ) -> None:
        """Stores this block's tile of an output array of `shape`, which is judged."""
        array = np.zeros(shape, storage_dtype(element))
        pointer = self.output(array, element, label, tolerance, expected)
        if not shape:
            self.emit(
                f"{self.fresh('t')} = store_ptr_tko weak {pointer}, {value} : "
                f"tile<ptr<{element}>>, tile<{element}> -> token"
            )
            return
        cut = self._cut(shape)
        parts, type_, index = self.view(pointer, element, shape, cut)
        self.emit(
            f"{self.fresh('t')} = store_view_tko weak {value}, {parts}[{index}] : "
            f"{tile(cut, element)}, {type_}, tile<i32> -> token"
        )
