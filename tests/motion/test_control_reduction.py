# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of a control are dropped while what it carries, and its pole, stay within the tolerance."""

import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.motion.frames import straight
from ik_triangulation.motion.reduction import ControlBounds, FullBake, JointChannels, reduce

COUNT = 60


def motion(turning):
    """Location, a quaternion about X and a pole's location, at every frame."""
    times = np.arange(COUNT, dtype=float)
    location = np.column_stack((np.sin(times / 9.0), 0.02 * times, np.zeros(COUNT)))
    angles = turning * np.sin(times / 7.0)
    rotation = np.column_stack((np.cos(angles / 2), np.sin(angles / 2), np.zeros(COUNT), np.zeros(COUNT)))
    return straight(times, np.hstack((location, rotation, location[:, ::-1])))


def full(turning=0.5, lever=0.2, scale=1.0):
    track = JointChannels(0, "QUATERNION", slice(3, 7), range(4))
    bounds = ControlBounds(COUNT, range(3), range(7, 10), lever, scale)
    return FullBake(motion(turning), [track], bounds, [*range(3), *range(7, 10)])


def test_fewer_keys_keep_everything_within_the_tolerance():
    bake = full()
    found = finished(reduce(bake, 0.01))
    assert 4 < len(found.kept) < COUNT / 2
    assert found.deviation <= 0.01
    there = found.curves.at(np.arange(COUNT, dtype=float))
    off = there - bake.curves.values
    assert np.linalg.norm(off[:, :3], axis=1).max() <= 0.01
    assert np.linalg.norm(off[:, 7:], axis=1).max() <= 0.01


@pytest.mark.parametrize("more", [{"turning": 2.0}, {"lever": 5.0}, {"scale": 10.0}])
def test_what_moves_the_carried_tip_farther_needs_more_keys(more):
    assert len(finished(reduce(full(**more), 0.01)).kept) > len(finished(reduce(full(), 0.01)).kept)


def test_a_control_that_only_moves_has_no_rotation_to_keep():
    times = np.arange(COUNT, dtype=float)
    values = np.column_stack((times, times**2 / 100.0, np.zeros(COUNT)))
    bounds = ControlBounds(COUNT, range(3), (), 0.0, 1.0)
    found = finished(reduce(FullBake(straight(times, values), [], bounds, range(3)), 0.05))
    assert len(found.kept) < COUNT / 2
