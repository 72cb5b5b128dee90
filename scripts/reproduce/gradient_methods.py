# SPDX-License-Identifier: GPL-3.0-or-later
"""Elias, "Inverse Kinematics - Improved Methods": the configuration space of a two-link arm, and ways through it."""

from itertools import pairwise
from math import acos, atan2, cos, degrees, hypot, pi, sin
from random import Random
from typing import NamedTuple

import numpy as np
from mathutils import Vector

from ik_triangulation.kinematics.rotation import about
from ik_triangulation.solvers import SOLVERS
from ik_triangulation.solvers.jacobian import MAX_STEP

from .page import Claim, picture, table
from .planar import planar_chain

LENGTH = 10.0  # of both links
NEAR = 0.1  # of the target: the source's loops end there
CAP = 3000
SAME = 1e-4  # [rad]: what single precision and measuring leave of a step
ACROSS = 0.015  # cosine below which the tip moves across the way to the target
TARGET, START = (9.0, 8.0), (-0.9, -0.9)  # the picture's, the latter as the angles a and b [rad]
AXIS = Vector((0.0, 0.0, 1.0))
METHODS = {
    "GRADIENT": "Method 1, calculated",
    "GRADIENT_MEASURED": "Method 1, measured",
    "GRADIENT_ACCELERATED": "Method 2, corrected",
    "JACOBIAN_TRANSPOSE": "Jacobian transpose",
    "SIMPLEX": "downhill simplex",
    "ROSENBROCK": "Rosenbrock",
}


class Found(NamedTuple):
    """Ways of each method through the angles [rad] for the picture's target, and its numbers of steps for all tasks.

    `off` has, for the methods of LOOPS, the largest difference [rad] of a step from that of the document's loop.
    """

    ways: dict
    steps: dict
    tasks: int
    off: dict


def measure(quick):
    """The way of each method for the picture, and how many steps each takes for random starts and targets."""
    random = Random(4)
    tasks = []
    while len(tasks) < (8 if quick else 100):
        x, y = (random.uniform(-2.0 * LENGTH, 2.0 * LENGTH) for _ in range(2))
        if hypot(x, y) <= 2.0 * LENGTH:
            tasks.append(((random.uniform(-pi, pi), random.uniform(-pi, pi)), (x, y)))
    ways = {solver: follow(solver, START, TARGET) for solver in METHODS}
    all_ways = {solver: [follow(solver, *task) for task in tasks] for solver in METHODS}
    steps = {solver: [len(way) - 1 for way in found] for solver, found in all_ways.items()}
    off = {
        solver: max(loop(way, target) for way, (_, target) in zip(all_ways[solver], tasks, strict=True))
        for solver, loop in LOOPS.items()
    }
    return Found(ways, steps, len(tasks), off)


def slopes(angles, target):
    """Slopes of half the squared distance by a and b, measured as the document does: a trial to either side."""
    trial = 1e-4
    sides = [[0.5 * distance(*(angles + side * np.eye(2)[n]), target) ** 2 for side in (trial, -trial)] for n in (0, 1)]
    return np.array([(more - less) / (2.0 * trial) for more, less in sides])


def step_size(angles, target):
    """Factor from slopes to angles: one over the most that the slopes can change, for links of this length."""
    beyond = np.array((2.0 * LENGTH, LENGTH))
    return 1.0 / (beyond * (beyond + distance(*angles, target))).sum()


def is_singular(angles, target):
    """Tell whether no joint leads towards the target: there the solvers bend the arm, as the document does not."""
    tip = LENGTH * (np.exp(1j * angles[0]) + np.exp(1j * angles.sum()))
    sizes = abs(tip) ** 2 + LENGTH**2
    return (slopes(angles, target) ** 2).sum() < (ACROSS * distance(*angles, target)) ** 2 * sizes


def off_method_1(way, target):
    """Largest difference [rad] of steps from `a -= gradient_a; b -= gradient_b`."""
    pairs = [
        (after, now - slopes(now, target) * step_size(now, target))
        for now, after in pairwise(way)
        if not is_singular(now, target)
    ]
    return _apart(pairs)


def off_method_2(way, target):
    """Largest difference [rad] of steps from the accelerated loop, repaired: speeds grow by the slopes.

    Of an angle whose slope has changed its sign the zero between the last two angles is taken, and the speed is lost.
    """
    speed, before, pairs = np.zeros(2), None, []
    for now, after in pairwise(way):
        if is_singular(now, target):
            speed, before = np.zeros(2), None
            continue
        slope = slopes(now, target)
        passed = np.zeros(2, bool) if before is None else before * slope < 0.0
        back = speed * slope / np.where(passed, slope - (0.0 if before is None else before), 1.0)
        grown = speed + slope * step_size(now, target)
        change = np.clip(np.where(passed, back, -grown), -MAX_STEP, MAX_STEP)
        pairs.append((after, now + change))
        speed, before = np.where(passed, 0.0, -change), slope
    return _apart(pairs)


def _apart(pairs):
    """Largest angle [rad] between pairs of angles."""
    return max((float(np.abs(np.angle(np.exp(1j * (a - b)))).max()) for a, b in pairs), default=0.0)


LOOPS = {"GRADIENT": off_method_1, "GRADIENT_MEASURED": off_method_1, "GRADIENT_ACCELERATED": off_method_2}


def follow(solver, start, target):
    """The angles [rad] after each step, the start first, until the tip is within 0.1 of the target."""
    pose = planar_chain((LENGTH, LENGTH)).rest_pose()
    for joint, angle in enumerate(start):
        pose.put(joint, about(AXIS, angle))
    aim = Vector((*target, 0.0))
    step = SOLVERS[solver].begin()
    way = [angles(pose)]
    while (aim - pose.tip).length > NEAR and len(way) <= CAP:
        step(pose, aim)
        way.append(angles(pose))
    return np.array(way)


def angles(pose):
    """The angles a and b of the arm [rad]."""
    return [2.0 * atan2(rotation.z, rotation.w) for rotation in pose.rotations]


def distance(a, b, target):
    """From tip to target; arrays of angles [rad] are welcome."""
    place = LENGTH * (np.exp(1j * a) + np.exp(1j * (a + b)))
    return abs(place - complex(*target))


def minima(target):
    """The two pairs of angles [rad] at which the tip is on the target."""
    x, y = target
    bend = acos((x * x + y * y) / (2.0 * LENGTH * LENGTH) - 1.0)
    return [(atan2(y, x) - atan2(LENGTH * sin(b), LENGTH + LENGTH * cos(b)), b) for b in (bend, -bend)]


def claims(found):
    """Return the claims about the two-link arm."""
    ends = [distance(*minimum, TARGET) for minimum in minima(TARGET)]
    medians = {solver: np.median(steps) for solver, steps in found.steps.items()}
    return [
        Claim("Gradient: both minima of the two-link arm are on the target", max(ends) < 1e-9),
        Claim(
            "Gradient: every method comes within 0.1 of every target",
            all(max(steps) <= CAP - 1 for steps in found.steps.values()),
        ),
        Claim("Gradient: the accelerated method is faster", medians["GRADIENT_ACCELERATED"] < medians["GRADIENT"]),
        Claim(
            "Gradient: every step of Method 1, calculated or measured, is that of the document's loop",
            max(found.off["GRADIENT"], found.off["GRADIENT_MEASURED"]) < SAME,
        ),
        Claim(
            "Gradient: every step of Method 2 is that of the document's loop, repaired",
            found.off["GRADIENT_ACCELERATED"] < SAME,
        ),
    ]


def section(found):
    """The page's section."""
    rows = [
        (name, len(found.ways[solver]) - 1, f"{np.median(found.steps[solver]):.0f}", max(found.steps[solver]))
        for solver, name in METHODS.items()
    ]
    spots = " and ".join(f"({degrees(a):.1f}, {degrees(b):.1f})" for a, b in minima(TARGET))
    return f"""## Gradient methods

The two-link arm, both links of length {LENGTH:.0f}, here with the target at {TARGET}. The document prints no numbers.
The two minima are at a, b = {spots} degrees.

{picture("gradient-ways.png", "Configuration space of a two-link arm")}

*The error over both angles, dark where the tip is near, with both minima (left); the way of each method from the black
square (right). The general minimizers jump, as they look around between two steps.*

Steps until the tip is within 0.1, from the start of the picture and from {found.tasks} random starts to random targets:

{table(("Method", "Picture", "Median", "Most"), rows)}

- Method 2 as printed never moves: the old gradients are not stored, `ga` and `gb` are not defined and b uses the speed
  of a; and it goes back by the wrong fraction. The solver does what is meant.
- The document subtracts gradients in units from angles in degrees, which suits links of length 10. The solvers divide
  by the most that the gradient can change, which suits every chain: no step of Method 1 leads uphill.
- Measured and calculated gradients are the same, and so are their steps. The steps of both methods are compared, one
  by one, with the document's loops written out for two angles. Where no joint leads towards the target, which the
  document does not treat, the solvers bend the arm.
- A step of the general minimizers is a round of trials: as many as there are angles, and more.
"""


def draw(found, folder):
    """The configuration space with both minima, and the ways of all methods."""
    from matplotlib import pyplot

    grid = np.radians(np.linspace(-180.0, 180.0, 241))
    error = distance(grid[None, :], grid[:, None], TARGET)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 5), layout="constrained")
    left.imshow(error, cmap="gray", extent=(-180, 180, -180, 180), origin="lower")
    for axis in (left, right):
        axis.plot(*np.degrees(minima(TARGET)).T, "o", color="red", markersize=6)
        axis.set(xlabel="a, degrees", ylabel="b, degrees", xlim=(-180, 180), ylim=(-180, 180), aspect="equal")
    right.contour(np.degrees(grid), np.degrees(grid), error, 12, colors="0.8", linewidths=0.7)
    for solver, name in METHODS.items():
        way = np.degrees(found.ways[solver])
        dotted = solver in ("SIMPLEX", "ROSENBROCK")
        style = {"linestyle": ":", "marker": ".", "markersize": 3} if dotted else {"linestyle": "-"}
        width = 3.5 if solver == "GRADIENT" else 1.2  # the measured gradient goes the same way
        right.plot(*way.T, linewidth=width, label=name, **style)
    right.plot(*np.degrees(START), "ks", markersize=5)
    right.legend(fontsize=8, loc="lower left")
    figure.savefig(folder / "gradient-ways.png", dpi=80)
    pyplot.close(figure)
