# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs, each of which a user can start: solve a pose, bake, re-bake, reach, live, compare, learn.

Each job reads, solves, checks and writes, in this order, and leaves the file as it was if anything fails.
"""

from ..registration import lazy_modules

__getattr__ = lazy_modules(__name__)


def register() -> None:
    from .live import following as live  # Blender's data need not be there for the other jobs to be imported

    live.register()


def unregister() -> None:
    from .live import following as live

    live.unregister()
