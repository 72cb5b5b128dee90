# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends of a bake: a last frame that reaches already is kept, and jumps to the keys outside the range are found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import radians
from statistics import median

from bpy.types import PoseBone, Scene

from ..goals import Goal
from ..kinematics import Locked
from ..kinematics.rotation import rotation_angle
from ..motion.jumps import AROUND, FEW, ROUND, SEAM, TIMES, JointStep, Jump, turns
from ..rig.armature import Bones
from ..rig.clock import Clock
from ..rig.frames.reader import FrameReader
from ..rig.frames.sampling import Sample
from ..rig.keyframes import SAME_FRAME, keys_beside, made_by_hand
from ..rig.limb import Limb
from ..rig.rotation import channel, rotation_from, turn_between
from .frame_solver import SolvedFrame, already_right, at_frame

_DETOUR = radians(90.0)  # a way longer than the direct one by more than this is the long way round
_MOST_STEPS = 50  # in which a way is followed; fewer frames are followed one by one


def kept_last(limb: Limb, bones: Bones, now: Sample, goal: Goal, reader: FrameReader) -> SolvedFrame | None:
    """Return the last frame with its animated pose as the solution, if that reaches already and is to be kept.

    It is kept if the limb is animated towards it: by keys after it, or by one there that was made by hand. Remove Jumps
    then leads the path into it; without Remove Jumps it is left as solved.
    """
    if not (limb.smooth and limb.refines and limb.start_from != "REST"):
        return None
    if not _is_animated_to(limb, now.frame, reader.scene):
        return None
    # The samples of a bake have the rotations of the first frame unless something else moves the rig.
    animated = reader.as_animated(now)
    pose = at_frame(animated, bones)
    solution = already_right(limb, pose, goal)
    return SolvedFrame(animated, goal, solution, solution.pose) if solution else None


def _is_animated_to(limb: Limb, frame: float, scene: Scene) -> bool:
    """Tell whether the limb has rotation keys after this frame, or one at it that was made by hand."""
    if limb.destination == "NLA_TRACK" or limb.keys_on == "IK":
        return False  # the keys there are those of a layer below, or of controls that are not followed
    time = Clock(scene, limb.armature).time(frame)
    later = (keys_beside(limb.armature, _path(bone), time, after=True) for bone in limb.pose_bones)
    return any(later) or bool(made_by_hand(limb.armature, limb.in_order, time, time))


def seams(limb: Limb, solved: Sequence[SolvedFrame], scene: Scene) -> list[Jump]:
    """Find jumps from the keys before the range to its first frame, and from its last frame to the keys after it.

    As within the range, a jump is a rotation that stands out from those of the frames around it; so is one that goes
    the long way round, as where the limb has wound about a joint. The indices are those of the frames at the ends.
    """
    if limb.destination == "NLA_TRACK" or limb.keys_on == "IK":
        return []
    count = len(solved)
    ends = (0, False, range(min(AROUND + 1, count))), (count - 1, True, range(max(0, count - AROUND - 1), count))
    found = []
    for at, after, indices in ends:
        jumps = [*_turned(limb, solved[at], at, after, scene)]
        around = [*_speeds([solved[i] for i in indices])] if jumps else []
        farthest = [jump for jump in jumps if jump.reason == ROUND] or jumps
        jump = max(farthest, key=lambda each: each.turned.angle, default=None)
        if jump and (jump.reason == ROUND or jump.turned.angle > max(FEW, TIMES * median(around or [0.0]))):
            found.append(jump)
    return found


def _speeds(solved: Sequence[SolvedFrame]) -> Iterator[float]:
    """Largest rotation of a joint to each frame but the first [rad per frame]."""
    paths = [each.pose.rotations for each in solved]
    for before, now, angle in zip(solved, solved[1:], turns(paths)[1:], strict=False):
        yield angle / (now.now.frame - before.now.frame)


def _turned(limb: Limb, end: SolvedFrame, at: int, after: bool, scene: Scene) -> Iterator[Jump]:
    """Speed of each joint [rad per frame] between the key at an end, the frame of index `at`, and those beyond it."""
    clock = Clock(scene, limb.armature)
    time = clock.time(end.now.frame)
    just_inside = time - 2.0 * SAME_FRAME if after else time + 2.0 * SAME_FRAME
    bones = {bone.name: bone for bone in limb.pose_bones}
    for joint in end.pose.chain.joints:
        if isinstance(joint.freedom, Locked):
            continue
        bone = bones[joint.name]
        keys = keys_beside(limb.armature, _path(bone), time, after)
        if keys:
            here = keys_beside(limb.armature, _path(bone), just_inside, after)
            gap = min(abs(clock.frame(key) - end.now.frame) for key, _ in keys.values())
            ways = _values(bone, here), _values(bone, keys)
            held = after and limb.interpolation == "CONSTANT"
            turn = turn_between(*ways, bone.rotation_mode, 1 if held else min(max(round(gap), 1), _MOST_STEPS))
            direct = rotation_angle(*(rotation_from(each, bone.rotation_mode) for each in ways))
            step = JointStep(at, joint.name, turn / max(gap, 1.0))
            yield Jump(step, ROUND if turn - direct > _DETOUR else SEAM)


def _values(bone: PoseBone, keys: dict[int, tuple[float, float]]) -> list[float]:
    """Return the channel values of these keys, with the present ones for channels that have none."""
    present = getattr(bone, channel(bone)[0])
    return [keys[index][1] if index in keys else value for index, value in enumerate(present)]


def _path(bone: PoseBone) -> str:
    return str(bone.path_from_id(channel(bone)[0]))
