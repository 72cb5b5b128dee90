# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on a body tells which tips reached, which gave way and by how much, and how the held ones slip."""

import bpy
import pytest
from mathutils import Quaternion

from ik_triangulation.cooperative import finished
from ik_triangulation.jobs.shots.problem import BodyProblem
from ik_triangulation.jobs.shots.report import Report, TipReport, lines
from ik_triangulation.jobs.shots.tips import measure_body
from ik_triangulation.rig.frames import reader
from ik_triangulation.rig.frames.body_samples import read_body

from ...bodies import FEET, HANDS, human_rig, reaching_body

pytestmark = pytest.mark.usefixtures("empty_scene")


def measured(rig, change=lambda rig: None):
    """The report on a rig that is not baked, read before a change."""
    body, scene = reaching_body(rig, 6), bpy.context.scene
    samples = finished(read_body(body, scene, range(1, 7)))
    held = finished(BodyProblem(body, samples).between(scene)).held_places
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


def test_few_frames_are_evaluated_where_the_curves_that_are_written_give_the_others(monkeypatch):
    evaluated, go_to = [], reader.go_to
    monkeypatch.setattr(reader, "go_to", lambda scene, frame: evaluated.append(frame) or go_to(scene, frame))
    rig = human_rig()

    def bend(rig):
        bone = rig.pose.bones["shin.L"]
        for frame, angle in ((1, 0.0), (5, 0.0), (5.5, 0.1), (6, 0.0)):
            bone.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), angle)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        evaluated.clear()

    report = measured(rig, bend)
    assert 0 < len(evaluated) < 6
    assert report.tips["foot.L"].worst_frame == 5.5
    assert report.tips["foot.L"].angle == pytest.approx(0.1, abs=1e-3)
    assert report.tips["foot.R"].error < 1e-5


def test_held_tips_that_slip_and_turn_are_measured_by_their_animation():
    def move(rig):
        rig.pose.bones["shin.L"].rotation_mode = "XYZ"
        rig.pose.bones["shin.L"].rotation_euler.x = 0.1

    report = measured(human_rig(), move)
    left, right = (report.tips[name] for name in FEET)
    assert left.angle == pytest.approx(0.1, abs=1e-3)
    assert left.error > 0.03
    assert right.error < 1e-5


def tip(name, *, held=False, missed=(), **more):
    return TipReport("Human", name, held, missed, median_distance=0.0, worst_frame=1, scale=2.0, **more)


def test_the_text_says_what_became_of_each_tip():
    tips = {
        "foot.L": tip("foot.L", held=True, largest_distance=2e-4),
        "hand.L": tip("hand.L", largest_distance=0.5, angle=0.1, missed=[3, 4]),
        "hand.R": tip("hand.R", largest_distance=2e-4, angle=0.01),
    }
    some = {"hips": "hips", "scale": 2.0, "outside": 0.02}
    report = Report("Human", tips, range(1, 9), 10, ["Mind the gap."], full_keys=80, **some)
    assert lines(report, bpy.context.scene) == [
        "Reached 6 of 8 frames",
        "foot.L held, slip 0.2 mm",
        "hand.L missed, distance 50 cm, 5.7° off its orientation",
        "hand.R reached, distance 0.2 mm, 0.6° off its orientation",
        "Center of mass 4 cm outside the feet (an estimate)",
        "10 of 80 keys",
    ]
    assert "foot.L held, slip 0.0002; hand.L missed, distance 0.5" in report.text
    assert report.text.endswith("Mind the gap.")
