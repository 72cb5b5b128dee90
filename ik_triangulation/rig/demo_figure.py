# SPDX-License-Identifier: GPL-3.0-or-later
"""A plain human figure to try things on: an armature with a skin of tapered capsules. Source: none."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import Collection, Object
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from .map_objects import fill_with_quads


class _Part(NamedTuple):
    """A bone: its parent, head and tail [m], and the radii of the skin there."""

    parent: str
    head: tuple[float, float, float]
    tail: tuple[float, float, float]
    radii: tuple[float, float]
    connected: bool = True


# 1.78 m tall, facing -Y, elbows and knees a little bent, so that they flex to the right side.
_MIDDLE = {
    "hips": _Part("", (0.0, 0.02, 0.96), (0.0, 0.02, 1.08), (0.13, 0.12), False),
    "spine": _Part("hips", (0.0, 0.02, 1.08), (0.0, 0.03, 1.22), (0.12, 0.13)),
    "chest": _Part("spine", (0.0, 0.03, 1.22), (0.0, 0.03, 1.46), (0.13, 0.12)),
    "neck": _Part("chest", (0.0, 0.03, 1.46), (0.0, 0.0, 1.56), (0.055, 0.05)),
    "head": _Part("neck", (0.0, 0.0, 1.56), (0.0, -0.02, 1.78), (0.085, 0.09)),
}
_LEFT = {
    "clavicle": _Part("chest", (0.03, 0.01, 1.43), (0.17, 0.03, 1.43), (0.055, 0.06), False),
    "upper_arm": _Part("clavicle", (0.18, 0.03, 1.42), (0.36, 0.06, 1.20), (0.055, 0.045), False),
    "forearm": _Part("upper_arm", (0.36, 0.06, 1.20), (0.51, 0.0, 1.01), (0.045, 0.03)),
    "hand": _Part("forearm", (0.51, 0.0, 1.01), (0.57, -0.03, 0.93), (0.035, 0.04)),
    "thigh": _Part("hips", (0.1, 0.01, 0.93), (0.11, -0.01, 0.50), (0.09, 0.065), False),
    "shin": _Part("thigh", (0.11, -0.01, 0.50), (0.11, 0.04, 0.09), (0.06, 0.04)),
    "foot": _Part("shin", (0.11, 0.04, 0.09), (0.12, -0.10, 0.025), (0.045, 0.035)),
    "toe": _Part("foot", (0.12, -0.10, 0.025), (0.12, -0.17, 0.02), (0.03, 0.025)),
}
_SIDES, _ROUND = 12, 3  # vertices of a ring of the skin, and rings of each of its caps
_SKIN, _BALL = (0.62, 0.68, 0.75, 1.0), (0.85, 0.45, 0.2, 1.0)  # colors


def human_figure(name: str, collection: Collection) -> Object:
    """Make the figure at the origin, in Object Mode and active; it is the armature, and the skin its child.

    Its bones are named as most rigs name them. The caller is in Object Mode, and the collection is visible.
    """
    armature = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        for bone, part in _parts().items():
            made = armature.data.edit_bones.new(bone)
            made.head, made.tail = part.head, part.tail
            made.parent = armature.data.edit_bones[part.parent] if part.parent else None
            made.use_connect = part.connected
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
    _add_skin(armature, collection)
    return armature


def ball_at(place: Vector, radius: float, collection: Collection) -> Object:
    """Make a ball around a place (world space)."""
    mesh = bpy.data.meshes.new("Ball")
    ball = bpy.data.objects.new(mesh.name, mesh)
    collection.objects.link(ball)
    ball.location, ball.color = place, _BALL
    half = 1e-3 * radius
    corners, quads = _capsule(_Part("", (0.0, 0.0, -half), (0.0, 0.0, half), (radius, radius)))
    fill_with_quads(mesh, corners, quads)
    return ball


def _parts() -> dict[str, _Part]:
    """Return the bones of both sides, parents first."""
    found = dict(_MIDDLE)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for name, part in _LEFT.items():
            parent = part.parent if part.parent in _MIDDLE else f"{part.parent}.{side}"
            head, tail = ((sign * x, y, z) for x, y, z in (part.head, part.tail))
            found[f"{name}.{side}"] = part._replace(parent=parent, head=head, tail=tail)
    return found


def _add_skin(armature: Object, collection: Collection) -> None:
    """Give the armature a mesh in which each bone has a capsule of its own."""
    mesh = bpy.data.meshes.new(f"{armature.name} Skin")
    skin = bpy.data.objects.new(mesh.name, mesh)
    collection.objects.link(skin)
    skin.parent, skin.color = armature, _SKIN
    corners, faces = list[NDArray[np.float64]](), list[NDArray[np.intp]]()
    groups: dict[str, range] = {}
    for name, part in _parts().items():
        places, quads = _capsule(part)
        start = sum(map(len, corners))
        groups[name] = range(start, start + len(places))
        corners.append(places)
        faces.append(quads + start)
    fill_with_quads(mesh, np.concatenate(corners), np.concatenate(faces))
    for name, members in groups.items():
        skin.vertex_groups.new(name=name).add(list(members), 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = armature


def _capsule(part: _Part) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return corners (n, 3) and quads (m, 4) of a capsule along a bone, with its radii at both ends."""
    head, tail = Vector(part.head), Vector(part.tail)
    axis, length = (tail - head).normalized(), (tail - head).length
    frame = np.array(Matrix.Translation(head) @ axis.to_track_quat("Z", "Y").to_matrix().to_4x4())
    rise = np.linspace(0.02, 0.5 * np.pi, _ROUND)  # closed but for a hole that is never seen
    heights = np.concatenate((-part.radii[0] * np.cos(rise), length + part.radii[1] * np.cos(rise[::-1])))
    widths = np.concatenate((part.radii[0] * np.sin(rise), part.radii[1] * np.sin(rise[::-1])))
    angles = np.arange(_SIDES) * (2.0 * np.pi / _SIDES)
    rings = np.stack(
        (
            widths[:, None] * np.cos(angles),
            widths[:, None] * np.sin(angles),
            np.broadcast_to(heights[:, None], (len(heights), _SIDES)),
        ),
        axis=-1,
    )
    ring, side = np.divmod(np.arange((len(heights) - 1) * _SIDES), _SIDES)
    following = (side + 1) % _SIDES
    below = ring * _SIDES
    quads = np.stack((below + side, below + following, below + _SIDES + following, below + _SIDES + side), axis=1)
    return rings.reshape(-1, 3) @ frame[:3, :3].T + frame[:3, 3], quads
