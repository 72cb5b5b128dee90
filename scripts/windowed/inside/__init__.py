# SPDX-License-Identifier: GPL-3.0-or-later
"""Code that runs in a Blender with a window: it presses keys and buttons, reads the data and takes pictures.

A script is a module with a generator `script()`: each `yield` names the seconds that Blender has for itself, to draw
and to react, before the script goes on. It runs with the 3D Viewport as context.
"""
