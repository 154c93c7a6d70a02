"""What kinds of operations there are, as far as splitting a kernel cares."""

from __future__ import annotations

from collections.abc import Iterator

from tileir.compiler.ir_util import block_of, defining_op
from tileir.ir import Block, OpView, Value
from tileir.passes.walk import blocks_of

_PREFIX = "cuda_tile."


def _named(*names: str) -> frozenset[str]:
    return frozenset(_PREFIX + name for text in names for name in text.split())


LOADS = _named("load_ptr_tko load_view_tko")
STORES = _named("store_ptr_tko store_view_tko")
PRODUCTS = _named("mmaf mmai mmaf_scaled")
LOOPS = _named("for loop")
CONTROL_FLOW = _named("for loop if")
TERMINATORS = _named("yield continue break return")
#: Operations that must run as often as the program says.
UNREPEATABLE = _named(
    "atomic_cas_tko atomic_rmw_tko atomic_red_view_tko alloca assert print print_tko",
    "gdc_launch_dependents_tko gdc_wait_tko memory_fence_alias_tko prefetch",
    "multimem_load_reduce_view_tko multimem_reduce_view_tko multimem_store_view_tko",
)
EFFECTS = LOADS | STORES | UNREPEATABLE

#: One element of the result for each element of every operand that is a tile of that shape.
ELEMENTWISE = _named(
    "absf negf ceil floor addf subf mulf divf fma remf maxf minf sqrt rsqrt exp exp2 tanh log log2",
    "sin cos tan sinh cosh atan2 fpowf pow fpowi cmpf absi negi addi subi muli mulhii divi remi",
    "maxi mini shli shri andi ori xori cmpi select offset",
    "bitcast exti trunci ftof ftoi itof int_to_ptr ptr_to_int ptr_to_ptr inline_ptx",
)
#: Pure, but undefined for some operands unless these are looked at.
_GUARDED = _named("divi remi assume extract insert addi subi muli shli negi trunci")


def short(op: OpView) -> str:
    """The name without the dialect."""
    return op.operation.name.removeprefix(_PREFIX)


def is_pure(op: OpView) -> bool:
    """Whether an operation without regions only computes."""
    name = op.operation.name
    return not op.operation.regions and name not in EFFECTS and name not in TERMINATORS


def may_be_undefined(op: OpView) -> bool:
    """Whether a pure operation must not run where the program would not run it."""
    return op.operation.name in _GUARDED


def walk_block(block: Block) -> Iterator[OpView]:
    """The operations of a block, each before those of its regions."""
    for op in block:
        yield op
        for inner in blocks_of(op):
            yield from walk_block(inner)


def parent_op(op: OpView) -> OpView | None:
    parent = op.operation.parent
    return None if parent is None else parent.opview


def origin(value: Value) -> OpView:
    """The operation that gives a value, or whose region it is an argument of."""
    op = defining_op(value)
    return block_of(value).owner if op is None else op


def encloses(block: Block, inner: Block) -> bool:
    """Whether `inner` is `block` or lies inside it."""
    walk: Block | None = inner
    while walk is not None:
        if walk == block:
            return True
        walk = walk.owner.operation.block if _has_parent(walk) else None
    return False


def _has_parent(block: Block) -> bool:
    return block.owner.operation.parent is not None


def captured(op: OpView) -> list[Value]:
    """Values from outside that the regions of an operation use."""
    found: list[Value] = []
    for block in blocks_of(op):
        for inner in walk_block(block):
            for operand in inner.operation.operands:
                if not _defined_within(operand, op) and operand not in found:
                    found.append(operand)
    return found


def _defined_within(value: Value, op: OpView) -> bool:
    return any(encloses(block, block_of(value)) for block in blocks_of(op))
