# SPDX-License-Identifier: GPL-3.0-or-later
"""FK controls of a generated rig: the bones to rotate where a deform, helper or IK bone was chosen.

They are found through the graph of bones that copy each other (links.py). A name with "fk" in it only decides between
several candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from bpy.types import Object, PoseBone

from .freedom import can_turn, locked_axes
from .links import Links

_LONGEST = 4  # rotating bones of a whole limb, such as a leg with its toe
_USUAL = 3  # rotating bones of a limb that was chosen by its first bone


class Controls:
    """FK chains of an armature; there are none in an armature without constraints."""

    def __init__(self, armature: Object) -> None:
        self._bones = armature.pose.bones
        self._links = Links(armature) if any(len(bone.constraints) for bone in self._bones) else None
        self._chains: dict[str, list[str]] = {}

    def control(self, bone: str) -> str:
        """Return the FK control that moves the same bones as `bone`: itself if it is one or there is none."""
        links = self._links
        if links is None or self._is_fk(bone):
            return bone
        for behind in [bone] if _swings(self._bones[bone]) else links.back_from(bone):
            fk = [b.name for b in self._bones if links.at_one_place(b.name, behind) and self._replaces(b.name, bone)]
            if fk:
                return max(fk, key=lambda name: ("fk" in name.lower(), len(self.chain(name))))
            if self._leads(behind):
                return behind
        return bone

    def end(self, bone: str) -> str:
        """Return the last bone of the limb that a control begins; itself if its chain has controls above it."""
        if self._turning(self.chain(bone)) != 1:
            return bone
        below = [b.name for b in self._bones[bone].children_recursive if bone in self.chain(b.name)]
        return max(
            (name for name in below if self._turning(self.chain(name)) <= _USUAL),
            key=lambda name: self._turning(self.chain(name)),
            default=bone,
        )

    def count(self, tip: str) -> int | None:
        """Return the number of bones of the limb that ends in `tip`; None without an FK chain or if it is too long."""
        line = self.chain(tip)
        up_to_others = len(line) <= len(self._bones[tip].parent_recursive)
        return len(line) if up_to_others and self._turning(line) <= _LONGEST and line else None

    def chain(self, tip: str) -> list[str]:
        """Return the FK chain from `tip` upwards, with the bones in between; empty if `tip` is not in one.

        It ends below bones that follow others. Each bone of it that can rotate has followers.
        """
        if tip not in self._chains:
            self._chains[tip] = self._chain(tip)
        return self._chains[tip]

    def _chain(self, tip: str) -> list[str]:
        links = self._links
        if links is None or not self._leads(tip):
            return []
        line = [self._bones[tip], *self._bones[tip].parent_recursive]
        part = list(takewhile(lambda bone: can_turn(bone) or bone.name not in links.led, line))
        while not self._leads(part[-1].name):
            part.pop()
        return [bone.name for bone in part]

    def _turning(self, names: Sequence[str]) -> int:
        return sum(can_turn(self._bones[name]) for name in names)

    def _is_fk(self, name: str) -> bool:
        """Tell whether a bone belongs to a chain of several controls, above or below it."""
        if not self._leads(name):
            return False
        below: Sequence[PoseBone] = self._bones[name].children_recursive
        return self._turning(self.chain(name)) > 1 or any(name in self.chain(bone.name) for bone in below)

    def _replaces(self, control: str, bone: str) -> bool:
        """Tell whether an FK control replaces a bone: a bone with followers needs a control with a common follower."""
        links = self._links
        if links is None or not self._is_fk(control):
            return False
        ours, theirs = {bone, *links.copies(bone)}, {control, *links.copies(control)}
        return not self._leads(bone) or bool(ours & theirs)

    def _leads(self, name: str) -> bool:
        """Tell whether a bone is posed by hand, can swing, and has followers."""
        links, bone = self._links, self._bones[name]
        if links is None or not _swings(bone) or not links.followers.get(name):
            return False
        return not any(links.leaders[name].values())  # placed by a constraint


def _swings(bone: PoseBone) -> bool:
    """Tell whether the rotation channels let a bone rotate about more than one axis."""
    return sum(locked_axes(bone)) < 2
