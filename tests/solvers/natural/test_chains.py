# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain follows its goals with the posture that somebody gave it, over a whole shot."""

from dataclasses import replace

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.goals import Plane
from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.goals.orientation import AlongTask, OrientTask
from ik_triangulation.goals.target_shapes import BatchTarget
from ik_triangulation.goals.task import PlaceTask
from ik_triangulation.kinematics import EulerLimits, Free, Locked
from ik_triangulation.kinematics.batch import Geometry, States, Tree
from ik_triangulation.kinematics.batch.algebra import exponential, matrices
from ik_triangulation.solvers.natural import chains

from .motions import (
    BEND,
    BENDS,
    CHAINS,
    REST,
    STRAIGHT,
    Motion,
    angles_between,
    at_rest,
    chain_of,
    largest_turns,
    met,
    pops,
)

SEEDS = range(6)
every_chain = pytest.mark.parametrize("name", CHAINS)
either_goal = pytest.mark.parametrize("turned", [False, True], ids=["place", "place and turn"])


def spread(*given, **more):
    """The same as chains.spread(), run to its end."""
    return finished(chains.spread(*given, **more))


def solved(motion, turned, kind, **more):
    return spread(motion.tree, motion.states, motion.tasks(turned), motion.reference(kind), **more)


def point(tree, *place):
    return [point_task(np.array(place, float)[:, None], np.full(1, 1e-4 * tree.size))]


def one(tree, tasks, **more):
    """Angles [degrees] of the joints of a single pose from rest, which meets the tasks."""
    states = spread(tree, at_rest(tree, 1), tasks, np.repeat(REST, len(tree.joints), 0), **more)
    assert met(tree, states, tasks).all()
    return angles_between(tree.rotations(states), np.repeat(REST, len(tree.joints), 0))[:, 0]


@every_chain
@either_goal
@pytest.mark.parametrize("kind", ["first", "rest", "keyed"])
def test_every_frame_is_met_within_limits_and_turns_calmly(name, turned, kind, long):
    popped = []
    for seed in SEEDS if long else SEEDS[:2]:
        motion = Motion.of(CHAINS[name], seed)
        states = solved(motion, turned, kind)
        assert met(motion.tree, states, motion.tasks(turned)).all()
        assert ((states.angles >= motion.tree.lower) & (states.angles <= motion.tree.upper)).all()
        popped += pops(motion.tree.rotations(states), motion.rotations)
    assert len(popped) <= 1  # the top of a smooth turn by 3.3 degrees, of 160 frames times 6: the best pose is there


@pytest.mark.parametrize(
    ("name", "kind", "median", "most"),
    [
        ("spine", "first", 4.0, 9.0),
        ("spine", "rest", 3.0, 6.0),
        ("spine", "keyed", 1.2, 4.0),
        ("vertebrae", "first", 4.0, 9.0),
        ("vertebrae", "rest", 3.0, 6.0),
        ("neck", "rest", 2.5, 5.0),
        ("tail", "rest", 3.5, 7.0),
    ],
)
def test_the_motion_that_made_the_goals_is_found_again(name, kind, median, most, long):
    off = []
    for seed in SEEDS if long else SEEDS[:3]:
        motion = Motion.of(CHAINS[name], seed)
        off.append(angles_between(motion.tree.rotations(solved(motion, True, kind)), motion.rotations).ravel())
    off = np.concatenate(off)
    assert np.median(off) < median
    assert np.percentile(off, 95) < most


@every_chain
@either_goal
def test_frames_around_the_present_one_give_the_pose_of_the_whole_shot(name, turned, long):
    off = []
    for seed in SEEDS if long else SEEDS[:1]:
        motion = Motion.of(CHAINS[name], seed)
        tasks, reference = motion.tasks(turned), motion.reference("keyed")
        whole = motion.tree.rotations(solved(motion, turned, "keyed"))
        for frame in range(0, len(motion.states), 24):
            window = np.arange(max(0, frame - 8), min(len(motion.states), frame + 9))
            some, begin = [task.take(window) for task in tasks], int(window[0])
            states = spread(motion.tree, motion.states.take(window), some, reference[..., window], first=begin)
            now = motion.tree.rotations(states)[..., frame - begin]
            off.append(angles_between(now[..., None], whole[..., frame : frame + 1]).max())
    assert max(off) < 0.5


@every_chain
@either_goal
def test_a_lap_closes(name, turned, long):
    for seed in SEEDS if long else SEEDS[:3]:
        motion = Motion.of(CHAINS[name], seed, 121, cyclic=True)
        states = solved(motion, turned, "rest", cyclic=True)
        rotations = motion.tree.rotations(states)
        assert met(motion.tree, states, motion.tasks(turned)).all()
        assert angles_between(rotations[..., :1], rotations[..., -1:]).max() < 0.1
        around = np.concatenate((rotations[..., -20:-1], rotations[..., :20]), -1)
        assert largest_turns(around).max() < 2.0 * largest_turns(rotations).max()


def test_a_cycle_may_begin_at_any_of_its_frames():
    motion = Motion.of(CHAINS["spine"], 1, 121, cyclic=True)
    lap = np.arange(120)
    states, tasks = motion.states.take(lap), [task.take(lap) for task in motion.tasks(True)]
    shifted = (lap + 40) % 120
    found = spread(motion.tree, states, tasks, motion.reference("rest"), cyclic=True)
    other = [task.take(shifted) for task in tasks]
    again = spread(motion.tree, states.take(shifted), other, motion.reference("rest"), cyclic=True)
    assert angles_between(motion.tree.rotations(found)[..., shifted], motion.tree.rotations(again)).max() < 0.1


@every_chain
def test_a_reference_that_meets_the_goals_is_returned(name):
    motion = Motion.of(CHAINS[name], 2)
    states = spread(motion.tree, motion.states, motion.tasks(True), motion.rotations)
    assert angles_between(motion.tree.rotations(states), motion.rotations).max() < 1e-3


def test_the_rotations_that_frames_happen_to_have_do_not_matter():
    motion, other = Motion.of(CHAINS["spine"], 3), Motion.of(CHAINS["spine"], 4)
    tasks, reference = motion.tasks(True), motion.reference("first")
    found = [spread(motion.tree, states, tasks, reference) for states in (motion.states, other.states)]
    assert np.array_equal(found[0].balls, found[1].balls)


def test_a_long_shot_is_solved_in_parts_that_agree():
    motion = Motion.of(CHAINS["spine"], 5, 2300)
    tasks, reference = motion.tasks(True), motion.reference("first")
    states = spread(motion.tree, motion.states, tasks, reference)
    assert met(motion.tree, states, tasks).all()
    window = np.arange(900, 1200)
    some = [task.take(window) for task in tasks]
    part = spread(motion.tree, motion.states.take(window), some, reference, first=900)
    whole = motion.tree.rotations(states)[..., 920:1180]
    assert angles_between(whole, motion.tree.rotations(part)[..., 20:-20]).max() < 0.1


def test_smoothing_leaves_less_change_to_a_tail():
    motion, changes = Motion.of(CHAINS["tail"], 1), []
    for smoothing in (0.0, 1.0):
        states = solved(motion, False, "rest", smoothing=smoothing)
        assert met(motion.tree, states, motion.tasks(False)).all()
        rotations = motion.tree.rotations(states)
        changes.append((angles_between(rotations[..., 1:], rotations[..., :-1]) ** 2).sum())
    assert changes[1] < 0.98 * changes[0]


@pytest.mark.parametrize("fps", [12.0, 24.0, 60.0, 120.0])
def test_every_frame_rate_gives_nearly_the_same_motion(fps):
    motion = Motion.of(CHAINS["neck"], 1)
    usual = motion.tree.rotations(solved(motion, True, "rest"))
    other = solved(motion, True, "rest", fps=fps)
    assert met(motion.tree, other, motion.tasks(True)).all()
    assert np.percentile(angles_between(motion.tree.rotations(other), usual), 95) < 1.5


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 9, 17])
def test_few_frames_are_enough(count):
    motion = Motion.of(CHAINS["vertebrae"], 1)
    some = np.arange(count)
    tasks = [task.take(some) for task in motion.tasks(True)]
    for cyclic in (False, True):
        states = spread(motion.tree, motion.states.take(some), tasks, motion.reference("rest"), cyclic=cyclic)
        assert met(motion.tree, states, tasks).all()


@pytest.mark.parametrize("height", [4.9, 4.0, 2.5, 0.5, 0.0])
def test_a_straight_chain_bends_about_its_axis_of_flexion(height):
    tree = Tree.of(STRAIGHT)
    tasks = point(tree, 0.0, height, 0.0)
    states = spread(tree, at_rest(tree, 1), tasks, np.repeat(REST, 5, 0))
    assert met(tree, states, tasks).all()
    assert np.abs(Geometry(tree, states).heads[:, 0]).max() < 1e-6  # about X: the heads stay in the YZ plane
    axes = np.tile((0.0, 0.0, 1.0), (5, 1))
    states = spread(tree, at_rest(tree, 1), tasks, np.repeat(REST, 5, 0), flexion=axes)
    assert met(tree, states, tasks).all()
    assert np.abs(Geometry(tree, states).heads[:, 2]).max() < 1e-6


def test_stiff_and_costly_joints_turn_less():
    even = one(Tree.of(STRAIGHT), point(Tree.of(STRAIGHT), 0.0, 3.5, 1.0))
    joints = [replace(joint, stiffness=0.7 if i == 3 else 0.0) for i, joint in enumerate(STRAIGHT.joints)]
    stiff = one(tree := Tree.of(replace(STRAIGHT, joints=tuple(joints))), point(tree, 0.0, 3.5, 1.0))
    costly = one(tree := Tree.of(STRAIGHT), point(tree, 0.0, 3.5, 1.0), weights=np.array([1.0, 1.0, 1.0, 11.0, 1.0]))
    assert stiff[3] < 0.3 * even[3]
    assert costly[3] < 0.3 * even[3]


def test_locked_joints_stay():
    joints = [replace(joint, freedom=Locked()) if i in (0, 2) else joint for i, joint in enumerate(STRAIGHT.joints)]
    tree = Tree.of(replace(STRAIGHT, joints=tuple(joints)))
    assert one(tree, point(tree, 0.0, 3.5, 1.0))[[0, 2]].max() == 0.0
    still = Tree.of(replace(STRAIGHT, joints=tuple(replace(joint, freedom=Locked()) for joint in joints)))
    states = spread(still, at_rest(still, 3), point(still, 0.0, 3.5, 1.0), np.repeat(REST, 5, 0))
    assert np.array_equal(states.held, at_rest(still, 3).held)


def test_the_tip_slides_along_a_shape_to_where_the_posture_is_best():
    tree, count = Tree.of(STRAIGHT), 40
    place = np.zeros((3, count))
    place[1] = np.linspace(0.0, 2.0, count)
    plane = BatchTarget(
        Plane(Vector((0.0, 1.0, 0.0)), Vector((0.0, 1.0, 0.0))), np.eye(3)[:, :, None], place, np.ones(1)
    )
    tasks = [PlaceTask(target=plane, tolerance=np.full(1, 5e-4))]
    states = spread(tree, at_rest(tree, count), tasks, np.repeat(REST, 5, 0))
    assert met(tree, states, tasks).all()
    assert np.abs(Geometry(tree, states).tip()[1] - 1.0 - place[1]).max() < 5e-4
    assert largest_turns(tree.rotations(states)).max() < 3.0


def test_directions_are_met_under_a_root_that_moves():
    motion = Motion.of(CHAINS["spine"], 1, 60)
    turn = matrices(exponential(np.cumsum(np.full((3, 60), 0.02), 1)))
    place = np.cumsum(np.full((3, 60), 0.05), 1)
    motion.states = States(motion.states.angles, motion.states.balls, motion.states.held, turn, place)
    where, how = motion.tasks(True)
    axis = np.array([[0.0], [1.0], [0.0]])
    direction = AlongTask(length=how.length, tolerance=how.tolerance, axis=axis, direction=how.rotation[:, 1].copy())
    states = spread(motion.tree, motion.states, [where, direction], motion.reference("rest"))
    assert met(motion.tree, states, [where, direction]).all()
    assert largest_turns(motion.tree.rotations(states)).max() < 3.0


@pytest.mark.parametrize("name", ["spine", "tail"])
@either_goal
def test_a_target_out_of_reach_is_pointed_at_by_a_straight_chain(name, turned):
    motion = Motion.of(CHAINS[name], 1)
    tasks = motion.tasks(turned)
    tasks[0].target.place[:] *= 2.0 * motion.tree.size / np.linalg.norm(tasks[0].target.place, axis=0)
    states = spread(motion.tree, motion.states, tasks, motion.reference("rest"))
    distance = np.linalg.norm(Geometry(motion.tree, states).tip() - tasks[0].target.place, axis=0)
    assert distance.max() < 1.001 * motion.tree.size
    assert pops(motion.tree.rotations(states), motion.rotations) == []


def test_a_target_at_the_full_reach_is_met():
    tree = Tree.of(STRAIGHT)
    one(tree, point(tree, 3.0, 4.0, 0.0))
    one(tree, point(tree, 3.0 * 0.99999, 4.0 * 0.99999, 0.0))


@either_goal
def test_goals_beyond_the_limits_are_approached_within_them(turned, long):
    stiff = EulerLimits("XYZ", (-0.25, -0.2, -0.2), (0.25, 0.2, 0.2))
    tree = Tree.of(chain_of((1.0,) * 6, BENDS, [stiff] * 6))
    reached, seeds = 0, SEEDS if long else SEEDS[:2]
    for seed in seeds:
        motion = Motion.of(chain_of((1.0,) * 6, BENDS, [Free()] * 6), seed, bend=2.0 * BEND)
        tasks, rest = motion.tasks(turned), at_rest(tree, 160)
        states = spread(tree, rest, tasks, np.repeat(REST, 6, 0))
        assert ((states.angles >= tree.lower) & (states.angles <= tree.upper)).all()
        reached += met(tree, states, tasks).sum()
        off, before = (
            np.linalg.norm(Geometry(tree, each).tip() - tasks[0].target.place, axis=0) for each in (states, rest)
        )
        assert (off < np.maximum(before, 1e-3)).mean() > 0.98
        assert off.mean() < 0.5 * before.mean()
    assert 0 < reached < 160 * len(seeds)


@pytest.mark.parametrize("share", [0.97, 0.9])
def test_knees_of_a_straight_chain_bend_as_they_may_to_shorten_it_as_its_last_bone_is_told(share):
    """Joints that bend one way are bent by about what the way of the last bone's head asks for; the turn is met too."""
    knee = EulerLimits("XYZ", (-2.4, -0.1, -0.1), (0.05, 0.1, 0.1))
    tree = Tree.of(chain_of((1.0,) * 4, (0,) * 4, [Free(), knee, knee, Free()]))
    turn = matrices(exponential(np.array([[0.3], [0.2], [0.1]])))
    place = np.array([[0.0], [3.0 * share], [0.0]]) + turn[:, 1]
    told = OrientTask(rotation=turn, length=0.3 * tree.size, tolerance=np.array([0.01]))
    tasks = [point_task(place, np.array([1e-4 * tree.size])), told]
    states = spread(tree, at_rest(tree, 1), tasks, np.repeat(REST, 4, 0))
    assert met(tree, states, tasks).all()
    assert ((states.angles >= tree.lower) & (states.angles <= tree.upper)).all()
    bends = tree.rotations(states)[1:3, 1, 0]
    assert (bends < -0.02).all(), "about -X, the way in which the limits let them bend"
    begun = chains.turned_whole(tree, at_rest(tree, 1), tasks, tree.compliance)
    heads = Geometry(tree, begun).heads
    assert np.linalg.norm(heads[-1] - heads[0]) == pytest.approx(3.0 * share, rel=0.05)
