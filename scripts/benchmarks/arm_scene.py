# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene of the bake benchmark: an arm set up by +, whose hand goes and turns as its target does."""

from math import sin

from .scenes import Scene, limit_bone, make_chain


def arm(limits):
    """Return the maker of an arm of three bones that + made, whose hand turns with the target, with or without limits.

    Its ranges are those that + gives it; the elbow's are as large for Blender's IK.
    """

    def make(bones, frames):
        from ik_triangulation.api import add_limbs

        ob = make_chain(bones)
        for bone, name in zip(ob.pose.bones, ("upper_arm.L", "forearm.L", "hand.L"), strict=True):
            bone.name = name
        (tip,) = add_limbs(ob, [ob.pose.bones[-1].name])
        target = ob.pose.bones[tip].ik_triangulation.target
        lead_by_pose(ob, target, frames)
        for bone in ob.pose.bones:
            if not limits:
                bone.property_unset("ik_triangulation_joint")
        if limits:
            limit_bone(ob.pose.bones[1], {"x": (-155, 155), "y": (-35, 35), "z": (-155, 155)})
        return Scene(ob, bones, target, tip=tip, stored=True)

    return make


def lead_by_pose(ob, target, frames):
    """Key a target every ten frames where the tip of an arm of three bones is as its joints swing; then they rest."""
    import bpy
    from mathutils import Euler, Matrix, Quaternion

    target.rotation_mode = "QUATERNION"
    upper, lower, hand = ob.pose.bones
    for frame in range(1, frames + 11, 10):
        t = frame / 24.0
        upper.rotation_quaternion = Euler(
            (0.6 * sin(0.83 * t), 0.3 * sin(0.5 * t), 0.7 * sin(0.47 * t))
        ).to_quaternion()
        lower.rotation_quaternion = Euler((1.0 + 0.5 * sin(0.7 * t), 0.2 * sin(0.6 * t), 0.0)).to_quaternion()
        hand.rotation_quaternion = Euler((0.3 * sin(0.5 * t), 0.3 * sin(0.4 * t), 0.3 * sin(0.6 * t))).to_quaternion()
        bpy.context.view_layer.update()
        place, rotation, _ = (ob.matrix_world @ Matrix.Translation(hand.tail - hand.head) @ hand.matrix).decompose()
        rotation.make_compatible(target.rotation_quaternion)
        target.location, target.rotation_quaternion = place, rotation
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_quaternion", frame=frame)
    for bone in ob.pose.bones:
        bone.rotation_quaternion = Quaternion()
