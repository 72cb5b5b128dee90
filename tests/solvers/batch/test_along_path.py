# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangulation along a path is one pass at every frame, and stops where a pass has to choose."""

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.kinematics import Free, Hinge, Pose
from ik_triangulation.solvers.batch.along_path import Course, can_follow, triangulated
from ik_triangulation.solvers.triangulation import step

from ...chains import straight

CHAIN = straight((2.0, 1.0, 1.5, 0.5))
STILL = np.array([pose[:] for pose in CHAIN.rest_pose().rotations])


def course(aims, frames=1):
    """Aims (3, F), with the parent of the root at the origin: once for all frames, or at each of them."""
    return Course(np.repeat(np.eye(3)[:, :, None], frames, 2), np.zeros((3, frames)), aims)


@pytest.mark.parametrize("frames", [1, 80])
def test_each_frame_is_a_pass_from_the_one_before(frames):
    random = np.random.default_rng(3)
    aims = np.cumsum(random.normal(0.0, 0.3, (3, 80)), 1) + np.array((0.5, 3.0, 0.5))[:, None]
    aims *= np.minimum(1.0, 4.9 / np.linalg.norm(aims, axis=0))
    found, before, after = triangulated(CHAIN, STILL, course(aims, frames))
    assert found.shape == (4, 4, 80)
    assert after.max() < 1e-9
    start = STILL
    for k in range(80):
        pose = Pose(CHAIN, Matrix.Identity(4), list(map(Quaternion, start)))
        aim = Vector(aims[:, k])
        assert before[k] == pytest.approx((aim - pose.tip).length, abs=1e-5)
        step(pose, aim)
        wanted = np.array([rotation[:] for rotation in pose.rotations])
        start = found[:, :, k]
        assert np.abs((wanted * start).sum(1)).min() > 1.0 - 1e-6


def test_it_stops_before_a_frame_at_which_a_straight_chain_has_to_choose_its_plane():
    aims = np.array([[0.0, 5.0, 0.0], [0.0, 3.0, 0.0]]).T
    assert triangulated(CHAIN, STILL, course(aims)).rotations.shape == (4, 4, 1)


def test_chains_with_limits_and_scaled_parents_are_not_followed():
    still = np.eye(3)[:, :, None]
    assert can_follow(CHAIN, still)
    assert not can_follow(CHAIN, 2.0 * still)
    assert not can_follow(straight((1.0, 1.0), [Free(), Hinge((1.0, 0.0, 0.0), 0.0, 1.0)]), still)
