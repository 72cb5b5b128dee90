# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawing of joint limits, targets and what is missing to them, as strokes in armature space; needs no window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, product
from math import cos, isinf, sin, sqrt

from mathutils import Matrix, Quaternion, Vector

from ... import goals as targets
from ...goals import LookAt, Orientation, Target, Transformed
from ...kinematics import Cone, Framed, Free, Freedom, Hinge, Pose
from ...kinematics.freedom import finite
from ...kinematics.rotation import angle_between
from .limb import Aim
from .sketch import ArcStroke, LineStroke, Role, Sketch, Stroke, circle, facing, plane_of, silhouette

# Shares of the length of a bone
_DIAL = 0.5  # radius of the arcs that show bending
_TWIST = 0.4  # of that: radius of the arcs that show twist
_ALONG = 1.6  # of that: position of the twist arcs along the bone, clear of the others
_AXIS = 0.6  # of that: half the length of a hinge's axis
_LOCK = 0.03  # half the width of the mark of a locked joint

# Shares of the limb's reach
_POINT = 0.03  # radius of the mark of a point target
_FAR = 0.4  # drawn length of infinite targets

_TICK = 0.85, 1.15  # of the radius
_PARALLEL = 0.2  # sine of the angle to an axis below which a bone twists about it rather than bends
_ALIGNED = 0.999  # cosine of the angle to X, Y or Z from which on a hinge has the axis' colour
_KEPT = 16  # joints whose strokes are cached
_GRID = 2  # lines of a plane on either side of the middle one

_X, _Y, _Z = (Vector([float(i == j) for j in range(3)]).freeze() for i in range(3))
_NOWHERE = Vector().freeze()

Far = Callable[[Vector], Vector]  # scales a vector to the drawn length of infinite targets

# Shares of the limb's reach
_RING = 0.018  # radius of the mark of a target that is reached,
_CROSS = 0.014  # and half the size of that of one that is not
_DASH = 0.02  # of the line between tip and target, and as much between two
_ARROW = 0.2  # length of the axes of a target
_AHEAD = 1.5  # length of the path along a flow

_DASHES = 40  # at most
_PIECES = 48  # of the path along a flow
_FROM = 0.6  # of their length: where the axes begin, so that what is at the target stays visible
_HEAD = 0.08, 0.035  # of their length: the head of an arrow, and half its width
_FAINT = 0.4  # alpha of the axes that the tip has
_AXES = tuple(zip((Role.X, Role.Y, Role.Z), (Vector((1, 0, 0)), Vector((0, 1, 0)), Vector((0, 0, 1))), strict=True))


def add_joint(sketch: Sketch, pose: Pose, i: int, length: float) -> None:
    """Add the axes and limits of joint `i`, with a tick at its current angle; `length` is that of its bone."""
    freedom = pose.chain.joints[i].freedom
    stretch = (pose.socket(i) @ _Y).length
    if not isinstance(freedom, Free) and freedom.moves and stretch:
        rotation, socket = pose.rotations[i], pose.socket(i)
        if isinstance(freedom, Framed):
            freedom, rotation, socket = freedom.inner, freedom.into(rotation), socket @ freedom.frame.to_matrix()
        where = (held.copy().freeze() for held in (rotation, socket, pose.head(i)))
        sketch.add(*_joint(freedom, _DIAL * length / stretch, *where))


def add_locks(sketch: Sketch, pose: Pose, lengths: Sequence[float], eye: Vector) -> None:
    """Add the mark of each joint that cannot rotate; `lengths` are those of the bones."""
    for i, (joint, length) in enumerate(zip(pose.chain.joints, lengths, strict=True)):
        if not joint.freedom.moves and (pose.socket(i) @ _Y).length:
            add_lock(sketch, pose.head(i), length, eye)


def add_lock(sketch: Sketch, head: Vector, length: float, eye: Vector) -> None:
    """Add the mark of a locked bone of this `length`: a small square."""
    x, y = plane_of(eye.xyz - head * eye.w)
    x, y = x * (_LOCK * length), y * (_LOCK * length)
    corners = head + x + y, head - x + y, head - x - y, head + x - y
    sketch.add(*(LineStroke(Role.LOCKED, corners[i - 1], corners[i]) for i in range(4)))


def is_point(target: Target) -> bool:
    """Tell whether a target is a single point, so that a mark of the tip on it marks it as well."""
    return isinstance(target.target if isinstance(target, Transformed) else target, targets.Point)


def add_target(sketch: Sketch, target: Target, tip: Vector, reach: float, eye: Vector) -> None:
    """Add the target; of an infinite one the part around the point nearest to the `tip`."""
    own, into, out = target, Matrix.Identity(4), Matrix.Identity(4)
    if isinstance(target, Transformed):
        own, into, out = target.target, target.into, target.out
    linear = into.to_3x3()

    def far(along: Vector) -> Vector:
        return along * (_FAR * reach / (linear @ along).length)

    shown = _SHOWN.get(type(own))
    if shown is not None:
        near = tip if isinstance(own, targets.Flow) else target.closest(tip)
        strokes = shown(own, out @ near, far, out @ eye)
        sketch.add(*(stroke.through(linear, into.to_translation()) for stroke in strokes if stroke is not None))


@lru_cache(maxsize=_KEPT)
def _joint(freedom: Freedom, size: float, rotation: Quaternion, socket: Matrix, head: Vector) -> list[Stroke]:
    """Return the strokes of a joint; cached, as most redraws show the same pose from another viewpoint."""
    return [stroke.through(socket, head) for stroke in _limits(freedom, rotation, _Y * size)]


def _limits(freedom: Freedom, rotation: Quaternion, bone: Vector) -> Iterator[Stroke]:
    """Yield the strokes of a joint in its rest frame; `bone` is the bone's rest direction times their radius."""
    allowed = freedom.nearest(rotation)
    now = Role.NOW if allowed is rotation else Role.MISSED
    bends = False
    if isinstance(freedom, Cone) and freedom.swing > 0.0:
        bends = True
        yield from _cone(freedom, bone.length)
    for name, (axis, value, *ends) in zip(freedom.names, freedom.coordinates(allowed), strict=True):
        if name in {"swing", "direction"} or (all(map(isinf, ends)) and not isinstance(freedom, Hinge)):
            continue
        role = axis_role(name, axis)
        apex, radius = _NOWHERE, bone
        if axis.cross(allowed @ bone).length < _PARALLEL * bone.length:
            apex, radius = rotation @ bone * _ALONG, _Z * (_TWIST * bone.length)
            yield _tick(now, apex, rotation @ radius)
        else:
            bends = True
        points = allowed @ radius
        along = axis * points.dot(axis)
        lower, upper = finite(*ends)
        yield ArcStroke(role, apex + along, points - along, axis.cross(points), lower - value, upper - value, apex)
        if isinstance(freedom, Hinge):
            yield LineStroke(role, axis * (-_AXIS * bone.length), axis * (_AXIS * bone.length))
    if bends:
        yield _tick(now, _NOWHERE, rotation @ bone)


def _cone(freedom: Cone, size: float) -> Iterator[Stroke]:
    """Yield the circle that limits the swing, and four lines on the cone's surface."""
    along, across = size * cos(freedom.swing), size * sin(freedom.swing)
    yield ArcStroke(Role.LIMIT, _Y * along, _X * across, _Z * across, apex=_NOWHERE)
    for side in (_X, _Z, -_X, -_Z):
        yield LineStroke(Role.LIMIT, _NOWHERE, _Y * along + side * across, 0.0)


def _tick(role: Role, apex: Vector, radius: Vector) -> LineStroke:
    return LineStroke(role, apex + radius * _TICK[0], apex + radius * _TICK[1])


def axis_role(name: str, axis: Vector) -> Role:
    """Return the role of a coordinate by its name and axis: X, Y or Z if it rotates about one of these."""
    if name in {"X", "Y", "Z"}:
        return Role[name]
    if name == "twist":
        return Role.Y
    return next((Role["XYZ"[i]] for i in range(3) if abs(axis[i]) > _ALIGNED), Role.LIMIT)


# Strokes of each kind of target in its own space, from the target, its point nearest to the tip, the function that
# gives infinite targets their drawn length, and the eye.


def _point(target: targets.Point, near: Vector, far: Far, eye: Vector) -> Iterator[Stroke]:
    yield facing(Role.TARGET, target.location, far(_X).length * _POINT / _FAR, eye)


def _plane(target: targets.Plane, near: Vector, far: Far, eye: Vector) -> Iterator[Stroke]:
    axes = [far(axis) for axis in plane_of(target.normal)]
    for (along, side), step in product((axes, axes[::-1]), range(-_GRID, _GRID + 1)):
        share = step / (_GRID + 1)
        yield from _infinite(near + side * share, along, 1.0 - abs(share))


def _line(target: targets.Line, near: Vector, far: Far, eye: Vector) -> Iterator[Stroke]:
    yield from _infinite(near, far(target.direction))


def _ray(target: targets.Ray, near: Vector, far: Far, eye: Vector) -> Iterator[Stroke]:
    yield LineStroke(Role.TARGET, target.location, near)
    yield LineStroke(Role.TARGET, near, near + far(target.direction), end_alpha=0.0)


def _segment(target: targets.Segment, near: Vector, far: Far, eye: Vector) -> Iterator[Stroke]:
    yield LineStroke(Role.TARGET, target.start, target.end)


def _sphere(target: targets.Sphere, near: Vector, far: Far, eye: Vector) -> Iterator[Stroke | None]:
    yield silhouette(Role.TARGET, target.centre, target.radius, eye)
    for normal in (_X, _Y, _Z):
        yield circle(Role.TARGET, target.centre, normal, target.radius)


def _cylinder(target: targets.Cylinder, near: Vector, far: Far, eye: Vector) -> Iterator[Stroke]:
    axis = target.axis
    height = axis * (near - target.location).dot(axis)
    rim = circle(Role.TARGET, target.location + height, axis, target.radius)
    yield rim
    for side in (rim.x, rim.y, -rim.x, -rim.y):
        yield from _infinite(rim.centre + side, far(axis))


def _ring(target: targets.Ring, near: Vector, far: Far, eye: Vector) -> Iterator[Stroke]:
    yield circle(Role.TARGET, target.centre, target.normal, target.radius)


def _box(target: targets.Box, near: Vector, far: Far, eye: Vector) -> Iterator[Stroke]:
    corners = product((-1.0, 1.0), repeat=3)
    for start, end in combinations(corners, 2):
        if sum(a != b for a, b in zip(start, end, strict=True)) == 1:
            yield LineStroke(Role.TARGET, target.frame @ Vector(start), target.frame @ Vector(end))


def _flow(target: targets.Flow, near: Vector, far: Far, eye: Vector) -> Iterator[Stroke]:
    """Yield the line along which the tip goes from where it is, fading out."""
    line = targets.Flow(target.towards, far(_X).length / _FAR * _AHEAD / _PIECES)
    for piece in range(_PIECES):
        end = line.after(near)
        yield LineStroke(Role.TARGET, near, end, 1.0 - piece / _PIECES, 1.0 - (piece + 1) / _PIECES)
        near = end


def _infinite(middle: Vector, along: Vector, alpha: float = 1.0) -> Iterator[LineStroke]:
    """Yield a line that fades out in both directions."""
    for end in (middle + along, middle - along):
        yield LineStroke(Role.TARGET, middle, end, alpha, 0.0)


_SHOWN: dict[type, Callable[..., Iterator[Stroke | None]]] = {
    targets.Point: _point,
    targets.Plane: _plane,
    targets.Line: _line,
    targets.Ray: _ray,
    targets.Segment: _segment,
    targets.Sphere: _sphere,
    targets.SolidSphere: _sphere,
    targets.Cylinder: _cylinder,
    targets.SolidCylinder: _cylinder,
    targets.Ring: _ring,
    targets.Box: _box,
    targets.Flow: _flow,
}


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
    """Add the required orientation at the target, and if the tip is not turned so, by how much it is not.

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
