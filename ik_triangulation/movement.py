# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of a movement from a pose to targets and back: the poses in which they are reached, and those between.

A target's pose is solved first. On the way there each joint turns from the pose that is left to that one; along a
straight line each of these poses is solved on by Gauss-Newton, to the place of the tip on the line. That line leads
from where the tip would be, had it stayed with what it leaves, to where it would be, were it already there, both at
the same frame: the start pose moves with its armature, and a place on a target with the target. So the tip leaves and
meets what moves at the speed of that. A blend of two places is the same in every space: none has to be chosen.

What the limb shall be like besides reaching counts at the targets, and on the way fades in with the pose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from mathutils import Vector

from .blender.armature import Bones
from .blender.limb import Limb
from .blender.sampling import Sample
from .follow import Solved, at_frame, between, turned_like
from .goal import Aim, Goal
from .kinematics import Locked, Pose
from .kinematics.timing import Profile, window
from .kinematics.way import Way, way
from .solvers import Solution, solve
from .targets import Point

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


class Movement:
    """A limb on its way from the pose at `frame_start` through `visits`, and back within `return_frames`, if any."""

    def __init__(self, bones: Bones, visits: Sequence[Visit], manner: Manner) -> None:
        self._bones, self._visits, self._manner = bones, visits, manner
        self._aims = {visit.frame: Aim(visit.limb) for visit in visits}

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
            arrive = self._place(visit, *found)
            yield from self._way(leave, arrive, visit, frame, visit.frame)
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
        return now, goal, _solve(visit.limb, now, start, goal, follow or not goal.soft)

    def _way(self, leave: _Place, arrive: _Place, visit: Visit, first: int, last: int) -> Iterator[Solved]:
        """The frames between leaving and arriving."""
        ways = _ways(leave.pose, arrive.pose)
        straight, onset = self._manner.straight, 0.0 if self._manner.straight else self._manner.onset
        for frame in range(first + 1, last):
            time = (frame - first) / (last - first)
            now = visit.samples[frame]
            present = at_frame(now, self._bones)
            pose = turned_like(leave.pose, present)
            for i, turned in enumerate(ways):
                if turned is not None:
                    share = self._manner.profile(window(time, i, len(ways), onset))
                    pose.put(i, pose.chain.joints[i].freedom.nearest(turned(share)))
            goal, solution = Goal(Point(pose.tip)), Solution(pose, 0.0, 0, True)
            if straight:
                ends = self._tip(leave, present, frame), self._tip(arrive, present, frame)
                goal = Goal(Point(ends[0].lerp(ends[1], self._manner.profile(time))))
                solution = _onto(visit.limb, now, pose, goal)
            yield self._kept(now, goal, solution)

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
        influence = self._visits[0].limb.influence
        written = pose if influence == 1.0 else between(present, pose, influence)
        return Solved(now, goal, solution._replace(pose=pose), written)


def _ways(leave: Pose, arrive: Pose) -> list[Way | None]:
    """The way of each joint between two poses; None for those that are not solved."""
    pairs = zip(arrive.chain.joints, leave.rotations, arrive.rotations, strict=True)
    return [
        None if isinstance(joint.freedom, Locked) else way(joint.freedom, before, after)
        for joint, before, after in pairs
    ]


def _onto(limb: Limb, now: Sample, pose: Pose, goal: Goal) -> Solution:
    """The pose with its tip moved onto the line by turning the joints as little as that takes.

    Whatever the solver of the limb: others fold a chain anew, and with that each frame would look unlike its
    neighbours, as it would after restarts from elsewhere.
    """
    enough = ON_THE_LINE * limb.tolerance / now.rig.stretch
    return solve(pose, goal.target, "GAUSS_NEWTON", enough, limb.iterations, finish=False)


def _solve(limb: Limb, now: Sample, start: Pose, goal: Goal, follow: bool) -> Solution:
    # World space may stretch armature space: the tolerance holds in the direction that it stretches most.
    settings = limb.solver, limb.tolerance / now.rig.stretch, limb.iterations, limb.finish, limb.seed
    return solve(start, goal.target, *settings, goal.soft, follow)
