# SPDX-License-Identifier: GPL-3.0-or-later
"""Flags have the type, range, unit and help that the table of settings says."""

from argparse import ArgumentParser
from math import pi

import pytest
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ik_triangulation.cli.arguments import add_settings
from ik_triangulation.settings import Exempt, Flag, group, setting

ITEMS = [("ONE", "One", ""), ("two", "Two", "")]


@group(page="page.html#top")
class Tried:
    angle: float = setting(FloatProperty, "A", "An angle", default=0.0, max=pi, subtype="ANGLE", flag="--angle")
    share: float = setting(FloatProperty, "A", "Share", default=1.0, min=0.0, max=1.0, subtype="FACTOR", flag="--share")
    length: float = setting(FloatProperty, "A", "Up to 5 %", default=2.0, min=1.0, subtype="DISTANCE", flag="--length")
    count: int = setting(IntProperty, "A", "Number", default=3, min=1, flag=Flag("--count", range=(0, 9)))
    kind: str = setting(
        EnumProperty, "A", "Kind", items=[("ONE", "", ""), ("two", "", "")], default="ONE", flag="--kind"
    )
    rough: bool = setting(BoolProperty, "A", "Rough", default=False, flag="--rough")
    fine: bool = setting(BoolProperty, "A", "Fine", default=True, flag=Flag("--no-fine", "leave it coarse"))
    text: str = setting(StringProperty, "A", "Text", default="", name="other_text", flag="--text")
    quiet: str = setting(StringProperty, "A", "None", default="", flag=Exempt("it has none"))


def parser(**how):
    made = ArgumentParser(prog="tried")
    add_settings(made, Tried, **how)
    return made


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        (["--angle", "90"], "angle", pi / 2.0),
        (["--angle", "-720"], "angle", -4.0 * pi),
        (["--share", "0.25"], "share", 0.25),
        (["--count", "0"], "count", 0),
        (["--kind", "one"], "kind", "ONE"),
        (["--kind", "TWO"], "kind", "two"),
        (["--rough"], "rough", True),
        (["--no-fine"], "fine", False),
        (["--text", "word"], "text", "word"),
    ],
)
def test_a_value_is_read(words, name, value):
    read = vars(parser().parse_args(words))
    assert read.pop(name) == (pytest.approx(value) if isinstance(value, float) else value)
    assert set(read.values()) == {None}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--angle", "181"], "181 is not a number of degrees up to 180"),
        (["--share", "1.5"], "1.5 is not a number from 0 to 1"),
        (["--length", "0.5"], "0.5 is not a number from 1 up"),
        (["--count", "10"], "10 is not a number from 0 to 9"),
        (["--count", "1.0"], "'1.0' is not a whole number"),
        (["--kind", "three"], "invalid choice: 'three'"),
        (["--quiet", "x"], "unrecognized arguments"),
    ],
)
def test_a_value_out_of_range_is_refused(words, message, capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(words)
    assert message in capsys.readouterr().err


def test_help_is_the_description_with_its_unit():
    said = " ".join(parser().format_help().split())
    assert "--angle DEGREES an angle" in said
    assert "share (0 to 1)" in said
    assert "up to 5 %, in Blender units" in said
    assert "--no-fine leave it coarse" in said


def test_defaults_are_given_and_told_where_nothing_is_saved():
    read = vars(parser(defaults=True).parse_args([]))
    assert read == {name: getattr(Tried(), name) for name in read}
    assert set(read) == set(vars(parser().parse_args([])))
    assert "number (default: 3)" in " ".join(parser(defaults=True).format_help().split())


def test_some_flags_can_be_chosen_or_left_out():
    assert set(vars(parser(only=["share", "text"]).parse_args([]))) == {"share", "text"}
    assert "share" not in vars(parser(without=["share"]).parse_args([]))
