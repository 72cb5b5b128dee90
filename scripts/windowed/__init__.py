# SPDX-License-Identifier: GPL-3.0-or-later
"""The real Blender with its window, on a virtual display: a Debian that has it, runs of it, what runs inside."""
