# SPDX-License-Identifier: GPL-3.0-or-later
"""What a preset says: what each joint of some kind of limb may do, whatever rig it is in."""

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
    """One joint of a preset, said of the limb: X is the axis of its flexion, Y runs along the bone.

    Of a limb on the right side, where X is negative, the mirror image is meant. Limits are measured from rest, or a
    hinge's `from_straight`. Of a shorter limb the joints of the highest `rank` are left out; in a longer one that which
    `repeats` is there as often as needed, and all of these share its ranges if they are `shared`.
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
    """Joints from root to tip, the limb's `settings`, and where it would bend `towards` if it is straight at rest.

    That is a direction in armature space, of a character that faces -Y; None where the bones' X axes say it.
    """

    name: str
    joints: Sequence[PresetJoint]
    settings: Mapping[str, Any] = field(default_factory=dict)
    towards: Vector | None = None

    def for_bones(self, count: int) -> list[PresetJoint]:
        """The joints of a limb of so many bones; fewer if none of them repeats."""
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
