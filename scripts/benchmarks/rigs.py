# SPDX-License-Identifier: GPL-3.0-or-later
"""Other people's skeletons posed by Add Limb and Bake beside Blender's IK, and by Set Up Body: joints off true poses.

Each arm and leg follows the place and rotation of its true hand or foot along random poses inside human ranges
(rig_truth.py), from rest, with default settings. Blender's is the IK constraint to the head of the end, up to the
upper bone, with Copy Rotation on the end, and a pole ahead of the knee or behind the elbow at rest, at the best of 24
pole angles. A finger's target goes to the place of its tip in a fist. Bodies reach for the ground before their feet.
"""

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import rig_truth as truth
from .scenes import empty_file, extension, silent

SEED = 7
BACK = -8.0  # degrees of a bend that is backwards
OFF = 0.08  # share of a finger's length at which its tip is at its target
CLOSED, OPEN = 45.0, -5.0  # degrees of the joints of a closed finger at least: of all after the first, of each
POLE_ANGLES = range(-180, 180, 15)
TRIED = range(1, 38, 6)  # frames by which the pole angle is chosen: those of the poses
LOW, AHEAD = 0.12, 0.5  # of a leg: height of the hands that a body puts down, and how far they are ahead of the feet
LAST = 24  # frame of a body's motion
HEAD = (
    "| Skeleton | Limbs | Arms off: median / 95 % | Blender's IK | Legs off | Blender's IK | Backwards | Blender's IK "
    "| Off hinge | Blender's IK | Fists | Body: knees, elbows | s, limb | s, body |"
)


class Seen(NamedTuple):
    """Joint errors [degrees] of both parts in all frames; bends, and the lower part off the plane of its hinge."""

    errors: np.ndarray
    bends: np.ndarray
    off: np.ndarray


def posed_off_rest(ob, name):
    """Return a bone's rotation (3, 3) off rest as Blender shows it, armature space."""
    bone = ob.pose.bones[name]
    return np.array(bone.matrix.to_3x3().normalized()) @ np.array(bone.bone.matrix_local.to_3x3().normalized()).T


def bend_of(ob, limb):
    """Return a limb's bend about its true hinge and its angle off the plane of that, as shown [degrees]."""
    upper = posed_off_rest(ob, limb.bones[0])
    places = [np.array(ob.pose.bones[name].head) for name in (limb.bones[0], limb.hinge, limb.end)]
    axis, first, second = upper @ limb.axis, *map(truth.unit, np.diff(places, axis=0))
    second_in, first_in = second - axis * (axis @ second), first - axis * (axis @ first)
    bend = np.degrees(np.arctan2(axis @ np.cross(first_in, second_in), first_in @ second_in))
    return bend, np.degrees(abs(np.arcsin(np.clip(axis @ second, -1.0, 1.0))))


def watch(ob, limb, poses, frames):
    """Return what Seen is at these frames."""
    import bpy

    errors, bends = [], []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        pose, lower = poses[frame - 1], posed_off_rest(ob, limb.hinge)
        errors.append(truth.angle(posed_off_rest(ob, limb.bones[0]).T @ pose.upper))
        errors.append(truth.angle(lower.T @ pose.lower))
        bends.append(bend_of(ob, limb))
    return Seen(np.array(errors), *np.array(bends).T)


def key(ob, target, matrices):
    """Key an object where these matrices (4, 4) of armature space are, one a frame."""
    from mathutils import Matrix

    target.rotation_mode = "QUATERNION"
    before = None
    for frame, matrix in enumerate(matrices, 1):
        target.matrix_world = ob.matrix_world @ Matrix(matrix)
        if before is not None:
            target.rotation_quaternion.make_compatible(before)
        before = target.rotation_quaternion.copy()
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_quaternion", frame=frame)


def ours(data, limb, poses):
    """Add the limb of an end and bake it; return what is Seen, whether it was recognised, and CPU seconds."""
    import bpy

    from ik_triangulation.jobs.bake import bake
    from ik_triangulation.jobs.setup import add_limbs
    from ik_triangulation.rig.limb import Limb

    empty_file()
    ob = truth.build(data)
    begin = time.process_time()
    (tip,) = add_limbs(ob, [limb.end])
    found = Limb.of(ob.pose.bones[tip])
    spent = time.process_time() - begin
    key(ob, ob.pose.bones[tip].ik_triangulation.target, [pose.tip for pose in poses])
    bpy.context.scene.frame_set(1)
    begin = time.process_time()
    bake(found, 1, len(poses))
    spent += time.process_time() - begin
    known = ob.pose.bones[tip].ik_triangulation.body_part == limb.part.upper() and tip == limb.end
    known &= found.bones[0] == limb.bones[0] and limb.hinge in found.bones
    return watch(ob, limb, poses, range(1, len(poses) + 1)), known, spent


def blenders(data, limb, poses):
    """Have Blender's IK follow; return what is Seen at the best angle of the pole."""
    import bpy

    empty_file()
    ob = truth.build(data)
    wrist, end, pole = (bpy.data.objects.new(name, None) for name in ("Wrist", "End", "Pole"))
    for each in (wrist, end, pole):
        bpy.context.scene.collection.objects.link(each)
    key(ob, wrist, [pose.wrist for pose in poses])
    key(ob, end, [pose.wrist for pose in poses])
    line = [bone.name for bone in ob.data.bones[limb.end].parent_recursive]
    ik = ob.pose.bones[limb.end].constraints.new("IK")
    ik.target, ik.use_tail, ik.chain_count = wrist, False, 1 + line.index(limb.bones[0])
    for name in limb.bones:  # twist bones do not bend
        if name not in (limb.bones[0], limb.hinge, limb.end):
            bone = ob.pose.bones[name]
            bone.lock_ik_x = bone.lock_ik_y = bone.lock_ik_z = True
    copy = ob.pose.bones[limb.end].constraints.new("COPY_ROTATION")
    copy.target = end
    middle, upper = truth.head(ob, limb.hinge), truth.head(ob, limb.bones[0])
    _, front, _ = truth.axes_of(data)
    ahead = (front if limb.part == "leg" else -front) * 2.0 * np.linalg.norm(middle - upper)
    pole.location = ob.matrix_world @ type(ob.location)(middle + ahead)
    ik.pole_target = pole
    best, seen = np.inf, None
    for each in POLE_ANGLES:
        ik.pole_angle = np.radians(each)
        middle = np.median(watch(ob, limb, poses, TRIED).errors)
        if middle < best:
            best, seen = middle, each
    ik.pole_angle = np.radians(seen)
    return watch(ob, limb, poses, range(1, len(poses) + 1))


def fists(data):
    """Curl all fingers by targets in the palm; return how many close, of how many."""
    import bpy
    from mathutils import Vector

    from ik_triangulation.jobs.bake import bake
    from ik_triangulation.jobs.setup import add_limbs
    from ik_triangulation.rig.limb import Limb

    closed, count = 0, 0
    empty_file()
    ob = truth.build(data)
    for side in "LR":
        palm, fingers = truth.palm_of(ob, data, side) or (None, ())
        for bones in fingers:
            count += 1
            there, axis = truth.curled(ob, bones, palm)
            try:
                (tip,) = add_limbs(ob, [bones[-1]])
            except Exception as error:  # a row says that a finger could not be added
                print(f"{data['name']} {bones[-1]}: {error}")
                continue
            target = ob.pose.bones[tip].ik_triangulation.target
            target.location = ob.matrix_world @ Vector(there)
            limb = Limb.of(ob.pose.bones[tip])
            bake(limb, 1, 1)
            bpy.context.scene.frame_set(1)
            closed += is_closed(ob, bones, axis, there)
    return closed, count


def is_closed(ob, bones, axis, there):
    """Tell whether a finger is curled: its tip where it is in a fist, its joints turned towards the palm."""
    length = sum(ob.data.bones[name].length for name in bones)
    away = np.linalg.norm(np.array(ob.pose.bones[bones[-1]].tail) - there)
    turned = truth.closed_by(ob, bones, axis)
    return bool(away < OFF * length and sum(turned) > CLOSED and min(turned) > OPEN)


def body(data, limbs):
    """Set up a body and have its hands go down; return the bends at the end, or why there are none, and CPU seconds."""
    import bpy
    from mathutils import Vector

    from ik_triangulation.errors import IKError
    from ik_triangulation.jobs.bake import bake_body
    from ik_triangulation.jobs.setup import set_up_body
    from ik_triangulation.rig.stored_body import stored_body

    empty_file()
    ob = truth.build(data)
    begin = time.process_time()
    try:
        made = set_up_body(ob)
    except IKError as error:
        return str(error), 0.0
    if not made.reach:
        return "only feet", 0.0
    left, front, up = truth.axes_of(data)
    legs = [limb for limb in limbs if limb.part == "leg"]
    hips = [np.array([truth.head(ob, name) for name in (limb.bones[0], limb.hinge, limb.end)]) for limb in legs]
    leg = np.mean([np.linalg.norm(np.diff(each, axis=0), axis=1).sum() for each in hips])
    ground = min(truth.tail(ob, name) @ up for limb in legs for name in limb.bones)
    feet = np.mean([each[2] for each in hips], axis=0)
    for name in made.reach:
        target, tip = ob.pose.bones[name].ik_triangulation.target, truth.tail(ob, name)
        aside = 0.25 * leg * (1.0 if (tip - feet) @ left > 0.0 else -1.0)
        there = feet + left * aside + front * AHEAD * leg
        there += up * (ground + LOW * leg - there @ up)
        start = target.matrix_world.translation.copy()
        for frame, place in (
            (1, start),
            (LAST - 4, ob.matrix_world @ Vector(there)),
            (LAST, ob.matrix_world @ Vector(there)),
        ):
            target.location = place
            target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    bake_body(stored_body(ob, made.reach[0]), 1, LAST)
    spent = time.process_time() - begin
    bpy.context.scene.frame_set(LAST)
    found = {part: [bend_of(ob, limb) for limb in limbs if limb.part == part] for part in truth.RANGES}
    return found, spent


def row_of(data, arguments):
    """A line of the table; None for a skeleton without arms or legs of two parts and an end."""
    empty_file()
    limbs = truth.limbs_of(truth.build(data), data)
    seen: dict[Any, list] = {}
    known, seconds = 0, list[float]()
    if not limbs:
        return None
    for limb in limbs:
        poses = path_of(data, limb)
        with silent():
            found, recognised, spent = ours(data, limb, poses)
            seen.setdefault((limb.part, "ours"), []).append(found)
            if not arguments.alone:
                seen.setdefault((limb.part, "Blender"), []).append(blenders(data, limb, poses))
        known += recognised
        seconds.append(spent)
    cells = [data["name"].replace("_", " "), f"{known} of {len(limbs)}"]
    cells += [errors_of(seen.get((part, by), [])) for part in ("arm", "leg") for by in ("ours", "Blender")]
    methods = [[each for part in truth.RANGES for each in seen.get((part, by), [])] for by in ("ours", "Blender")]
    cells += [measure(found) for measure in (back_of, off_of) for found in methods]
    with silent():
        closed, count = fists(data)
        bends, spent = body(data, limbs) if any(limb.part == "leg" for limb in limbs) else ("", 0.0)
    cells.append(f"{closed} of {count}" if count else "")
    cells.append(body_of(bends))
    cells += [f"{np.mean(seconds):.2f}" if seconds else "", f"{spent:.1f}" if spent else ""]
    return f"| {' | '.join(cells)} |"


def path_of(data, limb):
    empty_file()
    return truth.path_of(truth.build(data), data, limb, SEED)


def errors_of(seen):
    if not seen:
        return ""
    errors = np.concatenate([each.errors for each in seen])
    return f"{np.median(errors):.0f} / {np.percentile(errors, 95):.0f}"


def back_of(seen):
    if not seen:
        return ""
    return f"{100.0 * (np.concatenate([each.bends for each in seen]) < BACK).mean():.0f} %"


def off_of(seen):
    if not seen:
        return ""
    return f"{np.percentile(np.concatenate([each.off for each in seen]), 95):.0f}"


def body_of(bends):
    if isinstance(bends, str):
        return bends.partition(".")[0]
    return ", ".join(
        f"{min(bend for bend, _ in bends[part]):.0f} ({max(off for _, off in bends[part]):.0f} off)"
        for part in ("leg", "arm")
        if bends[part]
    )


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("folder", type=Path, help="skeletons as JSON files")
    parser.add_argument("--only", nargs="+", help="names of files without .json")
    parser.add_argument("--alone", action="store_true", help="not beside Blender's IK")


def run(arguments):
    """A line for each skeleton of a human or a robot with arms or legs."""
    import bpy

    print(f"Blender {bpy.app.version_string}, degrees\n\n{HEAD}\n{'|---' * 14}|")
    with extension():
        for path in sorted(arguments.folder.glob("*.json")):
            if arguments.only and path.stem not in arguments.only:
                continue
            data = truth.read(path)
            line = row_of(data, arguments) if data["kind"] in ("human", "robot") else None
            if line:
                print(line, flush=True)
