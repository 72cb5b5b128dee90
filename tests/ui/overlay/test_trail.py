# SPDX-License-Identifier: GPL-3.0-or-later
"""The trail is read only while it is shown, again after an edit, and a dot near the mouse is found."""

import bpy
import numpy as np
import pytest

from ik_triangulation.ui.gizmos.groups import VIEW3D_GGT_ik_triangulation_trail as Group
from ik_triangulation.ui.overlay import trail as shown

from ...rigs import chain_rig, configure, empty
from .seen import read_to_the_end
from .viewport import viewport

pytestmark = pytest.mark.usefixtures("empty_scene")

TIP = "Bone 3"


@pytest.fixture
def rig():
    made = chain_rig(4)
    configure(made, TIP, target=empty(), chain_count=3)
    bpy.context.scene.frame_end = 12
    bone = made.pose.bones["Bone 2"]
    for frame, turn in ((1, 0.0), (12, 1.0)):
        bone.rotation_quaternion = (1.0, turn, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    yield made
    shown.forget_trail()


def read():
    return read_to_the_end(shown, shown.trail_of)


def test_it_is_read_when_it_is_switched_on_and_again_after_an_edit(rig):
    assert read() is None
    bpy.context.scene.ik_triangulation_trail.show = True
    first = read()
    assert first.frames == range(1, 13)
    assert np.linalg.norm(first.places[0] - first.places[-1]) > 0.5
    rig.pose.bones["Bone 2"].keyframe_insert("rotation_quaternion", frame=6)
    bpy.context.view_layer.update()
    assert np.abs(read().places - first.places).max() > 0.01


def test_its_dots_can_be_dragged_only_where_gizmos_are_shown(rig):
    with viewport() as context:
        assert not Group.poll(context)
        context.scene.ik_triangulation_trail.show = True
        assert Group.poll(context)
        context.space_data.show_gizmo = False
        assert not Group.poll(context)
        context.space_data.show_gizmo = True


def test_what_moves_objects_and_bones_is_compared_by_keys_and_where_there_are_none_by_places(rig):
    keyed, still, bone = empty("Keyed"), empty("Still"), rig.pose.bones["Bone 1"]
    keyed.keyframe_insert("location", frame=1)

    def content(*objects):
        bpy.context.view_layer.update()
        return shown.content_of(objects, rig, [bone, rig.pose.bones["Bone 2"]])

    before = content(keyed, still, None)
    assert content(still, None, keyed, keyed) == before
    assert content(keyed) != before
    keyed.location.x += 1.0  # as a key will show it again
    rig.pose.bones["Bone 2"].rotation_quaternion = (0.0, 1.0, 0.0, 0.0)
    assert content(keyed, still) == before
    found = [before]
    still.location.x += 1.0
    found.append(content(keyed, still))
    bone.rotation_quaternion = (0.9, 0.1, 0.0, 0.0)
    found.append(content(keyed, still))
    keyed.animation_data.action.layers[0].strips[0].channelbags[0].fcurves[0].keyframe_points[0].handle_right.y += 1.0
    found.append(content(keyed, still))
    keyed.keyframe_insert("location", frame=9)
    found.append(content(keyed, still))
    rig.pose.bones["Bone 2"].keyframe_insert("rotation_quaternion", frame=5)
    assert content(keyed, still) == found[-1]  # of the armature itself only what has no keys
    assert len({*found}) == len(found)
