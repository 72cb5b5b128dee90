# SPDX-License-Identifier: GPL-3.0-or-later
"""The only room that reads and writes Blender's data: rigs, targets, poses, keys."""

from ..registration import lazy_modules

__getattr__ = lazy_modules(__name__)
