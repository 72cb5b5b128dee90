# SPDX-License-Identifier: GPL-3.0-or-later
"""A recorded limb solved again, by + and Bake or by Blender's IK, with nothing else set."""

from contextlib import contextmanager, suppress
from math import atan2, remainder, tau
from time import process_time
from typing import NamedTuple

import numpy as np

from .likeness import likeness, local_rotations
from .recordings import key, smooth_quaternions, watch

OURS, BLENDER, POLE = "+ and Bake", "Blender's IK", "with a pole"
EVERY = 24  # frames from key to key of a limb that an animator has keyed
STRAIGHT = 10.0  # [degrees] of bend below which an elbow does not tell where it points
ENDS = "arm", "leg"  # limbs of two long bones and an end


class Case(NamedTuple):
    """Limbs to solve, how much is given of them, and whether for the place of the bone before the end alone.

    given     "first" pose, only "rest", or the recorded poses every 24 frames "keyed"
    """

    title: str
    limbs: tuple[str, ...]
    given: str
    place: bool = False


def solve_again(recording, case, method, solver=None):
    """Return a Likeness for each limb of a case by its name, the process time in seconds, and what + took instead.

    The time is that of Bake, or of showing all frames, in which Blender's IK is solved.
    """
    limbs = {name: bones[:2] if case.place else bones for name, bones in recording.limbs.items() if _is_of(name, case)}
    notes = []
    with _copied(recording.ob) as ob:
        for bones in limbs.values():
            _give(ob, recording, bones, case.given)
        if method == OURS:
            made = [_plus(ob, recording, bones, case.place, notes) for bones in limbs.values()]
            for limb in made:
                if solver:
                    limb.ik_triangulation.solver = solver
            seconds = _bake(made, recording.frames)
            seen = watch(ob, recording.frames)
        else:
            for name, bones in limbs.items():
                _constrain(ob, recording, bones, case, name.startswith(ENDS), method == POLE)
            started = process_time()
            seen = watch(ob, recording.frames)
            seconds = process_time() - started
    found = {}
    for name, bones in limbs.items():
        lengths = np.array([recording.ob.data.bones[bone].length for bone in bones])
        found[name] = likeness(recording.of(bones, seen), recording.of(bones), recording.rests(bones), lengths)
    return found, seconds, notes


def outside_ranges(recording, limb):
    """Angles [degrees] (F, n) by which the recorded joints of a limb are outside the ranges that + stores."""
    from mathutils import Matrix

    from ik_triangulation.kinematics.rotation import rotation_angle
    from ik_triangulation.rig.freedom import freedom_of

    bones = recording.limbs[limb]
    locals_ = local_rotations(recording.of(bones), recording.rests(bones))
    with _copied(recording.ob) as ob:
        _plus(ob, recording, bones, False, [])
        freedoms = [freedom_of(ob.pose.bones[name]) for name in bones]
    quaternions = [[Matrix(rotation).to_quaternion() for rotation in frame] for frame in locals_]
    over = [[rotation_angle(f.nearest(q), q) for f, q in zip(freedoms, frame, strict=True)] for frame in quaternions]
    return np.degrees(over)


def has_peer(case, method):
    """Tell whether a method is there for a case: a pole is for limbs with an elbow, and a pose must tell its place."""
    return method != POLE or (case.limbs == ENDS and case.given != "rest")


def _is_of(name, case):
    return name in case.limbs or name.rpartition(" ")[0] in case.limbs


@contextmanager
def _copied(ob):
    """A copy of a rig with an action of its own, in place of it in the scene; what is made meanwhile is removed."""
    import bpy

    scene = bpy.context.scene
    before = {kind: set(getattr(bpy.data, kind)) for kind in ("objects", "actions")}
    copy = ob.copy()
    copy.animation_data.action = ob.animation_data.action.copy()
    copy.animation_data.action_slot = copy.animation_data.action.slots[0]
    scene.collection.objects.link(copy)
    scene.collection.objects.unlink(ob)
    bpy.context.view_layer.objects.active = copy
    try:
        yield copy
    finally:
        scene.collection.objects.link(ob)
        for kind, known in before.items():
            for each in set(getattr(bpy.data, kind)) - known:
                with suppress(ReferenceError):
                    getattr(bpy.data, kind).remove(each)


def _give(ob, recording, bones, given):
    """Take away the recorded rotations of a limb, but for what is given of them."""
    import bpy

    from ik_triangulation.rig.keyframes.channelbags import channelbag_of, curves_of

    scene, frames = bpy.context.scene, recording.frames
    kept = frames[::EVERY] if given == "keyed" else frames[:1]
    poses = {}
    for frame in kept:
        scene.frame_set(frame)
        poses[frame] = [ob.pose.bones[name].rotation_quaternion.copy() for name in bones]
    paths = {ob.pose.bones[name].path_from_id("rotation_quaternion") for name in bones}
    for curve in [curve for curve in curves_of(ob) if curve.data_path in paths]:
        channelbag_of(ob).fcurves.remove(curve)
    for frame, pose in reversed(poses.items()):  # the first one last, as it stays
        for name, rotation in zip(bones, pose, strict=True):
            bone = ob.pose.bones[name]
            bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0) if given == "rest" else rotation
            if given == "keyed":
                bone.keyframe_insert("rotation_quaternion", frame=frame, group=name)
    scene.frame_set(frames[0])


def _plus(ob, recording, bones, place, notes):
    """The tip bone of the limb that + makes, its empty keyed as the recorded end went."""
    import bpy

    from ik_triangulation.api import add_limbs, remove_limb

    target = _empty("Wrist") if place else None
    # One click does for what + knows; a spine with its neck is two limbs to it, so all bones are selected.
    clicked = bones if place or len(bones) > 3 else bones[-1:]
    (tip,) = add_limbs(ob, clicked, target)
    count = ob.pose.bones[tip].ik_triangulation.chain_count
    if (tip, count) != (bones[-1], len(bones)):
        notes.append(f"{recording.name}: + on {clicked[-1]} took {count} bones up to {tip}, not {', '.join(bones)}")
        empty = ob.pose.bones[tip].ik_triangulation.target
        remove_limb(ob, tip)
        with suppress(ReferenceError):  # it may be gone with its limb
            bpy.data.objects.remove(empty) if not place else None
        (tip,) = add_limbs(ob, bones, target)
    _lead(ob.pose.bones[tip].ik_triangulation.target, recording, tip)
    return ob.pose.bones[tip]


def _bake(tips, frames):
    """Bake the limbs that end in these bones, one after the other; returns the process time in seconds."""
    from ik_triangulation.api import Limb, bake

    started = process_time()
    for tip in tips:
        bake(Limb.of(tip), frames[0], frames[-1])
    return process_time() - started


def _empty(name):
    import bpy

    empty = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(empty)
    return empty


def _lead(empty, recording, bone):
    """Key an empty at the end of a bone and turned as it is, as recorded."""
    matrices = recording.of([bone])[:, 1]
    turned = matrices[:, :3, :3] / np.linalg.norm(matrices[:, :3, :1], axis=1, keepdims=True)
    empty.rotation_mode = "QUATERNION"
    places = matrices[:, :3, 3] + recording.ob.data.bones[bone].length * matrices[:, :3, 1]
    key(empty, "location", recording.frames, places)
    key(empty, "rotation_quaternion", recording.frames, smooth_quaternions(turned))


def _constrain(ob, recording, bones, case, elbow, pole):
    """Blender's IK as animators set it up: on the long bones, the end turned by Copy Rotation; else with Rotation."""
    last = ob.pose.bones[bones[-1]]
    long = bones[:2] if elbow else bones
    target = _empty("Target")
    _lead(target, recording, long[-1])
    ik = ob.pose.bones[long[-1]].constraints.new("IK")
    ik.target, ik.chain_count, ik.use_rotation = target, len(long), not elbow
    if elbow and not case.place:
        turned = _empty("Turned")
        _lead(turned, recording, bones[-1])
        last.constraints.new("COPY_ROTATION").target = turned
    if pole:
        ik.pole_target = _empty("Pole")
        key(ik.pole_target, "location", recording.frames, _pole_places(recording, bones, case.given))
        _turn_pole(ob, ik, recording, bones)


def _pole_places(recording, bones, given):
    """Places (F, 3) of a pole that goes with the bone before the limb, where the elbow pointed in the given poses."""
    matrices = recording.of(bones[:2])
    above, upper, lower = matrices.transpose(1, 0, 2, 3)
    data = recording.ob.data.bones
    line = _line(recording, bones, matrices)
    bent = np.degrees(np.arccos(np.clip((upper[:, :3, 1] * lower[:, :3, 1]).sum(1), -1.0, 1.0)))
    rest = np.array(data[bones[0]].parent.matrix_local.to_3x3())
    usual = above[:, :3, :3] @ (rest.T @ _usual(data, bones))
    share = np.clip((bent - STRAIGHT) / STRAIGHT, 0.0, 1.0)[:, None]
    out = share * _across(lower[:, :3, 3] - upper[:, :3, 3], line) + (1.0 - share) * _across(usual, line)
    places = lower[:, :3, 3] + sum(data[name].length for name in bones[:2]) * _across(out, line)
    local = np.einsum("fji,fj->fi", above[:, :3, :3], places - above[:, :3, 3])
    times = np.arange(len(local))
    kept = times[::EVERY] if given == "keyed" else times[:1]
    followed = np.column_stack([np.interp(times, kept, local[kept, axis]) for axis in range(3)])
    return np.einsum("fij,fj->fi", above[:, :3, :3], followed) + above[:, :3, 3]


def _usual(data, bones):
    """Direction (3) at rest in which an elbow or knee points: knees ahead, elbows back and down."""
    down = data[bones[1]].tail_local - data[bones[0]].head_local
    return np.array([0.0, -1.0, 0.0] if -down.z > abs(down.x) else [0.0, 0.8, -0.6])


def _line(recording, bones, matrices):
    """Directions (F, 3) from the root of two bones to their tip."""
    tips = matrices[:, 2, :3, 3] + recording.ob.data.bones[bones[1]].length * matrices[:, 2, :3, 1]
    line = tips - matrices[:, 1, :3, 3]
    return line / np.linalg.norm(line, axis=1, keepdims=True)


def _across(vectors, line):
    """Directions (F, 3) of what vectors have across a line."""
    out = vectors - line * (vectors * line).sum(1, keepdims=True)
    return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)


def _turn_pole(ob, ik, recording, bones):
    """Set the pole angle with which the first bone is turned about the limb's line as in the first pose."""
    import bpy
    from mathutils import Matrix, Vector

    matrices = recording.of(bones[:2])
    line = Vector(_line(recording, bones, matrices)[0])
    recorded = Matrix(matrices[0, 1, :3, :3]).to_quaternion()

    def turned():
        bpy.context.scene.frame_set(recording.frames[0])
        between = recorded @ ob.pose.bones[bones[0]].matrix.to_quaternion().inverted()
        return 2.0 * atan2(Vector(between[1:]) @ line, between.w)

    off = turned()
    tried = []
    for angle in (off, -off):
        ik.pole_angle = remainder(angle, tau)
        tried.append((abs(remainder(turned(), tau)), ik.pole_angle))
    ik.pole_angle = min(tried)[1]
