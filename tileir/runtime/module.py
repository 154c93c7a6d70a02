"""Loaded machine code and its kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .. import trace
from ..errors import LaunchError
from .device_memory import Workspaces
from .driver import Device, Driver, LaunchConfig, cuda_driver
from .launch import PreparedLaunch, launch_kernel, prepare_launch
from .metadata import KernelInfo
from .targets import ImageTarget


class Image:
    """A cubin or PTX text with the kernels in it, not yet loaded."""

    def __init__(self, code: bytes, kernels: Iterable[KernelInfo], name: str = "kernel image"):
        self.code = code
        self.name = name
        self.kernels = {info.name: info for info in kernels}
        targets = {info.target for info in self.kernels.values()}
        if len(targets) != 1:
            raise LaunchError(f"{name} should have kernels for one target, found {sorted(targets)}")
        self.target = targets.pop()

    @property
    def is_cubin(self) -> bool:
        return self.code.startswith(b"\x7fELF")

    def runs_on(self, capability: tuple[int, int]) -> bool:
        target = ImageTarget.parse(self.target)
        if self.is_cubin:
            return target.runs_cubin_on(capability)
        return target.runs_ptx_on(capability)


class Kernel:
    """A kernel ready to launch: `kernel.launch(grid, args)`.

    It may have images for several targets; the first launch on a device picks and loads one.
    """

    def __init__(self, name: str, images: Sequence[Image], loader: Loader):
        self.name = name
        self.images = [image for image in images if name in image.kernels]
        self._loader = loader

    @property
    def info(self) -> KernelInfo:
        """The description of the first image's kernel; parameters are the same in all."""
        return self.images[0].kernels[self.name]

    def launch(self, grid: int | Sequence[int], args: Sequence[Any], stream: Any = None) -> None:
        """Runs the kernel on `grid` (`x`, `(x, y)` or `(x, y, z)`) with the entry's parameters.

        NumPy arrays in `args` are copied to the device and back, and the call waits for that;
        arrays on the device (DLPack, `__cuda_array_interface__`) are not copied, and the call
        returns once the kernel is queued on `stream`.  Raises `LaunchError`.
        """
        with trace.slice("launch", "launch", kernel=self.name, grid=grid):
            launch_kernel(*self._loaded(), grid, args, stream, self._loader.workspaces)

    def prepare(
        self, grid: int | Sequence[int], args: Sequence[Any], stream: Any = None
    ) -> PreparedLaunch:
        """The same launch, to be started many times: `prepared.start()`.

        Arrays must lie on the device and stay where they are; scalars, grid and stream are fixed.
        Raises `LaunchError`.
        """
        return prepare_launch(*self._loaded(), grid, args, stream, self._loader.workspaces)

    def _loaded(self) -> tuple[Driver, Device, Any, KernelInfo]:
        """The kernel's function on the current device."""
        driver = self._loader.driver
        device = driver.device()
        image = self._loader.choose(self.images, device, self.name)
        info = image.kernels[self.name]
        return driver, device, self._loader.function(image, info, device), info


class Loader:
    """Loads images on first use and remembers their kernels, per context."""

    def __init__(self, driver: Driver | None = None):
        self._driver = driver
        self._libraries: dict[int, Any] = {}
        self._functions: dict[tuple[int, int, str], Any] = {}
        self._workspaces: Workspaces | None = None

    @property
    def driver(self) -> Driver:
        if self._driver is None:
            self._driver = cuda_driver()
        return self._driver

    @property
    def workspaces(self) -> Workspaces:
        if self._workspaces is None:
            self._workspaces = Workspaces(self.driver)
        return self._workspaces

    def choose(self, images: Sequence[Image], device: Device, name: str) -> Image:
        """The image that suits the device best: machine code before PTX, the closest target."""
        fitting = [image for image in images if image.runs_on(device.capability)]
        if not fitting:
            major, minor = device.capability
            have = ", ".join(
                f"{image.target} {'cubin' if image.is_cubin else 'PTX'}" for image in images
            )
            raise LaunchError(
                f"kernel '{name}' has no image for {device.name} (compute capability "
                f"{major}.{minor}); there is: {have}",
                remedy=f"compile it for sm_{major}{minor} as well",
            )
        return max(
            fitting,
            key=lambda image: (image.is_cubin, ImageTarget.parse(image.target).closeness()),
        )

    def function(self, image: Image, info: KernelInfo, device: Device) -> Any:
        key = (id(image), device.context, info.name)
        if key not in self._functions:
            if id(image) not in self._libraries:
                with trace.slice("load", "launch", kernel=info.name):
                    self._libraries[id(image)] = self.driver.load(image.code, image.name)
            # Clusters that a launch works out are small: they need no permission.
            x, y, z = (count if isinstance(count, int) else 1 for count in info.cluster)
            config = LaunchConfig((1, 1, 1), info.block, (x, y, z), info.dynamic_shared_bytes)
            self._functions[key] = self.driver.function(
                self._libraries[id(image)], info.name, config
            )
        return self._functions[key]


class KernelSet:
    """Kernels by name, from one image or several."""

    def __init__(self, images: Sequence[Image], driver: Driver | None = None):
        self.images = list(images)
        self._loader = Loader(driver)

    def __getitem__(self, name: str) -> Kernel:
        if name not in self.names():
            raise LaunchError(
                f"there is no kernel '{name}'", remedy=f"kernels: {', '.join(self.names())}"
            )
        return Kernel(name, self.images, self._loader)

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def names(self) -> list[str]:
        return sorted({name for image in self.images for name in image.kernels})


def load_program(program: Any, driver: Driver | None = None) -> KernelSet:
    """The kernels of a compiled `tileir.Program`, from its cubin."""
    return KernelSet([Image(program.cubin, program.kernels.values(), "program")], driver)
