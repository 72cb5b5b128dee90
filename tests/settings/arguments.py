# SPDX-License-Identifier: GPL-3.0-or-later
"""All arguments of the command line."""

from argparse import _SubParsersAction


def arguments_of(command):
    """The arguments of a parser and of its commands, each with the command that it belongs to."""
    for action in command._actions:
        yield command, action
        if isinstance(action, _SubParsersAction):
            for below in action.choices.values():
                yield from arguments_of(below)
