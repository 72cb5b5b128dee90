# SPDX-License-Identifier: GPL-3.0-or-later
"""Where constraints, the NLA or F-Curve modifiers move a limb as well, each frame is told as Blender shows it."""

from collections.abc import Sequence
from contextlib import ExitStack
from re import search

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.jobs.bake import bake, rebake
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.reach import reach
from ik_triangulation.jobs.shots import measure
from ik_triangulation.jobs.shots.frame_solver import follow
from ik_triangulation.jobs.shots.keys import LimbBake, write_bakes
from ik_triangulation.jobs.shots.measure import NOT_MEASURED, Watch, measure_frames
from ik_triangulation.rig.armature import Bones
from ik_triangulation.rig.frames import reader as reader_module
from ik_triangulation.rig.frames.reader import FrameReader
from ik_triangulation.rig.frames.samples import temporary_scene
from ik_triangulation.rig.layers import Destination
from ik_triangulation.rig.limb import Limb
from ik_triangulation.ui.last_result import latest

from ...rigs import configure, curves_of, empty, evaluated_tip, key_location
from ..interfering import LAST, TIP, check, copied, doubled, faded_in, limb, moving

pytestmark = pytest.mark.usefixtures("empty_scene")


def whole(rig):
    copied(rig)


def half(rig):
    copied(rig).influence = 0.5


def muted_by_a_driver(rig):
    constraint = copied(rig)
    driver = constraint.driver_add("mute").driver
    driver.expression = "frame < 6"


def inverse_kinematics(rig):
    copied(rig, TIP, "IK").chain_count = 3


def below(rig):
    """An IK constraint further down turns the chain."""
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Finger")
    bone.head, bone.tail = rig.data.edit_bones[TIP].tail, rig.data.edit_bones[TIP].tail + Vector((0.0, 0.0, 0.3))
    bone.parent = rig.data.edit_bones[TIP]
    bpy.ops.object.mode_set(mode="POSE")
    copied(rig, "Finger", "IK").chain_count = 3


def held(rig):
    for bone in rig.pose.bones:
        limit = bone.constraints.new("LIMIT_ROTATION")
        bone.ik_triangulation_joint.source = "BLENDER"  # or these would be the limits
        limit.owner_space = "LOCAL"
        limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True


def strip_on_top(rig):
    bone = rig.pose.bones["Bone 1"]
    for frame in (6, LAST):
        bone.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    animation = rig.animation_data
    strip = animation.nla_tracks.new().strips.new("Below", 6, animation.action)
    strip.extrapolation = "NOTHING"
    animation.action = None
    animation.action_influence = 0.5
    bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)


def noise(rig):
    bone = rig.pose.bones["Bone 0"]
    for frame in (1, LAST):
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    for curve in curves_of(rig):
        curve.modifiers.new("NOISE").strength = 0.3


def animated_object(rig):
    """The constraint's target comes near only at some frames."""
    constraint = copied(rig, "Bone 2", "DAMPED_TRACK")
    constraint.track_axis = "TRACK_Y"
    key_location(constraint.target, range(1, LAST + 1), lambda frame: Vector((frame, -1.0, 0.5 * frame)))


KINDS = (
    whole,
    half,
    faded_in,
    muted_by_a_driver,
    inverse_kinematics,
    below,
    held,
    strip_on_top,
    noise,
    animated_object,
)


@pytest.mark.parametrize("interfere", KINDS)
@pytest.mark.parametrize("act", [bake, reach])
def test_every_frame_is_told_as_it_is_shown(interfere, act):
    rig, target = moving()
    interfere(rig)
    arm = limb(rig, target)
    bpy.context.view_layer.update()
    if act is bake:
        report = bake(arm, 1, LAST)
        check(rig, target, report)
    else:
        report = reach(arm, 1, 5, hold=LAST - 5)
        for result in report.due:
            bpy.context.scene.frame_set(int(result.frame))
            shown = (evaluated_tip(rig, TIP) - target.matrix_world.translation).length
            assert result.error == pytest.approx(shown, abs=2e-5)
            assert result.reached == (shown <= report.tolerance)
    assert not report.all_reached
    assert any(search(r"\d (m|cm|mm) away from the solution", warning) for warning in report.warnings), "in units"


@pytest.mark.parametrize("interfere", [whole, half, inverse_kinematics, held])
def test_a_solved_pose_is_told_as_it_is_shown(interfere):
    rig, target = moving()
    interfere(rig)
    bpy.context.view_layer.update()
    report = solve_pose(limb(rig, target))
    shown = (evaluated_tip(rig, TIP) - target.matrix_world.translation).length
    assert report.worst.error == pytest.approx(shown, abs=2e-5)
    assert not report.all_reached


def test_a_live_pose_is_told_as_it_is_shown():
    rig, target = moving()
    target.animation_data_clear()
    whole(rig)
    configure(rig, TIP, target=target, chain_count=3)
    live.start(rig, TIP)
    for x in (0.7, 1.1):
        target.location.x = x
        bpy.context.view_layer.update()
        assert bpy.app.timers.is_registered(live._measure)
        live._measure()
        shown = (evaluated_tip(rig, TIP) - target.matrix_world.translation).length
        assert shown > 0.01
        assert latest(rig, TIP).report.worst.error == pytest.approx(shown, abs=2e-5)
    live.stop_all()


def test_a_turned_hand_is_told_where_a_constraint_turns_it():
    rig, target = moving()
    copied(rig, TIP).mix_mode = "REPLACE"
    arm = limb(rig, target, orientation="FULL")
    report = bake(arm, 1, LAST)
    assert report.largest_angle > 0.1
    assert not report.reached


def test_keys_made_by_hand_that_a_re_bake_keeps_are_told_as_they_are_shown():
    rig, target = moving()
    bake(limb(rig, target), 1, LAST)
    rig.pose.bones["Bone 0"].rotation_quaternion = (0.5, 0.5, -0.5, 0.5)
    rig.pose.bones["Bone 0"].keyframe_insert("rotation_quaternion", frame=6)
    for curve in curves_of(rig):
        for key in curve.keyframe_points:
            if key.co.x == 6.0 and "Bone 0" in curve.data_path:
                key.type = "KEYFRAME"
    configure(rig, TIP, target=target, chain_count=3)
    report = rebake(rig, TIP)
    check(rig, target, report)
    assert report.missed == [6]
    assert not any("away from the solution" in warning for warning in report.warnings)


class Touched(Sequence):
    """Solved frames, with a record of those that are looked at."""

    def __init__(self, solved):
        self.solved, self.at = solved, set()

    def __len__(self):
        return len(self.solved)

    def __getitem__(self, index):
        self.at.add(index)
        return self.solved[index]


def baked_frames(monkeypatch):
    """A baked limb: its watch, its reader, its solved frames, and whether a scene was made to measure them."""
    rig, target = moving()
    arm = limb(rig, target)
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    made = []

    def counted(*where):
        made.append(where)
        return temporary_scene(*where)

    watch, reader = Watch(arm), FrameReader(arm, scene, view_layer, range(1, LAST + 1))
    solved = list(follow(arm, Bones(rig, arm.bones, arm.solved), finished(reader.read())))
    with ExitStack() as undo:
        frames = [each.now.frame for each in solved]
        destination = Destination(frames[0], frames[-1])
        finished(write_bakes([LimbBake(arm, solved, (1, LAST), destination)], undo, scene=scene, view_layer=view_layer))
        undo.pop_all()
    monkeypatch.setattr(reader_module, "temporary_scene", counted)
    monkeypatch.setattr(measure, "frames_of", lambda solved: frames)
    return watch, reader, Touched(solved), made


@pytest.mark.parametrize(("frame", "scenes", "looked_at"), [(5, 0, {4}), (LAST + 5, 1, {0, 6, LAST - 1})])
def test_few_frames_are_looked_at_where_nothing_interferes(monkeypatch, frame, scenes, looked_at):
    bpy.context.scene.frame_set(frame)
    watch, reader, solved, made = baked_frames(monkeypatch)
    measured = finished(measure_frames(watch, reader, solved, range(LAST)))
    assert measured == NOT_MEASURED
    assert (len(made), solved.at) == (scenes, looked_at)


def test_a_frame_on_screen_that_was_posed_otherwise_is_not_taken_for_a_deviation(monkeypatch):
    bpy.context.scene.frame_set(5)
    watch, reader, solved, made = baked_frames(monkeypatch)
    watch.limb.armature.pose.bones["Bone 0"].rotation_quaternion = (0.0, 1.0, 0.0, 0.0)
    assert finished(measure_frames(watch, reader, solved, range(LAST))) == NOT_MEASURED
    assert (len(made), solved.at) == (1, {0, 4, 6, LAST - 1})


def test_keys_that_are_changed_are_seen_wherever_they_are_looked_at(monkeypatch):
    watch, reader, solved, _ = baked_frames(monkeypatch)
    for curve in curves_of(watch.limb.armature):
        for key in curve.keyframe_points:
            key.co.y += 0.3 * ("Bone 0" in curve.data_path)
    bpy.context.scene.frame_set(5)
    measured = finished(measure_frames(watch, reader, solved, range(LAST)))
    assert len(measured.shown) == LAST
    assert len(measured.warnings) == 1


def test_limbs_that_are_watched_together_share_the_links_of_their_rig():
    rig, _ = doubled()
    known = {}
    watches = [Watch(Limb.from_tip(rig, f"Bone {i}", empty(f"Target {i}")), known) for i in (1, 2)]
    assert [list(watch.followers) for watch in watches] == [["Skin 1"], ["Skin 2"]]
    assert list(known) == [rig.session_uid]
