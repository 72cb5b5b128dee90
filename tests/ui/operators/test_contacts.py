# SPDX-License-Identifier: GPL-3.0-or-later
"""Find Contacts, and the buttons that correct the list."""

import bpy
import pytest

from ik_triangulation.rig.body import Contact, stored_contacts

from ...bodies import FEET, sliding_rig, tails
from ...rigs import all_keys, chain_rig, nothing_lost, select

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 48


def found_rig():
    rig = sliding_rig(LAST)
    select(rig, "spine.002")
    assert bpy.ops.pose.ik_triangulation_contacts_find() == {"FINISHED"}
    return rig


def test_one_press_finds_contacts_of_a_rig_that_is_not_set_up_and_bake_holds_them():
    rig = found_rig()
    assert {contact.tip for contact in stored_contacts(rig)} == set(FEET)
    assert rig.data.bones.active.name in FEET
    assert bpy.ops.pose.ik_triangulation_bake() == {"FINISHED"}
    places = tails(rig, "foot.R", range(1, LAST + 1))
    assert max((place - places[0]).length for place in places) < 1e-3


def test_the_frames_are_those_of_the_scene():
    rig = sliding_rig(LAST)
    bpy.context.scene.use_preview_range = True
    bpy.context.scene.frame_preview_start, bpy.context.scene.frame_preview_end = 5, 20
    bpy.ops.pose.ik_triangulation_contacts_find()
    found = stored_contacts(rig)
    assert {each.frame_start for each in found} == {5}
    assert max(each.frame_end for each in found) == 20


def test_selected_bones_are_the_feet_of_a_rig_whose_feet_are_not_recognised():
    rig = chain_rig(4)
    select(rig, "Bone 2", "Bone 3")
    bpy.context.scene.frame_end = 12
    bpy.ops.pose.ik_triangulation_contacts_find()
    assert stored_contacts(rig) == (Contact("Bone 3", 1, 12),)


def plate(name, height):
    """A plate that goes along with the hands of sliding_rig()."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    ob.location.z = height
    for frame in range(1, LAST + 1):
        ob.location.x = 0.002 * (frame - 1)
        ob.keyframe_insert("location", frame=frame)
    return ob


def test_the_selected_mesh_is_what_hands_touch_and_another_one_can_be_named():
    rig = sliding_rig(LAST)
    height = rig.pose.bones["hand.L"].tail.z
    plate("Near", height - 0.01)
    plate("Beside", height - 0.03).select_set(True)
    bpy.context.view_layer.update()
    select(rig, "spine.002")
    for chosen, on in (("", "Beside"), ("Near", "Near")):
        bpy.ops.pose.ik_triangulation_contacts_find(support=chosen)
        assert {each.support.name for each in stored_contacts(rig) if each.support} == {on}
    with nothing_lost(), pytest.raises(RuntimeError, match="'Nothing' is not in this scene"):
        bpy.ops.pose.ik_triangulation_contacts_find(support="Nothing")


def test_without_feet_it_is_told():
    chain_rig(4)
    bpy.ops.pose.select_all(action="DESELECT")
    with nothing_lost(), pytest.raises(RuntimeError, match="No feet are found"):
        bpy.ops.pose.ik_triangulation_contacts_find()


def test_feet_that_never_rest_are_told():
    rig = sliding_rig(LAST)
    curve = next(
        c for c in rig.animation_data.action.layers[0].strips[0].channelbags[0].fcurves if "location" in c.data_path
    )
    for index, key in enumerate(curve.keyframe_points):
        key.co.y = 0.2 * index
        key.handle_left.y = key.handle_right.y = key.co.y
    curve.update()
    assert bpy.ops.pose.ik_triangulation_contacts_find() == {"FINISHED"}
    assert stored_contacts(rig) == ()


def test_contacts_are_added_removed_and_gone_to():
    rig = found_rig()
    before = stored_contacts(rig)
    select(rig, "foot.R")
    bpy.context.scene.frame_set(20)
    bpy.ops.pose.ik_triangulation_contact_add()
    assert rig.ik_triangulation.contacts[rig.ik_triangulation.contact].tip == "foot.R"
    assert set(stored_contacts(rig)) - set(before) == {Contact("foot.R", 20, 30)}
    bpy.context.scene.frame_set(3)
    for frame in (20, 30, 20):
        bpy.ops.pose.ik_triangulation_contact_go()
        assert bpy.context.scene.frame_current == frame
    bpy.ops.pose.ik_triangulation_contact_remove()
    assert stored_contacts(rig) == before
    for _ in before:
        bpy.ops.pose.ik_triangulation_contact_remove()
    for name in ("remove", "go"):
        with pytest.raises(RuntimeError, match="No contact is listed"):
            getattr(bpy.ops.pose, f"ik_triangulation_contact_{name}")()


def test_a_limb_has_to_be_held_to_have_a_contact():
    rig = chain_rig(4)
    select(rig, "Bone 3")
    with nothing_lost(), pytest.raises(RuntimeError, match="Hold a limb in place first"):
        bpy.ops.pose.ik_triangulation_contact_add()
    assert not all_keys(rig)
