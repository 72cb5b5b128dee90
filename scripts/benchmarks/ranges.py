# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets at the ends of joint ranges, where straight knees and closed fists are: reached, missed, wrongly reported.

Targets are made in double precision, apart from the package's own kinematics, and so is every result checked: its tip
by forward kinematics, its rotations by the limits.
"""

from itertools import chain, product
from math import radians
from statistics import median
from time import perf_counter
from typing import NamedTuple
from zlib import crc32

import numpy as np

from . import forward, reach
from .families import FAMILIES
from .scenes import extension

TOLERANCE = 1e-3  # of the reach
ROUNDING = 1e-5  # of the reach: what may lie between a tip in single and in double precision
OUTSIDE = 1e-5  # [rad] by which a rotation in single precision may be outside its limits
# Limbs of hinges about X with ranges in whole degrees: shoulders, elbows, knees, fingers.
PLANAR = (
    ((-180, 30), (-110, 0)),
    ((-30, 170), (0, 150)),
    ((-90, 60), (-140, -5)),
    ((-120, 45), (-135, 0)),
    ((-45, 180), (0, 120)),
    ((-100, 30), (5, 150)),
    ((-170, 10), (-100, 20), (-60, 0)),
    ((-10, 90), (0, 110), (0, 80)),
    ((-180, 30), (-110, 0), (-40, 70)),
    ((-100, 30), (5, 150), (-40, 30)),
    ((-90, 90), (-160, 0), (-90, 15)),
    ((-60, 175), (0, 140), (-30, 60)),
)


class Task(NamedTuple):
    """A chain that starts from a pose, and the places (F, 3) that some pose within its limits reaches."""

    start: object
    places: np.ndarray


class Answers(NamedTuple):
    """Rotations (F, n, 4) found for the targets of a task, which of them count as reached (F), and seconds each (F)."""

    rotations: np.ndarray
    reached: np.ndarray
    seconds: np.ndarray


def one_by_one(task, solver, tolerance, seed=0):
    """Solve a task's targets one after the other, each from its start."""
    from mathutils import Vector

    from ik_triangulation.api import Point, solve

    found, reached, seconds = [], [], []
    for place in task.places:
        target = Point(Vector(place))
        started = perf_counter()
        solution = solve(task.start, target, solver=solver, tolerance=tolerance, seed=seed)
        seconds.append(perf_counter() - started)
        found.append([rotation[:] for rotation in solution.pose.rotations])
        reached.append(solution.reached)
    return Answers(np.array(found, float), np.array(reached), np.array(seconds))


WAYS = {"one by one": one_by_one}  # ways to solve a task


class Counts(NamedTuple):
    """Targets, those reached in double precision, wrong reports, poses outside limits, farthest miss per reach."""

    targets: int
    reached: int
    wrong: int
    outside: int
    farthest: float
    seconds: list

    def __add__(self, other):
        farthest = max(self.farthest, other.farthest)
        return Counts(
            *(a + b for a, b in zip(self[:4], other[:4], strict=True)), farthest, self.seconds + other.seconds
        )


NONE = Counts(0, 0, 0, 0, 0.0, [])


def judge(task, answers, tolerance):
    """Count a task's answers by forward kinematics and limits in double precision."""
    made = task.start.chain
    tips, _ = forward.tips(made, task.start.base, answers.rotations)
    length = tolerance / TOLERANCE
    errors = np.linalg.norm(tips - task.places, axis=1)
    false = np.where(answers.reached, errors > tolerance + ROUNDING * length, errors < tolerance - ROUNDING * length)
    beyond = forward.worst_violation(made, answers.rotations) > OUTSIDE
    reached = answers.reached & ~false & ~beyond
    return Counts(
        len(errors), int(reached.sum()), int(false.sum()), int(beyond.sum()), errors.max() / length, [*answers.seconds]
    )


def targets(start, count, random, share=forward.AT_AN_END):
    """The task of `count` places of the tip with most angles at an end of their range."""
    made = start.chain
    rotations = np.stack([forward.at_ends(joint.freedom, count, random, share) for joint in made.joints], axis=1)
    for i, joint in enumerate(made.joints):
        if type(joint.freedom).__name__ == "Locked":
            rotations[:, i] = start.rotations[i][:]
    return Task(start, forward.tips(made, start.base, rotations)[0])


def spread(count, over):
    """Whole numbers, as many as `over`, that differ by one at most and have the sum `count`."""
    return [count // over + (n < count % over) for n in range(over)]


def family_tasks(name, count, instances):
    """The tasks of a family: `count` targets in all, over so many chains of it."""
    random = np.random.default_rng(crc32(name.encode()))
    starts = [FAMILIES[name](random).rest_pose() for _ in range(instances)]
    return [
        targets(start, share, random) for start, share in zip(starts, spread(count, instances), strict=True) if share
    ]


def rig_tasks(counts):
    """Name and task of each chain of the reach benchmark, from rest, with these numbers of targets."""
    import bpy

    from ik_triangulation.rig.armature import Bones, base_of, channels_of

    for (name, ob, bones), count in zip(reach.chains(), counts, strict=True):
        bpy.context.view_layer.update()
        start = Bones(ob, bones, bones).pose(base_of(ob, bones[0]), channels_of(ob, bones))
        yield name, [targets(start, count, np.random.default_rng(crc32(name.encode())))]


def planar_tasks():
    """Name and tasks of each planar limb: a target for every combination of ends of its ranges.

    The links are alike or grow shorter, and the start is the rest pose or the upper end of every range.
    """
    from mathutils import Matrix, Quaternion, Vector

    from ik_triangulation.api import Chain, Hinge, Joint, Pose

    across = Vector((1.0, 0.0, 0.0))
    for ranges in PLANAR:
        tasks = []
        for lengths in ((1.0, 1.0, 1.0), (0.45, 0.3, 0.1)):
            hinges = [Hinge(across, *map(radians, ends)) for ends in ranges]
            heads = [Vector((0.0, length, 0.0)) for length in (0.0, *lengths)]
            joints = [Joint(f"joint {i}", heads[i], Quaternion(), hinge) for i, hinge in enumerate(hinges)]
            limb = Chain(tuple(joints), heads[len(joints)])
            corners = np.radians(list(product(*ranges))).T
            rotations = np.stack([forward.quaternion(across, angles) for angles in corners], axis=1)
            places = forward.tips(limb, np.eye(4), rotations)[0]
            at_top = Pose(limb, Matrix.Identity(4), [Quaternion(across, radians(high)) for _, high in ranges])
            tasks += [Task(start, places) for start in (limb.rest_pose(), at_top)]
        yield ", ".join(f"{low}..{high}" for low, high in ranges), tasks


def count_tasks(tasks, way, solver, seeds=(0,)):
    """The counts over all tasks of a family, once for each seed."""
    counts = NONE
    for task in tasks:
        tolerance = TOLERANCE * float(sum(task.start.lengths))
        for seed in seeds:
            counts += judge(task, WAYS[way](task, solver, tolerance, seed), tolerance)
    return counts


def report(title, counts):
    """Print a line of the table."""
    missed = counts.targets - counts.reached
    times = f"{median(counts.seconds) * 1e6:.0f} | {max(counts.seconds) * 1e3:.1f}"
    cells = (
        f"{counts.reached} of {counts.targets} | {missed} | {counts.wrong} | {counts.outside} | {counts.farthest:.1e}"
    )
    print(f"| {title} | {cells} | {times} |", flush=True)


@extension()
def run(arguments):
    """Each solver and way: the reach benchmark's chains, the harder families, and planar limbs with several seeds."""
    import bpy

    print(f"Blender {bpy.app.version_string}, tolerance {TOLERANCE} of the reach, from rest, every result checked")
    rigs = len(reach.CHAINS) + len(reach.RIGIFY)
    shares = spread(arguments.targets, rigs + len(FAMILIES))
    for way, solver in product(arguments.ways, arguments.solvers):
        print(f"\n| {solver}, {way} | Reached | Missed | Wrong | Outside | Farthest / reach | us | Longest, ms |")
        print("|---|---|---|---|---|---|---|---|")
        every = NONE
        families = (
            (name, family_tasks(name, share, arguments.instances))
            for name, share in zip(FAMILIES, shares[rigs:], strict=True)
        )
        for name, tasks in chain(rig_tasks(shares[:rigs]), families):
            counts = count_tasks(tasks, way, solver)
            every += counts
            report(name, counts)
        report("**ends of ranges**", every)
        every = NONE
        for name, tasks in planar_tasks():
            counts = count_tasks(tasks, way, solver, range(arguments.seeds))
            every += counts
            report(name, counts)
        report(f"**planar limbs, {arguments.seeds} seeds**", every)


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--targets", type=int, default=30_000, help="in all, but for the planar limbs")
    parser.add_argument("--instances", type=int, default=8, help="chains of each harder family")
    parser.add_argument("--seeds", type=int, default=4, help="with which each target of a planar limb is tried")
    parser.add_argument("--solvers", nargs="+", default=["TRIANGULATION"])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
