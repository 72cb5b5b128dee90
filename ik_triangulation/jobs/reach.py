# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach of a limb or a whole body: keys from the pose at one frame to targets at others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import Depsgraph, Object, PropertyGroup, Scene, ViewLayer
from mathutils import Vector

from ..cooperative import Job, Work, cooperative, relay
from ..errors import ChainError, SettingError, TargetError
from ..goals import Goal, Point
from ..kinematics.batch import Geometry, States
from ..motion.timing import profile
from ..rig.armature import Bones
from ..rig.body import RigBody
from ..rig.checks import check_armature, check_limb, check_range
from ..rig.frames.body_frames import LimbGoals
from ..rig.frames.body_samples import BodySamples, read_body
from ..rig.frames.reader import FrameReader
from ..rig.layers import Destination
from ..rig.limb import Limb, bone_of, ignored
from ..rig.targets.props import muted
from ..rig.timeline import check_nla, evaluated_time, fps_of
from ..rig.units import distance_text
from .props import StopOfProp, check_held, held_props, hold_props, own_holds
from .reach_motion import STRAIGHT, BodyReachMotion, BodyVisit, ReachMotion, ReachStyle, TargetVisit
from .shots.body_controls import plan_keys
from .shots.controls import check_keyed, watch_of, write_by_settings
from .shots.frame_solver import JudgedFrames, SolvedFrame, outside
from .shots.keys import BodyKeySettings, LimbBake, SolvedBody
from .shots.measure import measure_frames, moved_inside, none_due, report_of
from .shots.natural_shot import begun_as_shown
from .shots.problem import BodyProblem, read_problem
from .shots.report import Report
from .shots.writing import Undo
from .solved_body import BODY_PARTS, write_body

PATHS = ("BOW", "ARC", "LINE")


class Stop(NamedTuple):
    """A target, or the head of its bone `subtarget`, to be at from `frame` on for `hold` more frames.

    With `take` TAKE the `prop`, or else the target, follows the tip from there; with GIVE it, or what is held, stays.
    """

    target: Object | None
    frame: int
    hold: int = 0
    subtarget: str = ""
    take: str = "NONE"
    prop: Object | None = None


def saved_stops(stored: PropertyGroup) -> list[Stop]:
    """Return the stops saved on a tip bone, in the order of their frames."""
    stops = [
        Stop(stop.target, stop.frame, stop.hold, bone_of(stop.target, stop.subtarget), stop.take, stop.prop)
        for stop in stored.reach_stops
    ]
    return sorted(stops, key=lambda stop: stop.frame)


def own_stop(limb: Limb, frame: int, hold: int = 0) -> Stop:
    """Return the stop at the limb's own target."""
    return Stop(limb.target, frame, hold, limb.subtarget)


@cooperative
def reach(
    limb: Limb,
    frame_start: int,
    frame_end: int,
    *,
    hold: int = 0,
    return_frames: int = 0,
    timing: str = "MINIMUM_JERK",
    easing: str = "EASE_IN_OUT",
    path: str = "BOW",
    onset: float = 0.0,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    seconds: float = inf,
) -> Job[Report]:
    """Key the limb's rotations from the pose that it has at `frame_start` to its target at `frame_end`.

    The tip stays with the target for `hold` more frames, and then returns to where it was in the start pose within
    `return_frames`, if these are not 0. The rest is as in reach_through().
    """
    return (
        yield from reach_through.steps(
            limb,
            [own_stop(limb, frame_end, hold)],
            frame_start,
            return_frames=return_frames,
            timing=timing,
            easing=easing,
            path=path,
            onset=onset,
            scene=scene,
            view_layer=view_layer,
            seconds=seconds,
        )
    )


@cooperative
def reach_through(
    limb: Limb,
    stops: Sequence[Stop],
    frame_start: int,
    *,
    return_frames: int = 0,
    timing: str = "MINIMUM_JERK",
    easing: str = "EASE_IN_OUT",
    path: str = "BOW",
    onset: float = 0.0,
    prop_by: str = "CONSTRAINT",
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
    seconds: float = inf,
) -> Job[Report]:
    """Key the limb's rotations from the pose that it has at `frame_start` through the `stops`, whatever its own target.

    `timing` and `easing` are those of motion.timing.profile(), for each transition anew. Along the `path` BOW the wrist
    or tip goes on a slightly bowed arc as seen from the limb's parent, by the natural solver. Along ARC, and along BOW
    by other solvers or with an onset, joints rotate from pose to pose, at a stop that of the limb's own solver: with
    `onset` 0 all at once, with 1 those near the root so early that the last begins when the first has arrived. Along
    LINE the tip moves straight, by Gauss-Newton
    whatever the solver of the limb. Every frame is keyed; rotation keys of these bones inside the range are replaced,
    and everything else stays. Props that are taken follow the tip by a Child Of constraint or, `prop_by` KEYS, by keys
    on every frame. In the report only frames at a stop are due. A step is one frame; no more are read at
    once than can be in about that many `seconds`. Raises an IKError that names the culprit; then, and if it is stopped,
    nothing has changed.
    """
    style = style_of(timing, easing, path, onset)
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    started = perf_counter()
    view_layer.update()
    if style.straight:
        limb = replace(limb, solver=STRAIGHT)
    check_stops(stops, frame_start, return_frames)
    last = stops[-1].frame + stops[-1].hold + return_frames
    check_range(scene, frame_start, last, 1)
    limbs = [replace(limb, target=stop.target, subtarget=stop.subtarget) for stop in stops]
    taking = [StopOfProp(stop.frame, stop.target, stop.subtarget, stop.prop, stop.take) for stop in stops]
    held = held_props(taking, prop_by)
    whole = last - frame_start + 1
    with muted(own_holds(held, limb)):
        for each in limbs:
            check_limb(each, scene, view_layer)
            _check_place(each)
        check_held(held, taking, limb, (frame_start, last), scene, view_layer)
        warnings = [*check_keyed(limb), *ignored(limb.pose_bones)]
        check_nla(limb.armature, scene, frame_start, last, limb.destination)
        bones, watch = Bones(limb.armature, limb.bones, limb.solved), watch_of(limb)
        ranges = zip(limbs, _ranges(stops, frame_start, last), strict=True)
        readers = [FrameReader(each, scene, view_layer, frames) for each, frames in ranges]
        visits = yield from relay(_visits(stops, readers, seconds), (0, whole))
        visits[0].samples[frame_start] = begun_as_shown(visits[0].samples[frame_start], readers[0])
    solved: list[SolvedFrame] = []
    for result in ReachMotion(bones, visits, style, fps_of(scene, [])).frames(frame_start, return_frames):
        solved.append(result)
        yield len(solved), whole
    warnings += [text for reader in readers for text in reader.warnings]
    warnings += moved_inside(outside(bones, solved[0].now), frame_start)
    with Undo() as undo:
        destination = Destination(evaluated_time(scene, frame_start), evaluated_time(scene, last))
        ends = frame_start, last
        writing = write_by_settings(
            [LimbBake(limb, solved, ends, destination)], undo, scene=scene, view_layer=view_layer
        )
        (written,) = yield from relay(writing, (whole, whole))
        where = {"scene": scene, "view_layer": view_layer, "seconds": seconds}
        holding = hold_props(held, limb, prop_by, (frame_start, last), undo, **where)
        yield from relay(holding, (whole, whole))
        checked = {*ends, *(stop.frame for stop in stops)}
        some = [i for i in written.at if solved[i].now.frame in checked]
        reader = next((each for each in readers if each.stepped), readers[0])
        measured = yield from relay(measure_frames(watch, reader, solved, some, seconds), (whole, whole))
        view_layer.update()
        report = report_of(limb, solved, perf_counter() - started, written, warnings, measured=measured)
        report = _judged(report, visits, style, scene)
        undo.pop_all()
    return report


def style_of(timing: str, easing: str, path: str, onset: float) -> ReachStyle:
    """Return the style of a reach. Raises SettingError for an unknown setting or an onset beyond 0..1."""
    if path not in PATHS:
        raise SettingError(f"Path '{path}' is unknown. Choose one of {', '.join(PATHS)}.")
    if not 0.0 <= onset <= 1.0:
        raise SettingError(f"Onset {onset:g} is no share. Give it a number from 0 to 1.")
    return ReachStyle(profile(timing, easing), path == "LINE", onset, path == "BOW" and not onset)


def check_stops(stops: Sequence[Stop], frame_start: int, return_frames: int) -> None:
    """Raise SettingError or TargetError for stops that cannot be reached one after the other."""
    if not stops:
        raise SettingError("There is no stop to reach. Give at least one target with its frame.")
    leave, before = frame_start, f"its start at frame {frame_start}"
    for number, stop in enumerate(stops, 1):
        if stop.target is None:
            raise TargetError(f"Stop {number} has no target. Choose an object to reach for.")
        name = f"'{stop.target.name}' at frame {stop.frame}"
        if stop.frame <= leave:
            raise SettingError(f"The reach to {name} does not come after {before}. Give it a later frame.")
        if stop.hold < 0:
            raise SettingError(f"{name} cannot be held for {stop.hold} frames. Give it a number from 0 up.")
        leave = stop.frame + stop.hold
        before = f"{name}, held up to frame {leave}" if stop.hold else name
    if return_frames < 0:
        raise SettingError(f"{return_frames} frames do not lead back. Give it a number from 0 up; 0 for no return.")


def _ranges(stops: Sequence[Stop], first: int, last: int) -> list[range]:
    """Return the frames of each stop: from leaving the one before until being at the next."""
    begins = [first, *(stop.frame + stop.hold for stop in stops[:-1])]
    ends = [*(stop.frame for stop in stops[1:]), last]
    return [range(begin, end + 1) for begin, end in zip(begins, ends, strict=True)]


def _visits(stops: Sequence[Stop], readers: Sequence[FrameReader], seconds: float) -> Work[list[TargetVisit]]:
    """Read the samples of each stop."""
    visits = []
    for stop, reader in zip(stops, readers, strict=True):
        samples = {}
        for now in (yield from reader.read(seconds)):
            samples[int(now.frame)] = now
            yield
        visits.append(TargetVisit(reader.limb, stop.frame, stop.frame + stop.hold, samples))
    return visits


def _judged(report: Report, visits: Sequence[TargetVisit], style: ReachStyle, scene: Scene) -> Report:
    """Return the report with only the frames at stops due, and a warning if the tip cannot follow the straight line."""
    due = [frame for visit in visits for frame in range(visit.frame, visit.leave + 1)]
    at_stops = np.isin(np.array(report.judged.frames), due)
    frames = report.judged.due_only(at_stops)
    alone = JudgedFrames.of(report.alone).due_only(at_stops) if report.alone else ()
    warnings = list(dict.fromkeys([*report.warnings, *none_due(frames)]))
    own = JudgedFrames.of(report.alone) if report.alone else report.judged
    deviating = np.flatnonzero(own.due & ~at_stops & ~own.reached)
    if style.straight and len(deviating):
        worst = int(deviating[own.errors[deviating].argmax()])
        warnings.append(
            f"The limb cannot follow the straight line at {len(deviating)} frames; at frame {own.frames[worst]:g} it "
            f"is {distance_text(own.errors[worst], scene)} off. Choose the path Arc."
        )
    targets = ", ".join(visit.limb.target_name for visit in visits)
    return report.with_frames(frames, alone, target=targets, warnings=warnings)


def _check_place(limb: Limb) -> None:
    """Raise TargetError for a limb that goes to no place."""
    if limb.follows_flow:
        raise TargetError(
            f"'{limb.tip}' follows the field of '{limb.target_name}', which is no place to reach for. Use Bake, or "
            "choose another shape."
        )


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
    path: str = "BOW",
    onset: float = 0.0,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> Job[Report]:
    """Key a body from the pose that it has at `frame_start` through the `stops`, while held tips stay as animated.

    The limb that ends in `tip`, by default the first one, reaches for the target of each stop, and all others for
    their own at the same frames. `settings` of the keys are by default those of that limb, the others are those of
    reach_through(). Along the `path` ARC joints rotate from pose to pose and the hips move straight; along BOW so do
    all but arms and legs that reach, whose wrists go along arcs as seen from the chest, after head and trunk have
    begun; along LINE the tips move straight. Every frame is keyed: rotations of all
    bones of the body, and the location of its hips; keys of these inside the range are replaced, and everything else
    stays. In the report only frames at a stop can be missed. Raises an IKError that names the culprit; then, and if it
    is stopped, nothing has changed.
    """
    style = style_of(timing, easing, path, onset)
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    started = perf_counter()
    view_layer.update()
    check_stops(stops, frame_start, return_frames)
    if not rig.limbs:
        raise ChainError("Nothing of the body reaches for anything. Set the target of a limb.")
    tip = tip or rig.limbs[0].tip
    _check_props(tip, stops)
    rigs = _rigs(rig, tip, stops)
    last = stops[-1].frame + stops[-1].hold + return_frames
    check_range(scene, frame_start, last, 1)
    check_armature(rig.armature, view_layer)
    for each in rigs:
        for limb in each.limbs:
            check_limb(limb, scene, view_layer)
            _check_place(limb)
    plan, warnings = plan_keys(rig, settings, (frame_start, last), scene, tip)
    frames = range(frame_start, last + 1)
    read: dict[int, BodySamples] = {}
    for number, each in enumerate(rigs):
        same = next((other for other in read if rigs[other] == each), None)
        reading = read_body(each, scene, frames, view_layer, switched=plan.settings.keys_on != "FK")
        read[number] = (yield from relay(reading, (0, BODY_PARTS))) if same is None else read[same]
    _check_influence(read[0])
    problem, between = (yield from relay(read_problem(rig, read[0], scene), (0, BODY_PARTS))), None
    yield 1, BODY_PARTS
    visits = [BodyVisit(stop.frame, stop.frame + stop.hold, read[n].goals) for n, stop in enumerate(stops)]
    if plan.measures_between(rig):
        between = yield from relay(problem.between(scene), (1, BODY_PARTS))
    motion = BodyReachMotion(problem, visits, style, scene)
    states = yield from relay(motion.solved(return_frames), (1, BODY_PARTS))
    stops_read = [(visit, read[n].readers) for n, visit in enumerate(visits)]
    samples = _as_moved(problem, states, visits)._replace(readers=_readers_at(stops_read))
    body, warnings = SolvedBody(problem, states, between), [*warnings, *motion.warnings]
    with Undo() as undo:
        report = yield from write_body(body, plan, samples, warnings, undo, scene=scene, view_layer=view_layer)
        undo.pop_all()
    return replace(report, seconds=perf_counter() - started)


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

    def __init__(self, readers: Mapping[float, LimbGoals]) -> None:
        self._readers = readers

    @property
    def hangs(self) -> bool:
        return any(reader.hangs for reader in self._readers.values())

    def is_moved(self, depsgraph: Depsgraph, frame: float) -> bool:
        return frame in self._readers and self._readers[frame].is_moved(depsgraph, frame)

    def again(self, depsgraph: Depsgraph, frame: float) -> Goal:
        return self._readers[frame].again(depsgraph, frame)


def _readers_at(stops: Sequence[tuple[BodyVisit, Mapping[str, LimbGoals]]]) -> dict[str, LimbGoals]:
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
