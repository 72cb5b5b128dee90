# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts: spans of frames in which a foot is planted, found in its motion, and its motion with these spans held.

A foot is planted while it is slow and low. Speeds count in legs a second and heights in legs, so that neither the size
of a figure nor the frame rate matters. A span begins below the lower of two thresholds and ends above the higher one,
so that noise about one of them does not cut it. Source: footstep detection as by Ikemoto, Arikan and Forsyth 2006,
without its learning; offsets that fade between constraints as by Kovar, Schreiner and Gleicher 2002.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from ..kinematics.arrays import Mask, Numbers

_Span = tuple[float, float]  # first and last frame
Indexed = tuple[int, int]  # first and last index

_SLOW, _FAST = 0.25, 0.5  # [legs a second] speeds at which a span begins and ends
_CARRIED = 0.2  # of the speed of the hips, added to the first; to the other as much more as it is higher
_LOW, _HIGH = 0.05, 0.08  # [legs] heights above the floor at which a span begins and ends
_FLOOR = 10.0  # percentile of the heights of a slow foot that is taken for the floor
_NOISE, _CALM = 0.1, 0.3  # [s] times over which places of the foot, and of the hips, are smoothed
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
    """Return how high a foot at places (3, F) stands where it is slow; None for one that never is."""
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
        """Tell whether another foot stands lower for most of a span."""
        here = slice(span[0], span[1] + 1)
        return any((each.calm & (each.heights < self.heights - _HIGH))[here].mean() > _MOSTLY for each in others)

    def _long(self, spans: Sequence[Indexed], shortest: float) -> list[Indexed]:
        """Return spans, joined over short gaps, that are no shorter than that [s]."""
        fewest = max(2, ceil(shortest * self.fps))
        return [span for span in joined_spans(spans, self.places, self.fps) if span[1] - span[0] + 1 >= fewest]


def unhurried(spans: list[Indexed], places: Numbers, fade: float, shortest: int) -> list[Indexed]:
    """Return spans without so many frames at their ends that steps of the foot beside them are hardly larger."""
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
    """A span with the `place` (3) of the foot in it, and its ways there from where it is animated at both ends (3).

    The place is in the space of what it is `on`; None is the world, where the ways are.
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
    way that a span has at its end fades within `fade` frames, or within half of the frames to the next span: the foot
    goes on as it was animated, from where it stands.
    """
    result, begin = places.copy(), -np.inf
    for number, (span, place, *ways, on) in enumerate(spans):
        end = spans[number + 1].span[0] if number + 1 < len(spans) else np.inf
        inside = (frames >= span[0]) & (frames <= span[1])
        result[:, inside] = place[:, None] if on is None else _carry((carried or {})[on][..., inside], place)
        # What carries the foot may by now be elsewhere than as the span was read.
        at = [np.flatnonzero(frames == each) for each in span]
        ways = [(result - places)[:, each[0]] if len(each) else way for each, way in zip(at, ways, strict=True)]
        for way, away, gap in zip(
            ways, (span[0] - frames, frames - span[1]), (span[0] - begin, end - span[1]), strict=True
        ):
            outside = (away > 0.0) & (away < gap)
            result[:, outside] += way[:, None] * faded(away[outside], min(fade, 0.5 * (gap - 1.0)))
        begin = span[1]
    return result


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
    """Return places (3, F) averaged over about so many frames, with the ends mirrored through themselves."""
    half = min(width // 2 + 1, places.shape[1] - 1)
    kernel = np.hanning(2 * half + 3)[1:-1]
    kernel /= kernel.sum()
    before = 2.0 * places[:, :1] - places[:, half:0:-1]
    after = 2.0 * places[:, -1:] - places[:, -2 : -2 - half : -1]
    padded = np.concatenate((before, places, after), axis=1)
    return np.array([np.convolve(row, kernel, "valid") for row in padded])
