"""Loops and branches: carried tiles, early exits in every shape, nesting, tokens that go around.

Conditions and bounds are parameters or loaded, so that no branch is known at compile time. Each
program runs with several parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .kernel import Kernel, tile
from .shapes import numbered

_TILE = tile([64], "i32")


class Program:
    """A kernel of one program, with a tile %x and scalars %n and %m; results go to `output`."""

    def __init__(self, name: str, n: int, m: int):
        self.kernel = k = Kernel(name)
        self.x = k.load(numbered((64,), "i32"), "i32")
        self.n, self.m = k.number(n, "i32"), k.number(m, "i32")
        self.y = k.load(numbered((64,), "i32")[::-1].copy(), "i32")
        self.zero, self.one, self.two = (k.scalar(i) for i in range(3))
        self.label = f"n={n} m={m}"

    def text(self, template: str) -> None:
        names = {
            "x": self.x,
            "y": self.y,
            "n": self.n,
            "m": self.m,
            "zero": self.zero,
            "one": self.one,
            "two": self.two,
            "T": _TILE,
            "i": "tile<i32>",
            "b": "tile<i1>",
        }
        self.kernel.emit(template.format(**names).strip())

    def tile_result(self, value: str, label: str = "tile") -> None:
        self.kernel.store(value, "i32", (64,), f"{label} {self.label}")

    def scalar_result(self, value: str, label: str = "scalar") -> None:
        self.kernel.store(value, "i32", (), f"{label} {self.label}")


def _for_carried(p: Program) -> None:
    p.text("""
  %a:3 = for %k in ({zero} to {n}, step {one}) : {i}
      iter_values(%s = {x}, %t = {y}, %c = {m}) -> ({T}, {T}, {i}) {{
    %s2 = addi %s, %t : {T}
    %c2 = addi %c, %k : {i}
    continue %t, %s2, %c2 : {T}, {T}, {i}
  }}""")
    p.tile_result("%a#0", "first")
    p.tile_result("%a#1", "second")
    p.scalar_result("%a#2")


def _for_steps(p: Program) -> None:
    """Bounds and steps other than 0 and 1; no round at all; unsigned comparison."""
    p.text("""
  %a = for %k in ({m} to {n}, step {two}) : {i} iter_values(%c = {zero}) -> ({i}) {{
    %d = muli %c, {two} : {i}
    %e = addi %d, %k : {i}
    continue %e : {i}
  }}
  %below = subi {zero}, {m} : {i}
  %b = for unsigned %k in (%below to {zero}, step {one}) : {i} iter_values(%c = {m}) -> ({i}) {{
    %d = addi %c, %k : {i}
    continue %d : {i}
  }}
  %f = for %k in (%below to {n}, step {two}) : {i} iter_values(%c = {zero}) -> ({i}) {{
    %d = muli %c, {two} : {i}
    %e = addi %d, %k : {i}
    continue %e : {i}
  }}""")
    for name, label in (("%a", "step two"), ("%b", "unsigned"), ("%f", "from a negative number")):
        p.scalar_result(name, label)


def _for_continue(p: Program) -> None:
    """`continue` from inside branches, with other values."""
    p.text("""
  %a:2 = for %k in ({zero} to {n}, step {one}) : {i}
      iter_values(%s = {x}, %c = {zero}) -> ({T}, {i}) {{
    %q = remi %k, {two} signed : {i}
    %odd = cmpi equal %q, {one}, signed : {i} -> {b}
    if %odd {{
      %late = cmpi greater_than %k, {m}, signed : {i} -> {b}
      if %late {{
        %s1 = subi %s, {y} : {T}
        continue %s1, %c : {T}, {i}
      }}
      %c1 = addi %c, {one} : {i}
      continue %s, %c1 : {T}, {i}
    }}
    %s2 = addi %s, {y} : {T}
    %c2 = addi %c, {two} : {i}
    continue %s2, %c2 : {T}, {i}
  }}""")
    p.tile_result("%a#0")
    p.scalar_result("%a#1")


def _loop_break(p: Program) -> None:
    """Results whose types differ from the carried values'; breaks at two places."""
    p.text("""
  %a:2 = loop iter_values(%k = {zero}, %s = {x}) : {i}, {T} -> {T}, {i} {{
    %done = cmpi greater_than_or_equal %k, {n}, signed : {i} -> {b}
    if %done {{
      break %s, %k : {T}, {i}
    }}
    %s2 = addi %s, {y} : {T}
    %k2 = addi %k, {one} : {i}
    %half = cmpi equal %k2, {m}, signed : {i} -> {b}
    if %half {{
      %far = muli %k2, {two} : {i}
      break {y}, %far : {T}, {i}
    }} else {{
      %q = remi %k2, {two} signed : {i}
      %even = cmpi equal %q, {zero}, signed : {i} -> {b}
      if %even {{
        %s3 = subi %s2, {x} : {T}
        continue %k2, %s3 : {i}, {T}
      }}
    }}
    continue %k2, %s2 : {i}, {T}
  }}""")
    p.tile_result("%a#0")
    p.scalar_result("%a#1")


def _loop_in_for(p: Program) -> None:
    """A `loop` in a `for` in a `for`, each with values of the outer ones."""
    p.text("""
  %a:2 = for %k in ({zero} to {n}, step {one}) : {i}
      iter_values(%s = {x}, %c = {zero}) -> ({T}, {i}) {{
    %in:2 = for %j in (%k to {n}, step {one}) : {i} iter_values(%t = %s, %d = %c) -> ({T}, {i}) {{
      %r:2 = loop iter_values(%u = %t, %e = %j) : {T}, {i} -> {T}, {i} {{
        %stop = cmpi greater_than %e, {m}, signed : {i} -> {b}
        if %stop {{
          break %u, %e : {T}, {i}
        }}
        %u2 = addi %u, {y} : {T}
        %e2 = addi %e, {two} : {i}
        continue %u2, %e2 : {T}, {i}
      }}
      %d2 = addi %d, %r#1 : {i}
      %same = cmpi equal %j, %k, signed : {i} -> {b}
      if %same {{
        continue %r#0, %d : {T}, {i}
      }}
      continue %r#0, %d2 : {T}, {i}
    }}
    continue %in#0, %in#1 : {T}, {i}
  }}""")
    p.tile_result("%a#0")
    p.scalar_result("%a#1")


def _if_results(p: Program) -> None:
    """Results of branches, nested; a branch without else; the same after a leaving branch."""
    p.text("""
  %big = cmpi greater_than {n}, {m}, signed : {i} -> {b}
  %a:2 = if %big -> ({T}, {i}) {{
    %s = addi {x}, {y} : {T}
    %q = remi {n}, {two} signed : {i}
    %odd = cmpi equal %q, {one}, signed : {i} -> {b}
    %t = if %odd -> ({T}) {{
      yield {x} : {T}
    }} else {{
      yield %s : {T}
    }}
    yield %t, {n} : {T}, {i}
  }} else {{
    yield {y}, {m} : {T}, {i}
  }}""")
    p.tile_result("%a#0")
    p.scalar_result("%a#1")


def _returns(p: Program) -> None:
    """`return` from branches; what follows must not run."""
    p.text("%big = cmpi greater_than {n}, {m}, signed : {i} -> {b}")
    p.text("if %big {{")
    p.tile_result(p.x, "before the return")
    p.text("%q = remi {n}, {two} signed : {i}")
    p.text("%odd = cmpi equal %q, {one}, signed : {i} -> {b}")
    p.text("if %odd {{\n return\n }}")
    p.scalar_result(p.n, "after the inner branch")
    p.text("return\n }}")
    p.tile_result(p.y, "after all branches")
    p.scalar_result(p.m, "at the end")


def _returns_in_loop(p: Program) -> None:
    """`return` from a loop in a loop."""
    p.text("loop iter_values(%k = {zero}) : {i} {{\n"
           "%done = cmpi equal %k, {n}, signed : {i} -> {b}\n if %done {{")  # fmt: skip
    p.tile_result(p.x, "before the return")
    p.text("return\n }}\n %far = cmpi equal %k, {m}, signed : {i} -> {b}\n"
           "if %far {{\n break\n }}\n"
           "%k2 = addi %k, {one} : {i}\n continue %k2 : {i}\n }}")  # fmt: skip
    p.tile_result(p.y, "after the loop")
    p.text("""
  %a = for %k in ({zero} to {n}, step {one}) : {i} iter_values(%s = {x}) -> ({T}) {{
    %stop = cmpi equal %k, {two}, signed : {i} -> {b}
    if %stop {{
      return
    }}
    %s2 = addi %s, {y} : {T}
    continue %s2 : {T}
  }}""")
    p.tile_result("%a", "after the for")


def _memory_in_loop(p: Program) -> None:
    """A token goes around: each round reads what other threads wrote in the round before."""
    k = p.kernel
    memory = k.output(numbered((64,), "i32"), "i32", f"memory {p.label}")
    pointers, shape = tile([64], "ptr<i32>"), tile([64], "i32")
    line = k.op(f"iota : {shape}")
    turned = k.op(f"subi {k.full(63, [64], 'i32')}, {line} : {shape}")
    one = k.op(f"reshape {memory} : tile<ptr<i32>> -> {tile([1], 'ptr<i32>')}")
    many = k.op(f"broadcast {one} : {tile([1], 'ptr<i32>')} -> {pointers}")
    straight, reverse = (
        k.op(f"offset {many}, {index} : {pointers}, {shape} -> {pointers}")
        for index in (line, turned)
    )
    start = k.op("make_token : token")
    p.text(f"""
  %end = for %k in ({{zero}} to {{n}}, step {{one}}) : {{i}}
      iter_values(%t = {start}) -> (token) {{{{
    %v, %t1 = load_ptr_tko weak {reverse} token=%t : {pointers} -> {shape}, token
    %w = addi %v, {{x}} : {shape}
    %t2 = store_ptr_tko weak {straight}, %w token=%t1 : {pointers}, {shape} -> token
    continue %t2 : token
  }}}}
  %last, %t3 = load_ptr_tko weak {reverse} token=%end : {pointers} -> {shape}, token""")
    p.tile_result("%last", "read after the loop")


def _layouts_in_loop(p: Program) -> None:
    """Carried tiles that meet transposed, reduced and broadcast ones."""
    p.text("""
  %m8 = reshape {x} : {T} -> tile<8x8xi32>
  %a = for %k in ({zero} to {n}, step {one}) : {i} iter_values(%s = %m8) -> (tile<8x8xi32>) {{
    %t = permute %s [1, 0] : tile<8x8xi32> -> tile<8x8xi32>
    %r = reduce %t dim=0 identities=[0 : i32] : tile<8x8xi32> -> tile<8xi32> (%e: {i}, %c: {i}) {{
      %sum = addi %e, %c : {i}
      yield %sum : {i}
    }}
    %r1 = reshape %r : tile<8xi32> -> tile<8x1xi32>
    %r2 = broadcast %r1 : tile<8x1xi32> -> tile<8x8xi32>
    %u = addi %t, %r2 : tile<8x8xi32>
    %odd = cmpi equal %k, {m}, signed : {i} -> {b}
    %w = if %odd -> (tile<8x8xi32>) {{
      yield %s : tile<8x8xi32>
    }} else {{
      yield %u : tile<8x8xi32>
    }}
    continue %w : tile<8x8xi32>
  }}
  %flat = reshape %a : tile<8x8xi32> -> {T}""")
    p.tile_result("%flat")


_PROGRAMS: tuple[tuple[Callable[[Program], None], tuple[tuple[int, int], ...]], ...] = (
    (_for_carried, ((0, 3), (1, 3), (7, -2))),
    (_for_steps, ((9, 2), (8, 1), (1, 5), (20, 3))),
    (_for_continue, ((0, 2), (9, 4))),
    (_loop_break, ((0, 5), (4, 9), (9, 4), (6, 1))),
    (_loop_in_for, ((4, 3), (5, 7), (0, 1))),
    (_if_results, ((3, 1), (4, 1), (1, 4))),
    (_returns, ((3, 1), (4, 1), (1, 4))),
    (_returns_in_loop, ((3, 5), (5, 3), (2, 1), (1, 0), (9, 4))),
    (_memory_in_loop, ((0, 0), (1, 0), (5, 0))),
    (_layouts_in_loop, ((0, 0), (1, 9), (4, 2))),
)


def _blocks_that_wait() -> Kernel:
    """Each block waits for the one before by a flag, adds to a sum, and raises its own."""
    k = Kernel("blocks_wait", 8)
    flags = k.output(np.zeros(9, np.int32), "i32", "flags")
    total = k.output(np.ones(1, np.int32), "i32", "running value")
    pointer = "tile<ptr<i32>>"
    before = k.op(f"offset {flags}, %bx : {pointer}, tile<i32> -> {pointer}")
    after = k.op(f"offset {before}, {k.scalar(1)} : {pointer}, tile<i32> -> {pointer}")
    k.emit(f"""%first = cmpi equal %bx, {k.scalar(0)}, signed : tile<i32> -> tile<i1>
  %start = make_token : token
  %ready = loop iter_values(%t = %start) : token -> token {{
    %flag, %t1 = load_ptr_tko acquire device {before} token=%t : {pointer} -> tile<i32>, token
    %set = cmpi not_equal %flag, {k.scalar(0)}, signed : tile<i32> -> tile<i1>
    %go = ori %set, %first : tile<i1>
    if %go {{
      break %t1 : token
    }}
    continue %t1 : token
  }}
  %old, %t2 = load_ptr_tko weak {total} token=%ready : {pointer} -> tile<i32>, token
  %twice = muli %old, {k.scalar(2)} : tile<i32>
  %new = addi %twice, %bx : tile<i32>
  %t3 = store_ptr_tko weak {total}, %new token=%t2 : {pointer}, tile<i32> -> token
  %t4 = store_ptr_tko release device {after}, {k.scalar(1)} token=%t3
      : {pointer}, tile<i32> -> token""")
    return k


def kernels() -> Iterator[Kernel]:
    for build, parameters in _PROGRAMS:
        for number, (n, m) in enumerate(parameters):
            program = Program(f"control{build.__name__}{number}", n, m)
            build(program)
            yield program.kernel
    yield _blocks_that_wait()
