# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user can press: it does what the Python call does, says what came of it, and why it cannot be pressed."""

import bpy
import pytest

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.rig.limb import Limb

from ...rigs import (
    all_keys,
    chain_rig,
    configure,
    curves_of,
    empty,
    key_frames,
    key_location,
    nothing_lost,
    place,
)
from .rebuilt import standard

pytestmark = pytest.mark.usefixtures("empty_scene")

SETTINGS = {"solver": "CCD", "tolerance": 0.005, "iterations": 7, "finish": False, "seed": 3}


def poses(rig):
    return [tuple(bone.rotation_quaternion) for bone in rig.pose.bones]


def rebuilt(action, *args, **settings):
    """Do the same on a fresh file and return the rig."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig, target = standard(**settings)
    action(rig, target, *args)
    return rig


# The same as the call


@pytest.mark.parametrize("settings", [{}, SETTINGS], ids=["defaults", "own settings"])
def test_the_bake_operator_writes_the_keys_of_the_call(settings):
    rig = rebuilt(
        lambda rig, target: bpy.ops.pose.ik_triangulation_bake(frame_start=3, frame_end=20, step=2), **settings
    )
    pressed = repr(all_keys(rig)), poses(rig)
    rig = rebuilt(lambda rig, target: bake(Limb.from_tip(rig, "Bone 3", target, 3, **settings), 3, 20, 2), **settings)
    assert pressed == (repr(all_keys(rig)), poses(rig))
    assert key_frames(curves_of(rig)[0]) == list(range(3, 21, 2))


@pytest.mark.parametrize("settings", [{}, SETTINGS], ids=["defaults", "own settings"])
def test_the_solve_operator_makes_the_pose_of_the_call(settings):
    rig = rebuilt(lambda rig, target: bpy.ops.pose.ik_triangulation_solve(), **settings)
    pressed = poses(rig)
    rig = rebuilt(lambda rig, target: solve_pose(Limb.from_tip(rig, "Bone 3", target, 3, **settings)), **settings)
    assert pressed == poses(rig)
    assert pressed != [(1.0, 0.0, 0.0, 0.0)] * 4


# Which bones and frames


def test_the_range_of_the_scene_is_baked_unless_told_otherwise():
    rig, _ = standard()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 5, 12
    bpy.ops.pose.ik_triangulation_bake()
    assert key_frames(curves_of(rig)[0]) == list(range(5, 13))


def test_the_preview_range_is_baked_where_it_is_on():
    rig, _ = standard()
    scene = bpy.context.scene
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 7, 9
    bpy.ops.pose.ik_triangulation_bake()
    assert key_frames(curves_of(rig)[0]) == [7, 8, 9]


def test_the_range_of_the_limb_is_baked_where_it_has_its_own():
    rig, _ = standard(use_scene_range=False, frame_start=2, frame_end=10, step=4)
    bpy.ops.pose.ik_triangulation_bake()
    assert key_frames(curves_of(rig)[0]) == [2, 6, 10]


def test_what_is_given_goes_before_the_settings():
    rig, _ = standard(use_scene_range=False, frame_start=2, frame_end=10, step=4)
    bpy.ops.pose.ik_triangulation_bake(frame_end=4, step=1)
    assert key_frames(curves_of(rig)[0]) == [2, 3, 4]


def test_an_empty_range_is_refused():
    standard(use_scene_range=False, frame_start=9, frame_end=2)
    with nothing_lost(), pytest.raises(RuntimeError, match="IK Triangulation: The range ends at frame 2, before its"):
        bpy.ops.pose.ik_triangulation_bake()


# Keys


def test_a_solve_is_keyed_only_with_auto_keying():
    rig, _ = standard()
    bpy.context.scene.frame_set(9)
    bpy.ops.pose.ik_triangulation_solve()
    assert rig.animation_data is None
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    bpy.ops.pose.ik_triangulation_solve()
    assert {tuple(key_frames(curve)) for curve in curves_of(rig)} == {(9.0,)}
    assert len(curves_of(rig)) == 12


def test_the_pose_of_a_solve_that_is_keyed_stays_when_the_frame_changes():
    rig, _ = standard()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    bpy.context.scene.frame_set(9)
    bpy.ops.pose.ik_triangulation_solve()
    before = poses(rig)
    bpy.context.scene.frame_set(20)
    bpy.context.scene.frame_set(9)
    assert poses(rig) == before


# What is said


def test_a_bake_says_how_many_frames_were_reached(capfd):
    standard()
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=10)
    assert "Info: Reached 10 of 10 frames, largest distance" in capfd.readouterr().out


def test_a_bake_out_of_reach_is_a_warning_that_names_the_worst_frame(capfd):
    _, target = standard()
    curve = curves_of(target)[0]
    curve.keyframe_points[2].co.y = 50.0
    curve.update()
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=20)
    said = capfd.readouterr().out
    assert "Warning: Reached" in said
    assert "at frame 9" in said


@pytest.mark.parametrize(
    ("location", "said"), [((0.3, 0.3, 2.0), "Info: Reached, distance"), ((9, 9, 9), "Warning: Not")]
)
def test_a_solve_says_whether_the_target_was_reached(location, said, capfd):
    rig, _ = standard()
    configure(rig, "Bone 3", target=empty("Near", location))
    bpy.ops.pose.ik_triangulation_solve()
    assert said in capfd.readouterr().out


@pytest.mark.parametrize(
    ("system", "scale", "unit"),
    [("METRIC", 1.0, " m"), ("METRIC", 0.001, " mm"), ("IMPERIAL", 1.0, "'"), ("NONE", 1.0, "")],
)
def test_distances_are_said_in_the_units_of_the_scene(system, scale, unit, capfd):
    rig, _ = standard()
    units = bpy.context.scene.unit_settings
    units.system, units.scale_length = system, scale
    configure(rig, "Bone 3", target=empty("Far", (0.0, 0.0, 9.0)), chain_count=0)
    bpy.ops.pose.ik_triangulation_solve()
    line = next(line for line in capfd.readouterr().out.splitlines() if "distance" in line)
    number = line.rpartition("distance ")[2]
    assert number.endswith(unit)
    assert any(digit in number for digit in "123456789")


# When it cannot be pressed


@pytest.mark.parametrize("way", ["EXEC_DEFAULT", "INVOKE_DEFAULT"])
def test_it_works_however_it_is_called(way):
    rig, _ = standard()
    assert bpy.ops.pose.ik_triangulation_bake(way, frame_start=1, frame_end=3) == {"FINISHED"}
    assert len(curves_of(rig)) == 12


def test_it_is_one_step_of_undo():
    for name in ("solve", "bake", "reach"):
        assert {"REGISTER", "UNDO"} <= set(getattr(bpy.types, f"POSE_OT_ik_triangulation_{name}").bl_options)


# Files


def saved_rig(folder, prepared=True):
    """A rig in a file of its own, with the settings of a limb or made by someone who knows nothing of them."""
    rig = chain_rig(4)
    bpy.ops.object.mode_set(mode="OBJECT")
    if prepared:
        rig.pose.bones["Bone 3"].ik_triangulation.chain_count = 2
    rig.pose.bones["Bone 2"].lock_ik_z = True
    path = folder / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def overridden(path):
    """Link the rig into a new file and override it."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = ["Rig"]
    linked = place(bpy.data.objects["Rig"])
    rig = linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    rig.override_library.is_system_override = False
    bpy.context.view_layer.objects.active = rig
    rig.data.bones.active = rig.data.bones["Bone 3"]
    return rig


@pytest.mark.parametrize("prepared", [True, False], ids=["with settings", "never set up"])
def test_a_library_override_is_set_up_baked_saved_and_read_again(prepared, tmp_path):
    library = saved_rig(tmp_path, prepared)
    before = library.read_bytes()
    rig = overridden(library)
    target = key_location(empty(), range(1, 42, 4))
    settings = rig.pose.bones["Bone 3"].ik_triangulation
    assert settings.chain_count == (2 if prepared else 3)
    settings.target, settings.chain_count, settings.tolerance, settings.solver = target, 4, 0.002, "CCD"
    own = rig.pose.bones["Bone 1"].ik_triangulation_joint
    own.source, own.kind, own.lower, own.upper = "OWN", "HINGE", -2.5, 2.5
    assert bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=8) == {"FINISHED"}
    keys = repr(all_keys(rig))
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    rig = next(ob for ob in bpy.data.objects if ob.override_library and ob.type == "ARMATURE")
    settings = rig.pose.bones["Bone 3"].ik_triangulation
    assert (settings.target.name, settings.chain_count, settings.solver) == ("Target", 4, "CCD")
    assert settings.tolerance == pytest.approx(0.002)
    own = rig.pose.bones["Bone 1"].ik_triangulation_joint
    assert (own.source, own.kind, own.lower) == ("OWN", "HINGE", pytest.approx(-2.5))
    assert repr(all_keys(rig)) == keys
    assert len(curves_of(rig)) == 16
    assert library.read_bytes() == before


def test_an_override_with_a_linked_action_is_baked_into_a_local_one(tmp_path):
    path = saved_rig(tmp_path)
    rig = bpy.data.objects["Rig"]
    rig.pose.bones["Bone 0"].keyframe_insert("location", frame=1)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    before = path.read_bytes()
    rig = overridden(path)
    rig.pose.bones["Bone 3"].ik_triangulation.target = key_location(empty(), range(1, 42, 4))
    with nothing_lost(), pytest.raises(RuntimeError, match=r"Action 'RigAction' is linked from .*Assign a local"):
        bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=8)
    rig.animation_data.action = bpy.data.actions.new("Local")
    assert bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=8) == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    rig = next(ob for ob in bpy.data.objects if ob.override_library and ob.type == "ARMATURE")
    assert rig.animation_data.action.name == "Local"
    assert len(curves_of(rig)) == 8
    assert path.read_bytes() == before


def test_a_linked_rig_without_an_override_says_what_to_do(tmp_path):
    library = saved_rig(tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Rig"]
    rig = place(bpy.data.objects["Rig"])
    bpy.context.view_layer.objects.active = rig
    rig.data.bones.active = rig.data.bones["Bone 3"]
    with pytest.raises(RuntimeError, match=r"'Rig' is linked\. Create a library override first"):
        bpy.ops.pose.ik_triangulation_solve()


def test_settings_are_saved_with_the_rig(tmp_path):
    standard(**SETTINGS, use_selected=True, use_scene_range=False, frame_start=3, frame_end=9, step=2)
    path = tmp_path / "rig.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    stored = bpy.data.objects["Rig"].pose.bones["Bone 3"].ik_triangulation
    for name, value in SETTINGS.items():
        assert getattr(stored, name) == (pytest.approx(value) if name == "tolerance" else value)
    assert (stored.use_selected, stored.use_scene_range, stored.frame_start, stored.step) == (True, False, 3, 2)
    assert stored.target == bpy.data.objects["Target"]
