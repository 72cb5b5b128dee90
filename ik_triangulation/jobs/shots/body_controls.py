# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys that are planned of a body, and the controls by which the character follows it once it is written.

These are its bones alone, or IK controls of limbs as well. Arms and legs then have keys on both sides, which show the
same: whichever is switched to, the motion is that.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace

from bpy.types import Scene, ViewLayer

from ...cooperative import Work
from ...errors import RigError
from ...kinematics.batch import Geometry
from ...rig.body import RigBody
from ...rig.by_hand.keys import check_hips
from ...rig.controls import limbs_with_ik
from ...rig.ik_controls import IKControls
from ...rig.keyframes import check_keys
from ...rig.layers import Destination, Made
from ...rig.limb import Limb
from ...rig.timeline import Clock, check_nla, evaluated_time
from ...settings import KeySettings, settings_of
from .control_motion import LimbPlaces
from .controls import OntoControls, Track, check_keyed, kept_by_hand, write_places
from .keys import BodyKeySettings, KeyPlan, LimbBake, SolvedBody, WrittenKeys, body_settings, check_layer, unheeded_keys
from .tips import follow_body

_NO_KEYS = WrittenKeys(0, 0, ())
ControlledLimbs = Sequence[tuple[Limb, IKControls]]


def plan_keys(
    rig: RigBody,
    settings: BodyKeySettings | None,
    ends: tuple[int, int],
    scene: Scene,
    tip: str = "",
    made: Made | None = None,
    keep: bool = False,
) -> tuple[KeyPlan, list[str]]:
    """Return where and how a body is keyed between its `ends`, and warnings; raise the IKError of keys that cannot be.

    The settings are by default those of the limb that ends in `tip`, or of the first one. `made` are the channelbags
    that were made for what was baked before.
    """
    settings = settings or body_settings(rig, tip)
    armature, kind = rig.armature, settings.destination
    warnings = [*check_keys(armature, rig.bones, kind), *check_layer(settings, armature), *unheeded_keys(rig, settings)]
    limbs = _controlled_limbs(rig, settings)
    check_hips(armature, rig.hips, kind, rig.hips_motion != "FIXED")
    check_nla(armature, scene, *ends, kind)
    first, last = (evaluated_time(scene, frame) for frame in ends)
    return KeyPlan(settings, ends, Destination(first, last, {} if made is None else made), limbs, keep), warnings


def _controlled_limbs(rig: RigBody, settings: BodyKeySettings) -> ControlledLimbs:
    """Return the limbs of a body whose IK controls are to be keyed, with the settings of its keys.

    Raises RigError if there are none though they are asked for, and the IKError for controls that cannot be keyed.
    """
    if settings.keys_on != "IK":
        return []
    given = {name: getattr(settings, name) for name in settings_of(KeySettings)}
    found = [
        (replace(limb, **{**given, "reduce_tolerance": settings.within.get(limb.tip, 0.0)}), controls)
        for limb, controls in limbs_with_ik(rig.armature)
        if limb.tip in rig.tips
    ]
    if not found:
        raise RigError(f"No tip of the body has IK controls: {', '.join(rig.tips)}. Choose FK controls for Keys On.")
    for limb, _ in found:
        check_keyed(limb)
    return found


def bones_with_controls(rig: RigBody) -> list[str]:
    """Return the bones of a body, and the IK controls of its limbs."""
    found: ControlledLimbs = []
    with suppress(RigError):
        found = limbs_with_ik(rig.armature)
    keyed = [name for limb, controls in found if limb.tip in rig.tips for name in controls.keyed]
    return list(dict.fromkeys([*rig.bones, *keyed]))


def follow_written(
    body: SolvedBody, plan: KeyPlan, undo: ExitStack, *, scene: Scene, view_layer: ViewLayer
) -> Work[WrittenKeys]:
    """Have the character follow a body that is written, by the controls that the settings of its keys name.

    Returns the keys of the IK controls of all limbs of the plan.
    """
    settings, ends, destination = plan.settings, plan.ends, plan.destination
    if settings.keys_on == "FK":
        return _NO_KEYS
    problem, rig, armature = body.problem, body.problem.rig, body.problem.rig.armature
    by_ik = {limb.tip for limb, _ in plan.limbs}
    track = Track.of(destination, settings.destination, armature, undo)
    others = [tip for tip in rig.tips if tip not in by_ik]
    yield from follow_body(rig, ends, track, scene, view_layer, undo, others)
    if not plan.limbs:
        return _NO_KEYS
    clock, frames = Clock(scene, armature), Geometry.of(problem.body.tree, body.states).frames
    parts = []
    for limb, controls in plan.limbs:
        kept = kept_by_hand(limb, *map(clock.time, ends)) if plan.keep else {}
        bake = LimbBake(limb, (), ends, destination, kept)
        names = [each.bone for each in controls.showing]
        rows = [frames[rig.bones.index(name)] for name in names]
        places = {
            frame: LimbPlaces.at(
                {name: rig.shown_frame(name, row[..., k]) for name, row in zip(names, rows, strict=True)},
                controls,
                limb,
            )
            for k, frame in enumerate(problem.samples.frames)
        }
        posed = [each for each in rig.limbs if each.tip == limb.tip]
        parts.append(OntoControls(bake, controls, places, problem.body.reach(limb.tip), posed))
    written = yield from write_places(parts, undo, scene=scene, view_layer=view_layer)
    warnings = [warning for each in written for warning in each.warnings]
    return WrittenKeys(sum(each.keys for each in written), sum(each.full for each in written), (), 0.0, warnings)
