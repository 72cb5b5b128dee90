# SPDX-License-Identifier: GPL-3.0-or-later
"""Creation of limbs from selected bones, with new targets if none is given."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import bpy
from bpy.types import Object, PoseBone
from mathutils import Matrix

from ..errors import ChainError
from ..rig.armature import find_bone
from ..rig.collections import home
from ..rig.controls import Controls
from ..rig.freedom import can_turn
from ..rig.units import scale_of
from ..settings import check_registered

_SIZE = 1.0  # of a new target, as a share of the tip bone's length


def add_limbs(armature: Object, bones: Sequence[str], target: Object | None = None) -> list[str]:
    """Make a limb of every line of these bones, and of a single one with the bones above it; return their tips' names.

    Deform, helper and IK bones of generated rigs are replaced by the FK controls that move the same. Each limb gets the
    `target`, or a new empty at its tip; a limb that has a target keeps it and all its settings. Raises ChainError if
    there are no bones, if a line has gaps, or if all have been limbs before; then nothing has changed.
    """
    check_registered()
    if not bones:
        raise ChainError("No bones are selected. Select the bones of the limb, or the one at its end.")
    controls = Controls(armature)
    chosen = _controls(armature, [find_bone(armature, name).name for name in bones], controls)
    found = [armature.pose.bones[name] for name in chosen]
    tips = [bone for bone in found if not any(below.name in chosen for below in bone.children_recursive)]
    new = {tip.name: _count(tip, chosen, controls) for tip in tips if tip.ik_triangulation.target is None}
    if not new:
        raise ChainError(f"'{tips[0].name}' ends a limb already. Select other bones.")
    targets = {name: target or new_target(armature, name) for name in new}
    for name, count in new.items():
        stored = armature.pose.bones[name].ik_triangulation
        stored.chain_count, stored.use_selected = count, False
        stored.target, stored.subtarget = targets[name], ""
    return list(new)


def remove_limb(armature: Object, tip: str) -> None:
    """Clear the target of the limb that ends in `tip` and reset its length; its other settings stay.

    Raises ChainError for no such bone.
    """
    check_registered()
    stored = armature.pose.bones[find_bone(armature, tip).name].ik_triangulation
    for name in ("target", "chain_count"):
        stored.property_unset(name)
    armature.update_tag()  # of a value that is unset Blender tells nobody


def new_target(armature: Object, tip: str) -> Object:
    """Create an empty at the tail of the bone `tip` as it is shown, with its rotation, in the armature's collection.

    Raises ChainError for no such bone.
    """
    bone = armature.pose.bones[find_bone(armature, tip).name]
    empty = bpy.data.objects.new(f"{tip} Target", None)
    empty.empty_display_type = "PLAIN_AXES"
    place = armature.matrix_world @ Matrix.Translation(bone.tail - bone.head) @ bone.matrix
    empty.empty_display_size = _SIZE * bone.length * scale_of(armature)
    empty.matrix_world = place.normalized()
    empty.show_in_front = True  # it is inside the character
    home(armature, bpy.context.scene, bpy.context.view_layer).objects.link(empty)
    return empty


def _controls(armature: Object, names: Sequence[str], controls: Controls) -> dict[str, None]:
    """Return the bones to make limbs of: FK controls instead of others, and for the first of a limb the last one."""
    found = {name: controls.control(name) for name in names}
    lines = {name: {name, *(b.name for b in armature.pose.bones[name].parent_recursive)} for name in found.values()}
    ends: dict[str, None] = {}
    for name, control in found.items():
        others = lines.keys() - {control}
        single = not others & lines[control] and not any(control in lines[other] for other in others)
        ends[controls.end(control) if single and control != name else control] = None
    return ends


def _count(tip: PoseBone, chosen: Collection[str], controls: Controls) -> int:
    """Return the length of the chain from this tip up to the last chosen bone; the default length for a single bone.

    Bones that cannot rotate, such as helpers between controls, count only between two bones that can. Raises ChainError
    if bones between the chosen ones are not chosen.
    """
    line = [tip, *tip.parent_recursive]
    wanted = [bone.name in chosen for bone in line]
    if sum(wanted) == 1:
        whole = controls.count(tip.name)
        if whole and not tip.ik_triangulation.is_property_set("chain_count"):
            return whole
        turning = [number for number, bone in enumerate(line, 1) if can_turn(bone)]
        return turning[: tip.ik_triangulation.chain_count or None][-1] if turning else 1
    count = len(line) - wanted[::-1].index(True)
    gap = next((bone for bone in line[:count] if bone.name not in chosen and can_turn(bone)), None)
    if gap is not None:
        raise ChainError(
            f"'{gap.name}' is not selected, but lies between others that are. Select it as well, or only '{tip.name}'."
        )
    return count
