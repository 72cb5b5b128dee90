# SPDX-License-Identifier: GPL-3.0-or-later
"""Behind the bones that an animator sees, the controls that turn them are found by what copies what."""

import pytest

from ik_triangulation.rig.controls import Controls

from ..jobs.interfering import doubled
from ..rigs import chain_rig

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_rig_without_constraints_has_no_controls_but_its_bones():
    controls = Controls(chain_rig(3))
    assert controls.control("Bone 1") == "Bone 1"
    assert controls.chain("Bone 2") == []
    assert controls.count("Bone 2") is None


@pytest.mark.parametrize("number", range(3))
def test_of_a_bone_that_copies_another_that_one_is_the_control(number):
    rig, _ = doubled()
    controls = Controls(rig)
    assert controls.control(f"Skin {number}") == f"Bone {number}"
    assert controls.control(f"Bone {number}") == f"Bone {number}"


def test_the_chain_of_a_control_goes_up_to_where_it_begins():
    controls = Controls(doubled()[0])
    assert controls.chain("Bone 2") == ["Bone 2", "Bone 1", "Bone 0"]
    assert controls.chain("Skin 2") == []


def test_a_limb_that_is_chosen_by_its_first_bone_ends_at_its_last():
    controls = Controls(doubled()[0])
    assert controls.end("Bone 0") == "Bone 2"
    assert controls.end("Bone 2") == "Bone 2"


def test_a_control_that_another_bone_places_is_none():
    rig, _ = doubled()
    held = rig.pose.bones["Bone 1"].constraints.new("COPY_ROTATION")
    held.target, held.subtarget = rig, "Skin 0"
    assert Controls(rig).control("Skin 1") == "Skin 1"
