# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion that is there only in the user's scene."""

import bpy

from ...rigs import chain_rig, empty

LAST = 12


def scene_bound(kind="SINGLE_PROP"):
    """A rig, and a target that a driver moves by the frame of the scene: a hundredth per frame."""
    rig, target = chain_rig(3), empty()
    drive(target, kind)
    return rig, target


def drive(ob, kind):
    curve = ob.driver_add("location", 0)
    variable = curve.driver.variables.new()
    variable.type = kind
    if kind == "SINGLE_PROP":
        variable.targets[0].id_type = "SCENE"
        variable.targets[0].id = bpy.context.scene
    else:
        variable.targets[0].context_property = "ACTIVE_SCENE"
    variable.targets[0].data_path = "frame_current"
    curve.driver.expression = f"{variable.name} / 100 + 0.5"


def stepped(report):
    return [text for text in report.warnings if text.startswith("The scene was stepped frame by frame: ")]
