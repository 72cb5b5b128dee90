# SPDX-License-Identifier: GPL-3.0-or-later
"""Each solver of the table is told apart, and has a number in files, a row and a picture in the manual."""

import re
from pathlib import Path

import pytest

from ik_triangulation.solvers import SOLVERS
from ik_triangulation.solvers.solve import SOLVERS as TABLE

DOCS = Path(__file__).resolve().parents[2] / "docs"
every_solver = pytest.mark.parametrize("name", SOLVERS)
# What .blend files hold: a number stays with its solver for good, also when that is gone.
STORED = {
    "TRIANGULATION": 0,
    "TRIANGULATION_2007": 1,
    "SINGLE_PASS": 2,
    "CCD": 3,
    "CIRCULAR": 4,
    "GRADIENT": 5,
    "GRADIENT_MEASURED": 6,
    "GRADIENT_ACCELERATED": 7,
    "GAUSS_NEWTON": 8,
    "JACOBIAN_TRANSPOSE": 9,
    "FABRIK": 10,
    "TWO_BONE": 11,
    "SIMPLEX": 12,
    "ROSENBROCK": 13,
    "TRIANGULATION_RIGHT_ANGLE": 14,
    "TRIANGULATION_CHEAPEST": 15,
    "CCD_STAGES": 16,
    "NATURAL": 17,
    "CIRCULAR_NEWTON": 18,
}


@pytest.fixture(scope="module")
def manual():
    return (DOCS / "solvers.md").read_text(encoding="utf-8")


def test_what_is_offered_is_the_table():
    assert SOLVERS is TABLE


@every_solver
def test_the_number_that_files_store_is_pinned(name):
    number = SOLVERS[name].number
    assert name in STORED, (
        f"{name} has no stored number that is pinned. Give it {max(STORED.values()) + 1}, which no other had, in "
        "solvers/solve.py, and add it to STORED in tests/solvers/test_registry.py."
    )
    assert number == STORED[name], (
        f"Files that were saved with {name} hold {STORED[name]}, and the table in solvers/solve.py says {number}."
    )


def test_a_number_is_never_used_again():
    assert len(set(STORED.values())) == len(STORED)


@every_solver
def test_a_solver_says_what_it_does_and_whose_it_is(name):
    solver = SOLVERS[name]
    assert solver.description
    assert not solver.description.endswith("."), "Blender's tooltips end without a full stop: solvers/solve.py"
    assert solver.source, f"Name the source of {name} in solvers/solve.py: a paper, or where the method is from."
    assert [other for other, row in SOLVERS.items() if row.label == solver.label] == [name]


@every_solver
def test_every_solve_begins_without_what_the_last_one_left(name):
    solver = SOLVERS[name]
    if isinstance(solver.step, type):  # it has a state
        assert solver.begin() is not solver.begin()
    assert callable(solver.begin())


@every_solver
def test_a_solver_has_its_row_in_the_manual(name, manual):
    cells = re.findall(r"^\| ([^|!]+) \|", manual, re.MULTILINE)
    label = SOLVERS[name].label
    assert label in {each for cell in cells for each in cell.split("; ")}, (
        f"The manual does not say what {label} does. Add a row for it to the first table of docs/solvers.md, with "
        f"'{label}' in its first column."
    )


@every_solver
def test_a_solver_has_its_picture_in_the_manual(name, manual):
    picture = f"solvers/{name.lower()}.png"
    assert f"({picture})" in manual, f"Show {name}: add ![{SOLVERS[name].label}]({picture}) to docs/solvers.md."
    assert (DOCS / picture).is_file(), f"There is no docs/{picture}. `python scripts/pictures.py solvers` makes it."
