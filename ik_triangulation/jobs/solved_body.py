# SPDX-License-Identifier: GPL-3.0-or-later
"""A body read and solved at the frames of a bake, again where its own bones carry targets from space to space."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial

import numpy as np
from bpy.types import Scene, ViewLayer

from ..cooperative import Job, Work, relay
from ..kinematics.batch import States
from ..rig.body import RigBody
from ..rig.by_hand.reference import body_by_hand
from ..rig.frames.body_frames import Animation
from ..rig.frames.body_samples import BodySamples, as_below, read_animation, read_body
from ..rig.stored_body import corrected_times
from ..rig.units import distance_text
from .edits.edited_shot import fades, near_shown
from .edits.spaces import AitkenSteps, fit_spaces
from .shots.keys import BodyKeySettings
from .shots.problem import BodyProblem, read_problem

BAKE_PARTS = 5  # of a bake
_FITS = 12  # times that a body is solved at most, where its own bones carry targets
_FITTED = 3e-6  # of the body's size: how far these may jump
_SEEN = 1e-3  # of it: more than this is told


def solve_body_frames(
    rig: RigBody,
    frames: Sequence[float],
    settings: BodyKeySettings,
    warnings: list[str],
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
) -> Job[tuple[BodySamples, BodyProblem, BodyProblem | None, States]]:
    """Read and solve a body, and again while targets in spaces on its own bones would jump as these move.

    Returns its samples, the problem, that between the frames, and the states; adds to the `warnings` if they still do.
    """
    layer = settings.destination == "LAYER"
    corrected = None if layer else corrected_times(rig, scene)
    states: States | None = None
    relaxed = AitkenSteps()
    for attempt in range(_FITS):
        samples = yield from relay(
            read_body(rig, scene, frames, view_layer, switched=settings.keys_on != "FK"), (0, BAKE_PARTS)
        )
        if layer:
            samples = yield from relay(as_below(rig, samples, scene, view_layer), (0, BAKE_PARTS))
        held_by = yield from relay(before_corrections(rig, samples, scene, corrected), (0, BAKE_PARTS))
        problem = yield from relay(read_problem(rig, samples, scene, held_by), (0, BAKE_PARTS))
        between = None
        if not layer and (rig.held or settings.reduce):
            between = yield from relay(problem.between(scene, corrected), (0, BAKE_PARTS))
        yield 1, BAKE_PARTS
        near = near_shown(problem, scene, like=states) if states is not None and not fades(problem) else None
        if near is not None and near.met.all():
            states = near.states
        else:
            states, _ = yield from relay(problem.path(scene, settings.smoothing), (1, BAKE_PARTS))
        is_last = attempt == _FITS - 1
        with ExitStack() as looking:  # the last time it is only seen how far they jump
            changed = looking if is_last else undo
            far = fit_spaces(rig, partial(problem.place_of, states), relaxed, scene, view_layer, changed)
        size = problem.body.tree.size * float(np.cbrt(abs(np.linalg.det(samples.worlds[:3, :3, 0]))))
        if far <= _FITTED * size:
            break
        if is_last and far > _SEEN * size:
            warnings.append(
                f"Targets in spaces on bones of the body jump by {distance_text(far, scene)} where these begin or end, "
                "as the body cannot follow them. Bring them within reach, or let the spaces go on."
            )
    return samples, problem, between, states


def before_corrections(
    rig: RigBody, samples: BodySamples, scene: Scene, corrected: tuple[float, float] | None
) -> Work[Animation | None]:
    """Return the animation without keys that correct the last bake: these do not move the places to hold."""
    if corrected is None:
        return None
    if samples.shown is not None:
        return (yield from read_animation(rig, scene, samples.frames, samples.bases, corrected))
    yield
    return Animation(*body_by_hand(rig, samples.frames, scene, corrected))
