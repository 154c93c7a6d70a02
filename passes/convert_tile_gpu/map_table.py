"""The table in which blocks find tensor maps that others made, by the values they follow from.

An entry holds a key, then the maps. A word of the key lies there as 64 bits, the word itself
below a state: 0 free, 1 there, 2 (the first word alone) claimed. A warp compares 32 words at once.
Entries are written once: all maps, then, after a release, the words. So who reads all of its own
words with an acquire may use the maps, from then on and in all later launches.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.compiler.symbols import OWN_PREFIX, free_symbol
from tileir.ir import IntegerType, Value
from tileir.passes.build_tensor_maps import CLAIMED, FOUND, MAP_BYTES, POOLED
from tileir.passes.convert_tile_gpu.declarations import global_memory
from tileir.passes.convert_tile_gpu.lowering import Lowering

_LANES = 32
#: 32 words of a key with their states.
_CHUNK_BYTES = 8 * _LANES
#: Entries of the table of a kernel: 2 ** bits.
_TABLE_BITS = 10
#: Entries that a warp looks at before it takes a slot of the pool.
_PROBES = 2
#: Odd, so that all bits of a word reach the top ones: 2 ** 32 divided by the golden ratio.
_MULTIPLIER = 0x9E3779B1

#: Slots come in rows, one for each multiprocessor (modulo), so that blocks rarely meet.
_ROWS = 256
_SLOTS_IN_ROW = 4
_RELEASE = f"""{{
.reg .b32 row, n, bit; .reg .b64 a;
div.u32 row, $0, {_SLOTS_IN_ROW}; rem.u32 n, $0, {_SLOTS_IN_ROW};
mov.b32 bit, 1; shl.b32 bit, bit, n; not.b32 bit, bit; mad.wide.u32 a, row, 4, $1;
red.global.release.gpu.and.b32 [a], bit;
}}"""


class MapTable:
    """The table of a kernel with `count` maps that follow from `key` (pointers, i64, i32)."""

    def __init__(self, ctx: Lowering, count: int, key: Sequence[Value]):
        self._ctx, self._count = ctx, count
        self._words = [word for value in key for word in _words_of(ctx, value)]
        self._chunks = -(-len(self._words) // _LANES)
        self._key_bytes = self._chunks * _CHUNK_BYTES
        self._entry_bytes = self._key_bytes + count * MAP_BYTES

    def look_up(self) -> Value:
        """By a warp: the place (i64) of the maps, with what is there in its low bits: FOUND,
        CLAIMED if it is free, POOLED if there is no place."""
        ctx, words = self._ctx, self._lane_words()
        size = self._entry_bytes << _TABLE_BITS
        name = free_symbol(ctx.module_body, f"{OWN_PREFIX}tensor_map_table")
        table = global_memory(ctx, name.removeprefix(OWN_PREFIX), size, MAP_BYTES)
        inputs = ",".join("r" * len(words))
        operands = [table, ctx.lane, *words]
        text = _one_line(self._look_up_text())
        return ctx.asm(
            text, f"=&l,l,r,{inputs},~{{memory}}", operands, ctx.builder.i64, True
        ).results[0]

    def _look_up_text(self) -> str:
        """Without branches: what lives across a loop here, ptxas keeps in registers of each thread,
        even if it is the same for all threads of a warp."""
        own = range(self._chunks)
        mixes = [f"mad.lo.u32 h, h, {_MULTIPLIER}, ${3 + i};" for i in own]
        mine = [f"mov.b64 w{i}, {{${3 + i}, 1}};" for i in own]
        keys = ", ".join(f"w{i}, k{i}" for i in own)
        return f"""{{
.reg .pred p, all, more; .reg .b32 h, n, s; .reg .b64 a, m, {keys};
{" ".join(mine)} mad.lo.u32 n, $2, 2, 1; mov.b32 h, 0; {" ".join(mixes)}
mul.lo.u32 h, h, n; shr.u32 n, h, 15; xor.b32 h, h, n; mul.lo.u32 h, h, {_MULTIPLIER};
redux.sync.add.u32 h, h, -1; shr.u32 h, h, {32 - _TABLE_BITS};
mad.wide.u32 m, h, {self._entry_bytes}, $1; mad.wide.u32 a, $2, {MAP_BYTES}, m;
setp.lt.u32 p, $2, {self._count}; @p prefetch.global.L2 [a+{self._key_bytes}];
setp.eq.u32 more, h, h; {" ".join(self._probe_text(n) for n in range(_PROBES))} }}"""

    def _probe_text(self, probe: int) -> str:
        """Looks at an entry, if there is `more` to be looked at: while keys are others. No place
        if one is claimed: maybe for this key."""
        own = range(self._chunks)
        loads = [f"@more ld.acquire.gpu.global.b64 k{i}, [a+{i * _CHUNK_BYTES}];" for i in own]
        matches = [f"setp.eq.b64 p, k{i}, w{i}; and.pred all, all, p;" for i in own]
        return f"""add.u32 n, h, {probe}; and.b32 n, n, {(1 << _TABLE_BITS) - 1};
mad.wide.u32 m, n, {self._entry_bytes}, $1; mad.wide.u32 a, $2, 8, m; {" ".join(loads)}
mov.b64 {{_, s}}, k0; shfl.sync.idx.b32 s, s, 0, 31, -1;
setp.eq.u32 all, s, 1; {" ".join(matches)} vote.sync.all.pred all, all, -1;
@more mov.b64 $0, {POOLED};
setp.eq.and.u32 p, s, 0, more; @p add.s64 $0, m, {self._key_bytes + CLAIMED};
and.pred p, all, more; @p add.s64 $0, m, {self._key_bytes + FOUND};
setp.eq.and.u32 more, s, 1, more; not.pred all, all; and.pred more, more, all;"""

    def claim(self, looked_up: Value) -> Value:
        """By one thread: what `look_up` found, or the free entry claimed, or a slot of the pool.
        The loop has one way back, for the same reason."""
        ctx = self._ctx
        places, taken = _pool(ctx, self._count)
        text = f"""{{
.reg .pred p, free; .reg .b32 s, row, bit, old, n; .reg .b64 a, w;
mov.b64 $0, $1; cvt.u32.u64 s, $1; and.b32 s, s, {MAP_BYTES - 1};
setp.eq.u32 free, s, {CLAIMED}; add.s64 a, $1, -{self._key_bytes + CLAIMED}; mov.b64 w, {2 << 32};
@free atom.global.relaxed.gpu.cas.b64 w, [a], 0, w;
setp.ne.u64 p, w, 0; and.pred p, p, free; setp.eq.or.u32 p, s, {POOLED}, p; @!p bra DONE;
mov.u32 row, %smid; and.b32 row, row, {_ROWS - 1}; mov.b32 bit, 1;
AGAIN: mad.wide.u32 a, row, 4, $3;
atom.global.acquire.gpu.or.b32 old, [a], bit;
and.b32 n, old, bit; setp.eq.u32 p, n, 0; @p bra TAKEN;
shl.b32 bit, bit, 1; setp.lt.u32 p, bit, {1 << _SLOTS_IN_ROW};
selp.b32 bit, bit, 1, p; selp.b32 n, 0, 1, p; add.u32 row, row, n; and.b32 row, row, {_ROWS - 1};
bra AGAIN;
TAKEN: bfind.u32 n, bit; mad.lo.u32 n, row, {_SLOTS_IN_ROW}, n;
mad.wide.u32 $0, n, {self._count * MAP_BYTES}, $2; add.s64 $0, $0, {POOLED};
DONE: }}"""
        operands = [looked_up, places, taken]
        constraints = "=&l,l,l,l,~{memory}"
        result = ctx.asm(_one_line(text), constraints, operands, ctx.builder.i64, True)
        return result.results[0]

    def publish(self, slot: Value) -> None:
        """By a warp, when the maps are at `slot`, the place in a claimed entry."""
        ctx, b, words = self._ctx, self._ctx.builder, self._lane_words()
        entry = b.sub(slot, b.c64(self._key_bytes))
        stores = [
            f"mov.b64 w, {{${2 + i}, 1}}; st.release.gpu.global.b64 [a+{i * _CHUNK_BYTES}], w;"
            for i in range(self._chunks)
        ]
        text = f"{{ .reg .b64 a, w; mad.wide.u32 a, $1, 8, $0; {' '.join(stores)} }}"
        inputs = ",".join("r" * len(words))
        ctx.asm(text, f"l,r,{inputs},~{{memory}}", [entry, ctx.lane, *words], None, True)

    def _lane_words(self) -> list[Value]:
        """This lane's words of the key: the first 32 words by lane, and so on. None is 0."""
        b, ctx = self._ctx.builder, self._ctx
        padding = [b.c32(0)] * (self._chunks * _LANES - len(self._words))
        words = [*self._words, *padding]
        for bit in range(_LANES.bit_length() - 1):
            set_ = b.compare("ne", b.op("arith.andi", [ctx.lane, b.c32(1 << bit)], b.i32), b.c32(0))
            pairs = zip(words[::2], words[1::2], strict=True)
            words = [low if low == high else ctx.select(set_, high, low) for low, high in pairs]
        return words


def release_slot(ctx: Lowering, count: int, slot: Value) -> None:
    """Gives a slot of the pool back."""
    b = ctx.builder
    places, taken = _pool(ctx, count)
    index = b.op("arith.divui", [b.sub(slot, places), b.c64(count * MAP_BYTES)], b.i64)
    operands = [b.op("arith.trunci", [index], b.i32), taken]
    ctx.asm(_one_line(_RELEASE), "r,l,~{memory}", operands, None, True)


def _pool(ctx: Lowering, count: int) -> tuple[Value, Value]:
    """Addresses (i64) of the slots for `count` maps each, and of the bits of those taken."""
    slots = _ROWS * _SLOTS_IN_ROW
    places = global_memory(ctx, f"tensor_maps_{count}", slots * count * MAP_BYTES, MAP_BYTES)
    taken = global_memory(ctx, f"tensor_maps_{count}_taken", _ROWS * 4, 4)
    return places, taken


def _words_of(ctx: Lowering, value: Value) -> list[Value]:
    """A value as words of 32 bits, the low one first."""
    b = ctx.builder
    if not isinstance(value.type, IntegerType):
        value = b.op("llvm.ptrtoint", [value], b.i64)
    if ctx.width(value.type) == 32:
        return [value]
    high = b.op("arith.shrui", [value, b.c64(32)], b.i64)
    return [b.op("arith.trunci", [each], b.i32) for each in (value, high)]


def _one_line(text: str) -> str:
    return " ".join(text.split("\n"))
