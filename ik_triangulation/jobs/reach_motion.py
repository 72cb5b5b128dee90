# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of a movement from a pose to targets and back: the poses in which they are reached, and those between.

A target's pose is solved first. Along the joints' arcs each joint then turns from the pose that is left to that one.

A straight line leads from where the tip would be, had it stayed with what it leaves, to where it would be, were it
already there, both at the same frame: the start pose moves with its armature, and a place on a target with the target.
So the tip leaves and meets what moves at the speed of that. A blend of two places is the same in every space: none has
to be chosen. The pose that is left is moved along the line with as little turning as that takes, and so is that in
which the line ends, backwards; the first goes over into the second.

What the limb shall be like besides reaching counts at the targets, and on the way fades in with the pose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from mathutils import Vector

from ..goals import Goal, Point
from ..kinematics import Locked, Pose
from ..kinematics.joint_path import joint_path
from ..motion.timing import Profile, window
from ..rig.armature import Bones
from ..rig.frames.sampling import Sample
from ..rig.goal import GoalReader
from ..rig.limb import Limb
from ..solvers import Solution, solve, solve_goal
from .frame_solver import Solved, at_frame, shown_pose, solver_settings, turned_like

ON_THE_LINE = 0.01  # of the tolerance: nearer than at a target, or the slow frames at both ends would tremble


class Manner(NamedTuple):
    """How to go: in time, along a straight line or the joints' arcs, and on these how much later the last begin."""

    profile: Profile
    straight: bool = True
    onset: float = 0.0


class Visit(NamedTuple):
    """The target of a limb, to be at from `frame` to `leave`, and samples there and on the ways to and from it."""

    limb: Limb
    frame: int
    leave: int
    samples: Mapping[int, Sample]


class _Place(NamedTuple):
    """A pose that is left or arrived in, and what its tip stays with: the target of `visit`, else the armature.

    `gap` leads from that target to the tip [Blender units, armature space]: next to nothing where it is reached.
    """

    pose: Pose
    visit: Visit | None = None
    gap: Vector | None = None


class _Step(NamedTuple):
    """A frame on the way, its share of the time, its sample, and the pose that was sampled."""

    frame: int
    time: float
    now: Sample
    present: Pose


class Movement:
    """A limb on its way from the pose at `frame_start` through `visits`, and back within `return_frames`, if any."""

    def __init__(self, bones: Bones, visits: Sequence[Visit], manner: Manner) -> None:
        self._bones, self._visits, self._manner = bones, visits, manner
        self._aims = {visit.frame: GoalReader() for visit in visits}

    def frames(self, frame_start: int, return_frames: int = 0) -> Iterator[Solved]:
        """Every frame solved. Raises what follow() does."""
        now = self._visits[0].samples[frame_start]
        self._began = at_frame(now, self._bones)
        self._began.project()
        self._latest = self._began
        yield self._kept(now, Goal(Point(self._began.tip)), Solution(self._began, 0.0, 0, True))
        start = leave = _Place(self._began)
        frame = frame_start
        for visit in self._visits:
            found = self._reached(visit, visit.frame, leave.pose)
            if self._manner.straight:
                found = self._reached_straight(visit, leave, frame, found)
            yield from self._way(leave, self._place(visit, *found), visit, frame, visit.frame)
            yield self._kept(*found)
            for frame in range(visit.frame + 1, visit.leave + 1):
                found = self._reached(visit, frame, self._latest, follow=True)
                yield self._kept(*found)
            leave, frame = self._place(visit, *found), visit.leave
        if return_frames:
            end = frame + return_frames
            yield from self._way(leave, start, visit, frame, end)
            now = visit.samples[end]
            pose = turned_like(start.pose, at_frame(now, self._bones))
            yield self._kept(now, Goal(Point(pose.tip)), Solution(pose, 0.0, 0, True))

    def _reached(self, visit: Visit, frame: int, pose: Pose, follow: bool = False) -> tuple[Sample, Goal, Solution]:
        """The target of a visit as reached at a frame from `pose`."""
        now = visit.samples[frame]
        goal = self._goal(visit, frame)
        start = turned_like(pose, at_frame(now, self._bones))
        return now, goal, _solve(visit.limb, start, goal, follow or not goal.soft)

    def _reached_straight(
        self, visit: Visit, leave: _Place, first: int, found: tuple[Sample, Goal, Solution]
    ) -> tuple[Sample, Goal, Solution]:
        """The same place, in the pose that the line leads to; as it was if it does not lead there."""
        now, goal, solution = found
        steps = self._steps(visit, first, visit.frame + 1, visit.frame)
        goals = self._line(leave, self._place(visit, *found), steps)
        pose, tip = _along(visit.limb, leave.pose, steps, goals)[-1], solution.pose.tip
        spot = goal.target.closest(tip) if solution.reached else tip
        led = _solve(visit.limb, pose, goal._replace(target=Point(spot)), follow=True)
        return (now, goal, led) if led.reached else found

    def _way(self, leave: _Place, arrive: _Place, visit: Visit, first: int, last: int) -> Iterator[Solved]:
        """The frames between leaving and arriving."""
        steps = self._steps(visit, first, last, last)
        if self._manner.straight:
            goals = self._line(leave, arrive, steps)
            solutions = self._along_line(visit.limb, leave.pose, arrive.pose, steps, goals)
        else:
            solutions = self._along_arc(leave.pose, arrive.pose, steps)
            goals = [Goal(Point(solution.pose.tip)) for solution in solutions]
        for step, goal, solution in zip(steps, goals, solutions, strict=True):
            yield self._kept(step.now, goal, solution)

    def _steps(self, visit: Visit, first: int, end: int, last: int) -> list[_Step]:
        """The frames after `first` and before `end`, on a way that is over at `last`."""
        steps = []
        for frame in range(first + 1, end):
            now = visit.samples[frame]
            steps.append(_Step(frame, (frame - first) / (last - first), now, at_frame(now, self._bones)))
        return steps

    def _line(self, leave: _Place, arrive: _Place, steps: Sequence[_Step]) -> list[Goal]:
        """Where the tip shall be on the line."""
        goals = []
        for step in steps:
            begin, end = (self._tip(place, step.present, step.frame) for place in (leave, arrive))
            goals.append(Goal(Point(begin.lerp(end, self._manner.profile(step.time)))))
        return goals

    def _along_line(
        self, limb: Limb, leave: Pose, arrive: Pose, steps: Sequence[_Step], goals: Sequence[Goal]
    ) -> list[Solution]:
        """The poses that the one pose leads to along the line go over into those that the other leads back to."""
        onward, back = _along(limb, leave, steps, goals), _along(limb, arrive, steps[::-1], goals[::-1])[::-1]
        solutions = []
        for step, goal, before, after in zip(steps, goals, onward, back, strict=True):
            share = self._manner.profile(step.time)
            solutions.append(_onto(limb, step, _blend(before, after, step.present, [share] * len(before)), goal))
        return solutions

    def _along_arc(self, leave: Pose, arrive: Pose, steps: Sequence[_Step]) -> list[Solution]:
        """Each joint turns from one pose to the other, in its own part of the time."""
        solutions = []
        for step in steps:
            times = [window(step.time, joint, len(leave), self._manner.onset) for joint in range(len(leave))]
            pose = _blend(leave, arrive, step.present, [self._manner.profile(time) for time in times])
            solutions.append(Solution(pose, 0.0, 0, True))
        return solutions

    def _place(self, visit: Visit, now: Sample, goal: Goal, solution: Solution) -> _Place:
        """Where a solution is, for leaving it or arriving there."""
        tip = solution.pose.tip
        return _Place(solution.pose, visit, tip - goal.target.closest(tip))

    def _tip(self, place: _Place, present: Pose, frame: int) -> Vector:
        """Where the tip would be at a frame if it stayed at that place, armature space."""
        tip = turned_like(place.pose, present).tip
        if place.visit is None or place.gap is None:
            return tip
        return self._goal(place.visit, frame).target.closest(tip) + place.gap

    def _goal(self, visit: Visit, frame: int) -> Goal:
        return self._aims[visit.frame].at(visit.samples[frame], self._began)

    def _kept(self, now: Sample, goal: Goal, solution: Solution) -> Solved:
        """The frame as it is to be written, with the turns that lead there from the frame before."""
        present = at_frame(now, self._bones)
        pose = turned_like(self._latest, present)
        for i, rotation in enumerate(solution.pose.rotations):
            if rotation != pose.rotations[i]:
                pose.put(i, rotation)
        self._latest = pose
        return Solved(now, goal, solution._replace(pose=pose), shown_pose(now, present, pose))


def _blend(before: Pose, after: Pose, present: Pose, shares: Sequence[float]) -> Pose:
    """Each joint at its share of the way from one pose to another, in the frame of the `present` one."""
    pose = turned_like(before, present)
    for i, share in enumerate(shares):
        freedom = pose.chain.joints[i].freedom
        if not isinstance(freedom, Locked):
            pose.put(i, freedom.nearest(joint_path(freedom, before.rotations[i], after.rotations[i])(share)))
    return pose


def _along(limb: Limb, pose: Pose, steps: Sequence[_Step], goals: Sequence[Goal]) -> list[Pose]:
    """The poses that a pose leads to one after the other as its tip is moved along the line."""
    poses = []
    for step, goal in zip(steps, goals, strict=True):
        pose = _onto(limb, step, turned_like(pose, step.present), goal).pose
        poses.append(pose)
    return poses


def _onto(limb: Limb, step: _Step, pose: Pose, goal: Goal) -> Solution:
    """The pose with its tip moved onto the line, without restarts: these would make a frame unlike its neighbours."""
    enough = ON_THE_LINE * step.now.limb.tolerance / step.now.rig.stretch
    return solve(pose, goal.target, solver=limb.solver, tolerance=enough, iterations=limb.iterations, finish=False)


def _solve(limb: Limb, start: Pose, goal: Goal, follow: bool) -> Solution:
    return solve_goal(start, goal, solver_settings(limb), follow=follow)
