# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs of a skeleton as one assignment, scored by geometry and by the words in the names of bones.

Each pair of branches gives many candidates: which of its bones is the first of the limb, which the elbow or knee, which
the hock of an animal's leg, and which hand or foot. A candidate's score adds what its lengths, bends and place say, and
what the names say where they say anything. The best candidates that share no bones are the limbs. They tell what is in
front, and are chosen again with that: hind legs have knees, which point forwards, legs in front of them elbows, which
point backwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .limb_scores import LimbScores
from .names import clue_of, marks_an_end
from .skeleton import BranchLine, Skeleton, flies

_LIMB, _LEAST_SAID = 0.1, 0.05  # of the size: least length of a limb from its girdle to its end; of one by its name
_ARM = 0.3  # of the mean leg: least length of an arm; and largest, above which a pair is no arm
_LONGEST_ARM = 1.9
_GROUND, _DOWN = 0.05, 0.1  # of the size: height of what stands on the ground, and least height of a leg
_LEVEL = 0.03  # of the size: difference of the heights of feet on level ground
_FLAT = 1e-3  # of the size: height of what lies on the ground
_ASKEW = 0.3  # cosine of the angle between up and the plane's normal from which on a skeleton is askew
_KIND_WORD = 1.5  # weight of names that say what the shape does
_AS_LONG = 0.5  # of a leg's length: least height of another one that may be a hind leg
_SHIN = 0.25  # of its height: how far above the ground a leg without a foot may end
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


class _Guessing(LimbScores):
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
        self._kept: dict[object, dict[tuple[int, ...], float]] = {}
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
        least = _LEAST_SAID if self._said(line) in {"ARM", "LEG"} else _LIMB
        return bool(self.skeleton.extents[line.bones[0]] > least * self.size)

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
        if said == "ARM" and stands and self._goes_down(line):  # a front leg is named like an arm in many an animal
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
        if self.crawls and kind == "LEG":
            score, picked = self._alike(line)
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

    def _alike(self, line: BranchLine) -> tuple[float, tuple[int, ...]]:
        """Return the mean score and the places of the parts of a crawling leg and of all that have as many bones."""
        legs = [each for each in self.lines if self._long(each) and self._stands(each) and self._said(each) != "OTHER"]
        alike = {id(each): each for each in (line, *legs) if len(each.bones) == len(line.bones)}.values()
        scores = [self._scores_of_leg(each) for each in alike]
        shared = set.intersection(*map(set, scores))
        return max(
            ((sum(each[picked] for each in scores) / len(scores), picked) for picked in shared), default=(-1e9, ())
        )

    def _scores_of_leg(self, line: BranchLine) -> dict[tuple[int, ...], float]:
        """Return the scores of a line's candidates as a leg by their places; each leg of a crawler asks for all."""
        asked = line.bones, self.front.tobytes(), self.hind  # that candidates are judged by
        if asked not in self._kept:
            self._kept[asked] = {picked: score for score, picked in self._candidates(line, "LEG")}
        return self._kept[asked]

    def _stands(self, line: BranchLine) -> bool:
        """Tell whether a line ends on the ground."""
        above = self._lowest(line) - self.ground
        stands = above <= _GROUND * self.size
        if len(line.bones) == 2:  # the foot, if there is one, is another branch
            stands |= above <= _SHIN * float(self._points(line)[0] @ self.up - self.ground)
        return stands

    def _goes_down(self, line: BranchLine) -> bool:
        return self.crawls or self._drop(line) > _DOWN * self.size

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
