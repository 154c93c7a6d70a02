"""The interpreter: walks the syntax tree of a kernel and builds the IR.

What is known at compile time is computed by Python; run-time values are built by the functions
of the language, which are ordinary Python functions.  Functions of the kernel's author are walked
as well, wherever they are called.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable
from typing import Any

from ..errors import TileError
from . import calls, control_flow, expressions
from .builder import Builder
from .errors import TileInternalError, TileRecursionError, TileSourceError, TileSyntaxError
from .frames import Frame
from .recursion import deep_recursion
from .signals import Signal

Handler = Callable[["Interpreter", Any], Any]

_EXPRESSIONS: dict[type[ast.AST], Handler] = expressions.HANDLERS
_STATEMENTS: dict[type[ast.AST], Handler] = control_flow.HANDLERS


class Interpreter:
    """Traces one kernel into `builder`. `frame` is the function that is being walked."""

    def __init__(self, builder: Builder, frame: Frame):
        self.builder = builder
        self.frame = frame
        self.depth = 0
        builder.frame = frame

    def evaluate(self, node: ast.AST) -> Any:
        """The value of an expression."""
        handler = _EXPRESSIONS.get(node.__class__)
        if handler is None:
            raise self.unsupported(node)
        return handler(self, node)

    def execute(self, node: ast.stmt) -> Signal | None:
        """Executes a statement; the result says how control leaves it, None at its end."""
        self.frame.node = node
        handler = _STATEMENTS.get(node.__class__)
        if handler is None:
            raise self.unsupported(node)
        return handler(self, node)

    def block(self, body: list[ast.stmt]) -> Signal | None:
        """Executes statements until control leaves them."""
        for statement in body:
            signal = self.execute(statement)
            if signal is not None:
                return signal
        return None

    def call(
        self, function: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Calls anything that can be called in a kernel."""
        return calls.call(self, function, args, kwargs or {})

    def enter(self, frame: Frame) -> Frame:
        """Makes `frame` current and returns the one before."""
        before, self.frame = self.frame, frame
        self.builder.frame = frame
        return before

    def leave(self, before: Frame) -> None:
        """Makes the frame current that `enter` returned."""
        self.frame = self.builder.frame = before

    def unsupported(self, node: ast.AST) -> TileSyntaxError:
        """The error for syntax that kernels cannot contain."""
        self.frame.node = node
        what, remedy = _UNSUPPORTED.get(type(node), (type(node).__name__, None))
        return TileSyntaxError(f"{what} cannot be used in a kernel", remedy=remedy)


_UNSUPPORTED: dict[type[ast.AST], tuple[str, str | None]] = {
    ast.Try: ("try", "errors cannot be caught at run time: test the condition with `if`"),
    ast.TryStar: ("try", "errors cannot be caught at run time: test the condition with `if`"),
    ast.AsyncFor: ("async for", "write a plain `for`"),
    ast.AsyncWith: ("async with", "write a plain `with`"),
    ast.AsyncFunctionDef: ("async def", "write a plain `def`"),
    ast.Await: ("await", None),
    ast.Yield: ("yield", "only functions under @contextlib.contextmanager may yield, once"),
    ast.YieldFrom: ("yield from", None),
    ast.Delete: ("del", "assign None to the name if it must not be used any more"),
    ast.Import: ("import", "import at the top of the file"),
    ast.ImportFrom: ("import", "import at the top of the file"),
    ast.Global: ("global", "kernels cannot change globals: return the value, or store it"),
    ast.Nonlocal: ("nonlocal", "return the new value from the function instead"),
    ast.ClassDef: ("class", "define the class outside of the kernel"),
    ast.Match: ("match", "write if and elif"),
    ast.Set: ("a set", "write a tuple"),
    ast.SetComp: ("a set comprehension", "write tuple(... for ... in ct.static_iter(...))"),
}


class _Current(threading.local):
    interpreter: Interpreter | None = None


_current = _Current()


def current_interpreter() -> Interpreter:
    """The interpreter of the kernel that this thread traces."""
    interpreter = _current.interpreter
    if interpreter is None:
        raise TileError("a function of a kernel was called outside of it")
    return interpreter


def run(interpreter: Interpreter, body: Callable[[], None]) -> None:
    """Runs `body` with `interpreter` current; whatever goes wrong says where in the kernel."""
    before, _current.interpreter = _current.interpreter, interpreter
    try:
        with deep_recursion():
            body()
    except TileSourceError as error:
        error.locate(interpreter.frame.place(), interpreter.frame.calls())
        # The way through our own code is of no use to the kernel's author.
        raise error.with_traceback(None) from None
    except RecursionError:
        located = TileRecursionError(
            "functions call each other too deeply, or an expression is nested too deeply",
            remedy="a recursion must end at compile time: test a constant, not a run-time value",
        )
        located.locate(interpreter.frame.place(), interpreter.frame.calls()[-3:])
        raise located from None
    except TileError as error:
        if error.location is not None:
            raise
        place = str(interpreter.frame.place())
        raise type(error)(error.reason, location=place, remedy=error.remedy) from error
    except Exception as error:
        located = TileInternalError(
            f"{type(error).__name__} while the kernel was traced: {error}",
            remedy="this is a fault of tileir: please report it with the kernel",
        )
        located.locate(interpreter.frame.place(), interpreter.frame.calls())
        raise located from error
    finally:
        _current.interpreter = before
