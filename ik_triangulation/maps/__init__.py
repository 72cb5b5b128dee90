# SPDX-License-Identifier: GPL-3.0-or-later
"""Metric maps and reach volumes of a chain: the numbers, their colours, and their objects in the scene."""

from ..registration import lazy_modules
from .properties import register, unregister

__all__ = ["register", "unregister"]

__getattr__ = lazy_modules(__name__)
