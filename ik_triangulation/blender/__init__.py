# SPDX-License-Identifier: GPL-3.0-or-later
"""The only files that touch Blender's data: reading rigs and targets, writing poses and keys."""
