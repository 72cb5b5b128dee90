# SPDX-License-Identifier: GPL-3.0-or-later
"""Registering leaves no traces, and the texts people see follow Blender's rules."""

import re
import shutil
import sys
from pathlib import Path

import addon_utils
import bpy
import pytest

from ..registered import described, our_properties, our_types

# Blender's guidelines ask for title case as the MLA has it: these stay small inside a label.
SMALL = {"a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "of", "on", "or", "per", "the", "to", "with"}


def test_registering_again_and_again_leaves_nothing(addon, pristine, registered, long):
    try:
        enabled, ours = registered(), {cls.__name__ for cls in our_types()}
        addon.unregister()
        off = registered()  # with what other add-ons have left behind, such as Rigify, that other tests enable
        assert not ours & off["types"]
        for kind in ("properties", "operators"):
            assert not [name for name in off[kind] - pristine[kind] if "ik_triangulation" in name.lower()]
        called = {function.__module__ for functions in off["handlers"].values() for function in functions}
        assert not [module for module in called if module.startswith("ik_triangulation")]
        assert off["keymaps"] == pristine["keymaps"]
        for number in range(100 if long else 20):
            addon.register()
            if number % 10 == 0:
                bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
                for message in ("Loaded", "Enabled"):
                    bpy.ops.ed.undo_push(message=message)
                bpy.ops.ed.undo()
            addon.unregister()
        assert registered() == off
    finally:
        addon.register()
    assert registered() == enabled


def test_every_kind_of_class_is_looked_at(addon):
    kinds = {base for cls in our_types() for base in cls.__mro__}
    assert kinds >= {bpy.types.Operator, bpy.types.Panel, bpy.types.PropertyGroup}
    assert len(list(our_properties())) > 10


def test_labels_are_in_title_case(addon):
    labels = {cls.__name__: cls.bl_label for cls in our_types() if hasattr(cls, "bl_label")}
    for where, prop in our_properties():
        labels[where] = prop.name
        if prop.type == "ENUM":
            labels |= {f"{where}.{item.identifier}": item.name for item in prop.enum_items}
    assert {where: label for where, label in labels.items() if not is_title_case(label)} == {}


def test_descriptions_are_sentences_without_a_full_stop(addon):
    texts = {cls.__name__: described(cls).description for cls in our_types() if issubclass(cls, bpy.types.Operator)}
    optional = {}
    for where, prop in our_properties():
        (optional if prop.is_hidden else texts)[where] = prop.description
        if prop.type == "ENUM":
            optional |= {f"{where}.{item.identifier}": item.description for item in prop.enum_items}
    texts |= {where: text for where, text in optional.items() if text}
    assert {where: text for where, text in texts.items() if not is_description(text)} == {}


def is_title_case(label: str) -> bool:
    words = re.findall(r"[^\s/()]+", label)
    return label[-1:] not in {".", ":"} and all(
        not word[0].islower() or (word in SMALL and 0 < i < len(words) - 1) for i, word in enumerate(words)
    )


def is_description(text: str) -> bool:
    """Blender writes the full stop itself; "undocumented" is what it shows for an operator without a description."""
    return text[:1] == text[:1].upper() != "" and not text.endswith(".") and text != "(undocumented operator)"


@pytest.mark.parametrize("label", ["Bake to Keys", "Two Bone", "X", "-X", "CCD (Cyclic)", "Solver", ""])
def test_title_case(label):
    assert is_title_case(label)


@pytest.mark.parametrize("label", ["bake", "Bake keys", "Bake To.", "Solve to", "the Chain", "Frame start"])
def test_not_title_case(label):
    assert not is_title_case(label)


@pytest.fixture
def second_copy(addon, tmp_path, monkeypatch):
    """The name of another copy of the package that Blender can enable."""
    folder = Path(addon.__file__).parent
    shutil.copytree(folder, tmp_path / "second_copy", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(folder.parent / "blender_manifest.toml", tmp_path)  # which has the version
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "second_copy"
    addon_utils.disable("second_copy")
    for name in [name for name in sys.modules if name.partition(".")[0] == "second_copy"]:
        del sys.modules[name]


def test_a_second_copy_refuses_in_a_sentence_that_names_the_first_and_leaves_it_whole(
    addon, second_copy, registered, capfd
):
    before = registered()
    assert addon_utils.enable(second_copy) is None
    said = capfd.readouterr()
    folder = Path(addon.__file__).parent
    assert (
        "RuntimeError: Another copy of IK Triangulation is enabled, "
        f"'ik_triangulation' in '{folder}': disable it to enable this one." in said.out + said.err
    )
    addon_utils.disable(second_copy)
    assert registered() == before
    try:
        addon.unregister()
        other = addon_utils.enable(second_copy)
        assert other is not None
        with pytest.raises(RuntimeError, match=r"^Another copy of IK Triangulation is enabled, 'second_copy' in "):
            addon.register()
        addon.unregister()
        operators = [name for name in dir(bpy.ops.pose) if name.startswith("ik_triangulation_")]
        assert len(operators) > 30
        assert hasattr(bpy.types.PoseBone, "ik_triangulation")
        addon_utils.disable(second_copy)
    finally:
        addon.register()
    assert registered() == before


def test_a_copy_that_cannot_be_registered_leaves_nothing_registered(addon, registered, monkeypatch):
    before = registered()
    addon.unregister()
    off = registered()
    try:
        with monkeypatch.context() as patch:
            for broken in ("ui.menus", "cli"):
                patch.setattr(f"ik_triangulation.{broken}.register", lambda: 1 / 0)
                with pytest.raises(ZeroDivisionError):
                    addon.register()
                assert registered() == off
    finally:
        addon.register()
    assert registered() == before
