# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a limb's goal at each frame: the target's shape and the soft goals.

The shape of a limb's target: chosen in the settings, or taken from an empty's display type, a force field or a mesh.
Shapes are in the target's own space. Lines run along its Z axis, as Blender draws arrows, or along a bone, whose
direction is Y.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...errors import SettingError, TargetError
from ...goals import (
    Anywhere,
    Avoid,
    Ball,
    Block,
    Direction,
    Effort,
    Goal,
    LookAt,
    Near,
    Orientation,
    Point,
    Pole,
    Target,
    Transformed,
)
from ...goals.flow import Flow
from ...goals.goal import SoftGoal
from ...goals.obstacles import Obstacle
from ...goals.target_shapes import TARGET_SHAPES
from ...kinematics import Pose
from ...kinematics.arrays import Numbers
from ...kinematics.batch.algebra import compose, cross, dot
from ...kinematics.rotation import orientation
from ..armature import is_flat
from ..frames.samples import Sample, Samples, tip_scale
from ..limb import PULLING, Limb
from ..stance import Look, look_of
from .surface import Looks, Volume

_Y, _Z = Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0))
_SHAPE_OF_DISPLAY = {shape.display: name for name, shape in TARGET_SHAPES.items() if shape.display}
_PULLED_TO = {"POINT", "LINE", "PLANE"}

_BONE, _DOWN = Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, -1.0))
_ORIENTATIONS = ("AUTO", "NONE", "DIRECTION", "FULL", "LOOK")
_THIN = 1e-4  # least thickness of an obstacle, relative to its largest side

_OF_STEP = 0.01  # of a step along a flow: distance up to which the tip has made it
_FLAT = 1e-9  # [Blender units] length of an axis that has no direction
_SQUARE = 1e-5  # deviation of axes from square ones that rounding explains


def build_target(limb: Limb, looks: Looks) -> Target | None:
    """Return the target to reach, in its own space; None for its origin. Raises what shape_of() does.

    The space of a surface and of a flow has its origin at the place that is reached.
    """
    name = shape_of(limb, looks)
    return None if name in {"POINT", "SURFACE", "FLOW"} else TARGET_SHAPES[name].build(looks.size, line_direction(limb))


def line_direction(limb: Limb) -> Vector:
    """Return the unit direction of lines in the target's own space: along a bone, otherwise along Z."""
    return _Y if limb.subtarget else _Z


def shape_of(limb: Limb, looks: Looks) -> str:
    """Return the name of the shape to reach: the chosen one, otherwise that of the target's current appearance.

    A force field is the point, line or plane that it pulls to, another mesh with faces its surface. Raises TargetError
    if a force field was chosen and the target has none that pulls to one of these; SettingError for an unknown shape.
    """
    target, chosen = limb.target, limb.shape
    known = ("AUTO", *TARGET_SHAPES, "FIELD", "SURFACE", "FLOW")
    if chosen not in known:
        raise SettingError(f"Shape '{chosen}' is unknown. Choose one of {', '.join(known)}.")
    if chosen not in {"AUTO", "FIELD"}:
        return chosen
    if looks.field in PULLING and looks.field_shape in _PULLED_TO:
        return looks.field_shape
    if chosen == "FIELD":
        raise TargetError(
            f"'{target.name}' has no force field that pulls to a point, line or plane. "
            "Add a Force or Harmonic field, or choose another shape."
        )
    return "SURFACE" if limb.on_surface else _SHAPE_OF_DISPLAY.get(looks.display, "POINT")


def has_soft_goals(now: Sample) -> bool:
    """Tell whether a frame, and every frame of the same limb and looks, has soft goals."""
    limb = now.limb
    weights = limb.effort_weight or limb.rest_weight
    return bool(orientation_of(limb, now.looks) != "NONE" or limb.pole_target or now.obstacles or weights)


def soft_goals(now: Sample, frame: Matrix, start: Pose, look: Look | None = None) -> Iterator[SoftGoal]:
    """Yield the soft goals of a frame, armature space.

    `frame` (4x4) is that of the target in armature space, `start` the pose of the first frame, `look` that of a limb
    which looks. Raises TargetError if the tip is to have the orientation of a target that has none.
    """
    rig, limb = now.rig, now.limb
    turned = orientation_of(limb, now.looks)
    if turned == "FULL":
        yield Orientation(_rotation(now, frame), limb.orient_weight)
    elif turned == "DIRECTION":
        along = _rotation(now, frame) @ _BONE if limb.offset else frame.to_3x3() @ line_direction(limb)
        yield Direction(along, weight=limb.orient_weight)
    elif look is not None:
        yield LookAt(frame.to_translation(), *look, limb.orient_weight)
    if now.pole is not None:
        yield Pole(rig.into @ now.pole, limb.pole_angle, limb.pole_weight)
    if limb.effort_weight:
        yield Effort(rig.world.to_3x3().transposed() @ _DOWN, limb.effort_weight)  # as the height in world space falls
    if limb.rest_weight:
        rest = limb.rest_pose == "REST"
        yield Near([Quaternion() if rest else rotation.copy() for rotation in start.rotations], limb.rest_weight)
    if now.obstacles and limb.obstacle_weight:
        yield avoid_of(now)


def avoid_of(now: Sample) -> Avoid:
    """Return the obstacles of a limb at a frame, armature space, with the margin around them."""
    rig, limb = now.rig, now.limb
    margin = limb.obstacle_margin / rig.stretch
    solid = [each._replace(frame=rig.into @ _thickened(each.frame)) for each in now.obstacles]
    return Avoid([_obstacle(each, margin) for each in solid if not is_flat(each.frame)], limb.obstacle_weight)


def _thickened(frame: Matrix) -> Matrix:
    """Return the frame of an obstacle that has some thickness along an axis whose scale is zero, if that is one."""
    axes = [Vector(column) for column in frame.to_3x3().col]
    thin = _THIN * max(axis.length for axis in axes)
    flat = [number for number, axis in enumerate(axes) if axis.length < thin]
    if len(flat) != 1:
        return frame
    (across,), thick = flat, frame.copy()
    out = axes[across - 2].cross(axes[across - 1]).normalized() * thin
    thick.col[across] = (*out, 0.0)
    return thick


def orientation_of(limb: Limb, looks: Looks) -> str:
    """Return the kind of orientation goal: the chosen one, otherwise the one that the target tells by its looks.

    A bone and an empty displayed as arrows tell a whole orientation, a single arrow a direction, anything else none. An
    empty that was made for a hand tells none until it is turned, nor does a field that is followed. Of a single arrow
    an offset takes the tip off. Raises SettingError for an unknown kind.
    """
    if limb.orientation not in _ORIENTATIONS:
        known = ", ".join(_ORIENTATIONS)
        raise SettingError(f"Orientation '{limb.orientation}' is unknown. Choose one of {known}.")
    if limb.orientation != "AUTO":
        return limb.orientation
    if limb.follows_flow:
        return "NONE"
    if limb.subtarget or looks.display == "ARROWS":
        return "NONE" if looks.as_made else "FULL"
    return "DIRECTION" if looks.display == "SINGLE_ARROW" and not limb.offset else "NONE"


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
    return rotation @ limb.offset.rotation if limb.offset else rotation


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


class PlacesAndTurns(NamedTuple):
    """Points to reach, `places` (3, F or 1; armature space) within `tolerance` (F or 1), and maybe orientations.

    `rotations` (3, 3, F or 1) or None, within `angle_tolerance` [rad], have this `weight`.
    """

    places: Numbers
    tolerance: Numbers
    rotations: Numbers | None
    angle_tolerance: float
    weight: float


class GoalReader:
    """Reads the goal of a limb at any frame; keeps the target's shape as long as settings and display do not change."""

    def __init__(self) -> None:
        self._read: tuple[Limb, Looks] | None = None

    def at(self, now: Sample, start: Pose) -> Goal:
        """Return the goal (armature space) for a frame's sample; `start` is the pose of the first frame.

        Raises TargetError for a target that does not have the chosen shape, SettingError for an unknown shape.
        """
        limb, frame, into = now.limb, now.target, now.rig.into
        # World space may stretch armature space: the tolerance holds in the direction that it stretches most.
        tolerance, angle = allowed_distance(limb, now.flow) / now.rig.stretch, limb.angle_tolerance
        if self._read is None or self._read[0] is not limb or self._read[1] != now.looks:
            self._read = limb, now.looks
            self._target: Target | None = build_target(limb, now.looks)
            self._has_soft_goals = has_soft_goals(now)
            looking = orientation_of(limb, now.looks) == "LOOK"
            self._look = look_of(limb.armature, limb.tip, limb.look_axis) if looking else None
        if self._look:  # the tip is where it likes
            return Goal(Anywhere(), tuple(soft_goals(now, into @ frame, start, self._look)), tolerance, angle)
        if limb.offset and limb.offset.matched:
            frame = into @ frame
            frame.translation, into = limb.offset.place(frame, tip_scale(now.rig)), Matrix.Identity(4)
        elif limb.offset:
            frame = frame.copy()
            frame.translation = limb.offset.place(frame)
        if not self._target and not self._has_soft_goals:
            return Goal(Point(into @ frame.translation), (), tolerance, angle)
        frame = into @ frame
        target = Transformed(self._target, frame) if self._target else Point(frame.to_translation())
        return Goal(target, tuple(soft_goals(now, frame, start)), tolerance, angle)

    def goals(self, samples: Samples) -> PlacesAndTurns | None:
        """Return the goals of all frames as arrays, where they are points, with or without an orientation.

        None where samples differ in more than their matrices, or the goals ask for more.
        """
        first = samples.first
        limb = first.limb
        if not samples.steady or build_target(limb, first.looks):
            return None
        turned = orientation_of(limb, first.looks)
        others = limb.pole_target or first.obstacles or limb.effort_weight or limb.rest_weight
        if others or turned not in ("NONE", "FULL") or (turned == "FULL" and not limb.orient_weight > 0.0):
            return None
        into = np.linalg.inv(samples.worlds.transpose(2, 0, 1)).transpose(1, 2, 0)
        frames = compose(into, samples.targets)
        offset, axes = limb.offset, frames[:3, :3]
        place = np.array(offset.location if offset else (0.0, 0.0, 0.0))
        if offset and offset.matched:
            place, axes = place * tip_scale(first.rig), axes / np.sqrt((axes**2).sum(0))
        places = frames[:3, 3] + np.einsum("ijf,j->if", axes, place)
        stretch = np.sqrt((samples.worlds[:3, :3] ** 2).sum(0)).max(0)
        rotations = None
        if turned == "FULL":
            rotations = _rotations(frames[:3, :3], limb)
            if rotations is None:
                return None
        tolerance = allowed_distance(limb, first.flow) / stretch
        return PlacesAndTurns(places, tolerance, rotations, limb.angle_tolerance, limb.orient_weight)


def allowed_distance(limb: Limb, flow: Flow | None) -> float:
    """Return the distance [Blender units, world space] within which a tip has reached; along a flow a part of a step.

    Otherwise the speed of the tip would be that of the field only now and then.
    """
    return min(limb.tolerance, _OF_STEP * flow.step) if flow else limb.tolerance


def _rotations(axes: Numbers, limb: Limb) -> Numbers | None:
    """Rotations (3, 3, F) of frames, with the limb's offset; None if one of them is mirrored, sheared or flat."""
    sizes = np.sqrt((axes**2).sum(0))
    if not sizes.min() > _FLAT:
        return None
    turned = axes / sizes
    square = np.einsum("jif,jkf->ikf", turned, turned)
    if np.abs(square - np.eye(3)[:, :, None]).max() > _SQUARE:
        return None
    if not dot(cross(turned[:, 0], turned[:, 1]), turned[:, 2]).min() > 0.0:
        return None
    if limb.offset:
        offset = np.array(limb.offset.rotation.normalized().to_matrix())
        turned = np.einsum("ijf,jk->ikf", turned, offset)
    return turned
