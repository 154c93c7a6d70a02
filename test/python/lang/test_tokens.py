"""Accesses to an array happen in the order of the program, others need not wait."""

from __future__ import annotations

import importlib.util
import itertools
import random
from pathlib import Path
from typing import Any

import pytest
from token_checker import TokenChecker

import tileir.lang as ct
from tileir.lang.signature import ArrayParameter, ScalarParameter, Signature

ARRAY = ArrayParameter("i32", 1, static_strides=(1,))


def check(kernel: ct.Kernel, *scalars: int) -> TokenChecker:
    """Checks a kernel whose parameters are arrays, then int32 scalars."""
    num_arrays = len(kernel.parameters) - len(scalars)
    parameters = (ARRAY,) * num_arrays + (ScalarParameter("i32"),) * len(scalars)
    module = kernel.trace(Signature(parameters))
    names = [parameter.name for parameter in kernel.parameters[:num_arrays]]
    words = [word for name in names for word in (name, 64, 1)]
    return TokenChecker(module, *words, *scalars).run()


@ct.kernel
def copy_and_change(a, b, n):
    for i in range(n):
        ct.store(b, (i,), ct.load(a, (i,), (1,)))
        ct.store(a, (i,), ct.load(b, (0,), (1,)))


def test_loops():
    checker = check(copy_and_change, 3)
    assert len(checker.accesses) == 12


@ct.kernel
def only_reads(a, b, n):
    for i in range(n):
        x = ct.load(a, (i,), (1,)) + ct.load(b, (i,), (1,))
        x = x + ct.load(a, (i + 1,), (1,))


def test_loads_wait_for_nothing():
    checker = check(only_reads, 4)
    assert all(not waited for waited in checker.waited)
    module = only_reads.trace(Signature((ARRAY, ARRAY, ScalarParameter("i32"))))
    assert "iter_values" not in str(module)


@ct.kernel
def rows(a, b, n):
    for i in range(n):
        ct.store(b, (i,), ct.load(a, (i,), (1,)))


def test_rounds_that_store_apart_do_not_wait():
    checker = check(rows, 4)
    assert all(not waited for waited in checker.waited)


@ct.kernel
def rows_then_read(a, b, n, m):
    for _ in range(m):
        for i in range(n):
            ct.store(b, (i,), ct.load(a, (i,), (1,)))
        ct.store(a, (0,), ct.load(b, (n - 1,), (1,)))


def test_what_follows_waits_for_all_rounds():
    check(rows_then_read, 3, 2)


@ct.kernel
def choose_array(a, b, n):
    for i in range(n):
        x = a if i == 1 else b
        ct.store(x, (0,), i)
        ct.store(b, (1,), ct.load(a, (0,), (1,)))


@ct.kernel
def swap_arrays(a, b, n):
    source, target = a, b
    for _ in range(n):
        ct.store(target, (0,), ct.load(source, (0,), (1,)))
        source, target = target, source


@pytest.mark.parametrize("kernel", [choose_array, swap_arrays], ids=lambda kernel: kernel.name)
def test_an_array_that_may_be_one_of_several(kernel):
    module = kernel.trace(Signature((ARRAY, ARRAY, ScalarParameter("i32"))))
    TokenChecker(module, "a", 64, 1, "b", 64, 1, 4).run()


@ct.kernel
def early_exits(a, b, n):
    for i in range(10):
        ct.store(a, (0,), i)
        if i == n:
            ct.store(b, (0,), ct.load(a, (0,), (1,)))
            continue
        while True:
            x = ct.load(a, (0,), (1,))
            if i > 2:
                ct.store(b, (0,), x)
                break
            if i == 1:
                return
            i += 1
        if i == 5:
            break
    ct.store(b, (0,), ct.load(a, (0,), (1,)))


@pytest.mark.parametrize("n", [0, 1, 3, 8])
def test_early_exits(n):
    check(early_exits, n)


class Writer:
    """Writes random kernels that touch arrays `a` and `b` under nested control flow."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names = itertools.count()

    def kernel(self) -> str:
        self.block(1, 0, [])
        body = "\n".join(self.lines)
        return f"import tileir.lang as ct\n\n@ct.kernel\ndef k(a, b, n, m):\n{body}\n"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, depth: int, loops: int, indices: list[str]) -> None:
        for _ in range(self.random.randint(1, 4)):
            self.statement(depth, loops, indices)

    def condition(self, indices: list[str]) -> str:
        names = ["n", "m", *indices]
        return f"{self.random.choice(names)} {self.random.choice('<>')} {self.random.randint(0, 3)}"

    def statement(self, depth: int, loops: int, indices: list[str]) -> None:
        kind = self.random.random()
        array, other = self.random.sample("ab", 2)
        place = self.random.choice(["0", "1", "n", *indices])
        if kind < 0.25 or depth > 5:
            self.line(depth, f"ct.store({array}, ({place},), ct.load({other}, (1,), (1,)))")
        elif kind < 0.4:
            self.line(depth, f"ct.store({array}, ({place},), {self.random.randint(0, 9)})")
        elif kind < 0.5:
            self.line(depth, f"ct.store(b, (7,), ct.load({array}, ({place},), (1,)))")
        elif kind < 0.75:
            self.line(depth, f"if {self.condition(indices)}:")
            self.block(depth + 1, loops, indices)
            if loops and self.random.random() < 0.3:
                self.line(depth + 1, self.random.choice(["break", "continue"]))
            elif self.random.random() < 0.1:
                self.line(depth + 1, "return")
            if self.random.random() < 0.5:
                self.line(depth, "else:")
                self.block(depth + 1, loops, indices)
        elif loops == 2:
            self.line(depth, f"ct.store({array}, (2,), ct.load({array}, ({place},), (1,)))")
        else:
            name = f"i{next(self.names)}"
            if self.random.random() < 0.6:
                self.line(depth, f"for {name} in range({self.random.choice(['3', 'n', 'm'])}):")
                self.block(depth + 1, loops + 1, [*indices, name])
            else:
                self.line(depth, f"{name} = 0")
                self.line(depth, f"while {name} < {self.random.choice(['2', 'n'])}:")
                self.line(depth + 1, f"{name} += 1")
                self.block(depth + 1, loops + 1, [*indices, name])


@pytest.mark.parametrize("seed", range(24))
def test_random_kernels(seed: int, tmp_path: Path):
    source = Writer(seed).kernel()
    path = tmp_path / "kernel.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("random_kernel", path)
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for n, m in ((0, 2), (2, 3), (3, 1)):
        check(module.k, n, m)
