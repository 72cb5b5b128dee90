# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag Trail with the mouse, without a window: pulled, moved in time with Alt, wider by the wheel, and given back."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.ui.overlay import trail

from ...rigs import evaluated_tip, nothing_lost
from .led import BACK, DONE, GOES_ON
from .rebuilt import standard

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")

NAME, TIP, AT, LAST = "pose.ik_triangulation_trail_drag", "Bone 3", 20, 41


@pytest.fixture
def rig():
    made, _ = standard()
    bpy.context.scene.frame_end = LAST
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=LAST)
    bpy.context.scene.frame_set(AT)
    return made


def tip_at(rig, frame):
    bpy.context.scene.frame_set(frame)
    return evaluated_tip(rig, TIP)


def begun(hand, operator, rig):
    hand.start = hand.view.place(evaluated_tip(rig, TIP))
    assert hand.begin((0.0, 0.0)) == GOES_ON
    assert operator.frame == AT
    assert hand.context.timers
    assert trail._state.drag is operator._drag


def test_a_place_of_a_trail_goes_with_the_mouse_and_what_is_around_it_less(rig, led):
    before = {frame: tip_at(rig, frame) for frame in (1, 16, AT, 24, LAST)}
    bpy.context.scene.frame_set(AT)

    def scenario(hand, operator):
        begun(hand, operator, rig)
        assert hand.context.texts[-2].startswith(f"Pull at frame {AT}:  X 0")
        assert hand.context.texts[-2].endswith("falloff 8 frames (wheel), Smooth (Shift O), timing (Alt)")
        hand.move(12.0, 6.0)
        assert (evaluated_tip(rig, TIP) - before[AT] - Vector(operator.value)).length < 2e-3
        assert hand.press("LEFTMOUSE") == DONE
        assert not hand.context.timers
        assert trail._state.drag is None

    led(NAME, scenario, falloff=8)
    ways = {frame: (tip_at(rig, frame) - place).length for frame, place in before.items()}
    assert ways[AT] > 0.02
    assert 0.1 * ways[AT] < ways[16] < ways[AT] > ways[24] > 0.1 * ways[AT]
    assert ways[1] == ways[LAST] == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("key", ["ESC", "RIGHTMOUSE"])
def test_all_is_given_back_and_the_wheel_keys_and_alt_change_how_it_goes(rig, led, key):
    later = tip_at(rig, AT + 3)
    bpy.context.scene.frame_set(AT)

    def scenario(hand, operator):
        with nothing_lost():
            begun(hand, operator, rig)
            hand.move(12.0, 6.0)
            texts, pulled = hand.context.texts, evaluated_tip(rig, TIP)
            for kind, falloff in (("WHEELUPMOUSE", 21), ("PAGE_UP", 23), ("WHEELDOWNMOUSE", 21), ("PAGE_DOWN", 19)):
                assert hand.press(kind) == GOES_ON
                assert operator.falloff == falloff
                assert f"falloff {falloff} frames" in texts[-2]
            hand.press("PAGE_UP", value="RELEASE")
            assert operator.falloff == 19
            names = [item.identifier for item in operator.properties.bl_rna.properties["profile"].enum_items]
            for name in [*names[1:], names[0]]:
                hand.press("O", shift=True)
                assert operator.profile == name
            hand.press("O")
            hand.press("O", value="RELEASE", shift=True)
            assert operator.profile == names[0]
            assert (evaluated_tip(rig, TIP) - pulled).length < 1e-3
            assert hand.press("LEFT_ALT") == GOES_ON
            assert texts[-2].startswith(f"Retime frame {AT}:  {operator.shift:+} frames   falloff 19 frames")
            hand.move(*(hand.view.place(later) - hand.start))
            drag = operator._drag
            assert operator.shift == drag.nearest(drag.frame.translation + Vector(operator.value))
            assert operator.shift in {2, 3}, "parallel to the screen"
            hand.press("RIGHT_ALT", value="RELEASE")
            assert operator.shift == 0
            assert texts[-2].startswith(f"Pull at frame {AT}")
            for _ in range(2):
                assert hand.press("TIMER") == GOES_ON
            assert operator._is_at_rest
            hand.move(12.0, 6.0)
            assert not operator._is_at_rest
            assert hand.press(key) == BACK
        assert not hand.context.timers
        assert trail._state.drag is None

    led(NAME, scenario, falloff=19, profile="SMOOTH")
