# SPDX-License-Identifier: GPL-3.0-or-later
"""A frame reader decides once whether the user's scene has to be stepped, and reads the same either way."""

import bpy
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.rig.body import Contact
from ik_triangulation.rig.frames.reader import FrameReader, reason_to_step
from ik_triangulation.rig.limb import Limb

from ...bodies import human_rig, reaching_body
from ...rigs import chain_rig, empty, key_location, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")

FRAMES = [2, 4.5, 9]


def driven(ob):
    """The object, moved along X by the frame of the scene: a hundredth per frame."""
    curve = ob.driver_add("location", 0)
    variable = curve.driver.variables.new()
    variable.targets[0].id_type = "SCENE"
    variable.targets[0].id = bpy.context.scene
    variable.targets[0].data_path = "frame_current"
    curve.driver.expression = f"{variable.name} / 100"
    return ob


def reader(target, frames=FRAMES):
    limb = Limb.from_tip(chain_rig(3), "Bone 2", target)
    return FrameReader(limb, bpy.context.scene, bpy.context.view_layer, frames)


def test_keyed_motion_is_read_in_a_temporary_scene():
    target = key_location(empty(), (1, 10))
    read = reader(target)
    with nothing_lost():
        assert (read.stepped, read.parts, read.warnings) == (None, 0, [])
        samples = list(finished(read.read()))
        assert [now.frame for now in samples] == FRAMES
    for now in samples:
        bpy.context.scene.frame_set(int(now.frame), subframe=now.frame % 1)
        assert (now.target.translation - target.matrix_world.translation).length < 1e-6


def test_motion_that_reads_the_scene_is_stepped_and_says_why():
    read = reader(driven(empty()), [2, 5, 9])
    assert "reads the scene" in read.stepped
    assert read.parts == 3
    with nothing_lost():
        samples = finished(read.read())
    assert [now.target.translation.x for now in samples] == pytest.approx([0.02, 0.05, 0.09])
    assert read.warnings == [f"The scene was stepped frame by frame: {read.stepped}."]


@pytest.mark.parametrize("make", [lambda: key_location(empty(), (1, 10)), lambda: driven(empty())])
@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_each_of_the_frames_is_evaluated_once(make, seconds):
    read, seen = reader(make()), []
    with nothing_lost():
        found = finished(read.evaluate([2, 7], lambda depsgraph, frame: seen.append(frame) or frame + 1, seconds))
    assert found == {2: 3, 7: 8}
    assert seen == [2, 7]


def test_reading_that_is_closed_leaves_the_scene_as_it_was():
    read = reader(driven(empty()))
    with nothing_lost():
        work = read.read()
        next(work)
        work.close()


def test_a_sample_as_animated_has_the_rotations_of_its_own_frame():
    read = reader(key_location(empty(), (1, 10)), [1, 10])
    bone = read.limb.armature.pose.bones["Bone 1"]
    for frame, turned in ((1, (1.0, 0.0, 0.0, 0.0)), (10, (0.8, 0.6, 0.0, 0.0))):
        bone.rotation_quaternion = turned
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    *_, last = finished(read.read())
    index = read.limb.bones.index("Bone 1")
    assert last.rig.channels[index].rotation.w == pytest.approx(1.0)
    assert read.as_animated(last).rig.channels[index].rotation.w == pytest.approx(0.8)


def test_what_a_held_foot_is_on_and_the_foot_itself_are_reasons_to_step_as_targets_are():
    scene, layer = bpy.context.scene, bpy.context.view_layer
    rig, cup = human_rig(), empty("Cup")
    body = reaching_body(rig, contacts=(Contact("foot.L", 2, 5, cup),))
    layer.update()
    assert reason_to_step(body, scene, layer, [1, 2]) is None
    driven(cup)
    layer.update()
    reason = reason_to_step(body, scene, layer, [1, 2]).why
    assert "'Cup'" in reason
    assert "reads the scene" in reason
    cup.animation_data_clear()
    assert reason_to_step(body, scene, layer, [1, 2]) is None
    follow = rig.pose.bones["foot.R"].constraints.new("COPY_LOCATION")
    follow.target = driven(empty("Leader"))
    layer.update()
    assert "'Leader'" in reason_to_step(body, scene, layer, [1, 2]).why


def test_a_sample_that_was_evaluated_has_the_rotations_of_its_own_frame_as_well():
    rig_limb = reader(key_location(empty(), (1, 10)), [1, 10]).limb
    bone = rig_limb.armature.pose.bones["Bone 1"]
    for frame, turned in ((1, (1.0, 0.0, 0.0, 0.0)), (10, (0.8, 0.6, 0.0, 0.0))):
        bone.rotation_quaternion = turned
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    follow = rig_limb.target.constraints.new("LIMIT_LOCATION")  # so that curves do not tell the target
    follow.use_max_z, follow.max_z = True, 0.5
    read = FrameReader(rig_limb, bpy.context.scene, bpy.context.view_layer, [1, 10])
    first, last = finished(read.read())
    index = rig_limb.bones.index("Bone 1")
    assert read.as_animated(last).rig.channels[index].rotation.w == pytest.approx(0.8)
    assert read.as_animated(first).rig.channels[index].rotation.w == pytest.approx(1.0)
