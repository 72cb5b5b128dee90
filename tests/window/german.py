# SPDX-License-Identifier: GPL-3.0-or-later
"""The language is changed to German in a running Blender: buttons, labels and messages are, and English comes back."""

import importlib

import bpy

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import chain, curves


def script():
    view = bpy.context.preferences.view
    before = view.language
    if "de_DE" not in bpy.app.translations.locales:
        raise RuntimeError("this Blender has no German; remove the Debian and make it anew")
    chain(tolerance=1e-3)
    yield from screen.sidebar()
    operator = bpy.types.POSE_OT_ik_triangulation_bake
    shown = importlib.import_module(operator.__module__.partition(".ui.")[0] + ".ui.translation").translated
    name = bpy.app.translations.pgettext_iface
    try:
        view.language = "de_DE"
        yield 0.5
        yield from buttons.press("pose.ik_triangulation_bake")
        yield from wait.end()
        assert curves(), "nothing was baked"
        hands.move(*hands.rest())
        yield 0.5
        screen.picture("german")
        print(
            "NAMES",
            [
                name("Bake All", "Operator"),
                name("Set Up Body", "Operator"),
                name("Reached Within"),
                shown("Deleted 3 keys"),
                bpy.app.translations.pgettext_rpt("Deleted {0} keys"),
                view.use_translate_reports,
                view.use_translate_interface,
                bpy.app.translations.locale,
                bpy.app.translations.pgettext_rpt("Bake Again"),
                name("Bake Again", "Operator"),
                name("Bake Again"),
            ],
        )
        assert name("Set Up Body", "Operator") == "Körper einrichten"
        assert name("Reached Within") == "Erreicht bis auf"
        assert shown("Deleted 3 keys") == "3 Keys gelöscht"
    finally:
        view.language = before
    yield 0.5
    screen.picture("english")
    assert name("Set Up Body", "Operator") == "Set Up Body"
    assert shown("Deleted 3 keys") == "Deleted 3 keys"
