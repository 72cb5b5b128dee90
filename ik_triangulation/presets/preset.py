# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a preset: limits of each joint of a kind of limb, independent of the rig."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mathutils import Vector

from ..kinematics import EulerLimits, Freedom
from ..settings import TABLE, IKT_PG_limb

# Settings of a limb that suit a kind of limb, not one rig's size, target or shot.
PRESET_SETTINGS = tuple(name for name, row in TABLE[IKT_PG_limb].items() if row.preset)


@dataclass(frozen=True)
class PresetJoint:
    """One joint of a preset in the axes of the limb: X is its axis of flexion, Y leads to the next joint.

    A limb on the right side gets the mirror image. Limits are measured from rest, with `from_straight` the angles of a
    hinge, or the Euler angles about X, from the straight limb. A shorter limb leaves out the joints of the highest
    `rank`; in a longer one the joint that `repeats` is used as often as needed, and its copies divide its ranges if it
    is `shared`.
    """

    name: str
    freedom: Freedom
    stiffness: float = 0.0
    rank: int = 0
    from_straight: bool = False
    repeats: bool = False
    shared: bool = False


@dataclass(frozen=True)
class Preset:
    """Joints from root to tip, the limb's `settings`, and the direction `towards` which a limb straight at rest bends.

    The direction is that of a character that faces -Y, with Z up, and goes along with others; None if the bend at rest
    or the bones' X axes determine it.
    """

    name: str
    joints: Sequence[PresetJoint]
    settings: Mapping[str, Any] = field(default_factory=dict)
    towards: Vector | None = None

    def for_bones(self, count: int) -> list[PresetJoint]:
        """Return the joints for a limb of `count` bones; fewer if none of them repeats."""
        repeated = next((joint for joint in self.joints if joint.repeats), None)
        more = count - len(self.joints)
        if more <= 0 or repeated is None:
            ranked = sorted(range(len(self.joints)), key=lambda number: self.joints[number].rank)
            return [self.joints[number] for number in sorted(ranked[:count])]
        times = more + 1
        if repeated.shared and isinstance(repeated.freedom, EulerLimits):
            limits = repeated.freedom
            ends = (tuple(end / times for end in triple) for triple in (limits.lower, limits.upper))
            repeated = replace(repeated, freedom=EulerLimits(limits.order, *ends))
        found: list[PresetJoint] = []
        for joint in self.joints:
            found += [repeated] * times if joint.repeats else [joint]
        return found
