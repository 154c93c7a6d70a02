"""The examples of embedding compute the right values, compile, and report errors in their files."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import tileir

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "embed"


@pytest.fixture
def vec(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    import vec  # pyright: ignore[reportMissingImports]

    return vec


@pytest.mark.parametrize("length", [1, 1023, 1024, 3000])
def test_vec_computes_what_numpy_does(vec: ModuleType, length: int) -> None:
    kernels = vec.load(FOLDER / "kernels.vec")
    x = np.random.default_rng(0).standard_normal(length).astype(np.float32)
    y = np.arange(length, dtype=np.float32)
    want = 2.5 * x + y
    kernels["saxpy"](2.5, x, y)
    np.testing.assert_allclose(y, want, rtol=1e-6, atol=1e-6)
    kernels["gelu"](x, y)
    x = x.astype(np.float64)
    want = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)


def test_vec_operators_and_functions(vec: ModuleType) -> None:
    text = (
        "kernel k(a: f64, x: [f64], y: [f64])\n    t = -x / a - 1\n    y = max(exp(t), min(t, a))\n"
    )
    x, y = np.linspace(-2, 2, 100), np.zeros(100)
    vec.parse(text, "k.vec")["k"](3.0, x, y)
    t = -x / 3 - 1
    np.testing.assert_allclose(y, np.maximum(np.exp(t), np.minimum(t, 3)), rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("    x = 1", ":1:1: expected kernel NAME(NAME: TYPE, ...)"),
        ("kernel k(x)", ":1:1: expected kernel NAME(NAME: TYPE, ...)"),
        ("kernel k(x: [f8])", ":1:1: there is no type [f8]; write f16, f32, f64, or [f32]"),
        ("kernel k(x: [f32])\n    x = z", ":2:9: there is no z here"),
        ("kernel k(x: [f32])\n    x = x ** 2", ":2:9: x ** 2 is no expression of this language"),
        ("kernel k(x: [f32])\n    x", ":2:5: expected name = expression"),
        (
            "kernel k(x: [f32], y: [f16])\n    y = 2 * (x + y)",
            ":2:14: 'cuda_tile.addf' op requires the same type for all operands and results",
        ),
    ],
)
def test_vec_errors_have_its_locations(vec: ModuleType, text: str, message: str) -> None:
    with pytest.raises(tileir.TileError) as caught:
        vec.parse(text, "k.vec")
    assert str(caught.value) == f"k.vec{message}"


def test_vec_is_a_toy() -> None:
    """As many lines of code as its page says, without those that show it off."""
    code = (FOLDER / "vec.py").read_text().split("\ndef main")[0].split('"""', 2)[2]
    lines = [line for line in code.splitlines() if line.strip()]
    assert len(lines) <= 150


def run(script: str) -> str:
    done = subprocess.run(
        [sys.executable, FOLDER / script], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_vec_script() -> None:
    printed = run("vec.py")
    assert re.search(r"^gelu: \d+ lines of PTX for sm_90a$", printed, re.M)
    assert "mixed.vec:2:14: 'cuda_tile.mulf' op requires" in printed


def test_minitriton_script() -> None:
    printed = run("minitriton_demo.py")
    rows = re.findall(r"^(\w+) +relative error (\S+), +(\d+) lines of PTX$", printed, re.M)
    assert [name for name, _, _ in rows] == ["add", "softmax", "matmul"]
    for (_, error, lines), bound in zip(rows, (0, 1e-6, 5e-4), strict=True):
        assert float(error) <= bound
        assert int(lines) > 50
    line = (FOLDER / "minitriton_demo.py").read_text().splitlines()[45]
    assert line.startswith("    mt.store(out + here")
    assert "minitriton_demo.py:46:26, byte" in printed


KERNELS = '''
import sys
import minitriton as mt
import numpy as np
import tileir

@mt.jit
def k(x, n, BLOCK: mt.constexpr):
    """Counts down."""
    i = mt.arange(0, BLOCK)
    v = mt.load(x + i)
    for step in range(1, n + 1):
        v -= step % 3
        v = v + 0 * (i // 2)
    mt.store(x + i, v, i < n)

x = np.arange(8, dtype=np.int32)
bytecode = k.bytecode(x, 5, BLOCK=8)
assert "mlir" not in sys.modules
k[(1,)](x, 5, BLOCK=8)
want = np.arange(8) - sum(step % 3 for step in range(1, 6))
assert (x == np.where(np.arange(8) < 5, want, np.arange(8))).all(), x
'''


def test_minitriton_loops_without_mlir(tmp_path: Path) -> None:
    script = tmp_path / "kernels.py"
    script.write_text(f"import sys\nsys.path.insert(0, {str(FOLDER)!r})\n{KERNELS}")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("y = z", "z is not defined\n    y = z\n        ^"),
        ("y = print(x)", "print is not defined\n    y = print(x)\n        ^"),
        ("y = mt.jit(x)", "mt.jit is no function of this language\n    y = mt.jit(x)\n        ^"),
        ("while x: pass", "While does not exist here\n    while x: pass\n    ^"),
        (
            "y = mt.zeros((4,))",
            "zeros: missing a required argument: 'dtype'\n    y = mt.zeros((4,))\n        ^",
        ),
        (
            "y = mt.zeros((4,), mt.float32) // 2",
            "f32 has no operator FloorDiv\n    y = mt.zeros((4,), mt.float32) // 2\n        ^",
        ),
    ],
)
def test_minitriton_errors_show_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str, message: str
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    script = tmp_path / "k.py"
    script.write_text(f"import minitriton as mt\n\n@mt.jit\ndef k(x):\n    {statement}\n")
    namespace: dict[str, object] = {}
    exec(compile(script.read_text(), str(script), "exec"), namespace)
    with pytest.raises(tileir.ParseError) as caught:
        namespace["k"][(1,)](np.zeros(4, np.float32))  # pyright: ignore
    column = message.splitlines()[-1].index("^") + 1
    assert str(caught.value) == f"{script}:5:{column}: {message}"
