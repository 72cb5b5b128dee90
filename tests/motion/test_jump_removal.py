# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths: no joint jumps that need not, nothing that was reached is lost, limits are kept, and what jumps is named."""

from itertools import pairwise, product
from math import acos, atan2, cos, degrees, pi, radians, sin
from random import Random
from typing import NamedTuple

import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.goals import Goal, Point, Pole, Target
from ik_triangulation.kinematics import Free, Hinge, Pose
from ik_triangulation.kinematics.rotation import about, rotation_angle
from ik_triangulation.motion.jump_removal import Path
from ik_triangulation.motion.jumps import LEFT, LIMITS, REACH, TARGET, WISHES, jumps, largest_turn, turn, turns
from ik_triangulation.motion.viterbi import cheapest
from ik_triangulation.solvers import Solution, solve
from ik_triangulation.work import finished

from ..chains import hinged, limited, random_chain, straight

TOLERANCE = 1e-4  # of the reach
X = Vector((1.0, 0.0, 0.0))
SEGMENT = 25  # frames from one key of a random motion to the next


class Moment(NamedTuple):
    """A frame of a path, made up."""

    pose: Pose
    target: Target
    tolerance: float
    reached: bool = True
    soft: tuple = ()

    @property
    def goal(self):
        return Goal(self.target, tuple(self.soft), self.tolerance)

    @property
    def solution(self):
        return Solution(self.pose, (self.target.closest(self.pose.tip) - self.pose.tip).length, 0, self.reached)


def free(seed, links, ratio):
    return random_chain(seed, links, ratio)


def smooth_motion(chain, random, frames):
    """Rotations at every frame of a smooth motion inside the limits, through random ones."""
    keys = [[joint.freedom.random(random) for joint in chain.joints]]
    for _ in range(frames // SEGMENT + 1):
        ends = [joint.freedom.random(random) for joint in chain.joints]
        keys.append([between(j.freedom, *pair, 0.35) for j, *pair in zip(chain.joints, keys[-1], ends, strict=True)])
    for frame in range(frames):
        number, rest = divmod(frame, SEGMENT)
        share = (1.0 - cos(pi * rest / SEGMENT)) / 2.0
        pairs = zip(chain.joints, keys[number], keys[number + 1], strict=True)
        yield [between(joint.freedom, start, end, share) for joint, start, end in pairs]


def between(freedom, start, end, share):
    """On the way, which for a hinge leads through its range."""
    if isinstance(freedom, Hinge):
        a, b = (freedom.coordinates(rotation)[0].value for rotation in (start, end))
        return freedom.at(start, [a + share * (b - a)])
    return freedom.nearest(start.slerp(end, share))


def posed(chain, rotations):
    return Pose(chain, Matrix.Identity(4), rotations)


def first_pass(pose, places, solver="TRIANGULATION", soft=(), bases=()):
    """Each frame solved from the one before, as a bake does it."""
    tolerance = TOLERANCE * pose.chain.reach
    moments = []
    for number, place in enumerate(places):
        if bases:
            pose = Pose(pose.chain, bases[number], pose.rotations)
        wishes = soft[number] if soft else ()
        solution = solve(pose, Point(place), solver=solver, tolerance=tolerance, soft=wishes, follow=True)
        pose = solution.pose
        moments.append(Moment(pose, Point(place), tolerance, solution.reached, wishes))
    return moments


def mended(moments, seed=0, held=()):
    path = Path(moments, held)
    finished(path.without_jumps(seed))
    return path


def check(moments, path):
    """Nothing is lost, and all limits are kept."""
    for moment, rotations in zip(moments, path.rotations, strict=True):
        chain = moment.pose.chain
        pose = Pose(chain, moment.pose.base, rotations)
        before, error = (moment.target.closest(each.tip) - each.tip for each in (moment.pose, pose))
        assert error.length <= max(moment.tolerance, before.length + 2e-5 * chain.reach)
        for joint, rotation in zip(chain.joints, rotations, strict=True):
            assert rotation_angle(joint.freedom.nearest(rotation), rotation) < 5e-6


# What is mended


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("make", [free, hinged, limited])
def test_no_joint_jumps_on_a_smooth_path(make, seed):
    random = Random(seed)
    chain = make(seed, random.choice([3, 4, 5, 7]), 4.0)
    motion = list(smooth_motion(chain, random, 100))
    places = [posed(chain, rotations).tip for rotations in motion]
    moments = first_pass(posed(chain, motion[0]), places)
    assert all(moment.reached for moment in moments)
    path = mended(moments)
    check(moments, path)
    assert path.jumps() == []
    assert jumps(turns(path.rotations)) == []


def test_without_mending_many_of_these_paths_jump():
    """Or the test above shows nothing."""
    found = 0
    for make, seed in product([free, hinged, limited], range(12)):
        random = Random(seed)
        chain = make(seed, random.choice([3, 4, 5, 7]), 4.0)
        motion = list(smooth_motion(chain, random, 100))
        moments = first_pass(posed(chain, motion[0]), [posed(chain, rotations).tip for rotations in motion])
        found += bool(Path(moments).jumps())
    assert found >= 9


@pytest.mark.parametrize("solver", ["CCD", "FABRIK", "TRIANGULATION_2007"])
def test_paths_of_other_solvers_are_mended_as_well(solver):
    random = Random(3)
    chain = random_chain(3, 5, 2.0)
    motion = list(smooth_motion(chain, random, 75))
    moments = first_pass(posed(chain, motion[0]), [posed(chain, rotations).tip for rotations in motion], solver)
    path = mended(moments)
    check(moments, path)
    assert path.jumps() == []


def elbow(*limits):
    """Two links of length 1 in the YZ plane, the first within these limits."""
    return straight((1.0, 1.0), [Hinge(X, *limits), Hinge(X)])


def in_plane(angle, distance=1.6):
    """A place in the YZ plane, at an angle from Y."""
    return Vector((0.0, distance * cos(angle), distance * sin(angle)))


def bent(chain, side, place):
    """The pose of an elbow that bends to a side (1 or -1) and reaches a place in its plane, by the law of cosines."""
    corner = 2.0 * side * acos(place.length / 2.0)
    angle = atan2(place.z, place.y)
    return posed(chain, [about(X, angle - corner / 2.0), about(X, corner)])


def test_an_elbow_bends_to_the_asked_side_and_reaches():
    """The construction that the tests below rest on."""
    for angle, side in product([-0.6, 0.0, 0.4], [1, -1]):
        pose = bent(elbow(), side, in_plane(angle))
        assert (pose.tip - in_plane(angle)).length < 1e-5
        assert side * Hinge(X).coordinates(pose.rotations[1])[0].value > 0.5


def flipping(chain, angles, flip):
    """A first pass that bends to one side up to the frame `flip`, and then to the other."""
    tolerance = TOLERANCE * chain.reach
    return [
        Moment(bent(chain, 1 if k < flip else -1, in_plane(angle)), Point(in_plane(angle)), tolerance)
        for k, angle in enumerate(angles)
    ]


def test_an_elbow_that_flips_is_kept_on_one_side():
    angles = [0.5 * sin(0.1 * k) for k in range(60)]
    moments = flipping(elbow(), angles, 35)
    assert [jump.turned.at for jump in Path(moments).jumps()] == [35]
    path = mended(moments)
    check(moments, path)
    assert path.jumps() == []
    assert largest_turn([posed(elbow(), rotations) for rotations in path.rotations]).angle < radians(4.0)


def test_an_elbow_whose_limits_force_it_to_flip_is_named():
    """One side reaches only what is high, the other only what is low."""
    chain, places = forced()
    allowed = [[not bent(chain, side, place).project() for place in places] for side in (1, -1)]
    assert not any(map(all, allowed))
    assert all(map(any, zip(*allowed, strict=True)))
    moments = first_pass(bent(chain, 1, places[0]), places)
    assert all(moment.reached for moment in moments)
    path = mended(moments)
    check(moments, path)
    assert [jump.reason for jump in path.jumps()] == [LIMITS]
    assert path.jumps()[0].turned.angle > radians(20.0)


def forced():
    """An elbow and a path on which it has to flip."""
    return elbow(-0.7, 0.7), [in_plane(0.6 - 0.02 * k) for k in range(61)]


def test_a_path_that_leaves_the_reach_and_comes_back_loses_nothing():
    chain = straight((1.0, 0.8, 0.6))
    places = [in_plane(0.03 * k, 2.0 + 0.8 * sin(0.15 * k)) for k in range(80)]
    for solver in ("TRIANGULATION", "CCD", "GAUSS_NEWTON"):
        moments = first_pass(chain.rest_pose(), places, solver)
        assert 0 < sum(not moment.reached for moment in moments) < 60
        path = mended(moments)
        check(moments, path)
        assert {jump.reason for jump in path.jumps()} <= {REACH}


@pytest.mark.parametrize("moves", ["target", "rig"])
def test_where_the_target_truly_jumps_the_jump_is_named_and_left(moves):
    chain = straight((1.0, 0.8, 0.6))
    angles = [0.02 * k + (1.0 if k >= 40 else 0.0) for k in range(80)]
    if moves == "target":
        moments = first_pass(chain.rest_pose(), [in_plane(angle) for angle in angles])
    else:  # which takes a target that stands still out of the hand
        bases = [Matrix.Rotation(angle, 4, "X") for angle in angles]
        moments = first_pass(chain.rest_pose(), [in_plane(0.5)] * 80, bases=bases)
    path = mended(moments)
    check(moments, path)
    assert [(jump.turned.at, jump.reason) for jump in path.jumps()] == [(40, TARGET)]


def test_where_the_target_jumps_no_more_is_left_than_it_takes():
    """A small jump of the target is no excuse for an elbow that flips."""
    angles = [0.01 * k + (0.1 if k >= 35 else 0.0) for k in range(70)]
    path = mended(flipping(elbow(), angles, 35))
    assert all(degrees(jump.turned.angle) < 15.0 for jump in path.jumps())


def test_where_the_wish_jumps_that_is_named():
    chain = straight((1.0, 1.0))
    places = [in_plane(0.02 * k, 1.5) for k in range(40)]
    poles = [(Pole(Vector((3.0 if k < 20 else -3.0, 1.0, 0.0))),) for k in range(40)]
    moments = first_pass(chain.rest_pose(), places, soft=poles)
    path = mended(moments)
    check(moments, path)
    assert {jump.reason for jump in path.jumps()} == {WISHES}


def test_what_was_not_mended_says_so():
    moments = flipping(elbow(), [0.01 * k for k in range(60)], 35)
    assert [jump.reason for jump in Path(moments).jumps()] == [LEFT]


# What is left alone


def wandering(make, seed, frames=30):
    """A first pass from a pose that reaches along a way that the chain may have to change its posture for."""
    random = Random(seed)
    chain = make(seed, random.choice([3, 4, 5]), 4.0)
    poses = [posed(chain, [joint.freedom.random(random) for joint in chain.joints]) for _ in range(3)]
    places = []
    for k in range(frames):
        number, rest = divmod(2 * k / (frames - 1), 1.0) if k < frames - 1 else (1.0, 1.0)
        share = (1.0 - cos(pi * rest)) / 2.0
        places.append(poses[int(number)].tip.lerp(poses[int(number) + 1].tip, share))
    return first_pass(poses[0], places)


def test_a_first_frame_that_is_held_stays_and_no_more_jumps_for_it():
    """F45: of 100 limbs with limits; without that a tenth of the first frames would be moved."""
    moved, jumping = 0, {False: 0, True: 0}
    largest = {False: 0.0, True: 0.0}
    for make, seed in product([limited, hinged], range(50)):
        moments = wandering(make, seed)
        for held in (False, True):
            path = mended(moments, held=(0,) if held else ())
            jumping[held] += len(path.jumps())
            largest[held] += max(turns(path.rotations))
            if held:
                assert path.rotations[0] is moments[0].pose.rotations
            else:
                moved += turn(path.rotations[0], moments[0].pose.rotations) > radians(10.0)
    assert moved >= 5
    assert jumping[True] <= 1.1 * jumping[False]
    assert largest[True] <= 1.1 * largest[False]


def test_a_path_is_led_into_a_last_frame_that_is_held():
    """The elbow stretches on its way and bends to the other side."""
    angles = [0.01 * k for k in range(60)]
    chain, tolerance = elbow(), TOLERANCE * 2.0
    places = [in_plane(angle, 1.6 + 0.4 * sin(pi * k / 59.0)) for k, angle in enumerate(angles)]
    moments = [Moment(bent(chain, 1, place), Point(place), tolerance) for place in places]
    moments[-1] = moments[-1]._replace(pose=bent(chain, -1, places[-1]))
    assert [jump.turned.at for jump in Path(moments).jumps()] == [59]
    path = mended(moments, held=(0, 59))
    check(moments, path)
    assert path.rotations[0] is moments[0].pose.rotations
    assert path.rotations[-1] is moments[-1].pose.rotations
    assert max(turns(path.rotations)) < 0.5 * turn(moments[-2].pose.rotations, moments[-1].pose.rotations)
    free = mended(moments)
    assert turn(free.rotations[-1], moments[-1].pose.rotations) > radians(30.0)


def test_a_last_frame_that_is_held_and_cannot_be_led_to_is_named():
    chain, places = forced()
    moments = [Moment(bent(chain, 1, place), Point(place), TOLERANCE * 2.0) for place in places[:20]]
    moments[-1] = moments[-1]._replace(pose=bent(chain, -1, places[19]))
    path = mended(moments, held=(0, 19))
    assert path.rotations[-1] is moments[-1].pose.rotations
    assert [jump.reason for jump in path.jumps()] == [LIMITS]


def test_a_path_without_jumps_stays_as_it_is():
    chain = straight((1.0, 0.8, 0.6))
    moments = first_pass(chain.rest_pose(), [in_plane(0.02 * k) for k in range(60)], "GAUSS_NEWTON")
    path = mended(moments)
    assert all(a is m.pose.rotations for a, m in zip(path.rotations[10:], moments[10:], strict=True))


def test_what_is_far_from_a_jump_stays_as_it_is():
    random = Random(1)
    chain = random_chain(1, 4, 2.0)
    motion = list(smooth_motion(chain, random, 200))
    tolerance = TOLERANCE * chain.reach
    turned = [[rotation.copy() for rotation in rotations] for rotations in motion]
    moments = [Moment(posed(chain, r), Point(posed(chain, r).tip), tolerance) for r in turned]
    other = solve(posed(chain, [Quaternion()] * 4), moments[100].target, tolerance=tolerance).pose
    moments[100] = moments[100]._replace(pose=other)
    path = mended(moments)
    check(moments, path)
    changed = [k for k, (a, m) in enumerate(zip(path.rotations, moments, strict=True)) if a is not m.pose.rotations]
    assert 100 in changed
    assert changed[0] > 60
    assert changed[-1] < 140
    assert path.jumps() == []


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_a_path_of_few_frames_is_left_as_it_is(frames):
    moments = flipping(elbow(), [0.1] * frames, 1)
    path = mended(moments)
    finished(path.relax(1.0))
    assert path.jumps() == []
    assert path.rotations[0] is moments[0].pose.rotations


def test_the_same_seed_gives_the_same_path():
    chain, places = forced()
    moments = first_pass(bent(chain, 1, places[0]), places)
    one, two = (mended(moments, seed=4).rotations for _ in range(2))
    assert [[tuple(q) for q in row] for row in one] == [[tuple(q) for q in row] for row in two]


# The cheapest way, and smoothing


def test_the_cheapest_way_is_that_of_all_ways():
    random = Random(2)
    frames = [[[Free().random(random) for _ in range(2)] for _ in range(3)] for _ in range(5)]

    def cost(way):
        return sum(sum(1.0 - abs(p.dot(q)) for p, q in zip(a, b, strict=True)) ** 2 for a, b in pairwise(way))

    best = min(product(*frames), key=cost)
    assert finished(cheapest(frames)) == list(best)


def roughness(path):
    """Sum of the squared distances [rad] of rotations from the middle of those around them."""
    triples = zip(path, path[1:], path[2:], strict=False)
    return sum(rotation_angle(p.slerp(r, 0.5), q) ** 2 for triple in triples for p, q, r in zip(*triple, strict=True))


@pytest.mark.parametrize("make", [free, hinged, limited])
def test_smoothing_makes_the_curves_smoother_and_stays_within_tolerance_and_limits(make):
    random = Random(8)
    chain = make(8, 5, 2.0)
    motion = list(smooth_motion(chain, random, 75))
    moments = first_pass(posed(chain, motion[0]), [posed(chain, rotations).tip for rotations in motion])
    levels = []
    for amount in (0.0, 0.2, 1.0):
        path = Path(moments)
        finished(path.relax(amount))
        check(moments, path)
        levels.append(roughness(path.rotations))
        assert path.rotations[0] is moments[0].pose.rotations
        assert path.rotations[-1] is moments[-1].pose.rotations
    assert levels[0] > levels[1] > levels[2]
    assert levels[2] < 0.7 * levels[0]
