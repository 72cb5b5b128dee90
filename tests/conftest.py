# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tests run, and fixtures that every test can ask for. Tests of the mathematics never load the add-on."""

import os
import sys
import tempfile
from pathlib import Path

# Never the developer's own Blender settings. The folder has to exist, and goes when the tests end.
_settings = tempfile.TemporaryDirectory(prefix="ik_triangulation-", ignore_cleanup_errors=True)
os.environ["BLENDER_USER_RESOURCES"] = _settings.name
# Before numpy is loaded: the products of matrices are small here, and threads that wait for each other take the
# processor from whatever runs beside (on Blender 4.5 a map on two busy processors takes six times as long).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import bpy  # isort: skip  # first: addon_utils, bpy_extras and mathutils cannot be found before it
import addon_utils
import pytest

from ik_triangulation.motion import method
from ik_triangulation.presets import built_in, find_preset, names
from scripts.manual import make

from .registered import snapshot
from .remembered import remembered
from .thinned import left_out

# Rooms and files that run on one Blender: needing of it no more than mathutils and numpy, or only reading source.
TESTS = Path(__file__).resolve().parent
ONE = {
    *("kinematics", "goals", "solvers", "motion"),
    *("test_axes.py", "test_layers.py", "test_mirror.py", "test_words.py"),
    *("settings/test_guard.py", "settings/test_solver.py", "settings/test_table.py", "settings/test_words.py"),
    # Of rooms that run on both: with stand-ins for the window, or about shapes and orders that Blender has no part in.
    *("ui/test_modal_job.py", "ui/test_manual.py", "ui/test_translation.py", "ui/operators/test_map.py"),
    *("ui/overlay/test_shells.py", "ui/overlay/test_figure.py", "ui/overlay/test_labels.py"),
    *("rig/anatomy", "rig/test_target_shape.py", "rig/test_orientation.py", "rig/test_limit_check.py"),
    *("rig/test_carriers.py", "rig/test_channel_runs.py", "rig/test_soft_goals.py", "rig/test_surface.py"),
    # What is solved and said, by ways of Blender's that other files of the room try on both.
    *("rig/test_waiting.py", "ui/operators/test_body.py", "ui/operators/test_contacts.py", "ui/test_comparison.py"),
    *("ui/operators/test_comparison.py", "ui/overlay/test_active_body.py", "ui/panels/test_maps.py"),
    "ui/test_last_result.py",
}
# Of these rooms only what reads, writes, draws or registers by an API that may differ from Blender to Blender runs on
# both, a file for each kind of action, channel, file, operator and object; the rest tests what is solved and said.
BOTH = {
    "cli": {"blend", "blend_check", "newer", "run", "targets"},
    "jobs": {
        *("bake", "body_bake", "writing"),  # keys, actions, tracks
        *("live", "live_channels", "live_state", "target_drag"),  # handlers, undo, the dependency graph
        *("contacts", "measure", "onto_controls", "props", "rebake", "switching", "target_from_animation"),
        *("body_setup", "limb_tools"),
    },
    "maps": {"images", "properties", "show_image"},  # meshes: tests/rig/test_map_objects.py
    "scenarios": {"every_job", "extension", "faults", "registration", "rigify", "storm", "truthful"},
}
IS_THE_ONE = sys.version_info >= (3, 13)  # Blender 5.2


def pytest_addoption(parser) -> None:
    parser.addoption(
        "--long",
        action="store_true",
        help="all there is: tests marked `long` too, and on Blender 4.5 those that run on one Blender",
    )


def pytest_configure(config) -> None:
    """Refuse names that no file has any more: what they stood for would be left out in silence."""
    listed = {*ONE, *(f"{room}/test_{name}.py" for room, names in BOTH.items() for name in names)}
    gone = sorted(name for name in listed if not (TESTS / name).exists())
    if gone:
        raise pytest.UsageError(f"ONE and BOTH of tests/conftest.py name files that are not there: {', '.join(gone)}")


def pytest_ignore_collect(collection_path: Path, config):
    """Leave out, on the other Blender, what runs on one; unless it is named, or all is asked for."""
    if IS_THE_ONE or config.option.long or TESTS not in collection_path.parents:
        return None
    inside = collection_path.relative_to(TESTS)
    first, name = inside.parts[0], collection_path.stem
    in_room = first not in BOTH or not name.startswith("test_") or name.removeprefix("test_") in BOTH[first]
    if in_room and not {inside.as_posix(), *(each.as_posix() for each in inside.parents)} & ONE:
        return None
    named = [Path(config.invocation_params.dir, each.partition("::")[0]).resolve() for each in config.args]
    return None if any(path.is_relative_to(TESTS / first) for path in named) else True


def _room(path: Path) -> str:
    return path.relative_to(TESTS).parts[0] if TESTS in path.parents else ""


def pytest_collection_modifyitems(config, items) -> None:
    """Leave out tests marked `long` and most of products of parameters, unless all is asked for, or single tests."""
    if config.option.long:
        return
    long = {item for item in items if item.get_closest_marker("long")}
    if not any("::" in each for each in config.args):
        long |= {*left_out([item for item in items if item not in long and _room(item.path) not in BOTH])}
    if long:
        config.hook.pytest_deselected(items=[item for item in items if item in long])
        items[:] = [item for item in items if item not in long]


def pytest_unconfigure() -> None:
    """Clean up here: run_tests.py leaves Python before it would do so itself."""
    _settings.cleanup()


@pytest.fixture(scope="session")
def long(pytestconfig):
    """Whether all there is was asked for: for tests whose long form only has more of the same."""
    return pytestconfig.option.long


@pytest.fixture(scope="session", autouse=True)
def paths_remembered(long):
    """Solve the path of a body only once for all tests that bake the same motion; with --long each time."""
    if long:
        yield
        return
    solve, method.faded_path = method.faded_path, remembered(method.faded_path)
    yield
    method.faded_path = solve


@pytest.fixture(scope="module", autouse=True)
def rigify_left_off():
    """Scripts that need Rigify's human enable its add-on, which other tests would see."""
    yield
    if "rigify" in bpy.context.preferences.addons:
        addon_utils.disable("rigify", default_set=True)
        loaded = bpy.app.handlers.load_post  # Rigify of Blender 5.2 leaves a handler behind
        loaded[:] = [handler for handler in loaded if not handler.__module__.startswith("rigify")]


@pytest.fixture(scope="session")
def manual_pages():
    """The folder with the pages of the manual, built once for all tests that read them."""
    return make().parent


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
