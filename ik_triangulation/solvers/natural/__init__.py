# SPDX-License-Identifier: GPL-3.0-or-later
"""Natural: poses that reach exactly, inside the limits, and otherwise stay near what somebody made by hand.

All frames are solved together. A limb of two long bones is left a swivel, which is chosen for the whole path; every
other chain spends what freedom it has by the same costs. Nothing depends on the frame before,
but for a drag, which has no other.
"""

from ..solver import PLAIN_LIMB, LimbForm
from .solving import natural_path, natural_pose, step
from .trading import followed, trailing

__all__ = ["PLAIN_LIMB", "LimbForm", "followed", "natural_path", "natural_pose", "step", "trailing"]
