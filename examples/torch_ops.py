"""Two kernels as PyTorch operations with gradients: vector addition, relu(a @ b + bias).

    python examples/torch_ops.py            # a small network is trained with them

They are ordinary operations to PyTorch: autograd, `torch.compile` and CUDA graphs work. CPU tensors
go through the interpreter. benchmarks/torch_ops.py times them beside PyTorch's own.
"""

from __future__ import annotations

import torch

import tileir.lang as ct
import tileir.torch

Int = ct.Constant[int]
ZERO = ct.PaddingMode.ZERO


# ---- kernels -------------------------------------------------------------------------------------


@ct.kernel
def add_kernel(x, y, out, TILE: Int):
    i = ct.bid(0)
    ct.store(out, (i,), ct.load(x, (i,), (TILE,)) + ct.load(y, (i,), (TILE,)))


def wide(dtype):
    """The type that sums are kept in."""
    return ct.float64 if dtype == ct.float64 else ct.float32


def product(a, b, i, j, TM, TN, TK):
    """Tile (i, j) of a @ b."""
    total = ct.zeros((TM, TN), dtype=wide(a.dtype))
    for k in range(ct.num_tiles(a, axis=1, shape=(TM, TK))):
        left = ct.load(a, (i, k), (TM, TK), padding_mode=ZERO)
        right = ct.load(b, (k, j), (TK, TN), padding_mode=ZERO)
        total = ct.mma(left, right, total)
    return total


@ct.kernel
def matmul_kernel(a, b, c, TM: Int, TN: Int, TK: Int):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(c, (i, j), product(a, b, i, j, TM, TN, TK).astype(c.dtype))


@ct.kernel
def matmul_bias_relu_kernel(a, b, bias, c, TM: Int, TN: Int, TK: Int):
    i, j = ct.bid(0), ct.bid(1)
    row = ct.load(bias, (j,), (TN,), padding_mode=ZERO)
    total = product(a, b, i, j, TM, TN, TK) + row
    ct.store(c, (i, j), ct.maximum(total, 0.0).astype(c.dtype))


@ct.kernel
def relu_gradient_kernel(grad, c, masked, grad_bias, TM: Int, TN: Int):
    """masked = grad where c > 0; grad_bias = the sum of its rows, by one block for TN columns."""
    j = ct.bid(0)
    total = ct.zeros((TN,), dtype=wide(grad.dtype))
    for i in range(ct.num_tiles(grad, axis=0, shape=(TM, TN))):
        passed = ct.load(c, (i, j), (TM, TN), padding_mode=ZERO) > 0.0
        tile = ct.load(grad, (i, j), (TM, TN), padding_mode=ZERO)
        tile = ct.where(passed, tile, ct.zeros((TM, TN), dtype=grad.dtype))
        ct.store(masked, (i, j), tile)
        total = total + ct.sum(tile.astype(total.dtype), axis=0)
    ct.store(grad_bias, (j,), total.astype(grad_bias.dtype))


# ---- operations ----------------------------------------------------------------------------------


@tileir.torch.op("tileir_examples::add")
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x + y, of vectors."""
    out, tile = torch.empty_like(x), 1024
    tileir.torch.launch((ct.cdiv(x.numel(), tile),), add_kernel, (x, y, out, tile))
    return out


add.register_autograd(lambda ctx, grad: (grad, grad))


def tile_sizes(dtype: torch.dtype) -> tuple[int, int, int]:
    """TM, TN and TK: what suits the tensor cores, where they multiply the type fast."""
    return (128, 256, 64) if dtype.itemsize <= 2 else (64, 64, 32)


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, n = a.shape[0], b.shape[1]
    c, (tm, tn, tk) = a.new_empty(m, n), tile_sizes(a.dtype)
    grid = (ct.cdiv(m, tm), ct.cdiv(n, tn))
    tileir.torch.launch(grid, matmul_kernel, (a, b, c, tm, tn, tk))
    return c


def matmul_bias_relu_backward(
    grad: torch.Tensor, a: torch.Tensor, b: torch.Tensor, result: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    masked, grad_bias = torch.empty_like(grad), grad.new_empty(grad.shape[1])
    grid = (ct.cdiv(grad.shape[1], 64),)
    tileir.torch.launch(grid, relu_gradient_kernel, (grad, result, masked, grad_bias, 64, 64))
    return matmul(masked, b.t()), matmul(a.t(), masked), grad_bias


@tileir.torch.op("tileir_examples::matmul_bias_relu", backward=matmul_bias_relu_backward)
def matmul_bias_relu(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """relu(a @ b + bias) in one kernel."""
    m, n = a.shape[0], b.shape[1]
    c, (tm, tn, tk) = a.new_empty(m, n), tile_sizes(a.dtype)
    grid = (ct.cdiv(m, tm), ct.cdiv(n, tn))
    tileir.torch.launch(grid, matmul_bias_relu_kernel, (a, b, bias, c, tm, tn, tk))
    return c


# ---- a use of them -------------------------------------------------------------------------------


class Network(torch.nn.Module):
    """Two layers, of which the first is one kernel."""

    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(inputs, hidden) / inputs**0.5)
        self.bias = torch.nn.Parameter(torch.zeros(hidden))
        self.last = torch.nn.Linear(hidden, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(matmul_bias_relu(x, self.weight, self.bias))


def main() -> None:
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.rand(256, 4, device=device)
    y = (x**2).sum(dim=1, keepdim=True)
    network = Network(4, 64).to(device)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    step = torch.compile(lambda: torch.nn.functional.mse_loss(network(x), y), fullgraph=True)
    for number in range(51):
        loss = step()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 25 == 0:
            print(f"step {number:3}  loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
