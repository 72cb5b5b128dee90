# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs and bodies that follow their targets as these move, until that is switched off."""

from ...registration import lazy_modules

__getattr__ = lazy_modules(__name__)
