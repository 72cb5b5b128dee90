# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of maps are saved with the scene, and offer all that maps can show."""

import bpy
import pytest

from ik_triangulation.maps import metric_map, properties
from ik_triangulation.maps.properties import IN_PLANE, IN_SPACE, MAP_TABLE, METRIC_ITEMS, SCALE_ITEMS
from ik_triangulation.solvers import SOLVERS

from ..settings.test_contract import lines, written

pytestmark = pytest.mark.usefixtures("empty_scene")


def settings():
    return bpy.context.scene.ik_triangulation_map


def offered(name):
    return [item.identifier for item in settings().bl_rna.properties[name].enum_items]


def test_every_metric_scale_and_solver_is_offered():
    assert set(offered("metric")) == set(metric_map.METRICS) == {name for name, *_ in METRIC_ITEMS}
    assert {name.lower() for name in offered("scale")} == {name.lower() for name in metric_map.SCALES}
    assert len(SCALE_ITEMS) == len(offered("scale"))
    assert set(offered("solver")) == set(SOLVERS)


def test_both_kinds_of_map_share_what_they_both_show():
    assert {"metric", "scale", "tolerance"} <= set(IN_PLANE) & set(IN_SPACE)
    assert "size" not in IN_SPACE
    assert "resolution" not in IN_PLANE
    assert {*IN_PLANE, *IN_SPACE} <= set(settings().bl_rna.properties.keys())


def test_each_scene_has_settings_of_its_own_and_keeps_them(tmp_path):
    settings().metric, settings().size = "travel", 33
    other = bpy.data.scenes.new("Other")
    assert other.ik_triangulation_map.size == 100
    path = str(tmp_path / "maps.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert (settings().metric, settings().size) == ("travel", 33)


def test_numbers_are_kept_inside_their_ranges():
    settings().size, settings().resolution, settings().iterations = 0, 10_000, -1
    assert (settings().size, settings().resolution, settings().iterations) == (8, 128, 1)


def test_what_files_and_scripts_rely_on_stays_when_it_is_registered_again():
    properties.unregister()
    assert not hasattr(bpy.types.Scene, "ik_triangulation_map")
    properties.register()
    assert settings().bl_rna.identifier == "IKT_PG_map"
    assert list(lines(MAP_TABLE)) == written("IKT_PG_map")
