# SPDX-License-Identifier: GPL-3.0-or-later
"""Places in space that a limb reaches."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.errors import SettingError
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.maps import in_scene as mapping
from ik_triangulation.maps.metric_map import pose_of
from ik_triangulation.maps.shell import map_volume
from ik_triangulation.rig.limb import Limb

from ..mapped import BONES, rig_in_space
from ..rigs import chain_rig, configure, empty

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_the_points_are_those_that_are_reached_and_no_others():
    rig = rig_in_space()
    mapped = mapping.volume_in_scene(rig, BONES, "TRIANGULATION", resolution=6)
    bpy.context.view_layer.update()
    made = mapped.made
    assert 0 < len(made.places) < made.targets
    target = empty()
    for place in made.places[:: max(1, len(made.places) // 12)]:
        target.location = mapped.shown.matrix_world @ Vector(place)
        limb = Limb.from_bones(rig, BONES, target, tolerance=0.03)
        assert solve_pose(limb).all_reached
    missed = (made.targets - len(made.places)) / made.targets
    assert made.coverage == pytest.approx(100.0 * (1.0 - missed))
    corners = np.array([corner.co for corner in mapped.shown.data.vertices])
    away = np.linalg.norm(corners[:, None] - made.places, axis=-1).min(1)
    assert away.max() < made.spacing * 3.0**0.5, "the shell is not around the points"


def test_a_limb_that_reaches_nothing_has_an_empty_shell():
    rig = chain_rig(2)
    for bone in rig.pose.bones:
        bone.lock_ik_y = bone.lock_ik_z = True
        bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, 0.0, 0.001
    configure(rig, "Bone 1", chain_count=2)
    for metric in ("reached", "travel"):
        mapped = mapping.volume_in_scene(rig, BONES[:2], resolution=3, tolerance=1e-4, metric=metric)
        assert len(mapped.made.places) == len(mapped.shown.data.vertices) == 0
        assert mapped.made.coverage == 0.0


@pytest.mark.parametrize("resolution", [1, 2, 7])
def test_the_grid_fills_the_ball_of_the_reach(resolution):
    rig = chain_rig(3)
    start = pose_of(rig, BONES, bpy.context.view_layer)
    made = map_volume(start, resolution=resolution)
    away = np.linalg.norm(made.places - np.array(start.head(0)), axis=1) / start.chain.reach
    assert (away <= 1.0 + 1e-6).all()
    assert made.spacing == pytest.approx(2.0 * start.chain.reach / resolution)
    assert made.targets == {1: 1, 2: 8, 7: 179}[resolution]
    with pytest.raises(SettingError, match="A resolution of 0 makes no map"):
        map_volume(start, resolution=0)
