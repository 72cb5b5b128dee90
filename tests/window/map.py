# SPDX-License-Identifier: GPL-3.0-or-later
"""Show Reach and both maps are pressed and lie round the limb, whose character stays visible; undo and Esc."""

import bmesh
import bpy
import numpy as np

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import chain, research_tools, rig
from scripts.windowed.pictures.look import paint
from tests.rigs import nothing_lost, place

REACH, PLANE, SPACE = (f"pose.ik_triangulation_{name}" for name in ("show_reach", "map", "map_volume"))


def script():
    research_tools()
    buttons.fold("VIEW3D_PT_ik_triangulation_advanced", "VIEW3D_PT_ik_triangulation_maps", closed=False)
    chain()
    paint(rig(), normal=(0.05, 0.9, 0.05))
    _character()
    settings = bpy.context.scene.ik_triangulation_map
    settings.size, settings.resolution, settings.metric = 32, 8, "total_angle"
    bpy.ops.view3d.view_all()
    bpy.ops.ed.undo_push(message="Set up")
    yield from screen.sidebar()
    alone = screen.pixels(screen.region())
    yield from _press(REACH, 1)
    screen.picture("map-reach")
    shown = screen.pixels(screen.region())
    for channel, what in ((0, "character"), (1, "bones")):
        assert _left(alone, shown, channel) > 0.4, f"the shell hides the {what}"
    assert np.mean(np.abs(shown.astype(int) - alone).max(axis=2) > 8) > 0.2, "the shell cannot be seen"

    rig().show_in_front = False
    body = bpy.data.objects["Character"]
    body.hide_set(True)
    bpy.ops.ed.undo_push(message="Hide")
    yield from _press(REACH, 1)
    assert _left(alone, screen.pixels(screen.region()), 1) > 0.4, "the shell hides bones that are not In Front"
    yield from _press(PLANE, 2)
    yield from _press(SPACE, 2)
    screen.picture("map")
    for _ in range(5):
        yield from hands.press("Z", ctrl=True)
    assert not _maps(), "undo does not take the maps away"

    bpy.context.scene.ik_triangulation_map.size = 1000
    bpy.ops.ed.undo_push(message="Large")
    yield from buttons.to_top()
    with nothing_lost():
        yield from buttons.press(PLANE)
        yield from wait.start()
        yield from hands.press("ESC")
        assert not wait.running(), "Esc does not stop the map"
    assert not _maps()


def _press(name: str, maps: int) -> screen.Steps:
    """Press a button, and wait until there are so many maps."""
    yield from buttons.to_top()
    yield from buttons.press(name)
    yield 0.2
    yield from wait.until(lambda: len(_maps()) == maps and not wait.running(), "map")
    yield 0.5


def _character() -> None:
    """A red body round the chain."""
    mesh, shape = bpy.data.meshes.new("Character"), bmesh.new()
    bmesh.ops.create_uvsphere(shape, u_segments=32, v_segments=16, radius=1.0)
    bmesh.ops.scale(shape, vec=(0.5, 0.5, 2.0), verts=shape.verts)
    bmesh.ops.translate(shape, vec=(0.0, 0.0, 2.0), verts=shape.verts)
    shape.to_mesh(mesh)
    shape.free()
    material = bpy.data.materials.new("Character")
    material.diffuse_color = 0.8, 0.02, 0.02, 1.0
    mesh.materials.append(material)
    place(bpy.data.objects.new("Character", mesh))


def _left(before: np.ndarray, after: np.ndarray, channel: int) -> float:
    """Return the share of a colour that is left where a picture was red (channel 0) or green (1)."""
    strengths = [_strength(picture, channel) for picture in (before, after)]
    there = strengths[0] > 0.5
    return strengths[1][there].mean() / strengths[0][there].mean()


def _strength(colours: np.ndarray, channel: int) -> np.ndarray:
    """How much stronger one channel of each pixel is than the others, relative to it."""
    own, others = colours[..., channel].astype(float), np.delete(colours, channel, axis=2).max(axis=2)
    return (own - others) / np.maximum(own, 32.0)


def _maps() -> list[bpy.types.Object]:
    return [ob for ob in bpy.data.objects if ob.name not in {"Rig", "Target", "Character"}]
