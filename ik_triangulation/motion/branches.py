# SPDX-License-Identifier: GPL-3.0-or-later
"""Other branches of a path: several poses at each knot, of which the calmest sequence is taken.

Source: Viterbi 1967, "Error bounds for convolutional codes and an asymptotically optimum decoding algorithm". Poses
drawn inside the limits are brought to the goals of all knots at once, and each is followed to the knots beside it, so
that every branch has its continuation among the candidates. The cost of a step is the square of the sum over the joints
of 1 - cos(angle / 2), since one large rotation is worse than many small ones. Every frame pays a share of that for its
distance from the path given.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..kinematics.arrays import Indices
from ..kinematics.batch import States
from ..kinematics.batch.states import joined
from ..solvers.batch.descent import at_one_level, descend
from ..solvers.batch.restarts import strayed
from .shots import Shot, Tracked
from .tracking import interpolated, knots_of
from .turns import apart
from .viterbi import PAID

_POSES = 8  # drawn at each knot
_NEVER = 1e6  # cost of a pose that misses
_WAYS = (0.4, 0.15)  # of the reach between knots


def other_branches(shot: Shot, path: Tracked, seed: int = 0) -> Iterator[States]:
    """Yield other paths through the knots, as states of all frames that are not brought to their goals yet."""
    random = np.random.default_rng(seed)
    for way in _WAYS:
        knots = knots_of(shot.ways, shot.cuts, way)
        if len(knots) < 3:
            continue
        candidates = _candidates(shot, path, knots, random)
        chosen = _calmest(shot, path, knots, candidates)
        yield interpolated(shot.tree, knots, candidates.take(chosen), shot.frames)


def _candidates(shot: Shot, path: Tracked, knots: Indices, random: np.random.Generator) -> States:
    """Poses at the knots, knot after knot: the one of the path, those drawn, and these followed to both neighbours."""
    count = len(knots)
    here = np.repeat(knots, _POSES)
    drawn = strayed(shot.tree, path.states.take(here), np.tile(np.linspace(0.25, 1.0, _POSES), count), random)
    drawn = _brought(shot, path, drawn, here)
    groups = [path.states.take(knots), drawn]
    at = [np.arange(count), np.repeat(np.arange(count), _POSES)]
    for step in (-1, 1):
        place = (at[1] + step) % count
        followed = drawn.like(shot.frames.take(knots[place]))
        groups.append(_brought(shot, path, followed, knots[place]))
        at.append(place)
    order = np.argsort(np.concatenate(at), kind="stable")
    return joined(groups).take(order)


def _brought(shot: Shot, path: Tracked, states: States, frames: Indices) -> States:
    """States brought to their goals, in place, where the path reaches them; elsewhere its own poses serve."""
    met = np.flatnonzero(path.met[frames])
    some = states.take(met)
    descend(shot.tree, some, at_one_level(shot.goals(frames[met])))
    states.put(met, some)
    return states


def _calmest(shot: Shot, path: Tracked, knots: Indices, candidates: States) -> list[int]:
    """Indices of the candidates, one a knot, whose turns from knot to knot are least; fixed ends stay."""
    count, each = len(knots), len(candidates) // len(knots)
    at = np.repeat(knots, each)
    missed = ~shot.system(candidates, at).met.reshape(count, each)
    missed[:, 0] &= path.met[knots]  # the pose of the path itself is allowed where it misses
    missed[0, 1:] = True
    if shot.last is not None:
        missed[-1, 1:] = True
    rotations = shot.tree.rotations(candidates).reshape(-1, 4, count, each)
    off = apart(shot.tree.rotations(path.states.take(at)), shot.tree.rotations(candidates)).reshape(count, each)
    paid = PAID * np.gradient(knots)[:, None] * off**2 + np.where(missed, _NEVER, 0.0)
    costs, came = paid[0], []
    for k in range(1, count):
        alike = np.abs(np.einsum("nip,niq->npq", rotations[:, :, k - 1], rotations[:, :, k])).sum(0)
        sums = costs[:, None] + (len(rotations) - alike) ** 2
        came.append(sums.argmin(0))
        costs = sums.min(0) + paid[k]
    chosen = [int(costs.argmin())]
    for sources in reversed(came):
        chosen.append(int(sources[chosen[-1]]))
    return [k * each + i for k, i in enumerate(reversed(chosen))]
