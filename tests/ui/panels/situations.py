# SPDX-License-Identifier: GPL-3.0-or-later
"""Situations that differ in what the panels draw, and the panels that are drawn in each."""

from dataclasses import replace

import bpy
from mathutils import Quaternion

from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.shots.report import NotFollowing, Remedy
from ik_triangulation.rig.body import Contact, store_contacts
from ik_triangulation.solvers.compare import SolverResult
from ik_triangulation.ui.context import choose_limb
from ik_triangulation.ui.last_result import latest, remember_result, show_comparison
from ik_triangulation.ui.panels.advanced import VIEW3D_PT_ik_triangulation_overlay as OVERLAY

from ...bodies import human_rig, set_up_rig, sliding_rig
from ...ik_rigs import arm_limb, ik_arm
from ...jobs.hinges import limit_rotation, own
from ...rigs import chain_rig, configure, empty, place, select
from .states import baked, out_of_reach, panel, solved, standard

CASES = []  # (situation, panels, widths of the sidebar, whether all settings are shown)


def drawn_in(*names, widths=(None,), research=False):
    """Have these panels, without the beginning of their names, drawn in the situation that a function makes."""

    def note(build):
        panels = [OVERLAY if name == "overlay" else panel(name and f"_{name}") for name in names]
        CASES.append((build, panels, widths, research))
        return build

    return note


def mesh(name="Mesh"):
    return place(bpy.data.objects.new(name, bpy.data.meshes.new(name)))


def limb_of(rig, tip="Bone 3"):
    return rig.pose.bones[tip].ik_triangulation


@drawn_in("")
def nothing_active():
    pass


@drawn_in("")
def mesh_of_a_rig():
    rig = chain_rig(2)
    skin = mesh("Skin")
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = skin
    select(rig, "Bone 0")
    rig.select_set(False)


@drawn_in("")
def no_limb_yet():
    chain_rig(3)


@drawn_in("")
def no_limb_yet_in_object_mode():
    chain_rig(3)
    bpy.ops.object.mode_set(mode="OBJECT")


@drawn_in("")
def no_limb_yet_but_another_rig_and_animation():
    chain_rig(2, name="Other").select_set(True)
    other = bpy.context.view_layer.objects.active
    rig = chain_rig(3)
    rig.pose.bones["Bone 0"].keyframe_insert("location", frame=1)
    other.select_set(True)


@drawn_in("")
def all_bones_selected():
    rig = human_rig()
    select(rig, *rig.pose.bones.keys())


@drawn_in("", widths=(None, 200))
def no_limb_at_the_active_bone():
    rig = set_up_rig()
    select(rig, "heel.L")


@drawn_in(*("", "body", "contacts", "goal", "posture", "joint", "keys", "edit", "spaces", "reach", "advanced"))
def limb():
    standard()


@drawn_in(*("", "body", "goal", "posture", "joint", "keys", "reach", "advanced"), widths=(200,))
def limb_in_a_narrow_sidebar():
    standard(reduce=True)


@drawn_in(*("", "joint"), widths=(500,))
def limb_in_a_wide_sidebar():
    rig, _, _ = standard()
    own(rig.pose.bones["Bone 2"], kind="HINGE", axis=(1.0, 0.0, 0.0), lower=0.0, upper=1.0, stiffness=0.25)
    beyond = rig.pose.bones["Bone 1"]
    beyond.use_ik_limit_x, beyond.ik_min_x, beyond.ik_max_x, beyond.lock_ik_y = True, -0.1, 0.1, True
    beyond.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 0.5)
    rig.pose.bones["Bone 2"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 1.0)
    own(rig.pose.bones["Bone 3"], kind="LOCKED")


@drawn_in(*("body", "posture", "joint", "keys", "reach", "advanced", "maps", "duel"), research=True)
def limb_with_research_tools():
    standard(interpolation="LINEAR", reach_path="ARC")


@drawn_in(*("posture", "advanced", "keys"))
def published_method():
    standard(solver="CCD", finish=False, rest_weight=0.0, only_target_keys=True)


@drawn_in(*("posture", "advanced", "keys"))
def published_method_with_finish():
    standard(solver="FABRIK", rest_weight=0.5, interpolation="LINEAR")


@drawn_in(*("posture", "goal", "joint", "keys", "reach"))
def all_that_a_limb_can_have():
    rig, _, limb = standard(effort_weight=0.5, rest_weight=0.5, flow_speed=2.0, shape="FLOW", use_offset=True, step=2)
    limb.obstacles, limb.pole_target = bpy.data.collections.new("Crates"), chain_rig(2, name="Other")
    limb.orientation, limb.use_selected = "LOOK", True
    limb.use_scene_range, limb.frame_start, limb.frame_end = False, 3, 9
    limb.reach_path, limb.reach_onset, limb.reach_timing, limb.reach_return = "ARC", 0.5, "CUBIC", 4
    configure(rig, "Bone 3")


@drawn_in(*("", "goal"))
def target_is_a_bone():
    rig, _, limb = standard(orientation="NONE", keys_on="IK")
    limb.target, limb.subtarget = chain_rig(2, name="Other"), "Bone 1"
    configure(rig, "Bone 3", pole_target=empty("Pole"))


@drawn_in(*("", "goal"))
def target_is_an_armature_without_a_bone():
    rig, _, limb = standard(orientation="FULL")
    limb.target = chain_rig(2, name="Other")
    configure(rig, "Bone 3")


@drawn_in("goal")
def target_is_a_surface():
    standard(shape="SURFACE")[2].target = mesh()


@drawn_in(*("", "goal", "keys"), widths=(None, 200))
def foot_that_is_held():
    rig = set_up_rig()
    select(rig, "foot.L")
    limb_of(rig, "foot.L").reduce = True


@drawn_in("goal")
def foot_that_is_held_on_a_mesh():
    rig = set_up_rig()
    select(rig, "foot.L")
    limb_of(rig, "foot.L").target, limb_of(rig, "foot.L").shape = mesh(), "SURFACE"


@drawn_in("goal")
def foot_that_is_held_on_an_empty():
    rig = set_up_rig()
    select(rig, "foot.L")
    limb_of(rig, "foot.L").target = empty()


@drawn_in(*("body", "goal", "keys"))
def hand_of_a_body():
    rig = set_up_rig()
    limb_of(rig, "hand.L").reduce, limb_of(rig, "hand.L").reduce_tolerance = True, 0.1


@drawn_in("body", research=True)
def hand_of_a_body_with_research_tools():
    set_up_rig()


@drawn_in("body")
def body_whose_settings_were_changed():
    rig = set_up_rig()
    rig.ik_triangulation.hips_motion, rig.ik_triangulation.thickness = "FIXED", 1.5
    limb_of(rig, "foot.R").hold = False


@drawn_in(*("body", "contacts"))
def contacts_that_count_and_others():
    rig = sliding_rig(12)
    cup, jug = empty("Cup"), bpy.data.objects.new("Jug", None)
    for foot in ("foot.L", "foot.R"):
        limb_of(rig, foot).hold = True
    select(rig, "foot.L")
    given = [
        Contact("foot.R", 8, 9, jug),
        Contact("foot.L", 2, 5, cup),
        Contact("foot.L", 6, 8, rig, "hand.R"),
        Contact("hand.L", 1, 5),
        Contact("foot.L", 5, 1),
        Contact("foot.L", 4, 4),
        Contact("nose", 1, 3),
    ]
    store_contacts(rig, given)
    rig.ik_triangulation.contact = 2


@drawn_in("contacts")
def contact_on_what_is_not_in_the_scene():
    contacts_that_count_and_others()
    bpy.context.object.ik_triangulation.contact = 0


@drawn_in("joint")
def joint_with_limits_of_blender():
    rig, _, _ = standard()
    bone = rig.pose.bones["Bone 3"]
    bone.use_ik_limit_x, bone.lock_ik_y = True, True
    bone.constraints.new("COPY_SCALE")
    limit_rotation(bone, use_limit_z=True)
    bone.ik_triangulation_joint.source, bone.ik_triangulation_joint.mass = "AUTO", 2.0


@drawn_in("joint")
def joint_with_a_constraint_that_is_not_obeyed():
    rig, _, _ = standard()
    bone = rig.pose.bones["Bone 3"]
    bone.use_ik_limit_x, bone.lock_ik_y, bone.use_ik_limit_z = True, True, True
    limit_rotation(bone, use_limit_z=True, influence=0.5)
    bone.ik_triangulation_joint.source = "AUTO"


@drawn_in("joint")
def joint_with_its_constraint():
    rig, _, _ = standard()
    bone = rig.pose.bones["Bone 3"]
    limit_rotation(bone, use_limit_x=True)
    bone.ik_triangulation_joint.source = "CONSTRAINT"


@drawn_in("joint")
def joint_without_the_constraint_it_names():
    rig, _, _ = standard()
    rig.pose.bones["Bone 3"].ik_triangulation_joint.source = "CONSTRAINT"


def _own_limits(name, **settings):
    def build():
        rig, _, _ = standard(effort_weight=0.5)
        own(rig.pose.bones["Bone 3"], **settings)

    build.__name__ = name
    drawn_in("joint")(build)


_own_limits("hinge", kind="HINGE", stiffness=0.5)
_own_limits("hinge_without_limits", kind="HINGE", use_limits=False)
_own_limits("cone", kind="CONE")
_own_limits("euler_limits", kind="EULER")
_own_limits("euler_limits_of_another_order", kind="EULER", order="ZYX")
_own_limits("locked", kind="LOCKED", stiffness=0.5)


@drawn_in("keys")
def rig_with_ik_controls():
    rig = ik_arm()
    configure(rig, "Palm", target=arm_limb(rig).target, chain_count=3)


@drawn_in("edit")
def trail_that_is_shown():
    rig = chain_rig(3)
    select(rig, "Bone 2")
    bpy.context.scene.ik_triangulation_trail.show = True
    bpy.context.scene.ik_triangulation_trail.space = "OBJECT"


@drawn_in("edit")
def trail_in_the_world():
    standard()
    bpy.context.scene.ik_triangulation_trail.show = True


@drawn_in("spaces")
def spaces_of_the_target():
    rig, target, _ = standard()
    table, scene = empty("Table", (0.5, -0.5, 1.0)), bpy.context.scene
    table.select_set(True)
    scene.frame_set(30)
    bpy.ops.pose.ik_triangulation_space_add()
    table.select_set(False)
    target.constraints.new("COPY_SCALE")
    scene.frame_set(10)
    select(rig, "Bone 0", "Bone 3", active="Bone 3")
    bpy.ops.pose.ik_triangulation_space_add(frame_end=20)


@drawn_in("spaces")
def space_whose_object_is_gone():
    spaces_of_the_target()
    bpy.data.objects.remove(bpy.data.objects["Table"])


@drawn_in("reach", widths=(None, 200))
def reach_with_stops():
    rig, _, limb = standard(reach_return=5, reach_timing="LINEAR")
    other = chain_rig(2, name="Other")
    for target, frame, take in ((empty("Cup"), 30, "TAKE"), (None, 10, "NONE"), (other, 20, "NONE")):
        stop = limb.reach_stops.add()
        stop.target, stop.frame, stop.take = target, frame, take
    limb.reach_stop = 2
    configure(rig, "Bone 3")


@drawn_in("reach")
def reach_whose_chosen_stop_takes():
    reach_with_stops()
    limb_of(bpy.context.object).reach_stop = 0


@drawn_in("", widths=(None, 200))
def limbs_that_share_a_target():
    rig, target, _ = standard()
    other = chain_rig(2, name="Other")
    configure(other, "Bone 1", target=target, chain_count=2)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = target
    choose_limb(other, "Bone 1")
    rig.select_set(False)


@drawn_in("")
def limbs_of_one_rig_that_share_a_target():
    rig, target, _ = standard()
    configure(rig, "Bone 0", target=target, chain_count=1)
    configure(rig, "Bone 3")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = target


@drawn_in("", widths=(None, 500))
def several_limbs():
    out_of_reach()
    rig = bpy.context.object
    limb_of(rig, "Bone 2").target, limb_of(rig, "Bone 2").enabled = empty(), False
    for number in range(2):
        limb_of(rig, f"Bone {number}").target = empty("A target with quite a long name")


@drawn_in("")
def live_limb():
    rig, _, _ = standard()
    live.start(rig, "Bone 3")


@drawn_in("")
def live_limb_of_another_rig():
    live_limb()
    chain_rig(2, name="Other")


@drawn_in("")
def live_limb_that_cannot_be_solved():
    rig, target, _ = standard(orientation="FULL")
    live.start(rig, "Bone 3")
    target.scale = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert live.problem(rig, "Bone 3")


@drawn_in("result")
def limb_that_was_solved():
    solved()


@drawn_in("result")
def limb_that_was_not_reached():
    out_of_reach()


@drawn_in(*("", "result"))
def limb_that_was_baked():
    baked()


@drawn_in("")
def limb_that_was_baked_into_a_layer():
    standard(destination="LAYER")
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=2)


@drawn_in("")
def limb_that_cannot_be_baked():
    standard()[2].chain_count = 9


def _not_following(build, *properties):
    build()
    rig = bpy.context.object
    tip = rig.data.bones.active.name
    notes = [NotFollowing("DEF-head", tip, 0.3, 1.0, 1, 1, Remedy("torso", name, 0.0, 1.0)) for name in properties]
    remember_result(replace(latest(rig, tip).report, not_following=notes), rig, bpy.context.scene)


@drawn_in("")
def bones_that_do_not_follow_a_pose():
    _not_following(solved, "neck_follow")


@drawn_in("")
def bones_that_do_not_follow_a_bake():
    _not_following(baked, "neck_follow", "head_follow")


@drawn_in(*("advanced", "maps"), research=True)
def limb_that_is_mapped():
    standard(solver="CCD")
    bpy.ops.pose.ik_triangulation_map_volume(resolution=2, metric="travel")
    bpy.ops.pose.ik_triangulation_map(size=8)


def _compared(build_row):
    rig, _, _ = standard()
    rows = [
        SolverResult("CCD", 3, 3, 12.0, 0.001, 40, 9, 1.5, 2.5, 0.25),
        SolverResult("FABRIK", 3, 1, 20.0, 0.5, 60, 12, 2.5, 3.5, 0.0125),
        SolverResult("TRIANGULATION", 3, refusal="Why it cannot be used"),
    ]
    show_comparison(rows, rig, "Bone 3", bpy.context)
    bpy.context.window_manager.ik_triangulation_duel.chosen = build_row


@drawn_in("duel", widths=(None, 200, 500), research=True)
def solvers_that_were_compared():
    _compared(1)


@drawn_in("duel", research=True)
def solver_that_refuses_is_chosen():
    _compared(2)


@drawn_in("duel", research=True)
def solvers_that_were_compared_for_another_limb():
    _compared(0)
    bpy.context.window_manager.ik_triangulation_duel.tip = "Bone 2"


@drawn_in("overlay")
def overlay_with_ghosts_of_frames():
    bpy.context.scene.ik_triangulation_ghosts.show = True
    bpy.context.scene.ik_triangulation_ghosts.kind = "FRAMES"


@drawn_in("overlay")
def overlay_with_ghosts_of_keys():
    bpy.context.scene.ik_triangulation_ghosts.show = True
    bpy.context.scene.ik_triangulation_ghosts.kind = "KEYS"


@drawn_in("overlay")
def overlay_with_ghosts_from_before():
    bpy.context.scene.ik_triangulation_ghosts.show = True
    bpy.context.scene.ik_triangulation_ghosts.kind = "BEFORE"


@drawn_in("overlay")
def overlay_that_is_off():
    bpy.context.scene.ik_triangulation_overlay.show = False
