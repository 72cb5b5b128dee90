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

from ik_triangulation.presets import built_in, find_preset, names

from .registered import snapshot


def pytest_unconfigure() -> None:
    """Clean up here: run_tests.py leaves Python before it would do so itself."""
    _settings.cleanup()


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


@pytest.fixture
def presets_removed(addon):
    """Remove the user's presets that a test has made."""
    yield
    for name in names():
        if not built_in(find_preset(name)):
            find_preset(name).unlink()
