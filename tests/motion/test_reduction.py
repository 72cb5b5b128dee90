# SPDX-License-Identifier: GPL-3.0-or-later
"""Fewer keys: the tip stays where it was, joints stay inside their limits, and the curves are those Blender draws."""

from functools import cache
from itertools import pairwise
from math import pi
from random import Random

import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.goals import Point
from ik_triangulation.kinematics import Chain, Cone, EulerLimits, Free, Hinge, Joint, Pose
from ik_triangulation.kinematics.rotation import EULER_ORDERS, rotation_angle
from ik_triangulation.motion.frames import Curves, flowing, quaternions_of, straight
from ik_triangulation.motion.reduction import FullBake, JointChannels, LimbBounds, reduce
from ik_triangulation.solvers import solve

from ..chains import forward, mixed, random_base, random_chain, random_pose
from .paths import kinematics_of

HALF_A_PERCENT = 0.005
OUTSIDE = 5e-6  # [rad] what single precision may leave of a limit between two keys
UPPER, LOWER, HAND = 0.3, 0.26, 0.1  # [m] an arm

FREE = Free(), Free(), Free()
HUMAN = (
    Cone(2.0, -1.5, 1.5),
    Hinge(Vector((1.0, 0.0, 0.0)), 0.0, 2.6),
    EulerLimits("YXZ", (-1.0, -1.2, -0.6), (1.0, 1.2, 0.6)),
)


def arm(freedoms):
    """Upper arm, forearm and hand."""
    offsets = Vector(), Vector((0.0, UPPER, 0.0)), Vector((0.0, LOWER, 0.0))
    joints = (Joint(f"{i}", offset, Quaternion(), freedoms[i]) for i, offset in enumerate(offsets))
    return Chain(tuple(joints), Vector((0.0, HAND, 0.0)))


def hand_path(seed, frames=250):
    """From place to place in front of the shoulder, 34 frames of minimum jerk on each way and a rest of 8."""
    random = Random(seed)
    places = [Vector((random.uniform(-0.3, 0.3), random.uniform(0.15, 0.35), random.uniform(0.1, 0.35)))]
    for frame in range(frames):
        if frame % 42 == 0:
            start = places[-1]
            end = Vector((random.uniform(-0.3, 0.3), random.uniform(0.15, 0.35), random.uniform(0.1, 0.35)))
        t = min(frame % 42 / 34.0, 1.0)
        places.append(start.lerp(end, 10.0 * t**3 - 15.0 * t**4 + 6.0 * t**5))
    return places[1:]


def followed(chain, path):
    """A pose for each place, each from the one before."""
    poses = []
    pose = chain.rest_pose()
    for place in path:
        pose = solve(
            pose, Point(place), solver="TRIANGULATION", tolerance=1e-4, iterations=100, finish=True, seed=0
        ).pose
        poses.append(pose)
    return poses


@cache
def hand_motion(human, seed):
    """Poses along a path of the hand, of an arm with or without limits."""
    return followed(arm(HUMAN if human else FREE), hand_path(seed))


def channels(rotations_of_joint, mode):
    """Channel values that run on, a row for each rotation."""
    rows = []
    for rotation in rotations_of_joint:
        if mode == "QUATERNION":
            row = -rotation if rows and rotation.dot(Quaternion(rows[-1])) < 0.0 else rotation
        else:
            row = rotation.to_euler(mode, Euler(rows[-1], mode)) if rows else rotation.to_euler(mode)
        rows.append(tuple(row))
    return np.array(rows)


def baked(poses, mode, lines=straight, world=None, first=1.0, step=1.0):
    """The full bake of poses, all joints keyed on all channels."""
    columns = [channels([pose.rotations[i] for pose in poses], mode) for i in range(len(poses[0]))]
    width = columns[0].shape[1]
    tracks = [JointChannels(i, mode, slice(i * width, (i + 1) * width), range(width)) for i in range(len(columns))]
    times = first + step * np.arange(len(poses))
    worlds = np.array([world or Matrix.Identity(4)] * len(poses))
    return FullBake(lines(times, np.hstack(columns)), tracks, LimbBounds(kinematics_of(poses), worlds))


def shown(full, curves, times):
    """For each time the rotation of every joint, read by mathutils."""
    joints = []
    for track in full.tracks:
        values = curves.at(times)[:, track.columns]
        quaternions = [Quaternion(row) if track.mode == "QUATERNION" else Euler(row, track.mode) for row in values]
        joints.append([q.normalized() if track.mode == "QUATERNION" else q.to_quaternion() for q in quaternions])
    return list(zip(*joints, strict=True))


def tips(chain, rows):
    return np.array([forward(chain, Matrix.Identity(4), row)[0][-1] for row in rows])


def halves(curves):
    """Every frame and every half between."""
    return np.arange(curves.times[0], curves.times[-1] + 0.25, 0.5)


# Curves


def casteljau(points, t):
    """A place on a Bezier curve, by repeated halving of its polygon's sides."""
    while len(points) > 1:
        points = [(1.0 - t) * a + t * b for a, b in pairwise(points)]
    return points[0]


def test_curves_are_bezier_curves_with_handles_at_thirds():
    random = np.random.default_rng(1)
    times = np.cumsum(random.integers(1, 9, 12)).astype(float)
    curves = Curves(times, *(random.normal(size=(12, 2)) for _ in range(3)))
    for i in range(11):
        span = times[i + 1] - times[i]
        for channel in range(2):
            start, end = (np.array([times[k], curves.values[k, channel]]) for k in (i, i + 1))
            handles = (
                start + span / 3.0 * np.array([1.0, curves.right[i, channel]]),
                end - span / 3.0 * np.array([1.0, curves.left[i + 1, channel]]),
            )
            for t in (0.0, 0.2, 0.5, 0.9, 1.0):
                time, value = casteljau([start, *handles, end], t)
                assert time == pytest.approx(times[i] + t * span)
                assert curves.at(np.array([time]))[0, channel] == pytest.approx(value, abs=1e-12)


def test_straight_curves_are_straight_and_flowing_ones_smooth():
    times, values = np.array([1.0, 2.0, 5.0]), np.array([[0.0], [3.0], [-3.0]])
    assert straight(times, values).at(np.array([1.5, 2.0, 3.0, 4.5, 5.0]))[:, 0] == pytest.approx([1.5, 3, 1, -2, -3])
    smooth = flowing(times, values)
    assert (smooth.left == smooth.right).all()
    assert smooth.at(times) == pytest.approx(values)


# Forward kinematics


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", *EULER_ORDERS])
def test_channel_values_mean_the_rotations_that_mathutils_reads(mode):
    values = np.random.default_rng(2).normal(scale=2.0, size=(200, 4 if len(mode) > 3 else 3))
    for row, found in zip(values, quaternions_of(values.T, mode).T, strict=True):
        if mode == "QUATERNION":
            wanted = Quaternion(row).normalized()
        elif mode == "AXIS_ANGLE":
            wanted = Quaternion(Vector(row[1:]).normalized(), row[0])
        else:
            wanted = Euler(row, mode).to_quaternion()
        assert rotation_angle(Quaternion(found), wanted) < 2e-6


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE"])
def test_channel_values_without_a_direction_mean_no_rotation(mode):
    values = np.array([[0.0, 0.0, 0.0, 0.0], [0.7, 0.0, 0.0, 0.0]])
    assert quaternions_of(values.T, mode).T.tolist() == [[1.0, 0.0, 0.0, 0.0]] * 2


def scaled(chain, random):
    """The same chain with scaled bones."""
    scales = [Vector((1.0, random.uniform(0.5, 2.0), 0.8)) for _ in chain.joints]
    pairs = zip(chain.joints, scales, strict=True)
    joints = [Joint(joint.name, joint.offset, joint.rest, joint.freedom, scale=scale) for joint, scale in pairs]
    return Chain(tuple(joints), chain.tip)


@pytest.mark.parametrize("kind", ["rigid", "scaled"])
def test_the_end_effectors_of_many_moments_are_those_of_their_poses(kind):
    random = Random(kind)
    chains = [mixed(seed, 5) for seed in range(20)]
    chains = [scaled(chain, random) for chain in chains] if kind == "scaled" else chains
    poses = [random_pose(chain, random, random_base(random)) for chain in chains]
    others = [random_pose(pose.chain, random, pose.base) for pose in poses]
    turned = np.array([[other.rotations[i] for i in range(5)] for other in others])
    wanted = np.array([Pose(other.chain, other.base, other.rotations).tip for other in others])
    which = np.array([3, 11, 4])
    found = kinematics_of(poses).tips(np.moveaxis(turned[which], 0, 2), which)
    assert np.abs(found - wanted[which]).max() < 1e-5


# Reduction


@pytest.mark.parametrize("mode", ["QUATERNION", "YXZ"])
@pytest.mark.parametrize("freedoms", [FREE, HUMAN], ids=["free", "human"])
def test_a_hand_path_keeps_at_most_a_fifth_of_its_keys(freedoms, mode, long):
    """Measured: 17 to 43 of 250."""
    for seed in range(10) if long else (1, 3):
        full = baked(hand_motion(freedoms is HUMAN, seed), mode)
        reduction = finished(reduce(full, HALF_A_PERCENT * (UPPER + LOWER + HAND)))
        assert len(reduction.kept) <= 50, seed


@pytest.mark.parametrize("mode", ["QUATERNION", "YXZ"])
@pytest.mark.parametrize("tolerance", [0.002, 0.02])
def test_the_tip_stays_within_the_tolerance_at_frames_and_halves(mode, tolerance):
    chain = arm(HUMAN)
    full = baked(hand_motion(True, 3), mode)
    reduction = finished(reduce(full, tolerance * chain.reach))
    times = halves(full.curves)
    apart = tips(chain, shown(full, reduction.curves, times)) - tips(chain, shown(full, full.curves, times))
    farthest = np.linalg.norm(apart, axis=1).max()
    assert farthest <= (tolerance + 1e-6) * chain.reach
    assert reduction.deviation == pytest.approx(farthest, abs=1e-6 * chain.reach)
    assert reduction.deviation > 0.5 * tolerance * chain.reach, "more keys than needed"


@pytest.mark.parametrize("mode", ["QUATERNION", "YXZ", "ZXY"])
def test_limits_are_kept_at_frames_and_halves(mode):
    """At halves a full bake may be outside by itself, from one allowed rotation to the next."""
    chain, met = arm(HUMAN), 0
    full = baked(hand_motion(True, 5), mode)
    reduction = finished(reduce(full, 0.01 * chain.reach))
    assert len(reduction.kept) < 60
    times = halves(full.curves)
    for before, after in zip(shown(full, full.curves, times), shown(full, reduction.curves, times), strict=True):
        for joint, was, now in zip(chain.joints, before, after, strict=True):
            nearest = joint.freedom.nearest
            assert rotation_angle(nearest(now), now) <= max(rotation_angle(nearest(was), was), OUTSIDE)
            met += bool(joint.freedom.on_limits(nearest(now)))
    assert met > 20, "no limit was ever met"


def there_and_back(seed, frames=61):
    """Poses of an arm that go from place to place, and back the same way."""
    poses = followed(arm(HUMAN), hand_path(seed, frames // 2 + 1))
    return [*poses, *poses[-2::-1]]


def test_frames_that_somebody_posed_keep_their_keys():
    full = baked(hand_motion(True, 3), "YXZ")
    posed = [17, 100, 101, 200]
    reduction = finished(reduce(full, HALF_A_PERCENT * arm(HUMAN).reach, posed))
    assert set(posed) <= set(reduction.kept)
    assert reduction.deviation <= HALF_A_PERCENT * arm(HUMAN).reach
    fewest = finished(reduce(full, HALF_A_PERCENT * arm(HUMAN).reach))
    assert len(reduction.kept) <= len(fewest.kept) + 2 * len(posed)


@pytest.mark.parametrize("seed", [1, 4, 5])  # where the fewest keys allow it
def test_motion_that_is_the_same_backwards_has_keys_that_are(seed):
    poses = there_and_back(seed)
    reduction = finished(reduce(baked(poses, "YXZ"), 0.002, [30]))
    assert 30 in reduction.kept
    assert 5 <= len(reduction.kept) < 40
    assert [len(poses) - 1 - k for k in reversed(reduction.kept)] == reduction.kept


def test_the_tolerance_is_one_of_world_space():
    chain = arm(FREE)
    poses = followed(chain, hand_path(1, 80))
    same = finished(reduce(baked(poses, "QUATERNION"), 0.003))
    large = finished(reduce(baked(poses, "QUATERNION", world=Matrix.Diagonal((50.0, 50.0, 50.0, 1.0))), 0.003 * 50.0))
    assert same.kept == large.kept
    assert large.deviation == pytest.approx(50.0 * same.deviation)


def test_limbs_on_scaled_bones_are_reduced_too():
    random = Random(4)
    chain = scaled(random_chain(4, 3), random)
    waves = ([Quaternion((1.0, 0.0, 0.0), 0.4 * np.sin(0.1 * frame + i)) for i in range(3)] for frame in range(60))
    poses = [Pose(chain, Matrix.Identity(4), wave) for wave in waves]
    full = baked(poses, "QUATERNION")
    reduction = finished(reduce(full, HALF_A_PERCENT * chain.reach))
    assert len(reduction.kept) < 20
    times = halves(full.curves)
    apart = tips(chain, shown(full, reduction.curves, times)) - tips(chain, shown(full, full.curves, times))
    assert np.linalg.norm(apart, axis=1).max() <= (HALF_A_PERCENT + 1e-5) * chain.reach


def test_a_jump_is_kept():
    chain = arm(FREE)
    poses = followed(chain, [Vector((0.2, 0.3, 0.1))] * 20 + [Vector((-0.2, 0.2, 0.3))] * 20)
    reduction = finished(reduce(baked(poses, "QUATERNION"), HALF_A_PERCENT * chain.reach))
    assert {0, 19, 20, 39} <= set(reduction.kept)
    assert len(reduction.kept) <= 8


def test_a_motion_that_stands_still_keeps_its_ends():
    poses = followed(arm(FREE), [Vector((0.2, 0.3, 0.1))] * 30)
    reduction = finished(reduce(baked(poses[1:], "QUATERNION"), 1e-3))
    assert reduction.kept == [0, 28]
    assert reduction.deviation < 1e-6


@pytest.mark.parametrize("lines", [straight, flowing])
def test_where_every_key_is_needed_the_full_bake_is_left(lines):
    random = Random(6)
    chain = arm(FREE)
    full = baked([random_pose(chain, random) for _ in range(12)], "QUATERNION", lines)
    reduction = finished(reduce(full, 1e-6))
    assert reduction.kept == list(range(12))
    assert reduction.deviation == 0.0
    times = halves(full.curves)
    assert reduction.curves.at(times) == pytest.approx(full.curves.at(times))


def test_frames_between_those_of_a_coarse_bake_count_as_well():
    """A bake on fours, with a curve between its keys, is compared at every half frame."""
    chain = arm(FREE)
    poses = followed(chain, hand_path(2)[::4])
    full = baked(poses, "QUATERNION", flowing, step=4.0)
    reduction = finished(reduce(full, HALF_A_PERCENT * chain.reach))
    assert len(reduction.kept) < 0.8 * len(poses)
    times = halves(full.curves)
    apart = tips(chain, shown(full, reduction.curves, times)) - tips(chain, shown(full, full.curves, times))
    assert reduction.deviation == pytest.approx(np.linalg.norm(apart, axis=1).max(), abs=1e-6)
    assert reduction.deviation <= HALF_A_PERCENT * chain.reach


def test_channels_without_keys_stay_as_they_are():
    """A locked channel with an animation of its own: where it is rough, keys of the others cannot make up for it."""
    chain = arm(FREE)
    poses = followed(chain, hand_path(7, 60))
    values = np.hstack([channels([pose.rotations[i] for pose in poses], "XYZ") for i in range(3)])
    values[:, 4] = 0.5 * np.sin(2.0 * pi * np.arange(60) / 3.0)
    tracks = [JointChannels(i, "XYZ", slice(3 * i, 3 * i + 3), (0, 2) if i == 1 else (0, 1, 2)) for i in range(3)]
    worlds = np.array([Matrix.Identity(4)] * 60)
    full = FullBake(straight(np.arange(60.0), values), tracks, LimbBounds(kinematics_of(poses), worlds))
    reduction = finished(reduce(full, HALF_A_PERCENT * chain.reach))
    assert len(reduction.kept) < 20


@pytest.mark.parametrize("freedoms", [FREE, HUMAN], ids=["free", "limits"])
def test_samples_that_exceed_the_tolerance_or_their_limits_are_those_of_the_single_ones(freedoms):
    chain = arm(freedoms)
    full = baked(followed(chain, hand_path(5, 60)), "QUATERNION")
    finished(full.measure())
    other = straight(full.curves.times[::6], full.curves.values[::6])
    every = np.arange(len(full.times))[full.times <= full.curves.times[::6][-1]]
    tolerance = float(np.quantile(full.deviation(other, every), 0.7))
    off, largest = finished(full.exceeding(other, tolerance))
    assert largest == pytest.approx(full.deviation(other, np.arange(len(full.times))).max())
    kept = [full.keeps(other, np.array([sample]), tolerance) for sample in every.tolist()]
    assert off[every].tolist() == [not each for each in kept]
    assert 0 < sum(kept) < len(kept)
    beyond = finished(full.exceeding(other, np.inf))[0]
    assert beyond.any() == (freedoms == HUMAN), "limits count whatever the tolerance"
    assert not finished(full.exceeding(full.curves, 1e-9))[0].any()
