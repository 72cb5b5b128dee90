# SPDX-License-Identifier: GPL-3.0-or-later
"""Elias, "Inverse Kinematics - Improved Methods": the configuration space of a two-link arm, and ways through it."""

from math import acos, atan2, cos, degrees, hypot, pi, sin
from random import Random
from typing import NamedTuple

import numpy as np
from mathutils import Vector

from ik_triangulation.kinematics.rotation import about
from ik_triangulation.solvers import SOLVERS

from .page import Claim, picture, table
from .planar import planar_chain

LENGTH = 10.0  # of both links
NEAR = 0.1  # of the target: the source's loops end there
CAP = 3000
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
    """Ways of each method through the angles [rad] for the picture's target, and its numbers of steps for all tasks."""

    ways: dict
    steps: dict
    tasks: int


def measure(quick):
    """The way of each method for the picture, and how many steps each takes for random starts and targets."""
    random = Random(4)
    tasks = []
    while len(tasks) < (8 if quick else 100):
        x, y = (random.uniform(-2.0 * LENGTH, 2.0 * LENGTH) for _ in range(2))
        if hypot(x, y) <= 2.0 * LENGTH:
            tasks.append(((random.uniform(-pi, pi), random.uniform(-pi, pi)), (x, y)))
    ways = {solver: follow(solver, START, TARGET) for solver in METHODS}
    steps = {solver: [len(follow(solver, *task)) - 1 for task in tasks] for solver in METHODS}
    return Found(ways, steps, len(tasks))


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
- Measured and calculated gradients are the same, and so are their steps.
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
