# SPDX-License-Identifier: GPL-3.0-or-later
"""Metric maps and reach volumes of a chain, and their pictures. Needs mathutils and numpy, nothing else of Blender."""
