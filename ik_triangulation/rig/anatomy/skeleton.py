# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a skeleton at rest: their parts by name, their joints, their plane of symmetry, and lines of bones.

Nothing is assumed about axes, scale or names. Bones need not point to the next joint: a bone counts as the line from
its head to the head of the child that most of the rest hangs on. The arms of an animal whose trunk is horizontal may be
wings, which are known by their shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import dist
from typing import NamedTuple

import numpy as np

from .names import BESIDE, BodyPart, part_by_name

RestPoint = tuple[float, float, float]
Parts = dict[str, BodyPart]
_ROWS = ("clavicle", "upper_arm", "forearm", "hand"), ("hip", "thigh", "shin", "foot", "toe")  # of limbs
ARM_ROOTS, LEG_ROOTS = {"clavicle", "upper_arm"}, {"thigh"}

_MIRRORED = 0.02  # of the size: distance up to which two joints are mirror images
_OFF = 0.008  # of the size: distance from the plane of symmetry up to which a joint without an image is in the middle
_BESIDE = 0.25  # of a branch's extent: distance from the plane from which on it is on one side, however small it is
_APART = 0.02  # of the size: least distance of two joints that may tell the plane
_TRIED = 60  # planes of symmetry
_LONG = 0.8  # of the line so far: least extent of branches that are followed one by one
_FEWEST = 0.3  # of the joints: least share that has an image, or lies in the plane
_MAIN = 0.6  # of the extent of the largest child: a second one above that ends a line

Points = np.ndarray  # (n, 3) [Blender units], armature space


@dataclass(frozen=True)
class RestBone:
    """A bone at rest: its parent's name, None for a root, and head and tail in armature space [Blender units]."""

    parent: str | None
    head: RestPoint
    tail: RestPoint

    @property
    def length(self) -> float:
        return sum((b - a) ** 2 for a, b in zip(self.head, self.tail, strict=True)) ** 0.5


RestBones = Mapping[str, RestBone]


def parents(bones: RestBones, name: str) -> Iterator[str]:
    """Yield the names of the bones above `name`, the nearest first."""
    above = bones[name].parent
    while above is not None:
        yield above
        above = bones[above].parent


def children(bones: RestBones) -> dict[str, list[str]]:
    """Return the names of the bones right below each bone."""
    found: dict[str, list[str]] = {name: [] for name in bones}
    for name, bone in bones.items():
        if bone.parent is not None:
            found[bone.parent].append(name)
    return found


def parts_by_name(bones: RestBones) -> Parts:
    """Return the parts of all bones whose names tell one; ambiguous names are decided by the bones around them."""
    parts = {name: part for name in bones if (part := part_by_name(name)) is not None}
    below = children(bones)
    for name, part in list(parts.items()):
        if "|" in part.part:
            parts[name] = replace(part, part=_decided(parts, bones, below, name))
    _divide_spine(parts, bones)
    _name_by_heads(parts, bones)
    return parts


def _decided(parts: Parts, bones: RestBones, below: Mapping[str, Sequence[str]], name: str) -> str:
    """Return the part that an ambiguous name tells among the others of its side; "hip" for a bone above a thigh."""
    part, side = parts[name].part, parts[name].side
    above = [parts[each].part for each in parents(bones, name) if each in parts and parts[each].side == side]
    under = _first_below(parts, below, name)
    if part == "clavicle|upper_arm":
        return "upper_arm" if "forearm" in under and "clavicle|upper_arm" not in under else "clavicle"
    if part == "thigh|shin":
        return "shin" if "thigh" in above or "hip|thigh" in above else "thigh"
    return "hip" if "thigh" in under else "thigh"


def _first_below(parts: Parts, below: Mapping[str, Sequence[str]], name: str) -> set[str]:
    """Return the parts of the first bones of the same side below, past bones without one."""
    found, waiting = set(), list(below[name])
    while waiting:
        each = waiting.pop()
        part = parts.get(each)
        if part is None or part.role == BESIDE:
            waiting += below[each]
        elif part.side == parts[name].side:
            found.add(part.part)
    return found


def _name_by_heads(parts: Parts, bones: RestBones) -> None:
    """Move the parts of limbs whose names are those of the joints at the bones' tails to the bones that they are.

    Then the first ones of both sides begin at one place, as hips lead to both, and the next two are the long ones.
    """
    for girdle, *told in _ROWS:
        lines = {part.side: line for end, part in parts.items() if (line := _line_of(told[:3], end, parts, bones))}
        if not {"L", "R"} <= lines.keys():
            continue
        upper, lower, end = (bones[name].length for name in lines["L"])
        apart = dist(*(bones[lines[side][0]].head for side in "LR"))
        if apart < _MIRRORED * lower and min(lower, end) * max(upper, lower) > max(lower, end) * min(upper, lower):
            moved = dict(zip(told, (girdle, *told), strict=False))
            for name, part in list(parts.items()):
                if part.part in moved and part.side:
                    parts[name] = replace(part, part=moved[part.part])


def _line_of(told: Sequence[str], end: str, parts: Parts, bones: RestBones) -> list[str]:
    """Return the bones of these parts, one after the other, the last of which is `end`; empty if they are others."""
    line = [end, *parents(bones, end)][: len(told)][::-1]
    return line if [parts[name].part for name in line if name in parts] == list(told) else []


def _divide_spine(parts: Parts, bones: RestBones) -> None:
    """Tell hips, neck and tail from the spine where all are called the same, by the bones that arms and legs are on."""
    over_arms, over_legs = (
        {above for name, part in parts.items() if part.part in roots for above in parents(bones, name)}
        for roots in (ARM_ROOTS, LEG_ROOTS)
    )
    if not over_legs:
        return
    for name, part in list(parts.items()):
        if part.part == "hips" and name in over_arms - over_legs:  # a torso above hips
            parts[name] = replace(part, part="trunk")
        if part.part not in {"spine", "trunk"}:
            continue
        if name in over_legs:
            parts[name] = replace(part, part="hips")
        elif part.part == "spine" and name not in over_arms:
            on = next((above for above in parents(bones, name) if above in over_arms), None)
            if on in parts and parts[on].role == part.role:
                parts[name] = replace(part, part="tail" if on in over_legs else "neck")
    numbered = [name for name, part in parts.items() if part.part == "neck" and not _named_neck(name)]
    on_neck = {bones[name].parent for name in numbered}
    headed = {above for name, part in parts.items() if part.part == "head" for above in parents(bones, name)}
    for name in numbered:
        if name not in on_neck and name not in headed:
            parts[name] = replace(parts[name], part="head")


def _named_neck(name: str) -> bool:
    told = part_by_name(name)
    return told is not None and told.part == "neck"


class BranchLine(NamedTuple):
    """A line of bones off the middle and its mirror image: indices of bones from the middle outwards.

    `ends_in_branches` tells that several branches of about one size follow, as fingers follow a hand.
    """

    bones: tuple[int, ...]
    image: tuple[int, ...]
    ends_in_branches: bool


class Skeleton:
    """Joints of a skeleton, parents first. Distances are in units of its size, the diagonal of its bounding box."""

    def __init__(self, bones: RestBones) -> None:
        self.names = _parents_first(bones)
        index = {name: number for number, name in enumerate(self.names)}
        self.parents = [index.get(bones[name].parent or "", -1) for name in self.names]
        self.children: list[list[int]] = [[] for _ in self.names]
        for number, parent in enumerate(self.parents):
            if parent >= 0:
                self.children[parent].append(number)
        heads = np.array([bones[name].head for name in self.names], dtype=float).reshape(-1, 3)
        tails = np.array([bones[name].tail for name in self.names], dtype=float).reshape(-1, 3)
        corners = np.concatenate([heads, tails]) if len(heads) else np.zeros((1, 3))
        self.size = float(np.linalg.norm(np.ptp(corners, axis=0)))
        scale = 1.0 / self.size if self.size > 0.0 else 1.0
        self.heads: Points = heads * scale
        self.tails: Points = tails * scale
        self.depths = np.zeros(len(heads), dtype=int)
        for number, parent in enumerate(self.parents):
            self.depths[number] = self.depths[parent] + 1 if parent >= 0 else 0
        under = [[number, *self.under(number)] for number in range(len(self.names))]
        self.extents = self._extents()
        self.centres: Points = np.array([self.heads[each].mean(axis=0) for each in under]).reshape(-1, 3)

    def _extents(self) -> np.ndarray:
        """Return the distance from each bone's head to the farthest joint or end below it (n,)."""
        extents = np.linalg.norm(self.tails - self.heads, axis=1)
        for number in range(len(self.names)):
            below = list(self.under(number))
            if below:
                extents[number] = np.linalg.norm(self.heads[below] - self.heads[number], axis=1).max()
        return extents

    def end(self, bone: int) -> np.ndarray:
        """Return where a bone ends: at the head of its largest child, else at its tail."""
        below = self.children[bone]
        main = max(below, key=lambda each: self.extents[each], default=None)
        if main is None or np.linalg.norm(self.heads[main] - self.heads[bone]) < 1e-6:
            return np.asarray(self.tails[bone])
        return np.asarray(self.heads[main])

    def above(self, bone: int) -> Iterator[int]:
        """Yield all bones above a bone, the nearest first."""
        while (bone := self.parents[bone]) >= 0:
            yield bone

    def under(self, bone: int) -> Iterator[int]:
        """Yield all bones below a bone."""
        for each in self.children[bone]:
            yield each
            yield from self.under(each)

    @cached_property
    def symmetry(self) -> tuple[np.ndarray, float, list[int]] | None:
        """The plane of symmetry as unit normal and offset, and the mirror image of each bone, -1 without; None if none.

        Of the planes between two joints of one depth the one is taken that most joints have an image in.
        """
        if self.size <= 0.0 or len(self.names) < 3:
            return None
        alike = self.depths[:, None] == self.depths
        apart = np.linalg.norm(self.heads[:, None] - self.heads, axis=2)
        rows, columns = np.nonzero(np.triu(alike & (apart > _APART), 1))
        order = np.argsort(-np.minimum(self.extents[rows], self.extents[columns]), kind="stable")
        best, found = 0.0, None
        for pick in order[:_TRIED]:
            one, other = self.heads[rows[pick]], self.heads[columns[pick]]
            normal = (one - other) / np.linalg.norm(one - other)
            images = self._images(normal, float(normal @ (one + other)) / 2.0, alike)
            score = self._matched(images)
            if score > best + 1e-9:
                best, found = score, images
        if found is None or best < _FEWEST * len(self.names):
            return None
        normal, offset = self._plane(found)
        return normal, offset, self._images(normal, offset, alike)

    def _images(self, normal: np.ndarray, offset: float, alike: np.ndarray) -> list[int]:
        """Return the bone of the same depth that is nearest to the mirror image of each, -1 where none is near."""
        away, apart = (
            _distances(at - 2.0 * (at @ normal - offset)[:, None] * normal, at) for at in (self.heads, self.centres)
        )
        away[~alike] = np.inf
        rows, parents = away + 0.5 * apart, np.array(self.parents)
        images: list[int] = []
        for number, parent in enumerate(self.parents):
            row = rows[number]
            if parent >= 0 and images[parent] >= 0:  # of two at one place the one whose parents are images
                row += _MIRRORED * (parents != images[parent])
            nearest = int(row.argmin())
            images.append(nearest if away[number, nearest] < _MIRRORED else -1)
        return images

    def _matched(self, images: list[int]) -> float:
        """Count the joints with an image; one that is its own image counts a quarter, as a line lies in many planes."""
        return sum(0.25 if image == number else 1.0 for number, image in enumerate(images) if image >= 0)

    def _plane(self, images: list[int]) -> tuple[np.ndarray, float]:
        """Fit the plane to all pairs of images."""
        pairs = [(number, image) for number, image in enumerate(images) if image >= 0 and image != number]
        one, other = (self.heads[[pair[place] for pair in pairs]] for place in (0, 1))
        spans = one - other
        normal = np.linalg.svd(spans, full_matrices=False)[2][0]
        return normal, float(np.median((one + other) @ normal)) / 2.0

    @cached_property
    def lines(self) -> list[BranchLine]:
        """Lines of bones that branch off the middle in pairs, each pair once, on the positive side of the normal."""
        if self.symmetry is None:
            return []
        normal, offset, images = self.symmetry
        beside = self.heads @ normal - offset
        paired = [image >= 0 and image != n and abs(beside[n]) > _OFF / 4.0 for n, image in enumerate(images)]
        found = []
        for bone in range(len(self.names)):
            above = self.parents[bone]
            # The first bone of a branch may begin in the middle, as clavicles do: the next one decides.
            if not self._sided(bone, paired, beside) or (above >= 0 and self._sided(above, paired, beside)):
                continue
            image = images[bone] if paired[bone] else self._sibling(bone, images)
            if image >= 0 and beside[self._deciding(bone, paired)] > 0.0:
                found += self._lines_from((bone,), (image,), images)
        return found

    def _deciding(self, bone: int, paired: list[bool]) -> int:
        """Return the first bone from here on that has an image."""
        while not paired[bone]:
            bone = max(self.children[bone], key=lambda each: self.extents[each])
        return bone

    def _sided(self, bone: int, paired: list[bool], beside: np.ndarray) -> bool:
        """Tell whether a bone belongs to one side: it has an image, or all that hangs on it is so far `beside`."""
        if paired[bone]:
            return True
        off = beside[[bone, *self.under(bone)]]
        most = float(np.abs(off).max())
        far = most > 4.0 * _OFF or most > max(_OFF, _BESIDE * float(self.extents[bone]))
        one_sided = off.min() > -_OFF or off.max() < _OFF
        return bool(far and one_sided and any(self._sided(each, paired, beside) for each in self.children[bone]))

    def _sibling(self, bone: int, images: list[int]) -> int:
        """Return the bone whose largest child is the image of this one's."""
        main = max(self.children[bone], key=lambda each: self.extents[each])
        image = images[main] if images[main] != main else -1
        return self.parents[image] if image >= 0 and self.parents[image] != bone else -1

    def _lines_from(self, line: tuple[int, ...], mirrored: tuple[int, ...], images: list[int]) -> list[BranchLine]:
        """Follow the largest child outwards; where long branches of about one size begin, follow each of them.

        A line ends at short branches of about one size, such as fingers.
        """
        while True:
            below = sorted(self.children[line[-1]], key=lambda each: -self.extents[each])
            large = [each for each in below if self.extents[each] > _MAIN * self.extents[below[0]]]
            branches = [each for each in large if self.children[each]]
            if len(branches) > 1 and self.extents[branches[1]] < _LONG * self._span(line):
                return [BranchLine(line, mirrored, True)]
            ways = [(each, self._image_below(each, mirrored[-1], images)) for each in (branches or below[:1])]
            ways = [(each, image) for each, image in ways if image >= 0]
            if len(ways) != 1:
                more = [self._lines_from((*line, each), (*mirrored, image), images) for each, image in ways]
                return [found for lines in more for found in lines] or [BranchLine(line, mirrored, False)]
            line, mirrored = (*line, ways[0][0]), (*mirrored, ways[0][1])

    def _span(self, line: tuple[int, ...]) -> float:
        """Return the length of a line up to where the bones below its last one begin."""
        points = np.vstack([self.heads[list(line)], self.end(line[-1])])
        return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())

    def _image_below(self, bone: int, parent: int, images: list[int]) -> int:
        """Return the image of a bone among the children of its parent's image."""
        below = self.children[parent]
        return images[bone] if images[bone] in below else (below[0] if len(below) == 1 else -1)


def _parents_first(bones: RestBones) -> list[str]:
    """Return the names of the bones, each after its parent; those without a known parent are roots."""
    below: dict[str | None, list[str]] = {None: []}
    for name, bone in bones.items():
        below.setdefault(bone.parent if bone.parent in bones else None, []).append(name)
    order, waiting = [], below[None][::-1]
    while waiting:
        name = waiting.pop()
        order.append(name)
        waiting += below.get(name, [])[::-1]
    return order


def _distances(one: Points, other: Points) -> np.ndarray:
    """Return the distances (n, m) of points (n, 3) and (m, 3)."""
    between = one[:, None] - other
    return np.asarray(np.sqrt(np.einsum("ijk,ijk->ij", between, between)))


_FEATHER, _FEATHERED, _HAND = 0.15, 2, 0.5  # of an arm or wing: feathers, bones that bear some, largest hand
_LEAST = 0.75  # of the distance from hip to foot: extent of a wing without feathers
_LEVEL = 0.7  # sine of the slope of a trunk that lies


def flies(
    skeleton: Skeleton, up: np.ndarray, line: BranchLine, on: int, legs: Sequence[tuple[int, Sequence[int]]]
) -> bool:
    """Tell whether a line of bones on the bone `on` of a level trunk is a wing: feathered, or long without a hand.

    `legs` are those of the animal, each with the bone on which it is. Feathers branch off along a wing, fingers at its
    end.
    """
    heads, extents = skeleton.heads, skeleton.extents
    depth = {bone: place for place, bone in enumerate([on, *skeleton.above(on)])}
    hips = min((bearing for bearing, _ in legs), key=lambda bone: depth.get(bone, len(heads)))
    trunk = heads[on] - heads[hips]
    if abs(trunk @ up) > _LEVEL * np.linalg.norm(trunk):
        return False
    beside = [
        max((extents[each] for each in skeleton.children[bone] if each not in line.bones), default=0.0)
        for bone in line.bones[:-2]
    ]
    whole = extents[line.bones[0]]
    leg = max(float(np.linalg.norm(heads[bones[-1]] - heads[bones[0]])) for _, bones in legs)
    has_hand = line.ends_in_branches and extents[line.bones[-1]] < _HAND * whole
    feathers = sum(each > _FEATHER * whole for each in beside)
    return bool(feathers >= _FEATHERED or (whole > _LEAST * leg and not has_hand))
