"""The two kernels of the demo, in cuTile Python.

    pip install cuda-tile==1.7.0 && python examples/kernels.py

writes `matmul_bias_relu.tilebc` and `row_softmax.tilebc` (Tile IR bytecode 13.3) beside this
file.  Neither a GPU nor NVIDIA's compiler is needed; the files are checked in, so that the demo
does not need cuda-tile either.
"""

import inspect
import os
from pathlib import Path
from types import SimpleNamespace

os.environ.setdefault("CUDA_TILE_CACHE_DIR", "off")

import cuda.tile as ct
from cuda.tile._passes import ast2hir
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    ConstantConstraint,
    KernelSignature,
    export_kernel,
)

ConstInt = ct.Constant[int]
ZERO, NEG_INF = ct.PaddingMode.ZERO, ct.PaddingMode.NEG_INF


@ct.kernel
def matmul_bias_relu(a, b, bias, c, TM: ConstInt, TN: ConstInt, TK: ConstInt):
    """c = relu(a @ b + bias), one output tile per block; f16 in and out, f32 accumulator."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(TM, TK))):
        lhs = ct.load(a, (i, k), (TM, TK), padding_mode=ZERO)
        rhs = ct.load(b, (k, j), (TK, TN), padding_mode=ZERO)
        acc = ct.mma(lhs, rhs, acc)
    row = ct.load(bias, (j,), (TN,), padding_mode=ZERO).astype(ct.float32)
    ct.store(c, (i, j), ct.maximum(acc + row, 0.0).astype(c.dtype))


@ct.kernel
def row_softmax(x, out, TN: ConstInt):
    """out = softmax(x) along rows, one row per block; columns beyond the edge count as -inf."""
    row = ct.bid(0)
    v = ct.load(x, (row, 0), (1, TN), padding_mode=NEG_INF).astype(ct.float32)
    e = ct.exp(v - ct.max(v, axis=1, keepdims=True))
    ct.store(out, (row, 0), (e / ct.sum(e, axis=1, keepdims=True)).astype(out.dtype))


def array(dtype, rank):
    """What cuTile knows of a 16-byte aligned array whose rows have a multiple of 8 elements."""
    return ArrayConstraint(
        dtype,
        rank,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=[None] * (rank - 1) + [1],
        stride_divisible_by=[8] * (rank - 1) + [1],
        shape_divisible_by=[1] * (rank - 1) + [8],
        base_addr_divisible_by=16,
    )


def export(kernel, name, *parameters):
    signature = KernelSignature(parameters, CallingConvention.cutile_python_v2(), symbol=name)
    export_kernel(
        kernel,
        [signature],
        Path(__file__).with_name(f"{name}.tilebc"),
        gpu_code="sm_90",
        output_format="tileir_bytecode",
        bytecode_version="13.3",
    )


def main():
    # Debug locations say examples/kernels.py, wherever this file lies.
    name = {"getfile": lambda function: f"examples/{Path(inspect.getfile(function)).name}"}
    ast2hir.inspect = SimpleNamespace(**{**vars(inspect), **name})
    matrix, vector = array(ct.float16, 2), array(ct.float16, 1)
    tile = [ConstantConstraint(extent) for extent in (128, 128, 64)]
    export(matmul_bias_relu, "matmul_bias_relu", matrix, matrix, vector, matrix, *tile)
    export(row_softmax, "row_softmax", matrix, matrix, ConstantConstraint(1024))


if __name__ == "__main__":
    main()
