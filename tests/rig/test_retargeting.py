# SPDX-License-Identifier: GPL-3.0-or-later
"""Places of one character as those of another: the same for the same proportions, within the legs' reach for others."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import ChainError
from ik_triangulation.rig.retargeting import FACE, HIPS, Figure, PartPlace, Retargeting, _over, settled

from ..characters import character, part_of, pose_part
from ..rigs import chain_rig

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")
PARTS = {HIPS: "hips", FACE: "head", "hand.L": "hand", "foot.L": "foot"}


def posed(kind, raised=0.0):
    """A character with a turned trunk, a bent arm and a lifted leg, as a figure with what it shows."""
    rig = character(kind, "Source")
    for part, axis, turn in (
        ("hips", (0, 0, 1), 0.3),
        ("spine", (1, 0, 0), 0.3),
        ("upper_arm", (0, 1, 0), -0.5),
        ("thigh", (1, 0, 0), -0.7),
        ("shin", (1, 0, 0), 0.9),
    ):
        pose_part(part_of(rig, kind, part), Quaternion(axis, turn))
    hips = part_of(rig, kind, "hips")
    hips.location = hips.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, raised))
    bpy.context.view_layer.update()
    figure = Figure(rig)
    return figure, figure.see(bpy.context.evaluated_depsgraph_get())


@pytest.mark.parametrize("kind", ["Rigify metarig", "Mixamo", "Unreal", "VRoid"])
def test_the_same_character_has_the_same_places_and_turns(kind):
    source, shown = posed(kind)
    target = Figure(character(kind, "Target"))
    frames = Retargeting(source, target).frames([shown], {"foot.L": [], "foot.R": []}, 0.0)
    for name, part in PARTS.items():
        wanted = source.armature.matrix_world @ part_of(source.armature, kind, part).matrix
        (found,) = frames[name]
        assert (found.translation - wanted.translation).length < 1e-5
        assert found.to_quaternion().rotation_difference(wanted.normalized().to_quaternion()).angle < 1e-3


def test_a_bone_below_the_pelvis_that_moves_it_takes_the_pelvis_along():
    source, shown = posed("Mixamo")
    rig = character("Mixamo", "Target")
    bpy.ops.object.mode_set(mode="EDIT")
    root = rig.data.edit_bones.new("root")
    root.head, root.tail = (0.0, 0.0, 0.0), (0.0, 20.0, 5.0)
    pelvis = rig.data.edit_bones[part_of(rig, "Mixamo", "hips").name]
    pelvis.parent, name = root, pelvis.name
    bpy.ops.object.mode_set(mode="POSE")
    target = Figure(rig, hips="root")
    assert (target.bones[HIPS], target.stiff, target.bones[target.spine[0]]) == ("root", 1, name)
    frames = Retargeting(source, target).frames([shown], {"foot.L": [], "foot.R": []}, 0.0)
    wanted = source.armature.matrix_world @ part_of(source.armature, "Mixamo", "hips").matrix
    (found,) = frames[target.spine[0]]
    assert (found.translation - wanted.translation).length < 1e-5
    assert found.to_quaternion().rotation_difference(wanted.normalized().to_quaternion()).angle < 1e-3


def test_arms_and_legs_without_a_common_bone_are_refused_by_name():
    rig = character("Mixamo")
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones[part_of(rig, "Mixamo", "spine").name].parent = None
    bpy.ops.object.mode_set(mode="POSE")
    with pytest.raises(ChainError, match=r"Arms and legs of '.*' hang on no common bone"):
        Figure(rig)


def test_the_base_of_a_figure_is_below_the_middle_of_its_hips_at_its_ankles():
    figure = Figure(character("Mixamo", "Target", 0.7))
    hips, feet = ([figure.at_rest(f"{part}.{side}") for side in "LR"] for part in ("thigh", "foot"))
    assert (hips[0] + hips[1]).xy.length < 1e-4
    assert abs(feet[0].z + feet[1].z) < 1e-4


def test_hands_that_are_far_apart_are_where_their_own_arms_take_them():
    """The arms of Unreal's rest pose hang by 55 degrees: the palms are nearer than two arms and farther than one."""
    source, target = Figure(character("Unreal", "Source")), Figure(character("Unreal", "Target", 1.0, 1.3))
    shown = source.see(bpy.context.evaluated_depsgraph_get())
    frames = Retargeting(source, target).frames([shown], {"foot.L": [], "foot.R": []}, 0.0)
    for hand in ("hand.L", "hand.R"):
        there = target.base.inverted() @ frames[hand][0].translation
        assert (there - target.at_rest(hand)).length < 1e-4


def test_hips_stay_within_the_reach_of_the_legs():
    source, shown = posed("Rigify metarig", raised=0.2)
    target = Figure(character("Mixamo", "Target", 0.7))
    feet = {end: [] for end in ("foot.L", "foot.R")}
    frames = Retargeting(source, target).frames([shown] * 3, feet, 0.0)
    into = target.base.inverted()
    way = target.at_rest("thigh.R") - target.at_rest(HIPS)
    turned = shown[HIPS].turn @ way
    thigh = into @ frames[HIPS][1].translation + turned
    assert (thigh - into @ frames["foot.R"][1].translation).length < target.length("foot.R") * 1.0001


def reached(target, frames, end, number=0):
    """How far a wrist is from its shoulder, of the arm, at the frames (4x4, world space) of a character's parts."""
    into, shoulder = target.base.inverted(), f"shoulder.{end[-1]}"
    chest = into @ frames["chest"][number]
    turn = chest.to_quaternion() @ target.rest["chest"].to_quaternion().conjugated()
    root = chest.translation + turn @ (target.at_rest(shoulder) - target.at_rest("chest"))
    return ((into @ frames[end][number]).translation - root).length / target.length(end)


def test_an_arm_is_as_straight_as_the_sources_whatever_its_hand_and_however_near_others_were():
    source, _ = posed("Rigify metarig")
    part = part_of(source.armature, "Rigify metarig", "forearm")
    pose_part(part, Quaternion((1, 0, 0), 1.0))
    bpy.context.view_layer.update()
    bent = source.see(bpy.context.evaluated_depsgraph_get())
    target = Figure(character("Unreal", "Target", 1.2, 0.8))
    frames = Retargeting(source, target).frames([bent], {"foot.L": [], "foot.R": []}, 0.0)
    theirs = (bent["hand.L"].place - bent["shoulder.L"].place).length / source.length("hand.L")
    assert theirs < 0.98
    assert reached(target, frames, "hand.L") == pytest.approx(theirs, abs=2e-3)


def test_a_foot_that_lands_on_its_heel_is_planted_once_its_ball_is_down():
    leg, still = 0.9, 20
    heights = [0.06 * leg * max(0.0, 1.0 - k / 5.0) for k in range(still)]
    ball = np.array([[0.0, 0.0, height] for height in heights]).T
    assert [*settled(ball, [(0, still - 1)], leg)] == [(4, still - 1)]
    assert [*settled(ball, [(8, still - 1)], leg)] == [(8, still - 1)]


def test_a_character_without_arms_is_refused_by_name():

    with pytest.raises(ChainError, match="has no two arms"):
        Figure(chain_rig(3))


@pytest.mark.parametrize("kind", ["Rigify metarig", "Mixamo", "Unreal", "VRoid"])
def test_the_parts_of_the_same_character_are_turned_as_they_are_shown(kind):
    source, shown = posed(kind)
    target = Figure(character(kind, "Target"))
    turns = Retargeting(source, target).turns(shown)
    assert {"shoulder.L", "forearm.R", "hand.L", "thigh.R", "shin.L", "foot.R", FACE, *target.neck} <= {*turns}
    for part, turn in turns.items():
        bone = source.armature.pose.bones[source.bones[part]]
        wanted = (source.armature.matrix_world @ bone.matrix).normalized().to_quaternion()
        if part in target.neck or part in target.spine[:-1]:
            continue  # these share a turn
        assert turn.rotation_difference(wanted).angle % 6.283185 < 2e-3, part


def test_necks_turn_from_chest_to_face_in_equal_steps():
    source, shown = posed("Rigify metarig")
    chest, face = Quaternion((0.0, 0.0, 1.0), 0.3), Quaternion((0.0, 0.0, 1.0), 0.9)
    shown = shown | {"chest": shown["chest"]._replace(turn=chest), FACE: shown[FACE]._replace(turn=face)}
    target = Figure(character("Rigify metarig", "Target"))
    turns, base = Retargeting(source, target).turns(shown), target.base.to_quaternion()
    count = len(target.neck)
    assert count >= 1
    for number, name in enumerate(target.neck, 1):
        turned = base.conjugated() @ turns[name] @ target.rest[name].to_quaternion().conjugated()
        wanted = Quaternion((0.0, 0.0, 1.0), 0.3 + 0.6 * number / (count + 1))
        assert turned.rotation_difference(wanted).angle % 6.283185 < 1e-3


def test_feet_that_stay_on_the_ground_are_planted_and_the_floor_is_where_the_motion_has_it():
    """A foot that steps ahead between frames 20 and 40; the same motion a meter lower has its floor there."""
    source = Figure(character("Mixamo", "Source"))
    rest = source.see(bpy.context.evaluated_depsgraph_get())
    for depth, floor in ((0.0, 0.0), (-1.0, -1.0)):
        shown = []
        for frame in range(60):
            share = min(max((frame - 20) / 20.0, 0.0), 1.0)
            step = Vector((0.0, -0.8 * share, 0.6 * share * (1.0 - share)))
            down = Vector((0.0, 0.0, depth))
            moved = {name: each._replace(place=each.place + down) for name, each in rest.items()}
            foot, hips = moved["foot.L"], moved[HIPS]
            moved["foot.L"] = foot._replace(place=foot.place + step)
            moved[HIPS] = hips._replace(place=hips.place + Vector((0.0, -0.4 * share, 0.0)))
            shown.append(moved)
        retargeting = Retargeting(source, Figure(character("Mixamo", "Target")))
        spans = retargeting.spans(shown, 24.0, 4.0)
        assert spans["foot.R"] == [(0, 59)]
        (first, end), (begin, last) = spans["foot.L"]
        assert (first, last) == (0, 59)
        assert 17 <= end <= 23
        assert 37 <= begin <= 43
        assert retargeting.floor == pytest.approx(floor, abs=0.02)
    assert retargeting.spans(shown[:2], 24.0, 4.0) == {"foot.L": [], "foot.R": []}


def clapping(source, count=12):
    """What a figure shows that steps ahead with its left foot and brings its hands together meanwhile."""
    rest, shown = source.see(bpy.context.evaluated_depsgraph_get()), []
    for number in range(count):
        share = number / (count - 1)
        moved = dict(rest)
        for end, sign in (("hand.L", 1.0), ("hand.R", -1.0)):
            there = Vector((sign * 0.05, 0.35, rest[end].place.z + 0.1))
            turn = Quaternion((0.0, 0.0, 1.0), sign * share)
            moved[end] = PartPlace(rest[end].place.lerp(there, share), turn @ rest[end].turn)
        foot, hips = rest["foot.L"], rest[HIPS]
        step = Vector((0.0, 0.5 * share, 0.3 * share * (1.0 - share)))
        moved["foot.L"] = foot._replace(place=foot.place + step)
        turn = Quaternion((0.0, 0.0, 1.0), 0.3 * share)
        moved[HIPS] = PartPlace(hips.place + Vector((0.02 * share, 0.2 * share, -0.03 * share)), turn @ hips.turn)
        shown.append(moved)
    return shown


# Places [mm] of the parts of a character of other proportions, from the side of its stance, at three of the frames.
PLACES = {
    "hips": [(0, -12, 1062), (13, 119, 1032), (24, 228, 1002)],
    "foot.L": [(-108, 31, 30), (-108, 303, 89), (-108, 576, 0)],
    "foot.R": [(108, -24, 0), (108, -24, 0), (108, -24, 0)],
    "chest": [(0, -24, 1374), (13, 107, 1344), (24, 216, 1314)],
    "head": [(0, 0, 1782), (13, 131, 1752), (24, 240, 1722)],
    "hand.L": [(-633, -24, 1215), (-245, 325, 1244), (78, 616, 1263)],
    "hand.R": [(633, -24, 1215), (271, 325, 1244), (-30, 616, 1263)],
}


def test_hips_hands_and_feet_are_where_longer_legs_and_shorter_arms_take_them():
    source, target = Figure(character("Rigify metarig", "Source")), Figure(character("Unreal", "Target", 1.2, 0.9))
    spans = {"foot.L": [(0, 2)], "foot.R": [(0, 11)]}
    frames = Retargeting(source, target).frames(clapping(source), spans, 3.0)
    into = target.base.inverted()
    for name, places in PLACES.items():
        for number, place in zip((0, 6, 11), places, strict=True):
            found = 1000.0 * ((into @ frames[name][number]).translation)
            assert tuple(found) == pytest.approx(place, abs=0.6), (name, number)


@pytest.mark.parametrize(
    ("away", "near"), [(0.1, 1.0), (0.2, 1.0), (0.325, 0.84375), (0.45, 0.5), (0.7, 0.0), (0.9, 0.0)]
)
def test_hands_are_the_nearer_to_each_other_as_the_sources_the_nearer_those_are(away, near):
    figure = Figure(character("Mixamo", "Source"))
    shown = dict(figure.see(bpy.context.evaluated_depsgraph_get()))
    arm = (figure.length("hand.L") + figure.length("hand.R")) / 2.0
    apart = Vector((away * arm, 0.0, 0.0))
    left = shown["hand.R"].carries(figure.point("hand.R")) + apart - shown["hand.L"].turn @ figure.point("hand.L")
    shown["hand.L"] = shown["hand.L"]._replace(place=left)
    assert Retargeting(figure, figure)._nearness(shown) == pytest.approx(near, abs=1e-4)


@pytest.mark.parametrize(
    ("of_source", "near", "of_target"),
    [(0.5, 0.0, 0.99), (0.995, 0.0, 0.995), (1.2, 0.0, 0.9999), (0.5, 1.0, 0.9999), (0.5, 0.5, 0.99495)],
)
def test_a_limb_is_no_straighter_than_the_sources_where_that_is_nearly_straight(of_source, near, of_target):
    source, target = Figure(character("Mixamo", "Source")), Figure(character("Mixamo", "Target", 1.3))
    shown = dict(source.see(bpy.context.evaluated_depsgraph_get()))
    for end, root in (("hand.L", "shoulder.L"), ("foot.R", "thigh.R")):
        down = Vector((0.0, 0.0, -of_source * source.length(end)))
        shown[end] = shown[end]._replace(place=shown[root].place + down)
        longest = Retargeting(source, target)._longest(end, shown, near)
        assert longest == pytest.approx(of_target * target.length(end), rel=1e-4)


@pytest.mark.parametrize("width", [3, 4, 8])
def test_values_are_spread_over_the_frames_around_them_and_are_nowhere_less(width):
    values = np.zeros(60)
    assert _over(values, width) is values
    values[30] = 2.0
    found = _over(values, width)
    assert (found >= values).all()
    assert found[30] == pytest.approx(2.0)
    assert np.flatnonzero(found > 1e-9).tolist() == list(range(30 - 2 * width, 31 + 2 * width))
    assert found.sum() == pytest.approx(2.0 * (2 * width + 1))
    assert found == pytest.approx(np.append(found[:1], found[:0:-1]), abs=1e-12), "alike on both sides"
    values[:] = 1.5
    assert _over(values, width) == pytest.approx(values)
