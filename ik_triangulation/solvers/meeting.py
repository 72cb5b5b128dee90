# SPDX-License-Identifier: GPL-3.0-or-later
"""Orientations along a path that can be met are: frames that miss theirs get a pose from elsewhere.

Following a path from frame to frame keeps to one posture, and a limit of that may keep the tip from turning as it is
wished to, where another posture would let it. Such a posture is looked for at frames that miss, less and less often
while none is found, and followed both ways from where one is.
"""

from collections.abc import Sequence
from random import Random

from ..kinematics import Locked, Pose
from ..work import Work
from . import gauss_newton
from .jumps import Moment, Rotations
from .repeat import repeat
from .settle import settle, settle_elsewhere
from .soft import missing_angle

STEPS = 40  # of Gauss-Newton that bring the posture of the frame beside to a target
LONGEST = 8  # frames that are passed over where nothing is found
PRECISE = 0.2  # share of the tolerance within which they bring it


def is_met(moment: Moment, pose: Pose) -> bool:
    """Whether the tip is turned as it is wished to be at that moment, within its angle tolerance."""
    angle = missing_angle(moment.soft, pose.tip_rotation) if moment.soft else None
    return angle is None or angle <= moment.angle_tolerance


def meet(moments: Sequence[Moment], seed: int = 0) -> Work[list[Moment]]:
    """The moments with other poses where the tip reached but was turned wrong, as far as such poses are found."""
    found = list(moments)
    missed = {k for k, moment in enumerate(moments) if moment.reached and not is_met(moment, moment.pose)}
    for k in sorted(missed):
        if k + 1 < len(found) and k + 1 not in missed:
            yield from _follow(found, missed, k + 1, -1)
    pause, wait = 1, 0  # frames to pass over after the next search that finds nothing, and still now
    for k in sorted(missed):
        if k - 1 not in missed:
            pause, wait = 1, 0
        if k not in missed or wait:
            wait = max(0, wait - 1)
            continue
        pose = _elsewhere(found[k], seed)
        yield
        if pose is None:
            pause, wait = min(2 * pause, LONGEST), pause
            continue
        found[k] = found[k]._replace(pose=pose)
        missed.remove(k)
        for step in (-1, 1):
            yield from _follow(found, missed, k, step)
    return found


def _elsewhere(moment: Moment, seed: int) -> Pose | None:
    """A pose for a moment that is turned as it is wished to be, wherever that is; None if none is found."""
    pose = moment.pose.copy()
    settle_elsewhere(pose, moment.target, moment.soft, moment.tolerance, Random(seed))
    return pose if _fits(moment, pose) else None


def _follow(found: list[Moment], missed: set[int], k: int, step: int) -> Work[None]:
    """Lead the pose of frame `k` on through the frames that miss beside it, as far as those are met."""
    rotations = found[k].pose.rotations
    while k + step in missed:
        k += step
        pose = posed(found[k], rotations)
        repeat(gauss_newton.step, pose, found[k].target, PRECISE * found[k].tolerance, STEPS)
        settle(pose, found[k].target, found[k].soft, found[k].tolerance)
        yield
        if not _fits(found[k], pose):
            break
        found[k], rotations = found[k]._replace(pose=pose), pose.rotations
        missed.remove(k)


def _fits(moment: Moment, pose: Pose) -> bool:
    reached = (moment.target.closest(pose.tip) - pose.tip).length <= moment.tolerance
    return reached and is_met(moment, pose)


def posed(moment: Moment, rotations: Rotations) -> Pose:
    """The chain as it is at a moment with these rotations, but for joints that a solve does not turn."""
    own = moment.pose
    pose = Pose(own.chain, own.base, turned_like(own, rotations))
    pose.project()
    return pose


def turned_like(own: Pose, rotations: Rotations) -> Rotations:
    """These rotations for the joints of `own`, but for those that a solve does not turn."""
    return [
        kept if isinstance(joint.freedom, Locked) else rotation
        for joint, kept, rotation in zip(own.chain.joints, own.rotations, rotations, strict=True)
    ]
