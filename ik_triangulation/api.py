# SPDX-License-Identifier: GPL-3.0-or-later
"""Every public name, loaded when it is asked for: `from ik_triangulation.api import Limb, bake`.

Installed in Blender the extension itself has them: `from bl_ext.user_default.ik_triangulation import Limb, bake`.
The imports below are the one list of them. Type checkers and editors read them as they are; at run time they are read
as text, and a module is imported when one of its names is asked for. Joints, goals and solvers need mathutils and numpy
alone, everything else needs bpy. Nothing has to be registered, except for settings that are saved on bones: Limb.of(),
add_limbs(), live limbs, presets and the tools for joints.
"""

# ruff: noqa: F401  the imports are the list

import ast
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import AnimationError, ChainError, FreedomError, IKError, RigError, SettingError, TargetError
    from .goals import (
        Avoid,
        Ball,
        Block,
        Box,
        Cylinder,
        Direction,
        Effort,
        Field,
        Goal,
        Line,
        LookAt,
        Near,
        Orientation,
        Plane,
        Point,
        Pole,
        Ray,
        Ring,
        Segment,
        SoftGoal,
        Sphere,
        Target,
        Transformed,
    )
    from .jobs.bake import bake, bake_limbs, delete_generated, rebake, solve_pose
    from .jobs.compare import compare
    from .jobs.frame_result import FrameResult
    from .jobs.joint_tools import copy_to_others as copy_joint_to_others
    from .jobs.joint_tools import copy_to_own as copy_joints_to_own
    from .jobs.joint_tools import learn as learn_joints
    from .jobs.joint_tools import mirror as mirror_joints
    from .jobs.limb_tools import add_limbs, new_target, remove_limb
    from .jobs.live import start as start_live
    from .jobs.live import stop as stop_live
    from .jobs.reach import Stop, reach, reach_through
    from .jobs.report import Report
    from .jobs.switching import let_follow
    from .kinematics import (
        Body,
        BodyPose,
        BodySegment,
        BodyTip,
        Chain,
        Cone,
        Cost,
        EulerLimits,
        Free,
        Freedom,
        Hinge,
        Joint,
        Locked,
        Pose,
    )
    from .maps.chain_map import map_chain
    from .maps.metric_map import MetricMap
    from .presets import Preset, PresetJoint, apply_preset, find_preset, preset_of, read_preset, write_preset
    from .presets import names as preset_names
    from .rig.limb import Limb, enabled_limbs
    from .solvers import SOLVERS, BodySolution, Solution, SolverSettings, TipResult, solve, solve_body, solve_goal
    from .solvers.compare import SolverResult

_HOMES = {
    alias.asname or alias.name: (f".{node.module}", alias.name)
    for node in ast.walk(ast.parse(Path(__file__).read_text(encoding="utf-8")))
    if isinstance(node, ast.ImportFrom) and node.level
    for alias in node.names
}
__all__ = list(_HOMES)

if not TYPE_CHECKING:  # type checkers report a name that is not in the list

    def __getattr__(name: str) -> Any:
        """Import and return the object of a public name. Raises ImportError where Blender's modules are missing."""
        if name not in _HOMES:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        module, original = _HOMES[name]
        with suppress(ModuleNotFoundError):
            import_module("bpy")  # where it is installed, mathutils is found only after it
        try:
            globals()[name] = getattr(import_module(module, __package__), original)
        except ModuleNotFoundError as error:
            remedy = "Run this in Blender, or install Blender as a module: pip install bpy, for a Python that has it."
            raise ImportError(f"'{name}' needs {error.name}. {remedy}", name=error.name) from error
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
