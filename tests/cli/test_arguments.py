# SPDX-License-Identifier: GPL-3.0-or-later
"""Flags take what they say and nothing else; what is aimed at can be said."""

import re
from math import pi

import bpy
import pytest

from ik_triangulation.jobs.pose import solve_pose

from ..commands import DONE, MISSED, USAGE, only_limb, opened
from ..rigs import chain_rig

# A flag, a value that it does not take, and what is said about it.
WRONG_VALUES = [
    ("--shape", "cup", "invalid choice: 'cup'"),
    ("--orientation", "sideways", "invalid choice: 'sideways'"),
    ("--orient-weight", "-1", "-1 is not a number from 0 up"),
    ("--orient-weight", "nan", "nan is not finite"),
    ("--orient-weight", "much", "'much' is not a number"),
    ("--pole-weight", "-0.5", "-0.5 is not a number from 0 up"),
    ("--pole-weight", "inf", "inf is not finite"),
    ("--pole-angle", "left", "'left' is not a number"),
    ("--pole-angle", "nan", "nan is not finite"),
    ("--influence", "1.01", "1.01 is not a number from 0 to 1"),
    ("--influence", "-0.1", "-0.1 is not a number from 0 to 1"),
    ("--influence", "nan", "nan is not finite"),
    ("--influence", "half", "'half' is not a number"),
    ("--tolerance", "inf", "inf is not finite"),
    ("--tolerance", "near", "'near' is not a number"),
    ("--tolerance", "-1", "-1 is not a number from 1e-06 up"),
    ("--pole-target", None, "expected one argument"),
    ("--seed", "-1", "-1 is not a number from 0 to 2147483647"),
    ("--seed", "9" * 5000, "is not a whole number"),
    ("--frame", "3000000000", "3000000000 is not a frame from -1048574 to 1048574"),
    ("--frame", "1.5", "'1.5' is not a whole number"),
    ("--chain-length", "-1", "-1 is not a number from 0 to 2147483647"),
    ("--iterations", "0", "0 is not a number from 1 to 2147483647"),
    ("--iterations", "1e3", "'1e3' is not a whole number"),
    ("--rest-weight", "1e300", "1e300 is more than Blender can store, 3.4e+38"),
    ("--tolerance", "1e39", "1e39 is more than Blender can store, 3.4e+38"),
    ("--pole-angle", "1e300", "1e300 is more than Blender can store, 3.4e+38"),
]


@pytest.mark.parametrize(("flag", "value", "message"), WRONG_VALUES)
def test_wrong_values_are_told_with_the_flag_and_the_reason(flag, value, message, run):
    words = [word for word in (flag, value) if word is not None]
    code, _, said = run("solve", "FILE", "--tip", "Bone 3", "--discard", *words)
    assert code == USAGE
    assert f"argument {flag}: " in said
    assert message in said
    assert not re.search("_[a-z]", said.partition("error: ")[2]), "the name of a function is told"


GOAL = {
    "shape": ("--shape", "sphere", "SPHERE"),
    "orientation": ("--orientation", "full", "FULL"),
    "orient_weight": ("--orient-weight", "0.25", 0.25),
    "pole_angle": ("--pole-angle", "-90", -pi / 2.0),
    "pole_weight": ("--pole-weight", "0", 0.0),
    "influence": ("--influence", "0.5", 0.5),
    "angle_tolerance": ("--angle-tolerance", "2", pi / 90.0),
}


@pytest.fixture
def solved_limb(run, monkeypatch):
    """Run a solve with more words; the limb that came of them."""
    seen = []

    def watch(limb, *rest, **settings):
        seen.append({name: getattr(limb, name) for name in (*GOAL, "subtarget", "pole_subtarget")})
        seen[-1]["pole_target"] = limb.pole_target and limb.pole_target.name
        return solve_pose(limb, *rest, **settings)

    monkeypatch.setattr("ik_triangulation.cli.solving.solve_pose", watch)

    def solve(*words):
        code, _, said = run("solve", "FILE", "--armature", "Rig", "--tip", "Bone 3", "--discard", *words)
        assert code in {DONE, MISSED}, said
        return seen[-1]

    return solve


@pytest.mark.parametrize("name", GOAL)
def test_what_is_aimed_at_can_be_said(name, solved_limb):
    flag, word, value = GOAL[name]
    assert solved_limb("--pole-target", "Pole", flag, word)[name] == value


def test_a_pole_that_is_given_has_no_bone_of_the_stored_one_and_none_is_a_pole_too(rig_file, solved_limb):
    rig = opened(rig_file)
    settings = rig.pose.bones["Bone 3"].ik_triangulation
    settings.pole_target, settings.pole_subtarget = chain_rig(2, name="Other"), "Bone 1"
    settings.pole_angle, settings.orientation, settings.influence = 0.5, "DIRECTION", 0.75
    bpy.ops.wm.save_mainfile()
    stored = solved_limb()
    assert (stored["pole_target"], stored["pole_subtarget"]) == ("Other", "Bone 1")
    assert (stored["pole_angle"], stored["orientation"], stored["influence"]) == (0.5, "DIRECTION", 0.75)
    for words, pole in {
        ("--pole-target", "Pole"): ("Pole", ""),
        ("--pole-target", "Other", "--pole-subtarget", "Bone 0"): ("Other", "Bone 0"),
        ("--pole-subtarget", "Bone 0"): ("Other", "Bone 0"),
        ("--pole-target", ""): (None, ""),
    }.items():
        found = solved_limb(*words)
        assert (found["pole_target"], found["pole_subtarget"]) == pole


def test_a_target_that_is_given_has_no_bone_of_the_stored_one(run, rig_file):
    rig = opened(rig_file)
    other = chain_rig(2, name="Other")
    settings = rig.pose.bones["Bone 3"].ik_triangulation
    settings.target, settings.subtarget = other, "Bone 1"
    bpy.ops.wm.save_mainfile()
    words = ["bake", "FILE", "--armature", "Rig", "--tip", "Bone 3", "--target", "Target", "--discard", "--json"]
    code, out, said = run(*words)
    assert code == DONE, said
    assert only_limb(out)["target"] == "Target"
