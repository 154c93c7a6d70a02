"""Launches hand-written GEMM kernels, to be compared with; they are not part of this repository.

A folder has `NAME.cubin` and `NAME.json` for each kernel, and `launches.json`: for each product
the kernel to use. A kernel's JSON names threads, shared memory, cluster, tile, and for each of A, B
and C the box and swizzle of its tensor map; its entry `foo` takes three tensor maps, five pointers
(A, B, C, bias, workspace) and seven integers (M, N, K, three leading dimensions, raster group).
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from cuda.bindings import driver as cu
from gemm_program import Gemm

_MAP_TYPES = {
    "bf16": "BFLOAT16", "f16": "FLOAT16", "e4m3": "UINT8", "s8": "UINT8", "tf32": "FLOAT32",
    "f32": "FLOAT32", "s32": "INT32",
}  # fmt: skip
_NAMES = {"f8E4M3FN": "e4m3", "i8": "s8"}
_PROMOTIONS = {0: "NONE", 64: "L2_64B", 128: "L2_128B", 256: "L2_256B"}


def _check(result: tuple[Any, ...]) -> Any:
    if result[0] != cu.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(result[0]))
    return result[1] if len(result) > 1 else None


def kernels(folder: Path, gemm: Gemm, shape: tuple[int, int, int]) -> list[HandWritten]:
    """The kernels of `folder` that are meant for this product."""
    found = []
    for one in json.loads((folder / "launches.json").read_text()):
        same = one["shape"] == list(shape) and one["b"] == gemm.b
        dtype = _NAMES.get(gemm.dtype, gemm.dtype)
        same &= one["dtype"] == dtype and one.get("epi", "") == gemm.epilogue
        if same and bool(one.get("promote")) == bool(gemm.promote):
            found.append(HandWritten(folder, one))
    return found


@dataclass
class HandWritten:
    folder: Path
    how: dict[str, Any]

    @property
    def name(self) -> str:
        return self.how["kernel"]

    def launcher(
        self, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, bias: torch.Tensor | None
    ) -> Callable[[], Any]:
        meta = json.loads((self.folder / f"{self.name}.json").read_text())
        function = self._function(meta)
        promotion = self.how.get("promo", 256)
        maps = [
            _tensor_map(a, meta["dtype"], meta["boxes"]["a"], meta["swz"]["a"], promotion),
            _tensor_map(b, meta["dtype"], meta["boxes"]["b"], meta["swz"]["b"], promotion),
            _tensor_map(c, meta["out"], meta["boxes"]["d"], meta["swz"]["d"], 256),
        ]
        workspace = torch.zeros(1 << 24, dtype=torch.uint8, device="cuda")
        m, k = a.shape
        n = c.shape[1]
        group = max(1, self.how.get("group", 16) // meta["cm"])
        arrays = (a, b, c, bias if bias is not None else c, workspace)
        pointers = [ctypes.c_uint64(array.data_ptr()) for array in arrays]
        sizes = (m, n, k, a.stride(0), b.stride(0), c.stride(0), group)
        integers = [ctypes.c_int(size) for size in sizes]
        addresses = [one.getPtr() for one in maps]
        addresses += [ctypes.addressof(one) for one in [*pointers, *integers]]
        table = (ctypes.c_void_p * len(addresses))(*addresses)
        grid = self._grid(meta, m, n)
        stream = torch.cuda.current_stream().cuda_stream
        keep = (maps, pointers, integers, workspace, arrays)

        def launch(keep: Any = keep) -> None:
            _check(
                cu.cuLaunchKernel(
                    function, grid, 1, 1, meta["threads"], 1, 1, meta["smem"], stream,
                    ctypes.addressof(table), 0,
                )
            )  # fmt: skip

        return launch

    def _function(self, meta: dict[str, Any]) -> Any:
        code = (self.folder / f"{self.name}.cubin").read_bytes()
        library = _check(cu.cuLibraryLoadData(code, [], [], 0, [], [], 0))
        function = _check(cu.cuKernelGetFunction(_check(cu.cuLibraryGetKernel(library, b"foo"))))
        attribute = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        _check(cu.cuFuncSetAttribute(function, attribute, meta["smem"]))
        return function

    def _grid(self, meta: dict[str, Any], m: int, n: int) -> int:
        multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
        tiles = -(-m // (meta["bm"] * meta["cm"])) * -(-n // (meta["bn"] * meta["cn"]))
        slots = self.how.get("ctas", multiprocessors) // meta["csize"]
        persistent = not (meta["once"] or meta["split"] > 1 or meta["wsplit"] > 1)
        blocks = min(tiles, slots) if persistent else tiles
        return blocks * meta["csize"] * meta["wsplit"]


def _tensor_map(array: torch.Tensor, dtype: str, box: list[int], swizzle: int, promo: int) -> Any:
    prefix = "CU_TENSOR_MAP_"
    return _check(
        cu.cuTensorMapEncodeTiled(
            getattr(cu.CUtensorMapDataType, f"{prefix}DATA_TYPE_{_MAP_TYPES[dtype]}"),
            2,
            array.data_ptr(),
            [cu.cuuint64_t(size) for size in reversed(array.shape)],
            [cu.cuuint64_t(array.stride(0) * array.element_size())],
            [cu.cuuint32_t(size) for size in box],
            [cu.cuuint32_t(1)] * 2,
            cu.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            getattr(cu.CUtensorMapSwizzle, f"{prefix}SWIZZLE_{swizzle}B"),
            getattr(cu.CUtensorMapL2promotion, f"{prefix}L2_PROMOTION_{_PROMOTIONS[promo]}"),
            cu.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    )
