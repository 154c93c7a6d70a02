"""Random valid kernels as text, for property tests of the bytecode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

FLOATS = ("f16", "bf16", "f32", "f64")
INTS = ("i1", "i8", "i16", "i32", "i64")
STORED = (*FLOATS, *INTS, "tf32", "f8E4M3FN", "f8E5M2")
IEEE = ("", " rounding<zero>", " rounding<negative_inf>", " rounding<positive_inf>")
SIGNEDNESS = ("signed", "unsigned")
OVERFLOW = (
    *("", " overflow<no_signed_wrap>", " overflow<no_unsigned_wrap>", " overflow<no_wrap>"),
)


def tile(shape: tuple[int, ...], element: str) -> str:
    return f"tile<{''.join(f'{dim}x' for dim in shape)}{element}>"


class Generator:
    """Builds one kernel; `draw` is that of a hypothesis composite strategy."""

    def __init__(self, draw: Callable[[Any], Any]):
        self.draw = draw
        self.lines: list[str] = []
        self.scope: list[tuple[str, tuple[int, ...], str]] = []  # name, shape, element
        self.counter = 0
        self.indent = "  "

    def pick(self, options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def flag(self) -> bool:
        return self.draw(st.booleans())

    def name(self) -> str:
        self.counter += 1
        return f"%v{self.counter}"

    def emit(self, line: str, location: bool = True) -> None:
        suffix = ""
        if location and self.pick(("no", "no", "yes")) == "yes":
            suffix = f' loc("gen.py":{self.counter}:{self.draw(st.integers(0, 200))})'
        self.lines.append(f"{self.indent}{line}{suffix}")

    def define(self, text: str, shape: tuple[int, ...], element: str) -> str:
        name = self.name()
        self.emit(f"{name} = {text}")
        self.scope.append((name, shape, element))
        return name

    def shape(self) -> tuple[int, ...]:
        return tuple(self.draw(st.lists(st.sampled_from((1, 2, 4, 8)), max_size=3)))

    def literal(self, element: str) -> str:
        if element == "i1":
            return self.pick(("true", "false"))
        if element in INTS:
            bits = int(element[1:])
            return str(self.draw(st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)))
        return self.pick(("0.0", "-0.0", "1.0", "-2.5", "0.125", "96.0"))

    def constant(self, shape: tuple[int, ...], element: str) -> str:
        def nested(dims: tuple[int, ...]) -> str:
            if not dims:
                return self.literal(element)
            return "[" + ", ".join(nested(dims[1:]) for _ in range(dims[0])) + "]"

        small = len(shape) > 0 and all(dim <= 4 for dim in shape)
        value = nested(shape) if small and self.flag() else self.literal(element)
        return self.define(
            f"constant <{element}: {value}> : {tile(shape, element)}", shape, element
        )

    def value(self, elements: tuple[str, ...], shape: tuple[int, ...] | None = None) -> Any:
        """A value in scope of one of the element types, or a new constant."""
        known = [v for v in self.scope if v[2] in elements and shape in (None, v[1])]
        if known and self.flag():
            return self.pick(known)
        wanted = self.shape() if shape is None else shape
        self.constant(wanted, self.pick(elements))
        return self.scope[-1]

    def same(self, value: Any) -> str:
        """Another value of the same type."""
        return self.value((value[2],), value[1])[0]

    # Operations.

    def float_op(self) -> None:
        a = self.value(FLOATS)
        name, shape, element = a
        flush = " flush_to_zero" if element == "f32" and self.flag() else ""
        kind = self.pick(("unary", "binary", "minmax", "fma", "approx", "plain"))
        type = tile(shape, element)
        if kind == "unary":
            op = self.pick(("absf", "negf", "ceil", "floor", "sin", "cos", "tan", "log", "log2"))
            self.define(f"{op} {name} : {type}", shape, element)
        elif kind == "binary":
            op = self.pick(("addf", "subf", "mulf", "divf"))
            rounding = self.pick(IEEE)
            self.define(f"{op} {name}, {self.same(a)}{rounding}{flush} : {type}", shape, element)
        elif kind == "minmax":
            nan = " propagate_nan" if self.flag() else ""
            op = self.pick(("maxf", "minf"))
            self.define(f"{op} {name}, {self.same(a)}{flush}{nan} : {type}", shape, element)
        elif kind == "fma":
            b, c = self.same(a), self.same(a)
            self.define(f"fma {name}, {b}, {c}{self.pick(IEEE)} : {type}", shape, element)
        elif kind == "approx":
            rounding = " rounding<approx>" if element == "f32" and self.flag() else ""
            op = self.pick(("exp", "tanh", "sqrt"))
            self.define(f"{op} {name}{rounding} : {type}", shape, element)
        else:
            op = self.pick(("remf", "pow", "atan2", "fpowf"))
            self.define(f"{op} {name}, {self.same(a)} : {type}", shape, element)

    def int_op(self) -> None:
        a = self.value(INTS)
        name, shape, element = a
        type, b = tile(shape, element), self.same(a)
        kind = self.pick(("overflow", "signed", "bits", "divi", "negi"))
        if kind == "overflow":
            op = self.pick(("addi", "subi", "muli", "shli"))
            self.define(f"{op} {name}, {b}{self.pick(OVERFLOW)} : {type}", shape, element)
        elif kind == "signed":
            op = self.pick(("remi", "maxi", "mini", "shri"))
            self.define(f"{op} {name}, {b} {self.pick(SIGNEDNESS)} : {type}", shape, element)
        elif kind == "bits":
            op = self.pick(("andi", "ori", "xori", "mulhii"))
            self.define(f"{op} {name}, {b} : {type}", shape, element)
        elif kind == "divi":
            mode = self.pick(("unsigned", "signed", "signed rounding<negative_inf>"))
            self.define(f"divi {name}, {b} {mode} : {type}", shape, element)
        else:
            self.define(f"negi {name}{self.pick(OVERFLOW[:2])} : {type}", shape, element)

    def compare_op(self) -> None:
        predicate = self.pick(("equal", "not_equal", "less_than", "greater_than_or_equal"))
        a = self.value((*FLOATS, *INTS))
        name, shape, element = a
        types = f"{tile(shape, element)} -> {tile(shape, 'i1')}"
        b = self.same(a)
        if element in FLOATS:
            order = self.pick(("ordered", "unordered"))
            text = f"cmpf {predicate} {order} {name}, {b} : {types}"
        else:
            text = f"cmpi {predicate} {name}, {b}, {self.pick(SIGNEDNESS)} : {types}"
        mask = self.define(text, shape, "i1")
        other = self.same(a)
        types = f"{tile(shape, 'i1')}, {tile(shape, element)}"
        self.define(f"select {mask}, {name}, {other} : {types}", shape, element)

    def convert_op(self) -> None:
        name, shape, element = self.value((*FLOATS, *INTS))
        source = tile(shape, element)
        if element in FLOATS:
            target = self.pick(("i8", "i32", *(f for f in FLOATS if f != element)))
            sign, saturating = self.pick(SIGNEDNESS), self.pick(("", " saturating"))
            op = f"ftoi {name} {sign}{saturating}" if target[0] == "i" else f"ftof {name}"
        else:
            widths = [int(i[1:]) for i in INTS]
            width = int(element[1:])
            target = self.pick(("f32", "f16", *(f"i{w}" for w in widths if w != width)))
            if target[0] == "f":
                op = f"itof {name} {self.pick(SIGNEDNESS)}"
            elif int(target[1:]) > width:
                op = f"exti {name} {self.pick(SIGNEDNESS)}"
            else:
                op = f"trunci {name}{self.pick(OVERFLOW)}"
        self.define(f"{op} : {source} -> {tile(shape, target)}", shape, target)

    def shape_op(self) -> None:
        name, shape, element = self.value(STORED)
        source = tile(shape, element)
        if len(shape) >= 2 and self.flag():
            order = tuple(self.draw(st.permutations(range(len(shape)))))
            result = tuple(shape[i] for i in order)
            text = f"permute {name} {list(order)} : {source} -> {tile(result, element)}"
        elif 1 in shape and self.flag():
            result = tuple(4 if dim == 1 else dim for dim in shape)
            text = f"broadcast {name} : {source} -> {tile(result, element)}"
        elif shape and self.flag():
            dim = self.draw(st.integers(0, len(shape) - 1))
            result = tuple(2 * size if i == dim else size for i, size in enumerate(shape))
            text = f"cat {name}, {name} dim = {dim} : {source}, {source} -> {tile(result, element)}"
        else:
            result = (1, *shape)
            text = f"reshape {name} : {source} -> {tile(result, element)}"
        self.define(text, result, element)

    def reduce_op(self) -> None:
        name, shape, element = self.value((*FLOATS, *INTS))
        if not shape:
            return
        dim = self.draw(st.integers(0, len(shape) - 1))
        scan = self.flag()
        result = shape if scan else (*shape[:dim], *shape[dim + 1 :])
        identity = self.literal(element)
        typed = identity if element == "i1" else f"{identity} : {element}"
        scalar = tile((), element)
        combine = "addf" if element in FLOATS else "xori"
        op = f"reduce {name} dim={dim}"
        if scan:
            op = f"scan {name} dim={dim} reverse={self.pick(('true', 'false'))}"
        body = (
            f"(%a: {scalar}, %b: {scalar}) "
            f"{{ %s = {combine} %a, %b : {scalar} yield %s : {scalar} }}"
        )
        types = f"{tile(shape, element)} -> {tile(result, element)}"
        self.define(f"{op} identities=[{typed}] : {types} {body}", result, element)

    def nested(self, make: Callable[[], None]) -> None:
        """Runs `make` in a region: what it defines is out of scope afterwards."""
        outer, indent = list(self.scope), self.indent
        self.indent += "  "
        make()
        self.scope, self.indent = outer, indent

    def body(self, depth: int, terminator: str = "") -> None:
        """A few operations in a region of their own."""

        def make() -> None:
            for _ in range(self.draw(st.integers(0, 2))):
                self.operation(depth)
            if terminator:
                self.emit(terminator)

        self.nested(make)

    def if_op(self, depth: int) -> None:
        condition = self.value(("i1",), ())[0]
        name, shape, element = self.value(STORED)
        if self.flag():
            self.emit(f"if {condition} {{", location=False)
            self.body(depth + 1)
            self.emit("}")
            return
        result, type = self.name(), tile(shape, element)
        self.emit(f"{result} = if {condition} -> ({type}) {{", location=False)
        self.body(depth + 1, f"yield {name} : {type}")
        self.emit("} else {", location=False)
        self.body(depth + 1, f"yield {name} : {type}")
        self.emit("}")
        self.scope.append((result, shape, element))

    def loop_op(self, depth: int) -> None:
        name, shape, element = self.value(STORED)
        result, type, arg = self.name(), tile(shape, element), self.name()
        if self.flag():
            index = self.pick(("i32", "i64"))
            low, high, step = (self.value((index,), ())[0] for _ in range(3))
            unsigned = self.pick(("", " unsigned"))
            self.emit(
                f"{result} = for{unsigned} {arg}i in ({low} to {high}, step {step}) : "
                f"{tile((), index)} iter_values({arg} = {name}) -> ({type}) {{",
                location=False,
            )
        else:
            condition = self.value(("i1",), ())[0]
            self.emit(
                f"{result} = loop iter_values({arg} = {name}) : {type} -> {type} {{", location=False
            )
            self.lines.append(f"    if {condition} {{ break {arg} : {type} }}")
        self.body(depth + 1, f"continue {arg} : {type}")
        self.emit("}")
        self.scope.append((result, shape, element))

    def memory_op(self) -> None:
        rank = self.pick((1, 2))
        tile_shape = tuple(self.pick((2, 4, 8)) for _ in range(rank))
        element = self.pick(("f32", "i32", "f16"))
        view, partition, value, token = (self.name() for _ in range(4))
        pointer, pointee = f"%{element}", tile((), f"ptr<{element}>")
        if pointee not in ("tile<ptr<f32>>",):
            self.emit(f"{view}p = ptr_to_ptr %f32 : tile<ptr<f32>> -> {pointee}")
            pointer = f"{view}p"
        dims = ["%n" if self.flag() else 64 for _ in range(rank)]
        shape = "x".join("?" if dim == "%n" else str(dim) for dim in dims)
        strides = ["%n", 1][-rank:]
        static = ",".join("?" if stride == "%n" else str(stride) for stride in strides)
        tensor = f"tensor_view<{shape}x{element}, strides=[{static}]>"
        dynamic = "tile<i32> -> " if "%n" in (*dims, *strides) else ""
        self.emit(
            f"{view} = make_tensor_view {pointer}, shape = [{', '.join(map(str, dims))}], "
            f"strides = [{', '.join(map(str, strides))}] : {dynamic}{tensor}"
        )
        padding = self.pick(("", "padding_value = zero, "))
        order = self.pick(("", ", dim_map=[1, 0]")) if rank == 2 else ""
        extents = "x".join(map(str, tile_shape))
        type = f"partition_view<tile=({extents}), {padding}{tensor}{order}>"
        self.emit(f"{partition} = make_partition_view {view} : {type}")
        at = ", ".join(["%n"] * rank)
        order_and_scope = self.pick(("weak", "relaxed device", "relaxed sys", "acquire tl_blk"))
        hint = self.pick(("", " optimization_hints = <sm_90 = {allow_tma = false, latency = 3}>"))
        inbounds = self.pick(("", f" inbounds = [{', '.join(['true'] * rank)}]"))
        self.emit(
            f"{value}, {token} = load_view_tko {order_and_scope} {partition}[{at}]{hint}{inbounds} "
            f": {type}, tile<i32> -> {tile(tile_shape, element)}, token"
        )
        stored = order_and_scope.replace("acquire", "release")
        self.emit(
            f"{token}s = store_view_tko {stored} {value}, {partition}[{at}] token = {token} : "
            f"{tile(tile_shape, element)}, {type}, tile<i32> -> token"
        )
        self.scope.append((value, tile_shape, element))

    def assume_op(self) -> None:
        name, shape, element = self.value(("i32", "i64"))
        predicates = ["bounded<0, ?>", "bounded<?, 7>", "bounded<-3, 5>", "div_by<4>"]
        if shape:
            predicates += [f"div_by<8, every {shape[0]} along 0>", f"same_elements<{list(shape)}>"]
        self.define(
            f"assume {self.pick(predicates)}, {name} : {tile(shape, element)}", shape, element
        )

    def print_op(self) -> None:
        name, shape, element = self.value(("f32", "i32"))
        text = self.pick(("x=%f", "100%% %d", "é\\0A%i"))
        self.emit(f'{self.name()} = print_tko "{text}", {name} : {tile(shape, element)} -> token')

    def operation(self, depth: int = 0) -> None:
        simple = [self.float_op, self.int_op, self.compare_op, self.convert_op, self.shape_op]
        simple += [self.reduce_op, self.memory_op, self.assume_op, self.print_op]
        nesting = [lambda: self.if_op(depth), lambda: self.loop_op(depth)]
        self.pick(simple + nesting if depth < 2 else simple)()


@st.composite
def kernels(draw: Any) -> str:
    """The text of a module with one or two entries."""
    entries = []
    for number in range(draw(st.integers(1, 2))):
        generator = Generator(draw)
        for _ in range(draw(st.integers(1, 6))):
            generator.operation()
        hints = draw(st.sampled_from(("", "optimization_hints=<sm_90 = {occupancy = 2}>")))
        location = draw(st.sampled_from(("", f' loc("gen.py":{number}:1)', " loc(unknown)")))
        body = "\n".join(generator.lines)
        entries.append(
            f"entry @k{number}(%f32: tile<ptr<f32>>, %n: tile<i32>) {hints} {{\n{body}\n"
            f"  return\n}}{location}"
        )
    return "cuda_tile.module @m {\n" + "\n".join(entries) + "\n}"
