"""`python -m tileir.bytecode FILE`: list the contents of a bytecode file (`-` for stdin)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tileir.bytecode.dump import dump
from tileir.errors import BytecodeError


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tileir.bytecode", description="List the contents of Tile IR bytecode."
    )
    parser.add_argument("file", help="bytecode file, or - for standard input")
    file = parser.parse_args(arguments).file
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        sys.stdout.write(dump(data))
    except (BytecodeError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
