# SPDX-License-Identifier: GPL-3.0-or-later
"""Which limb the user means: the one whose tip is the active bone."""

from bpy.types import Context, Object, PoseBone

from ..errors import ChainError, RigError
from ..rig.armature import bones_from_tip, bones_in_line
from ..rig.limb import Limb, check_lowest
from ..rig.selection import selected_bones, selected_limb


def active_armature(context: Context) -> Object | None:
    """The active object, if it is an armature."""
    ob = context.active_object
    return ob if ob is not None and ob.type == "ARMATURE" else None


def active_bone(context: Context) -> PoseBone | None:
    """The active bone of the active armature, in Pose and Object Mode alike."""
    armature = active_armature(context)
    bone = armature.data.bones.active if armature and armature.pose else None
    return armature.pose.bones.get(bone.name) if bone else None


def why_not_set(context: Context) -> str | None:
    """What keeps settings of the active armature's bones from being changed; None if nothing does."""
    armature = active_armature(context)
    if armature is None:
        return "Select an armature"
    if context.mode not in {"POSE", "OBJECT"}:
        return "Leave Edit Mode first"
    if armature.library is not None:
        return f"'{armature.name}' is linked: create a library override first"
    return None


def why_not_posed(context: Context) -> str | None:
    """What keeps limbs of the active armature from being solved, whichever they are; None if nothing does."""
    reason = why_not_set(context)
    if reason:
        return reason
    armature = active_armature(context)
    if armature.data.pose_position == "REST":
        return f"'{armature.name}' shows its Rest Position: switch to Pose Position"
    return None


def why_not(context: Context) -> str | None:
    """What keeps the active limb from being solved, as far as it can be told at a glance; None if nothing does."""
    reason = why_not_posed(context)
    if reason:
        return reason
    bone = active_bone(context)
    if bone is None:
        return "Make the bone at the end of the limb active"
    if bone.ik_triangulation.target is None:
        return f"Choose a target for '{bone.name}'"
    return None


def active_chain(context: Context) -> list[str]:
    """Names of the bones that the limb of the active bone turns, whether it has a target or not.

    Raises ChainError if they are no chain.
    """
    armature, bone = active_armature(context), active_bone(context)
    stored = bone.ik_triangulation
    if stored.use_selected:
        chosen = selected_bones(armature)
        check_lowest(bone, chosen)
        return [name for name in bones_in_line(armature, chosen) if name in chosen]
    return list(bones_from_tip(armature, bone.name, stored.chain_count))


def active_limb(context: Context, target: Object | None = None) -> Limb:
    """The limb of the active bone, for this `target` if it has none. Raises an IKError that says what is missing."""
    armature, bone = active_armature(context), active_bone(context)
    if armature is None:
        raise RigError("No armature is active. Select one.")
    if bone is None:
        raise ChainError(f"'{armature.name}' has no active bone. Make the bone at the end of the limb active.")
    return selected_limb(bone, target)
