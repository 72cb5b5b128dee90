# SPDX-License-Identifier: GPL-3.0-or-later
"""What the manual's films show is true: every frame that has to reach does."""

import pytest

from scripts.stage import buttons, cat

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")


def test_the_tail_is_at_the_ball_in_every_frame():
    report = cat.make()
    assert (report.due_count, report.missed) == (120, [])


def test_the_fist_is_at_every_button_when_it_is_pressed():
    report = buttons.make()
    assert (report.due_count, report.missed) == (3 * (buttons.STAY + 1), [])
