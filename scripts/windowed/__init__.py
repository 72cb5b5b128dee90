# SPDX-License-Identifier: GPL-3.0-or-later
"""The real Blender with its window, on a virtual display: a Debian that has it, a Blender run there, what runs inside."""
