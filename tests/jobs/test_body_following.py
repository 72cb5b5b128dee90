# SPDX-License-Identifier: GPL-3.0-or-later
"""A property that keeps a head from following the neck, as on a generated rig, is named, offered and set for a body."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.jobs.shots.tips import let_body_follow, measured_again, not_following, with_followers

from ..bodies import human_rig
from ..rigs import curves_of, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 12


@pytest.fixture
def rig():
    """A body whose head hangs on a bone that copies the rotation of the hips, unless a property lets it follow."""
    rig = human_rig(with_head=True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    between = bones.new("MCH-ROT-head")
    between.head, between.tail, between.roll = bones["head"].head, bones["head"].tail, bones["head"].roll
    between.parent, bones["head"].parent = bones["neck"], between
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.pose.bones["spine"]["head_follow"] = 0.0
    copied = rig.pose.bones["MCH-ROT-head"].constraints.new("COPY_ROTATION")
    copied.target, copied.subtarget = rig, "spine"
    copied.mix_mode = "REPLACE"
    copied.target_space = copied.owner_space = "LOCAL"
    driver = copied.driver_add("influence").driver
    driver.type, driver.expression = "SCRIPTED", "1 - follow"
    variable = driver.variables.new()
    variable.name, variable.targets[0].id = "follow", rig
    variable.targets[0].data_path = 'pose.bones["spine"]["head_follow"]'
    bpy.context.view_layer.update()
    set_up_body(rig, relax_arms=False)
    for tip, way in (("hand.L", (-0.3, -0.5, -0.9)), ("head", (0.8, 0.0, 0.0))):
        target = rig.pose.bones[tip].ik_triangulation.target
        start = target.location.copy()
        for frame, share in ((1, 0.0), (LAST, 1.0)):
            target.location = start + Vector(way) * share
            target.keyframe_insert("location", frame=frame)
    return rig


def where():
    return bpy.context.scene, bpy.context.view_layer


def test_the_property_is_named_with_the_value_to_give_it(rig):
    body = body_of(rig, "head")
    with nothing_lost():
        assert not_following(body, [1], *where()) == []
    report = with_followers(bake_body(body, 1, LAST), body, *where())
    (note,) = report.not_following
    assert (note.bone, note.tip) == ("head", "neck")
    assert note.remedy[:2] == ("spine", "head_follow")
    assert (note.remedy.now, note.remedy.value) == (0.0, 1.0)
    (told,) = report.warnings  # not to mute the constraint as well
    assert "'head_follow' of 'spine' is 0. Set it to 1." in told
    assert report.tips["head"].missed


def test_it_is_set_and_keyed_and_the_head_then_looks(rig):
    body = body_of(rig, "head")
    report = with_followers(bake_body(body, 1, LAST), body, *where())
    (remedy,) = let_body_follow(body, 1, LAST)
    assert (remedy.name, remedy.value) == ("head_follow", 1.0)
    assert any("head_follow" in curve.data_path for curve in curves_of(rig))
    found = measured_again(body, report, *where())
    assert found.reached
    assert found.not_following == ()
    assert not found.warnings
    assert not_following(body, range(1, LAST + 1), *where()) == []


def test_what_else_moves_the_head_is_told_once_the_property_is_set(rig):
    turned = rig.pose.bones["head"].constraints.new("COPY_ROTATION")
    turned.target, turned.subtarget, turned.influence = rig, "foot.L", 0.5
    body = body_of(rig, "head")
    report = with_followers(bake_body(body, 1, LAST), body, *where())
    assert not any("Copy Rotation" in warning for warning in report.warnings)
    let_body_follow(body, 1, LAST)
    assert any("Copy Rotation" in warning for warning in measured_again(body, report, *where()).warnings)


def test_nothing_is_set_where_all_follow(rig):
    rig.pose.bones["spine"]["head_follow"] = 1.0
    rig.update_tag()
    body = body_of(rig, "head")
    report = with_followers(bake_body(body, 1, LAST), body, *where())
    assert report.reached
    assert report.not_following == []
    with nothing_lost():
        assert let_body_follow(body, 1, LAST) == []
