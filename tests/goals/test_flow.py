# SPDX-License-Identifier: GPL-3.0-or-later
"""A field that is followed: one bounded step, an exact circle by a vortex, rest at what attracts, and no restarts."""

from math import dist, inf, nan, pi
from random import Random

import mathutils
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from ik_triangulation.errors import TargetError
from ik_triangulation.goals import Flow
from ik_triangulation.goals.flow import FieldFalloff, ForceField
from ik_triangulation.solvers import SOLVERS, solve

from ..chains import random_chain, random_direction, random_pose

FRAME = Matrix.LocRotScale(Vector((0.3, -0.2, 0.5)), Euler((0.7, -0.4, 1.1)), Vector((2.0, 0.5, 1.5)))
AXIS = FRAME.col[2].to_3d().normalized()


def followed(field, step, place, count):
    """Places of a tip that nothing holds, as rows."""
    places = [Vector(place)]
    for _ in range(count):
        places.append(Flow(field, step).after(places[-1]))
    return np.array(places)


def test_a_vortex_leads_round_a_circle_at_the_speed_of_the_step():
    radius, count = 0.7, 200
    arm = AXIS.orthogonal().normalized() * radius
    places = followed(ForceField(kind="VORTEX", frame=FRAME), 2.0 * pi * radius / count, FRAME.translation + arm, count)
    assert np.linalg.norm(places[-1] - places[0]) < 1e-3 * radius
    assert np.linalg.norm(places - np.array(FRAME.translation), axis=1) == pytest.approx(radius, rel=1e-4)
    ways = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert ways == pytest.approx(2.0 * radius * np.sin(pi / count), rel=1e-4)
    turned = arm.cross(Vector(places[1] - places[0])).dot(AXIS)
    assert turned > 0.0  # counterclockwise about Z, as Blender's particles go


def test_a_line_pushes_across_its_axis_a_plane_along_it_and_a_vortex_turns_about_it():
    across = AXIS.orthogonal().normalized()
    place = FRAME.translation + 0.4 * AXIS + 0.3 * across
    for kind, shape, towards in (
        *(("FORCE", "POINT", 0.4 * AXIS + 0.3 * across), ("FORCE", "LINE", across), ("FORCE", "PLANE", AXIS)),
        *(("VORTEX", shape, AXIS.cross(across)) for shape in ("POINT", "LINE", "PLANE")),
    ):
        vector = ForceField(kind=kind, frame=FRAME, shape=shape)(place)
        assert vector.angle(towards) < 1e-3, (kind, shape)
    far = FieldFalloff(power=1.0)  # by the distance from the line
    strength = ForceField(kind="VORTEX", frame=FRAME, shape="LINE", falloff=far)(place).length
    assert strength == pytest.approx(1.0 / 1.3, rel=1e-4)


def test_no_step_is_longer_than_it_may_be_however_strong_the_field():
    random = Random(1)
    for _ in range(50):
        turn, strength = random_direction(random), 10.0 ** random.uniform(-2.0, 6.0)
        begin = random_direction(random)
        end = Flow(lambda place, t=turn, s=strength: t.cross(place) * s + t, 0.2).after(begin)
        assert (end - begin).length <= 0.2 * (1.0 + 1e-5)


def test_a_weak_field_moves_the_tip_in_proportion_and_none_leaves_it():
    down = Vector((0.0, 0.0, -1.0))
    for share in (0.0, 0.25, 1.0, 40.0):
        end = Flow(lambda place, s=share: down * s, 0.1).after(Vector((1.0, 2.0, 3.0)))
        assert end[:] == pytest.approx((1.0, 2.0, 3.0 - 0.1 * min(share, 1.0)), abs=1e-6)


def test_what_attracts_is_come_to_and_stayed_at():
    pull = ForceField(kind="FORCE", frame=Matrix.Identity(4), strength=-1.0)
    places = followed(pull, 0.09, (0.5, -0.3, 0.8), 40)
    away = np.linalg.norm(places, axis=1)
    assert (np.diff(away[: int(away[0] / 0.09)]) < 0.0).all()
    assert away[-5:].max() < 0.01 * 0.09


def test_a_corridor_is_gone_along_beside_its_middle_and_back_to_from_outside():
    turns = np.linspace(0.0, 2.0 * pi, 400, endpoint=False)
    path = np.stack((np.cos(turns), np.sin(turns), 0.0 * turns), axis=1)
    corridor = ForceField(
        kind="GUIDE", frame=Matrix.Identity(4), path=path, is_closed=True, falloff=FieldFalloff(least=0.2)
    )
    for begin in (1.1, 1.6, 0.5):
        places = followed(corridor, 0.05, (begin, 0.0, 0.0), 400)
        radii = np.linalg.norm(places[:, :2], axis=1)
        ends = begin if abs(begin - 1.0) < 0.2 else 1.0 + np.sign(begin - 1.0) * 0.2
        assert radii[-50:] == pytest.approx(ends, abs=0.02)
        assert (np.cross(places[:-1], np.diff(places, axis=0))[:, 2] > 0.0).all()


def test_an_open_corridor_ends():
    path = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0)])
    guide = ForceField(kind="GUIDE", frame=Matrix.Identity(4), path=path)
    places = followed(guide, 0.05, (0.1, 0.0, 0.0), 60)
    assert np.abs(places[-1] - path[-1]).max() < 0.05
    assert np.abs(places[-1] - places[-2]).max() < 1e-6


@pytest.mark.parametrize(
    ("falloff", "place", "strength"),
    [
        (FieldFalloff(power=2.0), (0.0, 3.0, 0.0), 1.0 / 16.0),
        (FieldFalloff(power=1.0, least=2.0), (0.0, 3.0, 0.0), 0.5),
        (FieldFalloff(most=2.9), (0.0, 3.0, 0.0), 0.0),
        (FieldFalloff(side=1), (0.0, 0.0, -1.0), 0.0),
        (FieldFalloff(side=-1), (0.0, 0.0, -1.0), 1.0),
        (FieldFalloff(kind="TUBE", power=1.0, radial_power=2.0), (3.0, 0.0, 1.0), 1.0 / 32.0),
        (FieldFalloff(kind="CONE", radial_most=44.0), (1.0, 0.0, 1.0), 0.0),
        (FieldFalloff(kind="CONE", radial_most=46.0), (1.0, 0.0, 1.0), 1.0),
    ],
)
def test_a_field_falls_off_as_set(falloff, place, strength):
    wind = ForceField(kind="WIND", frame=Matrix.Identity(4), falloff=falloff)
    assert wind(Vector(place))[:] == pytest.approx((0.0, 0.0, strength), abs=1e-6)


@pytest.mark.parametrize("solver", sorted(set(SOLVERS) - {"TWO_BONE"}))
def test_every_method_makes_one_step_of_a_flow_and_starts_nowhere_else(solver):
    start = random_pose(random_chain(3, 5), Random(3))
    middle = start.tip + Vector((0.3, 0.4, -0.2))
    flow = Flow(lambda place: Vector((0.2, 0.3, 1.0)).cross(place - middle) * 5.0, 0.02 * start.chain.reach)
    found = solve(start, flow, solver=solver, tolerance=1e-5 * start.chain.reach)
    assert found.reached
    assert (found.pose.tip - flow.after(start.tip)).length < 2e-5 * start.chain.reach


def test_a_step_out_of_reach_is_made_as_far_as_it_can_be():
    start = random_pose(random_chain(4, 3), Random(4))
    out = (start.tip - start.head(0)).normalized()
    flow = Flow(lambda place: out, 2.0 * start.chain.reach)
    found = solve(start, flow)
    assert not found.reached
    assert (found.pose.tip - start.head(0)).length == pytest.approx(start.chain.reach, rel=1e-3)


@pytest.mark.parametrize("step", [0.0, -1.0, inf, nan])
def test_a_step_that_is_no_length_is_refused(step):
    with pytest.raises(TargetError, match=r"Flow step .* is not a distance"):
        Flow(lambda place: place, step)


def test_a_field_without_numbers_is_told_with_the_place():
    with pytest.raises(TargetError, match=r"Flow has no finite vector at \(1\.0, 2\.0, 3\.0\)"):
        Flow(lambda place: (nan, 0.0, 0.0), 0.1).after(Vector((1.0, 2.0, 3.0)))


def test_the_place_one_step_on_is_the_nearest_and_nothing_is_out_of_reach():
    flow = Flow(lambda place: Vector((0.0, 0.0, 1.0)), 0.2)
    point = Vector((1.0, 2.0, 3.0))
    assert flow.closest(point) == flow.after(point) == Vector((1.0, 2.0, 3.2))
    assert flow.least_distance(point) == 0.0


def test_a_harmonic_field_pulls_to_its_rest_length_and_gravity_weakens_with_the_square():
    random = Random(5)
    for _ in range(10):
        arm = random_direction(random) * random.uniform(0.2, 3.0)
        place, size = FRAME.translation + arm, random.uniform(0.0, 2.0)
        spring = ForceField(kind="HARMONIC", frame=FRAME, strength=2.0, size=size)
        assert spring(place)[:] == pytest.approx((arm.normalized() * 2.0 * (size - arm.length))[:], abs=1e-5)
        heavy = ForceField(kind="FORCE", frame=FRAME, strength=-3.0, is_gravity=True)
        assert heavy(place)[:] == pytest.approx((arm * (-3.0 / arm.length**3))[:], rel=1e-3, abs=1e-5)


def test_turbulence_is_noise_of_three_octaves_of_its_size_and_goes_along_with_its_field():
    random = Random(6)

    def noise(*place):
        octaves = [mathutils.noise.noise(Vector(place) * each, noise_basis="PERLIN_NEW") for each in (1.0, 2.0, 4.0)]
        return float(np.average(octaves, weights=(4.0, 2.0, 1.0)))

    for size in (0.0, 0.7):
        for _ in range(5):
            place = 3.0 * random_direction(random)
            x, y, z = place / (size or 1.0)
            wanted = Vector((noise(x, y, z), noise(y, z, x), noise(z, x, y))) * 1.5
            still, moved = (
                ForceField(kind="TURBULENCE", frame=FRAME, strength=1.5, size=size, is_global=each)
                for each in (True, False)
            )
            assert still(place)[:] == pytest.approx(wanted[:], abs=1e-5)
            assert moved(place + FRAME.translation - AXIS)[:] == pytest.approx(wanted[:], abs=1e-4)


def test_a_surface_pushes_along_its_normal_or_away_from_its_nearest_place():
    there, normal = Vector((0.1, 0.2, 0.3)), Vector((0.0, 0.6, 0.8))
    place = there + Vector((0.3, -0.4, 0.0))
    far = FieldFalloff(power=1.0)
    wind, push = (
        ForceField(kind=kind, frame=FRAME, falloff=far, nearest=lambda point: (there, normal))(place)
        for kind in ("WIND", "FORCE")
    )
    assert wind[:] == pytest.approx((normal / 1.5)[:], abs=1e-6)
    assert push[:] == pytest.approx((0.4, -0.8 / 1.5, 0.0), abs=1e-6)
    assert dist(push, (0.0, 0.0, 0.0)) == pytest.approx(1.0 / 1.5, rel=1e-6)


def test_the_strength_of_a_guide_falls_off_from_its_least_distance_on():
    path = np.array([(0.0, 0.0, 0.0), (10.0, 0.0, 0.0)])
    falloff = FieldFalloff(power=2.0, least=0.5, most=4.0)
    guide = ForceField(kind="GUIDE", frame=Matrix.Identity(4), path=path, falloff=falloff)
    for off, strength in ((0.0, 1.0), (0.4, 1.0), (1.5, 0.25), (3.5, 1.0 / 16.0), (4.1, 0.0)):
        assert guide(Vector((5.0, off, 0.0))).length == pytest.approx(strength, abs=1e-6)


def test_a_step_is_halved_at_most_eight_times_where_a_field_turns_back():
    asked = []

    def turning(place):
        asked.append(place)
        return (1.0, 0.0, 0.0) if len(asked) == 1 else (-1.0, 0.0, 0.0)  # once it has begun

    Flow(turning, 0.5).after(Vector())
    assert len(asked) == 1 + 3 * 8, "a place to begin with, and three for each step that is tried"
