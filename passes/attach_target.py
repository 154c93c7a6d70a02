"""attach-target: record the architecture on the module."""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.target import Target
from tileir.ir import IntegerAttr, IntegerType, Operation, StringAttr, UnitAttr
from tileir.passes.base import ModulePass

TARGET_ATTRIBUTE = "tile_gpu.target"
OPT_LEVEL_ATTRIBUTE = "tile_gpu.opt_level"
MANAGED_ATTRIBUTE = "tile_gpu.managed"


@dataclass(frozen=True)
class AttachTarget(ModulePass):
    """Record the GPU architecture and optimisation level on the module.

    Later passes read the architecture from there, so that a file written after any stage says
    what it was compiled for. A module that names a target keeps it unless `chip` is given.
    `managed`: our launcher starts the kernels, so that they may have parameters of their own.
    """

    name = "attach-target"

    chip: str = ""
    opt_level: int = 3
    managed: bool = False

    def apply(self, module: Operation) -> None:
        attributes = module.attributes
        if self.chip or TARGET_ATTRIBUTE not in attributes:
            target = Target.parse(self.chip or "sm_90a")
            attributes[TARGET_ATTRIBUTE] = StringAttr.get(str(target), module.context)
        i32 = IntegerType.get_signless(32, module.context)
        attributes[OPT_LEVEL_ATTRIBUTE] = IntegerAttr.get(i32, self.opt_level)
        if self.managed:
            attributes[MANAGED_ATTRIBUTE] = UnitAttr.get(module.context)


def target_of(module: Operation) -> Target:
    """The target recorded on the module, sm_90a if there is none."""
    if TARGET_ATTRIBUTE not in module.attributes:
        return Target.parse("sm_90a")
    return Target.parse(StringAttr(module.attributes[TARGET_ATTRIBUTE]).value)


def opt_level_of(module: Operation) -> int:
    """The optimisation level recorded on the module, 3 if there is none."""
    if OPT_LEVEL_ATTRIBUTE not in module.attributes:
        return 3
    return IntegerAttr(module.attributes[OPT_LEVEL_ATTRIBUTE]).value


def is_managed(module: Operation) -> bool:
    """Whether our launcher starts the kernels, and may pass parameters that the program lacks."""
    return MANAGED_ATTRIBUTE in module.attributes
