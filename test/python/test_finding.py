"""Finding operations by name."""

from __future__ import annotations

from mlir.dialects import arith, scf

import tileir
from tileir.ir import InsertionPoint, IntegerAttr, Module, OpView
from tileir.passes.walk import ops_named, ops_of, ops_on_buffers, ops_on_tiles, walk


def module_of(text: str) -> Module:
    return tileir.parse(f"builtin.module {{ {text} }}")


def constant(value: int) -> str:
    return f"%c{value} = arith.constant {value} : i32\n"


def values(ops: list[OpView] | list[arith.ConstantOp]) -> list[int]:
    return [IntegerAttr(op.operation.attributes["value"]).value for op in ops]


NESTED = module_of(
    f"""
    %true = arith.constant true
    {constant(1)}
    scf.if %true {{
      {constant(2)}
      scf.if %true {{ {constant(3)} }} else {{ {constant(4)} }}
      {constant(5)}
    }}
    {constant(6)}
    """
)


def test_each_comes_before_those_of_its_regions() -> None:
    names = ("arith.constant", "scf.if")
    found = ops_named(NESTED.operation, *names)
    assert found == [op for op in walk(NESTED.operation) if op.operation.name in names]
    assert values([op for op in found if op.operation.name != "scf.if"]) == [-1, 1, 2, 3, 4, 5, 6]


def test_the_operation_itself_is_not_inside() -> None:
    outer, inner = ops_of(NESTED.operation, scf.IfOp)
    assert ops_of(outer, scf.IfOp) == [inner]
    assert ops_of(inner, scf.IfOp) == []


def test_they_come_as_their_classes() -> None:
    found = ops_of(NESTED.operation, scf.IfOp)
    assert all(isinstance(op, scf.IfOp) for op in found)


def test_names_are_whole_names() -> None:
    assert ops_named(NESTED.operation, "scf", "scf.i", "arith.constant.") == []


def test_no_names_find_nothing() -> None:
    assert ops_named(NESTED.operation) == []


def test_any_number_is_found() -> None:
    count = 1000
    module = module_of("".join(map(constant, range(count))))
    assert values(ops_of(module.operation, arith.ConstantOp)) == list(range(count))


def test_the_result_stays_while_operations_come_and_go() -> None:
    module = module_of("".join(map(constant, range(5))))
    for op in ops_of(module.operation, arith.ConstantOp):
        op.operation.clone(ip=InsertionPoint(op))
        op.operation.erase()
    assert len(ops_of(module.operation, arith.ConstantOp)) == 5


HANDLING = module_of(
    """
    gpu.module @kernels {
      gpu.func @k(%n: i32, %some: i1) kernel {
        %zero = arith.constant 0 : i32
        %tile = tile_gpu.iota : !tile_gpu.tile<128xi32>
        %sum = scf.for %i = %zero to %n step %n
            iter_args(%t = %tile) -> (!tile_gpu.tile<128xi32>) : i32 {
          %next = arith.addi %i, %n : i32
          scf.yield %t : !tile_gpu.tile<128xi32>
        }
        %buffer = tile_gpu.alloc : !tile_gpu.buffer<128xi32>
        scf.if %some {
          tile_gpu.local_store %sum, %buffer : !tile_gpu.tile<128xi32>, !tile_gpu.buffer<128xi32>
        }
        tile_gpu.barrier
        gpu.return
      }
    }
    """
)


def names(ops: list[OpView]) -> list[str]:
    return [op.operation.name for op in ops]


def test_what_handles_tiles() -> None:
    found = ["tile_gpu.iota", "scf.for", "scf.yield", "tile_gpu.local_store"]
    assert names(ops_on_tiles(HANDLING.operation)) == found


def test_what_handles_buffers() -> None:
    assert names(ops_on_buffers(HANDLING.operation)) == ["tile_gpu.alloc", "tile_gpu.local_store"]


def test_what_handles_buffers_and_others_in_order() -> None:
    found = ["scf.for", "tile_gpu.alloc", "tile_gpu.local_store", "tile_gpu.barrier"]
    others = ("tile_gpu.barrier", "scf.for", "tile_gpu.alloc")
    assert names(ops_on_buffers(HANDLING.operation, *others)) == found
