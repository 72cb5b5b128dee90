# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusal of a bake that would only key the pose which is there: no target was touched, and nothing moves."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import Object

from ..errors import AnimationError
from ..kinematics.rotation import rotation_angle
from ..rig.body import RigBody
from ..rig.keyframes import curves_of
from ..rig.limb import Limb
from ..rig.waiting import is_untouched, is_waiting, place_at_tip
from .ground import mesh_under

_POINTS = {"ARROWS", "PLAIN_AXES"}  # how empties are displayed that are their origin
_AWAY = 1e-4  # of the tip bone's length, or [rad]: farther off its target a limb is not where it was set up


def check_something(bodies: Sequence[RigBody], limbs: Sequence[Limb] = ()) -> None:
    """Raise AnimationError if the targets of all these bodies and limbs are untouched, so that a bake has no effect.

    Targets of the user's own, hands keyed by hand, contacts and whatever else moves the rig are something.
    """
    if not (bodies or limbs) or not all(map(_is_idle_body, bodies)) or not all(map(_is_idle_limb, limbs)):
        return
    every = [*(limb for rig in bodies for limb in rig.limbs), *limbs]
    first = next((limb for limb in every if limb.orientation != "LOOK"), every[0])
    raise AnimationError(
        f"There is nothing to bake: no target was moved or keyed yet. Move '{first.target_name}', or key it."
    )


def _is_idle_body(rig: RigBody) -> bool:
    """Tell whether all that reaches waits, in a rig without keys, and held tips have no contact and no ground."""
    bones = rig.armature.pose.bones
    if not rig.limbs or not all(limb.target == bones[limb.tip].ik_triangulation.target for limb in rig.limbs):
        return False
    if not all(is_waiting(bones[limb.tip]) for limb in rig.limbs) or _has_keys(rig.armature):
        return False
    return not (rig.contacts or any(mesh_under(rig, tip) for tip in rig.held))


def _is_idle_limb(limb: Limb) -> bool:
    """Tell whether a limb is at the empty that was made for it, in a rig that nothing moves."""
    armature, bone = limb.armature, limb.armature.pose.bones[limb.tip]
    stored = getattr(bone, "ik_triangulation", None)
    if stored is None or stored.target != limb.target or not is_untouched(bone):
        return False
    if limb.use_offset or limb.pole_target or limb.obstacle_objects or limb.effort_weight or limb.rest_weight:
        return False
    if limb.shape not in {"AUTO", "POINT"} or limb.target.empty_display_type not in _POINTS:
        return False
    animation = armature.animation_data
    moved = armature.parent or len(armature.constraints) or (animation and len(animation.drivers))
    if moved or _has_keys(armature) or any(len(each.constraints) for each in (bone, *bone.parent_recursive)):
        return False
    place, now = limb.target.matrix_world, place_at_tip(bone, bone.matrix)
    turned = rotation_angle(place.to_quaternion(), now.to_quaternion())
    return turned <= _AWAY and (place.translation - now.translation).length <= _AWAY * bone.length


def _has_keys(armature: Object) -> bool:
    """Tell whether the armature has F-curves or NLA strips."""
    animation = armature.animation_data
    strips = animation is not None and any(len(track.strips) for track in animation.nla_tracks)
    return strips or any(True for _ in curves_of(armature))
