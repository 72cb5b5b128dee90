# SPDX-License-Identifier: GPL-3.0-or-later
"""A body follows the target that is dragged, in and out of reach, and goes back when the drag is cancelled."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.targets import TargetDrag

from ..bodies import HANDS, set_up_rig
from ..rigs import all_keys, nothing_lost
from .test_body_pose import apart, channels, tails

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def rig(empty_scene):
    rig = set_up_rig(24)
    for name in HANDS:
        rig.pose.bones[name].ik_triangulation.target.animation_data_clear()
    return rig


def test_the_body_follows_a_target_that_is_dragged_and_goes_back(rig):
    feet, before = tails(rig), channels(rig)
    drag = TargetDrag(rig, "hand.L", bpy.context.scene, bpy.context.view_layer)
    assert drag.frame == rig.pose.bones["hand.L"].ik_triangulation.target.matrix_world
    drag.move(Vector((0.0, -0.2, -0.5)))
    assert not drag.problem
    assert rig.pose.bones["spine"].head.z < 0.99
    assert apart(tails(rig), feet) < 1e-4
    drag.move(Vector((-0.1, -0.2, -0.6)))
    assert apart(tails(rig), feet) < 1e-4
    drag.move(Vector((0.0, 0.0, -9.0)))  # out of reach
    assert apart(tails(rig), feet) < 2e-3
    drag.cancel()
    assert channels(rig) == before
    with nothing_lost():
        again = TargetDrag(rig, "hand.L", bpy.context.scene, bpy.context.view_layer)
        again.move(Vector((0.0, -0.2, -0.5)))
        again.cancel()
    assert not all_keys(rig)


def test_a_drag_with_auto_keying_keys_the_body(rig):
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    drag = TargetDrag(rig, "hand.L", bpy.context.scene, bpy.context.view_layer)
    drag.move(Vector((-0.1, -0.2, -0.4)))
    assert not drag.finish()
    assert {name for name, _ in all_keys(rig)} >= {'pose.bones["spine"].location'}
