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

from ik_triangulation.motion import faded_path, method
from ik_triangulation.presets import built_in, find_preset, names
from scripts.manual import make

from .registered import snapshot
from .remembered import remembered
from .thinned import left_out

# Rooms, files and tests that run on one Blender: they need of it no more than mathutils and numpy, or only read source.
TESTS = Path(__file__).resolve().parent
ONE = {
    *("kinematics", "goals", "solvers", "motion"),
    *("test_axes.py", "test_layers.py", "test_mirror.py", "test_words.py"),
    *("settings/test_guard.py", "settings/test_solver.py", "settings/test_table.py", "settings/test_words.py"),
    # Of rooms that run on both: with stand-ins for the window, or about shapes and orders that Blender has no part in.
    *("ui/test_modal_job.py", "ui/test_manual.py", "ui/test_translation.py", "ui/operators/test_map.py"),
    *("ui/operators/test_edit.py", "ui/operators/test_redo_panels.py", "ui/operators/test_trail_drag.py"),
    *("ui/overlay/test_shells.py", "ui/overlay/test_figure.py", "ui/overlay/test_labels.py"),
    *("ui/overlay/test_kept_sketches.py", "ui/overlay/test_redraw.py"),
    *("rig/anatomy", "rig/test_target_shape.py", "rig/test_orientation.py", "rig/test_limit_check.py"),
    *("rig/test_carriers.py", "rig/test_channel_runs.py", "rig/test_soft_goals.py", "rig/test_surface.py"),
    # What is solved and said, by ways of Blender's that other files of the room try on both.
    *("rig/test_waiting.py", "ui/operators/test_body.py", "ui/operators/test_contacts.py", "ui/test_comparison.py"),
    *("ui/operators/test_comparison.py", "ui/overlay/test_active_body.py", "ui/panels/test_maps.py"),
    *("ui/test_last_result.py", "rig/test_matching.py", "presets/test_file.py"),
    "presets/test_presets.py::test_on_rigifys_human_all_bends_the_right_way_within_reach",
    "rig/test_animated.py::test_keys_of_each_setting_of_a_joint_are_followed_or_named",
    "rig/test_animated.py::test_keys_of_each_setting_of_a_limb_are_followed_or_named",
    "rig/test_drivers.py::test_what_the_shot_does_not_depend_on_is_not_told",
    "rig/test_map_objects.py::test_a_new_map_takes_the_place_of_the_old_one",
    "ui/operators/test_adjust.py::test_a_preset_is_loaded_for_the_limb",
    "ui/operators/test_bake.py::test_cancelled_at_any_moment_in_a_window_it_loses_nothing",
    "ui/operators/test_live.py::test_all_limbs_of_a_body_are_live_at_once_and_stop_at_once",
    "ui/panels/test_body.py::test_the_result_names_the_hands_that_are_off_and_by_how_much",
    "ui/panels/test_limbs.py::test_few_fields_are_open_at_first",
    "ui/panels/test_posture.py::test_a_published_method_starts_from_a_pose_and_has_its_jumps_removed",
    "ui/test_waiting_targets.py::test_after_a_bake_it_is_where_the_hand_is_baked_to",
    "ui/test_waiting_targets.py::test_in_live_it_is_at_the_hand_as_solved",
    # What is imported from where and told without Blender, and what a zip holds.
    "test_api.py::test_the_mathematics_of_the_manual_run_without_bpy",
    "test_api.py::test_what_needs_bpy_is_told_with_the_remedy",
    "test_api.py::test_what_needs_mathutils_is_told_with_the_remedy",
    "test_api.py::test_with_another_mathutils_the_mathematics_run_and_the_rest_says_what_to_do",
    "scenarios/test_extension.py::test_the_zip_holds_what_ships",
    # Of files that run on both (below), what is solved of long shots and whole bodies, and signals to a process.
    "cli/test_blend.py::test_what_is_no_file_is_told",
    "cli/test_run.py::test_a_run_that_is_stopped_leaves_the_file_and_nothing_else",
    "jobs/test_body_bake.py::test_a_body_on_a_moving_root_bone_reaches_too",
    "jobs/test_body_bake.py::test_a_hand_that_turns_by_half_a_turn_begins_as_it_was",
    "jobs/test_body_bake.py::test_a_motion_whose_targets_end_where_they_began_becomes_a_loop",
    "jobs/test_body_bake.py::test_both_hands_reach_the_shins_and_the_feet_stay_at_half_frames_too",
    "jobs/test_body_bake.py::test_hands_out_of_reach_are_reported_and_the_feet_stay",
    "jobs/test_body_bake.py::test_hips_move_only_as_they_may",
    "jobs/test_body_bake.py::test_limits_are_kept_as_blender_shows_them",
    "jobs/test_body_setup.py::test_a_finger_that_is_added_goes_along_with_its_hand_until_its_empty_is_moved",
    "jobs/test_body_setup.py::test_a_hand_whose_new_empty_nobody_touches_goes_along_with_the_body",
    "jobs/test_props.py::test_a_reach_that_is_stopped_anywhere_leaves_nothing",
    "jobs/test_rebake.py::test_a_write_that_fails_undoes_all",
    "jobs/shots/test_switching.py::test_bones_that_do_not_follow_are_told_with_what_makes_them",
    "jobs/test_target_from_animation.py::test_an_edit_of_one_hand_leaves_the_rest_of_the_shot",
    "jobs/test_target_from_animation.py::test_a_whole_body_with_held_feet_and_a_head_that_looks_comes_back_as_it_was",
    "jobs/shots/test_writing.py::test_a_pose_that_a_bake_left_does_not_count_as_made_by_hand",
    "jobs/shots/test_writing.py::test_a_write_of_a_body_that_fails_undoes_all",
    "jobs/shots/test_writing.py::test_no_more_curves_are_made_than_the_body_needs",
    "scenarios/test_faults.py::test_a_fault_is_told_by_a_solve_and_nothing_is_lost",
    "scenarios/test_faults.py::test_a_fault_is_told_by_the_call_and_nothing_is_lost",
    "scenarios/test_faults.py::test_what_looks_like_a_fault_is_solved_at_the_present_frame",
    "scenarios/test_rigify.py::test_its_arm_does_not_flick_when_the_target_goes_out_of_reach",
    "scenarios/test_truthful.py::test_a_limit_rotation_constraint_leaves_alone_what_was_solved_near_its_poles",
    "scenarios/test_truthful.py::test_reached_is_what_blender_shows_and_limits_hold_as_stored",
}
# Of these rooms only what reads, writes, draws or registers by an API that may differ from Blender to Blender runs on
# both, a file for each kind of action, channel, file, operator and object; the rest tests what is solved and said.
BOTH = {
    "cli": {"blend", "blend_check", "newer", "run", "targets"},
    "jobs": {
        *("bake", "body_bake", "body_setup", "limb_tools"),
        *("props", "rebake", "target_drag", "target_from_animation"),
    },
    "jobs/edits": set(),
    "jobs/live": {"live", "live_channels", "live_state"},  # handlers, undo, the dependency graph
    "jobs/shots": {"contacts", "measure", "onto_controls", "switching", "writing"},  # keys, actions, tracks
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
    parser.addoption("--renew", action="store_true", help="write kept results anew (tests/kept.py)")


def pytest_configure(config) -> None:
    """Refuse names that no file or test has any more: what they stood for would be left out, or run, in silence."""
    listed = {*ONE, *(f"{room}/test_{name}.py" for room, names in BOTH.items() for name in names)}
    gone = sorted(name for name in listed if not _is_there(*name.partition("::")[::2]))
    if gone:
        raise pytest.UsageError(f"ONE and BOTH of tests/conftest.py name what is not there: {', '.join(gone)}")


def _is_there(file: str, test: str) -> bool:
    path = TESTS / file
    return path.exists() and (not test or f"def {test}(" in path.read_text(encoding="utf-8"))


def pytest_ignore_collect(collection_path: Path, config):
    """Leave out, on the other Blender, what runs on one; unless it is named, or all is asked for."""
    if IS_THE_ONE or config.option.long or TESTS not in collection_path.parents:
        return None
    inside = collection_path.relative_to(TESTS)
    first, name, own = inside.parts[0], collection_path.stem, BOTH.get(inside.parent.as_posix())
    in_room = own is None or not name.startswith("test_") or name.removeprefix("test_") in own
    if in_room and not {inside.as_posix(), *(each.as_posix() for each in inside.parents)} & ONE:
        return None
    return None if any(path.is_relative_to(TESTS / first) for path in _named(config)) else True


def _named(config) -> list[Path]:
    """The files and folders that the command names."""
    return [Path(config.invocation_params.dir, each.partition("::")[0]).resolve() for each in config.args]


def _place(item) -> tuple[str, str]:
    """The file of a test, from the folder of the tests, and its name."""
    inside = item.path.relative_to(TESTS) if TESTS in item.path.parents else item.path
    return inside.as_posix(), getattr(item, "originalname", item.name)


def pytest_collection_modifyitems(config, items) -> None:
    """Leave out tests marked `long` and most of products of parameters, unless all is asked for, or single tests."""
    if config.option.long:
        return
    out = {item for item in items if item.get_closest_marker("long")}
    if not IS_THE_ONE:
        named = {path for path in _named(config) if path.is_file()}
        of_one = {tuple(name.split("::")) for name in ONE if "::" in name}
        out |= {item for item in items if _place(item) in of_one and item.path not in named}
    if not any("::" in each for each in config.args):
        # The rooms of BOTH choose their pairs themselves (in_turn() of tests/modes.py).
        out |= {*left_out(item for item in items if item not in out and _place(item)[0].partition("/")[0] not in BOTH)}
    if out:
        config.hook.pytest_deselected(items=[item for item in items if item in out])
        items[:] = [item for item in items if item not in out]


def pytest_unconfigure() -> None:
    """Clean up here: run_tests.py leaves Python before it would do so itself."""
    _settings.cleanup()


@pytest.fixture(scope="session")
def long(pytestconfig):
    """Whether all there is was asked for: for tests whose long form only has more of the same."""
    return pytestconfig.option.long


@pytest.fixture(scope="session")
def renew(pytestconfig):
    """Whether kept results are to be written anew."""
    return pytestconfig.option.renew


@pytest.fixture(scope="session", autouse=True)
def paths_remembered(long):
    """Solve a path of a body or a limb only once for all tests that bake the same motion; with --long each time."""
    if long:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        of_bodies, motion = remembered(faded_path.faded_path), remembered(method.limb_motion)
        for module in (faded_path, method):
            patch.setattr(module, "faded_path", of_bodies)
        patch.setattr(method, "limb_motion", motion)
        yield


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


@pytest.fixture(scope="session")
def empty_file(addon, tmp_path_factory):
    """Blender's own start-up file without objects, saved: to read it takes half as long as to have Blender make it."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    path = tmp_path_factory.mktemp("empty") / "empty.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)
    return str(path)


@pytest.fixture
def empty_scene(empty_file):
    """A new file without a single object, with the add-on enabled. A whole module's tests ask for it with
    `pytestmark = pytest.mark.usefixtures("empty_scene")`."""
    bpy.ops.wm.read_homefile(filepath=empty_file)
    return bpy.context.scene


@pytest.fixture
def presets_removed(addon):
    """Remove the user's presets that a test has made."""
    yield
    for name in names():
        if not built_in(find_preset(name)):
            find_preset(name).unlink()
