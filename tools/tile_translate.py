"""tile-translate: converts between Tile IR bytecode, MLIR and the compiler's last stages.

    tile-translate --tilebc-to-mlir matmul.tilebc -o matmul.mlir
    tile-translate --mlir-to-tilebc --bytecode-version=13.3 matmul.mlir -o matmul.tilebc
    tile-translate --mlir-to-ptx --target=sm_90a matmul.tilebc

The input may be at any stage: Tile IR bytecode, text, MLIR bytecode, or the output of `tile-opt`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from tileir.tools.command_line import STDIN, TRACE_HELP, read_input, run_tool, write_output

# Option -> (stage to stop at, what it is for).
STAGES = {
    "llvmir": "LLVM IR",
    "ptx": "PTX",
    "cubin": "machine code (needs ptxas)",
    "sass": "disassembled machine code (needs ptxas and nvdisasm)",
}


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tile-translate",
        description=(__doc__ or "").partition("\n")[0],
        epilog="Exit code 0, or 1 with diagnostics file:line:col: error: ... on stderr.",
    )
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument(
        "--tilebc-to-mlir", dest="to", action="store_const", const="mlir",
        help="print as MLIR text",
    )  # fmt: skip
    action.add_argument(
        "--mlir-to-tilebc", dest="to", action="store_const", const="tilebc",
        help="write Tile IR bytecode",
    )  # fmt: skip
    for stage, what in STAGES.items():
        action.add_argument(
            f"--mlir-to-{stage}", dest="to", action="store_const", const=stage,
            help=f"compile to {what}",
        )  # fmt: skip
    parser.add_argument("file", nargs="?", default="-", help="input, - for standard input")
    parser.add_argument("-o", dest="output", default="-", metavar="FILE", help="output")
    parser.add_argument("--bytecode-version", default="13.3", help="13.1 to 13.5 (default 13.3)")
    parser.add_argument("--target", default="sm_90a", help="GPU to compile for (default sm_90a)")
    parser.add_argument(
        "-O", dest="opt_level", type=int, choices=range(4), default=3, help="(default 3)"
    )
    parser.add_argument(
        "--fast-compile", choices=("min", "mid", "max"),
        help="compile ever faster kernels that run ever slower: -O2, -O1, -O0",
    )  # fmt: skip
    parser.add_argument(
        "--launch", choices=("plain", "managed"), default="plain",
        help="who starts the kernels: any launcher, or ours (default plain)",
    )  # fmt: skip
    parser.add_argument("--trace", metavar="FILE", help=TRACE_HELP)
    parser.add_argument("--ptxas", metavar="PATH", help="the assembler to use")
    parser.add_argument(
        "--mlir-print-debuginfo", action="store_true", help="print locations in MLIR text"
    )
    parser.add_argument(
        "--mlir-print-op-generic", action="store_true", help="print MLIR in the generic form"
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(argv)
    return run_tool("tile-translate", lambda: run(options), options.trace)


def run(options: argparse.Namespace) -> int:
    import tileir

    if options.file == "-":
        module = tileir.parse(read_input("-"), name=STDIN)
    else:
        module = tileir.parse(options.file)
    write_output(options.output, translate(module, options))
    return 0


def translate(module: Any, options: argparse.Namespace) -> str | bytes:
    """The module in the form that the options ask for."""
    if options.to == "mlir":
        return print_module(module, options)
    if options.to == "tilebc":
        from tileir.bytecode import write_bytecode

        return write_bytecode(module, version=options.bytecode_version)
    from tileir.compiler import translate as compile_to

    return compile_to(
        module, options.to, options.target, opt_level=options.opt_level, launch=options.launch,
        fast_compile=options.fast_compile, ptxas=options.ptxas,
    )  # fmt: skip


def print_module(module: Any, options: argparse.Namespace) -> str:
    text = module.operation.get_asm(
        enable_debug_info=options.mlir_print_debuginfo,
        print_generic_op_form=options.mlir_print_op_generic,
    )
    return text if text.endswith("\n") else text + "\n"


if __name__ == "__main__":
    sys.exit(main())
