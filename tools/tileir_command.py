"""tileir: commands around the compiler.

    tileir cache ls

Each command is a module with `HELP` (one line), `add_arguments(parser)` and `run(options)`, which
returns the exit code; it is imported when it is asked for.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from tileir.tools.command_line import run_tool

#: Commands by name, and their modules.
COMMANDS: dict[str, str] = {
    "advise": "tileir.tools.advise_command",
    "cache": "tileir.tools.cache_command",
}


def make_parser(modules: dict[str, ModuleType]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tileir", description=(__doc__ or "").partition("\n")[0].partition(": ")[2]
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, module in modules.items():
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    # The help lists all commands; otherwise the one that is wanted is enough.
    wanted = [words[0]] if words and words[0] in COMMANDS else list(COMMANDS)
    parser = make_parser({name: import_module(COMMANDS[name]) for name in wanted})
    options = parser.parse_args(words)
    return run_tool("tileir", lambda: options.run(options))


if __name__ == "__main__":
    sys.exit(main())
