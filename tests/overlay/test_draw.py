# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn over the viewport, when, and that drawing changes nothing and never fails."""

import sys

import bpy
import gpu
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.ui.overlay import clear_ghosts, draw, show_ghost
from ik_triangulation.ui.overlay.active_limb import displayed_limb
from ik_triangulation.ui.overlay.palette import palette
from ik_triangulation.ui.overlay.shapes import Role

from ..rigs import chain_rig, configure, empty, evaluated_tip, nothing_lost
from .viewport import pixels, viewport

pytestmark = pytest.mark.usefixtures("empty_scene")
with_gpu = pytest.mark.skipif(not hasattr(gpu, "init"), reason="this Blender draws nothing without a window")

PARTS = ("show_reach", "show_joints", "show_target", "show_error", "show_ghosts")


def settings():
    return bpy.context.scene.ik_triangulation_overlay


def standard(**chosen):
    """A limb of three bones with limits of every kind on a rig of four, and a sphere to reach."""
    rig, target = chain_rig(4), empty()
    target.empty_display_type, target.empty_display_size = "SPHERE", 0.2
    configure(rig, "Bone 3", target=target, chain_count=3, **chosen)
    for number, kind in enumerate(("CONE", "HINGE", "EULER"), 1):
        joint = rig.pose.bones[f"Bone {number}"].ik_triangulation_joint
        joint.source, joint.kind = "OWN", kind
    settings().show = True
    bpy.context.view_layer.update()
    return rig, target


def layers():
    with viewport() as context:
        return list(draw.layers(context))


def drawn():
    """How many vertices are drawn."""
    return sum(len(places) for layer in layers() for places, _ in layer[1:])


def colours():
    return {tuple(np.round(colour[:3], 3)) for layer in layers() for _, rows in layer[1:] for colour in rows}


def colour_of(role):
    return tuple(np.round(palette(bpy.context.preferences.themes[0]).outlines[role, :3], 3))


def test_nothing_is_drawn_unless_asked_for():
    standard()
    settings().show = False
    assert drawn() == 0
    settings().show = True
    assert drawn() > 0


def test_it_is_off_at_first():
    assert not settings().show
    assert all(getattr(settings(), part) for part in PARTS)


@pytest.mark.parametrize("part", PARTS[:4])
def test_each_part_has_a_switch(part):
    standard()
    everything = drawn()
    setattr(settings(), part, False)
    without = drawn()
    assert without < everything
    for other in PARTS[:4]:
        setattr(settings(), other, other == part)
    assert drawn() == everything - without


def test_the_colour_says_whether_the_target_is_reached():
    rig, target = standard(tolerance=0.01)
    target.empty_display_type = "PLAIN_AXES"
    assert colour_of(Role.MISSED) in colours()
    assert colour_of(Role.REACHED) not in colours()
    target.location = evaluated_tip(rig, "Bone 3")
    bpy.context.view_layer.update()
    assert colour_of(Role.REACHED) in colours()
    assert colour_of(Role.MISSED) not in colours()


def test_only_the_active_limb_is_drawn():
    rig, _ = standard()
    with_active = drawn()
    other = chain_rig(2, "Other")
    other.data.bones.active = None
    assert drawn() == 0
    bpy.context.view_layer.objects.active = rig
    assert drawn() == with_active


def test_the_armature_s_place_is_where_it_is_drawn():
    rig, _ = standard()
    rig.location, rig.scale = (1.0, 2.0, 3.0), (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    (layer,) = layers()
    assert layer.world == rig.matrix_world


def test_a_limb_without_a_target_shows_its_joints():
    standard()
    bpy.context.active_object.pose.bones["Bone 3"].ik_triangulation.target = None
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
    assert drawn() == 8  # a square for Bone 2


# Rigs of which there is nothing to be drawn


def no_active_object(rig, target):
    bpy.context.view_layer.objects.active = None


def another_object(rig, target):
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = target


def no_active_bone(rig, target):
    rig.data.bones.active = None


def edit_mode(rig, target):
    bpy.ops.object.mode_set(mode="EDIT")


def rest_position(rig, target):
    rig.data.pose_position = "REST"


def hidden(rig, target):
    rig.hide_set(True)


def disabled(rig, target):
    rig.hide_viewport = True


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


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (2.0, 2.0, 2.0), (1.0, 3.0, 0.5)], ids=["none", "alike", "unequal"])
def test_ticks_lie_on_the_bones_that_are_seen(scale):
    """Also where bones stand apart, are scaled, or have locked ones between them."""
    rig, target = chain_rig(5, gaps=(2, 4), rolls=(0.3, 1.0, -2.0, 0.5, 2.5)), empty()
    configure(rig, "Bone 4", target=target, chain_count=0)
    for number, bone in enumerate(rig.pose.bones):
        bone.rotation_quaternion = (1.0, 0.1, 0.0, 0.2)
        joint = bone.ik_triangulation_joint
        joint.source, joint.kind, joint.use_limits = "OWN", "LOCKED" if number == 3 else "CONE", False
    rig.pose.bones["Bone 1"].scale = scale
    bpy.context.view_layer.update()
    with viewport() as context:
        seen = displayed_limb(context)
        sketch = draw.sketch_of(seen, seen.world.inverted() @ draw.eye_of(context.region_data), settings())
    ticks = [line for line in sketch.lines if line.role == Role.NOW]
    assert len(ticks) == 4
    for tick, name in zip(ticks, ("Bone 0", "Bone 1", "Bone 2", "Bone 4"), strict=True):
        bone = rig.pose.bones[name]
        assert ((tick.start + tick.end) / 2.0 - bone.head.lerp(bone.tail, 0.3)).length < 0.2 * bone.length
        if scale[0] == scale[1] or name == "Bone 0":
            assert ((tick.start + tick.end) / 2.0 - bone.head.lerp(bone.tail, 0.3)).length < 1e-4


@pytest.mark.parametrize("change", [flat_shape, out_of_range], ids=lambda change: change.__name__)
def test_odd_targets_do_no_harm(change):
    rig, target = standard()
    change(rig, target)
    bpy.context.view_layer.update()
    drawn()


@pytest.mark.parametrize("shape", ["POINT", "PLANE", "LINE", "RAY", "SEGMENT", "SPHERE", "CYLINDER", "RING", "BOX"])
def test_every_shape_is_drawn(shape):
    standard(shape=shape)
    settings().show_reach = settings().show_joints = settings().show_error = False
    assert colours() == {colour_of(Role.TARGET)}


def test_drawing_changes_nothing_in_the_file():
    rig, _ = standard()
    show_ghost(rig, [(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
    with nothing_lost():
        assert drawn() > 0


def held():
    """How many hold on to the drawing function: its module, who asks, and Blender once for each time it will call."""
    return sys.getrefcount(draw.draw)


def test_blender_has_one_drawing_function_as_long_as_it_is_enabled(addon):
    enabled = held()
    addon.unregister()
    disabled = held()
    addon.register()
    assert (disabled, held()) == (enabled - 1, enabled)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert held() == enabled


def test_the_switches_are_saved_with_the_file(tmp_path):
    settings().show, settings().show_reach = True, False
    path = str(tmp_path / "switches.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert not settings().show
    bpy.ops.wm.open_mainfile(filepath=path)
    assert (settings().show, settings().show_reach, settings().show_joints) == (True, False, True)


# Real drawing


def near(image, colour, within=0.15):
    """How many pixels have about this colour; the drawing is translucent, over black."""
    shown = image[image[:, 3] > 0.5]
    brightest = shown[:, :3].max(axis=1, keepdims=True).clip(1e-3)
    wanted = np.array(colour) / max(colour)
    return int((np.abs(shown[:, :3] / brightest - wanted).max(axis=1) < within).sum())


@with_gpu
@pytest.mark.parametrize(
    ("part", "role"),
    [("show_reach", None), ("show_target", Role.TARGET), ("show_error", Role.MISSED), ("show_joints", Role.LIMIT)],
)
def test_pixels_have_the_colour_of_what_is_shown(part, role):
    standard()
    for other in PARTS:
        setattr(settings(), other, other == part)
    image = pixels(draw.draw)
    assert image.max() > 0.0
    if role is not None:
        assert near(image, colour_of(role)) > 5


@with_gpu
def test_a_ghost_has_the_colour_asked_for():
    rig, _ = standard()
    settings().show = False
    assert pixels(draw.draw).max() == 0.0
    show_ghost(rig, [(0.0, 0.0, 0.0), (0.0, 0.0, 2.0), (0.0, 2.0, 2.0)], (1.0, 0.0, 1.0))
    assert near(pixels(draw.draw), (1.0, 0.0, 1.0)) > 5
    clear_ghosts()
    assert pixels(draw.draw).max() == 0.0


@with_gpu
def test_nothing_is_drawn_where_overlays_are_off():
    rig, _ = standard()
    show_ghost(rig, [(0.0, 0.0, 0.0), (0.0, 0.0, 2.0)])
    assert pixels(draw.draw).max() > 0.0
    with viewport() as context:
        context.space_data.overlay.show_overlays = False
    assert pixels(draw.draw).max() == 0.0


@with_gpu
def test_the_line_goes_from_the_tip_to_the_aim():
    rig, target = standard()
    target.empty_display_type, target.location = "PLAIN_AXES", (3.0, 0.0, 0.0)
    for other in PARTS:
        setattr(settings(), other, other == "show_error")
    bpy.context.view_layer.update()
    image = pixels(draw.draw).reshape(300, 400, 4)
    with viewport() as context:
        matrix = context.region_data.perspective_matrix.copy()
    for share in (0.05, 0.5, 0.95):
        place = evaluated_tip(rig, "Bone 3").lerp(Vector(target.location), share)
        x, y, _, w = matrix @ place.to_4d()
        column, row = (int((x / w + 1.0) * 200.0), int((y / w + 1.0) * 150.0))
        assert image[row - 2 : row + 3, column - 2 : column + 3, 0].max() > 0.3
