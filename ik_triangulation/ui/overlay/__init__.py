# SPDX-License-Identifier: GPL-3.0-or-later
"""Overlay of the viewport: reach, joint limits and target of the active limb, and ghosts of poses; changes no data."""

from ...registration import lazy_modules

__getattr__ = lazy_modules(__name__)
