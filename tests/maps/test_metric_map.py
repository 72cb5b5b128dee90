# SPDX-License-Identifier: GPL-3.0-or-later
"""Metric maps cover what the paper's do, and any chain can be mapped."""

from math import pi, radians
from random import Random

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.errors import ChainError, SettingError
from ik_triangulation.goals import Point
from ik_triangulation.kinematics import EulerLimits, Hinge, Pose
from ik_triangulation.kinematics.rotation import about
from ik_triangulation.maps.metric_map import METRICS, SCALES, map_plane, map_pose
from ik_triangulation.solvers import SolverSettings, solve
from scripts.reproduce.planar import planar_chain
from scripts.reproduce.planar_map import map_planar

from ..chains import random_base, straight

EQUAL = (1.0,) * 5
ORIGIN, X, Y, Z = Vector(), Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0))
SIZE = 100  # a map of so many pixels a side is within half a percent of one of 300


def settings(solver, iterations, finish=False):
    return SolverSettings(solver=solver, iterations=iterations, finish=finish)


def test_sweeps_cover_less_of_the_disc_with_more_than_three_links():
    """The paper's Figure 9; the maximum is at n = 3."""
    coverage = [map_planar((1.0,) * n, "CCD", SIZE).coverage for n in range(2, 11)]
    assert coverage == pytest.approx([75.6, 80.9, 79.9, 69.1, 60.8, 58.5, 52.6, 51.5, 47.2], abs=0.6)
    assert 65.0 <= coverage[3] <= 71.0  # the paper's Figure 12 says 67
    assert max(coverage) == coverage[1]


def test_links_as_long_as_all_beyond_them_keep_the_coverage():
    """The paper's Figure 10: lengths ..., 4, 2, 1, 1 from the base."""
    chains = [[2.0**k for k in reversed(range(n - 1))] + [1.0] for n in range(2, 11)]
    coverage = [map_planar(lengths, "CCD", SIZE, iterations=5).coverage for lengths in chains]
    assert coverage == pytest.approx([49.0, 73.0, 78.0, 77.0, 79.0, 80.0, 81.0, 81.0, 81.0], abs=1.0)


@pytest.mark.parametrize(
    "solver", ["TRIANGULATION", "TRIANGULATION_2007", "TRIANGULATION_RIGHT_ANGLE", "SINGLE_PASS", "CIRCULAR"]
)
def test_one_pass_of_a_direct_method_covers_the_disc(solver):
    found = map_planar(EQUAL, solver, SIZE)
    assert found.coverage == 100.0
    assert found.metrics.iterations.max() == 1


def test_a_map_is_upright_and_measures_in_shares_of_the_reach():
    found = map_planar((3.0,), "CCD", 4, iterations=1)
    assert found.inside.tolist() == [[False, True, True, False], [True] * 4, [True] * 4, [False, True, True, False]]
    top_right = found.metrics.error[0, 2]  # the target (0.25, 0.75): the link turns towards it
    assert top_right == pytest.approx(1.0 - abs(0.25 + 0.75j))
    assert found.metrics.total_angle[0, 2] == pytest.approx(np.angle(0.25 + 0.75j))
    assert found.metrics.travel[0, 2] == pytest.approx(abs(np.exp(1j * np.angle(0.25 + 0.75j)) - 1.0))
    for metric in METRICS:
        assert (found.metric(metric)[~found.inside] == 0.0).all()


def test_the_scalar_solver_makes_the_same_map():
    fast = map_planar(EQUAL, "CCD", 30, iterations=5)
    slow = map_pose(planar_chain(EQUAL).rest_pose(), ORIGIN, X, Y, settings("CCD", 5), size=30)
    assert (fast.inside == slow.inside).all()
    assert (fast.metrics.iterations == slow.metrics.iterations).mean() >= 0.995
    assert fast.coverage == pytest.approx(slow.coverage, abs=0.2)
    for metric in ("error", "travel"):
        assert fast.metric(metric) == pytest.approx(slow.metric(metric), abs=1e-4)


def test_a_method_the_fast_engine_lacks_is_mapped_by_the_scalar_solver():
    found = map_planar(EQUAL, "GAUSS_NEWTON", 12)
    same = map_pose(planar_chain(EQUAL).rest_pose(), ORIGIN, X, Y, settings("GAUSS_NEWTON", 10), size=12)
    assert (found.metrics.iterations == same.metrics.iterations).all()
    assert found.coverage > 90.0


def test_a_chain_with_limits_is_mapped_in_its_bend_plane():
    """Each pixel is what solve() makes of that place; with finish the limits decide the coverage, not the method."""
    elbow = Hinge(X, 0.0, radians(150.0))
    wrist = EulerLimits("XYZ", (-1.0, 0.0, -0.3), (1.0, 0.0, 0.3))
    shoulder = EulerLimits("XYZ", (-1.5, -0.5, -0.5), (1.5, 0.5, 0.5))
    chain = straight((3.0, 2.5, 1.0), [shoulder, elbow, wrist])
    start = chain.rest_pose()
    start.put(1, about(X, 0.6))
    plane = map_plane(start)
    origin, along, across = plane
    bare = map_pose(start, *plane, settings("CCD", 6), size=10)
    finished = map_pose(start, *plane, settings("CCD", 6, finish=True), size=10)
    assert bare.coverage < finished.coverage < 100.0
    assert (finished.metrics.error <= bare.metrics.error + 1e-6).all()
    for row, column in ((1, 4), (4, 8), (7, 2)):
        x, y = (column + 0.5) / 5.0 - 1.0, 1.0 - (row + 0.5) / 5.0
        target = origin + (along * x + across * y) * 6.5
        solution = solve(start, Point(target), solver="CCD", tolerance=0.065, iterations=6, finish=False)
        assert bare.metrics.iterations[row, column] == solution.iterations
        assert bare.metrics.error[row, column] == pytest.approx(solution.error / 6.5, abs=1e-6)
        assert bare.metrics.total_angle[row, column] == pytest.approx(solution.cost.total_angle, abs=1e-6)


def test_the_plane_of_a_bent_pose_holds_all_its_joints():
    random = Random(4)
    for _ in range(50):
        chain = planar_chain([random.uniform(0.5, 3.0) for _ in range(random.randint(2, 6))])
        turns = [about(Z, random.uniform(0.2, 0.9)) for _ in chain.joints]
        pose = Pose(chain, random_base(random, 3.0), turns)
        origin, along, across = map_plane(pose)
        assert (origin - pose.head(0)).length == 0.0
        assert (along.length, across.length) == pytest.approx((1.0, 1.0), abs=1e-6)
        assert along.dot(across) == pytest.approx(0.0, abs=1e-5)
        normal = along.cross(across)
        assert [(pose.end(i) - origin).dot(normal) for i in range(len(pose))] == pytest.approx(
            [0.0] * len(pose), abs=1e-5 * chain.reach
        )


def test_the_plane_of_a_pose_folded_onto_its_root_runs_along_its_first_link():
    pose = straight((1.0, 1.0), [Hinge(Z), Hinge(Z)]).rest_pose()
    pose.put(1, about(Z, pi))
    _, along, across = map_plane(pose)
    assert (along - Y).length < 1e-6
    assert (across - X).length < 1e-6


def test_the_plane_of_a_straight_pose_is_where_it_would_bend_to():
    origin, along, across = map_plane(straight((2.0, 1.0), [Hinge(Z), Hinge(Z)]).rest_pose())
    assert (origin - ORIGIN).length == 0.0
    assert (along - Y).length == 0.0
    assert (across - X).length == 0.0  # so that the next joint bends positively about z


def test_progress_is_told_row_by_row_and_may_stop():
    told = []
    map_pose(planar_chain((1.0, 1.0)).rest_pose(), ORIGIN, X, Y, size=4, progress=lambda *rows: told.append(rows))
    assert told == [(n, 4) for n in range(5)]

    def stop(done, of):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        map_pose(planar_chain((1.0, 1.0)).rest_pose(), ORIGIN, X, Y, size=4, progress=stop)


def test_the_papers_colours_run_from_blue_to_red_and_black_is_not_reached():
    found = map_planar(EQUAL, "CCD", 60)
    picture, counts, reached = found.image(), found.metrics.iterations, found.metrics.reached
    assert picture.shape == (60, 60, 4)
    assert (picture[found.inside & ~reached] == (0, 0, 0, 255)).all()
    assert (picture[~found.inside] == 0).all()
    assert (picture[reached & (counts == 1)] == (0, 0, 255, 255)).all()
    assert (picture[reached & (counts == 10)] == (255, 0, 0, 255)).all()
    assert (reached & (counts == 1)).any()
    assert (reached & (counts == 10)).any()


def test_every_metric_has_a_picture_and_the_error_one_also_where_nothing_was_reached():
    found = map_planar(EQUAL, "CCD", 30)
    missed = found.inside & ~found.metrics.reached
    for metric in METRICS:
        black = (found.image(metric, "VIOLET_YELLOW")[missed, :3] == 0).all()
        assert black == (metric != "error")
    # Ended at the same value, two maps can be read side by side.
    half = found.metrics.travel.max() / 2.0
    assert (found.image("travel", greatest=half)[found.metrics.reached & (found.metrics.travel > half), 0] == 255).all()


@pytest.mark.parametrize("scale", SCALES)
def test_contour_lines_are_where_a_value_passes_a_level_and_nowhere_else(scale):
    found = map_planar(EQUAL, "CCD", 60)
    least, most = found.ends("travel")
    plain, lined = found.image("travel", scale), found.image("travel", scale, contours=4)
    drawn = (plain != lined).any(axis=2)
    values, shown = found.metric("travel"), found.metrics.reached
    passes = np.zeros_like(drawn)
    for level in np.linspace(least, most, 6)[1:-1]:
        below = values < level
        passes[:, :-1] |= (below[:, :-1] != below[:, 1:]) & shown[:, :-1] & shown[:, 1:]
        passes[:-1] |= (below[:-1] != below[1:]) & shown[:-1] & shown[1:]
    assert (drawn == passes).all()
    assert 0.02 < drawn.mean() < 0.4
    assert set(lined[drawn][:, 0].tolist()) <= {0, 255}
    assert (found.image("travel", scale, contours=0) == plain).all()
    assert (
        found.image("travel", scale, greatest=least, contours=4) == found.image("travel", scale, greatest=least)
    ).all()


@pytest.mark.parametrize("iterations", [0, 1])
def test_a_map_of_one_attempt_or_none_has_a_picture(iterations):
    found = map_planar(EQUAL, "CCD", 60, iterations=iterations)
    assert (found.image()[found.metrics.reached] == (0, 0, 255, 255)).all()
    assert found.metrics.reached.any() == (iterations == 1)


def test_a_saved_array_is_read_back(tmp_path):
    found = map_planar(EQUAL, "CCD", 20)
    for metric in METRICS:
        path = tmp_path / metric  # a name of its own, without a suffix
        found.save_npy(path, metric)
        read = np.load(path)
        assert np.isnan(read[~found.inside]).all()
        assert (read[found.inside] == found.metric(metric)[found.inside]).all()


def test_a_map_is_saved_as_a_picture(tmp_path):
    path = tmp_path / "map.png"
    map_planar(EQUAL, "CCD", 20).save_png(path, "travel", "PLUM_CREAM")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_mapped_is_refused():
    start = planar_chain(EQUAL).rest_pose()
    with pytest.raises(SettingError, match="0 pixels"):
        map_planar(EQUAL, size=0)
    with pytest.raises(SettingError, match="Solver 'NONE' is unknown"):
        map_planar(EQUAL, "NONE", size=2)
    with pytest.raises(ChainError, match="are no lengths"):
        map_planar((), size=2)
    with pytest.raises(ChainError, match="without length has no map"):
        map_pose(Pose(straight((0.0,)), start.base, start.rotations[:1]), ORIGIN, X, Y, size=2)
    found = map_planar(EQUAL, size=2)
    with pytest.raises(SettingError, match="Metric 'speed' is unknown"):
        found.image("speed")
    with pytest.raises(SettingError, match="Color scale 'GREY' is unknown"):
        found.image(scale="GREY")
