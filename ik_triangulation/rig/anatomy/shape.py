# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of the body by shape, helped by single words of names: of any skeleton that is symmetric, whatever its axes.

Arms and legs, wings and fins are those of the assignment (limb_guess.py); the trunk is what they branch off.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .limb_guess import Assignment, LimbGuess, assign_limbs
from .names import BodyPart
from .skeleton import Parts, RestBones, Skeleton

_TAIL = 3  # least number of bones
_NECK = 8  # largest number of bones of neck and head
_FINGER = 3  # bones
_GAP = 0.5  # of a bone's length: largest distance from its end to the next bone of a neck or tail
UP, FRONT = (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)  # of characters in Blender
_PARTS = {
    "ARM": ("upper_arm", "forearm", "hand"),
    "LEG": ("thigh", "shin", "foot"),
    "WING": ("wing",),
    "FIN": ("fin",),
}
_GIRDLES, _BEYOND = {"ARM": "clavicle", "LEG": "hip"}, {"ARM": "palm", "LEG": "toe"}


def parts_by_shape(bones: RestBones, up: Sequence[float] = UP, front: Sequence[float] = FRONT) -> Parts:
    """Return the parts of the bones of a symmetric body; empty if there are no limbs.

    `up` and `front` are the directions in which characters stand and look by convention, armature space; they count
    only where the skeleton itself does not tell.
    """
    skeleton = Skeleton(bones)
    assignment = assign_limbs(skeleton, np.array(up), np.array(front))
    return _Naming(skeleton, assignment).parts() if assignment is not None else {}


class _Naming:
    def __init__(self, skeleton: Skeleton, assignment: Assignment) -> None:
        self.skeleton, self.assignment = skeleton, assignment
        assert skeleton.symmetry is not None  # otherwise nothing is assigned
        self.images, self.found = skeleton.symmetry[2], dict[int, BodyPart]()
        self.beside = {
            bone
            for guess in assignment.limbs
            for bone in (*guess.bones, *guess.images, *guess.girdle, *guess.girdle_images)
        }

    def parts(self) -> Parts:
        """Name the bones of all limbs, and of the trunk between them."""
        pairs: dict[str, int] = {}
        for guess, on_left in zip(self.assignment.limbs, self.assignment.on_left, strict=True):
            pairs[guess.kind] = pairs.get(guess.kind, 0) + 1
            pair = str(pairs[guess.kind]) if pairs[guess.kind] > 1 else ""
            for bones, girdle, left in (
                (guess.bones, guess.girdle, on_left),
                (guess.images, guess.girdle_images, not on_left),
            ):
                self._name_limb(guess, bones, girdle, "L" if left else "R", pair)
        self._name_middle()
        return {self.skeleton.names[bone]: part for bone, part in self.found.items()}

    def _name_limb(self, guess: LimbGuess, bones: Sequence[int], girdle: Sequence[int], side: str, pair: str) -> None:
        """Name the parts of a limb, the girdle before it and what is beyond its end."""
        kind = guess.kind
        named = _PARTS[kind] if kind in _GIRDLES else _PARTS[kind] * len(bones)
        if kind == "LEG":
            named = (*named[:2], *["hock"] * (len(bones) - 3), named[2])
        self.found |= {bone: BodyPart(part, side, pair=pair) for bone, part in zip(bones, named, strict=False)}
        if kind not in _GIRDLES:
            return
        self.found |= {bone: BodyPart(_GIRDLES[kind], side, pair=pair) for bone in girdle if bone not in self.found}
        if guess.has_end:
            self.found |= {bone: BodyPart(_BEYOND[kind], side, pair=pair) for bone in self.skeleton.under(bones[-1])}
        if guess.has_end and kind == "ARM":
            tips = [bone for bone in self.skeleton.under(bones[-1]) if not self.skeleton.children[bone]]
            for number, tip in enumerate(tips):
                self._name_finger(tip, BodyPart("finger", side, finger=f"finger {number}"), bones[-1])

    def _name_finger(self, tip: int, part: BodyPart, hand: int) -> None:
        line, above = [tip], self.skeleton.parents[tip]
        while above != hand and len(line) < _FINGER and len(self.skeleton.children[above]) < 2:
            line.append(above)
            above = self.skeleton.parents[above]
        if len(line) > 1:
            self.found |= dict.fromkeys(line, part)

    def _name_middle(self) -> None:
        """Name spine, neck and head, and a tail."""
        roots = {kind: [self._on(guess) for guess in self.assignment.limbs if guess.kind == kind] for kind in _PARTS}
        front = roots["ARM"] or roots["WING"] or roots["LEG"][1:]
        chest = max(front, key=lambda bone: self.skeleton.depths[bone], default=-1)
        hips = roots["LEG"][0] if roots["LEG"] else -1
        if chest < 0:
            return
        over = [chest, *self.skeleton.above(chest)]
        if hips in over:
            for bone in over:
                self.found.setdefault(bone, BodyPart("spine" if over.index(bone) < over.index(hips) else "hips"))
            for start in self._middle(hips):
                line = self._alone(start)
                if start not in over and len(line) >= _TAIL and not self.skeleton.children[line[-1]]:
                    self.found |= {bone: BodyPart("tail") for bone in line}
        ahead = self.assignment.up + self.assignment.front
        for start in self._middle(chest):
            line = self._alone(start)
            reach = (self.skeleton.end(line[-1]) - self.skeleton.heads[chest]) @ ahead
            if start not in over and reach > 0.0 and len(line) <= _NECK:
                self.found |= {bone: BodyPart("neck") for bone in line[:-1]} | {line[-1]: BodyPart("head")}

    def _on(self, guess: LimbGuess) -> int:
        """Return the bone of the trunk on which a limb is, -1 if it begins at a root."""
        return self.skeleton.parents[(*guess.girdle, *guess.bones)[0]]

    def _middle(self, bone: int) -> list[int]:
        """Return the bones below one that are in the plane of symmetry."""
        children = self.skeleton.children[bone]
        return [each for each in children if self.images[each] == each and each not in self.beside]

    def _alone(self, start: int) -> list[int]:
        """Return the bones in the middle from `start` on, each at the end of the one before, down to a branch."""
        line = [start]
        while len(self.skeleton.children[line[-1]]) == 1 and self._middle(line[-1]):
            last, lower = line[-1], self.skeleton.children[line[-1]][0]
            length = np.linalg.norm(self.skeleton.tails[last] - self.skeleton.heads[last])
            if np.linalg.norm(self.skeleton.end(last) - self.skeleton.heads[lower]) > _GAP * length:
                break
            line.append(lower)
        return line
