# SPDX-License-Identifier: GPL-3.0-or-later
"""The swivel that a bend misses is measured, and its rows are the derivatives of that."""

from dataclasses import replace

import numpy as np
from mathutils import Quaternion, Vector

from ik_triangulation.kinematics.batch import Geometry, Tree, TreeTip
from ik_triangulation.kinematics.batch.algebra import exponential, product, rotate_back, square_to

from ..chains import random_chain
from ..trees import batch_of, drawn, rest_of
from .test_task import COUNT, every_tree, inner_states, rows_of, tasks_of


def first_of(tree, tip):
    """The second joint of the way to a tip: what is before it moves the whole limb."""
    along = np.flatnonzero(tree.above[:, tip.joint])
    return int(along[min(1, len(along) - 2)])


@every_tree
def test_the_bend_turns_about_its_line_along_the_rows(tree):
    """The motion of the line itself is left out, as by the scalar goal."""
    tree = Tree(
        tree.joints, tree.parents, [replace(tip, first=first_of(tree, tip)) for tip in tree.tips], tree.moves_root
    )
    states = inner_states(tree, 2)
    geometry, step = Geometry(tree, states), 1e-6
    for number, tip in enumerate(tree.tips):
        task = tasks_of(tree, 2, number)["pole"]
        rows, _ = rows_of(task, geometry)
        inner = [j for j in range(len(tree.joints)) if tree.above[tip.first, j] and tree.above[j, tip.joint]][1:]
        line = geometry.tip(number) - geometry.heads[tip.first]
        u, v = square_to(line / np.linalg.norm(line, axis=0))
        for column in range(tree.columns):
            swivels = []
            for sign in (1.0, -1.0):
                change = np.zeros((tree.columns, COUNT))
                change[column] = sign * step
                heads = Geometry(tree, tree.moved(states, geometry.frames, change)).heads
                bend = (heads[inner] - heads[tip.first]).sum(0)
                swivels.append(np.arctan2((bend * v).sum(0), (bend * u).sum(0)))
            change = (swivels[0] - swivels[1] + np.pi) % (2.0 * np.pi) - np.pi
            assert np.abs(rows[0, column] - 0.7 * change / (2.0 * step)).max() < 1e-5


def test_the_swivel_that_is_missing_brings_the_bend_to_the_pole():
    tree, states = batch_of(random_chain(2, 4), COUNT, 2, moving=False)
    task = tasks_of(tree, 5)["pole"]
    geometry = Geometry(tree, states)
    missing = task.measure(geometry).errors[0] / 0.7
    root = geometry.heads[0]
    line = geometry.tip() - root
    line /= np.linalg.norm(line, axis=0)
    turned = drawn(tree, states, np.random.default_rng(1), 0.0)
    swivel = exponential(rotate_back(geometry.frames[0, :, :3], line * missing))
    turned.balls[0] = product(turned.balls[0], swivel)  # the first joint is a ball: rotate the whole chain
    after = task.measure(Geometry(tree, turned))
    assert after.off.max() < 1e-5  # the base is in single precision
    assert np.abs(Geometry(tree, turned).tip() - geometry.tip()).max() < 1e-5


def test_a_straight_limb_misses_no_swivel():
    chain = random_chain(1, 3)
    tree = Tree(chain.joints[:1], [-1], [TreeTip(0, Vector((0, 1, 0)), Quaternion(), 1.0)])
    states = rest_of(tree, COUNT)
    rows, measured = rows_of(tasks_of(tree, 1)["pole"], Geometry(tree, states))
    assert not measured.off.any()
    assert not rows.any()
