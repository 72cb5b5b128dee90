# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay over a skinned body: reached and missed, joints one at a time, leg, dark and light, 1x and 2x."""

import sys
from math import radians
from pathlib import Path

import bpy
import numpy as np
from bpy.types import Object
from mathutils import Euler, Vector

from scripts.windowed.inside import buttons, screen, wait
from scripts.windowed.inside.scene import clear
from scripts.windowed.inside.screen import Steps
from scripts.windowed.pictures.look import look_at

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))  # the stage imports its neighbours
from stage.acts import press_plus
from stage.body import make_body

DRAWN = 0.4  # seconds until the viewport is
VISIBLE, COVERED = 24, 0.1  # change of a pixel that is seen, and share of a hand's that may change
RIG = "Body"
ARM, LEG = "hand.L", "foot.L"
BESIDE = Vector((0.45, -0.35, 1.25))  # a place that the left hand reaches
AWAY = Vector((0.75, -0.75, 1.75))  # one that it does not
TURNED = Euler((radians(70.0), radians(20.0), radians(100.0)))  # of the wrist, beyond its limits


def script() -> Steps:
    buttons.fold("VIEW3D_PT_ik_triangulation_joint", closed=False)
    clear()
    bpy.context.scene.unit_settings.system = "METRIC"
    bpy.context.scene.ik_triangulation_overlay.show = True
    rig = make_body()
    rig.name, rig.show_in_front = RIG, True
    rig.data.display_type = "STICK"
    rig.data.collections["Face"].is_visible = False
    space = screen.viewport().spaces.active
    space.shading.color_type = "MATERIAL"
    space.overlay.show_relationship_lines = False
    hand, foot = press_plus(rig, ARM), press_plus(rig, LEG)
    hand.rotation_mode = foot.rotation_mode = "XYZ"
    yield 1.0

    # The arm: reached, out of reach, turned too far
    look_at((0.25, 0.0, 1.4), 1.7, radians(-25.0))
    activate(rig, ARM)
    _to(hand, BESIDE)
    yield from computed(1)
    yield from shot("arm-reached")
    _to(hand, AWAY)
    yield from shot("arm-missed")
    _to(hand, BESIDE, TURNED)
    yield from shot("arm-turned")
    activate(rig, "forearm.L")
    yield from shot("arm-forearm")
    yield from screen.sidebar()
    yield from shot("arm-joints-open")
    screen.viewport().spaces.active.show_region_ui = False
    activate(rig, "upper_arm.L")
    yield from shot("arm-upper")
    activate(rig, ARM)
    for theme, scale in (("Blender_Light", 1.0), ("Blender_Light", 2.0), ("Blender_Dark", 2.0)):
        _theme(theme)
        bpy.context.preferences.view.ui_scale = scale
        yield 0.5
        _to(hand, AWAY)
        yield from shot(f"arm-missed-{theme}-{scale:.0f}x")
        _to(hand, BESIDE)
        yield from shot(f"arm-reached-{theme}-{scale:.0f}x")
    bpy.context.preferences.view.ui_scale = 1.0
    yield 0.5

    # From near: the hand is not covered
    look_at((0.45, -0.3, 1.25), 0.5, radians(35.0))
    yield from shot("hand-near")
    activate(rig, "forearm.L")
    yield from shot("hand-near-forearm")
    with_overlay = screen.pixels(screen.region()).astype(int)
    overlay = bpy.context.scene.ik_triangulation_overlay
    overlay.show = False
    yield DRAWN
    without = screen.pixels(screen.region()).astype(int)
    overlay.show = True
    left, top, right, bottom = _box_of(rig, ARM)
    changed = np.abs(with_overlay - without).max(axis=2)[top:bottom, left:right] > VISIBLE
    print(f"The overlay changes {100.0 * changed.mean():.1f} % of the hand's pixels")
    assert changed.mean() < COVERED, "the overlay covers the hand"

    bpy.ops.object.mode_set(mode="OBJECT")
    rig.select_set(False)
    hand.select_set(True)
    bpy.context.view_layer.objects.active = hand
    look_at((0.25, 0.0, 1.4), 1.7, radians(-25.0))
    yield from shot("target-active")

    # The leg
    look_at((0.1, 0.0, 0.6), 1.9, radians(50.0))
    activate(rig, LEG)
    _to(foot, Vector((0.12, -0.35, 0.45)))
    yield from computed(2)
    yield from shot("leg-reached")
    activate(rig, "shin.L")
    yield from shot("leg-shin")


def computed(count: int) -> Steps:
    """Wait until so many shells are there, which are computed when nothing else is to be done."""
    (shells,) = (module for name, module in sys.modules.items() if name.endswith(".ui.overlay.limb"))
    yield from wait.until(lambda: len(shells._shells) == count, "shell")


def _box_of(rig: Object, tip: str) -> tuple[int, int, int, int]:
    """Return where a bone and those after it are in a picture of the viewport: left, top, right, bottom."""
    view, bones = screen.region(), rig.pose.bones
    names = [tip, *(bone.name for bone in rig.data.bones[tip].children_recursive)]
    matrix = screen.viewport().spaces.active.region_3d.perspective_matrix @ rig.matrix_world
    places = [matrix @ end.to_4d() for name in names for end in (bones[name].head, bones[name].tail)]
    across = [(place.x / place.w + 1.0) / 2.0 * view.width for place in places]
    down = [(1.0 - place.y / place.w) / 2.0 * view.height for place in places]
    return int(min(across)), int(min(down)), int(max(across)), int(max(down))


def shot(name: str) -> Steps:
    bpy.context.view_layer.update()
    screen.viewport().tag_redraw()
    yield DRAWN
    screen.picture(f"overlay-{name}", of=screen.region())


def activate(rig: Object, bone: str) -> None:
    """Make a bone active and the only selected one, in Pose Mode."""
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    for each in rig.pose.bones:
        each.select = each.name == bone
    rig.data.bones.active = rig.data.bones[bone]


def _to(target: Object, place: Vector, turned: Euler | None = None) -> None:
    """Move a target, and solve the limb that follows it."""
    rig = bpy.data.objects[RIG]
    tip = next(bone for bone in rig.pose.bones if bone.ik_triangulation.target == target)
    target.location = place
    if turned is not None:
        target.rotation_euler = turned
    else:
        target.rotation_euler = rig.data.bones[tip.name].matrix_local.to_euler()
    active = rig.data.bones.active
    rig.data.bones.active = tip.bone
    bpy.ops.pose.ik_triangulation_solve()
    rig.data.bones.active = active


def _theme(name: str) -> None:
    (folder,) = map(Path, bpy.utils.preset_paths("interface_theme")[:1])
    bpy.ops.script.execute_preset(
        filepath=str(folder / f"{name}.xml"), menu_idname="USERPREF_MT_interface_theme_presets"
    )
