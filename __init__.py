# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender imports: an extension has its `__init__.py` beside its manifest. The rest is in `ik_triangulation`.

The names of `ik_triangulation.api` are here as well: `from bl_ext.user_default.ik_triangulation import bake`. All is
imported when it is asked for: pytest imports this file too and must not load a second copy of the rooms.
"""

import sys

if "register" in globals():  # reloaded, because another version was installed while this one was disabled
    for _name in [name for name in sys.modules if name.startswith(f"{__name__}.")]:
        del sys.modules[_name]


def register():
    from .ik_triangulation import register

    register()


def unregister():
    from .ik_triangulation import unregister

    unregister()


def __getattr__(name):
    if not __package__:  # pytest reads this file, in a folder whose name cannot be that of a package
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from .ik_triangulation import api

    if name != "__all__" and name not in api.__all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(api, name)


def __dir__():
    from .ik_triangulation import api

    return sorted({*globals(), *api.__all__})
