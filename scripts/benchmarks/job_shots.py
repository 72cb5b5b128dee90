# SPDX-License-Identifier: GPL-3.0-or-later
"""Everyday jobs, keyed and baked: by *Set Up Body* and *Bake*, or by Blender's IK on the same empties.

Blender's is IK on hands and feet up to the root, which turns them as their empties where these were turned, and *Damped
Track* on the head. Every pose is what Blender shows.
"""

from typing import Any, NamedTuple

from . import scenes
from .everyday import FRAMES, JOBS, Key
from .job_rigs import RIGS, Rig

OURS, BLENDER = "Set Up Body and Bake", "Blender's IK"
SHOULDERS, ARM, HIPS = {"L": (0.19, 0.03, 1.58), "R": (-0.19, 0.03, 1.58)}, 0.63, 1.0  # [m] of Rigify's human


class Baked(NamedTuple):
    """A job that was baked: its rig, the names of parts whose feet are held, and at each frame all bones and empties.

    `shown` has matrices (world space) and tails by bone, of the pose before it was solved and then of each frame;
    `asked` the places of the empties by part.
    """

    rig: Rig
    held: list[str]
    before: dict[str, Any]
    shown: list[dict[str, Any]]
    asked: list[dict[str, Any]]


def baked(name, rig_name="human", method=OURS):
    """Set up the body of a rig for a job, key what that says, and solve it."""
    import bpy

    job, rig = JOBS[name], RIGS[rig_name]
    ob = rig.make()
    bpy.ops.object.mode_set(mode="POSE")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    with scenes.silent():
        assert bpy.ops.pose.ik_triangulation_body_add() == {"FINISHED"}
        held = [f"foot.{side}" for side in "LR" if f"foot.{side}" not in {*job.keys, *job.free}]
        for part in {f"foot.{side}" for side in "LR"}.difference(held):
            _let_go(ob, bone_of(rig, part), part in job.keys)
        if job.free:
            ob.ik_triangulation.balance = False
        targets = {part: ob.pose.bones[bone_of(rig, part)].ik_triangulation.target for part in job.keys}
        for part, keys in job.keys.items():
            if part == "hips":
                _key_hips(ob, rig, keys)
            else:
                _key(ob, rig, targets[part], part, keys)
        before = shown(ob, 1)
        active = next((part for part in job.keys if part != "hips"), "foot.L")
        ob.data.bones.active = ob.data.bones[bone_of(rig, active)]
        if method == BLENDER:
            _follow_by_blender(ob, rig, targets, held, job)
        else:
            assert bpy.ops.pose.ik_triangulation_bake() == {"FINISHED"}
    poses, asked = [], []
    for frame in range(1, FRAMES + 1):
        poses.append(shown(ob, frame))
        asked.append({part: target.matrix_world.translation.copy() for part, target in targets.items() if target})
    return Baked(rig, held, before, poses, asked)


def bone_of(rig, part):
    """The bone of a part, such as "hand.L", "ball" or "hips"."""
    part, _, side = part.partition(".")
    return rig.of("head" if part == "ball" else part, side)


def shown(ob, frame):
    """Matrices (world space) and tails of all bones as Blender shows them at a frame."""
    import bpy

    bpy.context.scene.frame_set(frame)
    posed = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {bone.name: (posed.matrix_world @ bone.matrix, posed.matrix_world @ bone.tail) for bone in posed.pose.bones}


def hand_place(ob, rig, side, place):
    """A place (world space) for a hand of a rig, of one of Rigify's human."""
    from mathutils import Vector

    rest = {part: ob.data.bones[rig.of(part, "L")] for part in ("upper_arm", "hand")}
    arm = rest["upper_arm"].length + (rest["hand"].head_local - rest["upper_arm"].tail_local).length
    here = ob.data.bones[rig.of("upper_arm", side)].head_local
    way = (Vector(place) - Vector(SHOULDERS[side])) * (arm + rest["hand"].length) / ARM
    return ob.matrix_world @ Vector((here.x + way.x, here.y + way.y, place[2] * here.z / SHOULDERS[side][2]))


def _size(ob, rig):
    return ob.data.bones[rig.of("hips")].head_local.z / HIPS


def _let_go(ob, bone, follows):
    """Do not hold a foot; have it follow an empty."""
    from ik_triangulation.api import new_target

    stored = ob.pose.bones[bone].ik_triangulation
    stored.hold = False
    if follows:
        stored.target = new_target(ob, bone)


def _is_turned(keys: list[Key]):
    return any(any(key.turn) or key.point for key in keys)


def _turned(key, start):
    """The rotation of a key for what begins with the rotation `start`, its Y axis being where it points."""
    from math import radians

    from mathutils import Quaternion, Vector

    turn = Vector(key.turn)
    first = (start @ Vector((0.0, 1.0, 0.0))).rotation_difference(Vector(key.point)) if key.point else Quaternion()
    return (Quaternion(turn.normalized(), radians(turn.length)) if turn.length else Quaternion()) @ first @ start


def _key(ob, rig, target, part, keys: list[Key]):
    """Key an empty as a job says."""
    from mathutils import Vector

    into = target.parent.matrix_world.inverted() if target.parent else None
    start, start_turned = target.matrix_world.translation.copy(), target.matrix_world.to_quaternion()
    target.rotation_mode = "QUATERNION"
    for key in keys:
        if key.place is None:
            place = start
        elif part.startswith("hand"):
            place = hand_place(ob, rig, part[-1], key.place)
        else:
            place = start + Vector(key.place) * _size(ob, rig)
        target.location = into @ place if into else place
        target.keyframe_insert("location", frame=key.frame)
        if _is_turned(keys):
            rotation = _turned(key, start_turned)
            target.rotation_quaternion = into.to_quaternion() @ rotation if into else rotation
            target.keyframe_insert("rotation_quaternion", frame=key.frame)


def _key_hips(ob, rig, keys: list[Key]):
    """Key the hips by hand."""
    from mathutils import Matrix, Vector

    bone = ob.pose.bones[rig.of("hips")]
    start = bone.matrix.copy()
    for key in keys:
        place = start.translation + Vector(key.place) * _size(ob, rig)
        bone.matrix = Matrix.Translation(place) @ _turned(key, start.to_quaternion()).to_matrix().to_4x4()
        for channel in ("location", "rotation_quaternion"):
            bone.keyframe_insert(channel, frame=key.frame)


def _follow_by_blender(ob, rig, targets, held, job):
    """Have Blender's IK turn all bones up to the root."""
    from ik_triangulation.api import new_target

    for part in held:
        targets = targets | {part: new_target(ob, bone_of(rig, part))}
    for part, target in targets.items():
        bone = ob.pose.bones[bone_of(rig, part)]
        if target and part == "ball":
            track = bone.constraints.new("DAMPED_TRACK")
            ahead = bone.bone.matrix_local.to_3x3().inverted() @ (ob.matrix_world.to_3x3().inverted().col[1] * -1.0)
            axis = max(range(3), key=lambda k: abs(ahead[k]))
            track.target, track.track_axis = target, f"TRACK_{'NEGATIVE_' if ahead[axis] < 0 else ''}{'XYZ'[axis]}"
        elif target:
            ik = bone.constraints.new("IK")
            ik.target, ik.chain_count = target, 0
            ik.use_rotation = part in held or _is_turned(job.keys.get(part, ()))
