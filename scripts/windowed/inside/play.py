# SPDX-License-Identifier: GPL-3.0-or-later
"""Install the extension, run one script step by step, quit.

blender --factory-startup --enable-event-simulate --python play.py -- MODULE OUTPUT SECONDS

Where a step fails, OUTPUT gets FAILED-MODULE.png, the window as it was, and the exit code is 1.
"""

import faulthandler
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path

import bpy

HOME = Path(__file__).resolve().parents[4]  # with the zip and the checkout
STARTED = 1.0  # seconds until the window has been drawn
sys.path.insert(0, str(HOME / "checkout"))

from scripts.windowed.inside import screen
from scripts.windowed.inside.scene import install


def play(module: str):
    """The steps: the extension first, then those of the script."""
    install(HOME / "extension.zip")
    yield 0.5
    yield from import_module(module).script()


def tick(steps, module: str) -> float | None:
    """Go on to the next `yield`; the seconds until the one after that."""
    try:
        with screen.in_viewport():
            return next(steps)
    except StopIteration:
        bpy.ops.wm.quit_blender()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        print(f"As it was: {screen.picture(f'FAILED-{module}').name}", flush=True)
        os._exit(1)  # nothing else ends Blender from a timer
    return None


def main() -> None:
    module, output, seconds = sys.argv[sys.argv.index("--") + 1 :]
    faulthandler.dump_traceback_later(int(seconds), exit=True)
    screen.output = Path(output)
    bpy.context.preferences.view.show_splash = False  # it would cover the viewport and take the first click
    bpy.context.preferences.system.viewport_aa = "OFF"  # every redraw would be made eight times over, in software
    print(f"Blender {bpy.app.version_string}", flush=True)
    steps = play(module)
    bpy.app.timers.register(lambda: tick(steps, module), first_interval=STARTED, persistent=True)


main()
