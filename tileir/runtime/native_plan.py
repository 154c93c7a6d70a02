"""A kernel's metadata as the native launcher reads it."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from ..errors import LaunchError
from .expressions import Environment, evaluate, instructions
from .launch import launch_config, normalize_grid
from .metadata import HiddenParameter, HiddenScalar, KernelInfo
from .tensor_map import TensorMapRecipe
from .tensor_map_encoding import codes


class _Hidden(IntEnum):
    """`Hidden::Kind` of native/plan.h."""

    MAP = 0
    SCALAR = 1
    WORKSPACE = 2


def describe(
    info: KernelInfo, function: int, cu: Any, workspaces: Callable[[int, int, int, int], int]
) -> tuple[Any, ...]:
    """The arguments of the native `Plan`.

    `function` is the driver's handle, `cu` cuda.bindings.driver; `workspaces` gives memory for a
    context, a stream, a slot and a number of bytes.
    """
    return (
        info.name,
        function,
        info.block,
        info.dynamic_shared_bytes,
        len(info.parameters),
        [instructions(extent) for extent in info.grid],
        [instructions(extent) for extent in info.cluster],
        [_hidden(one, cu) for one in info.hidden],
        workspaces,
    )


def _hidden(parameter: HiddenParameter, cu: Any) -> tuple[_Hidden, Any, bool]:
    if isinstance(parameter, TensorMapRecipe):
        return _Hidden.MAP, _tensor_map(parameter, cu), False
    if isinstance(parameter, HiddenScalar):
        return _Hidden.SCALAR, instructions(parameter.value), False
    return _Hidden.WORKSPACE, instructions(parameter.bytes), parameter.zeroed


def _tensor_map(recipe: TensorMapRecipe, cu: Any) -> tuple[Any, ...]:
    kind, swizzle, fill = codes(cu, recipe)
    return (
        kind,
        recipe.base,
        swizzle,
        fill,
        instructions(recipe.offset),
        [instructions(extent) for extent in recipe.dims],
        [instructions(stride) for stride in recipe.strides],
        [instructions(extent) for extent in recipe.box],
        recipe.element_strides,
    )


def explain(info: KernelInfo, grid: Any, words: list[int], multiprocessors: int) -> LaunchError:
    """Why the native launcher found that a launch cannot be: the same, computed again here."""
    try:
        environment = Environment(words, normalize_grid(grid), multiprocessors)
        launch_config(info, environment)
        for parameter in info.hidden:
            if isinstance(parameter, TensorMapRecipe):
                parameter.instantiate(environment)
            elif isinstance(parameter, HiddenScalar):
                evaluate(parameter.value, environment)
            else:
                evaluate(parameter.bytes, environment)
    except LaunchError as error:
        return error
    return LaunchError(
        f"kernel '{info.name}': the driver refuses a tensor map for parameters {words}"
    )
