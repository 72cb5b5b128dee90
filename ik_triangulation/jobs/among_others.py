# SPDX-License-Identifier: GPL-3.0-or-later
"""Single frames of an animated target, solved with those around the present one: they are what a bake keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bpy.types import Scene, ViewLayer

from ..cooperative import finished
from ..goals.batch import Refusal
from ..kinematics import Pose
from ..motion.limb_motion import LEAST_IN_CYCLE
from ..rig.armature import Bones
from ..rig.frames.keyed_reading import read_keyed
from ..rig.frames.samples import Samples
from ..rig.frames.sampling import Sample
from ..rig.limb import Limb, saved_range
from .frame_solver import NATURAL, SolvedFrame, at_frame
from .natural_shot import solve_naturally

_AROUND = 12  # frames on either side
_SAME = 1e-5  # difference of matrices that rounding explains
_UNREAD = Refusal("F-curves alone do not give the motion of rig and target", chosen=True)


def solve_among_others(
    limb: Limb, bones: Bones, now: Sample, scene: Scene, view_layer: ViewLayer
) -> SolvedFrame | Refusal:
    """Solve the present frame as a bake over the limb's range would; a refusal where it has to be solved alone."""
    stored = getattr(limb.armature.pose.bones[limb.tip], "ik_triangulation", None)
    if limb.solver != NATURAL or stored is None or limb.influence != 1.0:
        return Refusal("only the natural solver looks at other frames, and at an influence of 1", chosen=True)
    first, last, step = saved_range(stored, scene, scene.use_preview_range)
    number, rest = divmod(now.frame - first, step)
    count = (last - first) // step + 1
    if rest or not 0 <= number < count or count < 2:
        return Refusal("the frame is none of those that are baked", chosen=True)
    ends = read_keyed(limb, scene, view_layer, [first, first + step * (count - 1)], simple=True)
    if ends is None:
        return _UNREAD
    numbers = _window(int(number), count, is_closed=count >= LEAST_IN_CYCLE and _ends_alike(ends))
    frames = [first + step * each for each in numbers]
    samples = read_keyed(limb, scene, view_layer, frames, simple=True)
    at = numbers.index(int(number))
    if samples is None:
        return _UNREAD
    if not is_moving(samples) or not is_at(samples, at, now):
        return Refusal("the target rests, or is not where its keys have it", chosen=True)
    shot = finished(solve_naturally(limb, bones, samples, scene, part_from=numbers[0]))
    return shot if isinstance(shot, Refusal) else _from_present(shot[at], now, at_frame(now, bones))


def _from_present(solved: SolvedFrame, now: Sample, pose: Pose) -> SolvedFrame:
    """Return a solved frame with its cost counted from the present pose."""
    goal, solution = solved.goal, solved.solution
    for i, (joint, rotation) in enumerate(zip(pose.chain.joints, solution.pose.rotations, strict=True)):
        if joint.freedom.moves and rotation != pose.rotations[i]:
            pose.put(i, rotation)
    error = (goal.target.closest(pose.tip) - pose.tip).length
    solution = solution._replace(pose=pose, error=error, reached=error <= goal.tolerance)
    return SolvedFrame(now, goal, solution, pose)


def _window(number: int, count: int, is_closed: bool) -> list[int]:
    """The numbers of the frames around one, of so many; in a lap, whose last frame is its first, round its end."""
    around = range(number - _AROUND, number + _AROUND + 1)
    if is_closed and count - 1 > 2 * _AROUND:
        return [number if each == number else each % (count - 1) for each in around]
    return [each for each in around if 0 <= each < count]


def _ends_alike(ends: Samples) -> bool:
    motions = (ends.worlds, ends.bases, ends.targets, ends.poles)
    return all(each is None or np.abs(each[..., -1] - each[..., 0]).max() <= _SAME for each in motions)


def is_moving(samples: Samples) -> bool:
    return any(each.shape[-1] > 1 for each in (samples.worlds, samples.bases, samples.targets))


def is_at(samples: Samples, at: int, now: Sample) -> bool:
    """Tell whether the frame of that index is the present one as it is shown."""
    there: Sample = samples[at]
    pairs: Sequence = ((there.target, now.target), (there.rig.world, now.rig.world), (there.rig.base, now.rig.base))
    # Of a frozen matrix, as those of a live limb are, numpy makes an array only through a copy.
    apart = max(float(np.abs(np.array(a.copy()) - np.array(b.copy())).max()) for a, b in pairs)
    size = max(1.0, float(np.abs(np.array(now.target.copy())).max()))
    return apart <= _SAME * size and (there.pole is None) == (now.pole is None)
