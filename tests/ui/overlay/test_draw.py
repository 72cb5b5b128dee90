# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn over the viewport, when, and that drawing changes nothing and never fails."""

import sys
from types import SimpleNamespace

import bpy
import gpu
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.ui.overlay import draw, handlers
from ik_triangulation.ui.overlay.figure import add_joint
from ik_triangulation.ui.overlay.ghost import clear_ghosts, show_ghost
from ik_triangulation.ui.overlay.limb import displayed_limb
from ik_triangulation.ui.overlay.sketch import Role, Sketch, ghostly

from ...rigs import chain_rig, configure, empty, evaluated_tip, nothing_lost
from .seen import colour_of, colours, drawn, layers, settings, standard
from .viewport import pixels, viewport

pytestmark = pytest.mark.usefixtures("empty_scene")
with_gpu = pytest.mark.skipif(not hasattr(gpu, "init"), reason="this Blender draws nothing without a window")

PARTS = ("show_reach", "show_joints", "show_target", "show_error", "show_ghosts")


def test_nothing_is_drawn_unless_asked_for():
    standard()
    settings().show = False
    assert drawn() == 0
    settings().show = True
    assert drawn() > 0


def test_it_is_on_at_first():
    assert settings().show
    assert all(getattr(settings(), part) for part in PARTS)


@pytest.mark.parametrize("part", PARTS[:4])
def test_each_part_has_a_switch(part):
    standard()
    everything = drawn()
    setattr(settings(), part, False)
    without = drawn()
    assert without < everything
    for other in PARTS[:4]:
        setattr(settings(), other, other == part)
    assert drawn() == everything - without


def test_the_colour_says_whether_the_target_is_reached():
    rig, target = standard(tolerance=0.01)
    target.empty_display_type = "PLAIN_AXES"
    assert colour_of(Role.MISSED) in colours()
    assert colour_of(Role.REACHED) not in colours()
    target.location = evaluated_tip(rig, "Bone 3")
    bpy.context.view_layer.update()
    assert colour_of(Role.REACHED) in colours()
    assert colour_of(Role.MISSED) not in colours()


def test_the_armature_s_place_is_where_it_is_drawn():
    rig, _ = standard()
    rig.location, rig.scale = (1.0, 2.0, 3.0), (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    (layer,) = layers()
    assert layer.world == rig.matrix_world


# Rigs of which there is nothing to be drawn


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (2.0, 2.0, 2.0), (1.0, 3.0, 0.5)], ids=["none", "alike", "unequal"])
def test_ticks_lie_on_the_bones_that_are_seen(scale):
    """Also where bones stand apart, are scaled, or have locked ones between them."""
    rig, target = chain_rig(5, gaps=(2, 4), rolls=(0.3, 1.0, -2.0, 0.5, 2.5)), empty()
    configure(rig, "Bone 4", target=target, chain_count=0)
    for number, bone in enumerate(rig.pose.bones):
        bone.rotation_quaternion = (1.0, 0.1, 0.0, 0.2)
        joint = bone.ik_triangulation_joint
        joint.source, joint.kind, joint.use_limits = "OWN", "LOCKED" if number == 3 else "CONE", False
    rig.pose.bones["Bone 1"].scale = scale
    bpy.context.view_layer.update()
    with viewport() as context:
        seen, sketch = displayed_limb(context, rig, rig.pose.bones["Bone 4"]), Sketch()
    for i, length in enumerate(seen.lengths):
        add_joint(sketch, seen.pose, i, length)
    ticks = [line for line in sketch.lines if line.role == Role.NOW]
    assert len(ticks) == 4
    for tick, name in zip(ticks, ("Bone 0", "Bone 1", "Bone 2", "Bone 4"), strict=True):
        bone = rig.pose.bones[name]
        assert ((tick.start + tick.end) / 2.0 - bone.head.lerp(bone.tail, 0.5)).length < 0.2 * bone.length
        if scale[0] == scale[1] or name == "Bone 0":
            assert ((tick.start + tick.end) / 2.0 - bone.head.lerp(bone.tail, 0.5)).length < 1e-4


def test_drawing_changes_nothing_in_the_file():
    rig, _ = standard()
    show_ghost(rig, [(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
    with nothing_lost():
        assert drawn() > 0


def held():
    """How many hold on to the drawing function: its module, who asks, and Blender once for each time it will call."""
    return sys.getrefcount(handlers._draw)


def test_blender_has_one_drawing_function_as_long_as_it_is_enabled(addon):
    enabled = held()
    addon.unregister()
    disabled = held()
    addon.register()
    assert (disabled, held()) == (enabled - 1, enabled)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert held() == enabled


def test_a_file_without_an_armature_does_not_load_what_draws(monkeypatch):
    monkeypatch.setattr(handlers, "draw", None)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    handlers._draw()
    handlers._draw_texts()
    standard()
    with pytest.raises(AttributeError):
        handlers._draw()


def test_the_switches_are_saved_with_the_file(tmp_path):
    settings().show, settings().show_reach = False, False
    path = str(tmp_path / "switches.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert settings().show
    bpy.ops.wm.open_mainfile(filepath=path)
    assert (settings().show, settings().show_reach, settings().show_joints) == (False, False, True)


# Real drawing


def near(image, colour, within=0.15):
    """How many pixels have about this colour; the drawing is translucent, over black."""
    shown = image[image[:, 3] > 0.5]
    brightest = shown[:, :3].max(axis=1, keepdims=True).clip(1e-3)
    wanted = np.array(colour) / max(colour)
    return int((np.abs(shown[:, :3] / brightest - wanted).max(axis=1) < within).sum())


@with_gpu
@pytest.mark.parametrize(
    ("part", "role"),
    [("show_reach", None), ("show_target", Role.TARGET), ("show_error", Role.MISSED), ("show_joints", Role.X)],
)
def test_pixels_have_the_colour_of_what_is_shown(part, role):
    standard()
    for other in PARTS:
        setattr(settings(), other, other == part)
    image = pixels(draw.draw)
    assert image.max() > 0.0
    if role is not None:
        assert near(image, colour_of(role)) > 5


@with_gpu
def test_a_ghost_has_the_colour_of_posed_bones():
    rig, _ = standard()
    settings().show = False
    assert pixels(draw.draw).max() == 0.0
    show_ghost(rig, [(0.0, 0.0, 0.0), (0.0, 0.0, 2.0), (0.0, 2.0, 2.0)])
    assert near(pixels(draw.draw), ghostly(bpy.context.preferences.themes[0])) > 5
    clear_ghosts()
    assert pixels(draw.draw).max() == 0.0


@with_gpu
def test_nothing_is_drawn_where_overlays_are_off():
    rig, _ = standard()
    show_ghost(rig, [(0.0, 0.0, 0.0), (0.0, 0.0, 2.0)])
    assert pixels(draw.draw).max() > 0.0
    with viewport() as context:
        context.space_data.overlay.show_overlays = False
    assert pixels(draw.draw).max() == 0.0


@with_gpu
def test_the_line_goes_from_the_tip_to_the_aim():
    rig, target = standard()
    target.empty_display_type, target.location = "PLAIN_AXES", (3.0, 0.0, 0.0)
    for other in PARTS:
        setattr(settings(), other, other == "show_error")
    bpy.context.view_layer.update()
    image = pixels(draw.draw).reshape(300, 400, 4)
    with viewport() as context:
        matrix = context.region_data.perspective_matrix.copy()
    for share in (0.05, 0.5, 0.95):
        place = evaluated_tip(rig, "Bone 3").lerp(Vector(target.location), share)
        x, y, _, w = matrix @ place.to_4d()
        column, row = (int((x / w + 1.0) * 200.0), int((y / w + 1.0) * 150.0))
        assert image[row - 2 : row + 3, column - 2 : column + 3, 0].max() > 0.3


def region(kind, alignment, x=100, y=50, width=800, height=600):
    """A region of an area whose viewport begins at (100, 50) on the screen."""
    return SimpleNamespace(type=kind, alignment=alignment, x=x, y=y, width=width, height=height)


@pytest.mark.parametrize(
    ("covering", "left"),
    [
        ([], (0.0, 0.0, 800.0, 600.0)),
        ([region("TOOLS", "LEFT", width=40)], (40.0, 0.0, 800.0, 600.0)),
        ([region("UI", "RIGHT", x=640, width=260)], (0.0, 0.0, 540.0, 600.0)),
        ([region("UI", "LEFT", width=260), region("TOOLS", "LEFT", width=40)], (260.0, 0.0, 800.0, 600.0)),
        ([region("UI", "RIGHT", x=640), region("TOOLS", "RIGHT", x=860)], (0.0, 0.0, 540.0, 600.0)),
        ([region("HEADER", "TOP", y=624), region("TOOL_HEADER", "TOP", y=600)], (0.0, 0.0, 800.0, 550.0)),
        (
            [region("HEADER", "BOTTOM", height=26), region("TOOL_HEADER", "BOTTOM", height=52)],
            (0.0, 52.0, 800.0, 600.0),
        ),
        ([region("TOOLS", "LEFT", width=1), region("UI", "RIGHT", x=899, height=1)], (0.0, 0.0, 800.0, 600.0)),
        ([region("TOOLS", "LEFT", width=2), region("HEADER", "BOTTOM", height=2)], (2.0, 2.0, 800.0, 600.0)),
        ([region("ASSET_SHELF", "BOTTOM", height=90), region("UI", "NONE")], (0.0, 0.0, 800.0, 600.0)),
    ],
)
def test_texts_are_where_no_region_covers_the_viewport(covering, left):
    view = region("WINDOW", "NONE")
    found = draw.open_part(SimpleNamespace(region=view, area=SimpleNamespace(regions=[view, *covering])))
    assert found == left
