# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies are baked again as they were, with the keys set since, and with other bodies and limbs as one."""

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import AnimationError, ChainError
from ik_triangulation.jobs.bake import BodyBake, bake_bodies, bake_body, delete_generated, rebake_body
from ik_triangulation.jobs.shots.keys import BodyKeySettings, body_settings
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.timeline import layered_strips

from ..bodies import FEET, SMALL, human_rig, reaching_body, set_up_rig
from ..modes import in_turn
from ..rigs import all_keys, chain_rig, curves_of, empty, evaluated_tip, key_frames, nothing_lost, push_down

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 12


def feet(rig, frames=range(1, LAST + 1)):
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found += [evaluated_tip(rig, name) for name in FEET]
    return found


def correct(rig, name, frame, turn=0.2, prop="rotation_quaternion"):
    """Turn a bone by hand at a frame inside the bake, or move it, and key it there."""
    bpy.context.scene.frame_set(frame)
    bone = rig.pose.bones[name]
    if prop == "location":
        bone.location.x += turn
    else:
        bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((0, 0, 1), turn)
    bone.keyframe_insert(prop, frame=frame)
    path = bone.path_from_id(prop)
    for curve in (curve for curve in curves_of(rig) if curve.data_path == path):
        for key in curve.keyframe_points:  # Blender keeps the type of a key that is keyed anew
            key.type = "KEYFRAME" if key.co.x == frame else key.type
    return {(p, i): [key for key in keys if key[0][0] == frame] for (p, i), keys in all_keys(rig).items() if p == path}


@pytest.mark.parametrize(
    "settings",
    [{}, {"reduce": True, "within": {"foot.L": 0.01}}, {"interpolation": "BEZIER", "smoothing": 0.5}],
    ids=["defaults", "reduced", "other"],
)
def test_a_rebake_with_nothing_changed_writes_the_same_keys(settings):
    rig = human_rig()
    bake_body(reaching_body(rig, LAST, SMALL), 1, LAST, step=1, settings=BodyKeySettings(**settings))
    before = all_keys(rig)
    for frame in (1, 7, 40):
        bpy.context.scene.frame_set(frame)
        report = rebake_body(rig, "foot.L" if frame == 7 else "hand.L")
        assert all_keys(rig) == before
        assert not report.warnings
    delete_generated(rig, reaching_body(rig).bones)
    assert not all_keys(rig)


def test_the_recorded_body_counts_not_the_one_that_is_set_up_now():
    rig = set_up_rig(LAST, SMALL)
    bake_body(body_of(rig, "hand.L"), 2, 10, step=2)
    for name in FEET:
        rig.pose.bones[name].ik_triangulation.hold = False
    report = rebake_body(rig, "hand.R")
    assert [tip.held for tip in report.tips.values()] == [True, True, False, False]
    assert list(report.frames) == [2, 4, 6, 8, 10]


@pytest.mark.parametrize(("name", "prop"), [("upper_arm.L", "rotation_quaternion"), ("spine", "location")])
def test_keys_set_since_are_kept_and_the_feet_stay_where_they_were(name, prop):
    rig = human_rig()
    body = reaching_body(rig, LAST, SMALL)
    bake_body(body, 1, LAST)
    before = feet(rig)
    kept = correct(rig, name, 6, 0.1, prop)
    report = rebake_body(rig, "hand.L")
    assert "kept at 1 frame" in " ".join(report.warnings)
    now = all_keys(rig)
    for channel, keys in kept.items():
        assert [key for key in now[channel] if key[0][0] == 6] == keys
    others = [n for n in range(LAST) if n + 1 != 6]
    after = feet(rig)
    apart = [(after[2 * n + k] - before[2 * n + k]).length for n in others for k in (0, 1)]
    assert max(apart) < 1e-4


def test_a_leg_that_is_corrected_does_not_move_the_place_to_hold():
    rig = human_rig()
    bake_body(reaching_body(rig, LAST, SMALL), 1, LAST)
    before = feet(rig)
    correct(rig, "thigh.L", 6)
    rebake_body(rig, "hand.L")
    bake_body(reaching_body(rig, LAST, SMALL), 1, LAST)  # without keeping them
    assert max((a - b).length for a, b in zip(feet(rig), before, strict=True)) < 1e-4


def test_what_is_in_the_way_of_a_rebake_is_told():
    rig = human_rig()
    with nothing_lost(), pytest.raises(AnimationError, match=r"No bake of the body of 'hand\.L' is kept"):
        rebake_body(rig, "hand.L")
    body = reaching_body(rig, LAST, SMALL)
    bake_body(body, 1, LAST)
    text = rig.animation_data.action["ik_triangulation"]
    rig.animation_data.action["ik_triangulation"] = text.replace('"limbs"', '"lambs"')
    with nothing_lost(), pytest.raises(AnimationError, match="damaged"):
        rebake_body(rig, "hand.L")


@pytest.mark.parametrize("kind", ["NEW_ACTION", "NLA_TRACK"])
def test_a_body_is_baked_to_any_destination_and_the_old_animation_stays(kind):
    rig = human_rig()
    rig.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=3)
    old, before = rig.animation_data.action, all_keys(rig)
    if kind == "NLA_TRACK":
        push_down(rig)
    report = bake_body(reaching_body(rig, LAST, SMALL), 1, LAST, settings=BodyKeySettings(destination=kind))
    if kind == "NEW_ACTION":
        assert rig.animation_data.action != old
        rig.animation_data.action = old
        assert all_keys(rig) == before
    else:
        below, strip = layered_strips(rig)
        assert below.action == old
        assert (strip.frame_start, strip.frame_end) == (1, LAST)
    assert report.reached


@pytest.mark.parametrize(("bone", "prop"), [("spine", "location"), ("thigh.L", "rotation_quaternion")])
def test_an_action_that_would_hide_the_new_track_of_a_body_is_refused(bone, prop):
    rig = human_rig()
    rig.pose.bones[bone].keyframe_insert(prop, frame=3)
    body, settings = reaching_body(rig, LAST, SMALL), BodyKeySettings(destination="NLA_TRACK")
    with nothing_lost(), pytest.raises(AnimationError, match=f"keys '{bone}' as well and hides a new NLA track"):
        bake_body(body, 1, LAST, settings=settings)


@pytest.mark.parametrize(("kind", "parts"), in_turn(["ACTION", "NEW_ACTION", "NLA_TRACK"], [3, 8, 13]))
def test_a_bake_that_is_stopped_loses_nothing_wherever_it_writes(kind, parts):
    rig = human_rig()
    rig.pose.bones["spine"].keyframe_insert("location", frame=3)
    if kind == "NLA_TRACK":
        push_down(rig)
    job = bake_body.steps(
        reaching_body(rig, LAST, SMALL), 1, LAST, settings=BodyKeySettings(destination=kind, reduce=True)
    )
    with nothing_lost():
        for _ in range(parts):
            next(job, None)
        job.close()


def test_two_bodies_and_a_limb_are_baked_in_their_order_each_over_a_span_of_its_own():
    one, other = human_rig("One"), human_rig("Other")
    follower = chain_rig(3, "Follower")
    bodies = [reaching_body(one, LAST, SMALL), reaching_body(other, LAST, down=(-0.2, -0.3, -0.3))]
    ball = empty("Ball")
    ball.parent, ball.parent_type, ball.parent_bone = one, "BONE", "hand.L"
    follower.location = one.pose.bones["hand.L"].tail + Vector((0.5, 0.0, -1.0))
    bpy.context.view_layer.update()
    limb = Limb.from_tip(follower, follower.pose.bones[-1].name, ball)
    bakes = [BodyBake(bodies[0], (1, LAST, 1), BodyKeySettings()), BodyBake(bodies[1], (3, 9, 2), BodyKeySettings())]
    told = []
    reports, (last,) = bake_bodies(bakes, [limb], [(1, LAST, 1)], progress=lambda done, of: told.append(done))
    assert [list(report.frames) for report in reports] == [list(range(1, LAST + 1)), [3, 5, 7, 9]]
    assert {tuple(key_frames(curve)) for curve in curves_of(other)} == {(3.0, 5.0, 7.0, 9.0)}
    assert last.all_reached  # it follows a hand, which is baked before
    assert told


def test_if_one_of_them_fails_nothing_has_changed(monkeypatch):
    one, other = human_rig("One"), human_rig("Other")
    bodies = [reaching_body(rig, LAST, SMALL) for rig in (one, other)]
    other.pose.bones["shin.L"].keyframe_insert("rotation_quaternion", frame=3)
    curves_of(other)[0].lock = True
    bakes = [BodyBake(body, (1, LAST, 1), BodyKeySettings(mark_misses=True)) for body in bodies]
    with nothing_lost(), pytest.raises(AnimationError, match=r"'shin\.L' are locked"):
        bake_bodies(bakes)


def test_bodies_that_move_each_other_are_refused():
    one, other = human_rig("One"), human_rig("Other")
    bodies = [reaching_body(rig, LAST, SMALL) for rig in (one, other)]
    for body, rig in zip(bodies, (other, one), strict=True):
        target = body.limbs[0].target
        target.parent, target.parent_type, target.parent_bone = rig, "BONE", "hand.R"
    bpy.context.view_layer.update()
    bakes = [BodyBake(body, (1, LAST, 1), BodyKeySettings()) for body in bodies]
    with nothing_lost(), pytest.raises(ChainError, match="move each other"):
        bake_bodies(bakes)


def test_the_settings_are_those_of_the_chosen_limb_and_the_bounds_those_of_each():
    rig = set_up_rig(LAST, SMALL)
    bones = rig.pose.bones
    bones["foot.L"].ik_triangulation.reduce = True
    bones["foot.R"].ik_triangulation.reduce_tolerance = 0.02
    body = body_of(rig, "hand.L")
    assert not body_settings(body).reduce
    chosen = body_settings(body, "foot.L")
    assert chosen.reduce
    assert chosen.within == {"foot.R": pytest.approx(0.02)}


def test_missed_frames_are_marked_for_each_hand():
    rig = human_rig()
    body = reaching_body(rig, 4, down=(3.0, 0.0, 0.0))
    bake_body(body, 1, 4, settings=BodyKeySettings(mark_misses=True))
    assert {marker.name for marker in bpy.context.scene.timeline_markers} == {
        "Rig: hand.L misses",
        "Rig: hand.R misses",
    }
