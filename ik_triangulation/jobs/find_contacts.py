# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding of contacts: feet that are planted, and hands and feet that rest on what may move, such as props or a lift.

Feet stand in the world, on ground that may be missing from the scene, or on meshes that move. Hands rest on meshes, on
the floor that the feet stand on, on the other arm and on the legs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import Object, Scene, ViewLayer
from mathutils import Vector

from ..cooperative import Job, Work, cooperative, relay
from ..errors import ChainError, TargetError
from ..kinematics.arrays import Numbers
from ..motion.contacts import Indexed, Stay, Touchable, floor_height, placed_on, planted_spans, stays_on
from ..rig.anatomy.limbs import ARM, LEG, Anatomy, BodyLimb
from ..rig.armature import find_bone, is_even, is_flat
from ..rig.body import Contact, RigBody, hindrance, store_contacts, stored_contacts
from ..rig.checks import check_armature, check_range
from ..rig.controls import Controls
from ..rig.dependencies import Dependencies
from ..rig.frames.body_samples import AT_ONCE, BodySamples, read_body
from ..rig.frames.reader import Evaluator
from ..rig.stance import stance_of
from ..rig.touchables import (
    ALONG_FOOT,
    ALONG_HAND,
    MeshesSeen,
    away_from_bone,
    check_touchable,
    follows_body,
    meshes_to_touch,
    never_moves,
    runs_at_rest,
)
from ..settings import check_registered
from ..settings.property_groups import keep_settings
from .shots.contacts import animated_frames, bone_in_world, in_world, mesh_under, tip_places
from .shots.writing import Undo

_UP = Vector((0.0, 0.0, 1.0))
_GROUND = 0.2  # of a leg: a hand that rests no higher than that above the feet is the front paw of an animal
_UNSEEN = 0.07  # [limbs] distance of the ground in the world, of which nothing is known: a mesh that is nearer wins
_HELD = 0.2  # [s] for which a hand has to carry a thing that the other one is on


@cooperative
def find_contacts(
    armature: Object,
    frame_start: int,
    frame_end: int,
    tips: Sequence[str] = (),
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    supports: Sequence[Object] | None = None,
) -> Job[list[Contact]]:
    """Find the spans from `frame_start` to `frame_end` in which feet are planted, and hands and feet rest on something.

    They are stored with the armature, in place of those of the same limbs within these frames, and returned. The
    `tips` are bones at whose tails the hands and feet are; without any, the held limbs, else the feet that are
    recognised, and the hands that reach for nothing. Feet, and hands that rest on something, are held from then on.
    `supports` are the meshes that they may touch, by default all that are shown; besides, hands may touch the floor
    under the feet, the other arm and the legs. What counts is the animation made by hand or recorded, not what was
    baked. Raises ChainError where neither feet nor hands are found, TargetError for what nothing can touch, and what
    reading a body does; then nothing has changed.
    """
    check_registered()
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    check_armature(armature, view_layer)
    check_range(scene, frame_start, frame_end, 1)
    for ob in supports or ():
        check_touchable(ob, armature, scene, view_layer)
    settings, figure = armature.ik_triangulation, _Figure(armature)
    given = tuple(find_bone(armature, tip).name for tip in tips)
    wanted = given or feet_of(armature)
    hips = settings.hips or figure.hips(wanted)
    hands = () if given else tuple(tip for tip in figure.free_hands if tip not in wanted)
    if not wanted and not hands:
        raise ChainError("No feet are found. Select their bones, or turn on Hold in Place for them.")
    stands = any(tip not in figure.hands for tip in wanted)
    rig = RigBody(armature, (), (*wanted, *hands), hips, settings.hips_motion if stands else "FIXED")
    wanted += tuple(tip for tip in hands if figure.is_readable(tip, rig.hips))
    apart = next((tip for tip in wanted if rig.hips not in figure.above(tip)), None)
    if apart is not None:
        raise ChainError(f"'{apart}' does not hang on the hips '{rig.hips}'. Choose other hips, or another foot.")
    beside = tuple(
        end for end in figure.ends if end not in wanted and end != rig.hips and figure.is_readable(end, rig.hips)
    )
    rig = RigBody(armature, (), (*wanted, *beside), rig.hips, rig.hips_motion)
    frames = range(frame_start, frame_end + 1)
    yield 0, 1
    samples = yield from relay(read_body(rig, scene, frames, view_layer), (0, 1))
    search = _Search(figure, rig, samples, wanted, scene)
    meshes = meshes_to_touch(armature, scene, view_layer) if supports is None else list(supports)
    yield from relay(search.read(meshes, scene, view_layer), (0, 1))
    found = search.found(settings.contact_fade)
    yield 1, 1
    resting = {each.tip for each in found}
    held = [tip for tip in wanted if tip not in figure.hands or tip in resting]
    with Undo() as undo:
        keep_settings(armature, undo)
        bones = armature.pose.bones
        stood = any(bone.ik_triangulation.hold and bone.name not in figure.hands for bone in bones)
        stands = stood or any(tip not in figure.hands for tip in held)
        if not settings.hips and held:
            # Hands alone leave the hips and what stands on them as they are.
            settings.hips, settings.hips_motion = rig.hips, settings.hips_motion if stands else "FIXED"
        elif stands and not stood and settings.hips_motion == "FIXED":
            settings.hips_motion = "FREE"
        for tip in held:
            stored = bones[tip].ik_triangulation
            stored.hold, stored.enabled, stored.use_selected = True, True, False
            # The feet hang on the hips, and with them in their chains they are one body.
            stored.chain_count = figure.arm_length(tip) or figure.above(tip).index(rig.hips) + 2
        kept = [each for each in stored_contacts(armature) if each.tip not in wanted or not _touches(each, frames)]
        store_contacts(armature, sorted([*kept, *found], key=lambda each: (each.frame_start, each.tip)))
        undo.pop_all()
    return found


def named_meshes(names: Sequence[str], scene: Scene) -> list[Object]:
    """Return the objects of a scene with these names. Raises TargetError for one that is not there."""
    missing = next((name for name in names if name not in scene.objects), None)
    if missing is not None:
        raise TargetError(f"'{missing}' is not in this scene. Name a mesh that hands or feet touch.")
    return [scene.objects[name] for name in names]


def feet_of(armature: Object) -> tuple[str, ...]:
    """Return the tips of the held limbs, else the feet that are recognised, if there are any."""
    held = tuple(bone.name for bone in armature.pose.bones if bone.ik_triangulation.hold)
    return held or tuple(limb.bones[-1] for limb in Anatomy(armature, Controls(armature)).limbs(LEG))


class _Figure:
    """The arms and legs of an armature by their tips; `hands` are the tips of arms that do not stand at rest."""

    def __init__(self, armature: Object) -> None:
        self.armature, anatomy = armature, Anatomy(armature, Controls(armature))
        self.arms = {limb.bones[-1]: limb for limb in anatomy.limbs(ARM)}
        self.legs = {limb.bones[-1]: limb for limb in anatomy.limbs(LEG)}
        self.hands = {tip: limb for tip, limb in self.arms.items() if not self._stands(limb)}

    def _stands(self, arm: BodyLimb) -> bool:
        bones, up = self.armature.data.bones, stance_of(self.armature).up
        for leg in self.legs.values():
            foot = bones[leg.bones[-1]]
            size = (bones[leg.bones[0]].head_local - foot.head_local).length
            if (bones[arm.bones[-1]].tail_local - foot.tail_local).dot(up) < _GROUND * size:
                return True
        return False

    @property
    def ends(self) -> tuple[str, ...]:
        """The tips of all arms and legs."""
        return (*self.arms, *self.legs)

    @property
    def free_hands(self) -> list[str]:
        """The hands that reach for nothing."""
        stored = {tip: self.armature.pose.bones[tip].ik_triangulation for tip in self.hands}
        return [tip for tip, limb in stored.items() if limb.hold or not (limb.enabled and limb.target)]

    def above(self, tip: str) -> list[str]:
        """Return the names of the bones above a tip."""
        return [bone.name for bone in self.armature.pose.bones[tip].parent_recursive]

    def arm_length(self, tip: str) -> int:
        """Return the number of bones of the arm of a hand; 0 for another tip."""
        return self.above(tip).index(self.hands[tip].bones[0]) + 2 if tip in self.hands else 0

    def length(self, tip: str) -> float:
        """Return the length of an arm or leg without its hand or foot, at rest."""
        bones, names = self.armature.data.bones, (self.arms | self.legs)[tip].bones
        heads = [bones[name].head_local for name in names]
        return sum((b - a).length for a, b in pairwise(heads))

    def is_readable(self, tip: str, hips: str) -> bool:
        """Tell whether bones from the hips to a tip follow each other without an uneven scale, as in a body."""
        line = [tip, *self.above(tip)]
        if hips not in line[1:]:
            return False
        bones = [self.armature.pose.bones[name] for name in line[: line.index(hips) + 1]]
        return not any(
            not is_even(each.scale) or not each.bone.use_inherit_rotation or is_flat(each.bone.matrix_local)
            for each in bones
        )

    def hips(self, tips: Sequence[str]) -> str:
        """Return the lowest bone that feet and arms hang on and that can move; empty without arms that are recognised.

        Some skeletons have a pelvis that the spine does not hang on: it must not leave the spine.
        """
        if not self.arms:
            return ""
        lines = [self.above(tip) for tip in dict.fromkeys((*tips, *self.ends))]
        common = [name for name in lines[0] if all(name in line for line in lines)]
        return next((name for name in common if not hindrance(self.armature.pose.bones[name])), "")


class _Mesh(NamedTuple):
    """A mesh over the frames: its frames without scale (4, 4, F; world space), and how far tips (F) are from it."""

    object: Object
    frames: Numbers
    away: Mapping[str, Numbers]


class _Search:
    """A search for contacts of the `wanted` tips of a body as animated, in arrays over its frames."""

    def __init__(
        self, figure: _Figure, rig: RigBody, samples: BodySamples, wanted: Sequence[str], scene: Scene
    ) -> None:
        self._figure, self._rig, self._samples, self._wanted = figure, rig, samples, wanted
        self._body, self._frames = animated_frames(rig, samples)
        self._fps = scene.render.fps / scene.render.fps_base
        size = float(np.cbrt(abs(np.linalg.det(samples.worlds[:3, :3, 0]))))
        self._hips = in_world(samples, self._frames[0, :, 3])
        self._places = {tip: tip_places(self._body, tip, samples, self._frames) for tip in wanted}
        self._limbs = {
            tip: size
            * (figure.length(tip) if tip in figure.hands else self._body.reach(tip) - self._body.tip(tip).place.length)
            for tip in wanted
        }
        self._meshes: list[_Mesh] = []

    def _world(self, bone: str) -> Numbers:
        """Return the frames (4, 4, F) of a bone, world space."""
        return bone_in_world(self._samples, self._frames[self._rig.bones.index(bone)])

    def _points(self, tip: str) -> Numbers:
        """Return the places (k, 3, F) along a hand or foot that may touch, world space."""
        frame, along = self._world(tip), ALONG_HAND if tip in self._figure.hands else ALONG_FOOT
        length = self._rig.length(tip)
        return np.array([frame[:3, 3] + share * length * frame[:3, 1] for share in along])

    def read(self, meshes: Sequence[Object], scene: Scene, view_layer: ViewLayer) -> Work[None]:
        """Read meshes at all frames, with their distances from the tips."""
        frames = self._samples.frames
        seen = MeshesSeen(meshes, {tip: self._points(tip) for tip in self._wanted}, self._limbs, frames)
        if not seen.meshes or not self._wanted:
            return
        touching = tuple(Contact(self._wanted[0], frames[0], frames[-1], ob) for ob in seen.meshes)
        evaluator = Evaluator(replace(self._rig, contacts=touching), scene, view_layer, frames)
        looks = yield from evaluator.evaluate(frames, seen.look, AT_ONCE)
        for ob in seen.meshes:
            every = [looks[frame][ob.name] for frame in frames]
            matrices = np.moveaxis(np.array([each.frame for each in every], float), 0, -1)
            away = {tip: np.array([each.away[tip] for each in every]) for tip in self._wanted}
            self._meshes.append(_Mesh(ob, matrices, away))

    def found(self, fade: int) -> list[Contact]:
        """Return the contacts of all tips, in the order of time."""
        feet = [tip for tip in self._wanted if tip not in self._figure.hands]
        up = np.array(_UP)
        legs = [self._limbs[tip] for tip in feet]
        spans = planted_spans([self._places[tip] for tip in feet], self._hips, up, legs, self._fps, fade)
        stays = dict[str, list[Stay]]()
        for tip, planted in zip(feet, spans, strict=True):
            stays[tip] = self._stays_of_foot(tip, planted, fade)
        floors = [floor_height(self._places[tip], self._hips, up, self._limbs[tip], self._fps) for tip in feet]
        floor = min((each for each in floors if each is not None), default=None)
        for tip in self._figure.hands:
            if tip in self._wanted:
                things = [*self._on_meshes(tip), *self._on_body(tip), *self._on_floor(tip, floor)]
                stays[tip] = stays_on(things, self._limbs[tip], self._fps, fade)
        known = Dependencies()
        found = [self._contact(tip, stay, known) for tip, every in self._uncrossed(stays).items() for stay in every]
        return sorted((each for each in found if each is not None), key=lambda each: (each.frame_start, each.tip))

    def _stays_of_foot(self, tip: str, planted: Sequence[Indexed], fade: int) -> list[Stay]:
        """Return where a foot that is planted in these spans stands in the world, or on meshes that move."""
        ground = np.full(self._places[tip].shape[1], _UNSEEN * self._limbs[tip])
        things = [Touchable(None, self._places[tip], ground, self._hips)]
        under = mesh_under(self._rig, tip) is not None
        moving = (mesh for mesh in self._meshes if not under and not never_moves(mesh.frames))
        things += [self._on_mesh(tip, mesh, self._hips) for mesh in moving]
        if len(things) == 1:
            return [Stay(None, *span) for span in planted]
        return stays_on(things, self._limbs[tip], self._fps, fade, planted)

    def _on_mesh(self, tip: str, mesh: _Mesh, hips: Numbers | None = None) -> Touchable:
        places, away = placed_on(mesh.frames, self._places[tip]), mesh.away[tip]
        return Touchable((mesh.object, ""), places, away, None if hips is None else placed_on(mesh.frames, hips))

    def _on_meshes(self, tip: str) -> list[Touchable]:
        return [self._on_mesh(tip, mesh) for mesh in self._meshes]

    def _on_floor(self, tip: str, floor: float | None) -> list[Touchable]:
        if floor is None:
            return []
        heights = self._points(tip)[:, 2].min(0)
        return [Touchable(None, self._places[tip], np.abs(heights - floor))]

    def _on_body(self, tip: str) -> list[Touchable]:
        """Return the bones of the other arm and of the legs, as far as they were read."""
        found, points = list[Touchable](), self._points(tip)
        for end, limb in (self._figure.arms | self._figure.legs).items():
            if end == tip or end not in self._rig.tips:
                continue
            for name, part in zip(limb.bones, limb.kind.parts, strict=False):
                if part == "foot" or name not in self._rig.bones:
                    continue
                frame = self._world(name)
                tail = frame[:3, 3] + self._rig.length(name) * frame[:3, 1]
                away = away_from_bone(points, frame[:3, 3], tail, part)
                found.append(Touchable((self._rig.armature, name), placed_on(frame, self._places[tip]), away))
        return found

    def _uncrossed(self, stays: Mapping[str, Sequence[Stay]]) -> dict[str, list[Stay]]:
        """Return stays of which no two hands are on each other: the one that moves less while they are carries both."""
        kept = {tip: list(every) for tip, every in stays.items()}
        arms = {name: tip for tip, limb in self._figure.arms.items() for name in limb.bones}
        own = {tip: [s for s in every if isinstance(s.on, tuple) and s.on[1] in arms] for tip, every in kept.items()}
        for one, other in combinations(own, 2):
            pairs = [
                (here, back)
                for here in own[one]
                for back in own[other]
                if (arms[here.on[1]], arms[back.on[1]]) == (other, one)
                and here.first <= back.last
                and back.first <= here.last
            ]
            spans = [slice(min(a.first, b.first), max(a.last, b.last) + 1) for a, b in pairs]
            ways = [
                sum(np.linalg.norm(np.diff(self._places[tip][:, span]), axis=0).sum() for span in spans)
                for tip in (one, other)
            ]
            still, number = (one, 0) if ways[0] < ways[1] else (other, 1)
            lost = [pair[number] for pair in pairs]
            kept[still] = [stay for stay in kept[still] if stay not in lost]
        return kept

    def _contact(self, tip: str, stay: Stay, known: Dependencies) -> Contact | None:
        """Return the contact of a stay; on what a hand of the body itself carries, it is on that hand while it does."""
        frames = self._samples.frames[stay.first], self._samples.frames[stay.last]
        if not isinstance(stay.on, tuple):
            return Contact(tip, *frames)
        ob, bone = stay.on
        carrier = None if bone else follows_body(self._rig.armature, ob, "", known)
        if carrier is None:
            return Contact(tip, *frames, ob, bone)
        if tip in self._rig.line(carrier) or carrier not in self._rig.bones:
            return None
        mesh = next(each for each in self._meshes if each.object == ob)
        inside = slice(stay.first, stay.last + 1)
        into = np.linalg.inv(np.moveaxis(self._world(carrier)[..., inside], -1, 0))
        on = np.moveaxis(into @ np.moveaxis(mesh.frames[..., inside], -1, 0), 0, -1)
        runs = [run for run in runs_at_rest(on) if (run[1] - run[0]) >= _HELD * self._fps]
        if not runs:
            return None
        first, last = max(runs, key=lambda run: run[1] - run[0])
        frames = self._samples.frames[stay.first + first], self._samples.frames[stay.first + last]
        return Contact(tip, *frames, self._rig.armature, carrier)


def _touches(contact: Contact, frames: range) -> bool:
    return contact.frame_start <= frames[-1] and contact.frame_end >= frames[0]
