# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of a body are written as one: what was there is kept, the present frame shows them, and failing undoes all."""

import bpy
import pytest
from mathutils import Quaternion

from ik_triangulation.jobs import body_bake, body_write
from ik_triangulation.jobs.bake import delete_generated
from ik_triangulation.jobs.body_bake import bake_body
from ik_triangulation.jobs.body_keys import BodyKeySettings

from ..bodies import human_rig, reaching_body
from ..rigs import all_keys, curves_of, evaluated_tip, nothing_lost, push_down

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 10


def values(rig):
    return [(*bone.location, *bone.rotation_quaternion) for bone in rig.pose.bones]


@pytest.mark.parametrize("frame", [1, 5, 40])
@pytest.mark.parametrize("kind", ["ACTION", "NEW_ACTION", "NLA_TRACK"])
def test_the_present_frame_shows_the_keys_at_once(kind, frame):
    rig = human_rig()
    body = reaching_body(rig, LAST)
    bpy.context.scene.frame_set(frame)
    bake_body(body, 1, LAST, settings=BodyKeySettings(destination=kind))
    shown = values(rig)
    place = evaluated_tip(rig, "hand.L")
    bpy.context.scene.frame_set(frame)
    assert values(rig) == [pytest.approx(each, abs=1e-6) for each in shown]
    assert (evaluated_tip(rig, "hand.L") - place).length < 1e-5


def test_a_pose_without_keys_outside_the_body_stays():
    rig = human_rig()
    rig.pose.bones["toe.L"].rotation_quaternion = Quaternion((1, 0, 0), 0.3)
    before = tuple(rig.pose.bones["toe.L"].rotation_quaternion)
    bake_body(reaching_body(rig, LAST), 1, LAST)
    assert tuple(rig.pose.bones["toe.L"].rotation_quaternion) == before


def test_a_new_action_gives_back_what_the_bake_replaced():
    rig = human_rig()
    for frame, x in ((1, 0.0), (9, 0.1)):
        rig.pose.bones["spine"].location.x = x
        rig.pose.bones["spine"].keyframe_insert("location", frame=frame)
    before = all_keys(rig)
    body = reaching_body(rig, LAST)
    bake_body(body, 1, LAST, settings=BodyKeySettings(destination="NEW_ACTION"))
    assert all_keys(rig) != before
    delete_generated(rig, body.bones)
    assert all_keys(rig) == before


STEPS = [
    (body_write, "keep_replaced"),
    (body_write, "keep_replaced_location"),
    (body_write, "replace_keys"),
    (body_write, "put_channel"),
    (body_write, "remember_place"),
    (body_bake, "record_body"),
    (body_bake, "measure_body"),
    (body_bake, "mark"),
]


@pytest.mark.parametrize("kind", ["ACTION", "NEW_ACTION", "NLA_TRACK"])
@pytest.mark.parametrize(("where", "name"), STEPS, ids=[name for _, name in STEPS])
def test_a_failure_at_any_step_undoes_all(where, name, kind, monkeypatch):
    rig = human_rig()
    rig.pose.bones["spine"].keyframe_insert("location", frame=3)
    rig.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=2)
    if kind == "NLA_TRACK":
        push_down(rig)
    body, done = reaching_body(rig, LAST), getattr(where, name)

    def fails(*given, **more):
        work = done(*given, **more)
        if hasattr(work, "send"):
            for _ in work:
                pass
        raise MemoryError

    monkeypatch.setattr(where, name, fails)
    with nothing_lost(), pytest.raises(MemoryError):
        bake_body(body, 1, LAST, settings=BodyKeySettings(destination=kind, mark_misses=True, reduce=True))


def test_no_more_curves_are_made_than_the_body_needs():
    rig = human_rig()
    body = reaching_body(rig, LAST, hips_motion="FIXED")
    bake_body(body, 1, LAST)
    assert not [curve for curve in curves_of(rig) if curve.data_path.endswith("location")]
