# SPDX-License-Identifier: GPL-3.0-or-later
"""A file of version 0.1 in which hardly a setting has its default, and the values that were set in it.

To save such a file for another version, check that version out and run this there with Blender 4.5's Python, as newer
Blenders open what 4.5 saves but not the other way round:

    python -m tests.settings.saved_file tests/data/settings_0.2.blend
"""

import sys
from math import radians
from pathlib import Path

import bpy

from ..rigs import chain_rig, empty

FILE = Path(__file__).resolve().parent.parent / "data" / "settings_0.1.blend"
TIP, OTHER_TIP = "Bone 3", "Bone 1"  # the second limb has a target and nothing else

# Objects, collections and bones by their names.
LIMB = {
    "enabled": False,
    "target": "Table",
    "subtarget": "Bone 1",
    "shape": "RING",
    "orientation": "DIRECTION",
    "orient_weight": 0.25,
    "use_offset": True,
    "offset_location": (1.0, 2.0, 3.0),
    "offset_rotation": (0.0, 1.0, 0.0, 0.0),
    "pole_target": "Pole",
    "pole_subtarget": "Elbow",
    "pole_angle": radians(30.0),
    "pole_weight": 0.75,
    "effort_weight": 0.125,
    "rest_weight": 0.375,
    "rest_pose": "START",
    "obstacles": "Furniture",
    "obstacle_margin": 0.0625,
    "obstacle_weight": 0.5,
    "influence": 0.875,
    "chain_count": 2,
    "use_selected": True,
    "solver": "FABRIK",
    "tolerance": 0.015625,
    "iterations": 77,
    "finish": False,
    "seed": 9,
    "start_from": "REST",
    "smooth": False,
    "smoothing": 0.5,
    "use_scene_range": False,
    "frame_start": 3,
    "frame_end": 33,
    "step": 2,
    "reach_start": 5,
    "reach_end": 20,
    "reach_hold": 4,
    "reach_return": 12,
    "reach_stop": 1,
    "reach_path": "ARC",
    "reach_onset": 0.25,
    "reach_timing": "CUBIC",
    "reach_easing": "EASE_OUT",
    "reduce": True,
    "reduce_tolerance": 0.03125,
    "only_target_keys": True,
    "destination": "NLA_TRACK",
    "mark_misses": True,
    "interpolation": "CONSTANT",
}
STOPS = (
    {"target": "Pole", "subtarget": "", "frame": 11, "hold": 3},
    {"target": "Table", "subtarget": "Bone 0", "frame": 30, "hold": 0},
)
JOINTS = {
    "Bone 0": {"source": "OWN", "kind": "CONE", "swing": 0.5, "twist_lower": -0.25, "twist_upper": 0.125},
    "Bone 1": {"source": "OWN", "kind": "EULER", "order": "ZXY", "minimum": (-0.5, -0.25, 0.0), "maximum": (0.5,) * 3},
    "Bone 2": {"source": "OWN", "kind": "HINGE", "axis": (0.0, 0.0, 1.0), "lower": -0.5, "upper": 1.5},
    "Bone 3": {"source": "CONSTRAINT", "kind": "LOCKED", "use_limits": False, "stiffness": 0.5},
}
MAP = {
    "metric": "travel",
    "scale": "PLUM_CREAM",
    "tolerance": 0.0625,
    "solver": "CCD",
    "finish": True,
    "size": 64,
    "iterations": 33,
    "resolution": 8,
}
OVERLAY = {"show": True, "show_reach": False, "show_joints": False}


def make() -> None:
    """Build the rig in a new scene, and set all that is above."""
    furniture = bpy.data.collections.new("Furniture")
    things = {"Table": chain_rig(2, name="Table"), "Pole": empty("Pole", (0.0, -3.0, 1.0)), "Furniture": furniture}
    rig = chain_rig(4)
    give(rig.pose.bones[TIP].ik_triangulation, LIMB, things)
    rig.pose.bones[OTHER_TIP].ik_triangulation.target = things["Pole"]
    for stop in STOPS:
        give(rig.pose.bones[TIP].ik_triangulation.reach_stops.add(), stop, things)
    for name, joint in JOINTS.items():
        give(rig.pose.bones[name].ik_triangulation_joint, joint, things)
    give(bpy.context.scene.ik_triangulation_map, MAP, things)
    give(bpy.context.scene.ik_triangulation_overlay, OVERLAY, things)


def give(group: bpy.types.PropertyGroup, values: dict, things: dict) -> None:
    """Set properties; those that are data-blocks by their names among these `things`."""
    for name, value in values.items():
        pointer = group.bl_rna.properties[name].type == "POINTER"
        setattr(group, name, things[value] if pointer else value)


def values_of(group: bpy.types.PropertyGroup, like: dict) -> dict:
    """The properties that `like` has, in the form that it has."""
    found = {name: getattr(group, name) for name in like}
    plain = {name: value.name if isinstance(value, bpy.types.ID) else value for name, value in found.items()}
    return {name: tuple(value) if isinstance(like[name], tuple) else value for name, value in plain.items()}


if __name__ == "__main__":
    import addon_utils

    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon_utils.enable("ik_triangulation")
    make()
    scene = bpy.context.scene
    bpy.data.libraries.write(sys.argv[1], {scene}, compress=True)  # without windows and screens: a few kB
    addon_utils.disable("ik_triangulation")
