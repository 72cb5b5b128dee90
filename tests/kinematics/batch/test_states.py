# SPDX-License-Identifier: GPL-3.0-or-later
"""States are taken and put back pose by pose."""

import numpy as np

from ik_triangulation.kinematics.batch.tree import joined

from ...chains import mixed
from ...trees import batch_of, drawn, random_tree, rest_of

ARRAYS = ("angles", "balls", "held", "root", "place")


def test_some_poses_are_taken_and_put_back():
    for tree, states in (batch_of(mixed(2, 6), 8, 2), batch_of(mixed(2, 6), 8, 2, moving=False), body_states()):
        some = np.array([0, 3, 7])
        other = drawn(tree, states, np.random.default_rng(1))
        mixture = states.copy()
        mixture.put(some, other.take(some))
        for n in range(8):
            source = other if n in some else states
            for name in ("angles", "balls", *(("place",) if tree.moves_root else ())):
                assert np.array_equal(getattr(mixture, name)[..., n], getattr(source, name)[..., n])


def body_states():
    tree = random_tree(1, moves_root=True)
    return tree, drawn(tree, rest_of(tree, 8), np.random.default_rng(2))


def test_a_copy_leaves_the_poses_as_they_are():
    tree, states = batch_of(mixed(2, 6), 8, 2)
    before = [getattr(states, name).copy() for name in ARRAYS]
    copy = states.copy()
    copy.put(np.arange(8), drawn(tree, states, np.random.default_rng(1)))
    assert all(np.array_equal(getattr(states, name), array) for name, array in zip(ARRAYS, before, strict=True))


def test_a_single_pose_that_is_taken_by_its_number_has_a_place_of_its_own():
    _, states = body_states()
    one = states.take([0])
    own = one.take(np.array([0]))
    own.place += 1.0
    assert np.array_equal(one.place[:, 0], states.place[:, 0])


def test_rotations_are_put_on_the_bases_of_other_poses():
    _, states = batch_of(mixed(2, 6), 8, 2)
    _, other = batch_of(mixed(2, 6), 8, 3)
    both = states.like(other)
    assert both.angles is states.angles
    assert both.root is other.root
    assert both.place is other.place


def test_parts_are_joined_one_after_the_other_whether_they_share_a_base_or_not():
    for moving in (True, False):
        _, one = batch_of(mixed(2, 6), 3, 2, moving)
        _, other = batch_of(mixed(2, 6), 2, 3, moving)
        whole = joined([one, other, one.take(slice(0, 1))])
        assert len(whole) == 6
        for n, (part, number) in enumerate([(one, 0), (one, 1), (one, 2), (other, 0), (other, 1), (one, 0)]):
            for name in ARRAYS:
                values = getattr(part, name)
                single = values[..., number if values.shape[-1] > 1 else 0]
                assert np.array_equal(getattr(whole, name)[..., n], single), name


def test_a_root_that_moves_gets_a_place_for_each_pose_once():
    tree = random_tree(1, moves_root=True)
    states = rest_of(tree, 4)
    states.place = np.array([[1.0], [2.0], [3.0]])
    states.own_places()
    assert np.array_equal(states.place, [[1.0] * 4, [2.0] * 4, [3.0] * 4])
    own = states.place
    states.own_places()
    assert states.place is own
