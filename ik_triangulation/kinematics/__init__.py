# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinematics: joints with their limits, chains at rest, and poses. Needs mathutils, nothing else of Blender.

Everything is in armature space, lengths in Blender units, angles in radians, quaternions wxyz.
"""

from .body import Body, BodyPose, BodySegment, BodyTip
from .cone import Cone
from .framed import Framed, framed, unframed
from .freedom import EulerLimits, Free, Freedom, Hinge, Locked
from .joint import Inheritance, Joint
from .pose import Chain, Cost, Pose

__all__ = [
    "Body",
    "BodyPose",
    "BodySegment",
    "BodyTip",
    "Chain",
    "Cone",
    "Cost",
    "EulerLimits",
    "Framed",
    "Free",
    "Freedom",
    "Hinge",
    "Inheritance",
    "Joint",
    "Locked",
    "Pose",
    "framed",
    "unframed",
]
