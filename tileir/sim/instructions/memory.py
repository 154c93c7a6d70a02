"""ld, st and what belongs to addresses: cvta, isspacep, mapa, prefetch."""

from __future__ import annotations

import numpy as np

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..machine import memory
from ..machine.addressing import RANK_LIMIT, RANK_SHIFT, SHARED_WINDOW, WINDOWS
from ..machine.cohort import STOP, Array, Cohort
from ..machine.memory import Traits
from ..ptx.syntax import Operand, Register, Symbol, Vector
from ..ptx.types import B64, PRED, U32, U64, Type

_SPACES = {
    "global": "global",
    "const": "const",
    "local": "local",
    "shared": "shared",
    "shared::cta": "shared",
    "shared::cluster": "shared",
    "param": "param",
    "param::entry": "param",
    "param::func": "param",
}


def space_of(f: Form, *allowed: str) -> str:
    """Takes the state space; "generic" if there is none."""
    names = [name for name, space in _SPACES.items() if not allowed or space in allowed]
    found = f.one_of(*names)
    return _SPACES[found] if found else "generic"


def order_of(f: Form) -> str:
    """Takes .weak, .volatile, .relaxed, .acquire, ..."""
    return (
        f.one_of("weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio") or "weak"
    )


def scope_of(f: Form) -> str | None:
    return f.one_of("cta", "cluster", "gpu", "sys")


def take_cache_hints(f: Form) -> None:
    """Cache operators, eviction priorities, prefetch sizes and the cache policy: no effect here."""
    f.has("ca", "cg", "cs", "lu", "cv", "wb", "wt")
    while f.rest_starting("L1::", "L2::"):
        pass


def traits(e: Emitter, space: str, order: str = "weak", scope: str | None = None) -> str:
    """A name for the traits of the current instruction's access."""
    site = e.sites[e.site]
    return e.object(Traits(space, order, scope, site), f"T{site.line}")


def _vector_length(f: Form) -> int:
    found = f.one_of("v2", "v4", "v8")
    return int(found[1:]) if found else 1


def _param_space(e: Emitter, space: str, operand: Operand) -> str:
    """.param is the entry's parameters, or those of a call, which live in the frame."""
    base = getattr(operand, "base", None)
    if space == "param" and isinstance(base, Symbol):
        kind, _ = e.code.place_of(base.target)
        return "local" if kind == "local" else "param"
    return space


@instruction("ld.volatile", "ld.relaxed", "ld.acquire", "ld.mmio", stops=True)
def load_strong(e: Emitter, f: Form) -> None:
    poll(e, address_of(e, f.operand(1)))
    _load(e, f, f.name.split(".")[1])


def poll(e: Emitter, *operands: str) -> None:
    """Emits the question whether to read again what did not change."""
    arguments = f"w, {e.this_block}, {', '.join(operands)}"
    e.line(f"if not w.launch.scheduler.poll({arguments}): return {STOP}")


@instruction("ld", "ldu")
def load_weak(e: Emitter, f: Form) -> None:
    f.has("weak")
    _load(e, f, "weak")


def _load(e: Emitter, f: Form, order: str) -> None:
    scope = scope_of(f)
    space = _param_space(e, space_of(f), f.operand(1))
    f.has("nc")
    take_cache_hints(f)
    count, type_ = _vector_length(f), f.type()
    f.count(2, 3)
    result = f.operand(0)
    elements = result.elements if isinstance(result, Vector) else (result,)
    if len(elements) != count:
        raise f.error(f"expected {count} registers, found {len(elements)}")
    loaded = _held(e, elements, type_)
    address, name = address_of(e, f.operand(1)), traits(e, space, order, scope)
    dtype = e.dtype_name(loaded.dtype)
    if count == 1:
        e.write(elements[0], e.call(memory.load, name, address, dtype, e.lanes()), loaded)
    else:
        call = e.call(memory.load_vector, name, address, dtype, count, e.lanes())
        e.write_each(result, call, loaded)


def _held(e: Emitter, elements: tuple[Operand, ...], type_: Type) -> Type:
    """`type_` as the registers hold it, where they are as wide: saves seeing it as another."""
    first = elements[0]
    if not isinstance(first, Register) or type_ is PRED:
        return type_
    home = e.home(first)
    if home.itemsize != type_.dtype.itemsize or home == type_.dtype:
        return type_
    return Type(type_.name, type_.kind, type_.bits, home)


def address_of(e: Emitter, operand: Operand) -> str:
    """An expression for the address of each lane."""
    base, offset = e.address(operand)
    if not offset:
        return base
    register = getattr(operand, "base", None)
    wide = not isinstance(register, Register) or register.type.bits == 64
    number = np.uint64(offset & 2**64 - 1) if wide else np.uint32(offset & 2**32 - 1)
    return f"({base} + {e.constant(number)})"


@instruction("st")
def store(e: Emitter, f: Form) -> None:
    order = order_of(f)
    scope = scope_of(f)
    space = _param_space(e, space_of(f), f.operand(0))
    take_cache_hints(f)
    count, type_ = _vector_length(f), f.type()
    f.count(2, 3)
    source = f.operand(1)
    elements = source.elements if isinstance(source, Vector) else (source,)
    if len(elements) != count:
        raise f.error(f"expected {count} values, found {len(elements)}")
    held = _held(e, elements, type_)
    values = ", ".join(e.read(element, held) for element in elements)
    name = traits(e, space, order, scope)
    address = address_of(e, f.operand(0))
    e.line(f"{e.use(memory.store)}(w, {name}, {address}, ({values},), {e.lanes()})")


@instruction("prefetch", "prefetchu", "applypriority", "discard")
def prefetch(e: Emitter, f: Form) -> None:
    """No effect on values; addresses of prefetches may even be wrong."""
    space_of(f)
    while f.rest_starting("L1", "L2", "tensormap"):
        pass


@instruction("createpolicy")
def create_policy(e: Emitter, f: Form) -> None:
    """An opaque word that the caches would understand."""
    f.has("fractional", "range", "cvt")
    while f.rest_starting("L2", "global"):
        pass
    f.type("b64")
    e.write(f.operand(0), e.constant(np.uint64(0)), B64)


# --- addresses -----------------------------------------------------------------------------------


@instruction("cvta")
def convert_address(e: Emitter, f: Form) -> None:
    to_space = f.has("to")
    space = space_of(f)
    type_ = f.type("u32", "u64")
    value = e.read(f.operand(1), type_)
    window = WINDOWS.get(space, 0)
    if window and type_.bits == 32:
        raise f.error("generic addresses have 64 bits")
    if window:
        value = f"{value} {'-' if to_space else '+'} {e.constant(np.uint64(window))}"
    e.write(f.operand(0), value, type_)


@instruction("isspacep")
def is_space(e: Emitter, f: Form) -> None:
    name = f.one_of("shared::cta")
    space = "shared::cta" if name else space_of(f)
    e.write(f.operand(0), e.call(lies_in, e.read(f.operand(1), U64), repr(space)), PRED)


def lies_in(w: Cohort, address: Array, space: str) -> Array:
    """Whether generic addresses belong to a state space."""
    window = np.broadcast_to(address, (len(w.warps), 32)) >> np.uint64(40)
    if space in ("global", "const"):
        return window < SHARED_WINDOW >> 40
    if space == "shared::cta":
        in_cluster = (address & np.uint64(0xFFFFFFFF)) >> np.uint64(RANK_SHIFT)
        own = (in_cluster == 0) | (in_cluster - np.uint64(1) == own_rank(w))
        return (window == SHARED_WINDOW >> 40) & own
    return window == WINDOWS[space] >> 40


def own_rank(w: Cohort) -> Array:
    return (w.slots % w.launch.cluster_size)[:, None].astype(np.uint64)


@instruction("mapa")
def map_to_cluster(e: Emitter, f: Form) -> None:
    """The address of the same byte in another block of the cluster."""
    space = space_of(f, "shared")
    type_ = f.type("u32", "u64")
    address, rank = e.read(f.operand(1), type_), e.read(f.operand(2), U32)
    call = e.call(address_in_cluster, address, rank)
    if space == "generic":
        window = e.constant(np.uint64(SHARED_WINDOW))
        call = e.call(address_in_cluster, f"({address} - {window})", rank)
        call = f"{call} + {window}"
    e.write(f.operand(0), call, type_)


def address_in_cluster(w: Cohort, address: Array, rank: Array) -> Array:
    """Shared addresses of the block with that rank; a rank too high gives one that is nowhere."""
    limit = np.uint32(RANK_LIMIT)
    rank = np.minimum(np.broadcast_to(rank, (len(w.warps), 32)), limit)
    dtype = address.dtype
    inside = address & dtype.type((1 << RANK_SHIFT) - 1)
    return inside | (rank.astype(dtype) + dtype.type(1)) << dtype.type(RANK_SHIFT)


@instruction("getctarank")
def rank_of_address(e: Emitter, f: Form) -> None:
    space_of(f, "shared")
    type_ = f.type("u32", "u64")
    e.write(f.operand(0), e.call(cluster_rank, e.read(f.operand(1), type_)), U32)


def cluster_rank(w: Cohort, address: Array) -> Array:
    rank = (address.astype(np.uint64) & np.uint64(0xFFFFFFFF)) >> np.uint64(RANK_SHIFT)
    return np.where(rank == 0, own_rank(w), rank - np.uint64(1)).astype(np.uint32)


@instruction("alloca", "stacksave", "stackrestore")
def stack(e: Emitter, f: Form) -> None:
    raise f.error("variable frames are not supported")
