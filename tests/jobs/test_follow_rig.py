# SPDX-License-Identifier: GPL-3.0-or-later
"""A body follows a character of other proportions: feet stay planted, hands still touch, nothing pops."""

import itertools

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.errors import AnimationError, ChainError, RigError, SettingError, TargetError
from ik_triangulation.jobs.bake import bake_body, delete_generated
from ik_triangulation.jobs.follow_rig import _has_ik, follow_rig
from ik_triangulation.jobs.removal import remove_everything
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.retargeting import HIPS, Figure

from ..bodies import human_rig, walking_body
from ..characters import character, part_of
from ..ik_rigs import ik_arm
from ..rigs import all_keys, chain_rig, nothing_lost

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")
LAST = 36


def seen(rig, last=LAST):
    """The figure of a rig, and where its parts are at all frames, as Blender shows them."""
    figure, found = Figure(rig), []
    for frame in range(1, last + 1):
        bpy.context.scene.frame_set(frame)
        found.append(figure.see(bpy.context.evaluated_depsgraph_get()))
    return figure, found


def balls(figure, shown, end):
    return np.array([each[end].carries(figure.point(end)) for each in shown])


def gaps(figure, shown):
    left, right = (balls(figure, shown, end) for end in ("hand.L", "hand.R"))
    return np.linalg.norm(left - right, axis=1)


def jerks(shown):
    """How much the turn of each part changes from frame to frame, at most [rad]."""
    names = ("shoulder.L", "shoulder.R", "thigh.L", "thigh.R", "foot.L", "hand.L", "chest")
    turns = [[a[n].turn.rotation_difference(b[n].turn).angle for a, b in itertools.pairwise(shown)] for n in names]
    return float(np.abs(np.diff(turns, axis=1)).max())


def walker(last=LAST):
    source = walking_body(last)
    bpy.context.scene.frame_end = last
    return source


def other(kind="Mixamo", size=1.3, arms=0.8):
    """Another character, beside the source and turned."""
    rig = character(kind, "Other", size, arms)
    rig.matrix_world = Matrix.Translation((2.0, 1.0, 0.0)) @ Matrix.Rotation(0.6, 4, "Z") @ rig.matrix_world
    bpy.context.view_layer.objects.active = rig
    bpy.context.view_layer.update()
    return rig


def assert_walks_as(rig, source, contacts, scale):
    (figure, shown), (_theirs, their_shown) = seen(rig), seen(source)
    leg = figure.length("foot.L")
    assert len(contacts) >= 3
    for each in contacts:
        end = next(end for end in ("foot.L", "foot.R") if figure.bones[end] == each.tip)
        places = balls(figure, shown, end)[int(each.frame_start) - 1 : int(each.frame_end)]
        assert np.abs(places - places[0]).max() < 1e-3 * leg
        assert abs(places[0][2] - (figure.at_rest(end) + figure.point(end)).z) < 0.03 * leg
    own, other_way = (each[-1][HIPS].place - each[0][HIPS].place for each in (shown, their_shown))
    assert own.y == pytest.approx(scale * other_way.y, rel=0.02)
    assert jerks(shown) < 1.5 * jerks(their_shown) + 0.01


def test_one_press_and_bake_have_a_character_of_other_proportions_walk():
    source, rig = walker(), other()
    for ob in (source, rig):
        ob.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    kept = all_keys(source)
    assert bpy.ops.pose.ik_triangulation_follow_rig() == {"FINISHED"}
    result = follow_rig(rig, source, 1, LAST)  # once more: the targets before are replaced
    assert bpy.ops.pose.ik_triangulation_bake_all() == {"FINISHED"}
    assert all_keys(source) == kept
    assert len([ob for ob in bpy.data.objects if ob.name.startswith(result.tips[0])]) == 1
    assert_walks_as(rig, source, result.contacts, result.scale)


def test_a_recording_whose_rest_pose_is_below_its_floor_is_taken_from_there():
    source = walker()
    up = source.pose.bones["spine"].bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, 1.0))
    curves = [c for c in all_curves(source) if c.data_path == 'pose.bones["spine"].location']
    for curve in curves:
        for key in curve.keyframe_points:
            key.co.y += up[curve.array_index]
    rig = other("Unreal", 0.8, 1.0)
    result = follow_rig(rig, source, 1, LAST)
    report = bake_body(body_of(rig, result.tips[0]), 1, LAST)
    assert report.reached
    assert_walks_as(rig, source, result.contacts, result.scale)


def all_curves(ob):
    action, slot = ob.animation_data.action, ob.animation_data.action_slot
    return action.layers[0].strips[0].channelbag(slot).fcurves


def clapping(last=12):
    """A character whose palms come together before its chest."""
    source = character("CMU", "Source")
    made = set_up_body(source)
    for tip in made.reach:
        target = source.pose.bones[tip].ik_triangulation.target
        side, start = 1.0 if "Left" in tip else -1.0, target.location.copy()
        for frame, place in ((1, start), (last, Vector((0.0, -0.45, 1.25)) + Vector((side * 0.02, 0.0, 0.0)))):
            target.location = place
            target.keyframe_insert("location", frame=frame)
    bake_body(body_of(source, made.reach[0]), 1, last)
    return source


@pytest.mark.parametrize(
    ("kind", "size", "arms"), [("Mixamo", 1.3, 0.8), pytest.param("VRoid", 0.7, 1.1, marks=pytest.mark.long)]
)
def test_hands_that_touch_in_the_source_touch(kind, size, arms):
    last = 12
    source, rig = clapping(last), other(kind, size, arms)
    result = follow_rig(rig, source, 1, last)
    report = bake_body(body_of(rig, result.tips[0]), 1, last)
    assert report.reached
    own, theirs = (gaps(*seen(each, last)) for each in (rig, source))
    ratio = np.divide(*(Figure(each).length("hand.L") for each in (rig, source)))
    assert theirs[-1] < 0.2
    assert own[-1] == pytest.approx(theirs[-1] * ratio, abs=0.01)


def limbs_off(rig, source, last):
    """How far limbs point away from the source's, at the median [degrees]."""
    (_own, shown), (_theirs, their_shown) = seen(rig, last), seen(source, last)
    off = []
    for upper, lower, end in (("shoulder", "forearm", "hand"), ("thigh", "shin", "foot")):
        for one, other in ((upper, lower), (lower, end)):
            for side, (a, b) in itertools.product("LR", zip(shown, their_shown, strict=True)):
                ways = [each[f"{other}.{side}"].place - each[f"{one}.{side}"].place for each in (a, b)]
                off.append(np.degrees(ways[0].angle(ways[1])))
    return float(np.median(off))


def test_limbs_point_where_those_of_the_source_do_also_when_baked_again():
    last = 12
    source, rig = clapping(last), other("VRoid", 0.7, 1.1)
    tip = follow_rig(rig, source, 1, last).tips[0]
    assert limbs_off(rig, source, last) < 0.1
    bake_body(body_of(rig, tip), 1, last)
    assert (off := limbs_off(rig, source, last)) < 3.0
    bake_body(body_of(rig, tip), 1, last)
    assert limbs_off(rig, source, last) == pytest.approx(off, abs=0.1)


def test_keys_of_the_follower_come_back_when_generated_ones_are_deleted():
    source, rig = walker(12), other()
    bone = part_of(rig, "Mixamo", "forearm")
    for frame, angle in ((1, 0.0), (9, 0.5), (40, 0.2)):
        bone.rotation_quaternion = (1.0, angle, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    before = all_keys(rig)
    tip = follow_rig(rig, source, 1, 12).tips[0]
    bake_body(body_of(rig, tip), 1, 12)
    assert all_keys(rig) != before
    delete_generated(rig, rig.pose.bones.keys())
    assert all_keys(rig) == before


def test_removing_everything_leaves_neither_targets_nor_keys():
    source, rig = walker(12), other()
    with nothing_lost():
        before = {ob.name for ob in bpy.data.objects}, all_keys(rig)
        follow_rig(rig, source, 1, 12)
        bake_body(body_of(rig, Figure(rig).bones["hand.L"]), 1, 12)
        remove_everything(rig)
        assert ({ob.name for ob in bpy.data.objects}, all_keys(rig)) == before


def test_a_job_that_is_stopped_leaves_nothing():
    source, rig = walker(12), other()
    with nothing_lost():
        before = {ob.name for ob in bpy.data.objects}
        job = follow_rig.steps(rig, source, 1, 12)
        next(job)
        job.close()
        assert {ob.name for ob in bpy.data.objects} == before


def test_what_cannot_be_followed_is_refused_in_words():
    rig = human_rig()
    still, empty, chain = human_rig("Still"), bpy.data.objects.new("Empty", None), chain_rig(3)
    bone = chain.pose.bones[0]
    bone.keyframe_insert("location", frame=1)
    for source, error, words in (
        (rig, TargetError, "cannot follow itself"),
        (empty, TargetError, "no armature"),
        (still, AnimationError, "is not animated"),
        (chain, ChainError, "no two arms"),
    ):
        with nothing_lost(), pytest.raises(error, match=words):
            follow_rig(rig, source, 1, 12)
    walks = walker(12)
    with nothing_lost(), pytest.raises(SettingError, match="Choose one of FK, IK"):
        follow_rig(rig, walks, 1, 12, keys_on="BOTH")
    with nothing_lost(), pytest.raises(RigError, match="no limb with IK controls"):
        follow_rig(rig, walks, 1, 12, keys_on="IK")
    bpy.context.view_layer.objects.active = rig
    for ob in bpy.context.selected_objects:
        ob.select_set(False)
    rig.select_set(True)
    with pytest.raises(RuntimeError, match="Select one other armature"):
        bpy.ops.pose.ik_triangulation_follow_rig()


def test_only_the_limits_that_somebody_gave_hold_a_character_that_follows():
    source, rig = walker(12), other()
    set_up_body(rig)
    knee, hand = (part_of(rig, "Mixamo", part).ik_triangulation_joint for part in ("shin", "hand"))
    assert (knee.kind, hand.kind) == ("EULER", "EULER")
    knee.kind, knee.upper = "HINGE", 1.0
    follow_rig(rig, source, 1, 12)
    knee, hand = (part_of(rig, "Mixamo", part).ik_triangulation_joint for part in ("shin", "hand"))
    assert (knee.kind, knee.upper) == ("HINGE", 1.0)
    assert hand.kind == "FREE"
    assert hand.stiffness > 0.0


def test_switches_are_set_only_for_a_character_with_ik_controls():
    assert _has_ik(ik_arm()) is True
    assert _has_ik(human_rig()) is False
