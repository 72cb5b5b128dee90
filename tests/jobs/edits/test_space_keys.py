# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes in a space: those that move keep their places in the world, those that repeat and what follows are held."""

import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.jobs.edits.space_keys import TargetSeen, frames_to_change, plan_for_space
from ik_triangulation.jobs.edits.spaces import AitkenSteps

START, END = 10.0, 20.0


def at(x, turn=0.0):
    return Matrix.Translation((x, 0.0, 0.0)) @ Matrix.Rotation(turn, 4, "Z")


def planned(keyed):
    """The plan for a target with these keyframes (place by frame) on a table that moves and turns."""
    every = np.arange(1.0, 41.0)
    places = np.interp(every, sorted(keyed), [keyed[frame] for frame in sorted(keyed)])
    frames = frames_to_change(sorted(keyed), START, END)
    seen = {}
    for frame in frames:
        place = at(float(places[int(frame) - 1]))
        seen[frame] = TargetSeen(place, place, {"Table": at(frame, 0.1 * frame)})
    return plan_for_space(seen, sorted(keyed), "Table", START, END), seen


def in_space(plan, seen, frame):
    return seen[frame].spaces["Table"].inverted() @ plan.wanted[frame]


def far(one, other):
    return max(abs(a - b) for rows in zip(one, other, strict=True) for a, b in zip(*rows, strict=True))


def test_a_key_that_moves_keeps_its_place_and_one_that_repeats_is_held():
    plan, seen = planned({1.0: 0.0, 12.0: 2.0, 15.0: 5.0, 18.0: 5.0, 40.0: 9.0})
    assert far(plan.wanted[15.0], at(5.0)) < 1e-5
    assert far(in_space(plan, seen, 18.0), in_space(plan, seen, 15.0)) < 1e-5
    assert (plan.held, END in plan.changes) == (18.0, False)
    carried = seen[END + 1.0].spaces["Table"] @ in_space(plan, seen, 18.0)
    assert far(plan.wanted[END + 1.0], carried) < 1e-5
    assert far(plan.wanted[40.0], at(9.0)) < 1e-5
    assert plan.leaving[END + 1.0].length > 0.5


def test_a_target_that_is_keyed_right_after_goes_on_from_where_it_was():
    plan, seen = planned({float(frame): 0.1 * frame for frame in range(1, 41)})
    assert max(far(plan.wanted[frame], seen[frame].world) for frame in plan.wanted) < 1e-5
    assert (plan.held, plan.leaving) == (END, {})


def test_a_target_that_rests_on_every_frame_goes_back_by_and_by():
    plan, _ = planned({float(frame): 1.0 for frame in range(1, 41)})
    way = [plan.wanted[frame].translation.x - 1.0 for frame in np.arange(END + 1.0, END + 9.0)]
    assert way[0] > 5.0
    assert np.diff(way).max() < 0.0
    assert way[-1] < 0.1 * way[0]
    assert far(plan.wanted[END + 9.0], at(1.0)) < 1e-5


@pytest.mark.parametrize("slope", [0.75, -0.5])
def test_steps_of_an_iteration_are_relaxed(slope):
    steps, place, wanted = AitkenSteps(), Vector((1.0, 2.0, 3.0)), Vector((0.5, 0.5, 0.5))
    for _ in range(3):
        place = place + steps.step("Hips", wanted + (place - wanted) * slope - place)
    assert (place - wanted).length < 1e-5
