"""A toy language, embedded in 150 lines: elementwise kernels over vectors of any length.

    kernel saxpy(a: f32, x: [f32], y: [f32])
        y = a * x + y

    saxpy = vec.load("kernels.vec")["saxpy"]
    saxpy(2.0, x, y)                    # NumPy arrays; backend="cuda" launches on a GPU
    tileir.compile(saxpy.module).ptx

A block computes a tile of each vector. Python's parser reads the expressions, `Builder` makes an
operation of `cuda_tile` of each node. The operations carry the place of their node, so what the
verifier of the dialect and the compiler have to say points into `kernels.vec`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

import tileir
from tileir import ir
from tileir.dialects import cuda_tile as ct
from tileir.dialects import make_context

TILE = 1024  # elements that a block computes

HEADER = re.compile(r"kernel (\w+)\((\w+: [^:]+(?:, \w+: [^:]+)*)\)")
TYPES = {"f16": ir.F16Type, "f32": ir.F32Type, "f64": ir.F64Type}
OPERATORS = {
    ast.Add: ct.addf, ast.Sub: ct.subf, ast.Mult: ct.mulf, ast.Div: ct.divf, ast.USub: ct.negf,
}  # fmt: skip
FUNCTIONS = {
    ("exp", 1): ct.exp, ("log", 1): ct.log, ("sqrt", 1): ct.sqrt, ("tanh", 1): ct.tanh,
    ("max", 2): ct.maxf, ("min", 2): ct.minf,
}  # fmt: skip


class Kernel:
    """One kernel: a module of Tile IR, launched on arrays of one length and numbers."""

    def __init__(self, name: str, module: ir.Module):
        self.name, self.module = name, module

    def __call__(self, *args: Any, backend: Literal["interp", "sim", "cuda"] = "interp") -> None:
        lengths = {len(array) for array in args if isinstance(array, np.ndarray)}
        if len(lengths) != 1:
            raise tileir.LaunchError(f"{self.name} takes vectors of one length, not of {lengths}")
        length = lengths.pop()
        blocks = (length + TILE - 1) // TILE
        tileir.run(self.module, self.name, blocks, [*args, length], backend=backend)


def load(path: str | Path) -> dict[str, Kernel]:
    """The kernels of a file, by name."""
    return parse(Path(path).read_text(), str(path))


def parse(text: str, filename: str) -> dict[str, Kernel]:
    kernels: dict[str, Kernel] = {}
    with make_context():
        builder: Builder | None = None
        for number, line in enumerate(text.splitlines(), 1):
            code = line.split("#")[0].rstrip()
            if header := HEADER.fullmatch(code):
                builder = Builder(filename, number, header[1], header[2])
                kernels[header[1]] = Kernel(header[1], builder.module)
            elif builder and code.startswith(" "):
                builder.assign(number, code)
            elif code:
                reason = "expected kernel NAME(NAME: TYPE, ...)"
                raise tileir.ParseError(reason, location=f"{filename}:{number}:1")
        for kernel in kernels.values():
            tileir.parse(kernel.module)  # errors of types come now, not at the first launch
    return kernels


class Builder:
    """Builds one kernel, line by line."""

    def __init__(self, filename: str, line: int, name: str, parameters: str):
        self.filename, self.line, self.indent = filename, line, 0
        self.values: dict[str, ir.Value] = {}
        self.views: dict[str, ir.Value] = {}
        with ir.Location.file(filename, line, 1):
            self.module = ir.Module.create()
            names, types = zip(*(each.split(": ") for each in parameters.split(", ")), strict=True)
            inputs = [ct.TileType.get([], self.element(type)) for type in (*types, "i32")]
            with ir.InsertionPoint(self.module.body):
                kernels = ct.module("kernels")
            with ir.InsertionPoint(kernels.body.blocks.append()):
                entry = ct.entry(name, ir.TypeAttr.get(ir.FunctionType.get(inputs, [])))
            body = entry.body.blocks.append(*inputs)
            *arguments, self.length = body.arguments
            with ir.InsertionPoint(body):
                self.block, _, _ = ct.get_tile_block_id()
                self.order = ct.make_token()
                for parameter, argument in zip(names, arguments, strict=True):
                    self.declare(parameter, argument)
                self.end = ir.InsertionPoint(ct.return_([]))

    def element(self, type: str) -> ir.Type:
        if type == "i32":
            return ir.IntegerType.get_signless(32)
        name = type.strip("[]")
        if name not in TYPES:
            raise self.error(None, f"there is no type {type}; write f16, f32, f64, or [f32]")
        return ct.PtrType.get(TYPES[name].get()) if type == f"[{name}]" else TYPES[name].get()

    def declare(self, name: str, argument: ir.Value) -> None:
        """A number is spread over a tile; of a vector the block sees its own tile.

        What lies past the end of a vector is not written, by the rules of views.
        """
        element = ct.TileType(argument.type).element_type
        if isinstance(element, ct.PtrType):
            tensor = ct.TensorViewType.get([ct.DYNAMIC], element.pointee, [1])
            vector = ct.make_tensor_view(tensor, argument, [self.length], [])
            view = ct.PartitionViewType.get([TILE], tensor)
            self.views[name] = ct.make_partition_view(view, vector)
        else:
            one = ct.reshape(ct.TileType.get([1], element), argument)
            self.values[name] = ct.broadcast(ct.TileType.get([TILE], element), one)

    def assign(self, line: int, code: str) -> None:
        """name = expression; to a name that is a vector, it stores."""
        self.line, self.indent = line, len(code) - len(code.lstrip())
        try:
            statement = ast.parse(code.strip()).body[0]
        except SyntaxError as error:
            raise self.error(error, error.msg) from None
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            raise self.error(statement, "expected name = expression")
        name = statement.targets[0].id
        with self.end:
            value = self.values[name] = self.expression(statement.value, None)
            if name in self.views:
                with self.place(statement):
                    self.access(ct.store_view_tko, weak(), value, self.views[name])

    def expression(self, node: ast.expr, like: ir.Value | None) -> ir.Value:
        """The value of a node; a literal takes the type of `like`, the operand beside it."""
        with self.place(node):
            match node:
                case ast.Name(name) if name in self.values:
                    return self.values[name]
                case ast.Name(name) if name in self.views:
                    tensor = ct.PartitionViewType(self.views[name].type).tensor_view
                    tile = ct.TileType.get([TILE], tensor.element_type)
                    token, view = self.order.type, self.views[name]
                    return self.access(ct.load_view_tko, tile, token, weak(), view)
                case ast.Constant(int() | float() as number) if like is not None:
                    splat = ir.FloatAttr.get(ct.TileType(like.type).element_type, number)
                    return ct.constant(like.type, ir.DenseElementsAttr.get_splat(like.type, splat))
                case ast.UnaryOp(op=ast.USub()):
                    return ct.negf(self.expression(node.operand, like))
                case ast.BinOp() if type(node.op) in OPERATORS:
                    return OPERATORS[type(node.op)](*self.operands([node.left, node.right], like))
                case ast.Call(ast.Name(name), args) if build := FUNCTIONS.get((name, len(args))):
                    return build(*self.operands(args, like))
                case ast.Name(name):
                    raise self.error(node, f"there is no {name} here")
        raise self.error(node, f"{ast.unparse(node)} is no expression of this language")

    def access(self, build: Callable[..., Any], *operands: Any) -> Any:
        """A load or store after all before it; returns what was loaded."""
        *loaded, self.order = build(*operands, [self.block], token=self.order).owner.results
        return loaded[0] if loaded else None

    def operands(self, nodes: list[ast.expr], like: ir.Value | None) -> list[ir.Value]:
        """Values of operands, in order; those that are literals follow the first that is not."""
        values = {n: self.expression(n, like) for n in nodes if not isinstance(n, ast.Constant)}
        like = next(iter(values.values()), like)
        return [values.get(node) or self.expression(node, like) for node in nodes]

    def place(self, node: Any) -> ir.Location:
        """Where errors of the operations of `node` are reported."""
        column = 1 + self.indent + getattr(node, "col_offset", 0)
        return ir.Location.file(self.filename, self.line, column)

    def error(self, node: Any, reason: str) -> tileir.ParseError:
        column = 1 + self.indent + getattr(node, "col_offset", 0)
        return tileir.ParseError(reason, location=f"{self.filename}:{self.line}:{column}")


def weak() -> ir.Attribute:
    return ct.enum_attribute(ct.MemoryOrdering.Weak)


def main() -> None:
    kernels = load(Path(__file__).with_name("kernels.vec"))
    x, y = np.linspace(-3, 3, 3000, dtype=np.float32), np.ones(3000, np.float32)
    kernels["saxpy"](2.0, x, y)
    print("saxpy: largest difference from NumPy", abs(y - (2 * x + 1)).max())
    program = tileir.compile(kernels["gelu"].module, target="sm_90a")
    print(
        "gelu:", len(program.ptx.splitlines()), "lines of PTX for", program.kernels["gelu"].target
    )
    try:
        parse("kernel mixed(x: [f32], y: [f16])\n    y = 1 + (x * y)\n", "mixed.vec")
    except tileir.TileError as error:
        print(error)


if __name__ == "__main__":
    main()
