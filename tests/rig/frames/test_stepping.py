# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion that is there only as part of the user's scene is read by stepping that, which is left as it was."""

from contextlib import contextmanager

import bpy
import pytest

from ik_triangulation.errors import RigError
from ik_triangulation.jobs.bake import bake, bake_spans
from ik_triangulation.jobs.compare import compare
from ik_triangulation.jobs.reach import reach
from ik_triangulation.rig.limb import Limb

from ...rigs import chain_rig, empty, evaluated_tip, key_location, nothing_lost, path_point, place
from .scenes import LAST, drive, scene_bound, stepped

pytestmark = pytest.mark.usefixtures("empty_scene")


def falling_cube():
    """A cube that physics lets fall, with nothing simulated yet."""
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_cube_add(location=(0.3, 0.4, 2.0))
    bpy.ops.rigidbody.object_add()
    return bpy.context.object


def comparison(limb):
    return compare.steps(limb, range(1, LAST + 1), ["TRIANGULATION", "CCD"], seconds=0.0)


def reached(limb):
    return reach.steps(limb, 1, LAST, seconds=0.0)


def unkeyed():
    """What is posed against its keys, of many kinds, and what only is where it is; beside a frame between two."""
    other, light = empty("Other"), bpy.data.lights.new("Lamp", "POINT")
    lamp = place(bpy.data.objects.new("Lamp", light))
    light.energy = 10.0
    light.keyframe_insert("energy", frame=1)
    light.energy = 20.0
    key_location(other, (1, 20))
    other["push"] = 1.0
    other.keyframe_insert('["push"]', frame=1)
    bpy.context.scene.frame_set(4, subframe=0.25)
    other.location, other["push"], light.energy, lamp.rotation_euler.x = (7.0, 8.0, 9.0), 3.5, 30.0, 0.4
    return lambda: (tuple(other.location), other["push"], light.energy, lamp.rotation_euler.x)


@contextmanager
def handler(call, name="frame_change_post"):
    handlers = getattr(bpy.app.handlers, name)
    handlers.append(call)
    try:
        yield handlers
        assert handlers[-1:] == [call]
    finally:
        handlers.remove(call)


@pytest.mark.parametrize("kind", ["SINGLE_PROP", "CONTEXT_PROP"])
def test_a_driver_that_reads_the_scene_is_followed(kind):
    rig, target = scene_bound(kind)
    report = bake(Limb.from_tip(rig, "Bone 2", target), 3, LAST)
    assert report.all_reached
    assert stepped(report) == ["The scene was stepped frame by frame: a driver on 'Target' reads the scene."]
    assert report.warnings == stepped(report)
    for frame in (3, 7, LAST):
        bpy.context.scene.frame_set(frame)
        assert target.matrix_world.translation.x == pytest.approx(frame / 100 + 0.5)
        assert (evaluated_tip(rig, "Bone 2") - target.matrix_world.translation).length < 1e-3


@pytest.mark.parametrize("moved", ["parent", "rig", "bone"])
def test_what_moves_the_target_or_the_rig_may_be_driven_by_the_scene(moved):
    rig, target = chain_rig(3), empty()
    parent = empty("Parent", (0.0, 0.0, 0.0))
    target.parent = parent
    drive({"parent": parent, "rig": rig, "bone": rig.pose.bones["Bone 0"]}[moved], "SINGLE_PROP")
    report = bake(Limb.from_tip(rig, "Bone 2", target, 2), 1, LAST)
    assert report.all_reached
    assert report.warnings == stepped(report) != []
    bpy.context.scene.frame_set(LAST)
    assert (evaluated_tip(rig, "Bone 2") - target.matrix_world.translation).length < 1e-3


def test_what_physics_moves_is_followed_from_its_first_frame():
    rig, cube = chain_rig(3), falling_cube()
    target = empty("Target", (0.0, 0.0, 0.0))
    target.parent = cube
    seen = []
    limb = Limb.from_tip(rig, "Bone 2", target)
    report = bake(limb, 9, LAST, progress=lambda done, of: seen.append((done, of)))
    assert stepped(report) == ["The scene was stepped frame by frame: 'Cube' is moved by rigid body physics."]
    assert report.all_reached
    assert seen[:LAST] == [(n, LAST + 4) for n in range(1, LAST + 1)]  # the frames stepped
    assert seen[-1] == (LAST + 4, LAST + 4)  # and those solved, all together
    scene = bpy.context.scene
    for frame in range(1, LAST + 1):
        scene.frame_set(frame)
    assert target.evaluated_get(bpy.context.view_layer.depsgraph).matrix_world.translation.z < 1.9
    for frame in (9, LAST):
        scene.frame_set(frame)
        there = target.evaluated_get(bpy.context.view_layer.depsgraph).matrix_world.translation
        assert (evaluated_tip(rig, "Bone 2") - there).length < 1e-3


def test_between_frames_what_physics_moves_is_where_it_is_shown():
    rig, cube = chain_rig(3), falling_cube()
    report = bake(Limb.from_tip(rig, "Bone 2", cube), 8, 9, 0.5)
    heights = [(rig.matrix_world @ result.pose.tip).z for result in report.frames]
    assert [result.frame for result in report.frames] == [8, 8.5, 9]
    assert report.all_reached
    assert heights[1] == pytest.approx((heights[0] + heights[2]) / 2, abs=0.01)


def test_a_passive_rigid_body_needs_no_stepping():
    rig, cube = chain_rig(3), falling_cube()
    cube.rigid_body.type = "PASSIVE"
    assert bake(Limb.from_tip(rig, "Bone 2", cube, shape="POINT"), 1, 3).warnings == []


def test_a_vertex_of_cloth_is_seen_to_be_simulated():
    rig = chain_rig(3)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_grid_add(location=(0.5, 0.5, 1.0))
    grid = bpy.context.object
    grid.modifiers.new("Cloth", "CLOTH")
    target = empty("Target", (0.0, 0.0, 0.0))
    target.parent, target.parent_type = grid, "VERTEX"
    report = bake(Limb.from_tip(rig, "Bone 2", target), 1, 8)
    assert stepped(report) == ["The scene was stepped frame by frame: 'Grid' is deformed by a simulation."]
    places = [rig.matrix_world @ result.pose.tip for result in report.frames]
    assert places[-1].z < places[0].z - 0.1


def test_what_is_posed_without_keys_stays_as_it_is():
    rig, target = scene_bound()
    shown = unkeyed()
    rig.pose.bones["Bone 0"].location = (0.1, 0.2, 0.3)
    rig.pose.bones["Bone 0"].keyframe_insert("location", frame=2)
    rig.pose.bones["Bone 0"].location = (0.4, 0.5, 0.6)
    before = shown()
    scene = bpy.context.scene
    cameras = [place(bpy.data.objects.new(name, bpy.data.cameras.new(name))) for name in ("One", "Two")]
    scene.timeline_markers.new("Cut", frame=2).camera = cameras[0]
    scene.camera = cameras[1]
    assert bake(Limb.from_tip(rig, "Bone 2", target), 1, LAST).all_reached
    assert shown() == before
    assert tuple(rig.pose.bones["Bone 0"].location) == pytest.approx((0.4, 0.5, 0.6))
    assert (scene.frame_current, scene.frame_subframe) == (4, 0.25)
    assert scene.camera == cameras[1]


def test_closed_at_any_frame_nothing_is_lost():
    rig, target = scene_bound()
    shown = unkeyed()
    before = shown()
    limb = Limb.from_tip(rig, "Bone 2", target)
    with nothing_lost():
        for frames in range(1, 2 * LAST + 1):
            job = bake_spans.steps([limb], [(1, LAST, 1)], seconds=0.0)
            for _ in range(frames):
                next(job)
            job.close()
            assert shown() == before


@pytest.mark.parametrize("whose", [comparison, reached])
def test_a_reach_or_a_comparison_that_is_closed_at_any_part_loses_nothing(whose):
    rig, target = scene_bound()
    shown = unkeyed()
    before, limb = shown(), Limb.from_tip(rig, "Bone 2", target)
    parts = sum(1 for _ in whose(limb))
    rig.animation_data_clear()
    assert parts > 2 * LAST
    with nothing_lost():
        for part in range(1, parts):
            job = whose(limb)
            for _ in range(part):
                next(job)
            job.close()
            assert shown() == before


def test_a_fault_at_a_stepped_frame_loses_nothing():
    rig, target = scene_bound()
    rig.scale = (1.0, 1.0, 1.0)
    for frame, scale in ((1, 1.0), (5, 0.0)):
        rig.scale.x = scale
        rig.keyframe_insert("scale", frame=frame)
    rig.scale.x = 1.0
    limb = Limb.from_tip(rig, "Bone 2", target)
    with nothing_lost(), pytest.raises(RigError, match="zero scale at frame 5"):
        bake(limb, 1, LAST)


def test_a_handler_that_reads_the_scene_on_screen_is_followed():
    """As add-ons do that take the frame from the context."""
    rig, target = chain_rig(3), empty()

    def move(*_):
        target.location = path_point(bpy.context.scene.frame_current)

    with handler(move):
        report = bake(Limb.from_tip(rig, "Bone 2", target), 1, LAST)
        assert stepped(report) == [
            "The scene was stepped frame by frame: another add-on moves 'Target' as the frame changes."
        ]
        assert report.all_reached
        for result in report.frames:
            assert (rig.matrix_world @ result.pose.tip - path_point(result.frame)).length < 1e-3


def test_what_a_handler_moves_is_left_as_it_was():
    rig, target = chain_rig(3), empty()
    pushed = empty("Pushed")

    def move(scene, *_):
        target.location = path_point(scene.frame_current)
        pushed.location.x += 1.0

    before = tuple(target.location), tuple(pushed.location)
    with handler(move, "frame_change_pre"):
        report = bake(Limb.from_tip(rig, "Bone 2", target), 1, LAST)
        assert report.all_reached
        assert len(stepped(report)) == 1
        assert (tuple(target.location), tuple(pushed.location)) == before


def test_a_handler_that_moves_nothing_of_it_is_not_called_for_the_bake():
    rig, target = chain_rig(3), key_location(empty(), (1, 20))
    called = []
    with handler(lambda *_: called.append(1)):
        report = bake(Limb.from_tip(rig, "Bone 2", target), 1, LAST)
    assert report.warnings == []
    assert len(called) <= 4  # to see whether it moves something, at three frames and back
