# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of a limb solved together by the natural solver, near the pose that was made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import radians

import numpy as np
from bpy.types import Scene
from mathutils import Quaternion

from ..cooperative import Work
from ..goals.batch import Refusal, Task
from ..goals.batch.avoid import AvoidTask
from ..kinematics import Pose
from ..kinematics.arrays import Numbers
from ..kinematics.batch import States, Tree
from ..kinematics.batch.algebra import at
from ..kinematics.batch.states import joined
from ..motion.easing import Calming, ease
from ..motion.knots import KnotMethod
from ..motion.mending import avoidable_jumps, calmer, fast_in, hasty_in, mend, pays, track_without_jumps
from ..motion.shots import Shot, Tracked
from ..motion.tracking import meet_missed
from ..motion.turns import leaps_of, ways_of
from ..rig.armature import Bones
from ..rig.frames.samples import Samples
from ..rig.limb import Limb
from ..rig.reference import reference_rotations
from ..solvers.batch.settle import settle_preferences
from ..solvers.natural import natural_path
from .frame_solver import solver_settings
from .shot import ShotProblem, SolvedShot

_SAME = 1e-5  # of the reach, or [rad]: a difference that closes a cycle
_BONES = 2  # joints of a limb without an end
LEAST_IN_CYCLE = 8  # frames
_MOST = radians(11.8)  # turn of a joint in one frame from which on a chain is calmed, where its goal is not as fast
_CALMING, _CALMED = Calming(rounds=4, averages=16), 2  # times
_FALLBACK = "GAUSS_NEWTON"  # that looks for frames that are missed


def solve_naturally(
    limb: Limb,
    bones: Bones,
    samples: Samples,
    scene: Scene,
    part_from: int | None = None,
    shown: Numbers | None = None,
) -> Work[SolvedShot | Refusal]:
    """Solve all frames of a limb as one; returns a refusal where they have to be solved one after the other.

    `part_from` is the number of the first frame if these are part of a longer path. The reference is what is `shown`
    (bones, 4, F), if that is given.
    """
    problem = ShotProblem(limb, bones, samples)
    if problem.refusal is not None:
        return problem.refusal
    tree, frames, tasks, settings = problem.tree, problem.frames(), problem.tasks, solver_settings(limb)
    reference = reference_of_joints(problem, limb, scene, shown)
    fps = scene.render.fps / scene.render.fps_base / _spacing(samples.frames)
    count, cyclic = len(samples), part_from is None and closes(tree, frames, tasks, reference)
    own = np.arange(count - cyclic)
    goals = [task.take(own) for task in tasks]
    given = at(reference, own)
    is_limb = settings.form.has_end or len(tree.joints) == _BONES
    states, _, possible, held = yield from natural_path(
        tree,
        frames.take(own),
        goals,
        given,
        settings.form,
        fps=fps,
        smoothing=limb.smoothing,
        cyclic=cyclic,
        first=part_from or 0,
    )
    if problem.preferences:
        settle_preferences(tree, states, goals, [task.take(own) for task in problem.preferences])
        yield
    if cyclic:
        possible = np.append(possible, possible[0])
        states = joined([states, states.take([0]).like(frames.take([count - 1]))])
    yield
    ways = ways_of(tree, frames, tasks)
    last = states.take([count - 1]) if count - 1 in held else None
    every = [*tasks, *(task for task in problem.preferences if isinstance(task, AvoidTask))]
    shot = Shot(tree, frames, every, states.take([0]), last, ways, leaps_of(ways))
    path = Tracked(shot, States(states.angles, states.balls, frames.held, frames.root, frames.place))
    missed = np.flatnonzero(~path.met & possible)
    if len(missed) or len(avoidable_jumps(shot, path)):
        begun = tree.rotations(shot.first)[:, :, 0]
        first = Pose(problem.start.chain, problem.base_at(0), list(map(Quaternion, begun)))
        settings = replace(settings, solver=_FALLBACK)
        method = KnotMethod(tree, tasks, first, problem.base_at, problem.goal_at, settings)
        if len(missed):
            yield from meet_missed(shot, path, missed, method, limb.seed)
        other = None
        if not is_limb and len(avoidable_jumps(shot, path)):
            # A chain that winds up comes so far from its reference that another branch is nearer to that.
            other = yield from track_without_jumps(shot, method, limb.seed, path)
            if pays(shot, path, other):
                path = calmer(shot, path, other)
        if len(avoidable_jumps(shot, path)):
            yield from mend(shot, path, method, limb.seed)
            if other is not None and len(avoidable_jumps(shot, path)):
                path = calmer(shot, path, other)
        yield from ease(shot, path, hasty_in(shot, path))
    if not is_limb:
        for _ in range(_CALMED):
            yield from ease(shot, path, fast_in(shot, path, _MOST), _CALMING)
    return SolvedShot(problem, path, {})


def reference_of_joints(problem: ShotProblem, limb: Limb, scene: Scene, shown: Numbers | None = None) -> Numbers:
    """Rotations of the joints (n, 4, F or 1) that somebody made by hand, or that are `shown` (bones, 4, F)."""
    rows = {name: row for row, name in enumerate(limb.bones)}
    of_bones = reference_rotations(limb, problem.samples.frames, scene) if shown is None else shown
    return of_bones[[rows[joint.name] for joint in problem.start.chain.joints]]


def closes(tree: Tree, frames: States, tasks: Sequence[Task], reference: Numbers) -> bool:
    """Tell whether the last frame asks for the same as the first one, so that the path is a cycle."""
    if len(frames) < LEAST_IN_CYCLE:
        return False
    if np.abs(reference[..., -1] - reference[..., 0]).max() > _SAME:
        return False
    ends = np.array([0, len(frames) - 1])
    some = frames.take(ends)
    ways = [task.take(ends).ways(some.root, some.place) for task in tasks]
    return all((way <= _SAME * tree.size).all() for way in ways)


def _spacing(frames: Sequence[float]) -> float:
    """Mean distance of the frames."""
    return max(1.0, (frames[-1] - frames[0]) / (len(frames) - 1)) if len(frames) > 1 else 1.0
