# SPDX-License-Identifier: GPL-3.0-or-later
"""Recognition of limbs: parts of a body by the names and the shape of bones, limbs by their parts.

Only reading.py knows Blender; the others take bones as plain data.
"""

from ...registration import lazy_modules

__getattr__ = lazy_modules(__name__)
