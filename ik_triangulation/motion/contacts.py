# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts: spans of frames in which a foot is planted or a tip touches something, and a motion with its spans held.

A foot is planted while it is slow and low. Speeds count in legs a second and heights in legs, so that neither the size
of a figure nor the frame rate matters. A span begins below the lower of two thresholds and ends above the higher one,
so that noise about one of them does not cut it. Source: footstep detection as by Ikemoto, Arikan and Forsyth 2006,
without its learning; offsets that fade between constraints as by Kovar, Schreiner and Gleicher 2002.

A tip touches something that may itself move, such as a cart or the other hand, while it is near to it and slow on it:
its speed is that in the space of the other thing, in lengths of its limb a second. It also has to stay at about one
place there, or a hand that slides along a rail would be pinned to it. Where spans on several things compete for frames,
those win in which the tip is still for longest, so that a hand which takes a cup from the table is on the cup
throughout. Source: none.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from ..kinematics.arrays import Mask, Numbers

_Span = tuple[float, float]  # first and last frame
Indexed = tuple[int, int]  # first and last index

_SLOW, _FAST = 0.25, 0.5  # [legs, or limbs, a second] speeds at which a span begins and ends
_CARRIED = 0.2  # of the speed of the hips, added to the first; to the other as much more as it is higher
_LOW, _HIGH = 0.05, 0.08  # [legs] heights above the floor at which a span begins and ends
_FLOOR = 10.0  # percentile of the heights of a slow foot that is taken for the floor
_NOISE, _CALM = 0.1, 0.3  # [s] times over which places of the tip, and of the hips, are smoothed
_SHORTEST, _STEP = 0.12, 0.2  # [s] of a span on the floor, and on a step or a box
_MOSTLY = 0.8  # of a span above the floor: as long as that a planted foot below tells that it is in the air
_GAP, _NEAR = 0.12, 0.08  # [s], [legs]: spans that are as near in time and place are one
_HASTE = 1.15  # times the animated one: the largest step of a foot near a span


def planted_spans(
    feet: Sequence[Numbers], hips: Numbers, up: Numbers, legs: Sequence[float], fps: float, fade: float
) -> list[list[Indexed]]:
    """Return for each of the `feet`, places (3, F) of their tips, first and last index of the spans it is planted in.

    `hips` (3, F) are the places of the hips: the faster they go, the more a foot may slide. `up` (3) is a unit vector,
    `legs` the lengths of the legs [the places' unit], `fps` frames a second. The floor is as high as a foot is where it
    is slow; on a step or a box a foot is planted unless another one is, below. Spans are shortened where the foot, held
    in them and freed within `fade` frames, would have to hurry.
    """
    if hips.shape[1] < 3:
        return [[] for _ in feet]
    motions = [_Motion(places, hips, up, leg, fps) for places, leg in zip(feet, legs, strict=True)]
    found = [motion.on_the_floor() for motion in motions]
    for motion, spans in zip(motions, found, strict=True):
        others = [other for other in motions if other is not motion]
        spans += [span for span in motion.above_the_floor(spans) if not motion.is_in_the_air(span, others)]
    shortest = max(2, ceil(_SHORTEST * fps))
    return [unhurried(sorted(spans), places, fade, shortest) for spans, places in zip(found, feet, strict=True)]


def floor_height(places: Numbers, hips: Numbers, up: Numbers, leg: float, fps: float) -> float | None:
    """Return the height of a foot at places (3, F) where it is slow; None for one that never is."""
    motion = _Motion(places, hips, up, leg, fps) if places.shape[1] > 2 else None
    return None if motion is None or not motion.slow.any() else leg * motion.floor


class _Motion:
    """Smoothed places (3, F) of a foot [legs], its heights (F), and where it is `slow`, or at least not fast."""

    def __init__(self, places: Numbers, hips: Numbers, up: Numbers, leg: float, fps: float) -> None:
        self.places, speed = smooth_speeds(places / leg, _NOISE, fps)
        limit = _SLOW + _CARRIED * smooth_speeds(hips / leg, _CALM, fps)[1]
        self.fps, self.heights = fps, up @ self.places
        self.slow, self.calm = speed < limit, speed < _FAST / _SLOW * limit

    @property
    def floor(self) -> float:
        """Height of the floor [legs]: there has to be a frame at which the foot is slow."""
        return float(np.percentile(self.heights[self.slow], _FLOOR))

    def on_the_floor(self) -> list[Indexed]:
        """Return the spans in which the foot is slow and low."""
        if not self.slow.any():
            return []
        height = self.heights - self.floor
        return self._long(runs_of_frames(self.slow & (height < _LOW), self.calm & (height < _HIGH)), _SHORTEST)

    def above_the_floor(self, others: Sequence[Indexed]) -> list[Indexed]:
        """Return the spans apart from `others` in which the foot is slow and hardly goes up or down."""
        runs = [(first, last) for first, last in runs_of_frames(self.slow, self.slow)]
        found = []
        for first, last in runs:
            level = np.abs(self.heights - np.median(self.heights[first : last + 1])) < _LOW
            apart = all(first > end or last < begin for begin, end in others)
            if apart and level[first : last + 1].all():
                found.append((first, last))
        return self._long(found, _STEP)

    def is_in_the_air(self, span: Indexed, others: Sequence[_Motion]) -> bool:
        """Tell whether another foot is lower for most of a span."""
        here = slice(span[0], span[1] + 1)
        return any((each.calm & (each.heights < self.heights - _HIGH))[here].mean() > _MOSTLY for each in others)

    def _long(self, spans: Sequence[Indexed], shortest: float) -> list[Indexed]:
        """Return spans, joined over short gaps, that are no shorter than that [s]."""
        fewest = max(2, ceil(shortest * self.fps))
        return [span for span in joined_spans(spans, self.places, self.fps) if span[1] - span[0] + 1 >= fewest]


def unhurried(spans: list[Indexed], places: Numbers, fade: float, shortest: int) -> list[Indexed]:
    """Return spans shortened at their ends until steps of the foot beside them are hardly larger."""
    frames, most = np.arange(places.shape[1], dtype=float), ceil(fade)
    animated = np.linalg.norm(np.diff(places, axis=1), axis=0)
    for _ in range(most):
        still = [Planted.of(span, places[:, span[0] : span[1] + 1]) for span in spans]
        held = np.linalg.norm(np.diff(planted(places, frames, still, fade), axis=1), axis=0)
        shorter, changed = [], False
        for number, (first, last) in enumerate(spans):
            before = max(first - most - 1, spans[number - 1][1] if number else 0)
            after = min(last + most + 1, spans[number + 1][0] if number + 1 < len(spans) else len(animated))
            begin, end = slice(before, first), slice(last, after)
            late = first > 0 and last - first >= shortest and held[begin].max() > _HASTE * animated[begin].max()
            early = len(animated) > last and last - first >= shortest + late
            early = early and held[end].max() > _HASTE * animated[end].max()
            shorter.append((first + int(late), last - int(early)))
            changed = changed or bool(late or early)
        if not changed:
            break
        spans = shorter
    return spans


class Planted(NamedTuple):
    """A span with the `place` (3) of the foot in it, and its offsets there from the animation at both ends (3).

    The place is in the space of what it is `on`; None is the world, the space of the offsets.
    """

    span: _Span
    place: Numbers
    at_first: Numbers
    at_last: Numbers
    on: Hashable | None = None

    @classmethod
    def of(cls, span: _Span, places: Numbers, on: Hashable | None = None, carried: Numbers | None = None) -> Planted:
        """Return a span with the middle place, the median, of the foot's `places` (3, F) in it.

        `carried` (4, 4, F) are the matrices of what it is `on`, and goes along with.
        """
        if carried is None:
            place = np.median(places, axis=1)
            return cls(span, place, place - places[:, 0], place - places[:, -1])
        place = np.median(placed_on(carried, places), axis=1)
        ends = _carry(carried, place) - places
        return cls(span, place, ends[:, 0], ends[:, -1], on)


def placed_on(carried: Numbers, places: Numbers) -> Numbers:
    """Return places (3, F) in the space of something with these matrices (4, 4, F)."""
    into = np.linalg.inv(np.moveaxis(carried, -1, 0))
    own: Numbers = np.einsum("fij,jf->if", into[:, :3, :3], places) + into[:, :3, 3].T
    return own


def _carry(carried: Numbers, place: Numbers) -> Numbers:
    """Return the places (3, F) of a point (3) that something with these matrices (4, 4, F) carries along."""
    places: Numbers = np.einsum("ijf,j->if", carried[:3, :3], place) + carried[:3, 3]
    return places


def planted(
    places: Numbers,
    frames: Numbers,
    spans: Sequence[Planted],
    fade: float,
    carried: Mapping[Hashable, Numbers] | None = None,
) -> Numbers:
    """Return places (3, F) of a foot with those of its spans, which are in order and do not overlap.

    `frames` (F) are those of the places, at which what spans are on is `carried` by matrices (4, 4, F). Outside, the
    offset at the end of a span fades within `fade` frames, or within half of the frames to the next span: the foot
    goes on as it was animated, from its place.
    """
    result = places.copy()
    for (span, place, *ways, on), share in zip(spans, shares_of_spans(frames, spans, fade), strict=True):
        before, after = frames < span[0], frames > span[1]
        inside = ~(before | after)
        result[:, inside] = place[:, None] if on is None else _carry((carried or {})[on][..., inside], place)
        # What carries the foot may by now be elsewhere than as the span was read.
        at = [np.flatnonzero(frames == each) for each in span]
        ways = [(result - places)[:, each[0]] if len(each) else way for each, way in zip(at, ways, strict=True)]
        for way, outside in zip(ways, (before, after), strict=True):
            result[:, outside] += way[:, None] * share[outside]
    return result


def shares_of_spans(frames: Numbers, spans: Sequence[Planted], fade: float) -> Numbers:
    """Return how far each of the spans, which are in order and do not overlap, has a tip at frames: 0 to 1 (n, F).

    It is 1 inside and fades within `fade` frames, or within half of the frames to the next span.
    """
    shares = np.zeros((len(spans), len(frames)))
    for number, each in enumerate(spans):
        begin = spans[number - 1].span[1] if number else -np.inf
        end = spans[number + 1].span[0] if number + 1 < len(spans) else np.inf
        first, last = each.span
        shares[number, (frames >= first) & (frames <= last)] = 1.0
        for away, gap in ((first - frames, first - begin), (frames - last, end - last)):
            outside = (away > 0.0) & (away < gap)
            shares[number, outside] = faded(away[outside], min(fade, 0.5 * (gap - 1.0)))
    return shares


def faded(away: Numbers, fade: float) -> Numbers:
    """Return shares that fall smoothly from 1 to 0 over frames `away` from a span, and are 0 after `fade` of them.

    Source: the polynomial of minimum jerk, Flash and Hogan 1985.
    """
    t = np.clip(away / (max(fade, 0.0) + 1.0), 0.0, 1.0)
    share: Numbers = 1.0 - t**3 * (10.0 - 15.0 * t + 6.0 * t * t)
    return share


def runs_of_frames(begins: Mask, goes_on: Mask) -> list[Indexed]:
    """Return runs of frames that go on, as far as a span begins in one of them."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], goes_on, [False])).astype(int)))
    runs = zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    return [(first, end - 1) for first, end in runs if begins[first:end].any()]


def joined_spans(spans: Sequence[Indexed], places: Numbers, fps: float) -> list[Indexed]:
    """Return spans with those made one that a short gap parts, at about the same place [legs]."""
    joined: list[Indexed] = []
    for first, last in spans:
        if joined and first - joined[-1][1] - 1 <= _GAP * fps:
            begin, end = joined[-1]
            middles = np.median(places[:, first : last + 1], axis=1), np.median(places[:, begin : end + 1], axis=1)
            if np.linalg.norm(middles[0] - middles[1]) < _NEAR:
                joined[-1] = begin, last
                continue
        joined.append((first, last))
    return joined


def smooth_speeds(places: Numbers, over: float, fps: float) -> tuple[Numbers, Numbers]:
    """Return places (3, F) smoothed over a time [s], and their speeds (F) [a second]."""
    smooth = _smoothed(places, max(1, round(over * fps)))
    speeds: Numbers = fps * np.linalg.norm(np.gradient(smooth, axis=1), axis=0)
    return smooth, speeds


def _smoothed(places: Numbers, width: int) -> Numbers:
    """Return places (3, F) averaged over about `width` frames, with the ends mirrored through themselves."""
    half = min(width // 2 + 1, places.shape[1] - 1)
    kernel = np.hanning(2 * half + 3)[1:-1]
    kernel /= kernel.sum()
    before = 2.0 * places[:, :1] - places[:, half:0:-1]
    after = 2.0 * places[:, -1:] - places[:, -2 : -2 - half : -1]
    padded = np.concatenate((before, places, after), axis=1)
    return np.array([np.convolve(row, kernel, "valid") for row in padded])


_TOUCHING, _BESIDE = 0.08, 0.12  # [limbs] distances at which a span begins and ends
_STAYS = 0.08  # [limbs] from the middle place of a span, that the tip is at most
_STRICTER = 4  # times that the limits of speed are halved, until the tip stays
_SHORTEST_TOUCH = 0.2  # [s]
_SHAKES = 3.0  # times the speed that noise gives a tip, added to the limits
_OF_SECOND = 0.6745 * 6.0**0.5  # the median of second differences of noise, for a deviation of 1
_FEWEST, _PULSE = 8, 65  # frames from which noise is estimated, and of a motion that has only one place else


class Touchable(NamedTuple):
    """Something that a tip may touch: where the tip is on it, and how far from its surface.

    `places` (3, F) of the tip, and those of the `hips` where the tip is a foot, are in the space of what it is `on`,
    unscaled; None is the world. `away` (F) is the distance.
    """

    on: Hashable | None
    places: Numbers
    away: Numbers
    hips: Numbers | None = None


class Stay(NamedTuple):
    """A span of a tip on something, None for the world, from the `first` to the `last` frame by their indices."""

    on: Hashable | None
    first: int
    last: int


def stays_on(
    things: Sequence[Touchable], limb: float, fps: float, fade: float, known: Sequence[Indexed] | None = None
) -> list[Stay]:
    """Return what a tip touches, in order; no two of these overlap.

    `limb` is the length of its limb, `fps` frames a second. Of the first thing the spans may be `known`. Spans are
    shortened where the tip, held in them and freed within `fade` frames, would have to hurry.
    """
    shortest = max(2, ceil(_SHORTEST_TOUCH * fps))
    claims = []
    for number, thing in enumerate(things):
        motion = _Resting(thing, limb, fps)
        spans = known if known is not None and number == 0 else motion.spans()
        claims += [_Claim(thing, span, motion) for span in spans]
    found = dict[int, list[Indexed]]()
    free = np.ones(things[0].places.shape[1] if things else 0, bool)
    while claims:
        best = claims.pop(max(range(len(claims)), key=lambda number: claims[number].worth))
        first, last = best.span
        whole = free[first : last + 1]
        if whole.all():
            free[first : last + 1] = False
            number = next(n for n, thing in enumerate(things) if thing is best.thing)
            found.setdefault(number, []).append(best.span)
            continue
        parts = [best._replace(span=(first + begin, first + end)) for begin, end in runs_of_frames(whole, whole)]
        claims += [part for part in parts if part.length >= shortest and part.wander <= _STAYS]
    result = list[Stay]()
    for number, spans in found.items():
        if known is None or number:
            spans = unhurried(sorted(spans), things[number].places, fade, shortest)
        result += [Stay(things[number].on, *span) for span in spans]
    return sorted(result, key=lambda stay: stay.first)


class _Claim(NamedTuple):
    """A span of frames for which a tip may be on a thing, as it rests there."""

    thing: Touchable
    span: Indexed
    motion: _Resting

    @property
    def length(self) -> int:
        return self.span[1] - self.span[0] + 1

    @property
    def wander(self) -> float:
        """The largest distance of the tip from its middle place [limbs]."""
        return _wander(self.motion.places[:, self.span[0] : self.span[1] + 1])

    @property
    def worth(self) -> float:
        """The frames, as far as the tip is still and near, and less if it does not stay at one place."""
        still = float(self.motion.still[self.span[0] : self.span[1] + 1].sum())
        return still * min(1.0, _STAYS / max(self.wander, 1e-12))


def _wander(places: Numbers) -> float:
    """Return how far places (3, F) are at most from the middle one."""
    return float(np.linalg.norm(places - np.median(places, axis=1)[:, None], axis=0).max())


def _noise_of_speed(places: Numbers, fps: float) -> float:
    """Return the speed [a second] that smoothed places (3, F) of something at rest would have by their noise alone.

    The noise is taken from second differences, which are small in motions that have none.
    """
    if places.shape[1] < _FEWEST:
        return 0.0
    rough = float(np.median(np.abs(np.diff(places, 2, axis=1)))) / _OF_SECOND
    pulse = np.zeros((1, _PULSE))
    pulse[0, _PULSE // 2] = 1.0
    spread: Numbers = np.sqrt((smooth_speeds(pulse, _NOISE, fps)[1] ** 2).sum())
    return rough * float(spread)


class _Resting:
    """The motion of a tip on a thing: its smoothed places (3, F) [limbs], its speed, and where it is near."""

    def __init__(self, thing: Touchable, limb: float, fps: float) -> None:
        self.places, self.speed = smooth_speeds(thing.places / limb, _NOISE, fps)
        carried = 0.0 if thing.hips is None else smooth_speeds(thing.hips / limb, _CALM, fps)[1]
        noise = _SHAKES * _noise_of_speed(thing.places / limb, fps)
        slow = np.broadcast_to(_SLOW + _CARRIED * carried, self.speed.shape)
        self.fps, self.slow, self.fast = fps, slow + noise, _FAST / _SLOW * slow + noise
        self.near, self.beside = thing.away / limb < _TOUCHING, thing.away / limb < _BESIDE
        self.still = np.clip(1.0 - (self.speed / self.fast) ** 2, 0.0, 1.0)
        self.still *= 1.0 - 0.5 * np.minimum(thing.away / limb / _BESIDE, 1.0)

    def spans(self) -> list[Indexed]:
        """Return the spans in which the tip is near, slow and stays."""
        fewest = max(2, ceil(_SHORTEST_TOUCH * self.fps))
        found = joined_spans(self._runs(np.ones(len(self.near), bool), 1.0), self.places, self.fps)
        kept = list[Indexed]()
        waiting = [(span, 0) for span in found]
        while waiting:
            (first, last), times = waiting.pop()
            if last - first + 1 < fewest:
                continue
            if _wander(self.places[:, first : last + 1]) <= _STAYS:
                kept.append((first, last))
            elif times < _STRICTER:
                among = np.zeros(len(self.near), bool)
                among[first : last + 1] = True
                waiting += [(span, times + 1) for span in self._runs(among, 0.5 ** (times + 1))]
        return sorted(kept)

    def _runs(self, among: Mask, share: float) -> list[Indexed]:
        """Return runs of some of the frames, with limits of speed that are lower by a share."""
        slow, calm = (self.speed < share * each for each in (self.slow, self.fast))
        return runs_of_frames(among & slow & self.near, among & calm & self.beside)
