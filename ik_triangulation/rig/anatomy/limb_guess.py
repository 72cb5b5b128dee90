# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs of a skeleton as one assignment, scored by geometry and by the words in the names of bones.

Each pair of branches gives many candidates: which of its bones is the first of the limb, which the elbow or knee, which
the hock of an animal's leg, and which hand or foot. A candidate's score adds what its lengths, bends and place say, and
what the names say where they say anything. The best candidates that share no bones are the limbs. They tell what is in
front, and are chosen again with that: hind legs have knees, which point forwards, legs in front of them elbows, which
point backwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from .names import Clue, clue_of, is_same_part, marks_an_end
from .skeleton import BranchLine, Skeleton, flies

_LIMB = 0.1  # of the size: least length of a limb from its girdle to its end
_LEAST_LIMB = 0.05  # of the size: least length of its two long parts
_HIGH = 0.18  # of the height of a leg: least height of its hock
_LYING, _STEEP = 0.6, 0.1  # cost of parts that lie; difference of the sines of slopes of thigh and shin without it
_BENT, _PART = 0.14, 0.2  # [rad] bend of a joint between two parts; least length of these, of the longest
_ANKLE = 0.6  # [rad] least bend of a foot against the shin
_ARM = 0.3  # of the mean leg: least length of an arm; and largest, above which a pair is no arm
_LONGEST_ARM = 1.9
_GROUND, _DOWN = 0.05, 0.1  # of the size: height of what stands on the ground, and least height of a leg
_LEVEL = 0.03  # of the size: difference of the heights of feet on level ground
_FLAT = 1e-3  # of the size: height of what lies on the ground
_ASKEW = 0.3  # cosine of the angle between up and the plane's normal from which on a skeleton is askew
_LAST = 0.4  # of the bone before: largest length of a bone that nothing hangs on
_UNSAID = Clue()
# Weights of a candidate's score; one is about a fault that the eye sees at once.
_COVER, _RATIO, _SKIPPED = 1.5, 1.0, 0.35
_GIRDLE, _GIRDLES, _NO_GIRDLE, _NO_END = 0.7, 1.2, 0.3, 0.35
_BRANCHES, _HOCK, _TURN = 0.5, 0.35, 0.4
_WORD, _KIND_WORD = 0.6, 1.5
_HIPS, _KNEE, _STEEP_END, _OF_HOCK = 0.5, 0.5, 0.3, 0.4
_SHORT_THIGH = 0.7  # logarithm of the ratio of thigh and shin, up to which a leg with a hock is usual
_APEX, _CLEAR = 0.5, 0.1  # a bend that points forwards or backwards as it should, by this share of the limb
_UPRIGHT, _FEWEST_UPRIGHT = 0.7, 3  # share of a bone's length that goes down; bones that do in a leg of an animal
_MIDDLE, _BESIDE = 1.0, 0.02  # cost of a limb that begins where its image does; of its length: not beside that
_AS_LONG = 0.5
_SHIN = 0.25  # of its height: how far above the ground a leg without a foot may end
_ANKLE_HIGH = 0.16  # of the height of a leg: that of the first joint of most feet
_LOW = 0.8
_STANDS, _LEVEL_BONE = 0.9, 0.5  # the same share of an upright bone, and at most of a level one
_SHARP = (0.8, 0.5)  # [rad] bend from which on it counts as sharp, and beyond that to count in full
_PAIRS = 3  # pairs of limbs on the ground from which on they are legs, however low they begin
_HINT = 0.05  # of the size: weight of the direction in which characters look by convention
_LEAST, _LEAST_CRAWLING = -0.4, -1.2  # score of a limb that names do not support; of one of many on the ground
_LEAST_ALONE, _ODD = -1.2, 4  # of a leg or arm where no other was found; bones that such a leg has more than


@dataclass(frozen=True)
class LimbGuess:
    """A pair of limbs: its kind ARM, LEG, WING or FIN, and the bones of one side with their mirror images.

    `bones` are first part, second part, of an animal's leg the parts below its hock or wrist, and the end unless there
    is none; `girdle` is above them. `score` is larger the surer it is.
    """

    kind: str
    bones: tuple[int, ...]
    images: tuple[int, ...]
    girdle: tuple[int, ...]
    girdle_images: tuple[int, ...]
    has_end: bool
    score: float


@dataclass(frozen=True)
class Assignment:
    """The limbs of a skeleton, legs first from hind to front, and its axes as unit vectors, armature space.

    `on_left` tells for each limb whether its `bones` are those of the left side.
    """

    limbs: tuple[LimbGuess, ...]
    on_left: tuple[bool, ...]
    up: np.ndarray
    front: np.ndarray


def assign_limbs(skeleton: Skeleton, up_hint: np.ndarray, front_hint: np.ndarray) -> Assignment | None:
    """Return the limbs of a symmetric skeleton; None without a plane of symmetry or without limbs.

    `up_hint` and `front_hint` are what is up in the world and where characters look there by convention, for skeletons
    whose limbs do not tell it.
    """
    if skeleton.symmetry is None:
        return None
    return _Guessing(skeleton, *skeleton.symmetry[:2], up_hint, front_hint).assignment()


class _Guessing:
    def __init__(
        self, skeleton: Skeleton, normal: np.ndarray, offset: float, up_hint: np.ndarray, front_hint: np.ndarray
    ) -> None:
        self.skeleton, self.normal, self.offset, self.front_hint = skeleton, normal, offset, front_hint
        self.clues = [clue_of(name) for name in skeleton.names]
        self.lines = [self._trimmed(line) for line in skeleton.lines if not self._is_rigging(line)]
        level = skeleton.heads - (skeleton.heads @ normal)[:, None] * normal
        self.size = float(np.linalg.norm(np.ptp(level, axis=0)))  # without the span of arms and wings
        self.up = self._up(up_hint)
        lows = [self._lowest(line) for line in self.lines if self._long(line)]
        self.ground = min(lows, default=0.0)
        self.crawls = sum(low - self.ground <= _GROUND * self.size for low in lows) >= _PAIRS
        self.front, self.hind = np.zeros(3), frozenset[int]()  # what is in front and the bones of hind legs, once known

    def _is_rigging(self, line: BranchLine) -> bool:
        """Tell whether half of the bones of a line or more are helpers or IK controls by their names."""
        return 2 * sum(self.clues[bone].is_helper for bone in line.bones) >= len(line.bones)

    def _trimmed(self, line: BranchLine) -> BranchLine:
        """Leave out a last bone that by its name only marks an end."""
        last = self.skeleton.names[line.bones[-1]]
        if len(line.bones) > 2 and not self.skeleton.children[line.bones[-1]] and marks_an_end(last):
            return BranchLine(line.bones[:-1], line.image[:-1], False)
        return line

    def _long(self, line: BranchLine) -> bool:
        least = _LEAST_LIMB if self._said(line) in {"ARM", "LEG"} else _LIMB
        return bool(self.skeleton.extents[line.bones[0]] > least * self.size)

    def _points(self, line: BranchLine) -> np.ndarray:
        """Return the joints of a line and its end (n + 1, 3)."""
        points = np.vstack([self.skeleton.heads[list(line.bones)], self.skeleton.end(line.bones[-1])])
        if len(line.bones) > 2 and not self.skeleton.children[line.bones[-1]]:  # the length of a last bone is anything
            link, before = points[-1] - points[-2], np.linalg.norm(points[-2] - points[-3])
            points[-1] = points[-2] + link * min(1.0, _LAST * before / max(float(np.linalg.norm(link)), 1e-9))
        return points

    def _drop(self, line: BranchLine) -> float:
        """Return how far a line goes down."""
        return float(self._points(line)[0] @ self.up) - self._lowest(line)

    def _lowest(self, line: BranchLine) -> float:
        return float((self._points(line) @ self.up).min())

    def _up(self, hint: np.ndarray) -> np.ndarray:
        """Return what is up: the hint where a branch stands on the ground then, else what the limbs say.

        That is the direction from their ends to where they branch off, square to the plane's normal: arms that are
        spread cancel in it, arms that hang agree with the legs.
        """
        legs = [line for line in self.lines if self._said(line) == "LEG"]
        lines = legs or [line for line in self.lines if self._long(line) and self._said(line) != "OTHER"]
        lowest, standing = min((float((self._points(line) @ hint).min()) for line in lines), default=0.0), 0
        for line in lines if abs(hint @ self.normal) < _ASKEW else ():
            points = self._points(line)
            heights = points @ hint
            level, drop = heights.min() - lowest, heights[0] - heights.min()
            descends = drop > max(
                (0.3 if legs else 1.0) * _DOWN * self.size, 0.5 * float(np.linalg.norm(points[0] - points[-1]))
            )
            standing += level < _LEVEL * self.size
            if (descends and level < 2.0 * _GROUND * self.size) or standing > 2:
                return np.asarray(hint)
        total = np.sum([self._points(line)[0] - self._points(line)[-1] for line in lines], axis=0) + np.zeros(3)
        total -= self.normal * (self.normal @ total)
        length = np.linalg.norm(total)
        return total / length if length > _LIMB * self.size else np.asarray(hint)

    def _said(self, line: BranchLine) -> str:
        """Return the kind that most of the names of a line and of what hangs on its end say; empty if they say none."""
        bones = [*line.bones, *self.skeleton.under(line.bones[-1])]
        votes = [self.clues[bone].kind for bone in bones if self.clues[bone].kind]
        return max(sorted(set(votes)), key=votes.count, default="")

    def assignment(self) -> Assignment | None:
        """Choose legs, then arms and other limbs, without sharing bones; None where there are none.

        What is in front is known from a first choice only; a second one takes the direction of bends into account.
        """
        chosen = self._chosen()
        if not chosen:
            return None
        front = self._front(chosen)
        if not self.crawls:
            self.front, self.hind = front, self._hind_of(chosen, front)
            chosen = self._chosen() or chosen
            front = self._front(chosen)
        along = {id(guess): float(self.skeleton.heads[guess.bones[0]] @ (front + self.up)) for guess in chosen}
        chosen.sort(key=lambda guess: (guess.kind, along[id(guess)]))
        left = np.cross(self.up, front)
        sides = [self._on_left(guess, left) for guess in chosen]
        return Assignment(tuple(chosen), tuple(sides), self.up, front)

    def _hind_of(self, chosen: Sequence[LimbGuess], front: np.ndarray) -> frozenset[int]:
        """Return the bones of the lines of the hindmost legs: those have knees, legs in front of them elbows."""
        legs = [guess for guess in chosen if guess.kind == "LEG"]
        least = _AS_LONG * max((self._length(guess) for guess in legs), default=np.inf)
        firsts = [guess.bones[0] for guess in legs]
        firsts += [line.bones[0] for line in self.lines if self._stands(line) and self._drop(line) > least]
        hind = min(firsts, key=lambda bone: float(self.skeleton.heads[bone] @ front), default=-1)
        return frozenset(bone for line in self.lines if hind in line.bones for bone in line.bones)

    def _chosen(self) -> list[LimbGuess]:
        found = [guess for line in self.lines if (guess := self._best(line)) is not None]
        lacking = {"ARM", "LEG"} - {guess.kind for guess in found}
        if lacking:  # what stands on the ground then are odd legs, and what ends in branches odd arms or legs
            for line in self.lines:
                guess = self._best(line, _LEAST_ALONE)
                if guess is not None and guess.kind in lacking:
                    is_odd_leg = guess.kind == "LEG" and len(line.bones) > _ODD
                    found += [guess] if line.ends_in_branches or is_odd_leg else []
        found.sort(key=lambda guess: (guess.kind != "LEG", -guess.score))
        leg = np.mean([self._length(guess) for guess in found if guess.kind == "LEG"] or [0.0])
        chosen: list[LimbGuess] = []
        taken: set[int] = set()
        for guess in found:
            if taken.isdisjoint(guess.bones) and taken.isdisjoint(guess.images) and self._fits(guess, chosen, leg):
                chosen.append(guess)
                taken.update(guess.bones, guess.images)
        return self._with_wings(chosen)

    def _with_wings(self, chosen: list[LimbGuess]) -> list[LimbGuess]:
        """Return the limbs with wings in place of arms that have feathers, or are long and on a level trunk."""
        legs = [(self._bearing(guess), guess.bones) for guess in chosen if guess.kind == "LEG"]
        found, wings = list[LimbGuess](), set[int]()
        for guess in chosen:
            if guess.kind == "ARM" and legs and self._agreed(guess) == 0:
                lines = [line for line in self.lines if guess.bones[0] in line.bones]
                line = max(lines, key=lambda line: len(line.bones))
                if flies(self.skeleton, self.up, line, self._bearing(guess), legs):
                    guess = LimbGuess("WING", line.bones, line.image, (), (), True, guess.score)
                    if line.bones[0] in wings:  # a feather
                        continue
                    wings.add(line.bones[0])
            found.append(guess)
        return found

    def _length(self, guess: LimbGuess) -> float:
        points = self.skeleton.heads[list(guess.bones)]
        return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())

    def _fits(self, guess: LimbGuess, chosen: Sequence[LimbGuess], leg: float) -> bool:
        """Tell whether a pair can be what it looks like beside those that were chosen: arms without words come once."""
        if guess.kind != "ARM" or self._agreed(guess) > 0:
            return True
        alone = not any(each.kind == "ARM" for each in chosen)
        return alone and _ARM * leg <= self._length(guess) <= _LONGEST_ARM * max(leg, _LIMB * self.size)

    def _agreed(self, guess: LimbGuess) -> int:
        """Count the bones of a limb whose names say its kind, minus those whose names say another."""
        kinds = [self.clues[bone].kind for bone in guess.bones]
        return sum((kind == guess.kind) - (kind not in {"", guess.kind}) for kind in kinds)

    def _on_left(self, guess: LimbGuess, left: np.ndarray) -> bool:
        sides = [self.clues[bone].side for bone in guess.bones]
        if sides.count("L") != sides.count("R"):
            return sides.count("L") > sides.count("R")
        across = self.skeleton.heads[list(guess.bones)].mean(0) - self.skeleton.heads[list(guess.images)].mean(0)
        return bool(across @ left > 0.0)

    def _best(self, line: BranchLine, least: float = _LEAST) -> LimbGuess | None:
        """Return the best candidate of a line, None if none scores as much as the `least`."""
        said = self._said(line)
        if said == "OTHER" or not self._long(line):
            return None
        stands = self._stands(line)
        kind = said or ("LEG" if stands and self._goes_down(line) else "ARM")
        if said in {"ARM", "LEG"} and stands and self._goes_down(line):  # a front leg is named like an arm in many an animal
            kind = "LEG"
        elif said == "LEG" and not stands and line.ends_in_branches:
            kind = "ARM"
        if kind in {"WING", "FIN"}:
            return LimbGuess(kind, line.bones, line.image, (), (), True, 1.0)
        sure = _KIND_WORD if said == kind else 0.0
        candidates = list(self._candidates(line, kind))
        if not candidates:
            return None
        score, picked = max(candidates, key=lambda each: each[0])
        least = _LEAST_CRAWLING if self.crawls else least
        heights = (self._points(line)[picked[0] :] @ self.up) / self.size
        is_up = heights[-1] - heights[0] < _LEVEL and heights.max() - heights[-1] > _FLAT
        plain = kind == "LEG" and len(heights) == 3 and is_up  # without a foot
        if score + sure < least or (
            picked[-1] == len(line.bones) and said != kind and not (line.ends_in_branches or plain)
        ):
            return None
        picked = self._with_bent(line, picked) if kind == "LEG" and not self.crawls else picked
        bones, images = ([each[n] for n in picked if n < len(line.bones)] for each in (line.bones, line.image))
        first, has_end = picked[0], picked[-1] < len(line.bones)
        girdle = line.bones[:first], line.image[:first]
        return LimbGuess(kind, tuple(bones), tuple(images), *girdle, has_end, score + sure)

    def _stands(self, line: BranchLine) -> bool:
        """Tell whether a line ends on the ground."""
        above = self._lowest(line) - self.ground
        stands = above <= _GROUND * self.size
        if len(line.bones) == 2:  # the foot, if there is one, is another branch
            stands |= above <= _SHIN * float(self._points(line)[0] @ self.up - self.ground)
        return stands

    def _goes_down(self, line: BranchLine) -> bool:
        return self.crawls or self._drop(line) > _DOWN * self.size

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
                            yield score + self._by_words(picked, clues, kind), picked

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
        heights = points @ self.up - self.ground
        high = heights / max(path[heights.argmin()] - path[first], 1e-9)
        parts = {*picked}
        if len(picked) == 4:  # a joint below the hock is one more part, unless it is as low as a foot's
            low = {n for n in range(picked[2] + 1, min(end, count)) if high[n] < _ANKLE_HIGH}
            parts |= {n for n in self._with_bent(line, picked) if n > picked[2]} - low
            score -= _LOW * len(low)
        score -= sum(self._skipped(place, tuple(sorted(parts)), bends, line, kind) for place in range(first + 1, min(end, count)))
        beside = abs(float(points[first] @ self.normal) - self.offset) / (path[end] - path[first])
        score -= _MIDDLE * max(1.0 - beside / _BESIDE, 0.0)
        longest = max(upper, lower) if kind == "LEG" else upper  # a thigh or upper arm of an animal may be short
        score -= _GIRDLE * max(path[first] / longest - 1.0, 0.0) + _NO_GIRDLE * (kind == "ARM" and first == 0)
        if kind == "LEG":
            score -= self._lying(points[hinge] - points[first], points[picked[2]] - points[hinge], first == 0)
            is_fore = bool(self.hind) and line.bones[0] not in self.hind
            score -= self._as_of_animals(picked, points, bends, float(abs(log(upper / lower))), is_fore)
        beyond = path[-1] - path[end]
        if end == count:
            score -= _NO_END * (2.0 if kind == "LEG" and count > 2 else 1.0)
        else:
            turns = kind == "LEG" and bends[end] > _ANKLE  # a foot may be of any length
            may_be_tip = end == count - 1 and not self.crawls  # a last bone may only show an end
            score += _TURN * turns * (0.5 if may_be_tip else 1.0)
            score -= max(beyond / lower - (1.8 if turns or len(picked) == 4 else 0.9), 0.0) + 0.5 * max(0.15 - beyond / lower, 0.0)
            score += _BRANCHES * (line.ends_in_branches and end == count - 1)
        if len(picked) == 4:
            said = self.clues[line.bones[picked[2]]].level
            score += self._hock(picked, points, bends, float(lower), "hock" in said.split("|") or bool(high[picked[2]] > _ANKLE_HIGH))
        ahead = self._ahead(points[[first, hinge, picked[2]]])
        score += _APEX * (ahead if line.bones[0] in self.hind else -ahead)
        return float(score - 1.0)

    def _ahead(self, points: np.ndarray) -> float:
        """Return how much the hinge of a limb of two parts (3, 3) points to the front, from -1 to 1."""
        upper, line = points[1] - points[0], points[2] - points[0]
        off = upper - line * float(upper @ line) / max(float(line @ line), 1e-12)
        return float(np.clip(off @ self.front / (_CLEAR * np.linalg.norm(line)), -1.0, 1.0))

    def _as_of_animals(
        self, picked: tuple[int, ...], points: np.ndarray, bends: np.ndarray, uneven: float, is_fore: bool
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
        height = float(points[end] @ self.up) - self.ground if end < len(down) else 0.0
        share = height / max(float(points[first] @ self.up) - self.ground, 1e-9)
        beyond = ahead[end:] if share > _ANKLE_HIGH else ahead[end:-1]  # a last bone may only show an end
        stands = end < len(down) and down[end] > _STANDS and beyond.any()
        return float(cost + _STEEP_END * stands + _GIRDLES * max(first - 1, 0))

    def _lying(self, upper: np.ndarray, lower: np.ndarray, may_be_hip: bool) -> float:
        """Return the cost of a hip bone taken for a thigh, and of a foot taken for a shin."""
        aside, level = (abs(part @ self.normal) / np.linalg.norm(part) for part in (upper, lower))
        steep, less = (-(part @ self.up) / np.linalg.norm(part) for part in (upper, lower))
        return float(_LYING * may_be_hip * max(aside - level, 0.0) + max(steep - max(less, 0.0) - _STEEP, 0.0))

    def _skipped(self, place: int, picked: tuple[int, ...], bends: np.ndarray, line: BranchLine, kind: str) -> float:
        """Return the cost of a bone inside a part of the limb: little for twist bones, which go on straight."""
        if place in picked:
            return 0.0
        name, before = (self.skeleton.names[line.bones[each]] for each in (place, place - 1))
        if is_same_part(before, name):
            return 0.0
        start = max(each for each in picked if each < place)
        bend = bends[start] if start > 0 else (0.8 if kind == "LEG" else 0.0)
        return float(_SKIPPED * np.clip(2.0 * (bends[place] + 0.03) / (bend + 1e-3), 0.25, 1.0) + bends[place])

    def _hock(self, picked: tuple[int, ...], points: np.ndarray, bends: np.ndarray, lower: float, sure: bool) -> float:
        """Score the part below a hock: it is long, and knee and hock bend against each other."""
        first, hinge, hock, end = picked
        part = np.linalg.norm(points[end] - points[hock])
        thigh, shin, cannon = (points[b] - points[a] for a, b in ((first, hinge), (hinge, hock), (hock, end)))
        against = np.cross(thigh, shin) @ np.cross(shin, cannon) < 0.0
        bent = min(bends[hinge], bends[hock]) > 0.15
        lies = np.clip(3.0 + 4.0 * (cannon @ self.up) / max(part, 1e-9), 0.0, 1.0)
        odd = max(0.3 - part / lower, 0.0) + max(part / lower - 1.2, 0.0)
        return float(_HOCK * (against and bent) - 0.25 - odd - max(lies, float(not sure)))

    def _by_words(self, picked: tuple[int, ...], clues: Sequence[Clue], kind: str) -> float:
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

    def _front(self, limbs: Sequence[LimbGuess]) -> np.ndarray:
        """Return the direction in which feet point, knees go, elbows do not, and the trunk leads from hind legs on."""
        total, skeleton = _HINT * self.size * self.front_hint, self.skeleton
        for guess in () if self.crawls else limbs:  # legs that spread point anywhere
            heads = skeleton.heads[list(guess.bones)]
            end = skeleton.end(guess.bones[-1]) - heads[-1] if guess.has_end else np.zeros(3)
            if guess.kind == "LEG":
                beyond = [skeleton.tails[bone] for bone in skeleton.under(guess.bones[-1])] if guess.has_end else []
                end = max((tip - heads[-1] for tip in beyond), key=np.linalg.norm, default=end)
                total += 3.0 * self._flat(end)
            if len(guess.bones) > 2 and guess.kind in {"ARM", "LEG"}:
                middle = 0.5 * (heads[0] + heads[2])
                total += (0.5 if guess.kind == "LEG" and len(guess.bones) == 3 else -0.3) * self._flat(
                    heads[1] - middle
                )
        bearing = max((self._bearing(guess) for guess in limbs), key=lambda bone: skeleton.depths[bone])
        total += self._flat(skeleton.heads[bearing] - skeleton.heads[self._first_of_trunk(bearing)])
        legs = [guess for guess in limbs if guess.kind == "LEG"]
        if legs:
            depths = [int(skeleton.depths[guess.bones[0]]) - len(guess.girdle) for guess in limbs]
            least = min(depth for guess, depth in zip(limbs, depths, strict=True) if guess.kind == "LEG")
            roots = [skeleton.heads[guess.bones[0]] for guess in limbs]
            hind = np.mean([root for root, depth in zip(roots, depths, strict=True) if depth == least], axis=0)
            total += 2.0 * self._flat(np.sum(roots - hind, axis=0))
        for side in ("L", "R"):
            beside = [
                skeleton.heads[n] for n, clue in enumerate(self.clues) if clue.side == side and not clue.is_helper
            ]
            if beside:
                across = np.mean(beside, axis=0) @ self.normal - np.mean(skeleton.heads, axis=0) @ self.normal
                left = self.normal * np.sign(across) * (1.0 if side == "L" else -1.0)
                total = 1e-3 * total + np.cross(left, self.up)  # names of sides are sure
        flat = self._flat(total)
        length = np.linalg.norm(flat)
        if length > 1e-6:
            return np.asarray(flat / length)
        front = np.cross(self.normal, self.up)
        return np.asarray(front if front @ self.front_hint >= 0.0 else -front)

    def _bearing(self, guess: LimbGuess) -> int:
        """Return the bone on which a limb is; its own first one if that is a root."""
        first = (*guess.girdle, *guess.bones)[0]
        above = self.skeleton.parents[first]
        return above if above >= 0 else first

    def _first_of_trunk(self, bone: int) -> int:
        """Return the uppermost bone above one that is not a root on the ground."""
        while (above := self.skeleton.parents[bone]) >= 0 and (
            self.skeleton.parents[above] >= 0 or self.skeleton.heads[above] @ self.up - self.ground > _DOWN * self.size
        ):
            bone = above
        return bone

    def _flat(self, way: np.ndarray) -> np.ndarray:
        """Return the part of a direction that is level and in the plane of symmetry."""
        flat = way - self.up * (self.up @ way)
        return np.asarray(flat - self.normal * (self.normal @ flat))
