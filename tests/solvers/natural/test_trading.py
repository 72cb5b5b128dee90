# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands whose rotation is traded over a shot, and what that is made of: blocks, ranges, limbs with a chosen wrist."""

from dataclasses import replace
from math import radians

import numpy as np
import pytest
from mathutils import Matrix, Quaternion

from ik_triangulation.goals.from_goals import RADIAN, point_task
from ik_triangulation.goals.orientation import OrientTask
from ik_triangulation.kinematics import Cone, EulerLimits, Pose
from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.kinematics.batch.algebra import compose, exponential, lengths, matrices, normalized, turn_vectors
from ik_triangulation.kinematics.batch.limit_arrays import LimitArrays
from ik_triangulation.kinematics.framed import framed
from ik_triangulation.solvers.natural import trading
from ik_triangulation.solvers.natural.tip_limb import EndRange, TipLimb
from ik_triangulation.solvers.natural.traded import solve_blocks
from ik_triangulation.solvers.natural.two_bones import TwoBones
from ik_triangulation.solvers.solver import LimbForm

from .arms import arm, natural_path

WRIST = EulerLimits("YXZ", tuple(map(radians, (-60, -150, -60))), tuple(map(radians, (60, 150, 60))))
CONE = Cone(radians(60), radians(-150), radians(150))
WRISTS = {"box": WRIST, "cone": CONE, "narrow": EulerLimits("XYZ", (-0.4, -0.3, -0.5), (0.4, 0.3, 0.5))}
SHOULDER, ELBOW = Cone(radians(125), radians(-110), radians(110)), Cone(radians(155), radians(-35), radians(35))
FORM, ANGLE = LimbForm(has_end=True), radians(1.0)
LEAP = 30.0  # [degrees] in a frame


def turns(rotations):
    """Largest turn [degrees] of a joint from frame to frame (F - 1)."""
    likeness = np.abs(np.einsum("nif,nif->nf", rotations[..., 1:], rotations[..., :-1]))
    return np.degrees(2.0 * np.arccos(np.minimum(1.0, likeness))).max(0)


class Shot:
    """An arm whose hand goes from one pose to another and back, told to turn by more than it can on the way."""

    def __init__(self, seed, wrist, twist, count=61, weight=1.0, axis=(0.3, 1.0, 0.2)):
        chain = arm(seed, [SHOULDER, ELBOW, wrist])
        s = np.sin(np.linspace(0.0, np.pi, count)) ** 2
        poses = [
            Pose(
                chain,
                Matrix.Identity(4),
                [
                    Quaternion((0.2, 0.3, 1.0), 0.8 * t),
                    Quaternion((1.0, 0.0, 0.0), -0.5 - 0.9 * t),
                    Quaternion((0.5, 1.0, 0.3), 0.3 * t),
                ],
            )
            for t in s.tolist()
        ]
        self.tree, self.frames = Tree.of(chain), Tree.of(chain).states(poses)
        geometry, turn = Geometry(self.tree, self.frames), [Quaternion(axis, radians(twist) * t) for t in s.tolist()]
        more = matrices(np.array([q[:] for q in turn]).T)
        self.place = geometry.tip(0)
        self.told = compose(geometry.tip_rotation(0), more)
        length = RADIAN * self.tree.size * weight
        self.tasks = [
            point_task(self.place, np.full(1, 1e-4 * self.tree.size)),
            OrientTask(length=length, tolerance=np.full(1, ANGLE), rotation=self.told),
        ]
        self.reference = self.tree.rotations(self.frames)[..., :1]

    def solved(self):
        """The path, rotations of the joints, distance of the tip [size] and angle of the hand [degrees] (F)."""
        path = natural_path(self.tree, self.frames, self.tasks, self.reference, FORM)
        geometry = Geometry(self.tree, path.states)
        away = lengths(geometry.tip(0) - self.place) / self.tree.size
        off = np.degrees(lengths(turn_vectors(compose(self.told, geometry.tip_rotation(0).swapaxes(0, 1)))))
        return path, self.tree.rotations(path.states), away, off


@pytest.mark.parametrize(("seed", "wrist", "twist", "axis"), [(15, "cone", 40.0, 46), (49, "narrow", 180.0, 149)])
def test_what_single_precision_rounds_stays_as_small(seed, wrist, twist, axis):
    """Of a hand that leans on its range, and of one that is traded."""
    found, random = [], np.random.default_rng(seed)
    for size in (0.0, 2e-7):
        shot = Shot(seed, WRISTS[wrist], twist, 41, axis=np.random.default_rng(axis).normal(size=3).tolist())
        place, told = shot.tasks
        place = replace(
            place, target=place.target._replace(place=place.target.place + size * random.normal(size=(3, 41)))
        )
        turn = matrices(exponential(size * random.normal(size=(3, 41))))
        shot.tasks = [place, replace(told, rotation=compose(told.rotation, turn))]
        shot.reference = normalized(shot.reference + size * random.normal(size=shot.reference.shape))
        found.append(shot.solved()[1])
    assert np.abs(found[0] - found[1] * np.sign((found[0] * found[1]).sum(1, keepdims=True))).max() < 1e-4


@pytest.mark.parametrize("count", [1, 2, 3, 6, 61])
def test_block_systems_are_solved_like_dense_ones(count):
    random = np.random.default_rng(count)
    factors = random.normal(size=(count, 4, 4))
    diagonal, side = factors @ factors.swapaxes(1, 2) + 5.0 * np.eye(4), -random.uniform(size=(count - 1, 4))
    right = random.normal(size=(count, 4))
    dense = np.zeros((4 * count, 4 * count))
    for f in range(count):
        dense[4 * f : 4 * f + 4, 4 * f : 4 * f + 4] = diagonal[f]
    for f in range(count - 1):
        here, there = slice(4 * f, 4 * f + 4), slice(4 * f + 4, 4 * f + 8)
        dense[here, there] = dense[there, here] = np.diag(side[f])
    expected = np.linalg.solve(dense, right.ravel()).reshape(count, 4)
    np.testing.assert_allclose(solve_blocks(diagonal, side, right), expected, atol=1e-10)


@pytest.mark.parametrize("wrist", WRISTS)
def test_between_two_allowed_wrists_every_other_is_allowed(wrist):
    random, ends = np.random.default_rng(3), EndRange(WRISTS[wrist])
    low, high = (
        ends.nearest(normalized(random.normal(size=(4, 200)))),
        ends.nearest(normalized(random.normal(size=(4, 200)))),
    )
    for share in (0.0, 0.3, 0.8):
        some = ends.quaternions(low + share * (high - low))
        assert LimitArrays(WRISTS[wrist]).excess(some).max() < 1e-6
    np.testing.assert_allclose(ends.inside(low + 0.5 * (high - low)), low + 0.5 * (high - low), atol=1e-9)


@pytest.mark.parametrize("wrist", WRISTS)
def test_wrists_pulled_out_of_their_range_stay_at_its_end(wrist):
    random, ends = np.random.default_rng(5), EndRange(WRISTS[wrist])
    values = ends.inside(10.0 * np.sign(random.normal(size=(3, 50))))  # in a corner, or on the edge of the cone
    slope, curvature = -values.T.copy(), np.tile(np.eye(3), (50, 1, 1))
    ends.hold_ends(values, slope, curvature)
    step = -np.linalg.solve(curvature, slope[:, :, None])[:, :, 0].T
    np.testing.assert_allclose(ends.inside(values + step), values + step, atol=1e-6)


@pytest.mark.parametrize("wrist", WRISTS)
def test_with_any_swivel_and_wrist_the_tip_is_at_its_target(wrist):
    shot, random = Shot(2, WRISTS[wrist], 0.0), np.random.default_rng(7)
    limb = TwoBones(shot.tree, shot.frames, shot.tasks, shot.reference)
    tip = np.array(shot.tree.tips[0].place)[:, None]
    place = limb.goal + np.einsum("ijf,jf->if", limb.end, np.broadcast_to(tip, limb.goal.shape))
    every = np.arange(len(shot.frames))
    tips = TipLimb(limb, place, None, every)
    values = tips.range.nearest(normalized(random.normal(size=(4, len(every)))))
    posed = tips.at(random.uniform(-3.0, 3.0, len(every)), values, every)
    rotations = tips.rotations(posed)
    chain = arm(2)
    poses = [Pose(chain, Matrix.Identity(4), list(map(Quaternion, rotations[..., k]))) for k in every.tolist()]
    found = np.array([pose.tip[:] for pose in poses]).T
    reached = posed.beyond == 0.0
    assert reached.mean() > 0.5
    assert (lengths(found - shot.place)[reached] < 1e-5 * shot.tree.size).all()


def test_both_forms_of_a_limb_have_the_same_poses():
    shot, random = Shot(4, WRIST, 0.0), np.random.default_rng(9)
    limb = TwoBones(shot.tree, shot.frames, shot.tasks, shot.reference)
    every, tip = np.arange(len(shot.frames)), np.array(shot.tree.tips[0].place)[:, None]
    tips = TipLimb(
        limb, limb.goal + np.einsum("ijf,jf->if", limb.end, np.broadcast_to(tip, limb.goal.shape)), None, every
    )
    swivels = random.uniform(-0.2, 0.2, len(every))
    rotations = limb.rotations(swivels)
    values = tips.range.nearest(rotations[2])
    upper = compose(np.broadcast_to(limb.rests[0], (3, 3, len(every))), matrices(rotations[0]))
    again = tips.rotations(tips.at(tips.swivels_of(upper, values, every), values, every))
    assert np.abs(np.einsum("nif,nif->nf", again, rotations)).min() > 1.0 - 1e-9
    np.testing.assert_allclose(limb.swivels_of(upper, every), swivels, atol=1e-6)


@pytest.mark.parametrize("wrist", ["box", "cone"])
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("twist", [120.0, 200.0])
def test_a_hand_that_cannot_follow_its_target_trails_without_a_leap(wrist, seed, twist):
    shot = Shot(seed, WRISTS[wrist], twist)
    path, rotations, away, _ = shot.solved()
    assert turns(rotations).max() < LEAP
    assert away.max() < 1e-3
    for joint, freedom in enumerate((SHOULDER, ELBOW, WRISTS[wrist])):
        assert LimitArrays(freedom).excess(rotations[joint]).max() < 1e-6
    assert not (path.possible & ~path.met).any()  # what the hand lacks is not looked for in one frame


def test_a_hand_that_can_follow_its_target_calmly_is_not_off_at_all():
    _, rotations, away, off = Shot(1, WRIST, 30.0).solved()
    assert turns(rotations).max() < LEAP
    assert away.max() < 1e-6
    assert off.max() < 1e-4


def test_a_hand_that_has_to_trail_for_a_while_is_off_no_more_than_it_has_to():
    _, rotations, _, off = Shot(3, WRIST, 200.0).solved()
    assert turns(rotations).max() < LEAP
    assert np.degrees(off.mean()) < 1.5


def test_less_weight_leaves_a_hand_farther_off():
    off = [Shot(2, WRIST, 200.0, weight=weight).solved()[3].sum() for weight in (1.0, 0.01)]
    assert off[1] > 1.1 * off[0]


def test_frames_that_are_right_at_the_ends_of_a_shot_stay():
    shot = Shot(3, WRIST, 200.0, count=61)
    half = np.arange(31)
    path = natural_path(
        shot.tree, shot.frames.take(half), [task.take(half) for task in shot.tasks], shot.reference, FORM
    )
    given = shot.tree.rotations(shot.frames)[..., 0]
    assert 0 in path.held
    np.testing.assert_allclose(np.abs((shot.tree.rotations(path.states)[..., 0] * given).sum(1)), 1.0, atol=1e-9)
    assert turns(shot.tree.rotations(path.states)).max() < LEAP


@pytest.mark.parametrize(
    "inner",
    [EulerLimits("YXZ", (-1.0, -2.6, -1.0), (1.0, 2.6, 1.0)), Cone(0.9, -2.0, 2.0)],
    ids=["Euler limits", "cone"],
)
def test_coordinates_of_limits_in_axes_of_their_own_are_those_of_the_inner_limits(inner):
    frame = Quaternion((0.3, -0.5, 0.8), 1.1)
    own, turned = EndRange(inner), EndRange(framed(inner, frame))
    generator = np.random.default_rng(5)
    rotations = generator.normal(size=(4, 40))
    rotations /= np.linalg.norm(rotations, axis=0)
    about = np.array([(frame @ Quaternion(q) @ frame.conjugated())[:] for q in rotations.T]).T
    assert (turned.size, turned.parts) == (own.size, own.parts)
    assert np.abs(turned.nearest(about) - own.nearest(rotations)).max() < 1e-5
    for part in range(own.parts):
        assert np.abs(turned.nearest_in_part(part, about) - own.nearest_in_part(part, rotations)).max() < 1e-5
    found, expected = turned.quaternions(turned.nearest(about)), own.quaternions(own.nearest(rotations))
    back = np.array([(frame @ Quaternion(q) @ frame.conjugated())[:] for q in expected.T]).T
    assert np.abs(np.abs((found * back).sum(0)) - 1.0).max() < 1e-6


@pytest.mark.parametrize(
    ("trouble", "cyclic", "stretches"),
    [
        ((), False, ()),
        ((), True, ()),
        ((100,), False, (range(76, 125),)),
        ((5, 395), False, (range(30), range(371, 400))),
        ((100, 238), False, (range(76, 263),)),
        ((100, 239), False, (range(76, 125), range(215, 264))),
        ((5, 200), True, (range(-19, 30), range(176, 225))),
        ((5, 390), True, (range(-34, 30),)),
        ((5, 100, 200, 300), True, (range(352, 753),)),
        (range(400), True, (range(-200, 600),)),
    ],
)
def test_what_is_traded_begins_before_trouble_and_ends_after_it_also_across_the_seam_of_a_cycle(
    trouble, cyclic, stretches
):
    """24 frames before and after; as one where at most 138 are from one to the next; a cycle without a calm part from
    the middle of what is calm round to there, or twice."""
    tempo = trading.Tempo(1.0, 1.0, 30.0, cyclic)
    found = list(trading._stretches(np.isin(np.arange(400), list(trouble)), tempo))
    assert [each.tolist() for each in found] == [[frame % 400 for frame in each] for each in stretches]
    for each in found:
        whole = each[trading._middle(each, 400)].tolist()
        assert whole == (each[200:600] if len(each) == 800 else each[: 400 + (len(each) < 401)]).tolist()
    twice = list(
        trading._stretches(np.isin(np.arange(800), [2 * frame for frame in trouble]), tempo._replace(fps=60.0))
    )
    assert len(twice) == len(found)


def test_in_a_traded_shot_an_end_that_can_turn_as_told_does_so_exactly():
    _, rotations, away, off = Shot(5, WRISTS["narrow"], 60.0).solved()
    assert off.max() > 10.0, "it is traded"
    assert (off < 1e-5).sum() > 30, "no price is rounded there"
    assert away.max() < 1e-4
    assert turns(rotations).max() < 6.0


def test_where_an_exact_turn_fades_the_limb_does_not_swing_to_another_swivel():
    _, rotations, away, off = Shot(3, WRISTS["narrow"], 90.0).solved()
    assert 0.3 < off.max() < 0.6
    assert ((off > 0.1) & (off < 0.5)).sum() >= 2, "frames in which it fades"
    assert away.max() < 1e-4
    assert turns(rotations).max() < 8.0
