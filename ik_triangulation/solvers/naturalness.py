# SPDX-License-Identifier: GPL-3.0-or-later
"""Naturalness of a pose: how far it is from a reference pose, and how far joints bend as those of a body do not.

It is a sum of angles in degrees; 0 is best:

- the mean, over the joints that can move, of the rotation from the reference to the pose;
- of each joint the angle by which it is outside its limits;
- of an arm or a leg, two long bones with or without an end such as a hand or a foot: the angle by which the elbow or
  knee bends backwards, the angle by which it bends sideways beyond 30 degrees, and the angle by which the end swings
  from its rest pose beyond 60 degrees.

An elbow or knee bends forwards as it does at rest, or, where the limb is straight at rest, as in the reference. Angles
are measured in the frame of the first bone: backwards about the axis of that bend, sideways out of its plane. Where the
limb is straight in both neither counts.
"""

from collections.abc import Sequence
from math import asin, atan2, degrees, hypot

from mathutils import Quaternion, Vector

from ..errors import SettingError
from ..kinematics import Pose
from ..kinematics.flexion import bend_about, flexion_axis
from ..kinematics.rotation import orientation, rotation_angle

# [degrees]
_SIDEWAYS = 30.0  # that count nothing: joints of a body, and axes of a rig, are that loose
_SWING = 60.0  # of a wrist or an ankle, likewise


def naturalness(pose: Pose, reference: Sequence[Quaternion], *, of_body: bool = True) -> float:
    """Return the naturalness of a pose [degrees], by the rotations that its joints have in the reference pose.

    Without `of_body` the bends of arms and legs are not looked at; with it a chain of two or three joints that can move
    counts as one. Raises SettingError unless there is a reference for each joint.
    """
    joints = pose.chain.joints
    if len(reference) != len(joints):
        raise SettingError(f"The reference has {len(reference)} rotations for {len(joints)} joints. Give it as many.")
    moving = [i for i, joint in enumerate(joints) if joint.freedom.moves]
    if not moving:
        return 0.0
    turns = [rotation_angle(reference[i], pose.rotations[i]) for i in moving]
    outside = [rotation_angle(joints[i].freedom.nearest(pose.rotations[i]), pose.rotations[i]) for i in moving]
    bends = _bends(pose, reference, moving) if of_body and len(moving) in (2, 3) else 0.0
    return degrees(sum(turns) / len(moving) + sum(outside)) + bends


def _bends(pose: Pose, reference: Sequence[Quaternion], moving: Sequence[int]) -> float:
    """Return the unnatural bends of an arm or a leg [degrees]."""
    root, middle, *ends = moving
    end = ends[0] if ends else None
    total = 0.0
    if end is not None:
        w, x, y, z = pose.rotations[end]
        total += max(degrees(2.0 * atan2(hypot(x, z), hypot(w, y))) - _SWING, 0.0)
    links = _links(pose, root, middle, end)
    others = pose.chain.rest_pose(), Pose(pose.chain, pose.base, reference)
    axes = (flexion_axis(_links(other, root, middle, end), [1]) for other in others)
    axis = next((axis for axis in axes if axis is not None), None)
    if axis is None or not all(link.length for link in links):
        return total
    backwards = -degrees(bend_about(axis, *links))
    sideways = degrees(asin(min(abs(links[1].normalized().dot(axis)), 1.0)))
    return total + max(backwards, 0.0) + max(sideways - _SIDEWAYS, 0.0)


def _links(pose: Pose, root: int, middle: int, end: int | None) -> tuple[Vector, Vector]:
    """Return the vectors from root to middle joint and on to the end or the tip, in the frame of the first bone."""
    last = pose.tip if end is None else pose.head(end)
    back = orientation(pose.frame(root)).inverted()
    return back @ (pose.head(middle) - pose.head(root)), back @ (last - pose.head(middle))
