# SPDX-License-Identifier: GPL-3.0-or-later
"""Mukundan 2009, "A robust inverse kinematics algorithm for animating a joint chain": Tables 1 to 3, and its figures.

Ten links of length 2, straight along the x axis at the start, ten targets in the plane, three methods.
"""

from math import degrees
from typing import NamedTuple

import numpy as np
from mathutils import Vector

from ik_triangulation.kinematics import Pose
from ik_triangulation.solvers import SOLVERS

from . import figures_2009
from .page import Claim, deviation, picture, table
from .planar import planar_chain

LENGTHS = (2.0,) * 10
NEAR, CAP = 0.1, 100  # when the paper's CCD stops
EXACT = 0.5e-3  # what single precision adds to the digits that are printed

# The targets are picks on a screen, whole multiples of 1/12 printed with two decimals.
TARGETS = (
    (182, 55),
    (100, 34),
    (-127, 31),
    (-49, 192),
    (77, -121),
    (-213, 189),
    (40, -156),
    (-13, 83),
    (-100, 4),
    (8, 136),
)
# For each target the rotations over 5 degrees, the sum of all rotations [degrees] and the way of the end effector,
# as printed: cut off, not rounded, after two decimals.
CCD = (
    (12, 512.68, 14.05),
    (9, 668.19, 14.07),
    (49, 2156.80, 72.81),
    (35, 1899.72, 100.64),
    (25, 914.28, 36.80),
    (77, 2753.46, 207.21),
    (37, 1238.17, 57.72),
    (17, 1281.12, 31.22),
    (34, 2067.28, 53.37),
    (28, 1350.44, 40.29),
)
TRIANGULATION = (
    (3, 355.17, 83.34),
    (6, 879.56, 192.76),
    (6, 228.25, 58.27),
    (2, 171.66, 44.69),
    (6, 549.08, 141.94),
    (1, 130.41, 37.39),
    (4, 346.76, 94.92),
    (8, 593.44, 155.56),
    (2, 191.73, 39.21),
    (6, 465.85, 128.15),
)
SINGLE_PASS = (
    (2, 96.09, 19.42),
    (10, 299.94, 46.35),
    (4, 225.05, 52.98),
    (2, 139.43, 34.21),
    (6, 153.99, 26.17),
    (1, 138.41, 37.39),
    (3, 119.74, 25.69),
    (9, 242.92, 34.33),
    (5, 249.20, 56.95),
    (7, 174.50, 31.40),
)
PRINTED = {"CCD": CCD, "TRIANGULATION_2007": TRIANGULATION, "SINGLE_PASS": SINGLE_PASS}
COLUMNS = {"CCD": "CCD", "TRIANGULATION_2007": "triangulation", "SINGLE_PASS": "single pass"}
MISPRINT = 5  # the row of which the sum by triangulation is misprinted: the one rotation is that of the next column
CORRECTED = (1, 138.41, 37.39)
BY_THE_PRINTED_RULE = (0, 1, 3, 4, 5, 9)  # rows whose single pass follows the rule that the paper prints
FIGURES = {9: (-4.08, 16.0), 10: (3.06, 8.91)}


class Found(NamedTuple):
    """For each method three costs a row; for each figure and method the places of the tip and of the final joints.

    `angles` are those of the figures that print one.
    """

    cells: dict
    traces: dict
    angles: figures_2009.Angles


def measure(quick):
    """All cells of all tables, and the traces of the figures."""
    cells = {}
    for solver in PRINTED:
        costs = [solved(solver, x / 12.0, y / 12.0).cost for x, y in TARGETS]
        cells[solver] = [(cost.turns, degrees(cost.total_angle), cost.travel) for cost in costs]
    traces = {}
    for figure, target in FIGURES.items():
        for solver in PRINTED:
            pose = solved(solver, *target)
            joints = [pose.head(i).to_2d() for i in range(len(pose))]
            traces[figure, solver] = np.array(tips(pose)), np.array([*joints, pose.tip.to_2d()])
    return Found(cells, traces, figures_2009.measure(solved))


def solved(solver, x, y):
    """The pose after the paper's loop: one pass, or sweeps of CCD.

    The loop of the paper's CCD tests the error from before the last sweep, and so does one more than it needs.
    """
    pose, aim = planar_chain(LENGTHS).rest_pose(), Vector((x, y, 0.0))
    step = SOLVERS[solver].begin()
    if solver != "CCD":
        step(pose, aim)
        return pose
    sweeps, error = 0, (aim - pose.tip).length
    while error > NEAR and sweeps < CAP:
        error = (aim - pose.tip).length
        step(pose, aim)
        sweeps += 1
    return pose


def tips(pose):
    """Return the end effector's positions: at the start and after each rotation."""
    replay = Pose(pose.chain, pose.base, pose.start)
    places = [replay.tip.to_2d()]
    for joint, rotation in pose.turns:
        replay.put(joint, rotation)
        places.append(replay.tip.to_2d())
    return places


def exact(paper, ours):
    """Return True if a number, cut off after two decimals, is the printed one."""
    return paper - EXACT <= ours < paper + 0.01 + EXACT


def claims(found):
    """Return the claims about the tables."""
    triangulation, ccd, single = (found.cells[solver] for solver in ("TRIANGULATION_2007", "CCD", "SINGLE_PASS"))
    corrected = [*TRIANGULATION]
    corrected[MISPRINT] = CORRECTED
    return [
        Claim(
            "2009: all triangulation cells as printed, but for the misprint in row 6",
            all(
                ours[0] == paper[0] and exact(paper[1], ours[1]) and exact(paper[2], ours[2])
                for paper, ours in zip(corrected, triangulation, strict=True)
            ),
        ),
        Claim(
            "2009: CCD counts as printed, sums and ways within 0.5 %",
            all(
                ours[0] == paper[0] and abs(ours[1] / paper[1] - 1.0) < 0.005 and abs(ours[2] / paper[2] - 1.0) < 0.005
                for paper, ours in zip(CCD, ccd, strict=True)
            ),
        ),
        Claim(
            "2009: single pass, sums and ways within 1 % on rows 1, 2, 4, 5, 6 and 10",
            all(
                abs(ours / paper - 1.0) < 0.01
                for row in BY_THE_PRINTED_RULE
                for paper, ours in zip(SINGLE_PASS[row][1:], single[row][1:], strict=True)
            ),
        ),
        *figures_2009.claims(found.angles),
    ]


def section(found):
    """The page's section."""
    titles = (
        "Table 1, rotations over 5 degrees",
        "Table 2, sum of rotations, degrees",
        "Table 3, way of the tip",
    )
    tables = "\n\n".join(f"### {title}\n\n{_table(found, column)}" for column, title in enumerate(titles))
    return f"""## Single pass, 2009

Ten links of length 2, straight along x, one run for each target. The targets are screen picks in steps of 1/12 (15.17
is 182/12), and the paper cuts its numbers off after two decimals. "exact": ours, cut off, is what is printed.

{tables}

- **Triangulation** is exact throughout. Row 6 of Table 2 prints 130.41, a misprint: the target is out of reach, both
  methods turn the base only, and the next column has that one rotation right.
- **CCD** stops at 0.1 from the target, or after 100 sweeps. The paper's loop tests the error from before the last
  sweep, so it does one more than needed; with that all counts are exact. What is left of the sums, 0.12 % at most, is
  not explained.
- **Single pass**, rows 1, 2, 4, 5, 6 and 10, follows the rule that the paper prints. Row 10 has a rotation too many in
  Table 1: with one link more going round, its sum and way would be those of neither other table.
- Rows 3, 8 and 9 of the single pass follow another rule than the printed one: away from the target where it is more
  than 90 degrees from the link. Row 7, and parts of row 8, follow no rule that was tried. The solver keeps to the
  printed rule, which reaches every target in reach.

{picture("2009-traces.png", "Traces of the end effector")}

*Figures 9 and 10: the way of the end effector (dots after each rotation) and the chain at the end.*

{figures_2009.section(found.angles)}"""


def _table(found, column):
    rows = []
    for row, (x, y) in enumerate(TARGETS):
        cells = []
        for solver, printed in PRINTED.items():
            paper, ours = printed[row][column], found.cells[solver][row][column]
            same = ours == paper if column == 0 else exact(paper, ours)
            number = f"{ours}" if column == 0 else f"{ours:.2f}"
            cells += [
                paper,
                number,
                "exact" if same else f"{ours - paper:+}" if column == 0 else deviation(paper, ours),
            ]
        rows.append((f"{row + 1} ({x / 12.0:.2f}, {y / 12.0:.2f})", *cells))
    heads = [f"{name}{rest}" for name in COLUMNS.values() for rest in (", paper", ", ours", "")]
    return table(("Target", *heads), rows)


def draw(found, folder):
    """Figures 9 and 10."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(10, 6.4), layout="constrained", sharex="row", sharey="row")
    for row, (number, target) in zip(axes, FIGURES.items(), strict=True):
        for axis, solver in zip(row, PRINTED, strict=True):
            trace, joints = found.traces[number, solver]
            way = abs(np.diff(trace @ (1.0, 1.0j))).sum()
            axis.plot(*trace.T, ".-", color="#1f6fb4", linewidth=0.8, markersize=3)
            axis.plot(*joints.T, "o-", color="0.35", linewidth=2, markersize=4)
            axis.plot(*target, "*", color="#d9541e", markersize=11)
            axis.set_title(f"Figure {number}, {COLUMNS[solver]}: {way:.1f}", fontsize=10)
            axis.set_aspect("equal")
    figure.savefig(folder / "2009-traces.png", dpi=80)
    pyplot.close(figure)
