"""Kernels as PyTorch operations: values, gradients, torch.compile, errors. On CPU tensors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import tileir
import tileir.lang as ct
import tileir.torch

ROOT = Path(__file__).resolve().parents[2]
Int = ct.Constant[int]


@pytest.fixture(scope="module")
def examples() -> Any:
    """The operations of examples/torch_ops.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "examples"))
        import torch_ops  # pyright: ignore[reportMissingImports]

        yield torch_ops


def random(*shape: int, dtype: torch.dtype = torch.float64, gradient: bool = False) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    values = torch.randn(*shape, generator=generator, dtype=torch.float64)
    return values.to(dtype).requires_grad_(gradient)


def test_torch_is_imported_only_when_asked_for() -> None:
    code = "import sys, tileir, tileir.lang; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "False\n", done.stderr


# ---- op ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_add(examples: ModuleType, dtype: torch.dtype) -> None:
    x, y = random(2500, dtype=dtype), random(2500, dtype=dtype) * 3
    assert torch.equal(examples.add(x, y), x + y)


@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 64), (70, 90, 33)])
def test_matmul_bias_relu(examples: ModuleType, m: int, n: int, k: int) -> None:
    a, b, bias = (random(*s, dtype=torch.float16) for s in ((m, k), (k, n), (n,)))
    want = torch.relu(a.double() @ b.double() + bias.double())
    got = examples.matmul_bias_relu(a, b, bias)
    assert got.dtype == torch.float16
    torch.testing.assert_close(got.double(), want, rtol=1e-3, atol=1e-3)


def test_gradients(examples: ModuleType) -> None:
    """Against finite differences, in float64; the backward kernels run on transposed views."""
    vectors = [random(6, gradient=True), random(6, gradient=True)]
    assert torch.autograd.gradcheck(examples.add, vectors)
    layer = [random(*shape, gradient=True) for shape in ((3, 2), (2, 4), (4,))]
    assert torch.autograd.gradcheck(examples.matmul_bias_relu, layer)


def test_what_torch_checks_of_an_operation(examples: ModuleType) -> None:
    """Schema, fake implementation, autograd registration and AOT dispatch, with dynamic shapes."""
    arguments = tuple(random(*s, gradient=True) for s in ((5, 3), (3, 6), (6,)))
    torch.library.opcheck(examples.matmul_bias_relu, arguments)
    torch.library.opcheck(examples.add, (random(9, gradient=True), random(9, gradient=True)))


def test_compiled_in_one_graph(examples: ModuleType) -> None:
    """`fullgraph` refuses graph breaks; another shape compiles once more, with dynamic ones.

    Without the last stage, which compiles C++; docs/pytorch.md shows the example that takes it.
    """

    def loss(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return (examples.matmul_bias_relu(a.sin(), b, bias) * 2).pow(2).sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    for m in (5, 7, 9):
        arguments = [random(*s, gradient=True) for s in ((m, 3), (3, 6), (6,))]
        eager = torch.autograd.grad(loss(*arguments), arguments)
        for got, want in zip(
            torch.autograd.grad(compiled(*arguments), arguments), eager, strict=True
        ):
            torch.testing.assert_close(got, want)


def test_an_operation_that_writes_its_input() -> None:
    @ct.kernel
    def double(x, TILE: Int):
        i = ct.bid(0)
        ct.store(x, (i,), ct.load(x, (i,), (TILE,)) * 2)

    @tileir.torch.op("tileir_test::double_", mutates_args=["x"])
    def double_(x: torch.Tensor) -> None:
        tileir.torch.launch((ct.cdiv(x.numel(), 16),), double, (x, 16))

    x = random(20)
    want = x * 2
    torch.compile(lambda x: double_(x), fullgraph=True)(x)
    assert torch.equal(x, want)


def test_gradients_of_several_results() -> None:
    """Numbers and results reach the backward function by name; one input has no gradient."""

    def split_backward(even_gradient, odd_gradient, scale, result1):
        return scale * even_gradient * result1 + odd_gradient

    @tileir.torch.op("tileir_test::split", backward=split_backward, gradients_of=["x"])
    def split(
        x: torch.Tensor, scale: float, other: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return x.square() * (scale / 2) + other, x.clone()

    x, other = random(6, gradient=True), random(6, gradient=True)
    squares, same = split(x, 3.0, other)
    (squares.sum() + 2 * same.sum()).backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, 3 * x.detach() + 2)
    assert other.grad is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"backward": lambda grad, z: grad},
            "tileir_test::bad: the backward function asks for 'z'\n"
            "  after the gradients of the results it may ask for x, n, result",
        ),
        (
            {"backward": lambda: None},
            "tileir_test::bad: the backward function has 0 parameters, too few for the gradients "
            "of 1 results",
        ),
        (
            {"backward": lambda grad: grad, "gradients_of": ["n"]},
            "tileir_test::bad: gradients_of names 'n', which is no tensor parameter\n  tensors: x",
        ),
    ],
)
def test_backward_functions_that_do_not_fit(options: Any, message: str) -> None:
    def function(x: torch.Tensor, n: int) -> torch.Tensor:
        return x + n

    with pytest.raises(tileir.TileError) as caught:
        tileir.torch.op("tileir_test::bad", function, **options)
    assert str(caught.value) == message


def test_functions_that_cannot_be_operations() -> None:
    with pytest.raises(tileir.TileError, match="'bad' is no name of an operation"):
        tileir.torch.op("bad", torch.relu)
    with pytest.raises(tileir.TileError) as caught:
        tileir.torch.op("tileir_test::bad", lambda x: x)
    assert "tileir_test::bad cannot be an operation" in str(caught.value)
    assert "must have a type annotation" in str(caught.value)


# ---- launch --------------------------------------------------------------------------------------


@ct.kernel
def square_kernel(x, y, TILE: Int):
    i = ct.bid(0)
    tile = ct.load(x, (i,), (TILE,))
    ct.store(y, (i,), tile * tile)


@ct.kernel
def square_backward_kernel(x, grad_y, grad_x, TILE: Int):
    i = ct.bid(0)
    ct.store(grad_x, (i,), 2 * ct.load(x, (i,), (TILE,)) * ct.load(grad_y, (i,), (TILE,)))


def test_launch_breaks_the_graph_and_says_why() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        tileir.torch.launch((2,), square_kernel, (x, y, 16))
        return y + 1

    x = random(20)
    torch.testing.assert_close(torch.compile(function)(x), x * x + 1)
    torch.compiler.reset()
    with pytest.raises(Exception, match="registered with tileir.torch.op"):
        torch.compile(function, fullgraph=True)(x)


def test_tensors_of_several_devices() -> None:
    with pytest.raises(tileir.LaunchError) as caught:
        tileir.torch.launch((1,), square_kernel, (random(4), random(4).to("meta"), 16))
    assert str(caught.value).startswith("kernel 'square_kernel' takes tensors on cpu and meta")


# ---- jit -----------------------------------------------------------------------------------------


def blocks(x: torch.Tensor, TILE: int) -> tuple[int, ...]:
    return (ct.cdiv(x.numel(), TILE),)


square = tileir.torch.jit(
    square_kernel, out={"y": "x"}, grid=blocks, backward=square_backward_kernel
)


def test_a_pair_of_kernels() -> None:
    x = random(50, gradient=True)
    y = square(x, 16)
    assert torch.equal(y, x * x)
    y.sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, 2 * x.detach())
    assert torch.autograd.gradcheck(lambda x: square(x, 16), [x])
    assert torch.equal(square(x, 16, grid=(2,))[:32], (x * x)[:32])


def test_jit_in_one_graph() -> None:
    def loss(x: torch.Tensor) -> torch.Tensor:
        return square(square(x + 1, 16), 32).sum()

    x = random(50, gradient=True)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    (got,), (want,) = (torch.autograd.grad(f(x), [x]) for f in (compiled, loss))
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(want, 4 * (x.detach() + 1) ** 3)


def test_what_torch_checks_of_the_operation_of_jit() -> None:
    arguments = (square._number, "tn", [random(20, gradient=True)], [16], [2])
    torch.library.opcheck(torch.ops.tileir.call, arguments)


def test_jit_as_a_decorator() -> None:
    """Results that a function allocates; gradients that are added to; a grid of its own."""

    @ct.kernel
    def row_scale_backward(x, w, grad_out, grad_x, grad_w, TILE: Int):
        i = ct.bid(0)
        g = ct.load(grad_out, (i, 0), (1, TILE))
        ct.store(grad_x, (i, 0), g * ct.load(w, (0,), (TILE,)))
        summed = (g * ct.load(x, (i, 0), (1, TILE))).reshape((TILE,))
        ct.atomic_add(grad_w, ct.arange(TILE, dtype=ct.int32), summed)

    @ct.jit(
        out={"out": lambda x, w: x.new_empty(x.shape[0], w.shape[0])},
        grid=lambda x: (x.shape[0],),
        backward=row_scale_backward,
        backward_grid=lambda x: (x.shape[0],),
        accumulates=["grad_w"],
    )
    def row_scale(x, w, out, TILE: Int):
        i = ct.bid(0)
        ct.store(out, (i, 0), ct.load(x, (i, 0), (1, TILE)) * ct.load(w, (0,), (TILE,)))

    x, w = random(3, 8, gradient=True), random(8, gradient=True)
    assert torch.equal(row_scale(x, w, 8), x * w)
    assert torch.autograd.gradcheck(lambda x, w: row_scale(x, w, 8), [x, w])


def test_plain_jit_writes_into_its_arguments() -> None:
    @ct.jit
    def negate(x, y, TILE: Int):
        i = ct.bid(0)
        ct.store(y, (i,), -ct.load(x, (i,), (TILE,)))

    x, y = random(20), torch.zeros(20, dtype=torch.float64)
    negate(x, y, 16, grid=(2,))
    assert torch.equal(y, -x)
    with pytest.raises(tileir.LaunchError, match="negate has no gradient, but a tensor") as caught:
        negate(x.requires_grad_(), y, 16, grid=(2,))
    assert "backward=" in str(caught.value)
    with torch.no_grad():
        negate(x, y, 16, grid=(2,))


def test_what_jit_refuses() -> None:
    @ct.kernel
    def useless(x, grad_y, TILE: Int):
        pass

    @ct.kernel
    def stranger(x, grad_z, grad_x):
        pass

    def without_gradient() -> None:
        x = random(4, gradient=True)
        tileir.torch.jit(square_kernel, out={"y": "x"}, grid=blocks)(x, 16).sum().backward()

    cases = {
        "square_kernel has no parameter 'z' that could be a result\n  it has x, y, TILE": (
            lambda: tileir.torch.jit(square_kernel, out={"z": "x"})
        ),
        "square_kernel: a function for its grid or results asks for 'w'\n"
        "  callers pass x, TILE": lambda: tileir.torch.jit(square_kernel, out={"y": "w"}),
        "the backward kernel of square_kernel computes no gradient\n"
        "  it needs a parameter like grad_x": (
            lambda: tileir.torch.jit(square_kernel, out={"y": "x"}, backward=useless)
        ),
        "square_kernel has nothing for the parameter 'grad_z' of its backward kernel\n"
        "  such a kernel may have x, y, TILE, grad_x, grad_y, grad_TILE": (
            lambda: tileir.torch.jit(square_kernel, out={"y": "x"}, backward=stranger)
        ),
        "square_kernel takes 2 arguments, got 1\n  they are x, TILE": lambda: square(random(4)),
        "square_kernel needs a grid\n  pass grid=..., or give one to jit": (
            lambda: tileir.torch.jit(square_kernel, out={"y": "x"})(random(4), 16)
        ),
        "square_kernel has no gradient\n  give jit a kernel for it: backward=...": without_gradient,
    }
    for message, call in cases.items():
        with pytest.raises(tileir.TileError) as caught:
            call()
        assert str(caught.value) == message
