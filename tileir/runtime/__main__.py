"""Lists a bundle, or launches its kernels on recorded cases.

    python -m tileir.runtime kernels.tileir --list
    python -m tileir.runtime kernels.tileir --check matmul.npz softmax.npz

Needs NumPy, and a GPU with cuda-bindings for --check.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

from ..errors import TileError
from .bundle import Bundle
from .cases import Case


def list_bundle(bundle: Bundle) -> None:
    """Prints one line per kernel and target."""
    for image in bundle.images:
        kind = "cubin" if image.is_cubin else "PTX"
        for info in image.kernels.values():
            x, y, z = info.block
            print(
                f"{info.name:<40} {image.target:<8} {kind:<5} {x * y * z:>4} threads  "
                f"{info.shared_bytes + info.dynamic_shared_bytes:>6} B shared  "
                f"{info.registers if info.registers is not None else '?':>3} registers  "
                f"{len(info.parameters)} parameters"
            )


def check_case(bundle: Bundle, path: str) -> bool:
    """Launches the case's kernel and prints how far the result is from the expected one."""
    case = Case.load(path)
    args = case.args()
    start = time.perf_counter()
    bundle[case.symbol].launch(case.grid, args)
    milliseconds = (time.perf_counter() - start) * 1e3
    result = case.compare(args)
    verdict = "ok" if result.passed else "WRONG"
    print(
        f"{case.name:<40} {verdict:<6} error {result.error:9.3g}  "
        f"{result.worst:6.3f} of the tolerance  {milliseconds:8.1f} ms"
    )
    for line in result.failures:
        print(f"    {line}")
    return result.passed


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tileir.runtime", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("bundle")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--list", action="store_true", help="list kernels and targets")
    action.add_argument(
        "--check", nargs="+", metavar="CASE", help="run these cases (NAME.npz beside NAME.json)"
    )
    options = parser.parse_args(argv)
    try:
        bundle = Bundle.load(options.bundle)
        if options.list:
            list_bundle(bundle)
            return 0
        passed = [check_case(bundle, path) for path in options.check]
        print(f"{sum(passed)} of {len(passed)} cases agree")
        return 0 if all(passed) else 1
    except TileError as error:
        print(f"error: {error}", file=sys.stderr)
    except BrokenPipeError:
        # The reader went away, as in `... --list | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


if __name__ == "__main__":
    sys.exit(main())
