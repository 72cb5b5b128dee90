# SPDX-License-Identifier: GPL-3.0-or-later
"""The body that a limb is solved with, and what cannot be done to a body or hinders it."""

from __future__ import annotations

from bpy.types import Object

from ..errors import ChainError
from ..rig.bake_record import recorded_span
from ..rig.body import RigBody
from ..rig.keyframes import is_baked
from ..rig.stored_body import stored_body
from .bake_wave import Span
from .body_keys import BodyKeySettings


def body_of(armature: Object, tip: str) -> RigBody | None:
    """Return the body that the limb which ends in `tip` is solved with; None for a limb that is solved alone.

    Limbs are solved together if a tip among them is held, or if they share bones. One that merely hangs on another is
    solved after it. Several held tips are a body without anything that reaches: the feet of an animal whose hips are
    animated. Raises what stored_body() does, and ChainError for a held limb that is alone.
    """
    bones = armature.pose.bones
    found = stored_body(armature, tip)
    if found is None or not (found.limbs or found.contacts or len(found.held) > 1):
        if bones[tip].ik_triangulation.hold:
            raise ChainError(
                f"'{tip}' is held, and no limb reaches. Give one that hangs on the same hips a target, "
                "or press Find Contacts."
            )
        if not bones[tip].ik_triangulation.enabled and any(bone.ik_triangulation.hold for bone in bones):
            raise ChainError(f"'{tip}' is not ticked in the list of limbs, and others are held. Tick it to solve them.")
        return None
    turned = [name for limb in found.limbs for name in limb.solved]
    return found if found.held or len(turned) > len(set(turned)) else None


def check_alone(armature: Object, tip: str, what: str) -> None:
    """Raise ChainError if a limb belongs to a body, as `what` is to be done can only be done to a lone limb."""
    if body_of(armature, tip) is not None:
        raise ChainError(f"'{tip}' is part of a body, and {what} works on single limbs. Use Pose or Bake.")


def bodies_and_tips(armature: Object) -> tuple[list[RigBody], list[str]]:
    """Return the bodies of an armature that are to be baked, and the tips of the limbs that are baked one by one."""
    bodies, alone = list[RigBody](), list[str]()
    for bone in armature.pose.bones:
        stored = bone.ik_triangulation
        if not stored.hold and not (stored.enabled and stored.target):
            continue
        if any(bone.name in body.tips for body in bodies):
            continue
        body = body_of(armature, bone.name)
        if body is None:
            alone.append(bone.name)
        else:
            bodies.append(body)
    return bodies, alone


def repeats_body_bake(rig: RigBody, span: Span, settings: BodyKeySettings) -> bool:
    """Tell whether a bake would only repeat an earlier one of the body, as repeats_bake() does for a limb."""
    before = recorded_span(rig.armature, rig.tips[-1])
    inside = before is not None and before[0] <= span[0] and span[1] <= before[1]
    return settings.destination == "ACTION" and inside and is_baked(rig.armature, rig.bones)
