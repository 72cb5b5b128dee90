# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a run as one JSON object, the same for every command; docs/report.schema.json describes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from .. import __version__
from ..jobs.tip_summary import TipSummary, missed_frames_of
from ..rig.safe_files import Write

SCHEMA = 2


@dataclass
class CommandResult:
    """Result of a command.

    `limbs` and `parts` are entries of its report, and so are the `tips` of these limbs and of bodies. `text` is for
    standard output, `lines` are for standard error, and `files` are written besides the .blend file.
    """

    limbs: list[dict[str, Any]] = field(default_factory=list)
    parts: dict[str, Any] = field(default_factory=dict)
    tips: list[TipSummary] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    text: str = ""
    files: dict[Path, Write] = field(default_factory=dict)
    reached: bool = True


def report(command: str, file: Path | None, result: CommandResult, error: str | None = None) -> str:
    """Return the report of a run as JSON."""
    values = {
        "schema": SCHEMA,
        "version": __version__,
        "command": command,
        "file": None if file is None else str(file),
        "reached": error is None and result.reached,
        "missed": missed_frames_of(result.tips),
        "tips": [tip._asdict() for tip in result.tips],
        "limbs": result.limbs,
        **result.parts,
        "warnings": result.warnings,
        "error": error,
    }
    try:
        return json.dumps(values, indent=2, allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(_plain(values), indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it: infinity and NaN become null."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
