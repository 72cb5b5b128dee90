# SPDX-License-Identifier: GPL-3.0-or-later
"""In a narrow and a wide sidebar, at 1x and 2x interface scale, dark and light: the buttons can be read and work.

Bake is there without scrolling each time, with Blender's own panel above; Advanced is open below.
"""

from pathlib import Path

import bpy

from scripts.windowed.inside import buttons, hands, screen
from scripts.windowed.inside.scene import chain, distance, straighten

SIZE = (1600, 1200)  # at 2x interface scale the upper buttons are there without scrolling
WIDTHS = {"narrow": 200, "wide": 420}  # pixels at 1x interface scale
LOOKS = ((1.0, "narrow"), (2.0, "wide"), (2.0, "narrow"))
THEMES = ("Blender_Dark", "Blender_Light")


def script():
    buttons.fold("VIEW3D_PT_ik_triangulation_advanced", closed=False)
    chain(tolerance=1e-3)
    yield from screen.sidebar()
    for scale, name in LOOKS:
        bpy.context.preferences.view.ui_scale = scale
        yield 1.0
        yield from _widen(WIDTHS[name] * scale)
        yield from _look(f"looks-{name}-{scale:.0f}x", scale)
    bpy.context.preferences.view.ui_scale = 1.0
    yield 1.0
    yield from buttons.press("solver")
    screen.picture("looks-solvers")
    yield from hands.strike("ESC")
    for theme in THEMES:
        _set_theme(theme)
        yield 1.0
        yield from _look(f"looks-{theme}", 1.0)


def _look(name: str, scale: float) -> screen.Steps:
    """Look at the sidebar from its top, press the upper one of the two buttons, find the other."""
    straighten()
    assert distance() > 0.1
    yield from buttons.to_top()
    screen.picture(name, of=screen.region("UI"))
    yield from buttons.press("pose.ik_triangulation_solve")
    assert distance() < 1e-3, f"{name}: the button does not solve"
    yield from buttons.to_top()
    left, bottom, right, top = yield from buttons.find("pose.ik_triangulation_bake", scrolling=False)
    print(f"{name}: Bake ends {bottom - screen.region('UI').y} pixels above the sidebar's end", flush=True)
    assert top - bottom > 18 * scale, f"{name}: Bake is {top - bottom} pixels high"
    assert right - left > 60 * scale, f"{name}: Bake is {right - left} pixels wide"


def _widen(width: float) -> screen.Steps:
    """Drag the sidebar's edge until it is so many pixels wide."""
    sidebar = screen.region("UI")
    y = sidebar.y + 0.8 * sidebar.height  # where there are panels
    yield from hands.drag((sidebar.x, y), (sidebar.x + sidebar.width - width, y))
    assert abs(screen.region("UI").width - width) < 20, (screen.region("UI").width, width)


def _set_theme(name: str) -> None:
    (folder,) = map(Path, bpy.utils.preset_paths("interface_theme")[:1])
    bpy.ops.script.execute_preset(
        filepath=str(folder / f"{name}.xml"), menu_idname="USERPREF_MT_interface_theme_presets"
    )
