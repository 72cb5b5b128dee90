# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators called in any order with any values on degenerate rigs: done, or refused in words, and never a traceback.

--long and the environment variable STORM_CALLS make the storm longer, and STORM_SEED another one.
"""

import os

import pytest

from .storm import storm
from .storm_of_bodies import StormOfBodies

pytestmark = pytest.mark.usefixtures("empty_scene")

SEED = int(os.environ.get("STORM_SEED", "0"))


@pytest.fixture
def calls(long):
    return int(os.environ.get("STORM_CALLS", "300" if long else "120"))


def test_operators_in_any_order_with_any_values_leave_no_traceback(capfd, calls):
    assert not list(storm(SEED, calls))
    assert "Traceback" not in capfd.readouterr().err


def test_the_same_on_whole_bodies(capfd, calls):
    assert not list(storm(SEED, calls // 3, StormOfBodies))
    assert "Traceback" not in capfd.readouterr().err
