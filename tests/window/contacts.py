# SPDX-License-Identifier: GPL-3.0-or-later
"""Find Contacts on a recorded rig that is not set up, look at the list, bake and undo: a foot stands, then slides.

Then hands on a cart that moves: the list says what they are on, and a bake holds them there.
"""

import bpy

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import clear
from tests.bodies import sliding_rig
from tests.rigs import all_keys, curves_of, select

LAST = 48


def script():
    buttons.fold("VIEW3D_PT_ik_triangulation_body", closed=False)
    clear()
    select(sliding_rig(LAST), "spine.002")
    bpy.ops.ed.undo_push(message="A recorded rig")
    yield 1.0
    yield from screen.sidebar()
    screen.picture("contacts-nothing")
    recorded = all_keys(_rig())
    yield from buttons.press("pose.ik_triangulation_contacts_find")
    yield from wait.end()
    assert len(_rig().ik_triangulation.contacts) == 3
    assert all_keys(_rig()) == recorded
    yield 0.5
    screen.picture("contacts-found")
    yield from buttons.press("pose.ik_triangulation_contact_go")
    yield 0.5
    assert bpy.context.scene.frame_current == _rig().ik_triangulation.contacts[0].frame_end
    yield from buttons.press("pose.ik_triangulation_bake")
    yield from wait.end()
    assert _way() < 1e-3, _way()
    yield 0.5
    screen.picture("contacts-baked")
    yield from hands.press("Z", ctrl=True)
    assert all_keys(_rig()) == recorded, "one undo does not take the bake back"
    assert _way() > 0.05
    yield from _on_a_cart()


def _on_a_cart():
    clear()
    bpy.ops.mesh.primitive_cube_add(size=0.3, location=(0.72, 0.0, 0.97))  # under the left hand
    cart = bpy.context.object
    cart.name = "Cart"
    for frame in (1, LAST):  # it goes a little faster than the hand
        cart.location.x += 0.0024 * (frame - 1)
        cart.keyframe_insert("location", frame=frame)
    for key in next(c for c in curves_of(cart) if c.array_index == 0).keyframe_points:
        key.interpolation = "LINEAR"
    select(sliding_rig(LAST), "spine.002")
    cart.select_set(False)
    bpy.ops.ed.undo_push(message="A hand on a cart")
    yield 0.5
    yield from screen.sidebar()
    yield from buttons.press("pose.ik_triangulation_contacts_find")
    yield from wait.end()
    listed = _rig().ik_triangulation.contacts
    assert [(row.tip, row.support.name) for row in listed if row.support] == [("hand.L", "Cart")]
    _rig().ik_triangulation.contact = next(n for n, row in enumerate(listed) if row.support)
    yield 0.5
    screen.picture("contacts-on-a-cart")
    yield from buttons.press("pose.ik_triangulation_bake")
    yield from wait.end()
    yield 0.5
    screen.picture("contacts-on-a-cart-baked")
    bpy.ops.object.mode_set(mode="OBJECT")
    with bpy.context.temp_override(selected_objects=[bpy.data.objects["Cart"]]):
        bpy.ops.object.delete()  # the file keeps what a contact names
    bpy.ops.object.mode_set(mode="POSE")
    assert not bpy.data.objects["Cart"].users_scene
    yield from buttons.find("support")
    screen.picture("contacts-on-a-cart-deleted")


def _way() -> float:
    """Way of the right foot from the first frame to the last one."""
    places = []
    for frame in (1, LAST):
        bpy.context.scene.frame_set(frame)
        places.append(_rig().pose.bones["foot.R"].tail.copy())
    return float((places[1] - places[0]).length)


def _rig() -> bpy.types.Object:
    return bpy.data.objects["Rig"]
