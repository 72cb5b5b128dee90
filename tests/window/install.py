# SPDX-License-Identifier: GPL-3.0-or-later
"""Installed and enabled, the panel is there in every state of the selection; disabled, nothing of it is left.

A zip of the source that is dropped on the window works as well. Both times the manual opens: the browser is a script
that keeps what it is told to open.
"""

import os
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import unquote, urlparse

import addon_utils
import bpy

from scripts.windowed.inside import buttons, hands, screen, wait
from scripts.windowed.inside.scene import EXTENSION, chain, clear, curves, disable, enable
from tests.registered import snapshot

HOME = Path(__file__).resolve().parents[3]  # with the zips and the checkout
ALONE = True  # it ends with another extension installed


def browser():
    """Make the script that is the browser; return the file with what it was told. Blender looks for browsers once."""
    own = Path(mkdtemp())
    program, told = own / "browser", own / "told"
    program.write_text(f'#!/bin/sh\necho "$1" >>"{told}"\n')
    program.chmod(0o755)
    os.environ["BROWSER"] = str(program)
    return told


def drop(archive):
    """Do what Blender does when a file is dropped on its window, and confirm."""
    hands.move(*hands.rest())
    bpy.ops.extensions.package_install_files("INVOKE_DEFAULT", url=str(archive))
    yield 0.5
    screen.picture("install-dropped")
    yield from hands.strike("RET")
    enabled = bpy.context.preferences.addons
    yield from wait.until(lambda: EXTENSION in enabled, "the dropped extension is enabled")
    yield 0.5


def manual(told, folder):
    """Open the manual, then press F1 over a button: files in the extension's folders are opened."""
    told.write_text("")

    def pages():
        return [Path(unquote(urlparse(url).path)) for url in told.read_text().split() if "#" not in url]

    bpy.ops.wm.ik_triangulation_manual("INVOKE_DEFAULT")  # buttons in a panel's header cannot be found
    yield from wait.until(lambda: len(pages()) == 1, "the manual is opened")
    left, bottom, right, top = yield from buttons.find("pose.ik_triangulation_bake")
    hands.move((left + right) / 2, (bottom + top) / 2)
    yield 0.3
    yield from hands.strike("F1")
    yield from wait.until(lambda: len(pages()) == 2, "F1 opens the page of a button")
    start, page = pages()
    assert start.is_file()
    assert page.is_file()
    assert folder in start.parents, (start, folder)
    print(f"The manual: {start}, {page}", flush=True)


def script():
    enabled = snapshot()
    disable()
    without = snapshot()
    assert not [name for name in without["types"] | without["properties"] if "ik_triangulation" in name.lower()]
    enable()
    assert snapshot() == enabled, "enabling it again gives something else"

    clear()
    yield from screen.sidebar()
    screen.picture("install-nothing")
    chain()
    yield from buttons.press("pose.ik_triangulation_solve")
    screen.picture("install-limb")
    told = browser()
    (module,) = (module for module in addon_utils.modules() if module.__name__ == EXTENSION)
    folder = Path(module.__file__).parent
    yield from manual(told, folder / "ik_triangulation" / "pages")
    bpy.ops.object.mode_set(mode="OBJECT")
    yield 0.5
    screen.picture("install-object-mode")

    disable()
    yield 0.5
    assert snapshot() == without, "disabling it leaves something behind"
    assert not buttons.panels()
    screen.picture("install-disabled")

    yield from drop(HOME / "source.zip")
    assert not (folder / "ik_triangulation" / "pages").exists()
    chain()
    yield from manual(told, folder.parents[1] / ".user")
    yield from buttons.press("pose.ik_triangulation_bake")
    yield from wait.end()
    assert curves(), "no keys were baked"
    screen.picture("install-source")
