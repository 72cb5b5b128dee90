# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a body's bake gives back the same body, span and settings from any of its tips."""

import json
from contextlib import ExitStack
from dataclasses import asdict

import bpy
import pytest

from ik_triangulation.errors import AnimationError, TargetError
from ik_triangulation.jobs.shots.keys import BodyKeySettings
from ik_triangulation.rig.body import Contact
from ik_triangulation.rig.by_hand.record import (
    is_recorded_body,
    record_bake,
    record_body,
    recorded_bake,
    recorded_body,
    recorded_span,
)
from ik_triangulation.rig.keyframes import ensure_channelbag

from ..bodies import FEET, HANDS, human_rig, reaching_body

pytestmark = pytest.mark.usefixtures("empty_scene")
SETTINGS = BodyKeySettings(reduce=True, within={"foot.L": 0.01}, smoothing=0.25, interpolation="BEZIER")


def recorded(**more):
    rig = human_rig()
    body = reaching_body(rig, **more)
    with ExitStack() as undo:
        record_body(body, (2, 20, 3), SETTINGS, ensure_channelbag(rig, undo), undo)
        undo.pop_all()
    return rig, body


@pytest.mark.parametrize("tip", [*FEET, *HANDS])
def test_every_tip_gives_back_the_body(tip):
    contacts = (Contact("foot.L", 3, 9),)
    rig, body = recorded(hips_motion="UP_DOWN", balance=False, contacts=contacts, contact_fade=4)
    again, span, settings, notes = recorded_body(rig, tip, bpy.context.scene)
    assert span == (2, 20, 3)
    assert recorded_span(rig, tip) == (2, 20)
    assert is_recorded_body(rig, tip)
    assert (again.held, again.hips, again.hips_motion, again.balance) == (FEET, "spine", "UP_DOWN", False)
    assert again.bones == body.bones
    assert (again.contacts, again.contact_fade) == (contacts, 4)
    assert [limb.target for limb in again.limbs] == [limb.target for limb in body.limbs]
    assert BodyKeySettings(**settings) == BodyKeySettings(**asdict(SETTINGS))
    assert not notes


def test_a_limb_of_the_body_can_be_read_alone():
    rig, body = recorded()
    limb, span, _ = recorded_bake(rig, "hand.L", bpy.context.scene)
    assert (limb.bones, span) == (body.limbs[0].bones, (2, 20, 3))


def test_a_bake_of_a_limb_alone_is_no_bake_of_a_body():
    rig, body = recorded()
    with ExitStack() as undo:
        record_bake(body.limbs[0], (1, 5, 1), ensure_channelbag(rig, undo), undo)
        undo.pop_all()
    assert not is_recorded_body(rig, "hand.L")
    assert is_recorded_body(rig, "hand.R")


def test_closing_forgets_the_record():
    rig = human_rig()
    with ExitStack() as undo:
        bag = ensure_channelbag(rig, undo)
        undo.pop_all()
    with ExitStack() as undo:
        record_body(reaching_body(rig), (2, 20, 3), SETTINGS, bag, undo)
    assert not is_recorded_body(rig, "foot.L")
    with pytest.raises(AnimationError, match="Bake it first"):
        recorded_body(rig, "foot.L", bpy.context.scene)


def test_a_target_that_is_gone_is_told():
    rig, body = recorded()
    bpy.data.objects.remove(body.limbs[0].target)
    with pytest.raises(TargetError, match="is not there"):
        recorded_body(rig, "foot.L", bpy.context.scene)


@pytest.mark.parametrize("damage", ["span", "body", "settings", ""])
def test_a_record_that_is_damaged_is_told_with_the_remedy(damage):
    rig, _ = recorded()
    action = rig.animation_data.action
    records = json.loads(action["ik_triangulation"])
    for tips in records.values():
        if damage:
            tips["hand.L"][damage] = 3
        else:
            tips["hand.L"] = ["no record"]
    action["ik_triangulation"] = json.dumps(records)
    for read in (recorded_bake, recorded_body):
        if damage == "body" and read == recorded_bake:
            assert read(rig, "hand.L", bpy.context.scene)[1] == (2, 20, 3)
            continue
        with pytest.raises(AnimationError, match=f"What action '{action.name}' keeps of its bakes is damaged"):
            read(rig, "hand.L", bpy.context.scene)
    assert is_recorded_body(rig, "hand.L") is bool(damage)
    assert recorded_span(rig, "hand.L") == ((2, 20) if damage in {"body", "settings"} else None)


def test_a_target_that_was_renamed_is_noted_for_the_body_once():
    rig, body = recorded()
    target = body.limbs[0].target
    before, target.name = target.name, "Renamed"
    rig.pose.bones["hand.L"].ik_triangulation.target = target
    again, _, _, notes = recorded_body(rig, "foot.L", bpy.context.scene)
    assert notes == [f"'{before}', which the last bake was made with, is not there: 'Renamed' took its place."]
    assert again.limbs[0].target == target


def test_a_record_from_before_a_setting_was_there_means_what_bodies_and_limbs_did_then():
    rig, _ = recorded(contacts=(Contact("foot.L", 3, 9),))
    action = rig.animation_data.action
    records = json.loads(action["ik_triangulation"])
    for tips in records.values():
        for record in tips.values():
            for name in ("floor", "heels", "thickness", "planted", "free_heads"):
                del record["body"][name]
            for name in ("match", "soft_edge"):
                record.get("settings", {}).pop(name, None)
    action["ik_triangulation"] = json.dumps(records)
    again, *_ = recorded_body(rig, "hand.L", bpy.context.scene)
    assert (again.floor, again.heels, again.thickness) == (False, False, 0.0)
    assert (again.planted, again.free_heads) == ((), ())
    assert {(limb.match, limb.soft_edge) for limb in again.limbs} == {("TIP", False)}


def test_a_contact_on_a_support_is_kept_by_its_name():
    support = bpy.data.objects.new("Raft", None)
    rig, _ = recorded(contacts=(Contact("foot.R", 2, 5, support, "Plank"),))
    bpy.context.scene.collection.objects.link(support)
    again, *_ = recorded_body(rig, "foot.R", bpy.context.scene)
    assert again.contacts == (Contact("foot.R", 2, 5, support, "Plank"),)
    bpy.context.scene.collection.objects.unlink(support)
    with pytest.raises(TargetError, match="'Raft', which the last bake was made with, is not there"):
        recorded_body(rig, "foot.R", bpy.context.scene)
