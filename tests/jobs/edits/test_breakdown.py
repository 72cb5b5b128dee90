# SPDX-License-Identifier: GPL-3.0-or-later
"""A breakdown is between the keyed poses, with feet at one place where plain curves slide them."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.errors import IKError
from ik_triangulation.jobs.body_drag import BodyDrag
from ik_triangulation.jobs.edits.breakdown import breakdown

from ...edited import t_pose_rig
from ...rigs import curves_of, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")

FEET = ("mixamorig:LeftFoot", "mixamorig:RightFoot")
HAND = "mixamorig:LeftHand"


@pytest.fixture
def rig(empty_scene):
    """A T pose at frame 1 and a crouch at frame 21, both keyed."""
    made = t_pose_rig()
    key(made, 1)
    drag = BodyDrag(made, HAND, bpy.context.scene, bpy.context.view_layer)
    for part in range(1, 7):
        drag.move(Vector((-0.5, -0.5, -1.2)) * part / 6)
    drag.finish()
    key(made, 21)
    return made


def key(rig, frame):
    for bone in rig.pose.bones:
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    rig.pose.bones["mixamorig:Hips"].keyframe_insert("location", frame=frame)


def places(rig, frame=None):
    if frame is not None:
        bpy.context.scene.frame_set(frame)
    bpy.context.view_layer.update()
    return [rig.pose.bones[name].tail.copy() for name in (*FEET, HAND)]


def test_feet_stay_where_plain_curves_slide_them_and_the_hand_is_on_its_way(rig):
    begin, end, plain = places(rig, 1), places(rig, 21), places(rig, 11)
    assert max((a - b).length for a, b in zip(plain[:2], begin[:2], strict=True)) > 0.03
    objects = len(bpy.data.objects)
    done = breakdown(rig, 0.5)
    assert (done.before, done.after, set(done.held)) == (1.0, 21.0, set(FEET))
    now = places(rig)
    assert max((a - b).length for a, b in zip(now[:2], begin[:2], strict=True)) < 1e-3
    assert begin[2].z > now[2].z + 0.2 > end[2].z + 0.4
    assert len(bpy.data.objects) == objects
    assert not any(bone.ik_triangulation.hold for bone in rig.pose.bones)


def test_the_ends_are_the_poses_themselves_and_a_key_is_set_if_asked_for(rig):
    begin = places(rig, 1)
    bpy.context.scene.frame_set(15)
    breakdown(rig, 0.0)
    assert max((a - b).length for a, b in zip(places(rig), begin, strict=True)) < 1e-3
    breakdown(rig, 0.5, key=True)
    assert {len(curve.keyframe_points) for curve in curves_of(rig)} <= {2, 3}
    assert any(len(curve.keyframe_points) == 3 for curve in curves_of(rig))


def test_without_keys_on_both_sides_it_says_so_and_nothing_changes(rig):
    bpy.context.scene.frame_set(30)
    with nothing_lost(), pytest.raises(IKError, match="after frame 30"):
        breakdown(rig)
    with nothing_lost(), pytest.raises(IKError, match="from 0 to 1"):
        breakdown(rig, 2.0)
