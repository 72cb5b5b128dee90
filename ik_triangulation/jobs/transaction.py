# SPDX-License-Identifier: GPL-3.0-or-later
"""Several bakes as one: all of them or, if one fails, none."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field

from ..rig.destination import Made


@dataclass(frozen=True)
class Transaction:
    """State that bakes share which are done as one: closing `undo` undoes all; `made` are the channelbags made."""

    undo: ExitStack
    made: Made = field(default_factory=dict)

    @staticmethod
    def end(own: ExitStack, within: Transaction | None) -> None:
        """End a bake that cannot fail any more: what closing `own` undoes is left to the larger transaction."""
        done = own.pop_all()
        if within is not None:
            within.undo.push(done)
