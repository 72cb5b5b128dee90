# SPDX-License-Identifier: GPL-3.0-or-later
"""Overlay of the viewport: reach, joint limits and target of the active limb, and ghosts of poses; changes no data."""

from .ghost import clear_ghosts, show_ghost

__all__ = ["clear_ghosts", "show_ghost"]
