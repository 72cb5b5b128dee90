# SPDX-License-Identifier: GPL-3.0-or-later
"""The presets that come with the extension, and where Blender finds them."""

import subprocess
import sys
from math import pi
from pathlib import Path
from random import Random

import bpy
import pytest
from mathutils import Matrix, Quaternion

from ik_triangulation.errors import SettingError
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.presets import find_preset, names
from ik_triangulation.presets.file import read_preset
from ik_triangulation.presets.limb import apply_preset
from ik_triangulation.rig.freedom import freedom_of

from ..rigs import configure, empty
from .arms import BUILT_IN, arm

pytestmark = pytest.mark.usefixtures("empty_scene", "presets_removed")


def test_on_rigifys_human_all_bends_the_right_way_within_reach():
    script = Path(__file__).with_name("use_presets.py")
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_blender_finds_those_that_come_with_the_extension():
    assert names() == BUILT_IN, "Add a new preset to BUILT_IN in tests/presets/arms.py."
    assert all(read_preset(find_preset(name)).name == name for name in BUILT_IN)
    assert find_preset("Human Arm") == find_preset("Human_Arm")
    with pytest.raises(SettingError, match=r"'Claw' is not there. Choose one of 'Animal Leg', 'Finger'"):
        find_preset("Claw")


@pytest.mark.parametrize("name", ["IK/FK", "Left: arm?", "Ärmel 2"])
def test_a_preset_may_be_called_what_no_file_may(name):
    rig, _ = arm()
    configure(rig, "hand", chain_count=3, target=empty())
    bpy.ops.pose.ik_triangulation_preset_add(name=name)
    (new,) = set(names()) - set(BUILT_IN)
    assert bpy.ops.pose.ik_triangulation_preset_load(filepath=str(find_preset(new))) == {"FINISHED"}
    bpy.ops.pose.ik_triangulation_preset_add(name=name, remove_name=True)
    assert names() == BUILT_IN


def test_what_comes_with_the_extension_is_wide_enough_for_every_rest_pose():
    random = Random(3)
    for _ in range(10):
        rig, bones = arm([random.uniform(-pi, pi) for _ in range(3)], random.uniform(-0.3, 0.3), random.choice((1, -1)))
        rig.matrix_world = Matrix.Rotation(1.0, 4, "X")
        for name in BUILT_IN:
            apply_preset(rig, bones, read_preset(find_preset(name)))
            for bone in bones:
                freedom = freedom_of(rig.pose.bones[bone])
                assert rotation_angle(freedom.nearest(Quaternion()), Quaternion()) < 1e-5, (name, bone, freedom)
