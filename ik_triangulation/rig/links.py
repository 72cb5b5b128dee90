# SPDX-License-Identifier: GPL-3.0-or-later
"""The graph of bones that copy each other: the followers of a limb, such as the deform bones of a generated rig.

An edge leads from a bone to one that copies its transform: by a constraint, whatever its present influence, or as its
child in the same rest frame. With all constraints at full influence, both keep the offset that they have at rest.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator

from bpy.types import Constraint, Object, PoseBone
from mathutils import Matrix

_COPYING = {"COPY_TRANSFORMS", "COPY_ROTATION"}
_CARRYING = {"ARMATURE", "CHILD_OF"}  # move a bone like a child, from any rest pose
_TRACKING = {"STRETCH_TO", "DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO"}  # copy a transform together with a location
_SAME_PLACE = 1e-3  # of a bone's length
_SAME_TURN = 1e-2  # of the entries of a rotation matrix: half a degree


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
