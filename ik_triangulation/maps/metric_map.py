# SPDX-License-Identifier: GPL-3.0-or-later
"""Metric maps: a plane through the root with a target at each pixel, coloured by the cost of its solution, as pictures.

Source: Cardwell and Mukundan, "Visualization and Analysis of Inverse Kinematics Algorithms Using Performance Metric
Maps", section 4. Lengths are shares of the chain's reach, which is the radius of the image, so that maps of chains of
any size can be compared. Targets are the centres of the pixels, and those outside the disc are left out.

The hue scale is theirs as well. The others interpolate a few colours linearly in Ottosson's OKLab (2020, "A perceptual
color space for image processing"), with perceptually uniform steps; their lightness increases throughout, so that they
can be read in greyscale as well. Arrays of colours are bytes of shape (height, width, 4): red, green, blue and alpha,
top row first.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from math import pi
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Image, Object, ViewLayer
from mathutils import Vector
from numpy.typing import NDArray

from ..cooperative import Job, cooperative
from ..errors import ChainError, SettingError
from ..goals import Goal, Point
from ..kinematics import Pose
from ..kinematics.arrays import Mask, Numbers
from ..kinematics.rotation import orthogonal
from ..rig.armature import Bones, base_of, bones_in_line, channels_of
from ..rig.checks import check_armature
from ..rig.safe_files import write_file
from ..solvers import Solution, SolverSettings, solve_goal
from .many_targets import Grid, SolvedTargets, solve_targets
from .properties import LABELS

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
Places = NDArray[np.complex128]

PAPER_SETTINGS = SolverSettings(solver="CCD", iterations=10, finish=False)
_NOWHERE = 1e-6  # of the reach: the direction of a shorter vector is not reliable in single precision

_VIOLET_TO_YELLOW = np.array([(0.27, 0.12, 0.47), (0.14, 0.44, 0.60), (0.30, 0.70, 0.42), (0.98, 0.92, 0.30)])
_PLUM_TO_CREAM = np.array([(0.25, 0.14, 0.38), (0.66, 0.20, 0.38), (0.94, 0.52, 0.22), (0.99, 0.95, 0.72)])

# Linear sRGB to cone responses, and their cube roots to OKLab.
_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)

_UNITS = {"error": (100.0, "%"), "travel": (100.0, "%"), "total_angle": (180.0 / pi, "°")}  # of the reach, degrees
_NAMES = {"HUE": ("blue", "red"), "VIOLET_YELLOW": ("violet", "yellow"), "PLUM_CREAM": ("plum", "cream")}
# Glyphs of five rows of three dots, top row first, one bit for each dot.
_DOTS = {
    **dict(zip("0123456789", (31599, 11415, 29671, 29647, 23497, 31183, 31215, 29330, 31727, 31695), strict=True)),
    ".": 2,
    "-": 0o00700,
    "e": 0o75747,
    "%": 21157,
    "°": 10880,
}
_SHARE = 8  # height of the picture divided by that of the strip
_TIGHT = 60  # width of the picture in pixels divided by the scale of the digits

_LONGEST = 63  # bytes of a name
_LIGHT = 0.4  # lightness from which lines are black; blue, the darkest of the hues, has 0.45


def write_npy(path: Path | str, values: NDArray[Any]) -> None:
    """Write an array as numpy.load() reads it, without appending .npy to the name as numpy does. Raises OSError."""
    content = BytesIO()
    np.save(content, values)
    write_file(path, content.getvalue())


class Metrics(NamedTuple):
    """The cost of each target; arrays of the same shape.

    `error` and `travel` are shares of the reach, `total_angle` is in radians; the costs are those of kinematics.Cost.
    """

    iterations: Counts
    error: Numbers
    reached: Flags
    turns: Counts
    total_angle: Numbers
    travel: Numbers


METRICS = Metrics._fields


@dataclass(frozen=True)
class MetricMap:
    """Metrics of the solution for each pixel's target.

    `metrics` are square arrays, top row first: iterations out of `attempts` (plus those of finish=True, if any), error
    and travel as shares of the reach, the total angle in radians. Outside the disc, where `inside` is False, all are 0.
    """

    metrics: Metrics
    inside: Flags
    attempts: int

    @property
    def coverage(self) -> float:
        """Percent of the pixels inside the disc that were reached."""
        return 100.0 * float(self.metrics.reached.sum() / self.inside.sum())

    def metric(self, name: str) -> Numbers:
        """Return an array by its name, as floating point numbers. Raises SettingError for a name not in METRICS."""
        return numbers_of(self.metrics, name)

    def image(
        self, metric: str = "iterations", scale: str = "HUE", greatest: float | None = None, contours: int = 0
    ) -> NDArray[np.uint8]:
        """Return the map as bytes of shape (size, size, 4), red green blue and opacity; transparent outside the disc.

        The scale begins at one iteration, or 0 of another metric, and ends at the last attempt, the greatest value or
        `greatest`; so many `contours` are drawn between these. Targets that were not reached are black, except in the
        map of the error. Raises SettingError for an unknown metric or colour scale.
        """
        check_shown(metric, scale)
        shown = self._shown(metric)
        least, most = self.ends(metric)
        most = most if greatest is None else greatest
        scaled = coloured(self.metric(metric), scale, least, most)
        scaled = lined(scaled, contour_lines(self.metric(metric), shown, least, most, contours))
        colours = np.where(shown[..., None], scaled, 0.0)
        return np.rint(255.0 * np.dstack((colours, self.inside))).astype(np.uint8)

    def ends(self, metric: str) -> tuple[float, float]:
        """Return the values at both ends of the colours of image(). Raises SettingError for an unknown metric."""
        greatest = self.metric(metric).max(where=self._shown(metric), initial=0.0)
        return ends_of(metric, float(self.attempts) if metric == "iterations" else float(greatest))

    def _shown(self, metric: str) -> Flags:
        return self.inside if metric == "error" else self.metrics.reached

    def save_png(
        self,
        path: Path | str,
        metric: str = "iterations",
        scale: str = "HUE",
        greatest: float | None = None,
        contours: int = 0,
    ) -> None:
        """Write image() to a file. Raises OSError, and SettingError as image() does."""
        write_png(path, self.image(metric, scale, greatest, contours))

    def save_npy(self, path: Path | str, metric: str = "iterations") -> None:
        """Write one array to a file as numpy.load() reads it, NaN outside the disc. Raises OSError, SettingError."""
        values = np.where(self.inside, self.metric(metric), np.nan)
        write_npy(path, values)


@cooperative
def map_pose(
    start: Pose,
    origin: Vector,
    along: Vector,
    across: Vector,
    settings: SolverSettings = PAPER_SETTINGS,
    *,
    size: int = 300,
    tolerance: float = 0.01,
) -> Job[MetricMap]:
    """Map any chain by solve(), for each pixel from the pose `start`.

    The image lies in the plane through `origin` (its centre), with the orthogonal unit vectors `along` to its right and
    `across` to its top, all in armature space; map_plane() gives those of the chain's own bend. `tolerance` is a share
    of the reach; the default settings are those of the paper, 10 sweeps of CCD without Finish. With Finish all pixels
    are solved together (see solve_targets()), unless bones are scaled. Progress counts rows. Raises SettingError for a
    size below one pixel, ChainError for a chain without length, and both as solve() does.
    """
    reach = reach_of(start)
    places, inside = pixels(size)
    if settings.finish and start.chain.plain:
        disc = places[inside] * reach
        centre, right, up = (np.array(vector, float)[:, None] for vector in (origin, along, across))
        targets = centre + right * disc.real + up * disc.imag
        work = solve_targets(start, targets, Grid(inside, 2.0 / size), settings, tolerance * reach)
        return laid_out((yield from metrics_from(work, reach, size)), inside, settings.iterations)
    rows = []
    for number, (row, within) in enumerate(zip(places, inside, strict=True)):
        for place in row[within]:
            target = origin + (along * place.real + across * place.imag) * reach
            goal = Goal(Point(target), tolerance=tolerance * reach)
            rows.append(metrics_of(solve_goal(start, goal, settings), reach))
            yield number, size
        yield number + 1, size
    return laid_out(Metrics(*map(np.array, zip(*rows, strict=True))), inside, settings.iterations)


def metrics_from(work: Generator[float, None, SolvedTargets], reach: float, parts: int) -> Job[Metrics]:
    """Run solve_targets() as a job of `parts`; returns the metrics, lengths as shares of the reach."""
    done = 0
    yield done, parts
    while True:
        try:
            share = next(work)
        except StopIteration as end:
            solved: SolvedTargets = end.value
            break
        done = max(done, int(share * parts))
        yield done, parts
    yield parts, parts
    return Metrics(*solved._replace(error=solved.error / reach, travel=solved.travel / reach))


def reach_of(start: Pose) -> float:
    """Return the reach of a pose's chain. Raises ChainError if it is zero."""
    if not start.chain.reach > 0.0:
        raise ChainError("A chain without length has no map. Choose bones that have a length.")
    return start.chain.reach


def metrics_of(solution: Solution, reach: float) -> tuple[int, float, bool, int, float, float]:
    """Return the metrics of a solution, lengths as shares of the reach."""
    cost, error = solution.cost, solution.error / reach
    return solution.iterations, error, solution.reached, cost.turns, cost.total_angle, cost.travel / reach


def ends_of(metric: str, greatest: float) -> tuple[float, float]:
    """Return the values at which colours begin and end: they begin at one iteration, or 0 of another metric."""
    return 1.0 if metric in ("iterations", "reached") else 0.0, greatest


def numbers_of(metrics: Metrics, name: str) -> Numbers:
    """Return a metric by its name, as floating point numbers. Raises SettingError for a name not in METRICS."""
    check_shown(name)
    return np.asarray(getattr(metrics, name), dtype=float)


def check_shown(metric: str, scale: str = "HUE") -> None:
    """Raise SettingError for an unknown metric or colour scale."""
    if metric not in METRICS:
        raise SettingError(f"Metric '{metric}' is unknown. Choose one of {', '.join(METRICS)}.")
    if scale not in SCALES:
        raise SettingError(f"Color scale '{scale}' is unknown. Choose one of {', '.join(SCALES)}.")


def coloured(values: Numbers, scale: str, least: float, greatest: float) -> NDArray[np.float64]:
    """Return the colours of values, sRGB in 0..1."""
    span = greatest - least
    return SCALES[scale](np.clip((values - least) / span, 0.0, 1.0) if span > 0.0 else np.zeros(values.shape))


def map_plane(pose: Pose) -> tuple[Vector, Vector, Vector]:
    """Return the plane in which a pose is bent: root, unit vector to the tip, and unit vector to the largest bend.

    For a straight pose it is the plane of the root's bend axis. Armature space, as map_pose() takes it.
    """
    root, nowhere = pose.head(0), _NOWHERE * pose.chain.reach
    to_tip = pose.tip - root
    along = (to_tip if to_tip.length > nowhere else pose.link(0)).normalized()
    knees = (pose.head(i) - root for i in range(1, len(pose)))
    bend = max((knee - along * knee.dot(along) for knee in knees), key=lambda part: part.length, default=Vector())
    across = orthogonal(bend, along) if bend.length > nowhere else None
    return root, along, across or pose.bend(0, along)


def pixels(size: int) -> tuple[Places, Flags]:
    """Return the pixels' centres as complex numbers, the image's edges at +-1, and the mask of those in the disc."""
    if size < 1:
        raise SettingError(f"{size} pixels make no map. Give it a size from 1 up.")
    at = (np.arange(size) + 0.5) / size * 2.0 - 1.0
    places = at[None, :] - 1j * at[:, None]
    return places, abs(places) <= 1.0


def laid_out(solutions: Metrics, inside: Flags, attempts: int) -> MetricMap:
    """Arrange the metrics of the pixels inside the disc, row by row, as a map."""

    def square(values: NDArray[Any]) -> NDArray[Any]:
        array = np.zeros(inside.shape, dtype=values.dtype)
        array[inside] = values
        return array

    return MetricMap(Metrics(*map(square, solutions)), inside, attempts)


@cooperative
def map_chain(
    armature: Object,
    bones: Sequence[str],
    solver: str = "TRIANGULATION",
    size: int = 100,
    *,
    tolerance: float = 0.01,
    iterations: int = 20,
    finish: bool = True,
    view_layer: ViewLayer | None = None,
) -> Job[MetricMap]:
    """Return the metric map of a chain of bones, starting from its current pose, in the plane in which it is bent.

    Bones between those named keep their pose. `tolerance` is a share of the reach; with `finish` a place that the
    solver alone does not reach is refined. Progress counts rows. Raises an IKError that names the culprit.
    """
    start = pose_of(armature, bones, view_layer or bpy.context.view_layer)
    settings = SolverSettings(solver=solver, iterations=iterations, finish=finish)
    return (yield from map_pose.steps(start, *map_plane(start), settings, size=size, tolerance=tolerance))


def pose_of(armature: Object, bones: Sequence[str], view_layer: ViewLayer) -> Pose:
    """Return the evaluated pose of a chain of bones, armature space; bones between those named are not joints.

    Raises ChainError unless they are one line of parents, RigError for an armature that cannot be read.
    """
    view_layer.update()
    check_armature(armature, view_layer)
    shown = armature.evaluated_get(view_layer.depsgraph)
    line = bones_in_line(armature, bones)
    return Bones(armature, line, bones).pose(base_of(shown, line[0]), channels_of(shown, line))


def hue(shares: Numbers) -> Numbers:
    """Return blue for 0, then cyan, green, yellow, and red for 1; shape (*shares.shape, 3)."""
    sixths = 4.0 * (1.0 - shares[..., None]) + np.array([0.0, 4.0, 2.0])
    colours: Numbers = np.clip(abs(sixths % 6.0 - 3.0) - 1.0, 0.0, 1.0)
    return colours


def uniform(colours: Numbers, shares: Numbers) -> Numbers:
    """Interpolate `colours` (sRGB) so that equal steps of `shares` look equally large."""
    corners = oklab(colours)
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    at = np.cumsum((0.0, *lengths)) / lengths.sum()
    return srgb(np.stack([np.interp(shares, at, corner) for corner in corners.T], axis=-1))


SCALES: dict[str, Callable[[Numbers], Numbers]] = {
    "HUE": hue,
    "VIOLET_YELLOW": partial(uniform, _VIOLET_TO_YELLOW),
    "PLUM_CREAM": partial(uniform, _PLUM_TO_CREAM),
}


def contour_lines(values: Numbers, shown: Mask, least: float, most: float, count: int) -> Mask:
    """Return a mask of the pixels at which `values` pass one of `count` levels, evenly between `least` and `most`.

    A line has the width of a pixel: the one before the level, to the right and downwards. There is none at the border
    of what is `shown`.
    """
    lines = np.zeros(values.shape, bool)
    if count < 1 or not most > least:
        return lines
    bands = np.clip(np.floor((values - least) / (most - least) * (count + 1)), 0, count)
    lines[:, :-1] |= (bands[:, :-1] != bands[:, 1:]) & shown[:, :-1] & shown[:, 1:]
    lines[:-1] |= (bands[:-1] != bands[1:]) & shown[:-1] & shown[1:]
    return lines


def lined(colours: Numbers, lines: Mask) -> Numbers:
    """Return colours (sRGB) with lines: black ones where it is light, white ones where it is dark."""
    light = oklab(colours)[..., :1] > _LIGHT
    return np.where(lines[..., None], np.where(light, 0.0, 1.0), colours)


def oklab(colours: Numbers) -> Numbers:
    """Convert sRGB to OKLab: lightness and two opponent coordinates; the last axis has three entries."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    lab: Numbers = np.cbrt(linear @ _CONES.T) @ _OKLAB.T
    return lab


def srgb(lab: Numbers) -> Numbers:
    """Convert OKLab to sRGB, each channel clamped to 0..1."""
    cones = lab @ np.linalg.inv(_OKLAB).T
    linear = np.clip(cones**3 @ np.linalg.inv(_CONES).T, 0.0, 1.0)
    colours: Numbers = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1.0 / 2.4) - 0.055)
    return colours


def labels(metric: str, least: float, greatest: float) -> tuple[str, str]:
    """Return the values at both ends as text: lengths in percent of the reach, angles in degrees."""
    factor, unit = _UNITS.get(metric, (1.0, ""))
    values = least * factor, greatest * factor
    low, high = (f"{value:.{0 if value >= 100.0 else 3}{'f' if value >= 100.0 else 'g'}}{unit}" for value in values)
    return low, high


def in_words(metric: str, scale: str, least: float, greatest: float) -> str:
    """Return the legend as text: the values and colours at both ends of the scale."""
    low, high = (
        f"{label} ({name})" for label, name in zip(labels(metric, least, greatest), _NAMES[scale], strict=True)
    )
    return f"{LABELS[metric]}: {low}" + (f" to {high}" if greatest > least else "")


def with_strip(picture: NDArray[np.uint8], metric: str, scale: str, least: float, greatest: float) -> NDArray[np.uint8]:
    """Append the colour scale with the values at its ends to a picture (rows, columns, 4), top row first."""
    rows, columns, _ = picture.shape
    height = max(rows // _SHARE, 7)
    strip = np.full((height, columns, 4), 255, np.uint8)
    strip[..., :3] = np.rint(255.0 * SCALES[scale](np.linspace(0.0, 1.0, columns)))
    size = max(1, min(columns // _TIGHT, height // 7))
    for label, at_end in zip(labels(metric, least, greatest), (False, True), strict=True):
        dots = np.kron(_dots(label), np.ones((size, size), bool))
        top, room = (height - dots.shape[0]) // 2, columns - dots.shape[1]
        if room < 2 * size:
            continue
        left = room - size if at_end else size
        part = strip[top : top + dots.shape[0], left : left + dots.shape[1]]
        light = part[..., :3].mean() < 128.0
        part[dots] = (255, 255, 255, 255) if light else (0, 0, 0, 255)
    joined: NDArray[np.uint8] = np.concatenate((picture, strip))
    return joined


def _dots(text: str) -> NDArray[Any]:
    """Render text as a boolean array of dots, with one empty column between glyphs."""
    signs = [[[_DOTS[sign] >> 14 - 3 * row - column & 1 for column in range(3)] for row in range(5)] for sign in text]
    spaced = np.pad(np.array(signs, bool), ((0, 0), (0, 0), (0, 1)))
    return np.concatenate(list(spaced), axis=1)[:, :-1]


def show_image(name: str, colours: NDArray[Any]) -> Image:
    """Return an image of this name with these colours.

    An existing image of the name is reused, unless it was read from a file.
    """
    height, width, _ = colours.shape
    short = name.encode()[:_LONGEST].decode(errors="ignore")  # as Blender 4.5 cuts it
    image = bpy.data.images.get((name, None)) or bpy.data.images.get((short, None))
    if image is None or image.filepath or image.source not in {"GENERATED", "FILE"}:
        image = bpy.data.images.new(name, width, height, alpha=True)
    elif tuple(image.size) != (width, height):
        image.scale(width, height)
    _fill(image, colours)
    return image


def write_png(path: Path | str, colours: NDArray[np.uint8]) -> None:
    """Write colours to a PNG file, byte for byte. Raises OSError.

    Blender encodes the file in memory: where it saves to a full disk itself, it reports no error.
    """
    height, width, _ = colours.shape
    image = bpy.data.images.new("PNG", width, height, alpha=True)
    try:
        _fill(image, colours)
        content = bytes(image.packed_file.data)
    finally:
        bpy.data.images.remove(image)
    write_file(path, content)


def _fill(image: Image, colours: NDArray[Any]) -> None:
    """Set the pixels of an image and pack it as PNG into the .blend file."""
    image.pixels.foreach_set((colours[::-1] / 255.0).astype(np.float32).ravel())  # Blender has the bottom row first
    image.pack()
