# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a body: hips, trunk, arms, legs, how elbows and knees flex, and the masses of the segments.

Parts, also those without an elbow, such as a neck, are data of a body, which whoever builds it knows best. A body that
comes without them is divided by the lengths of its links: joints that lead to several tips are the trunk, those that
lead to one are its limb. Where a limb is made of two long parts, an elbow or a knee joins them. A limb that hangs at
the hips is a leg, one farther up is an arm.

Masses of a human body's segments, as shares of the whole. Source: de Leva 1996, "Adjustments to Zatsiorsky-Seluyanov's
segment inertia parameters", mean of men and women. An estimate for whatever figure it is used for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import combinations, pairwise
from typing import NamedTuple

from mathutils import Vector

from .arrays import Mask
from .joint import Joint

_LONG = 0.55  # of a limb: least length of the two parts that an elbow or a knee joins
_LARGE = 0.3  # the same, of the largest limb: a neck of three joints has no elbow
_ALIKE = 0.6  # least ratio of their lengths
_SPLIT = 2  # joints of each of them at most, as where a forearm has a joint for its twist
_AT_HIPS = 0.25  # of its own length: distance from the hips up to which a limb is a leg

TRUNK, HEAD = 0.4302, 0.0681  # with the neck as a part of the trunk
OF_LIMBS = {
    "upper_arm": 0.0263,
    "forearm": 0.0150,
    "hand": 0.0059,
    "thigh": 0.1447,
    "shin": 0.0457,
    "foot": 0.0133,
}
_TRUNK = {"hips", "spine", "trunk", "neck", "clavicle"}
_NECK_SHARE = {"neck": 0.5, "clavicle": 0.5}  # of what the trunk weighs along a length


class Part(Enum):
    """Parts of a body to which a joint can belong."""

    HIPS = auto()
    TRUNK = auto()
    GIRDLE = auto()  # between the trunk and the shoulder or hip of a limb, such as a clavicle
    SIMPLE = auto()  # of a limb without elbow, such as neck and head
    UPPER_ARM = auto()
    FOREARM = auto()
    HAND = auto()
    THIGH = auto()
    SHIN = auto()
    FOOT = auto()


ARM_PARTS, LEG_PARTS = (Part.UPPER_ARM, Part.FOREARM, Part.HAND), (Part.THIGH, Part.SHIN, Part.FOOT)


class TwoPartLimb(NamedTuple):
    """The joints at which a limb's upper part, its lower part and its end begin, such as shoulder, elbow, wrist.

    A limb without an end, such as a robot's arm without a hand, ends at its tip. Its `end` is `middle`.
    """

    upper: int
    middle: int
    end: int

    @property
    def has_end(self) -> bool:
        """Whether a hand or foot is a joint of its own."""
        return self.end != self.middle

    def part(self, below_middle: bool, below_end: bool) -> int:
        """Return 0 for a joint of the upper part, 1 for one of the lower part, and 2 for one of the end."""
        return below_middle + (below_end and self.has_end)


@dataclass(frozen=True)
class BodyAnatomy:
    """The part of each joint, the arms and legs, and the axes about which their elbows and knees flex.

    `flexion` has a unit axis in the rest frame of each limb's middle joint, with the sign of the bend; None where only
    the joint's own freedom tells it. `outwards` has the direction to which each elbow or knee goes where the limb is
    straight, in the axes of the bone above the limb at rest; None, or nothing at all, of limbs known by lengths alone.
    A part may have several joints.
    """

    parts: tuple[Part, ...]
    limbs: tuple[TwoPartLimb, ...]
    flexion: tuple[Vector | None, ...]
    outwards: tuple[Vector | None, ...] = ()


class LimbLine(NamedTuple):
    """The joints of a tip's own limb, in order, and its length from the first one to the tip [Blender units]."""

    joints: Sequence[int]
    reach: float


def anatomy_by_lengths(joints: Sequence[Joint], above: Mask, lines: Sequence[LimbLine], size: float) -> BodyAnatomy:
    """Divide a body by the lengths of its links; `size` is the length of its largest limb.

    `above` [i, j] tells whether joint j rotates with joint i, and `lines` are the limbs of all tips.
    """
    limbs = []
    for line in lines:
        best, most = None, (0.0, 0.0)
        for limb in combinations(line.joints, 3):
            upper, lower = (joints_between(above, *ends) for ends in pairwise(limb))
            short, long = sorted(sum(joints[j].offset.length for j in part) for part in (upper, lower))
            if max(len(upper), len(lower)) > _SPLIT or short + long < max(_LONG * line.reach, _LARGE * size):
                continue
            if short >= _ALIKE * long and (alike := (round(short / long, 2), short)) > most:
                best, most = TwoPartLimb(*limb), alike
        if best:
            limbs.append(best)
    found = tuple(dict.fromkeys(limbs))
    legs = {limb for limb in found for line in lines if limb.end in line.joints and _at_hips(joints, above, line)}
    return BodyAnatomy(parts_of_limbs(len(joints), lines, found, legs), found, (None,) * len(found))


def parts_of_limbs(
    count: int, lines: Sequence[LimbLine], limbs: Sequence[TwoPartLimb], legs: set[TwoPartLimb]
) -> tuple[Part, ...]:
    """Return the part of each of `count` joints: with the limbs of all tips, those of two parts, and which are legs."""
    parts = [Part.TRUNK] * count
    ends = {limb.end: limb for limb in limbs}
    for line in lines:
        limb = next((ends[j] for j in line.joints if j in ends), None)
        for j in line.joints:
            if limb is None:
                parts[j] = Part.SIMPLE
            elif j < limb.upper:
                parts[j] = Part.GIRDLE
            else:
                parts[j] = (LEG_PARTS if limb in legs else ARM_PARTS)[limb.part(j >= limb.middle, j >= limb.end)]
    parts[0] = Part.HIPS
    return tuple(parts)


def joints_between(above: Mask, first: int, last: int) -> list[int]:
    """Return the joints after the first one, to the last one."""
    return [j for j in range(first + 1, last + 1) if above[first, j] and above[j, last]]


def _at_hips(joints: Sequence[Joint], above: Mask, line: LimbLine) -> bool:
    before = [j for j in range(1, line.joints[0]) if above[j, line.joints[0]]]
    return sum(joints[j].offset.length for j in before) <= _AT_HIPS * line.reach


def anatomical_masses(parts: Sequence[tuple[str, str] | None], lengths: Sequence[float]) -> list[float] | None:
    """Masses of bones that are these parts of a body, each with its side, and this long; None where legs are unknown.

    Bones of one part share its mass by their lengths, and those of the trunk share the trunk's. Bones that are no such
    part, such as fingers, have none.
    """
    if not any(part and part[0] == "thigh" for part in parts):
        return None
    weights: list[tuple[str, float]] = []
    for part, length in zip(parts, lengths, strict=True):
        name, side = part or ("", "")
        if name in _TRUNK:
            weights.append(("trunk", length * _NECK_SHARE.get(name, 1.0)))
        elif name == "head" or name in OF_LIMBS:
            weights.append((f"{name} {side}", max(length, 1e-9)))
        else:
            weights.append(("", 0.0))
    totals: dict[str, float] = {}
    for key, weight in weights:
        totals[key] = totals.get(key, 0.0) + weight
    masses = []
    for key, weight in weights:
        whole = TRUNK if key == "trunk" else HEAD if key.startswith("head") else OF_LIMBS.get(key.split(" ")[0], 0.0)
        masses.append(whole * weight / totals[key] if totals[key] > 0.0 else 0.0)
    return masses
