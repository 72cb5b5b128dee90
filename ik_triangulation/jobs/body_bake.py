# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking of a whole body, of bodies and limbs as one, and the body that a limb is solved with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import inf
from time import perf_counter
from typing import NamedTuple

import bpy
from bpy.types import Object, Scene, ViewLayer

from ..cooperative import Job, Work, cooperative, relay
from ..errors import AnimationError, ChainError
from ..rig.body import RigBody
from ..rig.by_hand.record import record_body, recorded_body, recorded_span
from ..rig.checks import check_armature, check_range
from ..rig.dependencies import in_waves
from ..rig.destination import Destination
from ..rig.frames.body_frames import Animation
from ..rig.frames.body_samples import BodySamples, body_by_hand, read_animation, read_body
from ..rig.freedom import limit_notes
from ..rig.hips import check_hips, located_by_hand
from ..rig.keyframes import ByHand, check_keys, is_baked, key_frames, made_by_hand
from ..rig.limb import Limb
from ..rig.stored_body import corrected_times, stored_body
from ..rig.targets.untouched import check_body_limbs, take_along_shown
from ..rig.timeline import Clock, check_nla, evaluated_time, mark
from .bake import bake_spans, frames_from
from .bake_wave import Span, check_something
from .body_following import follow_body, with_followers
from .body_keys import BodyKeySettings, between_frames, body_keys, body_settings, check_fk
from .body_problem import BodyProblem
from .body_report import measure_body, with_floor
from .contacts import read_contacts
from .controls import Track
from .report import Report
from .writing import Transaction, Undo, Writing, write_together

_PARTS = 5  # of a bake


def body_of(armature: Object, tip: str) -> RigBody | None:
    """Return the body that the limb which ends in `tip` is solved with; None for a limb that is solved alone.

    Limbs are solved together if a tip among them is held, or if they share bones. One that merely hangs on another is
    solved after it. Several held tips are a body without anything that reaches: the feet of an animal whose hips are
    animated. Raises what stored_body() does, and ChainError for a held limb that is alone.
    """
    bones = armature.pose.bones
    found = stored_body(armature, tip)
    if found is None or not (found.limbs or found.contacts or len(found.held) > 1):
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


def bodies_and_tips(armature: Object) -> tuple[list[RigBody], list[str]]:
    """Return the bodies of an armature that are to be baked, and the tips of the limbs that are baked one by one."""
    bodies, alone = list[RigBody](), list[str]()
    for bone in armature.pose.bones:
        stored = bone.ik_triangulation
        if not stored.hold and not (stored.enabled and stored.target):
            continue
        if any(bone.name in body.tips for body in bodies):
            continue
        body = body_of(armature, bone.name)
        if body is None:
            alone.append(bone.name)
        else:
            bodies.append(body)
    return bodies, alone


def repeats_body_bake(rig: RigBody, span: Span, settings: BodyKeySettings) -> bool:
    """Tell whether a bake would only repeat an earlier one of the body, as repeats_bake() does for a limb."""
    before = recorded_span(rig.armature, rig.tips[-1])
    inside = before is not None and before[0] <= span[0] and span[1] <= before[1]
    return settings.destination == "ACTION" and inside and is_baked(rig.armature, rig.bones)


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
) -> Job[Report]:
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
        report = replace(
            report,
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


class BodyBake(NamedTuple):
    """A body to bake over a span, by the settings of its keys; with `keep` keys that were made by hand stay."""

    rig: RigBody
    span: Span
    settings: BodyKeySettings
    keep: bool = False


class _Part:
    """A body or a limb as what depends on others, and on which others depend."""

    def __init__(self, number: int, limbs: Sequence[Limb], whole: Limb | RigBody, solved: Sequence[str]) -> None:
        self.number, self._limbs, self.solved = number, limbs, solved
        self.armature: Object = whole.armature
        self.bones, self.tip = whole.bones, whole.tips[-1] if isinstance(whole, RigBody) else whole.tip

    @cached_property
    def targets(self) -> list[tuple[Object, str]]:
        """All targets."""
        return [target for limb in self._limbs for target in limb.targets]

    @property
    def surfaces(self) -> list[Object]:
        """All meshes whose surface is reached."""
        return [mesh for limb in self._limbs for mesh in limb.surfaces]

    @cached_property
    def obstacle_objects(self) -> list[Object]:
        """All obstacles."""
        return [ob for limb in self._limbs for ob in limb.obstacle_objects]


@cooperative
def bake_bodies(
    bodies: Sequence[BodyBake],
    limbs: Sequence[Limb] = (),
    spans: Sequence[Span] = (),
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    *,
    seconds: float = inf,
) -> Job[tuple[list[Report], list[Report]]]:
    """Bake bodies and limbs that are none of theirs, each over a span of its own, in the order of their dependencies.

    Returns a report for each, in the order given. Raises what bake_spans() and bake_body() do; then, and if it is
    stopped, nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    if not any(body.keep for body in bodies):
        check_something([body.rig for body in bodies], limbs)
    parts = [_Part(n, body.rig.limbs, body.rig, body.rig.bones) for n, body in enumerate(bodies)]
    parts += [_Part(n, [limb], limb, limb.in_order) for n, limb in enumerate(limbs, len(bodies))]
    of_bodies: dict[int, Report] = {}
    of_limbs: dict[int, Report] = {}
    with Undo() as undo:
        within = Transaction(undo)
        for wave in in_waves(parts):
            some = [part.number - len(bodies) for part in wave if part.number >= len(bodies)]
            if some:
                baking = bake_spans.steps(
                    [limbs[n] for n in some],
                    [spans[n] for n in some],
                    scene,
                    view_layer,
                    seconds=seconds,
                    within=within,
                )
                of_limbs.update(zip(some, (yield from baking), strict=True))
            for number in (part.number for part in wave if part.number < len(bodies)):
                of_bodies[number] = yield from _baked(bodies[number], scene, view_layer, within)
        result = [of_bodies[n] for n in range(len(bodies))], [of_limbs[n] for n in range(len(limbs))]
        undo.pop_all()
    return result


@cooperative
def rebake_body(
    armature: Object, tip: str, scene: Scene | None = None, view_layer: ViewLayer | None = None
) -> Job[Report]:
    """Bake the body of the limb that ends in `tip` as it was baked last into the active action, over its span.

    Keys that were baked are replaced, and those made by hand are kept. Raises AnimationError if it was not baked
    before, and what bake_body() does; then, and if it is stopped, nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    rig, span, settings, notes = recorded_body(armature, tip, scene)
    bake = BodyBake(rig, span, BodyKeySettings(**settings), keep=True)
    report = yield from _baked(bake, scene, view_layer)
    return replace(report, warnings=[*notes, *report.warnings])


def _baked(bake: BodyBake, scene: Scene, view_layer: ViewLayer, within: Transaction | None = None) -> Job[Report]:
    """Bake a body, with warnings of deform bones that do not follow it."""
    (start, end, step), how = bake.span, {"settings": bake.settings, "keep": bake.keep}
    with Undo() as undo:
        own = Transaction(undo, within.made) if within else Transaction(undo)
        report = yield from bake_body.steps(bake.rig, start, end, scene, view_layer, step=step, **how, within=own)
        report = with_followers(report, bake.rig, scene, view_layer)
        Transaction.end(undo, within)
    return report
