# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions of a user, counted: what is there after a few of them now must not take more some day."""

from . import screen

_done: list[str] = []


def begin() -> None:
    """Count from here."""
    _done.clear()


def act(what: str, steps: screen.Steps) -> screen.Steps:
    """Do what counts as one action: a key, a click, a drag."""
    _done.append(what)
    yield from steps
    yield 0.3


def expect(result: str, most: int) -> None:
    """Fail if it took more actions than so many to a result."""
    print(f"{len(_done)} actions to {result}: {', '.join(_done)}", flush=True)
    assert len(_done) <= most, f"{len(_done)} instead of {most} to {result}: {_done}"
