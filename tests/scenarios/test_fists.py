# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingers close to a fist towards the palm, whatever way the hand faces at rest and however its bones are rolled."""

from itertools import pairwise

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.rig.freedom import freedom_of

from ..rigs import armature, select

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")

LINKS = (0.045, 0.03, 0.02)
KNUCKLES = {"index": -0.03, "middle": -0.01, "ring": 0.01, "pinky": 0.03}  # m towards the back of a palm that is down
CURL = 1.0, 1.2, 0.7  # [rad] of each joint of a finger in a fist
FACING = {"down": 0.0, "ahead": -1.4, "to the body": 2.2}  # [rad] of both hands about their arms


def turned(side, angle, v):
    """A vector of a hand that points to its side with the palm down, once the hand is turned about its arm."""
    right = Vector((side * v.x, v.y, v.z))
    return Quaternion((1.0, 0.0, 0.0), angle) @ right


def hands(angle, rolls):
    """A trunk with both arms straight out and all fingers of both hands."""
    specs = [{"name": "spine", "head": (0, 0, 1), "tail": (0, 0, 1.4), "parent": None}]
    for letter, side in (("L", 1.0), ("R", -1.0)):
        places = [Vector((side * x, 0.0, 1.4)) for x in (0.2, 0.5, 0.75, 0.85)]
        above = "spine"
        for name, head, tail in zip(("upper_arm", "forearm", "hand"), places, places[1:], strict=False):
            specs.append({"name": f"{name}.{letter}", "head": head, "tail": tail, "parent": above})
            above = f"{name}.{letter}"
        thumb = [Vector(each) for each in ((0.03, -0.03, 0), (0.06, -0.06, -0.01), (0.085, -0.075, -0.015))]
        roots = {"thumb": [places[2] + turned(side, angle, each) for each in thumb]}
        for name, y in KNUCKLES.items():
            along = np.concatenate([[0.0], np.cumsum(LINKS)])
            roots[name] = [places[3] + turned(side, angle, Vector((x, y, 0.0))) for x in along]
        for name, joints in roots.items():
            above = f"hand.{letter}"
            for number, (head, tail) in enumerate(pairwise(joints), 1):
                spec = {"name": f"{name}.0{number}.{letter}", "head": head, "tail": tail, "parent": above}
                specs.append(spec | {"roll": next(rolls)})
                above = spec["name"]
    return armature("Hands", specs)


def bones_of(finger, letter):
    return [f"{finger}.0{number}.{letter}" for number in (1, 2, 3)]


def fist_of(rig, finger, side, angle):
    """Where the tip of a finger is in a fist, and the axis about which it closes; armature space."""
    names = bones_of(finger, "L" if side > 0.0 else "R")
    axis = turned(side, angle, Vector((1, 0, 0))).cross(turned(side, angle, Vector((0, 0, -1)))).normalized()
    at, turn = rig.data.bones[names[0]].head_local.copy(), 0.0
    for name, bend in zip(names, CURL, strict=True):
        bone, turn = rig.data.bones[name], turn + bend
        at += Matrix.Rotation(turn, 3, axis) @ (bone.tail_local - bone.head_local)
    return at, axis


@pytest.mark.parametrize("facing", FACING)
def test_fingers_of_any_roll_make_a_fist(facing):
    angle, random = FACING[facing], np.random.default_rng(1)
    rig = hands(angle, iter(random.uniform(-3.0, 3.0, size=100)))
    tips = [bones_of(finger, letter)[-1] for letter in "LR" for finger in KNUCKLES]
    wanted = {}
    for side, letter in ((1.0, "L"), (-1.0, "R")):
        for finger in KNUCKLES:
            wanted[bones_of(finger, letter)[-1]] = fist_of(rig, finger, side, angle)
    select(rig, *tips, active=tips[0])
    assert bpy.ops.pose.ik_triangulation_limb_add() == {"FINISHED"}
    for tip, (there, axis) in wanted.items():
        bone = rig.pose.bones[tip]
        hinge = freedom_of(bone.parent)
        assert (bone.parent.bone.matrix_local.to_3x3() @ hinge.axis).dot(axis) > 0.99
        assert hinge.upper > 1.5 > 0.1 > -hinge.lower, "the middle joint only closes"
        bone.ik_triangulation.target.location = there
    bpy.context.scene.frame_end = 1
    assert bpy.ops.pose.ik_triangulation_bake_all() == {"FINISHED"}
    for tip, (there, axis) in wanted.items():
        bone = rig.pose.bones[tip]
        assert (bone.tail - there).length < 1e-4
        knuckle = bone.parent.parent
        closed = knuckle.matrix.to_3x3() @ knuckle.bone.matrix_local.to_3x3().transposed()
        assert Vector(closed.to_quaternion().to_exponential_map()).dot(axis) > 0.3
