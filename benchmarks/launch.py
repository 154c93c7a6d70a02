"""What a launch from Python costs the host, and what finding a compiled kernel does.

    python benchmarks/launch.py build out/launch [--target sm_90a]     here; no GPU
    python benchmarks/launch.py run out/launch [--json FILE]           on the GPU

`build` compiles the kernels of launch_kernels.py into a bundle and a cache, and puts the native
launcher beside them, so that `run` needs only PyTorch, NumPy, cuda-bindings and this checkout. It
times `launch` on PyTorch tensors, and beside it what else is installed there: PyTorch's own
addition, Triton, cuTile. A row is the median over rounds of microseconds a call, and the best
round; the device's queue never fills. Then it times looking a kernel up in the cache on disk.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_CALLS = 200
_ROUNDS = 60
_SIZE = 1 << 14
_SIDE = 512
_BUNDLE, _CACHE, _INDEX = "launch.tileir", "cache", "index.json"

Call = Callable[[], Any]


# ---- here -------------------------------------------------------------------------------------


def build(options: argparse.Namespace) -> int:
    """Compiles, through the cache that `run` reads."""
    sys.path.insert(0, str(Path(__file__).parent))
    from launch_kernels import cases

    import tileir.runtime.compiled as compiled
    from tileir.runtime import disk_cache, launcher
    from tileir.runtime.array_view import view
    from tileir.runtime.precompiled import write_kernels
    from tileir.runtime.specialize import rule_of, specialize

    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["TILEIR_CACHE_DIR"] = "off"  # compile, whatever is there
    cache = disk_cache.DiskCache(folder / _CACHE)
    kept, index = [], []
    for kernel, args in cases():
        rules = [rule_of(info) for info in kernel.parameters]
        signature = specialize(kernel.name, rules, args, view).signature
        for _ in range(2):  # the first time pays for imports
            compiled.forget()
            one = compiled.compile_kernel(kernel, signature, options.target)
        entry = compiled.to_entry(f"{len(kept):064x}", one, options.target)
        cache.put(entry)
        kept.append(one)
        index.append({"kernel": kernel.name, "key": entry.key, "seconds": one.seconds})
    write_kernels(folder / _BUNDLE, kept)
    (folder / _INDEX).write_text(json.dumps(index, indent=1) + "\n")
    native = launcher.native()
    if native is None:
        print("the native launcher is not built: pip install -e .", file=sys.stderr)
        return 1
    shutil.copy(str(native.__file__), folder)
    return 0


# ---- on the GPU -------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> int:
    """Times launches and look-ups, and prints the rows."""
    folder = Path(options.folder).resolve()
    _use(folder)
    import torch

    rows = []
    print(f"{torch.cuda.get_device_name()}, Python {sys.version.split()[0]}, us a call")
    for name, call in _contenders(folder):
        rounds = _times(call, torch.cuda.synchronize)
        rows.append({"what": name, "us": statistics.median(rounds), "best": min(rounds)})
        print(f"{name:<44} {rows[-1]['us']:8.2f}  best {rows[-1]['best']:8.2f}", flush=True)
    print("\ncompiled kernels on disk, ms")
    for row in _lookups(folder):
        rows.append(row)
        print(
            f"{row['what']:<24} compiling {row['compile_ms']:8.1f}  finding {row['hit_ms']:7.3f}"
            f"  {row['compile_ms'] / row['hit_ms']:6.0f} times faster"
        )
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0


def _use(folder: Path) -> None:
    """Has `tileir` of this checkout find the native launcher in a folder."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    # The checkout has no native launcher; the folder does.
    import_module("tileir.runtime").__path__.append(str(folder))


def _contenders(folder: Path) -> Iterator[tuple[str, Call]]:
    """What is timed, by name; each has run once, and given the right result."""
    import torch

    from tileir.runtime.jit import launch
    from tileir.runtime.precompiled import load_kernel

    a, b, out = (torch.randn(_SIZE, device="cuda") for _ in range(3))
    stream = torch.cuda.current_stream()
    blocks = (_SIZE // 1024,)
    add = load_kernel(folder / _BUNDLE, "vector_add")

    def checked(name: str, call: Call) -> tuple[str, Call]:
        out.zero_()
        call()
        assert torch.equal(out, a + b), f"{name} is wrong"
        return name, call

    args = (a, b, out, 1024)
    yield checked("tileir, three arrays", lambda: launch(stream, blocks, add, args))
    yield checked(
        "tileir, stream and arguments made anew",
        lambda: launch(torch.cuda.current_stream(), (_SIZE // 1024,), add, (a, b, out, 1024)),
    )
    yield checked(
        "tileir, programmatic dependent launch", lambda: launch(stream, blocks, add, args, True)
    )
    yield _matmul(folder)
    flat = [word for array in (a, b, out) for word in (array.data_ptr(), _SIZE, 1)]
    prepared = _flat(folder, flat, stream)
    yield checked("tileir, prepared", prepared)
    yield checked("torch.add(out=)", lambda: torch.add(a, b, out=out))
    for other in (_triton, _cutile):
        try:
            yield checked(*other(a, b, out))
        except ImportError:
            continue
        except Exception as error:  # whatever is missing there
            print(f"{other.__name__.removeprefix('_')} does not run: {error!r:.120}")


def _matmul(folder: Path) -> tuple[str, Call]:
    import torch

    from tileir.runtime.jit import launch
    from tileir.runtime.precompiled import load_kernel

    matmul = load_kernel(folder / _BUNDLE, "matmul")
    a, b = (torch.randn(_SIDE, _SIDE, device="cuda", dtype=torch.float16) for _ in range(2))
    c = torch.zeros_like(a)
    stream = torch.cuda.current_stream()
    grid, args = (_SIDE // 128, _SIDE // 128), (a, b, c, 128, 128, 64)
    launch(stream, grid, matmul, args)
    assert torch.allclose(c, a @ b, rtol=1e-2, atol=1e-1), "matmul is wrong"
    return "tileir, matmul with tensor maps", lambda: launch(stream, grid, matmul, args)


def _flat(folder: Path, words: list[Any], stream: Any) -> Call:
    """The driver's call alone, through cuda-bindings."""
    from tileir.runtime import Bundle

    kernel = Bundle.load(folder / _BUNDLE)["vector_add"]
    return kernel.prepare((_SIZE // 1024,), words, stream).start


def _triton(a: Any, b: Any, out: Any) -> tuple[str, Call]:
    import triton  # pyright: ignore[reportMissingImports]
    from launch_triton import add

    grid = (_SIZE // 1024,)
    return f"Triton {triton.__version__}", lambda: add[grid](a, b, out, _SIZE, TILE=1024)


def _cutile(a: Any, b: Any, out: Any) -> tuple[str, Call]:
    import torch

    cuda_tile = import_module("cuda.tile")
    from launch_cutile import vector_add

    stream, grid = torch.cuda.current_stream(), (_SIZE // 1024,)
    return "cuTile", lambda: cuda_tile.launch(stream, grid, vector_add, (a, b, out, 1024))


def _times(call: Call, settle: Call) -> list[float]:
    """Microseconds a call, one number a round."""
    rounds = []
    for _ in range(_ROUNDS):
        settle()
        start = time.perf_counter()
        for _ in range(_CALLS):
            call()
        rounds.append((time.perf_counter() - start) / _CALLS * 1e6)
    settle()
    return rounds[5:]


def _lookups(folder: Path) -> Iterator[dict[str, Any]]:
    """What finding each kernel on disk takes, beside what compiling it took."""
    from tileir.runtime import compiled
    from tileir.runtime.disk_cache import DiskCache
    from tileir.runtime.precompiled import load_kernel
    from tileir.signature import Signature

    with tempfile.TemporaryDirectory() as private:
        # A cache that came over a network may have other permissions than it was made with.
        Path(private, _CACHE).mkdir(0o700)
        for file in (folder / _CACHE).glob("kernel-*"):
            copied = Path(private, _CACHE, file.name)
            copied.write_bytes(file.read_bytes())
            copied.chmod(0o600)
        cache = DiskCache(Path(private, _CACHE))
        for one in json.loads((folder / _INDEX).read_text()):
            kernel = load_kernel(folder / _BUNDLE, one["kernel"])
            seconds = []
            for _ in range(50):
                start = time.perf_counter()
                entry = cache.get("kernel", one["key"])
                found = compiled.from_entry(entry, Signature(()), kernel.parameters)
                seconds.append(time.perf_counter() - start)
                assert found is not None
            yield {
                "what": one["kernel"],
                "compile_ms": one["seconds"] * 1e3,
                "hit_ms": statistics.median(seconds) * 1e3,
            }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    for name, action in (("build", build), ("run", run)):
        command = commands.add_parser(name)
        command.add_argument("folder")
        command.set_defaults(action=action)
        if name == "build":
            command.add_argument("--target", default="sm_90a")
        else:
            command.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    return options.action(options)


if __name__ == "__main__":
    sys.exit(main())
