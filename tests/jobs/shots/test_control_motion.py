# SPDX-License-Identifier: GPL-3.0-or-later
"""What a control misses is measured on the evaluated rig, and made up for by its channels."""

from dataclasses import replace
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.shots.control_motion import ControlMotion, LimbPlaces, _pole_at_rest
from ik_triangulation.jobs.shots.natural_shot import begun_as_shown, rotations_below
from ik_triangulation.rig.armature import Bones
from ik_triangulation.rig.controls import ik_controls_of, limbs_with_ik
from ik_triangulation.rig.frames.reader import FrameReader
from ik_triangulation.rig.timeline import Clock

from ...ik_rigs import ARM, arm_limb, ik_arm

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def motion():
    """The motion of the controls at one frame that was solved and baked, as evaluated."""
    rig = ik_arm()
    limb = arm_limb(rig, keys_on="IK")
    report = bake(limb, 1, 1)
    controls, pose = ik_controls_of(limb), report.frames[0].pose
    places = {1: LimbPlaces.of(SimpleNamespace(pose=pose), controls, limb)}
    bpy.context.scene.frame_set(1)
    made = ControlMotion(limb, controls, places, pose.chain.reach)
    made.see(bpy.context.evaluated_depsgraph_get(), 1)
    return made


def test_a_limb_that_shows_its_solution_misses_nothing(motion):
    [missing] = motion.missing
    assert missing.tip < 1e-4
    assert missing.turn < 1e-3
    assert missing.elbow < 0.01


def test_its_channels_are_those_that_it_has(motion):
    rig = motion.limb.armature
    for run in motion.channels(Clock(bpy.context.scene, rig), 1.0)[:2]:
        bone, prop = rig.pose.bones[run.bone], run.path.rpartition(".")[2]
        assert run.bone == "Grip"
        assert run.values[0] == pytest.approx(tuple(getattr(bone, prop)), abs=1e-4)


def test_a_control_that_was_moved_gets_its_place_back(motion):
    rig = motion.limb.armature
    bone = rig.pose.bones["Grip"]
    before = bone.location.copy()
    bone.location.x += 0.05
    bpy.context.view_layer.update()
    motion.see(bpy.context.evaluated_depsgraph_get(), 1)
    assert motion.missing[0].tip > 0.01
    run = motion.channels(Clock(bpy.context.scene, rig), 1.0)[0]
    assert run.values[0] == pytest.approx(tuple(before), abs=1e-3)


def reader_of(limb, frames):
    bpy.context.view_layer.update()
    return FrameReader(limb, bpy.context.scene, bpy.context.view_layer, frames)


def shown_turns(rig, frame):
    """Rotations of the bones of the arm in the armature, as evaluated at a frame."""
    bpy.context.scene.frame_set(frame)
    bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return [bones[name].matrix.to_quaternion() for name in ARM]


def test_a_limb_whose_controls_show_it_starts_from_what_is_shown():
    rig = ik_arm()
    limb = arm_limb(rig, keys_on="IK")
    rig.pose.bones["Grip"].location = (-0.1, 0.1, 0.05)
    reader = reader_of(limb, [3])
    [now] = finished(reader.read())
    bones = Bones(rig, limb.bones, limb.solved)
    begun = bones.pose(now.rig.base, begun_as_shown(now, reader).rig.channels, now.rig.freedoms)
    for row, shown in enumerate(shown_turns(rig, 3)):
        assert abs(begun.frame(row).to_quaternion().dot(shown)) == pytest.approx(1.0, abs=1e-5)
    assert begun_as_shown(now, reader_of(replace(limb, keys_on="FK"), [3])) is now
    rig.pose.bones["Palm"].constraints[0].influence = 0.0
    assert begun_as_shown(now, reader_of(limb, [3])) is now


def test_rotations_below_are_those_of_the_bones_on_the_shorter_way():
    rig = ik_arm()
    bone = rig.pose.bones["Ulna"]
    for frame, turn in ((1, (1.0, 0.0, 0.0, 0.0)), (2, (-0.8, -0.6, 0.0, 0.0)), (3, (0.6, 0.8, 0.0, 0.0))):
        bone.rotation_quaternion = turn
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    found = rotations_below(reader_of(arm_limb(rig), [1, 2, 3]))
    assert found.shape == (3, 4, 3)
    assert pytest.approx(np.array([(1.0, 0.0, 0.0, 0.0), (0.8, 0.6, 0.0, 0.0), (0.6, 0.8, 0.0, 0.0)])) == found[1].T
    assert pytest.approx(np.array([(1.0, 0.0, 0.0, 0.0)] * 3)) == found[0].T


def test_the_pole_at_rest_is_beside_the_elbow_or_where_the_limb_is_bent_to():
    rig = ik_arm()
    [(_, controls)] = limbs_with_ik(rig)
    bones = rig.data.bones
    root, elbow, wrist = (bones[name].head_local.copy() for name in ARM)
    line, into = (wrist - root).normalized(), bones["Bicep"].matrix_local.to_3x3()

    def at_rest(pole):
        bpy.ops.object.mode_set(mode="EDIT")
        edit = rig.data.edit_bones["Aim"]
        edit.head, edit.tail = pole, pole + Vector((0.0, 0.0, 0.1))
        bpy.ops.object.mode_set(mode="POSE")
        side, distance, length = _pole_at_rest(rig, controls)
        assert distance == pytest.approx((pole - elbow).length, abs=1e-6)
        assert length == pytest.approx((elbow - root).length, abs=1e-6)
        return into @ side

    side = at_rest(elbow + Vector((0.0, 0.5, 0.2)))
    assert abs(side.dot(line)) < 1e-6
    assert side.normalized().dot(Vector((0.0, 0.5, 0.2)).normalized()) > 0.99
    bend = (elbow - root) - line * (elbow - root).dot(line)
    assert (at_rest(elbow + line * 0.5) - bend).length < 1e-5


def test_a_limb_that_ends_with_what_ik_turns_is_shown_to_its_tail():
    rig = ik_arm()
    rig.pose.bones["Palm"].constraints.remove(rig.pose.bones["Palm"].constraints[0])
    limb = replace(arm_limb(rig, keys_on="IK"), bones=ARM[:2])
    report = bake(limb, 1, 4)
    assert report.all_reached, report.warnings
    for result in report.frames:
        bpy.context.scene.frame_set(int(result.frame))
        shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["Ulna"]
        assert (shown.tail - result.pose.tip).length < 1e-4
        assert (shown.head - result.pose.head(1)).length < 1e-2
