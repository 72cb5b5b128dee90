# SPDX-License-Identifier: GPL-3.0-or-later
"""A body is read at all frames without a trace in the file."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.errors import ChainError, RigError
from ik_triangulation.goals import Anywhere, Point
from ik_triangulation.rig.body import RigBody
from ik_triangulation.rig.frames import body_frames, body_samples
from ik_triangulation.rig.frames.body_frames import animation_turned
from ik_triangulation.rig.frames.body_samples import body_now, read_between, read_body, with_shown
from ik_triangulation.rig.frames.reader import Evaluator
from ik_triangulation.rig.frames.samples import temporary_scene
from ik_triangulation.rig.limb import Limb

from ...bodies import FEET, HANDS, human_rig, keyed_target, reaching_body
from ...rigs import empty, key_location, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")


def read(body, frames=range(1, 7)):
    return finished(read_body(body, bpy.context.scene, frames))


def test_each_limb_has_its_goal_at_each_frame_in_armature_space():
    rig = human_rig()
    rig.location = 1.0, 2.0, 3.0
    bpy.context.view_layer.update()
    body = reaching_body(rig, 6)
    samples = read(body)
    for limb in body.limbs:
        for frame, goal in zip(samples.frames, samples.goals[limb.tip], strict=True):
            bpy.context.scene.frame_set(frame)
            wanted = rig.matrix_world.inverted() @ limb.target.matrix_world.translation
            assert (goal.target.location - wanted).length < 1e-5
    assert samples.worlds.shape == samples.bases.shape == (4, 4, 6)
    assert np.abs(samples.worlds[:3, 3] - [[1.0], [2.0], [3.0]]).max() < 1e-6


def test_the_animation_by_hand_is_that_of_all_bones():
    rig = human_rig()
    rig.pose.bones["shin.L"].rotation_quaternion = 0.8, 0.6, 0.0, 0.0
    body = reaching_body(rig, 6)
    samples = read(body)
    assert samples.rotations.shape == (len(body.bones), 4, 6)
    row = body.bones.index("shin.L")
    assert samples.rotations[row, :, 3] == pytest.approx([0.8, 0.6, 0.0, 0.0], abs=1e-6)
    assert not samples.locations.any()


def test_reading_leaves_no_trace():
    rig = human_rig()
    body = reaching_body(rig, 6)
    bpy.context.scene.frame_set(4)
    with nothing_lost():
        read(body)
        next(read_body(body, bpy.context.scene, range(1, 100)))


def test_all_targets_are_in_the_scene_that_is_read():
    rig = human_rig()
    body = reaching_body(rig, 6)
    with temporary_scene(body, bpy.context.scene) as staged:
        assert {limb.target.name for limb in body.limbs} <= set(staged.collection.objects.keys())


def test_two_limbs_may_share_a_target():
    rig = human_rig()
    target = keyed_target(rig, HANDS[0], {1: Vector((0, 0, 0))})
    body = RigBody(rig, tuple(Limb.from_tip(rig, name, target) for name in HANDS), FEET)
    assert len(read(body).goals) == 2


def test_an_unevenly_scaled_bone_above_the_hips_is_named():
    rig = human_rig()
    rig.pose.bones["spine"].scale = 2.0, 1.0, 1.0
    bpy.context.view_layer.update()
    body = reaching_body(rig, 6)
    hand = body.limbs[0]
    with pytest.raises(ChainError, match=r"above the hips 'spine\.001' is scaled unevenly"):
        read(RigBody(rig, (hand,), ("hand.R",), hips="spine.001"))


def hung_target(body):
    """The first limb's target hangs on an empty that moves, and the armature moves as well."""
    holder = key_location(empty("Holder"), range(1, 25, 6))
    body.limbs[0].target.parent = holder
    for frame, angle in ((1, 0.0), (24, 0.7)):
        body.armature.location.x, body.armature.rotation_euler.z = angle, angle
        body.armature.keyframe_insert("location", frame=frame)
        body.armature.keyframe_insert("rotation_euler", frame=frame)


def test_a_target_that_nobody_has_touched_does_not_keep_a_body_from_being_read_from_curves(monkeypatch):
    body = reaching_body(human_rig(), 24)
    waiting, other = (limb.tip for limb in body.limbs[:2])
    body.limbs[0].target.constraints.new("COPY_LOCATION")  # it cannot be read from curves, and need not be
    monkeypatch.setattr(body_frames, "is_waiting", lambda bone: bone.name == waiting)
    found = read(body, range(1, 25))
    assert found.keyed
    assert {type(goal.target) for goal in found.goals[waiting]} == {Anywhere}
    assert {type(goal.target) for goal in found.goals[other]} == {Point}


@pytest.mark.parametrize("moves", [None, hung_target], ids=["targets move", "armature and a parent move"])
def test_plain_animation_is_read_from_its_curves_as_blender_evaluates_it(moves, monkeypatch):
    rig = human_rig()
    body = reaching_body(rig, 24)
    if moves:
        moves(body)
    frames, looked = range(1, 25), []
    evaluate = Evaluator.evaluate

    def counting(self, at, *more):
        looked.extend(at)
        return evaluate(self, at, *more)

    monkeypatch.setattr(Evaluator, "evaluate", counting)
    found = read(body, frames)
    assert found.keyed
    assert len(looked) == 3
    between = finished(read_between(body, found, [1.5, 7.5], bpy.context.scene))
    assert len(looked) == 3
    monkeypatch.setattr(body_samples, "read_keyed_body", lambda *_: None)
    seen = read(body, frames)
    assert not seen.keyed
    assert len(looked) == 3 + len(frames)
    for name in ("worlds", "bases", "rotations", "locations"):
        assert np.allclose(getattr(found, name), getattr(seen, name), atol=1e-6)
    for tip, goals in seen.goals.items():
        assert np.allclose(
            [goal.target.location for goal in goals], [g.target.location for g in found.goals[tip]], atol=2e-6
        )
    others = finished(read_between(body, seen, [1.5, 7.5], bpy.context.scene))
    assert np.allclose(between.worlds, others.worlds, atol=1e-6)


@pytest.mark.parametrize("what", ["constraint", "driver", "display", "influence"])
def test_what_curves_do_not_give_is_evaluated(what):
    body = reaching_body(human_rig(), 6)
    target = body.limbs[0].target
    if what == "constraint":
        target.constraints.new("COPY_LOCATION").target = key_location(empty("Leader"), (1, 3, 6))
    elif what == "driver":
        target.driver_add("location", 0).driver.expression = "frame / 10"
    elif what == "display":
        target.keyframe_insert("empty_display_size", frame=1)
    else:
        body.armature.keyframe_insert(f'pose.bones["{HANDS[0]}"].ik_triangulation.influence', frame=1)
    assert not read(body).keyed


def test_what_is_seen_now_is_what_is_read_at_that_frame():
    rig = human_rig()
    rig.location, rig.rotation_euler = (1.0, 2.0, 3.0), (0.1, 0.2, 0.3)
    rig.pose.bones["shin.L"].rotation_quaternion = 0.8, 0.6, 0.0, 0.0
    body, scene = reaching_body(rig, 6), bpy.context.scene
    scene.frame_set(4)
    now, read_then = body_now(body, bpy.context.evaluated_depsgraph_get(), 4.0, scene), read(body, [4])
    assert now.frames == [4.0]
    for one, other in zip(now[1:3] + now[4:6], read_then[1:3] + read_then[4:6], strict=True):
        assert np.allclose(one, other, atol=1e-6)
    assert {tip: goals[0].target.location[:] for tip, goals in now.goals.items()} == {
        tip: pytest.approx(goals[0].target.location[:], abs=1e-5) for tip, goals in read_then.goals.items()
    }
    assert now.influence == {tip: [1.0] for tip in now.influence} != {}


def test_a_pose_that_a_constraint_changes_is_read_as_it_is_shown():
    rig = human_rig()
    body, scene = reaching_body(rig, 6), bpy.context.scene
    samples = body_now(body, bpy.context.evaluated_depsgraph_get(), 1.0, scene)
    layer = bpy.context.view_layer
    assert with_shown(body, samples, scene, layer) is samples
    copy = rig.pose.bones["shin.L"].constraints.new("COPY_ROTATION")
    copy.target, copy.owner_space = empty("Turned"), "LOCAL"
    assert with_shown(body, samples, scene, layer) is samples  # it changes nothing
    copy.target.rotation_euler.x = 0.5
    shown, row = with_shown(body, samples, scene, layer), body.bones.index("shin.L")
    assert shown.rotations[row, :, 0] == pytest.approx([np.cos(0.25), np.sin(0.25), 0.0, 0.0], abs=1e-5)
    others = [number for number in range(len(body.bones)) if number != row]
    assert np.allclose(shown.rotations[others], samples.rotations[others], atol=1e-5)
    assert np.allclose(shown.locations, samples.locations, atol=1e-6)
    rig.pose.bones["shin.L"].constraints.remove(copy)
    rig.pose.bones["foot.R"].constraints.new("COPY_LOCATION").target = empty()
    rig.pose.bones["foot.R"].rotation_quaternion.x = float("nan")
    with pytest.raises(RigError, match=r"Bone '\w+\.R' has an invalid pose at frame 1"):
        with_shown(body, samples, scene, layer)


def test_bones_that_are_turned_in_space_have_the_rotations_of_the_pose_in_which_they_are():
    rig = human_rig()
    random = np.random.default_rng(2)
    for bone in rig.pose.bones:
        bone.rotation_quaternion = Quaternion(random.normal(size=3), random.uniform(0.0, 1.0))
    body = reaching_body(rig, 6)
    rig.pose.bones[body.hips].location = (0.2, -0.1, 0.3)
    bpy.context.view_layer.update()
    posed = [rig.pose.bones[name] for name in body.bones]
    parent = rig.pose.bones[body.hips].parent
    base = np.array(parent.matrix if parent else Matrix.Identity(4), float)[:, :, None]
    made = np.array([bone.rotation_quaternion for bone in posed])[:, :, None]
    axes = {bone.name: np.array(bone.matrix.to_3x3(), float)[:, :, None] for bone in posed}
    place, rest = np.array(posed[0].matrix.translation, float)[:, None], np.zeros_like(made)
    rest[:, 0] = 1.0
    some = {name: axes[name] for number, name in enumerate(body.bones) if number % 2}
    for turned, others in ((axes, rest), (some, made)):
        rotations, locations, *_ = animation_turned(body, base, turned, place, others)
        assert np.abs((rotations * made).sum(1)).min() == pytest.approx(1.0, abs=1e-5)
        assert locations[:, 0] == pytest.approx((0.2, -0.1, 0.3), abs=1e-5)
