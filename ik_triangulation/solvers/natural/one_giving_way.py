# SPDX-License-Identifier: GPL-3.0-or-later
"""A single limb whose lengths or ranges forbid what its end is told: the same as giving_way does for many."""

from __future__ import annotations

from dataclasses import replace
from math import acos

from mathutils import Quaternion, Vector

from ...goals import Goal, Orientation, Point
from ...kinematics import Pose
from .form import LimbForm
from .giving_way import BENDINGS, CLOSE, EDGE
from .one_limb import OneLimb


def give_way_one(pose: Pose, goal: Goal, form: LimbForm) -> bool:
    """Rotate the joints of a limb, whose pose is the reference, with its end as near to the goal's as it can be.

    The pose and the goal have to suit. Returns False, with the pose as it was, where the goal tells no orientation, and
    where the place cannot be met so.
    """
    told = next((each for each in goal.soft if isinstance(each, Orientation)), None)
    if told is None:
        return False
    place = _place_in_reach(pose, goal.target.closest(pose.base.translation))
    rotation, swivel = _turned_into_reach(pose, place, told.rotation), None
    for _ in range(BENDINGS):
        soft = tuple(replace(each, rotation=rotation) if each is told else each for each in goal.soft)
        limb = OneLimb(pose, goal._replace(target=Point(place), soft=soft), form)
        swivel = limb.best_swivel() if swivel is None else swivel
        found = _within_ranges(pose, limb.rotations(swivel), rotation)
        if (found.tip - place).length <= CLOSE * pose.chain.reach:
            for i, each in enumerate(found.rotations):
                if each != pose.rotations[i]:
                    pose.put(i, each)
            return True
        rotation = _turned_into_reach(pose, place, found.tip_rotation)
    return False


def _within_ranges(pose: Pose, wanted: list[Quaternion], rotation: Quaternion) -> Pose:
    """The pose inside the ranges, each joint leading on to what the one before could not do."""
    chain = pose.chain
    upper, elbow, end = (joint.freedom.nearest for joint in chain.joints)
    rests = [rest.to_quaternion() for rest in chain.rests]
    lower = rests[0] @ wanted[0] @ rests[1] @ wanted[1]
    first = upper(wanted[0].normalized())
    above = rests[0] @ first @ rests[1]
    second = elbow((above.conjugated() @ lower).normalized())
    socket = pose.base.to_quaternion() @ above @ second @ rests[2]
    third = end((socket.conjugated() @ rotation @ chain.tip_rest.conjugated()).normalized())
    return Pose(chain, pose.base, [first, second, third])


def _bounds(pose: Pose) -> tuple[float, float, float]:
    """Least and largest distance of the end's head from the root, and the length of the end."""
    first, second, length = (offset.length for offset in pose.chain.offsets)
    edge = EDGE * (first + second)
    return abs(first - second) + edge, first + second - edge, length


def _place_in_reach(pose: Pose, place: Vector) -> Vector:
    shortest, longest, length = _bounds(pose)
    root = pose.base @ pose.chain.joints[0].offset
    distance = (place - root).length
    within = min(max(distance, shortest - length, length - longest), longest + length)
    return place if within == distance or not distance else root + (place - root) * (within / distance)


def _turned_into_reach(pose: Pose, place: Vector, rotation: Quaternion) -> Quaternion:
    """The rotation of the end, turned as little as it takes to have its head in reach of the other bones."""
    shortest, longest, length = _bounds(pose)
    link = rotation @ (pose.chain.tip_rest.conjugated() @ pose.chain.offsets[2])
    line = place - pose.base @ pose.chain.joints[0].offset
    distance = line.length
    if not length * distance > 0.0:
        return rotation
    near, far = (
        acos(min(max((distance**2 + length**2 - limit**2) / (2.0 * distance * length), -1.0), 1.0))
        for limit in (shortest, longest)
    )
    angle, axis = link.angle(line), link.cross(line)
    change = angle - min(max(angle, near), far)
    return Quaternion(axis.normalized(), change) @ rotation if change and axis.length else rotation
