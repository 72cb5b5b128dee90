# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for what takes Blender an unknown time."""

from collections.abc import Callable
from time import perf_counter

from .screen import Steps, window

LOOK = 0.05  # seconds between two looks


def until(happened: Callable[[], bool], what: str, seconds: float = 60.0) -> Steps:
    """Let Blender go on until it has happened. Raises TimeoutError."""
    started = perf_counter()
    while not happened():
        if perf_counter() - started > seconds:
            raise TimeoutError(f"After {seconds:.0f} s there is still no {what}")
        yield LOOK


def running() -> bool:
    """Return True while one of the extension's operators runs in the window."""
    return any("ik_triangulation" in operator.bl_idname.lower() for operator in window().modal_operators)


def start() -> Steps:
    """Wait until an operator of the extension works in the window."""
    yield from until(running, "operator at work")


def end() -> Steps:
    """Wait until the extension's operator is done."""
    yield from until(lambda: not running(), "end of the operator")
    yield LOOK
