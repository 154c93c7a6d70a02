"""tile-run: arguments, grids, files, diagnostics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tileir.tools.tile_run import main

DATA = Path(__file__).resolve().parents[1] / "data"
VADD = str(DATA / "cases" / "vadd-13.3.tilebc")
SOFTMAX = str(DATA.parents[1] / "examples" / "row_softmax.tilebc")


def test_vadd_with_arrays_expanded_by_cutiles_rule(tmp_path: Path) -> None:
    archive = tmp_path / "all.npz"
    status = main(
        [VADD, "--grid", "3", "--array", "a=f32:300:randn", "--array", "b=f32:300:arange",
         "--array", "c=f32:300:zeros", "--dump-args", str(archive),
         "--out", f"c={tmp_path}/c.npy"]
    )  # fmt: skip
    assert status == 0
    with np.load(archive) as arrays:
        assert np.array_equal(arrays["c"], arrays["a"] + arrays["b"])
        assert np.array_equal(np.load(tmp_path / "c.npy"), arrays["c"])


@pytest.mark.parametrize("schedule", ("0", "5"))
def test_vadd_on_the_simulator(schedule: str, tmp_path: Path) -> None:
    status = main(
        [VADD, "--grid=3", "--backend=sim", "--target=sm_80", "--schedule", schedule,
         "--array=f32:300:arange", "--array=f32:300:ones", "--array=c=f32:300:zeros",
         f"--out=c={tmp_path}/c.npy"]
    )  # fmt: skip
    assert status == 0
    assert np.array_equal(np.load(tmp_path / "c.npy"), np.arange(300) + 1)


def test_the_profile_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    arrays = ["--array=f32:300:arange", "--array=f32:300:ones", "--array=f32:300:zeros"]
    command = [VADD, "--grid=3", "--backend=sim", "--target=sm_80", *arrays, "--report"]
    assert main(command) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["instructions", "warps"] in rows and ["global", "2400", "1200"] in rows
    assert main([VADD, "--grid=3", *arrays, "--report"]) == 1
    assert "--report needs --backend=sim" in capsys.readouterr().err


def test_parameters_one_by_one_and_arrays_from_files(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(128, dtype=np.float32))
    status = main(
        [VADD, "--kernel=vadd", "--grid=1", f"--arg={tmp_path}/a.npy", "--arg=128", "--arg=1",
         "--arg=f32:128:ones", "--arg=128", "--arg=1", "--arg=f32:128:zeros", "--arg=0x80",
         "--arg=1", f"--out=6={tmp_path}/c.npy"]
    )  # fmt: skip
    assert status == 0
    assert np.array_equal(np.load(tmp_path / "c.npy"), np.arange(128) + 1)


def test_output_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    arrays = ["--array", "x=f16:2x8:zeros", "--array", "y=f16:2x8:full(9)"]
    assert main([SOFTMAX, "--grid", "2", *arrays, "--out", "y=-"]) == 0
    assert capsys.readouterr().out == "\n".join(
        ["[[0.125 0.125 0.125 0.125 0.125 0.125 0.125 0.125]"]
        + [" [0.125 0.125 0.125 0.125 0.125 0.125 0.125 0.125]]\n"]
    )


def test_printf_lines_come_out(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = tmp_path / "p.mlir"
    text.write_text(
        "entry @k(%n: tile<i32>) {\n  %t = make_token : token\n"
        '  %r = print_tko "n = %i\\0A", %n token=%t : tile<i32> -> token\n  return\n}\n'
    )
    assert main([str(text), "--arg", "41"]) == 0
    assert "n = 41" in capsys.readouterr().out


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([VADD, "--list"]) == 0
    assert capsys.readouterr().out == (
        "vadd(ptr<f32>, i32, i32, ptr<f32>, i32, i32, ptr<f32>, i32, i32)\n"
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--arg=1.5"], "parameter 0: '1.5' is no ptr<f32>"),
        (["--array=f32:8:zeros", "--arg=x"], "parameter 3: 'x' is no ptr<f32>"),
        (["--array=f32:8:zeros"], "has 9 parameters, 3 arguments were given"),
        (["--array=f32:8:zeros"] * 4, "'f32:8:zeros' is one too many"),
        (["--array=7"], "--array 7: expected an array"),
        (["--array=f32:8:zeros"] * 3 + ["--grid=1,x"], "--grid 1,x: expected X[,Y[,Z]]"),
        (["--array=f32:8:zeros"] * 3 + ["--grid=0"], "grid x is 0"),
        (["--array=f32:8:zeros"] * 3 + ["--out=q=f"], "--out q=f: expected NAME=FILE"),
        (["--array=f16:8:zeros"] * 3 + ["--backend=sim"], "parameter 0: expected ptr<f32>, found"),
        (["--array=f16:8:zeros"] * 3, "parameter 0"),
        (["--kernel=x"], "there is no kernel 'x'"),
        (["--array=f32:128:zeros:strides=x"] * 3, "no list of numbers"),
    ],
)
def test_mistakes_are_one_diagnostic(
    args: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([VADD, *args]) == 1
    error = capsys.readouterr().err
    where, _, reason = error.partition(" error: ")
    assert where == "tile-run:" or where.endswith("kernels.py:15:0:")
    assert message in reason


def test_no_gpu_is_a_clear_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert main([VADD, *["--array=f32:8:zeros"] * 3, "--backend=cuda"]) == 1
    assert "CUDA" in capsys.readouterr().err
