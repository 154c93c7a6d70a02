"""Functions of floating-point numbers, against NumPy in a wider format.

Bounds, in ulp, are the maximum errors that the CUDA C++ Programming Guide states for the functions
of libdevice ("Mathematical Functions", full range), and PTX ISA for the hardware's approximations.
f16 and bf16 are computed in f32 and rounded: half an ulp, and a little for what was half way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tileir.runtime.tolerance import Tolerance

from .float_arithmetic import COUNT, TILE, Elementwise
from .kernel import Kernel, tile
from .values import FLOATS, float_pairs, floats, generator, moderate

Wide = np.ndarray
_SMALLEST_NORMAL = 2.0**-126


@dataclass(frozen=True)
class Function:
    """An operation of one operand: its reference, its errors in f32 and f64 in ulp, and where its
    interesting arguments lie (2^-spread to 2^spread)."""

    name: str
    reference: Callable[[Wide], Wide]
    ulps_f32: float
    ulps_f64: float
    spread: int = 6
    suffixes: tuple[str, ...] = ("",)
    flushes: bool = False


def _rsqrt(x: Wide) -> Wide:
    return 1 / np.sqrt(x)


_FUNCTIONS = (
    Function("exp", np.exp, 2, 1),
    Function("exp2", np.exp2, 2, 1, flushes=True),
    Function("log", np.log, 1, 1, 30),
    Function("log2", np.log2, 1, 1, 30),
    Function("sin", np.sin, 2, 2, 20),
    Function("cos", np.cos, 2, 2, 20),
    Function("tan", np.tan, 4, 2, 20),
    Function("sinh", np.sinh, 3, 2),
    Function("cosh", np.cosh, 2, 1),
    Function("tanh", np.tanh, 2, 2),
    Function("rsqrt", _rsqrt, 2, 1, 30, flushes=True),
)


def _wide(x: np.ndarray, element: str) -> Wide:
    # By 1, since a conversion may leave NaN signalling, of which C's pow makes NaN where it should
    # give 1.
    return x.astype(np.longdouble if element == "f64" else np.float64) * 1


def _bound(element: str, ulps_f32: float, ulps_f64: float) -> Tolerance:
    """f64 has its reference rounded once more; an f32 bound is met by the rounding of halves."""
    return Tolerance({"f64": ulps_f64 + 0.5, "f32": ulps_f32}.get(element, 0.52))


def _truth(reference: Callable[..., Wide], element: str, *arguments: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return reference(*(_wide(x, element) for x in arguments)).astype(np.float64)


def _flush(x: Wide) -> Wide:
    return np.where(np.abs(x) < _SMALLEST_NORMAL, np.copysign(0.0, x), x)


def _arguments(element: str, function: Function) -> np.ndarray:
    rng = generator(element, function.name)
    limit = min(function.spread, 14) if element == "f16" else function.spread
    half = moderate(element, COUNT // 2, rng, limit)
    return np.concatenate([floats(element, COUNT // 2, function.name), half])


def _unary(element: str) -> Iterator[Kernel]:
    for part in range(0, len(_FUNCTIONS), 4):
        k = Elementwise(f"functions{part // 4}_{element}", element)
        for function in _FUNCTIONS[part : part + 4]:
            x = _arguments(element, function)
            (name,) = k.load(x)
            bound = _bound(element, function.ulps_f32, function.ulps_f64)
            k.judge(f"{function.name} {name} : {k.type}", function.name, bound,
                    expected=_truth(function.reference, element, x))  # fmt: skip
            if function.flushes and element == "f32":
                truth = _truth(lambda v, f=function: _flush(f.reference(_flush(v))), element, x)
                k.judge(f"{function.name} {name} flush_to_zero : {k.type}",
                        f"{function.name} flush_to_zero", bound, expected=truth)  # fmt: skip
        yield k.kernel


def _approximations() -> Kernel:
    """The hardware's `tanh` errs by 2^-11 of the value; `exp` by 2 + |1.173 x| ulp (`__expf`)."""
    k = Elementwise("approximate_functions_f32", "f32")
    x = np.concatenate([floats("f32", COUNT // 2, "tanh"), _arguments("f32", _FUNCTIONS[0])])[
        :COUNT
    ]
    (name,) = k.load(x)
    k.judge(f"tanh {name} rounding<approx> : {k.type}", "tanh approx",
            Tolerance(None, rtol=2.0**-10.9), expected=_truth(np.tanh, "f32", x))  # fmt: skip
    rng = generator("exp", "approx")
    for limit in (4, 80):
        y = rng.uniform(-limit, limit, COUNT).astype(np.float32)
        (name,) = k.load(y)
        k.judge(f"exp {name} rounding<approx> : {k.type}", f"exp approx up to {limit}",
                Tolerance(2 + 1.173 * limit + 1), expected=_truth(np.exp, "f32", y))  # fmt: skip
    return k.kernel


def _binary(element: str) -> Kernel:
    k = Elementwise(f"binary_functions_{element}", element)
    a, b = float_pairs(element, COUNT, "atan2")
    x, y = k.load(a, b)
    k.judge(f"atan2 {x}, {y} : {k.type}", "atan2", _bound(element, 3, 2),
            expected=_truth(np.arctan2, element, a, b))  # fmt: skip
    power = _bound(element, 4, 2)
    k.judge(f"fpowf {x}, {y} : {k.type}", "fpowf", power,
            expected=_truth(np.power, element, a, b))  # fmt: skip
    rng = generator(element, "pow")
    base, exponent = np.abs(moderate(element, COUNT, rng)), moderate(element, COUNT, rng, 4)
    x, y = k.load(base, exponent)
    k.judge(f"fpowf {x}, {y} : {k.type}", "fpowf of moderate numbers", power,
            expected=_truth(np.power, element, base, exponent))  # fmt: skip
    return k.kernel


def _integer_power(element: str) -> Kernel:
    """Repeated multiplication: each of up to 2 log2 n products and a division round once, and
    squaring doubles what has gone wrong, so the error grows like n."""
    k = Elementwise(f"fpowi_{element}", element)
    rng = generator(element, "powi")
    base = moderate(element, COUNT, rng, 1)
    (x,) = k.load(base)
    for integer in ("i8", "i16", "i32"):
        n = rng.integers(-10, 11, COUNT).astype(f"int{integer[1:]}")
        exponent = k.kernel.load(n, integer)
        truth = _truth(lambda v, n=n: np.power(v, n.astype(v.dtype)), element, base)
        tolerance = Tolerance(12.0) if element in ("f32", "f64") else Tolerance(0.52)
        k.judge(f"fpowi {x}, {exponent} : {k.type}, {tile([TILE], integer)}", f"fpowi {integer}",
                tolerance, expected=truth)  # fmt: skip
    special = floats(element, COUNT, "powi")
    m = rng.integers(0, 3, COUNT).astype(np.int32)
    (x,) = k.load(special)
    exponent = k.kernel.load(m, "i32")
    truth = _truth(lambda v: np.power(v, m.astype(v.dtype)), element, special)
    k.judge(f"fpowi {x}, {exponent} : {k.type}, {tile([TILE], 'i32')}", "fpowi 0 to 2",
            Tolerance(1.0), expected=truth)  # fmt: skip
    return k.kernel


def kernels() -> Iterator[Kernel]:
    for element in FLOATS:
        yield from _unary(element)
        yield _binary(element)
        yield _integer_power(element)
    yield _approximations()
