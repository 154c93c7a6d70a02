"""Shared machinery of kernels.py: case format, signatures, flat entry parameters, data.

A *case* is a plain dict; `Suite.family` turns a builder function into one case per
parameter set.  A builder returns the kernel-specific half:

    kernel      the `ct.kernel` object
    args        seed -> list of kernel arguments, one per Python parameter of the kernel, in
                order: numpy array | list of numpy arrays | typed numpy scalar (run-time
                scalar) | `Const(value)` (ct.Constant parameter) | tuple of scalars
    outputs     indices (into the argument list) of the arrays the kernel writes
    reference   args -> list of expected arrays, one per output, computed from *unmodified*
                args.  float64 where rounding is a matter of tolerance, the exact dtype otherwise
    grid        (x, y, z)
    rtol, atol, reason
    stdout      optional: args -> list of text lines the kernel prints, in any order
    check       optional: (args, got) -> None; replaces the elementwise comparison and raises
                AssertionError (for outputs that are only determined up to a permutation)
    min_bytecode, targets, notes, constraints (all optional)

and the suite adds name, family, symbol, signature, expand, perf_shape, and `sample`: arguments
with the right shapes and scalars but zeros in the arrays.
"""

import contextlib
import zlib
from dataclasses import dataclass

import cuda.tile as ct
import ml_dtypes
import numpy as np
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    KernelSignature,
    ListConstraint,
    ScalarConstraint,
)

bf16 = np.dtype(ml_dtypes.bfloat16)
e4m3 = np.dtype(ml_dtypes.float8_e4m3fn)
e5m2 = np.dtype(ml_dtypes.float8_e5m2)
f16, f32, f64 = (np.dtype(t) for t in ("float16", "float32", "float64"))
i8, i16, i32, i64 = (np.dtype(t) for t in ("int8", "int16", "int32", "int64"))
u8, u16, u32, u64 = (np.dtype(t) for t in ("uint8", "uint16", "uint32", "uint64"))

CT_DTYPE = {
    np.dtype(np.bool_): ct.bool_,
    f16: ct.float16,
    f32: ct.float32,
    f64: ct.float64,
    bf16: ct.bfloat16,
    e4m3: ct.float8_e4m3fn,
    e5m2: ct.float8_e5m2,
    i8: ct.int8,
    i16: ct.int16,
    i32: ct.int32,
    i64: ct.int64,
    u8: ct.uint8,
    u16: ct.uint16,
    u32: ct.uint32,
    u64: ct.uint64,
}
NP_DTYPE = {v: k for k, v in CT_DTYPE.items()}


@dataclass(frozen=True)
class Const:
    """A compile-time constant argument; it does not exist in the compiled entry's ABI."""

    value: object


@dataclass(frozen=True)
class PointerTable:
    """Entry parameter of a list-of-arrays argument: a device pointer to 64-bit words.

    `words(address_of)` gives the table: per array its address, shape and strides (elements).
    """

    arrays: tuple

    def words(self, address_of):
        rows = [[address_of(a), *a.shape, *element_strides(a)] for a in self.arrays]
        return np.array(rows, dtype=np.int64).reshape(-1)


def cdiv(a, b):
    return -(-a // b)


def next_pow2(n):
    return 1 << max(0, int(n) - 1).bit_length()


def element_strides(a):
    return tuple(s // a.itemsize for s in a.strides)


def owner(a):
    """The buffer behind a (possibly strided) array argument and a's element offset in it.

    A launcher copies the whole owner to the device and passes its address plus the offset.
    """
    root = a
    while isinstance(root.base, np.ndarray):
        root = root.base
    offset = (a.__array_interface__["data"][0] - root.__array_interface__["data"][0]) // a.itemsize
    return root, offset


# ------------------------------------------------------------------------------ signatures


def array_constraint(
    a,
    index_dtype=ct.int32,
    assume_divisible=True,
    static_shape=(),
    alias_groups=(),
    may_alias_internally=False,
):
    """The facts cuda.tile's dispatcher derives from a 16-byte aligned array like `a`.

    `assume_divisible=False` drops every divisibility fact; `static_shape` lists dimensions
    whose extent becomes a compile-time constant (as ArrayAnnotation(static_shape_dims) does).
    """
    strides, per16 = element_strides(a), max(1, 16 // a.itemsize)

    def stride_div(s):
        return per16 if assume_divisible and s != 1 and (s * a.itemsize) % 16 == 0 else 1

    def shape_div(d):
        return 16 if assume_divisible and d > 1 and d % 16 == 0 else 1

    fixed = [d if (d == 1 or i in static_shape) else None for i, d in enumerate(a.shape)]
    return ArrayConstraint(
        CT_DTYPE[a.dtype],
        a.ndim,
        index_dtype=index_dtype,
        stride_lower_bound_incl=0,
        alias_groups=alias_groups,
        may_alias_internally=may_alias_internally,
        stride_constant=[1 if s == 1 else None for s in strides],
        shape_constant=fixed,
        stride_divisible_by=[stride_div(s) for s in strides],
        shape_divisible_by=[
            1 if f is not None else shape_div(d) for f, d in zip(fixed, a.shape, strict=True)
        ],
        base_addr_divisible_by=16 if assume_divisible else 1,
    )


def _constraint(arg, options):
    if isinstance(arg, Const):
        return arg.value
    if isinstance(arg, list):
        # The element constraint keeps only what holds for every array of the list.
        n = arg[0].ndim
        unit = [1 if all(element_strides(a)[i] == 1 for a in arg) else None for i in range(n)]
        element = ArrayConstraint(
            CT_DTYPE[arg[0].dtype],
            n,
            index_dtype=ct.int32,
            stride_lower_bound_incl=0,
            alias_groups=(),
            may_alias_internally=False,
            stride_constant=unit,
            base_addr_divisible_by=16,
        )
        return ListConstraint(element, alias_groups=(), elements_may_alias=False)
    if isinstance(arg, tuple):
        return tuple(_constraint(x, options) for x in arg)
    if isinstance(arg, np.ndarray):
        return array_constraint(arg, **options)
    if isinstance(arg, np.generic):
        return ScalarConstraint(CT_DTYPE[arg.dtype])
    raise TypeError(f"unsupported kernel argument {type(arg)}")


def make_signature(args, symbol, constraints=None):
    """KernelSignature for concrete arguments; `constraints`: {index: array_constraint options}."""
    options = constraints or {}
    params = [_constraint(a, options.get(i, {})) for i, a in enumerate(args)]
    return KernelSignature(params, CallingConvention.cutile_python_v2(), symbol=symbol)


# ------------------------------------------------------------------------------------ ABI


def make_expand(constraints=None):
    """args -> flat entry parameters: array (= its pointer), then shape, then strides.

    Shapes and strides are numpy int32 (int64 if the array's index_dtype option says so),
    strides count elements.  Run-time scalars pass through, bools as one byte, constants vanish.
    """
    options = constraints or {}

    def expand(args):
        flat = []
        for i, arg in enumerate(args):
            if isinstance(arg, Const):
                continue
            if isinstance(arg, list):
                flat += [PointerTable(tuple(arg)), np.int32(len(arg))]
            elif isinstance(arg, tuple):
                flat += [x for x in arg if not isinstance(x, Const)]
            elif isinstance(arg, np.ndarray):
                wide = options.get(i, {}).get("index_dtype", ct.int32) == ct.int64
                word = np.int64 if wide else np.int32
                flat += [arg, *map(word, arg.shape), *map(word, element_strides(arg))]
            else:
                flat.append(arg)
        return flat

    return expand


# ---------------------------------------------------------------------------------- suites


class Suite:
    """Ordered collection of case families."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.families = []

    def family(self, *small, perf=None):
        """Register a builder with its small parameter sets (each has a `tag`) and perf shape."""

        def register(build):
            self.families.append((build, small, perf))
            return build

        return register

    def _case(self, build, params, perf):
        params = dict(params)
        tag = params.pop("tag", "")
        case = build(**params)
        name = build.__name__ + (f"_{tag}" if tag else "")
        symbol = f"{self.prefix}_{name}"
        constraints = case.get("constraints")
        with shapes_only():
            sample = case["args"](0)
        case.setdefault("min_bytecode", "13.1")
        case.setdefault("targets", ("sm_90",))
        case.update(
            name=name,
            family=build.__name__,
            params=params,
            symbol=symbol,
            signature=make_signature(sample, symbol, constraints),
            expand=make_expand(constraints),
            sample=sample,
            perf_shape=perf,
        )
        return case

    def cases(self):
        for build, small, perf in self.families:
            for params in small:
                yield self._case(build, params, perf)

    def perf_cases(self):
        """The larger shapes; arguments are big and references may take minutes."""
        for build, _, perf in self.families:
            if perf is not None:
                yield self._case(build, {"tag": "perf", **perf}, perf)


# ------------------------------------------------------------------------------ data helpers

_shapes_only = False


@contextlib.contextmanager
def shapes_only():
    """Inside this block the helpers below return (lazily mapped) zeros: enough for a signature,
    and free even for perf shapes."""
    global _shapes_only
    saved, _shapes_only = _shapes_only, True
    try:
        yield
    finally:
        _shapes_only = saved


def rng(seed, salt=""):
    return np.random.default_rng([seed, zlib.crc32(salt.encode())])


def lazily(shape, dtype, compute):
    """compute().astype(dtype), or just an array of that shape when only shapes matter."""
    if _shapes_only:
        return np.zeros(shape, dtype)
    a = compute().astype(dtype, copy=False)
    want = (shape,) if isinstance(shape, int) else tuple(shape)
    assert a.shape == want, f"{a.shape} instead of {want}"
    return a


def normal(r, shape, dtype, scale=1.0):
    wide = np.float64 if dtype == f64 else np.float32
    return lazily(shape, dtype, lambda: r.standard_normal(shape, dtype=wide) * wide(scale))


def uniform(r, shape, dtype, lo=-1.0, hi=1.0):
    wide = np.float64 if dtype == f64 else np.float32
    return lazily(shape, dtype, lambda: r.random(shape, dtype=wide) * wide(hi - lo) + wide(lo))


def sentinel(shape, dtype):
    """Initial content of an output array: a value no kernel produces, to expose missing stores."""
    dtype = np.dtype(dtype)
    if _shapes_only:
        return np.zeros(shape, dtype)
    if dtype.kind in "iu":
        return np.full(shape, np.iinfo(dtype).max // 3, dtype)
    if dtype.kind == "b":
        return np.zeros(shape, dtype)
    return np.full(shape, 77.0, dtype)


def padded_rows(a, pad):
    """The same matrix living in a wider buffer (row stride = columns + pad elements)."""
    wide = np.zeros((*a.shape[:-1], a.shape[-1] + pad), a.dtype)
    if _shapes_only:
        return wide[..., : a.shape[-1]]
    wide[..., a.shape[-1] :] = 55
    wide[..., : a.shape[-1]] = a
    return wide[..., : a.shape[-1]]


def grow(atol, terms):
    """Absolute tolerance of a sum of many products: proportional beyond 256 terms."""
    return atol * max(1.0, terms / 256)


def F(a):
    """Any array as float64."""
    return np.asarray(a).astype(np.float64)
