# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb is read from F-curves where these tell all of its motion, and evaluated otherwise."""

import bpy
import pytest
from mathutils import Matrix

from ik_triangulation.errors import RigError, TargetError
from ik_triangulation.jobs.bake import bake
from ik_triangulation.rig.frames import keyed_motion
from ik_triangulation.rig.frames import samples as sampling
from ik_triangulation.rig.frames.keyed_motion import channels_at, read_keyed, stands_still
from ik_triangulation.rig.frames.samples import go_to, sample, temporary_scene
from ik_triangulation.rig.limb import Limb

from ...rigs import chain_rig, curves_of, empty, key_location, matrix_close, nothing_lost
from ..reading import turn_bone

pytestmark = pytest.mark.usefixtures("empty_scene")

FRAMES = range(1, 21)


def read(limb):
    with nothing_lost():
        return read_keyed(limb, bpy.context.scene, bpy.context.view_layer, FRAMES)


def limb_of(rig, target, **settings):
    return Limb.from_bones(rig, ["Bone 1", "Bone 2"], target, **settings)


def moving_limb():
    """A limb on a bone that turns, of a rig that moves, with a target that moves with a parent."""
    rig, target = chain_rig(3), key_location(empty(), range(1, 21, 4))
    turn_bone(rig, "Bone 0")
    target.parent = key_location(empty("Parent"), (1, 13))
    rig.parent = target.parent
    return limb_of(rig, target)


def check_evaluated(limb, samples):
    """The samples are those of an evaluated scene."""
    with temporary_scene(limb, bpy.context.scene) as staged:
        for now in samples[::5]:
            seen = sample(limb, go_to(staged, now.frame), now.frame)
            assert matrix_close(now.rig.world, seen.rig.world, 1e-6)
            assert matrix_close(now.rig.base, seen.rig.base, 1e-6)
            assert matrix_close(now.target, seen.target, 1e-6)
            assert now.rig.stretch == pytest.approx(seen.rig.stretch, abs=1e-6)
            assert now.looks == seen.looks


def test_a_moving_rig_is_read_as_it_is_evaluated():
    limb = moving_limb()
    check_evaluated(limb, read(limb))


def test_bones_are_targets_too():
    rig, goal = chain_rig(3), chain_rig(2, name="Goal")
    turn_bone(goal, "Bone 0")
    key_location(goal, (1, 20))
    limb = limb_of(rig, goal, subtarget="Bone 1", pole_target=goal, pole_subtarget="Bone 0")
    samples = read(limb)
    check_evaluated(limb, samples)
    assert samples.poles.shape == (3, 20)


@pytest.mark.parametrize("turned", [False, True])
def test_what_is_posed_without_keys_is_read_as_it_is_keyed(turned):
    """As in a file in which the pose at the present frame was changed and not keyed."""
    limb = moving_limb()
    limb.armature.location = (3.0, 2.0, 1.0)
    if turned:
        limb.armature.pose.bones["Bone 0"].rotation_quaternion = (0.0, 1.0, 0.0, 0.0)
        limb.target.location = (5.0, 5.0, 5.0)
    bpy.context.view_layer.update()
    check_evaluated(limb, read(limb))


def test_a_scene_is_made_only_to_check_parents_and_bones_that_move(monkeypatch):
    made = []

    def counted(*where):
        made.append(where)
        return temporary_scene(*where)

    monkeypatch.setattr(keyed_motion, "temporary_scene", counted)
    assert read(limb_of(chain_rig(3), key_location(empty(), (1, 20))))
    assert not made
    assert read(moving_limb())
    assert len(made) == 1


def test_what_is_not_evaluated_like_that_is_not_read(monkeypatch):
    limb, wrong = moving_limb(), Matrix.Translation((0.01, 0.0, 0.0))
    actual = sampling.frame_of
    monkeypatch.setattr(keyed_motion, "frame_of", lambda *where: wrong @ actual(*where))
    assert read(limb) is None


def constrained_target(limb):
    limb.target.constraints.new("COPY_LOCATION").target = empty("Leader")


def constrained_bone(limb):
    limb.armature.pose.bones["Bone 1"].constraints.new("COPY_LOCATION").target = empty("Leader")


def keyed_looks(limb):
    limb.target.keyframe_insert("empty_display_size", frame=1)


def keyed_chain_scale(limb):
    limb.armature.pose.bones["Bone 2"].keyframe_insert("scale", frame=1)


def keyed_setting(limb):
    limb.armature.pose.bones["Bone 2"].keyframe_insert("lock_ik_x", frame=1)


def keyed_locked_axis(limb):
    bone = limb.armature.pose.bones["Bone 1"]
    bone.rotation_mode = "XYZ"
    bone.lock_rotation[0] = True
    bone.keyframe_insert("rotation_euler", frame=1)


def driven_rig(limb):
    limb.armature.driver_add("location", 0).driver.expression = "frame"


@pytest.mark.parametrize(
    "hinder",
    [
        constrained_target,
        constrained_bone,
        keyed_looks,
        keyed_chain_scale,
        keyed_setting,
        keyed_locked_axis,
        driven_rig,
    ],
)
def test_whatever_f_curves_do_not_tell_is_left_to_evaluation(hinder):
    limb = moving_limb()
    assert read(limb)
    hinder(limb)
    bpy.context.view_layer.update()
    assert read(limb) is None


def test_obstacles_are_left_to_evaluation():
    things = bpy.data.collections.new("Things")
    ball = bpy.data.objects.new("Ball", None)
    ball.empty_display_type = "SPHERE"
    things.objects.link(ball)
    bpy.context.scene.collection.children.link(things)
    assert read(limb_of(chain_rig(3), empty(), obstacles=things, obstacle_weight=1.0)) is None


@pytest.mark.parametrize("what", ["target", "rig"])
def test_a_position_that_is_no_number_is_named_with_its_frame(what):
    rig, target = chain_rig(3), key_location(empty(), (1, 20))
    ob = target if what == "target" else rig
    key_location(ob, (1, 20))
    curve = curves_of(ob)[0]
    curve.keyframe_points.insert(7, float("nan"))
    for key in curve.keyframe_points:
        key.interpolation = "CONSTANT"
    bpy.context.view_layer.update()
    with nothing_lost(), pytest.raises(TargetError if what == "target" else RigError, match=r"invalid .* frame 7"):
        bake(limb_of(rig, target), 1, 20)


def test_own_rotation_keys_do_not_move_a_rig():
    limb = limb_of(chain_rig(3), empty())
    turn_bone(limb.armature, "Bone 1")
    scene = bpy.context.scene
    assert stands_still(limb, scene, FRAMES)
    assert channels_at(limb, scene, 1.0)[0].rotation != channels_at(limb, scene, 20.0)[0].rotation
    key_location(limb.armature, (1, 20))
    assert not stands_still(limb, scene, FRAMES)
