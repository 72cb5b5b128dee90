# SPDX-License-Identifier: GPL-3.0-or-later
"""Mueller-Cajar and Mukundan 2007, "Triangulation: A new algorithm for Inverse Kinematics", sections 4 and 5.

Two chains of length 40, straight at the start, reach for targets drawn from a cube of side 60 round the base.
"""

from itertools import product
from math import cos, hypot, pi, radians, sin, sqrt
from random import Random
from typing import NamedTuple

import numpy as np
from mathutils import Quaternion, Vector

from ik_triangulation.goals import Point
from ik_triangulation.kinematics import Chain, Cone, Free, Joint
from ik_triangulation.solvers import solve

from . import figures_2007
from .page import Claim, Number, numbers_table, picture, table

FIVE, ARM, TEN = (9.0, 9.0, 9.0, 9.0, 4.0), (18.0, 18.0, 4.0), (4.0,) * 10
ELBOW, WRIST = radians(126.0), radians(90.0)  # how far the arm's joints may bend
REACH, SIDE, TOLERANCE, CAP = 40.0, 60.0, 0.5, 99
TARGETS = 10_000  # in the paper
QUICK = 8  # parts of the cube along a side
OUTSIDE, UNREACHABLE = 8.27, 2.23  # targets outside the radius, and others the arm cannot reach, in the paper [%]
VARIANTS = {
    "TRIANGULATION_2007": "published",
    "TRIANGULATION_RIGHT_ANGLE": "90 degrees, the paper's future work",
    "TRIANGULATION": "smallest rotation",
    "TRIANGULATION_CHEAPEST": "cheapest pair",
    "CCD": "CCD",
}


class Tried(NamedTuple):
    """Results of one method for each target; `cost` is the paper's C, the sum of all joint angles at the end [deg],
    `bent` the number of joints at more than a few degrees.
    """

    iterations: np.ndarray
    reached: np.ndarray
    cost: np.ndarray
    bent: np.ndarray


class Found(NamedTuple):
    """Distances of the targets from the base and from the hand at the start; `tried` by chain and method; `poses` that
    reach for the close target of a picture.
    """

    distance: np.ndarray
    from_hand: np.ndarray
    tried: dict
    poses: dict

    @property
    def inside(self):
        """Which targets are within the radius of the chains."""
        return self.distance <= REACH

    @property
    def by_arm(self):
        """Which of those the arm's limits let it reach within tolerance."""
        return self.inside & (self.distance >= nearest_by_arm() - TOLERANCE)


def measure(quick):
    """All targets with both chains, by both methods of the paper and by the variants of the method."""
    random = Random(2007)
    targets = evenly_random(random) if quick else [in_cube(random) for _ in range(TARGETS)]
    limits = [Free(), Cone(ELBOW), Cone(WRIST)]
    chains = {"five": bones(FIVE), "arm": bones(ARM, limits), "free arm": bones(ARM), "ten": bones(TEN)}
    tried = {}
    for name, chain in chains.items():
        for solver in VARIANTS if name != "arm" else ("TRIANGULATION_2007", "CCD"):
            tried[name, solver] = reach_all(chain, targets, solver)
    hand = chains["five"].rest_pose().tip
    distances = np.array([target.length for target in targets])
    close = Point(Vector(figures_2007.SHOWN))
    poses = {
        name: solve(
            chains["five"].rest_pose(), close, solver=solver, tolerance=TOLERANCE, iterations=count, finish=False
        ).pose
        for name, solver, count in (
            ("CCD, first iteration", "CCD", 1),
            ("CCD, last iteration", "CCD", CAP),
            ("Triangulation", "TRIANGULATION_2007", CAP),
        )
    }
    return Found(distances, np.array([(target - hand).length for target in targets]), tried, poses)


def in_cube(random, corner=(0.0, 0.0, 0.0), share=1.0):
    """A random place in the cube, or in the part of it from this corner on; both as shares of its side."""
    return Vector([SIDE * (low + random.uniform(0.0, share) - 0.5) for low in corner])


def evenly_random(random):
    """A random place in each of QUICK**3 equal parts of the cube: means of few targets come near to those of many."""
    return [in_cube(random, [n / QUICK for n in part], 1.0 / QUICK) for part in product(range(QUICK), repeat=3)]


def bones(lengths, freedoms=None):
    """A straight chain along Blender's bones; all joints free unless `freedoms` names them."""
    freedoms = freedoms or [Free()] * len(lengths)
    heads = (0.0, *lengths[:-1])
    joints = (
        Joint(f"joint {i}", Vector((0.0, head, 0.0)), Quaternion(), freedom)
        for i, (head, freedom) in enumerate(zip(heads, freedoms, strict=True))
    )
    return Chain(tuple(joints), Vector((0.0, lengths[-1], 0.0)))


def reach_all(chain, targets, solver):
    """Each target from the straight chain: the bare method, in space, as a user gets it."""
    rest = chain.rest_pose()
    solutions = [
        solve(rest, Point(target), solver=solver, tolerance=TOLERANCE, iterations=CAP, finish=False)
        for target in targets
    ]
    angles = np.array([figures_2007.joint_angles(solution.pose) for solution in solutions])
    return Tried(
        np.array([solution.iterations for solution in solutions]),
        np.array([solution.reached for solution in solutions]),
        angles.sum(axis=1),
        (angles > figures_2007.BENT).sum(axis=1),
    )


def nearest_by_arm():
    """Distance from base to hand with elbow and wrist bent as far as they may."""
    a, b, c = ARM
    return hypot(a + b * cos(ELBOW) + c * cos(ELBOW + WRIST), b * sin(ELBOW) + c * sin(ELBOW + WRIST))


def numbers(found):
    """Everything the paper's section 5 and 6 print, in its order."""
    five, arm = found.tried["five", "CCD"], found.tried["arm", "CCD"]
    straight, limited = (found.tried[chain, "TRIANGULATION_2007"] for chain in ("five", "arm"))
    inside, by_arm = found.inside, found.by_arm

    def share(what, paper, flags, note=""):
        """A percentage, of which `flags` are a sample."""
        ours = 100.0 * flags.mean()
        spread = 2.0 * sqrt(paper * (100.0 - paper) * (1.0 / TARGETS + 1.0 / flags.size))
        return Number(what, paper, ours, 2, spread, note)

    def mean(what, paper, values, digits=1, note="", factor=1.0):
        spread = 2.0 * values.std() * sqrt(1.0 / TARGETS + 1.0 / values.size)
        return Number(what, paper, factor * values.mean(), digits, factor * spread, note)

    first = (five.reached & (five.iterations <= 20))[inside], (arm.reached & (arm.iterations <= 20))[by_arm]
    passes = straight.iterations[inside & straight.reached & (straight.iterations > 0)]
    sweeps = five.iterations[inside & five.reached]
    # The paper leaves out fewer targets than the arm cannot reach: the others run to the cap.
    reachable = round((100.0 - OUTSIDE - UNREACHABLE) / 100.0 * len(inside))
    others = max(0, reachable - by_arm.sum())
    counted = np.resize(first[1], by_arm.sum() + others) & (np.arange(by_arm.sum() + others) < by_arm.sum())
    with_the_others = np.append(arm.iterations[by_arm & arm.reached], np.full(others, CAP))
    # By how much their share, the difference of two random ones, changes that mean.
    by_others = 2.0 * by_arm.std() * sqrt(1.0 / TARGETS + 1.0 / by_arm.size) * len(inside) / reachable * CAP
    as_0 = "out of reach counted as 0, see below"
    geometry = 100.0 * 4.0 / 3.0 * pi * (nearest_by_arm() - TOLERANCE) ** 3 / SIDE**3
    return [
        share("Targets outside the radius of the chain, %", OUTSIDE, ~inside),
        share(
            "Further ones the arm cannot reach, %",
            UNREACHABLE,
            inside & ~by_arm,
            f"geometry: {geometry:.1f} %, see below",
        ),
        share("CCD, arm: reached within 20 iterations, %", 92.97, first[1]),
        share("The same of all that the paper counts as reachable, %", 92.97, counted, "see below"),
        mean("CCD, arm: mean iterations", 8.727, arm.iterations[by_arm & arm.reached], 3, "see below"),
        Number("The same with the others at the cap", 8.727, with_the_others.mean(), 3, by_others, "see below"),
        share("CCD, five links: reached within 20 iterations, %", 92.12, first[0]),
        mean("CCD, five links: mean iterations", 8.351, sweeps, 3),
        share("Triangulation, five links: reached on the first iteration, %", 100.0, straight.reached[inside]),
        share("Triangulation, arm: reached on the first iteration, %", 100.0, limited.reached[by_arm], "see below"),
        mean("Cost of CCD, five links, degrees", 315.5, five.cost * inside, note=as_0),
        mean("Cost of CCD, arm, degrees", 173.9, arm.cost, note="mean of all targets, see below"),
        mean("Cost of triangulation, five links, degrees", 159.9, straight.cost * inside, note=as_0),
        mean("Cost of triangulation, arm, degrees", 141.5, limited.cost, note="mean of all targets, see below"),
        mean("CCD, five links: dot products (eq. 9)", 125.265, sweeps, 3, "", 15.0),
        mean("CCD, five links: rotations (eq. 9)", 41.755, sweeps, 3, "", 5.0),
        mean("Triangulation, five links: dot products (eq. 10)", 25.0, passes, 3, "", 25.0),
        mean("Triangulation, five links: rotations (eq. 10)", 5.0, passes, 3, "", 5.0),
    ]


def variant_costs(found):
    """Mean cost C [deg] of each variant and chain over the targets in reach, and its ratio to the published one's."""
    rows = {}
    for solver in VARIANTS:
        costs = [found.tried[chain, solver].cost[found.inside].mean() for chain in ("five", "free arm", "ten")]
        rows[solver] = costs
    published = rows["TRIANGULATION_2007"]
    ratios = {solver: np.divide(costs, published) for solver, costs in rows.items()}
    return {solver: [*zip(costs, ratios[solver], strict=True)] for solver, costs in rows.items()}


def claims(found):
    """Return the claims about the paper's numbers and the variants."""
    apart = "Further ones the arm cannot reach, %", "CCD, arm: mean iterations"  # counted otherwise than in the paper
    (_, smallest), *_ = variant_costs(found)["TRIANGULATION"]
    (_, pair), *_ = variant_costs(found)["TRIANGULATION_CHEAPEST"]
    return [
        Claim(
            "2007: costs and percentages within 3 % or two standard deviations, but for what the arm cannot reach",
            all(number.holds for number in numbers(found) if number.what not in apart),
        ),
        Claim(
            "2007: on 9, 9, 9, 9, 4 the smallest rotation costs at most 0.76 of the published rule", smallest <= 0.76
        ),
        Claim("2007: on 9, 9, 9, 9, 4 the cheapest pair costs at most 0.75 of the published rule", pair <= 0.75),
        *figures_2007.claims(found),
    ]


def section(found):
    """The page's section."""
    rows = [
        (VARIANTS[solver], *(f"{cost:.1f} ({ratio:.2f})" for cost, ratio in cells))
        for solver, cells in variant_costs(found).items()
    ]
    five, straight = (found.tried["five", solver].cost.mean() for solver in ("CCD", "TRIANGULATION_2007"))
    others = 100.0 - OUTSIDE - UNREACHABLE - 100.0 * found.by_arm.mean()
    variants = table(("Rule", "9, 9, 9, 9, 4", "18, 18, 4 without limits", "10 of length 4"), rows)
    return f"""## Triangulation, 2007

{len(found.distance)} targets, uniform in a cube of side 60 round the base; chains of length 40, each from the
straight rest pose, in space, by `solve(..., finish=False)`; tolerance 0.5, at most 99 iterations. Five links are 9,
9, 9, 9, 4; the arm is 18, 18, 4 with cone limits on the bend, the elbow 126 degrees and the wrist 90. The cost C is
the sum of the angles that all joints end up with (eq. 3).

{numbers_table(numbers(found))}

{picture("2007-iterations.png", "Iterations of CCD over the distance from hand to target, and the share reached")}

*Figure 6 of the paper (left), and what its percentages are read from (right).*

- Which targets count in the mean costs the paper does not say; the table names the reading that comes nearest. With
  all targets counted in, five links cost {five:.1f} by CCD and {straight:.1f} by triangulation.
- The arm's further 2.23 % and its 8.727 iterations have nearly one answer. With elbow and wrist bent as far as they
  may the hand is {nearest_by_arm():.2f} from the base, and the ball inside that, less the tolerance, is a larger
  share of the cube. So about {others:.1f} % of all targets seem to be counted in that the arm cannot reach. Of the
  paper's own 100 - 8.27 - 2.23 % the share within 20 sweeps is the printed one, and if the others run to the cap of
  99, so is the mean, within what chance allows. Without them the arm is faster than five links, as the paper says in
  its section 6.
- Equation 10: one pass of five joints, five dot products each, so 25 and 5 beside 125 and 42 for CCD.
- Triangulation with limits takes the rest of the chain as collapsed where they keep a straight one from being turned
  to the target (section 3.1.3). What it misses lies within the tolerance of the nearest places the arm reaches.

{figures_2007.section(found, found.poses)}
### Other choices of the angle

The same targets, those in reach, the same run: mean cost C in degrees, and its ratio to the published rule's.

{variants}
"""


def draw(found, folder):
    """Figure 6, and the share reached over the number of iterations; Figures 2 and 7."""
    from matplotlib import pyplot

    figures_2007.draw(found.poses, folder)

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for chain, colour, label in (("five", "#1f6fb4", "9, 9, 9, 9, 4"), ("arm", "#d9541e", "18, 18, 4, limited")):
        tried, within = found.tried[chain, "CCD"], found.by_arm if chain == "arm" else found.inside
        reached = within & tried.reached
        left.plot(found.from_hand[reached], tried.iterations[reached], ".", color=colour, markersize=1.5, alpha=0.4)
        bins = np.digitize(found.from_hand, np.arange(0.0, 80.0, 4.0))
        middle = [(4.0 * b - 2.0, tried.iterations[reached & (bins == b)].mean()) for b in np.unique(bins[reached])]
        left.plot(*zip(*middle, strict=True), color=colour, linewidth=2, label=f"{label}, mean")
        shares = [100.0 * (tried.reached & (tried.iterations <= i))[within].mean() for i in range(CAP + 1)]
        right.plot(shares, color=colour, label=label)
    right.plot([20, 20], [92.12, 92.97], "k+", markersize=10, label="paper, 20 iterations")
    left.set(xlabel="distance from hand to target at the start", ylabel="iterations of CCD", ylim=(0, CAP))
    right.set(xlabel="iterations", ylabel="targets reached by CCD, %", ylim=(0, 101), xlim=(0, 60))
    left.legend()
    right.legend(loc="lower right")
    figure.savefig(folder / "2007-iterations.png", dpi=80)
    pyplot.close(figure)
