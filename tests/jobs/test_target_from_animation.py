# SPDX-License-Identifier: GPL-3.0-or-later
"""Target from Animation: the target goes where the animated tip is, and a bake with nothing edited changes nothing."""

from math import cos, degrees, pi
from random import Random

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import AnimationError, SettingError, TargetError
from ik_triangulation.jobs.bake import bake_body, bake_limbs
from ik_triangulation.jobs.setup import add_limbs, set_up_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.jobs.targets import target_from_animation
from ik_triangulation.rig.freedom import freedom_of
from ik_triangulation.rig.limb import Limb

from ..bodies import human_rig
from ..modes import every_mode
from ..rigs import (
    all_keys,
    chain_rig,
    configure,
    curves_of,
    empty,
    evaluated_tip,
    nothing_lost,
    place,
    random_rotation,
    rotate,
    rotation_property,
)

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")

LAST, KEYS = 25, (1, 7, 13, 19, 25)


def animate(rig, bones, seed=1, share=0.25):
    """Key each of the bones a little away from rest at KEYS, inside its limits."""
    random = Random(seed)
    for name in bones:
        bone = rig.pose.bones[name]
        freedom = freedom_of(bone)
        for frame in KEYS:
            away = Quaternion().slerp(random_rotation(random), share)
            away = freedom.nearest(away) if freedom.moves else Quaternion()
            rotate(bone, away if away.w > 0.0 else -away)  # the short way from key to key
            bone.keyframe_insert(rotation_property(bone), frame=frame)


def shown(rig, bones, frames):
    """Rotations of the bones in armature space."""
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found[frame] = [rig.pose.bones[name].matrix.to_quaternion() for name in bones]
    return found


def apart(one, other):
    """The greatest angle between rotations at the same frames [degrees]."""
    return max(
        degrees(a.rotation_difference(b).angle) for frame in one for a, b in zip(one[frame], other[frame], strict=True)
    )


def arrows(name="Target"):
    target = empty(name)
    target.empty_display_type = "ARROWS"
    return target


def limb_of(rig, tip="Bone 2", target=None, **settings):
    configure(rig, tip, target=target or arrows(), **({"chain_count": 0} | settings))
    return Limb.of(rig.pose.bones[tip])


def test_the_target_is_where_the_tip_is_and_turned_as_it_is_on_every_frame():
    rig = chain_rig(3)
    animate(rig, [bone.name for bone in rig.pose.bones])
    target = arrows()
    (keyed,) = target_from_animation([limb_of(rig, target=target)], 1, LAST)
    assert keyed == ("Bone 2", "Target", LAST)
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        assert (target.matrix_world.translation - evaluated_tip(rig, "Bone 2")).length < 1e-5
        turned = (rig.matrix_world @ rig.pose.bones["Bone 2"].matrix).to_quaternion()
        assert target.matrix_world.to_quaternion().rotation_difference(turned).angle < 1e-4


@every_mode
def test_a_bake_with_nothing_edited_gives_back_the_animation(mode):
    rig = chain_rig(3, mode=mode)
    bones = [bone.name for bone in rig.pose.bones]
    animate(rig, bones)
    before = shown(rig, bones, range(1, LAST + 1))
    limb = limb_of(rig)
    target_from_animation([limb], 1, LAST)
    (report,) = bake_limbs([limb], 1, LAST)
    assert len(report.missed) == 0
    assert apart(before, shown(rig, bones, range(1, LAST + 1))) < 0.1


def test_several_limbs_of_a_character_are_followed_at_once_and_come_back_as_they_were():
    rig = human_rig()
    bpy.context.view_layer.objects.active = rig
    tips = add_limbs(rig, ["hand.L", "hand.R", "foot.L"])
    limbs = [Limb.of(rig.pose.bones[tip]) for tip in tips]
    bones = sorted({name for limb in limbs for name in limb.in_order})
    animate(rig, bones, seed=4, share=0.1)
    before = shown(rig, bones, KEYS)
    assert [keyed.frames for keyed in target_from_animation(limbs, 1, LAST)] == [LAST] * 3
    bake_limbs(limbs, 1, LAST)
    assert apart(before, shown(rig, bones, KEYS)) < 0.1


def run_and_turn(rig, seed, keys=KEYS):
    """Key all bones of a body, and the way of its hips, as of somebody who runs: far out of balance."""
    random, hips = Random(seed), rig.pose.bones["spine"]
    animate(rig, [bone.name for bone in rig.pose.bones], seed=seed, share=0.12)
    for frame in keys:
        hips.location = [random.uniform(-0.2, 0.2) for _ in range(3)]
        hips.keyframe_insert("location", frame=frame)


def every_bone(rig, frames):
    return shown(rig, [bone.name for bone in rig.pose.bones], frames)


@pytest.mark.parametrize("balance", [True, False])
def test_a_whole_body_with_held_feet_and_a_head_that_looks_comes_back_as_it_was(balance):
    rig = human_rig(with_head=True)
    made = set_up_body(rig)
    rig.ik_triangulation.balance = balance
    run_and_turn(rig, seed=3)
    before = every_bone(rig, range(1, LAST + 1))
    keyed = target_from_animation(body_of(rig, "hand.L").limbs, 1, LAST)
    assert {each.tip for each in keyed} == {*made.reach, *made.looking}
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert report.reached
    assert apart(before, every_bone(rig, range(1, LAST + 1))) < 0.1


@pytest.mark.parametrize("whole", [True, False], ids=["body", "limb"])
def test_keyed_and_baked_only_at_the_keys_every_joint_is_as_it_was_there(whole):
    rig = human_rig(with_head=True) if whole else chain_rig(5)
    limb = None if whole else limb_of(rig, "Bone 4")
    if whole:
        set_up_body(rig)
        run_and_turn(rig, seed=4)
    else:
        animate(rig, limb.bones, seed=4)
    for bone in rig.pose.bones:
        bone.ik_triangulation.only_target_keys = True
    before = every_bone(rig, KEYS)
    limbs = body_of(rig, "hand.L").limbs if whole else [limb]
    assert {each.frames for each in target_from_animation(limbs, 1, LAST, only_keys=True)} == {len(KEYS)}
    if whole:
        assert list(bake_body(body_of(rig, "hand.L"), 1, LAST).frames) == list(KEYS)
    else:
        bake_limbs([Limb.of(rig.pose.bones["Bone 4"])], 1, LAST)
    assert apart(before, every_bone(rig, KEYS)) < 0.1


def test_the_target_of_a_body_has_the_keys_of_all_its_bones():
    rig = human_rig()
    set_up_body(rig)
    animate(rig, ["upper_arm.L"])
    thigh = rig.pose.bones["thigh.L"]
    thigh.keyframe_insert("rotation_quaternion", frame=10)
    limbs = body_of(rig, "hand.L").limbs
    assert {each.frames for each in target_from_animation(limbs, 1, LAST, only_keys=True)} == {len(KEYS) + 1}


def test_an_edit_of_one_hand_leaves_the_rest_of_the_shot():
    rig = human_rig(with_head=True)
    set_up_body(rig)
    run_and_turn(rig, seed=5)
    before = every_bone(rig, range(1, LAST + 1))
    target_from_animation(body_of(rig, "hand.L").limbs, 1, LAST)
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    for curve in curves_of(target):
        if curve.data_path == "location":
            for key in curve.keyframe_points[18:]:
                key.co.y += 0.1
    report = bake_body(body_of(rig, "hand.L"), 1, LAST)
    assert len(report.tips["hand.L"].missed) <= 2  # in frames of the edit it is turned off by two degrees
    others = [tip for name, tip in report.tips.items() if name != "hand.L"]
    assert not any(tip.missed and not tip.turned_only for tip in others)  # the other arm would leap for its hand's turn
    after = every_bone(rig, range(1, LAST + 1))
    assert apart({frame: before[frame] for frame in range(1, 9)}, after) < 0.5  # the trunk begins earlier, calmly


@pytest.mark.parametrize(("orientation", "eased"), [("AUTO", 1), ("NONE", 12)])
def test_a_nearly_straight_arm_stays_as_it_was_before_and_after_an_edit(orientation, eased):
    rig = human_rig()
    bones, middle, width = ("upper_arm.L", "forearm.L", "hand.L"), 31.0, 8.0
    for name, angles in zip(bones, ((0.0, 1.0, 0.2), (0.1, 0.3, 1.2), (0.0, 0.4, -0.3)), strict=True):
        for frame, angle in zip((1, 31, 61), angles, strict=True):
            rotate(rig.pose.bones[name], Quaternion((0.0, 0.0, 1.0), angle))
            rig.pose.bones[name].keyframe_insert(rotation_property(rig.pose.bones[name]), frame=frame)
    target = arrows()
    limb = limb_of(rig, "hand.L", target, chain_count=3, orientation=orientation)
    before = shown(rig, bones, range(1, 62))
    target_from_animation([limb], 1, 61)
    for curve in curves_of(target):
        if (curve.data_path, curve.array_index) == ("location", 2):
            for key in curve.keyframe_points:
                key.co.y += 0.05 * (1.0 + cos(pi * min(1.0, abs(key.co.x - middle) / width)))
            curve.update()
    (report,) = bake_limbs([limb], 1, 61)
    assert not report.missed
    assert not report.warnings
    after = shown(rig, bones, range(1, 62))
    assert apart({31: before[31]}, after) > 10.0
    assert apart({frame: before[frame] for frame in before if abs(frame - middle) > width + eased}, after) < 0.1


def test_with_only_keys_the_target_has_the_keys_of_the_limb():
    rig = chain_rig(3)
    animate(rig, ["Bone 0", "Bone 2"])
    target = arrows()
    (keyed,) = target_from_animation([limb_of(rig, target=target)], 1, LAST, only_keys=True)
    assert keyed.frames == len(KEYS)
    frames = {tuple(key[0][0] for key in keys) for keys in all_keys(target).values()}
    assert all(len(each) == len(KEYS) for each in all_keys(target).values()), frames


def test_the_offset_the_parent_the_scale_and_the_deltas_of_a_target_are_counted_in():
    rig = chain_rig(3)
    rig.matrix_world = Matrix.Translation((1.0, 2.0, -0.5)) @ Matrix.Rotation(0.7, 4, "X") @ Matrix.Scale(1.7, 4)
    bones = [bone.name for bone in rig.pose.bones]
    animate(rig, bones)
    parent = place(bpy.data.objects.new("Parent", None))
    parent.matrix_world = Matrix.Translation((0.3, -0.2, 0.1)) @ Matrix.Rotation(0.5, 4, "Z") @ Matrix.Scale(0.6, 4)
    for frame, x in ((1, 0.0), (LAST, 2.0)):
        parent.location.x = x
        parent.keyframe_insert("location", frame=frame)
    target = arrows()
    target.parent, target.scale = parent, (2.0, 2.0, 2.0)
    target.delta_location, target.delta_rotation_euler = (0.1, 0.2, 0.3), (0.3, -0.2, 0.1)
    limb = limb_of(
        rig,
        target=target,
        use_offset=True,
        offset_location=(0.2, -0.1, 0.05),
        offset_rotation=Quaternion((0.0, 1.0, 0.0), 0.4),
    )
    before = shown(rig, bones, range(1, LAST + 1))
    target_from_animation([limb], 1, LAST)
    (report,) = bake_limbs([limb], 1, LAST)
    assert len(report.missed) == 0
    assert apart(before, shown(rig, bones, range(1, LAST + 1))) < 0.1


def test_a_bone_of_another_rig_can_be_the_target():
    rig = chain_rig(3)
    animate(rig, [bone.name for bone in rig.pose.bones])
    other = chain_rig(2, name="Other", gaps=(1,))
    other.location = (1.0, 0.0, 0.5)
    other.pose.bones["Bone 0"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 0.6)
    limb = limb_of(rig, target=other, subtarget="Bone 1")
    target_from_animation([limb], 1, LAST)
    for frame in KEYS:
        bpy.context.scene.frame_set(frame)
        head = other.matrix_world @ other.pose.bones["Bone 1"].head
        assert (head - evaluated_tip(rig, "Bone 2")).length < 1e-4


def test_a_single_arrow_points_along_the_tip():
    rig = chain_rig(3)
    bones = [bone.name for bone in rig.pose.bones]
    animate(rig, bones)
    target = empty()
    target.empty_display_type = "SINGLE_ARROW"
    before = shown(rig, bones, KEYS)
    limb = limb_of(rig, target=target)
    target_from_animation([limb], 1, LAST)
    bake_limbs([limb], 1, LAST)
    assert apart(before, shown(rig, bones, KEYS)) < 0.1


def test_what_cannot_be_keyed_is_named_and_nothing_is_lost():
    rig = chain_rig(3)
    animate(rig, ["Bone 0"])
    target = arrows()
    limb = limb_of(rig, target=target)
    target.lock_location[0] = True
    with nothing_lost(), pytest.raises(TargetError, match="locked channels"):
        target_from_animation([limb], 1, LAST)
    target.lock_location[0] = False
    with nothing_lost(), pytest.raises(AnimationError, match="no keys from frame 30"):
        target_from_animation([limb], 30, 40, only_keys=True)
    with nothing_lost(), pytest.raises(SettingError, match="no limb"):
        target_from_animation([], 1, LAST)
    holding = target.constraints.new("LIMIT_LOCATION")
    holding.use_max_x, holding.max_x = True, -5.0
    with nothing_lost(), pytest.raises(TargetError, match="Turn off its constraints"):
        target_from_animation([limb], 1, LAST)


def test_two_limbs_that_share_a_target_are_refused_by_name():
    rig = chain_rig(4)
    target = arrows()
    limbs = [limb_of(rig, tip, target, chain_count=2) for tip in ("Bone 1", "Bone 3")]
    with pytest.raises(TargetError, match=r"'Target' is the target of 'Bone 1' and 'Bone 3'"):
        target_from_animation(limbs, 1, LAST)


def test_keys_of_the_target_outside_the_range_stay_and_stopping_loses_nothing():
    rig = chain_rig(3)
    animate(rig, ["Bone 0", "Bone 1"])
    target = arrows()
    for frame in (-5, 3, 60):
        target.location = Vector((frame, 0.0, 1.0))
        target.keyframe_insert("location", frame=frame)
    limb = limb_of(rig, target=target)
    with nothing_lost():
        job = target_from_animation.steps([limb], 1, LAST)
        for _ in range(3):
            next(job)
        job.close()
    target_from_animation([limb], 1, LAST)
    times = [key[0] for key in next(iter(all_keys(target).values()))]
    assert len(times) == LAST + 2


@pytest.mark.parametrize("only_keys", [False, True])
def test_with_time_stretching_the_keys_are_where_the_timeline_shows_them(only_keys):
    rig = chain_rig(3)
    animate(rig, [bone.name for bone in rig.pose.bones])
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = 100, 200
    target = arrows()
    (keyed,) = target_from_animation([limb_of(rig, target=target)], 2, 50, only_keys=only_keys)
    assert keyed.frames == (len(KEYS) if only_keys else 49)
    for time in KEYS:
        bpy.context.scene.frame_set(2 * time)
        assert (target.matrix_world.translation - evaluated_tip(rig, "Bone 2")).length < 1e-5


def test_the_target_is_shown_as_keyed_and_what_was_posed_beside_it_stays():
    rig = chain_rig(3)
    animate(rig, ["Bone 0", "Bone 1"])
    target = arrows()
    target.keyframe_insert("scale", frame=1)
    bpy.context.scene.frame_set(13)
    target.scale = (3.0, 3.0, 3.0)
    target_from_animation([limb_of(rig, target=target)], 1, LAST)
    bpy.context.view_layer.update()
    assert target.scale[:] == (3.0, 3.0, 3.0)
    assert (target.matrix_world.translation - evaluated_tip(rig, "Bone 2")).length < 1e-5
