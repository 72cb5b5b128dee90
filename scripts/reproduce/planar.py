# SPDX-License-Identifier: GPL-3.0-or-later
"""One planar chain solved for many targets at once, in as many iterations as solve() takes.

Source: Cardwell and Mukundan, "Visualization and Analysis of Inverse Kinematics Algorithms Using Performance Metric
Maps", section 4: the chain lies straight along +x, and every target is solved from there. Points of the plane are
complex numbers in double precision. The loop is that of solvers/solve.py with finish=False, said of arrays; where
single precision decides there, at the tolerance, a count may differ by one.
"""

from collections.abc import Callable, Sequence
from typing import Self

import numpy as np
from mathutils import Quaternion, Vector
from numpy.typing import ArrayLike

from ik_triangulation.errors import ChainError, SettingError
from ik_triangulation.kinematics import Chain, Hinge, Joint
from ik_triangulation.kinematics.arrays import Numbers
from ik_triangulation.kinematics.pose import LENGTH_ROUNDING, SMALLEST_TURN, reaches
from ik_triangulation.maps.metric_map import Counts, Flags, Metrics, Places
from ik_triangulation.solvers.solver import GAIN, STALLED

CHUNK = 8192  # targets solved together: what they need fits the processor's cache


class Arms:
    """Many poses of one planar chain, side by side; what Pose is to the scalar solvers.

    `places` holds a row for each joint and one for the tip, with a column for each arm. `turn` is the only way to move
    a joint and adds up `costs`, three rows: turns, total angle and travel. `moved` says which arms were turned at all.
    """

    __slots__ = ("costs", "lengths", "moved", "places")

    def __init__(self, lengths: tuple[float, ...], places: Places, costs: Numbers) -> None:
        self.lengths, self.places, self.costs = lengths, places, costs
        self.moved = np.zeros(places.shape[1], dtype=bool)

    @classmethod
    def straight(cls, lengths: tuple[float, ...], count: int) -> Self:
        """`count` arms from 0 along +x."""
        row = np.cumsum((0.0, *lengths)).astype(complex)
        return cls(lengths, np.repeat(row[:, None], count, axis=1), np.zeros((3, count)))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, which: Counts | Flags) -> Self:
        """A copy of some of the arms, none of which has moved yet."""
        return type(self)(self.lengths, self.places[:, which], self.costs[:, which])

    def __setitem__(self, which: Counts, arms: Self) -> None:
        self.places[:, which], self.costs[:, which] = arms.places, arms.costs

    @property
    def reach(self) -> float:
        """Sum of the lengths."""
        return sum(self.lengths)

    @property
    def spans(self) -> tuple[tuple[float, float], ...]:
        """For each joint the least and greatest distance at which the next one reaches; see Chain.spans."""
        return reaches(self.lengths)[1:]

    @property
    def tip(self) -> Places:
        """Where the end effectors are."""
        tip: Places = self.places[-1]
        return tip

    def link(self, i: int) -> Places:
        """From joint `i` to the next one, the last link to the tip."""
        link: Places = self.places[i + 1] - self.places[i]
        return link

    def turn(self, i: int, rotation: Places, where: Flags | None = None) -> None:
        """Turn joint `i` of each arm by `rotation`, a complex number of length 1; with `where` only of those arms."""
        if where is not None:
            rotation = np.where(where, rotation, 1.0)
        before = self.tip.copy()
        beyond = self.places[i + 1 :]
        beyond -= self.places[i]
        beyond *= rotation
        beyond += self.places[i]
        angle = abs(np.angle(rotation))
        self.costs += angle > SMALLEST_TURN, angle, abs(self.tip - before)
        self.moved |= True if where is None else where


Step = Callable[[Arms, Places], None]


def planar_chain(lengths: Sequence[float]) -> Chain:
    """The same chain for solve(): along +x at rest, with a hinge about z at each joint. Raises ChainError likewise."""
    offsets = [Vector((length, 0.0, 0.0)) for length in _checked(lengths)]
    heads = (Vector(), *offsets[:-1])
    hinge = Hinge(Vector((0.0, 0.0, 1.0)))
    joints = (Joint(f"joint {i}", head, Quaternion(), hinge) for i, head in enumerate(heads))
    return Chain(tuple(joints), offsets[-1])


def solve_planar(
    lengths: Sequence[float], targets: ArrayLike, step: Step, tolerance: float = 1e-3, iterations: int = 100
) -> Metrics:
    """Solve the chain with these `lengths` for each of `targets`, complex numbers x + iy of any shape.

    `step` is one of planar_steps.STEPS. Raises ChainError for no lengths, or one below zero, and SettingError for a
    tolerance or an invalid number of iterations.
    """
    chain = _checked(lengths)
    if not tolerance > 0.0:
        raise SettingError(f"Tolerance {tolerance} is not a distance. Give it a length above zero.")
    if iterations < 0:
        raise SettingError(f"{iterations} iterations cannot be done. Give it a number from 0 up.")
    aims = np.asarray(targets, dtype=complex)
    chunks = np.split(aims.ravel(), range(CHUNK, aims.size, CHUNK))
    parts = zip(*(_solve(chain, chunk, step, tolerance, iterations) for chunk in chunks), strict=True)
    return Metrics(*(np.concatenate(part).reshape(aims.shape) for part in parts))


def _checked(lengths: Sequence[float]) -> tuple[float, ...]:
    chain = tuple(map(float, lengths))
    if not chain or not min(chain) >= 0.0 or not 0.0 < sum(chain) < np.inf:
        raise ChainError(f"{chain} are no lengths of a chain. Give it one number or more above zero.")
    return chain


def _solve(lengths: tuple[float, ...], aims: Places, step: Step, tolerance: float, iterations: int) -> Metrics:
    arms = Arms.straight(lengths, aims.size)
    _, count = _iterate(step, arms, aims, np.full(aims.size, tolerance), min(iterations, 1))
    nearest, farthest = reaches(lengths)[0]
    least = np.maximum(0.0, np.maximum(abs(aims) - farthest, nearest - abs(aims)))
    enough = np.maximum(tolerance, least + LENGTH_ROUNDING * arms.reach)
    error, more = _iterate(step, arms, aims, enough, iterations - min(iterations, 1))
    turns, total_angle, travel = arms.costs
    return Metrics(count + more, error, error <= tolerance, turns.astype(np.int64), total_angle, travel)


def _iterate(step: Step, arms: Arms, aims: Places, enough: Numbers, iterations: int) -> tuple[Numbers, Counts]:
    """Repeat `step` with each arm until its error is `enough` or nothing is gained; leaves the best poses seen.

    Returns their errors and the number of steps each arm took.
    """
    least = np.abs(aims - arms.tip)
    count, stalled = np.zeros((2, aims.size), dtype=np.int64)
    going = np.flatnonzero(least > enough)
    moving = arms[going]
    for _ in range(iterations):
        if not going.size:
            break
        moving.moved[:] = False
        step(moving, aims[going])
        count[going] += 1
        error = abs(aims[going] - moving.tip)
        gained = least[going] - error > GAIN * (least[going] - enough[going])
        stalled[going] = np.where(gained, 0, stalled[going] + 1)
        better = error < least[going]
        arms[going[better]] = moving[better]
        least[going[better]] = error[better]
        # The arms that are done are left behind.
        on = moving.moved & (least[going] > enough[going]) & (stalled[going] < STALLED)
        going, moving = going[on], moving[on]
    return least, count
