# SPDX-License-Identifier: GPL-3.0-or-later
"""Solvers measured and compared: many targets at once, metric maps, tables. Needs mathutils and numpy, no Blender."""
