# SPDX-License-Identifier: GPL-3.0-or-later
"""The same character written in other ways: other rolls, axes and units, bones that point elsewhere, rounding."""

from itertools import pairwise
from math import pi, radians
from random import Random

import bpy
import numpy as np
from mathutils import Matrix, Vector

from .rigs import armature

LIMB_BONES = ("upper_arm", "forearm", "thigh", "shin")
_LINES = {  # part: joints of the left side, the last one the tail; what it hangs on
    "arm": (("upper_arm", "forearm", "hand"), [(0.18, 0, 1.42), (0.46, 0, 1.42), (0.72, 0, 1.42), (0.82, 0, 1.42)]),
    "leg": (("thigh", "shin", "foot", "toe"), [(0.1, 0, 1), (0.1, 0, 0.55), (0.1, 0, 0.1), (0.1, -0.12, 0.02)]),
}
_LINES["leg"][1].append((0.1, -0.19, 0.02))


def t_pose_rig(name="Character"):
    """A character that looks along -Y, in a T pose with arms and legs that are exactly straight."""
    specs = [
        {"name": "spine", "head": (0, 0, 1.0), "tail": (0, 0, 1.15), "parent": None},
        {"name": "spine.001", "head": (0, 0, 1.15), "tail": (0, 0, 1.3), "parent": "spine"},
        {"name": "spine.002", "head": (0, 0, 1.3), "tail": (0, 0, 1.45), "parent": "spine.001"},
    ]
    for part, (bones, places) in _LINES.items():
        for side, sign in (("L", 1.0), ("R", -1.0)):
            above = "spine.002" if part == "arm" else "spine"
            for bone, (head, tail) in zip(bones, pairwise(places), strict=True):
                mirror = Vector((sign, 1.0, 1.0))
                spec = {"name": f"{bone}.{side}", "head": Vector(head) * mirror, "tail": Vector(tail) * mirror}
                specs.append(spec | {"parent": above})
                above = f"{bone}.{side}"
    return armature(name, specs)


def with_rolls(rig, turn):
    """Turn every bone about itself by an angle [rad], or by any one with None."""
    random = Random(1)
    with _edited(rig) as bones:
        for bone in bones:
            bone.roll += random.uniform(-pi, pi) if turn is None else turn


def with_axes(rig, axes):
    """Write the armature in other axes or units (4x4), and turn its object back."""
    rig.data.transform(axes)
    rig.matrix_world = rig.matrix_world @ axes.inverted()
    rig.data.update_tag()  # transform() does not, so that the pose would stay the one before
    bpy.context.view_layer.update()


def off_their_limbs(rig, names=LIMB_BONES):
    """Turn bones of these names by 90 degrees about their heads, so that they do not point to the next joint."""
    random = Random(2)
    with _edited(rig) as bones:
        for bone in bones:
            bone.use_connect = False
        for bone in bones:
            if bone.name.split(".")[0] in names:
                along = (bone.tail - bone.head).normalized()
                across = along.cross(Vector([random.gauss(0.0, 1.0) for _ in range(3)])).normalized()
                bone.tail = bone.head + across * bone.length
                bone.roll += random.uniform(-pi, pi)


def with_noise(rig, size=1e-5, seed=3):
    """Move and turn every bone by rounding."""
    random = Random(seed)

    def noise():
        return Vector([random.uniform(-size, size) for _ in range(3)])

    with _edited(rig) as bones:
        for bone in bones:
            bone.head, bone.tail, bone.roll = bone.head + noise(), bone.tail + noise(), bone.roll + noise().x


class _edited:
    """The edit bones of an armature, in Edit Mode until the end."""

    def __init__(self, rig):
        self._rig = rig

    def __enter__(self):
        bpy.context.view_layer.objects.active = self._rig
        bpy.ops.object.mode_set(mode="EDIT")
        return self._rig.data.edit_bones

    def __exit__(self, *_):
        bpy.ops.object.mode_set(mode="POSE")


Y_UP = Matrix.Rotation(radians(-90.0), 4, "X")
SIDEWAYS = Matrix.Rotation(radians(90.0), 4, "Z")
ASKEW = Matrix.Rotation(radians(12.0), 4, Vector((0.5, -0.4, 0.8)))
CENTIMETRES = Matrix.Scale(100.0, 4)
WAYS = {
    "as it is": lambda rig: None,
    "rolls + 37": lambda rig: with_rolls(rig, radians(37.0)),
    "rolls + 90": lambda rig: with_rolls(rig, radians(90.0)),
    "rolls + 180": lambda rig: with_rolls(rig, pi),
    "any rolls": lambda rig: with_rolls(rig, None),
    "Y up": lambda rig: with_axes(rig, Y_UP),
    "facing X": lambda rig: with_axes(rig, SIDEWAYS),
    "askew": lambda rig: with_axes(rig, ASKEW),
    "in centimetres": lambda rig: with_axes(rig, CENTIMETRES),
    "Y up in centimetres": lambda rig: with_axes(rig, Y_UP @ CENTIMETRES),
    "bones off their limbs": off_their_limbs,
    "rounded": with_noise,
    "rolls + 0.3": lambda rig: with_rolls(rig, radians(0.3)),  # too much for rounding
}


def shown(rig, frames):
    """Heads of all bones (F, n, 3), and their turns from rest (F, n, 3, 3), world space, at some frames."""
    heads, turns = [], []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        world = rig.matrix_world
        axes = world.to_3x3().normalized()
        heads.append([(world @ bone.head)[:] for bone in rig.pose.bones])
        turns.append(
            [
                axes @ bone.matrix.to_3x3() @ bone.bone.matrix_local.to_3x3().inverted() @ axes.inverted()
                for bone in rig.pose.bones
            ]
        )
    return np.array(heads), np.array(turns)
