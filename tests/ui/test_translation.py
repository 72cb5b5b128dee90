# SPDX-License-Identifier: GPL-3.0-or-later
"""Catalogues are read, and messages translated by their templates; the template of a catalogue has all texts."""

import re

import bpy
import pytest
import translations

from ik_triangulation.cooperative import no_garbage_collection
from ik_triangulation.ui import translation
from ik_triangulation.ui.translation import filled_in, read_catalogue, templates_of, translated

PLACES = re.compile(r"\{[^}]*\}")  # of values
QUOTES = re.compile(r"'\{\d+\}'")  # names, which are not translated
CATALOGUE = r"""msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\n"

#: job.py:1
msgctxt "Operator"
msgid "Bake"
msgstr "Backen"

msgid "Reached {0} of {1} frames"
msgstr "{1} Bilder, {0} erreicht"

msgid "{0}, largest distance {1} at frame {2}{3}"
msgstr "{0}, größter "
"Abstand {1} in Bild {2}{3}"

msgid "1 jump"
msgstr "1 Sprung"

msgid "No limb of '{0}' is enabled"
msgstr "Kein Glied von \"{0}\" ist \"an\""

#, fuzzy
msgid "Unsure"
msgstr "Unsicher"

msgid "Not yet"
msgstr ""

#~ msgid "Gone"
#~ msgstr "Weg"
"""


def german(text):
    known = read_catalogue(CATALOGUE)
    templates = templates_of(msgid for _, msgid in known)
    return filled_in(text, lambda each: known.get(("*", each), each), templates)


def test_a_catalogue_is_read_without_what_is_not_translated():
    known = read_catalogue(CATALOGUE)
    assert known["Operator", "Bake"] == "Backen"
    assert known["*", "No limb of '{0}' is enabled"] == 'Kein Glied von "{0}" ist "an"'
    assert {text for _, text in known}.isdisjoint({"", "Unsure", "Not yet", "Gone"})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "Reached 3 of 12 frames, largest distance 2 m at frame 7",
            "12 Bilder, 3 erreicht, größter Abstand 2 m in Bild 7",
        ),
        ("Reached 3 of 12 frames", "12 Bilder, 3 erreicht"),
        (
            "Reached 3 of 12 frames, largest distance 2 m at frame 7; 1 jump",
            "12 Bilder, 3 erreicht, größter Abstand 2 m in Bild 7; 1 Sprung",
        ),
        ("No limb of '1 jump' is enabled", 'Kein Glied von "1 jump" ist "an"'),
        ("Anything else", "Anything else"),
    ],
)
def test_a_message_is_translated_by_its_template(text, wanted):
    assert german(text) == wanted


def test_without_a_catalogue_messages_stay_as_they_are():
    assert translated("Reached 3 of 12 frames") == "Reached 3 of 12 frames"


def test_a_language_is_read_where_it_is_used_first(addon):
    assert "de_DE" not in translation._catalogues
    try:
        assert translation._has_catalogue("de_DE")
        assert translation._catalogues["de_DE"]["Operator", "Bake"] == "Backen"
        assert not translation._has_catalogue("en_US")
        assert not translation._has_catalogue("")
    finally:
        translation.unregister()
        translation.register()
    assert "de_DE" not in translation._catalogues


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Deleted 3 keys", "3 Keys gelöscht"),
        (
            "Reached 40 of 40 frames, largest distance 4.2 µm at frame 29; 1 jump",
            "40 von 40 Frames erreicht, größter Abstand 4.2 µm in Frame 29; 1 Sprung",
        ),
        (
            "Reached 2 of 2 frames; foot.L held, slip 66 µm; hand.L reached, distance 3 mm; 7 of 9 keys",
            "2 von 2 Frames erreicht; foot.L gehalten, rutscht 66 µm; hand.L erreicht, Abstand 3 mm; 7 von 9 Keys",
        ),
        ("Missed at 2 frames: 7 to 8", "Verfehlt in 2 Frames: 7 bis 8"),
        ("No limb of 'Rig' is enabled and has a target. Choose a target for one.", "Keine Gliedmaße von 'Rig' ist"),
        ("Preset '1 jump' comes with the extension and cannot be removed.", "Voreinstellung '1 jump' gehört zur"),
    ],
)
def test_messages_with_values_are_german_where_the_interface_is(text, wanted):
    known = read_catalogue((translation.FOLDER / "de_DE.po").read_text(encoding="utf-8"))
    shown = filled_in(text, lambda each: known.get(("*", each), each), templates_of(text for _, text in known))
    assert shown.startswith(wanted)


def test_the_template_of_a_catalogue_has_names_descriptions_and_messages(addon):
    with no_garbage_collection():
        found = translations.messages()
    for entry in (
        (translations.OPERATOR, bpy.types.POSE_OT_ik_triangulation_bake.bl_label),
        ("", bpy.types.POSE_OT_ik_triangulation_bake.bl_description),
        ("", "Reached {0} of {1} frames"),
        ("", "Deleted {0} keys"),
        ("", "{0}: {1} of {2} {3}. Esc or right click: cancel"),
        ("", "frames"),
        ("", "Automatic"),
    ):
        assert entry in found, entry
    assert read_catalogue(translations.catalogue(found)) == {}, "nothing is translated yet"


def test_no_text_of_a_language_is_missed_and_no_value_is_lost(addon):
    with no_garbage_collection():
        wanted = {(context or "*", text) for context, text in translations.messages()}
    catalogues = list(translation.FOLDER.glob("*.po"))
    assert catalogues
    for path in catalogues:
        known = read_catalogue(path.read_text(encoding="utf-8"))
        assert wanted - known.keys() == set(), f"run scripts/translations.py {path.stem}, and translate"
        assert known.keys() - wanted == set(), f"gone: run scripts/translations.py {path.stem}"
        for (_, text), told in known.items():
            assert sorted(PLACES.findall(told)) == sorted(PLACES.findall(text)), told
            assert sorted(QUOTES.findall(told)) == sorted(QUOTES.findall(text)), told
