# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a body by the names of bones, in the conventions of common rigs, and by single words; eyes.

The tables are there to be extended. A name is cut into words at signs, digits and capitals. Words for the side, for the
role of a bone in its rig, and words without a meaning (NOISE) are taken out; what is left, in one piece, is looked up
in PARTS. So "DEF-upper_arm.L", "mixamorig:LeftArm", "upperarm_l", "J_Bip_L_UpperArm", "Bip01 L UpperArm" and "左腕" are
all the left upper arm.

Single words in a bone's name are clues, for skeletons whose names follow no known convention. A whole name is certain;
a clue is only counted beside geometry: "Back_Leg_Upper_L" says leg, left, and the upper part of something.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TypeVar
from unicodedata import normalize

_Key = TypeVar("_Key")

# Part of the body: names of its bone without side, role and number. Bones are also named after the joint at their head.
# A part with "|" is decided by the bones around it (skeleton.py).
PARTS = {
    "clavicle": "clavicle collar collarbone scapula clav shoulderblade 肩",
    "clavicle|upper_arm": "shoulder shldr",
    "upper_arm": "upperarm uparm arm arms armupper bicep biceps humerus shldrbend upperfrontleg frontthigh 腕",
    "forearm": "forearm lowerarm lowarm loarm armlower elbow farm radius ulna frontshin ひじ 肘",
    "hand": "hand wrist frontfoot forefoot frontpaw 手首 手",
    "palm": "palm metacarpal carpal carpals handpalm fronttoe ftoe fhoof fpalm fingerbase",
    "hip|thigh": "hip hipjoint",
    "thigh": "thigh upleg upperleg legupper femur hindthigh 足 太もも",
    "thigh|shin": "leg legs",
    "shin": "shin calf lowerleg lowleg loleg leglower knee tibia hindshin ひざ 膝",
    "foot": "foot ankle hindfoot hindpaw 足首",
    "toe": "toe toes toebase ball bigtoe heel rtoe rhoof hindtoe rpalm metatarsal metatarsals つま先 爪先 足先 かかと",
    "hips": "hips pelvis rootx torso cog centerofmass 下半身 腰 センター グルーブ",
    "spine": "spine back lowerback upperback vertebra vertebrae",
    "trunk": "ab chest upperchest chestlower chestupper ribcage thorax abdomen abdomenlower abdomenupper belly waist "
    "spinelower spinemiddle spineupper 上半身",
    "neck": "neck necklower neckupper 首",
    "head": "head 頭",
    "tail": "tail 尻尾 しっぽ",
}
FINGERS = {
    "thumb": "thumb 親指",
    "index": "index fore pointer forefinger 人指 人差指 人差し指",
    "middle": "middle mid 中指",
    "ring": "ring 薬指",
    "little": "little pinky pinkie 小指",
}
# Words beside that of a finger, with the number of the bone where they tell it.
OF_FINGERS = {"f": None, "r": None, "hand": None, "finger": None, "proximal": 1, "intermediate": 2, "distal": 3}
SIDES = {"L": "l left lft lf lt 左", "R": "r right rgt rt 右"}

# Roles of bones in a rig, the first that fits; the chain to pose is of the role that comes first. Those of the last
# are not bones of a limb: they help, or they control it from outside.
FK, UNMARKED, ORIGINAL, DEFORM, BESIDE = range(5)
ROLES = {
    BESIDE: "ik mch vis wgt tweak twist twists roll pole target tgt parent parents widget master drv swing rock rock1 "
    "spin helper corrective end nub leaf top effector eff site ref lock aim pivot socket weapon gun 捩 捻 b p c ex",
    FK: "fk",
    ORIGINAL: "org",
    DEFORM: "def deform dfm bind skin stretch d",
}
NOISE = "bip bip01 j b c cc base bone joint jnt ctrl control ctl con rig bn bend x mid center centre m front fore hind"
_COPY = 3  # digits that Blender adds to the name of a copy
_PREFIX = re.compile(r"^(?:.*[:|]|valvebiped\.|mixamorig\d*_?|bip\d*[ _]|character\d*_|c_)+", re.IGNORECASE)
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")

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

_EYES = {"eye", "eyeball", "目"}
# Words beside that of an eye which say nothing; "master" is on the bone of a generated Rigify rig that turns one.
_BESIDE_EYES = {"master", "face", "facial", "head", "adj", "bind"}
_EYE_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[左右]|[^\W\d_A-Za-z左右]+")
_NO_PART = {*" ".join(SIDES.values()).split(), *NOISE.split(), *_BESIDE_EYES}
_HELPS = set(ROLES[BESIDE].split()) - _NO_PART
_OTHER_ROLES = {word for role, words in ROLES.items() if role != BESIDE for word in words.split()}


@dataclass(frozen=True)
class BodyPart:
    """The part of the body that a bone is: `part` of PARTS or "finger", on the `side` "L", "R" or "" for neither.

    `finger` names the finger; `pair` numbers the pairs of legs of an animal from the second one on; `number` is the
    last number in the name, None without one; `role` one of ROLES. A `copy` has a second number, such as the tip
    "f_index.01.L.001" of Rigify's fingers.
    """

    part: str
    side: str = ""
    number: int | None = None
    role: int = UNMARKED
    finger: str = ""
    copy: bool = False
    pair: str = ""


@lru_cache(maxsize=4096)
def part_by_name(name: str) -> BodyPart | None:
    """Return the part of the body that a bone's name tells; None if it tells none."""
    words = _words(name)
    numbers = [word for word in words if word.isdigit()]
    words = [word for word in words if not word.isdigit()]
    number = int(numbers[0]) if numbers else None
    for side, left in _sided(words):
        # Beside an arm or a leg a twist bone helps; Character Creator's necks are made of them.
        role, left = _role(left if side else [word for word in left if word != "twist"])
        role = BESIDE if name.startswith("__") else role  # MakeHuman's joints between a bone and its children
        finger = _finger(left, numbers)
        if finger is not None:
            name, told, used = finger
            number = number if told is None else told
            return BodyPart("finger", side, number, role, name, copy=len(numbers) > used)
        for some in (left, [word for word in left if word not in _NOISE]):
            part = _PART.get("".join(some))
            if part is not None:
                return _checked(BodyPart(part, side, number, role))
    return None


def words_of(name: str) -> tuple[str, list[str]]:
    """Return the side that a bone's name tells, "" for none, and its other words without numbers."""
    words = [word for word in _words(name) if not word.isdigit()]
    return _sided(words)[0]


def bone_role(words: list[str]) -> int:
    """Return the role of a bone in its rig, one of ROLES, by the words of its name."""
    return _role(words)[0]


def _words(name: str) -> list[str]:
    """Cut a name into words in lower case, a side that is written together with a part from it: "Lefthand"."""
    text = _PREFIX.sub("", normalize("NFKC", name)) or name
    words: list[str] = []
    for word in (found.lower() for found in _WORD.findall(text)):
        side = next((side for side in ("左", "右", "left", "right") if word.startswith(side) and word != side), "")
        words += [side, word[len(side) :]] if side else [word]
    return [each for word in words for each in _without_twist(word)]


def _without_twist(word: str) -> list[str]:
    """Cut the sign for a twist off a Japanese word."""
    return [word[:-1], word[-1]] if len(word) > 1 and word[-1] in "捩捻" else [word]


def _sided(words: list[str]) -> list[tuple[str, list[str]]]:
    """Return readings of words as a side and the rest: the side as a word of its own, else as a first letter."""
    marks = [(number, side) for number, word in enumerate(words) if (side := _SIDE.get(word))]
    readings = [(side, words[:number] + words[number + 1 :]) for number, side in reversed(marks)]
    if not marks:
        readings.append(("", words))
        if words and words[0][0] in "lr":
            readings.append((words[0][0].upper(), [words[0][1:], *words[1:]]))
    return readings


def _role(words: list[str]) -> tuple[int, list[str]]:
    """Return the role that words tell, and the other words. A lone letter counts only at the end of the name."""
    last = len(words) - 1
    roles = [_ROLE.get(word) if len(word) > 1 or place == last > 0 else None for place, word in enumerate(words)]
    told = {role for role in roles if role is not None}
    role = next((role for role in ROLES if role in told), UNMARKED)
    return role, [word for word, of in zip(words, roles, strict=True) if of is None]


def _finger(words: list[str], numbers: list[str]) -> tuple[str, int | None, int] | None:
    """Return the finger that words tell, the number of its bone, None for none, and how many numbers say that."""
    beside = _NOISE.union(OF_FINGERS, {"metacarpal"}).difference(_FINGER)
    rest = [word for word in words if word not in beside]
    named = [_FINGER[word] for word in rest if word in _FINGER]
    if len(named) == 1 and len(rest) == 1 and ("metacarpal" not in words or named[0] == "thumb"):
        return named[0], next((OF_FINGERS[word] for word in words if OF_FINGERS.get(word)), None), 1
    if words == ["finger"] and numbers:
        if len(numbers) > 1 and len(numbers[0]) == 1 and len(numbers[1]) < _COPY:  # MakeHuman: finger1-2.L
            return f"finger {numbers[0]}", int(numbers[1]), 2
        return f"finger {numbers[0][0]}", int(numbers[0][1:] or 0), 1  # Biped: Finger0, Finger01, Finger02 is the thumb
    return None


def _checked(found: BodyPart) -> BodyPart | None:
    """Refuse the middle of the body with a side, and decide what a side decides."""
    if found.side:
        return None if found.part in _MIDDLE else found
    part = "hips" if found.part == "hip|thigh" else found.part
    return replace(found, part=part) if part in _MIDDLE else None


def _lookup(table: dict[_Key, str]) -> dict[str, _Key]:
    """Return the key of each word of a table."""
    return {word: key for key, listed in table.items() for word in listed.split()}


_MIDDLE = {"hips", "spine", "trunk", "neck", "head", "tail"}
_PART = _lookup(PARTS) | {
    f"{finger}{word}": "palm" for finger in _lookup(FINGERS) for word in ("metacarpal", "carpal", "base", "palm")
}
_FINGER, _SIDE, _ROLE, _NOISE = _lookup(FINGERS), _lookup(SIDES), _lookup(ROLES), set(NOISE.split())


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


def is_eye(name: str) -> bool:
    """Tell whether a bone is an eye by its name: no lid or brow, and no target or helper of one."""
    words = [word.lower() for word in _EYE_WORD.findall(normalize("NFKC", name).rpartition(":")[2])]
    if _HELPS.intersection(words):
        return False
    return "".join(word for word in words if word not in _NO_PART | _OTHER_ROLES) in _EYES


def turned_eye(name: str, among: Container[str]) -> str:
    """Return the bone that turns an eye: a generated Rigify rig has a target of the eye's name, and a master of it."""
    master = f"master_{name.removeprefix('DEF-').removeprefix('ORG-')}"
    return master if master in among else name
