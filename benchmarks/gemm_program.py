"""Matrix products as tile programs, for benchmarks and tests: C = epilogue(A @ B).

The text is what a cuTile kernel of the usual form becomes: a block computes one tile of C, reads
tiles of A and B through padded partition views, and takes its place from a grouped raster.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Bytes of an element.
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "tf32": 4, "f8E4M3FN": 1, "f8E5M2": 1, "i8": 1, "i32": 4}
#: The square root of 2 / pi.
_GELU_SCALE = 0.7978845608
#: Of about so many rows of A, tiles share columns of B in the second-level cache: an even number of
#: them, since pairs of blocks may take two at a time.
_GROUP_ROWS = 1024


@dataclass(frozen=True)
class Gemm:
    """A program; tiles are of bm x bk, bk x bn and bm x bn elements.

    `dtype` is that of the elements of A and B in memory; f32 is rounded to tf32 for the product.
    `b`: "n" for B of [K][N], "k" for B of [N][K]. `epilogue`: "" or words joined by "_": `bias`
    (a row of N), `residual` (like C), then `relu` or `gelu` (by tanh). `divisor` divides all sizes;
    `promote`: the product of each round is summed on its own and added in full precision, where
    8-bit floats otherwise keep the tensor core's accumulator. `split`: so many blocks share the sum
    over k of a tile. Each leaves its part in the array `parts`, of tiles below each other; the last
    to arrive at the tile's counter adds them, always in the same order. Counters only grow.
    """

    bm: int = 128
    bn: int = 128
    bk: int = 64
    dtype: str = "f16"
    out: str = ""
    b: str = "n"
    epilogue: str = ""
    divisor: int = 16
    promote: bool = False
    hints: str = ""
    split: int = 1

    @property
    def name(self) -> str:
        words = [f"gemm_{self.bm}x{self.bn}x{self.bk}", self.dtype, f"n{'nt'[self.b == 'k']}"]
        words += [self.out] if self.out else []
        words += [self.epilogue] if self.epilogue else []
        words += [f"div{self.divisor}"] if self.divisor != 16 else []
        words += ["promoted"] if self.promote else []
        words += [f"split{self.split}"] if self.split > 1 else []
        words += [self._hint_name()] if self.hints else []
        return "_".join(words).lower()

    def _hint_name(self) -> str:
        return "".join(c if c.isalnum() else "" for c in self.hints.replace("_", ""))

    @property
    def accumulator(self) -> str:
        return "i32" if self.dtype == "i8" else "f32"

    @property
    def output(self) -> str:
        if self.out:
            return self.out
        return self.dtype if self.dtype in ("f16", "bf16") else {"i8": "i32"}.get(self.dtype, "f32")

    @property
    def is_extended(self) -> bool:
        return any(size & (size - 1) for size in (self.bm, self.bn, self.bk))

    def grid(self, m: int, n: int) -> tuple[int, int, int]:
        """Blocks for a result of m x n."""
        return (self.tiles(m, n) * self.split, 1, 1)

    def tiles(self, m: int, n: int) -> int:
        """Tiles of a result of m x n, and counters of a split product."""
        return -(-m // self.bm) * -(-n // self.bn)

    def parts_shape(self, m: int, n: int) -> tuple[int, int]:
        """The array in which blocks that share tiles leave their sums."""
        return self.tiles(m, n) * self.split * self.bm, self.bn

    def arrays(self) -> list[tuple[str, str, int]]:
        """Name, type of elements in memory and rank of each array, in order of the parameters."""
        found = [("a", self.dtype, 2), ("b", self.dtype, 2), ("c", self.output, 2)]
        found += [("bias", self.output, 1)] if "bias" in self.epilogue else []
        found += [("res", self.output, 2)] if "residual" in self.epilogue else []
        found += [("parts", "f32", 2), ("counters", "i32", 1)] if self.split > 1 else []
        return found

    def text(self) -> str:
        """The program, a module of `cuda_tile`."""
        return _Text(self).module()


class _Text:
    def __init__(self, gemm: Gemm):
        self.gemm = gemm
        self.lines: list[str] = []
        #: The values that say which tile a block computes, and which rounds of its sum.
        shares = gemm.split > 1
        self.tile, self.first, self.end = (
            ("tile", "from", "to") if shares else ("x", "c0", "rounds")
        )

    def module(self) -> str:
        g = self.gemm
        words = g.epilogue.split("_") if g.epilogue else []
        parameters = []
        for name, element, rank in g.arrays():
            parameters.append(f"%{name}: tile<ptr<{element}>>")
            parameters += [f"%{name}_{what}: tile<i32>" for what in _sizes(rank)]
        self._start()
        self._loop()
        if g.split == 1:
            self._store(self._epilogue(words))
        else:
            self._join(words)
        extended = " attributes {cuda_tile.extended}" if g.is_extended else ""
        hints = f" optimization_hints=<sm_90 = {{{g.hints}}}>" if g.hints else ""
        body = "\n".join(f"    {line}" for line in self.lines)
        entry = f"  entry @{g.name}({', '.join(parameters)}){hints} {{\n{body}\n    return\n  }}"
        return f"cuda_tile.module @kernels{extended} {{\n{entry}\n}}\n"

    def _add(self, *lines: str) -> None:
        self.lines += lines

    def _start(self) -> None:
        g = self.gemm
        self._add("%token = make_token : token")
        for name, element, rank in g.arrays():
            if name != "counters":
                self._tensor(name, element, rank)
        self._view("va", "a", (g.bm, g.bk))
        self._view("vb", "b", (g.bk, g.bn), transposed=g.b == "k")
        self._view("vc", "c", (g.bm, g.bn), padded=False)
        for name, value in (("c0", 0), ("c1", 1), ("bm", g.bm), ("bn", g.bn), ("bk", g.bk),
                            ("group", max(1, _GROUP_ROWS // (2 * g.bm) * 2))):  # fmt: skip
            self._add(f"%{name} = constant <i32: {value}> : tile<i32>")
        up, down = "signed rounding<positive_inf> : tile<i32>", "signed : tile<i32>"
        self._add(
            "%x, %y, %z = get_tile_block_id : tile<i32>",
            f"%rows = divi %c_d0, %bm {up}",
            f"%columns = divi %c_d1, %bn {up}",
            f"%rounds = divi %a_d1, %bk {up}",
        )
        if g.split > 1:
            self._share(up, down)
        self._add(
            "%in_group = muli %group, %columns : tile<i32>",
            f"%g = divi %{self.tile}, %in_group {down}",
            "%first = muli %g, %group : tile<i32>",
            "%left = subi %rows, %first : tile<i32>",
            f"%height = mini %left, %group {down}",
            "%skipped = muli %g, %in_group : tile<i32>",
            f"%place = subi %{self.tile}, %skipped : tile<i32>",
            f"%below = remi %place, %height {down}",
            "%i = addi %first, %below : tile<i32>",
            f"%j = divi %place, %height {down}",
        )

    def _share(self, up: str, down: str) -> None:
        """This block's tile and piece of the sum, the rounds %from to %to."""
        self._add(
            f"%split = constant <i32: {self.gemm.split}> : tile<i32>",
            "%tiles = muli %rows, %columns : tile<i32>",
            f"%piece = divi %x, %tiles {down}",
            f"%tile = remi %x, %tiles {down}",
            f"%share = divi %rounds, %split {up}",
            "%from = muli %piece, %share : tile<i32>",
            "%until = addi %from, %share : tile<i32>",
            f"%to = mini %until, %rounds {down}",
        )

    def _tensor(self, name: str, element: str, rank: int) -> None:
        per_row = max(1, 16 // BYTES[element])
        divisors = {"": 16, **dict.fromkeys(_sizes(rank)[:-1], self.gemm.divisor)}
        if rank == 2:
            divisors["s0"] = min(per_row, self.gemm.divisor)
        for what, divisor in divisors.items():
            at = f"{name}_{what}" if what else name
            kind = "i32" if what else f"ptr<{element}>"
            low = at
            if what:
                self._add(f"%{at}_p = assume bounded<0, ?>, %{at} : tile<i32>")
                low = f"{at}_p"
            self._add(f"%{at}_v = assume div_by<{divisor}>, %{low} : tile<{kind}>")
        shape = ", ".join(f"%{name}_d{i}_v" for i in range(rank))
        strides = f"%{name}_s0_v, 1" if rank == 2 else "1"
        self._add(
            f"%{name}_t = make_tensor_view %{name}_v, shape = [{shape}], strides = [{strides}] : "
            f"tile<i32> -> {_tensor_type(element, rank)}"
        )

    def _view(
        self, name: str, tensor: str, shape: tuple[int, ...], *, padded: bool = True,
        transposed: bool = False,
    ) -> None:  # fmt: skip
        kind = self._view_type(tensor, shape, padded, transposed)
        self._add(f"%{name} = make_partition_view %{tensor}_t : {kind}")

    def _view_type(
        self, tensor: str, shape: tuple[int, ...], padded: bool, transposed: bool
    ) -> str:
        g = self.gemm
        element = "f32" if tensor == "parts" else g.dtype if tensor in "ab" else g.output
        size = "x".join(map(str, shape))
        padding = "padding_value = zero, " if padded else ""
        dims = ", dim_map=[1, 0]" if transposed else ""
        tensor_type = _tensor_type(element, len(shape))
        return f"partition_view<tile=({size}), {padding}{tensor_type}{dims}>"

    def _load(self, result: str, view: str, kind: str, where: str, tile: str, token: str) -> None:
        self._add(
            f"%{result}, %{token} = load_view_tko weak %{view}[{where}] token = %token : {kind}, "
            f"tile<i32> -> tile<{tile}>, token"
        )

    def _loop(self) -> None:
        g = self.gemm
        shape = f"{g.bm}x{g.bn}"
        total = f"tile<{shape}x{g.accumulator}>"
        zero = "0" if g.accumulator == "i32" else "0.0"
        a, b = f"{g.bm}x{g.bk}x{g.dtype}", f"{g.bk}x{g.bn}x{g.dtype}"
        self._add(f"%zero = constant <{g.accumulator}: {zero}> : {total}")
        self._add(
            f"%sum = for %k in (%{self.first} to %{self.end}, step %c1) : tile<i32> "
            f"iter_values(%acc = %zero) -> ({total}) {{"
        )
        va = self._view_type("a", (g.bm, g.bk), True, False)
        vb = self._view_type("b", (g.bk, g.bn), True, g.b == "k")
        self._load("at", "va", va, "%i, %k", a, "ta")
        self._load("bt", "vb", vb, "%k, %j", b, "tb")
        left, right = "at", "bt"
        if g.dtype == "f32":
            a, b = f"{g.bm}x{g.bk}xtf32", f"{g.bk}x{g.bn}xtf32"
            for name, low in (("at", a), ("bt", b)):
                high = low.replace("tf32", "f32")
                self._add(f"%{name}3 = ftof %{name} : tile<{high}> -> tile<{low}>")
            left, right = "at3", "bt3"
        how = " fast_acc" if g.dtype.startswith("f8") and not g.promote else ""
        how = " signed signed" if g.dtype == "i8" else how
        mma = "mmai" if g.dtype == "i8" else "mmaf"
        start = "%zero" if g.promote else "%acc"
        self._add(f"%next = {mma} %{left}, %{right}, {start}{how} : tile<{a}>, tile<{b}>, {total}")
        last = "%next"
        if g.promote:
            self._add(f"%promoted = addf %acc, %next : {total}")
            last = "%promoted"
        self._add(f"continue {last} : {total}", "}")

    def _epilogue(self, words: list[str], value: str = "sum") -> str:
        g, shape = self.gemm, f"{self.gemm.bm}x{self.gemm.bn}"
        f32 = f"tile<{shape}xf32>"
        if "bias" in words:
            kind = self._view_type("bias", (g.bn,), True, False)
            self._view("vbias", "bias", (g.bn,))
            self._load("bias_l", "vbias", kind, "%j", f"{g.bn}x{g.output}", "tbias")
            self._add(
                f"%bias_f = ftof %bias_l : tile<{g.bn}x{g.output}> -> tile<{g.bn}xf32>",
                f"%bias_r = reshape %bias_f : tile<{g.bn}xf32> -> tile<1x{g.bn}xf32>",
                f"%bias_b = broadcast %bias_r : tile<1x{g.bn}xf32> -> {f32}",
                f"%with_bias = addf %{value}, %bias_b : {f32}",
            )
            value = "with_bias"
        if "residual" in words:
            kind = self._view_type("res", (g.bm, g.bn), True, False)
            self._view("vres", "res", (g.bm, g.bn))
            self._load("res_l", "vres", kind, "%i, %j", f"{shape}x{g.output}", "tres")
            self._add(
                f"%res_f = ftof %res_l : tile<{shape}x{g.output}> -> {f32}",
                f"%with_res = addf %{value}, %res_f : {f32}",
            )
            value = "with_res"
        if "relu" in words:
            self._add(
                f"%floor = constant <f32: 0.0> : {f32}",
                f"%relu = maxf %{value}, %floor : {f32}",
            )
            value = "relu"
        if "gelu" in words:
            value = self._gelu(value, f32)
        return value

    def _gelu(self, value: str, f32: str) -> str:
        """x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), as Hendrycks and Gimpel give it, with
        h = x / 2 as h + h tanh(x (b + a x^2)): a front end makes one fma of a product and a sum."""
        for name, number in (("ga", 0.044715 * _GELU_SCALE), ("gb", _GELU_SCALE), ("gc", 0.5)):
            self._add(f"%{name} = constant <f32: {number}> : {f32}")
        self._add(
            f"%g1 = mulf %{value}, %{value} : {f32}",
            f"%g2 = fma %g1, %ga, %gb : {f32}",
            f"%g3 = mulf %{value}, %g2 : {f32}",
            f"%g4 = tanh %g3 rounding<approx> : {f32}",
            f"%g5 = mulf %{value}, %gc : {f32}",
            f"%gelu = fma %g5, %g4, %g5 : {f32}",
        )
        return "gelu"

    def _join(self, words: list[str]) -> None:
        """Leaves the sum of this block; the last block of a tile adds all and stores the result."""
        g = self.gemm
        tile = f"{g.bm}x{g.bn}xf32"
        kind = self._view_type("parts", (g.bm, g.bn), False, False)
        self._view("vparts", "parts", (g.bm, g.bn), padded=False)
        self._add(
            "%own = muli %tile, %split : tile<i32>",
            "%mine = addi %own, %piece : tile<i32>",
            "%stored = store_view_tko weak %sum, %vparts[%mine, %c0] token = %token : "
            f"tile<{tile}>, {kind}, tile<i32> -> token",
            "%counter = offset %counters, %tile : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>",
            "%before, %arrived = atomic_rmw_tko acq_rel device %counter, add, %c1 token = %stored "
            ": tile<ptr<i32>>, tile<i32> -> tile<i32>, token",
            "%turn = remi %before, %split signed : tile<i32>",
            f"%final = constant <i32: {g.split - 1}> : tile<i32>",
            "%is_last = cmpi equal %turn, %final, signed : tile<i32> -> tile<i1>",
            "if %is_last {",
        )
        total, whole = f"tile<{tile}>", "zero"
        for n in range(g.split):
            self._add(
                f"%n{n} = constant <i32: {n}> : tile<i32>",
                f"%at{n} = addi %own, %n{n} : tile<i32>",
                f"%part{n}, %seen{n} = load_view_tko weak %vparts[%at{n}, %c0] token = %arrived : "
                f"{kind}, tile<i32> -> {total}, token",
            )
        for n in range(g.split):
            self._add(f"%total{n} = addf %{whole}, %part{n} : {total}")
            whole = f"total{n}"
        self._store(self._epilogue(words, whole))
        self._add("yield", "}")

    def _store(self, value: str) -> None:
        g, shape = self.gemm, f"{self.gemm.bm}x{self.gemm.bn}"
        if g.output != g.accumulator:
            self._add(f"%low = ftof %{value} : tile<{shape}xf32> -> tile<{shape}x{g.output}>")
            value = "low"
        kind = self._view_type("c", (g.bm, g.bn), False, False)
        self._add(
            f"%done = store_view_tko weak %{value}, %vc[%i, %j] token = %token : "
            f"tile<{shape}x{g.output}>, {kind}, tile<i32> -> token"
        )


def _sizes(rank: int) -> list[str]:
    """The scalars of an array of cuTile: sizes, then strides in elements."""
    return [f"d{i}" for i in range(rank)] + [f"s{i}" for i in range(rank)]


def _tensor_type(element: str, rank: int) -> str:
    shape, strides = ("?x?", "?,1") if rank == 2 else ("?", "1")
    return f"tensor_view<{shape}x{element}, strides=[{strides}]>"
