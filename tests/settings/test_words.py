# SPDX-License-Identifier: GPL-3.0-or-later
"""Tooltips and the help of the command line name things: they are no questions and no legal texts."""

import re
from argparse import _SubParsersAction

from ik_triangulation.cli import parser

from ..registered import our_properties
from .arguments import arguments_of

BAD = re.compile(r"^(what|which|whose|where|how|whether)\b|\bshall\b|\bthat which\b", re.IGNORECASE)


def tooltips():
    for where, prop in our_properties():
        yield where, prop.description
        for item in prop.enum_items if prop.type == "ENUM" else ():
            yield f"{where}.{item.identifier}", item.description


def helps():
    for command, action in arguments_of(parser()):
        if isinstance(action, _SubParsersAction):
            yield from ((f"{command.prog} {choice.dest}", choice.help) for choice in action._choices_actions)
        else:
            yield f"{command.prog} {action.dest}", action.help


def test_tooltips_name_what_they_are_about(addon):
    assert {where: text for where, text in tooltips() if BAD.search(text)} == {}


def test_the_help_of_flags_names_what_they_are_about(addon):
    texts = dict(helps())
    assert len(texts) > 50
    assert {where: text for where, text in texts.items() if not text or BAD.search(text)} == {}
