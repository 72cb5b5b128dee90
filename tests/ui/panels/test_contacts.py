# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of contacts lists them with their frames, and marks those that do not count."""

import bpy
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.body import Contact, store_contacts, stored_contacts
from ik_triangulation.rig.frames.body_samples import read_body
from ik_triangulation.rig.touchables import lost_supports
from ik_triangulation.ui.panels.goal import VIEW3D_PT_ik_triangulation_contacts as PANEL
from ik_triangulation.ui.panels.limbs import VIEW3D_PT_ik_triangulation as MAIN

from ...bodies import human_rig, sliding_rig
from ...layouts import drawn
from ...rigs import select

pytestmark = pytest.mark.usefixtures("empty_scene")


def with_contacts(*contacts):
    rig = sliding_rig(12)
    for foot in ("foot.L", "foot.R"):
        rig.pose.bones[foot].ik_triangulation.hold = True
    select(rig, "foot.L")
    store_contacts(rig, contacts)
    return drawn(PANEL)


def test_contacts_are_listed_with_their_frames():
    shown = with_contacts(Contact("foot.R", 1008, 1009), Contact("foot.L", 2, 5))
    assert [text for text in shown if text.startswith("foot.")] == ["foot.R", "foot.L"]  # Blender sorts them
    assert {"1008 - 1009", "2 - 5"} <= set(shown)
    assert {"frame_start", "frame_end", "tip", "contact_fade"} <= set(shown)


def test_without_contacts_the_panel_says_what_they_are_for():
    shown = with_contacts()
    assert any("slide" in text for text in shown)
    assert "frame_start" not in shown


def test_contacts_of_limbs_that_are_not_held_and_of_no_frames_are_marked():
    for contact in (Contact("hand.L", 1, 5), Contact("nose", 1, 5), Contact("foot.L", 5, 1)):
        assert contact.tip in with_contacts(contact)


def test_the_list_says_what_contacts_are_on_and_marks_what_is_not_there():
    rig = sliding_rig(12)
    cup, gone = (bpy.data.objects.new(name, None) for name in ("Cup", "Gone"))
    bpy.context.scene.collection.objects.link(cup)
    rig.pose.bones["foot.L"].ik_triangulation.hold = True
    select(rig, "foot.L")
    on = [Contact("foot.L", 1, 2, cup), Contact("foot.L", 3, 4, rig, "hand.R"), Contact("foot.L", 5, 6, gone)]
    store_contacts(rig, on)
    shown = drawn(PANEL)
    assert {"foot.L on Cup", "foot.L on hand.R", "foot.L on Gone", "support"} <= set(shown)


def test_a_contact_whose_object_was_deleted_says_so_in_the_panel_and_at_the_next_bake():
    rig = sliding_rig(12)
    cup = bpy.data.objects.new("Cup", None)
    bpy.context.scene.collection.objects.link(cup)
    rig.pose.bones["foot.L"].ik_triangulation.hold = True
    select(rig, "foot.L")
    store_contacts(rig, [Contact("foot.L", 3, 6, cup), Contact("foot.L", 8, 9)])
    assert lost_supports(rig) == []
    bpy.data.objects.remove(cup)
    (told,) = lost_supports(rig)
    assert told.startswith("'Cup', which 'foot.L' was in contact with from frame 3 on, was deleted")
    assert "foot.L on Cup" in drawn(PANEL)
    assert any("deleted" in text for text in drawn(PANEL))
    report = bake_body(body_of(rig, "foot.L"), 1, 4)
    assert told in report.warnings
    assert told in finished(read_body(body_of(rig, "foot.L"), bpy.context.scene, [1])).warnings  # so Reach and Pull too
    store_contacts(rig, stored_contacts(rig))  # as Mirror and Find Contacts do
    assert lost_supports(rig) == [told]
    contact = rig.ik_triangulation.contacts[0]
    contact.support = rig
    contact.support = None
    assert lost_supports(rig) == []


def test_a_contact_whose_object_is_in_no_scene_says_so_below_the_list():
    rig = sliding_rig(12)
    cup = bpy.data.objects.new("Cup", None)
    bpy.context.scene.collection.objects.link(cup)
    rig.pose.bones["foot.L"].ik_triangulation.hold = True
    select(rig, "foot.L")
    store_contacts(rig, [Contact("foot.L", 3, 6, cup)])
    assert not any("scene" in text for text in drawn(PANEL))
    bpy.context.scene.collection.objects.unlink(cup)  # as Delete does: the contact keeps it in the file
    assert rig.ik_triangulation.contacts[0].support == cup
    assert "'Cup', which 'foot.L' is in contact with from frame 3 on, is not in this scene." in " ".join(drawn(PANEL))


def test_a_rig_that_is_animated_and_has_no_limbs_is_offered_contacts():
    rig = human_rig()
    select(rig, "spine")
    assert not any("contacts" in text.lower() for text in drawn(MAIN))
    rig.pose.bones["spine"].keyframe_insert("location", frame=1)
    bpy.context.view_layer.update()
    assert any("contacts_find" in text for text in drawn(MAIN))
