# SPDX-License-Identifier: GPL-3.0-or-later
"""From what was sampled to what is to be written: one frame solved after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .blender.armature import Bones
from .blender.limb import Limb
from .blender.sampling import Rig, Sample
from .errors import RigError
from .goal import Aim, Goal
from .kinematics import Locked, Pose
from .solvers import Solution, solve
from .targets import Target


class Solved(NamedTuple):
    """One frame: what was sampled, the goal, what the solver made of it, and the pose to write.

    The pose is that of the solution, or with an influence below 1 between the animated one and that.
    """

    now: Sample
    goal: Goal
    solution: Solution
    pose: Pose


def follow(limb: Limb, bones: Bones, moments: Iterable[Sample]) -> Iterator[Solved]:
    """Solve one sample after the other, each from the solution before; bones that are not solved are as sampled.

    Raises RigError, naming the frame, for a bone scaled to zero, and TargetError for a shape that the target has not.
    """
    aim = Aim(limb)
    rig: Rig | None = None
    pose: Pose | None = None
    began: Pose | None = None
    for now in moments:
        first = pose is None
        if pose is None or now.rig is not rig:
            rig = now.rig
            start = at_frame(now, bones)
            pose = start if pose is None else turned_like(pose, start)
            began = began or start
            # World space may stretch armature space: the tolerance holds in the direction that it stretches most.
            settings = limb.solver, limb.tolerance / rig.stretch, limb.iterations, limb.finish, limb.seed
        goal = aim.at(now, began or start)
        # Where there are soft constraints the first frame may look for a pose far away.
        solution = solve(pose, goal.target, *settings, goal.soft, follow=not (first and goal.soft))
        pose = solution.pose
        yield Solved(now, goal, solution, pose if limb.influence == 1.0 else between(start, pose, limb.influence))


def tasks(limb: Limb, bones: Bones, moments: Iterable[Sample]) -> Iterator[tuple[Pose, Target]]:
    """For each sample by itself the pose that was sampled and the target, armature space; raises as follow() does."""
    aim = Aim(limb)
    for now in moments:
        start = at_frame(now, bones)
        yield start, aim.at(now, start).target


def outside(limb: Limb, bones: Bones, now: Sample) -> list[str]:
    """Names of the bones that the sampled pose shows outside their limits."""
    pose = at_frame(now, bones)
    allowed = pose.copy()
    allowed.project()
    pairs = zip(pose.chain.joints, pose.rotations, allowed.rotations, strict=True)
    return [joint.name for joint, before, after in pairs if after is not before]


def at_frame(now: Sample, bones: Bones) -> Pose:
    """The pose that was sampled."""
    try:
        return bones.pose(now.rig.base, now.rig.channels, now.rig.freedoms)
    except RigError as error:
        raise RigError(f"Frame {now.frame:g}: {error}") from error


def turned_like(before: Pose, start: Pose) -> Pose:
    """The pose `start` with the rotations that its bones had `before`, but for those that a solve does not turn."""
    rotations = [
        sampled if isinstance(joint.freedom, Locked) else previous
        for joint, previous, sampled in zip(start.chain.joints, before.rotations, start.rotations, strict=True)
    ]
    return Pose(start.chain, start.base, rotations)


def between(start: Pose, end: Pose, share: float) -> Pose:
    """The pose that `share` of the way leads to from `start` to `end`, inside the limits."""
    pairs = zip(end.chain.joints, start.rotations, end.rotations, strict=True)
    rotations = [joint.freedom.nearest(before.slerp(after, share)) for joint, before, after in pairs]
    return Pose(end.chain, end.base, rotations)
