# SPDX-License-Identifier: GPL-3.0-or-later
"""Postures of reaches by + and Bake beside Blender's IK: wrists that fold, elbows and knees that bend the wrong way.

Rigify's human follows a cup that circles, and reaches for random poses of its hand and foot. Those are made by turning
its joints within comfortable ranges, so a comfortable pose is there for each.
"""

from math import asin, atan2, degrees, radians, sqrt
from random import Random
from typing import NamedTuple

import numpy as np

from .scenes import empty_file, extension

LIMBS = {"arm": ("upper_arm.L", "forearm.L", "hand.L"), "leg": ("thigh.L", "shin.L", "foot.L")}
# Comfortable ranges in degrees: swing of the first bone in any direction, bend of the elbow or knee, turn of the end.
COMFORT = {"arm": (60.0, (15.0, 110.0), 25.0), "leg": (35.0, (10.0, 90.0), 15.0)}
FRAMES = 31  # of a reach, from rest to the pose
FOLDED = 60.0  # degrees of a wrist or ankle
BACK = 5.0  # degrees of bend backwards
BENT, SIDEWAYS = 15.0, 45.0  # degrees of bend, and of its axis off the hinge of rest
OURS, BLENDER = "+ and Bake", "Blender's IK"
HEAD = "| reaches | by | folded, Blender's not | backwards | sideways | end | elbow | first bone | most | tip off |"


class Frame(NamedTuple):
    """Angles of a limb in one frame [degrees]: turn of the end and of the first bone from rest, bend of the elbow or
    knee (negative: backwards), the axis of the bend off the hinge; and the tip's distance to its target [reach]."""

    end: float
    first: float
    bend: float
    off: float
    miss: float


def frames_of(ob, bones, target, frames):
    """Return the limb's posture at each of these frames as Blender shows it."""
    import bpy

    posed = [ob.pose.bones[name] for name in bones]
    reach = sum(bone.length for bone in posed)
    hinge = _direction(posed[1].bone, posed[0].bone)
    hinge = np.cross((0.0, 1.0, 0.0), hinge) / np.linalg.norm(np.cross((0.0, 1.0, 0.0), hinge))
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        lower = np.array((posed[0].matrix.inverted() @ posed[1].matrix).to_3x3())[:, 1]
        axis = np.cross((0.0, 1.0, 0.0), lower)
        bend = degrees(atan2(axis @ hinge, lower[1]))
        angle = degrees(atan2(np.linalg.norm(axis), lower[1]))
        off = degrees(asin(min(1.0, abs(lower @ hinge) / max(np.linalg.norm(axis), 1e-9)))) if angle > BENT else 0.0
        miss = (ob.matrix_world @ posed[2].tail - target.matrix_world.to_translation()).length / reach
        found.append(Frame(_turned(ob, posed[2]), _turned(ob, posed[0]), bend, off, miss))
    return found


def _direction(lower, upper):
    """Direction of a bone in the axes of the one before, both at rest."""
    return np.array((upper.matrix_local.inverted() @ lower.matrix_local).to_3x3())[:, 1]


def _turned(ob, bone):
    """Angle [degrees] of a posed bone's local rotation from rest."""
    local = ob.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
    rotation = local.to_quaternion()
    return degrees(2.0 * atan2(np.linalg.norm(rotation[1:]), abs(rotation.w)))


def comfortable_pose(ob, limb, random):
    """Return the world matrix of the limb's end, moved to its tail, in a random comfortable pose; the limb is reset."""
    import bpy
    from mathutils import Matrix, Quaternion, Vector

    swing, bends, turn = COMFORT[limb]
    posed = [ob.pose.bones[name] for name in LIMBS[limb]]
    hinge = Vector((0.0, 1.0, 0.0)).cross(Vector(_direction(posed[1].bone, posed[0].bone))).normalized()
    inner = (posed[0].bone.matrix_local.inverted() @ posed[1].bone.matrix_local).to_quaternion()

    def about_any(most):
        axis = Vector([random.gauss(0.0, 1.0) for _ in range(3)]).normalized()
        return Quaternion(axis, radians(most * sqrt(random.random())))

    for bone in posed:
        bone.rotation_mode = "QUATERNION"
    posed[0].rotation_quaternion = about_any(swing)
    posed[1].rotation_quaternion = Quaternion(inner.inverted() @ hinge, radians(random.uniform(*bends)))
    posed[2].rotation_quaternion = about_any(turn)
    bpy.context.view_layer.update()
    matrix = ob.matrix_world @ Matrix.Translation(posed[2].tail - posed[2].head) @ posed[2].matrix
    for bone in posed:
        bone.rotation_quaternion = Quaternion()
    bpy.context.view_layer.update()
    return matrix


def reach_for(limb, method, matrix, turns, solver=None):
    """Have the limb follow an empty from where it is at rest to a world matrix; return a Frame each.

    The empty is the one that + makes and `turns` the end, or is there before and tells no rotation.
    """
    import bpy

    from ik_triangulation.api import new_target

    ob = human()
    bones, scene = LIMBS[limb], bpy.context.scene
    target = _plus(ob, bones[-1], None if turns else new_target(ob, bones[-1]), solver)
    target.rotation_mode = "QUATERNION"
    for frame, there in ((1, target.matrix_world.copy()), (FRAMES, matrix)):
        place, rotation, _ = there.decompose()
        if target.rotation_quaternion.dot(rotation) < 0.0:
            rotation.negate()
        target.location, target.rotation_quaternion = place, rotation
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_quaternion", frame=frame)
    scene.frame_start, scene.frame_end = 1, FRAMES
    return _solved(ob, bones, target, method, range(1, FRAMES + 1), turns)


def follow_cup(method, solver=None):
    """Have the arm follow a cup that circles before it and tells no rotation; return a Frame each."""
    import bpy
    from stage.acts import circle

    ob = human()
    cup = bpy.data.objects.new("Cup", None)
    bpy.context.scene.collection.objects.link(cup)
    circle(ob, cup)
    _plus(ob, LIMBS["arm"][-1], cup, solver)
    scene = bpy.context.scene
    return _solved(ob, LIMBS["arm"], cup, method, range(scene.frame_start, scene.frame_end + 1), turns=False)


def human():
    """Rigify's human alone in the scene."""
    import addon_utils
    import bpy

    empty_file()
    addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_human_metarig_add()
    ob = bpy.context.object
    for bone in ob.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return ob


def _plus(ob, tip, target, solver):
    """Click + on a bone; return the target."""
    from ik_triangulation.api import add_limbs

    (made,) = add_limbs(ob, [tip], target)
    stored = ob.pose.bones[made].ik_triangulation
    if solver:
        stored.solver = solver
    return stored.target


def _solved(ob, bones, target, method, frames, turns):
    """Bake the limb, or constrain it: its long bones with Copy Rotation where the target turns it, else all of it."""
    import bpy

    from ik_triangulation.api import Limb, bake

    if method == OURS:
        bake(Limb.of(ob.pose.bones[bones[-1]]), frames[0], frames[-1])
        return frames_of(ob, bones, target, frames)
    ik = ob.pose.bones[bones[1 if turns else 2]].constraints.new("IK")
    ik.chain_count, ik.target = (2, bpy.data.objects.new("Wrist", None)) if turns else (3, target)
    if turns:
        bpy.context.scene.collection.objects.link(ik.target)
        ik.target.parent = target
        ik.target.location = (0.0, -ob.pose.bones[bones[2]].length, 0.0)
        ob.pose.bones[bones[2]].constraints.new("COPY_ROTATION").target = target
    return frames_of(ob, bones, target, frames)


def line_of(title, method, found, peer):
    """A line of the table: frames that are wrong as a share of all, medians, the largest turn of the end, the miss."""
    count = len(found)
    folded = sum(own.end > FOLDED >= other.end for own, other in zip(found, peer, strict=True))
    back, side = sum(each.bend < -BACK for each in found), sum(each.off > SIDEWAYS for each in found)
    cells = [title, method, *(f"{100.0 * each / count:.0f} %" for each in (folded, back, side))]
    cells += [f"{np.median([getattr(each, name) for each in found]):.0f}" for name in ("end", "off", "first")]
    cells += [f"{max(each.end for each in found):.0f}", f"{max(each.miss for each in found):.1e}"]
    return f"| {' | '.join(cells)} |"


def measure(count, seed, solver=None):
    """Return lists of Frame by title and method: the cup, and `count` random reaches of the arm and of the leg."""
    found = {}
    with extension():
        for method in (BLENDER, OURS):
            found["cup", method] = follow_cup(method, solver)
        for limb in LIMBS:
            random, ob = Random(seed), human()
            poses = [comfortable_pose(ob, limb, random) for _ in range(count)]
            for title, turns in ((limb, True), (f"{limb}, place alone", False)):
                for method in (BLENDER, OURS):
                    each = [reach_for(limb, method, pose, turns, solver) for pose in poses]
                    found[title, method] = [frame for frames in each for frame in frames]
    return found


def run(arguments):
    """A line for the cup, and for all reaches of the arm and of the leg, by each method."""
    import bpy

    found = measure(arguments.reaches, arguments.seed, arguments.solver)
    solver = arguments.solver or "the default solver"
    print(
        f"Blender {bpy.app.version_string}, {solver}, {arguments.reaches} reaches of {FRAMES} frames each\n"
        "folded: the wrist or ankle over 60 degrees; end, elbow (its axis off the hinge) and first bone: medians of\n"
        f"degrees; most: largest turn of the end; tip off, of the reach\n\n{HEAD}\n{'|---' * 10}|"
    )
    for (title, method), frames in found.items():
        print(line_of(title, method, frames, found[title, BLENDER]))


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--reaches", type=int, default=12, help="of each limb; default: %(default)s")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--solver", help="in place of the default")
