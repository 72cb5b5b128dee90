# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking of a whole body: all of its limbs at once, rotations of its bones and the place of its hips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter

import bpy
from bpy.types import Scene, ViewLayer

from ..cooperative import Job, Work, cooperative, relay
from ..errors import AnimationError
from ..rig.bake_record import record_body
from ..rig.body import RigBody
from ..rig.carriers import check_body_limbs
from ..rig.checks import check_armature, check_range
from ..rig.clock import Clock, evaluated_time
from ..rig.destination import Destination
from ..rig.frames.body_frames import Animation
from ..rig.frames.body_samples import BodySamples, body_by_hand, read_animation, read_body
from ..rig.freedom import limit_notes
from ..rig.held_tips import corrected_times
from ..rig.hips import check_hips, located_by_hand
from ..rig.keyframes import ByHand, check_keys, key_frames, made_by_hand
from ..rig.markers import mark
from ..rig.nla import check_nla
from ..rig.waiting import take_along_shown
from .bake import frames_from
from .body_floor import with_floor
from .body_following import follow_body
from .body_keys import BodyKeySettings, between_frames, body_keys, body_settings, check_fk
from .body_problem import BodyProblem
from .body_report import BodyReport, measure_body
from .contact_frames import read_contacts
from .nothing_to_bake import check_something
from .switching import Track
from .transaction import Transaction, Undo
from .writing import Writing, write_together

_PARTS = 5  # of a bake


@cooperative
def bake_body(
    rig: RigBody,
    frame_start: int,
    frame_end: int,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    *,
    step: float = 1,
    settings: BodyKeySettings | None = None,
    keep: bool = False,
    within: Transaction | None = None,
) -> Job[BodyReport]:
    """Key all bones of a body from `frame_start` to `frame_end`, so that its limbs reach while held tips stay.

    Rotation keys of its bones and location keys of its hips inside the range are replaced by generated ones every
    `step` frames; everything else stays: other keys, the present frame, and poses that are not keyed. `settings` are by
    default those of the first limb. With `keep` keys that were made by hand stay as they are. Raises an IKError that
    names the culprit; then, and if it is stopped, nothing has changed. What is done `within` a larger transaction is
    undone with that.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    settings = settings or body_settings(rig)
    started, ends, kind = perf_counter(), (frame_start, frame_end), settings.destination
    view_layer.update()
    check_range(scene, *ends, step)
    check_armature(rig.armature, view_layer)
    check_body_limbs(rig, scene, view_layer)
    if within is None and not keep:
        check_something([rig])
    warnings = [*check_keys(rig.armature, rig.bones, kind), *limit_notes(rig.pose_bones)]
    check_fk(settings)
    check_hips(rig.armature, rig.hips, kind, rig.hips_motion != "FIXED")
    check_nla(rig.armature, scene, *ends, kind)
    frames = _frames_of(rig, settings, scene, *ends, step)
    yield 0, _PARTS
    corrected = corrected_times(rig, scene)
    samples = yield from relay(
        read_body(rig, scene, frames, view_layer, switched=settings.keys_on == "FK_SWITCH"), (0, _PARTS)
    )
    contacts = yield from relay(read_contacts(rig, scene, frames), (0, _PARTS))
    held_by = yield from relay(_before_corrections(rig, samples, scene, corrected), (0, _PARTS))
    problem = BodyProblem(rig, samples, contacts, held_by)
    between = None
    if rig.held or settings.reduce:
        others = yield from relay(between_frames(rig, samples, scene, corrected), (0, _PARTS))
        between = BodyProblem(rig, others, contacts)
    yield 1, _PARTS
    states, _ = yield from relay(problem.path(scene, settings.smoothing), (1, _PARTS))
    kept, count = _kept(rig, ends, scene) if keep else ({}, 0)
    if count:
        warnings.append(f"Keys made by hand were kept at {count} frames.")
    making = body_keys(rig, problem, between, states, settings, ends, scene, kept)
    keys = yield from relay(making, (2, _PARTS))
    with Undo() as undo:
        first, last = (evaluated_time(scene, frame) for frame in ends)
        destination = Destination(first, last, within.made if within else None)
        part = Writing(rig, keys, ends, destination, kind, bool(count))
        writing = write_together([part], undo, scene=scene, view_layer=view_layer)
        (written,) = yield from relay(writing, (3, _PARTS))
        record_body(rig, (*ends, step), settings, destination.bag(kind, rig.armature, undo), undo)
        if settings.keys_on == "FK_SWITCH":
            track = Track.of(destination, kind, rig.armature, undo)
            yield from relay(follow_body(rig, ends, track, scene, view_layer, undo), (3, _PARTS))
        held = (between or problem).held_places
        planned = None if count else problem.planned(states, keys.times, Clock(scene, rig.armature))
        report = yield from relay(measure_body(rig, samples, held, scene, keys.allowed, planned), (4, _PARTS))
        report = with_floor(report, problem, samples.goals)
        if settings.mark_misses:
            for name, tip in report.tips.items():
                mark(scene, f"{rig.armature.name}: {name} misses", tip.missed, *ends, undo)
        view_layer.update()
        take_along_shown(rig, view_layer, undo)
        outside = problem.outside(states)
        if outside is not None and keys.outside is not None:
            outside = keys.outside
        yield _PARTS, _PARTS
        report = report._replace(
            keys=written,
            full_keys=keys.full_keys(written, settings.reduce),
            outside=outside,
            warnings=[*warnings, *samples.warnings, *report.warnings],
            seconds=perf_counter() - started,
        )
        Transaction.end(undo, within)
    return report


def _frames_of(
    rig: RigBody, settings: BodyKeySettings, scene: Scene, frame_start: int, frame_end: int, step: float
) -> Sequence[float]:
    """Return the frames at which a body is keyed. Raises AnimationError without any keys of its targets to bake at."""
    if not settings.only_target_keys:
        return frames_from(frame_start, frame_end, step)
    found: set[float] = set()
    for limb in rig.limbs:
        clock = Clock(scene, limb.target)
        times = key_frames(limb.target, limb.subtarget, *sorted(map(clock.time, (frame_start, frame_end))))
        found |= {round(clock.frame(time), 3) for time in times}
    if not found:
        raise AnimationError(
            f"The targets of the body have no keys from frame {frame_start} to {frame_end}. "
            "Turn off Only at Target's Keys."
        )
    return sorted(found)


def _before_corrections(
    rig: RigBody, samples: BodySamples, scene: Scene, corrected: tuple[float, float] | None
) -> Work[Animation | None]:
    """Return the animation without keys that correct the last bake: these do not move the places to hold."""
    if corrected is None:
        return None
    if samples.shown is not None:
        return (yield from read_animation(rig, scene, samples.frames, samples.bases, corrected))
    yield
    return Animation(*body_by_hand(rig, samples.frames, scene, corrected))


def _kept(rig: RigBody, ends: tuple[float, float], scene: Scene) -> tuple[Mapping[str, ByHand], int]:
    """Return the rotation keys made by hand between two frames, and at how many frames there are any to keep."""
    times = [*map(Clock(scene, rig.armature).time, ends)]
    kept = made_by_hand(rig.armature, rig.bones, *times)
    located = located_by_hand(rig.armature, rig.hips, *times) if rig.hips_motion != "FIXED" else []
    return kept, len({*located, *(time for keys in kept.values() for time in keys)})
