# SPDX-License-Identifier: GPL-3.0-or-later
"""Every panel draws in every state, and shows what counts; the offset that can be set there is kept."""

from types import SimpleNamespace

import bpy
import pytest
from mathutils import Euler, Matrix, Vector

from ik_triangulation.bake import bake, solve_pose
from ik_triangulation.blender.limb import Limb
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.panels import analyse, sidebar
from ik_triangulation.results import latest

from .rigs import armature, chain_rig, configure, empty, evaluated_tip, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")

PANELS = [
    cls
    for name, cls in (vars(sidebar) | vars(analyse)).items()
    if name.startswith("VIEW3D_PT_") and issubclass(cls, sidebar.SidebarPanel) and hasattr(cls, "bl_label")
]
MAIN, ONLY_RESULT = sidebar.VIEW3D_PT_ik_triangulation, sidebar.VIEW3D_PT_ik_triangulation_result


class Recorder:
    """Takes what a panel draws, fails for what Blender would refuse, and knows what is greyed out."""

    use_property_split = use_property_decorate = False

    def __init__(self, above=None):
        self.above, self.active = above, True
        self.drawn = above.drawn if above else []

    def _part(self, align=False, heading=""):
        return Recorder(self)

    column = row = box = _part

    def _shown(self):
        return self.active and (self.above is None or self.above._shown())

    def _add(self, what, icon):
        assert icon in bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
        self.drawn.append(what if self._shown() else f"({what})")

    def prop(self, data, name, text=None, icon="NONE", slider=False, toggle=-1):
        assert name in data.bl_rna.properties
        self._add(name, icon)

    def prop_search(self, data, name, search_data, search_name, icon="NONE"):
        assert name in data.bl_rna.properties
        assert search_name in search_data.bl_rna.properties
        self._add(name, icon)

    def label(self, text="", icon="NONE"):
        assert text
        self._add(text, icon)

    def operator(self, name, text=None, icon="NONE"):
        group, _, operator = name.partition(".")
        assert hasattr(bpy.types, f"{group.upper()}_OT_{operator}")
        self._add(operator.removeprefix("ik_triangulation_"), icon)

    def separator(self, factor=1.0):
        pass


def drawn(panel):
    """What a panel draws now; None if it is not there."""
    layout, context = Recorder(), bpy.context
    seen = SimpleNamespace(
        **{name: getattr(context, name) for name in ("active_object", "scene", "preferences", "view_layer", "mode")},
        region=None,
    )
    if hasattr(panel, "poll") and not panel.poll(seen):
        return None
    panel.draw(SimpleNamespace(layout=layout, column=lambda: sidebar.SidebarPanel.column(panel_with(layout))), seen)
    return layout.drawn


def panel_with(layout):
    return SimpleNamespace(layout=layout)


def shown():
    """What all panels draw that are there."""
    found = {panel: drawn(panel) for panel in PANELS}
    return {panel: lines for panel, lines in found.items() if lines is not None}


def standard(**settings):
    rig, target = chain_rig(4), empty()
    bone = configure(rig, "Bone 3", target=target, chain_count=3, **settings)
    return rig, target, bone.ik_triangulation


def test_there_are_panels_for_everything():
    assert len(PANELS) == 11
    assert all(hasattr(bpy.types, panel.__name__) for panel in PANELS)


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
    assert shown() == {MAIN: [said]}


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
    lines = drawn(ONLY_RESULT)
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


def test_a_result_is_that_of_its_own_limb():
    solved()
    rig = bpy.data.objects["Rig"]
    rig.data.bones.active = rig.data.bones["Bone 2"]
    assert drawn(ONLY_RESULT) is None
    other = chain_rig(4, name="Other")
    assert latest(other, "Bone 3") is None
    configure(rig, "Bone 3")
    assert drawn(ONLY_RESULT)[0] == "Reached"


# What is there, and what is greyed out


def test_what_does_not_count_is_greyed_out_or_not_there():
    _, _, limb = standard()
    main, goal, comfort = MAIN, sidebar.VIEW3D_PT_ik_triangulation_goal, sidebar.VIEW3D_PT_ik_triangulation_comfort
    solver, baking = sidebar.VIEW3D_PT_ik_triangulation_solver, sidebar.VIEW3D_PT_ik_triangulation_bake
    assert drawn(main) == ["Limb to Bone 3", "target", "chain_count", "use_selected", "solve"]
    assert drawn(goal) == [
        "influence", "shape", "use_offset", "offset_set", "orientation", "orient_weight", "pole_target",
    ]  # fmt: skip
    assert drawn(comfort) == ["effort_weight", "rest_weight", "(rest_pose)", "obstacles"]
    assert drawn(solver)[-2:] == ["finish", "seed"]
    assert drawn(baking)[:3] == ["use_scene_range", "(frame_start)", "(frame_end)"]
    assert "(reduce_tolerance)" in drawn(sidebar.VIEW3D_PT_ik_triangulation_keys)
    assert "smooth" in drawn(sidebar.VIEW3D_PT_ik_triangulation_smoothness)
    limb.use_selected, limb.orientation, limb.rest_weight = True, "NONE", 0.5
    limb.finish = limb.use_scene_range = False
    limb.pole_target, limb.obstacles = empty("Pole"), bpy.data.collections.new("Crates")
    assert "(chain_count)" in drawn(main)
    assert drawn(goal)[-4:] == ["(orient_weight)", "pole_target", "pole_angle", "pole_weight"]
    assert drawn(comfort)[2:] == ["rest_pose", "obstacles", "obstacle_margin", "obstacle_weight"]
    assert drawn(solver)[-2:] == ["finish", "(seed)"]
    assert drawn(baking)[1:3] == ["frame_start", "frame_end"]


def test_a_bone_can_be_chosen_where_target_or_pole_is_an_armature():
    _, _, limb = standard()
    limb.target = limb.pole_target = chain_rig(2, name="Other")
    configure(bpy.data.objects["Rig"], "Bone 3")
    assert "subtarget" in drawn(MAIN)
    assert "pole_subtarget" in drawn(sidebar.VIEW3D_PT_ik_triangulation_goal)


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
        ("no such bone", "Bone 'Lost' is not in target 'Target'"),
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
        limb.subtarget = "Lost"
    elif how == "hidden target":
        target.hide_viewport = True
    elif how == "edit mode":
        bpy.ops.object.mode_set(mode="EDIT")
    else:
        limb.chain_count = 9
    with nothing_lost(), pytest.raises(RuntimeError, match=message):
        bpy.ops.pose.ik_triangulation_offset_set()
