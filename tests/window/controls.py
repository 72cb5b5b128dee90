# SPDX-License-Identifier: GPL-3.0-or-later
"""On a generated Rigify rig a click chooses the IK controls, and Bake keys hand and pole, which the character shows."""

import bpy
from mathutils import Vector

from scripts.windowed.inside import buttons, hands, screen, wait
from tests.rigs import key_location

from .following import FRAMES, generated, hand

KEYS = "VIEW3D_PT_ik_triangulation_keys"


def keyed(rig):
    """Names of the bones with keys on a transform."""
    action = rig.animation_data.action if rig.animation_data else None
    curves = action.layers[0].strips[0].channelbags[0].fcurves if action else ()
    return {curve.data_path.split('"')[1] for curve in curves if curve.data_path[-2:] != '"]'}


def script():
    buttons.fold("VIEW3D_PT_ik_triangulation_result", KEYS, closed=False)
    rig = generated()
    name = rig.name
    yield from screen.sidebar()
    yield from buttons.press("pose.ik_triangulation_limb_add")
    rig = bpy.data.objects[name]
    rig.pose.bones["upper_arm_parent.L"]["pole_vector"] = False
    limb = rig.pose.bones["hand_fk.L"].ik_triangulation
    target, start = limb.target.name, limb.target.location.copy()
    key_location(limb.target, (1, FRAMES), lambda frame: start + Vector((-0.02, -0.02, 0.01)) * frame)

    left, bottom, right, top = yield from buttons.find("pose.ik_triangulation_generated_delete")
    yield from hands.click((left + right) / 2, top + 0.8 * (top - bottom))  # the lowest button above it
    rig = bpy.data.objects[name]
    assert rig.pose.bones["hand_fk.L"].ik_triangulation.keys_on == "IK"
    yield from buttons.find("destination")
    screen.picture("controls-choice")

    yield from buttons.to_top()
    yield from buttons.press("pose.ik_triangulation_bake")
    yield from wait.end()
    yield 1.0  # until the panels have moved to their places
    rig = bpy.data.objects[name]
    assert {"hand_ik.L", "upper_arm_ik_target.L"} <= keyed(rig), keyed(rig)
    assert not any("_fk" in bone for bone in keyed(rig)), keyed(rig)
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        rig = bpy.data.objects[name]
        arm = rig.pose.bones["upper_arm_parent.L"]
        assert arm["IK_FK"] == 0.0
        assert arm["pole_vector"]
        assert (hand(rig) - bpy.data.objects[target].matrix_world.translation).length < 2e-3, frame
    yield 0.5
    screen.picture("controls")

    yield from hands.press("Z", ctrl=True)
    rig = bpy.data.objects[name]
    assert not keyed(rig), "undo does not take the keys back"
    assert not rig.pose.bones["upper_arm_parent.L"]["pole_vector"], "undo does not give back the property"
