# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a limb by name and type, so that editors complete them and type checkers find a misspelt one.

Type checkers read no table that is built at run time, so the names are here once more; tests/settings/test_typed.py
holds both equal. What each one means is said where it is declared: goal.py, solver.py and keys.py.
"""

from collections.abc import Sequence
from typing import TypedDict

from bpy.types import Collection, Object


class LimbOptions(TypedDict, total=False):
    """Keywords of Limb.from_tip() and Limb.from_bones()."""

    reduce: bool
    reduce_tolerance: float
    only_target_keys: bool
    destination: str
    keys_on: str
    mark_misses: bool
    interpolation: str
    solver: str
    tolerance: float
    angle_tolerance: float
    iterations: int
    finish: bool
    seed: int
    smoothing: float
    effort_weight: float
    rest_weight: float
    rest_pose: str
    obstacles: Collection | None
    obstacle_margin: float
    obstacle_weight: float
    start_from: str
    smooth: bool
    soft_edge: bool
    orientation: str
    look_axis: str
    orient_weight: float
    pole_target: Object | None
    pole_subtarget: str
    pole_angle: float
    pole_weight: float
    subtarget: str
    match: str
    shape: str
    surface_offset: float
    flow_speed: float
    use_offset: bool
    offset_location: Sequence[float]
    offset_rotation: Sequence[float]
    influence: float
