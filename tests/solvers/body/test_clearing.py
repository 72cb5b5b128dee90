# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms stay out of trunk, head and thighs: elbows swivel for it, and tips stay where they are."""

import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.goals.obstacles import Segments
from ik_triangulation.goals.orientation import OrientTask
from ik_triangulation.kinematics import Body, BodyTip, Free, Joint
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import exponential, lengths, product
from ik_triangulation.kinematics.body import states_of
from ik_triangulation.kinematics.body_anatomy import BodyAnatomy, Part, TwoPartLimb
from ik_triangulation.motion.body_easing import largest_turns
from ik_triangulation.solvers.body import clearing
from ik_triangulation.solvers.body.clearing import cleared, pushed_out
from ik_triangulation.solvers.body.thickness import thickness_of

FRAMES, FPS = 25, 24.0
SHALLOW = 0.0065  # a hundredth of an arm: less moves nothing
BACK = Vector((0.0, 1.0, 0.0))
ARM = ((0.18, 0.0, 0.25), (0.28, 0.0, 0.0), (0.25, 0.0, 0.0), (0.09, 0.0, 0.0))
LEG = ((0.1, 0.0, 0.0), (0.0, 0.0, -0.45), (0.0, 0.0, -0.45), (0.0, -0.12, 0.0))
ARM_PARTS, LEG_PARTS = (Part.UPPER_ARM, Part.FOREARM, Part.HAND), (Part.THIGH, Part.SHIN, Part.FOOT)


def figure(sides=(1.0, -1.0), head=None):
    """A figure in a T-pose that faces -Y: hips, chest, arms and legs, with a `head` to its tail (3)."""
    joints, parents, parts, limbs, tips = [], [], [], [], []

    def add(way, parent, part):
        joints.append(Joint(f"joint {len(joints)}", Vector(way), Quaternion(), Free()))
        parents.append(parent)
        parts.append(part)

    add((0.0, 0.0, 0.95), -1, Part.HIPS)
    add((0.0, 0.0, 0.25), 0, Part.TRUNK)
    limbs_of = [(1, ARM, ARM_PARTS, side) for side in sides] + [(0, LEG, LEG_PARTS, side) for side in (1.0, -1.0)]
    for parent, ways, own, side in limbs_of:
        mirrored = [Vector(way) * Vector((side, 1.0, 1.0)) for way in ways]
        first = len(joints)
        for way, part in zip(mirrored[:3], own, strict=True):
            add(way, parent if part == own[0] else len(joints) - 1, part)
        limbs.append(TwoPartLimb(first, first + 1, first + 2))
        tips.append(BodyTip(f"tip {first}", first + 2, mirrored[3]))
    if head is not None:
        add((0.0, 0.0, 0.4), 1, Part.SIMPLE)
        tips.append(BodyTip("head", len(joints) - 1, Vector(head)))
    outwards = tuple(BACK if parts[limb.upper] == Part.UPPER_ARM else -BACK for limb in limbs)
    anatomy = BodyAnatomy(tuple(parts), tuple(limbs), (None,) * len(limbs), outwards)
    return Body(joints, parents, tips, "FIXED", anatomy=anatomy)


BODY = figure()
TREE = BODY.tree


def reaching(turns, body=BODY):
    """Frames in which shoulder, elbow and wrist of the left arm turn to these rotation vectors (3, 3) and back."""
    tree, share = body.tree, np.sin(np.linspace(0.0, np.pi, FRAMES))
    rest = states_of([body.rest_pose()])
    rotations = np.repeat(tree.rotations(rest), FRAMES, -1)
    for joint, turn in zip((2, 3, 4), np.asarray(turns, float), strict=True):
        rotations[joint] = product(rotations[joint], exponential(turn[:, None] * share))
    return tree.posed(rotations, rest.take(np.zeros(FRAMES, np.intp)))


@pytest.mark.parametrize(("tail", "wide"), [((0.0, -0.001, 0.0), 0.06), ((0.0, -0.02, 0.2), 0.076), (None, None)])
def test_a_head_is_as_large_as_its_bone_and_at_least_as_the_trunk_tells(tail, wide):
    capsules = thickness_of(figure(head=tail), 1.0).capsules
    others = thickness_of(BODY, 1.0).capsules
    heads = [number for number, joint in enumerate(capsules.joints[:, 0]) if joint == len(BODY.joints)]
    if tail is None:
        assert not heads
        return
    (number,) = heads
    assert len(capsules.radii) == len(others.radii) + 1
    assert capsules.radii[number] == pytest.approx(wide, rel=0.05)
    middle = capsules.points[number].mean(0)
    assert 0.06 < middle[2] < 0.12, "above the neck"


# The elbow goes into the trunk from aside, and the forearm comes out ahead.
THROUGH = (0.0, 1.9, 0.0), (0.0, 0.0, -1.4), (0.0, 0.0, 0.0)


def depths(states, thickness, body=BODY):
    """Depths (F) of the forearm of the left arm, between points of it."""
    geometry, arm = Geometry(body.tree, states), thickness.arms[0]
    elbow, wrist = geometry.heads[arm.joints.middle], geometry.heads[arm.joints.end]
    axes, found = thickness.capsules.placed(geometry), np.zeros(len(states))
    for share in np.linspace(0.0, 1.0, 21):
        point = elbow + share * (wrist - elbow)
        found = np.maximum(found, (arm.least[0] - axes.nearest(Segments(point, point)).distances).max(0))
    return found


def cleared_of(states, thickness, turned=False, body=BODY):
    geometry = Geometry(body.tree, states)
    tasks = [point_task(geometry.tip(0), np.array([1e-3]))]
    if turned:
        tasks.append(OrientTask(rotation=geometry.tip_rotation(0), length=0.1, tolerance=np.array([1e-3])))
    return finished(cleared(body.tree, states, thickness, tasks, FPS, 0.0))


@pytest.mark.parametrize("turned", [False, True], ids=["a place", "a place and a turn"])
def test_an_elbow_goes_round_the_trunk_while_its_hand_stays(turned):
    states, thickness = reaching(THROUGH), thickness_of(BODY, 1.0)
    moved = cleared_of(states, thickness, turned)
    assert depths(states, thickness).max() > 0.05
    assert depths(moved, thickness).max() < SHALLOW
    before, after = (Geometry(TREE, each) for each in (states, moved))
    assert np.abs(after.tip(0) - before.tip(0)).max() < 2e-6
    if turned:
        assert np.abs(after.tip_rotation(0) - before.tip_rotation(0)).max() < 1e-4
    assert (after.frames[[0, 1, 5, 6, 7]] == before.frames[[0, 1, 5, 6, 7]]).all(), "trunk and the other arm stay"
    assert np.abs((after.frames - before.frames)[..., [0, -1]]).max() < 1e-4, "ends that are free stay"
    assert largest_turns(TREE, moved).max() < largest_turns(TREE, states).max() + 0.25


def test_an_arm_without_a_goal_goes_round_as_well():
    states, thickness = reaching(THROUGH), thickness_of(BODY, 1.0)
    moved = finished(cleared(TREE, states, thickness, [], FPS, 0.0))
    assert depths(moved, thickness).max() < 0.01
    assert largest_turns(TREE, moved).max() < largest_turns(TREE, states).max() + 0.25


def test_one_arm_is_enough_where_legs_tell_the_middle():
    body = figure(sides=(1.0,))
    states, thickness = reaching(THROUGH, body), thickness_of(body, 1.0)
    assert depths(states, thickness, body).max() > 0.05
    assert depths(cleared_of(states, thickness, body=body), thickness, body).max() < SHALLOW


def test_what_touches_at_rest_or_in_the_animation_does_not_push():
    states, thick = reaching(((0.0, 0.0, 0.0),) * 3), thickness_of(BODY, 6.0)
    assert cleared_of(states, thick) is states, "so thick a trunk reaches the elbows of a T-pose"
    states, thickness = reaching(THROUGH), thickness_of(BODY, 1.0)
    assert cleared_of(states, thickness.allowing(Geometry(TREE, states))) is states


def test_an_arm_that_is_clear_stays_bit_by_bit_and_without_thickness_there_is_nothing():
    states = reaching(((0.0, 1.0, 0.0), (0.0, 0.0, -1.4), (0.0, 0.0, 0.0)))
    assert cleared_of(states, thickness_of(BODY, 1.0)) is states
    assert thickness_of(BODY, 0.0) is None


def test_a_pose_that_goes_on_is_turned_a_little_out_of_the_trunk_with_its_hand_where_it_is():
    states, thickness = reaching(THROUGH), thickness_of(BODY, 1.0)
    for frame in (8, 12):
        pose = states.take([frame])
        place = point_task(Geometry(TREE, pose).tip(0), np.array([1e-3]))
        for tasks in ([place], []):
            moved = pushed_out(TREE, pose, thickness, tasks)
            assert depths(moved, thickness) < 0.8 * depths(pose, thickness)
            off = lengths(Geometry(TREE, moved).tip(0) - Geometry(TREE, pose).tip(0))
            assert off < 1e-5 if tasks else off > 1e-3
            assert (TREE.rotations(moved)[[0, 1, 5, 6, 7]] == TREE.rotations(pose)[[0, 1, 5, 6, 7]]).all()
    clear = states.take([0])
    assert pushed_out(TREE, clear, thickness, []) is clear


def test_depths_are_those_of_forearm_and_hand_in_every_pose_and_in_some():
    states, thickness = reaching(THROUGH), thickness_of(BODY, 1.0)
    found = thickness.depths(Geometry(TREE, states))
    assert found[0] == pytest.approx(depths(states, thickness), abs=2e-3)
    assert not found[1].any()
    shown, some = thickness.allowing(Geometry(TREE, states)), [12, 3]
    assert not shown.depths(Geometry(TREE, states))[0].any()
    assert not shown.take(some).depths(Geometry(TREE, states.take(some)))[0].any()
    assert shown.take([0]).depths(Geometry(TREE, states.take([12])))[0] == pytest.approx(found[0][12])


@pytest.mark.parametrize(
    ("deep", "least", "parts"),
    [
        ((10, 11, 14, 20, 22), 6, ((5, 17), (17, 30))),
        ((10, 11, 14, 20, 22), 7, ()),
        ((10, 19), 1, ((5, 14), (14, 30))),
        ((12,), 1, ()),
    ],
)
def test_a_run_that_is_not_cleared_at_once_is_parted_where_the_arm_is_clear_for_longest(deep, least, parts):
    every = np.isin(np.arange(40), [number + 5 for number in deep])
    found = clearing._halves(np.arange(10, 35), every, least)
    assert [(part[0], part[-1] + 1) for part in found] == [(first + 5, last + 5) for first, last in parts]


def test_sizes_grow_with_the_figure_and_the_factor():
    one, other = (thickness_of(BODY, factor).capsules for factor in (1.0, 1.5))
    assert other.radii == pytest.approx(1.5 * one.radii)
    height = 0.95 + 0.25 + 0.25
    assert 0.06 < one.radii[0] / height < 0.09, "half the depth of a chest beside the shoulders' height"


def test_capsules_are_where_the_proportions_of_a_body_have_them():
    """Of hips at 0.95 m, shoulders at 1.45 m that are 0.36 m apart, thighs of 0.45 m and upper arms of 0.28 m."""
    for factor in (1.0, 2.0):
        thickness = thickness_of(BODY, factor)
        capsules, rest = thickness.capsules, Geometry(TREE, states_of([BODY.rest_pose()]))
        axes = capsules.placed(rest)
        deep, top = 0.22 * 0.5, 0.95 + 0.85 * 0.5
        half = 0.5 * (0.95 + top)
        expected = [
            ((0, 1), (0, 0, 0.95), (0, 0, half), deep, 1.0 - deep / (0.8 * 0.18)),
            ((1, 1), (0, 0, half), (0, 0, top), deep, 1.0 - deep / (0.8 * 0.18)),
            *(((n, n), (x, 0, 0.95), (x, 0, 0.5), 0.16 * 0.45, 0.0) for n, x in ((8, 0.1), (11, -0.1))),
            *(
                ((n, n), (x, 0, 1.45), (x + y, 0, 1.45), 0.14 * 0.28, 0.0)
                for n, x, y in ((2, 0.18, 0.28), (5, -0.18, -0.28))
            ),
        ]
        for number, (joints, start, end, radius, flat) in enumerate(expected):
            assert tuple(capsules.joints[number]) == joints
            assert axes.segments.begin[number, :, 0] == pytest.approx(start, abs=1e-6)
            assert axes.segments.end[number, :, 0] == pytest.approx(end, abs=1e-6)
            assert capsules.radii[number] == pytest.approx(factor * radius)
            assert capsules.flat[number] == pytest.approx(flat)
        assert np.abs(axes.across[:2, :, 0]) == pytest.approx(np.array([[1.0, 0.0, 0.0]] * 2), abs=1e-6)
        for arm, own, other in zip(thickness.arms, (4, 5), (5, 4), strict=True):
            thick, thin = 0.12 * 0.25, 0.06 * 0.09
            least = factor * (np.array(capsules.radii)[None] / factor + np.array([[thick], [thin]]))
            assert not arm.least[:, own].any()
            some = [0, 1, 2, 3, other]
            assert (arm.least[:, some, 0] == pytest.approx(least[:, some])) or factor > 1.0


def test_frames_around_what_is_too_deep_are_cleared_together_and_the_longest_way_between_parts_them():
    deep = np.isin(np.arange(40), [0, 3, 12, 30, 39])
    runs = [each.tolist() for each in clearing._runs(deep, 2)]
    assert runs == [[*range(6)], [*range(10, 15)], [*range(28, 33)], [37, 38, 39]]
    assert clearing._runs(np.zeros(5, bool), 2) == []
    first, second = clearing._halves(np.arange(2, 36), deep, 10)
    assert first.tolist() == [*range(2, 21)], "half way between 12 and 30"
    assert second.tolist() == [*range(21, 36)]
    for frames, least in ((np.arange(2, 36), 19), (np.arange(10, 20), 1), (np.arange(14, 20), 1)):
        assert clearing._halves(frames, deep, least) == []
    assert len(clearing._halves(np.arange(2, 36), deep, 18)) == 2


def test_a_trunk_is_as_broad_as_shoulders_tell_and_never_less_than_it_is_deep():
    trunks = [thickness_of(figure(sides=sides), 1.0).capsules for sides in ((1.0, -1.0), (0.2, -0.2))]
    flat = [
        [float(each) for each, (joint, _) in zip(found.flat, found.joints, strict=True) if joint < 2]
        for found in trunks
    ]
    assert 0.2 < min(flat[0]) <= max(flat[0]) < 0.9
    assert flat[1] == [0.0] * len(flat[0])
