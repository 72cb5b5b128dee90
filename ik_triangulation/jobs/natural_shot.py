# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of a limb solved together by the natural solver, near the pose that was made by hand."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import Scene

from ..cooperative import Work
from ..goals.batch import Refusal
from ..kinematics.arrays import Numbers
from ..motion.limb_motion import limb_motion
from ..rig.armature import Bones
from ..rig.frames.samples import Samples
from ..rig.limb import Limb
from ..rig.reference import reference_rotations
from .frame_solver import solver_settings
from .shot import ShotProblem, SolvedShot


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
    fps = scene.render.fps / scene.render.fps_base / _spacing(samples.frames)
    path = yield from limb_motion(
        problem.tree,
        problem.frames(),
        problem.tasks,
        reference_of_joints(problem, limb, scene, shown),
        solver_settings(limb).form,
        fps=fps,
        smoothing=limb.smoothing,
        part_from=part_from,
        seed=limb.seed,
        preferences=problem.preferences,
    )
    return SolvedShot(problem, path, {})


def reference_of_joints(problem: ShotProblem, limb: Limb, scene: Scene, shown: Numbers | None = None) -> Numbers:
    """Rotations of the joints (n, 4, F or 1) that somebody made by hand, or that are `shown` (bones, 4, F)."""
    rows = {name: row for row, name in enumerate(limb.bones)}
    of_bones = reference_rotations(limb, problem.samples.frames, scene) if shown is None else shown
    return of_bones[[rows[joint.name] for joint in problem.start.chain.joints]]


def _spacing(frames: Sequence[float]) -> float:
    """Mean distance of the frames."""
    return max(1.0, (frames[-1] - frames[0]) / (len(frames) - 1)) if len(frames) > 1 else 1.0
