"""`mlir.ir` under our name: generated modules and our code import MLIR from here."""

from typing import TYPE_CHECKING

from mlir.ir import *
from mlir.ir import DiagnosticInfo, register_attribute_builder

if TYPE_CHECKING:
    # Made while `mlir.ir` is imported, so that its stub does not know it.
    class MLIRError(Exception):
        message: str
        error_diagnostics: list[DiagnosticInfo]
else:
    from mlir.ir import MLIRError
