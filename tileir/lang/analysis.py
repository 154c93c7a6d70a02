"""What is known of a function from its syntax alone, computed once for each function.

Control flow in SSA form needs to know which names a loop or branch may change and which of them
are read later.  The answers are kept in `Facts`, one for each `if`, `for` and `while`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

Names = frozenset[str]
_NONE: Names = frozenset()

Loop = ast.For | ast.While
Scope = ast.FunctionDef | ast.Lambda


@dataclass(slots=True)
class Facts:
    """Of one `if`, `for` or `while`, in the order in which names are first assigned.

    `assigned` are names that its body may change.  `results` are those of them that may be read
    after it; `carried` those that a round of a loop may read before it assigns them, or that may be
    read after the loop.
    """

    assigned: tuple[str, ...]
    results: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()


@dataclass(slots=True)
class FunctionFacts:
    """Of a whole function.

    `locals` are names that it assigns.  `structured` says that each `return` ends the function
    in such a way that nested branches suffice to express it.  `is_generator` that it has `yield`.
    """

    locals: Names
    structured: bool
    is_generator: bool
    statements: dict[ast.stmt, Facts] = field(default_factory=dict)
    may_return: set[ast.stmt] = field(default_factory=set)


def analyse(function: Scope) -> FunctionFacts:
    """All facts of a function; nested functions are analysed when they are defined."""
    if isinstance(function, ast.Lambda):
        return FunctionFacts(frozenset(parameter_names(function)), True, False)
    body = function.body
    assigned = _assigned(body)
    facts = FunctionFacts(
        frozenset(assigned) | frozenset(parameter_names(function)),
        structured(body),
        any(isinstance(node, ast.Yield) for node in walk_scope(body)),
    )
    facts.may_return.update(
        node for node in walk_scope(body) if isinstance(node, ast.stmt) and _has_return(node)
    )
    _Liveness(facts, _captured(body) & facts.locals).block(body, _NONE, None)
    return facts


def parameter_names(function: Scope) -> list[str]:
    """In the order in which they are declared, `*args` and `**kwargs` included."""
    arguments = function.args
    names = [*arguments.posonlyargs, *arguments.args]
    if arguments.vararg:
        names.append(arguments.vararg)
    names += arguments.kwonlyargs
    if arguments.kwarg:
        names.append(arguments.kwarg)
    return [name.arg for name in names]


def walk_scope(nodes: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """All nodes in the order of the text, without the bodies of nested functions."""
    stack = list(nodes)[::-1]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            stack += [*node.args.defaults, *filter(None, node.args.kw_defaults)][::-1]
        else:
            stack += list(ast.iter_child_nodes(node))[::-1]


def _assigned(nodes: Iterable[ast.AST]) -> tuple[str, ...]:
    """Names that statements or expressions bind; the targets of comprehensions are their own."""
    found: dict[str, None] = {}
    own: set[ast.AST] = set()
    for node in walk_scope(nodes):
        if isinstance(node, ast.comprehension):
            own.update(ast.walk(node.target))
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = None
    for node in walk_scope(nodes):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            # A dictionary gets a new item: the name stands for another dictionary then.
            node = node.value
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            continue
        if isinstance(node, ast.Name) and node not in own:
            found.setdefault(node.id)
    return tuple(found)


def _captured(body: Sequence[ast.stmt]) -> Names:
    """Names that nested functions may read at any time after they are defined."""
    nested = [node for node in walk_scope(body) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    return frozenset().union(*(free_names(function) for function in nested))


def free_names(function: Scope) -> Names:
    """Names that a function, or one nested in it, reads and does not bind itself."""
    own = set(parameter_names(function))
    inner = function.body if isinstance(function, ast.FunctionDef) else [function.body]
    own.update(_assigned(inner))
    read = {
        node.id
        for node in walk_scope(inner)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    for node in walk_scope(inner):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            read |= free_names(node)
    return frozenset(read - own)


def always_exits(body: Sequence[ast.stmt]) -> bool:
    """Whether control never reaches the end of `body`, because it returns before."""
    for statement in body:
        if isinstance(statement, ast.Return | ast.Raise):
            return True
        if isinstance(statement, ast.If):
            if always_exits(statement.body) and always_exits(statement.orelse):
                return True
        elif isinstance(statement, ast.With) and always_exits(statement.body):
            return True
    return False


def structured(body: Sequence[ast.stmt]) -> bool:
    """Whether the returns in `body` can be expressed by nesting what follows an `if` into the
    branch that does not return."""
    for index, statement in enumerate(body):
        if not _has_return(statement) or isinstance(statement, ast.Return):
            continue
        rest = body[index + 1 :]
        if isinstance(statement, ast.With):
            return not rest and structured(statement.body)
        if not isinstance(statement, ast.If):
            return False
        then, otherwise = statement.body, statement.orelse
        if not rest:
            return structured(then) and structured(otherwise)
        if always_exits(then):
            return structured(then) and structured([*otherwise, *rest])
        if always_exits(otherwise):
            return structured([*then, *rest]) and structured(otherwise)
        return False
    return True


def _has_return(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Return) for node in walk_scope([statement]))


@dataclass(slots=True)
class _LoopExits:
    """What may be read after a `break` and after a `continue`."""

    after_break: Names
    after_continue: Names


class _Liveness:
    """Which names may be read later, statement by statement, backwards.

    `always` may be read at any time: names that nested functions capture.
    """

    def __init__(self, facts: FunctionFacts, always: Names):
        self._facts = facts
        self._always = always

    def block(self, body: Sequence[ast.stmt], after: Names, loop: _LoopExits | None) -> Names:
        for statement in reversed(body):
            after = self._statement(statement, after, loop)
        return after

    def _statement(self, node: ast.stmt, after: Names, loop: _LoopExits | None) -> Names:
        match node:
            case ast.If():
                return self._if(node, after, loop)
            case ast.For() | ast.While():
                return self._loop(node, after)
            case ast.With():
                bound, read = _bound_and_read(node.items)
                return (self.block(node.body, after, loop) - bound) | read
            case ast.Break():
                return loop.after_break if loop else _NONE
            case ast.Continue():
                return loop.after_continue if loop else _NONE
            case ast.Return() | ast.Raise():
                return _bound_and_read([node])[1]
            case ast.AugAssign(target=ast.Name(id=name)):
                return after | _bound_and_read([node])[1] | {name}
            case ast.FunctionDef():
                return (after - {node.name}) | free_names(node) | _bound_and_read([node])[1]
        bound, read = _bound_and_read([node])
        return (after - bound) | read

    def _if(self, node: ast.If, after: Names, loop: _LoopExits | None) -> Names:
        names = _assigned([*node.body, *node.orelse])
        self._facts.statements[node] = Facts(names, self._chosen(names, after))
        branches = self.block(node.body, after, loop) | self.block(node.orelse, after, loop)
        return branches | _bound_and_read([node.test])[1]

    def _loop(self, node: Loop, after: Names) -> Names:
        if isinstance(node, ast.For):
            read, bound = _bound_and_read([node.iter])[1], _bound_and_read([node.target])[0]
            names = _assigned([node.target, *node.body])
            top = after
        else:
            read, bound = _bound_and_read([node.test])[1], _NONE
            names = _assigned([node.test, *node.body])
            endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
            top = _NONE if endless else after | read
        while True:
            wider = top | (self.block(node.body, top, _LoopExits(after, top)) - bound)
            if wider == top:
                break
            top = wider
        self._facts.statements[node] = Facts(
            names, self._chosen(names, after), self._chosen(names, top)
        )
        return top | read

    def _chosen(self, names: tuple[str, ...], live: Names) -> tuple[str, ...]:
        return tuple(name for name in names if name in live or name in self._always)


def _bound_and_read(nodes: Iterable[ast.AST]) -> tuple[Names, Names]:
    """Names that simple statements or expressions certainly bind, and that they may read."""
    bound: set[str] = set()
    read: set[str] = set()
    for node in walk_scope(nodes):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.Lambda):
            read |= free_names(node)
    for node in walk_scope(nodes):
        # What stands in a comprehension, or after `and`, may not be evaluated.
        if isinstance(node, ast.comprehension | ast.NamedExpr):
            bound -= {name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)}
    return frozenset(bound), frozenset(read)
