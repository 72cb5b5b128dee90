# SPDX-License-Identifier: GPL-3.0-or-later
"""A script sets a body up by properties alone, and a lone limb stays one."""

import bpy
import pytest

from ik_triangulation.errors import ChainError
from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.rig.stored_body import stored_body

from ..bodies import FEET, HANDS, human_rig, keyed_target
from ..rigs import curves_of, empty

pytestmark = pytest.mark.usefixtures("empty_scene")


def set_up(rig, hand="hand.L", chain_count=0, held=FEET):
    target = keyed_target(rig, hand, {1: (0, 0, 0), 12: (-0.2, -0.3, -0.3)})
    stored = rig.pose.bones[hand].ik_triangulation
    stored.target, stored.chain_count = target, chain_count
    for name in held:
        rig.pose.bones[name].ik_triangulation.hold = True
    return rig


def test_an_arm_to_the_root_and_held_feet_are_one_body():
    rig = set_up(human_rig())
    for tip in ("hand.L", *FEET):
        body = stored_body(rig, tip)
        assert [limb.tip for limb in body.limbs] == ["hand.L"]
        assert body.held == FEET
        assert (body.hips, body.hips_motion, body.balance) == ("spine", "FREE", True)
    assert {"thigh.L", "spine.001", "upper_arm.L"} <= body.solved
    assert "upper_arm.R" not in body.solved


def test_the_settings_of_the_armature_are_those_of_the_body():
    rig = set_up(human_rig())
    rig.ik_triangulation.hips, rig.ik_triangulation.hips_motion = "spine", "UP_DOWN"
    rig.ik_triangulation.balance = False
    body = stored_body(rig, "hand.L")
    assert (body.hips, body.hips_motion, body.balance) == ("spine", "UP_DOWN", False)
    rig.ik_triangulation.hips = "spine.001"
    with pytest.raises(ChainError, match="is not above all tips"):
        stored_body(rig, "hand.L")


def test_an_arm_alone_is_no_body_whatever_is_held():
    rig = set_up(human_rig(), chain_count=3)
    assert stored_body(rig, "hand.L") is None  # it turns nothing that a foot hangs on
    assert stored_body(rig, "toe.L") is None


def test_a_limb_that_hangs_on_what_another_turns_belongs_to_it():
    rig = set_up(human_rig(), chain_count=0, held=())
    set_up(rig, "hand.R", chain_count=3, held=())
    body = stored_body(rig, "hand.R")
    assert {limb.tip for limb in body.limbs} == set(HANDS)
    assert body.solved >= {"spine.002", "forearm.R"}
    rig.pose.bones["hand.R"].ik_triangulation.enabled = False
    assert stored_body(rig, "hand.L") is None


def test_a_body_of_properties_bakes_and_only_its_bones_are_keyed():
    rig = set_up(human_rig())
    rig.pose.bones["hand.L"].ik_triangulation.chain_count = 6
    report = bake_body(stored_body(rig, "foot.R"), 1, 12)
    assert report.reached, report.text
    bones = {curve.data_path.split('"')[1] for curve in curves_of(rig)}
    assert bones == {"spine", "spine.001", "spine.002", "upper_arm.L", "forearm.L", "hand.L"} | {
        f"{part}.{side}" for part in ("thigh", "shin", "foot") for side in "LR"
    }


def test_the_settings_are_saved_with_the_file(tmp_path):
    rig = set_up(human_rig())
    rig.ik_triangulation.hips_motion = "FIXED"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "body.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "body.blend"))
    rig = bpy.data.objects["Rig"]
    assert rig.ik_triangulation.hips_motion == "FIXED"
    assert rig.pose.bones["foot.L"].ik_triangulation.hold


def looking():
    """A body whose head is to look at hands, with held feet."""
    rig = set_up(human_rig(with_head=True))
    stored = rig.pose.bones["head"].ik_triangulation
    stored.target, stored.orientation, stored.chain_count = empty("Seen"), "LOOK", 2
    rig.ik_triangulation.look_at_hands = True
    return rig


def heads(rig):
    return stored_body(rig, "foot.L").free_heads


def test_a_head_looks_at_hands_only_where_that_is_wanted_and_no_contacts_are_recorded():
    rig = looking()
    assert heads(rig) == ("head",)
    rig.ik_triangulation.look_at_hands = False
    assert heads(rig) == ()
    rig.ik_triangulation.look_at_hands = True
    rig.ik_triangulation.contacts.add().tip = "hand.R"  # of no held limb
    assert heads(rig) == ("head",)
    rig.ik_triangulation.contacts[0].tip = "foot.R"
    assert heads(rig) == ()


def keyed(rig, frames, kind="KEYFRAME", bone="head", prop="rotation_quaternion"):
    for frame in frames:
        rig.pose.bones[bone].keyframe_insert(prop, frame=frame, keytype=kind)


def into_strip(rig, mute=False):
    animation = rig.animation_data
    strip = animation.nla_tracks.new().strips.new("Strip", 1, animation.action)
    animation.action, strip.mute = None, mute


def constrained(rig, kind, subtarget="", mute=False):
    constraint = rig.pose.bones["head"].constraints.new(kind)
    if subtarget is not None and hasattr(constraint, "target"):
        constraint.target = rig
        constraint.subtarget = subtarget
    constraint.mute = mute


def muted_curves(rig):
    keyed(rig, [1, 5])
    for curve in curves_of(rig):
        curve.mute = True


def driven(rig, mute=False, prop="rotation_quaternion"):
    rig.pose.bones["head"].driver_add(prop, 1).mute = mute


@pytest.mark.parametrize(
    ("change", "is_free"),
    [
        (lambda rig: keyed(rig, [1]), False),
        (lambda rig: keyed(rig, [1], prop="scale"), False),
        (lambda rig: keyed(rig, [1], prop="location"), False),
        (lambda rig: keyed(rig, [1], prop="rotation_euler"), True),
        (lambda rig: keyed(rig, [1], bone="forearm.R"), True),
        (lambda rig: keyed(rig, [1, 5], "GENERATED"), True),
        (lambda rig: (keyed(rig, [1, 5], "GENERATED"), keyed(rig, [3])), True),
        (lambda rig: (keyed(rig, [1, 5], "GENERATED"), keyed(rig, [8])), False),
        (muted_curves, True),
        (lambda rig: (keyed(rig, [1]), into_strip(rig)), False),
        (lambda rig: (keyed(rig, [1]), into_strip(rig, mute=True)), True),
        (lambda rig: (keyed(rig, [1]), into_strip(rig), setattr(rig.animation_data, "use_nla", False)), True),
        (driven, False),
        (lambda rig: driven(rig, mute=True), True),
        (lambda rig: driven(rig, prop="rotation_euler"), True),
        (lambda rig: constrained(rig, "LIMIT_ROTATION"), True),
        (lambda rig: constrained(rig, "COPY_ROTATION", "spine.001"), False),
        (lambda rig: constrained(rig, "COPY_ROTATION", "forearm.R"), False),
        (lambda rig: constrained(rig, "COPY_ROTATION", "forearm.R", mute=True), True),
        (lambda rig: constrained(rig, "COPY_ROTATION", None), False),
    ],
)
def test_a_head_is_free_unless_something_made_by_hand_animates_its_own_bones(change, is_free):
    rig = looking()
    change(rig)
    assert heads(rig) == (("head",) if is_free else ())


def test_limbs_in_contact_with_what_another_limb_turns_are_of_one_body():
    rig = set_up(human_rig(), chain_count=3, held=("hand.R",))
    rig.pose.bones["hand.R"].ik_triangulation.chain_count = 3
    assert stored_body(rig, "hand.L") is None
    contact = rig.ik_triangulation.contacts.add()
    contact.tip, contact.support, contact.bone = "hand.R", rig, "forearm.L"
    body = stored_body(rig, "hand.L")
    assert ({limb.tip for limb in body.limbs}, body.held) == ({"hand.L"}, ("hand.R",))
    contact.bone = "nowhere"
    assert stored_body(rig, "hand.L") is None
    contact.bone, contact.tip = "forearm.L", "hand.X"
    assert stored_body(rig, "hand.L") is None
