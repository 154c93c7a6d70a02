"""Names inside a function: registers, variables and labels of nested { } scopes."""

from __future__ import annotations

import re

from .syntax import Label, Register, Variable
from .types import Type

_NUMBERED = re.compile(r"(.*?)(\d+)")


class Registers:
    """All registers of a function, in the order of their slots."""

    def __init__(self) -> None:
        self.all: list[Register] = []

    def new(self, name: str, type_: Type) -> Register:
        register = Register(name, len(self.all), type_)
        self.all.append(register)
        return register


class Scope:
    """One { }; names are looked up here, then in `outer`.

    Labels may be used before they are defined, so references are kept and get their final,
    unique names when the function ends.
    """

    def __init__(self, registers: Registers, outer: Scope | None = None):
        self.outer = outer
        self.variables: dict[str, Variable] = {}
        self._registers = registers
        self._named: dict[str, Register] = {}
        self._families: dict[str, tuple[int, Type]] = {}
        self._labels: dict[str, Label] = {}
        self._references: list[Label] = []
        self._inner: list[Scope] = []
        if outer is not None:
            outer._inner.append(self)

    # --- registers -------------------------------------------------------------------------------

    def declare_register(self, name: str, type_: Type) -> Register:
        register = self._registers.new(name, type_)
        self._named[name] = register
        return register

    def declare_family(self, prefix: str, count: int, type_: Type) -> None:
        """`.reg .b32 %r<count>`: %r0 up to %r(count - 1), made when they are used."""
        self._families[prefix] = (count, type_)

    def register(self, name: str) -> Register | None:
        scope: Scope | None = self
        while scope is not None:
            found = scope._named.get(name) or scope._member(name)
            if found is not None:
                return found
            scope = scope.outer
        return None

    def _member(self, name: str) -> Register | None:
        match = _NUMBERED.fullmatch(name)
        if match is None or match[1] not in self._families:
            return None
        count, type_ = self._families[match[1]]
        return self.declare_register(name, type_) if int(match[2]) < count else None

    # --- variables -------------------------------------------------------------------------------

    def variable(self, name: str) -> Variable | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.variables:
                return scope.variables[name]
            scope = scope.outer
        return None

    # --- labels ----------------------------------------------------------------------------------

    def define_label(self, name: str) -> Label | None:
        """The label, or None if the scope has it already."""
        if name in self._labels:
            return None
        return self._labels.setdefault(name, Label(name))

    def refer_to_label(self, name: str) -> Label:
        reference = Label(name)
        self._references.append(reference)
        return reference

    def resolve_labels(self) -> str | None:
        """Gives labels and references unique names; returns a name that nothing defines."""
        taken: set[str] = set()
        self._rename(taken)
        return self._resolve()

    def _rename(self, taken: set[str]) -> None:
        for name, label in self._labels.items():
            unique, count = name, 1
            while unique in taken:
                count += 1
                unique = f"{name}.{count}"
            taken.add(unique)
            label.name = unique
        for scope in self._inner:
            scope._rename(taken)

    def _resolve(self) -> str | None:
        for reference in self._references:
            scope: Scope | None = self
            while scope is not None and reference.name not in scope._labels:
                scope = scope.outer
            if scope is None:
                return reference.name
            reference.name = scope._labels[reference.name].name
        missing = (scope._resolve() for scope in self._inner)
        return next((name for name in missing if name is not None), None)
