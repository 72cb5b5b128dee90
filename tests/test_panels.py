# SPDX-License-Identifier: GPL-3.0-or-later
"""Every panel draws in every state, and shows what counts; the offset that can be set there is kept."""

from importlib import import_module
from math import inf, pi
from pkgutil import iter_modules
from random import Random

import blf
import bpy
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector

from ik_triangulation.jobs.bake import bake, solve_pose
from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge, Locked
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.limb import Limb
from ik_triangulation.ui import panels
from ik_triangulation.ui.last_result import latest
from ik_triangulation.ui.panels.joint_text import kind_text, range_text
from ik_triangulation.ui.panels.layout import SidebarPanel, paragraph

from .layouts import Recorder, context_now, drawn
from .rigs import armature, chain_rig, configure, empty, evaluated_tip, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")

MODULES = [import_module(f"ik_triangulation.ui.panels.{module.name}") for module in iter_modules(panels.__path__)]
FOUND = [cls for module in MODULES for name, cls in vars(module).items() if name.startswith("VIEW3D_PT_")]
PANELS = [cls for cls in dict.fromkeys(FOUND) if issubclass(cls, SidebarPanel)]


def panel(name):
    """The panel of that name, "" for the main one."""
    return next(cls for cls in PANELS if cls.__name__ == f"VIEW3D_PT_ik_triangulation{name}")


MAIN, ONLY_RESULT = panel(""), panel("_result")


def shown():
    """What all panels draw that are there."""
    found = {panel: drawn(panel) for panel in PANELS}
    return {panel: lines for panel, lines in found.items() if lines is not None}


def standard(**settings):
    rig, target = chain_rig(4), empty()
    bone = configure(rig, "Bone 3", target=target, chain_count=3, **settings)
    return rig, target, bone.ik_triangulation


def test_every_panel_there_is_in_blender_and_only_those():
    registered = {name for name in dir(bpy.types) if name.startswith("VIEW3D_PT_ik_triangulation")}
    assert {cls.__name__ for cls in FOUND} == registered


# States


def no_active_object():
    standard()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = None


def another_object():
    _, target, _ = standard()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = target


def empty_armature():
    armature("Bare", [])


def no_active_bone():
    standard()[0].data.bones.active = None


@pytest.mark.parametrize("build", [no_active_object, another_object, empty_armature, no_active_bone])
def test_without_a_bone_the_main_panel_alone_says_what_to_do(build):
    build()
    said = "Make a bone active" if build in (empty_armature, no_active_bone) else "Select an armature"
    assert list(shown()) == [MAIN]
    assert drawn(MAIN)[-1] == said


def untouched():
    chain_rig(2)


def edit_mode():
    standard()
    bpy.ops.object.mode_set(mode="EDIT")


def object_mode():
    standard()
    bpy.ops.object.mode_set(mode="OBJECT")


def new_bone_in_edit_mode():
    rig, _, _ = standard()
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.active = rig.data.edit_bones.new("New")


def target_deleted():
    _, target, _ = standard()
    bpy.data.objects.remove(target)


def target_out_of_the_scene():
    _, target, _ = standard()
    bpy.context.scene.collection.objects.unlink(target)


def armature_target():
    _, _, limb = standard()
    limb.target = chain_rig(2, name="Other")
    limb.subtarget = "Bone 1"
    configure(bpy.data.objects["Rig"], "Bone 3")


def bone_of_the_target_gone():
    armature_target()
    bpy.data.objects["Rig"].pose.bones["Bone 3"].ik_triangulation.subtarget = "Lost"


def itself():
    rig, _, limb = standard()
    limb.target, limb.pole_target, limb.pole_subtarget = rig, rig, "Bone 0"


def pole():
    standard()[2].pole_target = empty("Pole", (2.0, 0.0, 1.0))


def pole_deleted():
    pole()
    bpy.data.objects.remove(bpy.data.objects["Pole"])


def obstacles():
    _, _, limb = standard(effort_weight=0.5, rest_weight=0.5)
    limb.obstacles = bpy.data.collections.new("Crates")


def obstacles_deleted():
    obstacles()
    bpy.data.collections.remove(bpy.data.collections["Crates"])


def own_joints():
    rig, _, _ = standard()
    rig.pose.bones["Bone 3"].ik_triangulation_joint.source = "OWN"


def constraint_that_is_not_there():
    rig, _, _ = standard()
    rig.pose.bones["Bone 3"].ik_triangulation_joint.source = "CONSTRAINT"


def solved():
    rig, _, _ = standard()
    bone = rig.pose.bones["Bone 2"]
    bone.use_ik_limit_x, bone.ik_max_x, bone.ik_min_x = True, 0.1, -0.1
    bpy.ops.pose.ik_triangulation_solve()


def out_of_reach():
    _, target, _ = standard()
    target.location = (0.0, 0.0, 99.0)
    bpy.ops.pose.ik_triangulation_solve()


def turned_solve():
    standard(orientation="FULL")
    bpy.ops.pose.ik_triangulation_solve()


def baked():
    standard(effort_weight=0.5)
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=4)


def solved_and_target_deleted():
    solved()
    bpy.data.objects.remove(bpy.data.objects["Target"])


def solved_and_renamed():
    solved()
    rig = bpy.data.objects["Rig"]
    rig.name, rig.pose.bones["Bone 2"].name = "Renamed", "Other"


def solved_and_undone():
    bpy.ops.ed.undo_push(message="before")
    solved()
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()


STATES = [
    untouched, edit_mode, object_mode, new_bone_in_edit_mode, target_deleted, target_out_of_the_scene, armature_target,
    bone_of_the_target_gone, itself, pole, pole_deleted, obstacles, obstacles_deleted, own_joints,
    constraint_that_is_not_there, solved, out_of_reach, turned_solve, baked, solved_and_target_deleted,
    solved_and_renamed, solved_and_undone,
]  # fmt: skip


@pytest.mark.parametrize("build", STATES)
@pytest.mark.parametrize("system", ["NONE", "METRIC", "IMPERIAL"])
def test_every_panel_draws(build, system):
    bpy.context.scene.unit_settings.system = system
    build()
    with nothing_lost():
        found = shown()
    assert found[MAIN]
    assert all(found.values())


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
    assert any("off its orientation" in line for line in lines) == (build is turned_solve)


def test_what_stands_on_a_limit_is_shown():
    rig, target, _ = standard()
    for bone in rig.pose.bones:
        bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, -0.1, 0.1
        bone.lock_ik_y = bone.lock_ik_z = True
    target.location = (0.0, 3.0, 0.5)
    bpy.ops.pose.ik_triangulation_solve()
    assert any(line.startswith("Bone 3: ") for line in drawn(ONLY_RESULT))


def test_in_a_narrow_sidebar_long_labels_stand_above_their_values():
    configure(chain_rig(4), "Bone 3", target=empty())
    goal = import_module("ik_triangulation.ui.panels.goal").VIEW3D_PT_ik_triangulation_goal
    narrow, usual = drawn(goal, width=200), drawn(goal, width=260)
    assert narrow[narrow.index("orientation") - 1] == "Orientation:"
    assert [line for line in narrow if line != "Orientation:"] == usual


def test_presets_and_manual_are_in_the_header_or_where_that_is_too_narrow_below_it():
    configure(chain_rig(4), "Bone 3", target=empty())
    main = import_module("ik_triangulation.ui.panels.limbs").VIEW3D_PT_ik_triangulation
    assert "url_open" in drawn(main, width=200)
    assert "url_open" not in drawn(main, width=260)


def test_a_result_is_that_of_its_own_limb():
    solved()
    rig = bpy.data.objects["Rig"]
    rig.data.bones.active = rig.data.bones["Bone 2"]
    assert drawn(ONLY_RESULT) == ["Not solved yet"]
    other = chain_rig(4, name="Other")
    assert latest(other, "Bone 3") is None
    configure(rig, "Bone 3")
    assert drawn(ONLY_RESULT)[0] == "Reached"


# What is there, and what is greyed out


def test_what_does_not_count_is_greyed_out_or_not_there():
    _, _, limb = standard()
    main, goal, comfort = MAIN, panel("_goal"), panel("_comfort")
    solver, baking = panel("_solver"), panel("_bake")
    assert drawn(main)[-6:] == ["Limb to Bone 3", "target", "chain_count", "use_selected", "solve", "live"]
    assert drawn(goal) == [
        "influence", "shape", "use_offset", "offset_set", "orientation", "orient_weight", "pole_target",
    ]  # fmt: skip
    assert drawn(comfort) == ["effort_weight", "rest_weight", "(rest_pose)", "obstacles"]
    assert drawn(solver)[-2:] == ["finish", "seed"]
    assert drawn(baking)[:3] == ["use_scene_range", "(frame_start)", "(frame_end)"]
    assert "(reduce_tolerance)" in drawn(panel("_keys"))
    assert "smooth" in drawn(panel("_smoothness"))
    limb.use_selected, limb.orientation, limb.rest_weight = True, "NONE", 0.5
    limb.finish = limb.use_scene_range = False
    limb.pole_target, limb.obstacles = empty("Pole"), bpy.data.collections.new("Crates")
    assert "(chain_count)" in drawn(main)
    assert drawn(goal)[-4:] == ["(orient_weight)", "pole_target", "pole_angle", "pole_weight"]
    assert drawn(comfort)[2:] == ["rest_pose", "obstacles", "obstacle_margin", "obstacle_weight"]
    assert drawn(solver)[-2:] == ["iterations", "finish"]
    assert drawn(baking)[1:3] == ["frame_start", "frame_end"]


@pytest.mark.parametrize("width", [200, 250, 500])
def test_the_list_of_limbs_shows_those_that_have_a_target_and_what_came_of_them(width):
    rig, target, limb = standard(solver="CCD")
    configure(rig, "Bone 1", target=target, chain_count=2)
    bpy.ops.pose.ik_triangulation_solve()
    said = drawn(MAIN, width)
    columns = [
        ["Target"][: width > 200],
        ["Triangulation"][: width == 500],
        ["Cyclic Coordinate Descent"][: width == 500],
    ]
    row = ["enabled", "Bone 1", *columns[0], *columns[1], "live"]
    other = ["enabled", "Bone 3", *columns[0], *columns[2], "live"]
    assert said[: len(row + other)] == row + other
    limb.target = None
    assert "Bone 3" not in drawn(MAIN, width)


@pytest.mark.parametrize("width", [200, 250, 500])
def test_the_list_of_joints_shows_what_each_bone_of_the_limb_may_do_and_how_it_stands(width):
    rig, _, _ = standard()
    hinge, beyond = (rig.pose.bones[name] for name in ("Bone 2", "Bone 1"))
    joint = hinge.ik_triangulation_joint
    joint.source, joint.kind, joint.axis, joint.lower, joint.upper = "OWN", "HINGE", (-1.0, 0.0, 0.0), 0.0, pi / 2.0
    joint.stiffness = 0.25
    beyond.use_ik_limit_x, beyond.ik_min_x, beyond.ik_max_x = True, -0.1, 0.1
    for bone, angle in ((hinge, -pi / 2.0), (beyond, 0.5)):
        bone.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), angle)
    said = drawn(panel("_joint"), width)
    wide = width == 500
    kinds = [["Euler"], ["Hinge -X"], ["Free"]] if width > 200 else [[], [], []]
    assert said[: said.index("Bone 3")] == [
        "Bone 1", *kinds[0], *(["X -6° to 6°"] if wide else []), "29°",
        "Bone 2", *kinds[1], *(["0° to 90°", "0.25"] if wide else []), "90°",
    ]  # fmt: skip
    free = ["Bone 3", *kinds[2], "0°"]
    assert said[said.index("Bone 3") :][: len(free)] == free


def test_the_joint_chosen_in_the_list_is_the_one_whose_limits_are_shown():
    rig, _, _ = standard()
    lists, joints = bpy.context.window_manager.ik_triangulation_lists, panel("_joint")
    assert lists.joint == rig.pose.bones.find("Bone 3")
    lists.joint = rig.pose.bones.find("Bone 2")
    assert drawn(joints).count("Bone 2") == 2
    assert rig.data.bones.active.name == "Bone 3"
    lists.joint = rig.pose.bones.find("Bone 0")  # which the limb does not turn
    assert drawn(joints).count("Bone 3") == 2
    lists.limb = rig.pose.bones.find("Bone 1")
    assert rig.data.bones.active.name == "Bone 1"


@pytest.mark.parametrize(
    ("freedom", "kind", "limits"),
    [
        (Free(), "Free", ""),
        (Locked(), "Locked", ""),
        (Hinge(Vector((0.0, 0.0, 1.0)), -inf, inf), "Hinge Z", ""),
        (Hinge(Vector((1.0, 1.0, 0.0)), 0.0, inf), "Hinge", "0° to any"),
        (Hinge(Vector((1.0, 0.0, 0.0)), 0.5, 0.5), "Locked", "29° to 29°"),
        (Cone(pi / 4.0, -0.1, 0.1), "Cone", "to 45°, twist -6° to 6°"),
        (EulerLimits("XYZ", (-pi, -inf, 0.0), (pi, inf, 1.0)), "Euler", "X -180° to 180°, Z 0° to 57°"),
    ],
)
def test_what_a_joint_may_do_is_said_in_few_words(freedom, kind, limits):
    assert (kind_text(freedom), range_text(freedom)) == (kind, limits)


def test_no_panel_raises_or_writes_in_any_of_500_states():
    random = Random(6)
    for number in range(500):
        if number % 25 == 0:
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
            random.choice(STATES)()
            bpy.ops.ed.undo_push(message=f"State {number}")
        change_anything(random)
        with nothing_lost():
            found = [drawn(panel, random.choice((None, 120, 200, 350, 900))) for panel in PANELS]
        assert found[PANELS.index(MAIN)], number


def change_anything(random):
    """Give some settings of some bone any value that they can have, and now and then lose something."""
    rigs = [ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.pose.bones]
    if not rigs:
        return
    bone = random.choice(random.choice(rigs).pose.bones)
    for group in (bone.ik_triangulation, bone.ik_triangulation_joint, bone):
        for prop in random.sample(list(group.bl_rna.properties), 5):
            of_blender = group == bone and prop.type == "POINTER"
            if not (prop.is_readonly or of_blender) and prop.identifier != "name":
                change(group, prop, random)
    if random.random() < 0.1:
        bpy.data.objects.remove(random.choice(bpy.data.objects))
    if random.random() < 0.1:
        bpy.context.view_layer.objects.active = random.choice([None, *bpy.context.view_layer.objects])


def change(group, prop, random):
    if prop.type == "ENUM" and not prop.is_enum_flag:
        value = random.choice(prop.enum_items.keys())
    elif prop.type == "BOOLEAN" and not prop.is_array:
        value = random.random() < 0.5
    elif prop.type in {"FLOAT", "INT"}:
        low, high = max(prop.hard_min, -7), min(prop.hard_max, 7)
        value = [random.uniform(low, high) for _ in range(prop.array_length or 1)]
        value = [int(each) for each in value] if prop.type == "INT" else value
        value = value if prop.is_array else value[0]
    elif prop.type == "POINTER" and prop.fixed_type.identifier == "Object":
        value = random.choice([None, *bpy.data.objects])
    else:
        return
    if isinstance(value, list) and len(value) == 16:
        return  # a matrix
    setattr(group, prop.identifier, value)


def test_a_bone_can_be_chosen_where_target_or_pole_is_an_armature():
    _, _, limb = standard()
    limb.target = limb.pole_target = chain_rig(2, name="Other")
    configure(bpy.data.objects["Rig"], "Bone 3")
    assert "subtarget" in drawn(MAIN)
    assert "pole_subtarget" in drawn(panel("_goal"))


# Offset


def offset_now(rig, target):
    """Place and rotation of the tip bone's tail in the target's space, as shown."""
    shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bone = shown.pose.bones["Bone 3"]
    world = target.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world
    rotation = world.to_quaternion().conjugated() @ (shown.matrix_world @ bone.matrix).to_quaternion()
    return world.inverted() @ (shown.matrix_world @ bone.tail), rotation


def with_offset(**settings):
    rig, target, limb = standard(tolerance=1e-4, **settings)
    target.matrix_world = Matrix.LocRotScale((0.4, 0.6, 2.0), Euler((0.3, -0.5, 1.0)), (0.5, 0.5, 0.5))
    for number, bone in enumerate(rig.pose.bones):
        bone.rotation_quaternion = (0.95, 0.2, 0.1 * number, 0.1)
    bpy.context.view_layer.update()
    assert bpy.ops.pose.ik_triangulation_offset_set() == {"FINISHED"}
    return rig, target, limb


def test_setting_the_offset_moves_nothing_and_a_solve_then_moves_nothing_either():
    rig, target, limb = with_offset(orientation="FULL")
    assert limb.use_offset
    place_then, rotation_then = offset_now(rig, target)
    assert (Vector(limb.offset_location) - place_then).length < 1e-5
    assert rotation_angle(limb.offset_rotation, rotation_then) < 1e-5
    tip = evaluated_tip(rig, "Bone 3")
    bpy.ops.pose.ik_triangulation_solve()
    assert (evaluated_tip(rig, "Bone 3") - tip).length < 1e-4


@pytest.mark.parametrize("orientation", ["AUTO", "FULL", "DIRECTION"])
def test_the_offset_is_kept_when_the_target_moves_in_solve_and_bake(orientation):
    rig, target, limb = with_offset(orientation=orientation)
    place_then, rotation_then = offset_now(rig, target)
    turn = Euler((0.1, 0.15, -0.1)).to_quaternion()

    def kept():
        where, how = offset_now(rig, target)
        assert (where - place_then).length < 1e-3
        if orientation == "FULL":
            assert rotation_angle(how, rotation_then) < 2e-3
        if orientation == "DIRECTION":
            along = Vector((0.0, 1.0, 0.0))
            assert (how @ along).angle(rotation_then @ along) < 2e-3

    target.keyframe_insert("location", frame=1)
    target.keyframe_insert("rotation_euler", frame=1)
    target.location += Vector((0.1, -0.05, -0.15))
    target.rotation_euler = (turn @ target.rotation_euler.to_quaternion()).to_euler()
    target.keyframe_insert("location", frame=10)
    target.keyframe_insert("rotation_euler", frame=10)
    bpy.context.scene.frame_set(10)
    assert solve_pose(Limb.of(rig.pose.bones["Bone 3"])).all_reached
    kept()
    assert bake(Limb.of(rig.pose.bones["Bone 3"]), 1, 10).all_reached
    for frame in (1, 4, 10):
        bpy.context.scene.frame_set(frame)
        kept()
    assert limb.use_offset


def test_without_the_offset_the_tip_goes_to_the_target_again():
    rig, target, limb = with_offset()
    limb.use_offset = False
    bpy.ops.pose.ik_triangulation_solve()
    assert (evaluated_tip(rig, "Bone 3") - target.matrix_world.translation).length < 1e-3


def test_setting_the_offset_is_one_step_of_undo():
    standard()
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.pose.ik_triangulation_offset_set()
    bpy.ops.ed.undo_push(message="after")
    limb = bpy.data.objects["Rig"].pose.bones["Bone 3"].ik_triangulation
    set_to = tuple(limb.offset_location)
    assert limb.use_offset
    bpy.ops.ed.undo()
    limb = bpy.data.objects["Rig"].pose.bones["Bone 3"].ik_triangulation
    assert not limb.use_offset
    assert tuple(limb.offset_location) == (0.0, 0.0, 0.0)
    bpy.ops.ed.redo()
    limb = bpy.data.objects["Rig"].pose.bones["Bone 3"].ik_triangulation
    assert limb.use_offset
    assert tuple(limb.offset_location) == set_to
    for name in ("offset_set", "map"):
        assert {"REGISTER", "UNDO"} <= getattr(bpy.types, f"POSE_OT_ik_triangulation_{name}").bl_options


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("no target", "Choose a target for 'Bone 3'"),
        ("flat target", "Target 'Target' is scaled flat"),
        ("no such bone", "Bone 'Lost' is not in target 'Other'"),
        ("hidden target", "Target 'Target' is disabled in this view layer"),
        ("edit mode", "Leave Edit Mode first"),
        ("too long", "Chain length 9"),
    ],
)
def test_what_keeps_the_offset_from_being_set_is_told(how, message):
    _, target, limb = standard()
    if how == "no target":
        limb.target = None
    elif how == "flat target":
        target.scale = (1.0, 0.0, 1.0)
    elif how == "no such bone":
        limb.target, limb.subtarget = chain_rig(1, name="Other"), "Lost"
        configure(bpy.data.objects["Rig"], "Bone 3")
    elif how == "hidden target":
        target.hide_viewport = True
    elif how == "edit mode":
        bpy.ops.object.mode_set(mode="EDIT")
    else:
        limb.chain_count = 9
    with nothing_lost(), pytest.raises(RuntimeError, match=message):
        bpy.ops.pose.ik_triangulation_offset_set()


def lines_of(text, width):
    """The lines that a paragraph draws in a sidebar of this width [pixels]."""
    context = context_now(width)
    column = Recorder(context)
    paragraph(column, text, context)
    return column.drawn


def width_of(line):
    blf.size(0, bpy.context.preferences.ui_styles[0].widget.points)
    return blf.dimensions(0, line)[0]


@pytest.mark.parametrize("width", [150, 260, 500])
@pytest.mark.parametrize("letters", ["i", "W", "word"])
def test_a_paragraph_is_as_wide_as_the_font_and_the_sidebar_allow(width, letters):
    text = " ".join([letters] * 60)
    lines = lines_of(text, width)
    assert " ".join(lines) == text
    room = width - 60
    assert all(width_of(line) <= room for line in lines)
    assert all(width_of(f"{line} {letters}") > room for line in lines[:-1])


@pytest.mark.parametrize("width", [20, 150, 260])
def test_a_word_that_is_too_long_for_a_line_is_cut(width):
    text = "A_bone_with_a_very_long_name" * 4
    lines = lines_of(f"At {text} now", width)
    assert "".join(lines).replace(" ", "") == f"At{text}now"
    assert all(width_of(line) <= width - 60 or len(line) == 1 for line in lines)
