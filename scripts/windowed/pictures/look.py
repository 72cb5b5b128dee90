# SPDX-License-Identifier: GPL-3.0-or-later
"""Look of the pictures: the viewport shows only their subject."""

from collections.abc import Sequence
from math import pi
from pathlib import Path

import bmesh
import bpy
from bpy.types import Object
from mathutils import Euler, Vector

from scripts.windowed.inside.screen import picture, region, viewport
from tests.rigs import place

BARS = ("header", "tool_header", "toolbar", "ui")
OVERLAYS = (
    *("axis_x", "axis_y", "floor", "ortho_grid", "cursor", "text", "object_origins", "relationship_lines"),
    "outline_selected",
)
SQUARE = 0.94  # of the viewport: in its corners are arrows that bring back the bars
TARGET = (0.9, 0.25, 0.1, 1.0)  # colour of what is reached for
BONE = (0.35, 0.6, 0.95)  # of the bones that reach


def bare() -> None:
    """Take everything out of the viewport but the objects, and let these have colours of their own."""
    space = viewport().spaces.active
    for name in BARS:
        setattr(space, f"show_region_{name}", False)
    for name in OVERLAYS:
        setattr(space.overlay, f"show_{name}", False)
    space.show_gizmo = False
    space.shading.color_type = "OBJECT"


def look_at(centre: Sequence[float], height: float, turned: float = 0.0, raised: float = 0.0) -> None:
    """See `height` Blender units round a point without perspective, from the front or turned about Z and from above
    [rad]; in a square() those are its height."""
    area, space = viewport(), viewport().spaces.active
    view = space.region_3d
    view.view_perspective = "ORTHO"
    view.view_rotation = Euler((pi / 2 - raised, 0.0, turned)).to_quaternion()
    view.view_location = Vector(centre)
    width = height / SQUARE * area.width / area.height
    view.view_distance = width * space.lens / 72.0  # twice a sensor of 36 mm: how Blender draws without perspective


def ball(parent: Object, radius: float) -> None:
    """Show where an empty is; a display of its own would change what it means as a target."""
    mesh = bpy.data.meshes.new("Ball")
    shape = bmesh.new()
    bmesh.ops.create_uvsphere(shape, u_segments=32, v_segments=16, radius=radius)
    shape.to_mesh(mesh)
    shape.free()
    mesh.shade_smooth()
    ob = place(bpy.data.objects.new("Ball", mesh))
    ob.parent, ob.color = parent, TARGET


def paint(rig: Object, *names: str, normal: Sequence[float] = BONE) -> None:
    """Give these bones, or all, a colour."""
    for bone in rig.pose.bones:
        if not names or bone.name in names:
            bone.color.palette = "CUSTOM"
            for state in ("normal", "select", "active"):
                setattr(bone.color.custom, state, normal)


def square(name: str, pixels: int, *options: str) -> Path:
    """Write the middle of the viewport as a small picture; `options` are more of ImageMagick's."""
    side = int(SQUARE * min(region().width, region().height))
    middle = ("-gravity", "Center", "-crop", f"{side}x{side}+0+0", "+repage")
    return picture(name, *middle, "-resize", f"{pixels}x{pixels}", *options, of=region())
