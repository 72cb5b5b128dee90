# SPDX-License-Identifier: GPL-3.0-or-later
"""Cardwell and Mukundan, "Visualization and Analysis of Inverse Kinematics Algorithms Using Performance Metric Maps".

The planar chain has reach 1 and lies along +x for each pixel; a place within 0.01 of the target counts as reached.
"""

from cmath import rect
from itertools import pairwise
from math import pi
from random import Random
from time import perf_counter
from typing import NamedTuple

import numpy as np
from mathutils import Vector

from ik_triangulation.maps.metric_map import map_pose
from ik_triangulation.solvers import SOLVERS, SolverSettings

from .page import Claim, Number, numbers_table, picture, table
from .planar import planar_chain
from .planar_map import map_planar

NEAR = 0.01  # of the reach
LINKS = range(2, 11)
SIZE, SMALL = 300, 60  # pixels a side
NEWTON_CAP = 100
TRIED = 20  # distances at which the solver's own poses are looked at, for each number of links
SAME = 1e-5  # of the reach, or [rad]: what single precision leaves


class Found(NamedTuple):
    """Maps by the number of links; coverages [%] of equal and halving links by the number of sweeps.

    `newton` holds the iterations of the paper's circular alignment by the number of links, one for each of `distances`,
    those of the pixels. `times` are the seconds of the vectorised engine for a map and how many times longer the scalar
    solver takes, for CCD and circular alignment, by the number of links. `poses` has of the solver's poses by circular
    alignment the distance from the target [reach] and the unevenness of the bends [rad], and `steps` pairs of the
    iterations that the solver takes by Newton's method, and that the equations do.
    """

    size: int
    maps: dict
    equal: dict
    halving: dict
    distances: np.ndarray
    newton: dict
    times: dict
    poses: list
    steps: list


def measure(quick):
    """All maps, and the coverage and the times of all numbers of links."""
    size = SMALL if quick else SIZE
    maps = {n: map_planar((1.0,) * n, "CCD", size, NEAR, 10) for n in (2, 3, 4, 5, 6)}
    equal = {
        attempts: [map_planar((1.0,) * n, "CCD", size, NEAR, attempts).coverage for n in LINKS]
        for attempts in (5, 10, 20)
    }
    halving = {
        attempts: [map_planar(halved(n), "CCD", size, NEAR, attempts).coverage for n in LINKS] for attempts in (5, 10)
    }
    inside = maps[5].inside
    at = (np.arange(size) + 0.5) / size * 2.0 - 1.0
    distances = np.hypot(at[None, :], at[:, None])[inside]
    newton = {n: newton_iterations(n, distances) for n in LINKS}
    times = {n: [timed(n, solver, size, quick) for solver in ("CCD", "CIRCULAR")] for n in ((5,) if quick else LINKS)}
    aims = [(n, aim) for n in LINKS for aim in random_aims(n)]
    poses, steps = [circular_pose(*each) for each in aims], [newton_steps(*each) for each in aims]
    return Found(size, maps, equal, halving, distances, newton, times, poses, steps)


def random_aims(n):
    """Targets inside the reach of 1, behind the chain."""
    random = Random(n)
    return [rect(random.uniform(0.05, 0.985), random.uniform(pi / 2.0, 1.5 * pi)) for _ in range(TRIED)]


def circular_pose(n, aim):
    """Distance of the tip from a target after the solver's one pass, and the largest difference of two bends [rad]."""
    pose = planar_chain((1.0 / n,) * n).rest_pose()
    SOLVERS["CIRCULAR"].begin()(pose, Vector((aim.real, aim.imag, 0.0)))
    places = [complex(*pose.head(i).xy) for i in range(n)] + [complex(*pose.tip.xy)]
    links = [b - a for a, b in pairwise(places)]
    bends = [float(np.angle(b / a)) for a, b in pairwise(links)]
    return abs(places[-1] - aim), max(bends) - min(bends)


def newton_steps(n, aim):
    """Steps of the solver by Newton's method until the tip is within 0.01 of a target, and those by the equations."""
    pose, place = planar_chain((1.0 / n,) * n).rest_pose(), Vector((aim.real, aim.imag, 0.0))
    step, count = SOLVERS["CIRCULAR_NEWTON"].begin(), 0
    while (pose.tip - place).length > NEAR and count < NEWTON_CAP:
        step(pose, place)
        count += 1
    return count, max(1, int(newton_iterations(n, np.array([abs(aim)]))[0]))


def halved(n):
    """Lengths of the paper's Figure 10 from the base: each link as long as all beyond it together."""
    return (*(2.0**k for k in reversed(range(n - 1))), 1.0)


def newton_iterations(n, distances):
    """Iterations of the paper's Newton method (eq. 5 to 8) until n links of 1/n end within 0.01 of each distance."""
    a, theta = 1.0 / n, np.full(distances.shape, 2.0 * pi / n)
    count = np.zeros(distances.shape, dtype=int)
    for _ in range(NEWTON_CAP):
        chord = a * np.sin(n * theta / 2.0) / np.sin(theta / 2.0)
        going = (abs(chord - distances) > NEAR) & np.isfinite(chord)
        if not going.any():
            break
        value = distances * np.sin(theta / 2.0) - a * np.sin(n * theta / 2.0)
        slope = distances / 2.0 * np.cos(theta / 2.0) - n * a / 2.0 * np.cos(n * theta / 2.0)
        theta = np.where(going, theta - value / slope, theta)
        count += going
    return count


def timed(n, solver, size, quick):
    """Seconds of a map of 20 attempts by the vectorised engine; and how many times longer the scalar solver takes."""
    lengths, few = (1.0,) * n, 12 if quick else 40
    started = perf_counter()
    fast = map_planar(lengths, solver, size, NEAR, 20)
    halfway = perf_counter()
    plane = Vector(), Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0))
    settings = SolverSettings(solver=solver, iterations=20, finish=False)
    slow = map_pose(planar_chain(lengths).rest_pose(), *plane, settings, size=few, tolerance=NEAR)
    seconds, scalar = halfway - started, perf_counter() - halfway
    return seconds, scalar / slow.inside.sum() / (seconds / fast.inside.sum())


def numbers(found):
    """The values printed in the paper's text."""
    nine = map_planar((1.0,) * 5, "CCD", found.size, NEAR, 9).coverage
    return [
        Number("Figure 12: coverage of CCD, n = 5, i = 10, %", 67.0, found.maps[5].coverage),
        Number("The same after 9 sweeps, %", 67.0, nine, note="see below"),
        Number("Figure 12: coverage of circular alignment, %", 100.0, circular_coverage(found)),
        Number("Most iterations of its Newton method", 5.0, found.newton[5].max(), 0, note="see below"),
        Number("The same without the outermost 0.01", 5.0, most_iterations(found, 5), 0),
        Number("Figure 9: the number of links with the widest coverage", 3.0, widest(found), 0),
    ]


def most_iterations(found, n):
    """The most iterations of Newton's method for targets that the straight chain is not near enough to."""
    return found.newton[n][found.distances < 1.0 - NEAR].max()


def circular_coverage(found):
    """Percent of the disc that the product's circular alignment reaches in its one pass."""
    return map_planar((1.0,) * 5, "CIRCULAR", found.size, NEAR, 10).coverage


def widest(found):
    """The number of equal links whose map is covered most after 10 sweeps."""
    return LINKS[int(np.argmax(found.equal[10]))]


def claims(found):
    """Return the claims about the maps."""
    flat = found.halving[5][2:]
    return [
        Claim("Maps: CCD with n = 5 covers 65 to 71 %", 65.0 <= found.maps[5].coverage <= 71.0),
        Claim("Maps: circular alignment covers 100 %", circular_coverage(found) == 100.0),
        Claim("Maps: Figure 9 has its maximum at n = 3", widest(found) == 3),
        Claim("Maps: Figure 10 is flat from n = 4 on, within 6 points", max(flat) - min(flat) < 6.0),
        Claim(
            "Maps: Newton's method takes at most 5 iterations where the straight chain is not near enough, for every n",
            all(most_iterations(found, n) <= 5 for n in LINKS),
        ),
        Claim(
            "Maps: the solver's circular alignment ends at every target in one pass, all bends equal",
            all(apart < SAME and uneven < SAME for apart, uneven in found.poses),
        ),
        Claim(
            "Maps: the solver by Newton's method takes the iterations of the equations",
            all(taken == printed for taken, printed in found.steps),
        ),
    ]


def section(found):
    """The page's section."""
    curves = [*found.equal.values(), *found.halving.values()]
    coverage = [(n, *(f"{curve[k]:.1f}" for curve in curves)) for k, n in enumerate(LINKS)]
    heads = [f"equal, i = {attempts}" for attempts in found.equal]
    heads += [f"halving, i = {attempts}" for attempts in found.halving]
    times = []
    for n, cells in found.times.items():
        seconds, ratios = (f"{cell[0]:.2f} s" for cell in cells), (f"{cell[1]:.0f}" for cell in cells)
        times.append((n, *seconds, *ratios, most_iterations(found, n)))
    timing = "CCD", "circular", "CCD, ratio", "circular, ratio", "most Newton iterations"
    slow = found.newton[5] > 5
    rim = (
        f"{100.0 * slow.mean():.1f} % of the pixels, farther than {found.distances[slow].min():.4f}"
        if slow.any()
        else "none"
    )
    return f"""## Performance metric maps

{found.size} x {found.size} pixels; reach 1, epsilon 0.01, the chain along +x at the start of each pixel. The vectorised
engine does it, in as many iterations as the scalar solver (tested).

{numbers_table(numbers(found))}

{picture("maps-ccd.png", "Metric maps of CCD")}

*Figures 6, 8 and 7: black was not reached, blue took one iteration, red the last attempt.*

{picture("maps-compare.png", "Metric maps of CCD and of circular alignment")}

*Figure 12, both in the same colors. For circular alignment the iterations are those of the paper's Newton method.*

- Were a sweep done after the last test of the error, as in the CCD of the 2009 paper, 9 of the 10 would count: that is
  the 67 % (cut off).
- Newton's method takes a sixth iteration for {rim}:
  at full reach it heads for a triple root. Up to 0.01 from there the straight chain is near enough, so nothing need be
  solved, and the rest takes 5 at most, whatever the number of links. *Even Bend, Newton* is that method, an iteration a
  step: a map of its iterations is the right half of Figure 12. *Even Bend* finds the same angle by bisection, in one
  pass.

### Coverage, %

Figure 9 has equal links; its caption does not say how many iterations. Figure 10 has each link as long as all beyond it
together (16, 8, 4, 2, 1, 1 for n = 6) and i = 5. The figures print no numbers.

{table(("n", *heads), coverage)}

{picture("maps-coverage.png", "Coverage over the number of links, and time")}

*Figures 9, 10 and 11.*

### Time

Figure 11 is for i = 20 and 300 x 300 pixels on four threads: "a couple of seconds". Here it is one thread. Seconds
depend on the machine, so the ratio beside them says how many times longer the scalar solver takes for as many pixels,
in the same run.

{table(("n", *timing), times)}

Neither the cost of an iteration of Newton's method nor their number grows with n, as the paper says. Posing the chain
does, and so the time of a map by circular alignment.
"""


def draw(found, folder):
    """Figures 6 to 12, without the borders."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(9, 6.4), layout="constrained")
    for axis, n in zip(axes.flat, found.maps, strict=False):
        figures = "6" if n == 2 else "8"
        _show(axis, found.maps[n].image(), f"Figure {figures}: n = {n}, iterations, {found.maps[n].coverage:.1f} %")
    _show(axes[1, 2], found.maps[5].image("travel"), "Figure 7: n = 5, travel")
    figure.savefig(folder / "maps-ccd.png", dpi=80)
    pyplot.close(figure)

    figure, axes = pyplot.subplots(1, 2, figsize=(8, 4.2), layout="constrained")
    _show(axes[0], found.maps[5].image(), f"CCD, n = 5, i = 10: {found.maps[5].coverage:.1f} %")
    circular = _newton_image(found)
    _show(axes[1], circular, f"circular alignment, at most {found.newton[5].max()} iterations: 100 %")
    figure.savefig(folder / "maps-compare.png", dpi=80)
    pyplot.close(figure)

    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    panels = (axes[0], found.equal, "Figure 9: equal links"), (axes[1], found.halving, "Figure 10: halving links")
    for axis, curves, title in panels:
        for attempts, curve in curves.items():
            axis.plot(LINKS, curve, "o-", markersize=4, label=f"i = {attempts}")
        axis.set(title=title, xlabel="links", ylabel="coverage, %", ylim=(0, 100))
        axis.legend(loc="lower left")
    for k, name in enumerate(("CCD", "circular alignment")):
        seconds = [cells[k][0] for cells in found.times.values()]
        axes[2].plot(found.times.keys(), seconds, "o-", markersize=4, label=name)
    axes[2].set(title="Figure 11: time of a map, i = 20", xlabel="links", ylabel="seconds, one thread", ylim=(0, None))
    axes[2].legend()
    figure.savefig(folder / "maps-coverage.png", dpi=80)
    pyplot.close(figure)


def _show(axis, image, title):
    axis.imshow(image, interpolation="nearest")
    axis.set_title(title, fontsize=10)
    axis.set_axis_off()


def _newton_image(found):
    """Newton's iterations in the paper's colours, blue for one and red for ten."""
    from ik_triangulation.maps.metric_map import hue

    inside = found.maps[5].inside
    colours = np.zeros((*inside.shape, 4))
    colours[inside, :3] = hue(np.clip((found.newton[5] - 1) / 9.0, 0.0, 1.0))
    colours[inside, 3] = 1.0
    return colours
