# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes that a character may touch, and how far its hands are from them and from its own bones."""

import bpy
import numpy as np
import pytest

from ik_triangulation.errors import ChainError, TargetError
from ik_triangulation.rig.body import Contact, store_contacts, stored_contacts
from ik_triangulation.rig.dependencies import Dependencies
from ik_triangulation.rig.touchables import (
    MeshesSeen,
    away_from_bone,
    check_supports,
    check_touchable,
    follows_body,
    lost_supports,
    meshes_to_touch,
    missing_support,
    never_moves,
    runs_at_rest,
    support_problem,
    supports_at,
)

from ..bodies import human_rig, reaching_body
from ..rigs import empty, key_location

pytestmark = pytest.mark.usefixtures("empty_scene")


def box(name, place=(0, 0, 0), scale=(1, 1, 1)):
    """A cube of 2 m, at a place and scaled."""
    mesh = bpy.data.meshes.new(name)
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    ob.location, ob.scale = place, scale
    bpy.context.view_layer.update()
    return ob


def test_skin_clothes_and_what_is_hidden_are_not_touched():
    rig, skin, hat, hidden, cup = human_rig(), box("Skin"), box("Hat"), box("Hidden"), box("Cup")
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    hat.parent, hat.parent_type, hat.parent_bone = rig, "BONE", "spine.002"
    hidden.hide_viewport = True
    bpy.context.view_layer.update()
    assert meshes_to_touch(rig, bpy.context.scene, bpy.context.view_layer) == [cup]


def test_distances_are_those_of_the_world_and_what_is_far_is_not_looked_at():
    flat, far = box("Flat", (1.0, 0.0, 0.0), (0.5, 2.0, 0.25)), box("Far", (50.0, 0.0, 0.0))
    points = np.array((1.0, 0.3, 0.35)).reshape(1, 3, 1) + np.zeros((1, 3, 2))
    points[0, 2, 1] = 3.0
    seen = MeshesSeen([flat, far], {"hand": points}, {"hand": 1.0}, [1, 2])
    assert seen.meshes == [flat]
    depsgraph = bpy.context.view_layer.depsgraph
    assert seen.look(depsgraph, 1)["Flat"].away["hand"] == pytest.approx(0.1, abs=1e-5)
    assert seen.look(depsgraph, 2)["Flat"].away["hand"] == np.inf
    frame = seen.look(depsgraph, 1)["Flat"].frame
    assert frame.to_scale()[:] == pytest.approx((1, 1, 1))
    frames = np.repeat(np.array(frame)[:, :, None], 3, axis=2)
    assert never_moves(frames)
    frames[0, 3, 2] += 0.01
    assert not never_moves(frames)


def test_a_thigh_is_thicker_than_its_bone():
    head, tail = np.zeros((3, 1)), np.array(((0.0,), (0.0,), (-0.5,)))
    beside = np.array((0.2, 0.0, -0.25)).reshape(1, 3, 1)
    assert away_from_bone(beside, head, tail, "thigh") == pytest.approx(0.2 - 0.17 * 0.5)
    assert away_from_bone(0.3 * beside, head, tail, "thigh") == 0.0
    below = np.array((0.0, 0.0, -0.7)).reshape(1, 3, 1)
    assert away_from_bone(np.vstack((beside, below)), head, tail, "") == pytest.approx(0.2)


def test_what_cannot_be_touched_is_told_with_the_remedy():
    rig, cup, nail, layer = human_rig(), box("Cup"), empty("Nail"), bpy.context.view_layer
    layer.update()
    check_touchable(cup, rig, bpy.context.scene, layer)
    with pytest.raises(TargetError, match="'Nail' is no mesh"):
        check_touchable(nail, rig, bpy.context.scene, layer)
    skin, sock, hidden = box("Skin"), box("Sock"), box("Hidden")
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    sock.parent, sock.parent_type = rig, "ARMATURE"
    hidden.hide_viewport = True
    layer.update()
    for ob in (skin, sock):
        with pytest.raises(TargetError, match=f"'{ob.name}' is deformed by 'Rig' itself"):
            check_touchable(ob, rig, bpy.context.scene, layer)
    for ob, scene in ((hidden, bpy.context.scene), (cup, bpy.data.scenes.new("Other"))):
        with pytest.raises(TargetError, match=f"'{ob.name}' is not in this scene, or disabled"):
            check_touchable(ob, rig, scene, layer)


def test_a_still_mesh_that_no_tip_passes_is_looked_at_only_if_something_may_move_it():
    def keyed(ob):
        key_location(ob, [1, 9])

    def constrained(ob):
        ob.constraints.new("COPY_LOCATION")

    def on_a_bone(ob):
        ob.parent, ob.parent_type, ob.parent_bone = human_rig(), "BONE", "hand.L"

    def by_its_parent(ob):
        ob.parent = key_location(empty("Carrier"), [1, 9])

    def in_shape(ob):
        ob.shape_key_add()

    def modified(ob):
        ob.modifiers.new("Wave", "WAVE")

    changes = [keyed, constrained, on_a_bone, by_its_parent, in_shape, modified]
    boxes = [box(change.__name__, (50.0, 0.0, 0.0)) for change in changes]
    still = box("still", (50.0, 0.0, 0.0))
    for change, ob in zip(changes, boxes, strict=True):
        change(ob)
    bpy.context.view_layer.update()
    points = np.zeros((1, 3, 2))
    assert MeshesSeen([*boxes, still], {"hand": points}, {"hand": 1.0}, [1, 2]).meshes == boxes
    for away, near in ((1.19, True), (1.21, False)):  # a fifth of the limb beside the box
        passing = np.array((50.0, away, 0.0)).reshape(1, 3, 1)
        assert (MeshesSeen([still], {"hand": passing}, {"hand": 1.0}, [1]).meshes == [still]) is near


def test_a_flat_mesh_and_one_without_faces_are_touched_nowhere_and_one_that_is_nowhere_is_told():
    flat, bare, lost = box("Flat"), box("Bare"), box("Lost")
    flat.scale.z = 0.0
    bare.data = bpy.data.meshes.new("Empty")
    points = {"hand": np.zeros((1, 3, 1))}
    bpy.context.view_layer.update()
    seen = MeshesSeen([flat, bare], points, {"hand": 1.0}, [4])
    found = seen.look(bpy.context.view_layer.depsgraph, 4)
    assert {name: each.away for name, each in found.items()} == {name: {"hand": np.inf} for name in ("Flat", "Bare")}
    seen = MeshesSeen([lost], points, {"hand": 1.0}, [4])
    lost.location.x = float("nan")
    bpy.context.view_layer.update()
    with pytest.raises(TargetError, match=r"'Lost' has an invalid position at frame 4. Correct"):
        seen.look(bpy.context.view_layer.depsgraph, 4)


def test_runs_at_rest_are_those_in_which_nothing_changes():
    frames = np.repeat(np.eye(4)[:, :, None], 9, 2)
    frames[0, 3] = [0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 3.0, 3.0001, 3.0002]
    assert runs_at_rest(frames) == [(0, 2), (4, 5), (6, 8)]
    frames[0, 3] = np.arange(9)
    assert runs_at_rest(frames) == []
    frames[0, 3] = 0.0
    assert runs_at_rest(frames) == [(0, 8)]
    frames[0, 3, 8] = 1.1e-4
    assert runs_at_rest(frames) == [(0, 7)]


def body_with(*contacts):
    return reaching_body(human_rig(), contacts=contacts)


def test_contacts_that_cannot_be_held_on_what_they_are_on_are_told():
    rig, scene = human_rig(), bpy.context.scene
    cup, away = box("Cup"), bpy.data.objects.new("Away", None)
    cases = [
        (
            Contact("hand.L", 3, 8, away),
            TargetError,
            "'Away', which 'hand.L' is in contact with from frame 3 on, is not",
        ),
        (Contact("hand.L", 3, 8, rig, "tail"), TargetError, "'Rig: tail', .* has no such bone. Choose another"),
        (Contact("hand.L", 3, 8, cup, "top"), TargetError, "'Cup: top', .* has no such bone"),
        (Contact("foot.L", 3, 8, rig, "toe.L"), ChainError, "'Rig: toe.L', .* hangs on 'foot.L' itself"),
    ]
    for contact, error, text in cases:
        with pytest.raises(error, match=text):
            check_supports(reaching_body(rig, contacts=(contact,)), scene)
    good = Contact("hand.L", 3, 8, cup), Contact("foot.L", 3, 8), Contact("hand.L", 10, 12, rig, "thigh.R")
    check_supports(reaching_body(rig, contacts=good), scene)
    assert [missing_support(each, scene) for each in good] == [None, None, None]


def test_tips_that_hold_on_to_each_other_at_one_time_are_told_with_the_frame():
    rig = human_rig()
    one = Contact("hand.L", 3, 8, rig, "hand.R")
    for first, last, crossed in ((8, 12, True), (9, 12, False), (1, 3, True), (1, 2, False)):
        body = reaching_body(rig, contacts=(one, Contact("hand.R", first, last, rig, "hand.L")))
        if crossed:
            with pytest.raises(ChainError, match=f"each held on the other at frame {max(first, 3)}. Remove one"):
                check_supports(body, bpy.context.scene)
        else:
            check_supports(body, bpy.context.scene)


def test_an_object_that_follows_the_body_is_no_support():
    rig, cup, other = human_rig(), box("Cup"), human_rig("Other")
    cup.parent, cup.parent_type, cup.parent_bone = rig, "BONE", "shin.L"
    bpy.context.view_layer.update()
    with pytest.raises(TargetError, match=r"'Cup', .* follows 'shin.L' of 'Rig' itself. Choose that bone"):
        check_supports(reaching_body(rig, contacts=(Contact("hand.L", 3, 8, cup),)), bpy.context.scene)
    known = Dependencies()
    assert follows_body(rig, cup, "", known) == "shin.L"
    assert follows_body(rig, cup, "", known, ("hand.L",)) is None
    assert follows_body(other, cup, "", known) is None


def test_supports_are_where_blender_shows_them_and_those_without_extent_are_told():
    rig, other, cup = human_rig(), human_rig("Other"), box("Cup", (1.0, 2.0, 3.0))
    other.location.x = 0.5
    bpy.context.view_layer.update()
    body = reaching_body(rig, contacts=(Contact("hand.L", 3, 8, cup), Contact("foot.L", 3, 8, other, "shin.R")))
    found = supports_at(body, bpy.context.view_layer.depsgraph, 3)
    assert found[cup, ""] == cup.matrix_world
    assert found[other, "shin.R"] == other.matrix_world @ other.pose.bones["shin.R"].matrix
    for scale, place in ((0.0, 1.0), (1.0, float("nan"))):
        cup.scale.y, cup.location.x = scale, place
        bpy.context.view_layer.update()
        with pytest.raises(TargetError, match=r"'Cup', .* is scaled flat or has an invalid position at frame 3"):
            supports_at(body, bpy.context.view_layer.depsgraph, 3)


@pytest.mark.usefixtures("addon")
def test_contacts_are_stored_as_they_were_given_in_the_order_of_time():
    rig, cup = human_rig(), box("Cup")
    given = [
        Contact("hand.R", 20, 30, lost="Gone"),
        Contact("hand.L", 3, 8, cup),
        Contact("foot.R", 3, 8, rig, "shin.R"),
        Contact("foot.L", 9, 8),  # ends before it starts
    ]
    store_contacts(rig, given)
    stored = rig.ik_triangulation
    assert (stored.contact, len(stored.contacts)) == (0, 4)
    assert list(stored_contacts(rig)) == [given[2], given[1], given[0]]
    assert [each.on for each in stored_contacts(rig)] == [(rig, "shin.R"), (cup, ""), None]
    fields = {"tip": "hand.L", "frame_start": 3, "frame_end": 8, "support": "Cup", "bone": ""}
    assert given[1].to_dict() == fields
    assert given[0].to_dict()["support"] == ""
    (warning,) = lost_supports(rig)
    assert warning.startswith("'Gone', which 'hand.R' was in contact with from frame 20 on, was deleted")
    texts = [support_problem(row, bpy.context.scene) for row in stored.contacts]
    assert texts == [warning, None, None, None]
    store_contacts(rig, given[1:2])
    assert list(stored_contacts(rig)) == [given[1]]
