# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of seeded cases, kept in tests/data/kept_<room>.json: a change that is not meant shows, however small.

`python -m pytest --renew FILE` writes those of a file anew; look at what has changed before it is committed. A case is
kept only if it is stable: it is solved once more with its goals moved by NUDGE of the reach.
"""

import json
from math import ceil, log10
from pathlib import Path

import numpy as np

NUDGE = 1e-9  # of the reach
_STABLE = 0.1  # of what is allowed: the most that a result may change by the nudge


def turns(rotations):
    """Turns [degrees] about X, Y and Z (3 n, F) of unit quaternions (n, 4, F): their rotation vectors."""
    rotations = rotations * np.where(rotations[:, :1] < 0.0, -1.0, 1.0)
    sine = np.linalg.norm(rotations[:, 1:], axis=1, keepdims=True)
    angle = 2.0 * np.degrees(np.arctan2(sine, rotations[:, :1]))
    return (rotations[:, 1:] * angle / np.maximum(sine, 1e-12)).reshape(-1, rotations.shape[-1])


def check(room, case, solve, within, renew=False):
    """Assert that a case of a room gives what is kept of it.

    `solve` returns the quantities of the case by their names, with its goals moved by what it is given, a share of the
    reach; `within` has the most that each may differ by, 0 for what is exact.
    """
    path = Path(__file__).with_name("data") / f"kept_{room}.json"
    every = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    found = solve(0.0)
    if renew:
        unstable = _changed(found, solve(NUDGE), {name: _STABLE * most for name, most in within.items()})
        assert not unstable, f"{case} is not stable, so it cannot be kept: {unstable}"
        every[case] = {name: _rounded(values, within[name]) for name, values in found.items()}
        lines = [f'"{name}":{json.dumps(kept, separators=(",", ":"))}' for name, kept in sorted(every.items())]
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    changed = _changed(every[case], found, within)
    assert not changed, f"{case} is no longer as kept; if that is meant, renew it: {changed}"


def _rounded(values, most):
    """Numbers as they are written: to a tenth of the most that they may differ by, and whole ones without a point."""
    digits = ceil(-log10(0.2 * most)) if most else 12

    def plain(value):
        if isinstance(value, list):
            return [plain(each) for each in value]
        return int(value) if value == int(value) else value

    return plain(np.round(np.asarray(values, float), digits).tolist())


def _changed(kept, found, within):
    """Return by quantity how much it differs where that is too much."""
    changed = {}
    for name in kept.keys() | found.keys():
        one, other = (np.asarray(each.get(name, ()), float) for each in (kept, found))
        if one.shape != other.shape:
            changed[name] = f"{other.shape} in place of {one.shape}"
        elif one.size and not (np.abs(one - other) <= within[name] + 1e-12).all():
            changed[name] = f"{np.nanmax(np.abs(one - other)):.3g}, more than {within[name]:g}"
    return changed
