"""Ranges for Nsight: what the compiler and the launcher do, in the domain `tileir`.

A tool that wants them names a library in `NVTX_INJECTION64_PATH`. NVTX is a protocol between that
library and tables of functions in each of its users, normally brought by NVIDIA's header; here the
tables are made with ctypes, so that no package is needed. Without a tool nothing is loaded, and
tracing stays off.

Sources of the numbers: nvtx3/nvToolsExt.h and nvtx3/nvtxDetail/nvtxTypes.h, NVTX version 3.
"""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Any

from .. import trace

_VARIABLE = "NVTX_INJECTION64_PATH"
_VERSION = 3
# Tables that a tool asks for.
_CALLBACKS, _VERSION_INFO = 1, 3
# Modules (core, CUDA, OpenCL, CUDA runtime, core 2, sync) and how many functions each has.
_CORE2 = 5
_TABLE_SIZES = {1: 16, 2: 9, 3: 15, 4: 7, _CORE2: 16, 6: 8}
# Functions of the module CORE2.
_DOMAIN_RANGE_PUSH, _DOMAIN_RANGE_POP, _DOMAIN_CREATE = 4, 5, 12
_MESSAGE_ASCII = 1

_GetTable = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint)
)
_SetVersion = ctypes.CFUNCTYPE(None, ctypes.c_uint32)
_GetExportTable = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)


class _Callbacks(ctypes.Structure):
    _fields_ = (("size", ctypes.c_size_t), ("get_table", _GetTable))


class _VersionInfo(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("version", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("set_version", _SetVersion),
    )


class _EventAttributes(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint16),
        ("size", ctypes.c_uint16),
        ("category", ctypes.c_uint32),
        ("color_type", ctypes.c_int32),
        ("color", ctypes.c_uint32),
        ("payload_type", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("payload", ctypes.c_uint64),
        ("message_type", ctypes.c_int32),
        ("message", ctypes.c_char_p),
    )


class Tool:
    """The library of a tool, which has filled our tables."""

    def __init__(self, path: str):
        self._functions = {
            module: (ctypes.c_void_p * size)() for module, size in _TABLE_SIZES.items()
        }
        # A table holds the addresses of the places where the functions are kept.
        self._tables = {
            module: (ctypes.c_void_p * len(places))(
                *(ctypes.addressof(places) + index * 8 for index in range(len(places)))
            )
            for module, places in self._functions.items()
        }
        self._callbacks = _Callbacks(ctypes.sizeof(_Callbacks), _GetTable(self._get_table))
        self._version = _VersionInfo(
            ctypes.sizeof(_VersionInfo), _VERSION, 0, _SetVersion(lambda version: None)
        )
        self._export = _GetExportTable(self._export_table)
        self._library = ctypes.CDLL(path)
        initialize: Any = self._library.InitializeInjectionNvtx2
        initialize.restype = ctypes.c_int
        if not initialize(self._export):
            raise OSError(f"{path} does not start")
        create = self._function(_DOMAIN_CREATE, ctypes.c_void_p, ctypes.c_char_p)
        self._domain = create(b"tileir") if create else None
        attributes = ctypes.POINTER(_EventAttributes)
        self._push = self._function(_DOMAIN_RANGE_PUSH, ctypes.c_int, ctypes.c_void_p, attributes)
        self._pop = self._function(_DOMAIN_RANGE_POP, ctypes.c_int, ctypes.c_void_p)

    def push(self, name: str) -> None:
        """Begins a range on this thread."""
        if self._push:
            attributes = _EventAttributes(
                version=_VERSION, size=ctypes.sizeof(_EventAttributes),
                message_type=_MESSAGE_ASCII, message=name.encode("ascii", "replace"),
            )  # fmt: skip
            self._push(self._domain, ctypes.byref(attributes))

    def pop(self) -> None:
        """Ends the range that was begun last on this thread."""
        if self._pop:
            self._pop(self._domain)

    def _function(self, index: int, result: Any, *arguments: Any) -> Any:
        """A function of the module CORE2; None if the tool does not want it."""
        address = self._functions[_CORE2][index]
        return ctypes.CFUNCTYPE(result, *arguments)(address) if address else None

    def _get_table(self, module: int, table: Any, size: Any) -> int:
        if module not in self._tables:
            return 0
        table[0] = ctypes.addressof(self._tables[module])
        if size:
            size[0] = len(self._tables[module])
        return 1

    def _export_table(self, which: int) -> int | None:
        found = {_CALLBACKS: self._callbacks, _VERSION_INFO: self._version}.get(which)
        return None if found is None else ctypes.addressof(found)


class _Ranges:
    """The sink of slices that shows them to a tool."""

    def __init__(self, tool: Tool):
        self._tool = tool

    def begin(self, name: str, category: str) -> None:
        self._tool.push(name)

    def end(self, event: trace.Event) -> None:
        self._tool.pop()

    def arrive(self, event: trace.Event) -> None:
        pass  # a range cannot be of the past


_attached = False
_lock = threading.Lock()


def attach() -> None:
    """Shows slices to the tool that the environment names, if there is one; once."""
    global _attached
    path = os.environ.get(_VARIABLE)
    with _lock:
        if _attached or not path:
            return
        _attached = True
    try:
        trace.add_sink(_Ranges(Tool(path)))
    except (OSError, AttributeError):
        return  # the tool is none for NVTX: the program goes on without it
