"""Control flow, and blocks that wait for each other."""

from __future__ import annotations

import numpy as np
import pytest
from interp_support import kernel, run

from tileir import interp
from tileir.errors import ExecutionError

I32 = np.int32


def prints(body: str, grid: int | tuple[int, ...] = 1, **options) -> list[str]:
    return run("", body, [], grid, **options)


def show(*values: str, of: str = "i32") -> str:
    types = ", ".join(f"tile<{of}>" for _ in values)
    form = " ".join("%d" for _ in values)
    return f'%show_{values[0][1:]} = print_tko "{form}\\n", {", ".join(values)} : {types} -> token'


def constants(**values: int) -> str:
    return "\n".join(f"%{k} = constant <i32: {v}> : tile<i32>" for k, v in values.items())


@pytest.mark.parametrize("check", (True, False))
def test_for_sums(check):
    body = f"""
    {constants(lo=3, hi=20, st=4, zero=0)}
    %s, %n = for %i in (%lo to %hi, step %st) : tile<i32>
        iter_values(%a = %zero, %b = %zero) -> (tile<i32>, tile<i32>) {{
      %c = addi %a, %i : tile<i32>
      continue %c, %a : tile<i32>, tile<i32>
    }}
    {show("%s", "%n")}"""
    assert prints(body, check=check) == [f"{3 + 7 + 11 + 15 + 19} {3 + 7 + 11 + 15}"]


def test_for_that_never_runs_returns_its_initial_values():
    body = f"""
    {constants(lo=5, hi=5, st=1, x=42)}
    %s = for %i in (%lo to %hi, step %st) : tile<i32> iter_values(%a = %x) -> (tile<i32>) {{
      continue %i : tile<i32>
    }}
    {show("%s")}"""
    assert prints(body) == ["42"]


def test_signed_and_unsigned_bounds():
    text = """
    {c}
    %s = for {u} %i in (%lo to %hi, step %st) : tile<i32> iter_values(%a = %zero) -> (tile<i32>) {{
      %b = addi %a, %st : tile<i32>
      continue %b : tile<i32>
    }}
    {p}"""
    signed = text.format(c=constants(lo=-2, hi=2, st=1, zero=0), u="", p=show("%s"))
    assert prints(signed) == ["4"]
    # Read as unsigned, -2 is 4294967294 and lies above 2.
    unsigned = text.format(c=constants(lo=-2, hi=2, st=1, zero=0), u="unsigned", p=show("%s"))
    assert prints(unsigned) == ["0"]
    high = text.format(
        c=constants(lo=2147483646, hi=-2147483646, st=1, zero=0), u="unsigned", p=show("%s")
    )
    assert prints(high) == ["4"]


def test_induction_variable_does_not_overflow():
    body = f"""
    {constants(lo=2147483640, hi=2147483647, st=5, zero=0)}
    %s = for %i in (%lo to %hi, step %st) : tile<i32> iter_values(%a = %zero) -> (tile<i32>) {{
      continue %i : tile<i32>
    }}
    {show("%s")}"""
    assert prints(body) == ["2147483645"]


@pytest.mark.parametrize("bits", (8, 16, 64))
def test_for_over_other_integers(bits):
    body = f"""
    %lo = constant <i{bits}: 1> : tile<i{bits}>
    %hi = constant <i{bits}: 5> : tile<i{bits}>
    %s = for %i in (%lo to %hi, step %lo) : tile<i{bits}> iter_values(%a = %lo)
        -> (tile<i{bits}>) {{
      %b = muli %a, %i : tile<i{bits}>
      continue %b : tile<i{bits}>
    }}
    {show("%s", of=f"i{bits}")}"""
    assert prints(body) == ["24"]


def test_continue_inside_a_branch():
    body = f"""
    {constants(zero=0, one=1, two=2, ten=10)}
    %s = for %i in (%zero to %ten, step %one) : tile<i32> iter_values(%a = %zero)
        -> (tile<i32>) {{
      %r = remi %i, %two signed : tile<i32>
      %odd = cmpi equal %r, %one, signed : tile<i32> -> tile<i1>
      if %odd {{
        continue %a : tile<i32>
      }}
      %b = addi %a, %i : tile<i32>
      continue %b : tile<i32>
    }}
    {show("%s")}"""
    assert prints(body) == [str(0 + 2 + 4 + 6 + 8)]


@pytest.mark.parametrize("check", (True, False))
def test_loop_with_break_of_another_type(check):
    """Collatz: the carried values and the results differ in number and type."""
    body = f"""
    {constants(zero=0, one=1, two=2, three=3, start=27)}
    %n = loop iter_values(%x = %start, %k = %zero) : tile<i32>, tile<i32> -> tile<i64> {{
      %done = cmpi equal %x, %one, signed : tile<i32> -> tile<i1>
      if %done {{
        %w = exti %k signed : tile<i32> -> tile<i64>
        break %w : tile<i64>
      }}
      %r = remi %x, %two signed : tile<i32>
      %odd = cmpi equal %r, %one, signed : tile<i32> -> tile<i1>
      %y = if %odd -> (tile<i32>) {{
        %t = muli %x, %three : tile<i32>
        %u = addi %t, %one : tile<i32>
        yield %u : tile<i32>
      }} else {{
        %h = divi %x, %two signed : tile<i32>
        yield %h : tile<i32>
      }}
      %k1 = addi %k, %one : tile<i32>
      continue %y, %k1 : tile<i32>, tile<i32>
    }}
    %t1 = print_tko "%ld\\n", %n : tile<i64> -> token"""
    assert prints(body, check=check) == ["111"]


def test_nested_loops_break_the_inner_one():
    body = f"""
    {constants(zero=0, one=1, three=3)}
    %s = for %i in (%zero to %three, step %one) : tile<i32> iter_values(%a = %zero)
        -> (tile<i32>) {{
      %n = loop iter_values(%k = %zero) : tile<i32> -> tile<i32> {{
        %stop = cmpi greater_than_or_equal %k, %i, signed : tile<i32> -> tile<i1>
        if %stop {{
          break %k : tile<i32>
        }}
        %k1 = addi %k, %one : tile<i32>
        continue %k1 : tile<i32>
      }}
      %b = addi %a, %n : tile<i32>
      continue %b : tile<i32>
    }}
    {show("%s")}"""
    assert prints(body) == ["3"]


def test_return_inside_a_branch():
    body = f"""
    %x, %y, %z = get_tile_block_id : tile<i32>
    {constants(two=2)}
    %late = cmpi greater_than_or_equal %x, %two, signed : tile<i32> -> tile<i1>
    if %late {{
      return
    }}
    {show("%x")}"""
    assert prints(body, 4) == ["0", "1"]


def test_return_inside_a_loop():
    body = f"""
    {constants(zero=0, one=1, ten=10, four=4)}
    for %i in (%zero to %ten, step %one) : tile<i32> {{
      %stop = cmpi equal %i, %four, signed : tile<i32> -> tile<i1>
      if %stop {{
        return
      }}
      {show("%i")}
      continue
    }}
    {show("%ten")}"""
    assert prints(body) == ["0", "1", "2", "3"]


def test_branch_without_else_and_tiles_as_results():
    body = """
    %t = constant <i1: true> : tile<i1>
    %a = constant <i32: [1, 2, 3, 4]> : tile<4xi32>
    %b = constant <i32: 9> : tile<4xi32>
    %c = constant <i32: 1> : tile<1xi32>
    %cb = broadcast %c : tile<1xi32> -> tile<4xi32>
    if %t {
      %p = print_tko "yes\\n" -> token
    }
    %r = if %t -> (tile<4xi32>) {
      yield %cb : tile<4xi32>
    } else {
      yield %a : tile<4xi32>
    }
    %s = reshape %r : tile<4xi32> -> tile<2x2xi32>
    %q = print_tko "%d\\n", %s : tile<2x2xi32> -> token"""
    assert prints(body) == ["yes", "[[1, 1], [1, 1]]"]


def test_grid_coordinates():
    body = """
    %x, %y, %z = get_tile_block_id : tile<i32>
    %a, %b, %c = get_num_tile_blocks : tile<i32>
    %t = print_tko "%d%d%d/%d%d%d\\n", %x, %y, %z, %a, %b, %c
      : tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32> -> token"""
    lines = prints(body, (2, 3, 2))
    assert lines == [f"{x}{y}{z}/232" for z in range(2) for y in range(3) for x in range(2)]


# --- blocks that wait -------------------------------------------------------------------------

ORDERED = """
    %x, %y, %z = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %turn = subi %last, %x : tile<i32>
    %t0 = make_token : token
    %t1 = loop iter_values(%t = %t0) : token -> token {
      %v, %tl = load_ptr_tko acquire device %flag token=%t : tile<ptr<i32>> -> tile<i32>, token
      %mine = cmpi equal %v, %turn, signed : tile<i32> -> tile<i1>
      if %mine {
        break %tl : token
      }
      continue %tl : token
    }
    %old, %t2 = load_ptr_tko weak %data token=%t1 : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %old, %one : tile<i32>
    %t3 = store_ptr_tko weak %data, %new token=%t2 : tile<ptr<i32>>, tile<i32> -> token
    %p = print_tko "%d\\n", %x token=%t3 : tile<i32> -> token
    %next = addi %turn, %one : tile<i32>
    %t4 = store_ptr_tko release device %flag, %next token=%p : tile<ptr<i32>>, tile<i32> -> token"""
ORDERED_PARAMETERS = "%flag: tile<ptr<i32>>, %data: tile<ptr<i32>>, %last: tile<i32>"


@pytest.mark.parametrize("check", (True, False))
def test_semaphore_passes_from_the_last_block_to_the_first(check):
    flag, data = np.zeros(1, I32), np.zeros(1, I32)
    lines = run(ORDERED_PARAMETERS, ORDERED, [flag, data, 4], 5, check=check)
    assert lines == ["4", "3", "2", "1", "0"]
    assert data[0] == 5 and flag[0] == 5


SPIN_LOCK = """
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 3> : tile<i32>
    %t0 = make_token : token
    %tn = for %i in (%zero to %two, step %one) : tile<i32> iter_values(%tf = %t0) -> (token) {
      %t1 = loop iter_values(%t = %tf) : token -> token {
        %old, %tl = atomic_cas_tko acquire device %lock, %zero, %one token=%t
          : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
        %free = cmpi equal %old, %zero, signed : tile<i32> -> tile<i1>
        if %free {
          break %tl : token
        }
        continue %tl : token
      }
      %v, %t2 = load_ptr_tko weak %data token=%t1 : tile<ptr<i32>> -> tile<i32>, token
      %w = addi %v, %one : tile<i32>
      %t3 = store_ptr_tko weak %data, %w token=%t2 : tile<ptr<i32>>, tile<i32> -> token
      %x, %t4 = atomic_rmw_tko release device %lock, xchg, %zero token=%t3
        : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      continue %t4 : token
    }"""


@pytest.mark.parametrize("check", (True, False))
def test_spin_lock(check):
    lock, data = np.zeros(1, I32), np.zeros(1, I32)
    run("%lock: tile<ptr<i32>>, %data: tile<ptr<i32>>", SPIN_LOCK, [lock, data], 6, check=check)
    assert data[0] == 18 and lock[0] == 0


def test_deadlock_is_reported():
    flag, data = np.full(1, 99, I32), np.zeros(1, I32)
    with pytest.raises(ExecutionError, match="deadlock: no tile block can go on; 3 wait") as caught:
        run(ORDERED_PARAMETERS, ORDERED, [flag, data, 2], 3)
    assert caught.value.location is not None
    assert caught.value.location.startswith("k.mlir:9:")


def test_a_lock_that_is_never_released():
    with pytest.raises(ExecutionError, match="deadlock"):
        run(
            "%lock: tile<ptr<i32>>, %data: tile<ptr<i32>>",
            SPIN_LOCK,
            [np.ones(1, I32), np.zeros(1, I32)],
            2,
        )


def test_work_queue_shares_out_every_item_once():
    body = """
    %one = constant <i32: 1> : tile<i32>
    %n = constant <i32: 100> : tile<i32>
    loop {
      %i, %t = atomic_rmw_tko relaxed device %next, add, %one
        : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %done = cmpi greater_than_or_equal %i, %n, signed : tile<i32> -> tile<i1>
      if %done {
        break
      }
      %q = offset %out, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %t1 = store_ptr_tko weak %q, %i : tile<ptr<i32>>, tile<i32> -> token
      continue
    }"""
    following, out = np.zeros(1, I32), np.full(100, -1, I32)
    run("%next: tile<ptr<i32>>, %out: tile<ptr<i32>>", body, [following, out], 7)
    assert out.tolist() == list(range(100))


def test_deep_nesting_is_refused_not_crashed():
    from tileir.errors import UnsupportedError

    depth = 30
    opening = "".join(
        f"for %i{d} in (%zero to %one, step %one) : tile<i32> {{\n" for d in range(depth)
    )
    body = f"{constants(zero=0, one=1)}\n{opening}{'continue }' * depth}"
    with pytest.raises(UnsupportedError, match="nest"):
        interp.run(kernel("", body))


def test_loop_of_one_round():
    out = np.zeros(1, I32)
    body = """
    loop {
      %t = store_ptr_tko weak %out, %n : tile<ptr<i32>>, tile<i32> -> token
      break
    }"""
    run("%out: tile<ptr<i32>>, %n: tile<i32>", body, [out, np.int32(3)])
    assert out.tolist() == [3]
