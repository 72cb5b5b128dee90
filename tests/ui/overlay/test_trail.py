# SPDX-License-Identifier: GPL-3.0-or-later
"""The trail is read only while it is shown, again after an edit, and a dot near the mouse is found."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.ui.gizmos.groups import VIEW3D_GGT_ik_triangulation_trail as Group
from ik_triangulation.ui.gizmos.mouse import Guides
from ik_triangulation.ui.overlay import handlers
from ik_triangulation.ui.overlay import trail as shown
from ik_triangulation.ui.overlay.sketch import Role, palette

from ...rigs import chain_rig, configure, empty
from .seen import read_to_the_end
from .viewport import SIZE, pixels, viewport

pytestmark = pytest.mark.usefixtures("empty_scene")

TIP = "Bone 3"


@pytest.fixture
def rig():
    made = chain_rig(4)
    configure(made, TIP, target=empty(), chain_count=3)
    bpy.context.scene.frame_end = 12
    bone = made.pose.bones["Bone 2"]
    for frame, turn in ((1, 0.0), (12, 1.0)):
        bone.rotation_quaternion = (1.0, turn, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    yield made
    shown.forget_trail()


def read():
    return read_to_the_end(shown, shown.trail_of)


def test_it_is_read_when_it_is_switched_on_and_again_after_an_edit(rig):
    assert read() is None
    bpy.context.scene.ik_triangulation_trail.show = True
    first = read()
    assert first.frames == range(1, 13)
    assert np.linalg.norm(first.places[0] - first.places[-1]) > 0.5
    rig.pose.bones["Bone 2"].keyframe_insert("rotation_quaternion", frame=6)
    bpy.context.view_layer.update()
    assert np.abs(read().places - first.places).max() > 0.01


def test_its_dots_can_be_dragged_only_where_gizmos_are_shown(rig):
    with viewport() as context:
        assert not Group.poll(context)
        context.scene.ik_triangulation_trail.show = True
        assert Group.poll(context)
        context.space_data.show_gizmo = False
        assert not Group.poll(context)
        context.space_data.show_gizmo = True


def test_what_moves_objects_and_bones_is_compared_by_keys_and_where_there_are_none_by_places(rig):
    keyed, still, bone = empty("Keyed"), empty("Still"), rig.pose.bones["Bone 1"]
    keyed.keyframe_insert("location", frame=1)

    def content(*objects):
        bpy.context.view_layer.update()
        return shown.content_of(objects, rig, [bone, rig.pose.bones["Bone 2"]])

    before = content(keyed, still, None)
    assert content(still, None, keyed, keyed) == before
    assert content(keyed) != before
    keyed.location.x += 1.0  # as a key will show it again
    rig.pose.bones["Bone 2"].rotation_quaternion = (0.0, 1.0, 0.0, 0.0)
    assert content(keyed, still) == before
    found = [before]
    still.location.x += 1.0
    found.append(content(keyed, still))
    bone.rotation_quaternion = (0.9, 0.1, 0.0, 0.0)
    found.append(content(keyed, still))
    keyed.animation_data.action.layers[0].strips[0].channelbags[0].fcurves[0].keyframe_points[0].handle_right.y += 1.0
    found.append(content(keyed, still))
    keyed.keyframe_insert("location", frame=9)
    found.append(content(keyed, still))
    rig.pose.bones["Bone 2"].keyframe_insert("rotation_quaternion", frame=5)
    assert content(keyed, still) == found[-1]  # of the armature itself only what has no keys
    assert len({*found}) == len(found)


def seen_at(image, place, radius):
    """The colours (n, 4) around a place in world space, so many pixels to each side."""
    with viewport() as context:
        clip = context.region_data.perspective_matrix @ Vector(place).to_4d()
    x, y = (round((clip[i] / clip[3] + 1.0) / 2.0 * SIZE[i]) for i in range(2))
    rows = image.reshape(SIZE[1], SIZE[0], 4)
    return rows[y - radius : y + radius + 1, x - radius : x + radius + 1].reshape(-1, 4)


@pytest.mark.skipif(bpy.app.version < (5, 2), reason="without gpu.init()")
def test_frames_before_and_after_are_drawn_in_the_colours_of_motion_paths_and_the_present_one_is_marked(rig, addon):
    bpy.context.scene.ik_triangulation_trail.show = True
    bpy.context.scene.frame_set(6)
    trail, image = read(), pixels(handlers._draw_trail)
    theme = bpy.context.preferences.themes[0]
    past, future = (
        np.array(each[:3]) for each in (theme.view_3d.before_current_frame, theme.view_3d.after_current_frame)
    )
    *now, alpha = palette(theme).outlines[Role.NOW]

    def of(frame, colour, radius=5):
        found = seen_at(image, trail.places[frame - 1], radius)
        return (np.abs(found[:, :3] - colour).max(1) < 0.02).sum()

    for frame in range(1, 13):
        assert (of(frame, past, 0), of(frame, future, 0)) == ((1, 0) if frame < 6 else (0, 1)), frame
    ring = alpha * np.array(now)
    assert of(6, ring) > 10
    assert of(1, ring) == of(12, ring) == 0
    assert of(1, past) > 1.2 * of(3, past), "keys are larger"
    with viewport() as context:
        context.space_data.overlay.show_overlays = False
        assert pixels(shown.draw_trail).max() == 0.0
        context.space_data.overlay.show_overlays = True
    bpy.context.scene.ik_triangulation_trail.show = False
    assert pixels(handlers._draw_trail).max() == pixels(shown.draw_trail).max() == 0.0
    assert handlers._trail_loaded
    assert shown._state.trail is not None
    addon.unregister()
    assert not handlers._trail_loaded
    assert shown._state.trail is None
    addon.register()


@pytest.mark.skipif(bpy.app.version < (5, 2), reason="without gpu.init()")
def test_lines_through_a_target_that_is_dragged_have_the_colours_of_their_axes():
    theme = bpy.context.preferences.themes[0].user_interface
    guides, pivot = Guides(), Vector((0.2, 0.1, 0.0))
    axes = [Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0))]
    for shown_axes in ((0,), (1, 2)):
        guides.show(pivot, [(number, axes[number]) for number in shown_axes])
        image = pixels(guides._draw)
        for number, colour in enumerate((theme.axis_x, theme.axis_y, theme.axis_z)):
            found = seen_at(image, pivot + 0.5 * axes[number], 1)
            drawn = (np.abs(found[:, :3] - 0.6 * np.array(colour)).max(1) < 0.02).any()
            assert drawn == (number in shown_axes)
    handle = guides._handle
    guides.show(pivot, [])
    assert guides._handle is handle
    guides.hide()
    guides.hide()
    assert guides._handle is None


@pytest.mark.parametrize(
    ("scene", "most", "frames"),
    [
        ((1, 12, 5), 12, (1, 12)),
        ((1, 13, 5), 13, (1, 13)),
        ((1, 101, 1), 100, (1, 100)),
        ((1, 1000, 50), 100, (1, 100)),
        ((1, 1000, 74), 100, (1, 100)),
        ((1, 1000, 75), 100, (25, 124)),
        ((1, 1000, 99), 100, (25, 124)),
        ((1, 1000, 100), 100, (50, 149)),
        ((1, 1000, 980), 100, (901, 1000)),
        ((1, 1000, 5000), 100, (901, 1000)),
        ((-50, 1000, -40), 100, (-50, 49)),
    ],
)
def test_of_a_long_shot_the_frames_around_the_present_one_are_seen(scene, most, frames):
    first, last, now = scene
    of = bpy.context.scene
    of.frame_start, of.frame_end = max(first, 0), last
    if first < 0:
        of.use_preview_range, of.frame_preview_start, of.frame_preview_end = True, first, last
    of.frame_set(now)
    found = shown.frames_in_view(bpy.context, most)
    assert (found[0], found[-1]) == frames


def test_a_trail_is_seen_from_the_hips_or_an_object_and_is_read_anew_for_each(rig):
    scene, cart, ways = bpy.context.scene, empty("Cart"), {}
    settings = scene.ik_triangulation_trail
    settings.show = True
    for mover in (rig, cart):
        for frame in (1, 12):
            mover.location = (0.1 * frame, 0.0, 0.0)
            mover.keyframe_insert("location", frame=frame)
    for frame in (1, 5, 12):
        scene.frame_set(frame)
        ways[frame] = cart.location.copy()
    scene.frame_set(1)
    world = read()
    assert np.array_equal(world.shown(5), world.places)

    def moved():
        """How the places at three frames are drawn off where they are, at frame 5."""
        off = read().shown(5) - world.places
        return [off[frame - 1] for frame in ways]

    settings.space = "OBJECT"
    assert np.abs(moved()).max() < 1e-6, "no object is chosen"
    wanted = [ways[5] - way for way in ways.values()]
    settings.object = cart
    assert np.abs(np.array(moved()) - wanted).max() < 1e-5
    settings.space = "HIPS"  # the topmost bone, which the rig takes along
    assert np.abs(np.array(moved()) - wanted).max() < 1e-5
    settings.space = "WORLD"
    assert np.abs(moved()).max() < 1e-6


def test_while_a_trail_is_dragged_it_is_shown_as_it_will_be_and_not_read():
    rig = chain_rig(4)
    configure(rig, TIP, target=empty(), chain_count=3)
    bpy.context.scene.ik_triangulation_trail.show = True
    bpy.context.scene.frame_end = 3
    before, drag = read(), SimpleNamespace(moved=None)
    bpy.app.timers.unregister(shown._read_on)
    shown.begin_drag(drag)
    with viewport() as context:
        assert shown.trail_of(context) is before, "nothing is moved yet"
        drag.moved = 2, np.array([[0.0, 0.0, 1.0]])
        rig.pose.bones[TIP].keyframe_insert("rotation_quaternion", frame=2)
        context.view_layer.update()
        assert np.array_equal(shown.trail_of(context).places - before.places, [[0, 0, 0], [0, 0, 1], [0, 0, 0]])
        assert not bpy.app.timers.is_registered(shown._read_on)
        assert shown._read_on() is None
    shown.end_drag()
    assert read() is not before
    shown.forget_trail()
    assert not bpy.app.timers.is_registered(shown._read_on)
