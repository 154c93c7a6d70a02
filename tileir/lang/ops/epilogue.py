"""Matrix products with what usually follows them."""

from __future__ import annotations

from typing import Any

from ..builder import current_builder
from ..constants import constant
from ..dtypes import float32
from ..errors import TileValueError
from ..values import Tile, describe
from .activations import activation_named
from .arithmetic import add, mul
from .casts import convert
from .common import broadcast, broadcast_shapes, dtype_argument, is_number, operand
from .matmul import ACCUMULATORS, _check_operands, _result_shape, _tile, mma


def dot(
    x: Tile,
    y: Tile,
    /,
    acc: Tile | None = None,
    *,
    scale: Any = None,
    bias: Any = None,
    activation: Any = None,
    residual: Any = None,
    out_dtype: Any = None,
) -> Tile:
    """`x @ y`, accumulated in the widest dtype there is for it, with an epilogue.

    Operands are those of `mma`; `acc` is added to the product. The rest is as in `epilogue`; the
    result has `out_dtype`, by default that of the accumulator.
    """
    left, right = _tile(x, "x"), _tile(y, "y")
    if acc is None:
        _check_operands(left, right)
        shape = _result_shape(left, right)
        acc = constant(current_builder(), 0, ACCUMULATORS[left.dtype][-1], shape)
    product = mma(left, right, acc)
    return epilogue(
        product,
        scale=scale,
        bias=bias,
        activation=activation,
        residual=residual,
        out_dtype=out_dtype,
    )


def epilogue(
    acc: Tile,
    /,
    *,
    scale: Any = None,
    bias: Any = None,
    activation: Any = None,
    residual: Any = None,
    out_dtype: Any = None,
) -> Tile:
    """`activation(acc * scale + bias) + residual` in `out_dtype`: what follows a product that was
    accumulated in a loop.

    `scale`, `bias` and `residual` are numbers or tiles that broadcast to `acc`: a 1-D tile goes
    along its columns, `b[:, None]` along its rows. `activation` is "relu", "gelu", "gelu_tanh",
    "sigmoid", "silu", "tanh" or a function of a tile. All is computed in float32 unless `acc` is
    float64, and rounded once at the end.
    """
    total = _tile(acc, "acc")
    target = total.dtype if out_dtype is None else dtype_argument(out_dtype, "out_dtype")
    value = total
    given = (scale, bias, activation, residual)
    if any(each is not None for each in given) and not _is_wide(total):
        value = convert(total, float32)
    if scale is not None:
        value = mul(value, _term(scale, value, "scale"))
    if bias is not None:
        value = add(value, _term(bias, value, "bias"))
    if activation is not None:
        value = activation_named(activation)(value)
    if residual is not None:
        value = add(value, _term(residual, value, "residual"))
    return convert(value, target)


def _is_wide(tile: Tile) -> bool:
    return tile.dtype.is_float and tile.dtype.bitwidth >= 32


def _term(value: Any, like: Tile, name: str) -> Any:
    """A scale, bias or residual in the dtype and shape of the accumulator."""
    term = operand(value, name)
    if is_number(term):
        return term
    assert isinstance(term, Tile)
    if broadcast_shapes(term.shape, like.shape) != like.shape:
        raise TileValueError(
            f"'{name}' is {describe(term)}, which does not broadcast to {list(like.shape)}"
        )
    return broadcast(convert(term, like.dtype), like.shape)
