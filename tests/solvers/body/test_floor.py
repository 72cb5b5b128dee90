# SPDX-License-Identifier: GPL-3.0-or-later
"""The floor is at the sole of the lower held foot; joints, hips and reaching tips have their heights above it."""

import numpy as np
import pytest

from ik_triangulation.goals.shapes import Plane
from ik_triangulation.goals.target_shapes import BatchTarget
from ik_triangulation.goals.task import Level, PlaceTask
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.body import states_of
from ik_triangulation.solvers.body.floor import floor_of, kept_above
from scripts.benchmarks import humanoid

from ...trees import HERE, places

FIGURE = humanoid.body()
STAND = humanoid.standing(FIGURE)
FEET = ["foot.L", "foot.R"]
LEG = min(FIGURE.reach(name) for name in FEET)
NAMES = {joint.name: number for number, joint in enumerate(FIGURE.joints)}


def standing(*raised):
    """Geometry of the stand, raised by these heights at each pose."""
    geometry = Geometry(FIGURE.tree, states_of([STAND] * len(raised)))
    return geometry.shifted(np.array([[0.0] * len(raised), [0.0] * len(raised), raised]))


def floor(*raised, influence=None, held=FEET, reference=None):
    geometry = standing(*raised)
    return floor_of(FIGURE, held, geometry.frames, reference or geometry, influence)


def sole():
    """Height of the lowest point of a foot: its contacts, or its tip less the thickness of a sole."""
    found = []
    for name in FEET:
        tip = FIGURE.tip(name)
        frame = STAND.frames[tip.joint]
        heights = [(frame[:, :3] @ np.array(each[:]) + frame[:, 3])[2] for each in (tip.place, *tip.contacts)]
        found.append(min(heights[0] - 0.02 * FIGURE.reach(name), *heights[1:]))
    return min(found)


def bound_of(found, joint):
    """Heights (F) of the bound of the head of a joint; None if it has none."""
    rows = [
        row
        for row, (each, point) in enumerate(zip(found.points.joints, found.points.points, strict=True))
        if each == NAMES[joint] and not point.any()
    ]
    return (
        np.broadcast_to(found.points.heights, (found.points.count, found.points.heights.shape[-1]))[rows[0]]
        if rows
        else None
    )


def test_joints_stay_above_the_sole_and_the_hips_a_quarter_of_a_leg_higher():
    found = floor(0.0, 0.3)
    ground = sole() + np.array([0.0, 0.3])
    assert bound_of(found, "pelvis") == pytest.approx(ground + 0.25 * LEG)
    for joint in ("shin.L", "head", "hand.R", "wrist.L"):
        assert bound_of(found, joint) == pytest.approx(ground)
    for joint in ("foot.L", "foot.R", "finger 1.L", "finger 2.R"):
        assert bound_of(found, joint) is None
    hands = [FIGURE.number_of[name] for name in ("hand.L", "hand.R")]
    assert found.tips[hands] == pytest.approx(np.stack([ground, ground]))
    ends = {
        (FIGURE.joints[joint].name, *np.round(point, 6))
        for joint, point in zip(found.points.joints, found.points.points, strict=True)
        if point.any()
    }
    assert ends == {("hand.L", 0.09, 0.0, 0.0), ("hand.R", -0.09, 0.0, 0.0), ("head", 0.0, -0.02, 0.17)}
    assert not found.crossed(standing(0.0, 0.3))
    assert not found.crossed(standing(0.0, 0.299))  # within the tolerance
    assert found.crossed(standing(0.0, 0.3 - 2.0))
    assert found.take([1]).points.heights == pytest.approx(found.points.heights[:, [1]])


def test_what_the_animation_has_lower_may_be_as_low_as_that():
    lying = standing(-0.9)
    found = floor(0.0, reference=lying)
    pelvis = NAMES["pelvis"]
    assert bound_of(found, "pelvis") == pytest.approx(lying.heads[pelvis, 2])
    assert bound_of(found, "head") == pytest.approx([sole()])
    trunk = [NAMES[name] for name in ("pelvis", "spine 1", "spine 2")]
    assert not found.of_joints(np.isin(np.arange(len(FIGURE.joints)), trunk)).crossed(lying)


def test_a_leg_that_hangs_from_lowered_hips_may_be_as_low_only_as_if_its_foot_were_where_it_is_held():
    sunk = 0.9
    found, planted, lying = floor(0.0, reference=standing(-sunk)), floor(0.0), standing(-sunk)
    for joint in ("thigh.L", "shin.R"):
        assert bound_of(found, joint) == pytest.approx(bound_of(planted, joint))
    assert bound_of(found, "spine 2") == pytest.approx(np.minimum(sole(), lying.heads[NAMES["spine 2"], 2]))
    some = found.of_joints(np.arange(len(FIGURE.joints)) == NAMES["shin.L"])
    assert some.points.joints.tolist() == [NAMES["shin.L"]]


def test_without_feet_there_is_none_and_where_they_do_not_count_it_goes_away():
    assert floor(0.0, held=["hand.L"]) is None
    assert kept_above(None, [], standing(0.0)) == []
    shares = {"foot.L": np.array([1.0, 0.5, 0.0]), "foot.R": np.array([0.0, 0.25, 0.0])}
    found = floor(0.0, 0.0, 0.0, influence=shares)
    size = FIGURE.tree.size
    assert bound_of(found, "head") == pytest.approx(sole() - 10.0 * size * np.array([0.0, 0.5, 1.0]))


def test_places_below_the_floor_are_raised_to_it_and_others_stay():
    found, hand = floor(0.0, 0.0), FIGURE.number_of["hand.L"]
    below, above = places([[0.3] * 2, [0.1] * 2, [sole() - 0.2, sole() + 0.2]]), places([[0.3], [0.1], [1.0]])
    low = PlaceTask(target=below, tolerance=np.array([1e-3]), tip=hand, level=Level.REACH)
    assert found.below(low) == pytest.approx([0.2, 0.0])
    (raised,) = found.raised([low])
    assert raised.target.place == pytest.approx(np.array([[0.3] * 2, [0.1] * 2, [sole(), sole() + 0.2]]))
    assert (raised.tip, raised.level, raised.tolerance) == (low.tip, low.level, low.tolerance)
    plane = BatchTarget(Plane((0, 0, -1), (0, 0, 1)), HERE, np.zeros((3, 1)), np.ones(1))
    for other in (
        PlaceTask(target=above, tolerance=np.array([1e-3]), tip=hand, level=Level.REACH),
        low.at_level(Level.HOLD),
        PlaceTask(target=plane, tolerance=np.array([1e-3]), tip=hand, level=Level.REACH),
    ):
        assert found.raised([other])[0] is other


def test_only_points_near_the_floor_are_watched():
    found, here = floor(0.0), standing(0.0)
    assert found.near(standing(5.0)) is None
    near = found.near(here)
    above = (found.points.above(here) - found.points.heights)[:, 0]
    assert near.count == (above < 0.1 * FIGURE.tree.size).sum() > 0
    assert near.count < found.points.count
    tasks = kept_above(found, ["task"], here)
    assert tasks[0] == "task"
    assert tasks[1].count == near.count
    assert kept_above(found, ["task"], standing(5.0)) == ["task"]
