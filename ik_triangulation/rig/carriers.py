# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that hang on a bone of the body that reaches for them, by their parents or a Child Of constraint."""

from __future__ import annotations

from bpy.types import Object, Scene, ViewLayer

from .body import RigBody
from .checks import check_limb
from .dependencies import Dependencies
from .limb import Limb


def carrier_of(rig: RigBody, limb: Limb) -> str:
    """Return the bone of the body on which the target of a limb hangs without a motion of its own; empty if on none.

    The target, or what it is parented to, such as a prop in a hand, is a bone, or is parented to one; a bone that is
    not of the body, such as a finger, moves with the one of the body that it hangs on.
    """
    target: Object | None = limb.target
    bone, bones = limb.subtarget, rig.armature.pose.bones
    while target is not None:
        if target == rig.armature:
            line = [bone, *(above.name for above in bones[bone].parent_recursive)] if bone in bones else []
            return next((name for name in line if name in rig.bones), "")
        target, bone = _above(target)
    return ""


def check_body_limbs(rig: RigBody, scene: Scene, view_layer: ViewLayer) -> None:
    """Raise what check_limb() does for each limb of a body, but for targets that hang on its own bones."""
    known = Dependencies(rig.limbs)
    for limb in rig.limbs:
        check_limb(limb, scene, view_layer, known, carried=bool(carrier_of(rig, limb)))


def _above(ob: Object) -> tuple[Object | None, str]:
    """Return the object that an object hangs on, and its bone."""
    for constraint in ob.constraints:
        if constraint.type == "CHILD_OF" and constraint.target and not constraint.mute and constraint.influence == 1.0:
            return constraint.target, constraint.subtarget
    return ob.parent, ob.parent_bone if ob.parent and ob.parent_type == "BONE" else ""
