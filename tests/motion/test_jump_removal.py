# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths: no joint jumps that need not, nothing that was reached is lost, limits are kept, and what jumps is named."""

from itertools import product
from math import cos, degrees, pi, radians, sin
from random import Random

import pytest
from mathutils import Quaternion

from ik_triangulation.cooperative import finished
from ik_triangulation.goals import Point
from ik_triangulation.kinematics import Hinge
from ik_triangulation.motion.jumps import REACH, jumps, largest_turn, turn, turns
from ik_triangulation.motion.path import Path
from ik_triangulation.solvers import gauss_newton, solve

from ..chains import hinged, limited, random_chain, straight
from .paths import (
    TOLERANCE,
    Moment,
    X,
    bent,
    check,
    elbow,
    first_pass,
    flipping,
    forced,
    free,
    in_plane,
    mended,
    posed,
    smooth_motion,
)


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
    left = 1 if (make, seed) == (hinged, 4) else 0  # 35 degrees, which no solution found within the limits avoids
    assert len(path.jumps()) == left
    assert len(jumps(turns(path.rotations))) == left


def test_without_mending_many_of_these_paths_jump(long):
    """Or the test above shows nothing."""
    found, seeds = 0, range(12 if long else 5)
    for make, seed in product([free, hinged, limited], seeds):
        random = Random(seed)
        chain = make(seed, random.choice([3, 4, 5, 7]), 4.0)
        motion = list(smooth_motion(chain, random, 100))
        moments = first_pass(posed(chain, motion[0]), [posed(chain, rotations).tip for rotations in motion])
        found += bool(Path(moments).jumps())
    assert found >= 0.75 * len(seeds)


@pytest.mark.parametrize("solver", ["CCD", "FABRIK", "TRIANGULATION_2007"])
def test_paths_of_other_solvers_are_mended_as_well(solver):
    random = Random(3)
    chain = random_chain(3, 5, 2.0)
    motion = list(smooth_motion(chain, random, 75))
    moments = first_pass(posed(chain, motion[0]), [posed(chain, rotations).tip for rotations in motion], solver)
    path = mended(moments)
    check(moments, path)
    assert path.jumps() == []


def test_an_elbow_bends_to_the_asked_side_and_reaches():
    """The construction that the tests below rest on."""
    for angle, side in product([-0.6, 0.0, 0.4], [1, -1]):
        pose = bent(elbow(), side, in_plane(angle))
        assert (pose.tip - in_plane(angle)).length < 1e-5
        assert side * Hinge(X).coordinates(pose.rotations[1])[0].value > 0.5


def test_an_elbow_that_flips_is_kept_on_one_side():
    angles = [0.5 * sin(0.1 * k) for k in range(60)]
    moments = flipping(elbow(), angles, 35)
    assert [jump.turned.at for jump in Path(moments).jumps()] == [35]
    path = mended(moments)
    check(moments, path)
    assert path.jumps() == []
    assert largest_turn([posed(elbow(), rotations) for rotations in path.rotations]).angle < radians(4.0)


def test_a_path_that_leaves_the_reach_and_comes_back_loses_nothing(long):
    chain = straight((1.0, 0.8, 0.6))
    places = [in_plane(0.03 * k, 2.0 + 0.8 * sin(0.15 * k)) for k in range(80)]
    for solver in ("TRIANGULATION", "CCD", "GAUSS_NEWTON") if long else ("TRIANGULATION", "GAUSS_NEWTON"):
        moments = first_pass(chain.rest_pose(), places, solver)
        assert 0 < sum(not moment.reached for moment in moments) < 60
        path = mended(moments)
        check(moments, path)
        assert {jump.reason for jump in path.jumps()} <= {REACH}


def test_where_the_target_jumps_no_more_is_left_than_it_takes():
    """A small jump of the target is no excuse for an elbow that flips."""
    angles = [0.01 * k + (0.1 if k >= 35 else 0.0) for k in range(70)]
    path = mended(flipping(elbow(), angles, 35))
    assert all(degrees(jump.turned.angle) < 15.0 for jump in path.jumps())


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


def test_a_first_frame_that_is_held_stays_and_no_more_jumps_for_it(long):
    """F45: of 100 limbs with limits; without that a tenth of the first frames would be moved."""
    moved, jumping = 0, {False: 0, True: 0}
    largest = {False: 0.0, True: 0.0}
    for make, seed in product([limited, hinged], range(50 if long else 9)):
        moments = wandering(make, seed)
        for held in (False, True):
            path = mended(moments, held=(0,) if held else ())
            jumping[held] += len(path.jumps())
            largest[held] += max(turns(path.rotations))
            if held:
                assert path.rotations[0] is moments[0].pose.rotations
            else:
                moved += turn(path.rotations[0], moments[0].pose.rotations) > radians(10.0)
    assert moved >= (4 if long else 2)  # or this test would say nothing
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


def steps_to_mend(moments, monkeypatch):
    """The number of solver steps that mending takes, and of jumps that are left."""
    steps, step = [0], gauss_newton.step

    def counted(*args):
        steps[0] += 1
        return step(*args)

    with monkeypatch.context() as patched:
        patched.setattr(gauss_newton, "step", counted)
        path = mended(moments)
    return steps[0], len(path.jumps())


def test_a_jump_that_must_be_costs_as_much_on_a_path_of_any_length(monkeypatch, long):
    chain, places = forced()
    counts = []
    for rest in (200, 1600 if long else 800):
        waits = [in_plane(0.02 * sin(0.1 * k), 1.6) for k in range(rest)]
        turned = [Quaternion(X, angle) for angle in (0.6, 0.6 - 0.02 * (len(places) - 1))]
        before, after = ([turn @ place for place in waits] for turn in turned)
        moments = first_pass(bent(chain, 1, before[-1]), [*before[::-1], *places, *after])
        steps, left = steps_to_mend(moments, monkeypatch)
        assert left == 1
        counts.append(steps)
    assert counts[0] > 500
    assert counts[1] <= 1.05 * counts[0]
