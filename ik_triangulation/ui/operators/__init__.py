# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user can press: each gathers, calls one plain function, and reports."""

from bpy.utils import register_submodule_factory

register, unregister = register_submodule_factory(
    __name__,
    ("solve", "limbs", "live", "bake", "generated", "following", "reach", "offset", "joints", "presets", "map", "duel"),
)
