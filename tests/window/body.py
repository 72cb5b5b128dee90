# SPDX-License-Identifier: GPL-3.0-or-later
"""Set Up Body, drag a hand's target, bake, and undo: hips go down, feet stay; one step of undo takes the bake back."""

import bpy
from mathutils import Vector

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import clear
from tests.bodies import human_rig
from tests.rigs import all_keys

LAST = 24


def script():
    clear()
    human_rig()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    yield 1.0
    yield from screen.sidebar()
    screen.picture("body-nothing")
    yield from buttons.press("pose.ik_triangulation_body_add")
    assert _rig().pose.bones["foot.L"].ik_triangulation.hold
    yield 0.5
    screen.picture("body-set-up")
    for name, sign in (("hand.L", 1.0), ("hand.R", -1.0)):
        target = _rig().pose.bones[name].ik_triangulation.target
        target.keyframe_insert("location", frame=1)
        target.location += Vector((-0.4 * sign, -0.35, -0.7))
        target.keyframe_insert("location", frame=LAST // 2)
    bpy.context.scene.frame_set(LAST // 2)
    bpy.ops.ed.undo_push(message="Keys of the targets")
    yield 0.5
    yield from buttons.press("pose.ik_triangulation_bake")
    yield from wait.end()
    assert all_keys(_rig()), "nothing is baked"
    assert _rig().pose.bones["spine"].head.z < 0.9
    yield 0.5
    screen.picture("body-baked")
    yield from hands.press("Z", ctrl=True)
    assert not all_keys(_rig()), "one undo does not take the bake back"
    assert abs(_rig().pose.bones["spine"].head.z - rig_height()) < 1e-4
    yield from hands.press("Z", ctrl=True, shift=True)
    full = sum(map(len, all_keys(_rig()).values()))
    assert full
    _rig().pose.bones["hand.L"].ik_triangulation.reduce = True
    bpy.ops.ed.undo_push(message="Reduce Keys")
    yield from buttons.press("pose.ik_triangulation_bake")
    yield from wait.end()
    fewer = sum(map(len, all_keys(_rig()).values()))
    assert fewer < full
    yield 0.5
    screen.picture("body-reduced")
    yield from buttons.press("pose.ik_triangulation_bake")  # Bake Again
    yield from wait.end()
    assert sum(map(len, all_keys(_rig()).values())) == fewer
    yield from hands.press("Z", ctrl=True)
    yield from hands.press("Z", ctrl=True)
    assert sum(map(len, all_keys(_rig()).values())) == full


def rig_height() -> float:
    """Height of the hips at rest."""
    return float(_rig().data.bones["spine"].head_local.z)


def _rig() -> bpy.types.Object:
    return bpy.data.objects["Rig"]
