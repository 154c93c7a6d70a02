"""Globals, scratch memory, promises, dependent launches, printing and assertions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .kernel import Kernel, tile
from .pointers import Pointers
from .shapes import ELEMENTS, listed, numbered
from .values import FLOATS, INTEGERS, WIDTH


def _globals(element: str) -> Kernel:
    """A table that is read; a variable that is read, written and read again."""
    p = Pointers("global", element)
    k, count = p.kernel, 64
    values = numbered((count,), element)
    text = listed(values, element)
    value = f"<{element}: {text}> : {tile([count], element)}"
    k.globals.append(f"global private constant @table_{element} alignment = 16 {value}")
    k.globals.append(f"global @variable_{element} {value}")
    line = p.line(count)
    table = k.op(f"get_global @table_{element} : tile<ptr<{element}>>")
    x, _ = p.load(p.at(table, line, [count]), [count])
    p.judge(x, [count], "table")
    variable = k.op(f"get_global @variable_{element} : tile<ptr<{element}>>")
    pointers = p.at(variable, line, [count])
    y, token = p.load(pointers, [count])
    p.judge(y, [count], "variable")
    reverse = k.op(f"subi {k.full(count - 1, [count], 'i32')}, {line} : {tile([count], 'i32')}")
    token = p.store(p.at(variable, reverse, [count]), y, [count], token=token)
    z, token = p.load(pointers, [count], token=token)
    p.judge(z, [count], "variable reversed")
    p.store(pointers, x, [count], token=token)  # as it was, for launches to come
    return k


def _scratch(element: str) -> Iterator[Kernel]:
    """alloca: a tile passes through memory to other threads; several blocks, several places."""
    for where in ("", " global"):
        p = Pointers(f"alloca{where.replace(' ', '_')}", element)
        k, count = p.kernel, 128
        k.grid = (4, 1, 1)
        line = p.line(count)
        reverse = k.op(f"subi {k.full(count - 1, [count], 'i32')}, {line} : {tile([count], 'i32')}")
        data = numbered((4 * count,), element)
        value = k.load(data, element)
        for alignment in (16, 128):
            memory = k.op(f"alloca num_elem = {count}, alignment = {alignment}{where} : "
                          f"tile<ptr<{element}>>")  # fmt: skip
            token = p.store(p.at(memory, line, [count]), value, [count])
            x, _ = p.load(p.at(memory, reverse, [count]), [count], token=token)
            p.judge(x, [4 * count], f"scratch{where} aligned to {alignment}")
        yield k


def _dependent_launch() -> Kernel:
    p = Pointers("dependent_launch", "i32")
    k, data = p.kernel, numbered((64,), "i32")
    wait = k.op("gdc_wait_tko -> token")
    x, token = p.load(p.at(k.pointer(data, "i32"), p.line(64), [64]), [64], token=wait)
    k.emit(f"{k.fresh('t')} = gdc_launch_dependents_tko token = {token} -> token")
    p.judge(x, [64], "after waiting")
    return k


def _tokens() -> Kernel:
    """Two stores, both before what reads them; a fence between two views of the same memory."""
    p = Pointers("tokens", "i32")
    k, count = p.kernel, 64
    line = p.line(count)
    memory = k.op(f"alloca num_elem = {2 * count}, alignment = 16 : tile<ptr<i32>>")
    upper = k.op(f"addi {line}, {k.full(count, [count], 'i32')} : {tile([count], 'i32')}")
    first = p.store(p.at(memory, line, [count]), line, [count])
    second = p.store(p.at(memory, upper, [count]), upper, [count])
    both = k.op(f"join_tokens {first}, {second} : token")
    fenced = k.op(f"memory_fence_alias_tko {both}")
    for name, at in (("first", line), ("second", upper)):
        x, _ = p.load(p.at(memory, at, [count]), [count], token=fenced)
        p.judge(x, [count], f"{name} of two stores")
    return k


def _promises() -> Kernel:
    """assume of every kind changes nothing."""
    k = Kernel("assume")
    x = k.load((np.arange(64) * 16).astype(np.int32), "i32")
    shape = tile([64], "i32")
    for predicate in ("div_by<16>", "bounded<0, 4096>", "bounded<?, ?>", "same_elements<[1]>"):
        x = k.op(f"assume {predicate}, {x} : {shape}")
    line = k.op(f"iota : {shape}")
    runs = k.op(f"assume div_by<8, every 8 along 0>, {line} : {shape}")
    k.store(k.op(f"addi {x}, {runs} : {shape}"), "i32", (64,), "assume")
    return k


def _assertions() -> Kernel:
    k = Kernel("assert_holds")
    x = k.load(np.arange(256, dtype=np.int32), "i32")
    limit = k.full(256, [256], "i32")
    below = k.op(
        f"cmpi less_than {x}, {limit}, signed : {tile([256], 'i32')} -> {tile([256], 'i1')}"
    )
    k.emit(f'assert {below}, "below 256: 100% \\"sure\\"" : {tile([256], "i1")}')
    k.emit(f'assert {k.number(1, "i1")}, "scalar" : tile<i1>')
    k.store(x, "i32", (256,), "after the assertion")
    return k


_INTEGER_FORMATS = ("%d", "%i", "%u", "%x", "%X", "%o", "%5d", "%-6d|", "%+d", "%05d", "%.3d",
                    "% d", "%#x", "%#o", "%ld", "%lld", "%hhd")  # fmt: skip
_FLOAT_FORMATS = ("%f", "%e", "%g", "%8.3f", "%-10.2e|", "%+g", "%.0f", "%G", "%E")


class Printing:
    """A kernel that prints, one line after another."""

    def __init__(self, name: str):
        self.kernel = Kernel(name)
        self.kernel.prints = True
        self.kernel.grid = (1, 1, 1)
        self._token = self.kernel.op("make_token : token")

    def print(self, text: str, *operands: tuple[str, str]) -> None:
        k = self.kernel
        names = "".join(f", {name}" for name, _ in operands)
        types = " : " + ", ".join(type_ for _, type_ in operands) if operands else ""
        token = k.fresh("t")
        k.emit(f'{token} = print_tko "{text}\\0A"{names} token={self._token}{types} -> token')
        self._token = token


def _prints_scalars() -> Iterator[Kernel]:
    for element in ("i1", *INTEGERS):
        p = Printing(f"print_{element}")
        values = (0, 1) if element == "i1" else (0, 5, -3, -(1 << (WIDTH[element] - 1)))
        for value in values:
            name = p.kernel.number(value, element)
            for format_ in _INTEGER_FORMATS:
                p.print(f"{element} {format_}", (name, f"tile<{element}>"))
        yield p.kernel
    for element in FLOATS:
        p = Printing(f"print_{element}")
        for value in (0.0, -1.5, 3.140625, 65000.0 if element == "f16" else 1e20, 6e-5):
            name = p.kernel.number(value, element)
            for format_ in _FLOAT_FORMATS:
                p.print(f"{element} {format_}", (name, f"tile<{element}>"))
        yield p.kernel


def _prints_text() -> Kernel:
    p = Printing("print_text")
    n, x = p.kernel.number(42, "i32"), p.kernel.number(2.5, "f64")
    p.print("no operands, 100%% of them")
    p.print("%d%%, %f and %x", (n, "tile<i32>"), (x, "tile<f64>"), (n, "tile<i32>"))
    p.print("integers of floats %d, floats of integers %f", (x, "tile<f64>"), (n, "tile<i32>"))
    p.print(
        "letters %c%c",
        (p.kernel.number(72, "i8"), "tile<i8>"),
        (p.kernel.number(105, "i32"), "tile<i32>"),
    )
    return p.kernel


def _prints_as_before() -> Kernel:
    """`print` of bytecode 13.1, which has no token."""
    p = Printing("print_without_token")
    number = p.kernel.number(42, "i32")
    p.kernel.emit(f'print "%d and a line\\0A", {number} : tile<i32>')
    return p.kernel


def _prints_tiles() -> Iterator[Kernel]:
    for element in ("i1", *INTEGERS, *FLOATS):
        p = Printing(f"print_tile_{element}")
        letter = "%g" if element in FLOATS else "%d"
        for shape in ((1,), (8,), (2, 4), (1, 2, 4), (2, 1, 8), (64,)):
            data = np.arange(int(np.prod(shape))).reshape(shape)
            if element == "i1":
                data = data % 3 == 0
            x = p.kernel.load(data.astype(numbered(shape, element).dtype), element)
            p.print(f"{element} {shape}: {letter}", (x, tile(shape, element)))
            p.print(f"{letter} then {letter}", (x, tile(shape, element)), (x, tile(shape, element)))
        yield p.kernel


def kernels() -> Iterator[Kernel]:
    for element in ELEMENTS:
        yield _globals(element)
    for element in ("i1", "f16", "f64", "f8E5M2"):
        yield from _scratch(element)
    yield _dependent_launch()
    yield _tokens()
    yield _promises()
    yield _assertions()
    yield from _prints_scalars()
    yield _prints_text()
    yield _prints_as_before()
    yield from _prints_tiles()
