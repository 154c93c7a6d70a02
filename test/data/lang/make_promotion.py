"""Writes promotion.json: the dtype that cuda.tile gives a choice between two dtypes.

    python test/data/lang/make_promotion.py

Needs cuda-tile 1.7.0. `null` stands for an error. What two dtypes promote to is read from the
message of a failing static assertion, so only the public interface is used.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import cuda.tile as ct
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    KernelSignature,
    export_kernel,
)

HERE = Path(__file__).resolve().parent
DTYPES = [
    *["bool_", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"],
    *["float16", "bfloat16", "float32", "float64"],
    *["tfloat32", "float8_e4m3fn", "float8_e5m2"],
]
NUMBERS = {"bool": True, "int": 3, "float": 1.5}


@ct.kernel
def of_arrays(x, y):
    left, right = ct.load(x, (0,), (4,)), ct.load(y, (0,), (4,))
    chosen = ct.where(ct.bid(0) > 0, left, right)
    ct.static_assert(False, f"dtype={chosen.dtype}")


@ct.kernel
def with_number(x, number: ct.Constant):
    chosen = ct.where(ct.bid(0) > 0, ct.load(x, (0,), (4,)), number)
    ct.static_assert(False, f"dtype={chosen.dtype}")


def array(name: str) -> ArrayConstraint:
    return ArrayConstraint(
        getattr(ct, name),
        1,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
    )


def asserted_dtype(kernel, parameters) -> str | None:
    signature = KernelSignature(parameters, CallingConvention.cutile_python_v2(), symbol="kernel")
    try:
        export_kernel(
            kernel,
            [signature],
            io.BytesIO(),
            gpu_code="sm_90",
            output_format="tileir_bytecode",
            bytecode_version="13.3",
        )
    except ct.TileStaticAssertionError as error:
        found = re.search(r"dtype=(\w+)", str(error))
        return found and found[1]
    except ct.TileTypeError:
        return None
    raise AssertionError("the assertion holds")


def main() -> None:
    table = {
        left: {
            **{right: asserted_dtype(of_arrays, [array(left), array(right)]) for right in DTYPES},
            **{name: asserted_dtype(with_number, [array(left), n]) for name, n in NUMBERS.items()},
        }
        for left in DTYPES
    }
    rows = [f' "{left}": {json.dumps(row)}' for left, row in table.items()]
    (HERE / "promotion.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
