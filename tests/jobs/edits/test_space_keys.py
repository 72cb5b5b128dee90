# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes in a space: those that move keep their places in the world, those that repeat and what follows are held."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.jobs.edits.space_keys import SpacePlan, TargetSeen, frames_to_change, plan_for_space, planned_keys
from ik_triangulation.jobs.edits.spaces import AitkenSteps
from ik_triangulation.rig.keyframes.arrays import get_keys
from ik_triangulation.rig.timeline import Clock

from ...rigs import curves_of, empty

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


def test_keys_that_a_plan_changes_get_free_handles_and_rotations_go_on_the_shorter_way(empty_scene):
    target, turns = empty(), [Quaternion((0.0, 0.0, 1.0), angle) for angle in (0.0, 1.0, 2.0)]
    target.rotation_mode = "QUATERNION"
    for frame, turn in zip((1, 10, 20), turns, strict=True):
        target.rotation_quaternion = turn
        target.keyframe_insert("rotation_quaternion", frame=frame)
    half = Matrix.Rotation(2.0, 4, "Z")
    plan = SpacePlan({1.0: Matrix(), 10.0: half, 20.0: Matrix.Rotation(4.0, 4, "Z")}, {})
    keys = {curve.array_index: get_keys(curve) for curve in curves_of(target)}
    before = {index: {name: column.copy() for name, column in each.items()} for index, each in keys.items()}
    found = planned_keys(keys, plan, "rotation_quaternion", target, Clock(bpy.context.scene, target), turns[0])
    rows = np.array([found[index]["co"][:, 1] for index in range(4)]).T
    for row, angle in zip(rows, (0.0, 3.0, 6.0), strict=True):
        assert abs(Quaternion(row).dot(Quaternion((0.0, 0.0, 1.0), angle))) == pytest.approx(1.0, abs=1e-6)
    assert min(np.sum(rows[1:] * rows[:-1], axis=1)) > 0.0
    for index, each in found.items():
        for side in ("handle_left_type", "handle_right_type"):
            assert each[side][0] == before[index][side][0] != each[side][1] == each[side][2], index
        for name in ("co", "handle_left", "handle_right"):
            assert each[name][0].tolist() == before[index][name][0].tolist()
            assert each[name][:, 0] == pytest.approx(before[index][name][:, 0])


def test_euler_angles_go_on_as_they_turned_before(empty_scene):
    target = empty()
    for frame, angle in ((1, 0.0), (10, 3.0), (20, 6.0)):
        target.rotation_euler = (0.0, 0.0, angle)
        target.keyframe_insert("rotation_euler", frame=frame)
    plan = SpacePlan({frame: Matrix.Rotation(0.5, 4, "Z") for frame in (1.0, 10.0, 20.0)}, {})
    keys = {curve.array_index: get_keys(curve) for curve in curves_of(target)}
    found = planned_keys(keys, plan, "rotation_euler", target, Clock(bpy.context.scene, target), (0.0, 0.0, 0.0))
    assert found[2]["co"][:, 1] == pytest.approx([0.5, 3.5, 6.5], abs=1e-5)
