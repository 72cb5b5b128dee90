# SPDX-License-Identifier: GPL-3.0-or-later
"""A body from a new metarig, of which all bones are selected as it is added: a crouch in at most seven actions.

Before anything is moved there is nothing to bake. The other hand's empty goes along, and says that it is not used yet.
"""

import bpy

from scripts.windowed.inside import actions, buttons, hands, screen, wait
from scripts.windowed.inside.actions import act
from tests.rigs import all_keys, evaluated_tip

from .first_minute import BAKE, drag_target, fresh, on_screen, rig, target_of

MOST_ACTIONS = 7
LOWER = 0.1  # by which the hips go down in a crouch, at least
SIZE = (1600, 1200)  # the hand does not come to lie under the sidebar


def script():
    fresh()
    bpy.data.objects.remove(bpy.data.objects["Ball"])
    bpy.context.view_layer.objects.active = rig()
    rig().select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.ed.undo_push(message="Set up")
    screen.viewport().spaces.active.show_region_ui = False
    actions.begin()
    yield 1.0
    yield from act("Ctrl Tab to Pose Mode", hands.press("TAB", ctrl=True))
    yield from act("N opens the sidebar", hands.press("N"))
    yield from act("a click on the tab", screen.sidebar())
    screen.picture("first-body-all-selected")
    yield from act("Add Limb", buttons.press("pose.ik_triangulation_limb_add"))
    bones = rig().pose.bones
    with_target = {bone.name for bone in bones if bone.ik_triangulation.target}
    assert len(with_target) == 3, with_target
    assert {"hand.L", "hand.R"} < with_target, with_target
    screen.picture("first-body-body")
    yield from on_screen("body")
    yield from buttons.press(BAKE)
    yield from wait.end()
    assert not all_keys(rig()), "an untouched body is baked"
    screen.picture("first-body-nothing-to-bake")
    yield from hands.press("ESC")  # the message goes
    view = screen.region()
    hands.move(view.x + 100, view.y + 100)
    yield 1.0
    other = bones["hand.R"].ik_triangulation.target
    before = other.matrix_world.translation.copy()
    x, y = screen.seen_at(target_of("hand.L"))
    for beside in (30, 10, 0):  # the gizmo is found once it is drawn under the mouse
        hands.move(x + beside, y)
        yield 1.0
    hips = bones["spine"].head.z
    yield from act("a drag of the hand", drag_target(-60, -380))
    assert (other.matrix_world.translation - before).length > 0.02, "the other empty stays behind"
    assert (other.matrix_world.translation - evaluated_tip(rig(), "hand.R")).length < 1e-3
    yield from act("Bake", buttons.press(BAKE))
    yield from wait.end()
    actions.expect("a crouch", MOST_ACTIONS)
    assert bones["spine"].head.z < hips - LOWER, (hips, bones["spine"].head.z)
    rig().data.bones.active = rig().data.bones["hand.R"]
    yield 1.0
    screen.picture("first-body-not-used-yet")
    screen.picture("first-body-body-baked")
    assert all_keys(rig()), "nothing is baked"
