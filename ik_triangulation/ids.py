# SPDX-License-Identifier: GPL-3.0-or-later
"""The name Blender knows this add-on by, as preferences and translations ask for it."""

# Installed this package is `bl_ext.<repository>.ik_triangulation.ik_triangulation` and the add-on is what holds it;
# from a checkout the package is the add-on.
ADDON_ID = __package__.rpartition(".")[0] or __package__
