# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures that every test can ask for. Tests of the mathematics ask for none and never load the add-on."""

import os
import tempfile

# Never the developer's own Blender settings. The folder has to exist, and goes when the tests end.
_settings = tempfile.TemporaryDirectory(prefix="ik_triangulation-", ignore_cleanup_errors=True)
os.environ["BLENDER_USER_RESOURCES"] = _settings.name

import bpy  # isort: skip  # first: addon_utils, bpy_extras and mathutils cannot be found before it
import addon_utils
import pytest


def pytest_unconfigure() -> None:
    """Clean up here: run_tests.py leaves Python before it would do so itself."""
    _settings.cleanup()


def snapshot() -> dict[str, object]:
    handlers = bpy.app.handlers
    lists = [name for name in dir(handlers) if isinstance(getattr(handlers, name), list)]
    types = {name: cls for name in dir(bpy.types) if hasattr(cls := getattr(bpy.types, name), "bl_rna")}
    return {
        "types": set(types),
        "properties": {f"{name}.{key}" for name, cls in types.items() for key in cls.bl_rna.properties.keys()},
        "operators": {f"{module}.{name}" for module in dir(bpy.ops) for name in dir(getattr(bpy.ops, module))},
        # In no order: a handler that a test removes and adds again comes last.
        "handlers": {name: sorted(getattr(handlers, name), key=id) for name in lists},
        "keymaps": {
            keymap.name: len(keymap.keymap_items) for keymap in bpy.context.window_manager.keyconfigs.addon.keymaps
        },
    }


@pytest.fixture(scope="session")
def registered():
    """Call it for everything an add-on can leave behind in Blender, in a form that can be compared."""
    return snapshot


@pytest.fixture(scope="session")
def pristine():
    """What was registered before the add-on was."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return snapshot()


@pytest.fixture(scope="session")
def addon(pristine):
    """The add-on's module, enabled the way Blender enables it, so that loading files keeps it.

    Disabling it at the end is a must: with a command line still registered, Blender 4.5 hangs or crashes when it exits.
    """
    module = addon_utils.enable("ik_triangulation", default_set=True, persistent=True)
    assert module is not None, "the add-on cannot be enabled: its traceback is in the captured output"
    yield module
    addon_utils.disable("ik_triangulation", default_set=True)


@pytest.fixture
def empty_scene(addon):
    """A new file without a single object, with the add-on enabled. A whole module's tests ask for it with
    `pytestmark = pytest.mark.usefixtures("empty_scene")`."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return bpy.context.scene
