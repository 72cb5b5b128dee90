# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands that close around an object: its surface, each finger, the whole hand, and the way there and back."""

from ...registration import lazy_modules

__getattr__ = lazy_modules(__name__)
