# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender imports: an extension has its `__init__.py` beside its manifest. The rest is in `ik_triangulation`.

The imports wait until Blender asks: pytest imports this file too and must not load a second copy of the package.
"""


def register():
    from .ik_triangulation import register

    register()


def unregister():
    from .ik_triangulation import unregister

    unregister()
