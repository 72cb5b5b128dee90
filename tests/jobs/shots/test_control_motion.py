# SPDX-License-Identifier: GPL-3.0-or-later
"""What a control misses is measured on the evaluated rig, and made up for by its channels."""

from types import SimpleNamespace

import bpy
import pytest

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.shots.control_motion import ControlMotion, LimbPlaces
from ik_triangulation.rig.controls import ik_controls_of
from ik_triangulation.rig.timeline import Clock

from ...ik_rigs import arm_limb, ik_arm

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
