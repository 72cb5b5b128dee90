# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms of a body that is baked stay out of its trunk; what has to be in it is named."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.problem import body_of
from ik_triangulation.jobs.setup import set_up_body

from ..bodies import human_rig, tails

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 21
ACROSS, WITHIN = Vector((-0.2, 0.0, 1.1)), Vector((-0.05, 0.02, 1.1))


def baked(place, thickness):
    """A rig whose left hand goes to a place and back, and the report of its bake."""
    rig = human_rig(with_head=True)
    set_up_body(rig)
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
    least = np.inf
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        bones = rig.pose.bones
        hips, shoulders = (
            np.mean([bones[f"{name}.{side}"].head for side in "LR"], 0) for name in ("thigh", "upper_arm")
        )
        line = hips + np.linspace(0.0, 0.8, 30)[:, None] * (shoulders - hips)
        ends = np.array(bones["forearm.L"].head), np.array(bones["forearm.L"].tail)
        points = ends[0] + np.linspace(0.0, 1.0, 20)[:, None] * (ends[1] - ends[0])
        least = min(least, np.linalg.norm(points[:, None] - line[None], axis=2).min())
    return least


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
