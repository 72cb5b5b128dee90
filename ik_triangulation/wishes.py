# SPDX-License-Identifier: GPL-3.0-or-later
"""What a limb shall be like besides reaching: how its tip is turned, where it bends, what it keeps out of."""

from __future__ import annotations

from collections.abc import Iterator

from bpy.types import Object
from mathutils import Matrix, Quaternion, Vector

from .blender.armature import is_flat
from .blender.limb import Limb
from .blender.sampling import Sample
from .errors import SettingError, TargetError
from .goals import Avoid, Ball, Block, Direction, Effort, Near, Orientation, Pole
from .goals.obstacles import Obstacle
from .goals.soft import SoftGoal
from .kinematics import Pose
from .kinematics.rotation import orientation
from .shape import along

_BONE, _DOWN = Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, -1.0))
_ORIENTATIONS = ("AUTO", "NONE", "DIRECTION", "FULL")
_THIN = 1e-4  # of an obstacle's largest side: as thick as it is at least


def has_wishes(limb: Limb) -> bool:
    """Whether there is anything besides reaching."""
    weights = limb.effort_weight or limb.rest_weight
    return bool(orientation_of(limb) != "NONE" or limb.pole_target or limb.in_the_way or weights)


def wishes(limb: Limb, now: Sample, frame: Matrix, start: Pose) -> Iterator[SoftGoal]:
    """The soft constraints of a frame, armature space.

    `frame` (4x4) is that of the target in armature space, `start` the pose of the first frame. Raises TargetError for
    an orientation like that of a target that has none.
    """
    rig = now.rig
    turned = orientation_of(limb)
    if turned == "FULL":
        yield Orientation(_rotation(limb, now, frame), limb.orient_weight)
    elif turned == "DIRECTION":
        way = _rotation(limb, now, frame) @ _BONE if limb.use_offset else frame.to_3x3() @ along(limb)
        yield Direction(way, weight=limb.orient_weight)
    if now.pole is not None:
        yield Pole(rig.into @ now.pole, limb.pole_angle, limb.pole_weight)
    if limb.effort_weight:
        yield Effort(rig.world.to_3x3().transposed() @ _DOWN, limb.effort_weight)  # as the height in world space falls
    if limb.rest_weight:
        rest = limb.rest_pose == "REST"
        yield Near([Quaternion() if rest else rotation.copy() for rotation in start.rotations], limb.rest_weight)
    if now.obstacles:
        pairs = zip(limb.in_the_way, now.obstacles, strict=True)
        margin = limb.obstacle_margin / rig.stretch
        solid = [(ob, rig.into @ place) for ob, place in pairs if not is_flat(place)]
        yield Avoid([_obstacle(ob, place, margin) for ob, place in solid], limb.obstacle_weight)


def orientation_of(limb: Limb) -> str:
    """How the tip shall be turned: what was chosen, else along a single arrow. Raises SettingError for what is none."""
    if limb.orientation not in _ORIENTATIONS:
        known = ", ".join(_ORIENTATIONS)
        raise SettingError(f"Orientation '{limb.orientation}' is unknown. Choose one of {known}.")
    if limb.orientation != "AUTO":
        return limb.orientation
    if limb.use_offset:
        return "NONE"
    arrow = limb.target.type == "EMPTY" and not limb.subtarget and limb.target.empty_display_type == "SINGLE_ARROW"
    return "DIRECTION" if arrow else "NONE"


def _rotation(limb: Limb, now: Sample, frame: Matrix) -> Quaternion:
    """How the tip shall be turned to be as the target is, with the offset that is kept."""
    if is_flat(frame):
        raise TargetError(
            f"Target '{limb.target_name}' is scaled to zero at frame {now.frame:g}; it has no orientation. "
            "Give it a non-zero scale."
        )
    rotation = orientation(frame.to_3x3())
    return rotation @ Quaternion(limb.offset_rotation) if limb.use_offset else rotation


def _obstacle(ob: Object, frame: Matrix, margin: float) -> Obstacle:
    """The volume of an object whose frame (4x4) is this, with a margin round it, armature space."""
    if ob.type == "EMPTY" and ob.empty_display_type == "SPHERE":
        radius = ob.empty_display_size * max(column.length for column in frame.to_3x3().col)
        return Ball(frame.to_translation(), radius + margin)
    if ob.type == "EMPTY":
        return Block(frame @ Matrix.Scale(ob.empty_display_size, 4), margin)
    corners = [Vector(corner) for corner in ob.bound_box]
    half = (corners[6] - corners[0]) / 2.0
    thin = _THIN * max(*half)
    sides = Matrix.Diagonal((*(max(side, thin) for side in half), 1.0))
    return Block(frame @ Matrix.Translation(corners[0] + half) @ sides, margin)
