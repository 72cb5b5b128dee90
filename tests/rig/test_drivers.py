# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers that Blender does not run: those that the shot depends on are warned of, wherever they are, and no others."""

import bpy
import pytest

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.reach import reach
from ik_triangulation.rig.limb import Limb

from ..rigs import chain_rig, empty, key_location, select

pytestmark = pytest.mark.usefixtures("empty_scene")

REFUSED = "__import__('os').getpid() * 0.0"


@pytest.fixture
def shot():
    """A rig whose last two of four bones follow a moving target, with a pole and an obstacle."""
    rig, target = chain_rig(4), key_location(empty(), (1, 8), lambda frame: (0.5, 0.6 + 0.05 * frame, 2.9))
    pole = empty("Pole", (3.0, 0.0, 1.0))
    boxes = bpy.data.collections.new("Boxes")
    box = empty("Box", (5.0, 5.0, 5.0))
    box.empty_display_type = "CUBE"
    boxes.objects.link(box)
    return Limb.from_tip(rig, "Bone 3", target, 2, pole_target=pole, obstacles=boxes)


def broken(thing, path, index=-1, expression="1 +"):
    curve = thing.driver_add(path, index)
    curve.driver.expression = expression
    bpy.context.view_layer.update()
    return curve


def told(limb):
    """The warnings of drivers of a solve, which a bake and a reach give as well."""
    found = [text for text in solve_pose(limb).warnings if "driver" in text]
    assert [text for text in bake(limb, 1, 4).warnings if "driver" in text] == found
    assert [text for text in reach(limb, 1, 4).warnings if "driver" in text] == found
    return found


MOVERS = {
    "the target": lambda limb: broken(limb.target, "rotation_euler", 0),
    "a parent of the target": lambda limb: broken(carrier(limb.target), "location", 2),
    "a constraint of the target": lambda limb: broken(follow(limb.target), "influence"),
    "the pole": lambda limb: broken(limb.pole_target, "location", 0),
    "an obstacle": lambda limb: broken(limb.obstacle_objects[0], "scale", 1),
    "the armature": lambda limb: broken(limb.armature, "location", 0),
    "a parent of the armature": lambda limb: broken(carrier(limb.armature), "rotation_euler", 0),
    "a bone above the limb": lambda limb: broken(limb.armature.pose.bones["Bone 0"], "rotation_quaternion", 1),
    "a bone of the limb": lambda limb: broken(limb.armature.pose.bones["Bone 3"], "location", 1),
    "a constraint of a bone above": lambda limb: broken(follow(limb.armature.pose.bones["Bone 1"]), "influence"),
    "a property that a driver reads": lambda limb: by_property(limb),
}


def carrier(ob):
    ob.parent = empty("Carrier", (0.0, 0.0, 0.0))
    return ob.parent


def follow(thing):
    constraint = thing.constraints.new("COPY_ROTATION")
    constraint.target = empty("Leader")
    return constraint


def by_property(limb):
    """The target is driven by a property, and that by a driver that does not run."""
    rig = limb.armature
    rig["where"] = 0.0
    drive = limb.target.driver_add("rotation_euler", 1).driver
    source = drive.variables.new()
    source.targets[0].id, source.targets[0].data_path = rig, '["where"]'
    drive.expression = source.name
    return broken(rig, '["where"]')


@pytest.mark.parametrize("what", MOVERS)
def test_a_broken_driver_of_what_the_shot_depends_on_is_told_with_its_owner(what, shot):
    curve = MOVERS[what](shot)
    found = told(shot)
    assert len(found) == 1, found
    index = "" if curve.data_path.endswith(("influence", '"]')) else f"[{curve.array_index}]"
    assert found[0].startswith(f"The driver of {curve.data_path}{index} of '{curve.id_data.name}' is broken: '1 +'")


def test_a_driver_that_blender_refused_to_run_is_told_with_the_remedy(shot):
    broken(shot.target, "rotation_euler", 0, REFUSED)
    assert bpy.app.autoexec_fail
    (text,) = told(shot)
    assert text.endswith(
        "was refused: Blender runs no scripts of this file. Allow Auto Run Python Scripts and reload the file."
    )


HARMLESS = {
    "of another object": lambda limb: broken(empty("Other"), "location", 0),
    "of a property that nothing reads": lambda limb: broken_property(limb.target),
    "that hides the target's name": lambda limb: broken(limb.target, "show_name"),
    "of a bone beside the limb": lambda limb: broken(sister(limb.armature), "location", 0),
    "that is muted": lambda limb: setattr(broken(limb.target, "rotation_euler", 0), "mute", True),
    "that runs": lambda limb: broken(limb.target, "rotation_euler", 0, "0.5 + 0.1 * frame"),
}


def broken_property(ob):
    ob["note"] = 1.0
    return broken(ob, '["note"]')


def sister(rig):
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Sister")
    bone.head, bone.tail, bone.parent = (0, 0, 1), (1, 0, 1), rig.data.edit_bones["Bone 0"]
    bpy.ops.object.mode_set(mode="POSE")
    select(rig, "Bone 3")
    return rig.pose.bones["Sister"]


@pytest.mark.parametrize("what", HARMLESS)
def test_what_the_shot_does_not_depend_on_is_not_told(what, shot):
    HARMLESS[what](shot)
    assert told(shot) == []


def test_a_script_that_was_not_run_is_none_of_these(shot):
    """As the text of a generated rig's own panel is."""
    text = bpy.data.texts.new("rig_ui.py")
    text.write("import bpy\nbpy.context.scene.frame_current\n")
    text.use_module = True
    assert told(shot) == []


def test_after_it_was_mended_a_driver_is_told_no_more(shot):
    curve = broken(shot.target, "rotation_euler", 0)
    assert len(told(shot)) == 1
    curve.driver.expression = "0.1"
    assert told(shot) == []
