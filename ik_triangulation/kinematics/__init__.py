# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinematic core: a chain at rest, and poses of it. Needs mathutils, nothing else of Blender.

Everything is in armature space, lengths in Blender units, angles in radians, quaternions wxyz.
"""

from .chain import Chain
from .cost import Cost
from .freedom import EulerLimits, Free, Freedom, Hinge, Locked
from .inheritance import Inheritance
from .joint import Joint
from .pose import Pose

__all__ = ["Chain", "Cost", "EulerLimits", "Free", "Freedom", "Hinge", "Inheritance", "Joint", "Locked", "Pose"]
