# SPDX-License-Identifier: GPL-3.0-or-later
"""Move Target and Rotate Target without a mouse: from a script, and as Adjust Last Operation runs them again."""

from math import cos, degrees, radians, sin
from types import SimpleNamespace

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.live import following as live
from ik_triangulation.ui.operators.target_drag import cannot_drag

from ...jobs.dragging import PLACE, TIP, apart, rotations, standard, update
from ...rigs import evaluated_tip, nothing_lost
from .led import BACK, DONE, GOES_ON

pytestmark = pytest.mark.usefixtures("empty_scene")

MOVES = ("pose.ik_triangulation_target_move", "pose.ik_triangulation_target_rotate")


def test_move_target_takes_the_limb_along():
    rig, target = standard()
    start = target.location.copy()
    assert bpy.ops.pose.ik_triangulation_target_move(value=PLACE - start) == {"FINISHED"}
    update()
    assert (target.location - PLACE).length < 1e-6
    assert apart(rig, target) < 1e-4
    assert live.under_way() == []


def test_rotate_target_turns_it_about_its_own_origin():
    rig, target = standard(shape="SEGMENT")
    target.location, target.empty_display_size = (0.0, 0.6, 1.8), 0.5
    place = target.location.copy()
    bpy.ops.pose.ik_triangulation_target_rotate(value=0.5, axis=(1.0, 0.0, 0.0))
    update()
    assert target.location == place
    assert tuple(target.rotation_euler) == pytest.approx((0.5, 0.0, 0.0), abs=1e-6)
    local = target.matrix_world.inverted() @ evaluated_tip(rig, TIP)
    assert local.xy.length < 1e-3
    assert -1e-3 < local.z < 0.501


@pytest.mark.parametrize("name", MOVES)
def test_each_is_one_step_of_undo_that_can_be_adjusted(name):
    assert {"REGISTER", "UNDO"} <= getattr(bpy.types, name.replace("pose.", "POSE_OT_")).bl_options


def test_in_object_mode_it_works_as_well():
    rig, target = standard()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.pose.ik_triangulation_target_move(value=PLACE - target.location)
    update()
    assert apart(rig, target) < 1e-4


def test_what_cannot_be_followed_is_refused_and_nothing_changes():
    rig, target = standard()
    target.parent, target.parent_type, target.parent_bone = rig, "BONE", "Bone 2"
    before = rotations(rig)
    with nothing_lost(), pytest.raises(RuntimeError, match="follows chain bone"):
        bpy.ops.pose.ik_triangulation_target_move(value=Vector((0.1, 0.0, 0.0)))
    assert rotations(rig) == before
    rig.pose.bones[TIP].ik_triangulation.target = None
    with pytest.raises(RuntimeError, match=f"Choose a target for '{TIP}'"):
        bpy.ops.pose.ik_triangulation_target_move(value=(0.1, 0.0, 0.0))


def test_a_target_that_cannot_be_followed_to_its_new_place_is_put_back():
    _, target = standard(orientation="FULL")
    for driven in target.driver_add("scale"):
        place = driven.driver.variables.new()
        place.name = "place"
        place.targets[0].id, place.targets[0].data_path = target, "location.x"
        driven.driver.expression = "place < 1.0"
    with nothing_lost(), pytest.raises(RuntimeError, match="'Target' is scaled to zero"):
        bpy.ops.pose.ik_triangulation_target_move(value=(0.5, 0.0, 0.0))


def test_a_target_goes_with_the_mouse_along_axes_in_planes_and_in_steps(led):
    rig, target = standard()
    target.rotation_euler = (0.3, 0.4, 0.5)
    update()
    start, own = target.location.copy(), target.matrix_world.to_3x3()

    def moved():
        return target.location - start

    def scenario(hand, operator):
        texts, view = hand.context.texts, hand.view
        assert hand.begin() == GOES_ON
        assert hand.context.handled == [operator]
        hand.start = view.place(start)
        assert texts[-2].startswith("Move Target:  X 0")
        assert " along " not in texts[-2]
        assert "Snap: Ctrl" in texts[-1]
        assert hand.move(0.0, 0.0) == hand.move(40.0, 25.0) == GOES_ON
        operator._start = hand.start  # the drag began where the target is seen
        hand.move(40.0, 25.0)
        assert (view.place(target.location) - hand.start - Vector((40.0, 25.0))).length < 0.3
        assert abs(moved().dot(view.towards)) < 1e-4
        assert apart(rig, target) < 1e-3
        free = moved()
        assert hand.press("A", 90.0, 0.0) == GOES_ON
        assert moved() == free
        for name, number in zip("XYZ", range(3), strict=True):
            assert hand.press(name, 40.0, 25.0) == GOES_ON
            assert f"  along {name}" in texts[-2]
            assert [abs(each) > 1e-4 for each in moved()] == [other == number for other in range(3)]
            hand.press(name, 40.0, 25.0, value="RELEASE")
            hand.press(name, 40.0, 25.0, shift=True)
            assert "  along " + " and ".join("XYZ".replace(name, "")) in texts[-2]
            assert [abs(each) > 1e-4 for each in moved()] == [other != number for other in range(3)]
        hand.press("X", 40.0, 25.0)
        hand.press("X", 40.0, 25.0)
        assert "  along the target's own X" in texts[-2]
        assert own.col[0].cross(moved()).length < 1e-5 < moved().length
        hand.press("X", 40.0, 25.0)
        assert " along " not in texts[-2]
        assert (moved() - free).length < 1e-4
        hand.move(40.0, 25.0, ctrl=True)
        assert moved() == Vector([float(round(each)) for each in free])
        hand.move(40.0, 25.0, ctrl=True, shift=True)
        assert (moved() - Vector([0.1 * round(10.0 * each) for each in free])).length < 1e-5
        hand.move(40.0, 25.0, ctrl=False)
        hand.move(140.0, 25.0)
        assert (view.place(target.location) - hand.start - Vector((50.0, 25.0))).length < 0.3, "a tenth with Shift"
        hand.held["shift"] = False
        assert operator._guides._handle is not None
        assert hand.press("LEFTMOUSE", value="RELEASE") == GOES_ON
        assert hand.press("LEFTMOUSE") == DONE
        assert operator._guides._handle is None
        assert texts[-2:] == [None, None]

    led(MOVES[0], scenario)
    assert live.under_way() == []


@pytest.mark.parametrize(
    ("kind", "value", "at_release", "ends"),
    [
        ("RET", "PRESS", False, DONE),
        ("NUMPAD_ENTER", "PRESS", True, DONE),
        ("SPACE", "PRESS", False, DONE),
        ("SPACE", "RELEASE", False, GOES_ON),
        ("LEFTMOUSE", "PRESS", False, DONE),
        ("LEFTMOUSE", "PRESS", True, GOES_ON),
        ("LEFTMOUSE", "RELEASE", True, DONE),
        ("ESC", "PRESS", False, BACK),
        ("RIGHTMOUSE", "PRESS", True, BACK),
        ("RIGHTMOUSE", "RELEASE", False, GOES_ON),
        ("TAB", "PRESS", False, GOES_ON),
    ],
)
@pytest.mark.parametrize("name", MOVES)
def test_keys_end_a_drag_or_give_back_what_was_before(led, name, kind, value, at_release, ends):
    rig, target = standard(shape="SEGMENT")
    update()
    before = rotations(rig), target.matrix_world.copy()

    def scenario(hand, operator):
        hand.begin()
        assert hand.press(kind, value=value) == (BACK if ends == DONE else ends), "a mere click moves nothing"
        if ends == GOES_ON:
            operator.cancel(hand.context)
        hand.begin((40.0, 5.0))
        hand.move(60.0, 95.0)
        update()
        assert rotations(rig) != before[0]
        assert hand.press(kind, 60.0, 95.0, value=value) == ends
        update()
        assert (rotations(rig) == before[0] and target.matrix_world == before[1]) == (ends == BACK)
        if ends == GOES_ON:
            operator.cancel(hand.context)

    led(name, scenario, release_confirm=at_release)


def test_a_target_turns_as_the_mouse_goes_round_it_about_the_view_or_an_axis(led):
    _, target = standard(shape="SEGMENT")

    def scenario(hand, operator):
        texts, view = hand.context.texts, hand.view
        hand.start = view.place(target.location)
        hand.begin((100.0, 0.0))
        assert texts[-2] == "Rotate Target:  0.00°"
        hand.move(0.0, 100.0)
        assert degrees(operator.value) == pytest.approx(90.0, abs=0.5)
        sight = -view.sight(target.location)
        assert (Vector(operator.axis) - view.towards).length < 1e-5
        assert texts[-2].startswith("Rotate Target:  90.0") or texts[-2].startswith("Rotate Target:  89.9")
        for name, shift, number in (("X", False, 0), ("Y", False, 1), ("Z", False, 2), ("X", True, 0), ("Z", True, 2)):
            hand.press(name, 0.0, 100.0)
            hand.press(name, 0.0, 100.0, shift=shift) if shift else None
            axis = Vector([float(each == number) for each in range(3)])
            assert Vector(operator.axis) == axis
            assert degrees(operator.value) == pytest.approx(90.0 if axis.dot(sight) > 0.0 else -90.0, abs=0.5)
        at = 100.0 * cos(radians(98.0)), 100.0 * sin(radians(98.0))
        hand.move(*at, ctrl=True)
        assert abs(degrees(operator.value)) == pytest.approx(100.0, abs=1e-3) or abs(
            degrees(operator.value)
        ) == pytest.approx(95.0, abs=1e-3)
        hand.press("ESC")

    led(MOVES[1], scenario)


def test_a_drag_begins_in_a_viewport_that_does_not_play_and_with_what_can_follow(led):
    rig, target = standard()
    before = rotations(rig)

    def begun(change):
        def scenario(hand, operator):
            change(hand.context)
            assert hand.begin() == BACK
            assert not hand.context.handled
            assert not hand.context.texts

        led(MOVES[0], scenario)

    with pytest.raises(RuntimeError, match="Stop playback"):
        begun(lambda context: setattr(context.screen, "is_animation_playing", True))
    for area in (None, SimpleNamespace(type="DOPESHEET_EDITOR")):
        with pytest.raises(RuntimeError, match="only be dragged in a 3D Viewport"):
            begun(lambda context, area=area: setattr(context, "area", area))
    target.parent, target.parent_type, target.parent_bone = rig, "BONE", "Bone 2"
    with pytest.raises(RuntimeError, match="follows chain bone"):
        begun(lambda context: None)
    assert rotations(rig) == before


def test_a_drag_from_the_sidebar_is_in_the_viewport_beside_it(led):
    _, target = standard()
    start = target.location.copy()

    def scenario(hand, operator):
        context = hand.context
        shown = context.region
        context.region = next(each for each in context.area.regions if each.type == "UI")
        assert hand.begin() == GOES_ON
        assert operator._region == shown
        assert hand.press("ESC") == BACK

    led(MOVES[0], scenario)
    assert target.location == start


def test_any_bone_can_be_dragged_in_pose_mode_alone():
    rig, _ = standard()
    assert cannot_drag(bpy.context) is None
    rig.data.pose_position = "REST"
    assert cannot_drag(bpy.context) == f"'{rig.name}' is in Rest Position. Switch to Pose Position"
    rig.data.pose_position = "POSE"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert cannot_drag(bpy.context) == "Switch to Pose Mode"
