# SPDX-License-Identifier: GPL-3.0-or-later
"""The active limb, whose tip is the active bone, and the reasons why it cannot be edited, posed or solved."""

from bpy.types import Context, Object, PoseBone

from ..errors import ChainError, RigError
from ..rig.armature import bones_from_tip, bones_in_line
from ..rig.limb import Limb, check_lowest
from ..rig.selection import selected_bones, selected_limb


def active_armature(context: Context) -> Object | None:
    """Return the active object if it is an armature."""
    ob = context.active_object
    return ob if ob is not None and ob.type == "ARMATURE" else None


def active_bone(context: Context) -> PoseBone | None:
    """Return the active bone of the active armature, in Pose Mode and in Object Mode."""
    armature = active_armature(context)
    bone = armature.data.bones.active if armature and armature.pose else None
    return armature.pose.bones.get(bone.name) if bone else None


def cannot_edit(context: Context) -> str | None:
    """Return why settings of the active armature's bones cannot be changed; None if they can."""
    armature = active_armature(context)
    if armature is None:
        return "Select an armature"
    if context.mode not in {"POSE", "OBJECT"}:
        return "Leave Edit Mode first"
    if armature.library is not None:
        return f"'{armature.name}' is linked. Create a library override first"
    return None


def cannot_pose(context: Context) -> str | None:
    """Return why no limb of the active armature can be posed; None if limbs can."""
    reason = cannot_edit(context)
    if reason:
        return reason
    armature = active_armature(context)
    if armature.data.pose_position == "REST":
        return f"'{armature.name}' is in Rest Position. Switch to Pose Position"
    return None


def cannot_solve(context: Context) -> str | None:
    """Return why the active limb cannot be solved, by checks quick enough for poll(); None if they find nothing."""
    reason = cannot_pose(context)
    if reason:
        return reason
    bone = active_bone(context)
    if bone is None:
        return "Make the bone at the end of the limb active"
    if bone.ik_triangulation.target is None:
        return f"Choose a target for '{bone.name}'"
    return None


def active_chain(context: Context) -> list[str]:
    """Return the names of the bones that the active limb rotates, with or without a target.

    Raises ChainError if they do not form a chain.
    """
    return chain_below(active_bone(context))


def chain_below(bone: PoseBone) -> list[str]:
    """Return the names of the bones that the limb which ends in `bone` rotates. Raises what active_chain() does."""
    armature, stored = bone.id_data, bone.ik_triangulation
    if stored.use_selected:
        chosen = selected_bones(armature)
        check_lowest(bone, chosen)
        return [name for name in bones_in_line(armature, chosen) if name in chosen]
    return list(bones_from_tip(armature, bone.name, stored.chain_count))


def active_limb(context: Context, target: Object | None = None) -> Limb:
    """Return the limb of the active bone, with this `target` if it has none. Raises IKError if something is missing."""
    armature, bone = active_armature(context), active_bone(context)
    if armature is None:
        raise RigError("No armature is active. Select one.")
    if bone is None:
        raise ChainError(f"'{armature.name}' has no active bone. Make the bone at the end of the limb active.")
    return selected_limb(bone, target)
