# SPDX-License-Identifier: GPL-3.0-or-later
"""Scores of bones of a line as a limb of a kind: by geometry, and by words where names say anything.

A candidate is a choice of places in the line: of the first part, of elbow or knee, of the hock of an animal's leg if
any, and of the end, which is the length of the line for a limb without hand or foot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import log

import numpy as np

from .names import Clue, is_same_part
from .skeleton import BranchLine, Skeleton

_LEAST_LIMB = 0.05  # of the size: least length of its two long parts
_LYING, _STEEP = 0.6, 0.1  # cost of parts that lie; difference of the sines of slopes of thigh and shin without it
_BENT, _PART = 0.14, 0.2  # [rad] bend of a joint between two parts; least length of these, of the longest
_ANKLE = 0.6  # [rad] least bend of a foot against the shin
_LAST = 0.4  # of the bone before: largest length of a bone that nothing hangs on
_UNSAID = Clue()
# Weights of a candidate's score; one is about a fault that the eye sees at once.
_COVER, _RATIO, _SKIPPED = 1.5, 1.0, 0.35
_GIRDLE, _GIRDLES, _NO_GIRDLE, _NO_END = 0.7, 1.2, 0.3, 0.35
_BRANCHES, _HOCK, _TURN = 0.5, 0.35, 0.4
_WORD = 0.6
_HIPS, _KNEE, _STEEP_END, _OF_HOCK = 0.5, 0.5, 0.3, 0.4
_SHORT_THIGH = 0.7  # logarithm of the ratio of thigh and shin, up to which a leg with a hock is usual
_APEX, _CLEAR = 0.5, 0.1  # a bend that points forwards or backwards as it should, by this share of the limb
_UPRIGHT, _FEWEST_UPRIGHT = 0.7, 3  # share of a bone's length that goes down; bones that do in a leg of an animal
_MIDDLE, _BESIDE = 1.0, 0.02  # cost of a limb that begins where its image does; of its length: not beside that
_HIGH = 0.18  # of a leg's length: least height of its hock
_ANKLE_HIGH, _LOW = 0.16, 0.8  # of a leg's length: height of the first joint of most feet; cost of one left out
_STANDS, _LEVEL_BONE = 0.9, 0.5  # the same share of an upright bone, and at most of a level one
_SHARP = (0.8, 0.5)  # [rad] bend from which on it counts as sharp, and beyond that to count in full


class LimbScores:
    """Scores of candidates on the lines of a skeleton with a plane of symmetry, by its `normal` and `offset`.

    `up` and `ground` are the direction and the height on which it stands, `front` what is in front and `hind` the bones
    of hind legs, once these are known. One that `crawls` has three pairs of legs or more.
    """

    skeleton: Skeleton
    clues: list[Clue]
    normal: np.ndarray
    offset: float
    size: float
    up: np.ndarray
    ground: float
    crawls: bool
    front: np.ndarray
    hind: frozenset[int]

    def _points(self, line: BranchLine) -> np.ndarray:
        """Return the joints of a line and its end (n + 1, 3)."""
        points = np.vstack([self.skeleton.heads[list(line.bones)], self.skeleton.end(line.bones[-1])])
        if len(line.bones) > 2 and not self.skeleton.children[line.bones[-1]]:  # the length of a last bone is anything
            link, before = points[-1] - points[-2], np.linalg.norm(points[-2] - points[-3])
            points[-1] = points[-2] + link * min(1.0, _LAST * before / max(float(np.linalg.norm(link)), 1e-9))
        return points

    def _candidates(self, line: BranchLine, kind: str) -> Iterator[tuple[float, tuple[int, ...]]]:
        """Yield scores, and places in the line of first part, hinge, hock if any, and end (its length for none)."""
        points = self._points(line)
        links = np.diff(points, axis=0)
        lengths = np.linalg.norm(links, axis=1)
        bends = self._bends(links, lengths)
        count, whole = len(line.bones), lengths.sum()
        path = np.concatenate([[0.0], np.cumsum(lengths)])
        clues = [self.clues[bone] for bone in line.bones] + [_UNSAID]
        for first in range(count - 1):
            for hinge in range(first + 1, count):
                for end in range(hinge + 1, count + 1):
                    hocks = range(hinge + 1, end) if kind == "LEG" and end < count and not self.crawls else ()
                    for hock in (None, *hocks):
                        picked = (first, hinge, end) if hock is None else (first, hinge, hock, end)
                        score = self._score(picked, points, bends, path, float(whole), line, kind)
                        if score is not None:
                            yield score + self._by_words(picked, clues), picked

    def _with_bent(self, line: BranchLine, picked: tuple[int, ...]) -> tuple[int, ...]:
        """Return places in a line with those of all its parts between the first and the end: all that bend at rest."""
        links = np.diff(self._points(line), axis=0)
        lengths = np.linalg.norm(links, axis=1)
        bends, least = self._bends(links, lengths), _PART * lengths[picked[0] : picked[-1]].max()
        between = range(picked[0] + 1, picked[-1])
        bent = {n for n in between if bends[n] > _BENT and min(lengths[n - 1], lengths[n]) > least}
        return tuple(sorted({*picked, *bent}))

    @staticmethod
    def _bends(links: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return the bend at each joint of a line [rad], that of its first joint 0."""
        units = links / np.maximum(lengths, 1e-9)[:, None]
        cosines = np.clip((units[1:] * units[:-1]).sum(axis=1), -1.0, 1.0)
        bends = np.where((lengths[1:] < 1e-6) | (lengths[:-1] < 1e-6), 0.0, np.arccos(cosines))
        return np.concatenate([[0.0], bends])

    def _score(
        self,
        picked: tuple[int, ...],
        points: np.ndarray,
        bends: np.ndarray,
        path: np.ndarray,
        whole: float,
        line: BranchLine,
        kind: str,
    ) -> float | None:
        first, hinge, end = picked[0], picked[1], picked[-1]
        upper, lower = (np.linalg.norm(points[b] - points[a]) for a, b in ((first, hinge), (hinge, picked[2])))
        if min(upper, lower) <= 0.0 or upper + lower < _LEAST_LIMB * self.size:
            return None
        count = len(line.bones)
        score = _COVER * (path[end] - path[first]) / (whole - path[first]) - _RATIO * abs(log(upper / lower))
        high = self._heights(points, path, first)
        parts, within = set(picked), range(first + 1, min(end, count))
        low = {place for place in within if place > picked[-2] and high[place] < _ANKLE_HIGH}
        if len(picked) == 4:  # a joint below the hock is one more part, unless it is as low as a foot's
            bent = {place for place in self._with_bent(line, picked) if place > picked[2]}
            parts |= bent - low if end < count - 1 else set()  # a last bone may only show an end
        if kind == "LEG" and not self.crawls:  # a paw may be below a wrist that is as low
            score -= _LOW * max(len(low) - (len(picked) == 3), 0)
        score -= sum(self._skipped(place, parts, bends, line, kind) for place in within)
        beside = abs(float(points[first] @ self.normal) - self.offset) / (path[end] - path[first])
        score -= _MIDDLE * max(1.0 - beside / _BESIDE, 0.0)
        longest = max(upper, lower) if kind == "LEG" else upper  # a thigh or upper arm of an animal may be short
        score -= _GIRDLE * max(path[first] / longest - 1.0, 0.0) + _NO_GIRDLE * (kind == "ARM" and first == 0)
        if kind == "LEG":
            score -= self._lying(points[hinge] - points[first], points[picked[2]] - points[hinge], first == 0)
            is_fore = bool(self.hind) and line.bones[0] not in self.hind
            score -= self._as_of_animals(picked, points, high, bends, float(abs(log(upper / lower))), is_fore)
        beyond = path[-1] - path[end]
        if end == count:
            score -= _NO_END * (2.0 if kind == "LEG" and count > 2 else 1.0)
        else:
            turns = kind == "LEG" and bends[end] > _ANKLE  # a foot may be of any length
            may_be_tip = end == count - 1 and not self.crawls  # a last bone may only show an end
            score += _TURN * turns * (0.5 if may_be_tip else 1.0)
            score -= max(beyond / lower - (1.8 if turns or len(picked) == 4 else 0.9), 0.0) + 0.5 * max(
                0.15 - beyond / lower, 0.0
            )
            score += _BRANCHES * (line.ends_in_branches and end == count - 1)
        if len(picked) == 4:
            said = self.clues[line.bones[picked[2]]].level
            is_one = "hock" in said.split("|") or bool(high[picked[2]] > _HIGH)
            score += self._hock(picked, points, bends, float(lower), is_one)
        ahead = self._ahead(points[[first, hinge, picked[2]]])
        score += _APEX * (ahead if line.bones[0] in self.hind else -ahead)
        return float(score - 1.0)

    def _heights(self, points: np.ndarray, path: np.ndarray, first: int) -> np.ndarray:
        """Return the heights of joints above the ground, of the length of the line from its first part to there."""
        heights = points @ self.up - self.ground
        return np.asarray(heights / max(float(path[heights.argmin()] - path[first]), 1e-9))

    def _ahead(self, points: np.ndarray) -> float:
        """Return how much the hinge of a limb of two parts (3, 3) points to the front, from -1 to 1."""
        upper, line = points[1] - points[0], points[2] - points[0]
        off = upper - line * float(upper @ line) / max(float(line @ line), 1e-12)
        return float(np.clip(off @ self.front / (_CLEAR * np.linalg.norm(line)), -1.0, 1.0))

    def _as_of_animals(
        self,
        picked: tuple[int, ...],
        points: np.ndarray,
        high: np.ndarray,
        bends: np.ndarray,
        uneven: float,
        is_fore: bool,
    ) -> float:
        """Return the cost of the parts of a leg that animals have where people have none.

        A bone of the hips or shoulder blade leads to an upright leg of several bones by a sharp bend. A knee that is
        bent sharply at rest has a hock below it, whose leg may have a short thigh. A paw lies, what is above it stands.
        A leg hangs on one bone of hips or shoulder at most.
        """
        first, hinge, end = picked[0], picked[1], picked[-1]
        links = np.diff(points, axis=0)
        if self.crawls:  # a leg begins at its first long bone
            lengths = np.linalg.norm(links, axis=1)
            return float(2.0 * _GIRDLE * (lengths[:first].sum() / lengths[first:hinge].sum()))
        down = -(links @ self.up) / np.maximum(np.linalg.norm(links, axis=1), 1e-9)
        sharp = np.clip((bends - _SHARP[0]) / _SHARP[1], 0.0, 1.0)
        upright = (down[hinge:] > _UPRIGHT).sum() >= _FEWEST_UPRIGHT
        cost = _HIPS * sharp[hinge] * upright
        cost += _KNEE * sharp[hinge] * (len(picked) == 3 and not is_fore)
        cost -= (1.0 - _OF_HOCK) * _RATIO * min(uneven, _SHORT_THIGH) * (len(picked) == 4)
        ahead = (down < _LEVEL_BONE) & (np.abs(links @ self.normal) < _LEVEL_BONE * np.linalg.norm(links, axis=1))
        beyond = ahead[end:] if high[end] > _ANKLE_HIGH else ahead[end:-1]  # a last bone may only show an end
        stands = end < len(down) and down[end] > _STANDS and beyond.any()
        return float(cost + _STEEP_END * stands + _GIRDLES * max(first - 1, 0))

    def _lying(self, upper: np.ndarray, lower: np.ndarray, may_be_hip: bool) -> float:
        """Return the cost of a hip bone taken for a thigh, and of a foot taken for a shin."""
        aside, level = (abs(part @ self.normal) / np.linalg.norm(part) for part in (upper, lower))
        steep, less = (-(part @ self.up) / np.linalg.norm(part) for part in (upper, lower))
        return float(_LYING * may_be_hip * max(aside - level, 0.0) + max(steep - max(less, 0.0) - _STEEP, 0.0))

    def _skipped(self, place: int, picked: Collection[int], bends: np.ndarray, line: BranchLine, kind: str) -> float:
        """Return the cost of a bone inside a part of the limb: little for twist bones, which go on straight."""
        if place in picked:
            return 0.0
        name, before = (self.skeleton.names[line.bones[each]] for each in (place, place - 1))
        if is_same_part(before, name):
            return 0.0
        start = max(each for each in picked if each < place)
        bend = bends[start] if start > 0 else (0.8 if kind == "LEG" else 0.0)
        return float(_SKIPPED * np.clip(2.0 * (bends[place] + 0.03) / (bend + 1e-3), 0.25, 1.0) + bends[place])

    def _hock(
        self, picked: tuple[int, ...], points: np.ndarray, bends: np.ndarray, lower: float, is_one: bool
    ) -> float:
        """Score the part below a hock: it is long, and knee and hock bend against each other."""
        first, hinge, hock, end = picked
        part = np.linalg.norm(points[end] - points[hock])
        thigh, shin, cannon = (points[b] - points[a] for a, b in ((first, hinge), (hinge, hock), (hock, end)))
        against = np.cross(thigh, shin) @ np.cross(shin, cannon) < 0.0
        bent = min(bends[hinge], bends[hock]) > 0.15
        lies = np.clip(3.0 + 4.0 * (cannon @ self.up) / max(part, 1e-9), 0.0, 1.0)
        odd = max(0.3 - part / lower, 0.0) + max(part / lower - 1.2, 0.0)
        return float(_HOCK * (against and bent) - 0.25 - odd - max(lies, float(not is_one)))

    def _by_words(self, picked: tuple[int, ...], clues: Sequence[Clue]) -> float:
        """Score how well the names of the picked bones say what they are picked as."""
        levels = {3: ("upper", "lower", "end"), 4: ("upper", "lower", "hock", "end")}[len(picked)]
        score = 0.0
        for place, level in zip(picked, levels, strict=True):
            said = clues[place].level.split("|")
            if said != [""]:
                score += _WORD / len(said) * (1.0 if level in said else -1.0)
        above = {"upper", "lower"} if clues[picked[0]].level == "upper" else {"lower"}
        unsaid = () if clues[picked[0]].level == "upper" else clues[: picked[1]]
        score -= _WORD * sum(clue.level in above for clue in clues[: picked[0]])
        passed = clues[picked[1] + 1 : picked[-1]] if clues[picked[-1]].level == "end" else ()
        return score - _WORD * (
            any(clue.level == "upper" for clue in unsaid) + 2.0 * any(c.level == "end" for c in passed)
        )
