# SPDX-License-Identifier: GPL-3.0-or-later
"""The target of a limb moves with a table or the hips for some frames, and nothing moves at the changes."""

from contextlib import suppress

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.errors import AnimationError, IKError, TargetError
from ik_triangulation.jobs import solved_body
from ik_triangulation.jobs.bake import bake, bake_body
from ik_triangulation.jobs.edits.edit import pull
from ik_triangulation.jobs.edits.edited_part import Pull
from ik_triangulation.jobs.edits.mirror import mirror_motion
from ik_triangulation.jobs.edits.retime import retime
from ik_triangulation.jobs.edits.spaces import end_space, last_frame_from, remove_space, set_space, spaces_of
from ik_triangulation.jobs.removal import remove_everything
from ik_triangulation.jobs.setup import add_limbs
from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.targets.made import keep_target

from ...bodies import SMALL, followed_rig, human_rig, set_up_rig, tails
from ...interrupted import BrokenError, FailingWrite, writes_that_undo_all
from ...rigs import all_keys, armature, empty, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")
LAST, START, END = 60, 20, 40
FRAMES = range(1, LAST + 1)
NEAR = 1e-5


@pytest.fixture
def shot():
    """An arm whose target has keys at frames 1, 25 and LAST, and a table that moves and turns all the time."""
    rig = followed_rig(LAST)
    bpy.context.scene.frame_end = LAST
    table = empty("Table", (0.5, -0.5, 1.0))
    for frame, place, turn in ((1, (0.5, -0.5, 1.0), 0.0), (LAST, (0.8, -0.6, 1.1), 1.0)):
        table.location, table.rotation_euler = place, (0.0, 0.2 * turn, turn)
        table.keyframe_insert("location", frame=frame)
        table.keyframe_insert("rotation_euler", frame=frame)
    return rig, target_of(rig), table


def target_of(rig):
    return rig.pose.bones["hand.L"].ik_triangulation.target


def worlds(ob, frames=FRAMES):
    found = {}
    for frame in frames:
        whole = int(np.floor(frame))
        bpy.context.scene.frame_set(whole, subframe=frame - whole)
        found[frame] = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.copy()
    return found


def apart(one, other, frames=FRAMES):
    """The largest difference of matrices at frames, rotations included."""
    return max(np.abs(np.array(one[frame] - other[frame])).max() for frame in frames)


def local(ob, space, frames):
    """The matrices of an object as another one sees it."""
    own, others = worlds(ob, frames), worlds(space, frames)
    return {frame: others[frame].inverted() @ own[frame] for frame in frames}


@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION"])
def test_a_target_is_held_by_a_table_and_does_not_move_at_the_changes(shot, mode):
    rig, target, table = shot
    target.rotation_mode = mode
    before = worlds(target)
    set_space(rig, "hand.L", table, frame_start=START, frame_end=END)
    after = worlds(target)
    assert apart(before, after, [*range(1, START + 1), 25, LAST]) < NEAR
    held = local(target, table, range(25, END + 2))  # from its last key on
    assert apart(dict.fromkeys(held, held[25]), held, held) < NEAR
    assert apart(before, after, [END]) > 0.1
    for change in (START, END + 1):
        just = worlds(target, (change - 1e-3, change))
        assert (just[change - 1e-3].translation - just[change].translation).length < 1e-4
    steps = [(after[f + 1].translation - after[f].translation).length for f in range(1, LAST)]
    assert max(steps[END - 1 : END + 2]) <= max(steps)
    remove_space(rig, "hand.L", 30)
    assert apart(before, worlds(target)) < NEAR
    assert not target.constraints


def test_the_hand_goes_from_a_table_to_the_hips_and_is_let_go(shot):
    rig, target, table = shot
    for frame, place in ((1, (0, 0, 0)), (LAST, (0.05, 0, 0.05))):
        rig.pose.bones["spine"].location = place
        rig.pose.bones["spine"].keyframe_insert("location", frame=frame)
    set_space(rig, "hand.L", table, frame_start=10)
    with_table = worlds(target)
    set_space(rig, "hand.L", rig, "spine", frame_start=30)
    assert [(each.name, each.frame_start, each.frame_end) for each in spaces_of(rig, "hand.L")] == [
        ("Table", 10, 29),
        ("spine", 30, LAST),
    ]
    both = worlds(target)
    assert apart(with_table, both, range(1, 31)) < NEAR
    bpy.context.scene.frame_set(45)
    assert end_space(rig, "hand.L").frame_end == 44
    shown = {45: target.matrix_world.copy()}
    assert apart(shown, worlds(target, (45,)), [45]) < NEAR
    assert apart(both, worlds(target), range(1, 46)) < NEAR
    report = bake(Limb.from_tip(rig, "hand.L", target, 3), 1, LAST)
    hands, goals = tails(rig, "hand.L", FRAMES), worlds(target)
    assert report.all_reached
    assert max((a - goals[f].translation).length for f, a in zip(FRAMES, hands, strict=True)) < 1e-3


def test_a_recorded_target_stays_where_it_was_and_one_that_rests_is_carried(shot):
    rig, target, table = shot
    moving = worlds(target)
    target.animation_data_clear()
    for frame in FRAMES:
        target.matrix_world = moving[frame]
        target.keyframe_insert("location", frame=frame)
    set_space(rig, "hand.L", table, frame_start=START, frame_end=END)
    assert apart(moving, worlds(target)) < NEAR
    remove_space(rig, "hand.L", START)
    target.location = moving[1].translation
    for frame in FRAMES:
        target.keyframe_insert("location", frame=frame)
    rest = worlds(target, (1,))[1]
    set_space(rig, "hand.L", table, frame_start=START, frame_end=END)
    after, held = worlds(target), local(target, table, range(START, END + 2))
    assert apart(dict.fromkeys(held, held[START]), held, held) < NEAR
    assert apart(dict.fromkeys(FRAMES, rest), after, [*range(1, START + 1), *range(END + 9, LAST)]) < NEAR
    way = (after[END + 1].translation - rest.translation).length
    steps = [(after[f + 1].translation - after[f].translation).length for f in range(END + 1, LAST)]
    assert max(steps) < way / 4  # it goes back within frames, by no jump


def test_a_target_without_keys_is_carried_and_is_as_before_without_the_space(shot):
    rig, target, table = shot
    target.animation_data_clear()
    before = worlds(target, (1, LAST))
    set_space(rig, "hand.L", table, frame_start=START)
    held = local(target, table, (START, 30, LAST))
    assert apart(dict.fromkeys(held, held[START]), held, held) < NEAR
    assert apart(before, worlds(target, (1,)), [1]) < NEAR
    remove_space(rig, "hand.L", LAST)
    assert apart(before, worlds(target, (1, LAST)), (1, LAST)) < NEAR


def test_added_again_a_space_fits_the_table_that_was_moved_since(shot):
    rig, target, table = shot
    before = worlds(target, (START,))[START]
    set_space(rig, "hand.L", table, frame_start=START, frame_end=END)
    for curve in table.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for key in curve.keyframe_points:
            key.co.y *= 1.5
    assert apart({START: before}, worlds(target, (START,)), [START]) > 0.05  # it goes along with the table
    set_space(rig, "hand.L", table, frame_start=START, frame_end=END)
    after, held = worlds(target, (START, END, END + 1)), local(target, table, (END, END + 1))
    assert apart({START: before}, after, [START]) < NEAR
    assert apart({END: held[END + 1]}, held, [END]) < NEAR
    assert [(each.frame_start, each.frame_end) for each in spaces_of(rig, "hand.L")] == [(START, END)]


def test_a_control_bone_is_carried_too(shot):
    rig, target, table = shot
    where = worlds(target, (1, LAST))
    controls = armature("Controls", [{"name": "IK", "head": Vector((0.7, 0, 1)), "tail": Vector((0.7, 0.2, 1.1))}])
    control, bone = controls.pose.bones["IK"], rig.pose.bones["hand.L"]
    for frame in where:
        bpy.context.scene.frame_set(frame)
        control.matrix = Matrix.Translation(where[frame].translation)
        control.keyframe_insert("location", frame=frame)
    bone.ik_triangulation.target, bone.ik_triangulation.subtarget = controls, "IK"

    def shown(frame):
        bpy.context.scene.frame_set(frame)
        return (controls.matrix_world @ control.matrix).translation.copy()

    before = [shown(frame) for frame in (1, 10, START, LAST)]
    set_space(rig, "hand.L", table, frame_start=START, frame_end=END)
    after = [shown(frame) for frame in (1, 10, START, LAST)]
    assert max((a - b).length for a, b in zip(before, after, strict=True)) < NEAR
    tables = worlds(table, (START, END, END + 1))
    held = [tables[frame].inverted() @ shown(frame) for frame in tables]
    assert max((each - held[0]).length for each in held) < NEAR


def test_a_bake_tells_of_targets_that_still_jump_and_leaves_them_so(monkeypatch):
    monkeypatch.setattr(solved_body, "_FITS", 1)
    rig = set_up_rig(12, SMALL)
    set_space(rig, "hand.R", rig, "spine", frame_start=4, frame_end=8)
    target = rig.pose.bones["hand.R"].ik_triangulation.target
    before = all_keys(target)
    (told,) = [text for text in bake_body(body_of(rig, "hand.R"), 1, 12).warnings if "jump by" in text]
    assert "Bring them within reach" in told
    assert all_keys(target) == before


def test_a_pull_across_spaces_moves_the_target_by_its_profile_and_a_retime_is_refused(shot):
    rig, target, table = shot
    set_space(rig, "hand.L", table, frame_start=START, frame_end=END)
    bake(Limb.from_tip(rig, "hand.L", target, 3), 1, LAST)
    before, offset = worlds(target), Vector((0, 0, 0.03))
    edit = Pull(float(END), 12, "SMOOTH", offset, Vector())
    with nothing_lost(), pytest.raises(AnimationError, match="begins or ends at frame 41"):
        retime(rig, "hand.L", END, 2, 12)
    report = pull(rig, "hand.L", END, offset, 12)
    after = worlds(target)
    assert report.all_reached
    for frame in FRAMES:
        way = after[frame].translation - before[frame].translation
        assert (way - offset * edit.share(frame)).length < 5e-4, frame


def test_remove_everything_takes_spaces_off_a_target_of_the_users(shot):
    rig, target, table = shot
    before = worlds(target)
    set_space(rig, "hand.L", table, frame_start=START, frame_end=END)
    remove_everything(rig)
    assert not target.constraints
    assert apart(before, worlds(target)) < NEAR


def test_a_target_that_was_made_in_a_space_is_not_mirrored(shot):
    rig, target, table = shot
    keep_target(rig, target, bpy.context.scene, bpy.context.view_layer)
    set_space(rig, "hand.L", table, frame_start=START, frame_end=END)
    with nothing_lost(), pytest.raises(TargetError, match="no mirror image"):
        mirror_motion(rig, ["hand.L"])


def test_remove_everything_takes_targets_that_move_with_each_other():
    rig = human_rig()
    add_limbs(rig, ["hand.L", "hand.R"])
    left, right = (rig.pose.bones[f"hand.{side}"].ik_triangulation.target for side in "LR")
    for tip, space in (("hand.L", empty("Table")), ("hand.R", left)):
        set_space(rig, tip, space, frame_start=START, frame_end=END)
    assert right.constraints[0].target == left
    remove_everything(rig)
    assert {ob.name for ob in bpy.data.objects} == {rig.name, "Table"}
    assert not bpy.data.actions


def test_a_space_that_cannot_be_is_refused_and_nothing_is_lost(shot):
    rig, target, table = shot
    set_space(rig, "hand.L", table, frame_start=START, frame_end=END)
    cup = empty("Cup")
    cup.parent, cup.parent_type, cup.parent_bone = rig, "BONE", "hand.L"
    flat = empty("Flat")
    flat.scale = (0, 0, 0)
    bpy.context.view_layer.update()
    for refused, what in (
        (lambda: set_space(rig, "hand.L", cup, frame_start=45), "chain bone"),
        (lambda: set_space(rig, "hand.L", target, frame_start=45), "is the target"),
        (lambda: set_space(rig, "hand.L", flat, frame_start=45), "scaled to zero"),
        (lambda: set_space(rig, "hand.L", table, frame_start=10, frame_end=30), "End that space first"),
        (lambda: end_space(rig, "hand.L", 50), "in no space"),
    ):
        with nothing_lost(), pytest.raises(IKError, match=what):
            refused()
    kept = target.constraints.new("LIMIT_LOCATION")
    kept.use_min_z, kept.min_z = True, 2.0
    bpy.context.view_layer.update()
    with nothing_lost(), pytest.raises(IKError, match="something else moves it"):
        end_space(rig, "hand.L", 30)


def test_a_write_that_fails_undoes_all(shot):
    rig, target, table = shot
    set_space(rig, "hand.L", table, frame_start=START, frame_end=END)
    inverse = target.constraints[0].inverse_matrix.copy()
    table.animation_data_clear()
    table.location.x += 0.1
    with FailingWrite(float("inf"), at_end=True) as seam, suppress(BrokenError):
        set_space(rig, "hand.L", table, frame_start=START, frame_end=END)
    assert (seam.failed, target.constraints[0].inverse_matrix) == (True, inverse)
    writes_that_undo_all(lambda: set_space(rig, "hand.L", rig, "spine.001", 30, 40))


def test_a_space_goes_up_to_the_next_one_and_needs_an_object_that_is_there_and_a_target_without_drivers(shot):
    rig, target, table = shot
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    assert last_frame_from(rig, "hand.L", 10, scene) == LAST
    set_space(rig, "hand.L", table, "", START, END)
    found = [last_frame_from(rig, "hand.L", start, scene) for start in (START - 5, START, END, END + 1, LAST + 7)]
    assert found == [START - 1, END, END, LAST, LAST + 7]
    hidden = empty("Hidden")
    hidden.hide_viewport = True
    view_layer.update()
    with nothing_lost(), pytest.raises(TargetError, match="'Hidden' is not in this scene, or disabled"):
        set_space(rig, "hand.L", hidden, "", END + 5, END + 9)
    target.driver_add("rotation_euler", 0).mute = True
    target.driver_add("location", 1)
    with nothing_lost(), pytest.raises(AnimationError, match=r"target 'Target hand\.L' has a driver"):
        set_space(rig, "hand.L", table, "", END + 5, END + 9)
