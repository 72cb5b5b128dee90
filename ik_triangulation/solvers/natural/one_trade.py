# SPDX-License-Identifier: GPL-3.0-or-later
"""The turn of a hand or foot traded in a single pose that follows another one, in milliseconds.

The same cost as traded.Trade has for a stretch of two frames of which the first one stays, and the same damped
Gauss-Newton method, on the few unknowns of the second one. A limb that is dragged is traded at every move for as long
as its end leans on a limit, and a numpy call costs as much for one frame as for a hundred. Each descent begins at the
pose before, which is the last move's solution, so it takes a few steps. Everything is in the axes of the root's parent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import acos, atan2, cos, hypot, inf, radians, sin, sqrt
from typing import NamedTuple

import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...goals import Goal, Orientation, Point, Pole
from ...kinematics import Cone, EulerLimits, Framed, Free, Freedom, Hinge, Pose, unframed
from ...kinematics.arrays import Numbers
from ...kinematics.batch.coordinates import bounded
from ...kinematics.rotation import about, from_euler, rotation_angle, rotation_between, rotation_vector, wrap
from ..gauss_newton import step
from ..solver import LimbForm
from . import traded
from .one_limb import OneLimb, axes, end_in_reach, flexion_of_one, on_hinge, own_share
from .swivel import END, POLE, SWING, UPPER
from .traded import DampedSteps, damped_descent

_BONE = Vector((0.0, 1.0, 0.0)).freeze()  # the axis about which an end twists
_AXES = 3  # times that the axis of the bend and the bend about it are found from each other
_WITHIN = (float(traded.ROUNDED[-1]),)
_DESCENT = DampedSteps(8, 0.1, 5e-4)  # what is left of it goes on in the next move
_APART = 1e-3  # of the differences that give derivatives
_LARGEST = 0.3  # change of a step [rad]
_ON_END = 1e-6  # [rad]
_NEAR = radians(1.0)  # turn up to which it is made exact, as in a shot
_PLACING, _CLOSE = 6, 3e-6  # steps at most; of the reach


class _Range:
    """The limits of an end in coordinates [rad], as EndRange has them."""

    def __init__(self, freedom: Freedom) -> None:
        freedom = bounded(freedom)
        self._frame = freedom.frame if isinstance(freedom, Framed) else None
        self._own = own = unframed(freedom)
        self.opening = own.swing if isinstance(own, Cone) else None
        if isinstance(own, Hinge):
            self.lower, self.upper = [own.lower], [own.upper]
        elif isinstance(own, EulerLimits):
            self.lower, self.upper = list(own.lower), list(own.upper)
        else:
            assert isinstance(own, Cone)
            self.lower = [-own.swing, -own.swing, own.twist_lower]
            self.upper = [own.swing, own.swing, own.twist_upper]

    def read(self, rotation: Quaternion) -> list[float]:
        """Coordinates of the allowed rotation nearest to one."""
        own = self._own
        if self._frame is not None:
            rotation = self._frame.conjugated() @ rotation @ self._frame
        if isinstance(own, EulerLimits):
            return list(own.angles(rotation))
        if isinstance(own, Hinge):
            return [own.coordinates(rotation)[0].value]
        assert isinstance(own, Cone)
        swing, direction, twist = own.parts(own.nearest(rotation))
        return [swing * direction.x, swing * direction.z, twist]

    def rotation(self, values: Sequence[float]) -> Quaternion:
        """The rotation at coordinates."""
        own = self._own
        if isinstance(own, EulerLimits):
            found = from_euler(values, own.order)
        elif isinstance(own, Hinge):
            found = about(own.axis, values[0])
        else:
            swing = Vector((values[0], 0.0, values[1]))
            found = about(swing.normalized(), swing.length) @ about(_BONE, values[2])
        if self._frame is not None:
            found = self._frame @ found @ self._frame.conjugated()
        return found

    def inside(self, values: list[float]) -> list[float]:
        """Coordinates moved inside their range."""
        values = [min(max(each, low), high) for each, low, high in zip(values, self.lower, self.upper, strict=True)]
        if self.opening is not None and (swing := hypot(*values[:2])) > self.opening:
            values[:2] = [each * self.opening / swing for each in values[:2]]
        return values

    def difference(self, after: Sequence[float], before: Sequence[float]) -> list[float]:
        """Change of coordinates; at most half a turn about an axis without ends."""
        each = zip(after, before, self.lower, self.upper, strict=True)
        return [wrap(a - b) if high - low == inf else a - b for a, b, low, high in each]


class _Posed(NamedTuple):
    """A limb: orientations (3x3) of the upper bone and the end, rotations of the elbow and the wrist, and how much too
    long or short it is, of its length."""

    upper: Matrix
    elbow: Matrix
    wrist: Quaternion
    end: Matrix
    beyond: float


class _Seen(NamedTuple):
    """Residuals of posture, the turn that the end lacks, and the whole cost."""

    rows: list[float]
    missing: Vector
    cost: float


class OneTrade:
    """The pose of a limb after another one, with the change of swivel and the coordinates of its wrist to choose."""

    def __init__(
        self, reference: Pose, goal: Goal, form: LimbForm, before: Pose, last: Goal, place: Vector, rate: float
    ) -> None:
        """`place` is that of the tip, in reach; `rate` is 30 by the moves a second."""
        chain, base = reference.chain, reference.base
        told = _told(goal)
        rotation = end_in_reach(reference, place, told.rotation)
        soft = tuple(replace(each, rotation=rotation) if each is told else each for each in goal.soft)
        self.limb = OneLimb(reference, goal._replace(target=Point(place), soft=soft), form)
        self.range = _Range(chain.joints[2].freedom)
        self._chain, self._reference = chain, reference
        self._rests, (self._up, self._forearm, self._end_bone) = chain.rests, chain.offsets
        self._low = self._forearm
        into = base.to_3x3().transposed()
        root = chain.joints[0].offset
        tip_rest = chain.tip_rest.to_matrix().transposed()
        self._ends = into @ rotation.to_matrix() @ tip_rest  # in reach
        self._told = into @ told.rotation.to_matrix() @ tip_rest
        to, begun = (into @ (each - base.translation) - root for each in (place, before.tip))
        self.distance, self.axis = to.length, to.normalized()
        self._elbow = bounded(chain.joints[1].freedom)
        self._turned = reference.rotations
        self._reference_upper = self.limb.reference
        self._flexion = self._flexion_of(form)
        self._size = self._up.length + self._forearm.length
        self._price = traded.PRICE * told.weight
        self._time = traded.CALM
        self._fast = (
            traded.FAST_SWIVEL * rate,
            max(traded.FAST_END * rate, rotation_angle(_told(last).rotation, told.rotation)),
        )
        self._hurry = traded.HURRY[0] / rate**2, traded.HURRY[1] / rate**2
        self._limits = [
            (number, chain.joints[number].freedom)
            for number in (0, 1)
            if not isinstance(chain.joints[number].freedom, Free)
        ]
        self._resting = self._turned[2].to_matrix().col[1]
        self.before = self.range.read(before.rotations[2])
        upper = chain.rests[0] @ before.rotations[0].to_matrix()
        start = begun.normalized()
        bent, normal = self._shape(self.before, begun.length)
        across = rotation_between(start, self.axis) @ (upper @ axes(bent, normal).col[1])
        self._across = (across - self.axis * across.dot(self.axis)).normalized()
        self._aside = self.axis.cross(self._across)
        self._pole = None
        pole = next((each for each in goal.soft if isinstance(each, Pole)), None)
        if pole is not None:
            towards = into @ (pole.location - base.translation) - root
            self._pole = pole.angle + atan2(self._aside.cross(towards).dot(self.axis), self._aside.dot(towards))

    def _flexion_of(self, form: LimbForm) -> Vector:
        """The normal about which the elbow bends where the reference is straight, seen from the upper bone."""
        low = self._lower(self._turned[2])
        if form.flexion is None:
            return flexion_of_one(self._chain.joints[1].freedom, self._rests[1], self._up, low)
        upper = self._reference_upper
        wrist = upper @ self._up + upper @ (self._rests[1] @ (self._turned[1].to_matrix() @ low))
        found: Vector = (upper.transposed() @ form.flexion.cross(wrist.normalized())).normalized()
        return found

    def _lower(self, wrist: Quaternion) -> Vector:
        """Way from the elbow to the tip in the elbow's frame."""
        return self._forearm + self._rests[2] @ (wrist @ self._end_bone)

    def _shape(self, values: Sequence[float], distance: float) -> tuple[Vector, Vector]:
        """Way from root to tip and the normal of the bend, seen from the upper bone."""
        low = self._lower(self.range.rotation(values))
        relative, normal, _ = self._bent(low, distance)
        return self._up + relative @ low, normal

    def _bent(self, whole: Vector, distance: float) -> tuple[Matrix, Vector, float]:
        """As Elbow.bent_for()."""
        up, rest = self._up, self._rests[1]
        if isinstance(self._elbow, Hinge):
            relative, normal = on_hinge(self._elbow, rest, self._turned[1], up, whole, self._flexion, distance)
            return relative, normal, abs((up + relative @ whole).length - distance)
        lower = rest @ self._turned[1].to_matrix()
        down, carried = lower @ self._low, lower @ whole
        first, second = up.length, whole.length
        across = up.cross(down)
        now = atan2(across.length, up.dot(down))
        bend = _arc_cosine((distance**2 - first**2 - second**2) / max(2.0 * first * second, 1e-300))
        for _ in range(_AXES):
            share = own_share(now, bend)
            normal = across.normalized() * share + self._flexion * (1.0 - share)
            before, after = axes(up, normal), axes(down, normal)
            x, y, z = after.transposed() @ carried
            size = max(hypot(x, z), 1e-300)
            wanted = (distance**2 - first**2 - size**2 - y**2) / (2.0 * first * size)
            bend = atan2(z, x) + _arc_cosine(wanted)
        turned = before @ Matrix.Rotation(bend, 3, "Y") @ after.transposed() @ lower
        beyond = max(distance - hypot(first + size, y), hypot(first - size, y) - distance, 0.0)
        return turned, before.col[1], beyond

    def at(self, values: Sequence[float]) -> _Posed:
        """The limb at a swivel and coordinates of the wrist."""
        swivel, *own = values
        wrist = self.range.rotation(own)
        turned = self._rests[2] @ wrist.to_matrix()
        low = self._forearm + turned @ self._end_bone
        relative, normal, beyond = self._bent(low, self.distance)
        across = self._across * cos(swivel) + self._aside * sin(swivel)
        upper = axes(self.axis, across) @ axes(self._up + relative @ low, normal).transposed()
        elbow = self._rests[1].transposed() @ relative
        return _Posed(upper, elbow, wrist, upper @ relative @ turned, beyond / self._size)

    def values_of(self, rotations: Sequence[Quaternion]) -> list[float]:
        """Swivel and coordinates of the wrist of a limb with these rotations."""
        own = self.range.read(rotations[2])
        upper = self._rests[0] @ rotations[0].to_matrix()
        bent, normal = self._shape(own, self.distance)
        return [self._swivel_of_normal(upper @ axes(bent, normal).col[1]), *own]

    def _swivel_of_normal(self, normal: Vector) -> float:
        return atan2(normal.dot(self._aside), normal.dot(self._across))

    def rotations(self, posed: _Posed) -> list[Quaternion]:
        """Rotations of all joints."""
        root = (self._rests[0].transposed() @ posed.upper).to_quaternion()
        return [root, posed.elbow.to_quaternion(), posed.wrist]

    def exact(self, values: list[float]) -> list[Quaternion]:
        """Rotations without the rounding of the price, where the end turns nearly as told and can do so; this fades."""
        posed = self.at(values)
        rotations = self.rotations(posed)
        limb, off = self.limb, _turn(self._ends @ posed.end.transposed()).length
        if off >= _NEAR:
            return rotations
        normal = posed.upper @ (limb.upper.transposed() @ limb.normal)
        swivel = atan2(limb.normal.cross(normal).dot(limb.axis), limb.normal.dot(normal))
        if limb.beyond(swivel):
            return rotations
        share, exact = min(2.0 - 2.0 * off / _NEAR, 1.0), [each.normalized() for each in limb.rotations(swivel)]
        if share == 1.0:
            return exact
        turn, *own = self.values_of(exact)
        change = [wrap(turn - values[0]), *self.range.difference(own, values[1:])]
        return self.rotations(self.at([a + share * b for a, b in zip(values, change, strict=True)]))

    def pose(self, rotations: Sequence[Quaternion], place: Vector) -> Pose:
        """The pose inside the limits, its tip brought to its place where these keep it off."""
        joints, reference = self._chain.joints, self._reference
        nearest = [joint.freedom.nearest(each.normalized()) for joint, each in zip(joints, rotations, strict=True)]
        pose = Pose(self._chain, reference.base, nearest)
        for _ in range(_PLACING):
            if (pose.tip - place).length <= _CLOSE * self._chain.reach:
                break
            step(pose, place)
        return pose

    # -- cost

    def _seen(self, values: Sequence[float], within: float) -> _Seen:
        """Residuals and cost of a pose, with a price that is rounded `within` an angle; as Trade has them."""
        posed = self.at(values)
        rows = [UPPER**0.5 * each for each in _turn(posed.upper @ self._reference_upper.transposed())]
        rows += [END**0.5 * each for each in rotation_vector(self._turned[2].conjugated() @ posed.wrist)]
        swung = posed.wrist @ _BONE
        turn = self._resting.cross(swung)
        sine = turn.length
        share = atan2(sine, self._resting.dot(swung)) / sine if sine > 1e-12 else 1.0
        rows += [SWING**0.5 * share * each for each in turn]
        rows.append(traded.SHORT**0.5 * posed.beyond)
        rotations = self.rotations(posed) if self._limits else []
        for number, freedom in self._limits:
            rows.append(traded.OUTSIDE**0.5 * rotation_angle(freedom.nearest(rotations[number]), rotations[number]))
        if self._pole is not None:
            rows.append(2.0 * POLE**0.5 * sin(0.5 * (values[0] - self._pole)))
        missing = _turn(self._told @ posed.end.transposed())
        cost = sum(each * each for each in rows)
        cost += self._price * (sqrt(missing.length_squared + within * within) - within)
        changes = self._changes(values)
        cost += self._time * sum(each * each for each in changes)
        for speed, fast, hurry in zip(_speeds(changes), self._fast, self._hurry, strict=True):
            cost += hurry * max(speed - fast, 0.0) ** 2
        return _Seen(rows, missing, cost)

    def _changes(self, values: Sequence[float]) -> list[float]:
        return [values[0], *self.range.difference(values[1:], self.before)]

    def cost(self, values: Sequence[float]) -> float:
        """The whole cost of a pose."""
        return self._seen(values, _WITHIN[-1]).cost

    # -- descent

    def refined(self, values: list[float]) -> tuple[list[float], float]:
        """The pose with the least cost in the valley of one, or some steps on the way there, and its cost."""
        cost = inf
        for within in _WITHIN:
            values, cost = self._refined(values, within)
        return values, cost

    def _refined(self, values: list[float], within: float) -> tuple[list[float], float]:
        """The same with a price that is rounded `within` an angle."""

        def look(there: list[float]) -> tuple[float, _Seen]:
            seen = self._seen(there, within)
            return seen.cost, seen

        def aim(here: list[float], seen: _Seen) -> Callable[[float], list[float]]:
            return partial(self._stepped, here, *self._model(here, seen, within))

        def change(here: list[float], there: list[float]) -> float:
            return max(abs(a - b) for a, b in zip(there, here, strict=True))

        return damped_descent(values, look, aim, change, _DESCENT)

    def _model(self, values: list[float], here: _Seen, within: float) -> tuple[Numbers, Numbers]:
        """Slope and curvature of the cost, as Trade._model()."""
        wide = len(values)
        rows, missing = np.array(here.rows), np.array(here.missing)
        slopes, turns = np.empty((wide, len(rows))), np.empty((wide, 3))
        for k in range(wide):
            values[k] += _APART
            seen = self._seen(values, within)
            values[k] -= _APART
            slopes[k], turns[k] = seen.rows, seen.missing
        slopes, turns = (slopes - rows) / _APART, (turns - missing) / _APART
        off = here.missing.length
        rounded = sqrt(off * off + within * within)
        slope = 2.0 * slopes @ rows + turns @ missing * (self._price / rounded)
        towards = missing / max(off, 1e-12)
        across = turns - (1.0 - within / rounded) * np.outer(turns @ towards, towards)
        curvature = 2.0 * slopes @ slopes.T + (self._price / rounded) * across @ across.T
        changes = self._changes(values)
        for k, change in enumerate(changes):
            slope[k] += 2.0 * self._time * change
            curvature[k, k] += 2.0 * self._time
        speeds = _speeds(changes)
        for some, speed, fast, hurry in zip((slice(1), slice(1, None)), speeds, self._fast, self._hurry, strict=True):
            if speed > fast:
                slope[some] += 2.0 * hurry * (speed - fast) / speed * np.array(changes[some])
                curvature[range(wide)[some], range(wide)[some]] += 2.0 * hurry
        return slope, curvature

    def _stepped(self, values: list[float], slope: Numbers, curvature: Numbers, damping: float) -> list[float]:
        """Values after a damped step inside the range of the wrist."""
        wide, limits = len(values), self.range
        slope, blocks = slope.copy(), curvature.copy()
        each = np.arange(wide)
        blocks[each, each] += damping * (1.0 + blocks[each, each])
        if limits.opening is not None:
            swing = np.array(values[1:3])
            size = max(hypot(*values[1:3]), 1e-300)
            outward = swing / size
            along = float(outward @ slope[1:3])
            if size >= limits.opening - _ON_END and along < 0.0:
                slope[1:3] -= outward * along
                blocks[1:3, 1:3] += traded.FIXED * np.outer(outward, outward)
        held = {
            k: 0.0
            for k, (low, high) in enumerate(zip(limits.lower, limits.upper, strict=True), 1)
            if (values[k] <= low + _ON_END and slope[k] > 0.0) or (values[k] >= high - _ON_END and slope[k] < 0.0)
        }
        for _ in range(wide):  # what would leave its range goes to the end of it, and the others with that
            free = [k for k in range(wide) if k not in held]
            change = np.zeros(wide)
            change[list(held)] = list(held.values())
            right = -slope - blocks @ change
            change[free] = np.linalg.solve(blocks[np.ix_(free, free)], right[free])
            change = np.clip(change, -_LARGEST, _LARGEST)
            out = {}
            for k in free[1:]:
                to = min(max(values[k] + change[k], limits.lower[k - 1]), limits.upper[k - 1])
                if to != values[k] + change[k]:
                    out[k] = to - values[k]
            if not out:
                break
            held |= out
        swivel, *own = (np.array(values) + change).tolist()
        return [swivel, *limits.inside(own)]


def trade_one(
    reference: Pose,
    goal: Goal,
    form: LimbForm,
    before: Pose,
    last: Goal,
    place: Vector,
    found: Pose | None,
    rate: float,
) -> Pose:
    """Return the pose with the tip at a place that costs least after that `before`, which was for the `last` goal.

    It is sought from there on, and from `found` where that costs less.
    """
    trade = OneTrade(reference, goal, form, before, last, place, rate)
    values, cost = trade.refined([0.0, *trade.before])
    if found is not None:
        other = trade.values_of(found.rotations)
        if cost >= trade.cost(other):
            values, cost = min((values, cost), trade.refined(other), key=lambda each: each[1])
    return trade.pose(trade.exact(values), place)


def _told(goal: Goal) -> Orientation:
    return next(each for each in goal.soft if isinstance(each, Orientation))


def _arc_cosine(cosine: float) -> float:
    return acos(min(max(cosine, -1.0), 1.0))


def _speeds(changes: Sequence[float]) -> tuple[float, float]:
    return abs(changes[0]), hypot(*changes[1:])


def _turn(m: Matrix) -> Vector:
    """Axis times angle [rad] of a rotation matrix."""
    return rotation_vector(m.to_quaternion())
