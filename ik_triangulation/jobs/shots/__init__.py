# SPDX-License-Identifier: GPL-3.0-or-later
"""The line of every job: frames are posed as a shot, solved, keyed, written, measured and reported."""

from ...registration import lazy_modules

__getattr__ = lazy_modules(__name__)
