"""The dialects from Python: types, attributes, dense elements, passes by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import ml_dtypes
import numpy as np
import pytest
from mlir import ir
from mlir.passmanager import PassManager

from tileir.dialects import cuda_tile as ct
from tileir.dialects import make_context, register_pass, register_pipeline
from tileir.errors import TileError, VerificationError


@pytest.fixture(autouse=True)
def context() -> Iterator[ir.Context]:
    context = make_context()
    with context, ir.Location.file("k.py", 3, 4):
        yield context


def test_tile_type() -> None:
    tile = ct.TileType.get([64, 32], ir.F16Type.get())
    assert str(tile) == "!cuda_tile.tile<64x32xf16>"
    assert (tile.shape, tile.rank, tile.num_elements) == ([64, 32], 2, 2048)
    assert tile.element_type == ir.F16Type.get()
    assert tile.with_element(ir.F32Type.get()) == ir.Type.parse("!cuda_tile.tile<64x32xf32>")
    assert list(ir.ShapedType(tile).shape) == [64, 32]
    assert isinstance(ir.Type.parse("!cuda_tile.tile<f32>"), ct.TileType)


def test_views() -> None:
    f32 = ir.F32Type.get()
    tensor = ct.TensorViewType.get([ct.DYNAMIC, 64], f32, [ct.DYNAMIC, 1])
    assert str(tensor) == "!cuda_tile.tensor_view<?x64xf32, strides=[?,1]>"
    assert (tensor.shape, tensor.strides) == ([ct.DYNAMIC, 64], [ct.DYNAMIC, 1])
    partition = ct.PartitionViewType.get([8, 16], tensor, [1, 0], ct.PaddingValue.NaN)
    assert partition.dim_map == [1, 0]
    assert partition.padding_value == ct.PaddingValue.NaN
    assert partition.tile_type == ct.TileType.get([8, 16], f32)
    assert partition.tensor_view == tensor
    assert ct.PartitionViewType.get([8, 16], tensor).padding_value is None
    strided = ct.StridedViewType.get([8, 16], [4, 3], tensor)
    assert (strided.traversal_strides, strided.dim_map) == ([4, 3], [0, 1])
    assert ct.GatherScatterViewType.get([8, 16], tensor, 1).sparse_dim == 1


def test_pointers() -> None:
    pointer = ct.PtrType.get(ir.F32Type.get(), ct.PtrKind.Multicast)
    assert str(ct.TileType.get([], pointer)) == "!cuda_tile.tile<ptr<f32, <multicast>>>"
    assert (pointer.pointee, pointer.kind) == (ir.F32Type.get(), ct.PtrKind.Multicast)
    assert ct.PtrType.get(ir.F32Type.get()).kind is None


def f32_view() -> ct.TensorViewType:
    return ct.TensorViewType.get([8], ir.F32Type.get(), [1])


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: ct.TileType.get([0], ir.F32Type.get()), "tile dimension 0 must be positive"),
        (lambda: ct.TileType.get([2**63], ir.F32Type.get()), "is not between"),
        (lambda: ct.TileType.get([2**13] * 2, ir.F32Type.get()), "more than 16777216 elements"),
        (lambda: ct.TileType.get([4], ir.IndexType.get()), "tile element type must be"),
        (lambda: ct.PtrType.get(ct.TokenType.get()), "pointee type must be a number"),
        (lambda: ct.TensorViewType.get([8], ir.F32Type.get(), []), "needs as many strides"),
        (lambda: ct.PartitionViewType.get([8, 8], f32_view()), "does not match tensor view"),
        (lambda: ct.PartitionViewType.get([2**31], f32_view()), "is not between"),
        (lambda: ct.PartitionViewType.get([8], f32_view(), [1]), "must be a permutation"),
        (lambda: ct.StridedViewType.get([8], [0], f32_view()), "must be positive"),
        (lambda: ct.GatherScatterViewType.get([8], f32_view(), 1), "sparse_dim must be in"),
        (lambda: ct.DivBy(3).attribute(), "must be a power of two"),
        (lambda: ct.DivBy(-1).attribute(), "is not between"),
        (lambda: ct.DivBy(4, every=2).attribute(), "go together"),
        (lambda: ct.Bounded(2, 1).attribute(), "exceeds upper bound"),
        (lambda: ct.Bounded(2**70).attribute(), "is not between"),
        (lambda: ct.hints_from_dictionary(ir.DictAttr.get({"sm_90": ir.UnitAttr.get()})),
         "must be a dictionary"),
    ],
)  # fmt: skip
def test_invalid_parameters_raise_with_the_location(make, reason: str) -> None:
    with pytest.raises(VerificationError, match=reason) as caught:
        make()
    assert caught.value.location == "k.py:3:4"


def test_other_types_are_no_tiles() -> None:
    with pytest.raises(ValueError, match="is no TileType"):
        ct.TileType(ir.F32Type.get())
    assert not ct.TileType.isinstance(ir.F32Type.get())


def test_enumerations() -> None:
    attribute = ct.enum_attribute(ct.RoundingMode.NegativeInf)
    assert str(attribute) == "#cuda_tile.rounding<negative_inf>"
    assert ct.enum_value(attribute) is ct.RoundingMode.NegativeInf
    with pytest.raises(ValueError, match="is no enumeration"):
        ct.enum_value(ir.UnitAttr.get())


@pytest.mark.parametrize(
    ("predicate", "text"),
    [
        (ct.DivBy(16), "div_by<16>"),
        (ct.DivBy(4, 2, 0), "div_by<4, every 2 along 0>"),
        (ct.Bounded(0, None), "bounded<0, ?>"),
        (ct.Bounded(None, -5), "bounded<?, -5>"),
        (ct.SameElements((2, 4)), "same_elements<[2, 4]>"),
    ],
)
def test_predicates(predicate, text: str) -> None:
    assert str(predicate.attribute()) == f"#cuda_tile.{text}"
    assert ct.assume_predicate(predicate.attribute()) == predicate


def test_hints() -> None:
    attribute = ct.hints_attribute({"sm_90": {"occupancy": 2}, "default": {"allow_tma": False}})
    expected = "<default = {allow_tma = false}, sm_90 = {occupancy = 2}>"
    assert str(attribute) == f"#cuda_tile.optimization_hints{expected}"
    assert ct.hint(attribute, "sm_90", "occupancy") == 2
    assert ct.hint(attribute, "sm_80", "occupancy") is None
    assert ct.hint(attribute, "sm_80", "allow_tma") is False


def test_a_hint_out_of_range_has_no_effect() -> None:
    values = {"occupancy": 33, "num_worker_warps_per_cta": True}
    defaults = {"occupancy": 4, "num_worker_warps_per_cta": 8}
    attribute = ct.hints_attribute(
        {"sm_90": values, "sm_80": {"occupancy": 0}, "default": defaults}
    )
    possible = range(1, 33)
    assert ct.hint(attribute, "sm_90", "occupancy", possible) == 4
    assert ct.hint(attribute, "sm_80", "occupancy", possible) == 4
    assert ct.hint(attribute, "sm_90", "num_worker_warps_per_cta", possible) == 8
    assert ct.hint(attribute, "sm_90", "occupancy", range(1, 3)) is None


def test_debug_information() -> None:
    file = ct.di_file(ct.DIFile("k.py", "/x"))
    unit = ct.di_compile_unit(file)
    function = ct.di_subprogram(file, 1, "k", "k", unit, 2)
    block = ct.di_lexical_block(function, file, 3, 4)
    location = ct.di_loc(ir.Location.file("k.py", 5, 6), block)
    node = ct.debug_node(location.attr)
    assert node is not None and node.kind == "di_loc"
    assert node.fields == (ir.Location.file("k.py", 5, 6).attr, block)
    inner = ct.debug_node(block)
    assert inner is not None and inner.fields == (function, file) and inner.numbers == (3, 4)
    assert ct.di_file_of(file) == ct.DIFile("k.py", "/x")
    with pytest.raises(VerificationError, match="debug scope must be"):
        ct.di_loc(ir.Location.unknown(), file)


DTYPES = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "tf32": np.float32, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu, "f4E2M1FN": ml_dtypes.float4_e2m1fn,
}  # fmt: skip


@pytest.mark.parametrize("element", DTYPES)
def test_elements_of_every_type(element: str) -> None:
    # Powers of two: all types but i1 hold them exactly.
    array = (2.0 ** (np.arange(12).reshape(4, 3) % 2)).astype(DTYPES[element])
    tile = ct.TileType.get([4, 3], ir.Type.parse(element))
    result = ct.array_from_elements(ct.elements_from_array(array, tile))
    assert result.dtype == array.dtype and result.tobytes() == array.tobytes()
    splat = ct.elements_from_array(array[1, 1], tile)
    assert (ct.array_from_elements(splat) == array[1, 1]).all()


def test_elements_mean_what_text_says() -> None:
    tile = ct.TileType.get([2, 2], ir.F32Type.get())
    text = ir.Attribute.parse(f"dense<[[1.5, -2.0], [0.25, 8.0]]> : {tile}")
    expected = np.array([[1.5, -2.0], [0.25, 8.0]], np.float32)
    np.testing.assert_array_equal(ct.array_from_elements(text), expected)
    assert ct.elements_from_array(expected, tile) == text


def test_tf32_rounds_to_nearest_even() -> None:
    # 10 fraction bits: 1 + 2^-11 lies halfway to the next value, and 1 + 3 * 2^-11 too.
    array = np.array([1 + 2**-11, 1 + 3 * 2**-11, np.nan, np.inf], np.float32)
    tile = ct.TileType.get([4], ir.FloatTF32Type.get())
    result = ct.array_from_elements(ct.elements_from_array(array, tile))
    np.testing.assert_array_equal(result, np.array([1, 1 + 2**-9, np.nan, np.inf], np.float32))


def test_elements_of_the_wrong_kind() -> None:
    tile = ct.TileType.get([4], ir.F32Type.get())
    with pytest.raises(ValueError, match="takes an array of float32"):
        ct.elements_from_array(np.zeros(4), tile)
    with pytest.raises(ValueError, match="takes an array of its shape"):
        ct.elements_from_array(np.zeros(2, np.float32), tile)
    pointers = ct.TileType.get([4], ct.PtrType.get(ir.F32Type.get()))
    with pytest.raises(ValueError, match="there is no dtype"):
        ct.elements_from_array(np.zeros(4), pointers)


RUNS: list[tuple[str, dict[str, str]]] = []


def record(operation: ir.Operation, options: Mapping[str, str]) -> None:
    RUNS.append((operation.name, dict(options)))


def fail_with_reason(_: ir.Operation, __: Mapping[str, str]) -> None:
    raise TileError("out of registers", location="k.py:9:2", remedy="use smaller tiles")


def fail_badly(_: ir.Operation, __: Mapping[str, str]) -> None:
    raise KeyError("x")


register_pass("test-record", "Records that it ran", record)
register_pass("test-fail", "Fails with a reason", fail_with_reason)
register_pass("test-crash", "Raises any exception", fail_badly)
register_pipeline("test-pipeline", "Two passes", "test-record{a=1},cse,test-record")


def test_passes_run_with_options_and_print_them() -> None:
    RUNS.clear()
    pipeline = "builtin.module(test-record{list=[1,2] size=3x4 flag},func.func(test-record))"
    manager = PassManager.parse(pipeline)
    assert str(manager) == pipeline.replace("flag", "flag=true").replace(
        "{list=[1,2] size=3x4 flag=true}", "{flag=true list=[1,2] size=3x4}"
    )
    manager.run(ir.Module.parse("func.func private @f()").operation)
    assert RUNS == [
        ("builtin.module", {"list": "[1,2]", "size": "3x4", "flag": "true"}),
        ("func.func", {}),
    ]


def test_pipelines_by_name() -> None:
    RUNS.clear()
    PassManager.parse("builtin.module(test-pipeline)").run(ir.Module.create().operation)
    assert RUNS == [("builtin.module", {"a": "1"}), ("builtin.module", {})]


def run_failing(name: str) -> str:
    with pytest.raises(ir.MLIRError) as caught:  # pyright: ignore[reportAttributeAccessIssue]
        PassManager.parse(f"builtin.module({name})").run(ir.Module.create().operation)
    return str(caught.value)


def test_errors_of_passes_become_diagnostics() -> None:
    assert '"k.py":9:2: out of registers; use smaller tiles' in run_failing("test-fail")
    text = run_failing("test-crash")
    assert "\"k.py\":3:4: internal error in pass test-crash: KeyError: 'x'" in text


def test_names_of_passes() -> None:
    with pytest.raises(ValueError, match="registered already"):
        register_pass("test-record", "Again", record)
    with pytest.raises(ValueError, match="not in kebab case"):
        register_pass("Test", "No name", record)
    with pytest.raises(ValueError, match="given twice"):
        PassManager.parse("builtin.module(test-record{a=1 a=2})")


def test_a_c_function_has_a_signature_for_each_of_its_users() -> None:
    """The bytecode reader passes bytes where `elements_from_array` passes an address."""
    import tileir.bytecode.constants  # noqa: F401

    tile = ct.TileType.get([2], ir.F32Type.get())
    attribute = ct.elements_from_array(np.array([1.5, 2.5], np.float32), tile)
    assert ct.array_from_elements(attribute).tolist() == [1.5, 2.5]
