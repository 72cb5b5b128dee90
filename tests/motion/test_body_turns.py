# SPDX-License-Identifier: GPL-3.0-or-later
"""The largest turn from frame to frame is found, and how far it stands out."""

import numpy as np
import pytest

from ik_triangulation.motion.body_easing import largest_turns, unsteadiness
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import random_path, stands

FIGURE = humanoid.body()


def test_a_turn_of_one_joint_is_the_largest():
    states = stands(FIGURE, 3)
    states.angles[0] = 0.0, 0.1, 0.1 + 1e-6
    assert largest_turns(FIGURE.tree, states) == pytest.approx([0.1, 1e-6], rel=1e-5)


def test_a_jump_stands_out_and_a_smooth_path_does_not():
    states = random_path(FIGURE, 2, 60)
    assert unsteadiness(FIGURE.tree, states) < 1.5
    states.angles[5, 30:] += 1.0
    assert unsteadiness(FIGURE.tree, states) > 5.0


def test_what_hardly_moves_does_not_jump():
    states = stands(FIGURE, 40)
    states.angles[0, 20:] += 1e-3
    assert unsteadiness(FIGURE.tree, states) < 0.2
    assert unsteadiness(FIGURE.tree, states.take(np.arange(2))) == 0.0
    assert unsteadiness(FIGURE.tree, states.take(np.arange(4))) < 0.2
