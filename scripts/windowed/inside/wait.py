# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for what takes Blender an unknown time.

A script that yields seconds goes on when Blender has come to rest, at the latest after so many: nothing was drawn for
a few turns of its loop, which has then seen to all events, and neither an operator nor a timer of the extension is due.
"""

from collections.abc import Callable
from time import perf_counter

import bpy

from .screen import Steps, window

LOOK = 0.05  # seconds between two looks
CALM = 6  # turns of Blender's loop without drawing: a panel that slides is drawn less often than in each
_REGIONS = ("WINDOW", "UI", "HUD", "HEADER")
_timers: set[Callable] = set()  # that were ever registered
_turns = 0  # of Blender's loop since something was drawn
_end = 0.0  # of the wait, as perf_counter() tells it


def watch() -> None:
    """From now on, notice what is drawn and which timers there are."""
    register = bpy.app.timers.register

    def noticed(timer: Callable, **options: object) -> None:
        _timers.add(timer)
        register(timer, **options)

    bpy.app.timers.register = noticed
    for kind in _REGIONS:
        bpy.types.SpaceView3D.draw_handler_add(_drawn, (), kind, "POST_PIXEL")


def begin(seconds: float) -> None:
    """Begin to wait for rest, at the longest for so many seconds."""
    global _turns, _end
    _turns, _end = 0, perf_counter() + seconds


def over() -> bool:
    """Count a turn of Blender's loop; return True if it is at rest or the time is over, after a few turns at least."""
    global _turns
    _turns += 1
    if _turns < 3:
        return False
    if perf_counter() >= _end:
        return True
    busy = running() or window().screen.is_animation_playing or any(map(bpy.app.timers.is_registered, _timers))
    return _turns >= CALM and not busy


def _drawn() -> None:
    global _turns
    _turns = 0


def until(happened: Callable[[], bool], what: str, seconds: float = 120.0) -> Steps:
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
