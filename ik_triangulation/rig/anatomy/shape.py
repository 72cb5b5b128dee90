# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of the body by shape: where the bones are, how long they are and what branches off, whatever their names are.

A body is symmetric to the YZ plane, Z is up and its left side has positive X. Arms and legs are pairs of branches that
have two long bones and an end; legs are the ones that go down to the ground.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import dist

from .body import Parts, RestBones, RestPoint, children, parents
from .names import BodyPart

_MIRRORED = 0.01  # of the body's size: deviation up to which bones are mirror images
_LIMB = 0.15  # of the body's size: least length of the two long bones
_ALIKE = 0.5  # least ratio of the lengths of the two long bones
_GROUND = 0.2  # of the body's size: height of ankles above the lowest bone
_TAIL = 3  # least number of bones
_NECK = 8  # largest number of bones of neck and head
_FINGER = 3  # bones
_GAP = 0.5  # of a bone's length: largest distance from its end to the next bone of a neck or tail


@dataclass(frozen=True)
class _Branch:
    """A branch with two long bones: the bone that it is on, its bones down to the end, and the number of the first."""

    on: str
    line: list[str]
    first: int
    side: str


def parts_by_shape(bones: RestBones) -> Parts:
    """Return the parts of the bones of a symmetric body; empty if there are no arms and no legs."""
    body = _Shape(bones)
    branches = list(body.branches())
    legs = [branch for branch in branches if body.stands(branch)]
    arms = [branch for branch in branches if branch not in legs]
    parts: Parts = {}
    for branch in legs:
        body.name_limb(parts, branch, ("thigh", "shin", "foot"), "toe")
    for branch in arms:
        body.name_limb(parts, branch, ("upper_arm", "forearm", "hand"), "palm")
    if arms:
        body.name_middle(parts, arms[0].on, legs[0].on if legs else None)
    return parts


class _Shape:
    def __init__(self, bones: RestBones) -> None:
        self._bones, self._below = bones, children(bones)
        self._number = {name: 1 + sum(1 for _ in self._under(name)) for name in bones}
        ends = [place for bone in bones.values() for place in (bone.head, bone.tail)]
        axes = list(zip(*ends, strict=True))
        self._size = max((max(axis) - min(axis) for axis in axes), default=0.0)
        self._ground = min(axes[2], default=0.0) if axes else 0.0
        self._paired = self._pairs()

    def _under(self, name: str) -> Iterator[str]:
        for each in self._below[name]:
            yield each
            yield from self._under(each)

    def _pairs(self) -> set[str]:
        """Return the names of the bones that have a mirror image."""
        alike = defaultdict(list)
        for name in self._bones:
            alike[sum(1 for _ in parents(self._bones, name)), self._number[name]].append(name)
        near, paired = _MIRRORED * self._size, set()
        for names in alike.values():
            for name in names:
                bone = self._bones[name]
                if abs(bone.head[0] + bone.tail[0]) <= 2.0 * near:
                    continue
                head, tail = _mirror(bone.head), _mirror(bone.tail)
                others = (self._bones[other] for other in names if other != name)
                if any(dist(o.head, head) <= near and dist(o.tail, tail) <= near for o in others):
                    paired.add(name)
        return paired

    def branches(self) -> Iterator[_Branch]:
        """Yield the paired branches off the middle of the body that have two long bones and an end."""
        for name in self._bones:
            on = self._bones[name].parent
            if name not in self._paired or on is None or on in self._paired:
                continue
            line = self._line(name)
            lengths = [self._bones[each].length for each in line]
            pairs = [(min(lengths[n : n + 2]), n) for n in range(len(line) - 2)]
            shorter, first = max(pairs, default=(0.0, 0))
            longer = max(lengths[first : first + 2], default=0.0)
            if shorter >= _ALIKE * longer and shorter + longer >= _LIMB * self._size > 0.0:
                yield _Branch(on, line, first, "L" if self._bones[name].tail[0] > 0.0 else "R")

    def _line(self, name: str) -> list[str]:
        """Return the bones from `name` down to the one that branches, past bones beside that nothing hangs on."""
        line = [name]
        while self._below[line[-1]]:
            on = [each for each in self._below[line[-1]] if self._below[each]]
            lower = on or self._below[line[-1]]
            if len(lower) > 1:
                break
            line.append(lower[0])
        return line

    def stands(self, branch: _Branch) -> bool:
        """Tell whether a branch goes down to the ground."""
        hip, ankle = (self._bones[branch.line[branch.first + n]].head for n in (0, 2))
        return ankle[2] - self._ground <= _GROUND * self._size and hip[2] - ankle[2] > _LIMB * self._size

    def name_limb(self, parts: Parts, branch: _Branch, named: Sequence[str], beyond: str) -> None:
        """Name the long bones and the end of a branch, what is before and what is beyond."""
        line, first, side = branch.line, branch.first, branch.side
        if named[0] == "upper_arm":
            parts |= {name: BodyPart("clavicle", side) for name in line[:first]}
        parts |= {line[first + n]: BodyPart(part, side) for n, part in enumerate(named)}
        end = line[first + len(named) - 1]
        parts |= {name: BodyPart(beyond, side) for name in self._under(end)}
        if beyond == "palm":
            for number, tip in enumerate(each for each in self._under(end) if not self._below[each]):
                self._name_finger(parts, tip, BodyPart("finger", side, finger=f"finger {number}"), end)

    def _name_finger(self, parts: Parts, tip: str, part: BodyPart, hand: str) -> None:
        line = [tip]
        for above in parents(self._bones, tip):
            if above == hand or len(line) == _FINGER or len(self._below[above]) > 1:
                break
            line.append(above)
        if len(line) > 1:
            parts |= dict.fromkeys(line, part)

    def name_middle(self, parts: Parts, chest: str, hips: str | None) -> None:
        """Name spine, neck and head, and a tail."""
        over = [chest, *parents(self._bones, chest)]
        if hips in over:
            parts |= {name: BodyPart("spine") for name in over[: over.index(hips)]}
            parts |= {name: BodyPart("hips") for name in over[over.index(hips) :]}
            for start in self._middle(hips):
                line = self._alone(start)
                if start not in over and len(line) >= _TAIL and not self._below[line[-1]]:
                    parts |= {name: BodyPart("tail") for name in line}
        for start in self._middle(chest):
            line = self._alone(start)
            if self._bones[line[-1]].tail[2] > self._bones[chest].tail[2] and len(line) <= _NECK:
                parts |= {name: BodyPart("neck") for name in line[:-1]} | {line[-1]: BodyPart("head")}

    def _middle(self, name: str) -> list[str]:
        return [each for each in self._below[name] if each not in self._paired]

    def _alone(self, name: str) -> list[str]:
        """Return the bones in the middle from `name` on, each at the end of the one before, down to a branch."""
        line = [name]
        while len(self._below[line[-1]]) == 1 and self._below[line[-1]][0] not in self._paired:
            last, lower = self._bones[line[-1]], self._below[line[-1]][0]
            if dist(last.tail, self._bones[lower].head) > _GAP * last.length:
                break
            line.append(lower)
        return line


def _mirror(place: RestPoint) -> RestPoint:
    return -place[0], place[1], place[2]
