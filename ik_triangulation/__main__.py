# SPDX-License-Identifier: GPL-3.0-or-later
"""python -m ik_triangulation: the command line on the bpy module."""

import os
import sys

try:
    import bpy  # noqa: F401  # mathutils and the rest are there only after it
except ModuleNotFoundError:
    sys.exit("IK Triangulation needs Blender as a module: pip install bpy, for a Python version that has it.")

from . import register, unregister
from .cli import main

register()
try:
    code = main(sys.argv[1:])
finally:
    unregister()
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)  # Blender 4.5 as a module can hang when it ends
