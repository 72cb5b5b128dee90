# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation made by hand, and that made by the extension: keys, poses, the reference, and the record of bakes."""

from ...registration import lazy_modules

__getattr__ = lazy_modules(__name__)
