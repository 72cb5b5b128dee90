# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown of a limb, made of arcs and lines in armature space; needs no window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, product
from math import cos, isinf, pi, sin

from mathutils import Matrix, Quaternion, Vector

from ... import goals as targets
from ...goals import Target, Transformed
from ...kinematics import Cone, Free, Freedom, Hinge, Pose
from ...kinematics.ranges import finite
from ...kinematics.workspace import reaches
from .shapes import Arc, Line, Role, Sketch, circle, facing, plane_of, silhouette

# Shares of the length of a bone
_DIAL = 0.3  # radius of what shows how a joint bends
_TWIST = 0.4  # of that: radius of what shows how it twists
_ALONG = 1.6  # of that: where this is along the bone, out of the way of the others
_AXIS = 0.6  # of that: how far a hinge's axis goes either way
_LOCK = 0.03  # half the width of the mark of a joint that cannot turn

# Shares of the limb's reach
_AIM = 0.008  # radius of the mark at the place to reach
_POINT = 0.03  # radius of the mark that shows a point
_FAR = 0.4  # how far something without end is shown

_TICK = 0.85, 1.15  # of the radius
_PARALLEL = 0.2  # sine of an angle to an axis below which a bone rather twists about it than bends
_ALIGNED = 0.999  # cosine of an angle to X, Y or Z up to which a hinge has their colour
_KEPT = 256  # joints whose strokes are remembered
_GRID = 2  # lines of a plane on either side of the middle one

_X, _Y, _Z = (Vector([float(i == j) for j in range(3)]).freeze() for i in range(3))
_NOWHERE = Vector().freeze()

Far = Callable[[Vector], Vector]  # makes a vector along another one as long as something without end is shown


def add_reach(sketch: Sketch, pose: Pose, eye: Vector) -> None:
    """The outlines of how far from its root the limb reaches, and how near, were all its joints free."""
    for radius in reaches(pose.lengths)[0]:
        outline = silhouette(Role.REACH, pose.head(0), radius, eye) if radius > 0.0 else None
        if outline is not None:  # in quarters: it is looked at from near
            sketch.add(*(outline._replace(lower=i * pi / 2.0, upper=(i + 1) * pi / 2.0) for i in range(4)))


def add_joints(sketch: Sketch, pose: Pose, lengths: Sequence[float], eye: Vector) -> None:
    """The limits of each joint that has some, and where its bone, so long and along Y, stands between them."""
    for i, (joint, length) in enumerate(zip(pose.chain.joints, lengths, strict=True)):
        head, socket = pose.head(i), pose.socket(i)
        stretch = (socket @ _Y).length
        if isinstance(joint.freedom, Free) or not stretch:
            continue
        if joint.freedom.moves:
            where = (held.copy().freeze() for held in (pose.rotations[i], socket, head))
            sketch.add(*_joint(joint.freedom, _DIAL * length / stretch, *where))
        else:
            add_lock(sketch, head, length, eye)


def add_lock(sketch: Sketch, head: Vector, length: float, eye: Vector) -> None:
    """The mark of a bone of this `length` that is locked: a small square."""
    x, y = plane_of(eye.xyz - head * eye.w)
    x, y = x * (_LOCK * length), y * (_LOCK * length)
    corners = head + x + y, head - x + y, head - x - y, head + x - y
    sketch.add(*(Line(Role.LOCKED, corners[i - 1], corners[i]) for i in range(4)))


def add_target(sketch: Sketch, target: Target, tip: Vector, reach: float, eye: Vector) -> None:
    """What is to be reached; of what has no end the part about the place nearest to the `tip`."""
    own, into, out = target, Matrix.Identity(4), Matrix.Identity(4)
    if isinstance(target, Transformed):
        own, into, out = target.target, target.into, target.out
    linear = into.to_3x3()

    def far(way: Vector) -> Vector:
        return way * (_FAR * reach / (linear @ way).length)

    shown = _SHOWN.get(type(own))
    if shown is not None:
        strokes = shown(own, out @ target.closest(tip), far, out @ eye)
        sketch.add(*(stroke.through(linear, into.to_translation()) for stroke in strokes if stroke is not None))


def add_aim(sketch: Sketch, tip: Vector, aim: Vector, reached: bool, reach: float, eye: Vector) -> None:
    """A line from the tip to the place it shall reach, and a mark there."""
    role = Role.REACHED if reached else Role.MISSED
    sketch.add(Line(role, tip, aim), facing(role, aim, _AIM * reach, eye, apex=aim))


@lru_cache(maxsize=_KEPT)
def _joint(freedom: Freedom, size: float, rotation: Quaternion, socket: Matrix, head: Vector) -> list[Arc | Line]:
    """The strokes for a joint; kept for the next redraw, which as a rule shows the same pose from another side."""
    return [stroke.through(socket, head) for stroke in _limits(freedom, rotation, _Y * size)]


def _limits(freedom: Freedom, rotation: Quaternion, bone: Vector) -> Iterator[Arc | Line]:
    """The strokes for a joint in its rest frame; `bone` points along it at rest and is as long as they are large."""
    allowed = freedom.nearest(rotation)
    now = Role.NOW if allowed is rotation else Role.MISSED
    bends = False
    if isinstance(freedom, Cone) and freedom.swing > 0.0:
        bends = True
        yield from _cone(freedom, bone.length)
    for name, (axis, value, *ends) in zip(freedom.names, freedom.coordinates(allowed), strict=True):
        if name in {"swing", "direction"} or (all(map(isinf, ends)) and not isinstance(freedom, Hinge)):
            continue
        role = _role(name, axis)
        apex, radius = _NOWHERE, bone
        if axis.cross(allowed @ bone).length < _PARALLEL * bone.length:
            apex, radius = rotation @ bone * _ALONG, _Z * (_TWIST * bone.length)
            yield _tick(now, apex, rotation @ radius)
        else:
            bends = True
        points = allowed @ radius
        along = axis * points.dot(axis)
        lower, upper = finite(*ends)
        yield Arc(role, apex + along, points - along, axis.cross(points), lower - value, upper - value, apex)
        if isinstance(freedom, Hinge):
            yield Line(role, axis * (-_AXIS * bone.length), axis * (_AXIS * bone.length))
    if bends:
        yield _tick(now, _NOWHERE, rotation @ bone)


def _cone(freedom: Cone, size: float) -> Iterator[Arc | Line]:
    """The circle that the bone swings within, and four lines of the cone's side."""
    along, across = size * cos(freedom.swing), size * sin(freedom.swing)
    yield Arc(Role.LIMIT, _Y * along, _X * across, _Z * across, apex=_NOWHERE)
    for side in (_X, _Z, -_X, -_Z):
        yield Line(Role.LIMIT, _NOWHERE, _Y * along + side * across, 0.0)


def _tick(role: Role, apex: Vector, radius: Vector) -> Line:
    return Line(role, apex + radius * _TICK[0], apex + radius * _TICK[1])


def _role(name: str, axis: Vector) -> Role:
    """X, Y or Z for what turns about one of these, with which name a coordinate has."""
    if name in {"X", "Y", "Z"}:
        return Role[name]
    if name == "twist":
        return Role.Y
    return next((Role["XYZ"[i]] for i in range(3) if abs(axis[i]) > _ALIGNED), Role.LIMIT)


# What each kind of target looks like in its own space: of the target, its place nearest to the tip, how far endless
# things are shown, and the eye.


def _point(target: targets.Point, near: Vector, far: Far, eye: Vector) -> Iterator[Arc | Line]:
    yield facing(Role.TARGET, target.location, far(_X).length * _POINT / _FAR, eye)


def _plane(target: targets.Plane, near: Vector, far: Far, eye: Vector) -> Iterator[Arc | Line]:
    ways = [far(way) for way in plane_of(target.normal)]
    for (way, side), step in product((ways, ways[::-1]), range(-_GRID, _GRID + 1)):
        share = step / (_GRID + 1)
        yield from _endless(near + side * share, way, 1.0 - abs(share))


def _line(target: targets.Line, near: Vector, far: Far, eye: Vector) -> Iterator[Arc | Line]:
    yield from _endless(near, far(target.direction))


def _ray(target: targets.Ray, near: Vector, far: Far, eye: Vector) -> Iterator[Arc | Line]:
    yield Line(Role.TARGET, target.location, near)
    yield Line(Role.TARGET, near, near + far(target.direction), end_alpha=0.0)


def _segment(target: targets.Segment, near: Vector, far: Far, eye: Vector) -> Iterator[Arc | Line]:
    yield Line(Role.TARGET, target.start, target.end)


def _sphere(target: targets.Sphere, near: Vector, far: Far, eye: Vector) -> Iterator[Arc | Line | None]:
    yield silhouette(Role.TARGET, target.centre, target.radius, eye)
    for normal in (_X, _Y, _Z):
        yield circle(Role.TARGET, target.centre, normal, target.radius)


def _cylinder(target: targets.Cylinder, near: Vector, far: Far, eye: Vector) -> Iterator[Arc | Line]:
    axis = target.axis
    height = axis * (near - target.location).dot(axis)
    rim = circle(Role.TARGET, target.location + height, axis, target.radius)
    yield rim
    for side in (rim.x, rim.y, -rim.x, -rim.y):
        yield from _endless(rim.centre + side, far(axis))


def _ring(target: targets.Ring, near: Vector, far: Far, eye: Vector) -> Iterator[Arc | Line]:
    yield circle(Role.TARGET, target.centre, target.normal, target.radius)


def _box(target: targets.Box, near: Vector, far: Far, eye: Vector) -> Iterator[Arc | Line]:
    corners = product((-1.0, 1.0), repeat=3)
    for start, end in combinations(corners, 2):
        if sum(a != b for a, b in zip(start, end, strict=True)) == 1:
            yield Line(Role.TARGET, target.frame @ Vector(start), target.frame @ Vector(end))


def _endless(middle: Vector, way: Vector, alpha: float = 1.0) -> Iterator[Line]:
    """A line that fades out both ways."""
    for end in (middle + way, middle - way):
        yield Line(Role.TARGET, middle, end, alpha, 0.0)


_SHOWN: dict[type, Callable[..., Iterator[Arc | Line | None]]] = {
    targets.Point: _point,
    targets.Plane: _plane,
    targets.Line: _line,
    targets.Ray: _ray,
    targets.Segment: _segment,
    targets.Sphere: _sphere,
    targets.Cylinder: _cylinder,
    targets.Ring: _ring,
    targets.Box: _box,
}
