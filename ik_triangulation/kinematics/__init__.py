# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinematics: joints with their limits, chains at rest, and poses. Needs mathutils, nothing else of Blender.

Everything is in armature space, lengths in Blender units, angles in radians, quaternions wxyz.
"""

from .body import Body, BodySegment, BodyTip
from .body_pose import BodyPose
from .chain import Chain
from .cone import Cone
from .cost import Cost
from .euler_limits import EulerLimits
from .framed import Framed, framed, unframed
from .freedom import Free, Freedom, Locked
from .hinge import Hinge
from .inheritance import Inheritance
from .joint import Joint
from .pose import Pose

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
