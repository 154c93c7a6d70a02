"""tile-run: runs a kernel of a file on the CPU or a GPU.

    tile-run matmul.tilebc --grid 4,4 \\
        --array a=f16:128x64:randn --array b=f16:64x128:randn --array c=f16:128x128:zeros \\
        --out c=c.npy

`--arg` gives one entry parameter: a number, or an array (its address). `--array` gives an array as
cuTile passes it: address, shape, strides in elements. Both are taken in the order given.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tileir.errors import LaunchError
from tileir.tools.command_line import STDIN, TRACE_HELP, read_input, run_tool

if TYPE_CHECKING:
    import numpy as np

    from tileir.sim import Profile

EPILOG = """\
arrays:
  f16:128x64:randn                 type, shape, content
  f32:64:rand(lo=-1,hi=1)          contents: zeros ones full(v) arange randn rand randint;
  f16:8x8:randn(seed=3,scale=2)    random ones take seed= (default: --seed plus position)
  f32:37x70:zeros:strides=80x1     a view: strides=AxB and offset=N, in elements
  x.npy   data.npz:name            from a file; raw integers may stand for narrow floats

Prints what the kernel prints. Exit code 0, or 1 with a diagnostic on stderr."""


class _Append(argparse.Action):
    """Keeps --arg and --array in the order they were given."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        namespace.arguments.append((option == "--array", values))


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tile-run",
        description=(__doc__ or "").partition("\n")[0],
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", help="Tile IR bytecode or text, or - for standard input")
    parser.add_argument("--kernel", help="its name (may be left out if there is only one)")
    parser.add_argument("--grid", default="1", metavar="X[,Y[,Z]]", help="tile blocks (default 1)")
    parser.add_argument("--arg", action=_Append, metavar="[NAME=]VALUE", help="one entry parameter")
    parser.add_argument(
        "--array", action=_Append, metavar="[NAME=]ARRAY", help="address, shape and strides"
    )
    parser.add_argument("--backend", choices=("interp", "sim", "cuda"), default="interp")
    parser.add_argument(
        "--target", help="for --backend=cuda (default: the device's) and sim (default: sm_90a)"
    )
    parser.add_argument(
        "-O", dest="opt_level", type=int, choices=range(4), default=3,
        help="for --backend=cuda and sim (default 3)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="for random contents (default 0)")
    parser.add_argument("--schedule", type=int, default=0, help="sim: the schedule's seed")
    parser.add_argument(
        "--no-check", action="store_true", help="interp, sim: do not report undefined behaviour"
    )
    parser.add_argument(
        "--report", action="store_true",
        help="sim: print instruction counts, bytes, sectors, bank conflicts, tensor-core work",
    )  # fmt: skip
    parser.add_argument(
        "--out", action="append", default=[], metavar="NAME=FILE",
        help="after the run, write an array as .npy (FILE - prints it); NAME may be a position",
    )  # fmt: skip
    parser.add_argument("--dump-args", metavar="FILE.npz", help="write all arrays after the run")
    parser.add_argument("--trace", metavar="FILE", help=TRACE_HELP)
    parser.add_argument("--list", action="store_true", help="list kernels and parameters only")
    parser.set_defaults(arguments=[])
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(argv)
    return run_tool("tile-run", lambda: run(options), options.trace)


def run(options: argparse.Namespace) -> int:
    import tileir
    from tileir.entries import choose_entry, entries

    source = read_input("-") if options.file == "-" else options.file
    module = tileir.parse(source, name=STDIN) if options.file == "-" else tileir.parse(source)
    if options.list:
        for name, parameters in entries(module).items():
            print(f"{name}({', '.join(parameters)})")
        return 0
    kernel = choose_entry(module, options.kernel)
    arguments = Arguments(entries(module)[kernel], options.arguments, options.seed)
    outputs = [arguments.output(spec) for spec in options.out]
    profile = make_profile(options)
    lines = tileir.run(
        module,
        kernel,
        parse_grid(options.grid),
        arguments.values,
        backend=options.backend,
        target=options.target,
        opt_level=options.opt_level,
        check=not options.no_check,
        seed=options.schedule,
        observers=[profile] if profile else [],
    )
    for line in lines:
        print(line)
    if profile:
        print(profile.report())
    arguments.write(outputs, options.dump_args)
    return 0


def make_profile(options: argparse.Namespace) -> Profile | None:
    if not options.report:
        return None
    if options.backend != "sim":
        raise LaunchError("--report needs --backend=sim")
    from tileir.sim import Profile

    return Profile()


def parse_grid(text: str) -> tuple[int, ...]:
    """`4,2` as (4, 2)."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise LaunchError(f"--grid {text}: expected X[,Y[,Z]]") from None


class Arguments:
    """The entry parameters that the command line describes."""

    def __init__(self, parameters: tuple[str, ...], specs: Sequence[tuple[bool, str]], seed: int):
        from tileir.runtime.scalars import wrong_count

        self.parameters = parameters
        self.values: list[Any] = []
        self.arrays: dict[str, np.ndarray] = {}
        for position, (expand, text) in enumerate(specs):
            self._add(expand, text, seed + position)
        if len(self.values) != len(parameters):
            raise wrong_count(parameters, len(self.values))

    def _add(self, expand: bool, text: str, seed: int) -> None:
        from tileir.runtime.arrays import element_strides
        from tileir.runtime.scalars import parameter_list
        from tileir.tools.array_spec import is_array_spec, make_array

        name, spec = _split_name(text)
        if len(self.values) >= len(self.parameters):
            raise LaunchError(
                f"argument '{text}' is one too many",
                remedy=f"parameters: {parameter_list(self.parameters)}",
            )
        parameter = self.parameters[len(self.values)]
        if not is_array_spec(spec):
            if expand:
                raise LaunchError(f"--array {text}: expected an array, see --help")
            self.values.append(_number(spec, parameter, len(self.values)))
            return
        array = _as_pointee(make_array(spec, seed), parameter)
        self.arrays[name or f"arg{len(self.values)}"] = array
        self.values.append(array)
        if expand:
            self.values += [*array.shape, *element_strides(array)]

    def output(self, spec: str) -> tuple[str, str]:
        """`NAME=FILE`, checked before the kernel runs."""
        name, equals, path = spec.partition("=")
        name = f"arg{name}" if name.isdecimal() else name
        if not equals or name not in self.arrays:
            raise LaunchError(
                f"--out {spec}: expected NAME=FILE", remedy=f"arrays: {', '.join(self.arrays)}"
            )
        return name, path

    def write(self, outputs: list[tuple[str, str]], archive: str | None) -> None:
        from tileir.tools.array_spec import save_array, save_arrays

        for name, path in outputs:
            save_array(path, self.arrays[name])
        if archive:
            save_arrays(archive, self.arrays)


def _split_name(text: str) -> tuple[str, str]:
    """`a=f16:8:zeros` as its name and the rest; options such as `lo=1` hold `=` too."""
    name, equals, rest = text.partition("=")
    return (name, rest) if equals and name.isidentifier() else ("", text)


def _number(text: str, parameter: str, index: int) -> Any:
    if text in ("true", "false"):
        return text == "true"
    try:
        if parameter.startswith(("f", "bf", "tf")):
            return float(text)
        return int(text, 0)
    except ValueError:
        raise LaunchError(
            f"parameter {index}: '{text}' is no {parameter}",
            remedy="give a number, an array such as f16:128x64:randn, or a .npy file",
        ) from None


def _as_pointee(array: np.ndarray, parameter: str) -> np.ndarray:
    """Raw integers from a file, seen as the narrow floats that the kernel expects."""
    from tileir.runtime.dtypes import ELEMENTS, storage_dtype

    pointee = ELEMENTS.get(parameter.removeprefix("ptr<").rstrip(">"))
    if pointee is None or array.dtype.name not in (pointee.raw, f"void{8 * pointee.bytes}"):
        return array
    return array.view(storage_dtype(pointee.name)) if pointee.kind == "float" else array


if __name__ == "__main__":
    sys.exit(main())
