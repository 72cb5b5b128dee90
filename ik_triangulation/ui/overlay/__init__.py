# SPDX-License-Identifier: GPL-3.0-or-later
"""What the viewport shows of the active limb: how far it reaches, what its joints may do, what it goes to.

Nothing here changes anything but the window. show_ghost() and clear_ghosts() show poses before they are applied.
"""

from . import draw, ghost, settings
from .ghost import clear_ghosts, show_ghost

__all__ = ["clear_ghosts", "register", "show_ghost", "unregister"]

# Not by Blender's register_submodule_factory(): that imports modules anew, and there would be two lists of ghosts.
_MODULES = (settings, ghost, draw)


def register() -> None:
    for module in _MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(_MODULES):
        module.unregister()
