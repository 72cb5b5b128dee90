# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach of a whole body: the frames of its motion to the targets of its limbs, held tips planted, and their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter

import bpy
import numpy as np
from bpy.types import Depsgraph, Scene, ViewLayer
from mathutils import Vector

from ..cooperative import Job, cooperative, relay
from ..errors import ChainError, SettingError
from ..goals import Goal, Point
from ..kinematics.batch import Geometry, States
from ..rig.body import RigBody
from ..rig.checks import check_armature, check_limb, check_range
from ..rig.destination import Destination
from ..rig.frames.body_samples import BodySamples, GoalsAgain, read_body
from ..rig.hips import check_hips
from ..rig.keyframes import check_keys
from ..rig.targets.untouched import take_along_shown
from ..rig.timeline import Clock, check_nla, evaluated_time
from .body_following import follow_body
from .body_keys import BodyKeySettings, between_frames, body_keys, body_settings, check_fk
from .body_problem import BodyProblem
from .body_report import measure_body, with_floor
from .contacts import read_contacts
from .controls import Track
from .reach import Stop, check_stops, own_stop, style_of
from .reach_motion import BodyReachMotion, BodyVisit
from .report import Report
from .writing import Undo, Writing, write_together

_PARTS = 4


@cooperative
def reach_with_body(
    rig: RigBody,
    stops: Sequence[Stop],
    frame_start: int,
    *,
    tip: str = "",
    settings: BodyKeySettings | None = None,
    return_frames: int = 0,
    timing: str = "MINIMUM_JERK",
    easing: str = "EASE_IN_OUT",
    path: str = "ARC",
    onset: float = 0.0,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> Job[Report]:
    """Key a body from the pose that it has at `frame_start` through the `stops`, while held tips stay as animated.

    The limb that ends in `tip`, by default the first one, reaches for the target of each stop, and all others for
    their own at the same frames. `settings` of the keys are by default those of that limb, the others are those of
    reach_through(). Along the `path` ARC joints rotate from
    pose to pose and the hips move straight; along LINE the tips move straight. Every frame is keyed: rotations of all
    bones of the body, and the location of its hips; keys of these inside the range are replaced, and everything else
    stays. In the report only frames at a stop can be missed. Raises an IKError that names the culprit; then, and if it
    is stopped, nothing has changed.
    """
    style = style_of(timing, easing, path, onset)
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    started = perf_counter()
    view_layer.update()
    check_stops(stops, frame_start, return_frames)
    _check_props(tip, stops)
    if not rig.limbs:
        raise ChainError("Nothing of the body reaches for anything. Set the target of a limb.")
    tip = tip or rig.limbs[0].tip
    rigs = _rigs(rig, tip, stops)
    last = stops[-1].frame + stops[-1].hold + return_frames
    check_range(scene, frame_start, last, 1)
    check_armature(rig.armature, view_layer)
    for each in rigs:
        for limb in each.limbs:
            check_limb(limb, scene, view_layer)
    settings = settings or body_settings(rig, tip)
    ends, kind = (frame_start, last), settings.destination
    warnings = check_keys(rig.armature, rig.bones, kind)
    check_fk(settings)
    check_hips(rig.armature, rig.hips, kind, rig.hips_motion != "FIXED")
    check_nla(rig.armature, scene, *ends, kind)
    frames = range(frame_start, last + 1)
    read: dict[int, BodySamples] = {}
    for number, each in enumerate(rigs):
        same = next((other for other in read if rigs[other] == each), None)
        reading = read_body(each, scene, frames, view_layer, switched=settings.keys_on == "FK_SWITCH")
        read[number] = (yield from relay(reading, (0, _PARTS))) if same is None else read[same]
    _check_influence(read[0])
    contacts = yield from relay(read_contacts(rig, scene, frames), (0, _PARTS))
    yield 1, _PARTS
    visits = [BodyVisit(stop.frame, stop.frame + stop.hold, read[n].goals) for n, stop in enumerate(stops)]
    problem, between = BodyProblem(rig, read[0], contacts), None
    if rig.held or settings.reduce:
        others = yield from relay(between_frames(rig, read[0], scene, None), (1, _PARTS))
        between = BodyProblem(rig, others, contacts)
    motion = BodyReachMotion(problem, visits, style, scene.render.fps / scene.render.fps_base)
    states = yield from relay(motion.solved(return_frames), (1, _PARTS))
    stops_read = [(visit, read[n].readers) for n, visit in enumerate(visits)]
    samples = _as_moved(problem, states, visits)._replace(readers=_readers_at(stops_read))
    keys = yield from relay(body_keys(rig, problem, between, states, settings, ends, scene, {}), (2, _PARTS))
    with Undo() as undo:
        destination = Destination(*(evaluated_time(scene, frame) for frame in ends))
        parts = [Writing(rig, keys, ends, destination, kind)]
        writing = write_together(parts, undo, scene=scene, view_layer=view_layer)
        (written,) = yield from relay(writing, (3, _PARTS))
        if settings.keys_on == "FK_SWITCH":
            track = Track.of(destination, kind, rig.armature, undo)
            yield from relay(follow_body(rig, ends, track, scene, view_layer, undo), (3, _PARTS))
        held = (between or problem).held_places
        planned = problem.planned(states, keys.times, Clock(scene, rig.armature))
        report = yield from relay(measure_body(rig, samples, held, scene, planned=planned), (3, _PARTS))
        report = with_floor(report, problem, samples.goals)
        view_layer.update()
        take_along_shown(rig, view_layer, undo)
        outside = problem.outside(states)
        yield _PARTS, _PARTS
        report = replace(
            report,
            keys=written,
            full_keys=keys.full_keys(written, settings.reduce),
            outside=outside,
            warnings=[*warnings, *motion.warnings, *read[0].warnings, *report.warnings],
            seconds=perf_counter() - started,
        )
        undo.pop_all()
    return report


def _check_props(tip: str, stops: Sequence[Stop]) -> None:
    """Raise SettingError for a stop at which a prop is taken or let go."""
    if any(stop.take != "NONE" for stop in stops):
        raise SettingError(
            f"'{tip}' is part of a body, whose reach takes no props. Set the Prop of its stops to None, or reach with "
            "the arm alone."
        )


def _check_influence(samples: BodySamples) -> None:
    """Raise SettingError for tips that are not led all of the way."""
    for tip, share in samples.influence.items():
        if (share < 1.0).any():
            raise SettingError(f"'{tip}' has an influence below 1, which a reach of a body cannot have. Set it to 1.")


def body_stop(rig: RigBody, tip: str, frame: int, hold: int = 0) -> Stop:
    """Return the stop at the own target of the limb that ends in `tip`; of the first limb, if that is held.

    Raises ChainError if no limb of the body reaches.
    """
    if not rig.limbs:
        raise ChainError("Nothing of the body reaches for anything. Set the target of a limb.")
    return own_stop(next((limb for limb in rig.limbs if limb.tip == tip), rig.limbs[0]), frame, hold)


def _rigs(rig: RigBody, tip: str, stops: Sequence[Stop]) -> list[RigBody]:
    """Return the body with the target of each stop in place of that of a limb."""
    if all(limb.tip != tip for limb in rig.limbs):
        raise ChainError(f"'{tip}' does not reach: it is held. Reach from a limb with a target.")
    return [
        replace(
            rig,
            limbs=tuple(
                replace(limb, target=stop.target, subtarget=stop.subtarget) if limb.tip == tip else limb
                for limb in rig.limbs
            ),
        )
        for stop in stops
    ]


class _AtStops:
    """Reads the goals of a tip again at its stops, where its target may differ from stop to stop."""

    def __init__(self, readers: Mapping[float, GoalsAgain]) -> None:
        self._readers = readers

    @property
    def hangs(self) -> bool:
        return any(reader.hangs for reader in self._readers.values())

    def is_moved(self, depsgraph: Depsgraph, frame: float) -> bool:
        return frame in self._readers and self._readers[frame].is_moved(depsgraph, frame)

    def again(self, depsgraph: Depsgraph, frame: float) -> Goal:
        return self._readers[frame].again(depsgraph, frame)


def _readers_at(stops: Sequence[tuple[BodyVisit, Mapping[str, GoalsAgain]]]) -> dict[str, GoalsAgain]:
    """Return the readers of all tips at the frames of the stops."""
    tips = {tip: None for _, readers in stops for tip in readers}
    return {
        tip: _AtStops(
            {
                frame: readers[tip]
                for visit, readers in stops
                if tip in readers
                for frame in range(visit.frame, visit.leave + 1)
            }
        )
        for tip in tips
    }


def _as_moved(problem: BodyProblem, states: States, visits: Sequence[BodyVisit]) -> BodySamples:
    """The samples with the tips' own places as goals, except at the stops."""
    samples, body = problem.samples, problem.body
    geometry, goals = Geometry(body.tree, states), {}
    at_stop = {frame: visit for visit in visits for frame in range(visit.frame, visit.leave + 1)}
    for tip in samples.goals:
        places = geometry.tip(body.number_of[body.tip(tip).name])
        goals[tip] = [
            at_stop[frame].goals[tip][k]
            if frame in at_stop
            else Goal(Point(Vector(places[:, k])), (), goal.tolerance, np.pi)
            for k, (frame, goal) in enumerate(zip(samples.frames, samples.goals[tip], strict=True))
        ]
    return samples._replace(goals=goals)
