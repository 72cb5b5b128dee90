# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a limb's soft goals at a frame: orientation, pole, comfort and obstacles."""

from __future__ import annotations

from collections.abc import Iterator

from mathutils import Matrix, Quaternion, Vector

from ..errors import SettingError, TargetError
from ..goals import Avoid, Ball, Block, Direction, Effort, LookAt, Near, Orientation, Pole
from ..goals.obstacles import Obstacle
from ..goals.soft import SoftGoal
from ..kinematics import Pose
from ..kinematics.rotation import orientation
from .armature import is_flat
from .frames.sampling import Sample
from .limb import Limb
from .look_axis import Look, look_of
from .looks import Looks, Volume
from .target_shape import line_direction

_BONE, _DOWN = Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, -1.0))
_ORIENTATIONS = ("AUTO", "NONE", "DIRECTION", "FULL", "LOOK")
_THIN = 1e-4  # least thickness of an obstacle, relative to its largest side


def has_soft_goals(now: Sample) -> bool:
    """Tell whether a frame, and every frame of the same limb and looks, has soft goals."""
    limb = now.limb
    weights = limb.effort_weight or limb.rest_weight
    return bool(orientation_of(limb, now.looks) != "NONE" or limb.pole_target or now.obstacles or weights)


def soft_goals(now: Sample, frame: Matrix, start: Pose, look: Look | None = None) -> Iterator[SoftGoal]:
    """Yield the soft goals of a frame, armature space.

    `frame` (4x4) is that of the target in armature space, `start` the pose of the first frame, `look` that of the limb
    if it is known. Raises TargetError if the tip is to have the orientation of a target that has none.
    """
    rig, limb = now.rig, now.limb
    turned = orientation_of(limb, now.looks)
    if turned == "FULL":
        yield Orientation(_rotation(now, frame), limb.orient_weight)
    elif turned == "DIRECTION":
        along = _rotation(now, frame) @ _BONE if limb.use_offset else frame.to_3x3() @ line_direction(limb)
        yield Direction(along, weight=limb.orient_weight)
    elif turned == "LOOK":
        yield LookAt(
            frame.to_translation(), *(look or look_of(limb.armature, limb.tip, limb.look_axis)), limb.orient_weight
        )
    if now.pole is not None:
        yield Pole(rig.into @ now.pole, limb.pole_angle, limb.pole_weight)
    if limb.effort_weight:
        yield Effort(rig.world.to_3x3().transposed() @ _DOWN, limb.effort_weight)  # as the height in world space falls
    if limb.rest_weight:
        rest = limb.rest_pose == "REST"
        yield Near([Quaternion() if rest else rotation.copy() for rotation in start.rotations], limb.rest_weight)
    if now.obstacles and limb.obstacle_weight:
        margin = limb.obstacle_margin / rig.stretch
        solid = [each._replace(frame=rig.into @ each.frame) for each in now.obstacles if not is_flat(each.frame)]
        yield Avoid([_obstacle(each, margin) for each in solid], limb.obstacle_weight)


def orientation_of(limb: Limb, looks: Looks) -> str:
    """Return the kind of orientation goal: the chosen one, otherwise the one that the target tells by its looks.

    A bone and an empty displayed as arrows tell a whole orientation, a single arrow a direction, anything else none. An
    empty that was made for a hand tells none until it is turned. Of a single arrow an offset takes the tip off. Raises
    SettingError for an unknown kind.
    """
    if limb.orientation not in _ORIENTATIONS:
        known = ", ".join(_ORIENTATIONS)
        raise SettingError(f"Orientation '{limb.orientation}' is unknown. Choose one of {known}.")
    if limb.orientation != "AUTO":
        return limb.orientation
    if limb.subtarget or looks.display == "ARROWS":
        return "NONE" if looks.as_made else "FULL"
    return "DIRECTION" if looks.display == "SINGLE_ARROW" and not limb.use_offset else "NONE"


def _rotation(now: Sample, frame: Matrix) -> Quaternion:
    """Return the target's orientation (armature space), with the offset if that is kept.

    Raises TargetError for a target that is scaled to zero.
    """
    limb = now.limb
    if is_flat(frame):
        raise TargetError(
            f"Target '{limb.target_name}' is scaled to zero at frame {now.frame:g}; it has no orientation. "
            "Give it a non-zero scale."
        )
    rotation = orientation(frame.to_3x3())
    return rotation @ Quaternion(limb.offset_rotation) if limb.use_offset else rotation


def _obstacle(volume: Volume, margin: float) -> Obstacle:
    """Return the obstacle for a volume whose frame is in armature space, with a margin around it."""
    frame, looks, lowest, highest = volume
    if looks.display == "SPHERE":
        radius = looks.size * max(column.length for column in frame.to_3x3().col)
        return Ball(frame.to_translation(), radius + margin)
    if looks.display:
        return Block(frame @ Matrix.Scale(looks.size, 4), margin)
    half = (highest - lowest) / 2.0
    thin = _THIN * max(*half)
    sides = Matrix.Diagonal((*(max(side, thin) for side in half), 1.0))
    return Block(frame @ Matrix.Translation(lowest + half) @ sides, margin)
