"""`jit`: a differentiable function of a kernel and the kernel of its gradients.

All such functions are one operation of `torch.library`, `tileir::call`, which is told the kernel
by number; its gradient is the same operation with the number of the backward kernel. So
`torch.compile` and CUDA graphs see operations that they know.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

import torch
from torch.library import custom_op

from tileir.errors import LaunchError, TileError

from .launching import described, launch

Grid = Sequence[int] | Callable[..., Sequence[int]]
Output = str | Callable[..., torch.Tensor]

GRADIENT = "grad_"


def jit(
    kernel: Any = None,
    /,
    *,
    out: Mapping[str, Output] | None = None,
    grid: Grid | None = None,
    backward: Any = None,
    backward_grid: Grid | None = None,
    accumulates: Sequence[str] = (),
) -> Any:
    """Makes a PyTorch function of a kernel; `@ct.jit` or `@ct.jit(...)` on its definition.

    out           the parameters that are results, each with the tensor that it is like: the name
                  of another parameter, or a function that allocates it. They are not passed by
                  callers, but allocated and returned. A function takes parameters of the kernel
                  by name: `lambda a, b: a.new_empty(a.shape[0], b.shape[1])`
    grid          the grid, or a function of parameters by name; callers may pass `grid=` as well
    backward      the kernel that computes gradients. Its parameters go by name: those of `kernel`,
                  results included, `grad_y` for the gradient of a result `y`, and `grad_x` for the
                  gradient that it computes of a tensor `x`, which is allocated like `x`. Tensors
                  without one have no gradient
    backward_grid the grid of the backward kernel, if it is another one
    accumulates   gradients (`"grad_w"`) that are filled with zeros first, because the backward
                  kernel adds to them

    Without `out`, callers pass every parameter, and the kernel writes into what they pass; such a
    function has no gradient, and says so where one is asked for.

    Raises `TileError` for names that the kernels do not have.
    """

    def make(kernel: Any) -> JitKernel:
        rules = {
            name: _Like(rule) if isinstance(rule, str) else rule
            for name, rule in (out or {}).items()
        }
        return JitKernel(kernel, rules, grid, backward, backward_grid, accumulates)

    return make if kernel is None else make(kernel)


class JitKernel:
    """A kernel that is called with tensors and numbers; see `jit`."""

    def __init__(
        self,
        kernel: Any,
        out: Mapping[str, Callable[..., torch.Tensor]],
        grid: Grid | None,
        backward: Any = None,
        backward_grid: Grid | None = None,
        accumulates: Sequence[str] = (),
    ):
        self.kernel = _as_kernel(kernel)
        self.names = _parameter_names(self.kernel)
        self.inputs = [name for name in self.names if name not in out]
        self.grid = None if grid is None else _ByName(grid)
        self.outputs = {
            name: rule if isinstance(rule, _Like) else _ByName(rule) for name, rule in out.items()
        }
        self._check_names(out)
        self._number = len(_KERNELS)
        _KERNELS.append(self)
        self.gradient: JitKernel | None = None
        self.backward_grid = None if backward_grid is None else _ByName(backward_grid)
        if backward is not None:
            self.gradient = self._make_gradient(backward, accumulates)

    def __call__(self, *args: Any, grid: Sequence[int] | None = None) -> Any:
        """Results, one or a tuple of them; None if the kernel has no `out`."""
        if len(args) != len(self.inputs):
            raise LaunchError(
                f"{self.name} takes {len(self.inputs)} arguments, got {len(args)}",
                remedy=f"they are {', '.join(self.inputs)}",
            )
        values = dict(zip(self.inputs, args, strict=True))
        blocks = self._grid(values) if grid is None else grid
        if not self.outputs:
            self._write(blocks, args)
            return None
        return self._apply(args, blocks)

    @property
    def name(self) -> str:
        return getattr(self.kernel, "name", None) or self.kernel.__name__

    def _check_names(self, out: Mapping[str, Any]) -> None:
        for name in out:
            if name not in self.names:
                raise TileError(
                    f"{self.name} has no parameter '{name}' that could be a result",
                    remedy=f"it has {', '.join(self.names)}",
                )
        for rule in (self.grid, *self.outputs.values()):
            for name in rule.names if rule else ():
                if name not in self.inputs:
                    raise TileError(
                        f"{self.name}: a function for its grid or results asks for '{name}'",
                        remedy=f"callers pass {', '.join(self.inputs)}",
                    )

    def _grid(self, values: Mapping[str, Any]) -> Sequence[int]:
        if self.grid is None:
            raise LaunchError(
                f"{self.name} needs a grid",
                remedy="pass grid=..., or give one to jit",
            )
        return self.grid(values)

    def _write(self, grid: Sequence[int], args: Sequence[Any]) -> None:
        """Launches on the caller's own outputs."""
        needed = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
        if needed and torch.is_grad_enabled():
            raise LaunchError(
                f"{self.name} has no gradient, but a tensor that it is called with requires one",
                remedy="give jit out=... and backward=..., or call it under torch.no_grad()",
            )
        launch(grid, self.kernel, args)

    # ---- as an operation ---------------------------------------------------------------------

    def _apply(self, args: Sequence[Any], grid: Sequence[int]) -> Any:
        kinds = "".join("t" if isinstance(value, torch.Tensor) else "n" for value in args)
        tensors = [value for value in args if isinstance(value, torch.Tensor)]
        numbers = [value for value in args if not isinstance(value, torch.Tensor)]
        results = _call(self._number, kinds, tensors, numbers, list(grid))
        return results[0] if len(results) == 1 else tuple(results)

    def named(self, kinds: str, tensors: Sequence[Any], numbers: Sequence[Any]) -> dict[str, Any]:
        """What callers passed, by parameter."""
        left = {"t": iter(tensors), "n": iter(numbers)}
        return {name: next(left[kind]) for name, kind in zip(self.inputs, kinds, strict=True)}

    def compute(self, values: dict[str, Any], grid: Sequence[int]) -> list[torch.Tensor]:
        """Allocates the results and launches the kernel on them."""
        results = {name: rule(values) for name, rule in self.outputs.items()}
        values = values | results
        launch(grid, self.kernel, [values[name] for name in self.names])
        return list(results.values())

    def gradients(self, values: dict[str, Any], grid: Sequence[int]) -> dict[str, torch.Tensor]:
        """The gradients of tensors, by name; `values` has results and their gradients, too."""
        if self.gradient is None:
            raise LaunchError(
                f"{self.name} has no gradient", remedy="give jit a kernel for it: backward=..."
            )
        gradient = self.gradient
        args = [values[name] for name in gradient.inputs]
        found = gradient._apply(args, self.backward_grid(values) if self.backward_grid else grid)
        found = found if isinstance(found, tuple) else (found,)
        names = (name.removeprefix(GRADIENT) for name in gradient.outputs)
        return dict(zip(names, found, strict=True))

    def _make_gradient(self, backward: Any, accumulates: Sequence[str]) -> JitKernel:
        kernel = _as_kernel(backward)
        names = _parameter_names(kernel)
        known = [*self.names, *(GRADIENT + name for name in self.names)]
        for name in (*names, *accumulates):
            if name not in known or name not in names:
                raise TileError(
                    f"{self.name} has nothing for the parameter '{name}' of its backward kernel",
                    remedy=f"such a kernel may have {', '.join(known)}",
                )
        computed = {
            name: _Like(name.removeprefix(GRADIENT), zeros=name in accumulates)
            for name in names
            if name.startswith(GRADIENT) and name.removeprefix(GRADIENT) in self.inputs
        }
        if not computed:
            raise TileError(
                f"the backward kernel of {self.name} computes no gradient",
                remedy=f"it needs a parameter like {GRADIENT}{self.inputs[0]}",
            )
        return JitKernel(kernel, computed, None)


class _ByName:
    """A value, or a function that gets parameters of a kernel by name."""

    def __init__(self, rule: Any):
        self._rule = rule
        self.names = list(inspect.signature(rule).parameters) if callable(rule) else []

    def __call__(self, values: Mapping[str, Any]) -> Any:
        if not callable(self._rule):
            return self._rule
        return self._rule(*[values[name] for name in self.names])


class _Like:
    """Allocates a tensor like another one, contiguous."""

    def __init__(self, name: str, zeros: bool = False):
        self.names = [name]
        self._allocate = torch.zeros_like if zeros else torch.empty_like

    def __call__(self, values: Mapping[str, Any]) -> torch.Tensor:
        return self._allocate(values[self.names[0]], memory_format=torch.contiguous_format)


def _as_kernel(kernel: Any) -> Any:
    """A kernel; a function is made one."""
    if not isinstance(kernel, FunctionType):
        return kernel
    import tileir.lang

    return tileir.lang.kernel(kernel)


def _parameter_names(kernel: Any) -> list[str]:
    return [parameter.name for parameter in kernel.parameters]


# ---- the operation -------------------------------------------------------------------------------

_KERNELS: list[JitKernel] = []

_SCHEMA = "(int kernel, str kinds, Tensor[] tensors, Scalar[] numbers, SymInt[] grid) -> Tensor[]"


def _compute(
    kernel: int,
    kinds: str,
    tensors: Sequence[torch.Tensor],
    numbers: Sequence[Any],
    grid: Sequence[int],
) -> list[torch.Tensor]:
    called = _KERNELS[kernel]
    return called.compute(called.named(kinds, tensors, numbers), grid)


def _save(ctx: Any, inputs: tuple[Any, ...], output: list[torch.Tensor]) -> None:
    ctx.kernel, ctx.kinds, tensors, ctx.numbers, ctx.grid = inputs
    ctx.count = len(tensors)
    ctx.save_for_backward(*tensors, *output)


def _gradients(ctx: Any, gradients: Sequence[torch.Tensor]) -> tuple[Any, ...]:
    called = _KERNELS[ctx.kernel]
    tensors, results = ctx.saved_tensors[: ctx.count], ctx.saved_tensors[ctx.count :]
    values = called.named(ctx.kinds, tensors, ctx.numbers)
    values.update(zip(called.outputs, results, strict=True))
    for name, gradient in zip(called.outputs, gradients, strict=True):
        values[GRADIENT + name] = gradient.contiguous()
    found = called.gradients(values, ctx.grid)
    names = (name for name, kind in zip(called.inputs, ctx.kinds, strict=True) if kind == "t")
    return None, None, [found.get(name) for name in names], None, None


_call = custom_op("tileir::call", _compute, mutates_args=(), schema=_SCHEMA)
_call.register_fake(described(_compute))
_call.register_autograd(_gradients, setup_context=_save)
