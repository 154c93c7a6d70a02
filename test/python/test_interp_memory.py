"""Views, pointers, element formats in memory, scratch memory, globals, atomics."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from interp_support import bf16, f32, kernel, run, type_of

from tileir import interp
from tileir.runtime import PointerTable

F = np.float32
I32 = np.int32
POINTER = "tile<ptr<{}>>"
E4M3 = ml_dtypes.float8_e4m3fn


def copy_kernel(element: str, tile: str, source: str, target: str, index: str = "%x, %y") -> str:
    """Loads the tile at block (x, y) through view type `source` and stores it through `target`.

    The views' tensors are {tensor}: ?x? with run-time strides.
    """
    tensor = f"tensor_view<?x?x{element}, strides=[?,?]>"
    source, target = source.replace("TENSOR", tensor), target.replace("TENSOR", tensor)
    return f"""
    %x, %y, %z = get_tile_block_id : tile<i32>
    %tok = make_token : token
    %tv = make_tensor_view %p, shape = [%m, %n], strides = [%sm, %sn] : tile<i32> -> {tensor}
    %tw = make_tensor_view %q, shape = [%k, %l], strides = [%sk, %sl] : tile<i32> -> {tensor}
    %v = make_{source.split("<")[0]} %tv : {source}
    %w = make_{target.split("<")[0]} %tw : {target}
    %t, %t1 = load_view_tko weak %v[{index}] token = %tok : {source}, tile<i32> -> {tile}, token
    %t2 = store_view_tko weak %t, %w[%x, %y] token = %t1 : {tile}, {target}, tile<i32> -> token"""


PARAMETERS = (
    "%p: tile<ptr<{0}>>, %m: tile<i32>, %n: tile<i32>, %sm: tile<i32>, %sn: tile<i32>, "
    "%q: tile<ptr<{0}>>, %k: tile<i32>, %l: tile<i32>, %sk: tile<i32>, %sl: tile<i32>"
)


def array_args(a: np.ndarray) -> list:
    return [a, *map(I32, a.shape), *(I32(s // a.itemsize) for s in a.strides)]


def run_copy(source: str, target: str, x: np.ndarray, y: np.ndarray, grid, tile: str, **options):
    element = type_of(x)
    body = copy_kernel(element, tile, source, target)
    run(PARAMETERS.format(element), body, [*array_args(x), *array_args(y)], grid, **options)


def plain(tile: str, **more: str) -> str:
    padding = f", padding_value = {more['padding']}" if "padding" in more else ""
    order = f", dim_map={more['dim_map']}" if "dim_map" in more else ""
    return f"partition_view<tile=({tile}){padding}, TENSOR{order}>"


@pytest.mark.parametrize("check", (True, False))
def test_partition_view_drops_and_pads_at_the_edge(check):
    x = np.arange(7 * 9, dtype=F).reshape(7, 9)
    y = np.full((8, 12), 77, F)
    run_copy(
        plain("4x4", padding="neg_inf"), plain("4x4"), x, y, (2, 3), "tile<4x4xf32>", check=check
    )
    want = np.full((8, 12), -np.inf, F)
    want[:7, :9] = x
    assert (y == want).all()


def test_dim_map_transposes():
    x = np.arange(8 * 4, dtype=F).reshape(8, 4)
    y = np.zeros((4, 8), F)
    # Tile dimension 0 walks tensor dimension 1.
    run_copy(plain("2x4", dim_map="[1, 0]"), plain("2x4"), x, y, (2, 2), "tile<2x4xf32>")
    assert (y == x.T).all()


def test_strided_and_offset_arguments():
    """A view argument is its first element's address; memory around it stays as it is."""
    owner = np.arange(20 * 16, dtype=F).reshape(20, 16)
    before = owner.copy()
    x, y = owner[2:10:2, 1:9:2], owner[11:19:2, 0:8:2]
    run_copy(plain("4x4"), plain("4x4"), x, y, 1, "tile<4x4xf32>")
    before[11:19:2, 0:8:2] = before[2:10:2, 1:9:2]
    assert (owner == before).all()


def test_overlapping_tiles_of_a_strided_view():
    x = np.arange(16, dtype=F).reshape(1, 16)
    y = np.zeros((1, 24), F)
    source = "strided_view<tile=(1x8), traversal_strides=[1,4], padding_value = zero, TENSOR>"
    run_copy(source, plain("1x8"), x, y, (1, 3), "tile<1x8xf32>")
    want = np.concatenate([x[0, 0:8], x[0, 4:12], x[0, 8:16]])
    assert (y[0] == want).all()


PADDING = {"zero": 0.0, "neg_zero": -0.0, "nan": np.nan, "pos_inf": np.inf, "neg_inf": -np.inf}


@pytest.mark.parametrize("padding", PADDING)
@pytest.mark.parametrize("dtype", (np.float16, bf16, F, np.float64, E4M3))
def test_padding_values(dtype, padding):
    x = np.ones((1, 2), dtype)
    y = np.zeros((1, 4), dtype)
    tile = f"tile<1x4x{type_of(x)}>"
    run_copy(plain("1x4", padding=padding), plain("1x4"), x, y, 1, tile)
    # f8E4M3FN has no infinity: its largest value stands in.
    limit = 448.0 if dtype is E4M3 else np.inf
    want = np.clip(PADDING[padding], -limit, limit)
    got = y[0, 2:].astype(float)
    assert np.array_equal(got, [want, want], equal_nan=True)
    assert (np.signbit(got) == np.signbit(want)).all() or np.isnan(want)


def test_gather_and_scatter_views():
    """Rows outside the tensor are padded on load and dropped on store."""
    x = np.arange(6 * 4, dtype=F).reshape(6, 4)
    y = np.full((6, 4), 77, F)
    tensor = "tensor_view<6x4xf32, strides=[4,1]>"
    view = f"gather_scatter_view<tile=(4x4), padding_value = zero, {tensor}, sparse_dim=0>"
    body = f"""
    %tv = make_tensor_view %p, shape = [6, 4], strides = [4, 1] : {tensor}
    %tw = make_tensor_view %q, shape = [6, 4], strides = [4, 1] : {tensor}
    %v = make_gather_scatter_view %tv : {view}
    %w = make_gather_scatter_view %tw : {view}
    %rows = constant <i32: [5, 0, 9, 0]> : tile<4xi32>
    %out = constant <i32: [1, 3, 0, -1]> : tile<4xi32>
    %zero = constant <i32: 0> : tile<i32>
    %t, %t1 = load_view_tko weak %v[%rows, %zero]
      : {view}, tile<4xi32>, tile<i32> -> tile<4x4xf32>, token
    %t2 = store_view_tko weak %t, %w[%out, %zero]
      : tile<4x4xf32>, {view}, tile<4xi32>, tile<i32> -> token"""
    run("%p: tile<ptr<f32>>, %q: tile<ptr<f32>>", body, [x, y])
    assert (y[1] == x[5]).all() and (y[3] == x[0]).all() and (y[0] == 0).all()
    assert (y[[2, 4, 5]] == 77).all()


def test_gather_scatter_views_count_elements():
    """Tiles begin at any element, also along the dimensions without positions (as on an H200)."""
    x, y = np.arange(7 * 5, dtype=F).reshape(7, 5), np.full((2, 4), 77, F)
    tensor = "tensor_view<7x5xf32, strides=[5,1]>"
    view = f"gather_scatter_view<tile=(2x4), padding_value = zero, {tensor}, sparse_dim=0>"
    out = "tensor_view<2x4xf32, strides=[4,1]>"
    body = f"""
    %tv = make_tensor_view %p, shape = [7, 5], strides = [5, 1] : {tensor}
    %v = make_gather_scatter_view %tv : {view}
    %d:2 = get_index_space_shape %v : {view} -> tile<i32>
    %t0 = print_tko "%d %d\\n", %d#0, %d#1 : tile<i32>, tile<i32> -> token
    %rows = constant <i32: [6, 2]> : tile<2xi32>
    %t, %t1 = load_view_tko weak %v[%rows, %first] : {view}, tile<2xi32>, tile<i32>
      -> tile<2x4xf32>, token
    %tw = make_tensor_view %q, shape = [2, 4], strides = [4, 1] : {out}
    %w = make_partition_view %tw : partition_view<tile=(2x4), {out}>
    %zero = constant <i32: 0> : tile<i32>
    %t2 = store_view_tko weak %t, %w[%zero, %zero]
      : tile<2x4xf32>, partition_view<tile=(2x4), {out}>, tile<i32> -> token"""
    parameters = "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %first: tile<i32>"
    assert run(parameters, body, [x, y, 3]) == ["7 5"]
    assert np.array_equal(y, [[33, 34, 0, 0], [13, 14, 0, 0]])


def test_index_space_and_tensor_shape():
    tensor = "tensor_view<?x64xf32, strides=[64,1]>"
    view = f"strided_view<tile=(8x16), traversal_strides=[4,24], {tensor}>"
    body = f"""
    %tv = make_tensor_view %p, shape = [%n], strides = [] : tile<i32> -> {tensor}
    %v = make_strided_view %tv : {view}
    %d:2 = get_index_space_shape %v : {view} -> tile<i64>
    %s:2 = get_tensor_shape %tv : {tensor} -> tile<i16>
    %t = print_tko "%ld %ld %d %d\\n", %d#0, %d#1, %s#0, %s#1
      : tile<i64>, tile<i64>, tile<i16>, tile<i16> -> token"""
    body = body.replace("shape = [%n], strides = []", "shape = [%n, 64], strides = [64, 1]")
    lines = run("%p: tile<ptr<f32>>, %n: tile<i32>", body, [np.zeros((10, 64), F), 10])
    assert lines == ["3 3 10 64"]


# --- formats in memory ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype",
    (
        np.int8,
        np.int16,
        np.int64,
        np.float16,
        bf16,
        np.float64,
        E4M3,
        ml_dtypes.float8_e5m2,
        ml_dtypes.float8_e8m0fnu,
    ),
)
def test_every_format_moves_unchanged(dtype):
    bits = np.random.default_rng(1).integers(0, 256, 32 * np.dtype(dtype).itemsize, np.uint8)
    x = bits.view(dtype).reshape(4, 8)
    y = np.zeros((4, 8), dtype)
    run_copy(plain("4x8"), plain("4x8"), x, y, 1, f"tile<4x8x{type_of(x)}>")
    assert x.tobytes() == y.tobytes()


def test_booleans_are_bytes_and_any_nonzero_is_true():
    x = np.array([[0, 1, 2, 255]], np.uint8)
    y = np.full((1, 4), 9, np.uint8)
    body = copy_kernel("i1", "tile<1x4xi1>", plain("1x4"), plain("1x4"))
    run(PARAMETERS.format("i1"), body, [*array_args(x), *array_args(y)])
    assert y.tolist() == [[0, 1, 1, 1]]


def test_tf32_drops_low_bits_on_load():
    x = np.array([[1 + 2.0**-20, -3.0]], F)
    y = np.zeros((1, 2), F)
    body = copy_kernel("tf32", "tile<1x2xtf32>", plain("1x2"), plain("1x2"))
    run(PARAMETERS.format("tf32"), body, [*array_args(x), *array_args(y)])
    assert y.tolist() == [[1.0, -3.0]]


@pytest.mark.parametrize("check", (True, False))
def test_four_bit_elements_are_packed(check):
    """The even element lies in the low half of a byte; strides count elements."""
    x = np.array([[0x21, 0x43], [0x65, 0x87]], np.uint8)  # codes 1 2 3 4 / 5 6 7 8
    y = np.full((2, 2), 0xFF, np.uint8)
    tensor = "tensor_view<2x?xf4E2M1FN, strides=[4,1]>"
    source = f"partition_view<tile=(2x4), padding_value = zero, {tensor}>"
    body = f"""
    %i = constant <i32: 0> : tile<i32>
    %tv = make_tensor_view %p, shape = [2, %n], strides = [4, 1] : tile<i32> -> {tensor}
    %tw = make_tensor_view %q, shape = [2, %l], strides = [4, 1] : tile<i32> -> {tensor}
    %v = make_partition_view %tv : {source}
    %w = make_partition_view %tw : {source}
    %t, %t1 = load_view_tko weak %v[%i, %i] : {source}, tile<i32> -> tile<2x4xf4E2M1FN>, token
    %t2 = store_view_tko weak %t, %w[%i, %i] : tile<2x4xf4E2M1FN>, {source}, tile<i32> -> token"""
    parameters = "%p: tile<ptr<f4E2M1FN>>, %n: tile<i32>, %q: tile<ptr<f4E2M1FN>>, %l: tile<i32>"
    run(parameters, body, [x, 3, y, 4], check=check)
    assert y.tolist() == [[0x21, 0x03], [0x65, 0x07]]
    y[:] = 0xFF
    run(parameters, body, [x, 4, y, 3], check=check)
    assert y.tolist() == [[0x21, 0xF3], [0x65, 0xF7]]


# --- pointers ---------------------------------------------------------------------------------


def pointers(name: str, base: str, element: str, index: str, count: int = 4) -> str:
    ptr = f"ptr<{element}>"
    return f"""
    {name}_1 = reshape {base} : tile<{ptr}> -> tile<1x{ptr}>
    {name}_b = broadcast {name}_1 : tile<1x{ptr}> -> tile<{count}x{ptr}>
    {name} = offset {name}_b, {index} : tile<{count}x{ptr}>, tile<{count}xi32>
      -> tile<{count}x{ptr}>"""


@pytest.mark.parametrize("check", (True, False))
def test_masked_gather_and_scatter(check):
    x, y = np.arange(8, dtype=F), np.full(8, 77, F)
    body = f"""
    %i = constant <i32: [7, 100, 2, 0]> : tile<4xi32>
    %j = constant <i32: [0, 1, -50, 3]> : tile<4xi32>
    %m = constant <i1: [true, false, true, true]> : tile<4xi1>
    %k = constant <i1: [true, true, false, true]> : tile<4xi1>
    %pad = constant <f32: -1.0> : tile<4xf32>
    {pointers("%pp", "%p", "f32", "%i")}
    {pointers("%qq", "%q", "f32", "%j")}
    %t, %t1 = load_ptr_tko weak %pp, %m, %pad
      : tile<4xptr<f32>>, tile<4xi1>, tile<4xf32> -> tile<4xf32>, token
    %t2 = store_ptr_tko weak %qq, %t, %k
      : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> token"""
    run("%p: tile<ptr<f32>>, %q: tile<ptr<f32>>", body, [x, y], check=check)
    assert y.tolist() == [7, -1, 77, 0, 77, 77, 77, 77]


def test_list_of_arrays():
    """A record is the address, the shape and the strides of an array, 64 bits each."""
    arrays = [np.arange(4, dtype=F), np.arange(10, 14, dtype=F)[::1]]
    y = np.zeros(4, F)
    body = f"""
    %three = constant <i32: 3> : tile<i32>
    %off = muli %which, %three : tile<i32>
    %rec = offset %table, %off : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
    %word, %t0 = load_ptr_tko weak %rec : tile<ptr<i64>> -> tile<i64>, token
    %p = int_to_ptr %word : tile<i64> -> tile<ptr<f32>>
    %i = iota : tile<4xi32>
    {pointers("%pp", "%p", "f32", "%i")}
    {pointers("%qq", "%q", "f32", "%i")}
    %t, %t1 = load_ptr_tko weak %pp : tile<4xptr<f32>> -> tile<4xf32>, token
    %t2 = store_ptr_tko weak %qq, %t : tile<4xptr<f32>>, tile<4xf32> -> token"""
    run(
        "%table: tile<ptr<i64>>, %which: tile<i32>, %q: tile<ptr<f32>>",
        body,
        [PointerTable(arrays), 1, y],
    )
    assert y.tolist() == [10, 11, 12, 13]


def test_pointers_into_different_arrays():
    a, b, y = f32([1, 2]), f32([3, 4]), np.zeros(4, F)
    body = (
        """
    %pa = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
    %pb = reshape %b : tile<ptr<f32>> -> tile<1xptr<f32>>
    %ab = cat %pa, %pb dim = 0 : tile<1xptr<f32>>, tile<1xptr<f32>> -> tile<2xptr<f32>>
    %one = constant <i32: 1> : tile<2xi32>
    %ab1 = offset %ab, %one : tile<2xptr<f32>>, tile<2xi32> -> tile<2xptr<f32>>
    %all = cat %ab, %ab1 dim = 0 : tile<2xptr<f32>>, tile<2xptr<f32>> -> tile<4xptr<f32>>
    %t, %t1 = load_ptr_tko weak %all : tile<4xptr<f32>> -> tile<4xf32>, token
    %i = iota : tile<4xi32>"""
        + pointers("%qq", "%q", "f32", "%i")
        + """
    %t2 = store_ptr_tko weak %qq, %t : tile<4xptr<f32>>, tile<4xf32> -> token"""
    )
    run("%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %q: tile<ptr<f32>>", body, [a, b, y])
    assert y.tolist() == [1, 3, 2, 4]


# --- scratch memory and globals ----------------------------------------------------------------


def test_scratch_memory():
    y = np.zeros(4, F)
    body = f"""
    %s = alloca num_elem = 4, alignment = 128 : tile<ptr<f32>>
    %as = assume div_by<128>, %s : tile<ptr<f32>>
    %i = iota : tile<4xi32>
    {pointers("%pp", "%as", "f32", "%i")}
    {pointers("%qq", "%q", "f32", "%i")}
    %v = itof %i signed : tile<4xi32> -> tile<4xf32>
    %t0 = store_ptr_tko weak %pp, %v : tile<4xptr<f32>>, tile<4xf32> -> token
    %t, %t1 = load_ptr_tko weak %pp token=%t0 : tile<4xptr<f32>> -> tile<4xf32>, token
    %t2 = store_ptr_tko weak %qq, %t : tile<4xptr<f32>>, tile<4xf32> -> token"""
    run("%q: tile<ptr<f32>>", body, [y])
    assert y.tolist() == [0, 1, 2, 3]


def test_updates_of_integers_and_of_floats_in_one_kernel():
    """NumPy adds both by one function."""
    counts, sums = np.array([40], np.int32), np.array([1.5], np.float32)
    body = """
    %one = constant <i32: 2> : tile<i32>
    %half = constant <f32: 0.25> : tile<f32>
    %0, %t0 = atomic_rmw_tko relaxed device %p, add, %one
      : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %1, %t1 = atomic_rmw_tko relaxed device %q, addf, %half
      : tile<ptr<f32>>, tile<f32> -> tile<f32>, token"""
    run("%p: tile<ptr<i32>>, %q: tile<ptr<f32>>", body, [counts, sums])
    assert (counts.tolist(), sums.tolist()) == ([42], [1.75])


COUNTER = """
    %g = get_global @n : tile<ptr<i32>>
    %one = constant <i32: 1> : tile<i32>
    %old, %t = atomic_rmw_tko relaxed device %g, add, %one
      : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %t1 = print_tko "%d\\n", %old : tile<i32> -> token"""


def test_globals_live_as_long_as_the_interpreter():
    module = kernel("", COUNTER, "global @n <i32: [40]> : tile<1xi32>")
    machine = interp.Interpreter(module)
    assert sorted(machine.run("k", 2)) == ["40", "41"]
    assert machine.run("k") == ["42"]
    assert interp.run(module) == ["40"]


# --- atomics ----------------------------------------------------------------------------------


def rmw(mode: str, element: str, dtype, start, value, mask=None) -> tuple[np.ndarray, np.ndarray]:
    """Applies an atomic to 4 elements of memory; (memory after, old values)."""
    memory, old = np.array(start, dtype), np.zeros(4, dtype)
    arg = np.array(value, dtype)
    tile, mask_text = f"tile<4x{element}>", ""
    types = f"tile<4xptr<{element}>>, {tile}"
    if mask is not None:
        mask_text, types = ", %m", types + ", tile<4xi1>"
    flags = ", ".join(str(bool(b)).lower() for b in (mask or [1] * 4))
    body = f"""
    %i = iota : tile<4xi32>
    %m = constant <i1: [{flags}]> : tile<4xi1>
    %zero = constant <{element}: {"0.0" if element[0] in "fb" else "0"}> : {tile}
    {pointers("%pp", "%p", element, "%i")}
    {pointers("%aa", "%a", element, "%i")}
    {pointers("%oo", "%o", element, "%i")}
    %v, %t0 = load_ptr_tko weak %aa : tile<4xptr<{element}>> -> {tile}, token
    %old, %t1 = atomic_rmw_tko relaxed device %pp, {mode}, %v{mask_text} : {types} -> {tile}, token
    %known = select %m, %old, %zero : tile<4xi1>, {tile}
    %t2 = store_ptr_tko weak %oo, %known : tile<4xptr<{element}>>, {tile} -> token"""
    run(
        f"%p: tile<ptr<{element}>>, %a: tile<ptr<{element}>>, %o: tile<ptr<{element}>>",
        body,
        [memory, arg, old],
    )
    return memory, old


@pytest.mark.parametrize("element,dtype", [("i32", np.int32), ("i64", np.int64)])
@pytest.mark.parametrize("mode", ("and", "or", "xor", "add", "max", "min", "umax", "umin", "xchg"))
def test_integer_atomics(mode, element, dtype):
    start, value = [5, -1, 7, -8], [3, 9, -7, 1]
    memory, old = rmw(mode, element, dtype, start, value)
    unsigned = {i: v % (1 << 64) for i, v in enumerate(start)}
    truth = {
        "and": lambda i, a, b: a & b,
        "or": lambda i, a, b: a | b,
        "xor": lambda i, a, b: a ^ b,
        "add": lambda i, a, b: a + b,
        "max": lambda i, a, b: max(a, b),
        "min": lambda i, a, b: min(a, b),
        "xchg": lambda i, a, b: b,
        "umax": lambda i, a, b: a if unsigned[i] > b % (1 << 64) else b,
        "umin": lambda i, a, b: a if unsigned[i] < b % (1 << 64) else b,
    }[mode]
    want = [truth(i, a, b) for i, (a, b) in enumerate(zip(start, value, strict=True))]
    assert memory.tolist() == want
    assert old.tolist() == start


@pytest.mark.parametrize(
    "element,dtype", [("f16", np.float16), ("bf16", bf16), ("f32", F), ("f64", np.float64)]
)
def test_float_atomics(element, dtype):
    memory, old = rmw("addf", element, dtype, [1, 2, -3, 0.5], [0.5, -2, 1, 1])
    assert memory.astype(float).tolist() == [1.5, 0, -2, 1.5]
    assert old.astype(float).tolist() == [1, 2, -3, 0.5]


def test_masked_atomic_leaves_memory_alone():
    memory, old = rmw("add", "i32", np.int32, [1, 2, 3, 4], [10] * 4, [1, 0, 1, 0])
    assert memory.tolist() == [11, 2, 13, 4]
    assert old.tolist() == [1, 0, 3, 0]


def test_repeated_addresses_take_turns():
    counter, old = np.zeros(2, I32), np.zeros(8, I32)
    body = f"""
    %i = iota : tile<8xi32>
    %one = constant <i32: 1> : tile<8xi32>
    %bit = andi %i, %one : tile<8xi32>
    {pointers("%pp", "%p", "i32", "%bit", 8)}
    {pointers("%oo", "%o", "i32", "%i", 8)}
    %old, %t = atomic_rmw_tko relaxed device %pp, add, %one
      : tile<8xptr<i32>>, tile<8xi32> -> tile<8xi32>, token
    %t2 = store_ptr_tko weak %oo, %old : tile<8xptr<i32>>, tile<8xi32> -> token"""
    run("%p: tile<ptr<i32>>, %o: tile<ptr<i32>>", body, [counter, old])
    assert counter.tolist() == [4, 4]
    assert sorted(old[0::2].tolist()) == sorted(old[1::2].tolist()) == [0, 1, 2, 3]


def test_compare_and_swap_compares_bits():
    memory = f32([0.0, -0.0, np.nan, 5.0])
    old = np.zeros(4, F)
    body = f"""
    %i = iota : tile<4xi32>
    %c = constant <f32: [0.0, 0.0, 0x7FC00000, 9.0]> : tile<4xf32>
    %v = constant <f32: 1.0> : tile<4xf32>
    %m = constant <i1: [true, true, true, false]> : tile<4xi1>
    {pointers("%pp", "%p", "f32", "%i")}
    {pointers("%oo", "%o", "f32", "%i")}
    %old, %t = atomic_cas_tko acq_rel device %pp, %c, %v, %m
      : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> tile<4xf32>, token
    %t2 = store_ptr_tko weak %oo, %old : tile<4xptr<f32>>, tile<4xf32> -> token"""
    run("%p: tile<ptr<f32>>, %o: tile<ptr<f32>>", body, [memory, old])
    assert memory.tolist() == [1.0, 0.0, 1.0, 5.0] and np.signbit(memory[1])
    assert old[0] == 0 and np.signbit(old[1]) and np.isnan(old[2]) and old[3] == 9


@pytest.mark.parametrize("check", (True, False))
def test_atomic_reduction_through_a_view(check):
    """Every block adds into the same tile; what lies outside the tensor is dropped."""
    total = np.zeros((3, 4), F)
    tensor = "tensor_view<3x4xf32, strides=[4,1]>"
    view = f"partition_view<tile=(4x4), {tensor}>"
    body = f"""
    %i = constant <i32: 0> : tile<i32>
    %tv = make_tensor_view %p, shape = [3, 4], strides = [4, 1] : {tensor}
    %v = make_partition_view %tv : {view}
    %x, %y, %z = get_tile_block_id : tile<i32>
    %f = itof %x signed : tile<i32> -> tile<f32>
    %r = reshape %f : tile<f32> -> tile<1x1xf32>
    %b = broadcast %r : tile<1x1xf32> -> tile<4x4xf32>
    %t = atomic_red_view_tko relaxed device %v[%i, %i], addf, %b
      : tile<4x4xf32>, {view}, tile<i32> -> token"""
    run("%p: tile<ptr<f32>>", body, [total], 5, check=check)
    assert (total == 10).all()


# --- operations that a single device makes simple ----------------------------------------------


@pytest.mark.parametrize("check", (True, False))
def test_multicast_operations_see_one_copy(check):
    x, y = np.arange(32, dtype=F).reshape(4, 8), np.zeros((4, 8), F)
    kind = "#cuda_tile.ptr_attr<multicast>"
    tensor = f"tensor_view<4x8xf32, strides=[8,1], {kind}>"
    view = f"partition_view<tile=(4x8), {tensor}>"
    tile = "tile<4x8xf32>"
    body = f"""
    %i = constant <i32: 0> : tile<i32>
    %tv = make_tensor_view %p, shape = [4, 8], strides = [8, 1] : {tensor}
    %tw = make_tensor_view %q, shape = [4, 8], strides = [8, 1] : {tensor}
    %v = make_partition_view %tv : {view}
    %w = make_partition_view %tw : {view}
    %t, %t1 = multimem_load_reduce_view_tko relaxed sys %v[%i, %i]
      : {view}, tile<i32> -> {tile}, token
    %t2 = multimem_store_view_tko weak %w, %t[%i, %i] token = %t1
      : {view}, {tile}, tile<i32> -> token
    %t3 = multimem_reduce_view_tko relaxed sys %w, %t[%i, %i] token = %t2
      : {view}, {tile}, tile<i32> -> token"""
    pointer = "tile<ptr<f32, <multicast>>>"
    run(f"%p: {pointer}, %q: {pointer}", body, [x, y], check=check)
    assert (y == 2 * x).all()


def test_fences_and_grid_dependencies_pass_tokens_on():
    y = np.zeros(1, F)
    body = """
    %c = constant <f32: 1.0> : tile<f32>
    %t0 = store_ptr_tko weak %p, %c : tile<ptr<f32>>, tile<f32> -> token
    %t1 = gdc_wait_tko token = %t0 -> token
    %t2 = memory_fence_alias_tko %t1
    %t3 = gdc_launch_dependents_tko token = %t2 -> token
    %v, %t4 = load_ptr_tko weak %p token=%t3 : tile<ptr<f32>> -> tile<f32>, token
    %w = addf %v, %v : tile<f32>
    %t5 = store_ptr_tko weak %p, %w token=%t4 : tile<ptr<f32>>, tile<f32> -> token"""
    run("%p: tile<ptr<f32>>", body, [y])
    assert y[0] == 2


def test_rank_zero_accesses_of_narrow_formats():
    x = f32([1 + 2.0**-20])
    body = """
    %v, %t = load_ptr_tko weak %p : tile<ptr<tf32>> -> tile<tf32>, token
    %w = ftof %v : tile<tf32> -> tile<f32>
    %q = ptr_to_ptr %p : tile<ptr<tf32>> -> tile<ptr<f32>>
    %s = store_ptr_tko weak %q, %w token=%t : tile<ptr<f32>>, tile<f32> -> token"""
    run("%p: tile<ptr<tf32>>", body, [x])
    assert x[0] == 1
