# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes onto IK controls made by hand: any pole angle, no pole, stretch, and properties that are found by trying."""

from dataclasses import replace

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.errors import RigError, SettingError
from ik_triangulation.jobs.bake import bake, bake_body, delete_generated, repeats_bake
from ik_triangulation.jobs.shots.body_controls import bones_with_controls
from ik_triangulation.jobs.shots.controls import check_keyed, kept_by_hand, keyed_bones, watch_of
from ik_triangulation.jobs.shots.keys import BodyKeySettings, check_layer
from ik_triangulation.rig.limb import Limb

from ...bodies import SMALL, human_rig, reaching_body
from ...ik_rigs import arm_limb, ik_arm
from ...rigs import all_keys, chain_rig, curves_of, empty, evaluated_tip, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 12


def off(rig, report):
    """The most that the tip, its rotation [rad] and the elbow are off, as evaluated; lengths of the reach."""
    worst = [0.0, 0.0, 0.0]
    for result in report.frames:
        bpy.context.scene.frame_set(int(result.frame))
        bones, pose = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones, result.pose
        turned = bones["Palm"].matrix.to_quaternion().rotation_difference(pose.tip_rotation).angle
        places = (bones["Palm"].tail - pose.tip).length, (bones["Ulna"].head - pose.head(1)).length
        now = places[0] / pose.chain.reach, min(turned, 6.2831853 - turned), places[1] / pose.chain.reach
        worst = [max(pair) for pair in zip(worst, now, strict=True)]
    return worst


@pytest.mark.parametrize("angle", [0.0, 0.7, -2.5, 1.5707964, 3.1])
@pytest.mark.parametrize("stretch", [False, True])
def test_hand_and_elbow_are_where_they_were_solved_with_any_pole_angle(angle, stretch):
    rig = ik_arm(angle=angle, stretch=stretch)
    report = bake(arm_limb(rig, keys_on="IK"), 1, LAST)
    assert report.all_reached
    assert not report.warnings
    tip, turn, elbow = off(rig, report)
    assert tip < 1e-4
    assert turn < 1e-3
    assert elbow < 0.01
    assert not any("Bicep" in path or "Ulna" in path or "Palm" in path for path, _ in all_keys(rig))


def test_without_a_pole_the_elbow_is_told_where_it_is_elsewhere():
    rig = ik_arm(pole=False)
    report = bake(arm_limb(rig, keys_on="IK"), 1, LAST)
    assert report.all_reached
    tip, _, elbow = off(rig, report)
    assert tip < 1e-4
    told = [text for text in report.warnings if "'Ulna' is" in text and "no pole" in text]
    assert bool(told) == (elbow > 0.01)


def test_a_constraint_that_is_off_is_switched_on_and_keyed():
    rig = ik_arm()
    rig.pose.bones["Palm"].constraints[0].influence = 0.0
    rig.pose.bones["Ulna"].constraints[0].mute = True
    report = bake(arm_limb(rig, keys_on="IK"), 3, LAST)
    assert report.all_reached
    assert off(rig, report)[0] < 1e-4
    paths = {curve.data_path for curve in curves_of(rig) if "constraints" in curve.data_path}
    assert len(paths) == 2


@pytest.mark.parametrize("keyed", [False, True])
def test_with_the_last_keys_of_a_limb_go_those_by_which_the_character_followed_it(keyed):
    rig = ik_arm()
    constraint = rig.pose.bones["Palm"].constraints[0]
    constraint.influence = 0.25
    if keyed:
        constraint.keyframe_insert("influence", frame=2)
    before = all_keys(rig)
    bake(arm_limb(rig, keys_on="IK"), 1, LAST)
    path = constraint.path_from_id("influence")
    delete_generated(rig, ["Grip", "Aim"], 3, 5)
    assert any(curve.data_path == path for curve in curves_of(rig))  # other frames still need it
    delete_generated(rig, ["Grip", "Aim"])
    assert all_keys(rig) == before
    assert constraint.influence == 0.25


def test_the_constraints_of_the_limb_itself_are_switched_off_for_fk_controls():
    rig = ik_arm()
    report = bake(arm_limb(rig, keys_on="FK_SWITCH"), 1, LAST)
    assert report.all_reached, report.warnings
    assert max(off(rig, report)) < 1e-4
    bones = rig.pose.bones
    assert bones["Palm"].constraints[0].influence == 0.0
    assert bones["Ulna"].constraints[0].influence == 0.0


def test_a_limb_that_no_property_makes_follow_is_named_and_nothing_changes():
    rig = ik_arm()
    other = rig.pose.bones["Palm"].constraints.new("COPY_ROTATION")
    other.target, other.subtarget = rig, "Base"
    limb = arm_limb(rig, keys_on="IK")
    driver = other.driver_add("influence").driver
    driver.type, driver.expression = "SCRIPTED", "1.0"
    bpy.context.view_layer.update()
    with nothing_lost(), pytest.raises(RigError, match=r"'Palm' does not follow the IK controls at frame 1"):
        bake(limb, 1, LAST)


def test_a_rig_without_ik_controls_is_refused_before_anything_changes():
    rig = chain_rig(3)
    limb = Limb.from_tip(rig, "Bone 2", empty(), keys_on="IK")
    with nothing_lost(), pytest.raises(RigError, match="'Bone 2' has no IK controls"):
        bake(limb, 1, LAST)


def test_the_bones_that_get_keys_are_those_of_the_setting():
    rig = ik_arm()
    assert keyed_bones(arm_limb(rig)) == ("Bicep", "Ulna", "Palm")
    limb = arm_limb(rig, keys_on="IK")
    assert keyed_bones(limb) == ["Grip", "Aim"]
    assert check_keyed(limb) == []
    assert watch_of(limb).closely
    assert not repeats_bake(limb, (1, LAST, 1))
    bake(limb, 1, LAST)
    assert repeats_bake(limb, (1, LAST, 1))


def test_a_driven_control_is_named():
    rig = ik_arm()
    rig.pose.bones["Aim"].driver_add("location", 1)
    with pytest.raises(Exception, match="'Aim' is driven"):
        check_keyed(arm_limb(rig, keys_on="IK"))


def test_a_body_without_ik_controls_says_so_before_anything_changes():
    body = reaching_body(human_rig(), 4)
    with nothing_lost(), pytest.raises(RigError, match="no limb with IK controls"):
        bake_body(body, 1, 4, settings=BodyKeySettings(keys_on="IK"))


def test_with_few_keys_the_hand_is_as_near_as_was_allowed():
    rig = ik_arm()
    full = bake(arm_limb(rig, keys_on="IK"), 1, LAST)
    report = bake(arm_limb(ik_arm(), keys_on="IK", reduce=True, reduce_tolerance=0.01), 1, LAST)
    assert report.full_keys == full.keys
    assert report.keys < 0.7 * full.keys
    assert 1e-5 < report.tip_deviation <= 0.01
    assert report.worst_error <= 0.011


def ik_body():
    """A human whose left arm an IK constraint turns, with a control for the hand and a pole behind the elbow."""
    rig = human_rig()
    bpy.ops.object.mode_set(mode="EDIT")
    edit = rig.data.edit_bones
    for name, place in (
        ("Grip", edit["hand.L"].head.copy()),
        ("Aim", edit["forearm.L"].head + Vector((0.0, 0.4, 0.0))),
    ):
        new = edit.new(name)
        new.head, new.tail = place, place + Vector((0.0, 0.0, 0.1))
    bpy.ops.object.mode_set(mode="POSE")
    turn = rig.pose.bones["forearm.L"].constraints.new("IK")
    turn.target = turn.pole_target = rig
    turn.subtarget, turn.pole_subtarget, turn.chain_count, turn.use_stretch = "Grip", "Aim", 2, False
    copy = rig.pose.bones["hand.L"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = rig, "Grip"
    bpy.context.view_layer.update()
    return rig


def test_a_body_has_keys_on_the_ik_controls_of_its_limbs_as_well_and_shows_the_same():
    rig = ik_body()
    body = reaching_body(rig, 4, SMALL)
    assert bones_with_controls(body) == [*body.bones, "Grip", "Aim"]
    assert bones_with_controls(replace(body, limbs=body.limbs[1:])) == [*replace(body, limbs=body.limbs[1:]).bones]
    report = bake_body(body, 1, 4, settings=BodyKeySettings(keys_on="IK"))
    assert report.reached, report.text
    keys = all_keys(rig)
    paths = {path for path, _ in keys}
    assert {
        'pose.bones["Grip"].location',
        'pose.bones["Aim"].location',
        'pose.bones["hand.R"].rotation_quaternion',
    } <= paths
    own = sum(
        len(found) for (path, _), found in keys.items() if not path.startswith(('pose.bones["Grip', 'pose.bones["Aim'))
    )
    switched = sum(len(found) for (path, _), found in keys.items() if "constraints" in path)
    assert report.keys == report.full_keys == sum(map(len, keys.values())) - switched > own - switched
    for frame in range(1, 5):
        bpy.context.scene.frame_set(frame)
        for tip in ("hand.L", "hand.R"):
            target = next(limb.target for limb in body.limbs if limb.tip == tip)
            assert (evaluated_tip(rig, tip) - target.matrix_world.translation).length < 1e-3
    with (
        nothing_lost(),
        pytest.raises(RigError, match=r"No tip of the body has IK controls: foot\.L, foot\.R, hand\.R"),
    ):
        bake_body(replace(body, limbs=body.limbs[1:]), 1, 4, settings=BodyKeySettings(keys_on="IK"))


def test_keys_that_somebody_made_of_controls_are_kept_by_place_too():
    rig = ik_arm()
    grip, ulna = rig.pose.bones["Grip"], rig.pose.bones["Ulna"]
    for bone, path, frames in ((grip, "location", (3, 8, 20)), (ulna, "rotation_quaternion", (5, 8))):
        for frame in frames:
            bone.keyframe_insert(path, frame=frame)
    assert not kept_by_hand(arm_limb(rig, keys_on="IK"), 1.0, 12.0), "nothing was baked"
    for curve in curves_of(rig):
        curve.keyframe_points[1].type = "GENERATED"
    limb = arm_limb(rig, keys_on="IK")
    assert {name: [*times] for name, times in kept_by_hand(limb, 1.0, 12.0).items()} == {"Grip": [3.0]}
    own = kept_by_hand(replace(limb, keys_on="FK"), 1.0, 12.0)
    assert {name: [*times] for name, times in own.items()} == {"Ulna": [5.0]}
    said = watch_of(limb).explain(0.02, " at frame 3", bpy.context.scene)
    assert said.startswith("'Palm' is 2 cm away from the solution at frame 3: 'Grip' cannot carry it there.")


def test_a_layer_is_refused_where_controls_get_the_keys_and_says_what_becomes_of_the_action():
    rig = ik_arm()
    assert check_layer(BodyKeySettings(keys_on="IK"), rig) == []
    with pytest.raises(SettingError, match="A layer has keys of the limb's own bones"):
        check_layer(BodyKeySettings(keys_on="IK", destination="LAYER"), rig)
    assert check_layer(BodyKeySettings(destination="LAYER"), rig) == []
    rig.keyframe_insert("location", frame=1)
    name = rig.animation_data.action.name
    assert check_layer(BodyKeySettings(destination="LAYER", reduce=True), rig) == [
        "A layer has a key at each frame: Reduce Keys is for other destinations.",
        f"Action '{name}' is on an NLA track now, below the layer.",
    ]


def test_in_a_track_the_character_is_switched_by_keys_of_that_track():
    rig = ik_arm()
    constraint = rig.pose.bones["Ulna"].constraints[0]
    constraint.influence = 0.0
    report = bake(arm_limb(rig, keys_on="IK", destination="NLA_TRACK"), 3, LAST)
    assert report.all_reached, report.warnings
    assert not any("influence" in path for path, _ in all_keys(rig))
    [track] = rig.animation_data.nla_tracks
    [strip] = track.strips
    bag = strip.action.layers[0].strips[0].channelbag(strip.action_slot)
    [curve] = [each for each in bag.fcurves if each.data_path == constraint.path_from_id("influence")]
    assert [(tuple(key.co), key.interpolation) for key in curve.keyframe_points] == [((3.0, 1.0), "CONSTANT")]
    assert off(rig, report)[0] < 1e-4
