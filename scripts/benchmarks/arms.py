# SPDX-License-Identifier: GPL-3.0-or-later
"""Place and orientation at once on arms of robots that are built: success and time, beside a peer.

Targets are the place and orientation of the tip in random configurations within the joint ranges, each solve starts in
the middle of the ranges, and every result is checked in double precision: place, orientation, limits.
"""

from math import degrees, radians
from statistics import mean, median
from time import perf_counter
from typing import NamedTuple
from zlib import crc32

import numpy as np

from . import arm_peer, forward
from .arm_table import ARMS

NEAR = 1e-3  # [m]
STRAIGHT = radians(0.1)
ROUNDING = 1e-5  # [m] and [rad], for results in single precision
FULL_TURN = -np.pi, np.pi


class Poses(NamedTuple):
    """What to reach: places (F, 3) [m] and orientations (F, 4) of the tip."""

    places: np.ndarray
    turns: np.ndarray


class Found(NamedTuple):
    """Rotations of the joints (F, n, 4), which of the poses count as reached (F), and seconds each (F)."""

    rotations: np.ndarray
    reached: np.ndarray
    seconds: np.ndarray


def start_of(arm):
    """The pose in the middle of an arm's ranges, as solve() takes it."""
    from mathutils import Matrix, Quaternion, Vector

    from ik_triangulation.api import Chain, Hinge, Joint, Pose

    joints = [
        Joint(f"joint {i}", Vector(offset), Quaternion(), Hinge(Vector(axis), *(ends or ())))
        for i, (offset, axis, ends) in enumerate(arm.joints)
    ]
    chain = Chain(tuple(joints), Vector(arm.tip))
    middle = middle_of(arm)
    rotations = [Quaternion(joint.freedom.axis, angle) for joint, angle in zip(joints, middle, strict=True)]
    return Pose(chain, Matrix.Identity(4), rotations)


def middle_of(arm):
    """Angles [rad] in the middle of the ranges."""
    return np.array([sum(ends or FULL_TURN) / 2.0 for _, _, ends in arm.joints])


def rotations_of(arm, angles):
    """Rotations (F, n, 4) of joint angles (F, n)."""
    return np.stack(
        [forward.quaternion(axis, angles[:, i]) for i, (_, axis, _) in enumerate(arm.joints)],
        axis=1,
    )


def orientations(rotations):
    """Orientations (F, 4) of the tip: joints rest without a turn, so that it is the product of their rotations."""
    turned = rotations[:, 0]
    for i in range(1, rotations.shape[1]):
        turned = forward.product(turned, rotations[:, i])
    return turned / np.linalg.norm(turned, axis=1, keepdims=True)


def random_poses(name, arm, chain, count):
    """Poses of the tip in random configurations, the same ones in each run."""
    random = np.random.default_rng(crc32(name.encode()))
    low, high = np.array([ends or FULL_TURN for _, _, ends in arm.joints]).T
    rotations = rotations_of(arm, random.uniform(low, high, (count, len(arm.joints))))
    return Poses(forward.tips(chain, np.eye(4), rotations)[0], orientations(rotations))


def one_by_one(start, poses, solver):
    """Solve for the poses one after the other, each from `start`."""
    from mathutils import Quaternion, Vector

    from ik_triangulation.api import Orientation, Point, solve

    found, reached, seconds = [], [], []
    for place, turn in zip(poses.places, poses.turns, strict=True):
        target, turned = Point(Vector(place)), Orientation(Quaternion(turn))
        started = perf_counter()
        solution = solve(start, target, solver=solver, tolerance=NEAR, soft=[turned])
        seconds.append(perf_counter() - started)
        found.append([rotation[:] for rotation in solution.pose.rotations])
        reached.append(solution.reached and turned.missing(solution.pose) <= STRAIGHT)
    return Found(np.array(found, float), np.array(reached), np.array(seconds))


WAYS = {"one by one": one_by_one}  # ways to solve for many poses


def peer(arm, poses, starts):
    """Solve for the poses with the peer."""
    angles, seconds = arm_peer.solve(arm, middle_of(arm), poses.places, poses.turns, NEAR, STRAIGHT, starts)
    return Found(rotations_of(arm, angles), np.ones(len(angles), bool), seconds)


def judge(chain, poses, found):
    """Reached (F), wrongly called reached (F) and outside the limits (F), all of it in double precision."""
    places = np.linalg.norm(forward.tips(chain, np.eye(4), found.rotations)[0] - poses.places, axis=1)
    turned = forward.angles_between(orientations(found.rotations), poses.turns)
    within = (places <= NEAR + ROUNDING) & (turned <= STRAIGHT + ROUNDING)
    outside = forward.worst_violation(chain, found.rotations) > ROUNDING
    return within & ~outside & found.reached, found.reached & ~within, outside


def report(name, method, judged, seconds):
    """Print a line of the table; return the numbers reached and tried."""
    reached, wrong, outside = judged
    cells = [
        name,
        method,
        f"{reached.sum()} of {len(reached)}",
        f"{reached.mean():.2%}",
        wrong.sum(),
        outside.sum(),
        f"{median(seconds) * 1e3:.2f}",
        f"{mean(seconds) * 1e3:.2f}",
        f"{max(seconds) * 1e3:.0f}",
    ]
    print(f"| {' | '.join(map(str, cells))} |", flush=True)
    return np.array([reached.sum(), len(reached)])


def run(arguments):
    """Each arm: the peer with one start and with restarts, then each solver and way."""
    from ik_triangulation.errors import ChainError
    from ik_triangulation.solvers import SOLVERS

    print(
        f"Within {NEAR * 1e3:g} mm and {degrees(STRAIGHT):.1f} degrees, from the middle of the ranges; times in ms "
        "a pose. Arms: example-robot-data 6.0.0\n"
    )
    if not arm_peer.installed():
        print(f"{arm_peer.HOW_TO_GET_IT}\n")
    print(
        "| Arm | Method | Reached | | Wrong | Outside | Median | Mean | Longest |\n"
        "|---|---|---|---|---|---|---|---|---|"
    )
    totals = {}
    for name in arguments.arms:
        arm, start = ARMS[name], start_of(ARMS[name])
        poses = random_poses(name, arm, start.chain, arguments.targets)
        if arm_peer.installed() and not arguments.no_peer:
            for starts in (1, arguments.starts):
                found, method = peer(arm, poses, starts), f"mink, {starts} start{'s' * (starts > 1)}"
                within, _, outside = judge(start.chain, poses, found)
                judged = within, np.zeros_like(within), outside  # it makes no claim that could be wrong
                totals[method] = totals.get(method, 0) + report(name, method, judged, found.seconds)
        for solver in arguments.solvers or SOLVERS:
            for way in arguments.ways:
                method = f"{solver}, {way}"
                try:
                    found = WAYS[way](start, poses, solver)
                except ChainError as error:  # Two-Bone moves two joints alone
                    print(f"| {name} | {method} | {error} | | | | | | |")
                    continue
                judged = judge(start.chain, poses, found)
                totals[method] = totals.get(method, 0) + report(name, method, judged, found.seconds)
    for method, (reached, count) in totals.items():
        print(f"| **all** | {method} | {reached} of {count} | {reached / count:.2%} | | | | | |")


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--targets", type=int, default=2000, help="for each arm")
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=list(ARMS), metavar="ARM", help=f"{', '.join(ARMS)}")
    parser.add_argument("--solvers", nargs="+", help="default: all, each with Finish")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--starts", type=int, default=20, help="of the peer, where one is not enough")
    parser.add_argument("--no-peer", action="store_true")
