# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of a limb as arrays over the frames are those that are read frame by frame."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ik_triangulation.cooperative import finished
from ik_triangulation.rig.armature import Bones
from ik_triangulation.rig.frames.reader import FrameReader
from ik_triangulation.rig.targets.goal import GoalReader

from ..jobs.moving import limb, moving

FRAMES = range(1, 31)


def read(the_limb):
    bpy.context.view_layer.update()
    reader = FrameReader(the_limb, bpy.context.scene, bpy.context.view_layer, FRAMES)
    samples = finished(reader.read())
    first = samples.first
    start = Bones(the_limb.armature, the_limb.bones, the_limb.solved).pose(first.rig.base, first.rig.channels)
    return samples, start


def key_object(ob, **ways):
    for frame in (1, 30):
        for name, values in ways.items():
            setattr(ob, name, values[frame > 1])
            ob.keyframe_insert(name, frame=frame)


@pytest.mark.parametrize(
    "offset",
    [{}, {"use_offset": True, "offset_location": (0.1, -0.2, 0.3), "offset_rotation": (0.6, 0.0, 0.8, 0.0)}],
    ids=["plain", "offset"],
)
@pytest.mark.parametrize("orientation", ["NONE", "FULL"])
@pytest.mark.parametrize("rig_moves", [False, True])
def test_places_tolerances_and_rotations_are_those_of_each_frames_goal(offset, orientation, rig_moves):
    rig, target = moving(3)
    rig.matrix_world = Matrix.LocRotScale((0.3, 0.1, 0.2), Matrix.Rotation(0.4, 3, "X").to_quaternion(), (1.5,) * 3)
    if rig_moves:
        key_object(rig, location=((0, 0, 0), (1, 0.5, 0)), scale=((1, 1, 1), (2, 2, 2)))
    key_object(target, rotation_euler=((0, 0, 0), (1.0, -2.0, 0.5)))
    samples, start = read(limb(rig, target, orientation=orientation, **offset))
    reader = GoalReader()
    goals = reader.goals(samples)
    places, tolerances = np.broadcast_to(goals.places, (3, 30)), np.broadcast_to(goals.tolerance, 30)
    assert (goals.rotations is None) == (orientation == "NONE")
    for k, now in enumerate(samples):
        goal = reader.at(now, start)
        assert places[:, k] == pytest.approx(goal.target.location[:], abs=1e-5)
        assert tolerances[k] == pytest.approx(goal.tolerance, rel=1e-5)
        if goals.rotations is not None:
            wanted = np.array(goal.soft[0].rotation.to_matrix())
            assert np.abs(goals.rotations[..., k] - wanted).max() < 1e-5


@pytest.mark.parametrize(
    "settings", [{"shape": "SPHERE"}, {"orientation": "DIRECTION"}, {"rest_weight": 0.2}], ids=lambda s: next(iter(s))
)
def test_goals_that_ask_for_more_than_points_and_orientations_are_not_given_as_arrays(settings):
    rig, target = moving(3)
    samples, _ = read(limb(rig, target, **settings))
    assert GoalReader().goals(samples) is None


def test_orientations_of_a_mirrored_target_are_not_given_as_arrays():
    rig, target = moving(3)
    target.scale.x = -1.0
    samples, _ = read(limb(rig, target, orientation="FULL"))
    assert GoalReader().goals(samples) is None
