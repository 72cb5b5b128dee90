# SPDX-License-Identifier: GPL-3.0-or-later
"""The limb that is drawn is the active one; nothing is drawn of what cannot be read."""

import bpy
import numpy as np
import pytest

from ik_triangulation.ui.overlay.sketch import Role

from ...rigs import chain_rig, empty
from .seen import colour_of, colours, disabled, drawn, layers, settings, standard

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_only_the_active_limb_is_drawn():
    rig, _ = standard()
    with_active = drawn()
    other = chain_rig(2, "Other")
    other.data.bones.active = None
    assert drawn() == 0
    bpy.context.view_layer.objects.active = rig
    assert drawn() == with_active


def test_a_limb_without_a_target_shows_its_joints():
    standard()
    bpy.context.active_object.pose.bones["Bone 3"].ik_triangulation.target = None
    assert drawn() > 0
    assert not colours() & {colour_of(Role.TARGET), colour_of(Role.MISSED)}


def test_a_held_limb_shows_no_target_as_it_only_stands_on_that():
    standard()
    bpy.context.active_object.pose.bones["Bone 3"].ik_triangulation.hold = True
    assert drawn() > 0
    assert not colours() & {colour_of(Role.TARGET), colour_of(Role.MISSED)}


def test_bones_between_those_that_are_selected_are_marked_as_locked():
    rig, _ = standard(use_selected=True)
    for bone in rig.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in {"Bone 1", "Bone 3"}
    settings().show_reach = settings().show_target = settings().show_error = False
    before = drawn()
    rig.pose.bones["Bone 3"].ik_triangulation_joint.kind = "FREE"
    rig.pose.bones["Bone 1"].ik_triangulation_joint.kind = "FREE"
    assert 0 < drawn() < before
    assert drawn() == 9  # a square for Bone 2, a dot for Bone 1


def no_active_object(rig, target):
    bpy.context.view_layer.objects.active = None


def another_object(rig, target):
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.select_set(False)
    bpy.context.view_layer.objects.active = empty("Another")


def no_active_bone(rig, target):
    rig.data.bones.active = None


def edit_mode(rig, target):
    bpy.ops.object.mode_set(mode="EDIT")


def rest_position(rig, target):
    rig.data.pose_position = "REST"


def hidden(rig, target):
    rig.hide_set(True)


def too_long(rig, target):
    rig.pose.bones["Bone 3"].ik_triangulation.chain_count = 9


def nothing_selected(rig, target):
    rig.pose.bones["Bone 3"].ik_triangulation.use_selected = True
    for bone in rig.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = False


def all_locked(rig, target):
    for bone in rig.pose.bones:
        bone.ik_triangulation_joint.kind = "LOCKED"
        bone.ik_triangulation_joint.source = "OWN"


def flat_armature(rig, target):
    rig.scale = (1.0, 0.0, 1.0)


def bone_of_no_size(rig, target):
    rig.pose.bones["Bone 2"].scale = (0.0, 0.0, 0.0)


def root_of_no_size(rig, target):
    rig.pose.bones["Bone 0"].scale = (0.0, 0.0, 0.0)


def armature_nowhere(rig, target):
    rig.location.x = float("nan")


def target_nowhere(rig, target):
    target.location.x = float("nan")


def target_is_the_rig(rig, target):
    rig.pose.bones["Bone 3"].ik_triangulation.target = rig


def target_of_no_size(rig, target):
    target.scale = (0.0, 0.0, 0.0)


def target_disabled(rig, target):
    target.hide_viewport = True


def target_elsewhere(rig, target):
    bpy.context.scene.collection.objects.unlink(target)


def no_such_bone(rig, target):
    rig.pose.bones["Bone 3"].ik_triangulation.target = rig
    rig.pose.bones["Bone 3"].ik_triangulation.subtarget = "Nothing"


def no_field(rig, target):
    rig.pose.bones["Bone 3"].ik_triangulation.shape = "FIELD"


def no_axis(rig, target):
    rig.pose.bones["Bone 2"].ik_triangulation_joint.axis = (0.0, 0.0, 0.0)


def inverted(rig, target):
    joint = rig.pose.bones["Bone 2"].ik_triangulation_joint
    joint.lower, joint.upper = 2.0, 1.0


def no_constraint(rig, target):
    rig.pose.bones["Bone 2"].ik_triangulation_joint.source = "CONSTRAINT"


NOTHING = [
    no_active_object,
    another_object,
    no_active_bone,
    edit_mode,
    rest_position,
    hidden,
    disabled,
    too_long,
    nothing_selected,
    all_locked,
    flat_armature,
    bone_of_no_size,
    root_of_no_size,
    armature_nowhere,
    target_nowhere,
    target_is_the_rig,
    target_of_no_size,
    target_disabled,
    target_elsewhere,
    no_such_bone,
    no_field,
    no_axis,
    inverted,
    no_constraint,
]


@pytest.mark.parametrize("spoil", NOTHING, ids=lambda spoil: spoil.__name__)
def test_nothing_is_drawn_of_what_cannot_be_read(spoil):
    rig, target = standard()
    spoil(rig, target)
    bpy.context.view_layer.update()
    assert drawn() == 0


def huge(rig, target):
    rig.scale = (1e6, 1e6, 1e6)


def tiny(rig, target):
    rig.scale = (1e-6, 1e-6, 1e-6)


def mirrored(rig, target):
    rig.scale = (-1.0, 2.0, 0.5)


def scaled_bones(rig, target):
    rig.pose.bones["Bone 1"].scale = (1.0, -2.0, 0.3)


def flat_shape(rig, target):
    target.scale = (1.0, 1e-12, 1.0)


def far_away(rig, target):
    target.location = (1e12, 0.0, 0.0)


def constrained(rig, target):
    constraint = rig.pose.bones["Bone 3"].constraints.new("IK")
    constraint.target = target


def half_locked(rig, target):
    rig.pose.bones["Bone 3"].ik_triangulation_joint.kind = "FREE"
    rig.pose.bones["Bone 3"].lock_rotation = (True, False, False)


def target_follows(rig, target):
    target.parent, target.parent_type, target.parent_bone = rig, "BONE", "Bone 3"


def offset(rig, target):
    rig.pose.bones["Bone 3"].ik_triangulation.use_offset = True


def pole(rig, target):
    rig.pose.bones["Bone 3"].ik_triangulation.pole_target = empty("Pole")


@pytest.mark.parametrize(
    "change",
    [huge, tiny, mirrored, scaled_bones, far_away, constrained, half_locked, target_follows, offset, pole],
    ids=lambda change: change.__name__,
)
def test_odd_rigs_are_drawn(change):
    rig, target = standard()
    change(rig, target)
    bpy.context.view_layer.update()
    assert drawn() > 0
    assert all(np.isfinite(places).all() for layer in layers() for places, _ in layer[1:])


def out_of_range(rig, target):
    target.location.x = 3e38


@pytest.mark.parametrize("change", [flat_shape, out_of_range], ids=lambda change: change.__name__)
def test_odd_targets_do_no_harm(change):
    rig, target = standard()
    change(rig, target)
    bpy.context.view_layer.update()
    drawn()
