# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that nothing holds stays upright: it hangs below its hands, and steps. One that stands is told to step."""

from math import degrees

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import body_of

from ...bodies import FEET, HANDS, human_rig, keyed_target, set_up_rig

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST, HIPS = 24, 0.15  # frames; how far the hips are behind the balls of the feet [m]


def free_rig():
    rig = human_rig(with_head=True)
    bpy.context.view_layer.update()
    set_up_body(rig)
    for name in FEET:
        rig.pose.bones[name].ik_triangulation.hold = False
    rig.ik_triangulation.hips = "spine"
    return rig


def leans(rig):
    """Angles [degrees] of the trunk off upright at every frame."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        bones = rig.pose.bones
        trunk = sum((bones[f"upper_arm.{s}"].head - bones[f"thigh.{s}"].head for s in "LR"), Vector())
        found.append(degrees(trunk.angle((0.0, 0.0, 1.0))))
    return np.array(found)


def test_a_body_hangs_below_its_hands_however_they_turn():
    rig = free_rig()
    for name, x in zip(HANDS, (0.25, -0.25), strict=True):
        target = rig.pose.bones[name].ik_triangulation.target
        target.rotation_mode = "XYZ"
        for frame, turn in ((1, 0.0), (LAST, 2.6)):
            if turn:
                target.location, target.rotation_euler.x = (x, -0.1, 2.5), target.rotation_euler.x + turn
            target.keyframe_insert("location", frame=frame)
            target.keyframe_insert("rotation_euler", frame=frame)
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert all(not report.tips[name].missed for name in HANDS)
    assert leans(rig).max() < 30.0
    bones = rig.pose.bones
    assert bones["spine"].head.z < 2.5 - 0.7
    assert bones["spine"].head.z > 1.0 + 0.2, "it hangs above the floor"


@pytest.mark.parametrize("turned", [False, True])
def test_a_body_steps_upright_by_targets_of_its_feet(turned):
    rig = free_rig()
    for name, begin in zip(FEET, (2, 12), strict=True):
        foot = rig.pose.bones[name]
        target = keyed_target(
            rig, name, {1: (0, 0, 0), begin: (0, 0, 0), begin + 5: (0, -0.2, 0.15), begin + 10: (0, -0.4, 0)}
        )
        target.rotation_euler = foot.matrix.to_euler()
        foot.ik_triangulation.target = target
        foot.ik_triangulation.orientation = "FULL" if turned else "NONE"
    report = bake_body(body_of(rig, "foot.L"), 1, LAST)
    assert all(not report.tips[name].missed for name in FEET)
    assert leans(rig).max() < 20.0
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        hips, feet = rig.pose.bones["spine"].head, [rig.pose.bones[name].tail.y for name in FEET]
        assert min(feet) - 0.08 < hips.y - HIPS < max(feet) + 0.08, "the hips do not leave the feet"
        if frame in {7, 17}:
            assert hips.x * (frame - 12.0) > 0.02 * 5.0, "they go over the foot that stands"
    assert rig.pose.bones["spine"].head.y == pytest.approx(0.05 - 0.4, abs=0.1)


@pytest.mark.parametrize(("place", "is_far"), [((0.35, 0.8, 1.0), True), ((0.2, -0.7, 1.1), False)])
def test_the_report_advises_to_step_where_a_target_is_far_behind(place, is_far):
    rig = set_up_rig()
    for name in HANDS:
        rig.pose.bones[name].ik_triangulation.target.animation_data_clear()
    rig.pose.bones["hand.L"].ik_triangulation.target.location = place
    report = bake_body(body_of(rig, "hand.L"), 1, 2)
    assert any("'hand.L' reaches farther" in warning for warning in report.warnings) == is_far
