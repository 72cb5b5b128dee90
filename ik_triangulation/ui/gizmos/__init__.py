# SPDX-License-Identifier: GPL-3.0-or-later
"""Gizmos: of the active limb's target, by which it is moved and turned in Pose Mode, of bones and of the trail."""

from ...registration import lazy_modules

__getattr__ = lazy_modules(__name__)
