"""`tileir advise`: costs are added up rightly, and each rule sees what it is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tileir
from tileir.advice import advise, facts_of, table
from tileir.tools.tileir_command import main
from tileir.trace_reader import Span, by_kernel, by_pass, costs, lookups, overlap, read_trace


def span(name: str, ms: float, start: float = 0, category: str = "pass", **facts: Any) -> Span:
    return Span(name, category, start, ms, facts.pop("process", 1), {"target": "sm_90a", **facts})


def compiled(kernel: str, specialization: str = "", ms: float = 100, **more: Any) -> list[Span]:
    """The slices of a compilation: half of the time is ptxas, a fifth LLVM."""
    start, facts = more.pop("start", 0.0), dict(kernel=kernel, **more)
    if specialization:
        facts["specialization"] = specialization
    return [
        span("front end", ms * 0.1, start, "compile", **facts),
        span("assign-layouts", ms * 0.2, start + ms * 0.1, **facts),
        span("LLVM", ms * 0.2, start + ms * 0.3, "compile", **facts),
        span("ptxas", ms * 0.5, start + ms * 0.5, "tool", **facts),
        span("compile", ms, start, "compile", **facts),  # holds the others
    ]


HIT = span("cache lookup", 1, category="cache", kind="kernel", hit=True)


def texts(spans: list[Span]) -> list[str]:
    return [one.text for one in advise([*spans, HIT])]


# ---- costs ---------------------------------------------------------------------------------------


def test_costs_of_kernels_and_passes() -> None:
    spans = [*compiled("a", "n: i32"), *compiled("a", "n: i64", 50), *compiled("b", ms=400)]
    found = by_kernel(costs(spans))
    assert list(found) == ["b", "a"]
    assert found["a"].total == pytest.approx(150) and found["a"].compiled == 2
    assert dict(found["b"].parts) == pytest.approx(
        {"front end": 40, "passes": 80, "LLVM": 80, "ptxas": 200}
    )
    assert by_pass(spans)[0] == ("ptxas", 3, pytest.approx(275))


def test_compilations_at_once() -> None:
    assert overlap([*compiled("a"), *compiled("b", start=100)]) == pytest.approx(1)
    assert overlap([*compiled("a"), *compiled("b")]) == pytest.approx(2)
    assert overlap([]) == 0


def test_lookups_of_kernels_only() -> None:
    other = span("cache lookup", 1, category="cache", kind="compiler", hit=False)
    miss = span("cache lookup", 1, category="cache", kind="kernel", hit=False)
    assert lookups([HIT, HIT, miss, miss, other]) == (2, 1)


# ---- specialisations -----------------------------------------------------------------------------


def test_facts() -> None:
    text = (
        "a: f16[?, 16k; 16k, 1] unaligned, p: (i32, f32[4; 1]), s: list of f32[?; 1], N=(1, 'x, y')"
    )
    assert facts_of(text) == {
        ("a", "type"): "f16", ("a", "alignment"): "unaligned",
        ("a", "shape", "0"): "?", ("a", "shape", "1"): "16k",
        ("a", "strides", "0"): "16k", ("a", "strides", "1"): "1",
        ("p", "type"): "(i32, f32[4; 1])",
        ("s", "type"): "f32", ("s", "alignment"): "aligned",
        ("s", "shape", "0"): "?", ("s", "strides", "0"): "1",
        ("N", "constant"): "(1, 'x, y')",
    }  # fmt: skip
    assert facts_of("x: f32[]") == {("x", "type"): "f32", ("x", "alignment"): "aligned"}
    assert facts_of("") == {}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (
            "a: f16[?, 16k; 16k, 1], n: i32",
            "a: f16[?, ?; ?, 1], n: i32",
            "mm: 2 specialisations differ only in the extent of dimension 1 of `a`; pad extents to "
            "multiples of 16",
        ),
        (
            "a: f16[?, 16k; 16k, 1]",
            "a: f16[?, 16k; 16k, ?]",
            "mm: 2 specialisations differ only in the strides of `a`; pass contiguous arrays",
        ),
        (
            "a: f16[16k; 1], b: f16[16k; 1]",
            "a: f16[16k; 1], b: f16[16k; 1] unaligned",
            "mm: 2 specialisations differ only in the alignment of `b`; begin slices at multiples",
        ),
        (
            "n: i32",
            "n: f32",
            "mm: 2 specialisations differ only in types of `n` (f32, i32); pass one type",
        ),
        (
            "a: f16[16k; 1], N=3",
            "a: f16[16k; 1], N=4",
            "mm: 2 specialisations differ only in the constant `N` (3, 4); where it decides no",
        ),
    ],
)
def test_specialisations_that_differ_in_one_fact(first: str, second: str, expected: str) -> None:
    found = texts([*compiled("mm", first), *compiled("mm", second)])
    assert any(text.startswith(expected) for text in found), found


def test_specialisations_that_differ_in_more_are_different() -> None:
    found = texts([*compiled("mm", "a: f16[16k; 1], N=3"), *compiled("mm", "a: f32[?; 1], N=4")])
    assert not any("differ only" in text for text in found)


def test_each_is_compared_with_the_closest() -> None:
    spans = [span for n in range(4) for span in compiled("mm", f"N={n}", ms=100 + n)]
    first, *_ = [one for one in advise([*spans, HIT]) if "differ only" in one.text]
    assert "4 specialisations" in first.text and "(0, 1, 2, 3)" in first.text
    assert first.saves == pytest.approx(100 + 101 + 102)  # all but the dearest


# ---- other rules ---------------------------------------------------------------------------------


def test_the_same_again() -> None:
    again = [*compiled("k", "n: i32"), *compiled("k", "n: i32")]
    assert any("k(n: i32) is compiled 2 times by one process" in text for text in texts(again))
    again = [*compiled("k", "n: i32"), *compiled("k", "n: i32", process=2)]
    assert any("by several processes: let them share a cache" in text for text in texts(again))
    # Programs without a specialisation may be different ones of one name.
    assert not any("times" in text for text in texts([*compiled("k"), *compiled("k")]))


def test_the_cache() -> None:
    assert any("the cache on disk is off" in one.text for one in advise(compiled("k", "n: i32")))
    miss = span("cache lookup", 1, category="cache", kind="kernel", hit=False)
    found = [one.text for one in advise([*compiled("k", "n: i32"), miss, HIT])]
    assert any(text.startswith("1 of 2 specialisations were not in the cache") for text in found)


def test_one_after_another() -> None:
    serial = [s for n in range(5) for s in compiled(f"k{n}", start=n * 100.0)]
    assert any("5 compilations run one after another" in text for text in texts(serial))
    at_once = [s for n in range(5) for s in compiled(f"k{n}")]
    assert not any("one after another" in text for text in texts(at_once))


def test_levels_and_passes() -> None:
    assert any('fast_compile="min"' in text for text in texts(compiled("k", ms=5000)))
    large = [*compiled("k"), span("split-tile", 200, kernel="big")]
    assert any("split-tile takes 67% (big): tiles that do not fit" in text for text in texts(large))


def test_launches() -> None:
    many = [span("launch k", 0.2, category="launch", kernel="k") for _ in range(500)]
    (one,) = advise(many)
    assert one.text.startswith("k: 500 launches of 200 us each on the host")
    assert one.saves == pytest.approx(499 * 0.2)
    on_cpu = [span("launch", 5, category="launch", kernel="k", backend="interp")] * 500
    assert advise(on_cpu) == []


# ---- the command ---------------------------------------------------------------------------------


def write_trace(path: Path, spans: list[Span]) -> None:
    events = [
        {"ph": "X", "name": s.name, "cat": s.category, "ts": s.start * 1e3, "dur": s.duration * 1e3,
         "pid": s.process, "tid": 1, "args": s.facts} for s in spans
    ]  # fmt: skip
    path.write_text(json.dumps({"traceEvents": [{"ph": "M", "name": "process_name"}, *events]}))


def test_report(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    file = tmp_path / "trace.json"
    write_trace(file, [*compiled("mm", "N=1"), *compiled("mm", "N=2", 300), *compiled("v"), HIT])
    assert main(["advise", str(file)]) == 0
    assert capsys.readouterr().out == (
        "kernel  compiled  front end  passes  LLVM  ptxas  total       launches   ms\n"
        "mm             2       40.0    80.0  80.0  200.0  400.0  80%         0  0.0\n"
        "v              1       10.0    20.0  20.0   50.0  100.0  20%         0  0.0\n"
        "\n"
        "pass or tool    runs  total\n"
        "ptxas              3  250.0  50%\n"
        "assign-layouts     3  100.0  20%\n"
        "LLVM               3  100.0  20%\n"
        "front end          3   50.0  10%\n"
        "\n"
        "specialisation      total\n"
        "mm(N=2) for sm_90a  300.0\n"
        "mm(N=1) for sm_90a  100.0\n"
        "\n"
        "cache on disk: 1 found, 0 not found\n"
        "\n"
        "what to do\n"
        "1. mm: 2 specialisations differ only in the constant `N` (1, 2); where it decides no "
        "shape of a\n   tile, take `ct.Constant` off and pass it as a number (saves 100 ms)\n"
    )
    assert main(["advise", "--json", str(file)]) == 0
    (only,) = json.loads(capsys.readouterr().out)
    assert only["saves_ms"] == 100


def test_nothing_to_advise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trace.json"
    write_trace(file, [])
    assert main(["advise", str(file)]) == 0
    assert capsys.readouterr().out.endswith("what to do\nnothing: little time goes anywhere\n")


@pytest.mark.parametrize(
    "content",
    ["", "{", "[1]", "{}", '{"traceEvents": 3}', '[{"ph": "X"}]', '[{"ph":"X","name":1,"ts":"x"}]'],
)
def test_files_that_are_no_traces(content: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text(content)
    with pytest.raises(tileir.ToolError, match="is no trace"):
        read_trace(file)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(tileir.ToolError, match="cannot read"):
        read_trace(tmp_path / "none.json")


def test_table() -> None:
    assert table(["a", "n"], [["xx", "1"], ["y", "100"]]) == "a     n\nxx    1\ny   100"
