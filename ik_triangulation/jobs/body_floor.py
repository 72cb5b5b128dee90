# SPDX-License-Identifier: GPL-3.0-or-later
"""Reason of a miss: the target is below the floor that a body stands on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..goals import Goal
from ..goals.batch.of_bodies import body_tasks
from .body_problem import BodyProblem
from .body_report import BodyReport


def with_floor(report: BodyReport, problem: BodyProblem, goals: Mapping[str, Sequence[Goal]]) -> BodyReport:
    """Return a report in which tips that miss a goal below the floor say so; `goals` are those of its frames."""
    missed = {name: tip.missed for name, tip in report.tips.items() if tip.missed and name in goals}
    floor = problem.floor
    if floor is None or not missed:
        return report
    tips = dict(report.tips)
    for name, frames in missed.items():
        at = np.flatnonzero(np.isin(np.array(report.frames, float), frames))
        late = {name: [goals[name][number] for number in at.tolist()]}  # at other frames of a reach there are none
        for task in body_tasks(problem.body, late, 1.0):
            if (floor.take(at).below(task) > task.tolerance).any():
                tips[name] = tips[name]._replace(below_floor=True)
    return report._replace(tips=tips)
