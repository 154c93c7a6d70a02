"""What to do about the time that compiling takes: `tileir advise`.

Each rule looks at the slices of a trace and says what it would change and how many milliseconds
that saves; the advice that saves most comes first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tileir.trace_reader import Cost, Key, Span, by_pass, costs, launches, lookups, overlap

#: Below this it is not worth a line.
_LEAST_MS = 20.0
#: A launch that takes the host longer than this is slow.
_SLOW_LAUNCH_MS = 0.05
#: What `fast_compile="min"` leaves of LLVM's time (docs/compile-time.md).
_LLVM_LEFT = 0.35

#: What makes a pass slow.
_PASSES = {
    "split-tile": "tiles that do not fit into registers are cut: smaller tiles need no cutting",
    "convert-tile-gpu": "code grows with what one thread holds of a tile: smaller tiles, or more "
    "warps (`num_worker_warps`)",
    "assign-layouts": "layouts are chosen for each operation: fewer tiles of different shapes",
    "front end": "loops over `static_iter` and Python tuples are unrolled: loop over `range`",
}


@dataclass(frozen=True)
class Advice:
    """What to do, and the milliseconds that it saves."""

    saves: float
    text: str


def advise(spans: Sequence[Span]) -> list[Advice]:
    """Advice on a trace, what saves most first."""
    found = costs(spans)
    rules = (
        _specializations(found),
        _repeated(found),
        _cache(spans, found),
        _serial(spans, found),
        _levels(found),
        _dear_passes(spans),
        _launches(spans),
    )
    advice = [one for rule in rules for one in rule if one.saves >= _LEAST_MS]
    return sorted(advice, key=lambda one: -one.saves)


# ---- specialisations that differ in little -------------------------------------------------------

Fact = tuple[str, ...]
"""A parameter's name, the kind of the fact, and for extents and strides the dimension."""

_PARAMETER = re.compile(r"(?P<name>\w+)(?:=(?P<constant>.*)|: (?P<type>.*))", re.DOTALL)
_ARRAY = re.compile(
    r"(?:list of )?(?P<dtype>\w+)\[(?P<shape>[^;\]]*);? ?(?P<strides>[^\]]*)\](?P<rest>.*)"
)


def facts_of(specialization: str) -> dict[Fact, str]:
    """The facts of `a: f16[?, 16k; 16k, 1], n: i32, TILE=128`, one by one."""
    found: dict[Fact, str] = {}
    for part in _split(specialization):
        match = _PARAMETER.fullmatch(part)
        if match is None:
            continue
        name, constant, type_ = match["name"], match["constant"], match["type"]
        array = _ARRAY.fullmatch(type_ or "")
        if constant is not None:
            found[name, "constant"] = constant
        elif array is None:
            found[name, "type"] = type_
        else:
            found[name, "type"] = array["dtype"]
            found[name, "alignment"] = array["rest"].strip() or "aligned"
            for kind in ("shape", "strides"):
                for dim, value in enumerate(filter(None, array[kind].split(", "))):
                    found[name, kind, str(dim)] = value
    return found


def _split(text: str) -> Iterator[str]:
    """The parameters of a specialisation: parts between commas outside of brackets."""
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and text.startswith(", ", position):
            yield text[start:position]
            start = position + 2
    if text[start:]:
        yield text[start:]


def _specializations(found: dict[Key, Cost]) -> Iterator[Advice]:
    """One advice a kernel and kind of fact in which its specialisations differ."""
    groups: defaultdict[tuple[str, str], list[Key]] = defaultdict(list)
    for key in found:
        if key.specialization:
            groups[key.kernel, key.target].append(key)
    for (kernel, _), keys in groups.items():
        extra: defaultdict[str, list[tuple[Key, set[Fact]]]] = defaultdict(list)
        for number, key in enumerate(keys[1:], 1):
            differences = min((_differences(key, other) for other in keys[:number]), key=len)
            kinds = {_KINDS[fact[1]] for fact in differences}
            if len(kinds) == 1:
                extra[kinds.pop()].append((key, differences))
        for kind, ones in extra.items():
            saves = sum(found[key].total for key, _ in ones)
            facts = {fact for _, differences in ones for fact in differences}
            yield Advice(saves, _REMEDIES[kind](kernel, facts, [key for key, _ in ones], keys))


def _differences(a: Key, b: Key) -> set[Fact]:
    first, second = facts_of(a.specialization), facts_of(b.specialization)
    return {fact for fact in first.keys() | second.keys() if first.get(fact) != second.get(fact)}


_KINDS = {
    "constant": "constants",
    "type": "types",
    "alignment": "layout",
    "shape": "layout",
    "strides": "layout",
}


def _constants(kernel: str, facts: set[Fact], ones: Sequence[Key], keys: Sequence[Key]) -> str:
    named = []
    for name in sorted({fact[0] for fact in facts}):
        values = sorted({facts_of(key.specialization)[name, "constant"] for key in keys})
        shown = ", ".join(values[:6]) + (", ..." if len(values) > 6 else "")
        named.append(f"`{name}` ({shown})")
    return (
        f"{kernel}: {len(ones) + 1} specialisations differ only in the constant "
        f"{', '.join(named)}; where it decides no shape of a tile, take `ct.Constant` off and pass "
        "it as a number"
    )


def _types(kernel: str, facts: set[Fact], ones: Sequence[Key], keys: Sequence[Key]) -> str:
    named = []
    for name in sorted({fact[0] for fact in facts}):
        types = {facts_of(key.specialization).get((name, "type"), "?") for key in keys}
        named.append(f"`{name}` ({', '.join(sorted(types))})")
    return (
        f"{kernel}: {len(ones) + 1} specialisations differ only in types of {', '.join(named)}; "
        "pass one type: float(x), int(x), or an array of one dtype"
    )


def _layout(kernel: str, facts: set[Fact], ones: Sequence[Key], keys: Sequence[Key]) -> str:
    what = []
    remedies = []
    for name in sorted({fact[0] for fact in facts}):
        own = {fact for fact in facts if fact[0] == name}
        dims = sorted(fact[2] for fact in own if fact[1] == "shape")
        if dims:
            what.append(f"the extent of dimension {', '.join(dims)} of `{name}`")
            remedies.append("pad extents to multiples of 16")
        elif any(fact[1] == "strides" for fact in own):
            what.append(f"the strides of `{name}`")
            remedies.append("pass contiguous arrays, or rows at multiples of 16 bytes")
        else:
            what.append(f"the alignment of `{name}`")
            remedies.append("begin slices at multiples of 16 bytes")
    return (
        f"{kernel}: {len(ones) + 1} specialisations differ only in {' and '.join(what)}; "
        f"{'; '.join(dict.fromkeys(remedies))}"
    )


_REMEDIES = {"constants": _constants, "types": _types, "layout": _layout}


# ---- other rules ---------------------------------------------------------------------------------


def _repeated(found: dict[Key, Cost]) -> Iterator[Advice]:
    for key, cost in found.items():
        if cost.compiled < 2 or not key.specialization:
            continue
        saves = cost.total * (cost.compiled - 1) / cost.compiled
        what = f"{key.kernel}({key.specialization}) is compiled {cost.compiled} times"
        if len(cost.processes) > 1:
            remedy = "by several processes: let them share a cache (TILEIR_CACHE_DIR)"
        else:
            remedy = (
                "by one process: make the kernel once, not in a function that runs again, and "
                "keep values that change out of its closure"
            )
        yield Advice(saves, f"{what} {remedy}")


def _cache(spans: Sequence[Span], found: dict[Key, Cost]) -> Iterator[Advice]:
    hits, misses = lookups(spans)
    specialized = sum(cost.total for key, cost in found.items() if key.specialization)
    if not specialized:
        return
    if hits + misses == 0:
        text = "the cache on disk is off: unset TILEIR_CACHE_DIR and TILEIR_CACHE_SIZE"
        yield Advice(specialized, text)
    elif misses:
        text = (
            f"{misses} of {hits + misses} specialisations were not in the cache on disk; the next "
            "run finds them. Fill it beforehand: run once where the cache is kept, or install "
            "compiled kernels (`export_kernel`)"
        )
        yield Advice(specialized, text)


def _serial(spans: Sequence[Span], found: dict[Key, Cost]) -> Iterator[Advice]:
    total = sum(cost.total for cost in found.values())
    compiled = sum(cost.compiled for cost in found.values())
    at_once = overlap(spans)
    if compiled < 4 or at_once > 1.5:
        return
    text = (
        f"{compiled} compilations run one after another: `tileir.compile_many` (programs) or the "
        "tuner (kernels) run one on each core"
    )
    yield Advice(total / 2, f"{text}; with two cores half of the time, and so on")


def _levels(found: dict[Key, Cost]) -> Iterator[Advice]:
    llvm = sum(cost.parts["LLVM"] for cost in found.values())
    if llvm * (1 - _LLVM_LEFT) >= 10 * _LEAST_MS:
        text = (
            'while you develop: fast_compile="min" (opt_level=2) leaves LLVM\'s optimiser out, '
            '"mid" and "max" more'
        )
        yield Advice(llvm * (1 - _LLVM_LEFT), text)


def _dear_passes(spans: Sequence[Span]) -> Iterator[Advice]:
    """Passes that take more than a fifth of the time."""
    rows = by_pass(spans)
    total = sum(ms for _, _, ms in rows)
    for name, _, ms in rows:
        if name in _PASSES and ms > total / 5:
            dearest = max(
                (span for span in spans if span.name == name), key=lambda span: span.duration
            )
            yield Advice(
                ms / 2, f"{name} takes {ms / total:.0%} ({dearest.key.kernel}): {_PASSES[name]}"
            )


def _launches(spans: Sequence[Span]) -> Iterator[Advice]:
    for kernel, times in launches(s for s in spans if not s.facts.get("backend")).items():
        rest = sorted(times)[: -1 or None]  # one of them compiled
        if len(rest) < 10:
            continue
        median = rest[len(rest) // 2]
        if median > _SLOW_LAUNCH_MS:
            text = (
                f"{kernel}: {len(times)} launches of {median * 1e3:.0f} us each on the host: keep "
                "arrays on the device, and capture launches that repeat in a CUDA graph"
            )
            yield Advice(median * len(rest), text)


# ---- the report ----------------------------------------------------------------------------------


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows under titles; the first column is text, the others are numbers."""
    lines = [list(titles), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(titles))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if column == 0 else text.rjust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
