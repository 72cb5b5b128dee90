# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts are found in a recorded motion, stored, and held by a bake; everything else stays as recorded."""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from ik_triangulation.errors import ChainError, IKError, RigError
from ik_triangulation.jobs.bake import bake_body, delete_generated
from ik_triangulation.jobs.find_contacts import feet_of, find_contacts
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.body import Contact, store_contacts, stored_contacts
from ik_triangulation.rig.by_hand.record import recorded_body

from ...bodies import FEET, human_rig, reaching_body, sliding_rig, tails
from ...rigs import all_keys, chain_rig, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST, LEG = 48, 0.9


def slide(rig, bone, first, last, *_):
    """The farthest that a foot is from where it is first, in legs."""
    found = tails(rig, bone, range(int(first), int(last) + 1))
    return max((place - found[0]).length for place in found) / LEG


def test_contacts_are_found_stored_and_the_feet_held():
    rig = sliding_rig(LAST)
    found = find_contacts(rig, 1, LAST)
    assert [contact.tip for contact in found] == ["foot.L", "foot.R", "foot.L"]
    assert (found[1].frame_start, found[1].frame_end) == (1, LAST)
    assert found[0].frame_end < LAST / 2 - 4
    assert found[2].frame_start > LAST / 2 + 4
    assert stored_contacts(rig) == tuple(found)
    assert all(rig.pose.bones[foot].ik_triangulation.hold for foot in FEET)
    assert rig.ik_triangulation.hips == "spine"


def test_a_bake_holds_the_feet_in_their_contacts_and_leaves_the_swing():
    rig = sliding_rig(LAST)
    frames = range(1, LAST + 1)
    before = {foot: tails(rig, foot, frames) for foot in FEET}
    hands = tails(rig, "hand.L", frames)
    found = find_contacts(rig, 1, LAST)
    assert min(slide(rig, *contact) for contact in found) > 0.02
    report = bake_body(body_of(rig, "foot.L"), 1, LAST)
    assert report.reached
    assert report.outside is None  # a recorded motion has its own balance
    assert max(slide(rig, *contact) for contact in found) < 1e-3
    swing = LAST // 2 - 1
    assert (tails(rig, "foot.L", frames)[swing] - before["foot.L"][swing]).length < 1e-3
    away = [(now - was).length for now, was in zip(tails(rig, "hand.L", frames), hands, strict=True)]
    assert max(away) < 0.06
    paths = {path.split('"')[1] for path, _ in all_keys(rig)}
    assert paths == {"spine", "thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R", "foot.R"}


def test_contacts_that_are_corrected_count_and_the_recorded_keys_come_back():
    rig = sliding_rig(LAST)
    recorded = all_keys(rig)
    find_contacts(rig, 1, LAST)
    bake_body(body_of(rig, "foot.L"), 1, LAST)
    store_contacts(rig, [Contact("foot.R", 5, 20)])
    bake_body(body_of(rig, "foot.R"), 1, LAST)
    assert slide(rig, "foot.R", 5, 20) < 1e-3
    assert slide(rig, "foot.R", 30, 45) > 0.02
    assert find_contacts(rig, 1, LAST)[0].tip == "foot.L"  # in what was recorded, not in what was baked
    delete_generated(rig, body_of(rig, "foot.R").bones)
    assert all_keys(rig) == recorded


def test_a_part_of_the_shot_that_is_baked_again_keeps_the_places():
    rig = sliding_rig(LAST)
    find_contacts(rig, 1, LAST)
    body = body_of(rig, "foot.L")
    bake_body(body, 1, LAST)
    frames = range(1, LAST + 1)
    before = {foot: tails(rig, foot, frames) for foot in FEET}
    bake_body(body, 20, 30)
    for foot in FEET:
        away = [(now - was).length for now, was in zip(tails(rig, foot, frames), before[foot], strict=True)]
        assert max(away) < 1e-4


def test_contacts_stay_where_they_are_in_the_world():
    rig = sliding_rig(LAST)
    rig.matrix_world = Matrix.LocRotScale(Vector((3, -2, 1)), Euler((0.0, 0.0, 2.0)), Vector((2, 2, 2)))
    for frame, x in ((1, 3.0), (LAST, 3.1)):
        rig.location.x = x
        rig.keyframe_insert("location", frame=frame)
    found = find_contacts(rig, 1, LAST)
    assert found
    bake_body(body_of(rig, "foot.L"), 1, LAST)
    assert max(slide(rig, *contact) for contact in found) < 2e-3


def test_contacts_of_other_limbs_and_frames_are_kept():
    rig = sliding_rig(LAST)
    kept = [Contact("foot.L", 60, 70), Contact("toe.L", 5, 9)]
    store_contacts(rig, [*kept, Contact("foot.L", 3, 4)])
    found = find_contacts(rig, 1, LAST, FEET)
    assert set(stored_contacts(rig)) == {*found, *kept}
    assert body_of(rig, "foot.L").contacts == tuple(each for each in stored_contacts(rig) if each.tip in FEET)


def test_tips_can_be_given_and_a_single_foot_is_a_body_too():
    rig = sliding_rig(LAST)
    found = find_contacts(rig, 1, LAST, ["foot.R"])
    assert {contact.tip for contact in found} == {"foot.R"}
    assert not rig.pose.bones["foot.L"].ik_triangulation.hold
    assert bake_body(body_of(rig, "foot.R"), 1, LAST).tips["foot.R"].held
    assert slide(rig, "foot.R", 1, LAST) < 1e-3


def test_a_body_that_is_set_up_keeps_its_hands_and_gains_contacts():
    rig = sliding_rig(LAST)
    reaching_body(rig, LAST, (-0.1, -0.2, -0.2))
    for name in ("hand.L", "hand.R"):
        stored = rig.pose.bones[name].ik_triangulation
        stored.target, stored.chain_count = bpy.data.objects[f"Target {name}"], 6
    found = find_contacts(rig, 1, LAST)
    body = body_of(rig, "hand.L")
    assert set(body.tips) == {*FEET, "hand.L", "hand.R"}
    assert bake_body(body, 1, LAST).reached
    assert max(slide(rig, *contact) for contact in found) < 1e-3


def test_without_feet_nothing_is_changed():
    chain_rig(4)
    with nothing_lost(), pytest.raises(ChainError, match="No feet are found"):
        find_contacts(bpy.context.object, 1, 20)
    rig = human_rig()
    assert set(feet_of(rig)) == set(FEET)
    with nothing_lost(), pytest.raises(ChainError, match="'nose'"):
        find_contacts(rig, 1, 20, ["nose"])
    other = bpy.data.objects.new("Empty", None)
    with nothing_lost(), pytest.raises(RigError, match="not an armature"):
        find_contacts(other, 1, 20)


@pytest.mark.parametrize("parts", [0, 1, 2])
def test_a_search_that_is_stopped_changes_nothing(parts):
    rig = sliding_rig(LAST)
    with nothing_lost():
        job = find_contacts.steps(rig, 1, LAST)
        for _ in range(parts):
            next(job, None)
        job.close()


def test_contacts_are_saved_with_the_file(tmp_path):
    rig = sliding_rig(LAST)
    found = find_contacts(rig, 1, LAST)
    rig.ik_triangulation.contact_fade = 5
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rig.blend"))
    body = body_of(bpy.data.objects["Rig"], "foot.L")
    assert body.contacts == tuple(found)
    assert body.contact_fade == 5


def test_the_feet_of_a_step_do_not_hurry():
    rig = sliding_rig(LAST)
    frames = range(1, LAST + 1)
    before = np.array(tails(rig, "foot.L", frames))
    found = [contact for contact in find_contacts(rig, 1, LAST) if contact.tip == "foot.L"]
    bake_body(body_of(rig, "foot.L"), 1, LAST)
    after = np.array(tails(rig, "foot.L", frames))
    steps = [np.linalg.norm(np.diff(each, axis=0), axis=1) for each in (before, after)]
    gap = slice(int(found[0].frame_end) - 1, int(found[1].frame_start) - 1)
    assert steps[1][gap].max() <= 1.2 * steps[0][gap].max()


def test_a_foot_that_does_not_hang_on_the_hips_is_named_and_nothing_is_lost():
    rig = chain_rig(4)
    bpy.context.view_layer.update()
    rig.ik_triangulation.hips = "Bone 0"
    with nothing_lost(), pytest.raises(ChainError, match=r"'Bone 0' does not hang on the hips 'Bone 0'"):
        find_contacts(rig, 1, 5, ["Bone 0"])


def moving_cart(last):
    """An empty that is keyed to go, rise and turn."""
    cart = bpy.data.objects.new("Cart", None)
    bpy.context.scene.collection.objects.link(cart)
    for frame in range(1, last + 1):
        cart.location = 0.7 + 0.1 * np.sin(frame / 9), -0.02 * np.cos(frame / 6), 1.0 + 0.05 * np.sin(frame / 7)
        cart.rotation_euler.z = 0.3 * np.sin(frame / 10)
        for path in ("location", "rotation_euler"):
            cart.keyframe_insert(path, frame=frame)
    return cart


def arm_and_feet(rig):
    """Hold the left hand, whose arm alone turns, and both feet."""
    for tip, count in (("hand.L", 3), ("foot.L", 4), ("foot.R", 4)):
        stored = rig.pose.bones[tip].ik_triangulation
        stored.hold, stored.chain_count = True, count


def places_on(rig, tip, support, bone, frames):
    """Places (3, F) of a tip in the space of what it is on, as Blender shows both."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
        on = support.matrix_world @ (support.pose.bones[bone].matrix if bone else Matrix())
        found.append(on.inverted() @ rig.matrix_world @ rig.pose.bones[tip].tail)
    return np.array(found).T


@pytest.mark.parametrize("bone", ["", "hand.R"])
def test_a_hand_is_held_on_what_moves_and_the_report_says_so(bone):
    rig = sliding_rig(24)
    arm_and_feet(rig)
    support = rig if bone else moving_cart(24)
    store_contacts(rig, [Contact("foot.R", 1, 24), Contact("hand.L", 8, 16, support, bone)])
    report = bake_body(body_of(rig, "hand.L"), 1, 24)
    assert report.reached
    assert report.to_dict()["contacts"][1] == {
        "tip": "hand.L",
        "frame_start": 8,
        "frame_end": 16,
        "support": support.name,
        "bone": bone,
    }
    halves = np.arange(8.0, 16.5, 0.5)
    assert np.ptp(places_on(rig, "hand.L", support, bone, halves), axis=1).max() < 1e-3
    on = places_on(rig, "hand.L", support, bone, range(1, 25))
    assert np.linalg.norm(np.diff(on, axis=1), axis=0).max() < 0.04  # it neither jumps there nor away
    assert recorded_body(rig, "hand.L", bpy.context.scene)[0].contacts == body_of(rig, "hand.L").contacts


@pytest.mark.parametrize("bone", ["", "hand.R"])
def test_a_pose_of_the_present_frame_holds_a_hand_on_what_moves(bone):
    rig = sliding_rig(24)
    arm_and_feet(rig)
    support = rig if bone else moving_cart(24)
    store_contacts(rig, [Contact("hand.L", 8, 16, support, bone)])
    found = []
    for frame in (8, 13):
        bpy.context.scene.frame_set(frame)
        assert solve_body_pose(body_of(rig, "hand.L")).reached
        bpy.context.view_layer.update()
        on = support.matrix_world @ (rig.pose.bones[bone].matrix if bone else Matrix())
        found.append(on.inverted() @ rig.matrix_world @ rig.pose.bones["hand.L"].tail)
    assert (found[0] - found[1]).length < 1e-3


@pytest.mark.parametrize(
    ("contact", "words"),
    [
        (
            ("hand.L", 2, 5, "Away", ""),
            "'Away', which 'hand.L' is in contact with from frame 2 on, is not in this scene",
        ),
        (("hand.L", 2, 5, "Rig", "nose"), "'Rig: nose'.*has no such bone"),
        (("hand.L", 2, 5, "Rig", "hand.L"), "hangs on 'hand.L' itself"),
        (("hand.L", 2, 5, "Flat", ""), "'Flat'.*scaled flat"),
        (("hand.L", 2, 5, "Held", ""), "'Held'.*follows 'hand.R' of 'Rig' itself. Choose that bone"),
    ],
)
def test_a_contact_on_what_cannot_carry_is_named_and_nothing_is_lost(contact, words):
    rig = sliding_rig(6)
    arm_and_feet(rig)
    rig.pose.bones["hand.R"].ik_triangulation.hold = True
    for name in ("Away", "Flat", "Held"):
        ob = bpy.data.objects.new(name, None)
        if name != "Away":
            bpy.context.scene.collection.objects.link(ob)
        ob.scale.z = name != "Flat"
        if name == "Held":
            ob.parent, ob.parent_type, ob.parent_bone = rig, "BONE", "hand.R"
    store_contacts(rig, [Contact(*contact[:3], bpy.data.objects[contact[3]], contact[4])])
    with nothing_lost(), pytest.raises(IKError, match=words):
        bake_body(body_of(rig, "hand.L"), 1, 6)
