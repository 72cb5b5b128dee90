# SPDX-License-Identifier: GPL-3.0-or-later
"""Clues that single words in a bone's name give, for skeletons whose names follow no known convention.

names.py reads whole names and is sure; a clue is only counted beside geometry: "Back_Leg_Upper_L" says leg, left, and
the upper part of something.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from .names import BESIDE, bone_role, words_of

# Level of a limb's part. The name of a joint that begins the part says the same: a knee begins the lower one.
_LEVELS = {
    "girdle": "clavicle collar scapula pelvis anchor hipjoint buttock shoulderblade root",
    "girdle|upper": "shoulder hip shldr",
    "upper": "upper up thigh femur humerus bicep biceps upleg uparm upperarm upperleg",
    "lower": "lower lo low shin calf tibia knee forearm fore ulna radius elbow loleg loarm lowerleg lowerarm farm",
    "hock|end": "ankle",
    "hock": "hock cannon metatarsus metatarsal metatarsals",
    "end": "foot hand paw hoof wrist",
    "beyond": "toe toes ball finger fingers thumb index pinky ring tip leaf nub end heel sole",
}
_KINDS = {
    "LEG": "leg legs foot feet thigh shin calf knee ankle toe toes toebase hoof paw femur tibia upleg loleg hip heel "
    "ball",
    "ARM": "arm arms hand forearm elbow wrist finger fingers thumb humerus ulna radius bicep biceps uparm loarm shldr",
    "WING": "wing wings feather feathers",
    "FIN": "fin fins flipper",
    "OTHER": "ear ears hair skirt breast breasts bust eye eyes brow brows lid eyelid lip lips cheek jaw tongue ribbon "
    "cape sleeve strap antenna horn tail teeth nose mouth pony ponytail weapon gun cloth butt hood tentacle pincer "
    "jiggle tassel whisker",
}


@dataclass(frozen=True)
class Clue:
    """Hints of a name: a `kind` of limb or OTHER, a `level` of it, alternatives separated by "|", and a `side`."""

    kind: str = ""
    level: str = ""
    side: str = ""
    is_helper: bool = False


@cache
def clue_of(name: str) -> Clue:
    """Return what the words of a bone's name hint at."""
    side, words = words_of(name)
    kinds = [kind for word in words if (kind := _KIND.get(word))]
    levels = [level for word in words if (level := _LEVEL.get(word))]
    levels += [level for word in words if (level := _WHOLE.get(word))]
    kind = "OTHER" if "OTHER" in kinds else (max(sorted(set(kinds)), key=kinds.count) if kinds else "")
    # "upper leg": the first word that is a level decides; of "leg upper foot" a foot or toe, which is more special.
    special = next((level for level in levels if level in {"end", "beyond", "hock", "hock|end"}), "")
    return Clue(
        kind,
        special or (levels[0] if levels else ""),
        side,
        bone_role([word for word in words if len(word) > 1]) == BESIDE,
    )


def is_same_part(name: str, other: str) -> bool:
    """Tell whether two names say the same level of a limb and differ in numbers only, as those of twist bones do."""
    return bool(clue_of(name).level) and words_of(name) == words_of(other)


def marks_an_end(name: str) -> bool:
    """Tell whether a name is that of a bone which only shows where another one ends."""
    return any(word in _ENDS for word in words_of(name)[1])


_ENDS = {"tip", "leaf", "nub", "end", "null", "site"}
# A limb's name alone: "LeftArm" is the upper arm, "LeftLeg" may be the shin below "LeftUpLeg".
_WHOLE = {"arm": "upper", "leg": "upper|lower"}
_LEVEL = {word: level for level, words in _LEVELS.items() for word in words.split()}
_KIND = {word: kind for kind, words in _KINDS.items() for word in words.split()}
