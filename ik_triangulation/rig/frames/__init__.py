# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of the rig and its targets at the frames of a range, read in a temporary scene or by stepping the user's."""

from ...registration import lazy_modules

__getattr__ = lazy_modules(__name__)
