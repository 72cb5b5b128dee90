# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets of limbs: goals at each frame, untouched targets, their motion, and props."""

from ...registration import lazy_modules

__getattr__ = lazy_modules(__name__)
