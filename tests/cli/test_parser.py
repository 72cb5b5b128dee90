# SPDX-License-Identifier: GPL-3.0-or-later
"""All that scripts rely on of the command line: commands, flags, what each reads and refuses, defaults and help.

tests/data/command_line.txt has it, a line for each flag with the commands that have it. To write the file anew:

    python -m tests.cli.test_parser
"""

from argparse import ArgumentTypeError
from pathlib import Path

import bpy  # noqa: F401  first: mathutils cannot be found before it

from ik_triangulation.cli import parser

FILE = Path(__file__).resolve().parent.parent / "data" / "command_line.txt"
WORDS = ["-1048575", "-1", "0", "0.5", "1", "2", "360", "1048574", "1e39", "nan", "Cup:20", "Cup:20:5", "Cup:20:take"]
OF_ACTION = "default", "const", "nargs", "metavar", "required"


def read_by(flag):
    """What a flag makes of those words that it does not refuse; nothing if it takes any text."""
    found = {}
    for word in WORDS if flag.type and not flag.choices else ():
        try:
            value = flag.type(word)
        except (ArgumentTypeError, ValueError):
            continue
        found[word] = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f"reads {' '.join(found.values())}" if 0 < len(found) < len(WORDS) else ""


def said_of(flag, command):
    """A flag with what it takes; the flags that leave each other out name each other."""
    others = [of for of in command._mutually_exclusive_groups if flag in of._group_actions]
    told = [f"{key} {getattr(flag, key)}" for key in OF_ACTION]
    told = [text for text in told if text.split()[1] not in {"None", "False", "==SUPPRESS=="}]
    told += [f"one of {' '.join(each.dest for each in of._group_actions)}{' needed' * of.required}" for of in others]
    told += [f"choices {' '.join(flag.choices)}"] if flag.choices else []
    kind = type(flag).__name__.strip("_").removesuffix("Action")
    return ", ".join(filter(None, [f"{' '.join(flag.option_strings)} {flag.dest}: {kind}", *told, read_by(flag)]))


def lines():
    """Each command with who runs it, and each flag with its group and its help."""
    top = parser()
    every, flags = next(each for each in top._actions if each.dest == "command"), {}
    for name, command in {"": top, **every.choices}.items():
        said = next((each.help for each in every._choices_actions if each.dest == name), top.epilog)
        chosen = {key: getattr(value, "__name__", value) for key, value in command._defaults.items()}
        yield f"{command.prog}: {said}, {command.description or ''} {chosen}"
        for group in command._action_groups:
            for flag in group._group_actions:
                text = f"{said_of(flag, command)}; {group.title}, {group.description or ''}; {flag.help}"
                flags.setdefault(text, []).append(name)
    yield from (f"{text} [{' '.join(names)}]" for text, names in flags.items())


def test_what_scripts_rely_on_of_the_command_line_stays():
    was, now = FILE.read_text(encoding="utf-8").splitlines(), [*lines()]
    assert [line for line in was if line not in now] == [line for line in now if line not in was] == []


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n", encoding="utf-8")
