# SPDX-License-Identifier: GPL-3.0-or-later
"""The restarts of a single pose find what can be reached, and leave a pose that is never worse."""

from math import radians
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.kinematics import Hinge, Pose
from ik_triangulation.solvers.batch.restarts import is_batched, search, tree_of

from ...chains import hinged, limited, mixed, random_base, straight

X = (1.0, 0.0, 0.0)


def drawn(chain, random):
    """A pose of the chain at random, inside its limits."""
    pose = chain.rest_pose()
    for i, joint in enumerate(chain.joints):
        if joint.freedom.moves:
            pose.put(i, joint.freedom.nearest(joint.freedom.random(random)))
    return pose


def task_at(place, tolerance):
    return point_task(np.array(place, float)[:, None], np.full(1, tolerance))


@pytest.mark.parametrize("make", [hinged, limited, mixed])
def test_places_that_some_pose_reaches_are_reached_inside_the_limits(make):
    for seed in range(12):
        chain, random = make(seed, 4), Random(seed)
        pose, tolerance = chain.rest_pose(), 1e-3 * chain.reach
        pose.project()
        place = drawn(chain, random).tip
        met, steps = search(pose, [task_at(place, tolerance)], seed)
        assert met
        assert steps > 0
        assert (pose.tip - place).length <= 1.01 * tolerance
        assert all(j.freedom.allows(r) for j, r in zip(chain.joints, pose.rotations, strict=True))


def test_a_target_at_the_ends_of_ranges_is_reached_from_a_pose_that_is_stuck():
    chain = straight((1.0, 1.0), [Hinge(X, radians(-180.0), radians(30.0)), Hinge(X, radians(-110.0), 0.0)])
    end = chain.rest_pose()
    for i, angle in enumerate((-180.0, -110.0)):
        end.put(i, chain.joints[i].freedom.at(end.rotations[i], [radians(angle)]))
    pose = chain.rest_pose()
    met, _ = search(pose, [task_at(end.tip, 2e-3)], 0, stuck=True)
    assert met
    assert (pose.tip - end.tip).length <= 2.1e-3


def test_a_pose_that_meets_nothing_is_not_worse_than_before():
    chain = limited(3, 4)
    pose = chain.rest_pose()
    pose.project()
    place = Vector((3.0 * chain.reach, 0.0, 0.0))
    before = (pose.tip - place).length
    met, _ = search(pose, [task_at(place, 1e-3)], 0, rounds=(8,))
    assert not met
    assert (pose.tip - place).length <= before + 1e-5 * chain.reach


def test_a_scaled_or_mirrored_base_is_not_batched():
    chain = hinged(1, 3)
    rotations = chain.rest_pose().rotations
    turned = random_base(Random(1))
    assert is_batched(Pose(chain, turned, rotations))
    assert not is_batched(Pose(chain, turned @ Matrix.Scale(2.0, 4), rotations))
    assert not is_batched(Pose(chain, turned @ Matrix.Scale(-1.0, 4, (1.0, 0.0, 0.0)), rotations))


def test_the_tree_of_a_chain_is_made_once():
    chain = hinged(2, 3)
    assert tree_of(chain) is tree_of(chain)
