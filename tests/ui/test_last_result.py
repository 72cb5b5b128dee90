# SPDX-License-Identifier: GPL-3.0-or-later
"""The last result is that of its limb, and is shown."""

import bpy
import pytest

from ik_triangulation.ui.last_result import latest

from ..layouts import drawn
from ..rigs import chain_rig, configure
from .panels.states import ONLY_RESULT, baked, out_of_reach, solved, solved_and_target_deleted, standard, turned_solve

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize("build", [solved, out_of_reach, turned_solve, baked, solved_and_target_deleted])
@pytest.mark.parametrize("system", ["NONE", "METRIC", "IMPERIAL"])
def test_the_last_result_is_shown(build, system):
    bpy.context.scene.unit_settings.system = system
    build()
    lines = drawn(ONLY_RESULT, width=500)
    reached = "Not reached" if build is out_of_reach else "Reached 4 of 4 frames" if build is baked else "Reached"
    assert lines[0] == reached
    assert lines[1].startswith("Distance ")
    unit = {"NONE": "", "METRIC": "m", "IMPERIAL": ""}[system]
    assert lines[1].split(" at frame")[0].endswith(unit)
    assert any("turns" in line and "°" in line and "tip moved" in line for line in lines)
    assert not any("off its orientation" in line for line in lines)  # where it is met there is nothing to say


def test_a_tip_that_is_missed_by_its_rotation_alone_is_shown_with_the_angle():
    rig, target, _ = standard()
    bone = rig.pose.bones["Bone 3"]
    target.location, bone.ik_triangulation.orientation = rig.matrix_world @ bone.tail, "FULL"
    target.rotation_mode = "XYZ"
    target.rotation_euler = 2.5, 1.0, 2.0
    for each in rig.pose.bones:
        each.use_ik_limit_x, each.ik_min_x, each.ik_max_x = True, -0.1, 0.1
        each.lock_ik_y = each.lock_ik_z = True
    bpy.context.view_layer.update()
    bpy.ops.pose.ik_triangulation_solve()
    line = latest(rig, "Bone 3").line
    assert line.startswith("Not reached: ")
    assert line.endswith("° off its orientation")


def test_what_stands_on_a_limit_is_shown():
    rig, target, _ = standard()
    for bone in rig.pose.bones:
        bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, -0.1, 0.1
        bone.lock_ik_y = bone.lock_ik_z = True
    target.location = (0.0, 3.0, 0.5)
    bpy.ops.pose.ik_triangulation_solve()
    assert any(line.startswith("Bone 3: ") for line in drawn(ONLY_RESULT))


def test_a_result_is_that_of_its_own_limb():
    solved()
    rig = bpy.data.objects["Rig"]
    rig.data.bones.active = rig.data.bones["Bone 0"]
    assert drawn(ONLY_RESULT) is None
    other = chain_rig(4, name="Other")
    assert latest(other, "Bone 3") is None
    configure(rig, "Bone 3")
    assert drawn(ONLY_RESULT)[0] == "Reached"


def done(job):
    """A job as a step of undo, after one with the rig alone."""
    standard(frame_range="CUSTOM", frame_start=1, frame_end=4)
    bpy.ops.ed.undo_push(message="Before")
    getattr(bpy.ops.pose, f"ik_triangulation_{job}")()
    bpy.ops.ed.undo_push(message="Job")


def told(*steps):
    """Whether the result is told after each of these steps of undo and redo; None without the armature."""
    found = []
    for step in steps:
        getattr(bpy.ops.ed, step)()
        rig = bpy.data.objects.get("Rig")
        found.append(rig and latest(rig, "Bone 3") is not None)
    return found


@pytest.mark.parametrize("job", ["solve", "bake"])
def test_a_result_goes_with_what_is_undone_and_comes_again_with_it(job):
    """An undo of something else, as of a moved target, leaves it."""
    done(job)
    bpy.data.objects["Target"].location.x += 1.0
    bpy.ops.ed.undo_push(message="Moved")
    assert told("undo", "undo", "redo", "redo") == [True, False, True, True]


@pytest.mark.parametrize("job", ["solve", "bake"])
def test_a_result_is_there_again_with_its_armature(job):
    done(job)
    bpy.data.objects.remove(bpy.data.objects["Rig"])
    bpy.ops.ed.undo_push(message="Deleted")
    assert told("undo", "undo", "redo", "redo", "undo") == [True, False, True, None, True]


def test_a_pose_is_told_of_after_an_undo_that_leads_back_to_its_frame():
    rig, *_ = standard()
    bone = rig.pose.bones["Bone 1"]
    for frame in (1, 20):
        bone.rotation_quaternion.x = 0.01 * frame
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_set(1)
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.pose.ik_triangulation_solve()
    bpy.ops.ed.undo_push(message="Job")
    bpy.context.scene.frame_set(10)
    bpy.ops.ed.undo_push(message="Frame")
    assert told("undo", "redo", "undo", "undo") == [True, True, True, False]
