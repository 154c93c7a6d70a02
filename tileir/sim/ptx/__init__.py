"""PTX text as data: `parse` gives a `Module` of functions, variables and instructions."""

from __future__ import annotations

from .parser import parse
from .syntax import Function, Instruction, Module, Variable

__all__ = ["Function", "Instruction", "Module", "Variable", "parse"]
