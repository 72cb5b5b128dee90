# SPDX-License-Identifier: GPL-3.0-or-later
"""Touches: spans of frames in which a tip rests on something that may itself move, such as a cart, or the other hand.

A tip touches what it is near to and slow on: its speed is that in the space of the other thing, in lengths of its limb
a second. It also has to stay at about one place there, or a hand that slides along a rail would be pinned to it. Where
spans on several things compete for frames, those win in which the tip is still for longest, so that a hand which takes
a cup from the table is on the cup throughout. Source: none.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from ..kinematics.arrays import Mask, Numbers
from .contacts import Indexed, joined_spans, runs_of_frames, smooth_speeds, unhurried

_SLOW, _FAST = 0.25, 0.5  # [limbs a second] speeds at which a span begins and ends
_CARRIED = 0.2  # of the speed of the hips on the same thing, added to the first, and twice to the other
_NEAR, _BESIDE = 0.08, 0.12  # [limbs] distances at which a span begins and ends
_NOISE, _CALM = 0.1, 0.3  # [s] times over which places of the tip, and of the hips, are smoothed
_STAYS = 0.08  # [limbs] from the middle place of a span, that the tip is at most
_STRICTER = 4  # times that the limits of speed are halved, until the tip stays
_SHORTEST = 0.2  # [s]
_SHAKES = 3.0  # times the speed that noise gives a tip, added to the limits
_OF_SECOND = 0.6745 * 6.0**0.5  # the median of second differences of noise, for a deviation of 1
_FEWEST, _PULSE = 8, 65  # frames from which noise is told, and of a motion that has only one place else


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
    shortest = max(2, ceil(_SHORTEST * fps))
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
        self.near, self.beside = thing.away / limb < _NEAR, thing.away / limb < _BESIDE
        self.still = np.clip(1.0 - (self.speed / self.fast) ** 2, 0.0, 1.0)
        self.still *= 1.0 - 0.5 * np.minimum(thing.away / limb / _BESIDE, 1.0)

    def spans(self) -> list[Indexed]:
        """Return the spans in which the tip is near, slow and stays."""
        fewest = max(2, ceil(_SHORTEST * self.fps))
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
