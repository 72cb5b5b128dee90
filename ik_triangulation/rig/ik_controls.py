# SPDX-License-Identifier: GPL-3.0-or-later
"""IK controls of a limb: the bone that carries its hand or foot, and the pole that its elbow or knee points at.

What is known of them once they are found, and whether the limb follows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bpy.types import Object, PoseBone
from mathutils import Matrix, Quaternion

_COPYING = {"COPY_TRANSFORMS", "COPY_ROTATION", "COPY_LOCATION"}
_WHOLE = 0.999  # influence that counts as all of it


class Showing(NamedTuple):
    """A bone of a limb and the bone that shows it, and what this copies: on the side of IK, and of the limb (`own`).

    They are the same where an IK constraint turns the limb's own bone.
    """

    bone: str
    shown: str
    leader: str
    own: str


class IKControls(NamedTuple):
    """The IK controls of a limb, by the names of bones.

    `control` carries the limb's tip; `pole` is empty if there is none, `base`, which scales the bones that an IK
    constraint stretches, if that does not or the scale is locked. `owner` has the IK `constraint`, which turns the
    bones that show the limb from `upper` to `lower`. `showing` are all bones of the limb, `turned` those that IK turns.
    """

    control: str
    pole: str
    base: str
    owner: str
    constraint: str
    upper: str
    lower: str
    showing: Sequence[Showing]
    turned: Sequence[str] = ()

    @property
    def keyed(self) -> list[str]:
        """The bones that may get keys."""
        return [name for name in (self.control, self.pole, self.base) if name]

    @property
    def examined(self) -> list[str]:
        """The bones whose constraints decide whether the limb follows the controls."""
        return list(dict.fromkeys([*(each.shown for each in self.showing if each.shown != each.leader), self.owner]))

    @property
    def tip(self) -> Showing:
        """The tip of the limb."""
        return self.showing[-1]

    def shown_by(self, bone: str) -> str:
        """Return the name of the bone that shows a bone of the limb."""
        return next(each.shown for each in self.showing if each.bone == bone)

    @property
    def own_side(self) -> OwnSide:
        """The bones that show the limb, as they follow the limb's own."""
        return OwnSide(self.showing, self.owner)

    def astray(self, armature: Object) -> str:
        """Return a bone of an evaluated armature that does not follow the controls; empty if all do."""
        return next((name for name in self.examined if not self.follows(name, armature)), "")

    def follows(self, name: str, armature: Object) -> bool:
        """Tell whether the constraints of a bone of an evaluated armature have it follow the controls."""
        if not self._copies(name, armature):
            return False
        return name != self.owner or self._turning(armature) == {self.constraint}

    def tip_axes(self, armature: Object) -> tuple[str, Quaternion] | None:
        """Return the bone that copies how its leader is turned off rest about its own axes, None if the tip turns along
        in the space of the armature; and the rotation of the leader's axes in those of that bone."""
        for name in (self.tip.shown, self.tip.leader):
            for each in armature.pose.bones[name].constraints:
                if each.type not in _COPYING - {"COPY_LOCATION"} or each.mute or each.target != armature:
                    continue
                if each.owner_space == "LOCAL" and each.target_space in {"LOCAL", "LOCAL_OWNER_ORIENT"}:
                    rests = [armature.data.bones[n].matrix_local.to_quaternion() for n in (name, each.subtarget)]
                    is_same = each.target_space == "LOCAL"
                    return name, Quaternion() if is_same else rests[0].conjugated() @ rests[1]
        return None

    def is_shown(self, armature: Object) -> bool:
        """Tell whether an evaluated armature shows the limb as IK has it, with the pole or without."""
        return all(self._copies(name, armature) for name in self.examined) and bool(self._turning(armature))

    def _copies(self, name: str, armature: Object) -> bool:
        leaders = [each.leader for each in self.showing if each.shown == name != each.leader]
        return not leaders or _share(armature.pose.bones[name], leaders[0]) >= _WHOLE

    def _turning(self, armature: Object) -> set[str]:
        """Return the IK constraints that are on, none if one is on in part."""
        found = [each for each in armature.pose.bones[self.owner].constraints if each.type == "IK" and not each.mute]
        on = {each.name: each.influence for each in found if each.influence > 0.0}
        return set(on) if all(influence >= _WHOLE for influence in on.values()) else set()


class OwnSide(NamedTuple):
    """The bones that show a limb, as they follow the bones of the limb itself, and the one with the IK constraint."""

    showing: Sequence[Showing]
    owner: str

    def astray(self, armature: Object) -> str:
        """Return a bone of an evaluated armature that does not follow the limb; empty if all do."""
        return next((each.shown for each in self.showing if not self.follows(each.shown, armature)), "")

    def follows(self, name: str, armature: Object) -> bool:
        """Tell whether the constraints of a bone of an evaluated armature have it follow the limb."""
        bone, each = armature.pose.bones[name], next(each for each in self.showing if each.shown == name)
        if each.own != name:
            return _share(bone, each.own) >= _WHOLE
        on = [each for each in bone.constraints if each.type == "IK" and not each.mute and each.influence > 0.0]
        return not (on and name == self.owner) and (each.leader == name or _share(bone, each.leader) <= 1.0 - _WHOLE)


def _share(bone: PoseBone, leader: str) -> float:
    """Return the part of a bone's transform that its constraints copy from `leader`: 1 if nothing else counts."""
    share = 0.0
    for constraint in bone.constraints:
        if constraint.mute or constraint.type not in _COPYING | {"ARMATURE"}:
            continue
        if constraint.type == "ARMATURE":
            weights = {each.subtarget: each.weight for each in constraint.targets if each.target}
            own = weights.get(leader, 0.0) / (sum(weights.values()) or 1.0)
        else:
            own = float(constraint.subtarget == leader)
        share += constraint.influence * (own - share)
    return share


def shown_offset(armature: Object, showing: Showing) -> Matrix:
    """Return the rest frame of a bone of the limb in that of the bone that shows it (4x4)."""
    rests = armature.data.bones
    return rests[showing.shown].matrix_local.inverted() @ rests[showing.bone].matrix_local
