# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report says in words: limits, costs, angles."""

from math import degrees, radians
from types import SimpleNamespace

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.shots.report import (
    NotFollowing,
    Report,
    TipReport,
    jump_lines,
    lines,
    on_limits,
    summaries,
    summary,
    tip_of_frames,
)
from ik_triangulation.kinematics import Cost
from ik_triangulation.motion.jumps import JointStep, Jump

from ...rig.standing import angle_between, keyed_euler, limb, standing_empty, standing_rig, world_of
from ...rigs import chain_rig, empty, evaluated_tip

pytestmark = pytest.mark.usefixtures("empty_scene")


X, Y, Z = (Vector([float(i == j) for j in range(3)]) for i in range(3))


def limited(rig):
    """Bones that bend about X by 30 degrees at most."""
    for bone in rig.pose.bones:
        bone.lock_ik_y = bone.lock_ik_z = True
        bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, -radians(30.0), radians(30.0)
    return rig


def test_a_report_says_what_stands_on_its_limits_what_it_cost_and_how_far_it_is_turned():
    rig = limited(standing_rig())
    target = standing_empty(rig, at=(0.0, -2.5, 0.5))
    report = solve_pose(limb(rig, target, orientation="DIRECTION"))
    result = report.frames[0]
    assert not result.reached
    assert set(result.on_limits) <= {"Bone 0", "Bone 1", "Bone 2"}
    assert result.on_limits
    for name, ends in result.on_limits.items():
        bend = degrees(rig.pose.bones[name].rotation_quaternion.to_euler().x)
        assert ends == (["bend maximum"] if bend > 0.0 else ["bend minimum"])
        assert abs(bend) == pytest.approx(30.0, abs=0.01)
    wanted = angle_between(world_of(rig).col[1][:3], target.matrix_world.col[2][:3])
    assert result.angle == pytest.approx(wanted, abs=1e-3)
    assert result.cost.turns > 0
    told = report.to_dict()
    assert told["largest_angle"] == pytest.approx(wanted, abs=1e-3)
    assert told["on_limits"] == result.on_limits == told["per_frame"][0]["on_limits"]
    assert told["cost"] == told["per_frame"][0]["cost"]
    assert on_limits(report) == [f"{name}: {', '.join(ends)}" for name, ends in result.on_limits.items()]
    line = summary(report, bpy.context.scene)
    assert line.startswith("Not reached, distance ")
    assert line.endswith(f", {degrees(wanted):.0f}° off its orientation")


@pytest.mark.parametrize("orientation", ["NONE", "FULL"])
def test_the_cost_of_a_solve_is_that_of_all_its_turns(orientation):
    """From rest to a place far off the travel is at least the way of the tip."""
    rig = standing_rig(bones=4)
    start = evaluated_tip(rig, "Bone 3")
    target = standing_empty(rig, "turned", at=(0.6, 0.4, 1.6))
    report = solve_pose(limb(rig, target, orientation=orientation))
    assert report.cost.travel >= (start - evaluated_tip(rig, "Bone 3")).length - 1e-4
    assert report.frames[0].iterations >= 1


def test_the_costs_of_a_bake_add_up():
    rig, target = chain_rig(4), empty(location=(0.6, 0.4, 1.6))
    keyed_euler(target, range(1, 6))
    report = bake(limb(rig, target, orientation="FULL"), 1, 5)
    told = report.to_dict()
    for name in ("turns", "total_angle", "travel"):
        assert told["cost"][name] == pytest.approx(sum(frame["cost"][name] for frame in told["per_frame"]), rel=1e-5)
    assert told["cost"]["total_angle"] > 0.0
    assert told["largest_angle"] == pytest.approx(max(frame["angle"] for frame in told["per_frame"]), abs=1e-6)


def test_a_pose_outside_its_limits_is_said_to_be_moved_inside():
    rig = limited(standing_rig())
    rig.pose.bones["Bone 1"].rotation_quaternion = Quaternion(X, 1.0)
    rig.pose.bones["Bone 2"].rotation_quaternion = Quaternion(Z, 0.4)
    bpy.context.view_layer.update()
    target = standing_empty(rig, at=(0.0, 0.8, 2.5))
    said = "'Bone 1', 'Bone 2' stood outside the limits at frame 1 and had to be moved inside."
    assert said in bake(limb(rig, target), 1, 2).warnings
    rig.pose.bones["Bone 1"].rotation_quaternion = Quaternion(X, 1.0)
    rig.pose.bones["Bone 2"].rotation_quaternion = Quaternion(Z, 0.4)
    assert said in solve_pose(limb(rig, target)).warnings
    assert list(solve_pose(limb(rig, target)).warnings) == []


def tip_report(name="hand.L", **values):
    given = {"held": False, "missed": [], "largest_distance": 0.02, "median_distance": 0.01, "worst_frame": 3.0}
    return TipReport("Rig", name, **{**given, **values})


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "hand.L reached, distance 2 cm"),
        ({"angle": radians(20.0)}, "hand.L reached, distance 2 cm, 20° off its orientation"),
        ({"missed": [3.0]}, "hand.L missed, distance 2 cm"),
        ({"missed": [3.0], "below_floor": True}, "hand.L missed, 2 cm away: below the floor"),
        ({"below_floor": True}, "hand.L reached, distance 2 cm"),
        ({"held": True}, "hand.L held, slip 2 cm"),
        ({"held": True, "missed": [3.0], "angle": radians(20.0)}, "hand.L slips 2 cm, 20° off its orientation"),
        ({"aim": "FOLLOW"}, "hand.L follows the body"),
        ({"aim": "LOOK", "angle": radians(20.0)}, "hand.L looks, 20° off"),
        ({"aim": "LOOK", "angle": radians(20.0), "missed": [3.0]}, "hand.L misses the look by 20°"),
    ],
)
def test_a_tip_of_a_body_has_its_line(values, said):
    body = Report("Rig", {"hand.L": tip_report(**values)}, [1.0, 3.0], hips="hips")
    count = 1 if values.get("missed") else 2
    assert lines(body, bpy.context.scene) == [f"Reached {count} of 2 frames", said]


def test_a_body_says_what_of_it_is_reached_how_it_stands_and_which_keys_it_has():
    tips = {name: tip_report(name, **more) for name, more in (("a", {}), ("b", {"missed": [3.0], "scale": 2.0}))}
    follower = NotFollowing("Skin", "a", 0.5, 3.0, 1, 2, None)
    body = Report("Rig", tips, [1.0, 3.0], 5, ["Careful."], hips="hips", scale=2.0, outside=0.5, full_keys=9)
    scene = bpy.context.scene
    balance = "Center of mass 1 m outside the feet (an estimate)"
    assert lines(body, scene)[0::3] == ["Reached 1 of 2 frames", balance]
    assert lines(body, scene)[-1] == "5 of 9 keys"
    assert summary(body, scene) == "; ".join(lines(body, scene))
    assert body.text.endswith("; Careful.")
    assert (body.tip, body.numbers, body.due_count, body.reached_count) == ("b", [1.0, 3.0], 2, 1)
    assert (body.reached, body.all_reached, body.missed, body.on_limits) == (False, False, [3.0], {})
    assert (tips["b"].error, tips["a"].error) == (0.01, 0.02)
    told = body.to_dict()
    assert told["centre_of_mass_outside"] == 1.0
    assert [each["largest_angle"] for each in told["tips"]] == [0.0, 0.0]
    assert body.tip_summaries() == [*tips.values()]
    whole = Report("Rig", {"a": tips["a"]}, [1.0], hips="hips", outside=0.0, not_following=[follower])
    assert (whole.reached, whole.all_reached) == (True, False)
    assert lines(whole, scene)[0::2] == ["Reached", "Center of mass over the feet (an estimate)"]
    assert "centre_of_mass_outside" in whole.to_dict()
    assert [line for line in lines(whole, scene) if "Skin" in line] == []
    one = Report("Rig", {"b": tips["b"]}, [3.0], hips="hips")
    assert lines(one, scene)[0] == "Not reached"
    assert list(summaries([whole, one], scene)) == [(False, summary(each, scene)) for each in (whole, one)]


def result_at(frame, error, reached=True, due=True, angle=None, on_limits=None):
    cost = Cost(1, 0.5, 0.25)
    given = {"frame": frame, "error": error, "reached": reached, "angle": angle, "due": due, "cost": cost}
    return SimpleNamespace(**given, on_limits=on_limits or {})


def limb_of(results, tip, **more):
    return Report("Rig", {tip: tip_report(tip)}, []).with_frames(results, **more)


def test_limbs_say_how_far_they_are_off_what_jumps_and_what_was_mended():
    scene = bpy.context.scene
    results = [result_at(1.0, 0.0), result_at(2.0, 0.3, False, angle=radians(20.0)), result_at(3.0, 0.9, due=False)]
    jumps = [Jump(JointStep(1, "Elbow", radians(40.0)), "it is thrown"), Jump(JointStep(2, "Wrist", 0.1), "no idea")]
    found = limb_of(results, "hand.L", find_jumps=lambda: jumps, mended=2, keys=4, full_keys=6, tip_deviation=0.05)
    assert lines(found, scene) == [
        "Reached 1 of 2 frames",
        "Distance 30 cm at frame 2",
        "20° off its orientation",
        "2 jumps, the largest 40° of 'Elbow' at frame 2: it is thrown",
        "2 of 3 frames mended",
        "4 of 6 keys, tip within 5 cm of a full bake",
    ]
    assert summary(found, scene) == (
        "Reached 1 of 2 frames, largest distance 30 cm at frame 2, 20° off its orientation; "
        "2 jumps, the largest 40° of 'Elbow' at frame 2: it is thrown; 2 of 3 frames mended"
        ". 4 of 6 keys, tip within 5 cm of a full bake"
    )
    assert (found.reached, found.due_count, found.missed, found.all_reached) == (1, 2, [2.0], False)
    assert (found.worst, found.worst_frame, found.worst_error) == (results[1], 2.0, 0.3)
    assert (found.median_error, found.largest_angle) == (0.15, radians(20.0))
    assert [each.frame for each in found.due] == [1.0, 2.0]
    assert jump_lines(limb_of(results, "hand.L", find_jumps=lambda: jumps[1:])) == [
        "1 jump 5.7° of 'Wrist' at frame 3: no idea"
    ]
    once = limb_of([result_at(5.0, 0.001)], "foot.L")
    assert lines(once, scene) == ["Reached", "Distance 1 mm"]
    assert summary(once, scene) == "Reached, distance 1 mm"
    under_way = limb_of([result_at(5.0, 0.2, due=False)], "foot.L")
    assert lines(under_way, scene) == ["On the way (influence below 1)", "Distance 20 cm"]
    assert list(summaries([found, once], scene)) == [
        (False, "2 limbs reached 2 of 3 frames, largest distance 30 cm of 'hand.L' at frame 2")
    ]
    assert list(summaries([once], scene)) == [(True, "Reached, distance 1 mm")]
    assert list(summaries([], scene)) == []
    assert tip_of_frames("Rig", "foot.L", under_way.judged).missed == []


def test_the_costs_and_limits_of_frames_are_put_together():
    results = [
        result_at(1.0, 0.0, on_limits={"A": ["bend maximum"]}),
        result_at(2.0, 0.0, on_limits={"A": ["bend maximum", "twist minimum"], "B": ["bend minimum"]}),
    ]
    found = limb_of(results, "hand.L")
    assert found.cost == Cost(2, 1.0, 0.5)
    assert found.on_limits == {"A": ["bend maximum", "twist minimum"], "B": ["bend minimum"]}


def test_once_all_bones_follow_the_frames_are_judged_by_the_tip_alone_and_only_that_warning_goes():
    note = NotFollowing("Skin", "hand.L", 0.5, 3.0, 1, 2, None)
    alone, shown = [result_at(1.0, 0.0), result_at(3.0, 0.0)], [result_at(1.0, 0.0), result_at(3.0, 0.5, False)]
    said = lines(limb_of(shown, "hand.L", not_following=[note]), bpy.context.scene)[2]
    assert said == (
        "'Skin' does not follow 'hand.L' at 1 of 2 frames, it is 50 cm away at frame 3: "
        "other constraints or bones move it. Bake those, or mute them."
    )
    found = limb_of(shown, "hand.L", alone=alone, not_following=[note], warnings=["Careful.", said])
    assert found.missed == [3.0]
    after = found.following(bpy.context.scene)
    assert (after.missed, after.warnings, after.not_following) == ([], ["Careful."], ())
    assert limb_of(shown, "hand.L", not_following=[note]).following(bpy.context.scene).missed == [3.0]
