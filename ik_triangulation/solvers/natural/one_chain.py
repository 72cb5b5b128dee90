# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain at a single frame, in plain numbers: a drag moves it many times a second. Here its joints are free.

The steps are those of chains.spread() for one frame, which is its oracle in the tests.
"""

from __future__ import annotations

from mathutils import Quaternion, Vector

from ...goals import Goal, Point
from ...kinematics import Free, Pose
from ...kinematics.rotation import rotation_between, rotation_vector
from ..batch.descent import PLAIN
from ..batch.restarts import is_batched
from ..solver import LimbForm
from .chains import BEND, BENT, EXTENDED, USUAL_SPREAD
from .dragged_chain import DraggedChain, solve_three, turned_further
from .giving_way import EDGE_OF_REACH
from .limited_chain import LimitedChain, is_limit_kept
from .posture import LARGEST_STEP, LESS, MOMENTUM, MORE, STILL

_BONES = 2  # of a limb, which has a form of its own


def suits_chain(pose: Pose, goal: Goal, form: LimbForm) -> bool:
    """Tell whether no joint is stiff or has a cone, and the goal is a point within the reach alone."""
    chain = pose.chain
    if not isinstance(goal.target, Point) or goal.soft or len(pose) <= _BONES + form.has_end or not is_batched(pose):
        return False
    if any(joint.stiffness or not is_limit_kept(joint.freedom) for joint in chain.joints):
        return False
    if not any(joint.freedom.moves for joint in chain.joints):
        return False
    return (goal.target.location - pose.head(0)).length <= (1.0 - EDGE_OF_REACH) * chain.reach


def pose_chain(pose: Pose, goal: Goal) -> bool:
    """Rotate the joints, whose pose is the reference, to the goal; returns False, with the pose as it was, if missed.

    Pose and goal have to suit.
    """
    if (goal.target.closest(pose.tip) - pose.tip).length <= goal.tolerance:
        return True
    is_free = all(type(joint.freedom) is Free for joint in pose.chain.joints)
    chain = _Chain(pose, goal) if is_free else LimitedChain(pose, goal)
    chain.turn_whole()
    chain.relax()
    if not chain.is_made_exact():
        return False
    for i, (joint, found) in enumerate(zip(pose.chain.joints, chain.rotations, strict=True)):
        rotation = found if is_free else joint.freedom.nearest(found)
        if rotation != pose.rotations[i]:
            pose.put(i, rotation)
    return True


class _Chain(DraggedChain):
    """The chain on its way to the goal, with the orientation and the lever to the tip of each joint."""

    def __init__(self, pose: Pose, goal: Goal) -> None:
        super().__init__(pose, goal)
        self._back = [rotation.conjugated() for rotation in pose.rotations]
        self._place(list(pose.rotations))

    def _place(self, rotations: list[Quaternion]) -> None:
        """Set all rotations from rest."""
        chain, head, socket = self._chain, self._head, self._root
        heads, frames = [], []
        for rotation, offset, rest in zip(rotations, chain.offsets, (*chain.rests[1:], None), strict=True):
            heads.append(head)
            frame = socket @ rotation.to_matrix()
            frames.append(frame)
            head = head + frame @ offset
            socket = frame @ rest if rest is not None else frame
        self.rotations, self._frames, self._levers = rotations, frames, [head - each for each in heads]
        self._error = self._target - head

    def turn_whole(self) -> None:
        """Turn the chain so that its tip lies towards the target, in an arc: see chains.turned_whole()."""
        span, line = self._levers[0], self._target - self._head
        levers = [max(lever.dot(span), 0.0) for lever in self._levers]
        squares = sum(lever * lever for lever in levers)
        turn = rotation_vector(rotation_between(span, line)) * (levers[0] / squares if squares else 0.0)
        bend = BEND * min(max((span.length / self._size - BENT) / (EXTENDED - BENT), 0.0), 1.0)
        turns = [turn * lever for lever in levers]
        if bend:
            axes = (joint.freedom.bend_axis for joint in self._chain.joints)
            bent = [frame @ axis * bend for frame, axis in zip(self._frames, axes, strict=True)]
            turns = [own + more for own, more in zip(turns, bent, strict=True)]
        self._step(turns)
        into, (first, *others) = self._frames[0].to_quaternion(), self.rotations
        rest = rotation_between(self._levers[0], line)
        self._place([(first @ (into.conjugated() @ rest @ into)).normalized(), *others])

    def relax(self) -> None:
        """Approach the reference in what the target leaves free: see posture.Relaxation."""
        gain, last = 1.0, [Vector() for _ in self._back]
        for _ in range(USUAL_SPREAD.coarse):
            every = zip(self._back, self.rotations, self._frames, last, strict=True)
            change = self._change(
                [
                    frame @ (rotation_vector(back @ now) * -gain) + before * MOMENTUM
                    for back, now, frame, before in every
                ]
            )
            most = max(abs(part) for turn in change for part in turn)
            if most > LARGEST_STEP:
                change = [turn * (LARGEST_STEP / most) for turn in change]
            back = sum(turn.dot(before) for turn, before in zip(change, last, strict=True)) < 0.0
            gain, last = LESS * gain if back else min(MORE * gain, 1.0), change
            self._step(change)
            if most <= STILL:
                return

    def _approach(self) -> None:
        turns = self._change([Vector() for _ in self._back])
        self._step([turn * min(1.0, PLAIN.largest / max(turn.length, 1e-12)) for turn in turns])

    def _change(self, wish: list[Vector]) -> list[Vector]:
        """Turns [rad, armature space] that bring the tip to the target, by damped least squares off those wished."""
        levers = self._levers
        x, y, z = self._error
        xx = xy = xz = yy = yz = zz = 0.0
        for (p, q, r), (a, b, c) in zip(levers, wish, strict=True):
            x, y, z = x - (b * r - c * q), y - (c * p - a * r), z - (a * q - b * p)
            pp, qq, rr = p * p, q * q, r * r
            xx, yy, zz = xx + qq + rr, yy + pp + rr, zz + pp + qq
            xy, xz, yz = xy - p * q, xz - p * r, yz - q * r
        damping = self._damping(xx + yy + zz)
        along = Vector(solve_three(xx + damping, xy, xz, yy + damping, yz, zz + damping, x, y, z))
        return [own + lever.cross(along) for own, lever in zip(wish, levers, strict=True)]

    def _step(self, turns: list[Vector]) -> None:
        """Turn the joints further by rotation vectors of armature space."""
        rotations = []
        for turn, frame, rotation in zip(turns, self._frames, self.rotations, strict=True):
            rotations.append(turned_further(rotation, turn @ frame))
        self._place(rotations)
