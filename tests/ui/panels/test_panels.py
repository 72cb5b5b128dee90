# SPDX-License-Identifier: GPL-3.0-or-later
"""Every panel draws in every state, and shows what counts; the offset that can be set there is kept."""

from random import Random

import bpy
import pytest

from ...bodies import set_up_rig
from ...layouts import drawn, recorded
from ...rigs import chain_rig, configure, empty, nothing_lost, select
from .states import (
    FOUND,
    MAIN,
    PANELS,
    baked,
    out_of_reach,
    panel,
    shown,
    solved,
    solved_and_target_deleted,
    standard,
    turned_solve,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_every_panel_there_is_in_blender_and_only_those():
    registered = {name for name in dir(bpy.types) if name.startswith("VIEW3D_PT_ik_triangulation")}
    assert {cls.__name__ for cls in FOUND} == registered


# States


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


# What is there, and what is greyed out


def test_what_does_not_count_is_greyed_out_or_not_there():
    _, _, limb = standard()
    main, goal, posture = MAIN, panel("_goal"), panel("_posture")
    advanced, keys, joints = panel("_advanced"), panel("_keys"), panel("_joint")
    assert drawn(main)[-8:] == ["Target", "target", "target_select", "solve", "live", "target_key", "bake", "keys"]
    assert drawn(joints)[0] == "chain_count"
    assert "use_selected" not in drawn(joints)
    assert drawn(goal) == [
        "influence", "shape", "offset_set", "target_from_animation", "orientation",
        "orient_weight", "pole_target",
    ]  # fmt: skip
    assert drawn(posture) == ["smoothing", "soft_edge", "obstacles"]
    assert drawn(advanced)[-1] == "show_reach"
    assert drawn(keys)[:2] == ["use_scene_range", "Frames 1 to 250"]
    limb.use_selected, limb.orientation, limb.rest_weight = True, "NONE", 0.5
    limb.finish = limb.use_scene_range = False
    limb.solver = "CCD"
    limb.pole_target, limb.obstacles = empty("Pole"), bpy.data.collections.new("Crates")
    assert "(chain_count)" in drawn(joints)
    assert drawn(goal)[-4:] == ["orientation", "pole_target", "pole_angle", "pole_weight"]
    assert drawn(posture)[5:] == ["rest_pose", "obstacles", "obstacle_margin", "obstacle_weight"]
    assert drawn(advanced)[-2:] == ["iterations", "finish"]
    assert drawn(keys)[1:3] == ["frame_start", "frame_end"]


def test_no_panel_raises_or_writes_in_hundreds_of_states(long):
    random = Random(6)
    for number in range(500 if long else 250):
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


# Offset


# How many fields there are


@pytest.mark.parametrize("of", ["limb", "body"])
def test_all_panels_together_have_few_fields_with_the_natural_solver(of):
    if of == "limb":
        standard()
    else:
        select(set_up_rig(), "hand.L", active="hand.L")
        bpy.context.view_layer.update()
    found = [recorded(each) for each in PANELS]
    fields = set().union(*(layout.properties for layout in found if layout is not None))
    lists = {"bones", "limb", "joint", "contacts", "contact", "constraints", "space", "reach_stops", "reach_stop"}
    assert len({field for field in fields if field[1] not in lists}) <= 30
