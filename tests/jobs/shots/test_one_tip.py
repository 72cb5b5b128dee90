# SPDX-License-Identifier: GPL-3.0-or-later
"""A body with one tip, of which nothing moves but its limb, is posed as the limb is."""

from math import degrees

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.bake import bake, bake_body
from ik_triangulation.jobs.setup import add_limbs
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.body import RigBody
from ik_triangulation.rig.limb import Limb

from ...bodies import human_rig
from ...modes import in_turn

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")

ROOTS = {"hand.L": "spine.002", "foot.L": "spine"}
WAYS = {1: (0.0, 0.0, 0.0), 10: (-0.1, -0.3, 0.25), 20: (-0.2, -0.1, 0.35), 30: (0.05, -0.1, 0.1)}


def limb_of(tip, far):
    rig = human_rig()
    bpy.context.view_layer.objects.active = rig
    add_limbs(rig, [tip])
    target = rig.pose.bones[tip].ik_triangulation.target
    start = target.location.copy()
    for frame, way in WAYS.items():
        target.location = start + far * Vector(way)
        target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    return Limb.of(rig.pose.bones[tip])


def turned(limb):
    found = []
    for frame in range(1, 31):
        bpy.context.scene.frame_set(frame)
        found.append([bone.matrix.to_quaternion() for bone in limb.pose_bones])
    return found


@pytest.mark.parametrize(("tip", "far"), in_turn(ROOTS, [1.0, 4.0]))  # within reach and out of it
def test_a_body_of_one_limb_is_posed_as_the_limb_is(tip, far):
    alone = limb_of(tip, far)
    bake(alone, 1, 30)
    before = turned(alone)
    limb = limb_of(tip, far)
    bake_body(RigBody(limb.armature, (limb,), hips=ROOTS[tip], hips_motion="FIXED", solved=limb.solved), 1, 30)
    pairs = zip(before, turned(limb), strict=True)
    assert max(degrees(rotation_angle(a, b)) for one, other in pairs for a, b in zip(one, other, strict=True)) < 0.1
