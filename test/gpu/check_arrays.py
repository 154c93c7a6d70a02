"""Launches on arrays of other libraries, on streams, and with a wrong pointer; needs a GPU.

    python test/gpu/check_arrays.py out/gpu/cases.tileir

PyTorch and CuPy are used where they are installed.  Exit code 0 if every check holds.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "test" / "python")]

import numpy as np  # noqa: E402
from kernel_cases import KernelCase, load_case  # noqa: E402

from tileir.errors import LaunchError  # noqa: E402
from tileir.runtime import Bundle  # noqa: E402

F32, BF16 = "vector_add_f32_edge", "rms_norm_bf16_even"


class Checks:
    """The checks; each returns what went wrong, or nothing."""

    def __init__(self, bundle: Bundle):
        self.bundle = bundle

    def launch(
        self, name: str, convert: Callable[[Any], Any], stream: Any = None
    ) -> tuple[KernelCase, list[Any], list[Any]]:
        """Launches a case with its arrays converted; the case, its arguments, the converted."""
        case = load_case(name)
        args = case.args()
        converted = [convert(one) if np.ndim(one) else one for one in args]
        self.bundle[case.symbol].launch(case.grid, converted, stream)
        return case, args, converted

    def judge(self, name: str, convert: Any, back: Any, stream: Any = None) -> list[str]:
        """Launches on converted arrays, brings the outputs back and compares."""
        case, args, converted = self.launch(name, convert, stream)
        for index in case.outputs:
            args[index][...] = back(converted[index]).view(args[index].dtype)
        return case.compare(args).failures

    def numpy(self) -> list[str]:
        return self.judge(F32, lambda array: array, lambda array: array)

    def torch_default_stream(self) -> list[str]:
        torch = import_module("torch")
        return self.judge(F32, lambda a: torch.from_numpy(a).cuda(), lambda t: t.cpu().numpy())

    def torch_bf16(self) -> list[str]:
        torch = import_module("torch")

        def convert(array: np.ndarray) -> Any:
            return torch.from_numpy(array.view(np.int16)).cuda().view(torch.bfloat16)

        return self.judge(BF16, convert, lambda t: t.view(torch.int16).cpu().numpy())

    def torch_side_stream(self) -> list[str]:
        """The kernel waits for work that PyTorch has queued on the stream before it."""
        torch = import_module("torch")
        stream = torch.cuda.Stream()

        def convert(array: np.ndarray) -> Any:
            with torch.cuda.stream(stream):
                torch.cuda._sleep(20_000_000)
                return torch.from_numpy(array).cuda() * 1

        def back(tensor: Any) -> np.ndarray:
            stream.synchronize()
            return tensor.cpu().numpy()

        with torch.cuda.stream(stream):
            return self.judge(F32, convert, back, stream)

    def torch_host_tensor(self) -> list[str]:
        torch = import_module("torch")
        return self.judge(F32, torch.from_numpy, lambda tensor: tensor.numpy())

    def cupy_arrays(self) -> list[str]:
        cupy = import_module("cupy")
        return self.judge(F32, cupy.asarray, cupy.asnumpy)

    def raw_addresses(self) -> list[str]:
        """Integers stand for device addresses."""
        torch = import_module("torch")
        tensors = {}

        def convert(array: np.ndarray) -> int:
            tensor = torch.from_numpy(array).cuda()
            tensors[tensor.data_ptr()] = tensor
            return tensor.data_ptr()

        return self.judge(F32, convert, lambda address: tensors[address].cpu().numpy())

    def wrong_pointer(self) -> list[str]:
        """A fault names the kernel; it breaks the context, so it happens in another process."""
        done = subprocess.run(
            [sys.executable, __file__, sys.argv[1], "--fault"], capture_output=True, text=True
        )
        good = "p_vector_add_f32_edge" in done.stdout and "CUDA_ERROR" in done.stdout
        return [] if good else [done.stdout + done.stderr]


def fault(bundle: Bundle) -> None:
    case = load_case(F32)
    args = case.args()
    args[0] = 0
    try:
        bundle[case.symbol].launch(case.grid, args)
        print("no error")
    except LaunchError as error:
        print(error)


def main() -> int:
    bundle = Bundle.load(sys.argv[1])
    if "--fault" in sys.argv:
        fault(bundle)
        return 0
    checks = Checks(bundle)
    failed = 0
    for check in (
        checks.numpy,
        checks.torch_default_stream,
        checks.torch_bf16,
        checks.torch_side_stream,
        checks.torch_host_tensor,
        checks.cupy_arrays,
        checks.raw_addresses,
        checks.wrong_pointer,
    ):
        try:
            failures = check()
        except ImportError as error:
            print(f"{check.__name__:<24} not checked: {error}")
            continue
        except LaunchError as error:
            failures = [str(error)]
        failed += bool(failures)
        print(f"{check.__name__:<24} {'FAILED' if failures else 'ok'}", *failures, sep="\n    ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
