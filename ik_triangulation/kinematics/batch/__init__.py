# SPDX-License-Identifier: GPL-3.0-or-later
"""Many poses at once: a tree of joints as arrays whose last axis runs over the poses (frames, restarts or goals)."""

from .geometry import Geometry
from .tree import States, Tree, TreeTip

__all__ = ["Geometry", "States", "Tree", "TreeTip"]
