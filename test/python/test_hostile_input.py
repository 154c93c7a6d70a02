"""Whatever is handed in: one clear exception of ours, and a process that lives on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileir
from tileir import ir
from tileir.compiler import worker
from tileir.compiler.mlir_bytecode import to_bytecode
from tileir.errors import (
    LaunchError,
    ParseError,
    ResourceError,
    TileError,
    ToolError,
    UnsupportedError,
    VerificationError,
)

CASES = Path(__file__).resolve().parents[1] / "data" / "cases"
VADD = (CASES / "vadd-13.3.tilebc").read_bytes()
EMPTY = "cuda_tile.module @m { entry @k() { return } }"
POINTER = "entry @{}(%p: tile<ptr<f32>>) {{ return }}"


def entry_of(module: ir.Module) -> ir.Operation:
    return module.body.operations[0].operation.regions[0].blocks[0].operations[0].operation


def message(error: pytest.ExceptionInfo[TileError]) -> str:
    text = str(error.value)
    assert len(text) < 1500
    return text


# ---- sources -------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [None, 3, [], object(), "a\0b", ".", b"\xff", "x" * 5000])
def test_what_is_no_source(source: Any) -> None:
    with pytest.raises(ParseError) as error:
        tileir.compile(source)
    message(error) if source != "x" * 5000 else None


@pytest.mark.parametrize("size", [0, 4, 10, 100, 500, -1])
def test_truncated_mlir_bytecode(size: int) -> None:
    data = to_bytecode(tileir.parse(VADD))[:size]
    with pytest.raises(TileError) as error:
        tileir.compile(data)
    message(error)


@pytest.mark.parametrize("position, bits", [(35, 0x11), (114, 0x11), (35, 0x80), (44, 0x80)])
def test_mlir_bytecode_on_which_the_reader_aborts(position: int, bits: int) -> None:
    """Found by trying all positions in the file of MLIR 22.1.8; another version may only fail."""
    data = bytearray(to_bytecode(tileir.parse(EMPTY)))
    data[position] ^= bits
    with pytest.raises(ParseError):
        tileir.parse(bytes(data))


def test_mlir_bytecode_on_which_the_reader_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    data = to_bytecode(tileir.parse(VADD))
    tileir.parse(data)
    process = worker.shared_worker()._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    monkeypatch.setattr(worker, "_CHECK_SECONDS", 0.1)
    with pytest.raises(ParseError, match="malformed MLIR bytecode"):
        tileir.parse(data)


@pytest.mark.parametrize(
    "text, place, reason",
    [
        # MLIR goes on after these errors of its lexer.
        (
            'module {\n  .%0 = "arith.constant"() {value = 1 : i32} : () -> i32\n}',
            "2:4",
            "expected",
        ),
        (
            'module {\n  %x = "cuda_tile."() : () -> i32\n}',
            "2:8",
            '"cuda_tile." names no operation',
        ),
        ('module {\n  "arith." () : () -> ()\n}', "2:3", '"arith." names no operation'),
        ("entry @k() { return }\nentry @k() { return }", "2:1", "redefinition of symbol named 'k'"),
        ("entry @k() { }", "1:1", "region with 1 blocks"),
    ],
)
def test_text_that_upset_the_parser(text: str, place: str, reason: str) -> None:
    with pytest.raises(TileError, match=reason.replace(".", r"\.")) as error:
        tileir.parse(text, name="k.mlir")
    assert error.value.location == f"k.mlir:{place}"
    assert "see current operation" not in message(error)


def test_a_location_may_end_with_a_full_stop() -> None:
    tileir.parse('func.func private @f() loc("a."("b":1:1))')


def missing_name(module: ir.Module) -> None:
    del entry_of(module).attributes["sym_name"]


def type_of_no_function(module: ir.Module) -> None:
    entry_of(module).attributes["function_type"] = ir.TypeAttr.get(ir.F32Type.get())


def no_terminator(module: ir.Module) -> None:
    entry_of(module).regions[0].blocks[0].operations[0].operation.erase()


@pytest.mark.parametrize("damage", [missing_name, type_of_no_function, no_terminator])
def test_modules_that_their_builder_left_invalid(damage: Any) -> None:
    """MLIR aborts when it writes some of them as bytecode."""
    module = tileir.parse(EMPTY)
    with module.context, ir.Location.unknown():
        damage(module)
    for use in (tileir.compile, tileir.write_bytecode):
        with pytest.raises((VerificationError, ParseError)) as error:
            use(module)
        message(error)


def test_a_module_of_another_dialect() -> None:
    context = ir.Context()
    context.allow_unregistered_dialects = True
    with context:
        module = ir.Module.parse('module { "foo.bar"() : () -> () }')
    with pytest.raises(ParseError, match="dialect 'foo' is unknown"):
        tileir.compile(module)


def test_two_modules_are_not_one_program() -> None:
    text = f"module {{ {EMPTY} {EMPTY.replace('@m', '@n')} }}"
    with pytest.raises(UnsupportedError, match=r"the kernels of 2 modules \(m, n\)"):
        tileir.compile(text)


# ---- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["a b", "a.b", "é", "1k", 'a\\"b', "", "%k", "_", "$", ".entry", "then\\00k"]
)
def test_names_that_ptx_does_not_have(name: str) -> None:
    with pytest.raises(UnsupportedError, match="is no PTX identifier"):
        tileir.compile(POINTER.format(f'"{name}"'))


@pytest.mark.parametrize("name", ["vprintf", "__nv_sinf", "WARP_SZ", "__tileir_tensor_maps_1"])
def test_names_that_are_taken(name: str) -> None:
    with pytest.raises(UnsupportedError, match="belongs to the system"):
        tileir.compile(POINTER.format(name))


@pytest.mark.parametrize("name", ["malloc", "main", "u32", "_1", "x" * 500])
def test_names_that_only_look_taken(name: str) -> None:
    assert tileir.compile(POINTER.format(name), target="sm_80").cubin


def test_our_symbols_give_way_to_the_program() -> None:
    """A kernel called as the shared memory of another would be."""
    mm = str(tileir.parse(CASES / "mm-13.3.tilebc")).rstrip().removesuffix("}").rstrip()
    text = mm.removesuffix("}") + POINTER.format("shared_mm") + "\n}\n}"
    assert set(tileir.compile(text, target="sm_80").kernels) == {"mm", "shared_mm"}


# ---- sizes ---------------------------------------------------------------------------------------


def many_parameters(count: int) -> str:
    listed = ", ".join(f"%p{i}: tile<ptr<f32>>" for i in range(count))
    return f"entry @k({listed}) {{ return }}"


def test_many_parameters() -> None:
    assert tileir.compile(many_parameters(544), target="sm_90a").kernels["k"].ptx_version == "8.0"
    program = tileir.compile(many_parameters(545), target="sm_90a")
    assert program.kernels["k"].ptx_version == "8.1"
    assert program.cubin
    with pytest.raises(ResourceError, match="kernel 'k' has 40000 bytes of parameters"):
        tileir.compile(many_parameters(5000))


def test_too_few_arguments_for_many_parameters() -> None:
    for backend in ("interp", "sim"):
        with pytest.raises(LaunchError, match="545 parameters, 0 arguments") as error:
            tileir.run(many_parameters(545), backend=backend)
        message(error)


HUGE = """
entry @k(%p: tile<ptr<i32>>) {
  %x = iota : tile<1048576xi32>
  %s = scan %x dim=0 reverse=false identities=[0 : i32] : tile<1048576xi32> -> tile<1048576xi32>
  (%a: tile<i32>, %b: tile<i32>) { %c = addi %a, %b : tile<i32> yield %c : tile<i32> }
  %q = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
  %r = broadcast %q : tile<1xptr<i32>> -> tile<1048576xptr<i32>>
  %o = offset %r, %x : tile<1048576xptr<i32>>, tile<1048576xi32> -> tile<1048576xptr<i32>>
  %t = store_ptr_tko weak %o, %s : tile<1048576xptr<i32>>, tile<1048576xi32> -> token
  return
}
"""


def test_a_tile_that_would_take_minutes() -> None:
    with pytest.raises(ResourceError, match="more than 60000 operations") as error:
        tileir.compile(HUGE)
    assert error.value.location is not None and error.value.location.startswith("<text>:")


# ---- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [None, 90, "", "SM_90", "sm_90 ", "sm_75", "sm_90b", "sm_100000", "sm_\u0661", b"sm_90"],
)
def test_unknown_targets(target: Any) -> None:
    with pytest.raises(UnsupportedError, match="unknown target") as error:
        tileir.compile(VADD, target=target)
    assert "sm_90a" in (error.value.remedy or "")


def test_programs_that_are_no_ptxas(tmp_path: Path) -> None:
    junk = tmp_path / "junk"
    junk.write_bytes(b"junk")
    junk.chmod(0o755)
    for path in (
        "/nonexistent",
        str(tmp_path),
        "/etc/passwd",
        "/bin/false",
        "/bin/true",
        str(junk),
    ):
        with pytest.raises(ToolError) as error:
            _ = tileir.compile(VADD, ptxas=path).cubin
        assert path in message(error)


# ---- launches ------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", [0, -1, (), (1, 2, 3, 4), (1.5,), "x", None, 2**40, (1, 2**17)])
def test_what_is_no_grid(grid: Any) -> None:
    for backend in ("interp", "sim"):
        with pytest.raises(LaunchError):
            tileir.run(EMPTY, grid=grid, backend=backend)


@pytest.mark.parametrize("backend", ["interp", "sim"])
@pytest.mark.parametrize(
    "array", ["x", None, [1], 1 + 2j, np.zeros(64), np.zeros(64, object), np.zeros(64, ">f4")]
)
def test_what_is_no_array_of_f32(backend: Any, array: Any) -> None:
    good = np.zeros(64, np.float32)
    args = [array, 64, 1, good, 64, 1, good.copy(), 64, 1]
    with pytest.raises(LaunchError, match="parameter 0"):
        tileir.run(VADD, args=args, backend=backend)


# ---- processes -----------------------------------------------------------------------------------


def test_threads_share_the_compiler() -> None:
    errors: list[BaseException] = []

    def work() -> None:
        try:
            tileir.compile(VADD, cache=False)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_a_forked_child_compiles() -> None:
    code = (
        "import os, sys, tileir\n"
        f"path = {str(CASES / 'vadd-13.3.tilebc')!r}\n"
        "tileir.compile(path)\n"
        "child = os.fork()\n"
        "tileir.compile(path, cache=False)\n"
        "if child:\n"
        "    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_working_folder_may_be_gone(tmp_path: Path) -> None:
    code = (
        "import os, tileir\n"
        "os.mkdir('gone')\nos.chdir('gone')\nos.rmdir('../gone')\n"
        f"assert tileir.compile({str(CASES / 'vadd-13.3.tilebc')!r}).cubin\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=60, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr


# ---- tools ---------------------------------------------------------------------------------------


def tool(name: str, *args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"tileir.tools.{name}", *args]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False)
    return subprocess.CompletedProcess(
        command, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


BROKEN_BYTECODE = bytearray(to_bytecode(tileir.parse(EMPTY)))
BROKEN_BYTECODE[35] ^= 0x11


@pytest.mark.parametrize(
    "name, args",
    [
        ("tile_opt", ["--lower-to-nvvm", "-"]),
        ("tile_translate", ["--mlir-to-ptx", "-"]),
        ("tile_run", ["--grid=1", "-"]),
    ],
)
@pytest.mark.parametrize(
    "source",
    [bytes(BROKEN_BYTECODE), b"module { .\n}", b'module { "arith."() : () -> () }', b"\xff"],
)
def test_tools_say_what_is_wrong(name: str, args: list[str], source: bytes) -> None:
    done = tool(name, *args, stdin=source)
    assert done.returncode == 1
    assert "error: " in done.stderr and len(done.stderr) < 1000
    assert "Traceback" not in done.stderr and "Stack dump" not in done.stderr


def test_a_pass_that_comes_too_early() -> None:
    early = "builtin.module(attach-target,order-memory,convert-cuda-tile,convert-tile-gpu)"
    done = tool("tile_opt", f"--pass-pipeline={early}", str(CASES / "mm-13.3.tilebc"))
    assert done.returncode == 1
    assert "has no layout yet; run assign-layouts first" in done.stderr
