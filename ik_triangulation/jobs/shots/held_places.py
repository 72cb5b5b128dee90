# SPDX-License-Identifier: GPL-3.0-or-later
"""Places of held tips, and of all bones as planned: what a written body is measured by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...goals.support import Heel
from ...kinematics.arrays import Numbers


class HeldPlaces(NamedTuple):
    """The frames at which a body is measured, with the frames (n, 3, 4, S) of its bones as held at each.

    `influence` (S) is that of each tip, by its name; the hips hang in `bases` (4, 4, S). Feet that may lift their
    `heels`, by name, do so as far as their shins lean. Where tips are on bones of the body, `carried` gives all frames
    as held while the bones are as shown.
    """

    frames: Sequence[float]
    bones: Numbers
    influence: Mapping[str, Numbers]
    bases: Numbers
    heels: Mapping[str, Heel]
    carried: Callable[[Numbers], Numbers] | None = None

    def foot(self, number: int, name: str, shown: Numbers, length: float) -> Numbers:
        """Return the frames (3, 4, S) at which the bone of a held tip of this length is held, its tail in place.

        `number` is the bone's, and `shown` (n, 3, 4, S) are all bones as they are.
        """
        frame = (self.bones if self.carried is None else self.carried(shown))[number]
        if name not in self.heels:
            return frame
        turned = np.empty((*frame.shape[:2], shown.shape[-1]))
        turned[:, :3] = self.heels[name].turned(frame[:, :3], shown[:, :, 3])
        turned[:, 3] = frame[:, 3] + length * (frame[:, 1] - turned[:, 1])
        return turned


class Planned(NamedTuple):
    """Frames (n, 3, 4, F) of the bones of a body that was solved, at frames of its samples that were keyed."""

    frames: Sequence[float]
    bones: Numbers
