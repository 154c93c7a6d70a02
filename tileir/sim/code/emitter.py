"""Building the Python functions that run a PTX function.

A basic block becomes a function of a cohort of warps and their registers:

    def b7(w, R):
        R[12] = R[3] + K1
        R[13] = where(R[5], R[12], R[4])
        return 8

A register is an array [warps, 32] that is never written in place, so cohorts may share it. The
function returns the number of the next block, or STOP when the cohort has split or must wait. A
line of it belongs to one instruction, so an error finds its line of PTX without any cost to a
correct program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..machine.calls import leave_function, leave_kernel
from ..machine.cohort import STOP
from ..ptx.syntax import (
    Address,
    Immediate,
    Instruction,
    Label,
    Negated,
    Operand,
    Register,
    Sink,
    Special,
    Symbol,
    Vector,
)
from ..ptx.types import B64, PRED, TYPES, Type
from .constants import immediate
from .form import Form

if TYPE_CHECKING:
    from .program import Callee, Code

_DTYPE_NAMES = {
    np.dtype(np.bool_): "bool_",
    **{np.dtype(f"{kind}int{bits}"): f"{kind or 's'}{bits}"
       for kind in ("u", "") for bits in (8, 16, 32, 64)},
    np.dtype(np.float16): "f16",
    np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64",
}  # fmt: skip


class Emitter:
    """State of one function's translation.

    `site` is the number of the instruction whose lines are being emitted.
    """

    def __init__(self, code: Code, callee: Callee, namespace: dict[str, Any]):
        self.code = code
        self.callee = callee
        self.function = callee.function
        self.module = code.module.name
        self.namespace = namespace
        self.lines: list[tuple[str, int]] = []
        self.sites: list[Instruction] = []
        self.site = -1
        self.this_block = -1
        self.next_block = -1
        self.block_of: dict[str, int] = {}
        self.hidden: set[int] = set()
        self.uses_carry = False
        self._views: dict[tuple[int, str], str] = {}
        self._count = 0
        self._guard: Register | Negated | None = None
        self._saw_array = False

    # --- text ------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append((f"    {text}", self.site))

    def fresh(self, prefix: str = "t") -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def temporary(self, expression: str) -> str:
        """A new local variable with that value."""
        name = self.fresh()
        self.line(f"{name} = {expression}")
        return name

    def constant(self, value: Any, prefix: str = "K") -> str:
        """A name for an object in the generated code."""
        bits = value.tobytes() if isinstance(value, np.generic) else value
        key = (type(value), getattr(value, "dtype", None), bits)
        names: dict[Any, str] = self.namespace.setdefault("__constants__", {})
        if key not in names:
            names[key] = f"{prefix}{len(names)}"
            self.namespace[names[key]] = value
        return names[key]

    def object(self, value: Any, name: str) -> str:
        """A name for an object that is no number."""
        found = f"{name}_{id(value)}"
        self.namespace[found] = value
        return found

    def use(self, helper: Callable[..., Any]) -> str:
        """The name of a function that the generated code may call."""
        name = helper.__name__
        if self.namespace.setdefault(name, helper) is not helper:
            raise AssertionError(f"two helpers are called {name}")
        return name

    def array_seen(self) -> None:
        """What is written next is an array, although no operand was read."""
        self._saw_array = True

    def call(self, helper: Callable[..., Any], *arguments: Any) -> str:
        """A call of `helper(w, ...)` as an expression; it gives an array per lane."""
        self._saw_array = True
        return f"{self.use(helper)}(w, {', '.join(map(str, arguments))})"

    def begin_block(self, number: int, following: int) -> None:
        self._views.clear()
        self.this_block, self.next_block = number, following
        self.lines.append((f"def b{number}(w, R):", self.site))

    def begin(self, instruction: Instruction) -> None:
        """Lines from here on belong to `instruction`."""
        self.sites.append(instruction)
        self.site = len(self.sites) - 1
        self._guard = instruction.guard
        self._saw_array = False

    @property
    def here(self) -> str:
        """The name of the current instruction in the generated code."""
        name = f"I{self.function.line}_{self.site}"
        self.namespace[name] = self.sites[self.site]
        return name

    # --- operands --------------------------------------------------------------------------------

    def home(self, register: Register) -> np.dtype[Any]:
        """The type of the array that holds a register."""
        return self.callee.homes[register.slot]

    def read(self, operand: Operand, type_: Type) -> str:
        """An expression for an operand: an array of `type_`, or a NumPy scalar."""
        if isinstance(operand, Register):
            return self._read_register(operand, type_)
        if isinstance(operand, Immediate):
            return self.constant(immediate(operand, type_))
        if isinstance(operand, Negated):
            self._saw_array = True
            return f"~R[{operand.register.slot}]"
        if isinstance(operand, Special):
            self._saw_array = True
            value = f"w.special({operand.name[1:]!r})"
            return value if type_.bits == 32 else f"{value}.astype({self.dtype_name(type_.dtype)})"
        if isinstance(operand, Symbol):
            return self.symbol(operand, type_)
        raise self.error(f"this kind of operand is not supported for .{type_}")

    def _read_register(self, register: Register, type_: Type) -> str:
        self._saw_array = True
        home, wanted = self.home(register), type_.dtype
        name = f"R[{register.slot}]"
        if home == wanted:
            return name
        if type_ is PRED or register.type is PRED:
            raise self.error(f"{register.name} is .{register.type}, expected .{type_}")
        if home.itemsize < wanted.itemsize:
            raise self.error(f"{register.name} has {register.type.bits} bits, too few for .{type_}")
        key = (register.slot, str(wanted))
        if key in self._views:
            return self._views[key]
        if home.itemsize == wanted.itemsize:
            value = f"{name}.view({self.dtype_name(wanted)})"
        else:
            value = self._truncated(name, home, wanted)
        self._views[key] = self.temporary(value)
        return self._views[key]

    def _truncated(self, name: str, home: np.dtype[Any], wanted: np.dtype[Any]) -> str:
        if home.kind == "f":
            name = f"{name}.view(u{8 * home.itemsize})"
        narrow = f"{name}.astype(u{8 * wanted.itemsize})"
        return narrow if wanted.kind == "u" else f"{narrow}.view({self.dtype_name(wanted)})"

    def symbol(self, symbol: Symbol, type_: Type = B64) -> str:
        """The address of a variable or function in its own state space (or generic())."""
        kind, address = self.code.place_of(symbol.target)
        address += symbol.offset
        cast = self.dtype_name(type_.dtype)
        if kind == "launch":
            return f"{cast}.type(w.launch.symbols[{symbol.target.name!r}] + {symbol.offset})"
        if kind == "local":
            return f"{cast}.type(w.frame + {address})"
        return self.constant(type_.dtype.type(address))

    def integer(self, bits: int, *operands: Operand) -> Type:
        """A type of that width for sign-agnostic arithmetic: as most operands are held."""
        signed = sum(
            1 if self.home(o).kind == "i" else -1 for o in operands if isinstance(o, Register)
        )
        return TYPES[f"{'s' if signed > 0 else 'u'}{bits}"]

    def dtype_name(self, dtype: np.dtype[Any]) -> str:
        return _DTYPE_NAMES.get(dtype) or self.constant(dtype, "D")

    def address(self, operand: Operand) -> tuple[str, int]:
        """The array of addresses of [register + offset], as wide as the register, and the offset.

        A symbol or number gives a NumPy scalar, uint64.
        """
        if not isinstance(operand, Address):
            raise self.error("expected an address")
        base = operand.base
        if isinstance(base, Register):
            bits = base.type.bits
            if bits not in (32, 64):
                raise self.error(f"{base.name} is no address: it has {bits} bits")
            return self.read(base, Type("", "u", bits, np.dtype(f"uint{bits}"))), operand.offset
        return self.read(base, B64), operand.offset

    @property
    def guard(self) -> str | None:
        """An expression for the predicate in front of the instruction."""
        if self._guard is None:
            return None
        self._saw_array = True
        if isinstance(self._guard, Negated):
            return f"(~R[{self._guard.register.slot}])"
        return f"R[{self._guard.slot}]"

    def lanes(self) -> str:
        """An expression for the lanes that take part: None for all, False for none, or bool."""
        return "w.mask" if self._guard is None else f"w.lanes({self.guard})"

    # --- results ---------------------------------------------------------------------------------

    def write(self, operand: Operand, expression: str, type_: Type) -> None:
        """Emits `operand = expression`, under the instruction's guard.

        A register wider than `type_` gets it extended, by sign for signed types.
        """
        if isinstance(operand, Sink):
            self.line(expression)
            return
        if not isinstance(operand, Register):
            raise self.error("the result must go to a register")
        if not self._saw_array:
            expression = f"w.fill({expression})"
        value = self._as_home(operand, expression, type_)
        guard = self.guard
        if guard is not None:
            value = f"where({guard}, {value}, R[{operand.slot}])"
        self.line(f"R[{operand.slot}] = {value}")
        self.changed(operand)

    def changed(self, register: Register) -> None:
        """The slot has a new array: forget views of the old one."""
        for key in [key for key in self._views if key[0] == register.slot]:
            del self._views[key]

    def _as_home(self, register: Register, value: str, type_: Type) -> str:
        home = self.home(register)
        if home == type_.dtype:
            return value
        if (type_ is PRED) != (register.type is PRED):
            raise self.error(f"{register.name} is .{register.type}, expected .{type_}")
        size = type_.dtype.itemsize
        if home.itemsize < size:
            raise self.error(f"{register.name} has {register.type.bits} bits, too few for .{type_}")
        if home.itemsize > size:
            if type_.is_float:
                value = f"({value}).view(u{8 * size})"
            wide = f"{'s' if type_.signed else 'u'}{8 * home.itemsize}"
            value = f"({value}).astype({wide})"
            return (
                value if self.dtype_name(home) == wide else f"{value}.view({self.dtype_name(home)})"
            )
        return f"({value}).view({self.dtype_name(home)})"

    def write_each(self, operand: Operand, expression: str, type_: Type) -> None:
        """As `write` for a register, or for each of a vector from a tuple."""
        if not isinstance(operand, Vector):
            self.write(operand, expression, type_)
            return
        names = [self.fresh() for _ in operand.elements]
        self.line(f"{', '.join(names)}, = {expression}")
        for element, name in zip(operand.elements, names, strict=True):
            if not isinstance(element, Sink):
                self.write(element, name, type_)

    def shadow(self, register: Register) -> str:
        """The register's second slot, an expression to read or assign; see `observer`."""
        return f"R[{register.slot + len(self.function.registers)}]"

    def hidden_slot(self, slot: int) -> int:
        """Where the result of a wgmma waits that will go to a register."""
        return slot + 2 * len(self.function.registers)

    def keeps_hidden(self, slots: Iterable[int]) -> None:
        """Registers that may have a hidden value from now on."""
        self.hidden.update(self.hidden_slot(slot) for slot in slots)

    def forget_views(self) -> None:
        """Any register may have changed."""
        self._views.clear()

    @property
    def carry(self) -> str:
        """The carry flag, a register of its own."""
        self.uses_carry = True
        return f"R[{3 * len(self.function.registers)}]"

    # --- control flow ----------------------------------------------------------------------------

    def converge(self) -> None:
        """All lanes of a warp must be here: those that are early wait."""
        self.line(f"if w.mask is not None and not w.converge({self.this_block}): return {STOP}")

    def converge_warpgroups(self) -> None:
        """All warps of a warpgroup must be here, too."""
        self.converge()
        self.line(f"if not w.converge_warpgroups({self.this_block}): return {STOP}")

    def leave_here(self) -> str:
        """The statement that ends a function without a `ret`."""
        helper = leave_kernel if self.function.is_entry else leave_function
        return f"return {self.use(helper)}(w, w.mask, {STOP})"

    def target(self, operand: Operand) -> int:
        """The block that a label stands for."""
        if not isinstance(operand, Label):
            raise self.error("expected a label")
        return self.block_of[operand.name]

    def error(self, reason: str) -> Exception:
        instruction = self.sites[self.site]
        return Form(instruction, "", [], self.module).error(reason)
