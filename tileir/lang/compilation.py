"""Compiling kernels ahead of time: signatures by hand, and files for other launchers.

    signature = KernelSignature([array, array, 256], CallingConvention.cutile_python_v2())
    export_kernel(kernel, [signature], "kernel.cubin", gpu_code="sm_90", output_format="cubin")

An entry takes the words that `tileir.signature` lists.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import IO, Any, Literal, TypeVar

from ..signature import (
    ArrayParameter,
    ConstantParameter,
    ListParameter,
    Parameter,
    ScalarParameter,
    Signature,
    TupleParameter,
)
from .dtypes import DType, int32, int64
from .kernel import Kernel
from .mangling import demangle, mangle

T = TypeVar("T")


@dataclass(frozen=True)
class CallingConvention:
    """How arguments become words; all versions give the same words, so only names differ."""

    code: str

    @staticmethod
    def cutile_python_v1() -> CallingConvention:
        """Version 1 of cuTile's, called `t1` in mangled names."""
        return CallingConvention("t1")

    @staticmethod
    def cutile_python_v2() -> CallingConvention:
        """Version 2 of cuTile's, called `t2` in mangled names."""
        return CallingConvention("t2")


def ScalarConstraint(dtype: DType) -> ScalarParameter:
    """A number that is known only at the launch."""
    return ScalarParameter(dtype.ir)


def ConstantConstraint(value: Any) -> ConstantParameter:
    """A value known at compile time."""
    return ConstantParameter(value)


def TupleConstraint(items: Sequence[Any]) -> TupleParameter:
    """A tuple of constraints, or of constants."""
    return TupleParameter(tuple(as_parameter(item) for item in items))


def ListConstraint(
    element: ArrayParameter, *, alias_groups: Sequence[str] = (), elements_may_alias: bool = True
) -> ListParameter:
    """A list of arrays that share a description. Accesses to arrays of one list stay in order,
    whether or not its `elements_may_alias`; the list itself is never written."""
    if alias_groups:
        raise ValueError("the storage of a list cannot share memory with other parameters")
    return ListParameter(element)


def ArrayConstraint(
    dtype: DType,
    ndim: int,
    *,
    index_dtype: DType = int32,
    stride_lower_bound_incl: Sequence[int | None] | int | None = 0,
    alias_groups: Sequence[str] = (),
    may_alias_internally: bool = False,
    stride_constant: Sequence[int | None] | None = None,
    shape_constant: Sequence[int | None] | None = None,
    stride_divisible_by: Sequence[int] | int = 1,
    shape_divisible_by: Sequence[int] | int = 1,
    base_addr_divisible_by: int = 1,
) -> ArrayParameter:
    """An array and what may be assumed of it; numbers count elements, those of the address bytes.

    Arrays that have an alias group in common may share memory.  Strides are never negative.
    """
    if index_dtype not in (int32, int64):
        raise ValueError(f"index_dtype must be int32 or int64, not {index_dtype}")
    bounds = _per_dimension(stride_lower_bound_incl, ndim, None, "stride_lower_bound_incl")
    if any(bound is not None and bound < 0 for bound in bounds):
        raise ValueError("strides cannot be negative")
    strides = _per_dimension(stride_constant, ndim, None, "stride_constant")
    shape = _per_dimension(shape_constant, ndim, None, "shape_constant")
    stride_divisors = _per_dimension(stride_divisible_by, ndim, 1, "stride_divisible_by")
    shape_divisors = _per_dimension(shape_divisible_by, ndim, 1, "shape_divisible_by")
    return ArrayParameter(
        dtype.ir,
        ndim,
        64 if index_dtype is int64 else 32,
        base_addr_divisible_by,
        _unless_known(shape, shape_divisors),
        _unless_known(strides, stride_divisors),
        shape,
        strides,
        not may_alias_internally,
        tuple(alias_groups),
    )


def _unless_known(known: tuple[int | None, ...], divisors: tuple[int, ...]) -> tuple[int, ...]:
    """Divisors of numbers; a constant needs none."""
    pairs = zip(known, divisors, strict=True)
    return tuple(1 if constant is not None else divisor for constant, divisor in pairs)


def _per_dimension(
    given: Sequence[T] | int | None, rank: int, default: Any, name: str
) -> tuple[Any, ...]:
    """One value a dimension of what may be one for all, or none."""
    if given is None:
        return (default,) * rank
    if isinstance(given, int):
        return (given,) * rank
    if len(given) != rank:
        raise ValueError(f"{name} has {len(given)} entries for an array of rank {rank}")
    return tuple(given)


def as_parameter(constraint: Any) -> Parameter:
    """A constraint; tuples stand for constraints of tuples, other values for constants."""
    if isinstance(constraint, Parameter):
        return constraint
    return (
        TupleConstraint(constraint) if type(constraint) is tuple else ConstantParameter(constraint)
    )


@dataclass(frozen=True, init=False)
class KernelSignature:
    """What is known of all parameters of a kernel, and the name of the entry made for it.

    Without a `symbol` the name follows from the kernel's name and the parameters.
    """

    parameters: tuple[Parameter, ...]
    calling_convention: CallingConvention
    symbol: str | None

    def __init__(
        self,
        parameters: Sequence[Any],
        calling_convention: CallingConvention | None = None,
        symbol: str | None = None,
    ):
        convention = calling_convention or CallingConvention.cutile_python_v2()
        object.__setattr__(self, "parameters", tuple(map(as_parameter, parameters)))
        object.__setattr__(self, "calling_convention", convention)
        object.__setattr__(self, "symbol", symbol)

    @property
    def signature(self) -> Signature:
        """What is known of the parameters, without a name for the entry."""
        return Signature(self.parameters)

    def with_symbol(self, symbol: str | None) -> KernelSignature:
        """The same signature for an entry of another name; None: a name that follows from it."""
        return replace(self, symbol=symbol)

    def with_mangled_symbol(self, function_name: str) -> KernelSignature:
        """The same signature with the name that cuTile gives to the entry of a function."""
        return self.with_symbol(mangle_kernel_name(function_name, self))

    @staticmethod
    def from_kernel_args(
        kernel: Kernel,
        kernel_args: Sequence[Any],
        calling_convention: CallingConvention | None = None,
        *,
        symbol: str | None = None,
    ) -> KernelSignature:
        """The signature that a launch with these arguments would have. It promises what happens
        to hold for them, such as that addresses are multiples of 16."""
        from ..runtime.array_view import view
        from ..runtime.specialize import rule_of, specialize

        rules = tuple(map(rule_of, kernel.parameters))
        found = specialize(kernel.name, rules, kernel_args, view).signature
        signature = KernelSignature(found.parameters, calling_convention, symbol)
        return signature if symbol is not None else signature.with_mangled_symbol(kernel.name)


def mangle_kernel_name(function_name: str, signature: KernelSignature) -> str:
    """The name of the entry for a signature: the function's name and a code a parameter."""
    return mangle(function_name, signature.calling_convention.code, signature.parameters)


def demangle_kernel_name(symbol: str) -> tuple[str, KernelSignature]:
    """The function's name and the signature that a name stands for. Raises ValueError."""
    name, convention, parameters = demangle(symbol)
    return name, KernelSignature(parameters, CallingConvention(convention), symbol)


def export_kernel(
    kernel: Kernel,
    signatures: Sequence[KernelSignature],
    output_file: IO[bytes] | str | bytes | os.PathLike[str],
    *,
    gpu_code: str | None = None,
    output_format: Literal["cubin", "ptx", "tileir_bytecode", "mlir"],
    bytecode_version: str | None = None,
) -> None:
    """Compiles a kernel for one or more signatures into a file, or a binary file object.

    `gpu_code` is the target (`sm_90`); `tileir_bytecode` and `mlir` need none.  Formats are those
    of NVIDIA's binaries, PTX, Tile IR bytecode of the given version, and our text.
    """
    if output_format not in ("cubin", "ptx", "tileir_bytecode", "mlir"):
        raise ValueError(f"unknown output format '{output_format}'")
    if not signatures:
        raise ValueError("a kernel is exported for one or more signatures")
    if gpu_code is None and output_format in ("cubin", "ptx"):
        raise ValueError(f"gpu_code, such as 'sm_90', is needed for '{output_format}'")
    data = _compiled(kernel, signatures, gpu_code, output_format, bytecode_version)
    if isinstance(output_file, (str, bytes, os.PathLike)):
        with open(output_file, "wb") as file:
            file.write(data)
    else:
        output_file.write(data)


def _compiled(
    kernel: Kernel,
    signatures: Sequence[KernelSignature],
    gpu_code: str | None,
    output_format: str,
    bytecode_version: str | None,
) -> bytes:
    from .trace import trace

    entries = [
        (each.symbol or mangle_kernel_name(kernel.name, each), each.signature)
        for each in signatures
    ]
    module = trace(kernel, entries, gpu_code or "sm_90a")
    if output_format == "mlir":
        return str(module).encode()
    if output_format == "tileir_bytecode":
        from ..bytecode import write_bytecode

        return write_bytecode(module, bytecode_version or "13.3")
    from ..compiler import compile

    assert gpu_code is not None
    level = kernel.hints.level(gpu_code.rstrip("af"))
    program = compile(module, target=gpu_code, opt_level=level)
    return program.cubin if output_format == "cubin" else program.ptx.encode()
