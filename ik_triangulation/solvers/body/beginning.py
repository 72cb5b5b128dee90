# SPDX-License-Identifier: GPL-3.0-or-later
"""The beginning of a reach: trunk, head and legs start before the arm is used up, and no later than the hand.

In reaches for what is beyond the arm's length the trunk is a part of the motion from the beginning on, and does not
wait for a straight arm (Kaminski, Bock and Gentile 1995, "The coordination between trunk and arm motion during pointing
movements").
"""

from __future__ import annotations

import numpy as np

from ...kinematics.arrays import Numbers

_EARLY = 8  # frames


def begun_early(amounts: Numbers, gone: Numbers) -> Numbers:
    """Return amounts (c, F) that begin some frames earlier than those given, and end as they do.

    At each frame they go to the largest ones of the frames ahead, by a share that fades out as hands are `gone` (F) up
    to an arm's length from their start.
    """
    early, frames = amounts.copy(), np.arange(amounts.shape[1])
    for ahead in range(1, _EARLY + 1):  # by no more frames than there are before, so that a shot begins as it did
        later = amounts[:, np.minimum(frames + ahead, frames[-1])]
        larger = (np.abs(later) > np.abs(early)) & (frames >= ahead)
        early = np.where(larger, later, early)
    found: Numbers = amounts + (1.0 - np.minimum(gone, 1.0)) * (early - amounts)
    return found
