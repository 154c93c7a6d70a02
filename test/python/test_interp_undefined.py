"""Undefined behaviour: each kind is reported with its place and a message."""

from __future__ import annotations

import numpy as np
import pytest
from interp_support import run

from tileir.errors import ExecutionError

F, I32 = np.float32, np.int32
# Line of the first line of a body in the text that `kernel` makes.
FIRST = 4


def fails(message: str, body: str, parameters: str = "", args=(), line: int | None = None, **more):
    """Runs `body`, which must be reported; `line` counts its lines from 1."""
    with pytest.raises(ExecutionError) as caught:
        run(parameters, body.strip("\n"), args, **more)
    assert message in caught.value.reason, caught.value.reason
    if line is not None:
        assert caught.value.location is not None
        assert caught.value.location.startswith(f"k.mlir:{FIRST + line - 1}:"), caught.value
    return caught.value


def arithmetic(text: str, a: int, b: int, ty: str = "i32", *, use: bool = True) -> str:
    """An operation on two tiles, whose result is printed."""
    result = text.split(" : ")[1].split(" -> ")[-1]
    printed = f'%t = print_tko "%d", %r : {result} -> token' if use else ""
    return f"""
%a = constant <{ty}: [1, {a}]> : tile<2x{ty}>
%b = constant <{ty}: [1, {b}]> : tile<2x{ty}>
%r = {text}
{printed}"""


@pytest.mark.parametrize(
    "text",
    (
        "divi %a, %b signed",
        "divi %a, %b unsigned",
        "remi %a, %b signed",
        "remi %a, %b unsigned",
        "divi %a, %b signed rounding<negative_inf>",
    ),
)
def test_division_by_zero(text):
    body = arithmetic(f"{text} : tile<2xi32>", 5, 0)
    error = fails("division by zero in element [1]", body, line=3)
    assert "undefined value reaches a print" in error.reason
    assert "in tile block (0, 0, 0)" in error.reason
    run("", body, check=False)
    run("", arithmetic(f"{text} : tile<2xi32>", 5, 0, use=False))


def test_scalars_are_reported_even_if_nothing_uses_them():
    for text, message in (
        ("divi %a, %b signed", "division by zero"),
        ("remi %a, %b unsigned", "division by zero"),
        ("shli %c, %c", "shift of i32 by 32: the amount must be below 32"),
        ("addi %m, %c overflow<no_signed_wrap>", "signed overflow, although"),
    ):
        body = f"""
%a = constant <i32: 5> : tile<i32>
%b = constant <i32: 0> : tile<i32>
%c = constant <i32: 32> : tile<i32>
%m = constant <i32: 2147483647> : tile<i32>
%r = {text} : tile<i32>"""
        fails(message, body, line=5)


def test_undefined_elements_that_padding_makes_are_fine():
    """Dividing by zero padding beyond the edge is no error, since a store drops the results."""
    tensor = "tensor_view<?xi32, strides=[1]>"
    view = f"partition_view<tile=(8), padding_value = zero, {tensor}>"
    body = f"""
    %i = constant <i32: 0> : tile<i32>
    %tp = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> {tensor}
    %tq = make_tensor_view %q, shape = [%n], strides = [1] : tile<i32> -> {tensor}
    %v = make_partition_view %tp : {view}
    %w = make_partition_view %tq : {view}
    %x, %t = load_view_tko weak %v[%i] : {view}, tile<i32> -> tile<8xi32>, token
    %y = divi %x, %x signed : tile<8xi32>
    %s = store_view_tko weak %y, %w[%i] : tile<8xi32>, {view}, tile<i32> -> token"""
    parameters = "%p: tile<ptr<i32>>, %n: tile<i32>, %q: tile<ptr<i32>>"
    x, y = np.arange(1, 6, dtype=I32), np.zeros(5, I32)
    run(parameters, body, [x, 5, y])
    assert y.tolist() == [1] * 5
    fails("undefined value reaches a store: division by zero in element [2]", body, parameters,
          [np.array([1, 2, 0, 4, 5], I32), 5, y])  # fmt: skip


def test_division_overflow():
    fails(
        "signed division overflows in element [1]: the minimum of i32 by -1",
        arithmetic("divi %a, %b signed : tile<2xi32>", -(2**31), -1),
        line=3,
    )
    run("", arithmetic("divi %a, %b unsigned : tile<2xi32>", -(2**31), -1))


@pytest.mark.parametrize("text", ("shli %a, %b", "shri %a, %b signed"))
def test_shift_by_the_width(text):
    fails(
        "shift of i32 by 32 in element [1]: the amount must be below 32",
        arithmetic(f"{text} : tile<2xi32>", 5, 32),
        line=3,
    )
    fails("shift of i8 by 255", arithmetic(f"{text} : tile<2xi8>", 5, -1, "i8"), line=3)
    run("", arithmetic(f"{text} : tile<2xi32>", 5, 31))


@pytest.mark.parametrize(
    "text,a,b,kind",
    [
        ("addi %a, %b overflow<no_signed_wrap>", 2**31 - 1, 1, "signed"),
        ("addi %a, %b overflow<no_unsigned_wrap>", -1, 1, "unsigned"),
        ("subi %a, %b overflow<no_signed_wrap>", -(2**31), 1, "signed"),
        ("subi %a, %b overflow<no_unsigned_wrap>", 0, 1, "unsigned"),
        ("muli %a, %b overflow<no_wrap>", 2**30, 2, "signed"),
        ("muli %a, %b overflow<no_unsigned_wrap>", 2**30, 4, "unsigned"),
        ("shli %a, %b overflow<no_signed_wrap>", 2**30, 1, "signed"),
    ],
)
def test_broken_overflow_promise(text, a, b, kind):
    fails(
        f"{kind} overflow in element [1], although `overflow<",
        arithmetic(f"{text} : tile<2xi32>", a, b),
        line=3,
    )
    run("", arithmetic(f"{text} : tile<2xi32>", 1, 1))


def test_broken_promises_of_unary_operations():
    fails(
        "signed overflow in element [1]",
        arithmetic("negi %a overflow<no_signed_wrap> : tile<2xi32>", -(2**31), 0),
        line=3,
    )
    fails(
        "unsigned overflow in element [1]",
        arithmetic("trunci %a overflow<no_unsigned_wrap> : tile<2xi32> -> tile<2xi8>", 256, 0),
        line=3,
    )
    fails(
        "signed overflow in element [1]",
        arithmetic("trunci %a overflow<no_signed_wrap> : tile<2xi32> -> tile<2xi8>", 128, 0),
        line=3,
    )


@pytest.mark.parametrize(
    "predicate,message",
    [
        ("div_by<4>", "broken assumption div_by<4> in element [1]: found 6"),
        ("bounded<0, 5>", "broken assumption bounded<0, 5> in element [1]: found 6"),
        ("bounded<?, 5>", "broken assumption bounded<?, 5> in element [1]: found 6"),
        ("same_elements<[2]>", "broken assumption same_elements<[2]> in element [1]"),
        (
            "div_by<4, every 2 along 0>",
            "broken assumption div_by<4, every 2 along 0> in element [1]: found 6",
        ),
    ],
)
def test_broken_assumption(predicate, message):
    body = f"""
%a = constant <i32: [4, 6]> : tile<2xi32>
%b = assume {predicate}, %a : tile<2xi32>"""
    fails(message, body, line=2)
    holds = body.replace("[4, 6]", "[4, 5]" if "every" in predicate else "[4, 4]")
    run("", holds)


def test_broken_assumption_about_an_argument():
    body = "%b = assume div_by<16>, %p : tile<ptr<f32>>"
    x = np.zeros(64, F)
    error = fails("broken assumption div_by<16>: found", body, "%p: tile<ptr<f32>>", [x[1:]], 1)
    assert "tile block" not in error.reason
    run("%p: tile<ptr<f32>>", body, [x[4:]])
    run("%p: tile<ptr<f32>>", body, [x[1:]], check=False)


def test_the_stride_of_a_dimension_of_one_element_may_be_anything():
    """cuTile promises divisibility of such strides although nothing supports it."""
    tensor = "tensor_view<1x8xf32, strides=[?,1]>"
    body = f"""
    %s1 = assume div_by<16>, %s : tile<i32>
    %v = make_tensor_view %p, shape = [1, 8], strides = [%s1, 1] : tile<i32> -> {tensor}"""
    run("%p: tile<ptr<f32>>, %s: tile<i32>", body, [np.zeros(8, F), 3])
    fails(
        "broken assumption",
        body.replace("1x8", "2x8").replace("[1, 8]", "[2, 8]"),
        "%p: tile<ptr<f32>>, %s: tile<i32>",
        [np.zeros(16, F), 3],
    )


def test_step_must_be_positive():
    body = """
%zero = constant <i32: 0> : tile<i32>
for %i in (%zero to %n, step %zero) : tile<i32> {
  continue
}"""
    fails("the step of a for loop must be positive, found 0", body, "%n: tile<i32>", [3], line=2)


@pytest.mark.parametrize(
    "text",
    ("extract %t[%i] : tile<8xf32> -> tile<2xf32>", "insert %s, %t[%i] : tile<2xf32>, tile<8xf32>"),
)
def test_slice_index_out_of_range(text):
    body = f"""
%t = constant <f32: 0.0> : tile<8xf32>
%s = constant <f32: 0.0> : tile<2xf32>
%r = {text}"""
    fails(
        "slice index 4 of dimension 0 is out of range: there are 4",
        body,
        "%i: tile<i32>",
        [4],
        line=3,
    )
    run("%i: tile<i32>", body, [3])
    run("%i: tile<i32>", body, [4], check=False)


def test_identity_that_is_not_neutral():
    body = """
%x = constant <f32: [1.0, 2.0]> : tile<2xf32>
%r = reduce %x dim=0 identities=[0x7F800000 : f32] : tile<2xf32> -> tile<f32>
(%e: tile<f32>, %a: tile<f32>) {
  %m = maxf %e, %a : tile<f32>
  yield %m : tile<f32>
}"""
    fails("the identity inf is not neutral: combined with 1.0 it gives inf", body, line=2)


# --- memory -----------------------------------------------------------------------------------

TENSOR = "tensor_view<?x8xf32, strides=[8,1]>"
VIEW = f"partition_view<tile=(4x8), padding_value = zero, {TENSOR}>"


def view_body(more: str, view: str = VIEW) -> str:
    return f"""
%zero = constant <i32: 0> : tile<i32>
%tv = make_tensor_view %p, shape = [%n, 8], strides = [8, 1] : tile<i32> -> {TENSOR}
%v = make_partition_view %tv : {view}
%c = constant <f32: 1.0> : tile<4x8xf32>
{more}"""


VIEW_PARAMETERS = "%p: tile<ptr<f32>>, %n: tile<i32>, %i: tile<i32>"
LOAD = f"%x, %t = load_view_tko weak %v[%i, %zero] : {VIEW}, tile<i32> -> tile<4x8xf32>, token"
STORE = f"%t = store_view_tko weak %c, %v[%i, %zero] : tile<4x8xf32>, {VIEW}, tile<i32> -> token"
RED = (
    f"%t = atomic_red_view_tko relaxed device %v[%i, %zero], addf, %c "
    f": tile<4x8xf32>, {VIEW.replace(', padding_value = zero', '')}, tile<i32> -> token"
)


@pytest.mark.parametrize("access", (LOAD, STORE))
def test_index_outside_the_index_space(access):
    x = np.zeros((10, 8), F)
    error = fails(
        "index 3 of dimension 0 is outside the index space 3x1 of the view",
        view_body(access),
        VIEW_PARAMETERS,
        [x, 10, 3],
        line=5,
    )
    assert error.remedy == "from its beginning on, the view has 10 elements there, the tile 4"
    run(VIEW_PARAMETERS, view_body(access), [x, 10, 2])
    run(VIEW_PARAMETERS, view_body(access), [x, 10, 3], check=False)


def test_atomic_index_outside_the_index_space():
    view = VIEW.replace(", padding_value = zero", "")
    fails(
        "index 3 of dimension 0 is outside",
        view_body(RED, view),
        VIEW_PARAMETERS,
        [np.zeros((10, 8), F), 10, 3],
        line=5,
    )


def test_negative_indices_are_large():
    error = fails(
        "(-1 as a signed number)",
        view_body(LOAD),
        VIEW_PARAMETERS,
        [np.zeros((10, 8), F), 10, -1],
        line=5,
    )
    assert "index 4294967295" in error.reason
    run(VIEW_PARAMETERS, view_body(STORE), [np.zeros((10, 8), F), 10, -1], check=False)


def test_broken_inbounds_promise():
    access = LOAD.replace(" : partition_view", " inbounds = [true, false] : partition_view")
    x = np.zeros((10, 8), F)
    fails(
        "the tile at index 2 of dimension 0 reaches beyond the tensor's 10 elements",
        view_body(access),
        VIEW_PARAMETERS,
        [x, 10, 2],
        line=5,
    )
    run(VIEW_PARAMETERS, view_body(access), [x, 10, 1])


@pytest.mark.parametrize("check", (True, False))
@pytest.mark.parametrize("access", (LOAD, STORE))
def test_view_larger_than_its_memory(access, check):
    """Never touched, checking or not: the memory is not ours."""
    fails(
        "out of bounds: element 96 of parameter 0, which holds 80",
        view_body(access),
        VIEW_PARAMETERS,
        [np.zeros((10, 8), F), 16, 3],
        line=5,
        check=check,
    )


GATHER = """
%q = offset %p, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
%x, %t = load_ptr_tko weak %q : tile<ptr<f32>> -> tile<f32>, token"""
SCATTER = """
%q = offset %p, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
%c = constant <f32: 0.0> : tile<f32>
%t = store_ptr_tko weak %q, %c : tile<ptr<f32>>, tile<f32> -> token"""


@pytest.mark.parametrize("check", (True, False))
@pytest.mark.parametrize("body,line", [(GATHER, 2), (SCATTER, 3)])
@pytest.mark.parametrize("index", (10, -1))
def test_pointer_out_of_bounds(body, line, index, check):
    fails(
        f"out of bounds: element {index} of parameter 0, which holds 10",
        body,
        "%p: tile<ptr<f32>>, %i: tile<i32>",
        [np.zeros(10, F), index],
        line=line,
        check=check,
    )


def test_misaligned_pointer():
    body = """
%n = ptr_to_int %p : tile<ptr<f32>> -> tile<i64>
%two = constant <i64: 2> : tile<i64>
%m = addi %n, %two : tile<i64>
%q = int_to_ptr %m : tile<i64> -> tile<ptr<f32>>
%x, %t = load_ptr_tko weak %q : tile<ptr<f32>> -> tile<f32>, token"""
    fails(
        "misaligned address: byte 2 of parameter 0 for an element of 4 bytes",
        body,
        "%p: tile<ptr<f32>>",
        [np.zeros(10, F)],
        line=5,
    )


@pytest.mark.parametrize("address", (0, 64, 2**63))
def test_address_in_no_array(address):
    body = "%x, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token"
    fails(
        f"address {address:#x} is in no array or allocation",
        body,
        "%p: tile<ptr<f32>>",
        [address],
        line=1,
    )


def test_read_only_memory():
    x = np.zeros(4, F)
    x.flags.writeable = False
    fails("parameter 0 is read-only", SCATTER, "%p: tile<ptr<f32>>, %i: tile<i32>", [x, 0], line=3)
    body = """
%g = get_global @g : tile<ptr<f32>>
%c = constant <f32: 0.0> : tile<f32>
%t = store_ptr_tko weak %g, %c : tile<ptr<f32>>, tile<f32> -> token"""
    fails(
        "global @g is read-only",
        body,
        line=3,
        around="global constant @g <f32: [1.0]> : tile<1xf32>",
    )


def test_scratch_memory_ends_with_its_block():
    body = """
%t1 = constant <i1: true> : tile<i1>
%n = if %t1 -> (tile<i64>) {
  %s = alloca num_elem = 4, alignment = 4 : tile<ptr<f32>>
  %m = ptr_to_int %s : tile<ptr<f32>> -> tile<i64>
  yield %m : tile<i64>
} else {
  %z = constant <i64: 0> : tile<i64>
  yield %z : tile<i64>
}
%p = int_to_ptr %n : tile<i64> -> tile<ptr<f32>>
%x, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token"""
    fails("alloca of 4 x f32 is used after the block that allocated it has ended", body, line=11)


PUBLISH = """
%x, %y, %z = get_tile_block_id : tile<i32>
%zero = constant <i32: 0> : tile<i32>
%s = alloca num_elem = 1, alignment = 4 GLOBAL : tile<ptr<i32>>
%first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>
%t0 = store_ptr_tko weak %s, %x : tile<ptr<i32>>, tile<i32> -> token
%m = ptr_to_int %s : tile<ptr<i32>> -> tile<i64>
if %first {
  %t1 = store_ptr_tko release device %box, %m token=%t0 : tile<ptr<i64>>, tile<i64> -> token
  loop {
    %v, %t2 = load_ptr_tko acquire device %box : tile<ptr<i64>> -> tile<i64>, token
    %z64 = constant <i64: 0> : tile<i64>
    %done = cmpi equal %v, %z64, signed : tile<i64> -> tile<i1>
    if %done {
      break
    }
    continue
  }
  yield
} else {
  %w = loop iter_values(%tt = %t0) : token -> tile<i64> {
    %v, %t2 = load_ptr_tko acquire device %box token=%tt : tile<ptr<i64>> -> tile<i64>, token
    %z64 = constant <i64: 0> : tile<i64>
    %there = cmpi not_equal %v, %z64, signed : tile<i64> -> tile<i1>
    if %there {
      %q = int_to_ptr %v : tile<i64> -> tile<ptr<i32>>
      %r, %t3 = load_ptr_tko weak %q token=%t2 : tile<ptr<i32>> -> tile<i32>, token
      %p = print_tko "%d\\n", %r : tile<i32> -> token
      %t4 = store_ptr_tko release device %box, %z64 token=%t3 : tile<ptr<i64>>, tile<i64> -> token
      break %v : tile<i64>
    }
    continue %t2 : token
  }
  yield
}"""


def test_private_scratch_memory_of_another_block():
    box = np.zeros(1, np.int64)
    fails(
        "alloca of 1 x i32 belongs to another tile block",
        PUBLISH.replace(" GLOBAL", ""),
        "%box: tile<ptr<i64>>",
        [box],
        grid=2,
        line=26,
    )
    box[:] = 0
    lines = run("%box: tile<ptr<i64>>", PUBLISH.replace("GLOBAL", "global"), [box], 2)
    assert lines == ["0"]


# --- undefined values --------------------------------------------------------------------------

OPEN = VIEW.replace(", padding_value = zero", "")
OPEN_LOAD = f"%x, %t = load_view_tko weak %v[%i, %zero] : {OPEN}, tile<i32> -> tile<4x8xf32>, token"


def store_to_whole(value: str = "%x") -> str:
    """Stores a tile to the 16x8 array %q."""
    tensor = "tensor_view<16x8xf32, strides=[8,1]>"
    view = f"partition_view<tile=(4x8), {tensor}>"
    return f"""
%tq = make_tensor_view %q, shape = [16, 8], strides = [8, 1] : {tensor}
%w = make_partition_view %tq : {view}
%s = store_view_tko weak {value}, %w[%i, %zero] : tile<4x8xf32>, {view}, tile<i32> -> token"""


OPEN_PARAMETERS = VIEW_PARAMETERS + ", %q: tile<ptr<f32>>"


def test_missing_padding_that_is_stored():
    args = [np.zeros((10, 8), F), 10, 2, np.zeros((16, 8), F)]
    error = fails(
        "undefined value reaches a store: the tile reaches beyond the tensor and its view has no "
        "padding value",
        view_body(OPEN_LOAD + "\n" + store_to_whole(), OPEN),
        OPEN_PARAMETERS,
        args,
        line=5,
    )
    assert "(used at k.mlir:12:" in error.reason
    args[2] = 1
    run(OPEN_PARAMETERS, view_body(OPEN_LOAD + "\n" + store_to_whole(), OPEN), args)


def test_missing_padding_that_is_dropped_is_fine():
    more = (
        OPEN_LOAD
        + f"""
%y = addf %x, %c : tile<4x8xf32>
%s = store_view_tko weak %y, %v[%i, %zero] token=%t : tile<4x8xf32>, {OPEN}, tile<i32> -> token"""
    )
    x = np.zeros((10, 8), F)
    run(VIEW_PARAMETERS, view_body(more, OPEN), [x, 10, 2])
    assert x.sum() == 16


def test_missing_padding_that_is_selected_away_is_fine():
    more = (
        OPEN_LOAD
        + """
%rows = iota : tile<4xi32>
%r1 = reshape %rows : tile<4xi32> -> tile<4x1xi32>
%r = broadcast %r1 : tile<4x1xi32> -> tile<4x8xi32>
%two = constant <i32: 2> : tile<4x8xi32>
%in = cmpi less_than %r, %two, signed : tile<4x8xi32> -> tile<4x8xi1>
%y = select %in, %x, %c : tile<4x8xi1>, tile<4x8xf32>"""
    )
    args = [np.zeros((10, 8), F), 10, 2, np.zeros((16, 8), F)]
    run(OPEN_PARAMETERS, view_body(more + store_to_whole("%y"), OPEN), args)
    assert args[3][8:12].tolist() == [[0] * 8] * 2 + [[1] * 8] * 2


def test_undefined_values_travel_through_loops_and_reductions():
    more = (
        OPEN_LOAD
        + """
%one = constant <i32: 1> : tile<i32>
%y = for %k in (%zero to %one, step %one) : tile<i32> iter_values(%a = %c) -> (tile<4x8xf32>) {
  continue %x : tile<4x8xf32>
}
%s1 = reduce %y dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32>
(%e: tile<f32>, %b: tile<f32>) {
  %m = addf %e, %b : tile<f32>
  yield %m : tile<f32>
}
%s2 = reshape %s1 : tile<4xf32> -> tile<4x1xf32>
%s3 = broadcast %s2 : tile<4x1xf32> -> tile<4x8xf32>"""
    )
    args = [np.zeros((10, 8), F), 10, 2, np.zeros((16, 8), F)]
    fails(
        "undefined value reaches a store",
        view_body(more + store_to_whole("%s3"), OPEN),
        OPEN_PARAMETERS,
        args,
        line=5,
    )


def test_conversion_out_of_range():
    body = """
%x = constant <f32: 3.0e9> : tile<f32>
%n = ftoi %x signed : tile<f32> -> tile<i32>
%t = store_ptr_tko weak %p, %n : tile<ptr<i32>>, tile<i32> -> token"""
    p = np.zeros(1, I32)
    fails(
        "undefined value reaches a store: ftoi of 3e+09, which no signed i32 holds",
        body,
        "%p: tile<ptr<i32>>",
        [p],
        line=2,
    )
    run("%p: tile<ptr<i32>>", body.replace("3.0e9", "2.0e9"), [p])
    run("%p: tile<ptr<i32>>", body.replace("signed :", "signed saturating :"), [p])
    assert p[0] == 2**31 - 1


def test_undefined_branch_and_index():
    convert = """
%x = constant <f32: 3.0e9> : tile<f32>
%n = ftoi %x signed : tile<f32> -> tile<i32>
"""
    branch = (
        convert
        + """%z = constant <i32: 0> : tile<i32>
%c = cmpi less_than %n, %z, signed : tile<i32> -> tile<i1>
if %c {
  yield
}"""
    )
    fails("undefined value reaches a branch", branch, line=2)
    index = (
        convert
        + """%q = offset %p, %n : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
%v, %t = load_ptr_tko weak %q : tile<ptr<f32>> -> tile<f32>, token"""
    )
    fails("undefined value reaches an address", index, "%p: tile<ptr<f32>>", [np.zeros(4, F)], 2)


def test_masked_load_without_padding():
    body = """
%m = constant <i1: false> : tile<i1>
%x, %t = load_ptr_tko weak %p, %m : tile<ptr<f32>>, tile<i1> -> tile<f32>, token
%s = store_ptr_tko weak %q, %x : tile<ptr<f32>>, tile<f32> -> token"""
    parameters = "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>"
    fails(
        "the mask is false and there is no padding value",
        body,
        parameters,
        [np.zeros(1, F), np.zeros(1, F)],
        line=2,
    )


def test_undefined_mask_of_a_load():
    body = """
%x = constant <f32: 3.0e9> : tile<f32>
%n = ftoi %x signed : tile<f32> -> tile<i32>
%z = constant <i32: 0> : tile<i32>
%m = cmpi less_than %n, %z, signed : tile<i32> -> tile<i1>
%pad = constant <f32: 0.0> : tile<f32>
%v, %t = load_ptr_tko weak %p, %m, %pad : tile<ptr<f32>>, tile<i1>, tile<f32> -> tile<f32>, token
"""
    parameters, args = "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>", [np.zeros(1, F), np.zeros(1, F)]
    run(parameters, body, args)
    body += "%s = store_ptr_tko weak %q, %v : tile<ptr<f32>>, tile<f32> -> token"
    fails("undefined value reaches a store", body, parameters, args, line=2)


def test_uninitialised_scratch_memory():
    body = """
%s = alloca num_elem = 4, alignment = 4 : tile<ptr<f32>>
%x, %t = load_ptr_tko weak %s : tile<ptr<f32>> -> tile<f32>, token
%w = store_ptr_tko weak %q, %x : tile<ptr<f32>>, tile<f32> -> token"""
    fails(
        "undefined value reaches a store: the memory was never written",
        body,
        "%q: tile<ptr<f32>>",
        [np.zeros(1, F)],
        line=2,
    )


# --- assertions --------------------------------------------------------------------------------


@pytest.mark.parametrize("check", (True, False))
def test_assertion(check):
    body = """
%c = constant <i1: [true, false, true, false]> : tile<4xi1>
%t = print_tko "before\\n" -> token
assert %c, "must hold" : tile<4xi1>"""
    error = fails("assertion failed: must hold at [1], [3]", body, line=3, check=check)
    assert "before" in "".join(error.__notes__)


def test_errors_name_the_block():
    body = """
%x, %y, %z = get_tile_block_id : tile<i32>
%one = constant <i32: 1> : tile<i32>
%d = subi %one, %x : tile<i32>
%q = divi %one, %d signed : tile<i32>"""
    error = fails("division by zero", body, line=4, grid=(3, 2))
    assert error.reason.endswith("in tile block (1, 0, 0)")


def test_error_without_location_quotes_the_operation():
    import tileir
    from tileir import interp

    text = """cuda_tile.module @m { entry @k(%a: tile<i32>) {
      %r = divi %a, %a signed : tile<i32> loc(unknown)
      return } }"""
    with pytest.raises(ExecutionError) as caught:
        interp.run(tileir.parse(text), "k", 1, [0])
    assert caught.value.location is not None and "divi" in caught.value.location
