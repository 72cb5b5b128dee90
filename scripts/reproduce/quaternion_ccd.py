# SPDX-License-Identifier: GPL-3.0-or-later
"""The document "Inverse Kinematics" on quaternion CCD: its stages, its bonus and its table, on the arm that it draws.

The arm has five hinges: a turning base, shoulder, elbow and two axes of the wrist. Targets are points of its tip in
random poses inside the limits, and so can be reached.
"""

from math import cos, pi, radians, sin
from random import Random
from typing import NamedTuple

import numpy as np
from mathutils import Quaternion, Vector

from ik_triangulation.goals import Direction, Point
from ik_triangulation.kinematics import Chain, Free, Hinge, Joint
from ik_triangulation.kinematics.rotation import angle_between, rotation_between
from ik_triangulation.solvers import SOLVERS, solve
from ik_triangulation.solvers.finish import perturb

from . import printed_rotations
from .page import Claim, picture, table

AXES = ("Y", "X", "X", "X", "Z")  # of the hinges, in each joint's own frame, whose Y points along the arm
LIMITS = (170.0, 100.0, 130.0, 100.0, 100.0)  # either way [degrees]
LENGTHS = (1.0, 2.0, 2.0, 0.5, 0.7)
PLACING = 3  # joints that place the effector in the last stage; the others direct it ("joint.id > 3", counted from 1)
NEAR, ANGLE = 1e-3, radians(1.0)  # of the arm's reach, and of the direction
SWEEPS, RESTARTS = 100, 20
FRAMES = 240
STAGES = ("Point", "Hinges, realigned", "Hinges, turned about", "Limits, realigned", "Limits, turned about")
RIVALS = ("CCD", "CCD_STAGES", "FABRIK", "JACOBIAN_TRANSPOSE", "GRADIENT", "GAUSS_NEWTON")
SHORT = 0.1  # of the reach: a short distance


class Found(NamedTuple):
    """Sweeps that each stage needs for each target (inf: more than SWEEPS), and everything else on the page.

      `near` holds the sweeps for targets that are a short distance away, `annealed` the restarts, `directed` the
    same for
      point and direction by the document's stage and with annealing, and by solve(), `path` the distance after each
    frame
      of a moving target, `rivals` the steps of the bare methods, `vectors` what both printed rotations between two
      directions are off.
    """

    sweeps: dict
    near: np.ndarray
    annealed: np.ndarray
    directed: dict
    path: np.ndarray
    rivals: dict
    vectors: tuple


def measure(quick):
    """Everything, on as many targets as there is time for."""
    count, random = 20 if quick else 500, Random(16)
    goals = [_feasible(random) for _ in range(count)]
    stages = zip(STAGES, (_arm(None), *[_arm(False)] * 2, *[_arm(True)] * 2), (0, 1, 0, 1, 0), strict=True)
    methods = SOLVERS["CCD"].begin(), SOLVERS["CCD_STAGES"].begin()
    sweeps = {
        name: np.array([_sweeps(arm.rest_pose(), aim, methods[which]) for aim, _ in goals])
        for name, arm, which in stages
    }
    limited, step = _arm(True), methods[0]
    return Found(
        sweeps,
        np.array([_sweeps(*_a_little_off(limited, random), step) for _ in range(count)]),
        np.array([_annealed(limited, lambda pose, aim=aim: _sweeps(pose, aim, step), random) for aim, _ in goals]),
        {
            "the document's": np.array([_sweeps_directed(limited.rest_pose(), *goal) for goal in goals]) <= SWEEPS,
            "the same, annealed": np.isfinite(
                [_annealed(limited, lambda pose, goal=goal: _sweeps_directed(pose, *goal), random) for goal in goals]
            ),
            "`solve()` with Gauss-Newton": np.array([_solved_directed(limited, *goal) for goal in goals]),
        },
        _followed(limited, step),
        {name: np.array([_bare(limited, aim, name) for aim, _ in goals]) for name in RIVALS},
        printed_rotations.deviations(random),
    )


def _arm(limited):
    """The arm along its own Y: with free joints (None), with hinges all the way round, or with limits."""
    heads, joints = (0.0, *LENGTHS[:-1]), []
    for i, (axis, limit) in enumerate(zip(AXES, LIMITS, strict=True)):
        vector = Vector([float(axis == each) for each in "XYZ"])
        bound = radians(limit) if limited else pi
        freedom = Free() if limited is None else Hinge(vector, -bound, bound) if limited else Hinge(vector)
        joints.append(Joint(f"joint {i}", Vector((0.0, heads[i], 0.0)), Quaternion(), freedom))
    return Chain(tuple(joints), Vector((0.0, LENGTHS[-1], 0.0)))


def _feasible(random):
    """Place and direction of the effector in a random pose inside the limits."""
    pose = _arm(True).rest_pose()
    perturb(pose, random, 1.0)
    return pose.tip, _direction(pose)


def _direction(pose):
    return (pose.tip - pose.head(len(pose) - 1)).normalized()


def _a_little_off(arm, random):
    """A random pose, and a place that the arm reaches at most SHORT of its reach from there."""
    pose = arm.rest_pose()
    perturb(pose, random, 1.0)
    share, near = 0.2, pose.copy()
    while True:
        perturb(near, random, share)
        if (near.tip - pose.tip).length <= SHORT * arm.reach:
            return pose, near.tip
        share, near = 0.7 * share, pose.copy()


def _sweeps(pose, aim, step):
    """Sweeps until the tip is near, or inf."""
    for count in range(SWEEPS + 1):
        if (aim - pose.tip).length <= NEAR * pose.chain.reach:
            return count
        step(pose, aim)
    return np.inf


def _annealed(arm, sweeps, random):
    """How many restarts with random offsets it takes after a first try, or inf; `sweeps` counts those from a pose."""
    for count in range(RESTARTS + 1):
        pose = arm.rest_pose()
        if count:
            perturb(pose, random, 1.0)
        if sweeps(pose) <= SWEEPS:
            return count
    return np.inf


def _sweep_directed(pose, aim, direction):
    """The document's last stage: the last joints direct the effector, the others point it at the goal."""
    for i in reversed(range(len(pose))):
        if i >= PLACING:
            pose.turn(i, rotation_between(_direction(pose), direction))
        else:
            head = pose.head(i)
            pose.turn(i, rotation_between(pose.tip - head, aim - head))


def _sweeps_directed(pose, aim, direction):
    for count in range(SWEEPS + 1):
        if _is_met(pose, aim, direction):
            return count
        _sweep_directed(pose, aim, direction)
    return np.inf


def _is_met(pose, aim, direction):
    near = (aim - pose.tip).length <= NEAR * pose.chain.reach
    return near and angle_between(_direction(pose), direction) <= ANGLE


def _solved_directed(arm, aim, direction):
    wanted = Direction(direction, Vector((0.0, 1.0, 0.0)))
    solution = solve(arm.rest_pose(), Point(aim), solver="GAUSS_NEWTON", tolerance=NEAR * arm.reach, soft=[wanted])
    return _is_met(solution.pose, aim, direction)


def _followed(arm, step):
    """Distance to a target that moves round a closed path, after the one sweep of each frame [of the reach]."""
    pose, distances = arm.rest_pose(), []
    for frame in range(2 * FRAMES):  # once round to get there
        turn = 2.0 * pi * frame / FRAMES
        aim = Vector((2.5 * cos(turn), 2.5 + sin(2.0 * turn), 2.5 * sin(turn)))
        step(pose, aim)
        distances.append((aim - pose.tip).length / arm.reach)
    return np.array(distances[FRAMES:])


def _bare(arm, aim, solver):
    """Steps that a bare method takes, or inf."""
    found = solve(
        arm.rest_pose(), Point(aim), solver=solver, tolerance=NEAR * arm.reach, iterations=SWEEPS, finish=False
    )
    return found.iterations if found.reached else np.inf


def claims(found):
    """Return the claims of the document that can be measured."""
    reached = {name: np.isfinite(sweeps).mean() for name, sweeps in found.sweeps.items()}
    rivals = {name: np.isfinite(steps).mean() for name, steps in found.rivals.items()}
    heuristics = [share for name, share in rivals.items() if not name.startswith("CCD")]
    return [
        Claim(
            "CCD: both printed rotations take one direction to the other within 0.001 degrees",
            max(found.vectors) < radians(0.001),
        ),
        Claim("CCD: each stage reaches at least 85 % of the targets", bool(min(reached.values()) >= 0.85)),
        Claim("CCD: annealing reaches every target", bool(np.isfinite(found.annealed).all())),
        Claim("CCD: one sweep a frame stays within 1 % of the reach in the median", np.median(found.path) <= 0.01),
        Claim(
            "CCD: the bare methods it is compared with reach no more, within 2 %",
            max(heuristics) <= rivals["CCD"] + 0.02,
        ),
        Claim("CCD: FABRIK does not do hinges", rivals["FABRIK"] < 0.2),
    ]


def section(found):
    """The page's section."""
    stages = table(
        ("Stage", f"reached in {SWEEPS} sweeps", "in 20", "sweeps, median"),
        [
            (name, _percent(np.isfinite(sweeps)), _percent(sweeps <= 20), f"{np.median(sweeps):g}")
            for name, sweeps in [*found.sweeps.items(), ("The last, from a pose that is near", found.near)]
        ],
    )
    directed = table(("Place and direction", "met"), [(name, _percent(met)) for name, met in found.directed.items()])
    rivals = table(
        ("Method", "reached", "steps, median"),
        [(SOLVERS[name].label, _percent(np.isfinite(steps)), _median(steps)) for name, steps in found.rivals.items()],
    )
    annealed = ", ".join(f"{_percent(found.annealed <= count)} with {count}" for count in (0, 1, 3))
    return f"""## Quaternion CCD

{len(found.annealed)} targets for the arm of five hinges ({", ".join(map(str, LENGTHS))} long), all of which it
reaches within its limits; from the straight arm, to within {NEAR:g} of its reach. The document prints no numbers;
these are the claims that can be counted.

### Its stages

{stages}

"Realigned" is what the document does: turn freely, then bring the hinge's axis back. The freest turn is not the best
one about a hinge; "turned about" is the one that is, and the solver's default.

{picture("ccd-stages.png", "Share reached over sweeps, and the distance to a moving target")}

*Targets reached over sweeps (left); distance from a target that moves round a closed path with one sweep a frame
(right).*

- "Even at one iteration per frame, this is beginning to look pretty good": with hinges and limits the tip is
  {100.0 * np.median(found.path):.1f} % of the reach behind in the median, {100.0 * found.path.max():.1f} % at most,
  where the base comes to the end of its range and the arm has to find another way round.
- "Well behaved across short distances": holds, from within {SHORT:.0%} of the reach {_percent(found.near <= 20)} are
  reached in 20 sweeps.
- "Jump out of concavities", left to the reader: restarts from random poses. Reached: {annealed}.
- Both printed rotations between two directions agree with ours. For opposite directions the second divides by zero.

### "Bonus: Direction"

The last two joints direct the effector, the first three place it. Direction within {np.degrees(ANGLE):.0f} degree.

{directed}

"With 5-DoF, you can hypothetically touch any point from any direction": of these goals all can be met, and are, by
solving for place and direction together. One part of the joints undoes what the other has done, which is what the
document sees as singularities.

### Its table

The bare methods on the limited arm, at most {SWEEPS} steps each, without what the product adds.

{rivals}

- "Beats nearly every other heuristic IK algorithm": as far as it was tried, it does. The Jacobian transpose comes
  near in more steps. Gauss-Newton, which is none, needs the fewest steps and misses what restarts would find.
- "FABRIK: hinge joints No": it does not do them.
- "Jacobian Transpose: joint limits No": bounded steps do them.
"""


def draw(found, folder):
    """The stages over sweeps, and the moving target."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for name, sweeps in found.sweeps.items():
        left.plot([100.0 * (sweeps <= count).mean() for count in range(SWEEPS + 1)], label=name)
    left.set(xlabel="sweeps", ylabel="targets reached, %", xlim=(0, 60), ylim=(0, 101))
    left.legend(loc="lower right")
    right.plot(100.0 * found.path, color="#1f6fb4")
    right.set(xlabel="frame", ylabel="distance to the target, % of the reach", ylim=(0, None))
    figure.savefig(folder / "ccd-stages.png", dpi=80)
    pyplot.close(figure)


def _percent(flags):
    return f"{100.0 * np.mean(flags):.1f} %"


def _median(steps):
    reached = steps[np.isfinite(steps)]
    return f"{np.median(reached):g}" if reached.size else "-"
