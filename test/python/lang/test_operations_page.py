"""The kernels on docs/operations.md do what they say."""

from __future__ import annotations

import inspect
import linecache
import re
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from lang_support import run

import tileir.lang as ct

PAGE = Path(__file__).resolve().parents[3] / "docs" / "operations.md"
_CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def kernel(name: str) -> Any:
    """The kernel of that name on the page."""
    for source in _CODE.findall(PAGE.read_text()):
        if f"def {name}(" in source:
            # Kernels are read from their source, which need not be in a file.
            file = f"<{PAGE.name}: {name}>"
            linecache.cache[file] = (len(source), None, source.splitlines(True), file)
            scope: dict[str, Any] = {"ct": ct}
            exec(compile(source, file, "exec"), scope)
            return scope[name]
    raise AssertionError(f"{name} is not on the page")


def test_matmul() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((40, 30), (30, 50)))
    c = np.zeros((40, 50), np.float32)
    run(kernel("matmul"), 3 * 4, a, b, c, 16, 16, 16)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, expected, rtol=1e-4, atol=1e-4)


def test_smooth() -> None:
    for count in (48, 49, 50, 63, 64):
        x, out = np.arange(count + 2, dtype=np.float32), np.zeros(count, np.float32)
        run(kernel("smooth"), -(-count // 16), x, out, 16)
        np.testing.assert_array_equal(out, (x[:-2] + x[2:]) / 2)


def test_mean_and_variance() -> None:
    x = np.random.default_rng(0).standard_normal((3, 48)).astype(np.float32)
    out = np.zeros((3, 2), np.float32)
    run(kernel("mean_and_variance"), 3, x, out, 48)
    np.testing.assert_allclose(out, np.stack([x.mean(1), x.var(1)], 1), rtol=1e-4, atol=1e-6)


@ct.kernel
def backward_recurrence(a, b, out, N: ct.Constant[int]):
    pair = ct.load(a, (0,), (N,)), ct.load(b, (0,), (N,))
    steps = ct.scan(
        pair, 0, lambda a2, b2, a1, b1: (a2 * a1, a2 * b1 + b2), (1.0, 0.0), reverse=True
    )
    ct.store(out, (0,), steps[1])


@pytest.mark.parametrize("backend", ["interp", "sim"])
def test_recurrence(backend: Literal["interp", "sim"]) -> None:
    a, b = np.random.default_rng(0).random((2, 8)).astype(np.float32)
    for function, order in ((kernel("recurrence"), 1), (backward_recurrence, -1)):
        expected, out, h = [], np.zeros(8, np.float32), 0.0
        for factor, added in zip(a[::order], b[::order], strict=True):
            h = factor * h + added
            expected.append(h)
        run(function, 1, a, b, out, 8, backend=backend)
        np.testing.assert_allclose(out, expected[::order], rtol=1e-5)


def test_every_name_of_the_language_is_on_the_page() -> None:
    """The operations, that is; in a list such as `atomic_add max` the rest is a name's ending."""
    words = set(re.findall(r"\w+", PAGE.read_text()))
    values = {name: vars(ct).get(name) for name in ct.__all__}
    operations = [name for name, value in values.items() if inspect.isfunction(value)]
    operations = [n for n in operations if values[n].__module__.startswith("tileir.lang.ops.")]
    assert operations
    for name in operations:
        head, _, ending = name.partition("_")
        listed = head in ("atomic", "bitwise") and ending in words
        assert name in words or listed, name
