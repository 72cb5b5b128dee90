# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that follows goals which move a little at a time, as while one of its tips is dragged."""

from __future__ import annotations

from collections.abc import Sequence

from ...goals.batch import BalanceTask, Task
from ...kinematics.batch import States, Tree
from ..batch.descent import Descent, descend, hold
from ..batch.system import System
from ..natural.posture import Posture
from ..natural.relaxation import Relaxation
from .priorities import HELD_SHARE, at_two_levels, held_of, nearer
from .stiffness import body_compliance

_GAIN = 0.15  # of a step of posture: there are many in a drag
_DESCENT = Descent(iterations=3, stall=1, tries=1)  # out of reach more steps only cost time


class BodyFollower:
    """Poses of a body that go from one set of goals to the next, with what stays the same for all of them.

    `reference` are the poses made by hand, `held` the tasks of held tips, and `steady` balance; each for as many poses.
    """

    def __init__(self, tree: Tree, reference: States, held: Sequence[Task], steady: BalanceTask | None) -> None:
        self._tree, self._held, self._steady = tree, list(held), steady
        self._relaxation = Relaxation(posture=Posture(tree, reference), compliance=body_compliance(tree), gain=_GAIN)

    def moved(self, states: States, goals: Sequence[Task]) -> tuple[States, System]:
        """The states for other goals, as near to them as priorities allow, and the system of held tips and goals.

        One step with posture and balance; then what that leaves of the goals, and last held tips, without a leap.
        """
        tree = self._tree
        near = [*self._held, *(nearer(tree, states, task) for task in goals)]
        states = self._relaxation.run(tree, states, [*near, self._steady] if self._steady else near, 1)
        descend(tree, states, at_two_levels(near), _DESCENT)
        if held_of(near):
            hold(tree, states, near, _DESCENT, HELD_SHARE)
        return states, System(tree, states, [*self._held, *goals])
