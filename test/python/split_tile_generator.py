"""Random kernels for split-tile: text, grid and arguments.

Tiles hold i32, so that results do not depend on the order of sums. A kernel loads tiles in every
way there is, computes on them, and stores one or more results; tensors end anywhere inside the last
tile, and the sizes of tensors differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

I32 = np.int32
_AXES = "xyz"


def tile(shape: Sequence[int], element: str = "i32") -> str:
    return f"tile<{'x'.join([*map(str, shape), element])}>"


@dataclass(frozen=True)
class Value:
    name: str
    shape: tuple[int, ...]


class Kernel:
    """One random kernel; `args()` gives fresh arguments for each run."""

    def __init__(self, random: Random):
        self.random = random
        rank = random.choice((1, 2, 2, 2, 3))
        self.shape = tuple(random.choice((2, 4, 8, 16)) for _ in range(rank))
        while math.prod(self.shape) > 512 or math.prod(self.shape) < 8:
            self.shape = tuple(random.choice((1, 2, 4, 8, 16)) for _ in range(rank))
        self.grid = tuple(random.choice((1, 1, 2)) if d < rank else 1 for d in range(3))
        self.parameters: list[str] = []
        self._arrays: list[Any] = []
        self.lines = ["%x, %y, %z = get_tile_block_id : tile<i32>", "%start = make_token : token"]
        self.values: list[Value] = []
        self.token = "%start"
        self._stored: list[str] = []
        self._count = 0
        self._build()

    # ---- the whole -------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        body = "\n  ".join(self.lines)
        return (
            f"cuda_tile.module @m {{\nentry @k({', '.join(self.parameters)}) {{\n"
            f"  {body}\n  return\n}}\n}}\n"
        )

    def args(self) -> list[Any]:
        return [a.copy() if isinstance(a, np.ndarray) else a for a in self._arrays]

    def _build(self) -> None:
        random = self.random
        self.load()
        if random.random() < 0.2:
            self.leave_early()
        rounds = random.choice((0, 0, 1, 2))
        if rounds:
            self.open_rounds(rounds)
        steps = [
            self.load, self.load, self.binary, self.binary, self.select, self.count_along,
            self.reduce_and_spread, self.scan, self.turn, self.flatten, self.swap_halves,
            self.listed, self.loop, self.accumulate, self.branch, self.product, self.promise,
            self.narrow, self.update_in_place, self.loop_until, self.gather,
        ]  # fmt: skip
        for _ in range(random.randint(1, 8)):
            random.choice(steps)()
        result = self.all_together()
        self.store(result)
        if random.random() < 0.3:
            self.store(self.binary())
        if random.random() < 0.2:
            self.store_total(result)
        if rounds:
            self.close_rounds()

    def leave_early(self) -> None:
        """Some blocks do nothing."""
        flag = self.fresh("f")
        self.lines += [
            f"{flag} = cmpi equal %x, {self.number(1)}, signed : tile<i32> -> tile<i1>",
            f"if {flag} {{\n    return\n  }}",
        ]

    def open_rounds(self, count: int) -> None:
        """What follows runs `count` times, each time after the stores of the time before."""
        low, high, step = self.number(0), self.number(count), self.number(1)
        self.lines.append(
            f"{self.fresh('t')} = for %round in ({low} to {high}, step {step}) : tile<i32> "
            "iter_values(%turn = %start) -> (token) {"
        )
        self.token = "%turn"

    def close_rounds(self) -> None:
        last = self._stored[0]
        if len(self._stored) > 1:
            last = self.fresh("t")
            self.lines.append(f"{last} = join_tokens {', '.join(self._stored)} : token")
        self.lines.append(f"continue {last} : token\n  }}")

    # ---- names and text --------------------------------------------------------------------------

    def fresh(self, prefix: str = "v") -> str:
        self._count += 1
        return f"%{prefix}{self._count}"

    def add(self, text: str, shape: Sequence[int] | None = None) -> Value:
        """An operation whose result has `shape`, that of the kernel's tile by default."""
        value = Value(self.fresh(), tuple(self.shape if shape is None else shape))
        self.lines.append(f"{value.name} = {text}")
        if value.shape == self.shape:
            self.values.append(value)
        return value

    def pick(self) -> Value:
        return self.random.choice(self.values)

    def number(self, value: int, width: int = 32) -> str:
        return self.add(f"constant <i{width}: {value}> : tile<i{width}>", ()).name

    def spread(self, value: Value, dims: Sequence[int]) -> Value:
        """A tile of the kernel's shape from one whose dimensions are `dims` of it."""
        shape = [n if d in dims else 1 for d, n in enumerate(self.shape)]
        ones = self.add(f"reshape {value.name} : {tile(value.shape)} -> {tile(shape)}", shape)
        return self.add(f"broadcast {ones.name} : {tile(shape)} -> {tile(self.shape)}")

    # ---- memory ----------------------------------------------------------------------------------

    def array(self, size: int, fill: bool) -> str:
        """A parameter that points to `size` numbers."""
        name = self.fresh("p")
        values = self.random.choices(range(-99, 100), k=size) if fill else [0] * size
        self.parameters.append(f"{name}: tile<ptr<i32>>")
        self._arrays.append(np.array(values, I32))
        return name

    def scalar(self, value: int, type_: str) -> str:
        name = self.fresh("n")
        self.parameters.append(f"{name}: tile<{type_}>")
        self._arrays.append(value)
        return name

    def sizes(self, steps: Sequence[int], exact: bool) -> list[int]:
        """Sizes of a tensor, by tile dimension, for which all indices of the grid are legal."""
        last = [(self.grid[d] - 1) * step for d, step in enumerate(steps)]
        inside = [n if exact else self.random.randint(1, n) for n in self.shape]
        return [start + n for start, n in zip(last, inside, strict=True)]

    def view(
        self, steps: list[int] | None, padded: bool, fill: bool, exact: bool
    ) -> tuple[str, str]:
        """A view of a new array: its name and type. `steps` make it a strided view."""
        rank = len(self.shape)
        dim_map = self.random.sample(range(rank), rank)
        by_tile = self.sizes(self.shape if steps is None else steps, exact)
        sizes = [0] * rank
        for d, k in enumerate(dim_map):
            sizes[k] = by_tile[d]
        strides, reach = [0] * rank, 1
        for k in reversed(range(rank)):
            strides[k] = reach
            reach *= sizes[k] + self.random.choice((0, 0, 3))
        base = self.array(reach, fill)
        type_ = self.random.choice(("i32", "i32", "i64"))
        shape_is_static = [self.random.random() < 0.4 for _ in sizes]
        stride_is_static = [n == 1 or self.random.random() < 0.4 for n in strides]
        kept = [
            str(n) if s else self.scalar(n, type_)
            for n, s in zip([*sizes, *strides], [*shape_is_static, *stride_is_static], strict=True)
        ]
        text = [
            str(n) if s else "?"
            for n, s in zip([*sizes, *strides], [*shape_is_static, *stride_is_static], strict=True)
        ]
        dims = "x".join([*text[:rank], "i32"])
        tensor = f"tensor_view<{dims}, strides=[{','.join(text[rank:])}]>"
        types = f"tile<{type_}> -> {tensor}" if "?" in text else tensor
        name = self.fresh("t")
        self.lines.append(
            f"{name} = make_tensor_view {base}, shape = [{', '.join(kept[:rank])}], "
            f"strides = [{', '.join(kept[rank:])}] : {types}"
        )
        padding = "padding_value = zero, " if padded else ""
        kind = "partition" if steps is None else "strided"
        pace = "" if steps is None else f"traversal_strides={steps}, "
        by = f"tile=({'x'.join(map(str, self.shape))})"
        order = "" if dim_map == sorted(dim_map) else f", dim_map={dim_map}"
        view_type = f"{kind}_view<{by}, {pace}{padding}{tensor}{order}>"
        view = self.fresh("w")
        self.lines.append(f"{view} = make_{kind}_view {name} : {view_type}")
        return view, view_type

    def indices(self) -> tuple[str, str]:
        """The block's coordinates as indices, and their type."""
        type_ = self.random.choice(("i32", "i32", "i64", "i8"))
        names = []
        for d in range(len(self.shape)):
            name = f"%{_AXES[d]}"
            if type_ != "i32":
                op = "exti" if type_ == "i64" else "trunci"
                sign = " unsigned" if type_ == "i64" else ""
                name = self.add(f"{op} {name}{sign} : tile<i32> -> tile<{type_}>", ()).name
            names.append(name)
        return ", ".join(names), f"tile<{type_}>"

    def load(self) -> Value:
        return self.random.choice((self.load_view, self.load_view, self.load_pointers))()

    def load_view(self) -> Value:
        steps = None
        if self.random.random() < 0.25:
            steps = [self.random.randint(1, n + 2) for n in self.shape]
        exact = self.random.random() < 0.3
        view, type_ = self.view(steps, padded=not exact, fill=True, exact=exact)
        return self.load_through(view, type_, self.token)[0]

    def load_through(
        self, view: str, type_: str, token: str, at: tuple[str, str] | None = None
    ) -> tuple[Value, str]:
        index, index_type = at or self.indices()
        value, after = Value(self.fresh(), self.shape), self.fresh("t")
        self.lines.append(
            f"{value.name}, {after} = load_view_tko weak {view}[{index}] token = {token} : "
            f"{type_}, {index_type} -> {tile(self.shape)}, token"
        )
        self.values.append(value)
        return value, after

    def positions(self, sizes: Sequence[int]) -> tuple[Value, Value]:
        """Element numbers in a row-major array of `sizes`, and whether they are inside it."""
        number: Value | None = None
        inside: str | None = None
        for d, size in enumerate(sizes):
            at = self.coordinate(d)
            limit = self.splat(size)
            ok = self.fresh("m")
            bits = tile(self.shape, "i1")
            types = f"{tile(self.shape)} -> {bits}"
            self.lines.append(f"{ok} = cmpi less_than {at.name}, {limit.name}, signed : {types}")
            if inside is None:
                number, inside = at, ok
                continue
            both = self.fresh("m")
            self.lines.append(f"{both} = andi {inside}, {ok} : {bits}")
            assert number is not None
            row = self.add(f"muli {number.name}, {limit.name} : {tile(self.shape)}")
            number, inside = self.add(f"addi {row.name}, {at.name} : {tile(self.shape)}"), both
        assert number is not None and inside is not None
        return number, Value(inside, self.shape)

    def coordinate(self, dim: int) -> Value:
        """block index * tile + element, along a dimension."""
        n = self.shape[dim]
        count = self.add(f"iota : {tile([n])}", [n])
        start = self.add(f"muli %{_AXES[dim]}, {self.number(n)} : tile<i32>", ())
        there = self.spread(count, [dim])
        return self.add(f"addi {there.name}, {self.spread(start, []).name} : {tile(self.shape)}")

    def splat(self, value: int) -> Value:
        return self.add(f"constant <i32: {value}> : {tile(self.shape)}")

    def pointers(self, base: str, number: Value) -> str:
        """Addresses of elements."""
        ones, all_, at = self.fresh("q"), self.fresh("q"), self.fresh("q")
        one = tile([1] * len(self.shape), "ptr<i32>")
        many = tile(self.shape, "ptr<i32>")
        self.lines += [
            f"{ones} = reshape {base} : tile<ptr<i32>> -> {one}",
            f"{all_} = broadcast {ones} : {one} -> {many}",
            f"{at} = offset {all_}, {number.name} : {many}, {tile(self.shape)} -> {many}",
        ]
        return at

    def load_pointers(self) -> Value:
        sizes = self.sizes(self.shape, exact=False)
        number, inside = self.positions(sizes)
        at = self.pointers(self.array(math.prod(sizes), fill=True), number)
        padding = self.pick() if self.values else self.splat(7)
        value, after = Value(self.fresh(), self.shape), self.fresh("t")
        types = f"{tile(self.shape, 'ptr<i32>')}, {tile(self.shape, 'i1')}, {tile(self.shape)}"
        self.lines.append(
            f"{value.name}, {after} = load_ptr_tko weak {at}, {inside.name}, {padding.name} "
            f"token={self.token} : {types} -> {tile(self.shape)}, token"
        )
        self.values.append(value)
        return value

    def store(self, value: Value) -> None:
        if self.random.random() < 0.3:
            sizes = self.sizes(self.shape, exact=False)
            number, inside = self.positions(sizes)
            at = self.pointers(self.array(math.prod(sizes), fill=False), number)
            types = f"{tile(self.shape, 'ptr<i32>')}, {tile(self.shape)}, {tile(self.shape, 'i1')}"
            text = f"{at}, {value.name}, {inside.name} token={self.token} : {types} -> token"
            self.lines.append(f"{self.stored()} = store_ptr_tko weak {text}")
            return
        steps = None
        if self.random.random() < 0.2:
            steps = [n + self.random.randint(0, 2) for n in self.shape]
        view, type_ = self.view(steps, padded=False, fill=False, exact=False)
        self.store_through(value, view, type_, self.token)

    def store_through(
        self, value: Value, view: str, type_: str, token: str, at: tuple[str, str] | None = None
    ) -> None:
        index, index_type = at or self.indices()
        self.lines.append(
            f"{self.stored()} = store_view_tko weak {value.name}, {view}[{index}] "
            f"token = {token} : {tile(self.shape)}, {type_}, {index_type} -> token"
        )

    def stored(self) -> str:
        """The name of the token of a store."""
        self._stored.append(self.fresh("t"))
        return self._stored[-1]

    def update_in_place(self) -> None:
        """Adds to a tensor: a load and a store of the same tile, in order."""
        view, type_ = self.view(None, padded=True, fill=True, exact=False)
        at = self.indices()
        before, after = self.load_through(view, type_, self.token, at)
        total = self.add(f"addi {before.name}, {self.pick().name} : {tile(self.shape)}")
        self.store_through(total, view, type_, after, at)

    def gather(self) -> None:
        """A load through a view with a sparse dimension."""
        dim = self.random.randrange(len(self.shape))
        n, size = self.shape[dim], self.random.randint(1, 20)
        sizes = [size if d == dim else m for d, m in enumerate(self.sizes(self.shape, exact=False))]
        strides = [math.prod(sizes[d + 1 :]) for d in range(len(sizes))]
        base = self.array(math.prod(sizes), fill=True)
        tensor = f"tensor_view<{'x'.join(map(str, sizes))}xi32, strides={strides}>"
        by = f"tile=({'x'.join(map(str, self.shape))})"
        type_ = f"gather_scatter_view<{by}, padding_value = zero, {tensor}, sparse_dim={dim}>"
        view, flat = self.fresh("w"), self.fresh("t")
        self.lines += [
            f"{flat} = make_tensor_view {base}, shape = {sizes}, strides = {strides} : {tensor}",
            f"{view} = make_gather_scatter_view {flat} : {type_}",
        ]
        line = [n]
        count = self.add(f"iota : {tile(line)}", [0])
        pace = self.add(f"constant <i32: {self.random.randint(0, 5)}> : {tile(line)}", [0])
        limit = self.add(f"constant <i32: {size}> : {tile(line)}", [0])
        rows = self.add(f"muli {count.name}, {pace.name} : {tile(line)}", [0])
        rows = self.add(f"remi {rows.name}, {limit.name} signed : {tile(line)}", [0])
        first = [f"%{_AXES[d]}" for d in range(len(self.shape))]
        if self.random.random() < 0.5:  # tiles that do not overlap
            for d, extent in enumerate(self.shape):
                first[d] = self.add(f"muli {first[d]}, {self.number(extent)} : tile<i32>", ()).name
        index = ", ".join(rows.name if d == dim else first[d] for d in range(len(self.shape)))
        types = [tile(line) if d == dim else "tile<i32>" for d in range(len(self.shape))]
        self.load_through(view, type_, self.token, (index, ", ".join(types)))

    def store_total(self, value: Value) -> None:
        """The sum of a tile, one number for each block."""
        flat = math.prod(self.shape)
        line = self.add(f"reshape {value.name} : {tile(self.shape)} -> {tile([flat])}", [flat])
        total = self.reduce(line, 0)
        x, y, z = self.grid
        base = self.array(x * y * z, fill=False)
        at = self.add(f"muli %z, {self.number(y)} : tile<i32>", ())
        at = self.add(f"addi {at.name}, %y : tile<i32>", ())
        at = self.add(f"muli {at.name}, {self.number(x)} : tile<i32>", ())
        at = self.add(f"addi {at.name}, %x : tile<i32>", ())
        where = self.fresh("q")
        pointer = "tile<ptr<i32>>"
        self.lines += [
            f"{where} = offset {base}, {at.name} : {pointer}, tile<i32> -> {pointer}",
            f"{self.stored()} = store_ptr_tko weak {where}, {total.name} token={self.token} : "
            f"{pointer}, tile<i32> -> token",
        ]

    # ---- computation -----------------------------------------------------------------------------

    def binary(self) -> Value:
        op = self.random.choice(("addi {}, {}", "muli {}, {}", "maxi {}, {} signed", "xori {}, {}"))
        text = op.format(self.pick().name, self.pick().name)
        return self.add(f"{text} : {tile(self.shape)}")

    def all_together(self) -> Value:
        """The last few values in one."""
        total = self.values[-1]
        for value in self.values[-4:-1]:
            total = self.add(f"addi {total.name}, {value.name} : {tile(self.shape)}")
        return total

    def select(self) -> None:
        a, b = self.pick(), self.pick()
        mask, bits = self.fresh("m"), tile(self.shape, "i1")
        types = f"{tile(self.shape)} -> {bits}"
        self.lines.append(f"{mask} = cmpi less_than {a.name}, {b.name}, signed : {types}")
        self.add(f"select {mask}, {b.name}, {a.name} : {bits}, {tile(self.shape)}")

    def count_along(self) -> None:
        self.coordinate(self.random.randrange(len(self.shape)))

    def reduce(self, value: Value, dim: int) -> Value:
        rest = [n for d, n in enumerate(value.shape) if d != dim]
        return self.add(
            f"reduce {value.name} dim={dim} identities=[0 : i32] : {tile(value.shape)} -> "
            f"{tile(rest)} (%e: tile<i32>, %s: tile<i32>) {{\n"
            "    %r = addi %e, %s : tile<i32>\n    yield %r : tile<i32>\n  }",
            rest,
        )

    def reduce_and_spread(self) -> None:
        dim = self.random.randrange(len(self.shape))
        total = self.reduce(self.pick(), dim)
        self.spread(total, [d for d in range(len(self.shape)) if d != dim])

    def scan(self) -> None:
        dim = self.random.randrange(len(self.shape))
        reverse = self.random.choice(("true", "false"))
        self.add(
            f"scan {self.pick().name} dim={dim} reverse={reverse} identities=[0 : i32] : "
            f"{tile(self.shape)} -> {tile(self.shape)} (%e: tile<i32>, %s: tile<i32>) {{\n"
            "    %r = addi %e, %s : tile<i32>\n    yield %r : tile<i32>\n  }"
        )

    def turn(self) -> None:
        """A permutation, something on the result, and the way back."""
        rank = len(self.shape)
        if rank < 2:
            return
        order = self.random.sample(range(rank), rank)
        back = [order.index(d) for d in range(rank)]
        turned = [self.shape[d] for d in order]
        types = f"{tile(self.shape)} -> {tile(turned)}"
        value = self.add(f"permute {self.pick().name} {order} : {types}", turned)
        if self.random.random() < 0.4 and tuple(turned) == self.shape:
            return
        value = self.add(f"absi {value.name} : {tile(turned)}", turned)
        self.add(f"permute {value.name} {back} : {tile(turned)} -> {tile(self.shape)}")

    def flatten(self) -> None:
        """Merges neighbouring dimensions, or all, and splits them again."""
        rank = len(self.shape)
        first = self.random.randrange(rank)
        last = self.random.randint(first + 1, rank)
        merged = [*self.shape[:first], math.prod(self.shape[first:last]), *self.shape[last:]]
        types = f"{tile(self.shape)} -> {tile(merged)}"
        value = self.add(f"reshape {self.pick().name} : {types}", merged)
        value = self.add(f"addi {value.name}, {value.name} : {tile(merged)}", merged)
        self.add(f"reshape {value.name} : {tile(merged)} -> {tile(self.shape)}")

    def swap_halves(self) -> None:
        dim = self.random.randrange(len(self.shape))
        if self.shape[dim] < 2:
            return
        half = [n // 2 if d == dim else n for d, n in enumerate(self.shape)]
        value, zero, one = self.pick(), self.number(0), self.number(1)
        halves = []
        for index in (one, zero):
            at = ", ".join(index if d == dim else zero for d in range(len(self.shape)))
            types = f"{tile(self.shape)} -> {tile(half)}"
            halves.append(self.add(f"extract {value.name}[{at}] : {types}", half).name)
        types = f"{tile(half)}, {tile(half)} -> {tile(self.shape)}"
        self.add(f"cat {halves[0]}, {halves[1]} dim = {dim} : {types}")

    def listed(self) -> None:
        """A constant of different numbers, along one dimension."""
        dim = self.random.randrange(len(self.shape))
        numbers = self.random.choices(range(-9, 10), k=self.shape[dim])
        if len(numbers) > 1:
            shape = [self.shape[dim]]
            self.spread(self.add(f"constant <i32: {numbers}> : {tile(shape)}", shape), [dim])

    def loop(self) -> None:
        """A loop that carries a tile and a number."""
        a, b = self.pick(), self.pick()
        low, high, step = self.number(0), self.number(self.random.randint(0, 3)), self.number(1)
        shape = tile(self.shape)
        result, other = Value(self.fresh(), self.shape), self.fresh()
        self.lines.append(
            f"""{result.name}, {other} = for %k in ({low} to {high}, step {step}) : tile<i32>
      iter_values(%c = {a.name}, %n = {low}) -> ({shape}, tile<i32>) {{
    %d = addi %c, {b.name} : {shape}
    %o = reshape %k : tile<i32> -> {tile([1] * len(self.shape))}
    %p = broadcast %o : {tile([1] * len(self.shape))} -> {shape}
    %q = muli %d, %p : {shape}
    %r = addi %q, {a.name} : {shape}
    %m = addi %n, %k : tile<i32>
    continue %r, %m : {shape}, tile<i32>
  }}"""
        )
        self.values.append(result)
        self.spread(Value(other, ()), [])

    def accumulate(self) -> None:
        """A loop that loads a tile in each round and adds it up."""
        view, type_ = self.view(None, padded=True, fill=True, exact=False)
        index = ", ".join(f"%{_AXES[d]}" for d in range(len(self.shape)))
        low, high, step = self.number(0), self.number(2), self.number(1)
        shape = tile(self.shape)
        types = f"{type_}, tile<i32> -> {shape}, token"
        self.add(
            f"""for %k in ({low} to {high}, step {step}) : tile<i32>
      iter_values(%c = {self.pick().name}) -> ({shape}) {{
    %l, %u = load_view_tko weak {view}[{index}] token = {self.token} : {types}
    %d = addi %c, %l : {shape}
    continue %d : {shape}
  }}"""
        )

    def loop_until(self) -> None:
        """A loop that is left by `break` from a branch."""
        zero, one, shape = self.number(0), self.number(1), tile(self.shape)
        types = f"{shape}, tile<i32> -> {shape}"
        self.add(
            f"""loop iter_values(%c = {self.pick().name}, %n = {zero}) : {types} {{
    %m = addi %n, {one} : tile<i32>
    %d = addi %c, {self.pick().name} : {shape}
    %f = cmpi greater_than %m, %x, signed : tile<i32> -> tile<i1>
    if %f {{
      break %d : {shape}
    }}
    continue %d, %m : {shape}, tile<i32>
  }}"""
        )

    def branch(self) -> None:
        zero, shape, flag = self.number(0), tile(self.shape), self.fresh("f")
        self.lines.append(f"{flag} = cmpi equal %x, {zero}, signed : tile<i32> -> tile<i1>")
        a, b = self.pick(), self.pick()
        self.add(
            f"""if {flag} -> ({shape}) {{
    %a = addi {a.name}, {b.name} : {shape}
    yield %a : {shape}
  }} else {{
    yield {b.name} : {shape}
  }}"""
        )

    def product(self) -> None:
        """A matrix product on top of a tile."""
        if len(self.shape) < 2:
            return
        *batch, rows, columns = self.shape
        value = self.pick()
        types = f"{tile(self.shape)} -> {tile(self.shape, 'i8')}"
        whole = self.add(f"trunci {value.name} : {types}", [0])
        # rows x columns times columns x columns
        square = [*batch, columns, columns]
        if math.prod(square) > 512:
            return
        line = self.add(f"constant <i8: {self.random.randint(-5, 5)}> : {tile(square, 'i8')}", [0])
        types = f"{tile(self.shape, 'i8')}, {tile(square, 'i8')}, {tile(self.shape)}"
        acc = self.pick().name
        self.add(f"mmai {whole.name}, {line.name}, {acc} signed signed : {types}")

    def promise(self) -> None:
        dim = self.random.randrange(len(self.shape))
        n = self.shape[dim]
        every = self.random.choice([k for k in (1, 2, 4, 8, 16) if k <= n])
        count = self.add(f"iota : {tile([n])}", [n])
        kept = self.add(
            f"assume div_by<{every}, every {every} along 0>, {count.name} : {tile([n])}", [n]
        )
        there = self.spread(kept, [dim])
        block = [1 if d == dim else m for d, m in enumerate(self.shape)]
        self.add(f"assume same_elements<{block}>, {there.name} : {tile(self.shape)}")

    def narrow(self) -> None:
        """There and back through the bytes of the tile."""
        flat = math.prod(self.shape)
        types = f"{tile(self.shape)} -> {tile([flat])}"
        line = self.add(f"reshape {self.pick().name} : {types}", [flat])
        raw = self.add(f"pack {line.name} : {tile([flat])} -> {tile([4 * flat], 'i8')}", [0])
        line = self.add(f"unpack {raw.name} : {tile([4 * flat], 'i8')} -> {tile([flat])}", [flat])
        self.add(f"reshape {line.name} : {tile([flat])} -> {tile(self.shape)}")
