# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain is mapped as it is posed, and nothing is changed."""

import bpy
import numpy as np
import pytest

from ik_triangulation.errors import IKError
from ik_triangulation.maps import metric_map
from ik_triangulation.maps.metric_map import METRICS, map_plane, map_pose
from ik_triangulation.solvers import SolverSettings

from ..mapped import standard
from ..rigs import (
    evaluated_tip,
    nothing_lost,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_chain_is_mapped_as_it_is_posed_and_nothing_changed():
    rig, _ = standard(3)
    rig.pose.bones["Bone 1"].rotation_quaternion = (0.9, 0.4, 0.0, 0.0)
    bpy.context.view_layer.update()
    names = [bone.name for bone in rig.pose.bones]
    told = []
    with nothing_lost():
        found = metric_map.map_chain(rig, names, "CCD", 12, finish=False, progress=lambda *rows: told.append(rows))
    start = metric_map.pose_of(rig, names, bpy.context.view_layer)
    alone = map_pose(
        start, *map_plane(start), SolverSettings(solver="CCD", iterations=20, finish=False), size=12, tolerance=0.01
    )
    for metric in METRICS:
        assert np.array_equal(found.metric(metric), alone.metric(metric))
    assert told == [(n, 12) for n in range(13)]
    assert (start.tip - evaluated_tip(rig, "Bone 2")).length < 1e-5


def test_a_map_that_is_stopped_changes_nothing():
    rig, _ = standard(3)

    class StopError(Exception):
        pass

    def stop(done, of):
        raise StopError

    with nothing_lost(), pytest.raises(StopError):
        metric_map.map_chain(rig, ["Bone 0", "Bone 1"], "CCD", 8, progress=stop)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"bones": ["Bone 0", "hand"]}, "Bone 'hand' is not in 'Rig'"),
        ({"bones": []}, "No bones are selected"),
        ({"bones": ["Bone 1", "Other"]}, "is not a descendant of"),
        ({"solver": "TWO_BONE"}, "two"),
        ({"solver": "MAGIC"}, "Solver 'MAGIC' is unknown"),
        ({"size": 0}, "0 pixels make no map. Give it"),
        ({"tolerance": 0.0}, "Tolerance 0.0 is not a distance"),
        ({"iterations": -1}, "-1 iterations cannot be done"),
    ],
)
def test_what_cannot_be_mapped_is_refused(words, message):
    rig, _ = standard(3)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Other").tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="POSE")
    with nothing_lost(), pytest.raises(IKError, match=message):
        metric_map.map_chain(rig, **{"bones": ["Bone 0", "Bone 1", "Bone 2"], "size": 8, **words})


def test_bones_between_those_named_keep_their_pose():
    rig, _ = standard(4)
    rig.pose.bones["Bone 2"].rotation_quaternion = (0.9, 0.4, 0.0, 0.0)
    pose = metric_map.pose_of(rig, ["Bone 3", "Bone 1"], bpy.context.view_layer)
    assert [joint.name for joint in pose.chain.joints] == ["Bone 1", "Bone 3"]
    assert (pose.tip - evaluated_tip(rig, "Bone 3")).length < 1e-5
