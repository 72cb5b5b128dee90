# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of the feet of an animated body: found in its motion."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np
from bpy.types import Object, Scene, ViewLayer

from ..cooperative import Job, cooperative, relay
from ..errors import ChainError
from ..motion.contacts import planted_spans
from ..rig.anatomy.limbs import ARM, LEG
from ..rig.anatomy.reading import Anatomy
from ..rig.armature import find_bone
from ..rig.body import RigBody, hindrance
from ..rig.checks import check_armature, check_range
from ..rig.contacts import Contact, store_contacts, stored_contacts
from ..rig.controls import Controls
from ..rig.frames.body_samples import BodySamples, read_body
from ..settings import check_registered
from ..settings.property_groups import keep_settings
from .contact_frames import animated_frames, in_world, tip_places
from .transaction import Undo


@cooperative
def find_contacts(
    armature: Object,
    frame_start: int,
    frame_end: int,
    tips: Sequence[str] = (),
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> Job[list[Contact]]:
    """Find the spans from `frame_start` to `frame_end` in which feet are planted, by their speed and height.

    They are stored with the armature, in place of those of the same limbs within these frames, and returned. The
    `tips` are bones at whose tails the feet are; without any, the held limbs, else the feet that are recognised. All of
    them are held from then on. What counts is the animation made by hand or recorded, not what was baked. Raises
    ChainError where no feet are found, and what reading a body does; then nothing has changed.
    """
    check_registered()
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    check_armature(armature, view_layer)
    check_range(scene, frame_start, frame_end, 1)
    settings = armature.ik_triangulation
    feet = tuple(find_bone(armature, tip).name for tip in tips) or feet_of(armature)
    if not feet:
        raise ChainError("No feet are found. Select their bones, or turn on Hold in Place for them.")
    rig = RigBody(armature, (), feet, settings.hips or _hips(armature, feet), settings.hips_motion)
    above = {tip: [bone.name for bone in armature.pose.bones[tip].parent_recursive] for tip in feet}
    apart = next((tip for tip in feet if rig.hips not in above[tip]), None)
    if apart is not None:
        raise ChainError(f"'{apart}' does not hang on the hips '{rig.hips}'. Choose other hips, or another foot.")
    frames = range(frame_start, frame_end + 1)
    yield 0, 1
    samples = yield from relay(read_body(rig, scene, frames), (0, 1))
    found = _found(rig, samples, scene, settings.contact_fade)
    yield 1, 1
    with Undo() as undo:
        keep_settings(armature, undo)
        bones, settings.hips = armature.pose.bones, rig.hips
        for tip in feet:
            stored = bones[tip].ik_triangulation
            stored.hold, stored.enabled, stored.use_selected = True, True, False
            # The feet hang on the hips, and with them in their chains they are one body.
            stored.chain_count = above[tip].index(rig.hips) + 2
        kept = [each for each in stored_contacts(armature) if each.tip not in feet or not _touches(each, frames)]
        store_contacts(armature, sorted([*kept, *found], key=lambda each: (each.frame_start, each.tip)))
        undo.pop_all()
    return found


def _found(rig: RigBody, samples: BodySamples, scene: Scene, fade: int) -> list[Contact]:
    """Return the contacts of all held tips, in the order of time."""
    (body, frames), fps = animated_frames(rig, samples), scene.render.fps / scene.render.fps_base
    size = float(np.cbrt(abs(np.linalg.det(samples.worlds[:3, :3, 0]))))
    hips = in_world(samples, frames[0, :, 3])
    legs = [size * (body.reach(tip) - body.tip(tip).place.length) for tip in rig.held]
    feet = [tip_places(body, tip, samples, frames) for tip in rig.held]
    spans = planted_spans(feet, hips, np.array((0.0, 0.0, 1.0)), legs, fps, fade)
    found = [
        Contact(tip, samples.frames[first], samples.frames[last])
        for tip, each in zip(rig.held, spans, strict=True)
        for first, last in each
    ]
    return sorted(found, key=lambda each: (each.frame_start, each.tip))


def feet_of(armature: Object) -> tuple[str, ...]:
    """Return the tips of the held limbs, else the feet that are recognised, if there are any."""
    held = tuple(bone.name for bone in armature.pose.bones if bone.ik_triangulation.hold)
    return held or tuple(limb.bones[-1] for limb in Anatomy(armature, Controls(armature)).limbs(LEG))


def _hips(armature: Object, feet: Sequence[str]) -> str:
    """Return the lowest bone that feet and arms hang on and that can move; empty without arms that are recognised.

    Some skeletons have a pelvis that the spine does not hang on: it must not leave the spine.
    """
    bones = armature.pose.bones
    arms = [limb.bones[-1] for limb in Anatomy(armature, Controls(armature)).limbs(ARM)]
    lines = [[above.name for above in bones[tip].parent_recursive] for tip in (*feet, *arms)]
    common = [name for name in lines[0] if all(name in line for line in lines)]
    return next((name for name in common if not hindrance(bones[name])), "") if arms else ""


def _touches(contact: Contact, frames: range) -> bool:
    return contact.frame_start <= frames[-1] and contact.frame_end >= frames[0]
