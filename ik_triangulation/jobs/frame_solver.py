# SPDX-License-Identifier: GPL-3.0-or-later
"""From what was sampled to what is to be written: one frame solved after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from mathutils import Quaternion

from ..cooperative import Work
from ..errors import RigError
from ..goals import Goal, Target
from ..goals.soft import soft_cost
from ..kinematics import Chain, Locked, Pose
from ..kinematics.rotation import rotation_angle
from ..motion.jump_removal import Path
from ..motion.jumps import Jump
from ..motion.meeting import meet
from ..rig.armature import Bones
from ..rig.frames.sampling import Rig, Sample
from ..rig.goal import GoalReader
from ..rig.limb import Limb
from ..solvers import Solution, SolverSettings, solve_goal
from ..solvers.null_space import MET

Jumps = Callable[[], list[Jump]]
_ON_LIMIT = 1e-5  # [rad] that rounding may put a pose outside its limits


class Solved(NamedTuple):
    """One frame: what was sampled, the goal, what the solver made of it, and the pose to write.

    The pose is that of the solution, or with an influence below 1 between the animated one and that.
    """

    now: Sample
    goal: Goal
    solution: Solution
    pose: Pose


def follow(limb: Limb, bones: Bones, moments: Iterable[Sample], begun: bool = False) -> Iterator[Solved]:
    """Solve one sample after the other, each from where the limb says; bones that are not solved are as sampled.

    If that has `begun` before, the pose of the first sample is taken for a solution. Raises RigError, naming the frame,
    for a bone scaled to zero, and TargetError for a shape that the target has not.
    """
    aim = GoalReader()
    rig: Rig | None = None
    pose: Pose | None = None
    began: Pose | None = None
    for now in moments:
        first = pose is None and not begun
        if pose is None or now.rig is not rig:
            rig = now.rig
            start = at_frame(now, bones)
            begin = _begin(limb, start, pose)
            began = start if began is None else turned_like(began, start)
        elif limb.start_from == "PREVIOUS":
            begin = pose
        goal = aim.at(now, began or start)
        solution = already_right(limb, begin, goal) if first and limb.start_from != "REST" else None
        if solution is None:
            # Where there are soft constraints the first frame may look for a pose far away.
            solution = solve_goal(begin, goal, solver_settings(limb), follow=not (first and goal.soft))
        pose = solution.pose
        yield Solved(now, goal, solution, shown_pose(now, start, pose))


def already_right(limb: Limb, pose: Pose, goal: Goal) -> Solution | None:
    """The pose as a solution, if it is within tolerance and its limits and all else it shall be; None if it is not."""
    solution = solve_goal(pose, goal, SolverSettings(solver=limb.solver, iterations=0, finish=False))
    moved = max(map(rotation_angle, solution.pose.rotations, pose.rotations))
    right = solution.reached and moved <= _ON_LIMIT and soft_cost(solution.pose, goal.soft) <= MET
    return solution if right else None


def _stays(bones: Bones, solved: Solved) -> bool:
    """Whether a frame reaches in the pose that was sampled: nothing has to be done to it."""
    pairs = zip(at_frame(solved.now, bones).rotations, solved.solution.pose.rotations, strict=True)
    return solved.solution.reached and max(rotation_angle(*pair) for pair in pairs) <= _ON_LIMIT


def smoothed(limb: Limb, bones: Bones, solved: Sequence[Solved]) -> Work[tuple[list[Solved], Jumps]]:
    """The solved frames without the jumps that need not be and smoothed as the limb says, and what jumps all the same.

    The latter is a call that finds it, as that takes time too. The bare method, without Finish, is left as it is, and
    so are frames of which some have other joints. The first and the last frame stay where they are as sampled.
    """
    if not same_joints(solved):
        return list(solved), list

    found = {}
    if limb.finish and any(each.goal.soft for each in solved):
        found = yield from meet(solved, limb.seed)
    frames = list(solved)
    for k, pose in found.items():
        frames[k] = solved[k]._replace(solution=solved[k].solution._replace(pose=pose))
    ends = [k for k in (0, len(solved) - 1) if _stays(bones, solved[k])]
    if not found and not (limb.finish and (limb.smooth or limb.smoothing)):
        return list(solved), lambda: Path(frames, ends).jumps()
    yield
    path = Path(frames, ends)
    yield
    if limb.smooth:
        yield from path.without_jumps(limb.seed)
    if limb.smoothing:
        yield from path.relax(limb.smoothing)
    result: list[Solved] = []
    for each, rotations in zip(solved, path.rotations, strict=True):
        yield
        same = rotations is each.solution.pose.rotations
        result.append(each if same else _replaced(bones, each, result[-1:] or [each], rotations))
    return result, path.jumps


def same_joints(solved: Sequence[Solved]) -> bool:
    """Whether all frames have the same joints, which they have not where something is scaled at some of them."""
    return len({tuple(joint.name for joint in chain.joints) for chain in chains_of(solved).values()}) == 1


def chains_of(solved: Sequence[Solved]) -> dict[int, Chain]:
    """The few chains that the many frames share, by their id()."""
    return {id(each.pose.chain): each.pose.chain for each in solved}


def tasks(
    limb: Limb, bones: Bones, moments: Iterable[Sample], from_rest: bool = False
) -> Iterator[tuple[Pose, Target]]:
    """For each sample by itself the pose that was sampled and the target, armature space; raises as follow() does.

    With `from_rest` the joints are at rest instead.
    """
    aim = GoalReader()
    for now in moments:
        start = at_frame(now, bones)
        target = aim.at(now, start).target
        yield Pose(start.chain, start.base, [Quaternion() for _ in start.rotations]) if from_rest else start, target


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


def _begin(limb: Limb, start: Pose, before: Pose | None) -> Pose:
    """Where to solve from at a frame whose sampled pose is `start`; `before` is the solution of the frame before."""
    if limb.start_from == "REST":
        return turned_like(Pose(start.chain, start.base, [Quaternion() for _ in start.rotations]), start)
    if limb.start_from == "ANIMATED" or before is None:
        return start
    return turned_like(before, start)


def turned_like(before: Pose, start: Pose) -> Pose:
    """The pose `start` with the rotations that its bones had `before`, but for those that a solve does not turn.

    Bones that a solve does not turn are joints of their own only where something is scaled, so it goes by names.
    """
    joints, turned = start.chain.joints, before.rotations
    if before.chain is not start.chain:
        names = (joint.name for joint in before.chain.joints)
        by_name = dict(zip(names, turned, strict=True))
        turned = [by_name.get(joint.name, own) for joint, own in zip(joints, start.rotations, strict=True)]
    rotations = [
        sampled if isinstance(joint.freedom, Locked) else rotation
        for joint, sampled, rotation in zip(joints, start.rotations, turned, strict=True)
    ]
    return Pose(start.chain, start.base, rotations)


def solver_settings(limb: Limb) -> SolverSettings:
    """The solver settings of a limb as a record."""
    return SolverSettings(solver=limb.solver, iterations=limb.iterations, finish=limb.finish, seed=limb.seed)


def _replaced(bones: Bones, solved: Solved, before: Sequence[Solved], rotations: Sequence[Quaternion]) -> Solved:
    """A solved frame with other rotations, to which the joints turn from those of the frame before."""
    now, goal, solution, _ = solved
    own, target = solution.pose, goal.target
    pose = turned_like(before[0].solution.pose, own)
    for i, rotation in enumerate(rotations):
        if rotation != pose.rotations[i]:
            pose.put(i, rotation)
    error = (target.closest(pose.tip) - pose.tip).length
    solution = solution._replace(pose=pose, error=error, reached=error <= goal.tolerance)
    return Solved(now, goal, solution, shown_pose(now, at_frame(now, bones), pose))


def shown_pose(now: Sample, start: Pose, pose: Pose) -> Pose:
    """The pose to write: with the influence of that frame, from the animated pose `start` to the solution."""
    share = now.limb.influence
    return pose if share == 1.0 else between(start, pose, share)


def between(start: Pose, end: Pose, share: float) -> Pose:
    """The pose that `share` of the way leads to from `start` to `end`, inside the limits."""
    pairs = zip(end.chain.joints, start.rotations, end.rotations, strict=True)
    # Between rotations less than 2 degrees apart slerp() cuts the corner.
    rotations = [joint.freedom.nearest(before.slerp(after, share).normalized()) for joint, before, after in pairs]
    return Pose(end.chain, end.base, rotations)
