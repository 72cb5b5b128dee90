# SPDX-License-Identifier: GPL-3.0-or-later
"""Blocks of frames, averages in time, and eased shares."""

import numpy as np
import pytest

from ik_triangulation.kinematics.arrays import averaged_in_time, blocks, smoothstep


@pytest.mark.parametrize(("count", "joints"), [(0, 3), (1, 1), (60_000, 1), (60_001, 1), (7, 200_000), (4000, 40)])
def test_blocks_cover_all_frames_once_and_are_as_large_as_memory_allows(count, joints):
    found = list(blocks(count, joints))
    assert [n for each in found for n in range(each.start, each.stop)] == list(range(count))
    assert all((each.stop - each.start) * joints <= 60_000 or each.stop - each.start == 1 for each in found)
    assert len(found) == -(-count // max(1, 60_000 // joints))


def test_each_average_is_of_a_value_with_half_of_its_neighbours_weight():
    values = np.random.default_rng(1).normal(size=(9, 2))
    weights = np.zeros((9, 9))
    for n in range(9):
        for other, weight in ((n - 1, 0.25), (n, 0.5), (n + 1, 0.25)):
            weights[n, min(max(other, 0), 8)] += weight
    for times in range(4):
        wanted = np.linalg.matrix_power(weights, times) @ values
        assert averaged_in_time(values, times) == pytest.approx(wanted, abs=1e-12)


def test_eased_shares_go_evenly_through_their_middle_and_are_level_at_their_ends():
    shares = np.array([-0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5])
    assert smoothstep(shares) == pytest.approx([0.0, 0.0, 0.15625, 0.5, 0.84375, 1.0, 1.0], abs=1e-15)
    assert smoothstep(np.array([1e-4, 1.0 - 1e-4])) == pytest.approx([0.0, 1.0], abs=1e-7)
