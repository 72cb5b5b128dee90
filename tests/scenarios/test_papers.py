# SPDX-License-Identifier: GPL-3.0-or-later
"""scripts/papers.py: what the source papers print comes out, and lands on a page.

In short with few targets and small maps, of which one claim is not told: that needs many.
"""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from itertools import pairwise
from math import radians
from pathlib import Path

import numpy as np
import pytest

from ik_triangulation.kinematics import pose
from ik_triangulation.solvers import SOLVERS, ccd, circular, gradient, single_pass, triangle, triangulation
from scripts.reproduce import (
    document,
    figures_2007,
    figures_2009,
    gradient_methods,
    metric_maps,
    paper_2007,
    paper_2009,
    printed_rotations,
    quaternion_ccd,
)
from scripts.reproduce.page import Number

ROOT = Path(__file__).resolve().parents[2]
CAN_DRAW = find_spec("matplotlib") is not None  # not in the environment of the tests


# A wrong line in a solver, the right one, and the paper whose claims have to notice.
WRONG = {
    "a corner of a triangle 1 % too wide": (
        triangle,
        "return 2.0 * atan2(sqrt",
        "return 2.02 * atan2(sqrt",
        paper_2009,
    ),
    "no turn back after a flip": (triangulation, "if angle == pi and i < last:", "if False:", paper_2009),
    "the smallest rotation to the other end": (
        triangulation,
        "longest if far else shortest)",
        "shortest if far else longest)",
        paper_2007,
    ),
    "limits that never collapse the rest": (
        triangulation,
        "if pose.chain.limited and 0.0",
        "if False and 0.0",
        paper_2007,
    ),
    "21 degrees aside": (single_pass, "radians(20.0)", "radians(21.0)", paper_2009),
    "135 degrees as in the text": (single_pass, "MUCH = radians(130.0)", "MUCH = radians(135.0)", paper_2009),
    "sweeps from the root": (
        ccd,
        "for i in reversed(range(len(pose))):\n        head = pose.head(i)\n        pose.swing",
        "for i in range(len(pose)):\n        head = pose.head(i)\n        pose.swing",
        paper_2009,
    ),
    "half a turn in stages": (
        ccd,
        "rotation_between(pose.tip - head, aim - head))",
        "Quaternion().slerp(rotation_between(pose.tip - head, aim - head), 0.5))",
        quaternion_ccd,
    ),
    "a chord 2 % too long": (
        circular,
        "longest * sin(whole) / sin(t) - distance",
        "1.02 * longest * sin(whole) / sin(t) - distance",
        metric_maps,
    ),
    "a tangent of nine tenths": (circular, "angle = sum(halves)", "angle = 0.9 * sum(halves)", metric_maps),
    "a slope of Newton's method 2 % too steep": (circular, "value / slope if", "0.98 * value / slope if", metric_maps),
    "a tenth of a step": (
        gradient,
        "_clamped(-g / lipschitz, column)",
        "_clamped(-0.1 * g / lipschitz, column)",
        gradient_methods,
    ),
    "the fraction as printed": (gradient, "* new / (new - old)", "* old / (new - old)", gradient_methods),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory, long):
    """The folder that the script has written, and its lines."""
    folder = tmp_path_factory.mktemp("docs")
    flags = [] if long and CAN_DRAW else ["--numbers"] if long else ["--quick", "--numbers"]
    words = [sys.executable, ROOT / "scripts/papers.py", folder, *flags]
    settings = os.environ | {"IK_TRIANGULATION_NO_VENV": "1"}
    done = subprocess.run(list(map(str, words)), env=settings, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout.splitlines()


def test_everything_that_is_to_hold_does(written):
    _, lines = written
    assert len([line for line in lines if line.startswith("holds")]) > 10
    assert [line for line in lines if line.startswith("FAILS")] == []


def test_the_page_has_every_paper_every_table_and_names_its_command(written, long):
    folder, _ = written
    page = (folder / "papers.md").read_text(encoding="utf-8")
    assert page.count("\n## ") == len(document.PAPERS)
    assert f"`python scripts/papers.py{'' if long else ' --quick'}`" in page
    for table in (1, 2, 3):
        assert f"### Table {table}," in page
    assert "| 1 (15.17, 4.58) | 512.68 | 512.72 | +0.01 % | 355.17 | 355.18 | exact |" in page
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert len(rows) > 80
    assert not re.search(r"\bnan\b|\binf\b", page)


def test_the_headline_numbers_are_those_of_the_papers(written):
    """Printed by other means than the claims: 159.9 degrees, 67 % and 5 iterations."""
    page = (written[0] / "papers.md").read_text(encoding="utf-8")
    cells = {line.split(" | ")[0]: line.split(" | ") for line in page.splitlines() if line.startswith("|")}
    assert float(cells["| Cost of triangulation, arm, degrees"][2]) == pytest.approx(141.5, rel=0.03)
    assert float(cells["| Cost of CCD, arm, degrees"][2]) == pytest.approx(173.9, rel=0.03)
    assert 65.0 <= float(cells["| Figure 12: coverage of CCD, n = 5, i = 10, %"][2]) <= 71.0
    assert cells["| The same without the outermost 0.01"][2] == "5"


def test_a_number_holds_within_three_percent_or_its_spread():
    assert Number("", 100.0, 103.0).holds
    assert not Number("", 100.0, 96.9).holds
    assert Number("", 100.0, 90.0, spread=10.0).holds
    assert not Number("", 100.0, 89.9, spread=10.0).holds


def test_the_arm_folds_to_where_its_limits_say():
    """Both bends to the full, by forward kinematics of the chain itself."""
    elbow, wrist = paper_2007.ELBOW, paper_2007.WRIST
    pose = paper_2007.bones(paper_2007.ARM).rest_pose()
    for joint, angle in ((1, elbow), (2, wrist)):
        pose.put(joint, paper_2007.Quaternion((1.0, 0.0, 0.0), angle))
    assert pose.tip.length == pytest.approx(paper_2007.nearest_by_arm(), abs=1e-5)


def test_newtons_method_as_printed_bends_the_chain_to_the_distance():
    """At the centre the start is the answer; one iteration more with each ring."""
    counts = metric_maps.newton_iterations(5, metric_maps.np.array([0.0, 0.1, 0.5, 0.9, 0.985, 1.0]))
    assert counts.tolist() == [0, 1, 2, 4, 5, 6]


def test_the_way_of_the_tip_is_as_long_as_the_travel_of_the_table():
    for solver in paper_2009.PRINTED:
        x, y = paper_2009.TARGETS[0]
        pose = paper_2009.solved(solver, x / 12.0, y / 12.0)
        places = paper_2009.tips(pose)
        way = sum((after - before).length for before, after in pairwise(places))
        assert way == pytest.approx(pose.cost.travel, rel=1e-5)


def test_the_middle_joint_of_figure_6_says_where_its_target_is():
    """Two halves of 10 with that angle between them, by forward kinematics."""
    for letter, theta in figures_2009.THETA.items():
        pose = paper_2009.planar_chain((10.0, 10.0)).rest_pose()
        pose.put(1, paper_2007.Quaternion((0.0, 0.0, 1.0), radians(theta)))
        assert pose.tip.length == pytest.approx(figures_2009.distance(letter), abs=1e-5)


def test_an_exponential_is_told_from_a_line():
    x, weight = np.linspace(1.0, 9.0, 5), np.ones(5)
    assert figures_2007.exponential(x, np.exp(0.3 * x), weight) == pytest.approx((1.0, 0.3))
    assert figures_2007.exponential(x, 1.0 + x, weight)[0] < 0.98


def test_a_rank_correlation_knows_the_order_only():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    assert figures_2007.rank_correlation(x, x**3) == pytest.approx(1.0)
    assert figures_2007.rank_correlation(x, -np.exp(x)) == pytest.approx(-1.0)
    assert figures_2007.rank_correlation(x, np.array([1.0, 1.0, 2.0, 2.0])) == pytest.approx(0.894, abs=1e-3)


def test_the_second_printed_rotation_has_no_answer_for_opposite_directions():
    u = paper_2007.Vector((0.6, 0.8, 0.0))
    assert (printed_rotations.from_two_vectors(u, -u) @ u + u).length < 1e-5
    with pytest.raises(ZeroDivisionError):
        printed_rotations.from_normals(u, -u)


@pytest.mark.long
@pytest.mark.skipif(not CAN_DRAW, reason="no matplotlib: scripts/papers.py brings its own environment")
def test_every_picture_of_the_page_is_drawn_and_small(written):
    folder, _ = written
    names = re.findall(r"\]\((papers/[\w-]+\.png)\)", (folder / "papers.md").read_text(encoding="utf-8"))
    assert sorted(f"papers/{path.name}" for path in (folder / "papers").iterdir()) == sorted(names)
    for name in names:
        assert 3_000 < (folder / name).stat().st_size < 150_000


def replace_line(monkeypatch, module, right, wrong):
    """Replace a line of a solver, for all who use what the module defines."""
    source = Path(module.__file__).read_text(encoding="utf-8")
    assert source.count(right) == 1, right
    changed = {**vars(module), "Quaternion": paper_2007.Quaternion}
    exec(compile(source.replace(right, wrong), module.__file__, "exec"), changed)
    for name, before in vars(module).items():
        if getattr(before, "__module__", None) != module.__name__:
            continue
        for other in [each for key, each in sys.modules.items() if key.startswith("ik_triangulation.solvers")]:
            if vars(other).get(name) is before:
                monkeypatch.setattr(other, name, changed[name])
        for key, row in list(SOLVERS.items()):
            if row.step is before:
                monkeypatch.setitem(SOLVERS, key, row._replace(step=changed[name], along=None))


def failing(paper):
    """The claims about a paper that do not hold."""
    return [claim.text for claim in paper.claims(paper.measure(True)) if not claim.holds]


@pytest.mark.long
@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_solver_is_noticed(fault, monkeypatch):
    module, right, wrong, paper = WRONG[fault]
    replace_line(monkeypatch, module, right, wrong)
    assert failing(paper)


@pytest.mark.long
def test_costs_that_count_from_another_angle_are_noticed(monkeypatch):
    monkeypatch.setattr(pose, "SMALLEST_TURN", radians(6.0))
    assert failing(paper_2009)


@pytest.mark.long
def test_the_right_solvers_are_not_found_fault_with():
    assert not any(map(failing, (paper_2009, metric_maps, quaternion_ccd, gradient_methods)))
