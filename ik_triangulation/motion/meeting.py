# SPDX-License-Identifier: GPL-3.0-or-later
"""Meet orientations along a path: frames that miss theirs get a pose on another branch.

Following a path from frame to frame keeps to one branch, on which a limit may prevent the orientation asked for.
Another branch is searched for at frames that miss, at increasing intervals while none is found, and followed in both
directions from where one is.
"""

from collections.abc import Sequence

from ..cooperative import Work
from ..goals import Goal
from ..goals.orientation import missing_angle
from ..kinematics import Locked, Pose
from ..solvers import gauss_newton
from ..solvers.iterate import iterate
from ..solvers.null_space import optimise, optimise_from_restarts
from .jumps import PathFrame, Rotations

_STEPS = 40  # of Gauss-Newton that bring the pose of the neighbouring frame to a target
_LONGEST = 8  # frames skipped while nothing is found
_PRECISE = 0.2  # share of the tolerance within which they bring it


def is_met(goal: Goal, pose: Pose) -> bool:
    """Return whether the end effector has the orientation asked for within the angle tolerance."""
    angle = missing_angle(goal.soft, pose.tip, pose.tip_rotation) if goal.soft else None
    return angle is None or angle <= goal.angle_tolerance


def meet(frames: Sequence[PathFrame], seed: int = 0) -> Work[dict[int, Pose]]:
    """Find other poses, by frame index, for frames that reach with the wrong orientation."""
    search = _Search(frames)
    for k in sorted(search.missed):
        if k + 1 < len(frames) and k + 1 not in search.missed:
            yield from search.follow(k + 1, -1)
    pause, wait = 1, 0  # frames to skip after the next search without result, and at present
    for k in sorted(search.missed):
        if k - 1 not in search.missed:
            pause, wait = 1, 0
        if k not in search.missed or wait:
            wait = max(0, wait - 1)
            continue
        found = search.elsewhere(k, seed)
        yield
        if not found:
            pause, wait = min(2 * pause, _LONGEST), pause
            continue
        for step in (-1, 1):
            yield from search.follow(k, step)
    return search.found


class _Search:
    """The frames of a path, the indices of those that still `missed`, and the poses `found` for others."""

    def __init__(self, frames: Sequence[PathFrame]) -> None:
        self._frames = frames
        self.found: dict[int, Pose] = {}
        reached = ((k, each.goal, each.solution) for k, each in enumerate(frames) if each.solution.reached)
        self.missed = {k for k, goal, solution in reached if not is_met(goal, solution.pose)}

    def elsewhere(self, k: int, seed: int) -> bool:
        """Search for a pose of frame `k` on any branch; return whether one was found."""
        goal, pose = self._frames[k].goal, self._frames[k].solution.pose.copy()
        optimise_from_restarts(pose, goal.target, goal.soft, goal.tolerance, seed)
        return self._kept(k, pose)

    def follow(self, k: int, step: int) -> Work[None]:
        """Continue the pose of frame `k` through the adjacent frames that miss, as far as they are met."""
        rotations = self.found.get(k, self._frames[k].solution.pose).rotations
        while k + step in self.missed:
            k += step
            goal = self._frames[k].goal
            pose = posed(self._frames[k], rotations)
            iterate(gauss_newton.step, pose, goal.target, _PRECISE * goal.tolerance, _STEPS)
            optimise(pose, goal.target, goal.soft, goal.tolerance)
            yield
            if not self._kept(k, pose):
                break
            rotations = pose.rotations

    def _kept(self, k: int, pose: Pose) -> bool:
        """Keep a pose of frame `k` if it reaches with the orientation asked for."""
        goal = self._frames[k].goal
        fits = (goal.target.closest(pose.tip) - pose.tip).length <= goal.tolerance and is_met(goal, pose)
        if fits:
            self.found[k] = pose
            self.missed.remove(k)
        return fits


def posed(frame: PathFrame, rotations: Rotations) -> Pose:
    """The pose of a frame with these rotations, except those of locked joints."""
    own = frame.solution.pose
    joints = zip(own.chain.joints, own.rotations, rotations, strict=True)
    pose = Pose(own.chain, own.base, [kept if isinstance(j.freedom, Locked) else new for j, kept, new in joints])
    pose.project()
    return pose
