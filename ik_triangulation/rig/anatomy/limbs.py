# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs by the parts of the body that their bones are: kinds of limbs, and the one for a bone that was chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from bpy.types import Object
from mathutils import Vector

from .names import BESIDE, BodyPart, part_by_name
from .shape import FRONT, UP, parts_by_shape
from .skeleton import ARM_ROOTS, Parts, RestBone, RestBones, RestPoint, children, parents, parts_by_name

_KEPT = 8  # skeletons whose limbs are kept
_last: tuple[Any, RestBody] | None = None  # key of the skeleton that was read last, and its parts


@dataclass(frozen=True)
class LimbKind:
    """A kind of limb: the `parts` of its bones from root to tip, and the parts `beside` that belong to it.

    Parts `between` the last two may be there, as the hock of an animal's leg. In a `row` each part may have any
    number of bones. The bone of a part in `turning`, at the tip, turns as the target.
    `preset` is the name of the preset with its ranges. The name is an item of the setting `body_part`, which labels it.
    """

    name: str
    preset: str
    parts: tuple[str, ...]
    beside: frozenset[str] = frozenset()
    row: bool = False
    turning: frozenset[str] = frozenset()
    between: frozenset[str] = frozenset()


ARM = LimbKind(
    "ARM",
    "Human Arm",
    ("upper_arm", "forearm", "hand"),
    frozenset({"clavicle", "palm"}),
    turning=frozenset({"hand"}),
)
LEG = LimbKind(
    "LEG",
    "Human Leg",
    ("thigh", "shin", "foot"),
    frozenset({"hip", "toe"}),
    turning=frozenset({"foot"}),
    between=frozenset({"hock"}),
)
FINGER = LimbKind("FINGER", "Finger", ("finger",), row=True)
SPINE = LimbKind(
    "SPINE",
    "Spine",
    ("spine", "trunk"),
    frozenset({"hips"}),
    row=True,
    turning=frozenset({"spine", "trunk"}),
)
NECK = LimbKind("NECK", "Neck", ("neck", "head"), row=True, turning=frozenset({"neck", "head"}))
TAIL = LimbKind("TAIL", "Tail", ("tail",), row=True)
WING = LimbKind("WING", "Wing", ("wing",), row=True)
FIN = LimbKind("FIN", "Wing", ("fin",), row=True)
LIMB_KINDS = {kind.name: kind for kind in (ARM, LEG, FINGER, SPINE, NECK, TAIL, WING, FIN)}

_FINGER_BONES = 3
_QUADRUPED = 2  # pairs of legs of an animal that has front legs and hind ones
_AT_ROOT = 0.2  # of a leg's length: distance from its root up to which another limb, as of controls, is that leg
_HOCK_PRESET = "Animal Leg"  # of a leg with a hock


@dataclass(frozen=True)
class BodyLimb:
    """A limb that was recognised: its kind, its side "L", "R" or "", and its bones from root to tip.

    Bones between those that are named here, such as twist bones, keep their pose.
    """

    kind: LimbKind
    side: str
    bones: tuple[str, ...]
    turns: bool
    has_hock: bool

    @property
    def preset(self) -> str:
        """Name of the preset with its ranges."""
        return _HOCK_PRESET if self.has_hock else self.kind.preset


class _RootOfLeg(NamedTuple):
    """Beginning of a leg (3,), its length from there to its end [Blender units], and whether it is a front one."""

    root: np.ndarray
    length: float
    is_fore: bool


class RestBody:
    """The parts of an armature's bones: by their names, and by shape where these do not tell whole arms and legs.

    `up` and `front` are the directions of a character's up and front in the world, armature space.
    """

    def __init__(self, bones: RestBones, up: Sequence[float] = UP, front: Sequence[float] = FRONT) -> None:
        self.bones = bones
        self._below = children(bones)
        self._parts = parts_by_name(bones)
        self.by_shape: tuple[str, ...] = ()  # kinds of limbs that names alone did not tell
        lacking = [kind for kind in (ARM, LEG) if not self._is_whole(kind)]
        if lacking:
            self._take(parts_by_shape(bones, up, front), lacking)

    def _is_whole(self, kind: LimbKind) -> bool:
        """Tell whether the names give one limb for each side, with all its parts."""
        limbs = {limb.side: limb for limb in self.limbs(kind)}
        least = len(kind.parts) - any(self._is_named_by_tail(limb.bones[0]) for limb in limbs.values())
        whole = {"L", "R"} <= limbs.keys() and all(len(limb.bones) >= least for limb in limbs.values())
        return whole and all(self._is_only(limb) for limb in limbs.values())

    def _is_named_by_tail(self, name: str) -> bool:
        """Tell whether a bone has the name of the next part: then what would be a hand by its name is none."""
        said = part_by_name(name)
        return said is not None and self._parts[name].part not in said.part.split("|")

    def _is_only(self, limb: BodyLimb) -> bool:
        """Tell whether no other limb of the same role has a name for the same part, as front legs may."""
        role = max(self._parts[name].role for name in limb.bones)
        kind, ends = limb.kind, [n for n, part in self._parts.items() if self._fits(part, limb.kind, limb.side, "", "")]
        others = {b[-1] for b in self._triples(ends, kind) if max(self._parts[name].role for name in b) == role}
        return all(end == limb.bones[-1] or limb.bones[0] in parents(self.bones, end) for end in others)

    def _take(self, found: Parts, kinds: Sequence[LimbKind]) -> None:
        """Add limbs by shape where names identify them only in part or not at all."""
        for kind in kinds:
            told = {*kind.parts, *kind.beside, *kind.between}
            shaped = {name: part for name, part in found.items() if part.part in told}
            ends = {part.part for part in shaped.values()} & set(kind.parts)
            known = [name for name, part in self._parts.items() if part.part in kind.parts]
            if not ends or (known and not self._covers(shaped, known, kind)):
                continue
            self._parts = {name: part for name, part in self._parts.items() if part.part not in told} | shaped
            self.by_shape += (kind.name,)
        self._parts = {name: part for name, part in found.items() if not self._is_beside(name)} | self._parts

    def _covers(self, shaped: Parts, known: Sequence[str], kind: LimbKind) -> bool:
        """Tell whether limbs by shape are more than, or go on from, what names tell of this kind."""
        firm = [name for name in known if self._parts[name].role != BESIDE]
        return sum(name in shaped for name in firm) * 2 >= len(firm) or len(shaped) > len(firm)

    def _is_beside(self, name: str) -> bool:
        return name in self._parts and self._parts[name].role == BESIDE

    def part(self, name: str) -> BodyPart | None:
        """Return the part of the body that a bone is, or None."""
        return self._parts.get(name)

    def limbs(self, kind: LimbKind) -> list[BodyLimb]:
        """Return the limbs of a kind, the left one first, each once; of several pairs of legs the hind ones first."""
        pairs = sorted({(part.pair, part.side) for part in self._parts.values() if part.part in kind.parts})
        found = (self._best(kind, side, None, pair) for pair, side in pairs)
        return [limb for limb in found if limb is not None]

    def is_fore_leg(self, name: str) -> bool:
        """Tell whether a limb that begins at a bone is a front leg of an animal with two pairs of legs."""
        root = np.array(self.bones[name].head)
        near = min(self._roots_of_legs, key=lambda leg: float(np.linalg.norm(leg.root - root)), default=None)
        return near is not None and near.is_fore and bool(np.linalg.norm(near.root - root) < _AT_ROOT * near.length)

    @cached_property
    def _roots_of_legs(self) -> tuple[_RootOfLeg, ...]:
        """The places at which legs begin; none but for two pairs of them."""
        legs = self.limbs(LEG)
        pairs = {self._parts[limb.bones[0]].pair for limb in legs}
        heads = [np.array([self.bones[name].head for name in limb.bones]) for limb in legs if len(pairs) == _QUADRUPED]
        return tuple(
            _RootOfLeg(at[0], float(np.linalg.norm(at[-1] - at[0])), bool(self._parts[limb.bones[0]].pair))
            for at, limb in zip(heads, legs, strict=False)
        )

    def limbs_of_hand(self, name: str) -> list[BodyLimb]:
        """Return the fingers of the hand that bears the finger of a bone, each once."""
        hand, side = self.hand_above(name), self._parts[name].side
        of_side = {n: part for n, part in self._parts.items() if part.part == "finger" and part.side == side}
        one = {part.finger: n for n, part in of_side.items() if self.hand_above(n) == hand and part.role != BESIDE}
        found = (self._best(FINGER, side, n) for n in one.values())
        return [limb for limb in found if limb is not None]

    def hand_above(self, name: str) -> str:
        """Return the bone of the hand or foot above a bone, or ""."""
        parts = ((each, self.part(each)) for each in parents(self.bones, name))
        return next((each for each, part in parts if part and part.part in {"hand", "foot", "toe"}), "")

    def limb_with(self, name: str) -> BodyLimb | None:
        """Return the limb that a bone belongs to or controls; None if it is not recognised.

        A bone of a finger belongs to the arm, except the last one, and controls of the whole finger.
        """
        part = self.part(name)
        if part is None:
            return None
        if part.part == "finger":
            finger = self._best(FINGER, part.side, name)
            whole = finger is None or self._ends(name, part, finger)
            return finger if whole else self._best(self._bearer(name), part.side, name) or finger
        kind = next((k for k in LIMB_KINDS.values() if part.part in {*k.parts, *k.beside, *k.between}), None)
        return self._best(kind, part.side, name, part.pair) if kind else None

    def limb_of(self, names: Sequence[str]) -> BodyLimb | None:
        """Return the limb that these bones are, from root to tip: all parts of it, or the first ones; None if none.

        An arm may begin with its clavicle, a leg end with its toes. Twist bones between may be among them.
        """
        found = {name: self.part(name) for name in names}
        parts = {name: part for name, part in found.items() if part and part.role != BESIDE}
        if not all(found.values()) or len({(part.side, part.finger) for part in parts.values()}) != 1:
            return None
        for kind in LIMB_KINDS.values():
            # Of several bones of a part the first one carries the others.
            first = {part.part: name for name, part in reversed(parts.items())}
            bones = tuple(name for name, part in parts.items() if kind.row or first[part.part] == name)
            if bones[-1] == names[-1] and len(bones) > 1 and self._is_limb(kind, bones):
                turns = parts[names[-1]].part in kind.turning | NECK.turning
                has_hock = any(parts[name].part in kind.between for name in bones)
                return BodyLimb(kind, parts[names[-1]].side, bones, turns, has_hock)
        return None

    def _is_limb(self, kind: LimbKind, bones: Sequence[str]) -> bool:
        """Tell whether bones are those of a kind of limb, from its first one on, as the ranges of its preset are."""
        said = tuple(self._parts[name].part for name in bones)
        if kind is FINGER and said[0] == "finger":
            finger = self._best(FINGER, self._parts[bones[0]].side, bones[0])
            return finger is not None and finger.bones[0] == bones[0] and set(said) == {"finger"}
        if kind is SPINE and said[0] in kind.parts:  # it may go on to the head
            return set(said) <= {*kind.parts, *NECK.parts}
        if kind.row:
            return set(said) <= set(kind.parts)
        said = tuple(part for part in said if part not in kind.between)
        return said == ("clavicle", *ARM.parts) if said[0] == "clavicle" else said == (*kind.parts, "toe")[: len(said)]

    def _bearer(self, name: str) -> LimbKind:
        """Return the kind of limb that a finger or toe grows on."""
        above = (part.part for each in parents(self.bones, name) if (part := self.part(each)))
        return LEG if next((each for each in above if each in {"hand", "foot", "toe"}), "") in {"foot", "toe"} else ARM

    def _ends(self, name: str, part: BodyPart, finger: BodyLimb) -> bool:
        """Tell whether a bone of a finger represents the whole: its last one, one at its tip, or a control of all."""
        last = finger.bones[-1]
        if name == last or part.copy or len(finger.bones) == 1 or last in parents(self.bones, name):
            return True
        controls = part.role == BESIDE and not self._below[name]
        return controls or (part.number is not None and part.number == self._parts[last].number)

    def _best(self, kind: LimbKind, side: str, name: str | None, pair: str = "") -> BodyLimb | None:
        """Return the limb of this kind and side to be posed; of several of one role, that with the bone `name`."""
        chosen = self._parts[name] if name else None
        finger = chosen.finger if kind is FINGER and chosen else ""
        ends = [each for each, part in self._parts.items() if self._fits(part, kind, side, finger, pair)]
        chains = self._rows(ends, kind) if kind.row else self._triples(ends, kind)
        ranked = sorted(chains, key=lambda bones: self._rank(bones, kind, name))
        if not ranked:
            return None
        bones = tuple(ranked[0])
        has_hock = any(self._parts[each].part in kind.between for each in bones)
        return BodyLimb(kind, side, bones, self._parts[bones[-1]].part in kind.turning, has_hock)

    @staticmethod
    def _fits(part: BodyPart, kind: LimbKind, side: str, finger: str, pair: str) -> bool:
        fits = part.part in {*kind.parts, *kind.between} and part.side == side and part.pair == pair
        return fits and part.role != BESIDE and part.finger == finger

    def _rank(self, bones: Sequence[str], kind: LimbKind, name: str | None) -> tuple[float, ...]:
        """Return the place of a chain among others, best first: by its role, the part of its tip, the chosen bone."""
        role = max(self._parts[each].role for each in bones)
        away = name is not None and name not in bones and bones[-1] not in parents(self.bones, name)
        tip = -kind.parts.index(self._parts[bones[-1]].part) if not kind.row else 0
        on_spine = kind is SPINE and not self._bears_arms(bones[-1])
        return (tip, on_spine, role, away, -len(bones) if kind.row else len(list(parents(self.bones, bones[-1]))))

    def _bears_arms(self, name: str) -> bool:
        waiting = list(self._below[name])
        while waiting:
            each = waiting.pop()
            part = self.part(each)
            if part and part.part in ARM_ROOTS:
                return True
            waiting += self._below[each]
        return False

    def _triples(self, ends: Sequence[str], kind: LimbKind) -> Iterator[list[str]]:
        """Yield the chains of one bone a part, whole or without the last part."""
        among = set(ends)
        for end in (end for end in ends if self._parts[end].part in kind.parts):
            last = kind.parts.index(self._parts[end].part)
            line = [each for each in parents(self.bones, end) if each in among]
            bones = [end] if last > 0 else []
            for part in kind.parts[:last][::-1]:
                bones[:0] = [each for each in line if self._parts[each].part == part][-1:]
            first = all(self._parts[each].part != self._parts[end].part for each in line)
            if first and len(bones) == last + 1 > 1:
                bones[-1:-1] = [each for each in line[::-1] if self._parts[each].part in kind.between]
                yield bones

    def _rows(self, ends: Sequence[str], kind: LimbKind) -> Iterator[list[str]]:
        """Yield the lines of bones of a row's parts and of one role, as long as they are."""
        for role in {self._parts[end].role for end in ends}:
            among = {end for end in ends if self._parts[end].role == role and not self._parts[end].copy}
            for end in (end for end in ends if end in among and self._lowest(end, among, kind)):
                line = [end, *(each for each in parents(self.bones, end) if each in among)][::-1]
                if kind is FINGER:
                    yield self._without_tip(line)
                elif len(line) > 1 or (kind is NECK and self._parts[end].part == "head"):
                    yield line  # a head may be on the chest, or on bones that are called a spine

    def _lowest(self, name: str, ends: set[str], kind: LimbKind) -> bool:
        """Tell whether a row ends in a bone: none of it is below, or on the spine, none that bears the arms."""
        waiting = list(self._below[name])
        arms = kind is SPINE and self._bears_arms(name)
        while waiting:
            each = waiting.pop()
            if each in ends and (not arms or self._bears_arms(each)):
                return False
            waiting += self._below[each]
        return True

    def _without_tip(self, line: list[str]) -> list[str]:
        """Return a finger without the bone that only shows its end, such as Mixamo's fourth."""
        return line[:_FINGER_BONES] if len(line) == _FINGER_BONES + 1 and self._parts[line[0]].number == 1 else line


def rest_bones(armature: Object) -> dict[str, RestBone]:
    """Return all bones of an armature at rest, by their names."""
    return {
        bone.name: RestBone(bone.parent.name if bone.parent else None, tuple(bone.head_local), tuple(bone.tail_local))
        for bone in armature.data.bones
    }


def rest_body(armature: Object) -> RestBody:
    """Return the parts of an armature's bones at rest; the same object as long as rest pose and object stay.

    Characters are upright along Z and face -Y in the world, whatever the axes of their armatures are.
    """
    global _last
    turn = armature.matrix_world.to_3x3().inverted_safe()
    ways = ((turn @ Vector(way)).normalized() for way in ((0.0, 0.0, 1.0), (0.0, -1.0, 0.0)))
    up, front = ((way.x, way.y, way.z) for way in ways)
    bones = armature.data.bones
    places = np.empty((2, 3 * len(bones)), np.float32)
    for end, values in zip(("head_local", "tail_local"), places, strict=True):
        bones.foreach_get(end, values)
    # All that matters, read faster than the bones: the limbs of a rig, which are solved in turn, ask for one body.
    above = tuple(parent.name if (parent := bone.parent) else None for bone in bones)
    now = tuple(bones.keys()), above, places.tobytes(), up, front
    if _last is None or _last[0] != now:
        _last = now, _recognized(tuple(rest_bones(armature).items()), up, front)
    return _last[1]


@lru_cache(maxsize=_KEPT)
def _recognized(bones: tuple[tuple[str, RestBone], ...], up: RestPoint, front: RestPoint) -> RestBody:
    """Recognise a skeleton once: all that matters is in the arguments, so what is kept can never be outdated."""
    return RestBody(dict(bones), up, front)


class Controlling(Protocol):
    """The controls of an armature, by which its bones are moved."""

    def control(self, bone: str) -> str:
        """Return the FK control of a bone."""


class Anatomy:
    """The limbs of an armature, recognised by the names of its bones, otherwise by their shape at rest."""

    def __init__(self, armature: Object, controls: Controlling) -> None:
        self._bones, self._controls = armature.pose.bones, controls
        self._body = rest_body(armature)

    @property
    def by_shape(self) -> tuple[str, ...]:
        """Kinds of limbs that the bones' names alone did not tell."""
        return self._body.by_shape

    def limb_with(self, name: str) -> BodyLimb | None:
        """Return the limb that a bone belongs to, of FK controls where there are; None if it is not recognised."""
        part, control = self._body.part(name), self._controls.control(name)
        # Bones of a spine can have the same name from hips to head; their controls have names of their own.
        names = (name, control) if part is not None and part.side else (control, name)
        found = next((limb for each in names if (limb := self._body.limb_with(each))), None)
        return found and self._with_controls(found)

    def limbs(self, kind: LimbKind) -> list[BodyLimb]:
        """Return the limbs of a kind, of FK controls where there are, the left one first."""
        return [self._with_controls(limb) for limb in self._body.limbs(kind)]

    def part(self, name: str) -> str:
        """Return the part of the body that a bone is; empty if it is none."""
        found = self._body.part(name)
        return found.part if found else ""

    def limb_of(self, names: Sequence[str]) -> BodyLimb | None:
        """Return the limb that these bones are, from root to tip; None if it is not recognised."""
        return self._body.limb_of(names)

    def _with_controls(self, limb: BodyLimb) -> BodyLimb:
        """Return the limb of the controls of its bones, if these are one line of descent."""
        names = tuple(self._controls.control(name) for name in limb.bones)
        bones = [self._bones[name] for name in names]
        lines = (above in below.parent_recursive for above, below in pairwise(bones))
        return replace(limb, bones=names) if all(lines) else limb
