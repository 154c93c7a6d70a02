"""`op`: a function that launches kernels, as an operation of `torch.library`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import torch
from torch._library.custom_ops import CustomOpDef
from torch.library import custom_op

from tileir.errors import TileError

from .launching import described

_RESULT = "result"


def op(
    name: str,
    function: Callable[..., Any] | None = None,
    /,
    *,
    backward: Callable[..., Any] | None = None,
    gradients_of: Sequence[str] | None = None,
    mutates_args: str | Iterable[str] = (),
) -> Any:
    """Registers a function that launches kernels as the operation `name` ("namespace::name").

    Used as a decorator, or with the function as second argument; returns a
    `torch.library.CustomOpDef`, which is called like the function. The function's parameters and
    results have annotations (`torch.Tensor`, `int`, `float`, `bool`, ...: what
    `torch.library.infer_schema` takes). It allocates its outputs and fills them with
    `tileir.torch.launch`; it must not return an input. `mutates_args` names the tensors that it
    writes, if it writes any of its inputs; such an operation has no gradient.

    The fake implementation, which tells `torch.compile` the shapes and types of results, is the
    same function: its launches then do nothing.

    `backward` gives the gradients. Its first parameters are the gradients of the results, in
    order and contiguous; the others are named as what they get: a parameter of `function`, or
    `result` (`result0`, `result1`, ... if there are several). It returns the gradient of every
    tensor in `gradients_of`, by default of all tensor parameters in order. It may launch kernels
    itself: unless it is an operation already, it becomes the operation `name` + "_backward", with
    the annotations of `function` for what it lacks.

    Raises `TileError` for a name or a function that `torch.library` does not take, and for a
    backward function that asks for what does not exist.
    """

    def register(function: Callable[..., Any]) -> CustomOpDef:
        definition = _definition(name, function, mutates_args)
        definition.register_fake(described(function))
        if backward is not None:
            _Backward(name, function, backward, gradients_of).register(definition)
        return definition

    return register if function is None else register(function)


def _definition(
    name: str, function: Callable[..., Any], mutates_args: str | Iterable[str]
) -> CustomOpDef:
    namespace, _, own_name = name.partition("::")
    if not (namespace.isidentifier() and own_name.isidentifier()):
        raise TileError(f"'{name}' is no name of an operation", remedy="write namespace::name")
    try:
        return custom_op(name, function, mutates_args=mutates_args)
    except ValueError as error:
        raise TileError(f"{name} cannot be an operation: {error}") from None


class _Backward:
    """What a backward function takes and gives, found out when the operation is registered."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        backward: Callable[..., Any],
        gradients_of: Sequence[str] | None,
    ):
        self.name = name
        signature = inspect.signature(function, eval_str=True)
        self.parameters = list(signature.parameters)
        self.annotations = {p.name: p.annotation for p in signature.parameters.values()}
        self.results = _count_results(signature.return_annotation)
        self.targets = list(gradients_of or self._tensors())
        self._check_targets()
        implementation = backward._init_fn if isinstance(backward, CustomOpDef) else backward
        names = list(inspect.signature(implementation).parameters)
        self.saved = names[self.results :]
        self._check_saved(names)
        if isinstance(backward, CustomOpDef):
            self.run: Callable[..., Any] = backward
        else:
            self.run = op(f"{name}_backward", self._annotated(backward, names))

    def register(self, definition: CustomOpDef) -> None:
        definition.register_autograd(self._gradients, setup_context=self._save)

    # ---- checks ------------------------------------------------------------------------------

    def _tensors(self) -> list[str]:
        return [name for name, kind in self.annotations.items() if kind is torch.Tensor]

    def _check_targets(self) -> None:
        for name in self.targets:
            if self.annotations.get(name) is not torch.Tensor:
                raise TileError(
                    f"{self.name}: gradients_of names '{name}', which is no tensor parameter",
                    remedy=f"tensors: {', '.join(self._tensors())}",
                )

    def _check_saved(self, names: list[str]) -> None:
        if len(names) < self.results:
            raise TileError(
                f"{self.name}: the backward function has {len(names)} parameters, too few for the "
                f"gradients of {self.results} results"
            )
        known = [*self.parameters, *self._result_names()]
        for name in self.saved:
            if name not in known:
                raise TileError(
                    f"{self.name}: the backward function asks for '{name}'",
                    remedy=f"after the gradients of the results it may ask for {', '.join(known)}",
                )

    def _result_names(self) -> list[str]:
        return [_RESULT] if self.results == 1 else [f"{_RESULT}{i}" for i in range(self.results)]

    def _annotated(self, backward: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
        """`backward` with the annotations that a schema needs."""

        @wraps(backward)
        def annotated(*args: Any) -> Any:
            return backward(*args)

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [
            inspect.Parameter(name, kind, annotation=self.annotations.get(name, torch.Tensor))
            if position >= self.results
            else inspect.Parameter(name, kind, annotation=torch.Tensor)
            for position, name in enumerate(names)
        ]
        gradients: Any = torch.Tensor
        if len(self.targets) > 1:
            gradients = tuple[(torch.Tensor,) * len(self.targets)]
        annotated.__signature__ = inspect.Signature(  # pyright: ignore[reportAttributeAccessIssue]
            parameters, return_annotation=gradients
        )
        return annotated

    # ---- autograd ----------------------------------------------------------------------------

    def _save(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        values = dict(zip(self.parameters, inputs, strict=True))
        outputs = output if isinstance(output, tuple) else (output,)
        values.update(zip(self._result_names(), outputs, strict=True))
        wanted = [values[name] for name in self.saved]
        ctx.is_tensor = [isinstance(value, torch.Tensor) for value in wanted]
        ctx.save_for_backward(*(value for value in wanted if isinstance(value, torch.Tensor)))
        ctx.others = [value for value in wanted if not isinstance(value, torch.Tensor)]

    def _gradients(self, ctx: Any, *gradients: torch.Tensor) -> tuple[Any, ...]:
        tensors, others = iter(ctx.saved_tensors), iter(ctx.others)
        saved = [next(tensors) if is_tensor else next(others) for is_tensor in ctx.is_tensor]
        # `sum().backward()` gives a gradient of one number with strides of 0.
        given = [gradient.contiguous() for gradient in gradients]
        found = self.run(*given, *saved)
        found = found if isinstance(found, tuple) else (found,)
        by_name = dict(zip(self.targets, found, strict=True))
        return tuple(by_name.get(name) for name in self.parameters)


def _count_results(annotation: Any) -> int:
    """How many tensors a return annotation stands for."""
    arguments = getattr(annotation, "__args__", None)
    return len(arguments) if arguments and annotation is not torch.Tensor else 1
