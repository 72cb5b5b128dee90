# SPDX-License-Identifier: GPL-3.0-or-later
"""Costs, limits and turns of a path from arrays are those of its poses, one after the other."""

from random import Random

import pytest

from ik_triangulation.kinematics import Cost
from ik_triangulation.kinematics.batch import Tree
from ik_triangulation.motion.jumps import PathMeasures, largest_turn

from ..chains import mixed, random_base, random_pose

FRAMES = 40


def path(seed):
    """A chain with every kind of limit in poses of which each is turned to from the one before, as a bake does."""
    random = Random(seed)
    chain = mixed(seed, 6)
    base = random_base(random)
    poses = [random_pose(chain, random, base)]
    poses[0].project()
    for _ in range(FRAMES - 1):
        before, wanted = poses[-1], random_pose(chain, random, base)
        pose = type(before)(chain, before.base, before.rotations)
        for i, (own, other) in enumerate(zip(before.rotations, wanted.rotations, strict=True)):
            turned = chain.joints[i].freedom.nearest(own.slerp(other, random.random()))
            pose.put(i, turned)
        poses.append(pose)
    tree = Tree.of(chain)
    return poses, PathMeasures(tree, tree.states(poses))


@pytest.mark.parametrize("seed", range(6))
def test_they_are_those_of_the_poses(seed):
    poses, measures = path(seed)
    for frame, pose in enumerate(poses):
        own, cost = measures.costs.at(frame), pose.cost
        assert abs(own.turns - cost.turns) <= 1  # one may be 5 degrees to rounding
        assert own.total_angle == pytest.approx(cost.total_angle, abs=5e-3)
        assert own.travel == pytest.approx(cost.travel, abs=1e-4 * pose.chain.reach)
        pairs = zip(pose.chain.joints, pose.rotations, strict=True)
        ends = {joint.name: joint.freedom.on_limits(rotation) for joint, rotation in pairs}
        assert measures.on_limits_at(frame) == {name: found for name, found in ends.items() if found}
    assert measures.on_limits
    at, joint, angle = largest_turn(poses)
    assert measures.largest_turn[:2] == (at, joint)
    assert measures.largest_turn.angle == pytest.approx(angle, abs=2e-3)


def test_what_is_known_of_a_frame_replaces_its_cost():
    poses, _ = path(0)
    tree = Tree.of(poses[0].chain)
    costs = PathMeasures(tree, tree.states(poses), {0: Cost(3, 1.5, 2.5)}).costs
    assert costs.at(0) == Cost(3, 1.5, 2.5)
    assert costs.total.turns == costs.turns.sum()


def test_a_single_frame_has_no_largest_turn():
    poses, _ = path(0)
    tree = Tree.of(poses[0].chain)
    assert PathMeasures(tree, tree.states(poses[:1])).largest_turn is None
