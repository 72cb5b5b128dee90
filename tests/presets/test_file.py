# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of presets: what is kept comes back the same, and a bad one is refused whole."""

import json
import os
from dataclasses import replace
from math import inf, pi, radians
from random import Random

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.errors import SettingError
from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge, Locked
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.presets.file import Preset, PresetJoint, read_preset, write_preset
from ik_triangulation.presets.limb import apply_preset, preset_of
from ik_triangulation.rig.freedom import store

from ..rigs import configure, nothing_lost, random_rotation, random_vector
from .arms import arm, values

pytestmark = pytest.mark.usefixtures("empty_scene", "presets_removed")


def random_freedom(random):
    low = -random.uniform(0.1, 3.0)
    return random.choice(
        [
            Free(),
            Locked(),
            Hinge(random_vector(random), low, low + random.uniform(0.0, 4.0)),
            Hinge(random_vector(random)),
            Cone(random.uniform(0.0, pi), low, 0.5),
            Cone(random.uniform(0.0, pi)),
            EulerLimits(random.choice(["XYZ", "YXZ", "ZXY"]), (low, -0.5, -1.0), (0.5, 0.0, 2.0)),
        ]
    )


@pytest.mark.parametrize("seed", range(20))
def test_what_is_kept_comes_back_the_same(seed, tmp_path):
    random = Random(seed)
    rig, bones = arm([random.uniform(-pi, pi) for _ in range(3)], side=random.choice((1.0, -1.0)))
    for name in bones:
        store(random_freedom(random), random.uniform(0.0, 0.9), rig.pose.bones[name].ik_triangulation_joint)
    configure(rig, "hand", solver="CCD", rest_weight=0.25, smooth=False)
    before = values(rig)
    write_preset(preset_of(rig, bones, "Mine"), tmp_path / "Mine.json")
    for name in bones:
        rig.pose.bones[name].property_unset("ik_triangulation_joint")
    configure(rig, "hand", solver="FABRIK", rest_weight=0.0, smooth=True)
    apply_preset(rig, bones, read_preset(tmp_path / "Mine.json"))
    stored = rig.pose.bones["hand"].ik_triangulation
    assert (stored.solver, stored.rest_weight, stored.smooth) == ("CCD", 0.25, False)
    for name in bones:
        (freedom, stiffness), (after, stiff) = before[name], values(rig)[name]
        assert type(after) is type(freedom)
        assert stiff == pytest.approx(stiffness, abs=1e-6)
        for _ in range(20):
            rotation = random_rotation(random)
            one, two = freedom.nearest(rotation), after.nearest(rotation)
            off = [rotation_angle(each, rotation) for each in (one, two)]
            assert rotation_angle(one, two) < 1e-4 or off == [pytest.approx(off[0], abs=1e-5)] * 2


ELBOW = {"name": "elbow", "kind": "HINGE", "axis": [1, 0, 0]}


BAD = {
    "no json": ("{", "it is not JSON: .* in line 1"),
    "binary": (b"\xff\xfe\x00", "it is not JSON text"),
    "a list": ([], "it is not a JSON object"),
    "nothing": ({}, "it lacks 'joints'"),
    "no joints": ({"joints": []}, "'joints' is not a list of joints"),
    "an unknown key": ({"joints": [ELBOW], "bones": 3}, "it has an unknown entry 'bones'"),
    "a joint that is a number": ({"joints": [3]}, "joint 1 is of an unknown kind"),
    "an unknown kind": ({"joints": [ELBOW, {"name": "a", "kind": "SADDLE"}]}, "joint 2 is of an unknown kind"),
    "a kind of another type": ({"joints": [{"name": "a", "kind": []}]}, "joint 1 is of an unknown kind"),
    "a key of another kind": ({"joints": [ELBOW | {"swing": 3}]}, "joint 1 has an unknown entry 'swing'"),
    "a name that is a number": ({"joints": [ELBOW | {"name": 3}]}, "the name of joint 1 is not text"),
    "an axis of two": ({"joints": [ELBOW | {"axis": [1, 0]}]}, "the axis of 'elbow' is not a list of three numbers"),
    "an axis of none": ({"joints": [ELBOW | {"axis": [0, 0, 0]}]}, "the axis of 'elbow' has no length"),
    "an inverted range": ({"joints": [ELBOW | {"range": [2, 1]}]}, "'elbow': Hinge is inverted"),
    "a range of text": ({"joints": [ELBOW | {"range": ["a", "b"]}]}, "the range of 'elbow' is not a number"),
    "a range of one": ({"joints": [ELBOW | {"range": [2]}]}, "the range of 'elbow' is not a list of two angles"),
    "a range of three": (
        {"joints": [ELBOW | {"range": [0, 1, 2]}]},
        "the range of 'elbow' is not a list of two angles",
    ),
    "a range that is a number": (
        {"joints": [ELBOW | {"range": 2}]},
        "the range of 'elbow' is not a list of two angles",
    ),
    "a range that is an object": (
        {"joints": [ELBOW | {"range": {"lower": 0, "upper": 1}}]},
        "the range of 'elbow' is not a list of two angles",
    ),
    "not a number": ('{"joints": [{"name": "a", "kind": "CONE", "swing": NaN}]}', "NaN is not a number"),
    "a huge number": (
        '{"joints": [{"name": "a", "kind": "CONE", "swing": 1e400}]}',
        "the swing of 'a' is not a number",
    ),
    "too wide a cone": (
        {"joints": [{"name": "a", "kind": "CONE", "swing": 200}]},
        "the swing of 'a' is not from 0 to 180",
    ),
    "an unknown order": (
        {"joints": [{"name": "a", "kind": "EULER", "order": "XXX", "x": None, "y": None, "z": None}]},
        "'a': Euler order 'XXX' is unknown",
    ),
    "too stiff": ({"joints": [ELBOW | {"stiffness": 1.5}]}, "the stiffness of 'elbow' is not from 0"),
    "a flag of text": (
        {"joints": [ELBOW | {"from_straight": "yes"}]},
        "'from_straight' of 'elbow' is not true",
    ),
    "two that repeat": ({"joints": [ELBOW | {"repeats": True}] * 2}, "more than one joint repeats"),
    "an unknown solver": (
        {"joints": [ELBOW], "settings": {"solver": "MAGIC"}},
        "'solver' is not one of NATURAL, CIRCULAR",
    ),
    "an unknown setting": (
        {"joints": [ELBOW], "settings": {"target": "Cup"}},
        "'settings' has an unknown entry 'target'",
    ),
    "a setting of text": ({"joints": [ELBOW], "settings": {"iterations": "9"}}, "'iterations' is not a whole number"),
    "a setting too small": ({"joints": [ELBOW], "settings": {"iterations": 0}}, "'iterations' is not from 1 to"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_file_is_refused_with_its_name_and_the_reason_and_changes_nothing(what, tmp_path):
    content, reason = BAD[what]
    path = tmp_path / "Bad.json"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    rig, _ = arm()
    configure(rig, "hand", chain_count=3)
    before = values(rig)
    with nothing_lost(), pytest.raises(RuntimeError, match=f"Bad.json' cannot be used: {reason}"):
        bpy.ops.pose.ik_triangulation_preset_load(filepath=str(path))
    assert values(rig) == before


def test_a_file_that_is_gone_or_too_deep_is_refused(tmp_path):
    with pytest.raises(SettingError, match=r"None.json' cannot be used: No such file"):
        read_preset(tmp_path / "None.json")
    (tmp_path / "Deep.json").write_text("[" * 200_000)
    with pytest.raises(SettingError, match=r"Deep.json' cannot be used"):
        read_preset(tmp_path / "Deep.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_a_pipe_a_device_or_a_folder_is_refused_at_once(tmp_path):
    pipe, folder = tmp_path / "pipe.json", tmp_path / "folder.json"
    os.mkfifo(pipe)
    folder.mkdir()
    for path in (pipe, folder, "/dev/zero"):
        with pytest.raises(SettingError, match=r"cannot be used: it is not a regular file\. Repair or remove the file"):
            read_preset(path)


def euler(order, *ranges):
    low, high = (tuple(radians(each[end]) for each in ranges) for end in (0, 1))
    return EulerLimits(order, low, high)


WRITTEN = {
    "settings": {"solver": "CCD", "rest_weight": 0.25, "iterations": 7, "smooth": False},
    "towards": [0.0, -1.0, 0.5],
    "joints": [
        {"name": "free", "kind": "FREE", "stiffness": 0.0},
        {"name": "locked", "kind": "LOCKED", "stiffness": 0.25},
        {
            "name": "hinge",
            "kind": "HINGE",
            "axis": [0.0, 0.6, 0.8],
            "range": [-10.0, 120.0],
            "from_straight": True,
            "stiffness": 0.5,
        },
        {
            "name": "wheel",
            "kind": "HINGE",
            "axis": [1.0, 0.0, 0.0],
            "range": None,
            "from_straight": False,
            "stiffness": 0.0,
        },
        {"name": "cone", "kind": "CONE", "swing": 40.0, "twist": [-20.0, 30.0], "stiffness": 0.0},
        {"name": "swing", "kind": "CONE", "swing": 180.0, "twist": None, "stiffness": 0.0},
        {
            "name": "euler",
            "kind": "EULER",
            "order": "YXZ",
            "x": [-1.0, 2.0],
            "y": [-30.0, 40.0],
            "z": [-5.0, 6.0],
            "from_straight": True,
            "stiffness": 0.125,
        },
        {
            "name": "twist",
            "kind": "EULER",
            "order": "XYZ",
            "x": None,
            "y": [-30.0, 40.0],
            "z": [-5.0, 6.0],
            "stiffness": 0.0,
        },
    ],
}
JOINTS = [
    PresetJoint("free", Free()),
    PresetJoint("locked", Locked(), 0.25, 1),
    PresetJoint("hinge", Hinge(Vector((0.0, 0.6, 0.8)), radians(-10.0), radians(120.0)), 0.5, 2, True),
    PresetJoint("wheel", Hinge(Vector((1.0, 0.0, 0.0))), 0.0, 3),
    PresetJoint("cone", Cone(radians(40.0), radians(-20.0), radians(30.0)), 0.0, 4),
    PresetJoint("swing", Cone(pi), 0.0, 5),
    PresetJoint("euler", euler("YXZ", (-1.0, 2.0), (-30.0, 40.0), (-5.0, 6.0)), 0.125, 6, True),
    PresetJoint("twist", euler("XYZ", (-inf, inf), (-30.0, 40.0), (-5.0, 6.0)), 0.0, 7),
]


def test_a_file_is_written_in_degrees_and_read_as_it_was(tmp_path):
    settings = WRITTEN["settings"]
    write_preset(Preset("Any", JOINTS, settings, Vector((0.0, -1.0, 0.5))), tmp_path / "All.json")
    assert json.loads((tmp_path / "All.json").read_text(encoding="utf-8")) == WRITTEN
    read = read_preset(str(tmp_path / "All.json"))
    assert (read.name, read.settings, read.towards) == ("All", settings, Vector((0.0, -1.0, 0.5)))
    for one, other in zip(read.joints, JOINTS, strict=True):
        assert replace(one, freedom=None) == replace(other, freedom=None)
        assert type(one.freedom) is type(other.freedom)
        same(vars(one.freedom), vars(other.freedom))
    write_preset(Preset("Any", JOINTS[:1]), tmp_path / "One.json")
    assert json.loads((tmp_path / "One.json").read_text(encoding="utf-8")) == {"joints": WRITTEN["joints"][:1]}
    read = read_preset(tmp_path / "One.json")
    assert (read.settings, read.towards) == ({}, None)


def same(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        if isinstance(value, float | tuple):
            assert value == pytest.approx(other[name], abs=1e-9), name
        elif isinstance(value, Vector):
            assert tuple(value) == pytest.approx(tuple(other[name]), abs=1e-6), name
        else:
            assert value == other[name], name


@pytest.mark.parametrize(
    ("joint", "reads"),
    [
        ({"name": "a", "kind": "CONE", "swing": 0}, True),
        ({"name": "a", "kind": "CONE", "swing": 180}, True),
        ({"name": "a", "kind": "CONE", "swing": -1}, False),
        ({"name": "a", "kind": "CONE", "swing": 181}, False),
        (ELBOW | {"stiffness": 0.99}, True),
        (ELBOW | {"stiffness": 1.0}, False),
        (ELBOW | {"stiffness": -0.1}, False),
        (ELBOW | {"axis": [1e6, 0, 0]}, True),
        (ELBOW | {"axis": [2e6, 0, 0]}, False),
        (ELBOW | {"axis": [True, 0, 0]}, False),
        (ELBOW | {"axis": [0, 0, -1]}, True),
        (ELBOW | {"axis": {}}, False),
        (ELBOW | {"rank": 2}, True),
        (ELBOW | {"rank": True}, False),
        (ELBOW | {"rank": 0.5}, False),
        (ELBOW | {"repeats": True, "shared": True}, True),
        (ELBOW | {"shared": 1}, False),
        (ELBOW | {"name": ""}, False),
        (ELBOW | {"twist": None}, False),
        ({"name": "a", "kind": "HINGE"}, False),
        ({"name": "a", "kind": "LOCKED", "from_straight": True}, False),
        ({"name": "a", "kind": "EULER", "order": 3, "x": None, "y": None, "z": None}, False),
        ({"name": "a", "kind": "EULER", "order": "XYZ", "x": None, "y": None}, False),
    ],
)
def test_a_joint_is_read_with_values_in_their_ranges_and_of_their_types_only(joint, reads, tmp_path):
    path = tmp_path / "One.json"
    path.write_text(json.dumps({"joints": [joint], "note": "said by its author"}), encoding="utf-8")
    if not reads:
        with pytest.raises(SettingError, match="cannot be used"):
            read_preset(path)
        return
    (read,) = read_preset(path).joints
    assert (read.name, read.rank) == (joint["name"], joint.get("rank", 0))
    assert (read.repeats, read.shared) == (joint.get("repeats", False), joint.get("shared", False))


@pytest.mark.parametrize(
    ("settings", "reads"),
    [
        ({"iterations": 1, "rest_weight": 0, "smoothing": 1.0, "finish": False, "start_from": "REST"}, True),
        ({"iterations": True}, False),
        ({"iterations": 2.5}, False),
        ({"smoothing": 1.01}, False),
        ({"smoothing": -0.01}, False),
        ({"smoothing": "1"}, False),
        ({"finish": 1}, False),
        ({"solver": ""}, False),
        ([], False),
    ],
)
def test_a_setting_is_read_with_a_value_that_blender_takes_only(settings, reads, tmp_path):
    path = tmp_path / "One.json"
    path.write_text(json.dumps({"joints": [ELBOW], "settings": settings}), encoding="utf-8")
    if reads:
        assert read_preset(path).settings == settings
    else:
        with pytest.raises(SettingError, match="cannot be used"):
            read_preset(path)


@pytest.mark.parametrize(
    ("freedom", "is_against"),
    [
        (Hinge(Vector((1.0, 0.0, 0.0)), -1.0, 0.29), True),
        (Hinge(Vector((1.0, 0.0, 0.0)), -1.0, 0.31), False),
        (Hinge(Vector((1.0, 0.0, 0.0)), -0.2, 1.0), False),
        (EulerLimits("XYZ", (-1.0, 0.0, 0.0), (0.29, 9.0, 9.0)), True),
        (EulerLimits("XYZ", (-1.0, -9.0, -9.0), (0.31, 0.0, 0.0)), False),
        (Cone(1.0), False),
    ],
)
def test_a_joint_bends_against_the_limb_if_it_hardly_bends_with_it_from_straight(freedom, is_against):
    assert PresetJoint("hock", freedom, from_straight=True).is_against is is_against
    assert not PresetJoint("hock", freedom).is_against


def test_a_preset_that_cannot_be_written_says_why(tmp_path):
    with pytest.raises(SettingError, match=r"One.json' cannot be written: .*\. Choose another name\."):
        write_preset(Preset("One", JOINTS), tmp_path / "none" / "One.json")
