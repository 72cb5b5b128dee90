# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms of a body that is baked stay out of its trunk; what has to be in it is named."""

from math import radians, remainder, tau

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import body_of

from ...bodies import human_rig, tails

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 21
ACROSS, WITHIN = Vector((-0.2, -0.03, 1.1)), Vector((-0.05, 0.02, 1.1))


def baked(place, thickness):
    """A rig whose left hand goes to a place and back, and the report of its bake."""
    rig = human_rig(with_head=True)
    set_up_body(rig, relax_arms=False)
    if thickness is not None:
        rig.ik_triangulation.thickness = thickness
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    start = target.location.copy()
    for frame, share in ((1, 0.0), ((1 + LAST) // 2, 1.0), (LAST, 0.0)):
        target.location = start.lerp(rig.matrix_world.inverted() @ place, share)
        target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    return rig, bake_body(body_of(rig, "hand.L"), 1, LAST)


def nearest(rig):
    """Distance of the left forearm, as shown, to the line from between the hips to between the shoulders."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append(nearest_now(rig))
    return min(found)


def nearest_now(rig):
    """The same at the present frame."""
    bones = rig.pose.bones
    hips, shoulders = (np.mean([bones[f"{name}.{side}"].head for side in "LR"], 0) for name in ("thigh", "upper_arm"))
    line = hips + np.linspace(0.0, 0.8, 30)[:, None] * (shoulders - hips)
    ends = np.array(bones["forearm.L"].head), np.array(bones["forearm.L"].tail)
    points = ends[0] + np.linspace(0.0, 1.0, 20)[:, None] * (ends[1] - ends[0])
    return np.linalg.norm(points[:, None] - line[None], axis=2).min()


def test_a_forearm_stays_out_of_the_trunk_and_the_hand_reaches():
    rig, report = baked(ACROSS, 0.0)
    through, at_place = nearest(rig), tails(rig, "hand.L", [(1 + LAST) // 2])[0]
    assert through < 0.03
    rig, report = baked(ACROSS, None)
    assert report.reached
    assert not [each for each in report.warnings if "into the body" in each]
    assert nearest(rig) > 0.1, "0.22 of a trunk of 0.43 m, and a forearm"
    assert (tails(rig, "hand.L", [(1 + LAST) // 2])[0] - at_place).length < 1e-3


def test_a_hand_whose_target_is_in_the_trunk_reaches_it_and_is_named():
    _, report = baked(WITHIN, None)
    assert report.reached
    warnings = [each for each in report.warnings if "into the body" in each]
    assert len(warnings) == 1
    assert "'hand.L'" in warnings[0]
    _, report = baked(WITHIN, 0.0)
    assert not [each for each in report.warnings if "into the body" in each]


@pytest.mark.parametrize(("thickness", "least", "most"), [(0.0, 0.0, 0.06), (1.0, 0.1, 0.3)])
def test_a_forearm_stays_out_of_the_trunk_while_its_hand_is_dragged_across(addon, thickness, least, most):
    rig = human_rig(with_head=True)
    set_up_body(rig, relax_arms=False)
    rig.ik_triangulation.thickness = thickness
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    start, place = target.location.copy(), rig.matrix_world.inverted() @ ACROSS
    live.start(rig, "hand.L")
    distances, turns, before = [], [], rig.pose.bones["forearm.L"].matrix.to_quaternion()
    for share in np.linspace(0.0, 1.0, 16):
        target.location = start.lerp(place, share)
        bpy.context.view_layer.update()
        now = rig.pose.bones["forearm.L"].matrix.to_quaternion()
        turns.append(abs(remainder(before.rotation_difference(now).angle, tau)))
        distances.append(nearest_now(rig))
        before = now
    assert (rig.pose.bones["hand.L"].tail - place).length < 1e-3
    live.stop_all()
    assert least < min(distances) < most
    assert max(turns) < radians(35.0), "a drag does not leap"
