"""Races: found with both places, and not reported where there is an order."""

from __future__ import annotations

import numpy as np
import pytest
from interp_support import run

from tileir.errors import ExecutionError

F, I32 = np.float32, np.int32
TENSOR = "tensor_view<16x8xf32, strides=[8,1]>"
VIEW = f"partition_view<tile=(4x8), {TENSOR}>"
TYPES = f"{VIEW}, tile<i32> -> tile<4x8xf32>, token"
STORES = f"tile<4x8xf32>, {VIEW}, tile<i32> -> token"
SETUP = f"""%zero = constant <i32: 0> : tile<i32>
%one = constant <i32: 1> : tile<i32>
%c = constant <f32: 1.0> : tile<4x8xf32>
%t0 = make_token : token
%x, %y, %z = get_tile_block_id : tile<i32>
%tv = make_tensor_view %p, shape = [16, 8], strides = [8, 1] : {TENSOR}
%v = make_partition_view %tv : {VIEW}
"""


def execute(body: str, grid=1, check=True, parameters="%p: tile<ptr<f32>>", args=None):
    arguments = [np.zeros((16, 8), F)] if args is None else args()
    run(parameters, SETUP + body, arguments, grid, check=check)


def races(message: str, body: str, grid=1, **more) -> ExecutionError:
    with pytest.raises(ExecutionError) as caught:
        execute(body, grid, **more)
    assert message in caught.value.reason, caught.value.reason
    execute(body, grid, check=False, **more)
    return caught.value


def store(result: str, index: str = "%zero", token: str = "%t0") -> str:
    return f"{result} = store_view_tko weak %c, %v[{index}, %zero] token={token} : {STORES}\n"


def load(result: str, index: str = "%zero", token: str = "%t0") -> str:
    return f"{result}, {result}_t = load_view_tko weak %v[{index}, %zero] token={token} : {TYPES}\n"


# --- one block --------------------------------------------------------------------------------


def test_load_after_store_without_a_token():
    error = races(
        "race: this operation reads element 0 of parameter 0, written at k.mlir:11:6 "
        "without an order between the two",
        store("%a") + load("%b"),
    )
    assert error.location is not None and error.location.startswith("k.mlir:12:")
    assert error.remedy == "order them: pass the token of the first to the second"
    execute(store("%a") + load("%b", token="%a"))


def test_store_after_load_without_a_token():
    races(
        "race: this operation writes element 0 of parameter 0, read at k.mlir:11:",
        load("%b") + store("%a"),
    )
    execute(load("%b") + store("%a", token="%b_t"))


def test_two_stores_without_a_token():
    races(
        "race: this operation writes element 32 of parameter 0, written at k.mlir:11:",
        store("%a", "%one") + store("%b", "%one"),
    )
    execute(store("%a", "%one") + store("%b", "%one", token="%a"))
    execute(store("%a", "%one") + store("%b", "%zero"))


def test_two_loads_do_not_race():
    execute(load("%a") + load("%b") + load("%d", "%one"))


def test_joined_tokens_order_after_both():
    join = "%j = join_tokens %a_t, %b_t : token\n"
    execute(load("%a") + load("%b") + join + store("%s", token="%j"))
    races("read at k.mlir:12:", load("%a") + load("%b") + store("%s", token="%a_t"))


def test_a_later_read_does_not_hide_an_earlier_one():
    races("read at k.mlir:11:", load("%a") + load("%b") + store("%s", token="%b_t"))


def test_tokens_carried_by_loops_and_branches():
    loop = f"""
%yes = constant <i1: true> : tile<i1>
%three = constant <i32: 3> : tile<i32>
%t1 = for %i in (%zero to %three, step %one) : tile<i32> iter_values(%t = %t0) -> (token) {{
  %u = if %yes -> (token) {{
    {store("%s", token="%t")}
    yield %s : token
  }} else {{
    yield %t : token
  }}
  continue %u : token
}}
"""
    execute(loop + load("%b", token="%t1"))
    races("race", loop + load("%b"))
    races("race", loop.replace("token=%t ", "token=%t0 "))


def test_scatter_to_one_address():
    body = """
%q = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
%qb = broadcast %q : tile<1xptr<f32>> -> tile<4xptr<f32>>
%i = constant <i32: [0, 7, 2, 7]> : tile<4xi32>
%pp = offset %qb, %i : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
%v4 = constant <f32: [0.0, 1.0, 2.0, 3.0]> : tile<4xf32>
%m = constant <i1: MASK> : tile<4xi1>
%s = store_ptr_tko weak %pp, %v4, %m : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> token"""
    races(
        "race: this store writes element 7 of parameter 0 more than once",
        body.replace("MASK", "[true, true, true, true]"),
    )
    execute(body.replace("MASK", "[true, false, true, true]"))


def test_view_whose_elements_overlap():
    tensor = "tensor_view<4x8xf32, strides=[4,1]>"
    body = f"""
%to = make_tensor_view %p, shape = [4, 8], strides = [4, 1] : {tensor}
%vo = make_partition_view %to : partition_view<tile=(4x8), {tensor}>
%s = store_view_tko weak %c, %vo[%zero, %zero]
  : tile<4x8xf32>, partition_view<tile=(4x8), {tensor}>, tile<i32> -> token"""
    races("this store writes element 4 of parameter 0 more than once", body)


def test_accesses_of_different_width():
    body = """
%h = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<i16>>
%h1 = offset %h, INDEX : tile<ptr<i16>>, tile<i32> -> tile<ptr<i16>>
%n = constant <i16: 1> : tile<i16>
%a = store_ptr_tko weak %h1, %n : tile<ptr<i16>>, tile<i16> -> token
%w, %wt = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token"""
    two = "%two = constant <i32: 2> : tile<i32>\n"
    races(
        "race: this operation reads element 0 of parameter 0", two + body.replace("INDEX", "%one")
    )
    execute(two + body.replace("INDEX", "%two"))


# --- several blocks ---------------------------------------------------------------------------


def test_blocks_that_write_one_tile():
    error = races("written by tile block (0, 0, 0) at k.mlir:11:", store("%a"), grid=2)
    assert "in tile block (1, 0, 0)" in error.reason
    assert error.remedy is not None and "release" in error.remedy
    execute(store("%a", "%x"), grid=4)


def test_blocks_that_read_what_another_writes():
    body = f"""
%first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>
if %first {{
  {store("%a")}
  yield
}} else {{
  {load("%b")}
  yield
}}"""
    races("reads element 0 of parameter 0, written by tile block (0, 0, 0)", body, grid=2)
    execute(body, grid=1)


def test_blocks_may_share_what_they_only_read():
    execute(load("%a") + load("%b", "%one"), grid=5)


ATOMIC_PARAMETERS = "%p: tile<ptr<f32>>, %n: tile<ptr<i32>>"


def atomic_args():
    return [np.zeros((16, 8), F), np.zeros(4, I32)]


def add(result: str, order: str = "relaxed device", token: str = "%t0") -> str:
    return (
        f"{result}, {result}_t = atomic_rmw_tko {order} %n, add, %one token={token} "
        ": tile<ptr<i32>>, tile<i32> -> tile<i32>, token\n"
    )


def test_atomics_do_not_race_with_each_other():
    execute(add("%a") + add("%b"), 4, parameters=ATOMIC_PARAMETERS, args=atomic_args)


def test_atomics_of_block_scope_do_not_reach_other_blocks():
    execute(add("%a", "relaxed tl_blk"), 1, parameters=ATOMIC_PARAMETERS, args=atomic_args)
    races(
        "written by tile block (0, 0, 0)",
        add("%a", "relaxed tl_blk"),
        2,
        parameters=ATOMIC_PARAMETERS,
        args=atomic_args,
    )


def test_weak_access_to_an_atomic_races():
    weak = "%w, %wt = load_ptr_tko weak %n : tile<ptr<i32>> -> tile<i32>, token\n"
    races("written at", add("%a") + weak, parameters=ATOMIC_PARAMETERS, args=atomic_args)
    strong = weak.replace("weak", "relaxed device")
    execute(add("%a") + strong, 3, parameters=ATOMIC_PARAMETERS, args=atomic_args)


def message_passing(write: str, read: str) -> str:
    """Block 0 stores a tile and raises a flag; block 1 waits for the flag and loads the tile."""
    return f"""
%first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>
if %first {{
  {store("%s")}
  %f = store_ptr_tko {write} %n, %one token=%s : tile<ptr<i32>>, tile<i32> -> token
  yield
}} else {{
  %tw = loop iter_values(%t = %t0) : token -> token {{
    %g, %tg = load_ptr_tko {read} %n token=%t : tile<ptr<i32>> -> tile<i32>, token
    %up = cmpi equal %g, %one, signed : tile<i32> -> tile<i1>
    if %up {{
      break %tg : token
    }}
    continue %tg : token
  }}
  {load("%b", token="%tw")}
  yield
}}"""


def test_release_and_acquire_order_blocks():
    execute(
        message_passing("release device", "acquire device"),
        2,
        parameters=ATOMIC_PARAMETERS,
        args=atomic_args,
    )


@pytest.mark.parametrize(
    "write,read",
    [
        ("relaxed device", "acquire device"),
        ("release device", "relaxed device"),
        ("relaxed sys", "relaxed sys"),
    ],
)
def test_half_a_handshake_is_a_race(write, read):
    races(
        "reads element 0 of parameter 0, written by tile block (0, 0, 0)",
        message_passing(write, read),
        2,
        parameters=ATOMIC_PARAMETERS,
        args=atomic_args,
    )


def test_handshake_of_block_scope_is_a_race():
    races(
        "race",
        message_passing("release tl_blk", "acquire tl_blk"),
        2,
        parameters=ATOMIC_PARAMETERS,
        args=atomic_args,
    )


def test_the_store_must_come_before_the_release():
    body = message_passing("release device", "acquire device").replace("token=%s", "token=%t0")
    races("race", body, 2, parameters=ATOMIC_PARAMETERS, args=atomic_args)


def split_k(order: str) -> str:
    """Every block stores its tile; the last to arrive at the counter reads all of them."""
    return f"""
%three = constant <i32: 3> : tile<i32>
{store("%s", "%x")}
{add("%a", order, "%s")}
%last = cmpi equal %a, %three, signed : tile<i32> -> tile<i1>
if %last {{
  {load("%b", "%zero", "%a_t")}
  {load("%d", "%one", "%a_t")}
  yield
}}"""


def test_counter_that_acquires_and_releases():
    """The updates of the other blocks carry the release on."""
    execute(split_k("acq_rel device"), 4, parameters=ATOMIC_PARAMETERS, args=atomic_args)


@pytest.mark.parametrize("order", ("relaxed device", "release device", "acquire device"))
def test_counter_that_does_not(order):
    races(
        "written by tile block (0, 0, 0)",
        split_k(order),
        4,
        parameters=ATOMIC_PARAMETERS,
        args=atomic_args,
    )


def test_weak_lock_is_a_race():
    """A lock without acquire does not protect what it guards."""
    body = f"""
%tl = loop iter_values(%t = %t0) : token -> token {{
  %old, %tc = atomic_cas_tko ORDER device %n, %zero, %one token=%t
    : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  %free = cmpi equal %old, %zero, signed : tile<i32> -> tile<i1>
  if %free {{
    break %tc : token
  }}
  continue %tc : token
}}
{store("%s", token="%tl")}
%o, %u = atomic_rmw_tko release device %n, xchg, %zero token=%s
  : tile<ptr<i32>>, tile<i32> -> tile<i32>, token"""
    execute(body.replace("ORDER", "acquire"), 3, parameters=ATOMIC_PARAMETERS, args=atomic_args)
    races(
        "race", body.replace("ORDER", "relaxed"), 3, parameters=ATOMIC_PARAMETERS, args=atomic_args
    )


def test_overlapping_arguments_are_one_memory():
    base = np.zeros(136, F)
    body = f"""
%tq = make_tensor_view %q, shape = [16, 8], strides = [8, 1] : {TENSOR}
%w = make_partition_view %tq : {VIEW}
{store("%a")}
%b = store_view_tko weak %c, %w[%zero, %zero] : {STORES}"""
    with pytest.raises(ExecutionError, match="race.*element 8 of parameter 0 / parameter 1"):
        run("%p: tile<ptr<f32>>, %q: tile<ptr<f32>>", SETUP + body, [base[:128], base[8:]])
    run("%p: tile<ptr<f32>>, %q: tile<ptr<f32>>", SETUP + body, [base[:128], np.zeros(128, F)])
