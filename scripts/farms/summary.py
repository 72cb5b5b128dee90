# SPDX-License-Identifier: GPL-3.0-or-later
"""List what became of the shots that a farm baked: reached, missed and at which frames, failed and why.

python summary.py OUTPUT [LIST]

OUTPUT is the folder with the reports, or with folders of them. With LIST, the text file that names the shots, those
without a report are listed as well. Exit codes: 0 all reached, 1 a shot failed or has no report, 3 no such shot but one
that missed. This file needs nothing but Python.
"""

import json
import sys
from itertools import pairwise
from pathlib import Path, PureWindowsPath
from typing import Any

REACHED, FAILED, MISSED = 0, 1, 3
NAMES = {REACHED: "reached", MISSED: "missed", FAILED: "failed"}


def spans(frames: list[float]) -> str:
    """Return sorted frames as text, with those that follow each other as one span: 5-9, 12."""
    breaks = [i + 1 for i, (one, other) in enumerate(pairwise(frames)) if other > one + 1]
    runs = [frames[i:j] for i, j in pairwise([0, *breaks, len(frames)])]
    return ", ".join(f"{run[0]:g}" if len(run) == 1 else f"{run[0]:g}-{run[-1]:g}" for run in runs)


def state_of(report: dict[str, Any]) -> tuple[int, str]:
    """Return the state of a shot by its report, and a text about it."""
    if report["error"]:
        return FAILED, report["error"]
    missed = [tip for tip in report["tips"] if not tip["reached"]]
    several = len({tip["armature"] for tip in missed}) > 1
    names = [f"{tip['armature']}, {tip['tip']}" if several else tip["tip"] for tip in missed]
    texts = [f"{name} at {spans(tip['missed'])}" for name, tip in zip(names, missed, strict=True)]
    return (REACHED, "") if report["reached"] else (MISSED, "; ".join(texts))


def read(path: Path) -> tuple[int, str]:
    """Return the state of the shot that this report is about, and a text."""
    try:
        return state_of(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return FAILED, "there is no report: its task did not run to the end"
    except KeyError as error:
        return FAILED, f"'{path}' is no report of this version, it has no {error}. Bake the shot again."
    except (OSError, ValueError, TypeError) as error:
        return FAILED, f"'{path}' is no report of a bake: {error}"


def found(output: Path) -> list[str]:
    """Return the names of the shots that have a report in a folder and those in it."""
    return sorted(path.relative_to(output).with_suffix("").as_posix() for path in output.rglob("*.json"))


def named(listed: str) -> list[str]:
    """Return the names of the listed shots: their paths in the folder of the list, with / and without suffix."""
    lines = Path(listed).read_text(encoding="utf-8-sig").splitlines()
    return [
        PureWindowsPath(line.strip()).with_suffix("").as_posix()
        for line in lines
        if line.strip() and not line.startswith("#")
    ]


def states_of(output: Path, names: list[str]) -> dict[str, tuple[int, str]]:
    """Return the state and the text of each of these shots; a report outside of the folder is not read."""
    states = {}
    for name in names:
        path = PureWindowsPath(name)
        inside = not path.anchor and ".." not in path.parts
        states[name] = read(output / f"{name}.json") if inside else (FAILED, "it is not in the folder of the list")
    return states


def main() -> None:
    if len(sys.argv) not in {2, 3}:
        sys.exit(__doc__)
    output = Path(sys.argv[1])
    try:
        names = named(sys.argv[2]) if sys.argv[2:] else found(output)
    except (OSError, ValueError) as error:
        sys.exit(f"'{sys.argv[2]}' cannot be read as a list of shots: {error}")
    if not names:
        sys.exit(f"There is no report in '{output}'. Name the folder of the output.")
    states = states_of(output, names)
    for looked_for in (FAILED, MISSED):
        for name, (state, text) in states.items():
            if state == looked_for:
                print(f"{NAMES[state]}  {name}  {text}")
    counts = {state: sum(its == state for its, _ in states.values()) for state in NAMES}
    print(f"{len(states)} shots: " + ", ".join(f"{counts[state]} {word}" for state, word in NAMES.items()))
    sys.exit(next((state for state in (FAILED, MISSED) if counts[state]), REACHED))


if __name__ == "__main__":
    main()
