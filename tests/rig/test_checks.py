# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known to go wrong is refused before anything is solved, in one line that names the culprit and the remedy."""

import re
from types import SimpleNamespace
from typing import NamedTuple

import bpy
import pytest

from ik_triangulation.errors import AnimationError, ChainError, RigError, SettingError, TargetError
from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.reach import reach
from ik_triangulation.rig import checks
from ik_triangulation.rig.checks import (
    LONGEST_RANGE,
    broken_drivers,
    check_armature,
    check_frames,
    check_limb,
    check_range,
    check_separate,
    has_layers,
    is_evaluated,
)
from ik_triangulation.rig.dependencies import Dependencies
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.targets.motion import TargetHandle, keyable_owner
from ik_triangulation.rig.targets.props import check_prop

from ..rigs import chain_rig, empty, key_location, nothing_lost, place

pytestmark = pytest.mark.usefixtures("empty_scene")


def limb(rig, tip="Bone 2", count=0, **settings):
    return Limb.from_tip(rig, tip, empty(), count, **settings)


def here():
    bpy.context.view_layer.update()
    return bpy.context.scene, bpy.context.view_layer


def test_a_limb_in_order_is_let_through_and_nothing_changes():
    arm = limb(chain_rig(3))
    with nothing_lost():
        check_limb(arm, *here())


@pytest.mark.parametrize(
    ("span", "message"),
    [
        ((5, 4, 1), "ends at frame 4, before its start at 5. Swap them"),
        ((1, 5, 0.001), "A step of 0.001 frames is too small"),
        ((1, 5, float("nan")), "is too small"),
        ((1_048_574, 1_048_575, 1), "There is no frame 1048575: Blender's last one is 1048574. Choose"),
        ((-1_048_575, 5, 1), "There is no frame -1048575"),
        ((1, LONGEST_RANGE + 1, 1), f"{LONGEST_RANGE + 1} frames are too many. Bake {LONGEST_RANGE}"),
    ],
)
def test_a_range_without_frames_or_with_far_too_many_is_refused(span, message):
    with pytest.raises(SettingError, match=message):
        check_frames(*span)


def test_the_longest_range_is_baked():
    check_frames(1, LONGEST_RANGE, 1)
    check_frames(1, 10 * LONGEST_RANGE, 10)


def test_a_step_that_time_stretching_makes_nothing_of_is_refused():
    scene, _ = here()
    scene.render.frame_map_old, scene.render.frame_map_new = 1, 900
    with pytest.raises(SettingError, match="Time Stretching"):
        check_range(scene, 1, 10, 1)


def test_limbs_that_share_a_bone_are_told_by_their_tips():
    rig = chain_rig(4)
    apart = limb(rig, "Bone 1"), limb(rig, "Bone 3", 2)
    check_separate(apart)
    with pytest.raises(ChainError, match="'Bone 1' belongs to the limbs of 'Bone 1' and 'Bone 3'"):
        check_separate([apart[0], limb(rig, "Bone 3", 3)])


def test_the_same_bone_names_in_two_armatures_are_no_matter():
    check_separate([limb(chain_rig(2, name="First"), "Bone 1"), limb(chain_rig(2, name="Second"), "Bone 1")])


@pytest.mark.parametrize("axis", range(3))
def test_a_flat_armature_is_told_with_its_axis(axis):
    rig = chain_rig(2)
    rig.scale[axis] = 0.0
    with pytest.raises(RigError, match=f"'Rig' .* zero scale on {'XYZ'[axis]}. Give it"):
        check_armature(rig, here()[1])


def test_an_armature_in_its_rest_position_is_told():
    rig = chain_rig(2)
    rig.data.pose_position = "REST"
    with pytest.raises(RigError, match="Switch to Pose Position"):
        check_armature(rig, here()[1])


def test_an_object_counts_as_evaluated_if_one_of_its_collections_is_enabled():
    ob, boxes = place(bpy.data.objects.new("Cup", None)), [bpy.data.collections.new(name) for name in "AB"]
    bpy.context.scene.collection.objects.unlink(ob)
    for box in boxes:
        bpy.context.scene.collection.children.link(box)
        box.objects.link(ob)
    layer = bpy.context.view_layer.layer_collection.children
    for off, evaluated in (([], True), (["A"], True), (["A", "B"], False)):
        for child in layer:
            child.exclude = child.name in off
        assert is_evaluated(ob, here()[1]) is evaluated


@pytest.mark.parametrize("influence", [-0.1, 1.1])
def test_an_influence_beyond_its_range_is_refused(influence):
    with pytest.raises(SettingError, match="from 0 to 1"):
        check_limb(limb(chain_rig(3), influence=influence), *here())


def test_a_target_on_the_chain_is_refused_by_name():
    rig = chain_rig(3)
    arm = Limb.from_tip(rig, "Bone 2", rig, subtarget="Bone 1")
    with pytest.raises(TargetError, match="Target 'Rig: Bone 1' follows chain bone 'Bone"):
        check_limb(arm, *here())


class Layered(NamedTuple):
    """An action as a later Blender may save it; these versions make no second layer, nor a second strip."""

    layers: list


class Layer(NamedTuple):
    strips: list


def test_only_actions_of_a_single_layer_and_strip_are_read():
    assert not has_layers(Layered([]))
    assert not has_layers(Layered([Layer([])]))
    assert not has_layers(Layered([Layer(["strip"])]))
    assert has_layers(Layered([Layer(["strip"]), Layer([])]))
    assert has_layers(Layered([Layer(["strip", "strip"])]))


@pytest.mark.parametrize("whose", ["the armature", "its NLA", "the target", "the NLA of the target"])
def test_an_action_with_several_layers_is_refused_by_name(whose, monkeypatch):
    rig, target = chain_rig(3), key_location(empty(), (1, 10))
    rig.pose.bones["Bone 1"].keyframe_insert("rotation_quaternion", frame=1)
    ob = target if "target" in whose else rig
    if "NLA" in whose:
        track = ob.animation_data.nla_tracks.new()
        track.strips.new("Strip", 1, ob.animation_data.action)
        ob.animation_data.action = None
    limb = Limb.from_tip(rig, "Bone 2", target)
    monkeypatch.setattr("ik_triangulation.rig.checks.has_layers", lambda action: action.name == f"{ob.name}Action")
    said = f"Action '{ob.name}Action' of '{ob.name}' has several layers, which cannot be read yet. Merge them into one."
    for call in (lambda: bake(limb, 1, 3), lambda: solve_pose(limb), lambda: reach(limb, 1, 3)):
        with nothing_lost(), pytest.raises(AnimationError, match=re.escape(said)):
            call()


def test_an_armature_that_cannot_be_read_is_told_by_its_name():
    _, layer = here()
    with pytest.raises(RigError, match=r"'Target' is not an armature. Choose one"):
        check_armature(empty(), here()[1])
    rig = chain_rig(2)
    check_armature(rig, here()[1])
    rig.hide_viewport = True
    with pytest.raises(RigError, match=r"'Rig' is disabled in this view layer"):
        check_armature(rig, here()[1])
    rig.hide_viewport = False
    layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RigError, match=r"'Rig' is in Edit Mode. Leave"):
        check_armature(rig, layer)
    bpy.ops.object.mode_set(mode="OBJECT")
    parent = place(bpy.data.objects.new("Parent", None))
    rig.parent, parent.scale = parent, (1.0, 1.0, 1e-10)
    rig.rotation_euler = 0.7, 0.3, 0.2
    with pytest.raises(RigError, match=r"'Rig' .or a parent. is scaled flat. Give it a scale"):
        check_armature(rig, here()[1])


def variable_of(curve, kind="SINGLE_PROP", source=None, path="", bone="", fallback=False):
    variable = curve.driver.variables.new()
    variable.type = kind
    target = variable.targets[0]
    target.id = source
    if kind == "SINGLE_PROP":
        target.data_path, target.use_fallback_value = path, fallback
    else:
        target.bone_target = bone
    return variable


@pytest.mark.parametrize(
    ("kind", "path", "bone", "fallback", "broken"),
    [
        ("SINGLE_PROP", "location.x", "", False, False),
        ("SINGLE_PROP", "nowhere", "", False, True),
        ("SINGLE_PROP", "nowhere", "", True, False),
        ("TRANSFORMS", "", "Bone 1", False, False),
        ("TRANSFORMS", "", "Lost", False, True),
        ("TRANSFORMS", "", "", False, False),
    ],
)
def test_a_driver_that_reads_what_is_not_there_is_named_with_its_variable(kind, path, bone, fallback, broken):
    rig, other, target = chain_rig(3), chain_rig(2, name="Other"), empty()
    curve = target.driver_add("location", 1)
    curve.driver.type = "SUM"
    name = variable_of(curve, kind, other, path, bone, fallback).name
    arm = Limb.from_tip(rig, "Bone 2", target)
    found = broken_drivers(arm, here()[1].depsgraph)
    if broken:
        (text,) = found
        assert text.startswith(f"The driver of location[1] of 'Target' is broken: its variable '{name}' reads what is")
    else:
        assert found == []


def test_an_expression_that_cannot_be_evaluated_is_told_for_a_property_alone_too():
    rig, target = chain_rig(3), empty()
    curve = target.driver_add("rotation_euler", 0)
    curve.driver.expression = "1 +"
    arm = Limb.from_tip(rig, "Bone 2", target)
    (text,) = broken_drivers(arm, here()[1].depsgraph)
    assert text == (
        "The driver of rotation_euler[0] of 'Target' is broken: '1 +' cannot be evaluated. Correct the "
        "expression or delete the driver."
    )
    curve.mute = True
    assert broken_drivers(arm, here()[1].depsgraph) == []
    target.driver_remove("rotation_euler", 0)
    variable = variable_of(target.driver_add("location", 2), "SINGLE_PROP", None, "location.x")
    (text,) = broken_drivers(arm, here()[1].depsgraph)
    assert f"its variable '{variable.name}' reads what is not there" in text


def test_what_is_linked_is_told_with_the_remedy(tmp_path):
    rig, cup = chain_rig(2), empty("Cup")
    bpy.data.libraries.write(str(tmp_path / "library.blend"), {rig, cup})
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Rig", "Cup"]
    linked_rig, linked_cup = wanted.objects
    for ob in (linked_rig, linked_cup):
        place(ob)
    scene, layer = here()
    check_armature(rig, layer)
    with pytest.raises(RigError, match=r"'Rig' is linked\. Create a library override first"):
        check_armature(linked_rig, layer)
    limb = Limb.from_tip(rig, "Bone 1", linked_cup)
    for make in (lambda: TargetHandle(linked_cup, "", layer.depsgraph), lambda: keyable_owner(limb)):
        with pytest.raises(TargetError, match=r"Target 'Cup' is linked\. Create a library override first"):
            make()
    with pytest.raises(TargetError, match=r"Prop 'Cup' is linked\. Create a library override first"):
        check_prop(linked_cup, limb, (1, 5), scene, layer, Dependencies())


def test_a_bone_whose_rotation_is_driven_is_refused_with_the_channel():
    rig = chain_rig(3)
    rig.pose.bones["Bone 1"].driver_add("rotation_quaternion", 2)
    with pytest.raises(
        AnimationError, match=r"rotation_quaternion\[2\] of 'Bone 1' is driven\. Remove the driver or leave"
    ):
        check_limb(limb(rig), *here())
    check_limb(limb(rig, count=1), *here())  # only what is solved counts
    rig.pose.bones["Bone 2"].driver_add("location", 0)
    check_limb(limb(rig, count=1), *here())


def test_what_is_in_a_collection_that_is_hidden_for_all_is_not_evaluated():
    ob, box, inner = place(bpy.data.objects.new("Cup", None)), *(bpy.data.collections.new(name) for name in "AB")
    bpy.context.scene.collection.objects.unlink(ob)
    bpy.context.scene.collection.children.link(box)
    box.children.link(inner)
    inner.objects.link(ob)
    assert is_evaluated(ob, here()[1])
    for each in (box, inner):
        each.hide_viewport = True
        assert not is_evaluated(ob, here()[1])
        each.hide_viewport = False
    ob.hide_viewport = True
    assert not is_evaluated(ob, here()[1])


def said_of(rig, target):
    (text,) = broken_drivers(Limb.from_tip(rig, "Bone 2", target), here()[1].depsgraph)
    return text.partition(" of 'Target' ")[::2]


def test_a_driver_says_which_variable_fails_and_is_told_without_a_number_where_it_has_none():
    rig, target = chain_rig(3), empty()
    curve = target.driver_add("empty_display_size")
    curve.driver.type = "SUM"
    variable_of(curve, "SINGLE_PROP", rig, "location.x")
    last = variable_of(curve, "SINGLE_PROP", rig, "nothing")
    last.name = "second"
    where, why = said_of(rig, target)
    assert where == "The driver of empty_display_size"
    assert why == "is broken: its variable 'second' reads what is not there. Give it another target."


@pytest.mark.parametrize(
    ("expression", "refused", "reason"),
    [
        ("bpy.data.nothing", True, "was refused: Blender runs no scripts of this file. Allow Auto Run Python Scripts"),
        ("1 +", True, "is broken: '1 +' cannot be evaluated. Correct the expression or delete the driver."),
        ("bpy.data.nothing", False, "is broken: 'bpy.data.nothing' cannot be evaluated."),
    ],
)
def test_an_expression_that_may_not_run_is_told_from_one_that_is_wrong(expression, refused, reason, monkeypatch):
    rig, target = chain_rig(3), empty()
    target.driver_add("location", 0).driver.expression = expression
    monkeypatch.setattr(checks, "bpy", SimpleNamespace(app=SimpleNamespace(autoexec_fail=refused)))
    where, why = said_of(rig, target)
    assert where == "The driver of location[0]"
    assert why.startswith(reason)


def test_obstacles_and_targets_that_cannot_be_used_are_told_by_their_names():
    rig, cup, box = chain_rig(3), empty("Cup"), bpy.data.collections.new("Box")
    check_limb(limb(rig, obstacles=box), *here())
    box.objects.link(cup)
    with pytest.raises(TargetError, match=r"Obstacle 'Cup' has no volume, nor has another in 'Box'\. Put a mesh in it"):
        check_limb(limb(rig, obstacles=box), *here())
    cup.empty_display_type = "SPHERE"
    box.objects.link(place(bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))))
    arm = limb(rig, obstacles=box)
    check_limb(arm, *here())
    bpy.context.scene.collection.objects.unlink(cup)
    with pytest.raises(TargetError, match=r"Obstacle 'Cup' is disabled in this view layer, its place cannot be read"):
        check_limb(arm, *here())
    skin = place(bpy.data.objects.new("Skin", bpy.data.meshes.new("Skin")))
    skin.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [], [])
    modifier = skin.modifiers.new("Armature", "ARMATURE")
    other = bpy.data.collections.new("Other")
    other.objects.link(skin)
    arm = limb(rig, obstacles=other)
    check_limb(arm, *here())
    modifier.object = rig
    with pytest.raises(TargetError, match=r"Obstacle 'Skin' is deformed by 'Rig' itself\. Take it out"):
        check_limb(arm, *here())
    target = empty("Goal")
    for wrong, message in (
        ({"target": rig}, "Target 'Rig' is the armature itself. Choose one of its bones"),
        ({"target": target, "subtarget": "Bone"}, "Bone 'Bone' is not in target 'Goal'. Choose another"),
        ({"target": target, "pole_target": rig}, "Pole target 'Rig' is the armature itself"),
    ):
        with pytest.raises(TargetError, match=message):
            check_limb(Limb.from_tip(rig, "Bone 2", **wrong), *here())
    target.hide_viewport = True
    with pytest.raises(TargetError, match="Target 'Goal' is disabled in this view layer"):
        check_limb(Limb.from_tip(rig, "Bone 2", target), *here())
    target.hide_viewport = False
    bpy.context.scene.collection.objects.unlink(target)
    with pytest.raises(TargetError, match=r"Target 'Goal' is not in this scene\. Choose another target"):
        check_limb(Limb.from_tip(rig, "Bone 2", target), *here())
