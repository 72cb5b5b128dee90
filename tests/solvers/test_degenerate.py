# SPDX-License-Identifier: GPL-3.0-or-later
"""Places and numbers where formulas break give a finite, sound pose; what is no number gives a typed error."""

from contextlib import suppress
from itertools import product
from math import inf, isfinite, nan, pi

import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import ChainError, IKError, SettingError
from ik_triangulation.goals import Avoid, Ball, Direction, Effort, Near, Orientation, Point, Pole
from ik_triangulation.goals.shapes import MOST_WEIGHT
from ik_triangulation.kinematics import Chain, Cone, EulerLimits, Free, Hinge, Inheritance, Joint, Pose
from ik_triangulation.kinematics.rotation import about, rotation_angle
from ik_triangulation.solvers import solve

from ..chains import GENERAL, straight
from ..strategies import SPECIAL, examples

every_solver = pytest.mark.parametrize("solver", GENERAL)
X, Y = Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0))
KINDS = {
    "free": Free(),
    "hinge": Hinge(X, -pi, pi),
    "half a turn": Hinge(X, 0.0, pi),
    "euler": EulerLimits("XYZ", (-pi / 2.0, -pi / 2.0, 0.0), (pi, pi / 2.0, 0.0)),
    "cone": Cone(pi / 2.0, -pi, pi),
}
every_kind = pytest.mark.parametrize("freedom", KINDS.values(), ids=list(KINDS))
every_finish = pytest.mark.parametrize("finished", [False, True], ids=["plain", "finished"])


def check(solution):
    assert isfinite(solution.error)
    for joint, rotation in zip(solution.pose.chain.joints, solution.pose.rotations, strict=True):
        assert abs(rotation.magnitude - 1.0) < 5e-7
        assert rotation_angle(joint.freedom.nearest(rotation), rotation) <= 2e-6
    assert all(isfinite(x) for i in range(len(solution.pose)) for x in (*solution.pose.head(i), *solution.pose.end(i)))


@every_solver
@every_finish
@every_kind
def test_straight_and_folded_chains_with_targets_on_their_own_points(solver, finished, freedom, long):
    """Every joint at 0, a quarter or half a turn; targets on the root, a joint, the tip, and on the chain's line.

    In the short form every twelfth of them, others for each solver.
    """
    chain = straight((1.0, 1.0, 1.0), [freedom] * 3)
    shift = GENERAL.index(solver) + finished
    for bends in product(range(3), repeat=2):
        pose = Pose(chain, Matrix.Identity(4), [Quaternion(), *(about(X, bend * pi / 2.0) for bend in bends)])
        targets = (pose.head(0), pose.head(1), pose.tip, Y * 1.5, -Y, Y * 3.0, Y * 9.0)
        for i, target in enumerate(targets):
            if long or (i + shift + 3 * bends[0] + bends[1]) % 12 == 0:
                check(solve(pose, Point(target), solver=solver, iterations=3, finish=finished))


@given(angles=st.lists(st.sampled_from(SPECIAL), min_size=4, max_size=4), kind=st.sampled_from(list(KINDS)))
@examples(30)
def test_targets_at_special_angles(angles, kind):
    """A target that the chain reaches with its joints at multiples of a quarter turn is reached."""
    chain = straight((1.0, 1.0), [KINDS[kind]] * 2)
    start, there = (Pose(chain, Matrix.Identity(4), [about(X, a) for a in pair]) for pair in (angles[:2], angles[2:]))
    there.project()
    for solver in GENERAL:
        note(solver)
        solution = solve(start, Point(there.tip), solver=solver)
        check(solution)
        assert solution.reached


NUMBERS = st.floats(allow_nan=True, allow_infinity=True, width=32) | st.sampled_from(
    (0.0, -0.0, 1e-45, -1e-45, 1.2e-38, 1e-12, 1e18, 3.4e38, -3.4e38, nan, inf, -inf)
)
places = st.tuples(NUMBERS, NUMBERS, NUMBERS)


@every_finish
@given(place=places, kind=st.sampled_from(list(KINDS)))
@examples(45)
def test_any_numbers_for_a_target_give_a_sound_pose_or_a_typed_error(finished, place, kind):
    pose = straight((1.0, 0.5, 0.7), [KINDS[kind]] * 3).rest_pose()
    for solver in GENERAL:
        note(solver)
        try:
            solution = solve(pose, Point(place), solver=solver, iterations=3, finish=finished)
        except IKError:
            assert not all(map(isfinite, place))
        else:
            assert all(map(isfinite, place))
            for rotation in solution.pose.rotations:
                assert abs(rotation.magnitude - 1.0) < 5e-7
            assert all(map(isfinite, solution.pose.tip))


@given(lengths=st.lists(st.sampled_from((0.0, 1e-45, 1e-30, 1e-12, 1.0, 1e6)), min_size=1, max_size=5))
@examples(18)
def test_links_without_length_and_of_very_different_lengths(lengths):
    chain = straight(tuple(lengths))
    for solver in GENERAL:
        note(solver)
        for target in (Vector(), Y * 0.5, X * 1e-12, Vector((0.3, -0.0, 0.4))):
            check(solve(chain.rest_pose(), Point(target), solver=solver, iterations=3))


SOFT = {
    "direction": lambda: Direction(X),
    "pole": lambda: Pole(X),
    "effort": lambda: Effort(-Y),
    "near": lambda: Near([Quaternion()] * 2),
    "obstacle": lambda: Avoid([Ball(Vector(), 1.0)]),
    "at most": lambda: Effort(-Y, MOST_WEIGHT),
}


@every_solver
@pytest.mark.parametrize("soft", SOFT)
def test_of_a_chain_without_length_nothing_but_reaching_can_be_asked(solver, soft):
    for length in (0.0, 1e-30, 1e-15):
        with pytest.raises(ChainError, match="A chain without length has nothing to point or to bend"):
            solve(straight((length, length)).rest_pose(), Point(X), solver=solver, soft=[SOFT[soft]()])
    check(solve(straight((1e-6, 1.0)).rest_pose(), Point(X), solver=solver, soft=[SOFT[soft]()]))


FLAT = [(0.0, 0.0, 0.0), (1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (1e-8, 1.0, 1.0), (1e-20,) * 3, (1e30, 1.0, 1.0)]


@every_solver
@pytest.mark.parametrize("scale", FLAT)
def test_a_chain_that_is_scaled_flat_gives_a_pose_or_a_typed_error(solver, scale):
    inheritance = Inheritance("FULL", True, Matrix.Identity(3))
    joints = (Joint(f"joint {i}", Y * bool(i), Quaternion(), Free(), 0.0, Vector(scale), inheritance) for i in range(3))
    start = Pose(Chain(tuple(joints), Y), Matrix.Identity(4), [Quaternion()] * 3)
    with suppress(ChainError):
        assert isfinite(solve(start, Point(Vector((0.3, 0.4, 1.0))), solver=solver).error)


WRONG_SOFT = {
    "orientation NaN": lambda: Orientation(Quaternion((nan, 0.0, 0.0, 0.0))),
    "orientation of no rotation": lambda: Orientation(Quaternion((0.0, 0.0, 0.0, 0.0))),
    "orientation weight NaN": lambda: Orientation(Quaternion(), nan),
    "orientation weight negative": lambda: Orientation(Quaternion(), -1.0),
    "orientation weight infinite": lambda: Orientation(Quaternion(), inf),
    "direction NaN": lambda: Direction(Vector((nan, 0.0, 0.0))),
    "direction without length": lambda: Direction(Vector()),
    "direction infinite": lambda: Direction(Vector((inf, 0.0, 0.0))),
    "direction weight NaN": lambda: Direction(X, weight=nan),
    "direction weight negative": lambda: Direction(X, weight=-0.5),
    "direction of an axis NaN": lambda: Direction(X, Vector((0.0, nan, 0.0))),
    "direction of an axis without length": lambda: Direction(X, Vector()),
    "pole NaN": lambda: Pole(Vector((0.0, nan, 0.0))),
    "pole infinite": lambda: Pole(Vector((0.0, inf, 0.0))),
    "pole angle NaN": lambda: Pole(X, nan),
    "pole angle infinite": lambda: Pole(X, inf),
    "pole weight NaN": lambda: Pole(X, 0.0, nan),
    "pole weight negative": lambda: Pole(X, 0.0, -1.0),
}


@pytest.mark.parametrize("make", WRONG_SOFT.values(), ids=list(WRONG_SOFT))
def test_a_soft_constraint_that_means_nothing_is_refused_in_one_line(make):
    with pytest.raises(SettingError) as caught:
        make()
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


WRONG_STARTS = {
    "rotation NaN": (Matrix.Identity(4), Quaternion((nan, 0.0, 0.0, 0.0))),
    "no rotation": (Matrix.Identity(4), Quaternion((0.0, 0.0, 0.0, 0.0))),
    "rotation twice as long": (Matrix.Identity(4), Quaternion((2.0, 0.0, 0.0, 0.0))),
    "base NaN": (Matrix.Translation((nan, 0.0, 0.0)), Quaternion()),
    "base infinite": (Matrix.Translation((inf, 0.0, 0.0)), Quaternion()),
}


@every_kind
@pytest.mark.parametrize(("base", "rotation"), WRONG_STARTS.values(), ids=list(WRONG_STARTS))
def test_a_start_that_is_no_pose_is_refused(base, rotation, freedom):
    pose = Pose(straight((1.0, 1.0), [Free(), freedom]), base, [Quaternion(), rotation])
    with pytest.raises(ChainError, match="start pose"):
        solve(pose, Point(X))


@pytest.mark.parametrize("stiffness", [nan, -0.1, 1.1, inf])
def test_a_stiffness_that_is_no_share_is_refused_by_name(stiffness):
    with pytest.raises(ChainError, match=r"'elbow'.*[Ss]tiffness"):
        Chain([Joint("elbow", Vector(), Quaternion(), Free(), stiffness)], Y)


@every_solver
@pytest.mark.parametrize("stiffness", [0.0, 0.3, 0.9, 0.99])
def test_stiff_joints_reach_as_well(solver, stiffness):
    joints = [Joint(f"{i}", Y * min(i, 1), Quaternion(), Free(), stiffness) for i in range(4)]
    solution = solve(Chain(joints, Y).rest_pose(), Point((1.0, 1.0, 1.0)), solver=solver)
    assert solution.reached
