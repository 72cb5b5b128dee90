# SPDX-License-Identifier: GPL-3.0-or-later
"""The active limb as the overlay shows it: read from the dependency graph whenever that has changed."""

from __future__ import annotations

from typing import NamedTuple

from bpy.types import Context, Object, PoseBone
from mathutils import Matrix, Vector

from ...goals import Target
from ...kinematics import Locked, Pose
from ...rig.armature import Bones, base_of, bones_in_line, channels_of
from ...rig.checks import check_armature, check_readable
from ...rig.frames.sampling import sample
from ...rig.goal import GoalReader
from ...rig.limb import Limb, saved_settings
from ..context import active_armature, active_bone, active_chain

# Without soft goals: they are not drawn, and reading them takes time.
_ONLY_REACHING = {
    "orientation": "NONE",
    "pole_target": None,
    "effort_weight": 0.0,
    "rest_weight": 0.0,
    "obstacles": None,
}


class DisplayedLimb(NamedTuple):
    """The limb at the current frame, armature space; `target` is None for a limb without one."""

    world: Matrix  # of the armature, 4x4
    pose: Pose
    lengths: list[float]  # of the joints' bones
    locked: list[tuple[Vector, float]]  # head and length of the limb's locked bones
    target: Target | None
    reached: bool


def shown_limb(context: Context) -> tuple[Object, PoseBone] | None:
    """Return the armature and the tip bone of the active limb; None if no bone is active or the armature is hidden."""
    armature, bone = active_armature(context), active_bone(context)
    if bone is None or not armature.visible_get(viewport=context.space_data):
        return None
    return armature, bone


def displayed_limb(context: Context, armature: Object, bone: PoseBone) -> DisplayedLimb:
    """Return the active limb, which ends in `bone`.

    Raises IKError for a limb that cannot be read, or whose bones do not form a chain.
    """
    depsgraph = context.view_layer.depsgraph
    check_armature(armature, context.view_layer)
    stored, solved = bone.ik_triangulation, active_chain(context)
    line = bones_in_line(armature, solved) if stored.use_selected else solved
    shown = armature.evaluated_get(depsgraph)
    bones = Bones(armature, line, solved)
    held = [name for name, freedom in zip(line, bones.freedoms, strict=True) if isinstance(freedom, Locked)]
    locked = [(bone.head.copy(), bone.length) for bone in (shown.pose.bones[name] for name in held)]
    if stored.target is None:
        pose = bones.pose(base_of(shown, line[0]), channels_of(shown, line))
        return DisplayedLimb(shown.matrix_world.copy(), pose, _lengths(shown, pose), locked, None, False)
    limb = Limb(armature, tuple(line), frozenset(solved), stored.target, **saved_settings(stored) | _ONLY_REACHING)
    check_readable(limb, context.scene, context.view_layer)
    now = sample(limb, depsgraph, context.scene.frame_current + context.scene.frame_subframe)
    world, pose = now.rig.world, bones.pose(now.rig.base, now.rig.channels, now.rig.freedoms)
    target = GoalReader().at(now, pose).target
    error = (world @ pose.tip - world @ target.closest(pose.tip)).length
    return DisplayedLimb(world, pose, _lengths(shown, pose), locked, target, error <= now.limb.tolerance)


def _lengths(shown: Object, pose: Pose) -> list[float]:
    return [shown.pose.bones[joint.name].length for joint in pose.chain.joints]
