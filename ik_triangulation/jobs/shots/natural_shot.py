# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of a limb solved together by the natural solver, near the pose made by hand; or one frame among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from time import perf_counter
from typing import NamedTuple

import numpy as np
from bpy.types import Depsgraph, Scene, ViewLayer
from mathutils import Matrix, Quaternion

from ...cooperative import Work, finished
from ...goals.from_goals import Refusal
from ...kinematics import Locked, Pose
from ...kinematics.arrays import Numbers
from ...kinematics.batch.algebra import signs_along
from ...motion.method import Natural
from ...motion.shot import LEAST_IN_CYCLE
from ...motion.tracking import Tracked
from ...rig.armature import Bones
from ...rig.by_hand.reference import reference_rotations
from ...rig.by_hand.shown_limb import baked_keys_aside, controls_or_none, shown_rotations, shows_ik
from ...rig.frames.keyed_motion import read_keyed
from ...rig.frames.reader import FrameReader
from ...rig.frames.samples import Sample, Samples, others_follow_frame
from ...rig.limb import Limb, saved_range
from ...rig.rotation import rotation_of
from .frame_solver import NATURAL, SolvedFrame, at_frame, follow
from .limb_problem import LimbProblem
from .shot import SolvedShot

_AROUND = 12  # frames on either side
_READING = 2e-3  # [s] for which frames are evaluated at once
_SAME = 1e-5  # difference of matrices that rounding explains
_UNREAD = Refusal("F-curves alone do not give the motion of rig and target", chosen=True)
_NOT_THERE = Refusal("the target rests, or is not where its keys have it", chosen=True)


def solve_frames(
    limb: Limb,
    bones: Bones,
    samples: Sequence[Sample],
    scene: Scene,
    shown: Numbers | None = None,
) -> Iterator[SolvedFrame]:
    """Solve one sample after the other, as follow() does, from the reference if the solver is the natural one.

    The reference is what is `shown` (bones, 4, F), if that is given.
    """
    begins = referred(limb, bones, samples, scene, shown)
    for now, solved in zip(samples, follow(limb, bones, begins), strict=True):
        yield solved._replace(now=now)


def referred(
    limb: Limb, bones: Bones, samples: Sequence[Sample], scene: Scene, shown: Numbers | None = None
) -> Iterator[Sample]:
    """Yield the samples as the solver starts from them.

    For the natural solver that is the reference, in place of the animated rotations of the bones that turn.
    """
    if limb.solver != NATURAL:
        yield from samples
        return
    rotations = reference_rotations(limb, [now.frame for now in samples], scene) if shown is None else shown
    turning = [not isinstance(freedom, Locked) for freedom in bones.freedoms]
    for k, now in enumerate(samples):
        column = k if rotations.shape[-1] > 1 else 0
        channels = [
            each._replace(rotation=Quaternion(rotations[row, :, column])) if turns else each
            for row, (turns, each) in enumerate(zip(turning, now.rig.channels, strict=True))
        ]
        yield now._replace(rig=now.rig._replace(channels=channels))


def shown_reference(reader: FrameReader) -> Numbers | None:
    """Return the rotations (bones, 4, F) that the bones of a limb have in the pose of its IK controls, by hand.

    None if these do not animate what the character shows. What bakes have made of the controls does not count.
    """
    limb, armature = reader.limb, reader.limb.armature
    controls = shows_ik(limb)
    if controls is None:
        return None
    with baked_keys_aside(armature, controls, reader.view_layer):
        looking = reader.evaluate(
            reader.frames, lambda depsgraph, _: shown_rotations(limb, controls, armature.evaluated_get(depsgraph))
        )
        found = finished(looking)
    rotations = np.moveaxis(np.array([found[frame] for frame in reader.frames], float), 0, -1)
    return np.asarray(rotations * signs_along(rotations)[:, None])


def rotations_below(reader: FrameReader) -> Numbers:
    """Return the rotations (bones, 4, F) of the bones of a limb that all animation together gives them."""
    limb, armature = reader.limb, reader.limb.armature

    def look(depsgraph: Depsgraph, _: float) -> list[Quaternion]:
        bones = armature.evaluated_get(depsgraph).pose.bones
        return [rotation_of(bones[name]) for name in limb.bones]

    found = finished(reader.evaluate(reader.frames, look))
    rotations = np.moveaxis(np.array([found[frame] for frame in reader.frames], float), 0, -1)
    return np.asarray(rotations * signs_along(rotations)[:, None])


def begun_as_shown(now: Sample, reader: FrameReader) -> Sample:
    """Return a sample whose rotations are those that the character shows, if that follows the limb's IK controls.

    Only for limbs whose keys go to these, or have the character follow the limb.
    """
    limb, armature = reader.limb, reader.limb.armature
    controls = controls_or_none(limb) if limb.keys_on != "FK" else None
    if controls is None:
        return now

    def look(depsgraph: Depsgraph, _: float) -> list[Quaternion] | None:
        evaluated = armature.evaluated_get(depsgraph)
        return shown_rotations(limb, controls, evaluated) if controls.is_shown(evaluated) else None

    rotations = finished(reader.evaluate([now.frame], look))[now.frame]
    if rotations is None:
        return now
    pairs = zip(now.rig.channels, rotations, strict=True)
    channels = [each._replace(rotation=rotation) for each, rotation in pairs]
    return now._replace(rig=now.rig._replace(channels=channels))


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
    problem = LimbProblem(limb, bones, samples)
    reference = reference_of_joints(problem, limb, scene, shown)
    shot = problem.shot(scene, reference, part_from)
    if isinstance(shot, Refusal):
        return shot
    path = yield from Natural().solve(shot)
    assert isinstance(path, Tracked)  # as of every shot of a single limb
    return SolvedShot(problem, path, {})


def reference_of_joints(problem: LimbProblem, limb: Limb, scene: Scene, shown: Numbers | None = None) -> Numbers:
    """Rotations of the joints (n, 4, F or 1) that somebody made by hand, or that are `shown` (bones, 4, F)."""
    rows = {name: row for row, name in enumerate(limb.bones)}
    of_bones = reference_rotations(limb, problem.samples.frames, scene) if shown is None else shown
    return of_bones[[rows[joint.name] for joint in problem.start.chain.joints]]


def solve_among_others(
    limb: Limb, bones: Bones, now: Sample, scene: Scene, view_layer: ViewLayer
) -> SolvedFrame | Refusal:
    """Solve the present frame as a bake over the limb's range would; a refusal where it has to be solved alone."""
    return FramesAround().solve(limb, bones, now, scene, view_layer)


class _Range(NamedTuple):
    """The frames that a bake of a limb solves, and the number of the present one among them."""

    first: int
    count: int
    step: int
    number: int


class _Part(NamedTuple):
    """Some frames of a bake, by their numbers, as they were read and solved."""

    numbers: list[int]
    samples: Samples
    shot: SolvedShot


class FramesAround:
    """Frames of a limb as a bake over its range solves them, in blocks that are kept, each with frames on both sides.

    What a frame change shows is so solved before, also of the next block, in parts: solve_upcoming(). A block
    holds as long as limb and range stay, and rig and target are where they were read, which is checked at each frame;
    of keys, of a pose made by hand and of limits that have changed the owner knows, who calls forget().
    """

    def __init__(self, block: int = 1) -> None:
        self._block = block  # frames of which a block consists
        self._of: tuple[Limb, _Range] | None = None
        self._parts: dict[int, _Part] = {}  # by the number of the block
        self._last = 0  # number of the frame that was solved last
        self._ahead: tuple[int, Work[_Part | Refusal]] | None = None  # the block under way

    def forget(self) -> None:
        """Solve everything anew."""
        self._of, self._ahead = None, None
        self._parts.clear()

    def solve(
        self, limb: Limb, bones: Bones, now: Sample, scene: Scene, view_layer: ViewLayer
    ) -> SolvedFrame | Refusal:
        """Return the present frame as a bake solves it; a refusal where it has to be solved alone."""
        found = _range_of(limb, now, scene)
        if isinstance(found, Refusal):
            return found
        number, of = found.number, (limb, found._replace(number=0))
        if self._of != of or limb.followed or limb.with_moving_limits:
            self.forget()
            self._of = of
        block = number // self._block
        if self._ahead is not None and self._ahead[0] == block:
            work, self._ahead = self._ahead[1], None
            part = finished(work)
            if isinstance(part, _Part):
                self._parts[block] = part
        kept = self._parts.get(block)
        if kept is not None and not is_at(kept.samples, kept.numbers.index(number), now):
            self.forget()
            self._of, kept = of, None
        if kept is None:
            part = finished(self._solved(block, found, limb, bones, scene, view_layer, now))
            if isinstance(part, Refusal):
                return part
            self._parts[block] = kept = part
        if self._block > 1 and self._ahead is None:
            following = (block + (1 if number >= self._last else -1)) % -(-found.count // self._block)
            if following not in self._parts:
                self._ahead = following, self._solved(following, found, limb, bones, scene, view_layer)
        self._last = number
        return _from_present(kept.shot[kept.numbers.index(number)], now, at_frame(now, bones))

    def solve_upcoming(self, seconds: float) -> bool:
        """Solve on the block that comes next, for about so long; tell whether there is more to solve."""
        if self._ahead is None:
            return False
        block, work = self._ahead
        until = perf_counter() + seconds
        while perf_counter() < until:
            try:
                next(work)
            except StopIteration as end:
                self._ahead = None
                if isinstance(end.value, _Part):
                    self._parts[block] = end.value
                return False
        return True

    def _solved(
        self,
        block: int,
        of: _Range,
        limb: Limb,
        bones: Bones,
        scene: Scene,
        view_layer: ViewLayer,
        now: Sample | None = None,
    ) -> Work[_Part | Refusal]:
        """Read and solve a block; that of the present frame only if it is as it was read."""
        seconds = inf if now else _READING
        ends = yield from _read(limb, scene, view_layer, [of.first, of.first + of.step * (of.count - 1)], seconds)
        if ends is None:
            return _UNREAD
        inner = range(block * self._block, min((block + 1) * self._block, of.count))
        numbers = _window(inner, of.count, is_closed=of.count >= LEAST_IN_CYCLE and _ends_alike(ends))
        frames = [of.first + of.step * each for each in numbers]
        yield
        samples = yield from _read(limb, scene, view_layer, frames, seconds)
        if samples is None:
            return _UNREAD
        if not is_moving(samples) or (now is not None and not is_at(samples, numbers.index(of.number), now)):
            return _NOT_THERE
        yield
        shot = yield from solve_naturally(limb, bones, samples, scene, part_from=numbers[0])
        return shot if isinstance(shot, Refusal) else _Part(numbers, samples, shot)


def _read(
    limb: Limb, scene: Scene, view_layer: ViewLayer, frames: Sequence[float], seconds: float
) -> Work[Samples | None]:
    """Read a limb by F-curves, or as Blender evaluates it in a temporary scene; None if only the user's shows it.

    At most about `seconds` are spent at once.
    """
    keyed = read_keyed(limb, scene, view_layer, frames, simple=True)
    if keyed is not None or others_follow_frame():
        return keyed
    reader = FrameReader(limb, scene, view_layer, frames)
    return None if reader.stepped else (yield from reader.read(seconds))


def _range_of(limb: Limb, now: Sample, scene: Scene) -> _Range | Refusal:
    """Return the frames that a bake of the limb solves; a refusal if the present one is not among them."""
    stored = getattr(limb.armature.pose.bones[limb.tip], "ik_triangulation", None)
    if limb.solver != NATURAL or stored is None or limb.influence != 1.0:
        return Refusal("only the natural solver looks at other frames, and at an influence of 1", chosen=True)
    if limb.follows_flow:
        return Refusal("a flow is followed from the pose that is shown", chosen=True)
    first, last, step = saved_range(stored, scene, scene.use_preview_range)
    number, rest = divmod(now.frame - first, step)
    count = (last - first) // step + 1
    if rest or not 0 <= number < count or count < 2:
        return Refusal("the frame is none of those that are baked", chosen=True)
    return _Range(first, count, step, int(number))


def _from_present(solved: SolvedFrame, now: Sample, pose: Pose) -> SolvedFrame:
    """Return a solved frame with its cost counted from the present pose."""
    goal, solution = solved.goal, solved.solution
    for i, (joint, rotation) in enumerate(zip(pose.chain.joints, solution.pose.rotations, strict=True)):
        if joint.freedom.moves and rotation != pose.rotations[i]:
            pose.put(i, rotation)
    error = (goal.target.closest(pose.tip) - pose.tip).length
    solution = solution._replace(pose=pose, error=error, reached=error <= goal.tolerance)
    return SolvedFrame(now, goal, solution, pose)


def _window(inner: range, count: int, is_closed: bool) -> list[int]:
    """The numbers of some frames and of those around; in a lap, whose last frame is its first, round its end."""
    around = range(inner.start - _AROUND, inner.stop + _AROUND)
    if is_closed and count > len(around):
        return [each if each in inner else each % (count - 1) for each in around]
    return [each for each in around if 0 <= each < count]


def _ends_alike(ends: Samples) -> bool:
    motions = (ends.worlds, ends.bases, ends.targets, ends.poles)
    return all(each is None or np.abs(each[..., -1] - each[..., 0]).max() <= _SAME for each in motions)


def is_moving(samples: Samples) -> bool:
    return any(each.shape[-1] > 1 for each in (samples.worlds, samples.bases, samples.targets))


def is_at(samples: Samples, at: int, now: Sample) -> bool:
    """Tell whether the frame of that index is the present one as it is shown."""
    there: Sample = samples[at]
    pairs = ((there.target, now.target), (there.rig.world, now.rig.world), (there.rig.base, now.rig.base))
    apart = max(_largest(a - b) for a, b in pairs)
    return apart <= _SAME * max(1.0, _largest(now.target)) and (there.pole is None) == (now.pole is None)


def _largest(matrix: Matrix) -> float:
    """Return the largest of the numbers of a matrix, without their signs."""
    return max(max(map(abs, row)) for row in matrix.copy())  # rows of a frozen one cannot be read in Blender 4.5
