"""Finding operations by name."""

from __future__ import annotations

from mlir.dialects import arith, scf

import tileir
from tileir.ir import InsertionPoint, IntegerAttr, Module, OpView
from tileir.passes.walk import ops_named, ops_of, walk


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
