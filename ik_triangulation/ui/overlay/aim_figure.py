# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawing of what is missing between a limb's tip and its target: distance and rotation, in armature space."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from mathutils import Quaternion, Vector

from ...goals import LookAt, Orientation
from ...kinematics import Pose
from ...kinematics.rotation import angle_between
from .active_limb import Aim
from .shapes import ArcStroke, LineStroke, Role, Sketch, facing, plane_of

# Shares of the limb's reach
_RING = 0.018  # radius of the mark of a target that is reached,
_CROSS = 0.014  # and half the size of that of one that is not
_DASH = 0.02  # of the line between tip and target, and as much between two
_ARROW = 0.2  # length of the axes of a target

_DASHES = 40  # at most
_FROM = 0.6  # of their length: where the axes begin, so that what is at the target stays visible
_HEAD = 0.08, 0.035  # of their length: the head of an arrow, and half its width
_FAINT = 0.4  # alpha of the axes that the tip has
_AXES = tuple(zip((Role.X, Role.Y, Role.Z), (Vector((1, 0, 0)), Vector((0, 1, 0)), Vector((0, 0, 1))), strict=True))


def role_of(aim: Aim) -> Role:
    """Return the role that says whether a target is reached."""
    if aim.waits:
        return Role.WAITING
    return Role.REACHED if aim.reached else Role.MISSED if aim.missed else Role.COMING


def add_distance(sketch: Sketch, aim: Aim, tip: Vector, reach: float, eye: Vector) -> None:
    """Add a ring where the target is reached; otherwise a dashed line from the tip to it, and a cross there.

    A target that waits to be moved has a ring where it is, and nothing else.
    """
    role = role_of(aim)
    if aim.waits:
        place = aim.turn.point if isinstance(aim.turn, LookAt) else aim.nearest
        sketch.add(facing(role, place, _RING * reach, eye))
        return
    if aim.close:
        sketch.add(facing(role, aim.nearest, _RING * reach, eye))
        return
    sketch.add(*dashed(role, tip, aim.nearest, _DASH * reach))
    x, y = plane_of(eye.xyz - aim.nearest * eye.w)
    for side in (x + y, x - y):
        side = side * (_CROSS * reach / sqrt(2.0))
        sketch.add(LineStroke(role, aim.nearest - side, aim.nearest + side))


def add_turn(sketch: Sketch, aim: Aim, pose: Pose, eye: Vector) -> None:
    """Add the orientation asked for at the target, and if the tip is not turned so, by how much it is not.

    A look is a line to what is looked at. Otherwise that is a sector from the tip's axis to the target's, of the axis
    that is off most, and the axes that the tip has.
    """
    turn, size, now = aim.turn, _ARROW * sum(pose.lengths), pose.tip_rotation
    if turn is None:
        return
    if isinstance(turn, LookAt):
        sketch.add(*dashed(role_of(aim), pose.tip + now @ turn.origin, turn.point, _DASH * sum(pose.lengths)))
        return
    if isinstance(turn, Orientation):
        pairs = [(role, now @ axis, turn.rotation @ axis) for role, axis in _AXES]
    else:
        pairs = [(Role.TARGET, now @ turn.axis, turn.direction.normalized())]
    for role, _, wanted in pairs:
        sketch.add(*_arrow(role, aim.nearest, wanted * size, eye))
    if aim.turned:
        return
    for role, own, _ in pairs:
        sketch.add(LineStroke(role, aim.nearest + own * (_FROM * size), aim.nearest + own * size, _FAINT, _FAINT))
    _, own, wanted = max(pairs, key=lambda pair: angle_between(pair[1], pair[2]))
    sector = _sector(aim.nearest, own * size, wanted * size)
    sketch.add(sector._replace(apex=None) if aim.close else sector)  # a surface would cover the hand that is there


def dashed(role: Role, start: Vector, end: Vector, dash: float) -> Iterator[LineStroke]:
    """Yield the dashes of a line, which begins and ends with one."""
    wanted = (end - start).length / dash / 2.0
    count = max(1, round(wanted)) if wanted < _DASHES else _DASHES
    for number in range(count):
        a, b = (2 * number / (2 * count - 1), (2 * number + 1) / (2 * count - 1))
        yield LineStroke(role, start.lerp(end, a), start.lerp(end, b))


def _arrow(role: Role, origin: Vector, along: Vector, eye: Vector) -> Iterator[LineStroke]:
    """Yield an arrow whose head faces the eye."""
    end = origin + along
    yield LineStroke(role, origin + along * _FROM, end)
    side = along.cross(eye.xyz - end * eye.w)
    if side.length > 0.0:
        side = side * (_HEAD[1] * along.length / side.length)
        back = end - along * _HEAD[0]
        yield LineStroke(role, end, back + side)
        yield LineStroke(role, end, back - side)


def _sector(origin: Vector, start: Vector, end: Vector) -> ArcStroke:
    """Return the sector from one vector to another of the same length."""
    axis = start.cross(end)
    axis = axis if axis.length > 1e-6 * start.length_squared else start.orthogonal()
    across = Quaternion(axis, 1.5707963267948966) @ start
    return ArcStroke(Role.MISSED, origin, start, across, 0.0, angle_between(start, end), origin)
