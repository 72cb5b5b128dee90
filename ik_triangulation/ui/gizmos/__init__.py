# SPDX-License-Identifier: GPL-3.0-or-later
"""The gizmo at the active limb's target, by which it is moved and turned in Pose Mode."""

from ...registration import lazy_modules

__getattr__ = lazy_modules(__name__)
