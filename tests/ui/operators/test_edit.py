# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that edit a shot: what they take from the context, what they do, and what they say."""

from types import SimpleNamespace

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.errors import ChainError, TargetError
from ik_triangulation.jobs.edits import mirror
from ik_triangulation.rig import limb
from ik_triangulation.ui.operators import bake, edit, limbs
from ik_triangulation.ui.operators.base import IKOperator
from ik_triangulation.ui.overlay import trail

from ...rigs import armature, evaluated_tip, nothing_lost
from .led import BACK, GOES_ON
from .rebuilt import standard

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")

TIP, AT, LAST = "Bone 3", 21, 41


@pytest.fixture
def said(monkeypatch):
    """What operators say, by kind; each time it is looked at anew."""
    texts = []
    monkeypatch.setattr(IKOperator, "tell", lambda self, kind, text: texts.append((*kind, text)))

    def read():
        found, texts[:] = list(texts), []
        return found

    return read


@pytest.fixture
def baked():
    rig, target = standard()
    bpy.context.scene.frame_end = LAST
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST)
    bpy.context.scene.frame_set(AT)
    return rig, target


def tip_at(rig, frame):
    bpy.context.scene.frame_set(frame)
    return evaluated_tip(rig, TIP)


def test_a_pull_moves_the_tip_at_the_present_frame_or_a_given_one(baked, said):
    rig, _ = baked
    before = {frame: tip_at(rig, frame) for frame in (1, 9, AT)}
    bpy.context.scene.frame_set(AT)
    way = Vector((0.05, 0.04, -0.05))
    said()
    assert bpy.ops.pose.ik_triangulation_pull(offset=way, falloff=5) == {"FINISHED"}
    assert [kind for kind, _ in said()] == ["INFO"]
    assert (tip_at(rig, AT) - before[AT] - way).length < 2e-3
    assert (tip_at(rig, 1) - before[1]).length < 1e-4
    rig.data.bones.active = rig.data.bones["Bone 1"]
    bpy.ops.pose.ik_triangulation_pull(tip=TIP, frame=9, offset=way, falloff=4)
    assert (tip_at(rig, 9) - before[9] - way).length < 2e-3
    assert (tip_at(rig, AT) - before[AT] - way).length < 2e-3


def test_what_a_tip_does_comes_later_or_nothing_changes(baked, said):
    rig, _ = baked
    place = tip_at(rig, AT)
    said()
    with nothing_lost():
        assert bpy.ops.pose.ik_triangulation_retime(frame=AT) == {"FINISHED"}
    assert said() == [("INFO", "Set the Offset in Adjust Last Operation")]
    bpy.ops.pose.ik_triangulation_retime(frame=AT, offset=3, falloff=8)
    assert [kind for kind, _ in said()] == ["INFO"]
    assert (tip_at(rig, AT + 3) - place).length < 2e-3


def test_keys_without_a_bake_move_in_time_and_that_is_said():
    texts = []
    operator = SimpleNamespace(tell=lambda kind, text: texts.append((*kind, text)), offset=-2, frame=AT)
    assert edit.POSE_OT_ik_triangulation_retime.report_result(operator, bpy.context, None) == {"FINISHED"}
    assert texts == [("INFO", f"Keys around frame {AT} moved by -2 frames")]


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("auto", [False, True])
def test_targets_go_to_their_tips_and_are_keyed_if_asked_for_or_by_auto_keying(said, keyed, auto):
    rig, target = standard()
    target.animation_data_clear()
    target.location = (0.3, 0.4, 0.5)
    bpy.context.view_layer.update()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = auto
    assert bpy.ops.pose.ik_triangulation_target_to_tip(key=keyed) == {"FINISHED"}
    bpy.context.view_layer.update()
    assert (target.matrix_world.translation - evaluated_tip(rig, TIP)).length < 1e-5
    assert (target.animation_data is not None) == (keyed or auto)
    end = " and keyed" if keyed or auto else ""
    assert said() == [("INFO", f"1 targets moved to their tips{end}")]
    rig.pose.bones[TIP].ik_triangulation.target = None
    rig.pose.bones[TIP].ik_triangulation.hold = True
    with nothing_lost(), pytest.raises(ChainError, match="held and have no target"):
        edit.POSE_OT_ik_triangulation_target_to_tip.act(None, bpy.context)


def test_limbs_are_chosen_by_their_tips_or_targets_else_the_active_one():
    rig, target = standard()
    other = rig.pose.bones["Bone 1"]
    other.ik_triangulation.chain_count = 2
    other.ik_triangulation.target = bpy.data.objects.new("Other", None)
    bpy.context.scene.collection.objects.link(other.ik_triangulation.target)

    def chosen(bones, targets, active=TIP):
        rig.data.bones.active = rig.data.bones[active] if active else None  # which Blender 4.5 selects
        for bone in rig.pose.bones:
            limb._flagged(bone).select = bone.name in bones
        for ob in (target, other.ik_triangulation.target):
            ob.select_set(ob in targets)
        return [bone.name for bone in edit.chosen_tips(bpy.context)]

    assert chosen(["Bone 1", "Bone 2"], []) == ["Bone 1"]
    assert chosen(["Bone 1", TIP], []) == ["Bone 1", TIP]
    assert chosen([], [target]) == [TIP]
    assert chosen(["Bone 1"], [target]) == ["Bone 1", TIP]
    assert chosen(["Bone 2"], []) == [TIP]
    assert chosen(["Bone 2"], [], None) == []


def test_a_mirrored_motion_is_counted(said, monkeypatch):
    rig, _ = standard()
    seen = []

    def mirrored(*given):
        seen.append(given[:3])
        return SimpleNamespace(bones=["a", "b"], targets=["c"])

    monkeypatch.setattr(mirror, "mirror_motion", mirrored)
    assert bpy.ops.pose.ik_triangulation_mirror(frame_offset=3) == {"FINISHED"}
    assert seen == [(rig, [TIP], 3)]
    assert said() == [("INFO", "2 bones and 1 targets mirrored")]


def test_the_rig_to_follow_is_the_other_selected_one_or_a_named_one():
    rig, _ = standard()
    specs = [{"name": "Bone", "head": Vector((0, 0, 0)), "tail": Vector((0, 0, 1)), "parent": None}]
    others = [armature(name, specs) for name in ("One", "Two")]
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = rig
    own = edit.POSE_OT_ik_triangulation_follow_rig._source

    def source(*selected, name=""):
        for ob in bpy.context.view_layer.objects:
            ob.select_set(ob in (rig, *selected))
        return own(SimpleNamespace(source=name), bpy.context, rig)

    assert source(others[1]) == others[1]
    assert source(others[0], name="Two") == others[1]
    for selected in ((), others):
        with pytest.raises(TargetError, match="Which rig is followed is not clear"):
            source(*selected)
    with pytest.raises(TargetError, match="'None' is no object"):
        source(name="None")


def test_a_rig_that_is_followed_tells_of_doubts_and_selects_a_tip(said):
    rig, _ = standard()
    done = SimpleNamespace(tips=[TIP], doubts=["a", "b"], contacts=[1, 2, 3], source="Other", frames=7)
    rig.data.bones.active = rig.data.bones["Bone 0"]
    operator = SimpleNamespace(tell=lambda kind, text: texts.append((*kind, text)))
    texts = []
    report = edit.POSE_OT_ik_triangulation_follow_rig.report_result
    assert report(operator, bpy.context, done) == {"FINISHED"}
    assert rig.data.bones.active.name == TIP
    assert texts == [
        ("WARNING", "Look at what was recognized: a"),
        ("WARNING", "Look at what was recognized: b"),
        ("INFO", "'Rig' follows 'Other' over 7 frames, with 3 contacts of feet. Press Bake"),
    ]


@pytest.mark.parametrize("to", ["IK", "FK"])
def test_a_transfer_tells_to_which_controls_it_was(to):
    texts = []
    operator = SimpleNamespace(tell=lambda kind, text: texts.append((*kind, text)))
    done = SimpleNamespace(warnings=["w"], limbs=[SimpleNamespace(tip=tip) for tip in "ab"], to=to, keys=12)
    assert edit.POSE_OT_ik_triangulation_transfer.report_result(operator, bpy.context, done) == {"FINISHED"}
    assert texts == [("WARNING", "w"), ("INFO", f"The {to} controls of 'a', 'b' have the motion: 12 keys")]


@pytest.mark.parametrize("hips", [None, "spine"])
@pytest.mark.parametrize(("is_bake", "auto"), [(True, False), (False, True), (False, False)])
def test_bones_that_are_to_follow_are_keyed_over_the_last_result(monkeypatch, hips, is_bake, auto):
    rig, _ = standard()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = auto
    seen, kept, texts = [], [], []
    changes = [SimpleNamespace(name=name, holder="Rig", value=value) for name, value in (("IK_FK", 1.0), ("b", 0.25))]
    after = SimpleNamespace()
    report = SimpleNamespace(hips=hips, numbers=[3, 4, 9], following=lambda scene: after)
    result = SimpleNamespace(is_bake=is_bake, report=report, lines=["All reached", "more"])
    where = bpy.context.scene, bpy.context.view_layer

    def following(of, *given):
        seen.append((of, *given))
        return changes

    monkeypatch.setattr(bake, "latest", lambda armature, tip: result)
    monkeypatch.setattr(bake, "active_body", lambda context: "the body")
    monkeypatch.setattr(bake, "active_limb", lambda context: "the limb")
    monkeypatch.setattr(bake, "remember_result", lambda *given: kept.append(given))
    monkeypatch.setattr(bake.tips, "let_body_follow", following)
    monkeypatch.setattr(bake.tips, "measured_again", lambda body, report, *given: after)
    monkeypatch.setattr(bake.controls, "let_follow", following)
    operator = SimpleNamespace(tell=lambda kind, text: texts.append((*kind, text)))
    act = bake.POSE_OT_ik_triangulation_follow_set.act
    assert act(operator, bpy.context) == {"FINISHED"}
    assert seen == [("the body" if hips else "the limb", 3, 9, is_bake or auto, *where)]
    assert kept == [(after, rig, bpy.context.scene)]
    assert texts == [("INFO", "'IK_FK' of 'Rig' is now 1, 'b' of 'Rig' is now 0.25. All reached")]
    changes.clear()
    act(operator, bpy.context)
    assert texts[-1] == ("INFO", "All bones follow the limb already. All reached")


@pytest.mark.parametrize(("count", "answer"), [(0, "CANCELLED"), (3, "FINISHED")])
def test_targets_that_were_made_are_removed_and_counted(said, monkeypatch, count, answer):
    rig, target = standard()
    monkeypatch.setattr(limbs.removal, "remove_targets", lambda armature: count)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = target
    assert bpy.ops.pose.ik_triangulation_targets_remove() == {answer}
    assert bpy.context.view_layer.objects.active == rig
    assert rig.select_get()
    text = "3 targets removed, and the keys kept" if count else "There is no target that was made for a limb"
    assert said() == [("INFO", text)]


@pytest.mark.parametrize(("given", "other"), [({"value": (0.0, 0.0, 0.1)}, "pull"), ({"shift": 3}, "retime")])
def test_a_trail_drag_without_a_mouse_is_the_pull_or_the_retiming_of_the_other_buttons(given, other):
    how, places = {"frame": AT, "falloff": 8, "profile": "SHARP"}, []
    for name, words in (("trail_drag", given), (other, {"tip": TIP, "offset": next(iter(given.values()))})):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig, _ = standard()
        bpy.context.scene.frame_end = LAST
        bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST)
        before = [tip_at(rig, frame) for frame in (5, 17, AT, 25)]
        assert getattr(bpy.ops.pose, f"ik_triangulation_{name}")(**how, **words) == {"FINISHED"}
        places.append([tip_at(rig, frame) - place for frame, place in zip((5, 17, AT, 25), before, strict=True)])
    assert places[0] == places[1]
    far, near, here, after = (way.length for way in places[0])
    assert far < 1e-5 < near < here > after > 1e-5


def test_what_is_dragged_ends_with_the_drag_whatever_goes_wrong(baked, led, monkeypatch):
    """A fault while the mouse moves, while it rests or at the end: all is as before, and the trail is read again."""
    rig, _ = baked

    def begun(hand):
        hand.start = hand.view.place(evaluated_tip(rig, TIP))
        assert hand.begin() == GOES_ON
        hand.move(12.0, 6.0)
        hand.press("TIMER")

    def fail(*_):
        raise TargetError("It went wrong")

    def broken(moment):
        def scenario(hand, operator):
            begun(hand)
            of, name, key = {
                "shown": (operator, "_show", "WHEELUPMOUSE"),
                "rests": (operator._drag, "settle", "TIMER"),
                "ends": (operator._drag, "finish", "LEFTMOUSE"),
            }[moment]
            setattr(of, name, fail)
            if moment == "ends":
                assert hand.press(key) == BACK
            else:
                with pytest.raises(TargetError):
                    hand.press(key)
            assert not hand.context.timers
            assert trail._state.drag is None

        led("pose.ik_triangulation_trail_drag", scenario, falloff=8)

    with nothing_lost():
        broken("shown")
        broken("rests")
        with pytest.raises(RuntimeError, match="IK Triangulation: It went wrong"):
            broken("ends")
