# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion: operations on many frames at once. Needs mathutils and numpy, nothing else of Blender."""
