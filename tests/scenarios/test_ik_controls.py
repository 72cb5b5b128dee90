# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes onto the IK controls of a generated Rigify rig: hands, feet, elbows and knees are shown as they were solved."""

from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import AnimationError
from ik_triangulation.jobs.bake import bake, bake_body, bake_limbs, delete_generated, rebake
from ik_triangulation.jobs.edits.edit import pull
from ik_triangulation.jobs.follow_rig import follow_rig
from ik_triangulation.jobs.reach import reach
from ik_triangulation.jobs.setup import add_limbs, set_up_body
from ik_triangulation.jobs.shots.body_controls import bones_with_controls
from ik_triangulation.jobs.shots.keys import body_settings
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.jobs.shots.tips import with_followers
from ik_triangulation.jobs.targets import target_from_animation
from ik_triangulation.jobs.transfer import transfer
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.controls import ik_controls_of
from ik_triangulation.rig.limb import Limb
from ik_triangulation.ui.context import control_names

from ..bodies import walking_body
from ..rigs import all_keys, contents, curves_of, nothing_lost, place
from .test_following import CHAINS, LIMBS, PARENTS, each_limb, opened

LAST = 8
MIDDLE = {"hand": "forearm", "foot": "shin"}
TIP, TURN, ELBOW = 1e-4, 1e-3, 0.01  # of the reach, [rad], of the reach


@pytest.fixture
def rig(rigify_file, addon):
    return opened(rigify_file("basic"))


def limb(rig, end, side, last=LAST, **settings):
    """An arm or leg whose target moves and turns within its reach, with the IK controls as the place of its keys."""
    chain = [f"{name}.{side}" for name in CHAINS[end]]
    bpy.context.view_layer.update()
    bones = rig.pose.bones
    tip, root = (rig.matrix_world @ place for place in (bones[chain[-1]].tail, bones[chain[0]].head))
    target = place(bpy.data.objects.new(f"Target {chain[-1]}", None))
    target.empty_display_type = "ARROWS"
    for frame, share in ((1, 0.22), (last // 2, 0.4), (last, 0.28)):
        target.location = tip.lerp(root, share) + rig.matrix_world.to_3x3() @ Vector((0.0, -0.12, 0.04))
        target.keyframe_insert("location", frame=frame)
    settings = {"keys_on": "IK", **settings}
    return Limb.from_bones(rig, chain, target, **settings)


def off(rig, report, end, side):
    """The most that tip and elbow [of the reach] and the tip's rotation [rad] are off, as evaluated at all frames."""
    worst = [0.0, 0.0, 0.0]
    for result in report.frames:
        bpy.context.scene.frame_set(int(result.frame))
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        tip, elbow, pose = bones[f"ORG-{end}.{side}"], bones[f"ORG-{MIDDLE[end]}.{side}"], result.pose
        turned = tip.matrix.to_quaternion().rotation_difference(pose.tip_rotation).angle
        reach_ = pose.chain.reach
        now = (
            (tip.tail - pose.tip).length / reach_,
            min(turned, 6.2831853 - turned),
            (elbow.head - pose.head(1)).length / reach_,
        )
        worst = [max(pair) for pair in zip(worst, now, strict=True)]
    return worst


def is_shown(rig, report, end, side):
    tip, turn, elbow = off(rig, report, end, side)
    return tip < TIP and turn < TURN and elbow < ELBOW


def switches(rig, end, side):
    return rig.pose.bones[f"{PARENTS[end]}.{side}"]


def nothing(rig):
    """The rig as it was generated."""


def turned(rig):
    rig.location, rig.rotation_euler, rig.scale = (1.0, -2.0, 0.3), (0.4, -0.3, 1.7), (1.6, 1.6, 1.6)


def other_parents(rig):
    for end, side in LIMBS:
        parent = switches(rig, end, side)
        parent["IK_parent"], parent["pole_parent"] = 4, 7 if end == "hand" else 6
    rig.pose.bones["torso"].rotation_quaternion = (0.98, 0.1, 0.1, 0.05)
    rig.pose.bones["chest"].rotation_quaternion = (0.98, -0.05, 0.1, 0.05)


def heel(rig):
    for side in "LR":
        for frame, angle in ((1, 0.4), (LAST, -0.3)):
            rig.pose.bones[f"foot_heel_ik.{side}"].rotation_euler.x = angle
            rig.pose.bones[f"foot_heel_ik.{side}"].keyframe_insert("rotation_euler", frame=frame)
        rig.pose.bones[f"foot_spin_ik.{side}"].rotation_quaternion = (0.95, 0.1, 0.2, 0.1)


def eulers(rig):
    for end, side in LIMBS:
        rig.pose.bones[f"{end}_ik.{side}"].rotation_mode = "ZXY"


def keyed_switches(rig):
    for end, side in LIMBS:
        parent = switches(rig, end, side)
        for frame, value in ((1, 1.0), (4, 0.0), (6, 1.0), (40, 0.5)):
            parent["IK_FK"] = value
            parent.keyframe_insert('["IK_FK"]', frame=frame)


def with_pole(rig):
    for end, side in LIMBS:
        switches(rig, end, side)["pole_vector"] = True


def axis_angles(rig):
    for end, side in LIMBS:
        rig.pose.bones[f"{end}_ik.{side}"].rotation_mode = "AXIS_ANGLE"


def remapped(rig):
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = 100, 150


# With --long all limbs in each.
STATES = {
    remapped: [("hand", "L")],
    nothing: [("foot", "R")],
    turned: [("hand", "R")],
    other_parents: [("hand", "L"), ("foot", "R")],
    heel: [("foot", "L")],
    eulers: [("hand", "L")],
    axis_angles: [("foot", "R")],
    keyed_switches: [("hand", "R")],
    with_pole: [("foot", "L")],
}


# Rotation modes of controls are tried in tests/jobs/shots/test_writing.py, and the rig as it was generated in the rest.
OF_LONG = {nothing, eulers, axis_angles}


@pytest.mark.parametrize(
    "state", [pytest.param(state, marks=pytest.mark.long) if state in OF_LONG else state for state in STATES]
)
def test_arms_and_legs_are_shown_as_solved_by_their_ik_controls(rig, state, long):
    state(rig)
    limbs = LIMBS if long else STATES[state]
    reports = bake_limbs([limb(rig, *each) for each in limbs], 1, LAST)
    for report, (end, side) in zip(reports, limbs, strict=True):
        assert report.all_reached, report.warnings
        assert not report.warnings
        assert is_shown(rig, report, end, side), off(rig, report, end, side)
        keyed = {curve.data_path for curve in curves_of(rig)}
        assert not any(f'"{name}.{side}"' in path for name in CHAINS[end] for path in keyed), "FK bones got keys"
        bpy.context.scene.frame_set(LAST // 2)
        assert switches(rig, end, side)["IK_FK"] == 0.0
        assert switches(rig, end, side)["pole_vector"]


def test_a_straight_arm_has_a_pole_that_does_not_pop(rig):
    arm = limb(rig, "hand", "L")
    root, tip = rig.pose.bones["upper_arm_fk.L"].head, rig.pose.bones["hand_fk.L"].tail
    for frame in range(1, LAST + 1):
        arm.target.location = root.lerp(tip, 0.9 + 0.02 * frame)  # beyond its reach at the end
        arm.target.keyframe_insert("location", frame=frame)
    report = bake(arm, 1, LAST)
    assert is_shown(rig, report, "hand", "L"), off(rig, report, "hand", "L")
    places = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        places.append(rig.pose.bones["upper_arm_ik_target.L"].matrix.translation.copy())
    ways = [(b - a).length for a, b in pairwise(places)]
    assert max(ways) < 0.08


@pytest.mark.parametrize("destination", [pytest.param("NEW_ACTION", marks=pytest.mark.long), "NLA_TRACK"])
def test_the_keys_go_to_the_destination_of_the_bake(rig, destination):
    rig.pose.bones["torso"].keyframe_insert("location", frame=1)
    before, old = all_keys(rig), rig.animation_data.action
    report = bake(limb(rig, "foot", "R", destination=destination), 1, LAST)
    assert report.all_reached
    assert is_shown(rig, report, "foot", "R")
    rig.animation_data.action = old
    assert all_keys(rig) == before


def test_fewer_keys_show_the_same_within_the_tolerance(rig):
    report = bake(limb(rig, "hand", "R", 12, reduce=True), 1, 12)
    assert report.keys < 0.7 * report.full_keys
    tip, _, elbow = off(rig, report, "hand", "R")
    assert tip < 0.005
    assert elbow < ELBOW


@pytest.mark.parametrize("step", [pytest.param(3, marks=pytest.mark.long), 0.5])
def test_only_the_frames_of_the_step_have_keys(rig, step):
    report = bake(limb(rig, "hand", "R"), 1, LAST, step)
    assert report.all_reached
    curve = next(curve for curve in curves_of(rig) if "hand_ik.R" in curve.data_path)
    assert [key.co.x for key in curve.keyframe_points] == [result.frame for result in report.frames]


def test_closing_the_bake_at_any_time_leaves_everything_as_it_was(rig, long):
    keyed_switches(rig)
    for frame in (1, 6, 30):
        rig.pose.bones["hand_ik.L"].keyframe_insert("location", frame=frame)
    arm, before = limb(rig, "hand", "L"), contents()
    for count in range(1, 100, 2 if long else 9):
        job = bake.steps(arm, 1, LAST)
        with suppress(StopIteration):
            for _ in range(count):
                next(job)
            job.close()
            assert contents() == before, count
            continue
        break
    assert count > LAST
    assert contents() != before


def test_keys_made_by_hand_since_stay_when_it_is_baked_again(rig):
    arm = limb(rig, "hand", "L")
    bake(arm, 1, LAST)
    bone = rig.pose.bones["hand_ik.L"]
    bpy.context.scene.frame_set(4)
    bone.location.z += 0.2
    bone.keyframe_insert("location", frame=4)
    for curve in curves_of(rig):
        if curve.data_path.endswith('"hand_ik.L"].location'):
            for key in curve.keyframe_points:
                key.type = "KEYFRAME" if key.co.x == 4.0 else key.type
    wanted = bone.location.copy()
    report = rebake(rig, "hand_fk.L")
    assert any("by hand were kept at 1 frame" in text for text in report.warnings)
    bpy.context.scene.frame_set(4)
    assert (bone.location - wanted).length < 1e-6
    assert sum(result.reached for result in report.frames) == LAST - 1


def test_the_baked_keys_can_be_deleted_and_those_before_come_back(rig):
    bone = rig.pose.bones["hand_ik.L"]
    for frame in (2, 7):
        for prop in ("location", "rotation_quaternion"):
            bone.keyframe_insert(prop, frame=frame)
    before = all_keys(rig)
    arm = limb(rig, "hand", "L")
    bake(arm, 1, LAST)
    assert delete_generated(rig, ik_controls_of(arm).keyed)
    assert {place: keys for place, keys in all_keys(rig).items() if "pole_vector" not in place[0]} == before


def test_a_reach_goes_onto_the_ik_controls_too(rig):
    report = reach(limb(rig, "hand", "L"), 1, 8, hold=3)
    assert report.all_reached, report.warnings
    assert is_shown(rig, report, "hand", "L"), off(rig, report, "hand", "L")


def test_a_reach_begins_where_the_character_is_shown(rig):
    control = rig.pose.bones["hand_ik.L"]
    control.location = (-0.15, -0.2, 0.15)
    arm = limb(rig, "hand", "L")
    before = shown_now(rig, "hand", "L")[0]
    report = reach(arm, 1, 8, hold=3)
    tip, turn, _ = apart([before], shown_now(rig, "hand", "L")[:1], report.frames[0].pose.chain.reach)
    assert tip < 0.02  # FK bones are as long as at rest, those of IK were shortened by its stretch
    assert turn < 0.02
    assert report.all_reached


def test_a_bake_onto_fk_controls_sets_and_keys_the_switch_if_it_is_asked_to(rig):
    report = bake(limb(rig, "foot", "L", keys_on="FK_SWITCH"), 1, LAST)
    assert report.all_reached
    assert not report.warnings
    assert switches(rig, "foot", "L")["IK_FK"] == 1.0
    [curve] = [curve for curve in curves_of(rig) if "IK_FK" in curve.data_path]
    assert [(*key.co, key.interpolation) for key in curve.keyframe_points] == [(1.0, 1.0, "CONSTANT")]
    assert is_shown(rig, report, "foot", "L")


def test_a_control_whose_keys_are_locked_is_named_before_anything_changes(rig):
    rig.pose.bones["hand_ik.L"].keyframe_insert("location", frame=1)
    curves_of(rig)[0].lock = True
    arm = limb(rig, "hand", "L")
    with nothing_lost(), pytest.raises(AnimationError, match=r"'hand_ik\.L' is locked"):
        bake(arm, 1, LAST)


def test_what_a_locked_control_cannot_show_is_told_with_name_and_frame(rig):
    rig.pose.bones["hand_ik.L"].lock_location[1] = True
    report = bake(limb(rig, "hand", "L"), 1, LAST)
    assert not report.all_reached
    assert any("'ORG-hand.L' is" in text and "at frame" in text and "'hand_ik.L'" in text for text in report.warnings)


def animate_ik(rig, pole):
    """Animation of all hands and feet by their IK controls, which the character follows."""
    for end, side in LIMBS:
        parent, out = switches(rig, end, side), 1.0 if side == "L" else -1.0
        parent["IK_FK"], parent["pole_vector"] = 0.0, pole
        control = rig.pose.bones[f"{end}_ik.{side}"]
        for frame, place_, turn in (
            (1, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)),
            (LAST // 2, (-0.15 * out, -0.2, 0.15), (0.95, 0.2, 0.1 * out, 0.1)),
            (LAST, (-0.05 * out, -0.25, 0.3), (0.97, -0.1, 0.1, 0.05)),
        ):
            control.location, control.rotation_quaternion = place_, turn
            control.keyframe_insert("location", frame=frame)
            control.keyframe_insert("rotation_quaternion", frame=frame)
        name = "upper_arm" if end == "hand" else "thigh"
        aim = rig.pose.bones[f"{name}_ik_target.{side}"]
        for frame, place_ in ((1, (0.0, 0.0, 0.0)), (LAST, (-0.1, 0.1, 0.2))) if pole else ():
            aim.location = place_
            aim.keyframe_insert("location", frame=frame)


def shown_now(rig, end, side):
    """Tail and rotation of the shown tip, and the shown elbow, at every frame."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        tip, elbow = bones[f"ORG-{end}.{side}"], bones[f"ORG-{MIDDLE[end]}.{side}"]
        found.append((tip.tail.copy(), tip.matrix.to_quaternion(), elbow.head.copy()))
    return found


def apart(before, after, reach_):
    """The most that tips, rotations [rad] and elbows differ; lengths of the reach."""
    worst = [0.0, 0.0, 0.0]
    for one, other in zip(before, after, strict=True):
        turn = one[1].rotation_difference(other[1]).angle
        now = (one[0] - other[0]).length / reach_, min(turn, 6.2831853 - turn), (one[2] - other[2]).length / reach_
        worst = [max(pair) for pair in zip(worst, now, strict=True)]
    return worst


@pytest.mark.parametrize(
    ("end", "side", "pole"),
    [
        (*limb, pole)
        if (*limb, pole) in {("hand", "L", True), ("foot", "R", False)}
        else pytest.param(*limb, pole, marks=pytest.mark.long)
        for limb in LIMBS
        for pole in (True, False)
    ],
)
def test_a_target_from_an_ik_animation_bakes_back_onto_the_ik_controls(rig, end, side, pole):
    animate_ik(rig, pole)
    before = shown_now(rig, end, side)
    arm = limb(rig, end, side, orientation="FULL")
    [keyed] = target_from_animation([arm], 1, LAST)
    assert keyed.frames == LAST
    for _ in range(2):  # what was baked is no reference for the next one
        report = bake(arm, 1, LAST)
        assert report.all_reached
        tip, turn, elbow = apart(before, shown_now(rig, end, side), report.frames[0].pose.chain.reach)
        assert tip < TIP
        assert turn < TURN
        assert elbow < ELBOW


def test_the_keys_of_a_target_can_be_those_of_the_ik_controls(rig):
    animate_ik(rig, True)
    [keyed] = target_from_animation([limb(rig, "hand", "L")], 1, LAST, only_keys=True)
    assert keyed.frames == 3


def test_an_ik_animation_goes_over_to_the_fk_controls_and_the_switch(rig):
    animate_ik(rig, True)
    before = shown_now(rig, "foot", "R")
    leg = limb(rig, "foot", "R", orientation="FULL", keys_on="FK_SWITCH")
    target_from_animation([leg], 1, LAST)
    report = bake(leg, 1, LAST)
    assert report.all_reached
    assert switches(rig, "foot", "R")["IK_FK"] == 1.0
    tip, turn, elbow = apart(before, shown_now(rig, "foot", "R"), report.frames[0].pose.chain.reach)
    assert tip < TIP
    assert turn < TURN
    assert elbow < 0.04  # the IK had shortened the bones by its stretch


@each_limb
def test_a_limb_that_was_added_by_any_of_its_bones_is_baked_onto_its_ik_controls(rig, end, side):
    [tip] = add_limbs(rig, [f"{end}_ik.{side}"])
    bone = rig.pose.bones[tip]
    assert control_names(bone).tip == f"{end}_fk.{side}"
    assert control_names(bone).switches[0] == "IK_FK"
    assert control_names(bone).controls.control == f"{end}_ik.{side}"
    bone.ik_triangulation.keys_on = "IK"
    made = Limb.of(bone)
    made.target.location += (rig.pose.bones[made.bones[0]].head - made.target.location) * 0.3
    report = bake(made, 1, 4)
    assert report.all_reached, report.warnings
    assert is_shown(rig, report, end, side)


def test_a_body_keys_its_fk_controls_and_the_switches(rig):
    set_up_body(rig)
    rig.pose.bones["hand_fk.L"].ik_triangulation.target.location.z += 0.05
    body = body_of(rig, "hand_fk.L")
    bake_body(body, 1, 4, settings=replace(body_settings(body), keys_on="FK_SWITCH"))
    assert [switches(rig, end, side)["IK_FK"] for end, side in LIMBS] == [1.0] * 4


def sides_apart(rig, frames):
    """How far limbs are shown away from their FK bones: ends, and elbows and knees [Blender units]."""
    ends, elbows = [], []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        for end, side in LIMBS:
            for name, found in ((end, ends), (MIDDLE[end], elbows)):
                found.append((bones[f"ORG-{name}.{side}"].head - bones[f"{name}_fk.{side}"].head).length)
    return max(ends), max(elbows)


def test_a_walk_is_followed_on_the_ik_controls_which_show_what_the_fk_controls_do(rig):
    last = 12
    before = all_keys(rig)
    source = walking_body(last)
    source.location.x = 2.0
    result = follow_rig(rig, source, 1, last, keys_on="IK")
    assert rig.pose.bones["foot_fk.L"].ik_triangulation.keys_on == "IK"
    assert "hand_ik.L" in control_names(rig.pose.bones["hand_fk.L"]).ik  # of a button in the panel
    body = body_of(rig, result.tips[0])
    report = with_followers(bake_body(body, 1, last), body, bpy.context.scene, bpy.context.view_layer)
    assert not report.not_following
    assert [switches(rig, end, side)["IK_FK"] for end, side in LIMBS] == [0.0] * 4
    ends, elbows = sides_apart(rig, range(1, last + 1))
    assert ends < 1e-4
    assert elbows < 0.015
    legs = [contact for contact in result.contacts if contact.frame_end > contact.frame_start + 2]
    assert legs
    for contact in legs:
        places = []
        for frame in range(int(contact.frame_start), int(contact.frame_end) + 1):
            bpy.context.scene.frame_set(frame)
            places.append(np.array(rig.pose.bones[contact.tip.replace("foot_fk", "ORG-foot")].tail))
        assert np.ptp(places, axis=0).max() < 1e-3
    for curve in curves_of(rig):
        if curve.data_path.endswith('"hand_ik.L"].location'):
            curve.keyframe_points[7].type = "KEYFRAME"
    again = bake_body(body, 1, last, keep=True)
    assert any("kept at 1 frame" in text for text in again.warnings)
    tip = next(limb.tip for limb in body.limbs if "hand" in limb.tip)
    with nothing_lost(), pytest.raises(AnimationError, match="is baked onto IK controls, which cannot be edited so"):
        pull(rig, tip, 6, (0.0, 0.0, 0.1), 3)
    delete_generated(rig, bones_with_controls(body))
    left = {
        name: keys for name, keys in all_keys(rig).items() if "hand_ik.L" not in name[0] and "pose.bones" in name[0]
    }
    assert {name for name in left if "IK_FK" not in name[0] and "pole_vector" not in name[0]} == set(before)


def test_a_body_that_its_root_scales_is_shown_by_its_ik_controls(rig):
    rig.pose.bones["root"].scale = (1.2,) * 3
    bpy.context.view_layer.update()
    set_up_body(rig)
    target = rig.pose.bones["hand_fk.L"].ik_triangulation.target
    target.location += Vector((-0.12, -0.36, 0.12))
    body = body_of(rig, "hand_fk.L")
    report = bake_body(body, 1, 3, settings=replace(body_settings(body), keys_on="IK"))
    assert report.reached
    assert not report.warnings
    ends, elbows = sides_apart(rig, (1, 3))
    assert ends < 1e-4
    assert elbows < 0.015


def frames_shown(rig, frames):
    """The matrices of the bones that show arms and legs, by frame and name."""
    names = [f"ORG-{name.removesuffix('_fk')}.{side}" for end, side in LIMBS for name in CHAINS[end]]
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        found |= {(frame, name): bones[name].matrix.copy() for name in names}
    return found


def bend_fk(rig, frames):
    """Key bent arms and legs, as long as at rest, with the FK controls."""
    random = np.random.default_rng(1)
    for frame in frames:
        for end, side in LIMBS:
            for name, most in zip(CHAINS[end], (0.6, None, 0.4), strict=True):
                bone = rig.pose.bones[f"{name}.{side}"]
                axis, angle = (1.0, 0.0, 0.0), random.uniform(0.3, 1.2)
                if most:
                    axis, angle = random.normal(size=3), random.uniform(-most, most)
                bone.rotation_quaternion, bone.scale = Quaternion(axis, angle), (1.0, 1.0, 1.0)
                bone.keyframe_insert("rotation_quaternion", frame=frame)
                bone.keyframe_insert("scale", frame=frame)


def test_arms_and_legs_go_from_ik_to_fk_and_from_fk_to_ik(rig):
    random, keys = np.random.default_rng(2), (1, 4, LAST)
    for frame in keys:
        for end, side in LIMBS:
            control = rig.pose.bones[f"{end}_ik.{side}"]
            inwards = rig.pose.bones[f"{CHAINS[end][0]}.{side}"].bone.head_local - control.bone.head_local
            away = Vector(random.uniform(-0.1, 0.1, 3)) + 0.25 * inwards
            control.location = control.bone.matrix_local.to_3x3().inverted() @ away
            control.rotation_quaternion = Quaternion(random.normal(size=3), random.uniform(-0.5, 0.5))
            control.keyframe_insert("location", frame=frame)
            control.keyframe_insert("rotation_quaternion", frame=frame)
    for to in ("FK", "IK"):
        if to == "IK":
            bend_fk(rig, keys)
        before = frames_shown(rig, keys)
        out = transfer(rig, to, 1, LAST)
        assert {each.tip for each in out.limbs} == {f"{CHAINS[end][-1]}.{side}" for end, side in LIMBS}
        after = frames_shown(rig, keys)
        for key, frame in before.items():
            assert (frame.translation - after[key].translation).length < 1e-4, (to, key)
            if to == "FK" or any(end in key[1] for end in CHAINS):  # a pole cannot twist upper arms about themselves
                turned = rotation_angle(frame.to_quaternion(), after[key].to_quaternion())
                assert turned < np.radians(0.1), (to, key)
        for end, side in LIMBS:
            switched = [c for c in curves_of(rig) if f"{PARENTS[end]}.{side}" in c.data_path and "IK_FK" in c.data_path]
            assert [curve.evaluate(5) for curve in switched] == [1.0 if to == "FK" else 0.0]
