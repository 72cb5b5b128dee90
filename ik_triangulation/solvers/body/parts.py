# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a body, told by its joints alone: hips, trunk, arms, legs, and what has no elbow, such as neck and head.

Joints that lead to several tips are the trunk. Those that lead to one are its limb; where that is made of two long
parts, an elbow or a knee joins them. A limb that hangs at the hips is a leg, one farther up is an arm. Source: none.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple

from ...kinematics.batch import Tree, TreeTip

_LONG = 0.55  # of a limb: least length of the two parts that an elbow or a knee joins
_LARGE = 0.3  # the same, of the largest limb: a neck of three joints has no elbow
_ALIKE = 0.6  # least ratio of their lengths
_SPLIT = 2  # joints of each of them at most, as where a forearm has a joint for its twist
_AT_HIPS = 0.25  # of its own length: distance from the hips up to which a limb is a leg


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


_ARM, _LEG = (Part.UPPER_ARM, Part.FOREARM, Part.HAND), (Part.THIGH, Part.SHIN, Part.FOOT)


class TwoPartLimb(NamedTuple):
    """The joints at which a limb's upper part, its lower part and its end begin, such as shoulder, elbow, wrist."""

    upper: int
    middle: int
    end: int


@lru_cache(maxsize=32)
def two_part_limbs(tree: Tree) -> tuple[TwoPartLimb, ...]:
    """Return the arms and legs of a tree: limbs of two long parts that are nearly as long as each other."""
    found = []
    for tip in tree.tips:
        best, most = None, (0.0, 0.0)
        for limb in combinations(_limb(tree, tip), 3):
            upper, lower = (_joints_between(tree, *ends) for ends in pairwise(limb))
            short, long = sorted(sum(tree.joints[j].offset.length for j in part) for part in (upper, lower))
            if max(len(upper), len(lower)) > _SPLIT or short + long < max(_LONG * tip.reach, _LARGE * tree.size):
                continue
            if short >= _ALIKE * long and (alike := (round(short / long, 2), short)) > most:
                best, most = TwoPartLimb(*limb), alike
        if best:
            found.append(best)
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=32)
def parts_of_body(tree: Tree) -> tuple[Part, ...]:
    """Return the part to which each joint belongs."""
    parts = [Part.TRUNK] * len(tree.joints)
    ends = {limb.end: limb for limb in two_part_limbs(tree)}
    for tip in tree.tips:
        own = _limb(tree, tip)
        limb = next((ends[j] for j in own if j in ends), None)
        above = [j for j in range(1, own[0]) if tree.above[j, own[0]]]
        is_leg = sum(tree.joints[j].offset.length for j in above) <= _AT_HIPS * tip.reach
        for j in own:
            if limb is None:
                parts[j] = Part.SIMPLE
            elif j < limb.upper:
                parts[j] = Part.GIRDLE
            else:
                parts[j] = (_LEG if is_leg else _ARM)[(j >= limb.middle) + (j >= limb.end)]
    parts[0] = Part.HIPS
    return tuple(parts)


def _limb(tree: Tree, tip: TreeTip) -> list[int]:
    """Joints from the first one of a tip's limb to its last one."""
    return [j for j in range(len(tree.joints)) if tree.above[j, tip.joint] and tree.above[tip.first, j]]


def _joints_between(tree: Tree, first: int, last: int) -> list[int]:
    """Joints after the first one, to the last one."""
    return [j for j in range(first + 1, last + 1) if tree.above[first, j] and tree.above[j, last]]
