# SPDX-License-Identifier: GPL-3.0-or-later
"""One pose of a limb of two parts, in microseconds: solved, and giving way where it is too short.

A limb of two bones and an end in a single pose: the same as two_bones, swivel and swivel_cost do for many. A numpy call
costs as much for one frame as for a hundred, and a limb that follows a drag is solved at every move of the mouse.
Everything is in the axes of the root's parent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import acos, atan2, copysign, cos, hypot, inf, pi, radians, sin, tau

from mathutils import Matrix, Quaternion, Vector

from ...goals import Goal, Orientation, Point, Pole
from ...kinematics import Free, Freedom, Hinge, Pose
from ...kinematics.batch.coordinates import bounded
from ...kinematics.framed import hinge_axis
from ...kinematics.rotation import about, clamp_to_range, rotation_angle, rotation_between, wrap
from ..finish import least_error
from ..solver import LimbForm
from .elbow import AHEAD, MOST_ASIDE, NO_BEND, NORMALS, TURNED
from .giving_way import BENDINGS, CLOSE, EDGE
from .swivel import BEYOND, END, FORBIDDEN, POLE, SWING, SWIVEL, UPPER
from .two_bones import MISS

_BONES, _WITH_END = 2, 3  # joints
_RIGID = 1e-5  # deviation of an axis from unit length that rounding explains
_CLOSE, _TURNED = 0.1, 1e-4  # share of the tolerance, and [rad], within which a goal is met
_SINGLE = 3e-6  # of the reach: rounding of a pose in single precision
_ROUNDING = 1e-7  # of the limb's length: it never quite straightens, so that its bend keeps a direction
_STRAIGHT, _BENT = radians(5.0), radians(15.0)  # bends between which the reference takes over from flexion
_BENT_AT_REST = radians(1.0)
_CHOICES, _STEPS, _APART, _PRECISE = 24, 10, 0.03, 1e-5
_LARGEST, _LEAST_CURVATURE = 0.2, 0.2
_INSIDE = 1e-6  # [rad] beyond a limit that is rounding in single precision
_HALVINGS = 12
_SAME = 1e-6  # [rad]: both bends of a hinge are as far outside its range

Terms = tuple[float, float, float]  # a, b, c of a + b cos + c sin of the swivel
Turns = tuple[Quaternion, Quaternion]  # A and B of the rotation A cos(swivel / 2) + B sin(swivel / 2)


def suits_one(pose: Pose, goal: Goal, form: LimbForm) -> bool:
    """Tell whether a pose and a goal are those of such a limb, as two_bones.suits() does."""
    chain, kinds = pose.chain, [type(each) for each in goal.soft]
    turned = Orientation in kinds
    if not isinstance(goal.target, Point) or not set(kinds) <= {Orientation, Pole} or len(set(kinds)) < len(kinds):
        return False
    if not (len(pose) == _BONES and not turned) and not (len(pose) == _WITH_END and form.has_end):
        return False
    if not chain.plain or not all(joint.freedom.moves for joint in chain.joints):
        return False
    rigid = all(abs(column.length - 1.0) < _RIGID for column in pose.base.to_3x3().col) and not pose.base.is_negative
    return rigid and min(chain.lengths[:_BONES]) > _ROUNDING * chain.reach


def pose_one(pose: Pose, goal: Goal, form: LimbForm) -> bool:
    """Rotate the joints of a limb, whose pose is the reference, to a goal; returns False, as it was, if limits forbid.

    The pose and the goal have to suit. A limb that is too short is stretched towards the place.
    """
    limb = OneLimb(pose, goal, form)
    return not limb.end_turns and _posed_at(pose, goal, limb, limb.best_swivel())


def pose_or_give_way(pose: Pose, goal: Goal, form: LimbForm) -> bool:
    """Rotate the joints as pose_one() does, or else as give_way_one(), which has the same swivel then."""
    limb = OneLimb(pose, goal, form)
    if limb.end_turns:
        return give_way_one(pose, goal, form)
    swivel = limb.best_swivel()
    return _posed_at(pose, goal, limb, swivel) or give_way_one(pose, goal, form, swivel)


def _posed_at(pose: Pose, goal: Goal, limb: OneLimb, swivel: float) -> bool:
    """Pose the limb at a swivel, unless limits forbid."""
    rotations = [
        joint.freedom.nearest(rotation.normalized())
        for joint, rotation in zip(pose.chain.joints, limb.rotations(swivel), strict=True)
    ]
    found = Pose(pose.chain, pose.base, rotations)
    close = max(_CLOSE * goal.tolerance, _SINGLE * pose.chain.reach) + least_error(pose, goal.target)
    if (found.tip - goal.target.closest(found.tip)).length > close and (limb.possible or limb.is_limited or goal.soft):
        return False
    if any(isinstance(each, Orientation) and each.missing(found) > _TURNED for each in goal.soft):
        return False
    for i, rotation in enumerate(rotations):
        if rotation != pose.rotations[i]:
            pose.put(i, rotation)
    return True


class OneLimb:
    """A limb with the swivel left to choose, as TwoBones."""

    def __init__(self, pose: Pose, goal: Goal, form: LimbForm) -> None:
        self.end_turns = False  # so that the formulas here are not right
        self._pose, chain, place = pose, pose.chain, goal.target.closest(pose.base.translation)
        told = next((each.rotation for each in goal.soft if isinstance(each, Orientation)), None)
        pole = next((each for each in goal.soft if isinstance(each, Pole)), None)
        into = pose.base.to_3x3().transposed()
        wrist = into @ (place - pose.base.translation) - chain.joints[0].offset
        bone, low, self._end = chain.offsets[1], chain.offsets[1], None
        if len(pose) > 2 and told is not None:
            self._end = into @ told.to_matrix() @ chain.tip_rest.to_matrix().transposed()
            wrist = wrist - self._end @ chain.offsets[2]
        elif len(pose) > 2:
            low = low + chain.rests[2] @ (pose.rotations[2] @ chain.offsets[2])
        self._bend(wrist, low, bone, form)
        self._costs = [(UPPER, self._turn_of_upper())]
        if self._end is not None:
            self._costs += [(END, self._turn_of_end()), (SWING, self._swing_of_end())]
        self.pole = None
        if pole is not None:
            side = self.axis.cross(self.normal)
            towards = into @ (pole.location - pose.base.translation) - chain.joints[0].offset
            self.pole = atan2(side.cross(towards).dot(self.axis), side.dot(towards)) + pole.angle
        self._limits = [
            (freedom, turns, weight)
            for freedom, turns, weight in zip(self._freedoms(), self._turns, BEYOND, strict=False)
            if not isinstance(freedom, Free)
        ]

    def _bend(self, goal: Vector, low: Vector, bone: Vector, form: LimbForm) -> None:
        """Bend the elbow to the distance of the wrist, and turn the limb onto it by the least turn.

        `low` is the `bone`, or goes on from it to the tip of an end that moves with it.
        """
        chain, (upper, elbow, *_) = self._pose.chain, self._pose.rotations
        up, rest = chain.offsets[0], chain.rests[1]
        reference, relative = chain.rests[0] @ upper.to_matrix(), rest @ elbow.to_matrix()
        down = relative @ low
        first, second, away = up.length, low.length, goal.length
        size = first + second
        self.possible = abs(first - second) - MISS * size <= away <= (1.0 + MISS) * size
        distance = min(max(away, abs(first - second) + _ROUNDING * size), (1.0 - _ROUNDING) * size)
        wrist = reference @ (up + down)
        way = (wrist if wrist.length > _ROUNDING * size else reference @ up).normalized()
        if form.flexion is None:
            flexion = flexion_of_one(chain.joints[1].freedom, rest, up, low)
        else:
            flexion = (reference.transposed() @ form.flexion.cross(way)).normalized()
        freedom = bounded(chain.joints[1].freedom)
        if isinstance(freedom, Hinge):
            turned, normal = on_hinge(freedom, rest, elbow, up, low, flexion, distance)
        else:
            hinged = _on_own_hinge(freedom, rest, up, flexion)
            turned, normal, self.end_turns = _in_plane(relative, up, relative @ bone, down, hinged, distance)
            if hinged is not flexion:  # the upper bone turns its hinge to the bend
                wanted = _in_plane(relative, up, relative @ bone, down, flexion, distance)[1]
                share = min(up.angle(turned @ low) / TURNED, 1.0)  # as elbow.hinge_turns()
                angle = atan2(normal.cross(wanted).dot(up.normalized()), normal.dot(wanted))
                reference = reference @ Matrix.Rotation(share * angle, 3, up)
        bent = up + turned @ low
        self.axis = (goal if away > _ROUNDING * size else wrist).normalized()
        base = rotation_between(way, self.axis) @ (reference @ normal)
        self.upper = axes(self.axis, base) @ axes(bent, normal).transposed()
        self._lower, self._elbow = self.upper @ turned, (rest.transposed() @ turned).to_quaternion()
        self.normal, self.reference = base, reference
        # rotations A cos(swivel / 2) + B sin(swivel / 2), as TwoBones.root_turns
        into, over = chain.rests[0].transposed().to_quaternion(), Quaternion((0.0, *self.axis))
        own = self.upper.to_quaternion()
        self._turns = [(into @ own, into @ over @ own)]
        if self._end is not None:
            into, own = (self._lower @ chain.rests[2]).transposed().to_quaternion(), self._end.to_quaternion()
            self._turns.append((into @ own, into @ -over @ own))

    @property
    def is_limited(self) -> bool:
        """Whether a joint that the swivel turns has limits."""
        return bool(self._limits)

    def _freedoms(self) -> Iterator[Freedom]:
        joints = self._pose.chain.joints
        yield joints[0].freedom
        if self._end is not None:
            yield joints[2].freedom

    def _turn_of_upper(self) -> Terms:
        return _cosine_terms(self.axis, self.upper @ self.reference.transposed())

    def _turn_of_end(self) -> Terms:
        return _cosine_terms(-self.axis, self._end @ self._end_of_reference().transposed())

    def _swing_of_end(self) -> Terms:
        rest, now = self._end_of_reference().col[1], self._end.col[1]
        along = self.axis.dot(rest) * self.axis.dot(now)
        return along, rest.dot(now) - along, -rest.dot(self.axis.cross(now))

    def _end_of_reference(self) -> Matrix:
        return self._lower @ self._pose.chain.rests[2] @ self._pose.rotations[2].to_matrix()

    def rotations(self, swivel: float) -> list[Quaternion]:
        """Rotations of all joints at a swivel [rad]."""
        found = [self._turned(self._turns[0], swivel), self._elbow]
        if len(self._pose) > 2:
            found.append(self._turned(self._turns[1], swivel) if self._end is not None else self._pose.rotations[2])
        return found

    @staticmethod
    def _turned(turns: Turns, swivel: float) -> Quaternion:
        return turns[0] * cos(0.5 * swivel) + turns[1] * sin(0.5 * swivel)

    def best_swivel(self) -> float:
        """The swivel whose posture costs least, inside the limits if any is."""
        grid = [tau * k / _CHOICES - pi for k in range(_CHOICES)]
        costs = sorted((self._cost(swivel), swivel) for swivel in grid)
        if not self._limits:
            return self._refined(costs[0][1])
        best = inf, 0.0
        for cost, swivel in costs:  # limits only add to what posture costs
            if cost >= best[0]:
                break
            beyond = self.beyond(swivel)
            best = min(best, (cost + (beyond + FORBIDDEN if beyond else 0.0), swivel))
        swivel, allowed = best[1], not self.beyond(best[1])
        better = self._refined(swivel, limited=not allowed)
        return self._inside(swivel, better) if allowed else better

    def _cost(self, swivel: float) -> float:
        """Cost of the posture [rad^2]."""
        cosine, sine = cos(swivel), sin(swivel)
        cost = 0.0 if self._end is not None else 2.0 * SWIVEL * (1.0 - cosine)
        for weight, (a, b, c) in self._costs:
            angle = acos(min(max(a + b * cosine + c * sine, -1.0), 1.0))
            cost += weight * angle * angle
        return cost if self.pole is None else cost + 2.0 * POLE * (1.0 - cos(swivel - self.pole))

    def beyond(self, swivel: float) -> float:
        """Cost of the limits; 0 inside them."""
        cost = 0.0
        for freedom, turns, weight in self._limits:
            rotation = self._turned(turns, swivel).normalized()
            beyond = rotation_angle(freedom.nearest(rotation), rotation)
            cost += weight * beyond * beyond if beyond > _INSIDE else 0.0
        return cost

    def _refined(self, swivel: float, limited: bool = False) -> float:
        """Newton's method from a swivel on; with `limited` the limits cost as well."""
        for _ in range(_STEPS):
            tried = (swivel - _APART, swivel, swivel + _APART)
            below, here, above = (self._cost(each) + (self.beyond(each) if limited else 0.0) for each in tried)
            curvature = max((above - 2.0 * here + below) / (_APART * _APART), _LEAST_CURVATURE)
            step = min(max((above - below) / (2.0 * _APART * curvature), -_LARGEST), _LARGEST)
            swivel -= step
            if abs(step) < _PRECISE:
                break
        return swivel

    def _inside(self, good: float, wanted: float) -> float:
        """The swivel nearest to the one that is wanted, on the way there from one inside the limits."""
        if not self.beyond(wanted):
            return wanted
        for _ in range(_HALVINGS):
            middle = 0.5 * (good + wanted)
            good, wanted = (good, middle) if self.beyond(middle) else (middle, wanted)
        return good


def axes(way: Vector, normal: Vector) -> Matrix:
    """Orthonormal axes: along a way, along the part of a normal across it, and square to both."""
    along = way.normalized()
    across = (normal - along * normal.dot(along)).normalized()
    return Matrix((along, across, along.cross(across))).transposed()


def _cosine_terms(axis: Vector, m: Matrix) -> Terms:
    """Cosine of the angle of R(axis, swivel) m, as two_bones.trace_terms() and cosines()."""
    along = axis.dot(m @ axis)
    x, y, z = axis
    sine = x * (m[1][2] - m[2][1]) + y * (m[2][0] - m[0][2]) + z * (m[0][1] - m[1][0])
    return (along - 1.0) / 2.0, (m[0][0] + m[1][1] + m[2][2] - along) / 2.0, sine / 2.0


def flexion_of_one(freedom: Freedom, rest: Matrix, up: Vector, low: Vector) -> Vector:
    """The normal about which a limb is bent at rest, as elbow.flexion_at_rest()."""
    bent = up.cross(rest @ low)
    if bent.length > sin(_BENT_AT_REST) * up.length * low.length:
        return bent.normalized()
    return rest @ freedom.bend_axis


def _on_own_hinge(freedom: Freedom, rest: Matrix, up: Vector, flexion: Vector) -> Vector:
    """The normal nearest to `flexion` that is off the elbow's own hinge by little, as Elbow.on_own_hinge()."""
    own = hinge_axis(freedom)
    if own is None:
        return flexion
    along, hinge = up.normalized(), rest @ own
    hinge = (hinge - along * hinge.dot(along)).normalized()
    level = flexion - along * flexion.dot(along)
    angle = atan2(hinge.cross(level).dot(along), hinge.dot(level))
    angle = min(max(angle, -MOST_ASIDE), MOST_ASIDE)
    return hinge * cos(angle) + along.cross(hinge) * sin(angle)


def own_share(now: float, wanted: float) -> float:
    """Return the share, 0 to 1, of the axis of its present bend in that about which a limb bends; flexion has the rest.

    It is bent by `now` and shall be by `wanted` [rad].
    """
    same = 1.0 - abs(wanted - now) / max(now, 1e-300)
    sure = max((now - _STRAIGHT) / (_BENT - _STRAIGHT), same, 0.0)
    return min(sure, 1.0) if now > NO_BEND else 0.0


def _in_plane(
    relative: Matrix, up: Vector, bone: Vector, down: Vector, flexion: Vector, distance: float
) -> tuple[Matrix, Vector, bool]:
    """The lower bone's orientation, the normal of the bend, and whether the end turns, as Elbow.bent_with_end().

    `down` is the lower `bone`, or goes on from it to the tip of an end. For an end that turns the rest is not right.
    """
    first, second, end = up.length, bone.length, down - bone
    across = up.cross(bone)
    now = atan2(across.length, up.dot(bone))
    wanted = now
    for _ in range(NORMALS):
        share = own_share(now, wanted)
        normal = across.normalized() * share + flexion * (1.0 - share)
        before, after = axes(up, normal), axes(bone, normal)
        x, y, z = after.transposed() @ end
        bent = -now if across.dot(before.col[1]) < 0.0 else now
        beside = atan2(-z, second + x)  # the tip, seen from a straight limb
        length = hypot(second + x, z)
        apart = distance**2 - y * y
        wanted = acos(min(max((apart - first**2 - length**2) / (2.0 * first * length), -1.0), 1.0)) - beside
    turned = before @ Matrix.Rotation(wanted, 3, "Y") @ after.transposed() @ relative
    turns = -bent - beside > AHEAD or wanted < min(bent, 0.0)  # the toes are ahead, or it would bend backwards
    return turned, before.col[1], end.length > 0.0 and turns


def on_hinge(
    hinge: Hinge, rest: Matrix, elbow: Quaternion, up: Vector, low: Vector, flexion: Vector, distance: float
) -> tuple[Matrix, Vector]:
    """The same for a hinge, as Elbow.on_hinge()."""
    axis, straight = rest @ hinge.axis, rest @ low
    along = axis.dot(up) * axis.dot(straight)
    across, sideways = up.dot(straight) - along, up.dot(axis.cross(straight))
    wanted = (distance**2 - up.length_squared - low.length_squared) / 2.0 - along
    size = max(hypot(across, sideways), 1e-300)
    opening, phase = acos(min(max(wanted / size, -1.0), 1.0)), atan2(sideways, across)
    ways = [wrap(phase + opening), wrap(phase - opening)]
    fitted = [clamp_to_range(angle, hinge.lower, hinge.upper) for angle in ways]
    beyond = [abs(wrap(there - angle)) for there, angle in zip(fitted, ways, strict=True)]
    bend = wrap(2.0 * atan2(Vector(elbow[1:]).dot(hinge.axis), elbow.w) - phase)
    share = min(max((abs(bend) - _STRAIGHT) / (_BENT - _STRAIGHT), 0.0), 1.0)
    positive = share * copysign(1.0, bend) + (1.0 - share) * copysign(1.0, flexion.dot(axis)) >= 0.0
    first = beyond[0] < beyond[1] if abs(beyond[0] - beyond[1]) > _SAME else positive
    angle = fitted[0] if first else fitted[1]
    return rest @ about(hinge.axis, angle).to_matrix(), axis if wrap(angle - phase) >= 0.0 else -axis


def give_way_one(pose: Pose, goal: Goal, form: LimbForm, swivel: float | None = None) -> bool:
    """Rotate the joints of a limb, whose pose is the reference, with its end as near to the goal's as it can be.

    The pose and the goal have to suit; `swivel` is the best one for the goal as it is, if that is known. Returns False,
    with the pose as it was, where the goal tells no orientation, and where the place cannot be met so.
    """
    told = next((each for each in goal.soft if isinstance(each, Orientation)), None)
    if told is None:
        return False
    asked = goal.target.closest(pose.base.translation)
    place = place_in_reach(pose, asked)
    rotation = end_in_reach(pose, place, told.rotation)
    if place is not asked or rotation is not told.rotation:
        swivel = None
    for _ in range(BENDINGS):
        soft = tuple(replace(each, rotation=rotation) if each is told else each for each in goal.soft)
        limb = OneLimb(pose, goal._replace(target=Point(place), soft=soft), form)
        swivel = limb.best_swivel() if swivel is None else swivel
        found = _within_ranges(pose, limb.rotations(swivel), rotation)
        if (found.tip - place).length <= CLOSE * pose.chain.reach:
            for i, each in enumerate(found.rotations):
                if each != pose.rotations[i]:
                    pose.put(i, each)
            return True
        rotation = end_in_reach(pose, place, found.tip_rotation)
    return False


def _within_ranges(pose: Pose, wanted: list[Quaternion], rotation: Quaternion) -> Pose:
    """The pose inside the ranges, each joint leading on to what the one before could not do."""
    chain = pose.chain
    upper, elbow, end = (joint.freedom.nearest for joint in chain.joints)
    rests = [rest.to_quaternion() for rest in chain.rests]
    lower = rests[0] @ wanted[0] @ rests[1] @ wanted[1]
    first = upper(wanted[0].normalized())
    above = rests[0] @ first @ rests[1]
    second = elbow((above.conjugated() @ lower).normalized())
    socket = pose.base.to_quaternion() @ above @ second @ rests[2]
    third = end((socket.conjugated() @ rotation @ chain.tip_rest.conjugated()).normalized())
    return Pose(chain, pose.base, [first, second, third])


def _bounds(pose: Pose) -> tuple[float, float, float]:
    """Least and largest distance of the end's head from the root, and the length of the end."""
    first, second, length = (offset.length for offset in pose.chain.offsets)
    edge = EDGE * (first + second)
    return abs(first - second) + edge, first + second - edge, length


def place_in_reach(pose: Pose, place: Vector) -> Vector:
    shortest, longest, length = _bounds(pose)
    root = pose.base @ pose.chain.joints[0].offset
    distance = (place - root).length
    within = min(max(distance, shortest - length, length - longest), longest + length)
    return place if within == distance or not distance else root + (place - root) * (within / distance)


def end_in_reach(pose: Pose, place: Vector, rotation: Quaternion) -> Quaternion:
    """The rotation of the end, turned as little as it takes to have its head in reach of the other bones."""
    shortest, longest, length = _bounds(pose)
    link = rotation @ (pose.chain.tip_rest.conjugated() @ pose.chain.offsets[2])
    line = place - pose.base @ pose.chain.joints[0].offset
    distance = line.length
    if not length * distance > 0.0:
        return rotation
    near, far = (
        acos(min(max((distance**2 + length**2 - limit**2) / (2.0 * distance * length), -1.0), 1.0))
        for limit in (shortest, longest)
    )
    angle, axis = link.angle(line), link.cross(line)
    change = angle - min(max(angle, near), far)
    return Quaternion(axis.normalized(), change) @ rotation if change and axis.length else rotation
