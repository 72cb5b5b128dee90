# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs by JSON: what an agent asks for is done and verified, and what cannot be done is said and changes nothing."""

import json

import bpy
import pytest

from ik_triangulation.jobs.calls import _verified, call
from ik_triangulation.jobs.pose import verify
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.jobs.shots.report import Report, TipReport

from ..bodies import human_rig
from ..rigs import chain_rig, contents, curves_of, empty

pytestmark = pytest.mark.usefixtures("empty_scene")


def done(name, **arguments):
    """The answer to a call that goes by JSON both ways."""
    answer = json.loads(json.dumps(call(json.dumps({"call": name, **arguments})), allow_nan=False))
    assert answer["error"] is None
    return answer


def test_an_agent_sets_up_moves_bakes_verifies_and_undoes_with_names_and_numbers_alone():
    rig = human_rig()
    before = contents()
    proposed = done("propose", armature=rig.name)["result"]["limbs"]
    assert {"hand.L", "foot.R"} <= {limb["tip"] for limb in proposed}
    targets = done("set_up", armature=rig.name)["result"]["targets"]
    hand = bpy.data.objects[targets["hand.L"]].matrix_world.translation.copy()
    for frame, way in ((1, 0.0), (8, -0.2)):
        done("place", target=targets["hand.L"], frame=frame, location=[hand.x, hand.y - 0.1, hand.z + way])
    baked = done("bake", armature=rig.name, frame_start=1, frame_end=8)
    assert baked["reached"]
    assert baked["tips"]
    assert not baked["warnings"]
    shown = done("verify", armature=rig.name, frame_start=1, frame_end=8)
    assert shown["reached"]
    assert [tip["tip"] for tip in shown["tips"]] == ["hand.L"]
    (listed,) = done("list")["result"]
    assert {limb["tip"]: limb["is_waiting"] for limb in listed["limbs"]}["hand.R"]
    assert done("undo", armature=rig.name)["result"]["keys"] > 0
    assert not call({"call": "verify", "armature": rig.name, "frame_start": 1, "frame_end": 8})["reached"]
    done("undo", armature=rig.name, everything=True)
    assert contents() == before


def test_a_tip_that_something_else_moves_is_found_by_a_second_look():
    rig = human_rig()
    done("set_up", armature=rig.name, tips=["hand.L"])
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    done("place", target=target.name, frame=1, location=list(target.matrix_world.translation))
    done("bake", armature=rig.name, frame_start=1, frame_end=4)
    assert verify(rig, 1, 4)["hand.L"].reached
    limit = rig.pose.bones["hand.L"].constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.use_limit_x, limit.min_x, limit.max_x = "LOCAL", True, 0.5, 0.6
    seen = verify(rig, 1, 4)["hand.L"]
    assert seen.missed == [1, 2, 3, 4]
    assert seen.largest_distance > 1e-2


def test_a_reach_of_a_disabled_limb_is_looked_at_again_beside_one_that_cannot_be_read():
    rig = human_rig()
    done("set_up", armature=rig.name, tips=["hand.L", "hand.R"])
    hand, other = (rig.pose.bones[name].ik_triangulation for name in ("hand.L", "hand.R"))
    hand.enabled = False
    done("place", target=hand.target.name, frame=1, location=list(hand.target.matrix_world.translation))
    other.target = bpy.data.objects.new("In no scene", None)
    answer = done("reach", armature=rig.name, tip="hand.L", frame_start=1, frame_end=4)
    assert answer["reached"]
    assert [tip["tip"] for tip in answer["result"]["shown"]] == ["hand.L"]
    assert any("'hand.R' was not measured" in warning for warning in answer["warnings"])


def test_every_call_describes_its_arguments():
    described = done("describe")["result"]
    assert len(described) == 10
    assert described["bake"]["arguments"]["step"] == {"type": "number", "default": 1}


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"call": "bakee"}, "Is 'bake' meant?"),
        ({"call": "bake"}, "needs 'armature', a string"),
        ({"call": "bake", "armature": "Rig", "frame_start": "1", "frame_end": 4}, "is a whole number, not '1'"),
        ({"call": "bake", "armature": "Rig", "frame_start": True, "frame_end": 4}, "is a whole number, not True"),
        ({"call": "bake", "armature": "Rig", "frames": 4}, "no argument of 'bake' 'frames'"),
        ({"call": "set_up", "armature": "Rig", "tips": [1]}, "is a list of strings"),
        ({"call": "verify", "armature": "Nobody", "frame_start": 1, "frame_end": 2}, "no object 'Nobody'"),
        ({"call": "settings", "armature": "Rig", "tip": "hand.L", "values": {"solvr": "NATURAL"}}, "'solver' meant"),
        ({"call": "settings", "armature": "Rig", "tip": "hand.L", "values": {"solver": "MAGIC"}}, "cannot have this"),
        ({"call": "place", "target": "Rig", "frame": 1, "location": [0, 0]}, "three finite numbers"),
        ({"call": "reach", "armature": "Rig", "tip": "foot.L", "frame_start": 1, "frame_end": 9}, "Call set_up"),
        ({"call": "place", "target": "Rig", "frame": 1, "location": [0, 0, 0], "rotation": [0, 0, 0, 0]}, "not all 0"),
        ({"call": "settings", "armature": "Rig", "tip": "hand.L", "values": 3}, "is a JSON object, not 3"),
        ('{"call": "place", "target": "Rig", "frame": Infinity, "location": [0, 0, 0]}', "no frame inf"),
        ({"call": "place", "target": "Rig", "frame": 10**12, "location": [0, 0, 0]}, "no frame 1000000000000"),
        ("[1]", "no JSON object"),
        ("{", "no JSON object"),
    ],
)
def test_a_request_that_cannot_be_carried_out_says_why_and_changes_nothing(request_, said):
    rig = human_rig()
    rig.name = "Rig"
    done("set_up", armature="Rig", tips=["hand.L"])
    before = contents()
    answer = call(request_)
    assert said in answer["error"]
    assert not answer["reached"]
    assert contents() == before


def test_settings_are_as_they_were_where_one_of_them_cannot_be():
    rig = human_rig()
    done("set_up", armature=rig.name, tips=["hand.L"])
    offset = rig.pose.bones["hand.L"].ik_triangulation.offset_location
    before = offset[:]
    values = {"offset_location": [1.0, 2.0, 3.0], "solver": "MAGIC"}
    assert call({"call": "settings", "armature": rig.name, "tip": "hand.L", "values": values})["error"]
    assert offset[:] == before


def test_a_target_is_keyed_where_stretched_time_shows_it():
    scene, rig = bpy.context.scene, human_rig()
    done("set_up", armature=rig.name, tips=["hand.L"])
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    scene.render.frame_map_new = 200
    for frame in (10, 20):
        done("place", target=target.name, frame=frame, location=[0.1 * frame, 0.0, 1.0])
    for frame in (10, 20):
        scene.frame_set(frame)
        assert target.matrix_world.translation.x == pytest.approx(0.1 * frame)


def test_a_bake_of_keyed_hips_above_held_feet_is_no_error_though_all_targets_wait():
    rig = human_rig()
    done("set_up", armature=rig.name)
    hips = rig.pose.bones[body_of(rig, "foot.L").hips]
    for frame, way in ((1, 0.0), (4, -0.1)):
        hips.location.y = way
        hips.keyframe_insert("location", frame=frame)
    answer = done("bake", armature=rig.name, frame_start=1, frame_end=4)
    assert answer["reached"]
    assert answer["result"]["shown"] == []


def test_a_target_that_is_driven_is_not_keyed_in_vain():
    target = empty()
    target.driver_add("location", 0).driver.expression = "1"
    before = contents()
    assert "has a driver" in call({"call": "place", "target": target.name, "frame": 1, "location": [0, 0, 0]})["error"]
    assert contents() == before


@pytest.mark.parametrize("has_location", [False, True])
def test_a_location_is_not_keyed_where_the_rotation_cannot_be(has_location):
    target = empty()
    if has_location:
        for frame in (1, 9):
            target.keyframe_insert("location", frame=frame)
    target.keyframe_insert("rotation_euler", frame=1)
    curves_of(target)[-1].modifiers.new("GENERATOR")
    bpy.context.view_layer.update()
    before = contents()
    answer = call({"call": "place", "target": target.name, "frame": 4, "location": [1, 2, 3], "rotation": [1, 1, 0, 0]})
    assert "take no keys" in answer["error"]
    assert contents() == before


def test_what_is_said_to_reach_and_is_shown_elsewhere_is_told_of():
    rig, target = chain_rig(3), empty(location=(0.0, 0.0, 9.0))
    stored = rig.pose.bones["Bone 2"].ik_triangulation
    stored.target, stored.chain_count = target, 3
    bpy.context.view_layer.update()
    away = (target.location - rig.pose.bones["Bone 2"].tail).length
    for missed, warned in (([], 1), ([1.0], 0)):
        tip = TipReport("Rig", "Bone 2", False, missed, 0.0, 0.0, 1.0)
        answer = _verified(
            rig, [Report("Rig", {"Bone 2": tip}, [1.0], warnings=["Careful."], hips="Bone 0")], (1, 1, 1)
        )
        assert len(answer.warnings) == 1 + warned
        assert answer.warnings[0] == "Careful."
        assert answer.tips == [tip]
    [shown] = answer.result["shown"]
    assert shown["largest_distance"] == pytest.approx(away, rel=1e-5)


def test_settings_are_answered_with_those_that_are_plain():
    rig = human_rig()
    done("set_up", armature=rig.name)
    shown = done("settings", armature=rig.name, tip="hand.L", values={"smoothing": 0.25})["result"]
    assert shown["smoothing"] == 0.25
    assert all(isinstance(value, bool | int | float | str) for value in shown.values())
