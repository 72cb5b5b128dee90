# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that is baked or reaches: read and solved at the frames, then written, measured and reported.

It is solved again where its own bones carry targets from space to space.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import numpy as np
from bpy.types import Scene, ViewLayer

from ..cooperative import Job, Work, relay
from ..kinematics.batch import States
from ..rig.body import RigBody
from ..rig.by_hand.keys import located_by_hand
from ..rig.by_hand.record import corrected_times
from ..rig.by_hand.reference import body_by_hand
from ..rig.frames.body_frames import Animation
from ..rig.frames.body_samples import BodySamples, as_below, read_animation, read_body
from ..rig.keyframes import ByHand, made_by_hand
from ..rig.targets.untouched import take_along_shown
from ..rig.timeline import Clock
from ..rig.units import distance_text
from .edits.edited_shot import fades, near_shown
from .edits.spaces import AitkenSteps, fit_spaces
from .shots.body_controls import follow_written
from .shots.controls import kept_by_hand
from .shots.keys import KeyPlan, SolvedBody, body_keys
from .shots.problem import BodyProblem, read_problem
from .shots.report import Report
from .shots.tips import report_written
from .shots.writing import Writing, kept_text, write_together

BODY_PARTS = 5  # of a bake or a reach
_FITS = 12  # times that a body is solved at most, where its own bones carry targets
_FITTED = 3e-6  # of the body's size: how far these may jump
_SEEN = 1e-3  # of it: more than this is told


def solve_body_frames(
    rig: RigBody,
    frames: Sequence[float],
    plan: KeyPlan,
    warnings: list[str],
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
) -> Job[SolvedBody]:
    """Read and solve a body, and again while targets in spaces on its own bones would jump as these move.

    Adds to the `warnings` if they still do.
    """
    settings = plan.settings
    switched, layer = settings.keys_on != "FK", settings.destination == "LAYER"
    states: States | None = None
    relaxed = AitkenSteps()
    for attempt in range(_FITS):
        reading = read_to_solve(rig, frames, scene, view_layer, switched=switched, onto_layer=layer)
        problem = yield from relay(reading, (0, BODY_PARTS))
        between = None
        if plan.measures_between(rig):
            between = yield from relay(problem.between(scene, corrected_times(rig, scene)), (0, BODY_PARTS))
        yield 1, BODY_PARTS
        near = near_shown(problem, scene, like=states) if states is not None and not fades(problem) else None
        if near is not None and near.met.all():
            states = near.states
        else:
            states, _ = yield from relay(problem.path(scene, settings.smoothing), (1, BODY_PARTS))
        is_last = attempt == _FITS - 1
        with ExitStack() as looking:  # the last time it is only seen how far they jump
            changed = looking if is_last else undo
            far = fit_spaces(rig, partial(problem.place_of, states), relaxed, scene, view_layer, changed)
        size = problem.body.tree.size * float(np.cbrt(abs(np.linalg.det(problem.samples.worlds[:3, :3, 0]))))
        if far <= _FITTED * size:
            break
        if is_last and far > _SEEN * size:
            warnings.append(
                f"Targets in spaces on bones of the body jump by {distance_text(far, scene)} where these begin or end, "
                "as the body cannot follow them. Bring them within reach, or let the spaces go on."
            )
    return SolvedBody(problem, states, between)


def read_to_solve(
    rig: RigBody,
    frames: Sequence[float],
    scene: Scene,
    view_layer: ViewLayer,
    *,
    switched: bool = False,
    onto_layer: bool = False,
) -> Work[BodyProblem]:
    """Read a body at frames and pose it as a problem, as a bake has it.

    Constraints do not count if they are to be `switched` off. A layer is combined with all that is shown below it.
    """
    samples = yield from read_body(rig, scene, frames, view_layer, switched=switched)
    if onto_layer:
        samples = yield from as_below(rig, samples, scene, view_layer)
    held_by = None if onto_layer else (yield from _before_corrections(rig, samples, scene))
    return (yield from read_problem(rig, samples, scene, held_by))


def _before_corrections(rig: RigBody, samples: BodySamples, scene: Scene) -> Work[Animation | None]:
    """Return the animation without keys that correct the last bake: these do not move the places to hold."""
    corrected = corrected_times(rig, scene)
    if corrected is None:
        return None
    if samples.shown is not None:
        return (yield from read_animation(rig, scene, samples.frames, samples.bases, corrected))
    yield
    return Animation(*body_by_hand(rig, samples.frames, scene, corrected))


def write_body(
    body: SolvedBody,
    plan: KeyPlan,
    samples: BodySamples,
    warnings: Sequence[str],
    undo: ExitStack,
    *,
    scene: Scene,
    view_layer: ViewLayer,
) -> Job[Report]:
    """Write a body that is solved, have the character follow it, and measure it by the goals of the `samples`."""
    problem, settings, rig = body.problem, plan.settings, body.problem.rig
    kept, count = _kept(rig, plan, scene) if plan.keep else ({}, 0)
    if count:
        warnings = [*warnings, kept_text(count)]
    keys = yield from relay(body_keys(body, plan, scene, kept), (2, BODY_PARTS))
    part = Writing(rig, keys, plan.ends, plan.destination, settings.destination, bool(count))
    writing = write_together([part], undo, scene=scene, view_layer=view_layer)
    (written,) = yield from relay(writing, (3, BODY_PARTS))
    following = follow_written(body, plan, undo, scene=scene, view_layer=view_layer)
    shown = yield from relay(following, (3, BODY_PARTS))
    reporting = report_written(
        problem,
        body.states,
        samples,
        scene,
        between=body.between,
        allowed=keys.allowed,
        times=None if count else keys.times,
        warnings=[*warnings, *shown.warnings],
        keys=written + shown.keys,
        full_keys=keys.full_keys(written, settings.reduce) + shown.full,
    )
    report = yield from relay(reporting, (4, BODY_PARTS))
    if report.outside is not None and keys.outside is not None:
        report = replace(report, outside=keys.outside)
    view_layer.update()
    take_along_shown(rig, view_layer, undo)
    yield BODY_PARTS, BODY_PARTS
    return report


def _kept(rig: RigBody, plan: KeyPlan, scene: Scene) -> tuple[Mapping[str, ByHand], int]:
    """Return the rotation keys made by hand that a plan keeps, and at how many frames there are any to keep."""
    times = [*map(Clock(scene, rig.armature).time, plan.ends)]
    kept = made_by_hand(rig.armature, rig.bones, *times)
    located = located_by_hand(rig.armature, rig.hips, *times) if rig.hips_motion != "FIXED" else []
    of_controls = [keys for limb, _ in plan.limbs for keys in kept_by_hand(limb, *times).values()]
    return kept, len({*located, *(time for keys in (*kept.values(), *of_controls) for time in keys)})
