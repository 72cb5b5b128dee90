# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose, worked out lazily and moved joint by joint, is where plain forward kinematics in double precision puts it."""

from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.kinematics import Chain, Free, Hinge, Inheritance, Joint, Pose
from ik_triangulation.kinematics.rotation import about, angle_between
from ik_triangulation.solvers import ccd, triangulation

from ..chains import (
    bits,
    forward,
    hinged,
    limited,
    mixed,
    random_base,
    random_chain,
    random_direction,
    random_pose,
    random_rotation,
    straight,
)

SCALES = (
    Vector((-1.0, 1.0, 1.0)),
    Vector((1.0, 1.0, -1.0)),
    Vector((2.0, 2.0, 2.0)),
    Vector((0.5, 3.0, -1.5)),
    None,
)


def agrees(pose, random):
    """Everything a pose can be asked for, in random order, against forward kinematics."""
    chain, count = pose.chain, len(pose)
    places, frames = forward(chain, pose.base, pose.rotations)
    close = 3e-6 * max(chain.reach, np.abs(places).max())
    queries = [("head", i) for i in range(count)] + [("link", i) for i in range(count)]
    queries += [("end", i) for i in range(count)] + [("frame", i) for i in range(count)] + [("tip", 0)] * 2
    random.shuffle(queries)
    for query, i in queries[: random.randint(1, len(queries))]:
        if query == "frame":
            size = np.abs(frames[i]).max()
            assert np.abs(np.array(pose.frame(i)) - frames[i]).max() < 1e-5 * size, (query, i)
            continue
        if query == "tip":
            got, wanted = pose.tip, places[-1]
        elif query == "head":
            got, wanted = pose.head(i), places[i]
        elif query == "link":
            got, wanted = pose.link(i), places[i + 1] - places[i]
        else:
            got, wanted = pose.end(i), places[i + 1]
        assert np.abs(np.array(got) - wanted).max() < close, (query, i)


def disturb(pose, random, saved):
    """One random change to a pose; returns the pose to go on with."""
    i = random.randrange(len(pose))
    what = random.choice(("turn", "swing", "swing", "save", "restore", "copy", "project"))
    if what == "turn":
        pose.turn(i, random_rotation(random))
    elif what == "swing":
        pose.swing(i, random_direction(random), random_direction(random))
    elif what == "save":
        saved[:] = [(pose.rotations[:], len(pose.turns))]
    elif what == "restore" and saved:
        rotations, turns = saved.pop()
        pose.restore(rotations, turns)
        assert bits(pose.rotations) == bits(rotations)
        assert len(pose.turns) == turns
    elif what == "copy":
        saved.clear()  # what was taken from a pose goes back to that pose
        return pose.copy()
    elif what == "project" and pose.project():
        saved.clear()
        assert not pose.turns
    return pose


@pytest.mark.parametrize("make", [random_chain, hinged, limited, mixed])
def test_whatever_is_done_to_a_pose_it_stands_where_forward_kinematics_says(make, long):
    random = Random(1)
    for seed in range(60 if long else 25):
        chain = make(seed, random.randint(1, 12), 10.0)
        pose, saved = random_pose(chain, random, random_base(random, 2.0)), []
        for _ in range(12):
            pose = disturb(pose, random, saved)
            if random.random() < 0.7:
                agrees(pose, random)
        agrees(pose, random)


def test_a_chain_with_scaled_and_mirrored_joints_stands_where_forward_kinematics_says():
    random = Random(2)
    for seed in range(60):
        plain = mixed(seed, random.randint(1, 5))
        chain = Chain(
            tuple(
                Joint(joint.name, joint.offset, joint.rest, joint.freedom, scale=random.choice(SCALES))
                for joint in plain.joints
            ),
            plain.tip,
        )
        pose, saved = random_pose(chain, random, random_base(random)), []
        for _ in range(8):
            pose = disturb(pose, random, saved)
            agrees(pose, random)
        places, _ = forward(chain, pose.base, pose.rotations)
        assert pose.lengths == pytest.approx(np.linalg.norm(np.diff(places, axis=0), axis=1), rel=1e-4)


def test_turning_a_joint_turns_all_that_comes_after_about_it():
    random = Random(10)
    for seed in range(60):
        pose = random_pose(random_chain(seed, 5), random, random_base(random))
        i, turn = random.randrange(5), random_rotation(random)
        heads, tip = [pose.head(j).copy() for j in range(5)], pose.tip.copy()
        pose.turn(i, turn)
        for j, head in enumerate(heads):
            wanted = head if j <= i else heads[i] + turn @ (head - heads[i])
            assert (pose.head(j) - wanted).length < 1e-5
        assert (pose.tip - heads[i] - turn @ (tip - heads[i])).length < 1e-5


@pytest.mark.parametrize("scale", [1.0, 2.5, -1.0])
def test_turning_a_joint_turns_its_link_in_armature_space(scale):
    random = Random(3)
    for seed in range(100):
        plain = random_chain(seed, 5)
        joints = [
            Joint(joint.name, joint.offset, joint.rest, Free(), scale=Vector((scale,) * 3) if i == 1 else None)
            for i, joint in enumerate(plain.joints)
        ]
        pose = random_pose(Chain(joints, plain.tip), random, random_base(random))
        i, turn = random.randrange(5), random_rotation(random)
        wanted = np.array(turn.to_matrix()) @ np.array(pose.frame(i))
        pose.turn(i, turn)
        assert np.abs(np.array(pose.frame(i)) - wanted).max() < 1e-5 * abs(scale)


@pytest.mark.parametrize("mirror", [(-1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (1.0, 1.0, -1.0), (2.0, 2.0, -2.0)])
def test_turning_a_joint_under_a_mirrored_one_turns_its_link_the_way_it_was_asked(mirror):
    random = Random(4)
    for seed in range(100):
        plain = random_chain(seed, 3)
        joints = [
            Joint(joint.name, joint.offset, joint.rest, Free(), scale=Vector(mirror) if i == 0 else None)
            for i, joint in enumerate(plain.joints)
        ]
        pose = random_pose(Chain(joints, plain.tip), random)
        turn = random_rotation(random)
        wanted = turn @ pose.link(1)
        pose.turn(1, turn)
        assert (pose.link(1) - wanted).length < 1e-5 * wanted.length


@pytest.mark.parametrize("inheritance", ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"])
@pytest.mark.parametrize("rotation", [True, False])
def test_a_link_swings_onto_any_direction_however_its_joint_inherits(inheritance, rotation):
    random = Random(5)
    for seed in range(40):
        plain = random_chain(seed, 4)
        joints = [
            Joint(
                joint.name,
                joint.offset,
                joint.rest,
                Free(),
                scale=random.choice(SCALES),
                inheritance=Inheritance(inheritance, rotation, random_rotation(random).to_matrix()),
            )
            for joint in plain.joints
        ]
        pose = random_pose(Chain(joints, plain.tip), random, random_base(random))
        i, direction = random.randrange(4), random_direction(random)
        tip = pose.tip.copy()
        pose.swing(i, pose.link(i), direction)
        assert angle_between(pose.link(i), direction) < 2e-5
        assert i == 3 or (pose.tip - tip).length > 0.0
        fresh = Pose(pose.chain, pose.base, pose.rotations)
        assert (fresh.tip - pose.tip).length < 1e-5 * sum(pose.lengths)
        for j in range(4):
            assert (fresh.head(j) - pose.head(j)).length < 1e-5 * sum(pose.lengths)


def test_a_turn_goes_only_as_far_as_the_joint_allows():
    hinge = Hinge(Vector((1.0, 0.0, 0.0)), 0.0, 1.0)
    pose = straight((1.0, 1.0), [hinge, hinge]).rest_pose()
    pose.turn(1, about(hinge.axis, 2.0))
    assert angle_between(pose.link(0), pose.link(1)) == pytest.approx(1.0, abs=1e-6)
    pose.turn(1, about(Vector((0.0, 0.0, 1.0)), 2.0))
    assert pose.rotations[1][2:] == pytest.approx((0.0, 0.0), abs=1e-7)


def test_what_a_copy_does_stays_in_the_copy():
    random = Random(6)
    for seed in range(30):
        pose = random_pose(mixed(seed, 6), random)
        pose.project()
        before, turns, tip = bits(pose.rotations), len(pose.turns), pose.tip.copy()
        copy = pose.copy()
        assert bits(copy.rotations) == before
        for i in range(6):
            copy.swing(i, random_direction(random), random_direction(random))
        assert bits(pose.rotations) == before
        assert len(pose.turns) == turns
        assert pose.tip == tip
        agrees(pose, random)


def test_the_rotations_given_are_not_changed():
    random = Random(7)
    chain = random_chain(1, 4)
    rotations = [random_rotation(random) for _ in range(4)]
    before = bits(rotations)
    pose = Pose(chain, Matrix.Identity(4), rotations)
    for i in range(4):
        pose.turn(i, random_rotation(random))
    assert bits(rotations) == before


@pytest.mark.parametrize("make", [random_chain, hinged, limited, mixed])
def test_projecting_twice_changes_nothing_the_second_time(make):
    random = Random(8)
    for seed in range(60):
        pose = random_pose(make(seed, 6), random)
        pose.project()
        before = bits(pose.rotations)
        assert not pose.project()
        assert bits(pose.rotations) == before


def test_a_joint_bends_about_its_own_axis_when_nothing_else_decides():
    random = Random(9)
    for seed in range(50):
        pose = random_pose(hinged(seed, 4), random)
        for i in range(4):
            direction = random_direction(random) * 4.0
            across = pose.bend(i, direction)
            axis = pose.frame(i) @ pose.chain.joints[i].freedom.bend_axis
            assert across.length == pytest.approx(1.0, abs=1e-6)
            assert across.dot(direction) == pytest.approx(0.0, abs=4e-6)
            assert across.dot(axis) == pytest.approx(0.0, abs=1e-5)
    # Straight along the axis there is no such direction, and any other does.
    pose = straight((1.0, 1.0)).rest_pose()
    assert pose.bend(0, Vector((1.0, 0.0, 0.0))).dot(Vector((1.0, 0.0, 0.0))) == pytest.approx(0.0, abs=1e-6)


def test_a_straight_joint_bends_so_that_the_next_bends_positively():
    pose, along = straight((1.0, 1.0)).rest_pose(), Vector((0.0, 1.0, 0.0))
    pose.swing(0, along, along + pose.bend(0, along))
    pose.swing(1, pose.link(1), along)
    assert pose.rotations[1].to_axis_angle()[0].x == pytest.approx(1.0, abs=1e-6)


def work(count, monkeypatch, step):
    """How many frames a step works out on a chain of that many links."""
    chain = random_chain(1, count)
    pose, aim = random_pose(chain, Random(1)), Vector((0.1, 0.2, 0.3)) * count
    frames = []
    extend, frame = Pose._extend, Pose.frame

    def extended(pose, last):
        frames.extend(range(pose._known, last + 1))
        extend(pose, last)

    def framed(pose, i):
        frames.append(i)
        return frame(pose, i)

    monkeypatch.setattr(Pose, "_extend", extended)
    monkeypatch.setattr(Pose, "frame", framed)
    step(pose, aim)
    assert pose.tip.length > 0.0
    monkeypatch.undo()
    return len(frames)


def read_all(pose, _):
    for i in range(len(pose)):
        assert pose.head(i).length >= 0.0
        pose.turn(i, Quaternion((1.0, 0.0, 0.0, 0.1)).normalized())


@pytest.mark.parametrize("step", [read_all, triangulation.step, triangulation.step_2007, ccd.step])
def test_a_pass_over_twice_as_long_a_chain_is_twice_the_work(step, monkeypatch):
    short, long = work(100, monkeypatch, step), work(200, monkeypatch, step)
    assert short < 100 * 12
    assert long < 2.1 * short


@pytest.mark.parametrize("seed", range(20))
def test_a_pose_that_goes_on_is_a_new_one_to_the_last_bit(seed):
    random = Random(seed)
    chain = (limited, mixed)[seed % 2](seed, 5)
    going = random_pose(chain, random)
    going.project()
    for _ in range(4):
        base = going.base if random.random() < 0.5 else random_base(random)
        new = Pose(chain, base, going.rotations)
        going.again(base)
        aim = new.tip + 0.1 * chain.reach * random_direction(random)
        for pose in (going, new):
            triangulation.step(pose, aim)
        assert bits([*going.rotations, going.tip]) == bits([*new.rotations, new.tip])
        assert going.cost == new.cost
