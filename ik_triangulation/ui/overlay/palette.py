# SPDX-License-Identifier: GPL-3.0-or-later
"""Colours and line widths of the overlay, from the theme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from bpy.types import Theme

from .shapes import Array, Role

_BRIGHT = 0.4  # luminance from which a background is bright
_LUMINANCE = 0.2126, 0.7152, 0.0722  # of red, green and blue (Rec. 709)

_DISC = 0.5  # alpha of the quarters of a center of mass
# Alpha of lines; _OTHERS for the other roles
_OUTLINE = {Role.REACH: 0.45, Role.LOCKED: 0.7, Role.TARGET: 0.7, Role.JOINT: 0.6, Role.WAITING: 0.45}
_OTHERS = 0.85
_SURFACE = {
    Role.REACH: 1.0,
    Role.MISSED: 0.1,
    Role.BALANCED: _DISC,
    Role.OUTSIDE: _DISC,
}  # alpha of surfaces; that of a shell comes from its shading
_OTHER_SURFACES = 0.08
IS_BOLD = np.isin(list(Role), (Role.NOW, Role.REACHED, Role.MISSED, Role.OUTSIDE))  # for each role, True for wide lines
GHOST = 0.6, 0.12  # alpha of a ghost's edges and faces


class Palette(NamedTuple):
    """RGBA of lines and of surfaces, a row for each role."""

    outlines: Array
    surfaces: Array


def palette(theme: Theme) -> Palette:
    """Return the colours for a theme, which contrast with its viewport background."""
    interface, viewport = theme.user_interface, theme.view_3d
    state = interface.wcol_state
    colours = {
        Role.X: interface.axis_x,
        Role.Y: interface.axis_y,
        Role.Z: interface.axis_z,
        Role.LIMIT: interface.gizmo_primary,
        Role.TARGET: interface.gizmo_secondary,
        Role.REACHED: _clear(state.success, theme),
        Role.MISSED: _clear(state.error, theme),
        Role.AT_LIMIT: _clear(state.warning, theme),
        Role.BALANCED: _clear(state.success, theme),
        Role.OUTSIDE: _clear(state.warning, theme),
        Role.REACH: viewport.bone_pose,
    }
    plain = viewport.space.text_hi
    rows = np.array([tuple(colours.get(role, plain))[:3] for role in Role], dtype=np.float32)
    alphas = ([_OUTLINE.get(role, _OTHERS) for role in Role], [_SURFACE.get(role, _OTHER_SURFACES) for role in Role])
    return Palette(*(np.column_stack((rows, np.array(each, dtype=np.float32))) for each in alphas))


def ghostly(theme: Theme) -> tuple[float, float, float]:
    """Return the default colour of ghosts."""
    return tuple(theme.view_3d.bone_pose)


def plain_text(theme: Theme) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the colour of texts, and that of an outline in which they can be read before anything."""
    text: tuple[float, ...] = tuple(theme.view_3d.space.text_hi)[:3]
    bright = sum(part * share for part, share in zip(text, _LUMINANCE, strict=True)) > 0.5
    return text, (0.0, 0.0, 0.0) if bright else (1.0, 1.0, 1.0)


def _clear(colour: Sequence[float], theme: Theme) -> list[float]:
    """Return a colour at full brightness, or unchanged over a bright viewport background."""
    background = theme.view_3d.space.gradients.high_gradient
    bright = sum(background[i] * _LUMINANCE[i] for i in range(3)) > _BRIGHT
    return list(colour[:3]) if bright else [part / max(*colour[:3], 1e-3) for part in colour[:3]]
