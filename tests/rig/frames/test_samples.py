# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples are a sequence that makes each when it is asked for, and arrays of all that moves."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ik_triangulation.cooperative import finished
from ik_triangulation.errors import RigError, TargetError
from ik_triangulation.rig.frames.reader import FrameReader
from ik_triangulation.rig.frames.samples import is_elsewhere, offset_of, sample
from ik_triangulation.rig.limb import Limb

from ...rigs import chain_rig, empty, key_location, matrix_close
from ..reading import turn_bone

pytestmark = pytest.mark.usefixtures("empty_scene")

FRAMES = range(1, 21)


def read(rig, target, **settings):
    limb = Limb.from_bones(rig, ["Bone 1", "Bone 2"], target, **settings)
    return finished(FrameReader(limb, bpy.context.scene, bpy.context.view_layer, FRAMES).read())


def keyed_target():
    return key_location(empty(), range(1, 21, 4))


def driven_target():
    target = keyed_target()
    target.driver_add("location", 2).driver.expression = "frame / 20"
    return target


def check_arrays(samples):
    """The arrays are those of the samples."""
    for k, now in enumerate(samples):
        for array, matrix in (
            (samples.worlds, now.rig.world),
            (samples.bases, now.rig.base),
            (samples.targets, now.target),
        ):
            assert np.allclose(array[..., k if array.shape[2] > 1 else 0], matrix, atol=1e-6)
        if samples.poles is not None:
            assert np.allclose(samples.poles[..., k if samples.poles.shape[1] > 1 else 0], now.pole, atol=1e-6)


@pytest.mark.parametrize("make", [keyed_target, driven_target])
@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("pole", [False, True])
def test_the_arrays_are_those_of_the_samples(make, moving, pole):
    rig = chain_rig(3)
    if moving:
        turn_bone(rig, "Bone 0")
        key_location(rig, (1, 20))
    samples = read(rig, make(), **({"pole_target": key_location(empty("Pole"), (1, 15))} if pole else {}))
    assert samples.steady
    assert (samples.poles is not None) == pole
    assert samples.bases.shape == samples.worlds.shape == (4, 4, 20 if moving else 1)
    assert samples.targets.shape == (4, 4, 20)
    check_arrays(samples)


@pytest.mark.parametrize("make", [keyed_target, driven_target])
def test_samples_are_a_sequence(make):
    samples = read(chain_rig(3), make())
    assert len(samples) == len(FRAMES)
    assert samples[0] is samples.first
    assert [now.frame for now in samples] == list(samples.frames) == list(FRAMES)
    assert samples[-1].frame == 20
    assert [now.frame for now in samples[3:6]] == [4, 5, 6]
    with pytest.raises(IndexError):
        samples[20]


def test_samples_share_a_rig_that_does_not_move():
    samples = read(chain_rig(3), keyed_target())
    assert len({id(now.rig) for now in samples}) == 1


def scaled_root(rig, target):
    bone = rig.pose.bones["Bone 0"]
    for frame, scale in ((1, 1.0), (20, 2.0)):
        bone.scale = (scale,) * 3
        bone.keyframe_insert("scale", frame=frame)


def scaled_chain(rig, target):
    bone = rig.pose.bones["Bone 2"]
    for frame, scale in ((1, 1.0), (20, 2.0)):
        bone.scale = (scale,) * 3
        bone.keyframe_insert("scale", frame=frame)


def moved_chain(rig, target):
    key_location(rig.pose.bones["Bone 2"], (1, 20))


def other_looks(rig, target):
    for frame, size in ((1, 1.0), (20, 2.0)):
        target.empty_display_size = size
        target.keyframe_insert("empty_display_size", frame=frame)


def moving_limits(rig, target):
    bone = rig.pose.bones["Bone 1"]
    bone.use_ik_limit_x = True
    for frame, end in ((1, 1.0), (20, 2.0)):
        bone.ik_max_x = end
        bone.keyframe_insert("ik_max_x", frame=frame)


@pytest.mark.parametrize("change", [scaled_root, scaled_chain, other_looks, moving_limits])
def test_what_changes_besides_the_arrays_is_told(change):
    rig, target = chain_rig(3, gaps=[2]), keyed_target()
    change(rig, target)
    samples = read(rig, target)
    assert not samples.steady
    check_arrays(samples)


def test_rotations_of_solved_bones_may_differ():
    rig = chain_rig(3)
    turn_bone(rig, "Bone 2")
    samples = read(rig, keyed_target(), start_from="ANIMATED")
    assert samples[0].rig.channels != samples[10].rig.channels
    assert samples.steady


def test_a_scaled_rig_that_turns_is_steady():
    rig = chain_rig(3)
    rig.pose.bones["Bone 0"].scale = (2.0, 2.0, 2.0)
    turn_bone(rig, "Bone 0")
    samples = read(rig, keyed_target())
    assert samples.steady
    assert not matrix_close(samples[0].rig.base, samples[19].rig.base, 1e-3)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_target_is_elsewhere_as_soon_as_any_number_differs_by_more_than_rounding(way):
    still = Matrix.Translation((3.0, -4.0, 0.0))
    for row in range(3):
        for column in range(4):
            moved = still.copy()
            moved[row][column] += way * 1e-3
            assert is_elsewhere(still, moved)
    moved = still.copy()
    moved[0][3] += way * 1e-7
    assert not is_elsewhere(still, moved)


def test_places_that_are_far_beyond_use_and_tips_and_targets_that_are_flat_are_named():
    rig, target = chain_rig(2), empty("Cup")
    limb = Limb.from_tip(rig, "Bone 1", target)

    def graph():
        bpy.context.view_layer.update()
        return bpy.context.evaluated_depsgraph_get()

    def offset():
        place, turn = offset_of(limb, graph())
        shown = rig.pose.bones["Bone 1"]
        return (target.matrix_world @ place - rig.matrix_world @ shown.tail).length + turn.rotation_difference(
            target.matrix_world.to_quaternion().conjugated() @ shown.matrix.to_quaternion()
        ).angle

    target.rotation_euler, target.scale = (0.4, 0.5, 0.6), (2.0, 3.0, 0.5)
    assert offset() < 1e-3
    target.scale.z = 0.0
    with pytest.raises(TargetError, match="Target 'Cup' is scaled flat, nothing has a place in it"):
        offset()
    target.scale.z = 1.0
    rig.pose.bones["Bone 0"].scale = (0.0, 1.0, 1.0)
    with pytest.raises(RigError, match="Bone 'Bone 1' or one above it is scaled to zero"):
        offset()
    rig.pose.bones["Bone 0"].scale = (1.0, 1.0, 1.0)
    target.location.y = 2e12
    with pytest.raises(TargetError, match=r"'Cup'.* is scaled or moved beyond 1e.*at frame 7"):
        sample(limb, graph(), 7.0)
