# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving of samples, one frame after the other, into solved frames, and the results of these frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from mathutils import Quaternion, Vector

from ...cooperative import Work
from ...errors import RigError
from ...goals import Goal
from ...goals.goal import soft_cost
from ...kinematics import Chain, Cost, Locked, Pose
from ...kinematics.arrays import Mask, Numbers
from ...kinematics.rotation import rotation_angle
from ...motion.jumps import Jump, PathMeasures
from ...motion.path import Path, meet
from ...rig.anatomy.limbs import rest_body
from ...rig.armature import Bones
from ...rig.frames.samples import Rig, Sample
from ...rig.freedom import can_turn, limits_of
from ...rig.limb import Limb
from ...rig.stance import has_hinge, outwards_of
from ...rig.targets.goal import GoalReader
from ...solvers import Solution, SolverSettings, solve_goal
from ...solvers.natural import PLAIN_LIMB, LimbForm
from ...solvers.null_space import MET

_JOINTS = (2, 3)

NATURAL = "NATURAL"  # the solver that starts from the samples' own pose, the reference, and from nothing else
Jumps = Callable[[], list[Jump]]
_ON_LIMIT = 1e-5  # [rad] violation of limits that rounding explains


def limb_form(limb: Limb) -> LimbForm:
    """Return the form of a limb by the part of the body that it was added as, else that its bones are."""
    part, side = _part(limb)
    if not has_hinge(part):
        return PLAIN_LIMB
    return LimbForm(has_end=True, flexion=outwards_of(limb.armature, part, limb.bones, side))


def _part(limb: Limb) -> tuple[str, str]:
    """Return the part of the body that a limb is, and the side "L" or "R" that its bones tell."""
    bones = limb.armature.pose.bones
    moving = [name for name in limb.in_order if not isinstance(limits_of(bones[name]), Locked)]  # no twist bones
    turning = [name for name in moving if can_turn(bones[name])]  # nor helpers between two of them
    if len(turning) not in _JOINTS:
        return "NONE", ""
    stored = getattr(bones[limb.tip], "ik_triangulation", None)  # not there unless it is registered
    found = rest_body(limb.armature).limb_of(turning)
    side = found.side if found else ""
    if stored and stored.body_part != "NONE":
        return str(stored.body_part), side
    return (found.kind.name, side) if found else ("NONE", "")


class SolvedFrame(NamedTuple):
    """One frame: its sample, the goal, the solution of the solver, and the pose to write.

    The pose is that of the solution, or with an influence below 1 a blend from the animated pose to the solution.
    """

    now: Sample
    goal: Goal
    solution: Solution
    pose: Pose


def follow(limb: Limb, bones: Bones, samples: Iterable[Sample], begun: bool = False) -> Iterator[SolvedFrame]:
    """Solve one sample after the other, each from the start pose set in the limb; other bones stay as sampled.

    With `begun` the pose of the first sample counts as the solution of a frame before. Raises RigError, naming the
    frame, for a bone scaled to zero, and TargetError for a shape that the target does not have.
    """
    goals, settings = GoalReader(), solver_settings(limb)
    rig: Rig | None = None
    pose: Pose | None = None
    began: Pose | None = None
    for now in samples:
        first = pose is None and not begun
        if pose is None or now.rig is not rig:
            rig = now.rig
            start = at_frame(now, bones)
            begin = _begin(limb, start, pose)
            began = start if began is None else turned_like(began, start)
        elif limb.start_from == "PREVIOUS" and limb.solver != NATURAL:
            begin = pose
        goal = goals.at(now, began or start)
        solution = already_right(limb, begin, goal) if first and limb.start_from != "REST" else None
        if solution is None:
            # With soft goals the first frame may search for a pose far away.
            solution = solve_goal(begin, goal, settings, follow=not (first and goal.soft))
        pose = solution.pose
        yield SolvedFrame(now, goal, solution, shown_pose(now, start, pose))


def already_right(limb: Limb, pose: Pose, goal: Goal) -> Solution | None:
    """Return the pose as a solution if it is within tolerance and limits and meets the soft goals; else None."""
    solution = solve_goal(pose, goal, SolverSettings(solver=limb.solver, iterations=0, finish=False))
    moved = max(map(rotation_angle, solution.pose.rotations, pose.rotations))
    right = solution.reached and moved <= _ON_LIMIT and soft_cost(solution.pose, goal.soft) <= MET
    return solution if right else None


def stays(bones: Bones, solved: SolvedFrame) -> bool:
    """Tell whether a frame reaches in the pose that was sampled, so that it needs no change."""
    pairs = zip(at_frame(solved.now, bones).rotations, solved.solution.pose.rotations, strict=True)
    return solved.solution.reached and max(rotation_angle(*pair) for pair in pairs) <= _ON_LIMIT


def smoothed(limb: Limb, bones: Bones, solved: Sequence[SolvedFrame]) -> Work[tuple[list[SolvedFrame], Jumps]]:
    """Return the solved frames without avoidable jumps, smoothed by the limb's settings, and a search for other jumps.

    That search is a call, as it takes time. The plain method, without Finish, is not changed, nor are frames of which
    some have other joints. The first and the last frame stay if they reach in the pose that was sampled.
    """
    if not same_joints(solved):
        return list(solved), list

    found = {}
    if limb.refines and any(each.goal.soft for each in solved):
        found = yield from meet(solved, limb.seed)
    frames = list(solved)
    for k, pose in found.items():
        frames[k] = solved[k]._replace(solution=solved[k].solution._replace(pose=pose))
    ends = [k for k in (0, len(solved) - 1) if stays(bones, solved[k])]
    if not found and not (limb.refines and (limb.smooth or limb.smoothing)):
        return list(solved), lambda: Path(frames, ends).jumps()
    yield
    path = Path(frames, ends)
    yield
    if limb.smooth:
        yield from path.without_jumps(limb.seed)
    if limb.smoothing:
        yield from path.relax(limb.smoothing)
    result: list[SolvedFrame] = []
    for each, rotations in zip(solved, path.rotations, strict=True):
        yield
        same = rotations is each.solution.pose.rotations
        result.append(each if same else _replaced(bones, each, result[-1:] or [each], rotations))
    return result, path.jumps


def same_joints(solved: Sequence[SolvedFrame]) -> bool:
    """Tell whether all frames have the same joints; they differ if a bone is scaled at some of them."""
    return len({tuple(joint.name for joint in chain.joints) for chain in chains_of(solved).values()}) == 1


def chains_of(solved: Sequence[SolvedFrame]) -> dict[int, Chain]:
    """Return the few chains that the many frames share, by their id()."""
    return {id(each.pose.chain): each.pose.chain for each in solved}


def outside(bones: Bones, now: Sample) -> list[str]:
    """Return the names of the bones that are outside their limits in the sampled pose."""
    pose = at_frame(now, bones)
    allowed = pose.copy()
    allowed.project()
    pairs = zip(pose.chain.joints, pose.rotations, allowed.rotations, strict=True)
    return [joint.name for joint, before, after in pairs if after is not before]


def at_frame(now: Sample, bones: Bones) -> Pose:
    """Return the pose of a sample. Raises RigError, naming the frame, for a bone scaled to zero."""
    try:
        return bones.pose(now.rig.base, now.rig.channels, now.rig.freedoms)
    except RigError as error:
        raise RigError(f"Frame {now.frame:g}: {error}") from error


def _begin(limb: Limb, start: Pose, before: Pose | None) -> Pose:
    """Return the pose to solve from; `start` is the sampled pose, `before` the solution of the frame before."""
    if limb.solver == NATURAL:
        return start
    if limb.start_from == "REST":
        return turned_like(Pose(start.chain, start.base, [Quaternion() for _ in start.rotations]), start)
    if limb.start_from == "ANIMATED" or before is None:
        return start
    return turned_like(before, start)


def turned_like(before: Pose, start: Pose) -> Pose:
    """Return the pose `start` with the rotations of its joints in `before`; locked joints keep their own.

    Joints are matched by name, as bones that a solve does not turn are joints only at frames where a bone is scaled.
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
    """Return the solver settings of a limb as a record."""
    form = limb_form(limb) if limb.solver == NATURAL else PLAIN_LIMB
    return SolverSettings(
        solver=limb.solver, iterations=limb.iterations, finish=limb.refines, seed=limb.seed, form=form
    )


def _replaced(
    bones: Bones, solved: SolvedFrame, before: Sequence[SolvedFrame], rotations: Sequence[Quaternion]
) -> SolvedFrame:
    """Return a solved frame with other rotations, whose cost counts from the frame before."""
    now, goal, solution, _ = solved
    own, target = solution.pose, goal.target
    pose = turned_like(before[0].solution.pose, own)
    for i, rotation in enumerate(rotations):
        if rotation != pose.rotations[i]:
            pose.put(i, rotation)
    error = (target.closest(pose.tip) - pose.tip).length
    solution = solution._replace(pose=pose, error=error, reached=error <= goal.tolerance)
    return SolvedFrame(now, goal, solution, shown_pose(now, at_frame(now, bones), pose))


def shown_pose(now: Sample, start: Pose, pose: Pose) -> Pose:
    """Return the pose to write: a blend by the frame's influence from the animated pose `start` to the solution."""
    share = now.limb.influence
    return pose if share == 1.0 else between(start, pose, share)


def between(start: Pose, end: Pose, share: float) -> Pose:
    """Return the blend from `start` to `end` by `share`, 0..1, inside the limits."""
    pairs = zip(end.chain.joints, start.rotations, end.rotations, strict=True)
    # Between rotations less than 2 degrees apart slerp() cuts the corner.
    rotations = [joint.freedom.nearest(before.slerp(after, share).normalized()) for joint, before, after in pairs]
    return Pose(end.chain, end.base, rotations)


class Shown(NamedTuple):
    """Location of the tip and rotation of its bone as Blender evaluates them, armature space.

    `goal` is the limb's goal where its target is now, if that has moved since it was read.
    """

    tip: Vector
    rotation: Quaternion
    goal: Goal | None = None


class FrameResult(NamedTuple):
    """One frame as it is shown: `error` is the distance from tip to target [Blender units, world space].

    `pose` is the one that was written; with an influence below 1 that is short of the `solution`. `angle` [rad] is the
    deviation of the tip from the orientation asked for; None if none is. `iterations` are those of the solver, or where
    all frames are solved together the steps of Gauss-Newton; restarts that are made together count as none. A frame
    that is not `due` is on its way, and `error` is the distance to the intermediate target of that frame.
    """

    frame: float
    error: float
    reached: bool
    iterations: int
    pose: Pose
    solution: Pose
    angle: float | None = None
    due: bool = True

    @property
    def on_limits(self) -> dict[str, list[str]]:
        """Limits that joints are at, such as "X maximum", by the bones' names."""
        pairs = zip(self.pose.chain.joints, self.pose.rotations, strict=True)
        ends = {joint.name: joint.freedom.on_limits(rotation) for joint, rotation in pairs}
        return {name: found for name, found in ends.items() if found}

    @property
    def cost(self) -> Cost:
        """Turns, total angle and travel of the solution; those of a bake add up over its frames."""
        return self.solution.cost


class JudgedFrames(Sequence[FrameResult]):
    """The results of all frames: arrays of what is counted, and a row for each, which is made when it is asked for.

    `errors` (F) and `angles` (F, or None) are those of the rows, `reached` and `due` are masks (F). `path` has costs
    and limits as arrays; it is None for results that were made as rows.
    """

    def __init__(
        self,
        row: Callable[[int], FrameResult],
        frames: Sequence[float],
        errors: Numbers,
        reached: Mask,
        due: Mask,
        angles: Numbers | None = None,
        path: PathMeasures | None = None,
    ) -> None:
        self._row, self.frames, self.path = row, frames, path
        self.errors, self.reached, self.due, self.angles = errors, reached, due, angles

    @classmethod
    def of(cls, rows: Sequence[FrameResult]) -> JudgedFrames:
        """The results in these rows."""
        if isinstance(rows, JudgedFrames):
            return rows
        angles = [np.nan if row.angle is None else row.angle for row in rows]
        asked = any(row.angle is not None for row in rows)
        return cls(
            rows.__getitem__,
            [row.frame for row in rows],
            np.array([row.error for row in rows], float),
            np.array([row.reached for row in rows], bool),
            np.array([row.due for row in rows], bool),
            np.array(angles, float) if asked else None,
        )

    def __len__(self) -> int:
        return len(self.errors)

    def __getitem__(self, index: Any) -> Any:
        indices = range(len(self))[index]
        return [self._row(k) for k in indices] if isinstance(indices, range) else self._row(indices)

    def due_only(self, due: Mask) -> JudgedFrames:
        """Return the same results, due at no other frames than these (F)."""
        both = self.due & due

        def row(k: int) -> FrameResult:
            return self._row(k)._replace(due=bool(both[k]))

        return JudgedFrames(row, self.frames, self.errors, self.reached, both, self.angles, self.path)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each frame as plain values for JSON; of a path no rows are made for it."""
        if self.path is None:
            return [
                {
                    "frame": row.frame,
                    "due": row.due,
                    "distance": row.error,
                    "reached": row.reached,
                    "iterations": row.iterations,
                    "angle": row.angle,
                    "on_limits": row.on_limits,
                    "cost": asdict(row.cost),
                }
                for row in self
            ]
        costs, limits = self.path.costs, self.path.on_limits_at
        columns = zip(
            self.frames,
            self.due.tolist(),
            self.errors.tolist(),
            self.reached.tolist(),
            self.path.steps.tolist(),
            [None] * len(self) if self.angles is None else self.angles.tolist(),
            costs.turns.tolist(),
            costs.total_angle.tolist(),
            costs.travel.tolist(),
            strict=True,
        )
        return [
            {
                "frame": frame,
                "due": due,
                "distance": error,
                "reached": reached,
                "iterations": steps,
                "angle": angle,
                "on_limits": limits(k),
                "cost": {"turns": turns, "total_angle": total, "travel": travel},
            }
            for k, (frame, due, error, reached, steps, angle, turns, total, travel) in enumerate(columns)
        ]

    @property
    def counted(self) -> Mask:
        """The due frames; all if none is due."""
        return self.due if self.due.any() else np.ones(len(self), bool)
