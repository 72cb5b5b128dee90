# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on a body tells which tips reached, which gave way and by how much, and how the held ones slip."""

import bpy
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.jobs.body_keys import between_frames
from ik_triangulation.jobs.body_problem import BodyProblem
from ik_triangulation.jobs.body_report import BodyReport, BodyTipReport, body_lines, measure_body
from ik_triangulation.rig.frames.body_samples import read_body

from ..bodies import FEET, HANDS, human_rig, reaching_body

pytestmark = pytest.mark.usefixtures("empty_scene")


def measured(rig, change=lambda rig: None):
    """The report on a rig that is not baked, read before a change."""
    body, scene = reaching_body(rig, 6), bpy.context.scene
    samples = finished(read_body(body, scene, range(1, 7)))
    others = finished(between_frames(body, samples, scene, None))
    held = BodyProblem(body, others).held_places
    change(rig)
    bpy.context.view_layer.update()
    return finished(measure_body(body, samples, held, scene))


def test_what_is_shown_is_measured():
    report = measured(human_rig())
    assert not report.reached
    assert all(report.tips[name].error < 1e-5 for name in FEET)
    for name in HANDS:
        assert report.tips[name].missed == [2, 3, 4, 5]  # the targets are at the hands at both ends
        assert report.tips[name].error > 0.3


def test_held_tips_that_slip_and_turn_are_measured_by_their_animation():
    def move(rig):
        rig.pose.bones["shin.L"].rotation_mode = "XYZ"
        rig.pose.bones["shin.L"].rotation_euler.x = 0.1

    report = measured(human_rig(), move)
    left, right = (report.tips[name] for name in FEET)
    assert left.angle == pytest.approx(0.1, abs=1e-3)
    assert left.error > 0.03
    assert right.error < 1e-5


def test_the_text_says_what_became_of_each_tip():
    tips = {
        "foot.L": BodyTipReport(True, 1e-4, 0.0, []),
        "hand.L": BodyTipReport(False, 0.25, 0.1, [3, 4]),
        "hand.R": BodyTipReport(False, 1e-4, 0.01, []),
    }
    report = BodyReport(tips, range(1, 9), 10, 0.02, ["Mind the gap."], full_keys=80)
    assert body_lines(report, bpy.context.scene, 2.0) == [
        "Reached 6 of 8 frames",
        "foot.L held, slip 0.2 mm",
        "hand.L missed, distance 50 cm, 5.7° off its orientation",
        "hand.R reached, distance 0.2 mm, 0.6° off its orientation",
        "Center of mass 4 cm outside the feet (an estimate)",
        "10 of 80 keys",
    ]
    assert "foot.L held, slip 0.0001; hand.L missed, distance 0.25" in report.text
    assert report.text.endswith("Mind the gap.")
