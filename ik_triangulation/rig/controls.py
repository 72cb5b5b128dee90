# SPDX-License-Identifier: GPL-3.0-or-later
"""The FK controls behind the bones of a generated rig: those to turn where a deform, helper or IK bone was chosen.

Found through the graph of what copies what (links.py). A name with "fk" in it only decides between several.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from bpy.types import Object, PoseBone

from .freedom import can_turn, locked_axes
from .links import Links

_LONGEST = 4  # turning bones that are a limb as a whole, such as a leg with its toe
_USUAL = 3  # of a limb that was chosen by the bone it begins with


class Controls:
    """The FK chains of an armature; where no constraints make bones follow others there are none."""

    def __init__(self, armature: Object) -> None:
        self._bones = armature.pose.bones
        self._links = Links(armature) if any(len(bone.constraints) for bone in self._bones) else None
        self._chains: dict[str, list[str]] = {}

    def control(self, bone: str) -> str:
        """The FK control that moves what `bone` does: itself if it is one, or if there is none."""
        links = self._links
        if links is None or self._is_fk(bone):
            return bone
        for behind in [bone] if _swings(self._bones[bone]) else links.back_from(bone):
            fk = [b.name for b in self._bones if links.at_one_place(b.name, behind) and self._stands_for(b.name, bone)]
            if fk:
                return max(fk, key=lambda name: ("fk" in name.lower(), len(self.chain(name))))
            if self._leads(behind):
                return behind
        return bone

    def end(self, bone: str) -> str:
        """The last bone of the limb that a control begins; itself if there are controls above it in its chain."""
        if self._turning(self.chain(bone)) != 1:
            return bone
        below = [b.name for b in self._bones[bone].children_recursive if bone in self.chain(b.name)]
        return max(
            (name for name in below if self._turning(self.chain(name)) <= _USUAL),
            key=lambda name: self._turning(self.chain(name)),
            default=bone,
        )

    def count(self, tip: str) -> int | None:
        """How many bones make a limb of the chain that ends in `tip`; None if it is none, or too long for a limb."""
        line = self.chain(tip)
        up_to_others = len(line) <= len(self._bones[tip].parent_recursive)
        return len(line) if up_to_others and self._turning(line) <= _LONGEST and line else None

    def chain(self, tip: str) -> list[str]:
        """The line of bones up from `tip` that are posed by hand, with those in between; empty if it is not in one.

        It ends below what is placed by other bones. Each bone of it that turns has others that follow it.
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
        """Whether a bone belongs to a chain of several controls: of those above it or those below it."""
        if not self._leads(name):
            return False
        below: Sequence[PoseBone] = self._bones[name].children_recursive
        return self._turning(self.chain(name)) > 1 or any(name in self.chain(bone.name) for bone in below)

    def _stands_for(self, control: str, bone: str) -> bool:
        """Whether an FK control moves what a bone does; one that leads others itself has to lead the same ones."""
        links = self._links
        if links is None or not self._is_fk(control):
            return False
        ours, theirs = {bone, *links.copies(bone)}, {control, *links.copies(control)}
        return not self._leads(bone) or bool(ours & theirs)

    def _leads(self, name: str) -> bool:
        """Whether a bone is posed by hand, swings, and has others that are where it is."""
        links, bone = self._links, self._bones[name]
        if links is None or not _swings(bone) or not links.followers.get(name):
            return False
        return not any(links.leaders[name].values())  # placed by a constraint


def _swings(bone: PoseBone) -> bool:
    """Whether its channels let a bone turn other than about one axis."""
    return sum(locked_axes(bone)) < 2
