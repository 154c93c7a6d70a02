"""Kernel objects: decorator, hints, parameters, what they depend on, where their source is."""

from __future__ import annotations

import importlib
import linecache
import sys
import threading
import types
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from lang_support import run, text

import tileir
import tileir.lang as ct
from tileir.lang.errors import TileSyntaxError, TileTypeError, TileValueError
from tileir.lang.signature import ConstantParameter, ScalarParameter, Signature

FACTOR = 3


def scaled(v):
    return v * FACTOR


@ct.kernel
def plain(x):
    ct.store(x, (0,), scaled(ct.load(x, (0,), (4,))))


@ct.kernel(num_ctas=2, occupancy=ct.ByTarget(sm_90=1, default=4), opt_level=2)
def hinted(x):
    ct.store(x, (0,), ct.load(x, (0,), (4,)))


def vector() -> np.ndarray:
    return np.arange(8, dtype=np.float32)


# The decorator and hints.


def test_with_and_without_parentheses():
    assert isinstance(plain, ct.Kernel)
    assert isinstance(hinted, ct.Kernel)
    assert plain.name == "plain"
    assert "hinted" in repr(hinted)


def test_hints_are_in_the_ir():
    ir = text(hinted, vector())
    assert "sm_90 = {occupancy = 1}" in ir
    assert "num_cta_in_cga = 2" in ir
    assert "occupancy = 4" in ir
    assert "optimization_hints" not in text(plain, vector())


def test_replace_hints_makes_another_kernel():
    other = plain.replace_hints(occupancy=2, num_worker_warps=8)
    assert other is not plain
    assert plain.hints.occupancy is None
    assert "occupancy = 2" in text(other, vector())
    assert "num_worker_warps_per_cta = 8" in text(other, vector())
    assert other.replace_hints(opt_level=0).hints.occupancy == 2


def test_levels_by_architecture():
    kernel = plain.replace_hints(opt_level=ct.ByTarget(sm_90=1))
    assert kernel.hints.level("sm_90") == 1
    assert kernel.hints.level("sm_100") == 3
    assert hinted.hints.level("sm_90") == 2


@pytest.mark.parametrize(
    "hints",
    [
        {"num_ctas": 3},
        {"num_ctas": 32},
        {"occupancy": 0},
        {"occupancy": 33},
        {"opt_level": 4},
        {"num_worker_warps": 5},
        {"occupancy": True},
        {"occupancy": ct.ByTarget(sm_90=64)},
    ],
    ids=str,
)
def test_wrong_hints_are_refused(hints: dict[str, Any]):
    (name,) = hints
    with pytest.raises(TileValueError) as caught:
        plain.replace_hints(**hints)
    assert caught.value.reason.startswith(f"the hint {name} must be one of ")
    assert str(caught.value.location).startswith(f"{__file__}:")
    with pytest.raises(TileValueError, match=f"test_kernel.py:.*the hint {name} must be one of "):
        ct.kernel(**hints)


@pytest.mark.parametrize("make", [ct.kernel, plain.replace_hints])
def test_unknown_hints(make: Any):
    with pytest.raises(
        TileTypeError, match=r"test_kernel.py:\d+: there is no hint 'num_warps'"
    ) as e:
        make(num_warps=4)
    assert e.value.remedy == "the hints are num_ctas, occupancy, opt_level, num_worker_warps"


def test_wrong_architecture():
    with pytest.raises(TileValueError, match="test_kernel.py:.*no architecture"):
        ct.ByTarget(hopper=2)


def test_kernels_cannot_be_called():
    with pytest.raises(tileir.TileError, match="launch"):
        plain(vector())


def test_only_functions_are_kernels():
    with pytest.raises(TileTypeError, match=r"test_kernel.py:.*takes a Python function"):
        ct.kernel(len)

    def variadic(*args):
        pass

    def keywords(a, **options):
        pass

    for function, name in ((variadic, r"\*args"), (keywords, r"\*\*options")):
        with pytest.raises(TileSyntaxError, match=rf"test_kernel.py:\d+: .*'{name}'\n  name each"):
            ct.kernel(function)


def test_kernels_and_their_functions_are_not_async():
    async def function(x):
        pass

    @ct.kernel
    def calling(x):
        _ = function(x)

    with pytest.raises(
        TileSyntaxError, match=r"test_kernel.py:\d+: the kernel 'function' is async"
    ):
        ct.kernel(function)
    with pytest.raises(TileSyntaxError, match="'function' is async"):
        text(calling, vector())


def test_kernels_launch_no_kernels():
    @ct.kernel
    def launching(x):
        ct.launch(None, 1, plain, (x,))

    with pytest.raises(TileTypeError, match=r"test_kernel.py:\d+:9: launch\(\) .* for the host"):
        text(launching, vector())


# Parameters.


def test_parameters():
    @ct.kernel
    def kernel(
        a: Annotated[ct.Array, ct.ArrayAnnotation(index_dtype=ct.int64, static_shape_dims=(0,))],
        n: ct.ScalarInt64,
        pair: tuple[Any, ct.Constant[int]],
        many: tuple[ct.Constant[int], ...],
        N: ct.Constant,
        s=2.0,
    ):
        pass

    a, n, pair, many, size, s = kernel.parameters
    assert a.array is not None
    assert a.array.static_shape_dims == (0,)
    assert a.index_bits == 64
    assert n.scalar is not None
    assert n.scalar.dtype is ct.int64
    assert pair.items is not None
    assert [item.constant for item in pair.items] == [False, True]
    assert many.each is not None
    assert many.each.constant
    assert size.constant
    assert (s.name, s.default) == ("s", 2.0)


def test_annotations_that_exclude_each_other():
    with pytest.raises(TileTypeError, match=r"test_kernel.py:\d+: .*exclude each other"):

        @ct.kernel
        def kernel(a: Annotated[ct.Constant[int], ct.ArrayAnnotation()]):
            pass


def test_signature_of_another_length():
    with pytest.raises(tileir.TileError, match="1 parameters, the signature describes 2"):
        plain.trace(Signature((ConstantParameter(1), ConstantParameter(2))))


def test_symbol_and_target():
    @ct.kernel
    def empty(n):
        pass

    module = empty.trace(Signature((ScalarParameter("i32"),)), "sm_80", symbol="renamed")
    assert "entry @renamed(" in str(module)


def test_locations_name_lines_and_calls():
    module = plain.trace(Signature((_array(),)))
    asm = str(module.operation.get_asm(enable_debug_info=True))
    name = Path(__file__).name
    [product] = (line for line in asm.splitlines() if "mulf" in line)
    assert "callsite" in asm
    here = scaled.__code__.co_firstlineno + 1
    assert f'{name}":{here}:12' in asm, product


def _array() -> Any:
    from lang_support import array_parameter

    return array_parameter(vector())


# What a kernel depends on.


def module_with(source: str, folder: Path, name: str) -> types.ModuleType:
    (folder / f"{name}.py").write_text(source)
    sys.path.insert(0, str(folder))
    try:
        importlib.invalidate_caches()
        sys.modules.pop(name, None)
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


SOURCE = """
import dataclasses, functools
import tileir.lang as ct

LIMIT = 3
TABLE = (1, 2.5)

@dataclasses.dataclass(frozen=True)
class State:
    value: object

    def step(self):
        return State(self.value + 1)

def helper(v, by=2):
    return v * by  # a comment

def unused():
    return 1

@ct.kernel
def k(x):
    state = State(ct.load(x, (0,), (4,))).step()
    ct.store(x, (0,), helper(state.value) + LIMIT + TABLE[1])
"""

CHANGES = {
    "a global": ("LIMIT = 3", "LIMIT = 4"),
    "the type of a global": ("LIMIT = 3", "LIMIT = 3.0"),
    "an item of a global": ("2.5", "2.75"),
    "a function": ("v * by", "v / by"),
    "a default": ("by=2", "by=3"),
    "a method": ("self.value + 1", "self.value - 1"),
    "the kernel": ("+ LIMIT", "- LIMIT"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_content_changes_with(change: str, tmp_path: Path):
    before = module_with(SOURCE, tmp_path, "content_before").k.source
    old, new = CHANGES[change]
    assert old in SOURCE
    after = module_with(SOURCE.replace(old, new), tmp_path, "content_after").k.source
    assert before.replace("content_before", "") != after.replace("content_after", "")


@pytest.mark.parametrize(
    ("old", "new"),
    [("# a comment", "# another"), ("return 1", "return 2"), ("LIMIT = 3", "\n\nLIMIT = 3")],
)
def test_content_does_not_change_with(old: str, new: str, tmp_path: Path):
    before = module_with(SOURCE, tmp_path, "content_before").k.source
    after = module_with(SOURCE.replace(old, new), tmp_path, "content_after").k.source
    assert before.replace("content_before", "") == after.replace("content_after", "")


def test_content_of_closures():
    def make(factor):
        @ct.kernel
        def kernel(x):
            ct.store(x, (0,), ct.load(x, (0,), (4,)) * factor)

        return kernel

    assert make(2).source == make(2).source
    assert len({make(factor).source for factor in (2, 3, 2.0, True)}) == 4


# Where the source is.


def test_without_source():
    names: dict[str, Any] = {"ct": ct}
    exec("@ct.kernel\ndef kernel(x):\n    pass", names)
    with pytest.raises(ct.TileSyntaxError, match=r"source of 'kernel' cannot be read.*\n.*file"):
        names["kernel"].trace(Signature((_array(),)))


def test_source_that_changed_since_it_was_imported(tmp_path: Path):
    module = module_with(SOURCE, tmp_path, "changed_source")
    (tmp_path / "changed_source.py").write_text("import os\n")
    linecache.clearcache()
    with pytest.raises(ct.TileSyntaxError, match="import it again"):
        module.k.trace(Signature((_array(),)))


def test_source_of_a_notebook():
    """Cells are known to linecache under names that are no files."""
    cell = "@ct.kernel\ndef kernel(x):\n    ct.store(x, (0,), ct.load(x, (0,), (4,)) + missing)\n"
    name = "/ipykernel_1/123.py"
    lines = [f"{line}\n" for line in cell.splitlines()]
    linecache.cache[name] = (len(cell), None, lines, name)
    names: dict[str, Any] = {"ct": ct}
    exec(compile(cell, name, "exec"), names)
    with pytest.raises(ct.TileSyntaxError, match="'missing' is not defined") as caught:
        names["kernel"].trace(Signature((_array(),)))
    assert "ct.store(x, (0,), ct.load(x, (0,), (4,)) + missing)" in str(caught.value)


def test_caret_under_wide_characters(tmp_path: Path):
    """Columns count characters, not bytes."""
    source = "import tileir.lang as ct\n@ct.kernel\ndef k(x):\n    name = 'äöü€' + missing\n"
    module = module_with(source, tmp_path, "wide_characters")
    with pytest.raises(ct.TileSyntaxError) as caught:
        module.k.trace(Signature((_array(),)))
    _, line, caret = str(caught.value).splitlines()[:3]
    assert line[caret.index("^") :].startswith("missing")


# Many at once.


def test_threads_trace_at_the_same_time():
    expected = text(plain, vector())
    found: list[str] = []

    def work() -> None:
        found.extend(text(plain, vector()) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 20


def test_an_error_leaves_nothing_behind():
    @ct.kernel
    def wrong(x):
        for i in range(3):
            if i > 1:
                ct.store(x, (0,), ct.load(x, (0,), (4,)) @ 3)

    x = vector()
    for _ in range(3):
        with pytest.raises(tileir.TileError):
            run(wrong, 1, x)
        run(plain, 1, x)
    with pytest.raises(tileir.TileError, match="inside of a kernel"):
        ct.bid(0)
    with pytest.raises(tileir.TileError, match="inside of a kernel"):
        ct.static_eval(1)


@ct.function(host=True)
def on_both(v):
    return v + 1


@ct.kernel
def calls_marked(x):
    ct.store(x, (0,), on_both(ct.load(x, (0,), (4,))))


def test_marked_functions():
    assert on_both(2) == 3
    x = vector()
    run(calls_marked, 1, x)
    assert x.tolist() == [1, 2, 3, 4, 4, 5, 6, 7]
