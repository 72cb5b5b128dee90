# SPDX-License-Identifier: GPL-3.0-or-later
"""The gizmo is there in Pose Mode for a limb with a target, unless gizmos, overlays or its own switch are off."""

from types import SimpleNamespace

import bpy
import pytest
from mathutils import Euler, Matrix, Vector

from ik_triangulation.ui.gizmos import groups, mouse
from ik_triangulation.ui.gizmos.groups import PROPERTY, blender_shows_its_own
from ik_triangulation.ui.gizmos.groups import VIEW3D_GGT_ik_triangulation_target as Group

from ...rigs import chain_rig, configure, empty
from ..overlay.viewport import viewport

pytestmark = pytest.mark.usefixtures("empty_scene")

TIP = "Bone 3"


@pytest.fixture
def rig():
    made = chain_rig(4)
    configure(made, TIP, target=empty(), chain_count=3)
    return made


def is_there():
    with viewport() as context:
        return Group.poll(context)


def test_it_is_there_for_a_tip_with_a_target_in_pose_mode(rig):
    assert is_there()
    rig.data.bones.active = rig.data.bones["Bone 1"]
    assert not is_there()
    rig.data.bones.active = rig.data.bones[TIP]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not is_there()
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.pose_position = "REST"
    assert not is_there()
    rig.data.pose_position = "POSE"
    rig.pose.bones[TIP].ik_triangulation.target = None
    assert not is_there()
    rig.data.bones.active = None
    assert not is_there()


def test_it_is_hidden_with_gizmos_overlays_and_its_own_switch(rig):
    with viewport() as context:
        space, scene = context.space_data, context.scene
        for owner, name in (
            (space, "show_gizmo"),
            (space, "show_gizmo_context"),
            (space.overlay, "show_overlays"),
            (scene, PROPERTY),
        ):
            setattr(owner, name, False)
            assert not is_there(), name
            setattr(owner, name, True)
        assert is_there()


def test_beside_a_gizmo_of_blenders_own_it_is_told(rig):
    with viewport() as context:
        assert not blender_shows_its_own(context)
        context.space_data.show_gizmo_object_rotate = True
        assert blender_shows_its_own(context)
        context.space_data.show_gizmo_object_rotate = False


class Made:
    """A gizmo that is written down, with the operator that it starts."""

    def __init__(self, kind):
        self.kind, self.hide = kind, False

    def target_set_operator(self, name):
        self.operator, self.properties = name, SimpleNamespace()
        return self.properties


class Gizmos(SimpleNamespace):
    """The group without Blender, which alone can make one."""

    setup, draw_prepare, _made, _colour = Group.setup, Group.draw_prepare, Group._made, Group._colour


@pytest.fixture
def group(monkeypatch):
    made = []

    def new(kind):
        made.append(Made(kind))
        return made[-1]

    group = Gizmos(gizmos=SimpleNamespace(new=new), made=made)
    group.setup(None)
    return group


def test_rings_turn_and_arrows_squares_and_the_centre_move_along_their_axes(group):
    move, turn = "pose.ik_triangulation_target_move", "pose.ik_triangulation_target_rotate"
    one = [[number == axis for number in range(3)] for axis in range(3)]
    two = [[not each for each in kept] for kept in one]
    kinds = ["GIZMO_GT_dial_3d"] * 3 + ["GIZMO_GT_primitive_3d"] * 3 + ["GIZMO_GT_arrow_3d"] * 3
    assert [each.kind for each in group.made] == [*kinds, "GIZMO_GT_primitive_3d"]
    assert [each.operator for each in group.made] == [turn] * 3 + [move] * 7
    assert [each.properties.constraint_axis for each in group.made] == [*one, *two, *one, [False] * 3]
    assert all(each.properties.release_confirm for each in group.made)
    assert [each.use_draw_modal for each in group.made] == [True] * 6 + [False] * 3 + [True]
    assert [each.draw_style for each in group.made[3:]] == ["PLANE"] * 3 + ["NORMAL"] * 3 + ["CIRCLE"]
    assert all(
        (each.alpha, each.alpha_highlight, each.use_draw_offset_scale) == (0.6, 1.0, True) for each in group.made
    )


TURNED = Euler((0.2, 0.3, 0.4)).to_matrix().to_4x4()


@pytest.mark.parametrize("is_perspective", [False, True])
@pytest.mark.parametrize("turns", [False, True])
@pytest.mark.parametrize(
    ("towards", "arrows", "planes", "rings"),
    [
        ((0, 0, 1), "XY", "Z", "Z"),
        ((0, -1, 0), "XZ", "Y", "Y"),
        ((1, 1, 1), "XYZ", "XYZ", "XYZ"),
        ((0.1, 0.1, 1), "XY", "Z", "XYZ"),
        ((0.3, 0.0, 1), "XY", "XZ", "XZ"),
        ((0.4, 0.0, 1), "XYZ", "XZ", "XZ"),
    ],
)
def test_what_is_seen_head_on_or_edge_on_is_hidden(
    group, monkeypatch, towards, arrows, planes, rings, turns, is_perspective
):
    """In axes that are turned, at a target that may turn, seen from a direction in those axes."""
    sight = (TURNED.to_3x3() @ Vector(towards)).normalized()
    view = sight.to_track_quat("Z", "Y")
    eye = Vector((1.0, 2.0, 3.0)) + 5.0 * sight
    region = SimpleNamespace(
        view_rotation=view,
        is_perspective=is_perspective,
        view_matrix=(Matrix.Translation(eye) @ view.to_matrix().to_4x4()).inverted(),
    )
    axes = Matrix.Translation((1.0, 2.0, 3.0)) @ TURNED
    context = SimpleNamespace(region_data=region, preferences=bpy.context.preferences)
    monkeypatch.setattr(groups.mouse, "target_frame", lambda context: mouse.TargetFrame(axes, axes, turns))
    monkeypatch.setattr(groups, "blender_shows_its_own", lambda context: False)
    group.draw_prepare(context)
    kinds = group._arrows, group._planes, group._rings
    shown = ["".join(n for n, each in zip("XYZ", kind, strict=True) if not each.hide) for kind in kinds]
    assert shown == [arrows, planes, rings if turns else ""]
    assert not group._centre.hide
    theme = context.preferences.themes[0].user_interface
    for number, colour in enumerate((theme.axis_x, theme.axis_y, theme.axis_z)):
        arrow, plane = group._arrows[number], group._planes[number]
        unit = Vector([float(each == number) for each in range(3)])
        assert (arrow.matrix_basis.col[2].xyz - TURNED.to_3x3() @ unit).length < 1e-6
        assert arrow.matrix_basis.translation == axes.translation
        begin = 0.8 if turns else 0.22
        assert tuple(arrow.matrix_offset.translation) == pytest.approx((0.0, 0.0, begin))
        assert arrow.length == pytest.approx(1.1 - begin)
        corner = plane.matrix_basis @ (0.07 * plane.matrix_offset.translation)
        assert (corner - axes @ (0.35 * (Vector((1.0, 1.0, 1.0)) - unit))).length < 1e-5
        assert tuple(arrow.color) == tuple(plane.color) == tuple(colour) == tuple(group._rings[number].color_highlight)
    assert tuple(group._centre.color) == tuple(theme.gizmo_primary)
    assert (group._centre.matrix_basis.to_3x3().col[2] - sight).length < 1e-5
    monkeypatch.setattr(groups, "blender_shows_its_own", lambda context: True)
    group.draw_prepare(context)
    assert [each for each in group.made if not each.hide] == [group._centre]
    monkeypatch.setattr(groups.mouse, "target_frame", lambda context: None)
    group.draw_prepare(context)
    assert all(each.hide for each in group.made)
    group.draw_prepare(context)
