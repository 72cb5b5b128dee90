# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft shading of a translucent surface: clear where it is seen from the front, denser towards its outline."""

from __future__ import annotations

import numpy as np
from mathutils import Vector

from ...kinematics.arrays import Array
from ...maps.reach_shell import Surface

_CLEAR, _RIM = 0.02, 0.24  # alpha of what faces the viewer, and how much more there is at the outline
_FALL = 3  # power by which that falls off


class Seen:
    """A surface as seen from the `eye`, which is in the surface's space, homogeneous."""

    def __init__(self, surface: Surface, eye: Vector) -> None:
        self._surface = surface
        places, normals = surface.places, surface.normals
        towards = np.array(eye.xyz, np.float32) - places * np.float32(eye.w)
        length = np.sqrt(np.einsum("ni,ni->n", towards, towards))
        self._facing = np.einsum("ni,ni->n", towards, normals) / np.maximum(length, np.float32(1e-12))

    def alphas(self) -> Array:
        """Return the opacity (n) of the vertices."""
        rim = 1.0 - np.abs(self._facing)
        result: Array = _CLEAR + _RIM * rim**_FALL
        return result

    def outline(self) -> Array:
        """Return the lines (k, 3), two places each, along which the surface turns away from the viewer.

        They go through the triangles where the interpolated normal is at a right angle to the line of sight (Hertzmann
        1999), and so are smoother than the triangles' edges.
        """
        triangles = self._surface.triangles
        front = self._facing > 0.0
        one, two, three = (front[triangles[:, i]] for i in range(3))
        mixed = (one != two) | (two != three)
        corners, one, two, three = triangles[mixed], one[mixed], two[mixed], three[mixed]
        odd = np.where(two == three, 0, np.where(one == three, 1, 2))  # the corner that differs from both others
        rows, places = np.arange(len(corners)), self._surface.places
        apex = corners[rows, odd]
        lines = []
        for step in (1, 2):
            other = corners[rows, (odd + step) % 3]
            share = (self._facing[apex] / (self._facing[apex] - self._facing[other]))[:, None]
            lines.append(places[apex] + share * (places[other] - places[apex]))
        result: Array = np.stack(lines, axis=1).reshape(-1, 3).astype(np.float32)
        return result
