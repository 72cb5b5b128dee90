# SPDX-License-Identifier: GPL-3.0-or-later
"""The tool finds the bone under the mouse, is there in Pose Mode, and its operator drags by a vector."""

from types import SimpleNamespace

import bpy
import gpu
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.ui.gizmos import groups, mouse

from ...edited import t_pose_rig
from ...rigs import nothing_lost
from ..operators.led import BACK, DONE, GOES_ON
from ..overlay.viewport import SIZE, pixels, viewport

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")

HAND = "mixamorig:LeftHand"


def under(rig, name, aside=0.0):
    """The bone under the mouse, so many pixels beside the middle of a bone."""
    bone = rig.pose.bones[name]
    with viewport() as context:
        place = np.array(rig.matrix_world @ ((bone.head + bone.tail) / 2.0))[None]
        at = mouse.pixels_of(context, place)[0][0] + (0.0, aside)
        return mouse.bone_under(context, tuple(at))


def test_the_bone_under_the_mouse_is_found_unless_it_is_hidden_or_too_far():
    rig = t_pose_rig()
    assert under(rig, HAND) == HAND
    assert under(rig, HAND, aside=5000.0) == ""
    rig.data.bones[HAND].hide = True
    if hasattr(rig.pose.bones[HAND], "hide"):
        rig.pose.bones[HAND].hide = True
    assert under(rig, HAND) != HAND


def test_it_is_there_in_pose_mode_only():
    t_pose_rig()
    with viewport() as context:
        assert groups.VIEW3D_GGT_ik_triangulation_drag.poll(context)
        bpy.ops.object.mode_set(mode="OBJECT")
        assert not groups.VIEW3D_GGT_ik_triangulation_drag.poll(context)
        bpy.ops.object.mode_set(mode="POSE")


def test_the_operator_drags_by_a_vector_and_says_what_cannot_be_dragged():
    rig = t_pose_rig()
    place = rig.pose.bones[HAND].tail.copy()
    assert bpy.ops.pose.ik_triangulation_drag(bone=HAND, value=(-0.2, -0.3, 0.0)) == {"FINISHED"}
    assert (rig.pose.bones[HAND].tail - place - Vector((-0.2, -0.3, 0.0))).length < 2e-3
    with nothing_lost(), pytest.raises(RuntimeError, match="Nowhere"):
        bpy.ops.pose.ik_triangulation_drag(bone="Nowhere", value=(0.1, 0.0, 0.0))


def test_a_bone_goes_with_the_mouse_and_a_click_selects_it(led):
    rig = t_pose_rig()
    rig.data.bones.active = rig.data.bones["mixamorig:LeftFoot"]
    place, before = rig.pose.bones[HAND].tail.copy(), [bone.matrix.copy() for bone in rig.pose.bones]

    def scenario(hand, operator):
        hand.start = hand.view.place(rig.matrix_world @ place)
        assert hand.begin() == GOES_ON
        text = hand.context.texts[-2]
        assert text.startswith(f"Drag {HAND}:  X 0")
        assert "   pinned: " in text
        assert "LeftFoot" in text
        hand.move(30.0, -20.0)
        bpy.context.view_layer.update()
        assert (hand.view.place(rig.matrix_world @ rig.pose.bones[HAND].tail) - hand.start).length > 30.0
        assert hand.press("ESC") == BACK
        assert [bone.matrix for bone in rig.pose.bones] == before
        hand.begin((0.0, 0.0))
        assert hand.press("RET") == DONE
        assert rig.data.bones.active.name == HAND
        assert [bone.matrix for bone in rig.pose.bones] == before
        hand.begin((0.0, 0.0))
        hand.move(30.0, -20.0)
        assert hand.press("RET") == DONE
        assert [bone.matrix for bone in rig.pose.bones] != before

    led("pose.ik_triangulation_drag", scenario, bone=HAND)


def test_without_a_name_the_active_bone_is_dragged_and_there_has_to_be_one():
    rig = t_pose_rig()
    rig.data.bones.active = rig.data.bones[HAND]
    place = rig.pose.bones[HAND].tail.copy()
    bpy.ops.pose.ik_triangulation_drag(value=(-0.1, -0.1, 0.0))
    assert (rig.pose.bones[HAND].tail - place - Vector((-0.1, -0.1, 0.0))).length < 2e-3
    rig.data.bones.active = None
    with nothing_lost(), pytest.raises(RuntimeError, match="No bone is active"):
        bpy.ops.pose.ik_triangulation_drag(value=(-0.1, -0.1, 0.0))


def test_the_dot_under_the_mouse_is_the_nearest_that_is_before_the_viewer():
    places = np.array([(0.1 * frame, 0.0, 0.0) for frame in range(10)])
    seen = SimpleNamespace(frames=list(range(3, 13)), shown=lambda frame: places)
    with viewport() as shown, pytest.MonkeyPatch.context() as patch:
        patch.setattr(mouse, "trail_of", lambda context: seen)
        large = SimpleNamespace(system=SimpleNamespace(ui_scale=2.0))
        context = SimpleNamespace(
            region=shown.region, region_data=shown.region_data, scene=shown.scene, preferences=large
        )
        pixels, before = mouse.pixels_of(context, places)
        assert before.all()
        first, aside = pixels[0], (pixels[0] - pixels[1]) / np.linalg.norm(pixels[0] - pixels[1])
        for away, frame in ((0.0, 3), (11.9, 3), (23.9, 3), (-0.4 * np.linalg.norm(pixels[0] - pixels[1]), 3)):
            assert mouse.dot_under(context, tuple(first + away * aside)) == (frame, pytest.approx(first))
        assert mouse.dot_under(context, tuple(first + 24.1 * aside)) is None
        assert mouse.dot_under(context, tuple(pixels[4])) == (7, pytest.approx(pixels[4]))
        behind = context.region_data.view_matrix.inverted() @ Vector((0.0, 0.0, 5.0))
        places[:] = behind
        assert mouse.dot_under(context, tuple(mouse.pixels_of(context, places)[0][0])) is None
        patch.setattr(mouse, "trail_of", lambda context: None)
        assert mouse.dot_under(context, tuple(first)) is None


@pytest.mark.skipif(bpy.app.version < (5, 2), reason="without gpu.init()")
def test_what_the_mouse_is_on_is_marked_in_the_colour_of_gizmos():
    rig = t_pose_rig()
    system = SimpleNamespace(ui_scale=1.0)
    themes = bpy.context.preferences.themes
    colour = np.array(tuple(themes[0].user_interface.gizmo_hi)[:3])

    def marked(mark):
        def draw():
            gpu.matrix.load_matrix(Matrix.Identity(4))
            gpu.matrix.load_projection_matrix(
                Matrix.Translation((-1.0, -1.0, 0.0)) @ Matrix.Diagonal((2.0 / SIZE[0], 2.0 / SIZE[1], 1.0, 1.0))
            )
            shown = SimpleNamespace(width=SIZE[0], height=SIZE[1])
            preferences = SimpleNamespace(system=system, themes=themes)
            context = SimpleNamespace(
                region=shown,
                region_data=bpy.context.region_data,
                active_object=rig,
                preferences=preferences,
            )
            found.append(mark(context))

        found = []
        image = pixels(draw).reshape(SIZE[1], SIZE[0], 4)
        return image, found[0]

    image, _ = marked(lambda context: mouse.mark_dot(context, 7, (100.0, 50.0)))
    assert image[50, 100, :3] == pytest.approx(colour, abs=0.02)
    assert (np.abs(image[50, 80:121, :3] - colour).max(1) < 0.02).sum() in {13, 14, 15}
    assert image[55:75, 112:125, 3].max() > 0.5, "the number of the frame"
    bone = rig.pose.bones[HAND]

    def mark(context):
        mouse.mark_bone(context, HAND)
        mouse.mark_bone(context, "Nowhere")
        return mouse.pixels_of(context, np.array([(rig.matrix_world @ ((bone.head + bone.tail) / 2.0))[:]]))[0][0]

    image, at = marked(mark)
    assert image[int(at[1]), int(at[0]), :3] == pytest.approx(0.8 * colour, abs=0.02)
    assert 0 < (image[..., 3] > 0.5).sum() < 400
    rig.location = bpy.context.scene.cursor.location + Vector((0.0, 0.0, 1000.0))
    with viewport() as context:
        rig.location = context.region_data.view_matrix.inverted() @ Vector((0.0, 0.0, 50.0))
    bpy.context.view_layer.update()
    assert marked(lambda context: mouse.mark_bone(context, HAND))[0].max() == 0.0, "it is behind the viewer"
