# SPDX-License-Identifier: GPL-3.0-or-later
"""Fast path: motion that can be read from F-Curves without evaluating the dependency graph."""

from collections.abc import Sequence
from itertools import repeat

from bpy.types import Object
from mathutils import Vector

from ..freedom import keyed
from ..keyframes import curves_of
from ..limb import Limb
from ..rotation import channel

_PLACING = ("location", "rotation", "scale", "delta")  # beginnings of the properties that place an object
_LOOKS = ("empty_display", "field")  # and of those of its display and its force field


def stands_still(limb: Limb) -> bool:
    """Tell whether only rotation keys of the solved bones move the armature or the chain over time."""
    armature = limb.armature
    if not _plain(armature):
        return False
    bones = armature.pose.bones
    above = [bone.name for bone in bones[limb.bones[0]].parent_recursive]
    if any(len(bones[name].constraints) for name in (*above, *limb.bones)):
        return False
    ours = {(bones[name].path_from_id(channel(bones[name])[0]), i) for name in limb.solved for i in keyed(bones[name])}
    watched = (*_PLACING, *(bones[name].path_from_id() for name in (*above, *limb.bones)))
    return not any(
        curve.data_path.startswith(watched) and (curve.data_path, curve.array_index) not in ours
        for curve in curves_of(armature)
    )


def plain_locations(target: Object, frames: Sequence[float]) -> list[Vector] | None:
    """Return the world location of an object at each frame if F-Curves of its location alone move it, else None."""
    others = (*(begin for begin in _PLACING if begin != "location"), *_LOOKS)
    if not _plain(target) or any(curve.data_path.startswith(others) for curve in curves_of(target)):
        return None
    # Curves of a muted group are evaluated nevertheless.
    heard = [c for c in curves_of(target) if c.data_path == "location" and not c.mute and not c.is_empty]
    evaluate = {curve.array_index: curve.evaluate for curve in heard}
    delta = target.delta_location.copy()
    fixed = target.location.copy()
    axes = [map(evaluate[axis], frames) if axis in evaluate else repeat(fixed[axis]) for axis in range(3)]
    return [
        Vector((x, y, z)) + delta for _, x, y, z in zip(frames, *axes, strict=False)
    ]  # a constant repeats without end


def _plain(ob: Object) -> bool:
    """Tell whether only its own action moves the object."""
    if ob.parent or len(ob.constraints) or ob.rigid_body:
        return False
    for animation in (ob.animation_data, ob.data.animation_data if ob.type == "ARMATURE" else None):
        if animation and (len(animation.drivers) or len(animation.nla_tracks) or animation.action_influence < 1.0):
            return False
    return True
