# SPDX-License-Identifier: GPL-3.0-or-later
"""Every kind of limit is tried by the tests, stored, kept in presets, mirrored, shown and in the manual."""

import re
from importlib import import_module
from math import inf, pi
from pathlib import Path
from pkgutil import iter_modules
from random import Random

import pytest
from mathutils import Matrix, Quaternion

from ik_triangulation import api, kinematics
from ik_triangulation.errors import FreedomError
from ik_triangulation.jobs.joint_tools import kind_text, range_text
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.kinematics.framed import mirrored
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.presets.file import Preset, PresetJoint, read_preset, write_preset
from ik_triangulation.rig.freedom import freedom_of, limits_of, store
from ik_triangulation.rig.limb import Limb
from ik_triangulation.settings import JointSettings, settings_of
from ik_triangulation.ui.overlay.figure import add_joint
from ik_triangulation.ui.overlay.sketch import Role, Sketch

from ..chains import RANDOM, random_rotation, straight
from ..rigs import chain_rig, empty
from ..strategies import FREEDOMS

pytestmark = pytest.mark.usefixtures("empty_scene")

MANUAL = Path(__file__).resolve().parents[2] / "docs" / "joints.md"
ITEMS = {item[0]: item[1] for item in settings_of(JointSettings)["kind"].options["items"]}


def kinds():
    """All kinds of limits that the modules of kinematics/ define, by name; Framed is none, it turns the axes of one."""
    modules = [import_module(f"{kinematics.__name__}.{module.name}") for module in iter_modules(kinematics.__path__)]
    base = kinematics.Freedom
    found = {cls for module in modules for cls in vars(module).values() if isinstance(cls, type)}
    return {cls.__name__: cls for cls in found if issubclass(cls, base) and cls not in (base, kinematics.Framed)}


KINDS = kinds()
every_kind = pytest.mark.parametrize("kind", sorted(KINDS))


def some(kind, count=20):
    """Joints of a kind with random limits, or a failure that says where to add it."""
    make = RANDOM.get(KINDS[kind])
    assert make, f"No test tries {kind}. Add a function that makes a random one to RANDOM in tests/chains.py."
    random = Random(kind)
    return random, [make(random) for _ in range(count)]


def stored_bone(freedom):
    bone = chain_rig(1).pose.bones["Bone 0"]
    store(freedom, 0.5, bone.ik_triangulation_joint)
    return bone


def is_the_same(freedom, other, random):
    """Whether two joints are of one kind and allow the same rotations."""
    allowed = [freedom.random(random) for _ in range(10)]
    return type(other) is type(freedom) and all(
        rotation_angle(other.nearest(rotation), rotation) < 1e-5 for rotation in allowed
    )


@every_kind
def test_a_kind_is_public(kind):
    assert kind in kinematics.__all__, f"Export {kind} in kinematics/__init__.py."
    assert kind in api.__all__, f"Add {kind} to the names that api.py takes from kinematics."


@every_kind
def test_a_kind_is_tried_by_all_solvers(kind):
    some(kind)
    assert KINDS[kind] in FREEDOMS, f"Hypothesis does not try {kind}. Add it to FREEDOMS in tests/strategies.py."


@every_kind
def test_a_kind_can_be_stored_on_a_bone(kind):
    random, freedoms = some(kind)
    for freedom in freedoms:
        bone = stored_bone(freedom)
        assert is_the_same(freedom, limits_of(bone), random), (
            f"{kind} is not read from a bone as it was stored. Give it an item of `kind` in settings/goal.py, and "
            "let store() and _own_freedom() in rig/freedom.py know it."
        )


def test_each_item_of_the_setting_is_a_kind_of_its_own():
    joint = (bone := chain_rig(1).pose.bones["Bone 0"]).ik_triangulation_joint
    joint.source, made = "OWN", {}
    for joint.kind in ITEMS:
        made[joint.kind] = type(limits_of(bone))
    assert len(set(made.values())) == len(made), f"_own_freedom() in rig/freedom.py does not tell all items: {made}."


@every_kind
def test_a_solved_bone_keeps_limits_of_a_kind(kind):
    random, freedoms = some(kind, 5)
    for freedom in freedoms:
        rig = chain_rig(3)
        store(freedom, 0.0, rig.pose.bones["Bone 1"].ik_triangulation_joint)
        target = empty(location=[random.uniform(-2.0, 2.0) for _ in range(3)])
        solve_pose(Limb.from_tip(rig, "Bone 2", target, 3))
        bone = rig.pose.bones["Bone 1"]
        now = bone.matrix_basis.to_quaternion()
        assert rotation_angle(freedom_of(bone).nearest(now), now) < 1e-5


@every_kind
def test_a_preset_keeps_a_kind(kind, tmp_path):
    random, freedoms = some(kind)
    file = tmp_path / "Own.json"
    for freedom in freedoms:
        write_preset(Preset("Own", [PresetJoint("bone", freedom)]), file)
        assert is_the_same(freedom, read_preset(file).joints[0].freedom, random), (
            f"A preset does not keep {kind}. Let presets/file.py read it, in _freedom() and the tables at its "
            "beginning, and write it, in _joint_as_written()."
        )


@every_kind
def test_the_mirror_image_of_a_kind_is_right_or_refused(kind):
    random, freedoms = some(kind)
    images = 0
    for freedom in freedoms:
        # Any turn from one rest frame to the other: an image that ignores it is wrong. Most limits have images where
        # axes come onto axes only.
        quarters = [Quaternion(axis, random.randrange(4) * pi / 2.0).to_matrix() for axis in Matrix.Identity(3)]
        about_bone, any_turn = Quaternion((0.0, 1.0, 0.0), 0.5).to_matrix(), random_rotation(random).to_matrix()
        mirror = random.choice((quarters[0] @ quarters[1] @ quarters[2], quarters[1], about_bone, any_turn))
        try:
            image = mirrored(freedom, mirror)
        except FreedomError:
            continue
        images += 1
        for rotation in (freedom.random(random) for _ in range(10) if freedom.moves):
            turned = (mirror @ rotation.to_matrix() @ mirror.transposed()).to_quaternion()
            assert rotation_angle(image.nearest(turned), turned) < 1e-5, (
                f"mirrored() in kinematics/framed.py takes {kind} for its own mirror image. Mirror it there."
            )
    assert images >= len(freedoms) // 4, f"mirrored() refuses {kind} nearly always: nothing was tried."


@every_kind
def test_a_kind_has_a_name_and_a_range_in_the_list_of_joints(kind):
    random, freedoms = some(kind)
    others = {kind_text(make(random)).split()[0] for other, make in RANDOM.items() if other is not KINDS[kind]}
    for freedom in freedoms if KINDS[kind] is not kinematics.Free else []:
        assert kind_text(freedom).split()[0] not in others, f"Name {kind} in kind_text() in jobs/joint_tools.py."
        assert range_text(freedom) or not freedom.moves, (
            f"The list of joints does not show the limits of {kind}. Add them to range_text() in jobs/joint_tools.py."
        )


@every_kind
def test_the_limits_of_a_kind_are_drawn_by_the_overlay(kind):
    _, freedoms = some(kind)
    for freedom in freedoms:
        pose, sketch = straight((1.0,), [freedom]).rest_pose(), Sketch()
        pose.project()
        add_joint(sketch, pose, 0, 1.0)
        limited = any(coordinate.upper < inf for coordinate in freedom.coordinates(pose.rotations[0]))
        drawn = {stroke.role for stroke in (*sketch.arcs, *sketch.lines)} - {Role.NOW, Role.MISSED}
        assert drawn or not limited, (
            f"The overlay draws nothing of {kind}. Let _limits() in ui/overlay/figure.py draw what is not an arc about "
            "an axis."
        )


@pytest.mark.parametrize("item", ITEMS)
def test_a_kind_is_named_in_the_manual(item):
    section = MANUAL.read_text("utf-8").partition("**Custom**")[2].partition("\n\n")[0]
    assert re.search(rf"\*{ITEMS[item]}\*", section), (
        f"The manual does not name the joint {ITEMS[item]}. Say in docs/joints.md, at Custom, what it may do."
    )
