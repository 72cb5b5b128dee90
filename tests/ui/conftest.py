# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of the duel's window parts share."""

import pytest

from ik_triangulation.ui import preferences
from ik_triangulation.ui.overlay import ghost

from .fights import fought
from .operators.led import leading


@pytest.fixture
def no_fight_left(addon):
    """After the test, a duel without rows, at its defaults, and no ghost."""
    yield
    duel = fought()
    duel.rows.clear()
    duel.use_range, duel.by = False, "total_angle"
    ghost.clear_ghosts()


@pytest.fixture
def research_tools(monkeypatch):
    """Research Tools are on in the preferences, which only an installed extension has."""
    monkeypatch.setattr(preferences, "has_research_tools", lambda context: True)


@pytest.fixture
def led(monkeypatch):
    """What a mouse does with an operator: led(name, scenario, **properties), see operators/led.py."""
    return leading(monkeypatch)
