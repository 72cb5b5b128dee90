# SPDX-License-Identifier: GPL-3.0-or-later
"""What a limb aims at: the shape that its target stands for, and how the tip shall be turned and the chain bent.

An empty is what it looks like. In the target's own space: planes lie across Z, lines run along Z, as arrows are drawn;
rings and cylinders go round Y, as Blender draws circles and cones. A bone runs along Y.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mathutils import Matrix, Quaternion, Vector

from .blender.armature import find_bone, is_flat
from .blender.limb import Limb
from .blender.sampling import Sample
from .errors import SettingError, TargetError
from .kinematics.rotation import orientation
from .solvers import Direction, Orientation, Pole
from .targets import Box, Cylinder, Line, Plane, Point, Ray, Ring, Segment, Sphere, Target, Transformed

_ORIGIN, _Y, _Z = Vector(), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0))

# Each shape in the target's own space, of some size; `along` is the way that lines run.
_SHAPES: dict[str, Callable[[float, Vector], Target]] = {
    "PLANE": lambda size, along: Plane(_ORIGIN, _Z),
    "LINE": lambda size, along: Line(_ORIGIN, along),
    "RAY": lambda size, along: Ray(_ORIGIN, along),
    "SEGMENT": lambda size, along: Segment(_ORIGIN, along * size),
    "SPHERE": lambda size, along: Sphere(_ORIGIN, size),
    "CYLINDER": lambda size, along: Cylinder(_ORIGIN, _Y, size),
    "RING": lambda size, along: Ring(_ORIGIN, _Y, size),
    "BOX": lambda size, along: Box(Matrix.Scale(size, 4)),
}
_DISPLAYED = {"CIRCLE": "RING", "SPHERE": "SPHERE", "CUBE": "BOX", "CONE": "CYLINDER", "IMAGE": "PLANE"}
_PULLING = {"FORCE", "HARMONIC", "CHARGE", "LENNARDJ"}  # kinds of force field
_PULLED_TO = {"POINT", "LINE", "PLANE"}
_ORIENTATIONS = ("AUTO", "NONE", "DIRECTION", "FULL")


class Goal(NamedTuple):
    """What to reach and what to be like, armature space."""

    target: Target
    soft: tuple[Orientation | Direction | Pole, ...]


class Aim:
    """The goal of a limb at any frame.

    Raises TargetError for a target that does not have the shape asked for, SettingError for one that is unknown.
    """

    def __init__(self, limb: Limb) -> None:
        _known("Shape", limb.shape, ("AUTO", "POINT", *_SHAPES, "FIELD"))
        _known("Orientation", limb.orientation, _ORIENTATIONS)
        self._limb = limb
        self._along = _Y if limb.subtarget else _Z
        self._orientation = orientation_of(limb)
        shape = shape_of(limb)
        self._shape = _SHAPES[shape](_size(limb), self._along) if shape != "POINT" else None
        self._plain = not (limb.use_offset or limb.pole_target or self._shape) and self._orientation == "NONE"

    def at(self, now: Sample) -> Goal:
        """The goal for what a frame's sample says."""
        into = now.rig.into
        if self._plain:
            return Goal(Point(into @ now.target.translation), ())
        limb, frame = self._limb, now.target
        if limb.use_offset:
            frame = frame.copy()
            frame.translation = frame @ Vector(limb.offset_location)
        frame = into @ frame
        target = Transformed(self._shape, frame) if self._shape else Point(frame.to_translation())
        return Goal(target, tuple(self._soft(now, frame)))

    def _soft(self, now: Sample, frame: Matrix) -> list[Orientation | Direction | Pole]:
        limb = self._limb
        soft: list[Orientation | Direction | Pole] = []
        if self._orientation == "FULL" or (self._orientation == "DIRECTION" and limb.use_offset):
            if is_flat(frame):
                raise TargetError(
                    f"Target '{limb.target_name}' is scaled to zero at frame {now.frame:g}; it has no orientation. "
                    "Give it a non-zero scale."
                )
            rotation = orientation(frame.to_3x3())
            if limb.use_offset:
                rotation = rotation @ Quaternion(limb.offset_rotation)
            if self._orientation == "FULL":
                soft.append(Orientation(rotation, limb.orient_weight))
            else:
                soft.append(Direction(rotation @ _Y, weight=limb.orient_weight))
        elif self._orientation == "DIRECTION":
            soft.append(Direction(frame.to_3x3() @ self._along, weight=limb.orient_weight))
        if now.pole is not None:
            soft.append(Pole(now.rig.into @ now.pole, limb.pole_angle, limb.pole_weight))
        return soft


def shape_of(limb: Limb) -> str:
    """The shape to reach: what was chosen, else what the target looks like.

    A force field is the point, line or plane that it pulls to. Raises TargetError where one was chosen that is not
    there or pulls to none of these.
    """
    target, shape = limb.target, limb.shape
    if shape not in {"AUTO", "FIELD"}:
        return shape
    pulled = target.field.shape if target.field and target.field.type in _PULLING else ""
    if not limb.subtarget and pulled in _PULLED_TO:
        return str(pulled)
    if shape == "FIELD":
        raise TargetError(
            f"'{target.name}' has no force field that pulls to a point, line or plane. "
            "Add a Force or Harmonic field, or choose another shape."
        )
    displayed = target.empty_display_type if target.type == "EMPTY" and not limb.subtarget else ""
    return _DISPLAYED.get(displayed, "POINT")


def orientation_of(limb: Limb) -> str:
    """How the tip shall be turned: what was chosen, else along a single arrow."""
    if limb.orientation != "AUTO":
        return limb.orientation
    if limb.use_offset:
        return "NONE"
    arrow = limb.target.type == "EMPTY" and not limb.subtarget and limb.target.empty_display_type == "SINGLE_ARROW"
    return "DIRECTION" if arrow else "NONE"


def _known(what: str, name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise SettingError(f"{what} '{name}' is unknown. Choose one of {', '.join(names)}.")


def _size(limb: Limb) -> float:
    """Size of the target in its own space [Blender units]; its scale comes on top."""
    if limb.subtarget:
        return float(find_bone(limb.target, limb.subtarget).length)
    return float(limb.target.empty_display_size) if limb.target.type == "EMPTY" else 1.0
