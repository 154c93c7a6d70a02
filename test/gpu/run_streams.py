"""Overlapping launches give the same bits as launches one after another.

    python test/gpu/run_streams.py build out/streams [--target sm_90a]     here; no GPU
    python test/gpu/run_streams.py run out/streams [--launches 1000]       on a GPU

`build` compiles stream_kernels.py into a bundle and puts the native launcher beside it; `run` needs
NumPy, cuda-bindings and this checkout. It launches the same kernels a thousand times on two streams
at once (from one thread, and from two), in a CUDA graph that is replayed on two streams, and as
programmatic dependent launches, and compares every byte of every result. Exit code 0 if all agree.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
_BUNDLE = "streams.tileir"
_SIDE, _LENGTH = 512, 1 << 16
#: Results that are kept apart on each stream.
_RING = 16
_CHAIN = 50


def build(options: argparse.Namespace) -> int:
    """Compiles the kernels."""
    sys.path.insert(0, str(Path(__file__).parent))
    from stream_kernels import cases

    from tileir.runtime import launcher
    from tileir.runtime.array_view import view
    from tileir.runtime.compiled import compile_kernel
    from tileir.runtime.precompiled import write_kernels
    from tileir.runtime.specialize import rule_of, specialize

    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    kept = []
    for kernel, args in cases():
        rules = [rule_of(info) for info in kernel.parameters]
        signature = specialize(kernel.name, rules, args, view).signature
        kept.append(compile_kernel(kernel, signature, options.target))
    write_kernels(folder / _BUNDLE, kept)
    native = launcher.native()
    if native is None:
        print("the native launcher is not built: pip install -e .", file=sys.stderr)
        return 1
    shutil.copy(str(native.__file__), folder)
    return 0


# ---- on the GPU -------------------------------------------------------------------------------


class Device:
    """Memory, streams and graphs through cuda-bindings."""

    def __init__(self) -> None:
        self.cu: Any = import_module("cuda.bindings.driver")
        self("cuInit", 0)
        self.context = self("cuDevicePrimaryCtxRetain", self("cuDeviceGet", 0))
        self("cuCtxSetCurrent", self.context)

    def __call__(self, name: str, *args: Any) -> Any:
        status, *results = getattr(self.cu, name)(*args)
        if status != self.cu.CUresult.CUDA_SUCCESS:
            raise RuntimeError(f"{name}: {status.name}")
        return results[0] if results else None

    def stream(self) -> int:
        return int(self("cuStreamCreate", self.cu.CUstream_flags.CU_STREAM_NON_BLOCKING))

    def wait(self) -> None:
        self("cuCtxSynchronize")


class Array:
    """An array on the device."""

    def __init__(self, device: Device, host: np.ndarray):
        self._device, self._host = device, host
        self.address = int(device("cuMemAlloc", host.nbytes))
        self.write(host)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3, "shape": self._host.shape, "typestr": self._host.dtype.str,
            "strides": None, "data": (self.address, False), "stream": None,
        }  # fmt: skip

    def write(self, host: np.ndarray) -> None:
        self._device("cuMemcpyHtoD", self.address, host.ctypes.data, host.nbytes)

    def read(self) -> np.ndarray:
        host = np.empty_like(self._host)
        self._device("cuMemcpyDtoH", host.ctypes.data, self.address, host.nbytes)
        return host


class Checks:
    """The checks; each gives the number of results that differ, and of those compared."""

    def __init__(self, folder: Path, launches: int):
        from tileir.runtime.jit import launch
        from tileir.runtime.precompiled import load_kernel

        self.device, self.launches, self.launch = Device(), launches, launch
        self.product, self.step, self.gather_sum = (
            load_kernel(folder / _BUNDLE, name) for name in ("product", "step", "gather_sum")
        )
        random = np.random.default_rng(7)
        matrix = (_SIDE, _SIDE)
        self.sides = [
            [Array(self.device, random.standard_normal(matrix).astype(np.float16)) for _ in "ab"]
            for _ in range(_RING)
        ]
        self.vectors = [
            Array(self.device, random.standard_normal(_LENGTH).astype(np.float32)) for _ in range(3)
        ]
        self.grid = (_SIDE // 128, _SIDE // 128)
        self.streams = [self.device.stream() for _ in range(2)]
        self.expected = [self._alone(a, b) for a, b in self.sides]

    def _matrix(self) -> Array:
        return Array(self.device, np.zeros((_SIDE, _SIDE), np.float16))

    def _alone(self, a: Array, b: Array) -> np.ndarray:
        """The product, with nothing else on the device."""
        out = self._matrix()
        self.launch(0, self.grid, self.product, (a, b, out))
        self.device.wait()
        true = a.read().astype(np.float64) @ b.read().astype(np.float64)
        assert np.abs(out.read() - true).max() < 0.1, "the product is wrong"
        return out.read()

    def _differing(self, outs: list[Array]) -> tuple[int, int]:
        self.device.wait()
        wrong = sum(
            out.read().tobytes() != wanted.tobytes()
            for out, wanted in zip(outs, self.expected * (len(outs) // _RING), strict=True)
        )
        return wrong, len(outs)

    def _many(self, stream: int, outs: list[Array]) -> None:
        for turn in range(self.launches):
            place = turn % _RING
            self.launch(stream, self.grid, self.product, (*self.sides[place], outs[place]))

    def two_streams_from_one_thread(self) -> tuple[int, int]:
        outs = [[self._matrix() for _ in range(_RING)] for _ in self.streams]
        for turn in range(self.launches):
            for stream, mine in zip(self.streams, outs, strict=True):
                place = turn % _RING
                self.launch(stream, self.grid, self.product, (*self.sides[place], mine[place]))
        return self._differing([out for mine in outs for out in mine])

    def two_streams_from_two_threads(self) -> tuple[int, int]:
        outs = [[self._matrix() for _ in range(_RING)] for _ in self.streams]
        threads = [
            threading.Thread(target=self._many, args=(stream, mine))
            for stream, mine in zip(self.streams, outs, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self._differing([out for mine in outs for out in mine])

    def _graph(self, work: Callable[[int], None]) -> Any:
        """What `work` puts on a stream, as a graph ready to launch."""
        cu, stream = self.device.cu, self.device.stream()
        mode = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
        self.device("cuStreamBeginCapture", stream, mode)
        work(stream)
        graph = self.device("cuStreamEndCapture", stream)
        return self.device("cuGraphInstantiate", graph, 0)

    def a_graph_on_two_streams(self) -> tuple[int, int]:
        """Two graphs of the same launches but for their outputs, replayed at the same time."""
        outs = [[self._matrix() for _ in range(_RING)] for _ in self.streams]

        def work(mine: list[Array]) -> Callable[[int], None]:
            def put(stream: int) -> None:
                for (a, b), out in zip(self.sides, mine, strict=True):
                    self.launch(stream, self.grid, self.product, (a, b, out))

            return put

        graphs = [self._graph(work(mine)) for mine in outs]
        for _ in range(self.launches // _RING):
            for stream, graph in zip(self.streams, graphs, strict=True):
                self.device("cuGraphLaunch", graph, stream)
        # And one graph on both, whose replays the driver puts in order.
        for turn in range(20):
            self.device("cuGraphLaunch", graphs[0], self.streams[turn % 2])
        return self._differing([out for mine in outs for out in mine])

    def _chain(self, stream: int, vectors: list[Array], programmatic: bool) -> None:
        """Each launch reads what the one before wrote."""
        for turn in range(_CHAIN):
            x, y = vectors[turn % 2], vectors[(turn + 1) % 2]
            self.launch(stream, (_LENGTH // 1024,), self.step, (x, y), programmatic)

    def programmatic_dependent_launches(self) -> tuple[int, int]:
        start = np.linspace(-1, 1, _LENGTH, dtype=np.float32)
        true = start.astype(np.float64)
        for _ in range(_CHAIN):
            true = 1.5 * true + 1
        results = []
        for programmatic in (False, True):
            for _ in range(max(1, self.launches // _CHAIN) if programmatic else 1):
                vectors = [Array(self.device, start), Array(self.device, np.zeros_like(start))]
                self._chain(self.streams[0], vectors, programmatic)
                self.device.wait()
                results.append(vectors[_CHAIN % 2].read())
        assert np.allclose(results[0], true, rtol=1e-4), "the chain is wrong"
        return sum(one.tobytes() != results[0].tobytes() for one in results), len(results)

    def programmatic_dependent_launches_in_a_graph(self) -> tuple[int, int]:
        start = np.linspace(-1, 1, _LENGTH, dtype=np.float32)
        vectors = [Array(self.device, start), Array(self.device, np.zeros_like(start))]
        self._chain(self.streams[0], vectors, False)
        self.device.wait()
        wanted, wrong = vectors[_CHAIN % 2].read(), 0
        graph = self._graph(lambda stream: self._chain(stream, vectors, True))
        for _ in range(10):
            vectors[0].write(start)
            self.device("cuGraphLaunch", graph, self.streams[1])
            self.device.wait()
            wrong += vectors[_CHAIN % 2].read().tobytes() != wanted.tobytes()
        return wrong, 10

    def lists_of_arrays_in_graphs(self) -> tuple[int, int]:
        """The table of a list is written while the graph is captured, and outlives the list."""
        out = Array(self.device, np.zeros(_LENGTH, np.float32))
        grid = (_LENGTH // 1024,)
        wanted = sum(one.read() for one in self.vectors)
        graph = self._graph(
            lambda stream: self.launch(stream, grid, self.gather_sum, (list(self.vectors), out))
        )
        wrong = 0
        for turn in range(10):
            out.write(np.zeros(_LENGTH, np.float32))
            # Other lists of the same launcher come and go.
            others = self.vectors[turn % 3 :] + self.vectors[: turn % 3]
            scratch = Array(self.device, np.zeros(_LENGTH, np.float32))
            self.launch(self.streams[0], grid, self.gather_sum, (others, scratch))
            self.device("cuGraphLaunch", graph, self.streams[1])
            self.device.wait()
            wrong += not np.allclose(out.read(), wanted, rtol=1e-6, atol=1e-6)
            wrong += not np.allclose(scratch.read(), wanted, rtol=1e-6, atol=1e-6)
        return wrong, 20


def run(options: argparse.Namespace) -> int:
    """Runs all checks and prints a line for each."""
    folder = Path(options.folder).resolve()
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    # The checkout has no native launcher; the folder does.
    import_module("tileir.runtime").__path__.append(str(folder))
    checks = Checks(folder, options.launches)
    failed = 0
    for name in (
        "two_streams_from_one_thread", "two_streams_from_two_threads", "a_graph_on_two_streams",
        "programmatic_dependent_launches", "programmatic_dependent_launches_in_a_graph",
        "lists_of_arrays_in_graphs",
    ):  # fmt: skip
        wrong, compared = getattr(checks, name)()
        failed += bool(wrong)
        verdict = f"{wrong} of {compared} WRONG" if wrong else f"{compared} results agree"
        print(f"{name.replace('_', ' '):<46} {verdict}", flush=True)
    return 1 if failed else 0


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
            command.add_argument("--launches", type=int, default=1000)
    options = parser.parse_args()
    return options.action(options)


if __name__ == "__main__":
    sys.exit(main())
