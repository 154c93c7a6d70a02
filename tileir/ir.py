"""`mlir.ir` under our name: generated modules and our code import MLIR from here."""

from mlir.ir import *
from mlir.ir import register_attribute_builder
