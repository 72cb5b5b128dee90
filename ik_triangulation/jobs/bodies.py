# SPDX-License-Identifier: GPL-3.0-or-later
"""The body that a limb is solved with, and what cannot be done to a body or hinders it."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import Object, Scene, ViewLayer

from ..cooperative import Job, cooperative, finished
from ..errors import ChainError, SettingError
from ..rig.body import RigBody
from ..rig.frames.reader import FrameReader
from ..rig.limb import Limb
from ..rig.links import Links
from ..rig.stored_body import stored_body
from .bake_wave import Span
from .body_bake import bake_body
from .body_report import BodyReport
from .measure import Watch, astray
from .report import NotFollowing


def body_of(armature: Object, tip: str) -> RigBody | None:
    """Return the body that the limb which ends in `tip` is solved with; None for a limb that is solved alone.

    Limbs are solved together if a tip among them is held, or if they share bones. One that merely hangs on another is
    solved after it. Raises what stored_body() does, and ChainError for a held limb beside which nothing reaches.
    """
    bones = armature.pose.bones
    found = stored_body(armature, tip)
    if found is None or not (found.limbs or found.contacts):
        if bones[tip].ik_triangulation.hold:
            raise ChainError(
                f"'{tip}' is held, and no limb reaches. Give one that hangs on the same hips a target, "
                "or press Find Contacts."
            )
        if not bones[tip].ik_triangulation.enabled and any(bone.ik_triangulation.hold for bone in bones):
            raise ChainError(f"'{tip}' is not ticked in the list of limbs, and others are held. Tick it to solve them.")
        return None
    turned = [name for limb in found.limbs for name in limb.solved]
    return found if found.held or len(turned) > len(set(turned)) else None


def check_alone(armature: Object, tip: str, what: str) -> None:
    """Raise ChainError if a limb belongs to a body, as `what` is to be done can only be done to a lone limb."""
    if body_of(armature, tip) is not None:
        raise ChainError(f"'{tip}' is part of a body, and {what} works on single limbs. Use Pose or Bake.")


def only_body(armature: Object) -> RigBody | None:
    """Return the body that all limbs of the armature to be baked belong to; None if they are baked one by one.

    Raises ChainError if some of them belong to it and others do not.
    """
    tips = [
        bone.name
        for bone in armature.pose.bones
        if bone.ik_triangulation.enabled and (bone.ik_triangulation.target or bone.ik_triangulation.hold)
    ]
    bodies = {tip: body_of(armature, tip) for tip in tips}
    found = next((body for body in bodies.values() if body), None)
    other = next((tip for tip in tips if found and tip not in found.tips), None)
    if other is not None:
        raise ChainError(f"'{other}' is not of the body that the other limbs belong to. Bake it and the body by Bake.")
    return found


@cooperative
def bake_body_as_set(rig: RigBody, span: Span, scene: Scene, view_layer: ViewLayer) -> Job[BodyReport]:
    """Bake a body over a `span` (first frame, last frame, step), with warnings of deform bones that do not follow it.

    Raises what check_body_settings() and bake_body() do.
    """
    start, end, step = span
    check_body_settings(rig, step)
    report = yield from bake_body.steps(rig, start, end, scene, view_layer)
    notes = follow_notes(rig, list(dict.fromkeys((start, (start + end) // 2, end))), scene, view_layer)
    return report._replace(warnings=[*report.warnings, *notes])


def check_body_settings(rig: RigBody, step: float = 1) -> None:
    """Raise SettingError for settings of the limbs that the bake of a body cannot follow."""
    if step != 1:
        raise SettingError(f"A body is baked at every frame, not every {step:g}. Set Step to 1.")
    for limb in rig.limbs:
        for is_set, what, remedy in (
            (limb.reduce, "fewer keys", "Turn off Reduce Keys"),
            (limb.only_target_keys, "keys only at its target's", "Turn off Only at Target's Keys"),
            (limb.destination != "ACTION", "another destination than the active action", "Set Write To to that"),
        ):
            if is_set:
                raise SettingError(f"'{limb.tip}' is part of a body, which cannot be baked with {what}. {remedy}.")


def follow_notes(rig: RigBody, frames: Sequence[float], scene: Scene, view_layer: ViewLayer) -> list[str]:
    """Return a sentence on each deform bone that is meant to follow a tip and does not, at some of the `frames`."""
    notes, links = [], dict[int, Links | None]()
    for tip in rig.tips:
        target = rig.armature  # not looked at, but limbs need one
        limb = Limb.from_tip(rig.armature, tip, target, rig.armature.pose.bones[tip].ik_triangulation.chain_count)
        watch = Watch(limb, links)
        if not watch.followers:
            continue
        seen = finished(watch.look_at(FrameReader(limb, scene, view_layer, frames), frames))
        for follower in watch.followers:
            away = [(apart, at) for at in frames if (apart := astray(limb, seen[at], follower)) is not None]
            if away:
                distance, at = max(away)
                remedy = watch.remedy(follower, at, scene)
                notes.append(NotFollowing(follower, tip, distance, at, len(away), remedy).text(len(frames)))
    return notes
