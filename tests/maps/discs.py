# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets as those of a map."""

import numpy as np

from ik_triangulation.maps.metric_map import map_plane, pixels


def disc(start, size):
    """Targets in the plane of a pose (3, F)."""
    origin, along, across = (np.array(vector)[:, None] for vector in map_plane(start))
    places, inside = pixels(size)
    return origin + start.chain.reach * (along * places[inside].real + across * places[inside].imag)
