# SPDX-License-Identifier: GPL-3.0-or-later
"""Install the extension, run scripts one after the other, each step by step and in a new file, quit.

blender --factory-startup --enable-event-simulate --python play.py -- OUTPUT SECONDS MODULE...

A script is announced by a line BEGIN MODULE and concluded by END MODULE. Where a step fails, or a script takes longer
than SECONDS, there is no END and no script after it; OUTPUT gets FAILED-MODULE.png, the window as it was.
"""

import faulthandler
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from time import perf_counter

import bpy

HOME = Path(__file__).resolve().parents[4]  # with the zip and the checkout
STARTED = 1.0  # seconds until the window has been drawn
playing = None  # the script that runs
TURN = 0.005  # seconds from one look whether Blender is at rest to the next
sys.path.insert(0, str(HOME / "checkout"))

from scripts.windowed.inside import buttons, screen, wait
from scripts.windowed.inside.scene import begin_anew, install


def play(modules: list[str], seconds: float) -> screen.Steps:
    """The steps: the extension first, then those of the scripts."""
    global playing
    install(HOME / "extension.zip")
    yield 0.5
    for module in modules:
        print(f"BEGIN {module}", flush=True)
        faulthandler.dump_traceback_later(seconds, exit=True)
        started, spent = perf_counter(), _processor()
        first, playing = playing is None, module
        if not first:
            buttons.unfold()
            begin_anew()
            yield 0.5
        yield from import_module(module).script()
        took = f"{perf_counter() - started:.0f} s, {_processor() - spent:.0f} s of processor"
        sys.stderr.flush()
        print(f"END {module} {took}", flush=True)


def _processor() -> float:
    """Return the seconds that Blender, and what it has started, took of the processors."""
    return sum(os.times()[:4])


def tick(steps: screen.Steps) -> float | None:
    """Go on to the next `yield` when Blender is at rest, or the seconds that it asks for are over."""
    if not wait.over():
        return TURN
    try:
        with screen.in_viewport():
            wait.begin(next(steps))
            return TURN
    except StopIteration:
        bpy.ops.wm.quit_blender()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        print(f"As it was: {screen.picture(f'FAILED-{playing}').name}", flush=True)
        os._exit(1)  # nothing else ends Blender from a timer
    return None


@bpy.app.handlers.persistent
def hide_needless(*_) -> None:
    """Hide what takes a third of each redraw in software: the floor with its axes, outlines of what is selected."""
    overlay = screen.viewport().spaces.active.overlay
    overlay.show_outline_selected = False
    overlay.show_floor = overlay.show_axis_x = overlay.show_axis_y = overlay.show_ortho_grid = False


def main() -> None:
    output, seconds, *modules = sys.argv[sys.argv.index("--") + 1 :]
    screen.output = Path(output)
    view = bpy.context.preferences.view
    view.show_splash = False  # it would cover the viewport and take the first click
    view.smooth_view = 0  # views turn at once
    system = bpy.context.preferences.system
    system.viewport_aa = "OFF"  # every redraw would be made eight times over, in software
    if all(module.startswith("tests.") for module in modules):  # lines that are smooth take a third
        system.use_overlay_smooth_wire = system.use_edit_mode_smooth_wire = False
        bpy.app.handlers.load_post.append(hide_needless)
        hide_needless()
    print(f"Blender {bpy.app.version_string}", flush=True)
    steps = play(modules, float(seconds))
    bpy.app.timers.register(lambda: tick(steps), first_interval=STARTED, persistent=True)
    wait.watch()  # not of the timer above, which is always due: no wait would end before its time is over


main()
