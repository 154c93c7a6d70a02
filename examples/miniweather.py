"""A thermal that rises through still air: compressible flow in two dimensions, in tile kernels.

    python examples/miniweather.py                      # on the GPU if there is one
    python examples/miniweather.py --nx 1024 --nz 512 --seconds 1000

After Matthew Norman's mini application miniWeather: the Euler equations for density, momentum
and potential temperature as perturbations of a hydrostatic atmosphere of constant potential
temperature, in a box that is periodic in x and closed at the bottom and the top. Fluxes through
the faces of cells are interpolated to fourth order and damped by a fourth derivative
(hyperviscosity); a time step is a step along x and one along z, in turns, each by three stages of a
Runge-Kutta method.

The kernels are below; `NumpyModel` does the same with whole arrays. The script runs both, prints
how far they are apart and writes a picture of the potential temperature.
"""

from __future__ import annotations

import argparse
import struct
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import tileir.lang as ct

GRAVITY = 9.8  # m/s^2
CP, CV, R = 1004.0, 717.0, 287.0  # heat capacities and gas constant of dry air, J/(kg K)
GAMMA = CP / CV
P0, THETA0 = 1e5, 300.0  # pressure at the ground, Pa; potential temperature, K
C0 = R**GAMMA * P0 ** (-R / CV)  # pressure is C0 (density * theta)^GAMMA
WIDTH, HEIGHT = 20e3, 10e3  # of the box, m
FASTEST = 450.0  # m/s, speed of sound and wind
COURANT = 1.5
DAMPING = 0.05
HALO = 2  # cells beyond each edge
DENSITY, MOMENTUM_X, MOMENTUM_Z, DENSITY_THETA = range(4)

Int = ct.Constant[int]
Float = ct.Constant[float]


# ---- tile kernels --------------------------------------------------------------------------------
#
# A state is an array [variable, z, x] with a halo. A block advances one tile of cells; it sees the
# cells around by loading the same tile from slices of the array that are shifted.


def shifted(state, dz, dx):
    """The interior of a state, as seen from cells that lie (dz, dx) off."""
    rows, columns = state.shape[1] - 2 * HALO, state.shape[2] - 2 * HALO
    inside = state.slice(1, HALO + dz, HALO + dz + rows)
    return inside.slice(2, HALO + dx, HALO + dx + columns)


def load_cells(state, dz, dx, shape):
    """The four variables of the block's cells."""
    cells = shifted(state, dz, dx)
    k, i = ct.bid(0), ct.bid(1)
    return (
        ct.load(cells, (DENSITY, k, i), (1, *shape)).reshape(shape),
        ct.load(cells, (MOMENTUM_X, k, i), (1, *shape)).reshape(shape),
        ct.load(cells, (MOMENTUM_Z, k, i), (1, *shape)).reshape(shape),
        ct.load(cells, (DENSITY_THETA, k, i), (1, *shape)).reshape(shape),
    )


def load_column(profile, offset, rows, length):
    """A profile over z, for the rows of the block."""
    part = profile.slice(0, offset, offset + rows)
    return ct.load(part, (ct.bid(0),), (length,)).reshape((length, 1))


def at_face(a, b, c, d):
    """A variable on the face between b and c, to fourth order."""
    return (7.0 * (b + c) - (a + d)) / 12.0


def third_difference(a, b, c, d):
    return (d - a) + 3.0 * (b - c)


def pressure(density_theta):
    return C0 * ct.pow(density_theta, GAMMA)


def flux_x(a, b, c, d, density0, density_theta0, damping):
    """What flows through the faces between cells b and c, that lie along x."""
    density = at_face(a[0], b[0], c[0], d[0]) + density0
    momentum = at_face(a[1], b[1], c[1], d[1])
    speed = momentum / density
    density_theta = at_face(a[3], b[3], c[3], d[3]) + density_theta0
    return (
        momentum + damping * third_difference(a[0], b[0], c[0], d[0]),
        momentum * speed
        + pressure(density_theta)
        + damping * third_difference(a[1], b[1], c[1], d[1]),
        at_face(a[2], b[2], c[2], d[2]) * speed
        + damping * third_difference(a[2], b[2], c[2], d[2]),
        density_theta * speed + damping * third_difference(a[3], b[3], c[3], d[3]),
    )


def flux_z(a, b, c, d, density0, density_theta0, closed, damping):
    """The same along z. Through faces that are `closed` nothing flows, but there is pressure."""
    density = at_face(a[0], b[0], c[0], d[0]) + density0
    momentum = ct.where(closed, 0.0, at_face(a[2], b[2], c[2], d[2]))
    speed = momentum / density
    density_theta = at_face(a[3], b[3], c[3], d[3]) + density_theta0
    return (
        momentum + damping * ct.where(closed, 0.0, third_difference(a[0], b[0], c[0], d[0])),
        at_face(a[1], b[1], c[1], d[1]) * speed
        + damping * third_difference(a[1], b[1], c[1], d[1]),
        momentum * speed
        + (pressure(density_theta) - pressure(density_theta0))
        + damping * third_difference(a[2], b[2], c[2], d[2]),
        density_theta * speed + damping * third_difference(a[3], b[3], c[3], d[3]),
    )


def store_cells(out, values, shape):
    cells = shifted(out, 0, 0)
    k, i = ct.bid(0), ct.bid(1)
    for variable in ct.static_iter(range(4)):
        ct.store(cells, (variable, k, i), values[variable].reshape((1, *shape)))


@ct.kernel
def advance_x(
    initial, state, out, density0, density_theta0, dt: Float, dx: Float, damping: Float,
    TZ: Int, TX: Int,
):  # fmt: skip
    """out = initial + dt * (tendency of state along x)."""
    shape = (TZ, TX)
    rows = out.shape[1] - 2 * HALO
    mean = load_column(density0, HALO, rows, TZ)
    mean_theta = load_column(density_theta0, HALO, rows, TZ)
    west2, west = load_cells(state, 0, -2, shape), load_cells(state, 0, -1, shape)
    here, old = load_cells(state, 0, 0, shape), load_cells(initial, 0, 0, shape)
    east, east2 = load_cells(state, 0, 1, shape), load_cells(state, 0, 2, shape)
    flow_in = flux_x(west2, west, here, east, mean, mean_theta, damping)
    flow_out = flux_x(west, here, east, east2, mean, mean_theta, damping)
    change = dt / dx
    store_cells(
        out,
        (
            old[0] + change * (flow_in[0] - flow_out[0]),
            old[1] + change * (flow_in[1] - flow_out[1]),
            old[2] + change * (flow_in[2] - flow_out[2]),
            old[3] + change * (flow_in[3] - flow_out[3]),
        ),
        shape,
    )


@ct.kernel
def advance_z(
    initial, state, out, density0, density_theta0, dt: Float, dz: Float, damping: Float,
    TZ: Int, TX: Int,
):  # fmt: skip
    """The same along z; the profiles are those at the faces, and gravity pulls."""
    shape = (TZ, TX)
    rows = out.shape[1] - 2 * HALO
    row = (ct.bid(0) * TZ + ct.arange(TZ, dtype=ct.int32)).reshape((TZ, 1))
    south2, south = load_cells(state, -2, 0, shape), load_cells(state, -1, 0, shape)
    here, old = load_cells(state, 0, 0, shape), load_cells(initial, 0, 0, shape)
    north, north2 = load_cells(state, 1, 0, shape), load_cells(state, 2, 0, shape)
    flow_in = flux_z(
        south2, south, here, north,
        load_column(density0, 0, rows, TZ), load_column(density_theta0, 0, rows, TZ),
        row == 0, damping,
    )  # fmt: skip
    flow_out = flux_z(
        south, here, north, north2,
        load_column(density0, 1, rows, TZ), load_column(density_theta0, 1, rows, TZ),
        row == rows - 1, damping,
    )  # fmt: skip
    change = dt / dz
    store_cells(
        out,
        (
            old[0] + change * (flow_in[0] - flow_out[0]),
            old[1] + change * (flow_in[1] - flow_out[1]),
            old[2] + change * (flow_in[2] - flow_out[2]) - dt * GRAVITY * here[0],
            old[3] + change * (flow_in[3] - flow_out[3]),
        ),
        shape,
    )


@ct.kernel
def wrap_x(state, TZ: Int):
    """The halo in x: the box is periodic."""
    variable, k = ct.bid(0), ct.bid(1)
    last = state.shape[2] // HALO - 1  # in columns of HALO cells
    ct.store(state, (variable, k, 0), ct.load(state, (variable, k, last - 1), (1, TZ, HALO)))
    ct.store(state, (variable, k, last), ct.load(state, (variable, k, 1), (1, TZ, HALO)))


def mirror(state, density0, i, inside, halo, shape):
    """One halo in z, from row `halo * HALO` on: as row `inside`, but nothing moves up or down."""
    mean = ct.load(density0, (inside,), (1,)).reshape((1, 1, 1))
    means = ct.load(density0, (halo,), (HALO,)).reshape((1, HALO, 1))
    one = (1, 1, shape[2])
    density = ct.load(state, (DENSITY, inside, i), one)
    speed = ct.load(state, (MOMENTUM_X, inside, i), one) / mean
    theta = ct.load(state, (DENSITY_THETA, inside, i), one)
    ct.store(state, (DENSITY, halo, i), ct.broadcast_to(density, shape))
    ct.store(state, (MOMENTUM_X, halo, i), speed * means)
    ct.store(state, (MOMENTUM_Z, halo, i), ct.zeros(shape, dtype=state.dtype))
    ct.store(state, (DENSITY_THETA, halo, i), ct.broadcast_to(theta, shape))


@ct.kernel
def close_z(state, density0, TX: Int):
    """The halo in z: the bottom and the top of the box."""
    rows, shape = state.shape[1], (1, HALO, TX)
    mirror(state, density0, ct.bid(0), HALO, 0, shape)
    mirror(state, density0, ct.bid(0), rows - HALO - 1, rows // HALO - 1, shape)


# ---- the model -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Box:
    """Cells, time step and atmosphere; arrays are of `dtype`."""

    nx: int
    nz: int
    dtype: str = "float32"

    @property
    def dx(self) -> float:
        return WIDTH / self.nx

    @property
    def dz(self) -> float:
        return HEIGHT / self.nz

    @property
    def dt(self) -> float:
        return COURANT * min(self.dx, self.dz) / FASTEST

    def damping(self, spacing: float) -> float:
        return DAMPING * spacing / (16 * self.dt)

    def profile(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Density, and density times theta, of the hydrostatic atmosphere."""
        exner = 1 - GRAVITY * z / (CP * THETA0)
        density_theta = (P0 * exner ** (CP / R) / C0) ** (1 / GAMMA)
        return (density_theta / THETA0).astype(self.dtype), density_theta.astype(self.dtype)

    def at_cells(self) -> tuple[np.ndarray, np.ndarray]:
        return self.profile((np.arange(-HALO, self.nz + HALO) + 0.5) * self.dz)

    def at_faces(self) -> tuple[np.ndarray, np.ndarray]:
        return self.profile(np.arange(self.nz + 1) * self.dz)

    def thermal(self) -> np.ndarray:
        """The initial state: air up to 3 K warmer around a point 2 km above the ground."""
        state = np.zeros((4, self.nz + 2 * HALO, self.nx + 2 * HALO), self.dtype)
        x, z = (np.arange(self.nx) + 0.5) * self.dx, (np.arange(self.nz) + 0.5) * self.dz
        distance = np.hypot(x - WIDTH / 2, z[:, None] - 2e3) / 2e3
        warmer = 3 * np.where(distance < 1, np.cos(distance * np.pi / 2) ** 2, 0)
        density = self.at_cells()[0][HALO:-HALO, None]
        state[DENSITY_THETA, HALO:-HALO, HALO:-HALO] = density * warmer
        return state

    def warmth(self, state: np.ndarray) -> np.ndarray:
        """Potential temperature of the cells over that of the atmosphere, K."""
        density, density_theta = (profile[HALO:-HALO, None] for profile in self.at_cells())
        inside = state[:, HALO:-HALO, HALO:-HALO]
        return (inside[DENSITY_THETA] + density_theta) / (inside[DENSITY] + density) - THETA0


class Model(Protocol):
    """A model: it fills halos and adds tendencies, on its own arrays."""

    buffers: list[Any]

    def advance(self, axis: str, initial: Any, state: Any, out: Any, dt: float) -> None: ...


def run(model: Model, steps: int, dt: float) -> Any:
    """The state after so many steps; the order of the axes alternates."""
    state, first, second = model.buffers
    for step in range(steps):
        for axis in ("xz", "zx")[step % 2]:
            model.advance(axis, state, state, first, dt / 3)
            model.advance(axis, state, first, second, dt / 2)
            model.advance(axis, state, second, first, dt)
            state, first = first, state
    return state


class TileModel:
    """The kernels above, on arrays of PyTorch on a GPU, or of NumPy."""

    def __init__(self, box: Box, tile: tuple[int, int] | None = None):
        self.box = box
        self.stream, self._to, best = _device(box)
        self.tile = tile = tile or best
        self.buffers = [self._to(box.thermal()) for _ in range(3)]
        self.cells = [self._to(profile) for profile in box.at_cells()]
        self.faces = [self._to(profile) for profile in box.at_faces()]
        self.grid = (-(-box.nz // tile[0]), -(-box.nx // tile[1]))

    def advance(self, axis: str, initial: Any, state: Any, out: Any, dt: float) -> None:
        box, (tile_z, tile_x) = self.box, self.tile
        if axis == "x":
            rows = -(-state.shape[1] // tile_z)
            ct.launch(self.stream, (4, rows), wrap_x, (state, tile_z))
            args = (*self.cells, dt, box.dx, box.damping(box.dx), *self.tile)
            ct.launch(self.stream, self.grid, advance_x, (initial, state, out, *args))
        else:
            columns = -(-state.shape[2] // tile_x)
            ct.launch(self.stream, (columns,), close_z, (state, self.cells[0], tile_x))
            args = (*self.faces, dt, box.dz, box.damping(box.dz), *self.tile)
            ct.launch(self.stream, self.grid, advance_z, (initial, state, out, *args))


def _device(box: Box) -> tuple[Any, Callable[[np.ndarray], Any], tuple[int, int]]:
    """The stream to launch on, what makes an array there of one of NumPy, and a good tile.

    A block of a GPU keeps a tile in its registers; the interpreter likes few blocks.
    """
    on_cpu = None, np.array, (box.nz, box.nx)
    try:
        import torch
    except ImportError:
        return on_cpu
    if not torch.cuda.is_available():
        return on_cpu
    stream = torch.cuda.current_stream()
    return stream, lambda array: torch.from_numpy(array.copy()).cuda(), (4, 64)


class NumpyModel:
    """The same with whole arrays."""

    def __init__(self, box: Box):
        self.box = box
        self.buffers = [box.thermal() for _ in range(3)]
        self.density0 = box.at_cells()[0][:, None]
        self.cells = [profile[HALO:-HALO, None] for profile in box.at_cells()]
        self.faces = [profile[:, None] for profile in box.at_faces()]

    def advance(self, axis: str, initial: Any, state: Any, out: Any, dt: float) -> None:
        tendency = self._along_x(state) if axis == "x" else self._along_z(state)
        inside = (slice(None), slice(HALO, -HALO), slice(HALO, -HALO))
        out[inside] = initial[inside] + dt * tendency

    def _along_x(self, state: np.ndarray) -> np.ndarray:
        state[:, :, :HALO], state[:, :, -HALO:] = state[:, :, -4:-2], state[:, :, 2:4]
        faces = self.box.nx + 1
        value, third = self._faces(*(state[:, HALO:-HALO, i : i + faces] for i in range(4)))
        speed = value[1] / (value[0] + self.cells[0])
        density_theta = value[3] + self.cells[1]
        flux = np.stack([value[1], value[1] * speed, value[2] * speed, density_theta * speed])
        flux[1] += C0 * density_theta**GAMMA
        flux += self.box.damping(self.box.dx) * third
        return (flux[:, :, :-1] - flux[:, :, 1:]) / self.box.dx

    def _along_z(self, state: np.ndarray) -> np.ndarray:
        for halo, inside in ((slice(0, HALO), HALO), (slice(-HALO, None), -HALO - 1)):
            state[:, halo] = state[:, inside, None]
            state[1, halo] *= self.density0[halo] / self.density0[inside]
            state[2, halo] = 0
        faces = self.box.nz + 1
        value, third = self._faces(*(state[:, k : k + faces, HALO:-HALO] for k in range(4)))
        value[2, [0, -1]] = third[0, [0, -1]] = 0
        speed = value[2] / (value[0] + self.faces[0])
        density_theta = value[3] + self.faces[1]
        flux = np.stack([value[2], value[1] * speed, value[2] * speed, density_theta * speed])
        flux[2] += C0 * density_theta**GAMMA - C0 * self.faces[1] ** GAMMA
        flux += self.box.damping(self.box.dz) * third
        tendency = (flux[:, :-1] - flux[:, 1:]) / self.box.dz
        tendency[2] -= GRAVITY * state[0, HALO:-HALO, HALO:-HALO]
        return tendency

    @staticmethod
    def _faces(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> Any:
        return (7 * (b + c) - (a + d)) / 12, (d - a) + 3 * (b - c)


# ---- the picture ---------------------------------------------------------------------------------


def write_png(path: Path, values: np.ndarray, scale: int = 8) -> None:
    """Values over z and x as a picture: blue below zero, white, red above it."""
    relative = np.clip(values[::-1] / abs(values).max(), -1, 1)
    white = 1 - abs(relative)
    colours = np.stack([np.where(relative > 0, 1, white), white, np.where(relative < 0, 1, white)])
    pixels = (255 * colours).astype(np.uint8).transpose(1, 2, 0).repeat(scale, 0).repeat(scale, 1)
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + b"".join(
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
            for kind, data in chunks
        )
    )


def timed(model: Model, steps: int, dt: float) -> tuple[np.ndarray, float]:
    start = time.perf_counter()
    state = run(model, steps, dt)
    state = state if isinstance(state, np.ndarray) else state.cpu().numpy()
    return state, time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description="A thermal that rises through still air.")
    parser.add_argument("--nx", type=int, default=64, help="cells along x (%(default)s)")
    parser.add_argument("--nz", type=int, default=32, help="cells along z (%(default)s)")
    parser.add_argument("--seconds", type=float, default=300, help="of model time (%(default)s)")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    parser.add_argument("--tile", type=int, nargs=2, metavar=("Z", "X"), help="cells of a block")
    parser.add_argument("--picture", type=Path, default=Path("out/miniweather.png"))
    arguments = parser.parse_args()
    box = Box(arguments.nx, arguments.nz, arguments.dtype)
    steps = round(arguments.seconds / box.dt)
    print(f"{box.nx} x {box.nz} cells, {steps} steps of {box.dt:.3f} s")

    _, seconds = timed(TileModel(box, arguments.tile), 1, box.dt)
    print(f"first step    {seconds:7.2f} s (compiles the kernels)")
    tiles, seconds = timed(TileModel(box, arguments.tile), steps, box.dt)
    print(f"tile kernels  {seconds:7.2f} s")
    arrays, seconds = timed(NumpyModel(box), steps, box.dt)
    print(f"NumPy         {seconds:7.2f} s")
    warmth, reference = box.warmth(tiles), box.warmth(arrays)
    difference = abs(warmth - reference).max()
    print(f"potential temperature {warmth.min():+.3f} to {warmth.max():+.3f} K")
    print(f"largest difference    {difference:.1e} K")
    arguments.picture.parent.mkdir(parents=True, exist_ok=True)
    write_png(arguments.picture, warmth)
    print(f"picture in {arguments.picture}")
    return 0 if difference < 1e-2 else 1


if __name__ == "__main__":
    sys.exit(main())
