# SPDX-License-Identifier: GPL-3.0-or-later
"""FK controls of a generated rig: the bones to rotate for a deform, helper or IK bone, by the graph of their copies.

An edge of the graph leads from a bone to one that copies its transform: by a constraint, whatever its present
influence, or as its child in the same rest frame. With all constraints at full influence, both keep the offset that
they have at rest. So it has the followers of a limb, such as the deform bones of a generated rig. A name with "fk" in
it only decides between several candidates.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from bpy.types import Constraint, Object, PoseBone
from mathutils import Matrix

from .freedom import can_turn, locked_axes

_COPYING = {"COPY_TRANSFORMS", "COPY_ROTATION"}
_CARRYING = {"ARMATURE", "CHILD_OF"}  # move a bone like a child, from any rest pose
_TRACKING = {"STRETCH_TO", "DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO"}  # copy a transform together with a location
_SAME_PLACE = 1e-3  # of a bone's length
_SAME_TURN = 1e-2  # of the entries of a rotation matrix: half a degree

_LONGEST = 4  # rotating bones of a whole limb, such as a leg with its toe
_USUAL = 3  # rotating bones of a limb that was chosen by its first bone


class Links:
    """Edges of an armature's graph, by the names of bones, read once."""

    def __init__(self, armature: Object) -> None:
        self.armature = armature
        self.leaders: dict[str, dict[str, bool]] = {}  # of each bone, and whether it follows them by a constraint
        self.led: set[str] = set()  # bones that have the transform of a leader
        self.followers: defaultdict[str, dict[str, bool]] = defaultdict(dict)
        for bone in armature.pose.bones:
            found = self.leaders[bone.name] = {}
            for leader, constrained, exactly in self._leaders(bone):
                found[leader] = constrained or found.get(leader, False)
                if exactly:
                    self.led.add(bone.name)
                    self.followers[leader][bone.name] = found[leader]

    def _leaders(self, bone: PoseBone) -> Iterator[tuple[str, bool, bool]]:
        """Yield the bones that a bone follows, whether by a constraint, and whether it then has the same transform."""
        name = bone.name
        if bone.parent and self.in_one_frame(bone.parent.name, name):
            yield bone.parent.name, False, True
        if not len(bone.constraints):
            return
        tracks = any(constraint.type in _TRACKING for constraint in bone.constraints)
        for constraint in bone.constraints:
            if constraint.type in _CARRYING:
                yield from ((other, True, self.at_one_place(other, name)) for other in self._copied(constraint))
            elif constraint.type in _COPYING or (constraint.type == "COPY_LOCATION" and tracks):
                yield from ((other, True, self.in_one_frame(other, name)) for other in self._copied(constraint))

    def _copied(self, constraint: Constraint) -> Iterator[str]:
        """Yield the names of the bones of this armature that a constraint copies."""
        slots = constraint.targets if constraint.type == "ARMATURE" else [constraint]
        for slot in slots:
            if slot.target == self.armature and slot.subtarget in self.armature.pose.bones:
                yield slot.subtarget

    def at_one_place(self, first: str, second: str) -> bool:
        """Tell whether the heads of two bones coincide at rest."""
        bones = self.armature.data.bones
        one, other = bones[first], bones[second]
        return (one.head_local - other.head_local).length <= _SAME_PLACE * max(one.length, other.length)

    def in_one_frame(self, first: str, second: str) -> bool:
        """Tell whether two bones have the same rest frame: then one that copies the other has its transform."""
        bones = self.armature.data.bones
        return self.at_one_place(first, second) and _turned_alike(bones[first].matrix_local, bones[second].matrix_local)

    def copies(self, bone: str) -> dict[str, bool]:
        """Return the bones that follow `bone` if all constraints have full influence, and whether by a constraint."""
        found: dict[str, bool] = {}
        waiting = [(bone, False)]
        while waiting:
            name, constrained = waiting.pop()
            for follower, by_constraint in self.followers.get(name, {}).items():
                how = constrained or by_constraint
                known = found.get(follower)
                if follower != bone and (known is None or how > known):
                    found[follower] = how
                    waiting.append((follower, how))
        return found

    def deforming(self, bone: str, chain: Iterable[str] = ()) -> list[str]:
        """Return the names of the deform bones that follow `bone` by constraints, without those of its own chain."""
        bones, own = self.armature.data.bones, set(chain)
        copies = self.copies(bone).items()
        return sorted(
            name for name, constrained in copies if constrained and bones[name].use_deform and name not in own
        )

    def back_from(self, bone: str) -> Iterator[str]:
        """Yield `bone` and all that it follows, the nearest first: the bones it copies and its parents."""
        seen, waiting = {bone}, deque([bone])
        while waiting:
            name = waiting.popleft()
            yield name
            parent = self.armature.pose.bones[name].parent
            for leader in (*self.leaders.get(name, {}), *([parent.name] if parent else ())):
                if leader not in seen:
                    seen.add(leader)
                    waiting.append(leader)


def _turned_alike(first: Matrix, second: Matrix) -> bool:
    rows = (first[number][:3] + second[number][:3] for number in range(3))
    return all(abs(row[axis] - row[axis + 3]) <= _SAME_TURN for row in rows for axis in range(3))


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
