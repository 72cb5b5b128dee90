# SPDX-License-Identifier: GPL-3.0-or-later
"""The form of a limb as a part of the body, as the natural solver asks for it."""

from __future__ import annotations

from bpy.types import Object
from mathutils import Vector

from ..rig.anatomy.reading import Anatomy
from ..rig.controls import Controls
from ..rig.freedom import can_turn
from ..rig.limb import Limb
from ..solvers.natural import PLAIN_LIMB, LimbForm

# Directions in which elbows and knees go, armature space, of a character on its left side that looks along -Y.
_OUTWARDS = {"ARM": Vector((0.6, 0.6, -0.5)), "LEG": Vector((0.0, -1.0, 0.0))}
_JOINTS = (2, 3)


def limb_form(limb: Limb) -> LimbForm:
    """Return the form of a limb by the part of the body that it was added as, else that its bones are."""
    part = _part(limb)
    if part not in _OUTWARDS:
        return PLAIN_LIMB
    armature, first = limb.armature, limb.armature.data.bones[limb.bones[0]]
    outwards = _OUTWARDS[part].copy()
    if _middle(armature, limb.bones) < 0.0:
        outwards.x = -outwards.x
    if first.parent:
        outwards = first.parent.matrix_local.to_3x3().transposed() @ outwards
    return LimbForm(has_end=True, flexion=outwards)


def _part(limb: Limb) -> str:
    if len(limb.solved) not in _JOINTS:
        return "NONE"
    stored = getattr(limb.armature.pose.bones[limb.tip], "ik_triangulation", None)  # not there unless it is registered
    if stored and stored.body_part != "NONE":
        return str(stored.body_part)
    turning = [name for name in limb.in_order if can_turn(limb.armature.pose.bones[name])]
    found = Anatomy(limb.armature, Controls(limb.armature)).limb_of(turning)
    return found.kind.name if found else "NONE"


def _middle(armature: Object, names: tuple[str, ...]) -> float:
    """Place of a limb on the left (above zero) or the right of the armature, at rest [Blender units]."""
    bones = armature.data.bones
    return float(sum(bones[name].head_local.x + bones[name].tail_local.x for name in names))
