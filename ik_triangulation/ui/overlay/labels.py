# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of the overlay: distance from the target in the scene's units, angles of the joint shown; and their places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import degrees, hypot, isinf
from typing import NamedTuple

import numpy as np
from bpy.types import Scene
from mathutils import Matrix, Vector

from ...kinematics import Free, Hinge
from ...kinematics.arrays import Array
from ...rig.units import degrees_text, distance_text
from ..translation import translated
from .figure import axis_role, role_of
from .limb import Aim, DisplayedLimb
from .sketch import Role

_GAP = 10.0  # between a text and what it belongs to, at 1x interface scale [pixels]
_FLESH = 0.12  # of its larger side: how much a hand is larger than its bones
_FLESH_AROUND = 8.0  # around the bones of a limb [pixels at 1x interface scale]
_ALONG = 8  # places along each bone
_DIAL = 0.6  # of its bone: radius of what is drawn of the joint shown in full
_LONG = 48.0  # a line from tip to target that is longer has its text beside it [pixels]
_BEHIND = 1e-9  # depth up to which a place is behind the viewer
_STEP = 20.0  # distances of texts that differ by less count as equal [pixels]
_FEW = 0.5  # [degrees] an angle this near to a limit is at it

Rectangle = tuple[float, float, float, float]  # left, bottom, right, top [pixels]


class Row(NamedTuple):
    """A line of text after a word or sign of a role's colour."""

    role: Role
    sign: str  # "reached", "missed" or "" for a drawn one, otherwise a word
    text: str


def distance_row(aim: Aim, scene: Scene) -> Row:
    """Return in words how far a limb is from its target."""
    role = role_of(aim)
    if aim.waits:
        return Row(role, "", translated("Not used yet"))
    if aim.reached:
        return Row(role, "reached", translated("Reached"))
    words = [] if aim.close else [translated(f"{distance_text(aim.distance, scene)} away")]
    if aim.angle is not None and not aim.turned:
        words.append(translated(f"{degrees_text(aim.angle)} off"))
    return Row(role, "missed" if aim.missed else "", ", ".join(words))


def joint_rows(seen: DisplayedLimb) -> list[Row]:
    """Return the angles of the joint shown in full, each with its range, or that it is at an end of it."""
    if seen.active is None:
        return []
    freedom, rotation = seen.pose.chain.joints[seen.active].freedom, seen.pose.rotations[seen.active]
    if isinstance(freedom, Free) or not freedom.moves:
        return []
    rows = []
    for name, (axis, value, lower, upper) in zip(
        freedom.names, freedom.coordinates(freedom.nearest(rotation)), strict=True
    ):
        endless = isinf(lower) and isinf(upper)
        if name == "direction" or (endless and not isinstance(freedom, Hinge)):
            continue
        now, low, high = (degrees(angle) for angle in (value, lower, upper))
        text = f"{_rounded(now)}°"
        if not endless:
            is_swing = name == "swing"
            at_limit = high - now < _FEW or (now - low < _FEW and not is_swing)
            ends = f"up to {_rounded(high)}°" if is_swing else f"{_rounded(low)}° to {_rounded(high)}°"
            text += translated(" at its limit") if at_limit else f"  ({translated(ends)})"
        role = Role.LIMIT if name == "swing" else axis_role(name, axis)  # as the cone is drawn
        rows.append(Row(role, name.capitalize(), text))
    return rows


def _rounded(angle: float) -> str:
    """Return whole degrees, with a minus sign as wide as a digit and never before 0."""
    return f"{round(angle)}".replace("-", "\N{MINUS SIGN}")


class Anchors(NamedTuple):
    """Places in armature space, homogeneous, that texts are beside or keep clear of."""

    hand: Array  # (n, 4) of the last bone and of those after it
    limb: Array  # (n, 4) along the limb
    aim: Array  # (2, 4): tip, and the nearest point of the target; or (0, 4)
    joint: Array  # (2, 4): head and end of the joint shown in full; or (0, 4)


def anchors_of(seen: DisplayedLimb) -> Anchors:
    """Return the places that the texts of a limb depend on."""
    pose, aim, i = seen.pose, seen.aim, seen.active
    ends = _homogeneous([*pose.heads, pose.tip])
    shares = np.linspace(0.0, 1.0, _ALONG)[:, None, None]
    limb = (ends[:-1] + shares * (ends[1:] - ends[:-1])).reshape(-1, 4)
    joint = [] if i is None else [pose.head(i), pose.end(i)]
    return Anchors(
        _homogeneous(seen.hand), limb, _homogeneous([pose.tip, aim.nearest] if aim else []), _homogeneous(joint)
    )


def _homogeneous(points: Sequence[Vector]) -> Array:
    return np.array([(*point, 1.0) for point in points]).reshape(-1, 4)


class Screen:
    """A region of the screen, `size` (2) pixels large, that shows some anchors through a `matrix` (4x4, perspective).

    Texts are in the `open` part of it, which no sidebar covers, and keep clear of the `gizmo`; all of it if None.
    `hand` is the box around the hand, `limb`, `aim` and `joint` (n, 2) are where these are seen [pixels]. They are
    meaningless unless `seen`: nothing is behind the viewer.
    """

    def __init__(self, anchors: Anchors, matrix: Matrix, size: tuple[int, int], scale: float) -> None:
        self.scale = scale
        self.open: Rectangle = (0.0, 0.0, *map(float, size))
        self.gizmo: Rectangle | None = None
        rows = np.concatenate(anchors) @ np.array(matrix).T
        self.seen = bool((rows[:, 3] > _BEHIND).all() and np.isfinite(rows).all())
        places = (rows[:, :2] / np.maximum(rows[:, 3:], _BEHIND) + 1.0) * (0.5 * np.array(size))
        first, second, third = np.cumsum([len(part) for part in anchors[:3]])
        self.hand = _around(places[:first])
        self.limb, self.aim, self.joint = places[first:second], places[second:third], places[third:]


def place_distance(screen: Screen, size: tuple[float, float]) -> Rectangle:
    """Return where a text of this size is beside the line from tip to target, or beside the hand."""
    tip, nearest = screen.aim
    gap, line = _GAP * screen.scale, nearest - tip
    length = float(np.hypot(*line))
    options: list[Rectangle] = []
    if length > _LONG * screen.scale:
        middle, across = (tip + nearest) / 2.0, np.array((line[1], -line[0])) / length
        across = across if across[0] >= 0.0 else -across
        for side in (across, -across):
            # As far from the line as the half of the box that is towards it is wide.
            away = gap + abs(side[0]) * size[0] / 2.0 + abs(side[1]) * size[1] / 2.0
            x, y = middle + side * away
            options.append(_box(x, y, size))
    left, bottom, right, top = screen.hand
    more = gap / 2.0
    x, y = nearest
    around = min(left, x - more), min(bottom, y - more), max(right, x + more), max(top, y + more)
    others = [screen.hand, screen.gizmo] if screen.gizmo else []
    more_options = [place for box in _grown(around, others) for place in _beside(box, size, gap)]
    return _first([*options, *_by_distance(more_options, tip)], [screen.hand], screen)


def place_joint(screen: Screen, size: tuple[float, float], keep: Sequence[Rectangle]) -> Rectangle:
    """Return where a text of this size is beside the joint shown in full, off limb, hand and other boxes."""
    (x, y), end = screen.joint.tolist()
    radius = hypot(end[0] - x, end[1] - y) * _DIAL
    dial = x - radius, y - radius, x + radius, y + radius
    others = [screen.hand, *([screen.gizmo] if screen.gizmo else []), *keep]
    options = [place for box in _grown(dial, others) for place in _beside(box, size, _GAP * screen.scale)]
    return _first(_by_distance(options, screen.joint[0]), [screen.hand, *keep], screen)


def place_beside(screen: Screen, size: tuple[float, float], keep: Sequence[Rectangle]) -> Rectangle:
    """Return where a text of this size is beside the hand's box, off other boxes."""
    others = [*([screen.gizmo] if screen.gizmo else []), *keep]
    options = [place for box in _grown(screen.hand, others) for place in _beside(box, size, _GAP * screen.scale)]
    return _first(options, [screen.hand, *keep], screen)


def _around(places: Array) -> Rectangle:
    """Return the box around places, somewhat larger."""
    low, high = places.min(0), places.max(0)
    more = _FLESH * max(high - low)
    return float(low[0] - more), float(low[1] - more), float(high[0] + more), float(high[1] + more)


def _beside(box: Rectangle, size: tuple[float, float], gap: float) -> Iterator[Rectangle]:
    """Yield boxes of this size around another: to its right and left, above and below, and at its corners."""
    left, bottom, right, top = box
    x, y = (left + right) / 2.0, (bottom + top) / 2.0
    wide, high = (right - left + size[0]) / 2.0 + gap, (top - bottom + size[1]) / 2.0 + gap
    for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)):
        yield _box(x + a * wide, y + b * high, size)


def _box(x: float, y: float, size: tuple[float, float]) -> Rectangle:
    """Return the box of this size around a place."""
    wide, high = size[0] / 2.0, size[1] / 2.0
    return float(x) - wide, float(y) - high, float(x) + wide, float(y) + high


def _first(options: Iterable[Rectangle], keep: Sequence[Rectangle], screen: Screen) -> Rectangle:
    """Return the first box in the open part of the screen, off all boxes to keep clear of, the gizmo and the limb.

    If there is none, the first that is off these boxes, in the open part if possible, else the first of all, moved onto
    the screen.
    """
    open_left, open_bottom, open_right, open_top = screen.open
    keep = [*keep, screen.gizmo] if screen.gizmo else keep
    flesh, limb = _FLESH_AROUND * screen.scale, screen.limb
    first = best = over_limb = None
    for box in options:
        first = first or box
        if any(_overlap(box, other) for other in keep):
            continue
        best = best or box
        left, bottom, right, top = box
        inside = left >= open_left and bottom >= open_bottom and right <= open_right and top <= open_top
        low, high = (left - flesh, bottom - flesh), (right + flesh, top + flesh)
        if inside and not ((limb > low) & (limb < high)).all(1).any():
            return box
        if inside:
            over_limb = over_limb or box
    left, bottom, right, top = over_limb or best or first or (0.0,) * 4
    x = max(min(left, open_right - (right - left)), open_left)
    y = max(min(bottom, open_top - (top - bottom)), open_bottom)
    return x, y, x + right - left, y + top - bottom


def _by_distance(options: Sequence[Rectangle], place: Array) -> list[Rectangle]:
    """Return boxes by the distance of their middle from a place; those about as near keep their order."""

    def away(box: Rectangle) -> int:
        middle = (box[0] + box[2]) / 2.0, (box[1] + box[3]) / 2.0
        return round(hypot(middle[0] - place[0], middle[1] - place[1]) / _STEP)

    return sorted(options, key=away)


def _grown(box: Rectangle, others: Iterable[Rectangle]) -> Iterator[Rectangle]:
    """Yield a box, each of the others, and the box grown by these one after the other."""
    yield box
    for other in others:
        yield other
        box = _union(box, other)
        yield box


def _union(one: Rectangle, other: Rectangle) -> Rectangle:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
