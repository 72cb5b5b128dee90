# SPDX-License-Identifier: GPL-3.0-or-later
"""Likeness of a solved limb to the recorded one: angles, places, pops and jerk, from arrays alone.

A limb's motion is an array (F, 1 + n, 4, 4) of the world matrices of the bone it hangs on and of its n bones from root
to tip; `rests` (n, 4, 4) are its bones' rest matrices in the rest of the bone before.
"""

from typing import NamedTuple

import numpy as np

POP = 3.0  # [degrees] of a turn in one frame, at least
LOCALLY = 3.0  # times the median of the turns around it
RECORDED = 2.0  # times the largest turn of the recording around it
AROUND = 6  # frames on either side


class Likeness(NamedTuple):
    """Measures of one limb over F frames, whose arrays may be pooled with those of other limbs.

    angles    of each joint's local rotation to the recorded one [degrees] (n * F)
    places    distance from the recorded place of the joint inside the limb that is farthest off, of the reach (F):
              of an arm whose wrist is where it was that is the elbow
    ends      of the last bone's world rotation to the recorded one [degrees] (F)
    tips      distance of the tip from the recorded one, of the reach (F)
    pops      turns that stand out
    jerks     of the joints: sums over joints and frames, of the solved and of the recorded limb
    """

    angles: np.ndarray
    places: np.ndarray
    ends: np.ndarray
    tips: np.ndarray
    pops: int
    jerks: tuple[float, float]


def likeness(seen, recorded, rests, lengths):
    """Return how like a limb as `seen` is to the limb as `recorded`; `lengths` (n) are those of the bones at rest."""
    ours, theirs = (local_rotations(each, rests) for each in (seen, recorded))
    reach = lengths.sum() * np.linalg.norm(recorded[0, 1, :3, 1])
    inner = np.linalg.norm(seen[:, 2:, :3, 3] - recorded[:, 2:, :3, 3], axis=-1).max(axis=1)
    tips = [each[:, -1, :3, 3] + lengths[-1] * each[:, -1, :3, 1] for each in (seen, recorded)]
    return Likeness(
        angles=angle(ours, theirs).ravel(),
        places=inner / reach,
        ends=angle(_rotations(seen[:, -1]), _rotations(recorded[:, -1])),
        tips=np.linalg.norm(tips[0] - tips[1], axis=-1) / reach,
        pops=pops(turns(ours), turns(theirs)),
        jerks=(jerk(ours), jerk(theirs)),
    )


def pooled(found):
    """Return one Likeness of several limbs together."""
    joined = {name: np.concatenate([getattr(each, name) for each in found]) for name in Likeness._fields[:4]}
    jerks = tuple(sum(each.jerks[k] for each in found) for k in (0, 1))
    return Likeness(**joined, pops=sum(each.pops for each in found), jerks=jerks)


def local_rotations(motion, rests):
    """Rotations (F, n, 3, 3) of a limb's bones from their rest in the bone before, of its motion."""
    world = _rotations(motion)
    return np.swapaxes(world[:, :-1] @ _rotations(rests), -1, -2) @ world[:, 1:]


def angle(a, b):
    """Angles [degrees] between rotations (..., 3, 3)."""
    # From the chord, as the arc cosine of the trace has no digits left for small angles.
    chord = np.linalg.norm(a - b, axis=(-2, -1)) / np.sqrt(8.0)
    return np.degrees(2.0 * np.arcsin(np.minimum(chord, 1.0)))


def turns(rotations):
    """Angles [degrees] from each frame to the next (F - 1, n) of rotations (F, n, 3, 3)."""
    return angle(rotations[1:], rotations[:-1])


def pops(ours, recorded):
    """Number of turns (F - 1, n) [degrees] that stand out from those around them, and from the recorded ones there."""
    count = 0
    for k, row in enumerate(ours):
        around = slice(max(0, k - AROUND), k + AROUND + 1)
        usual = np.median(ours[around], axis=0)
        allowed = np.maximum(np.maximum(POP, LOCALLY * usual), RECORDED * recorded[around].max(axis=0))
        count += int((row > allowed).sum())
    return count


def jerk(rotations):
    """Sum over frames and joints of the change of a joint's angular acceleration [degrees / frame^3]."""
    between = np.swapaxes(rotations[:-1], -1, -2) @ rotations[1:]
    axes = np.stack([between[..., 2, 1] - between[..., 1, 2], between[..., 0, 2] - between[..., 2, 0]], -1)
    axes = np.concatenate([axes, (between[..., 1, 0] - between[..., 0, 1])[..., None]], -1)
    sizes = np.linalg.norm(axes, axis=-1, keepdims=True)
    angles = angle(rotations[1:], rotations[:-1])[..., None]
    steps = np.where(sizes > 1e-9, axes / np.maximum(sizes, 1e-9), 0.0) * angles
    return float(np.linalg.norm(np.diff(steps, 2, axis=0), axis=-1).sum())


def _rotations(matrices):
    """The rotations in matrices (..., 4, 4) whose scale is even."""
    turned = matrices[..., :3, :3]
    return turned / np.linalg.norm(turned[..., :1], axis=-2, keepdims=True)
