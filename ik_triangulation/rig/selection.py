# SPDX-License-Identifier: GPL-3.0-or-later
"""The selected bones of an armature, and the limbs they make."""

from collections.abc import Sequence

from bpy.types import Bone, Object, PoseBone

from ..settings import check_registered
from .limb import Limb


def selected_bones(armature: Object) -> list[str]:
    """Return the names of the selected and visible bones of an armature."""
    return [bone.name for bone in armature.pose.bones if _is_selected(bone)]


def select_only(armature: Object, names: Sequence[str]) -> None:
    """Select these bones and no others, and make the last one active."""
    for bone in armature.pose.bones:
        _flagged(bone).select = bone.name in names
    armature.data.bones.active = armature.data.bones[names[-1]]


def selected_limb(tip: PoseBone, target: Object | None = None) -> Limb:
    """Return the limb that ends in this bone, for this `target` if it has none. Raises what Limb.of() does."""
    check_registered()
    chosen = selected_bones(tip.id_data) if tip.ik_triangulation.use_selected else ()
    return Limb.of(tip, chosen, target)


def _is_selected(bone: PoseBone) -> bool:
    """Tell whether a bone is selected as in Blender's own operators: a hidden one keeps its flag, but is not."""
    of = _flagged(bone)
    if not of.select or of.hide:
        return False
    collections = bone.bone.collections
    return not collections or any(each.is_visible_effectively for each in collections)


def _flagged(bone: PoseBone) -> PoseBone | Bone:
    """Return the holder of the flags `select` and `hide`, which moved to the pose bone in Blender 5.0."""
    return bone if hasattr(bone, "select") else bone.bone
