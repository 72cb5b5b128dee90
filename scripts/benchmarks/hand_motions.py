# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions of a hand whose target an animator keys: Rigify's human, hand.L, Add Limb, keys at four frames, Bake.

Everything is made by the operators that the buttons call, and measured from the bones that Blender then evaluates.
"""

from math import cos, hypot, pi, radians, sin
from typing import Any, NamedTuple

import numpy as np

from .scenes import empty_file, silent

ARM = "upper_arm.L", "forearm.L", "hand.L"
KEYS = 1, 20, 40, 60  # frames
NEAREST, FARTHEST = 0.2, 0.58  # of a place from the shoulder [m]
LEAST_TURN, MOST_TURN = 20.0, 90.0  # of a target that is turned [degrees]


class Hand(NamedTuple):
    """The metarig with a limb that ends in hand.L, or in the last of other `names`, and the empty made for it."""

    ob: Any
    target: Any
    names: tuple[str, ...] = ARM

    @property
    def bones(self):
        """Pose bones from the shoulder to the hand."""
        return [self.ob.pose.bones[name] for name in self.names]


class Seen(NamedTuple):
    """Evaluated motion of an arm over F frames.

    `rotations` (3, F, 3, 3) of the joints, each seen from the bone before it and its rest; `tip` (F) is the distance of
    the hand's tail to the target [m], `off` (F) the angle of the hand to it [degrees], and `places` (4, F, 3) are the
    heads of the bones and the hand's tail in the world [m].
    """

    rotations: np.ndarray
    tip: np.ndarray
    off: np.ndarray
    places: np.ndarray

    @property
    def turns(self):
        """Turn (3, F - 1) of each joint from one frame to the next [degrees]."""
        return angles(self.rotations[:, :-1], self.rotations[:, 1:])


def new_hand(names=ARM):
    """Add Rigify's metarig to an empty file and a limb of these bones, by default its left arm; return a Hand."""
    import addon_utils
    import bpy

    empty_file()
    with silent():
        if "rigify" not in bpy.context.preferences.addons:
            addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_human_metarig_add()
    ob = bpy.context.object
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        # Selection moved from the bone to the pose bone in Blender 5.0.
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == names[-1]
    ob.data.bones.active = ob.data.bones[names[-1]]
    with silent():
        bpy.ops.pose.ik_triangulation_limb_add()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = KEYS[0], KEYS[-1]
    target = ob.pose.bones[names[-1]].ik_triangulation.target
    target.rotation_mode = "QUATERNION"
    bpy.context.view_layer.update()
    return Hand(ob, target, names)


def random_place(hand, random):
    """Return a place in front of body and face that the hand can get to, in the world."""
    from mathutils import Vector

    shoulder = hand.ob.matrix_world @ hand.ob.data.bones[ARM[0]].head_local
    while True:
        place = Vector(
            (random.uniform(-0.25, 0.6), random.uniform(-0.6, -0.12), shoulder.z + random.uniform(-0.4, 0.4))
        )
        if NEAREST <= (place - shoulder).length <= FARTHEST:
            return place


def random_turn(random):
    """Return a rotation by 20 to 90 degrees about any axis."""
    from mathutils import Quaternion, Vector

    axis = Vector([random.gauss(0.0, 1.0) for _ in range(3)]).normalized()
    return Quaternion(axis, radians(random.uniform(LEAST_TURN, MOST_TURN)))


def key_places(hand, places, turns=()):
    """Key the target where it is at the first and the last frame, and at `places` at the two between.

    `turns` are the rotations of the target in the world there, from the one that it has; without them it has no
    rotation keys.
    """
    place, rotation, _ = hand.target.matrix_world.decompose()
    ways = [place, *places, place]
    around = [turn @ rotation for turn in turns]
    for number, frame in enumerate(KEYS):
        hand.target.location = ways[number]
        hand.target.keyframe_insert("location", frame=frame)
        if turns:
            hand.target.rotation_quaternion = [rotation, *around, rotation][number]
            hand.target.keyframe_insert("rotation_quaternion", frame=frame)


def key_poses(hand, random, within=0.8):
    """Pose the arm smoothly and key the target to follow its hand in every frame; return what was Seen of the arm.

    The poses are rest at the first and the last frame and two random ones between, which use up to a share `within` of
    the limits of each joint. Coordinates of the joints are interpolated, so that every frame is inside the limits. The
    arm is at rest afterwards.
    """
    import bpy
    from mathutils import Quaternion

    scene, bones = bpy.context.scene, hand.bones
    follows = _frame(hand.ob, bones[-1]).inverted() @ hand.target.matrix_world
    joints = [_coordinates(bone, random, within) for bone in bones]
    for bone in bones:
        bone.rotation_mode = "QUATERNION"
    for frame in range(KEYS[0], KEYS[-1] + 1):
        for bone, (posed, rotation) in zip(bones, joints, strict=True):
            bone.rotation_quaternion = rotation([_eased(frame, values) for values in zip(*posed, strict=True)])
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    for frame in range(KEYS[0], KEYS[-1] + 1):
        scene.frame_set(frame)
        matrix = _frame(hand.ob, bones[-1]) @ follows
        hand.target.location, hand.target.rotation_quaternion, _ = matrix.decompose()
        hand.target.keyframe_insert("location", frame=frame)
        hand.target.keyframe_insert("rotation_quaternion", frame=frame)
    motion = watch(hand)
    hand.ob.animation_data_clear()
    for bone in bones:
        bone.rotation_quaternion = Quaternion()
    scene.frame_set(KEYS[0])
    return motion


def _coordinates(bone, random, within):
    """Coordinates of a joint at the keys, and the rotation that they mean; Add Limb has stored its limits."""
    from mathutils import Quaternion, Vector

    from ik_triangulation.kinematics import EulerLimits, Framed, unframed
    from ik_triangulation.kinematics.rotation import from_euler
    from ik_triangulation.rig.freedom import freedom_of

    limits = freedom_of(bone)
    freedom = unframed(limits)

    def posed():
        if isinstance(freedom, EulerLimits):
            return [within * random.uniform(*ends) for ends in zip(freedom.lower, freedom.upper, strict=True)]
        angle, swing = random.uniform(-pi, pi), within * freedom.swing * random.random()
        twist = within * random.uniform(freedom.twist_lower, freedom.twist_upper)
        return [swing * cos(angle), swing * sin(angle), twist]

    def rotation(values):
        turned = in_their_axes(values)
        return limits.out_of(turned) if isinstance(limits, Framed) else turned

    def in_their_axes(values):
        if isinstance(freedom, EulerLimits):
            return from_euler(values, freedom.order)
        x, z, twist = values
        return Quaternion(Vector((x, 0.0, z)), hypot(x, z)) @ Quaternion((0.0, 1.0, 0.0), twist)

    rest = [0.0, 0.0, 0.0]
    return [rest, posed(), posed(), rest], rotation


def _eased(frame, values):
    """A value at a frame between those at the keys, by minimum jerk."""
    at = max(k for k, key in enumerate(KEYS[:-1]) if key <= frame)
    s = (frame - KEYS[at]) / (KEYS[at + 1] - KEYS[at])
    return values[at] + (values[at + 1] - values[at]) * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


def bake(hand):
    """Bake by the operator; return its CPU time [s]."""
    from time import process_time

    import bpy

    bpy.context.view_layer.objects.active = hand.ob
    started = process_time()
    with silent():
        bpy.ops.pose.ik_triangulation_bake()
    return process_time() - started


def follow_by_blender(hand):
    """Have the arm follow the target by Blender's own constraints: IK on the forearm, Copy Rotation on the hand.

    The wrist's target hangs on the hand's target where the head of the hand has to be; limits are not used.
    """
    import bpy

    scene, (_, forearm, end) = bpy.context.scene, hand.bones
    scene.frame_set(KEYS[0])
    now = hand.target.matrix_world.inverted() @ _frame(hand.ob, end)
    wrist = bpy.data.objects.new("Wrist", None)
    scene.collection.objects.link(wrist)
    wrist.parent, wrist.matrix_parent_inverse = hand.target, now.copy()
    wrist.matrix_parent_inverse.translation = now @ (-end.length * now.to_3x3().inverted() @ now.to_3x3().col[1])
    ik = forearm.constraints.new("IK")
    ik.target, ik.chain_count = wrist, 2
    ik.iterations = 500
    turned = end.constraints.new("COPY_ROTATION")
    turned.target = wrist
    bpy.context.view_layer.update()


def _frame(ob, bone):
    """World matrix of an evaluated bone, moved to its tail."""
    from mathutils import Matrix

    matrix = ob.matrix_world @ bone.matrix
    return Matrix.Translation(ob.matrix_world @ bone.tail - matrix.translation) @ matrix


def watch(hand, frames=range(KEYS[0], KEYS[-1] + 1)):
    """Return what Blender shows of the arm, as Seen."""
    import bpy

    scene = bpy.context.scene
    shown = None
    rotations, tip, off, places = [], [], [], []
    for frame in frames:
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        ob, target = hand.ob.evaluated_get(graph), hand.target.evaluated_get(graph)
        bones = [ob.pose.bones[name] for name in hand.names]
        rotations.append([_local(bone) for bone in bones])
        at = _frame(ob, bones[-1])
        held = at.to_3x3().transposed() @ target.matrix_world.to_3x3()
        shown = held if shown is None else shown
        tip.append((at.translation - target.matrix_world.translation).length)
        off.append((np.array(held), np.array(shown)))
        places.append([ob.matrix_world @ place for place in (*(bone.head for bone in bones), bones[-1].tail)])
    held, first = (np.array(each) for each in zip(*off, strict=True))
    return Seen(np.array(rotations).swapaxes(0, 1), np.array(tip), angles(held, first), np.array(places).swapaxes(0, 1))


def _local(bone):
    """Rotation (3, 3) of a joint, seen from the bone before and its rest."""
    rest = bone.bone.matrix_local
    if bone.parent:
        rest = bone.parent.bone.matrix_local.inverted() @ rest
        return np.array((rest.inverted() @ bone.parent.matrix.inverted() @ bone.matrix).to_3x3())
    return np.array((rest.inverted() @ bone.matrix).to_3x3())


def angles(first, second):
    """Angles (...) [degrees] between rotation matrices (..., 3, 3), to rounding also where they are small."""
    between = np.swapaxes(first, -1, -2) @ second
    skew = np.stack([between[..., i, j] - between[..., j, i] for i, j in ((2, 1), (0, 2), (1, 0))], -1)
    trace = np.trace(between, axis1=-2, axis2=-1)
    return np.degrees(np.arctan2(np.linalg.norm(skew, axis=-1), trace - 1.0))
