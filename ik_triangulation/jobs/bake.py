# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking of limbs and bodies over a range, alone or as one: read, solve, check, write.

All is planned and solved before it is written, and the file is left as it was if anything fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import inf
from time import perf_counter
from typing import NamedTuple

import bpy
from bpy.types import FCurve, Object, Scene, ViewLayer

from ..cooperative import Job, cooperative
from ..rig.armature import find_bone
from ..rig.body import RigBody
from ..rig.by_hand.keys import keep_place, remember_place, remember_written
from ..rig.by_hand.record import record_body, recorded_bake, recorded_body, recorded_span
from ..rig.by_hand.reference import hold_reference
from ..rig.by_hand.shown_limb import idle_switches
from ..rig.checks import check_limb, check_range, check_separate
from ..rig.controls import Links
from ..rig.dependencies import Dependencies, in_waves
from ..rig.frames.reader import FrameReader
from ..rig.freedom import limit_notes
from ..rig.keyframes import check_keys, is_baked, remove_generated, remove_generated_of
from ..rig.layers import LayerOf, Made, remove_layer_keys, reopen_layers
from ..rig.limb import Limb, MovingPaths, ignored
from ..rig.targets.motion import frames_to_key
from ..rig.targets.untouched import check_body_limbs
from ..rig.timeline import Clock, check_nla, evaluated_time, mark
from .bake_wave import BakePlan, Span, bake_together, check_something
from .shots.body_controls import plan_keys
from .shots.controls import check_keyed, keyed_bones, watch_of
from .shots.keys import BodyKeySettings
from .shots.report import Report
from .shots.tips import with_followers
from .shots.writing import Transaction, Undo
from .solved_body import BODY_PARTS, solve_body_frames, write_body


@cooperative
def bake(
    limb: Limb,
    frame_start: int,
    frame_end: int,
    step: float = 1,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    *,
    seconds: float = inf,
) -> Job[Report]:
    """Key the limb's rotations from `frame_start` to `frame_end`, every `step` frames, so that its tip follows.

    Rotation keys of these bones inside the range are replaced; everything else stays: other keys, the present frame,
    and poses that are not keyed. Raises an IKError that names the culprit; then, and if it is stopped, nothing has
    changed. Steps are as those of bake_spans().
    """
    return (yield from bake_limbs.steps([limb], frame_start, frame_end, step, scene, view_layer, seconds=seconds))[0]


@cooperative
def bake_limbs(
    limbs: Sequence[Limb],
    frame_start: int,
    frame_end: int,
    step: float = 1,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    *,
    seconds: float = inf,
) -> Job[list[Report]]:
    """Bake several limbs as one: all of them or, if one fails, none. Returns a report for each, in the order given.

    A limb whose root or target moves with another limb is baked after that one. The rest is as in bake(); raises
    ChainError if a bone belongs to two of the limbs, or they move each other. Steps are as those of bake_spans().
    """
    spans = [(frame_start, frame_end, step)] * len(limbs)
    return (yield from bake_spans.steps(limbs, spans, scene, view_layer, seconds=seconds))


@cooperative
def bake_spans(
    limbs: Sequence[Limb],
    spans: Sequence[Span],
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    *,
    seconds: float = inf,
    keep: bool = False,
    within: Transaction | None = None,
) -> Job[list[Report]]:
    """Bake several limbs as one as bake_limbs() does, each over a span of its own.

    With `keep` keys that were made by hand stay as they are, and the baked rotations run on from them. A step is one
    frame; frames of the user's scene count as well where it has to be stepped. Between two steps nothing but the keys
    made so far differs from before, and no more frames are read at once than can be in about that many `seconds`. What
    is done `within` a larger transaction is undone with that.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    view_layer.update()
    if within is None and not keep:
        check_something((), limbs)
    check_separate(limbs)
    known, moving = Dependencies(limbs), {ob.session_uid: MovingPaths(ob) for ob in {limb.armature for limb in limbs}}
    warnings, all_frames = [], []
    for limb, span in zip(limbs, spans, strict=True):
        check_range(scene, *span)
        check_limb(limb, scene, view_layer, known)
        limb.read_animation(paths := moving[limb.armature.session_uid])
        warnings.append([*check_keyed(limb), *limit_notes(limb.pose_bones), *ignored(limb.pose_bones, paths)])
        check_nla(limb.armature, scene, *span[:2], limb.destination)
        all_frames.append(frames_to_key([limb], limb.only_target_keys, scene, *span))
    links: dict[int, Links | None] = {}
    plans = [
        BakePlan(limb, span, FrameReader(limb, scene, view_layer, frames, known), watch_of(limb, links), found)
        for limb, span, frames, found in zip(limbs, spans, all_frames, warnings, strict=True)
    ]
    made: Made = within.made if within else {}
    whole, done = sum(plan.parts for plan in plans), 0
    by_limb = {id(plan.limb): plan for plan in plans}
    with Undo() as undo:
        if not keep:
            reopen_layers(_layers_of(limbs, spans, scene), made, view_layer, undo)
        for wave in in_waves(limbs, known):
            for part in bake_together([by_limb[id(limb)] for limb in wave], made, undo, seconds, keep):
                done += part
                yield done, whole
        for plan in plans:
            if plan.limb.mark_misses:
                name = f"{plan.limb.armature.name}: {plan.limb.tip} misses"
                mark(scene, name, plan.report.missed, *plan.span[:2], undo)
        reports = [plan.report for plan in plans]
        Transaction.end(undo, within)
    return reports


def _layers_of(limbs: Sequence[Limb], spans: Sequence[Span], scene: Scene) -> list[LayerOf]:
    """Return the bones of those limbs that are baked onto layers."""
    pairs = [(limb, span) for limb, span in zip(limbs, spans, strict=True) if limb.destination == "LAYER"]
    return [LayerOf(limb.armature, limb.in_order, *_times(span, scene)) for limb, span in pairs]


def _times(span: Sequence[float], scene: Scene) -> tuple[float, float]:
    return evaluated_time(scene, span[0]), evaluated_time(scene, span[1])


@cooperative
def rebake(
    armature: Object,
    tip: str,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    *,
    seconds: float = inf,
) -> Job[Report]:
    """Bake the limb that ends in `tip` as it was baked last into the active action, over its span of frames.

    Keys that were baked are replaced, and those made by hand are kept. The rest is as in bake(); raises AnimationError
    if it was not baked before.
    """
    limb, span, notes = recorded_bake(armature, tip, scene or bpy.context.scene)
    (report,) = yield from bake_spans.steps([limb], [span], scene, view_layer, seconds=seconds, keep=True)
    return replace(report, warnings=[*notes, *report.warnings])


def repeats_bake(limb: Limb, span: Span) -> bool:
    """Tell whether a bake would only repeat an earlier one: keys made by hand since are corrections then, to be kept.

    That is so where the limb's bones have baked keys, and the last bake into the active action had all of these frames.
    """
    return _is_repeated(limb.armature, limb.tip, keyed_bones(limb), span, limb.destination)


def _is_repeated(armature: Object, tip: str, bones: Sequence[str], span: Span, destination: str) -> bool:
    before = recorded_span(armature, tip)
    inside = before is not None and before[0] <= span[0] and span[1] <= before[1]
    return destination == "ACTION" and inside and is_baked(armature, bones)


def delete_generated(
    armature: Object,
    bones: Sequence[str],
    first: float = -inf,
    last: float = inf,
    view_layer: ViewLayer | None = None,
    scene: Scene | None = None,
    notes: list[str] | None = None,
) -> int:
    """Delete the keys of these bones that a bake has made, from frame `first` to `last`; return their number.

    With the last keys of a limb go those of the properties by which the character follows it. The keys that all these
    have replaced are given back, and so is the action that a layer was put above: where that cannot be, `notes` are
    added. Raises an IKError that names the culprit; then nothing has changed.
    """
    for name in bones:
        find_bone(armature, name)
    check_keys(armature, bones)
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    clock, posed = Clock(scene, armature), [armature.pose.bones[name] for name in bones]
    with Undo() as undo:
        hold_reference(posed, scene, undo)
        removed = remove_generated(armature, bones, clock.time(first), clock.time(last), view_layer, undo)
        released = _release_switches(armature, scene, view_layer, undo) if removed.count else []
        times = evaluated_time(scene, first), evaluated_time(scene, last)
        layered, last_calls = remove_layer_keys(armature, bones, *times, undo)
        if removed.count or layered:  # the pose that is left is no pose by hand
            for bone in posed:
                keep_place(bone, undo)
            remember_written(posed)
            remember_place(posed)
            undo.pop_all()
            for curve in (*removed.empty, *released):  # the last thing to do, as it cannot be undone
                removed.bag.fcurves.remove(curve)
            told = [note for call in last_calls if (note := call())]
            if notes is not None:
                notes += told
            if layered:
                view_layer.update()
    return removed.count + layered


def _release_switches(armature: Object, scene: Scene, view_layer: ViewLayer, undo: Undo) -> Sequence[FCurve]:
    """Give the properties back by which the character followed limbs that have no baked keys any more.

    Returns F-curves that are left without keyframes, for the caller to remove.
    """
    idle = idle_switches(armature)
    removed = remove_generated_of(armature, [switch.path for switch, _ in idle], -inf, inf, view_layer, undo)
    for switch, before in idle:
        switch.show(before, scene, undo)
    return removed.empty


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
    started, ends = perf_counter(), (frame_start, frame_end)
    view_layer.update()
    check_range(scene, *ends, step)
    check_body_limbs(rig, scene, view_layer)
    if within is None and not keep:
        check_something([rig])
    made: Made = within.made if within else {}
    plan, warnings = plan_keys(rig, settings, ends, scene, made=made, keep=keep)
    settings = plan.settings
    frames = frames_to_key(rig.limbs, settings.only_target_keys, scene, *ends, step)
    warnings += limit_notes(rig.pose_bones)
    yield 0, BODY_PARTS
    where = {"scene": scene, "view_layer": view_layer}
    with Undo() as undo:
        if settings.destination == "LAYER":
            reopen_layers([LayerOf(rig.armature, rig.bones, *_times(ends, scene))], made, view_layer, undo)
        body = yield from solve_body_frames(rig, frames, plan, warnings, undo=undo, **where)
        report = yield from write_body(body, plan, body.problem.samples, warnings, undo, **where)
        bag = plan.destination.bag(settings.destination, rig.armature, undo)
        record_body(rig, (*ends, step), settings, bag, undo)
        if settings.mark_misses:
            for name, tip in report.tips.items():
                mark(scene, f"{rig.armature.name}: {name} misses", tip.missed, *ends, undo)
        Transaction.end(undo, within)
    return replace(report, seconds=perf_counter() - started)


class BodyBake(NamedTuple):
    """A body to bake over a span, by the settings of its keys; with `keep` keys that were made by hand stay."""

    rig: RigBody
    span: Span
    settings: BodyKeySettings
    keep: bool = False

    @property
    def repeats(self) -> bool:
        """Whether it would only repeat an earlier bake of the body, as repeats_bake() says of a limb."""
        rig = self.rig
        return _is_repeated(rig.armature, rig.tips[-1], rig.bones, self.span, self.settings.destination)


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
        whole = [(body.rig, body.span) for body in bodies if body.settings.destination == "LAYER"]
        layers = [LayerOf(rig.armature, rig.bones, *_times(span, scene)) for rig, span in whole]
        reopen_layers([*layers, *_layers_of(limbs, spans, scene)], within.made, view_layer, undo)
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
