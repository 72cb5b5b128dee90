# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of a shot that is there: pulls, timing, sides, breakdowns, spaces of targets, and what shows them."""

from ...registration import lazy_modules

__getattr__ = lazy_modules(__name__)
