# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything about a setting follows from the one row that declares it."""

from dataclasses import FrozenInstanceError, dataclass, fields

import bpy
import pytest
from bpy.props import FloatProperty, IntProperty, PointerProperty, StringProperty

from ik_triangulation.rig.limb import LIMB_SETTINGS, Limb
from ik_triangulation.settings import Exempt, Flag, given, group, saved, setting, settings_of
from ik_triangulation.settings.table import by_property

_NO_FLAG = Exempt("it is only tried here")


@group(page="page.html#top", flags=_NO_FLAG)
class Tried:
    length: float = setting(FloatProperty, "Length", "A length", default=2.0, min=1.0, flag="--length")
    number: int = setting(IntProperty, "Number", "A number", default=3, name="tried_number", page="page.html#number")
    thing: bpy.types.Object | None = setting(PointerProperty, "Thing", "A thing", default=None, type=bpy.types.Object)


@dataclass(frozen=True)
class Record(Tried):
    own: str


def test_a_group_is_a_record_with_the_defaults_of_its_settings():
    assert (Tried().length, Tried().number, Tried().thing, Tried(length=5.0).length) == (2.0, 3, None, 5.0)
    with pytest.raises(TypeError):
        Tried(5.0)  # values go by name
    with pytest.raises(FrozenInstanceError):
        Tried().length = 1.0


def test_a_record_inherits_settings_and_has_fields_of_its_own_before_them():
    assert Record("mine", number=4) == Record(own="mine", length=2.0, number=4, thing=None)
    assert list(settings_of(Record)) == ["length", "number", "thing"]


def test_properties_are_saved_under_their_names_and_given_to_operators_under_those_of_the_fields():
    assert list(saved(Tried)) == list(by_property(Tried)) == ["length", "tried_number", "thing"]
    assert list(given(Tried)) == ["length", "number", "thing"]
    assert list(given(Tried, "number")) == ["number"]


def test_a_property_has_what_its_row_says_and_what_is_said_for_all():
    keywords = saved(Tried, override={"LIBRARY_OVERRIDABLE"})["length"].keywords
    assert callable(keywords.pop("update"))  # else Blender does not see what scripts set
    expected = {"name": "Length", "description": "A length", "default": 2.0, "min": 1.0}
    assert keywords == {**expected, "override": {"LIBRARY_OVERRIDABLE"}}
    assert "default" not in saved(Tried)["thing"].keywords


def test_a_row_goes_before_what_is_said_for_all():
    @group(page="")
    class Own:
        text: str = setting(StringProperty, "Text", "A text", default="", override=set())

    assert saved(Own, override={"LIBRARY_OVERRIDABLE"})["text"].keywords["override"] == set()


def test_page_and_exemption_of_the_group_are_for_rows_without_their_own():
    rows = settings_of(Tried)
    assert [row.page for row in rows.values()] == ["page.html#top", "page.html#number", "page.html#top"]
    assert [row.flag for row in rows.values()] == [Flag("--length"), _NO_FLAG, _NO_FLAG]


def test_a_limb_has_the_settings_of_the_table_after_fields_of_its_own():
    assert [each.name for each in fields(Limb) if not each.kw_only][:4] == ["armature", "bones", "solved", "target"]
    assert {each.name for each in fields(Limb) if each.kw_only} == set(LIMB_SETTINGS)
    limb = Limb(None, ("a", "b"), frozenset("b"), None, solver="CCD")  # as scripts call it
    assert (limb.tip, limb.solver, limb.tolerance) == ("b", "CCD", 1e-3)
