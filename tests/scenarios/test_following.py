# SPDX-License-Identifier: GPL-3.0-or-later
"""A generated Rigify rig: the deform bones say whether a limb is reached, and + takes the FK controls."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.errors import AnimationError
from ik_triangulation.jobs.bake import bake, bake_limbs, rebake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.reach import reach
from ik_triangulation.jobs.removal import remove_limb
from ik_triangulation.jobs.setup import add_limbs
from ik_triangulation.jobs.shots.controls import let_follow
from ik_triangulation.rig.anatomy.limbs import Anatomy
from ik_triangulation.rig.controls import Controls
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.units import in_units_of
from ik_triangulation.ui.last_result import latest

from ..rigs import all_keys, curves_of, evaluated_tip, nothing_lost, place, select

LAST = 8
CHAINS = {"hand": ("upper_arm_fk", "forearm_fk", "hand_fk"), "foot": ("thigh_fk", "shin_fk", "foot_fk")}
PARENTS = {"hand": "upper_arm_parent", "foot": "thigh_parent"}
LIMBS = [(end, side) for end in CHAINS for side in "LR"]
# An arm on one side and a leg on the other; all four with --long.
in_short = [("hand", "L"), ("foot", "R")]
each_limb = pytest.mark.parametrize(
    ("end", "side"), [each if each in in_short else pytest.param(*each, marks=pytest.mark.long) for each in LIMBS]
)


@pytest.fixture
def rig(rigify_file, addon):
    """The basic rig in Pose Mode, active."""
    return opened(rigify_file("basic"))


def opened(file):
    bpy.ops.wm.open_mainfile(filepath=str(file))
    rig = bpy.data.objects["rig"]
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    return rig


def limb(rig, end, side, **settings):
    """An arm or leg with a target that moves well within its reach, away from where the IK controls hold the limb."""
    chain = [f"{name}.{side}" for name in CHAINS[end]]
    tip, root = rig.pose.bones[chain[-1]].tail, rig.pose.bones[chain[0]].head
    target = place(bpy.data.objects.new(f"Target {chain[-1]}", None))
    for frame, share in ((1, 0.25), (LAST, 0.4)):
        target.location = tip.lerp(root, share) + Vector((0.0, -0.12, 0.05))
        target.keyframe_insert("location", frame=frame)
    return Limb.from_bones(rig, chain, target, **settings)


def switch(rig, end, side):
    return rig.pose.bones[f"{PARENTS[end]}.{side}"]


def shown(rig, bone, target):
    """How far the tail of a bone is from a target now."""
    return (evaluated_tip(rig, bone) - target.matrix_world.translation).length


@each_limb
def test_a_deform_bone_that_follows_the_ik_controls_is_not_reached(rig, end, side):
    arm = limb(rig, end, side)
    report = bake(arm, 1, LAST)
    assert report.reached == 0
    [note] = report.not_following
    assert (note.bone, note.tip, note.frames) == (f"DEF-{end}.{side}", f"{end}_fk.{side}", LAST)
    assert note.remedy == (f"{PARENTS[end]}.{side}", "IK_FK", 0.0, 1.0)
    assert note.text(in_units_of(bpy.context.scene)) in report.warnings
    assert f"'IK_FK' of '{PARENTS[end]}.{side}' is 0. Set it to 1." in note.text()
    bpy.context.scene.frame_set(int(report.worst.frame))
    assert report.worst.error == pytest.approx(shown(rig, note.bone, arm.target), abs=1e-4)
    assert report.worst.error > 0.1
    assert report.to_dict()["not_following"][0]["remedy"]["name"] == "IK_FK"


@each_limb
def test_a_deform_bone_that_follows_the_fk_controls_is_reached(rig, end, side):
    switch(rig, end, side)["IK_FK"] = 1.0
    arm = limb(rig, end, side)
    report = bake(arm, 1, LAST)
    assert report.all_reached
    assert not report.warnings
    for frame in (1, 5, LAST):
        bpy.context.scene.frame_set(frame)
        assert shown(rig, f"DEF-{end}.{side}", arm.target) < 1.1e-3


@each_limb
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_solving_one_pose_tells_the_same(rig, end, side, value):
    switch(rig, end, side)["IK_FK"] = value
    arm = limb(rig, end, side)
    bpy.context.view_layer.update()
    report = solve_pose(arm)
    assert report.all_reached == bool(value)
    assert len(report.not_following) == len(report.warnings) == (0 if value else 1)
    assert report.worst.error == pytest.approx(shown(rig, f"DEF-{end}.{side}", arm.target), abs=1e-4)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_reach_and_a_re_bake_tell_the_same(rig, value):
    switch(rig, "hand", "L")["IK_FK"] = value
    arm = limb(rig, "hand", "L")
    report = reach(arm, 1, 8, hold=4)
    assert report.reached == (5 if value else 0)
    assert not any("straight line" in warning for warning in report.warnings)
    bake(arm, 1, LAST)
    assert rebake(rig, "hand_fk.L").reached == (LAST if value else 0)


def test_of_several_limbs_each_is_told_for_itself(rig):
    switch(rig, "foot", "R")["IK_FK"] = 1.0
    reports = bake_limbs([limb(rig, "hand", "L"), limb(rig, "foot", "R")], 1, LAST)
    assert [report.reached for report in reports] == [0, LAST]


def test_where_the_switch_has_keys_frames_are_told_one_by_one(rig):
    bone = switch(rig, "hand", "L")
    for frame, value in ((1, 1.0), (5, 0.0)):
        bone["IK_FK"] = value
        bone.keyframe_insert('["IK_FK"]', frame=frame)
    for curve in curves_of(rig):
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT"
    report = bake(limb(rig, "hand", "L"), 1, LAST)
    assert [result.reached for result in report.frames] == [True] * 4 + [False] * (LAST - 4)
    [note] = report.not_following
    assert note.frames == LAST - 4
    assert note.remedy == ("upper_arm_parent.L", "IK_FK", 0.0, 1.0)


@each_limb
def test_the_switch_is_set_and_keyed_by_a_button(rig, end, side):
    arm, name = limb(rig, end, side), f"{end}_fk.{side}"
    select(rig, name)
    bone = rig.pose.bones[name]
    bone.ik_triangulation.target, bone.ik_triangulation.chain_count = arm.target, len(arm.bones)
    assert not bpy.ops.pose.ik_triangulation_follow_set.poll()
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST)
    result = latest(rig, name)
    assert not result.reached
    assert result.switches == ["IK_FK"]
    assert any("does not follow" in line for line in result.lines)
    assert bpy.ops.pose.ik_triangulation_follow_set() == {"FINISHED"}
    result = latest(rig, name)
    assert result.reached
    assert result.lines[0] == f"Reached {LAST} of {LAST} frames"
    assert not bpy.ops.pose.ik_triangulation_follow_set.poll()
    assert switch(rig, end, side)["IK_FK"] == 1.0
    [curve] = [curve for curve in curves_of(rig) if "IK_FK" in curve.data_path]
    assert [(*key.co, key.interpolation) for key in curve.keyframe_points] == [(1.0, 1.0, "CONSTANT")]
    for frame in (1, LAST):
        bpy.context.scene.frame_set(frame)
        assert shown(rig, f"DEF-{end}.{side}", arm.target) < 1.1e-3


def test_a_solved_pose_has_the_switch_set_without_a_key(rig):
    arm = limb(rig, "hand", "L")
    select(rig, "hand_fk.L")
    bone = rig.pose.bones["hand_fk.L"]
    bone.ik_triangulation.target, bone.ik_triangulation.chain_count = arm.target, len(arm.bones)
    bpy.ops.pose.ik_triangulation_solve()
    assert bpy.ops.pose.ik_triangulation_follow_set() == {"FINISHED"}
    assert latest(rig, "hand_fk.L").reached
    assert not curves_of(rig)
    assert shown(rig, "DEF-hand.L", arm.target) < 1.1e-3


def test_what_the_switch_shows_outside_of_the_range_stays(rig):
    bone, scene = switch(rig, "hand", "L"), bpy.context.scene
    for frame, value in ((-5, 0.25), (1, 0.5), (4, 0.0), (40, 0.75)):
        bone["IK_FK"] = value
        bone.keyframe_insert('["IK_FK"]', frame=frame)
    for curve in curves_of(rig):
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT"

    def values(frames):
        found = []
        for frame in frames:
            scene.frame_set(frame)
            found.append(bone["IK_FK"])
        return found

    arm = limb(rig, "hand", "L")
    bake(arm, 1, LAST)
    outside = [-6, -5, 0, LAST + 1, 30, 40, 50]
    before = values(outside)
    [remedy] = let_follow(arm, 1, LAST)
    assert remedy.value == 1.0
    assert values(outside) == before
    assert values(range(1, LAST + 1)) == [1.0] * LAST
    assert let_follow(arm, 1, LAST) == []


def test_a_switch_whose_curve_is_locked_is_told_and_nothing_changes(rig):
    bone = switch(rig, "hand", "L")
    bone.keyframe_insert('["IK_FK"]', frame=1)
    curves_of(rig)[0].lock = True
    arm = limb(rig, "hand", "L")
    bake(arm, 1, LAST)
    before = all_keys(rig)
    with nothing_lost(), pytest.raises(AnimationError, match=r"'IK_FK' of 'upper_arm_parent\.L' is locked"):
        let_follow(arm, 1, LAST)
    assert all_keys(rig) == before
    assert bone["IK_FK"] == 0.0


def test_telling_leaves_the_switch_and_its_keys_as_they_are(rig):
    bone = switch(rig, "hand", "L")
    bone.keyframe_insert('["IK_FK"]', frame=3)
    arm = limb(rig, "hand", "L")
    before = all_keys(rig)
    bake(arm, 1, LAST)
    after = all_keys(rig)
    assert {place: after[place] for place in before} == before
    assert bone["IK_FK"] == 0.0
    assert not any(curve.mute for curve in curves_of(rig))


CHOSEN = {
    "hand": ("hand_ik", "DEF-hand", "ORG-hand", "MCH-hand_tweak", "hand_tweak", "MCH-upper_arm_ik_target", "hand_fk"),
    "foot": ("foot_ik", "DEF-foot", "ORG-foot", "MCH-thigh_ik_target", "foot_heel_ik", "foot_tweak", "foot_fk"),
}


@pytest.mark.parametrize(
    ("end", "side", "value"),
    [
        (*limb, value)
        if (*limb, value) in {("hand", "L", 0.0), ("foot", "R", 1.0)}
        else pytest.param(*limb, value, marks=pytest.mark.long)
        for limb in LIMBS
        for value in (0.0, 1.0)
    ],
)
def test_whatever_bone_of_an_arm_or_a_leg_is_chosen_its_fk_controls_become_the_limb(rig, end, side, value, capfd, long):
    switch(rig, end, side)["IK_FK"] = value
    made = None
    for name in CHOSEN[end] if long else CHOSEN[end][::2]:
        if made is not None:
            assert bpy.ops.pose.ik_triangulation_limb_remove() == {"FINISHED"}
        select(rig, f"{name}.{side}")
        assert bpy.ops.pose.ik_triangulation_limb_add() == {"FINISHED"}
        tip = rig.data.bones.active.name
        assert tip == f"{end}_fk.{side}", name
        assert (f"'{tip}' used instead of" in capfd.readouterr().out) == (name != f"{end}_fk"), name
        made = Limb.of(rig.pose.bones[tip])
        assert [bone for bone in made.bones if "MCH" not in bone] == [f"{bone}.{side}" for bone in CHAINS[end]], name
    made.target.location += (rig.pose.bones[made.bones[0]].head - made.target.location) * 0.3
    bpy.context.view_layer.update()
    assert solve_pose(made).all_reached == bool(value)


# The tip and the bones that turn, of what else can be chosen.
OTHERS = {
    "DEF-toe.L": ("foot_fk.L", ["thigh_fk.L", "shin_fk.L", "foot_fk.L"]),
    "toe_ik.R": ("foot_fk.R", ["thigh_fk.R", "shin_fk.R", "foot_fk.R"]),
    "DEF-thigh.R": ("foot_fk.R", ["thigh_fk.R", "shin_fk.R", "foot_fk.R"]),
    "upper_arm_parent.L": ("hand_fk.L", ["upper_arm_fk.L", "forearm_fk.L", "hand_fk.L"]),
    "DEF-f_index.03.L": ("f_index.03.L", ["f_index.01.L", "f_index.02.L", "f_index.03.L"]),
    "f_index.01_master.R": ("f_index.03.R", ["f_index.01.R", "f_index.02.R", "f_index.03.R"]),
    "ORG-f_index.01.R": ("hand_fk.R", ["upper_arm_fk.R", "forearm_fk.R", "hand_fk.R"]),
    "upper_arm_ik_target.L": ("hand_fk.L", ["upper_arm_fk.L", "forearm_fk.L", "hand_fk.L"]),
    "palm.L": ("hand_fk.L", ["upper_arm_fk.L", "forearm_fk.L", "hand_fk.L"]),
    "DEF-spine.006": ("head", ["neck", "head"]),
    "neck": ("head", ["neck", "head"]),
    "DEF-shoulder.L": ("hand_fk.L", ["upper_arm_fk.L", "forearm_fk.L", "hand_fk.L"]),
    "DEF-spine.001": ("spine_fk.003", ["spine_fk.002", "spine_fk.003"]),
    "torso": ("spine_fk.003", ["spine_fk.002", "spine_fk.003"]),
    "breast.L": ("breast.L", ["breast.L"]),
}


def test_other_bones_become_the_limbs_that_they_belong_to(addon, rigify_file):
    rig = opened(rigify_file("whole"))
    for name, (tip, turning) in OTHERS.items():
        assert add_limbs(rig, [name]) == [tip], name
        bones = Limb.of(rig.pose.bones[tip]).bones
        assert [bone for bone in bones if not all(rig.pose.bones[bone].lock_rotation)] == turning, name
        remove_limb(rig, tip)


# Of bones with these words in their names, the tip of the limb that an animator expects; the first that fits.
EXPECTED = {
    "f_index.03 f_index.01_master f_index.01.L.001 f_index.01.R.001": "f_index.03",
    "thumb.03 thumb.01_master thumb.01.L.001 thumb.01.R.001": "thumb.03",
    "f_middle.03 f_middle.01_master f_middle.01.L.001 f_middle.01.R.001": "f_middle.03",
    "f_ring.03 f_ring.01_master f_ring.01.L.001 f_ring.01.R.001": "f_ring.03",
    "f_pinky.03 f_pinky.01_master f_pinky.01.L.001 f_pinky.01.R.001": "f_pinky.03",
    "shoulder arm hand palm thumb f_": "hand_fk",
    "thigh shin foot toe heel": "foot_fk",
    "hips torso chest spine_fk spine.001 spine.002 spine.003": "spine_fk.003",
    "spine.004 spine.005 spine.006": "head",
}


def test_every_bone_of_body_and_limbs_stands_for_the_limb_that_an_animator_expects(addon, rigify_file, long):
    rig = opened(rigify_file("whole"))
    anatomy = Anatomy(rig, Controls(rig))
    told = [bone.name for bone in rig.data.bones if not bone.name.startswith("MCH-") and "forehead" not in bone.name]
    expected = {name: tip for name in told if (tip := expected_tip(name))}
    assert len(expected) > (200 if long else 140)  # of the short form's rig, most fingers are left out
    limbs = {}
    for name, tip in expected.items():
        limbs.setdefault(tip, []).append(name)
    chosen = [name for names in limbs.values() for name in names[:: 1 if long else 4]]
    tips = {name: (limb := anatomy.limb_with(name)) and limb.bones[-1] for name in chosen}
    wrong = {name for name in chosen if tips[name] != expected[name]}
    assert not wrong


def expected_tip(name):
    if name in {"neck", "head"}:
        return "head"
    tip = next((tip for words, tip in EXPECTED.items() if any(word in name for word in words.split())), None)
    side = next((side for side in (".L", ".R") if side in name), "")
    return tip and tip + side


def test_deform_bones_that_are_chosen_together_become_one_limb(rig):
    assert add_limbs(rig, ["DEF-upper_arm.L", "DEF-forearm.L", "DEF-hand.L"]) == ["hand_fk.L"]
    assert Limb.of(rig.pose.bones["hand_fk.L"]).bones[0] == "upper_arm_fk.L"


def test_both_hands_become_two_limbs(rig):
    assert add_limbs(rig, ["hand_ik.L", "hand_ik.R"]) == ["hand_fk.L", "hand_fk.R"]
