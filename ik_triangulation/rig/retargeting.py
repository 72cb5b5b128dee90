# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of one character for another: places and turns of hips, chest, hands, feet and head, scaled by limbs.

Both are compared in the space of their stances at rest: on the ground below the hips, Z up and Y to the front. The path
over the ground is scaled by the legs, and so are heights, from those at rest on. Trunk and shoulders keep their own
lengths. Wrists are as far from their shoulders as arms are long, so that elbows are as bent as the source's; where the
source's palms are near each other, those here are as near, so that they touch. Source: none.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from bpy.types import Depsgraph, Object
from mathutils import Matrix, Quaternion, Vector

from ..errors import ChainError
from ..kinematics.arrays import Numbers
from ..kinematics.rotation import orientation
from ..motion.contacts import Indexed, Planted, planted, planted_spans
from .anatomy.limbs import ARM, LEG, NECK, BodyLimb, rest_body
from .armature import uniform_scale
from .freedom import can_turn
from .stance import end_frames, frame_along, stance_of

_PALM = 0.35  # of the forearm: distance of the palm from the wrist
_NEAR, _FAR = 0.2, 0.7  # of the arm: distances of the hands at which they are as near here, and on their own
_COMING = 8  # frames in which hands come to that
_MEETINGS = 8  # halvings of what is missing where one hand is at the end of its reach, so that the other comes to it
_STRAIGHT = 0.9999  # of a limb: the farthest that its end is from its root
_BENT = 0.99  # of a limb: the same where the source's is not straighter; elbows and knees are bent by 16 degrees there
_ON_ITS_PLACE = 0.02  # of a leg: distance of the ball of a planted foot from its place
_OFF_THE_FLOOR = 0.25  # of a leg: height of planted feet from which on the rest pose is off the ground
_SIDES = "L", "R"
_LINKS = {"shoulder": "forearm", "thigh": "shin"}  # upper and lower parts of limbs

HIPS, CHEST, FACE, CLAVICLE = "hips", "chest", "head", "clavicle"


class PartPlace(NamedTuple):
    """The place of a part: that of its bone's head, and its turn since rest, in the space of the stance."""

    place: Vector
    turn: Quaternion

    def carries(self, offset: Vector) -> Vector:
        """Return the place of a point with that offset from the bone's head at rest."""
        return self.place + self.turn @ offset


class Figure:
    """A character at rest, in the space of its stance: which bones its parts are, and how long its limbs.

    `bones` has the names of hips, chest and head, and those of both sides as in "hand.L". Limbs are those given, of
    controls where there are, else those that are recognised.
    """

    def __init__(self, armature: Object, limbs: Sequence[BodyLimb] = (), hips: str = "") -> None:
        """Raises ChainError, which names what is missing, without two arms and two legs that hang together."""
        self.armature, self.body, self._at_rest = armature, rest_body(armature), _scaled_rests(armature)
        found = limbs or [limb for kind in (ARM, LEG, NECK) for limb in self.body.limbs(kind)]
        pairs = {kind: {limb.side: limb.bones for limb in reversed(found) if limb.kind is kind} for kind in (ARM, LEG)}
        for kind, both in pairs.items():
            if not {*_SIDES} <= both.keys() or any(len(both[side]) < len(kind.parts) for side in _SIDES):
                raise ChainError(
                    f"'{armature.name}' has no two {'arms' if kind is ARM else 'legs'} that are recognized. Give their "
                    "bones names as Blender has them, such as hand.L and foot.L."
                )
        arms, legs = pairs[ARM], pairs[LEG]
        chest = self._common(arms["L"][0], arms["R"][0])
        pelvis = self._common(chest, legs["L"][0], legs["R"][0])
        self.bones = {HIPS: hips or pelvis, CHEST: chest}
        if not pelvis:
            raise ChainError(f"Arms and legs of '{armature.name}' hang on no common bone. Parent them to the hips.")
        neck = next((limb.bones for limb in found if limb.kind is NECK and self._part(limb.bones[-1]) == FACE), ())
        if neck:
            self.bones[FACE] = neck[-1]
        self.neck = tuple(f"neck.{number}" for number in range(len(neck) - 1))
        self.bones |= dict(zip(self.neck, neck, strict=False))
        self.spine = self._spine()
        below = [number for number, name in enumerate(self.spine, 1) if self.bones[name] == pelvis]
        self.stiff = below[0] if below else 0  # bones up to the pelvis, where what moves the hips is below it
        for side in _SIDES:
            for line, parts in ((arms[side], ("shoulder", "forearm", "hand")), (legs[side], ("thigh", "shin", "foot"))):
                self.bones |= {f"{part}.{side}": line[k] for part, k in zip(parts, (0, 1, -1), strict=True)}
            above = (bone.name for bone in armature.data.bones[arms[side][0]].parent_recursive)
            clavicle = next((name for name in above if self._part(name) == CLAVICLE), "")
            self.bones |= {f"{CLAVICLE}.{side}": clavicle} if clavicle else {}
        self.limbs = {f"hand.{side}": arms[side] for side in _SIDES} | {f"foot.{side}": legs[side] for side in _SIDES}
        self.base = self._ground()
        self._into = self.base.inverted() @ armature.matrix_world  # from the armature's space where it is now

    def _part(self, name: str) -> str:
        part = self.body.part(name)
        return part.part if part else ""

    def _common(self, *names: str) -> str:
        """Return the lowest bone that is above, or is one of, all of these, or ""."""
        bones = self.armature.data.bones
        lines = [[name, *(above.name for above in bones[name].parent_recursive)] for name in names if name]
        common = (name for name in lines[0] if all(name in line for line in lines))
        return next((name for name in common if len(lines) == len(names)), "")

    def _spine(self) -> tuple[str, ...]:
        """Name the bones above the hips up to the chest, and return these names of parts, the chest as the last."""
        chest = self.armature.data.bones[self.bones[CHEST]]
        line = [chest.name, *(above.name for above in chest.parent_recursive)]
        between = line[1 : line.index(self.bones[HIPS])]
        names = tuple(f"spine.{number}" for number in range(len(between)))
        self.bones |= dict(zip(names, reversed(between), strict=True))
        return (*names, CHEST) if chest.name != self.bones[HIPS] else ()

    def _ground(self) -> Matrix:
        """Return the space of the stance (4x4, world space) for the armature where it is now."""
        world, stance = self.armature.matrix_world, stance_of(self.armature)
        turn = orientation(world.to_3x3()) @ frame_along(stance.front, stance.up)
        heads = {name: world @ self._at_rest[bone].translation for name, bone in self.bones.items()}
        pelvis = (heads["thigh.L"] + heads["thigh.R"]) / 2.0
        ankles = (heads["foot.L"] + heads["foot.R"]) / 2.0
        up = turn @ Vector((0.0, 0.0, 1.0))
        return Matrix.LocRotScale(pelvis - up * up.dot(pelvis - ankles), turn, None)

    @cached_property
    def rest(self) -> dict[str, Matrix]:
        """Frames of all parts at rest (4x4), without scale."""
        return {name: (self._into @ self._at_rest[bone]).normalized() for name, bone in self.bones.items()}

    def at_rest(self, name: str) -> Vector:
        """Return the place of a part's head at rest."""
        return self.rest[name].translation

    @cached_property
    def pelvis(self) -> Vector:
        """The middle between the heads of both thighs at rest."""
        return (self.at_rest("thigh.L") + self.at_rest("thigh.R")) / 2.0

    def length(self, end: str) -> float:
        """Return the length of the limb that ends in a hand or foot, to its wrist or ankle."""
        heads = self._heads(end)
        return sum((b - a).length for a, b in itertools.pairwise(heads))

    def _heads(self, end: str) -> list[Vector]:
        return [self._into @ self._at_rest[name].translation for name in self.limbs[end]]

    @cached_property
    def frames(self) -> dict[str, dict[str, Quaternion]]:
        """Frames that anatomy gives hands and feet at rest, the most telling first."""
        found = {}
        stance = stance_of(self.armature)
        back = frame_along(stance.front, stance.up).conjugated()
        for end in self.limbs:
            frames = {kind: back @ turn for kind, turn in end_frames(self.body, stance, self.bones[end]).items()}
            if end.startswith("hand"):  # without fingers: as the forearm, the palm towards the ground or the body
                elbow, wrist = self._heads(end)[-2:]
                out = Vector((-1.0 if end.endswith("L") else 1.0, 0.0, 0.5))
                frames["stance"] = frame_along(wrist - elbow, out + Vector((0.0, 0.0, 0.5)))
            found[end] = frames
        return found

    @cached_property
    def links(self) -> dict[str, Vector]:
        """Vectors along both parts of all limbs at rest, to the next joint."""
        found = {}
        for end in self.limbs:
            root, middle, tip = self._heads(end)[:3]
            upper = "shoulder" if end.startswith("hand") else "thigh"
            found[upper + end[-2:]], found[_LINKS[upper] + end[-2:]] = middle - root, tip - middle
        return found

    def point(self, end: str) -> Vector:
        """Return the offset of the palm from the wrist, or of the ball of the foot from the ankle, at rest."""
        elbow, wrist = self._heads(end)[-2:]
        if end.startswith("hand"):
            frames = self.frames[end]
            along = frames["hand"] @ Vector((0.0, 1.0, 0.0)) if "hand" in frames else (wrist - elbow).normalized()
            return along * (_PALM * (wrist - elbow).length)
        bone = self.armature.data.bones[self.bones[end]]
        toe = next((each for each in bone.children if self._part(each.name) == "toe"), None)
        tail = self._at_rest[bone.name] @ Vector((0.0, bone.length, 0.0))
        return self._into @ (self._at_rest[toe.name].translation if toe else tail) - wrist

    def see(self, depsgraph: Depsgraph) -> dict[str, PartPlace]:
        """Return where all parts are, as evaluated."""
        shown = self.armature.evaluated_get(depsgraph)
        into, found = self.base.inverted() @ shown.matrix_world, {}
        for name, bone in self.bones.items():
            frame = into @ shown.pose.bones[bone].matrix
            turn = orientation(frame.to_3x3()) @ self.rest[name].to_quaternion().conjugated()
            found[name] = PartPlace(frame.translation, turn)
        return found


def _scaled_rests(armature: Object) -> dict[str, Matrix]:
    """Return the frames of all bones at rest, in the sizes that they are shown in now (4x4, armature space)."""
    found = dict[str, Matrix]()
    for bone in armature.pose.bones:
        rest, above = bone.bone.matrix_local, bone.parent
        place = (
            found[above.name] @ (above.bone.matrix_local.inverted() @ rest.translation) if above else rest.translation
        )
        size = uniform_scale(bone.matrix) or 1.0
        found[bone.name] = Matrix.LocRotScale(place, rest.to_quaternion(), (size,) * 3)
    return found


class Retargeting:
    """The motion of a `source` as that of a `target`."""

    def __init__(self, source: Figure, target: Figure) -> None:
        self.source, self.target = source, target
        both = [[figure.length(f"foot.{side}") for side in _SIDES] for figure in (source, target)]
        self.legs = sum(both[1]) / sum(both[0])
        self.arms = {end: target.length(end) / source.length(end) for end in ("hand.L", "hand.R")}
        self.turned = {end: self._turned(end) for end in source.frames}
        links = source.links
        self.turned |= {part: own.rotation_difference(links[part]) for part, own in target.links.items()}
        self.floor = 0.0

    def _turned(self, end: str) -> Quaternion:
        """Return what a hand or foot of the target has to be turned by at rest to be as that of the source is."""
        own, theirs = self.target.frames[end], self.source.frames[end]
        kind = next(kind for kind in own if kind in theirs)
        return theirs[kind] @ own[kind].conjugated()

    def spans(self, shown: Sequence[Mapping[str, PartPlace]], fps: float, fade: float) -> dict[str, list[Indexed]]:
        """Return first and last index of the spans in which the balls of the source's feet are planted."""
        if len(shown) < 3:
            return {f"foot.{side}": [] for side in _SIDES}
        feet = [f"foot.{side}" for side in _SIDES]
        balls = [self._balls(end, shown) for end in feet]
        hips, up = np.array([each[HIPS].place for each in shown]).T, np.array((0.0, 0.0, 1.0))
        legs = [self.source.length(end) for end in feet]
        each = zip(balls, planted_spans(balls, hips, up, legs, fps, fade), legs, strict=True)
        found = dict(zip(feet, ([*settled(*some)] for some in each), strict=True))
        self.floor = self._floor(balls, found)
        return found

    def _floor(self, balls: Sequence[Numbers], spans: Mapping[str, Sequence[Indexed]]) -> float:
        """Return how high the ground of the motion is above that at rest: 0 unless the rest pose is far below it.

        Recordings often have a rest pose whose hips are where the floor is.
        """
        heights = [
            float(np.median(ball[2, first : last + 1])) - self.source.at_rest(end).z - self.source.point(end).z
            for ball, (end, runs) in zip(balls, spans.items(), strict=True)
            for first, last in runs
        ]
        low = min(heights, default=0.0)
        return low if abs(low) > _OFF_THE_FLOOR * self.source.length("foot.L") else 0.0

    def _balls(self, end: str, shown: Sequence[Mapping[str, PartPlace]]) -> Numbers:
        point = self.source.point(end)
        return np.array([each[end].carries(point) for each in shown]).T

    def frames(
        self, shown: Sequence[Mapping[str, PartPlace]], spans: Mapping[str, Sequence[Indexed]], fade: float
    ) -> dict[str, list[Matrix]]:
        """Return the frames (4x4, world space) of the target's hips, chest, head, hands and feet, at each moment."""
        balls, times = {}, np.arange(len(shown), dtype=float)
        for end, runs in spans.items():
            way = self.target.at_rest(end).z + self.target.point(end).z
            way -= self.legs * (self.source.at_rest(end).z + self.source.point(end).z + self.floor)
            places = self.legs * self._balls(end, shown) + np.array([[0.0], [0.0], [way]])
            still = [Planted.of((first, last), places[:, first : last + 1]) for first, last in runs]
            balls[end] = planted(places, times, still, fade)
        feet = {end: self._feet(end, shown, balls[end]) for end in balls}
        longest = {end: [self._longest(end, each) for each in shown] for end in feet}
        hips = self._within_reach(list(self._hips(shown, feet)), feet, longest)
        feet = {end: self._drawn_in(end, places, hips, spans[end], longest[end]) for end, places in feet.items()}
        found: dict[str, list[PartPlace]] = {HIPS: hips, **feet}
        # Where hands come near each other fast that begins before, so that elbows and wrists do not jump.
        near = _over(np.array([self._nearness(each) for each in shown]), _COMING)
        upper = [self._upper(each, own, share) for each, own, share in zip(shown, hips, near.tolist(), strict=True)]
        found |= {name: [each[name] for each in upper] for name in upper[0]}
        rest = {name: self.target.rest[name].to_quaternion() for name in found}
        return {
            name: [self.target.base @ Matrix.LocRotScale(at.place, at.turn @ rest[name], None) for at in places]
            for name, places in found.items()
        }

    def turns(self, shown: Mapping[str, PartPlace]) -> dict[str, Quaternion]:
        """Return the rotations (world space) of the target's parts that are turned as those of the source are.

        Limbs point where the source's do; as much as they have to be turned for that at rest, they are anywhere.
        """
        found = {part: shown[part].turn @ turned for part, turned in self.turned.items()}
        clavicles = [f"{CLAVICLE}.{side}" for side in _SIDES]
        found |= {part: shown[part].turn for part in clavicles if part in shown and part in self.target.bones}
        found |= self._spine_turns(shown)
        if FACE in self.source.bones and FACE in self.target.bones:
            chest, face, necks = shown[CHEST].turn, shown[FACE].turn, self.target.neck
            found |= {part: chest.slerp(face, k / (len(necks) + 1)) for k, part in enumerate(necks, 1)} | {FACE: face}
        base = self.target.base.to_quaternion()
        return {part: base @ turn @ self.target.rest[part].to_quaternion() for part, turn in found.items()}

    def _feet(self, end: str, shown: Sequence[Mapping[str, PartPlace]], balls: Numbers) -> list[PartPlace]:
        turns = [each[end].turn @ self.turned[end] for each in shown]
        point = self.target.point(end)
        return [PartPlace(Vector(ball) - turn @ point, turn) for ball, turn in zip(balls.T, turns, strict=True)]

    def _hips(
        self, shown: Sequence[Mapping[str, PartPlace]], feet: Mapping[str, Sequence[PartPlace]]
    ) -> Iterator[PartPlace]:
        """Yield the hips, as high above the ankles as legs are long: feet of other lengths lift them differently."""
        source, target = self.source, self.target
        to_pelvis, back = source.pelvis - source.at_rest(HIPS), target.at_rest(HIPS) - target.pelvis
        for number, each in enumerate(shown):
            at = each[HIPS].carries(to_pelvis) * self.legs
            at.z += sum(own[number].place.z - self.legs * each[end].place.z for end, own in feet.items()) / len(feet)
            yield PartPlace(at + each[HIPS].turn @ back, each[HIPS].turn)

    def _longest(self, end: str, shown: Mapping[str, PartPlace], near: float = 0.0) -> float:
        """Return how far a hand or foot may be from its limb's root: no farther than the source's, where that matters.

        An elbow or knee that straightens turns fast just before. Hands that come `near` each other may go farther.
        """
        root = f"shoulder.{end[-1]}" if end.startswith("hand") else f"thigh.{end[-1]}"
        straight = (shown[end].place - shown[root].place).length / self.source.length(end)
        least = _BENT + (_STRAIGHT - _BENT) * near
        return min(max(straight, least), _STRAIGHT) * self.target.length(end)

    def _within_reach(
        self,
        hips: Sequence[PartPlace],
        feet: Mapping[str, Sequence[PartPlace]],
        longest: Mapping[str, Sequence[float]],
    ) -> list[PartPlace]:
        """Return the hips lowered, smoothly, where a leg would have to be longer than its longest."""
        down = np.zeros(len(hips))
        for end, places in feet.items():
            way = self.target.at_rest(f"thigh.{end[-1]}") - self.target.at_rest(HIPS)
            for number, (at, foot, most) in enumerate(zip(hips, places, longest[end], strict=True)):
                leg = at.carries(way) - foot.place
                level = most * most - leg.x * leg.x - leg.y * leg.y
                if leg.length > most and level > 0.0:
                    down[number] = max(down[number], leg.z - level**0.5)
        down = _over(down)
        return [at._replace(place=at.place - Vector((0.0, 0.0, low))) for at, low in zip(hips, down, strict=True)]

    def _drawn_in(
        self,
        end: str,
        feet: Sequence[PartPlace],
        hips: Sequence[PartPlace],
        spans: Sequence[Indexed],
        longest: Sequence[float],
    ) -> list[PartPlace]:
        """Return the feet drawn in where they are in the air and out of reach, as no height of the hips helps."""
        way = self.target.at_rest(f"thigh.{end[-1]}") - self.target.at_rest(HIPS)
        found = list(feet)
        for number, (at, foot, most) in enumerate(zip(hips, feet, longest, strict=True)):
            thigh = at.carries(way)
            leg = foot.place - thigh
            if leg.length > most and not any(first <= number <= last for first, last in spans):
                found[number] = foot._replace(place=thigh + leg * (most / leg.length))
        return found

    def _upper(self, shown: Mapping[str, PartPlace], hips: PartPlace, near: float) -> dict[str, PartPlace]:
        """Return chest, head and hands of one moment, above the target's hips; the hands as `near` as _nearness()."""
        chest = self._chest(shown, hips)
        found = {} if chest is hips else {CHEST: chest}
        if self.target.stiff:
            name = self.target.spine[self.target.stiff - 1]
            found[name] = PartPlace(hips.carries(self.target.at_rest(name) - self.target.at_rest(HIPS)), hips.turn)
        if FACE in self.source.bones and FACE in self.target.bones:
            found[FACE] = self._carried(FACE, CHEST, shown, chest)
        shoulders, palms, turns = {}, {}, {}
        for end, arm in self.arms.items():
            shoulders[end] = self._shoulder(end[-1], shown, chest)
            wrist = shoulders[end] + arm * (shown[end].place - shown[f"shoulder.{end[-1]}"].place)
            turns[end] = shown[end].turn @ self.turned[end]
            palms[end] = wrist + turns[end] @ self.target.point(end)
        arm = sum(self.arms.values()) / 2.0
        between = (palms["hand.L"] - palms["hand.R"]).lerp(self._between_palms(shown) * arm, near)
        for _ in range(_MEETINGS):
            missing = (between - (palms["hand.L"] - palms["hand.R"])) * 0.5
            palms["hand.L"], palms["hand.R"] = palms["hand.L"] + missing, palms["hand.R"] - missing
            for end, palm in palms.items():
                at = turns[end] @ self.target.point(end)
                way = palm - at - shoulders[end]
                way *= min(1.0, self._longest(end, shown, near) / max(way.length, 1e-9))
                found[end] = PartPlace(shoulders[end] + way, turns[end])
                palms[end] = found[end].place + at
        return found

    def _chest(self, shown: Mapping[str, PartPlace], hips: PartPlace) -> PartPlace:
        """Return the chest on a spine that is turned as the source's is."""
        at, below, turns = hips, HIPS, self._spine_turns(shown)
        for name in self.target.spine:
            way = self.target.at_rest(name) - self.target.at_rest(below)
            at, below = PartPlace(at.carries(way), turns[name]), name
        return at

    def _spine_turns(self, shown: Mapping[str, PartPlace]) -> dict[str, Quaternion]:
        """Return the turns of hips and spine: those of the source's bones at the same share of its length."""
        turns = [shown[name].turn for name in (HIPS, *self.source.spine)]
        found, stiff = {HIPS: turns[0]}, self.target.stiff
        for number, name in enumerate(self.target.spine, 1):
            share = max(number - stiff, 0) / max(len(self.target.spine) - stiff, 1) * (len(turns) - 1)
            whole = min(int(share), max(len(turns) - 2, 0))
            found[name] = turns[whole].slerp(turns[whole + 1], share - whole) if len(turns) > 1 else turns[0]
        return found

    def _shoulder(self, side: str, shown: Mapping[str, PartPlace], chest: PartPlace) -> Vector:
        """Return the head of an upper arm on a collar bone that is turned as the source's, if it is one that turns."""
        target, shoulder, clavicle = self.target, f"shoulder.{side}", f"{CLAVICLE}.{side}"
        at, below = chest, CHEST
        own = target.bones.get(clavicle)
        if own and clavicle in shown and can_turn(target.armature.pose.bones[own]):
            root = chest.carries(target.at_rest(clavicle) - target.at_rest(CHEST))
            at, below = PartPlace(root, shown[clavicle].turn), clavicle
        return at.carries(target.at_rest(shoulder) - target.at_rest(below))

    def _carried(self, name: str, on: str, shown: Mapping[str, PartPlace], base: PartPlace) -> PartPlace:
        """Return where a part is that another one carries: as the source's has moved on its own since rest."""
        source, target = self.source, self.target
        own = target.at_rest(name) - target.at_rest(on)
        before = source.at_rest(name) - source.at_rest(on)
        now = shown[on].turn.conjugated() @ (shown[name].place - shown[on].place)
        if before.length > 0.0 and now.length > 0.0:
            own = before.rotation_difference(now) @ own * (now.length / before.length)
        return PartPlace(base.carries(own), shown[name].turn)

    def _between_palms(self, shown: Mapping[str, PartPlace]) -> Vector:
        """Return the vector from the source's right palm to its left one."""
        left, right = (shown[end].carries(self.source.point(end)) for end in ("hand.L", "hand.R"))
        return left - right

    def _nearness(self, shown: Mapping[str, PartPlace]) -> float:
        """Return how much the hands are to be as far apart as the source's, from 0 to 1: the nearer the more."""
        reach = sum(map(self.source.length, self.arms)) / 2.0
        t = min(max((self._between_palms(shown).length / reach - _NEAR) / (_FAR - _NEAR), 0.0), 1.0)
        return 1.0 - t * t * (3.0 - 2.0 * t)


def settled(ball: Numbers, spans: Sequence[Indexed], leg: float) -> Iterator[Indexed]:
    """Yield the spans of a ball (3, F) without their ends in which it still comes down on, or leaves, its place.

    A foot that lands on its heel would have to lift its ankle for the ball to be there at once.
    """
    for first, last in spans:
        place = np.median(ball[:, first : last + 1], axis=1, keepdims=True)
        there = np.flatnonzero(np.linalg.norm(ball[:, first : last + 1] - place, axis=0) <= _ON_ITS_PLACE * leg)
        if len(there):
            yield first + int(there[0]), first + int(there[-1])


def _over(values: Numbers, width: int = 4) -> Numbers:
    """Return the values smoothed, and nowhere less than they were."""
    if not values.any():
        return values
    most = np.max([np.roll(np.pad(values, width, "edge"), by) for by in range(-width, width + 1)], axis=0)
    kernel = np.hanning(2 * width + 3)[1:-1]
    smooth: Numbers = np.convolve(most, kernel / kernel.sum(), "same")[width:-width]
    return np.maximum(smooth, values)
