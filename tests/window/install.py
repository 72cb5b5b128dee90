# SPDX-License-Identifier: GPL-3.0-or-later
"""Installed and enabled, the panel is there in every state of the selection; disabled, nothing of it is left."""

import bpy

from scripts.windowed.inside import buttons, screen
from scripts.windowed.inside.scene import chain, clear, disable, enable
from tests.registered import snapshot


def script():
    enabled = snapshot()
    disable()
    without = snapshot()
    assert not [name for name in without["types"] | without["properties"] if "ik_triangulation" in name.lower()]
    enable()
    assert snapshot() == enabled, "enabling it again gives something else"

    clear()
    yield from screen.sidebar()
    screen.picture("install-nothing")
    chain()
    yield from buttons.press("pose.ik_triangulation_solve")
    screen.picture("install-limb")
    bpy.ops.object.mode_set(mode="OBJECT")
    yield 0.5
    screen.picture("install-object-mode")

    disable()
    yield 0.5
    assert snapshot() == without, "disabling it leaves something behind"
    assert not buttons.panels()
    screen.picture("install-disabled")
