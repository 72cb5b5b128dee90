# SPDX-License-Identifier: GPL-3.0-or-later
"""The body that is drawn: held tips where the animation has them, the area under them, and the center of mass."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.kinematics import BodyPose
from ik_triangulation.rig.body import BodyRest, Contact, store_contacts
from ik_triangulation.rig.frames.body_samples import body_now
from ik_triangulation.ui.overlay import body
from ik_triangulation.ui.overlay.body import displayed_body, forget_bodies
from ik_triangulation.ui.overlay.draw import forget_limbs
from ik_triangulation.ui.overlay.updates import edits, updates

from ...bodies import FEET, set_up_rig
from ...trees import centre_of_mass
from .viewport import viewport

pytestmark = pytest.mark.usefixtures("empty_scene")


def seen():
    bpy.context.view_layer.update()
    with viewport() as context:
        found = displayed_body(context)
    return found and found[1]


def activate(rig, bone):
    rig.data.bones.active = rig.data.bones[bone]


def turn_thigh(rig):
    """Have a constraint turn a thigh: a pose made by hand would be the new place of the foot."""
    copied = rig.pose.bones["thigh.L"].constraints.new("COPY_ROTATION")
    copied.target = bpy.data.objects.new("Turned", None)
    bpy.context.scene.collection.objects.link(copied.target)


@pytest.mark.parametrize("bone", ["hand.R", "foot.L", "spine.001", "shin.R", "forearm.L"])
def test_a_body_is_shown_by_any_of_its_bones(bone):
    rig = set_up_rig()
    activate(rig, bone)
    assert [held.name for held in seen().held] == list(FEET)


def test_a_body_is_shown_by_the_target_of_a_hand():
    rig = set_up_rig()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = rig.pose.bones["hand.L"].ik_triangulation.target
    assert seen() is not None


def test_no_body_is_shown_by_a_bone_apart_from_it_or_without_held_tips():
    rig = set_up_rig()
    activate(rig, "heel.L")
    assert seen() is None
    activate(rig, "hand.L")
    for name in FEET:
        rig.pose.bones[name].ik_triangulation.hold = False
    assert seen() is None


def test_feet_that_stay_do_not_slip_and_those_that_are_moved_do_by_that():
    rig = set_up_rig()
    bake_body(body_of(rig, "hand.L"), 1, 24)
    bpy.context.scene.frame_set(12)
    assert not any(held.slips for held in seen().held)
    turn_thigh(rig)
    left, right = seen().held
    moved = rig.matrix_world @ rig.pose.bones["foot.L"].tail - rig.matrix_world @ rig.data.bones["foot.L"].tail_local
    assert left.slips
    assert left.slip == pytest.approx(moved.length, abs=2e-3)
    assert not right.slips


def test_in_contacts_the_feet_that_stand_are_pinned_and_told_no_slip():
    rig = set_up_rig()
    activate(rig, "foot.L")
    store_contacts(rig, [Contact("foot.L", 1, 10)])
    turn_thigh(rig)
    bpy.context.scene.frame_set(5)
    body = seen()
    assert [(each.name, each.slips) for each in body.held] == [("foot.L", False)]
    bpy.context.scene.frame_set(12)
    body = seen()
    assert body.held == []


def test_a_slip_is_told_in_world_space():
    rig = set_up_rig()
    bake_body(body_of(rig, "hand.L"), 1, 24)
    bpy.context.scene.frame_set(12)
    turn_thigh(rig)
    before = seen().held[0].slip
    rig.scale, rig.location = (3.0, 3.0, 3.0), (1.0, 2.0, 3.0)
    assert seen().held[0].slip == pytest.approx(3.0 * before, rel=1e-4)


def test_held_tips_are_where_the_animation_made_by_hand_has_them_at_each_frame():
    """Also in playback, where nothing is edited, and at half frames."""
    rig = set_up_rig()
    hips = rig.pose.bones["spine"]
    for frame, height in ((1, 0.0), (24, 0.23)):
        hips.location.y = height
        hips.keyframe_insert("location", frame=frame)
    assert max(held.place.z for held in seen().held) < 0.03, "planted, as nothing animates the legs"
    for name in FEET:
        rig.pose.bones[name].ik_triangulation.hold_where = "ANIMATION"
    seen()
    made = []
    for frame, half in ((1, 0.0), (5, 0.0), (6, 0.0), (12, 0.5), (24, 0.0), (40, 0.0), (5, 0.0)):
        bpy.context.scene.frame_set(frame, subframe=half)
        for held in seen().held:
            assert (held.place - rig.pose.bones[held.name].tail).length < 1e-5
        made.append(seen().held[0].place.z)
    assert made[1] == made[-1]
    assert made[4] - made[0] > 0.2


def test_what_is_kept_is_read_anew_after_an_edit():
    rig = set_up_rig()
    seen()
    bpy.context.scene.frame_set(3)
    seen()
    hips = rig.pose.bones["spine"]
    hips.location.y = -0.1
    hips.keyframe_insert("location", frame=3)
    after = seen()
    for forget in (forget_bodies, forget_limbs):
        assert body._kept
        forget()
        assert not body._kept
        assert after == seen()
    rig.pose.bones["spine"].ik_triangulation_joint.source = "OWN"
    rig.pose.bones["foot.R"].ik_triangulation.hold = False
    assert [held.name for held in seen().held] == ["foot.L"]


def test_a_change_of_the_frame_is_no_edit():
    rig = set_up_rig()
    seen()
    before = edits(), updates()
    bpy.context.scene.frame_set(7)
    bpy.context.view_layer.update()
    assert edits() == before[0]
    assert updates() > before[1]
    rig.location.x = 1.0
    bpy.context.view_layer.update()
    assert edits() > before[0]


def test_the_center_of_mass_is_that_of_the_body():
    rig = set_up_rig()
    rig.pose.bones["spine.001"].rotation_quaternion = (0.9, 0.3, 0.1, 0.2)
    rig.pose.bones["upper_arm.L"].rotation_quaternion = (0.7, 0.3, 0.6, 0.2)
    shown = seen().balance
    body = body_of(rig, "hand.L")
    samples = body_now(body, bpy.context.view_layer.depsgraph, 1, bpy.context.scene)
    base = np.linalg.inv(rig.data.bones[body.hips].matrix_local) @ rig.pose.bones[body.hips].matrix
    assert np.allclose(base, np.eye(4), atol=1e-5)  # the hips are at rest, so that nothing is above them
    rest = BodyRest(body).body(samples.channels, Vector((0.0, 0.0, 1.0)))
    pose = BodyPose(
        rest,
        rig.pose.bones["spine"].matrix @ rig.data.bones["spine"].matrix_local.inverted(),
        [channel.rotation for channel in samples.channels],
    )
    assert (shown.centre - centre_of_mass(pose)).length < 1e-5
    assert (shown.below.xy - shown.centre.xy).length < 1e-6


def test_the_area_is_under_the_feet_on_the_floor():
    rig = set_up_rig()
    balance = seen().balance
    low = min(rig.data.bones[f"heel.{side}"].head_local.z for side in "LR")
    assert {round(corner.z - low, 5) for corner in balance.corners} == {0.0}
    across = [corner.x for corner in balance.corners]
    assert max(across) == pytest.approx(0.14, abs=1e-4)
    assert min(across) == pytest.approx(-0.14, abs=1e-4)


def test_outside_is_how_far_the_center_of_mass_is_from_the_area():
    rig = set_up_rig()
    assert seen().balance.outside == 0.0
    rig.pose.bones["spine"].location = (0.5, 0.0, 0.0)
    bpy.context.view_layer.update()
    # Somebody moved the hips: what is posed is what is held. Keys tell where the feet were.
    rig.pose.bones["spine"].location = (0.0, 0.0, 0.0)
    rig.pose.bones["spine"].keyframe_insert("location", frame=1)
    rig.pose.bones["spine"].location = (0.5, 0.0, 0.0)
    balance = seen().balance
    assert balance.outside == pytest.approx((balance.below - balance.nearest).length, rel=1e-4)
    assert 0.2 < balance.outside < 0.5


def test_balance_that_is_off_is_not_shown():
    rig = set_up_rig()
    rig.ik_triangulation.balance = False
    assert seen().balance is None
