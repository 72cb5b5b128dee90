# SPDX-License-Identifier: GPL-3.0-or-later
"""Supports: the objects and bones that tips are in contact with, and that carry these along."""

from __future__ import annotations

from math import isfinite

from bpy.types import Depsgraph, Object, PropertyGroup, Scene
from mathutils import Matrix

from ..errors import ChainError, TargetError
from .armature import is_flat
from .body import ContactSupport, RigBody
from .dependencies import Dependencies, Node


def support_name(support: ContactSupport) -> str:
    """Return the name of a support in messages."""
    return ": ".join(filter(None, (support[0].name, support[1])))


def check_supports(rig: RigBody, scene: Scene) -> None:
    """Raise the IKError that explains why the contacts of a body cannot be held on what they are on."""
    for each in rig.contacts:
        if each.on is None:
            continue
        where = f"'{support_name(each.on)}', which '{each.tip}' is in contact with from frame {each.frame_start:g} on,"
        ob, bone = each.on
        if scene not in ob.users_scene:
            raise TargetError(f"{where} is not in this scene. Choose another object for that contact, or remove it.")
        if bone and (ob.type != "ARMATURE" or bone not in ob.pose.bones):
            raise TargetError(f"{where} has no such bone. Choose another for that contact, or remove it.")
        if ob == rig.armature and bone and each.tip in rig.line(bone):
            raise ChainError(f"{where} hangs on '{each.tip}' itself. Choose another bone for that contact.")
    for one in rig.contacts:
        for other in rig.contacts:
            crossed = one.on == (rig.armature, other.tip) and other.on == (rig.armature, one.tip)
            if crossed and one.frame_start <= other.frame_end and other.frame_start <= one.frame_end:
                raise ChainError(
                    f"'{one.tip}' and '{other.tip}' are each held on the other at frame "
                    f"{max(one.frame_start, other.frame_start):g}. Remove one of the two contacts."
                )
    known = Dependencies()
    for ob, bone in rig.supports:
        followed = follows_body(rig.armature, ob, bone, known, rig.bones)
        if followed:
            raise TargetError(
                f"'{support_name((ob, bone))}', which a tip is in contact with, follows '{followed}' of "
                f"'{rig.armature.name}' itself. Choose that bone for the contact."
            )


def lost_support(contact: PropertyGroup) -> str | None:
    """Return what to do about a stored contact whose object was deleted, and which so stays in the world; else None."""
    if contact.support is not None or not contact.support_name:
        return None
    return (
        f"'{contact.support_name}', which '{contact.tip}' was in contact with from frame {contact.frame_start} on, was "
        "deleted: the contact stays at one place in the world. Choose another object for it, or remove it."
    )


def lost_supports(armature: Object) -> list[str]:
    """Return a warning for each contact of an armature whose object was deleted."""
    return [text for contact in armature.ik_triangulation.contacts if (text := lost_support(contact))]


def follows_body(
    armature: Object, ob: Object, bone: str, known: Dependencies, names: tuple[str, ...] | None = None
) -> str | None:
    """Return the name of a bone of an armature, by default of any, that an object or bone follows; None without one."""
    nodes = (node for node in known.movers(Node(ob, bone)) if node.object == armature and node.bone)
    return next((node.bone for node in nodes if names is None or node.bone in names), None)


def supports_at(rig: RigBody, depsgraph: Depsgraph, frame: float) -> dict[ContactSupport, Matrix]:
    """Return the matrices (4x4, world space) of what contacts of a body are on, as evaluated at a frame.

    Raises TargetError for one without valid position, or without extent.
    """
    found = {}
    for ob, bone in rig.supports:
        shown = ob.evaluated_get(depsgraph)
        matrix = shown.matrix_world @ shown.pose.bones[bone].matrix if bone else shown.matrix_world.copy()
        if not all(isfinite(number) for row in matrix for number in row) or is_flat(matrix):
            raise TargetError(
                f"'{support_name((ob, bone))}', which a tip is in contact with, is scaled flat or has an invalid "
                f"position at frame {frame:g}. Correct its scale, its keys and its drivers."
            )
        found[ob, bone] = matrix
    return found
