"""Calls: functions of the language build operations, those of the kernel's author are walked."""

from __future__ import annotations

import ast
import contextlib
import difflib
import enum
import functools
import importlib
import inspect
import itertools
import re
import sys
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, is_dataclass
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from ..errors import TileError
from . import elsewhere
from .errors import TileRecursionError, TileStaticEvalError, TileSyntaxError, TileTypeError
from .frames import Closure, Frame
from .kernel import Kernel
from .plain import plain
from .signals import Signal
from .source import FunctionSource, source_of
from .values import RuntimeValue, describe, is_runtime

if TYPE_CHECKING:
    from .interpreter import Interpreter

#: How deep functions of the kernel's author may call each other.
MAX_DEPTH = 1000

_OWN_PACKAGE = __name__.rpartition(".")[0] + "."
_WHOLE_PACKAGE = _OWN_PACKAGE.partition(".")[0] + "."
#: Modules whose functions are called by Python, not walked.
_LIBRARIES = sys.stdlib_module_names | {"numpy", "ml_dtypes"}

#: What the language does for Python's built-in functions when an argument is a run-time value.
REPLACEMENTS: dict[Any, Callable[..., Any]] = {}


def replaces(builtin: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: has `builtin` (`min`, `float`, ...) mean the decorated function in kernels where
    an argument is known only at run time."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        REPLACEMENTS[builtin] = function
        return function

    return register


def is_inlined(function: FunctionType) -> bool:
    """Whether a function is walked, not called: one of the kernel's author."""
    module = function.__module__ or ""
    return not module.startswith(_OWN_PACKAGE) and module.partition(".")[0] not in _LIBRARIES


def call(self: Interpreter, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Calls `function` from the current expression."""
    kind = type(function)
    if kind is FunctionType:
        if _is_for_the_host(function):
            raise TileTypeError(
                f"{function.__name__}() of {function.__module__} is for the host: kernels cannot "
                "call it",
                remedy="call it outside of the kernel",
            )
        if function.__code__ is _CONTEXT_MANAGER_CODE:
            return GeneratorContext(function.__wrapped__, tuple(args), kwargs)
        if is_inlined(function):
            return _inline_function(self, function, args, kwargs)
        return _native(self, function, args, kwargs)
    if isinstance(function, Kernel):
        raise TileTypeError(
            f"'{function.name}' is a kernel and cannot be called",
            remedy="move what kernels share into a function without @ct.kernel",
        )
    if kind is Closure:
        return _inline_closure(self, function, args, kwargs)
    if kind is MethodType:
        inner = function.__func__
        if isinstance(inner, FunctionType) and is_inlined(inner):
            return _inline_function(self, inner, (function.__self__, *args), kwargs)
        return _native(self, function, args, kwargs)
    if kind is functools.partial:
        kwargs = {**function.keywords, **kwargs}
        return call(self, function.func, (*function.args, *args), kwargs)
    special = _special_method(function, args)
    if special is not None:
        return _inline_function(self, special, args, kwargs)
    own = vars(kind).get("__call__")
    if isinstance(own, FunctionType) and is_inlined(own):
        return _inline_function(self, own, (function, *args), kwargs)
    if not callable(function):
        raise TileTypeError(f"{describe(function)} cannot be called")
    return _native(self, function, args, kwargs)


#: Functions of Python that only call a method of their argument.
_SPECIAL_METHODS = {
    len: "__len__", abs: "__abs__", bool: "__bool__", int: "__int__", float: "__float__"
}  # fmt: skip


def _special_method(function: Any, args: Sequence[Any]) -> FunctionType | None:
    """The method that a built-in function calls, where the kernel's author has written it."""
    if len(args) != 1 or not isinstance(function, Hashable) or function not in _SPECIAL_METHODS:
        return None
    own = getattr(type(args[0]), _SPECIAL_METHODS[function], None)
    return own if isinstance(own, FunctionType) and is_inlined(own) else None


def _native(self: Interpreter, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Has Python call a function of the language, or one of a library with constants."""
    ours = isinstance(function, (FunctionType, MethodType)) and _is_ours(function)
    if not ours:
        replacement = _replacement(function, args, kwargs)
        if replacement is not None:
            function, ours = replacement, True
        elif function in _CALLING:
            args = [_walked(self, argument) for argument in args]
    try:
        result = function(*args, **kwargs)
        return result if ours else plain(result)
    except TileError:
        raise
    except TypeError as error:
        if _is_about_arguments(error):
            remedy = elsewhere.keyword(error) or _similar_keyword(function, error)
            raise TileTypeError(_about_arguments(function, error), remedy=remedy) from None
        if ours:
            raise
        raise _failed(function, error) from error
    except RecursionError:
        raise
    except Exception as error:
        if ours:
            raise
        raise _failed(function, error) from error


def _is_ours(function: Any) -> bool:
    return (function.__module__ or "").startswith(_OWN_PACKAGE)


#: Functions of Python that call functions they are given.
_CALLING: tuple[Any, ...] = (map, filter, functools.reduce, itertools.accumulate)


def _walked(self: Interpreter, argument: Any) -> Any:
    """A function of the kernel's author as one that Python can call."""
    if isinstance(argument, FunctionType) and is_inlined(argument):
        return lambda *args, **kwargs: call(self, argument, args, kwargs)
    return argument


def _replacement(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What to call instead of a function that is not ours; None to call it as it is."""
    try:
        found = REPLACEMENTS.get(function)
    except TypeError:
        found = None
    if found is not None:
        always = getattr(found, "always", False)
        return found if always or is_runtime((tuple(args), kwargs)) else None
    if is_dataclass(function) or _takes_anything(function):
        return None
    if is_runtime((tuple(args), kwargs)):
        name = getattr(function, "__qualname__", None) or describe(function)
        same = getattr(importlib.import_module(_OWN_PACKAGE[:-1]), name, None)
        raise TileTypeError(
            f"{name}() takes no run-time values in a kernel",
            remedy=f"write ct.{name}(...)"
            if isinstance(same, FunctionType)
            else "use functions of tileir.lang, or write the computation out",
        )
    return None


def _is_for_the_host(function: FunctionType) -> bool:
    """Whether a function is ours, but none of the language: `launch`, the compiler."""
    module = function.__module__ or ""
    return module.startswith(_WHOLE_PACKAGE) and not module.startswith(_OWN_PACKAGE)


_CONTEXT_MANAGER_CODE = contextlib.contextmanager(lambda: iter(())).__code__


@dataclass(frozen=True, slots=True)
class GeneratorContext:
    """A call of a function under `@contextlib.contextmanager`, not entered yet."""

    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


#: Functions of Python that only rearrange values, whatever they are.
_REARRANGE = frozenset(
    {tuple, list, dict, zip, enumerate, reversed, map, filter}
    | {len, isinstance, getattr, hasattr, type, id}
)


_REARRANGING_MODULES = frozenset(
    {"dataclasses", "functools", "_functools", "operator", "_operator", "itertools"}
)


def _takes_anything(function: Any) -> bool:
    if isinstance(function, type):
        # Named tuples and the like hold values.
        return function in _REARRANGE or issubclass(function, tuple)
    if isinstance(function, (BuiltinFunctionType, MethodType)):
        owner = function.__self__
        if issubclass(owner if isinstance(owner, type) else type(owner), (tuple, dict)):
            return True  # such as `_replace` of a named tuple
    if isinstance(function, Hashable) and function in _REARRANGE:
        return True
    return getattr(function, "__module__", None) in _REARRANGING_MODULES


def _is_about_arguments(error: TypeError) -> bool:
    """Whether the call itself failed, before anything of the function was executed."""
    trace = error.__traceback__
    return trace is not None and trace.tb_next is None


def _about_arguments(function: Any, error: TypeError) -> str:
    name = getattr(function, "__name__", "the function")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return str(error)
    bare = [
        parameter.replace(annotation=parameter.empty, default=_Default.of(parameter))
        for parameter in signature.parameters.values()
    ]
    return f"{error}; it is {name}{inspect.Signature(bare)}"


def _similar_keyword(function: Any, error: TypeError) -> str | None:
    """A parameter whose name is close to one that does not exist."""
    match = re.search(r"unexpected keyword argument '(\w+)'", str(error))
    if match is None:
        return None
    with contextlib.suppress(TypeError, ValueError):
        names = list(inspect.signature(function).parameters)
        close = difflib.get_close_matches(match[1], names, 1)
        return f"did you mean '{close[0]}'?" if close else None
    return None


class _Default(str):
    """A default value, printed as one writes it in a kernel."""

    @classmethod
    def of(cls, parameter: inspect.Parameter) -> Any:
        value = parameter.default
        if isinstance(value, enum.Enum):
            return cls(f"ct.{value}")
        return value

    def __repr__(self) -> str:
        return str(self)


def _failed(function: Any, error: Exception) -> TileStaticEvalError:
    name = getattr(function, "__qualname__", None) or describe(function)
    return TileStaticEvalError(f"{name}() raised {type(error).__name__}: {error}")


# Functions of the kernel's author.


def make_closure(self: Interpreter, node: ast.FunctionDef | ast.Lambda) -> Closure:
    """A function that is defined in a kernel; its defaults are evaluated now."""
    name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
    source = getattr(node, "_source", None)
    if source is None:
        source = FunctionSource(name, self.frame.source.file, node)
        node._source = source  # type: ignore[union-attr]
    defaults = tuple(self.evaluate(default) for default in node.args.defaults)
    keyword_defaults = {
        argument.arg: self.evaluate(default)
        for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if default is not None
    }
    return Closure(source, self.frame, defaults, keyword_defaults)


def _inline_closure(
    self: Interpreter, closure: Closure, args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    outer = closure.frame
    frame = Frame(
        closure.source, outer.context, outer.globals, outer.closure, self.frame, outer=outer
    )
    bind(frame, closure.defaults, closure.keyword_defaults, args, kwargs)
    return inline(self, frame)


def _inline_function(
    self: Interpreter, function: FunctionType, args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    if function.__dict__.get("_tile_function") is False:
        raise TileTypeError(
            f"{function.__name__}() is not for kernels: it has @ct.function(tile=False)"
        )
    frame = frame_of(self.frame, function)
    bind(frame, function.__defaults__ or (), function.__kwdefaults__ or {}, args, kwargs)
    return inline(self, frame)


def frame_of(caller: Frame, function: FunctionType) -> Frame:
    """A new frame for a call of a function from outside of the kernel."""
    source, closure = source_of(function), closure_of(function)
    return Frame(source, caller.context, function.__globals__, closure, caller, outer=None)


def closure_of(function: FunctionType) -> dict[str, Any]:
    """What a function sees of the functions around it; names without a value yet are left out."""
    found: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):
            found[name] = cell.cell_contents
    return found


def inline(self: Interpreter, frame: Frame) -> Any:
    """Walks the function of a frame whose arguments are bound; the result is what it returns."""
    from .returns import body_of_function

    if self.depth >= MAX_DEPTH:
        raise TileRecursionError(
            f"functions call each other more than {MAX_DEPTH} deep",
            remedy="a recursion must end at compile time: test a constant, not a run-time value",
        )
    if frame.source.facts.is_generator:
        raise TileSyntaxError(
            f"{frame.source.name} is a generator",
            remedy="decorate it with @contextlib.contextmanager and use it in `with`",
        )
    before = self.enter(frame)
    self.depth += 1
    value = body_of_function(self)
    self.depth -= 1
    self.leave(before)
    return value


def bind(
    frame: Frame,
    defaults: Sequence[Any],
    keyword_defaults: dict[str, Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
) -> None:
    """Gives the parameters of a function their values. Raises `TileTypeError` as Python does."""
    arguments = frame.source.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    values = frame.locals
    name = frame.source.name
    for parameter, value in zip(positional, args, strict=False):
        values[parameter.arg] = value
    extra = tuple(args[len(positional) :])
    if arguments.vararg is not None:
        values[arguments.vararg.arg] = extra
    elif extra:
        raise TileTypeError(
            f"{name}() takes {len(positional)} positional arguments, {len(args)} are given"
        )
    names = {argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)}
    rest: dict[str, Any] = {}
    for keyword, value in kwargs.items():
        if keyword not in names:
            rest[keyword] = value
        elif keyword in values:
            raise TileTypeError(f"{name}() got two values for '{keyword}'")
        else:
            values[keyword] = value
    if arguments.kwarg is not None:
        values[arguments.kwarg.arg] = rest
    elif rest:
        raise TileTypeError(f"{name}() has no parameter '{next(iter(rest))}'")
    first_default = len(positional) - len(defaults)
    for index, parameter in enumerate(positional):
        if parameter.arg not in values:
            if index < first_default:
                raise TileTypeError(f"{name}() lacks the argument '{parameter.arg}'")
            values[parameter.arg] = defaults[index - first_default]
    for parameter in arguments.kwonlyargs:
        if parameter.arg not in values:
            if parameter.arg not in keyword_defaults:
                raise TileTypeError(f"{name}() lacks the keyword argument '{parameter.arg}'")
            values[parameter.arg] = keyword_defaults[parameter.arg]


__all__ = ["MAX_DEPTH", "REPLACEMENTS", "RuntimeValue", "Signal", "call", "replaces"]
