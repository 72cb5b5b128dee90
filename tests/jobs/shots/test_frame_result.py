# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of frames: the arrays say what the rows say."""

import numpy as np
import pytest

from ik_triangulation.jobs.shots.frame_solver import FrameResult, JudgedFrames


def row(frame, error=0.0, reached=True, due=True, angle=None):
    return FrameResult(float(frame), error, reached, 0, None, None, angle, due)


def test_the_arrays_are_those_of_the_rows():
    rows = [row(1, 0.1), row(2, 0.2, False), row(3, 0.3, False, False, 0.5)]
    judged = JudgedFrames.of(rows)
    assert judged.frames == [1.0, 2.0, 3.0]
    assert judged.errors.tolist() == [0.1, 0.2, 0.3]
    assert judged.reached.tolist() == [True, False, False]
    assert judged.due.tolist() == [True, True, False]
    assert np.isnan(judged.angles).tolist() == [True, True, False]
    assert list(judged) == rows
    assert judged[-1] is rows[-1]
    assert judged[1:] == rows[1:]
    assert JudgedFrames.of(judged) is judged


def test_without_an_orientation_there_are_no_angles():
    assert JudgedFrames.of([row(1), row(2)]).angles is None


@pytest.mark.parametrize(("due", "counted"), [((True, False), [True, False]), ((False, False), [True, True])])
def test_all_frames_count_where_none_is_due(due, counted):
    assert JudgedFrames.of([row(k, due=each) for k, each in enumerate(due)]).counted.tolist() == counted


def test_a_row_is_made_only_when_it_is_asked_for():
    made = []

    def make(k):
        made.append(k)
        return row(k)

    judged = JudgedFrames(make, range(5), np.zeros(5), np.ones(5, bool), np.ones(5, bool))
    assert len(judged) == 5
    assert made == []
    assert judged[3].frame == 3.0
    assert made == [3]
