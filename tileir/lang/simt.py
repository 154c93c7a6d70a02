"""Kernels written for threads, and what they are when they work on tiles.

A kernel in the style of CUDA C or Numba computes one element in each thread:

    i = ct.bid(0) * BLOCK + ct.tid(0)
    if i < x.shape[0]:
        out[i] = x[i] * 2

`tile_kernel` rewrites the text of such a kernel, for a message that shows what to write instead.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

#: Functions of the language that speak of threads.
_THREAD_WORDS = frozenset({"tid", "block_dim"})
_SIZES = ("TILE", "TILE_1", "TILE_2")


def uses_block_dim(function: ast.AST) -> bool:
    """Whether the size of a block is asked for somewhere in a function."""
    return any(_called(node) == "block_dim" for node in ast.walk(function))


def numbers_elements(function: ast.AST) -> bool:
    """Whether blocks or threads are numbered to index arrays, so that `tile_kernel` helps."""
    return isinstance(function, ast.FunctionDef) and bool(_thread_indices(function.body))


def _called(node: ast.AST) -> str | None:
    """The name of the function that is called: `tid` for `ct.tid(0)`."""
    if not isinstance(node, ast.Call):
        return None
    function = node.func
    return getattr(function, "attr", None) or getattr(function, "id", None)


def tile_kernel(function: ast.FunctionDef) -> str:
    """The text of a kernel on tiles that does what one on threads does, as far as it is clear: each
    index becomes the number of a block, elements become tiles, tests of bounds go."""
    function = copy.deepcopy(function)
    rewrite = _Rewrite(_thread_indices(function.body))
    body = [each for statement in function.body for each in rewrite.statement(statement)]
    used = sorted(rewrite.axes.values())
    sizes = [_SIZES[axis] for axis in used]
    parameters = [ast.unparse(argument) for argument in function.args.args]
    parameters += [f"{size}: ct.Constant[int]" for size in sizes if size not in parameters]
    lines = ["@ct.kernel", f"def {function.name}({', '.join(parameters)}):"]
    lines += [f"    {name} = ct.bid({axis})" for name, axis in rewrite.axes.items()]
    lines += [f"    {line}" for each in body for line in ast.unparse(each).split("\n")]
    return "\n".join(lines)


def _thread_indices(body: Sequence[ast.stmt]) -> dict[str, int]:
    """Names that number threads over all blocks, with their axis of the grid."""
    found: dict[str, int] = {}
    parts: dict[str, int] = {}
    for statement in body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            continue
        name, value = statement.targets[0].id, statement.value
        calls = {_called(node) for node in ast.walk(value)}
        names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        if isinstance(value, ast.BinOp) and (_THREAD_WORDS & calls or parts.keys() & names):
            axes = [parts[each] for each in names if each in parts]
            found[name] = _axis(value, axes[0] if axes else len(found))
        elif {*_THREAD_WORDS, "bid"} & calls:
            parts[name] = _axis(value, len(parts))
    indexed = {
        node.id
        for statement in body
        for subscript in ast.walk(statement)
        if isinstance(subscript, ast.Subscript)
        for node in ast.walk(subscript.slice)
        if isinstance(node, ast.Name)
    }
    return found | {name: axis for name, axis in parts.items() if name in indexed}


def _axis(expression: ast.AST, default: int) -> int:
    """The axis that a call in an expression names."""
    for node in ast.walk(expression):
        if _called(node) in ("bid", "tid") and isinstance(node, ast.Call) and node.args:
            argument = node.args[0]
            if isinstance(argument, ast.Constant) and argument.value in (0, 1, 2):
                return argument.value
    return min(default, 2)


class _Rewrite(ast.NodeTransformer):
    """Statements on elements as statements on tiles."""

    def __init__(self, axes: dict[str, int]):
        self.axes = axes

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.Assign) and self._only_numbers_threads(node):
            return []
        if isinstance(node, ast.If) and self._tests_bounds(node.test) and not node.orelse:
            if all(isinstance(each, ast.Return) for each in node.body):
                return []
            return [each for inner in node.body for each in self.statement(inner)]
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            return [self._store(node.targets[0], self.visit(node.value))]
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
            before = self._load(node.target)
            value = ast.BinOp(before, node.op, self.visit(node.value))
            return [self._store(node.target, value)]
        return [self.visit(node)]

    def _only_numbers_threads(self, node: ast.Assign) -> bool:
        target = node.targets[0]
        calls = {_called(each) for each in ast.walk(node.value)}
        named = isinstance(target, ast.Name) and target.id in self.axes
        return named or bool(calls & {"tid", "block_dim", "bid"})

    def _tests_bounds(self, test: ast.expr) -> bool:
        names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
        return bool(names & self.axes.keys())

    def _entries(self, subscript: ast.Subscript) -> list[ast.expr]:
        index = subscript.slice
        return list(index.elts) if isinstance(index, ast.Tuple) else [index]

    def _shape(self, entries: Sequence[ast.expr]) -> str:
        sizes = [
            _SIZES[self.axes[entry.id]]
            if isinstance(entry, ast.Name) and entry.id in self.axes
            else "1"
            for entry in entries
        ]
        return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"

    def _index(self, entries: Sequence[ast.expr]) -> str:
        texts = [ast.unparse(entry) for entry in entries]
        return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"

    def _load(self, subscript: ast.Subscript) -> ast.expr:
        entries = self._entries(subscript)
        array = ast.unparse(subscript.value)
        text = f"ct.load({array}, {self._index(entries)}, {self._shape(entries)})"
        return ast.parse(text, mode="eval").body

    def _store(self, subscript: ast.Subscript, value: ast.expr) -> ast.stmt:
        array, index = ast.unparse(subscript.value), self._index(self._entries(subscript))
        return ast.parse(f"ct.store({array}, {index}, {ast.unparse(value)})").body[0]

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        names = {each.id for each in ast.walk(node.slice) if isinstance(each, ast.Name)}
        return self._load(node) if names & self.axes.keys() else node
