"""From a Python function to its syntax tree, with real positions, once for each function."""

from __future__ import annotations

import ast
import inspect
import linecache
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType

from .analysis import FunctionFacts, Scope, analyse, free_names, parameter_names
from .errors import SourceRange, TileSyntaxError


@dataclass(eq=False)
class FunctionSource:
    """The syntax tree of a function, where it stands, and what is known of it."""

    name: str
    file: str
    node: Scope

    @cached_property
    def facts(self) -> FunctionFacts:
        """What its syntax says of its names."""
        return analyse(self.node)

    @cached_property
    def body(self) -> list[ast.stmt]:
        """Its statements; a lambda is one `return`."""
        if isinstance(self.node, ast.FunctionDef):
            return self.node.body
        expression = self.node.body
        return [ast.copy_location(ast.Return(expression), expression)]

    @cached_property
    def parameters(self) -> list[str]:
        """The names of its parameters, in order."""
        return parameter_names(self.node)

    @cached_property
    def free_names(self) -> list[str]:
        """Names that it reads and does not bind, in order."""
        return sorted(free_names(self.node))

    @cached_property
    def normalized(self) -> str:
        """Its text without comments and layout."""
        return ast.unparse(self.node)

    def place(self, node: ast.AST) -> SourceRange:
        """Where a node stands; columns count characters from 1."""
        line = getattr(node, "lineno", self.node.lineno)
        start = getattr(node, "col_offset", self.node.col_offset)
        end = getattr(node, "end_col_offset", None) or start + 1
        text = linecache.getline(self.file, line)
        if getattr(node, "end_lineno", line) != line:
            end = len(text.rstrip().encode())
        return SourceRange(
            self.file, line, _characters(text, start) + 1, _characters(text, end) + 1, self.name
        )


def _characters(line: str, offset: int) -> int:
    """Python counts columns in UTF-8 bytes."""
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="ignore"))


_by_code: dict[int, tuple[CodeType, FunctionSource]] = {}


def source_of(function: FunctionType) -> FunctionSource:
    """The source of a function. Raises `TileSyntaxError` if there is none."""
    code = function.__code__
    known = _by_code.get(id(code))
    if known is not None:
        return known[1]
    source = FunctionSource(function.__name__, code.co_filename, _find(code))
    # The code object is kept, so that no other can get its id.
    _by_code[id(code)] = code, source
    return source


_trees: dict[str, tuple[list[str], dict[int, list[Scope]]]] = {}


def _functions(file: str) -> dict[int, list[Scope]] | None:
    """The functions of a file by the line that their code begins with; None without a source."""
    linecache.checkcache(file)
    lines = linecache.getlines(file)
    known = _trees.get(file)
    if known is not None and known[0] is lines:
        return known[1]
    if not lines:
        return None
    try:
        tree = ast.parse("".join(lines), file)
    except SyntaxError:
        return None
    found: dict[int, list[Scope]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
            first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
            found.setdefault(first, []).append(node)
    _trees[file] = lines, found
    return found


def _find(code: CodeType) -> Scope:
    functions = _functions(code.co_filename)
    if functions is None:
        raise TileSyntaxError(
            f"the source of '{code.co_name}' cannot be read ({code.co_filename})",
            remedy="kernels are compiled from their source: put the function in a file, "
            "or a notebook cell",
        )
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise TileSyntaxError(
            f"'{code.co_name}' is async, which functions of kernels cannot be",
            remedy="write `def`",
        )
    named = [node for node in functions.get(code.co_firstlineno, []) if _fits(node, code)]
    if not named:
        raise TileSyntaxError(
            f"'{code.co_name}' is not in line {code.co_firstlineno} of {code.co_filename}",
            remedy="the file has changed since it was imported: import it again",
        )
    return named[0] if len(named) == 1 else min(named, key=lambda node: _distance(node, code))


def _fits(node: Scope, code: CodeType) -> bool:
    name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
    return name == code.co_name and set(parameter_names(node)) <= set(code.co_varnames)


def _distance(node: Scope, code: CodeType) -> int:
    """How far the code of a lambda begins from the body of `node`: several may share a line."""
    body = node.body if isinstance(node, ast.Lambda) else node
    starts = [
        abs(column - body.col_offset)
        for line, _, column, _ in code.co_positions()
        if line == body.lineno and column is not None and column >= body.col_offset
    ]
    return min(starts, default=1 << 30)
