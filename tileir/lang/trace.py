"""Tracing a kernel: from its function and a signature to a module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tileir.dialects.cuda_tile import hints_attribute
from tileir.ir import (
    Attribute,
    FunctionType,
    InsertionPoint,
    MLIRError,
    Module,
    Operation,
    StringAttr,
    TypeAttr,
    UnitAttr,
)

from .. import trace as tracing
from . import sequences  # noqa: F401  (what `sum`, `any` and `all` mean in kernels)
from .builder import Builder, ambient
from .calls import closure_of
from .context import pool
from .contexts import exit_contexts
from .errors import TileInternalError, TileTypeError
from .finish import finish
from .frames import Frame
from .interpreter import Interpreter, run
from .parameters import bind_parameters
from .signature import Signature
from .source import source_of

if TYPE_CHECKING:
    from .kernel import Kernel


def trace(
    kernel: Kernel,
    entries: Sequence[tuple[str, Signature]],
    target: str,
    *,
    breakpoints: bool = False,
) -> Module:
    """A module with one entry for each name and signature; see `Kernel.trace`."""
    types = pool()
    with types.context, types.unknown, tracing.slice("trace", kernel=kernel.name):
        module = Module.create()
        attributes: dict[str, Attribute] = {"sym_name": StringAttr.get("kernels")}
        kernels = Operation.create(
            "cuda_tile.module", attributes=attributes, regions=1, ip=InsertionPoint(module.body)
        )
        point = InsertionPoint(kernels.regions[0].blocks.append())
        for symbol, signature in entries:
            builder = Builder(types, target, stops=breakpoints)
            frame = _trace_entry(builder, kernel, signature)
            _add_entry(builder, kernel, symbol, frame, point)
            if builder.extended:
                kernels.attributes["cuda_tile.extended"] = UnitAttr.get()
        _verify(module, kernel)
        return module


def _trace_entry(builder: Builder, kernel: Kernel, signature: Signature) -> Frame:
    """Fills the builder's block; the result is the frame of the kernel."""
    if len(signature.parameters) != len(kernel.parameters):
        raise TileTypeError(
            f"{kernel.name} has {len(kernel.parameters)} parameters, the signature describes "
            f"{len(signature.parameters)}"
        )
    frame = _kernel_frame(kernel, builder)
    interpreter = Interpreter(builder, frame)
    with ambient(builder):
        run(interpreter, lambda: _body(interpreter, kernel, signature))
    builder.frame = None
    return frame


def _kernel_frame(kernel: Kernel, builder: Builder) -> Frame:
    function = kernel.function
    source, names = source_of(function), function.__globals__
    return Frame(source, builder.types.context, names, closure_of(function), None, None)


def _body(interpreter: Interpreter, kernel: Kernel, signature: Signature) -> None:
    builder, frame = interpreter.builder, interpreter.frame
    bind_parameters(builder, kernel, signature, frame)
    signal = interpreter.block(frame.source.body)
    if signal is None or signal.value == "return":
        exit_contexts(interpreter, 0)
    if not _ends(builder):
        builder.op("cuda_tile.return", (), ())
    finish(builder)


def _ends(builder: Builder) -> bool:
    """Whether the kernel's block has its terminator already."""
    operations = builder.block.operations
    return (
        len(operations) > 0 and operations[len(operations) - 1].operation.name == "cuda_tile.return"
    )


def _add_entry(
    builder: Builder, kernel: Kernel, symbol: str, frame: Frame, point: InsertionPoint
) -> None:
    """Makes the finished block an entry."""
    inputs = [argument.type for argument in builder.entry_block.arguments]
    attributes: dict[str, Attribute] = {
        "sym_name": StringAttr.get(symbol),
        "function_type": TypeAttr.get(FunctionType.get(inputs, [])),
    }
    hints = kernel.hints.by_architecture()
    if hints:
        attributes["optimization_hints"] = hints_attribute(hints)
    frame.node = frame.source.node
    entry = Operation.create(
        "cuda_tile.entry", attributes=attributes, regions=1, ip=point, loc=frame.location()
    )
    builder.move_kernel(entry)


def _verify(module: Module, kernel: Kernel) -> None:
    try:
        module.operation.verify()
    except MLIRError as error:
        found = error.error_diagnostics[0] if error.error_diagnostics else None
        raise TileInternalError(
            f"{kernel.name} became invalid IR: {found.message if found else error}",
            location=str(found.location) if found else None,
            remedy="this is a fault of tileir: please report it with the kernel",
        ) from None
