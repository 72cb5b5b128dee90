# SPDX-License-Identifier: GPL-3.0-or-later
"""Damped Gauss-Newton descent (Levenberg 1944, Marquardt 1963) of a cost, for a whole path or a single pose."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

_State = TypeVar("_State")
_Seen = TypeVar("_Seen")

_TRIES = 6  # dampings of one step
_LEAST, _MORE, _LESS = 1e-8, 6.0, 0.2  # least damping; factors after a step that raised the cost, and one that did not


class DampedSteps(NamedTuple):
    """Bounds of a descent: steps at most, the damping to begin with, and the change that ends it."""

    most: int
    damping: float
    precise: float


def damped_descent(
    state: _State,
    look: Callable[[_State], tuple[float, _Seen]],
    aim: Callable[[_State, _Seen], Callable[[float], _State]],
    change: Callable[[_State, _State], float],
    steps: DampedSteps,
) -> tuple[_State, float]:
    """Return the state of the least cost in the valley of one, or some steps on the way there, and its cost.

    `look` returns the cost of a state and what was seen there. With that `aim` makes a model of the cost and returns
    the step for each damping, of which `change` tells the size.
    """
    damping, (cost, seen) = steps.damping, look(state)
    for _ in range(steps.most):
        step = aim(state, seen)
        for _ in range(_TRIES):
            found = step(damping)
            size = change(state, found)
            after, there = look(found)
            better = after < cost
            damping = max(damping * (_LESS if better else _MORE), _LEAST)
            if better or size < steps.precise:
                break
        if not better:
            break
        state, cost, seen = found, after, there
        if size < steps.precise:
            break
    return state, cost
