"""Writes random kernels: scalars under nested control flow, functions that return early."""

from __future__ import annotations

import itertools
import random

NAMES = "abcde"


class ProgramWriter:
    """One random program a seed. All of it is Python, too, and ends."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.counters = itertools.count()
        self.functions: list[str] = []
        self.limit = 0

    def program(self) -> str:
        for index in range(self.random.randint(0, 2)):
            self.limit = len(self.lines) + 15
            self.function(f"f{index}")
        self.limit = len(self.lines) + 50
        self.line(0, "@ct.kernel")
        self.line(0, "def k(out, a, b, N: ct.Constant[int]):")
        self.line(1, "c, d, e = 1, a, N")
        self.block(1, 0, in_function=False)
        for index, name in enumerate(NAMES):
            self.line(1, f"ct.store(out, ({index},), {name})")
        return "import tileir.lang as ct\n\n" + "\n".join(self.lines) + "\n"

    def function(self, name: str) -> None:
        self.line(0, f"def {name}(a, b, N=2):")
        self.line(1, "c, d, e = 3, b, a")
        self.block(1, 0, in_function=True)
        self.line(1, f"return {self.expression()}")
        self.line(0, "")
        self.functions.append(name)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def expression(self) -> str:
        x, y = self.random.choice(NAMES), self.random.choice(NAMES)
        choice = self.random.randint(0, 9)
        if choice == 0 and self.functions:
            return f"{self.random.choice(self.functions)}({x}, {y})"
        if choice == 1:
            return f"{x} if {self.condition()} else {y}"
        if choice == 2:
            return str(self.random.randint(0, 5))
        if choice == 3:
            return f"({x} * 3 + {y}) % 17"
        if choice == 4:
            return f"min({x}, {y})"
        return f"({x} + {self.random.choice(['1', '2', y])}) % 101 - {self.random.randint(0, 4)}"

    def condition(self) -> str:
        x, y = self.random.choice(NAMES), self.random.choice([*NAMES, "2", "5", "N"])
        simple = f"{x} {self.random.choice(['<', '>', '<=', '==', '!='])} {y}"
        choice = self.random.randint(0, 7)
        if choice == 0:
            return f"{simple} and {self.random.choice(NAMES)} > 1"
        if choice == 1:
            return f"not {simple} or {self.random.choice(NAMES)} < 4"
        if choice == 2:
            return f"0 < {x} < {y}"
        if choice == 3:
            return f"N {self.random.choice('<>')} {self.random.randint(0, 4)}"
        return simple

    def block(self, depth: int, loops: int, *, in_function: bool) -> None:
        for _ in range(self.random.randint(1, 4)):
            self.statement(depth, loops, in_function)

    def statement(self, depth: int, loops: int, in_function: bool) -> None:
        kind = self.random.random()
        if kind < 0.45 or depth > 5 or len(self.lines) > self.limit:
            name = self.random.choice(NAMES)
            if self.random.random() < 0.2:
                other = self.random.choice(NAMES)
                self.line(depth, f"{name}, {other} = {self.expression()}, {self.expression()}")
            else:
                self.line(depth, f"{name} = {self.expression()}")
        elif kind < 0.75:
            self.line(depth, f"if {self.condition()}:")
            self.branch(depth + 1, loops, in_function)
            if self.random.random() < 0.3:
                self.line(depth, f"elif {self.condition()}:")
                self.branch(depth + 1, loops, in_function)
            if self.random.random() < 0.5:
                self.line(depth, "else:")
                self.branch(depth + 1, loops, in_function)
        elif loops < 2:
            self.loop(depth, loops, in_function)
        else:
            self.line(depth, f"{self.random.choice(NAMES)} -= {self.random.randint(1, 3)}")

    def branch(self, depth: int, loops: int, in_function: bool) -> None:
        self.block(depth, loops, in_function=in_function)
        chance = self.random.random()
        if loops and chance < 0.25:
            self.line(depth, self.random.choice(["break", "continue"]))
        elif chance > 0.88:
            self.line(depth, f"return {self.expression()}" if in_function else "return")

    def loop(self, depth: int, loops: int, in_function: bool) -> None:
        counter = f"i{next(self.counters)}"
        kind = self.random.random()
        if kind < 0.5:
            bound = self.random.choice(["3", "min(a, 4)", "N"])
            self.line(depth, f"for {counter} in range({bound}):")
            self.line(depth + 1, f"{self.random.choice(NAMES)} += {counter}")
        elif kind < 0.6:
            self.line(depth, f"for {counter} in ct.static_iter(range(N)):")
            self.line(depth + 1, f"{self.random.choice(NAMES)} += {counter}")
            for _ in range(2):
                self.line(depth + 1, f"{self.random.choice(NAMES)} = {self.expression()}")
            return
        else:
            self.line(depth, f"{counter} = 0")
            self.line(depth, f"while {counter} < 4 and ({self.condition()}):")
            self.line(depth + 1, f"{counter} += 1")
        self.block(depth + 1, loops + 1, in_function=in_function)
