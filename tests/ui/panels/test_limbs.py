# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of limbs in every state of the active object."""

import bpy
import pytest

from ...layouts import drawn
from ...rigs import armature, empty
from .states import MAIN, shown, standard

pytestmark = pytest.mark.usefixtures("empty_scene")


def no_active_object():
    standard()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = None


def another_object():
    rig, _, _ = standard()
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.select_set(False)
    bpy.context.view_layer.objects.active = empty("Another")


def empty_armature():
    armature("Bare", [])


def no_active_bone():
    standard()[0].data.bones.active = None


@pytest.mark.parametrize("build", [no_active_object, another_object, empty_armature, no_active_bone])
def test_without_a_bone_the_main_panel_alone_says_what_to_do(build):
    build()
    said = "Make a bone active" if build in (empty_armature, no_active_bone) else "Select an armature"
    assert list(shown()) == [MAIN]
    assert drawn(MAIN)[-1] == said
