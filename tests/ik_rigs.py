# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms with an IK constraint, made by hand: a control, a pole with an angle, and names that no generator gives."""

from math import sin

import bpy
from mathutils import Vector

from ik_triangulation.rig.limb import Limb

from .rigs import armature, place

ARM = ("Bicep", "Ulna", "Palm")


def ik_arm(pole: bool = True, angle: float = 0.7, stretch: bool = False) -> bpy.types.Object:
    """An arm that an IK constraint turns, with a hand that copies the rotation of its control.

    The bones of the arm have no other controls: whether the constraint's influence is 1 decides who poses them.
    """
    places = [Vector((0.2, 0.0, 1.4)), Vector((0.5, 0.04, 1.4)), Vector((0.78, 0.0, 1.4)), Vector((0.88, 0.0, 1.38))]
    specs = [{"name": "Base", "head": (0.0, 0.0, 1.0), "tail": (0.0, 0.0, 1.3)}]
    for name, head, tail in zip(ARM, places, places[1:], strict=False):
        specs.append({"name": name, "head": head, "tail": tail, "parent": specs[-1]["name"], "roll": 0.4})
    specs.append({"name": "Grip", "head": places[2], "tail": places[2] + Vector((0.0, 0.0, 0.1)), "parent": "Base"})
    specs.append({"name": "Aim", "head": (0.5, 0.5, 1.4), "tail": (0.5, 0.5, 1.5), "parent": "Base"})
    rig = armature("Handmade", specs)
    bones = rig.pose.bones
    turn = bones["Ulna"].constraints.new("IK")
    turn.target, turn.subtarget, turn.chain_count, turn.use_stretch = rig, "Grip", 2, stretch
    if pole:
        turn.pole_target, turn.pole_subtarget, turn.pole_angle = rig, "Aim", angle
    copy = bones["Palm"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = rig, "Grip"
    bpy.context.view_layer.update()
    return rig


def arm_limb(rig: bpy.types.Object, last: int = 12, **settings) -> Limb:
    """The arm with a target that moves well within its reach."""
    target = place(bpy.data.objects.new("Ball", None))
    for frame in range(1, last + 1, 3):
        target.location = rig.matrix_world @ Vector((0.55, -0.15 + 0.1 * sin(frame / 4.0), 1.5 - 0.02 * frame))
        target.keyframe_insert("location", frame=frame)
    return Limb.from_bones(rig, ARM, target, **settings)
