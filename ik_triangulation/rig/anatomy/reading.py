# SPDX-License-Identifier: GPL-3.0-or-later
"""Recognition of the limbs of an armature: the bones to pose for the bone that was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from bpy.types import Object
from mathutils import Vector

from ..controls import Controls
from .body import RestBone, RestPoint
from .limbs import BodyLimb, LimbKind, RestBody

_KEPT = 8  # skeletons whose limbs are kept


def rest_bones(armature: Object) -> dict[str, RestBone]:
    """Return all bones of an armature at rest, by their names."""
    return {
        bone.name: RestBone(bone.parent.name if bone.parent else None, tuple(bone.head_local), tuple(bone.tail_local))
        for bone in armature.data.bones
    }


def rest_body(armature: Object) -> RestBody:
    """Return the parts of an armature's bones at rest; the same object as long as rest pose and object stay.

    Characters stand along Z and look along -Y in the world, whatever the axes of their armatures are.
    """
    turn = armature.matrix_world.to_3x3().inverted_safe()
    ways = ((turn @ Vector(way)).normalized() for way in ((0.0, 0.0, 1.0), (0.0, -1.0, 0.0)))
    up, front = ((way.x, way.y, way.z) for way in ways)
    return _recognized(tuple(rest_bones(armature).items()), up, front)


@lru_cache(maxsize=_KEPT)
def _recognized(bones: tuple[tuple[str, RestBone], ...], up: RestPoint, front: RestPoint) -> RestBody:
    """Recognise a skeleton once: all that matters is in the arguments, so what is kept can never be outdated."""
    return RestBody(dict(bones), up, front)


class Anatomy:
    """The limbs of an armature, recognised by the names of its bones, otherwise by their shape at rest."""

    def __init__(self, armature: Object, controls: Controls) -> None:
        self._bones, self._controls = armature.pose.bones, controls
        self._body = rest_body(armature)

    @property
    def by_shape(self) -> tuple[str, ...]:
        """Kinds of limbs that the bones' names alone did not tell."""
        return self._body.by_shape

    def limb_with(self, name: str) -> BodyLimb | None:
        """Return the limb that a bone belongs to, of FK controls where there are; None if it is not recognised."""
        part, control = self._body.part(name), self._controls.control(name)
        # Bones of a spine can have the same name from hips to head; their controls have names of their own.
        names = (name, control) if part is not None and part.side else (control, name)
        found = next((limb for each in names if (limb := self._body.limb_with(each))), None)
        return found and self._with_controls(found)

    def limbs(self, kind: LimbKind) -> list[BodyLimb]:
        """Return the limbs of a kind, of FK controls where there are, the left one first."""
        return [self._with_controls(limb) for limb in self._body.limbs(kind)]

    def part(self, name: str) -> str:
        """Return the part of the body that a bone is; empty if it is none."""
        found = self._body.part(name)
        return found.part if found else ""

    def limb_of(self, names: Sequence[str]) -> BodyLimb | None:
        """Return the limb that these bones are, from root to tip; None if it is not recognised."""
        return self._body.limb_of(names)

    def _with_controls(self, limb: BodyLimb) -> BodyLimb:
        """Return the limb of the controls of its bones, if these are one line of descent."""
        names = tuple(self._controls.control(name) for name in limb.bones)
        bones = [self._bones[name] for name in names]
        lines = (above in below.parent_recursive for above, below in pairwise(bones))
        return replace(limb, bones=names) if all(lines) else limb
