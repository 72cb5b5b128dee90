# SPDX-License-Identifier: GPL-3.0-or-later
"""The gizmo is where the target is shown, along the chosen axes, and rotates what the limb takes its rotation from."""

import bpy
import pytest
from mathutils import Euler, Matrix, Vector

from ik_triangulation.ui.gizmos.mouse import drag_axes, target_frame, target_of

from ...rigs import chain_rig, configure, empty, matrix_close
from ..overlay.viewport import viewport

pytestmark = pytest.mark.usefixtures("empty_scene")

TIP = "Bone 3"
TURNED = Euler((0.3, -0.4, 1.2))


def standard(**settings):
    rig, target = chain_rig(4), empty()
    target.rotation_euler = TURNED
    configure(rig, TIP, target=target, chain_count=3, **settings)
    return rig, target


def shown():
    bpy.context.view_layer.update()
    with viewport() as context:
        return target_frame(context)


def test_it_is_where_parents_and_constraints_take_the_target():
    _, target = standard()
    target.parent = empty("Parent", (1.0, 2.0, 3.0))
    found = shown()
    assert (found.frame.translation - Vector((1.8, 2.5, 4.2))).length < 1e-6
    assert found.axes.translation == found.frame.translation


def test_what_a_held_tip_stands_on_is_not_dragged():
    rig, _ = standard(hold=True)
    assert target_of(rig.pose.bones[TIP]) is None


def test_a_bone_is_a_target_and_one_that_is_gone_is_none():
    rig, _ = standard()
    prop = chain_rig(2, name="Prop")
    configure(rig, TIP, target=prop, subtarget="Bone 1")
    assert target_of(rig.pose.bones[TIP]) == (prop, "Bone 1")
    assert (shown().frame.translation - prop.pose.bones["Bone 1"].head).length < 1e-6
    assert shown().turns
    rig.pose.bones[TIP].ik_triangulation.subtarget = "gone"
    assert target_of(rig.pose.bones[TIP]) is None
    assert shown() is None


def test_without_a_target_that_is_evaluated_there_is_none():
    rig, target = standard()
    target.hide_viewport = True
    assert shown() is None
    rig.pose.bones[TIP].ik_triangulation.target = None
    assert target_of(rig.pose.bones[TIP]) is target_of(None) is None


@pytest.mark.parametrize(
    ("settings", "display", "turns"),
    [
        ({}, "PLAIN_AXES", False),
        ({}, "ARROWS", True),
        ({}, "SINGLE_ARROW", True),
        ({}, "SPHERE", False),
        ({}, "CUBE", True),
        ({"orientation": "NONE"}, "ARROWS", False),
        ({"orientation": "FULL"}, "PLAIN_AXES", True),
        ({"shape": "PLANE"}, "PLAIN_AXES", True),
        ({"use_offset": True}, "PLAIN_AXES", True),
        ({"shape": "FIELD"}, "PLAIN_AXES", False),
    ],
)
def test_it_rotates_where_that_makes_a_difference(settings, display, turns):
    _, target = standard(**settings)
    target.empty_display_type = display
    assert shown().turns == turns


def test_its_axes_are_those_of_the_transform_orientation():
    standard()
    scene = bpy.context.scene
    slot, own = scene.transform_orientation_slots[0], TURNED.to_matrix().to_4x4()
    scene.cursor.rotation_euler = (0.0, 0.5, 0.0)
    cursor = Euler((0.0, 0.5, 0.0)).to_matrix().to_4x4()
    with viewport() as context:
        view = context.region_data.view_rotation.to_matrix().to_4x4()
        wanted = {"GLOBAL": Matrix(), "LOCAL": own, "NORMAL": own, "GIMBAL": own, "CURSOR": cursor, "VIEW": view}
        for kind, axes in wanted.items():
            slot.type = kind
            assert matrix_close(drag_axes(context, 2.0 * own), axes, 1e-6), kind
        slot.type = "LOCAL"
        assert drag_axes(context, Matrix.Diagonal((0.0, 0.0, 0.0, 1.0))) == Matrix()
