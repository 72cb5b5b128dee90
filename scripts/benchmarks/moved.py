# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms whose target is moved and never turned, by Add Limb and Bake beside Blender's IK: turns of joints in a frame.

The empty of the left hand goes from rest to two random places in front of the body and back, on Rigify's human and on
one in a T-pose. Every figure is of what Blender shows. Live follows straight drags through the same places.
"""

from itertools import pairwise
from math import degrees
from random import Random
from typing import NamedTuple

import numpy as np

from .postures import human
from .scenes import empty_file, extension

KEYS = 1, 20, 40, 60
NEAREST, FARTHEST, CLEAR = 0.34, 0.97, 0.25  # of the arm: distances from the shoulder of places, and of the way
BOX = (-0.75, 0.5), (-0.95, -0.15), (-0.9, 0.75)  # of the arm: where the places are, along X, Y and Z
MOVE = 0.05  # [m] of a drag at most in one move
FAST, FLIP = 30.0, 45.0  # degrees of a joint in one frame
AWAY = 1e-3  # of the arm: from here on the tip is not at its target
OURS, LIVE, PLACE, TURNED = "Add Limb, Bake", "Add Limb, Live", "Blender's IK", "Blender's IK, Copy Rotation"
METHODS = OURS, LIVE, PLACE, TURNED
RIGS = "Rigify's human", "T-pose"
HEAD = "| Rig | By | largest turn in a frame: median | 90 % | most | motions > 30 | > 45 | tip off, of the arm |"

TALL = 1.75  # [m]
# Lengths of segments as shares of the height, after Drillis and Contini 1966; places of joints, left side, facing -Y.
SHOULDER, HIP, KNEE, ANKLE, NECK = 0.818, 0.53, 0.285, 0.039, 0.87
ACROSS, UPPER_ARM, FOREARM, HAND, FOOT = 0.129, 0.186, 0.146, 0.108, 0.152
HIPS = 0.0955
TRUNK = {
    "spine": ("", (0, 0, HIP), (0, 0, 0.63)),
    "chest": ("spine", (0, 0, 0.63), (0, 0, SHOULDER)),
    "neck": ("chest", (0, 0, SHOULDER), (0, 0, NECK)),
    "head": ("neck", (0, 0, NECK), (0, 0, 1.0)),
}
SIDE = {
    "shoulder": ("chest", (0.02, 0, SHOULDER), (ACROSS, 0, SHOULDER)),
    "upper_arm": ("shoulder", (ACROSS, 0, SHOULDER), (ACROSS + UPPER_ARM, 0, SHOULDER)),
    "forearm": ("upper_arm", (ACROSS + UPPER_ARM, 0, SHOULDER), (ACROSS + UPPER_ARM + FOREARM, 0, SHOULDER)),
    "hand": (
        "forearm",
        (ACROSS + UPPER_ARM + FOREARM, 0, SHOULDER),
        (ACROSS + UPPER_ARM + FOREARM + HAND, 0, SHOULDER),
    ),
    "thigh": ("spine", (HIPS, 0, HIP), (HIPS, 0, KNEE)),
    "shin": ("thigh", (HIPS, 0, KNEE), (HIPS, 0, ANKLE)),
    "foot": ("shin", (HIPS, 0, ANKLE), (HIPS, -FOOT, 0)),
}
ARM = "upper_arm.L", "forearm.L", "hand.L"


class Motion(NamedTuple):
    """Largest turns of a joint from each frame to the next [degrees], and the tip off its target [arm] at each."""

    turns: np.ndarray
    off: np.ndarray


def t_pose():
    """Make a human whose arms and legs are straight at rest, alone in the scene."""
    import bpy

    empty_file()
    ob = bpy.data.objects.new("T-Pose", bpy.data.armatures.new("T-Pose"))
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (parent, head, tail) in bones_of_t_pose().items():
        bone = ob.data.edit_bones.new(name)
        bone.head, bone.tail = np.multiply(head, TALL), np.multiply(tail, TALL)
        bone.parent = ob.data.edit_bones.get(parent)
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def bones_of_t_pose():
    """Return parent, head and tail [height] of each bone, parents first."""
    found = dict(TRUNK)
    for side, sign in (("L", 1), ("R", -1)):
        for name, (parent, *ends) in SIDE.items():
            above = f"{parent}.{side}" if parent in SIDE else parent
            found[f"{name}.{side}"] = above, *((sign * x, y, z) for x, y, z in ends)
    return found


def make(rig):
    """Make one of the RIGS; return it with its arm's length."""
    ob = t_pose() if rig == "T-pose" else human()
    return ob, sum(ob.pose.bones[name].length for name in ARM)


def motions(rig, seed, count):
    """Return the pairs of places of one of the RIGS."""
    ob, arm = make(rig)
    shoulder, tip = ob.data.bones[ARM[0]].head_local, ob.data.bones[ARM[-1]].tail_local
    return places(seed, count, np.array(tip - shoulder) / arm)


def places(seed, count, rest):
    """Return `count` pairs of places (2, 3) in front of the left shoulder, from it [arm]; the hand rests at `rest`.

    The straight ways to them keep clear of the shoulder: a hand that passes through it turns the upper arm about.
    """
    random, found = Random(seed), []
    while len(found) < count:
        pair = np.array([_place(random) for _ in range(2)])
        ways = pairwise([rest, *pair, rest])
        if min(_clearance(*ends) for ends in ways) >= CLEAR:
            found.append(pair)
    return found


def _place(random):
    while True:
        there = np.array([random.uniform(*ends) for ends in BOX])
        if NEAREST <= np.linalg.norm(there) <= FARTHEST:
            return there


def _clearance(start, end):
    """Return the least distance of a straight way from the shoulder."""
    way = end - start
    share = np.clip(-start @ way / (way @ way), 0.0, 1.0)
    return np.linalg.norm(start + share * way)


def add_limb(ob):
    """Press Add Limb on the hand; return its target."""
    import bpy

    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="POSE")
    ob.data.bones.active = ob.data.bones[ARM[-1]]
    for bone in ob.pose.bones:
        chosen = bone if hasattr(bone, "select") else bone.bone
        chosen.select = bone.name == ARM[-1]
    assert bpy.ops.pose.ik_triangulation_limb_add() == {"FINISHED"}
    return ob.pose.bones[ARM[-1]].ik_triangulation.target


def stations(ob, target, pair, arm):
    """Return the places of a motion in world space: rest, two in front of the shoulder, rest."""
    shoulder = np.array(ob.matrix_world @ ob.pose.bones[ARM[0]].head)
    rest = np.array(target.location)
    return [rest, *(shoulder + arm * pair), rest]


def key(target, path):
    """Key the target's location at its places."""
    for frame, there in zip(KEYS, path, strict=True):
        target.location = there
        target.keyframe_insert("location", frame=frame)


def constrain(ob, target, turned):
    """Have Blender's IK move the arm: to the target; or `turned`, the wrist to its place and the hand turned as it."""
    import bpy

    if not turned:
        ik = ob.pose.bones[ARM[2]].constraints.new("IK")
        ik.chain_count, ik.target = 3, target
        return
    wrist = bpy.data.objects.new("Wrist", None)
    bpy.context.scene.collection.objects.link(wrist)
    wrist.parent, wrist.location = target, (0.0, -ob.pose.bones[ARM[2]].length, 0.0)
    ik = ob.pose.bones[ARM[1]].constraints.new("IK")
    ik.chain_count, ik.target = 2, wrist
    ob.pose.bones[ARM[2]].constraints.new("COPY_ROTATION").target = target


def posed(ob):
    """Return the rotations of the arm's bones off the bones above as Blender shows them, quaternions."""
    import bpy

    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [_off_parent(shown.pose.bones[name]) for name in ARM]


def _off_parent(bone):
    return (bone.parent.matrix.inverted() @ bone.matrix).to_quaternion()


def off(ob, target, arm):
    """Return how far the tip is from its target [arm]."""
    import bpy

    graph = bpy.context.evaluated_depsgraph_get()
    shown = ob.evaluated_get(graph)
    tip = shown.matrix_world @ shown.pose.bones[ARM[-1]].tail
    return (tip - target.evaluated_get(graph).matrix_world.translation).length / arm


def largest_turn(before, after):
    """Return the largest turn of a joint between two poses [degrees]."""
    return max(degrees(2.0 * np.arccos(min(1.0, abs(a.dot(b))))) for a, b in zip(before, after, strict=True))


def baked(rig, pair, method):
    """Key the motion, bake it or have Blender's IK follow; return a Motion of all frames."""
    import bpy

    ob, arm = make(rig)
    target, scene = add_limb(ob), bpy.context.scene
    key(target, stations(ob, target, pair, arm))
    scene.frame_start, scene.frame_end = KEYS[0], KEYS[-1]
    if method == OURS:
        assert bpy.ops.pose.ik_triangulation_bake() == {"FINISHED"}
    else:
        constrain(ob, target, method == TURNED)
    seen, away = [], []
    for frame in range(KEYS[0], KEYS[-1] + 1):
        scene.frame_set(frame)
        seen.append(posed(ob))
        away.append(off(ob, target, arm))
    return Motion(np.array([largest_turn(*each) for each in pairwise(seen)]), np.array(away))


def dragged(rig, pair):
    """Have the arm live and drag its target straight from place to place; return a Motion of all moves."""
    import bpy
    from mathutils import Vector

    ob, arm = make(rig)
    target = add_limb(ob)
    path = stations(ob, target, pair, arm)
    assert bpy.ops.pose.ik_triangulation_live() == {"FINISHED"}
    seen, away = [posed(ob)], []
    for start, end in pairwise(path):
        moves = int(np.ceil(np.linalg.norm(end - start) / MOVE))
        for k in range(1, moves + 1):
            target.location = Vector(start + (end - start) * k / moves)
            bpy.context.view_layer.update()
            seen.append(posed(ob))
            away.append(off(ob, target, arm))
    bpy.ops.pose.ik_triangulation_live()
    return Motion(np.array([largest_turn(*each) for each in pairwise(seen)]), np.array(away))


def motion(rig, pair, method):
    """Return the Motion of an arm by one of the METHODS."""
    return dragged(rig, pair) if method == LIVE else baked(rig, pair, method)


def line_of(rig, method, found):
    """Return a line of the table."""
    most = np.array([each.turns.max() for each in found])
    tip = max(each.off.max() for each in found)
    cells = [rig, method, *(f"{value:.0f}" for value in (np.median(most), np.quantile(most, 0.9), most.max()))]
    cells += [str(int((most > limit).sum())) for limit in (FAST, FLIP)]
    return f"| {' | '.join([*cells, f'{tip:.1e}'])} |"


def run(arguments):
    """A line for each rig and method."""
    import bpy

    print(f"Blender {bpy.app.version_string}, {arguments.count} motions a rig, degrees\n\n{HEAD}\n{'|---' * 8}|")
    with extension():
        for rig in arguments.rigs:
            pairs = motions(rig, arguments.seed, arguments.count)
            for method in METHODS:
                print(line_of(rig, method, [motion(rig, pair, method) for pair in pairs]), flush=True)


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--count", type=int, default=24, help="motions of each rig; default: %(default)s")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rigs", nargs="+", default=RIGS, choices=RIGS)
