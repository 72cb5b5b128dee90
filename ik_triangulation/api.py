# SPDX-License-Identifier: GPL-3.0-or-later
"""Every public name, loaded when it is asked for: `from ik_triangulation.api import Limb, bake`.

Installed in Blender the extension itself has them: `from bl_ext.user_default.ik_triangulation import Limb, bake`.
The imports below are the one list of them. Type checkers and editors read them as they are; at run time they are read
as text, and a module is imported when one of its names is asked for. Joints, goals and solvers need mathutils and numpy
alone, everything else needs bpy. Nothing has to be registered, except for settings that are saved on bones: Limb.of(),
add_limbs(), live limbs, presets and the tools for joints.

bpy brings a mathutils of its own. Its types are not those of the package `mathutils`, so bpy is imported first where it
is installed, and never after the other one.
"""

# ruff: noqa: F401, PLC0414  the imports are the list; "X as X" tells type checkers that X is meant for users

import ast
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import AnimationError as AnimationError
    from .errors import ChainError as ChainError
    from .errors import FreedomError as FreedomError
    from .errors import IKError as IKError
    from .errors import RigError as RigError
    from .errors import SettingError as SettingError
    from .errors import TargetError as TargetError
    from .goals import Avoid as Avoid
    from .goals import Ball as Ball
    from .goals import Block as Block
    from .goals import Box as Box
    from .goals import Cylinder as Cylinder
    from .goals import Direction as Direction
    from .goals import Effort as Effort
    from .goals import Field as Field
    from .goals import Flow as Flow
    from .goals import Goal as Goal
    from .goals import Line as Line
    from .goals import LookAt as LookAt
    from .goals import Near as Near
    from .goals import Orientation as Orientation
    from .goals import Plane as Plane
    from .goals import Point as Point
    from .goals import Pole as Pole
    from .goals import Ray as Ray
    from .goals import Ring as Ring
    from .goals import Segment as Segment
    from .goals import SoftGoal as SoftGoal
    from .goals import SolidCylinder as SolidCylinder
    from .goals import SolidSphere as SolidSphere
    from .goals import Sphere as Sphere
    from .goals import Target as Target
    from .goals import Transformed as Transformed
    from .jobs.bake import BodyBake, bake_bodies, rebake_body
    from .jobs.bake import bake as bake
    from .jobs.bake import bake_body as bake_body
    from .jobs.bake import bake_limbs as bake_limbs
    from .jobs.bake import delete_generated as delete_generated
    from .jobs.bake import rebake as rebake
    from .jobs.calls import call as call
    from .jobs.compare import compare as compare
    from .jobs.edits.edit import pull as pull
    from .jobs.edits.mirror import mirror_motion as mirror_motion
    from .jobs.edits.retime import retime as retime
    from .jobs.edits.spaces import end_space as end_space
    from .jobs.edits.spaces import remove_space as remove_space
    from .jobs.edits.spaces import set_space as set_space
    from .jobs.edits.spaces import spaces_of as spaces_of
    from .jobs.find_contacts import find_contacts as find_contacts
    from .jobs.follow_rig import follow_rig as follow_rig
    from .jobs.grasp import grasp as grasp
    from .jobs.joint_tools import copy_to_others as copy_joint_to_others
    from .jobs.joint_tools import copy_to_own as copy_joints_to_own
    from .jobs.joint_tools import learn as learn_joints
    from .jobs.joint_tools import mirror as mirror_joints
    from .jobs.live.following import start as start_live
    from .jobs.live.following import stop as stop_live
    from .jobs.pose import solve_body_pose as solve_body_pose
    from .jobs.pose import solve_pose as solve_pose
    from .jobs.pose import verify as verify
    from .jobs.reach import Stop as Stop
    from .jobs.reach import reach as reach
    from .jobs.reach import reach_through as reach_through
    from .jobs.reach import reach_with_body as reach_with_body
    from .jobs.removal import Removal, remove_everything
    from .jobs.removal import remove_limb as remove_limb
    from .jobs.removal import remove_targets as remove_targets
    from .jobs.setup import add_limbs as add_limbs
    from .jobs.setup import new_target as new_target
    from .jobs.setup import set_up_body as set_up_body
    from .jobs.shots.controls import let_follow
    from .jobs.shots.frame_solver import FrameResult
    from .jobs.shots.keys import BodyKeySettings as BodyKeySettings
    from .jobs.shots.problem import body_of
    from .jobs.shots.report import BodyReport, TipSummary
    from .jobs.shots.report import Report as Report
    from .jobs.shots.report import TipReport as TipReport
    from .jobs.shots.tips import let_body_follow as let_body_follow
    from .jobs.targets import target_from_animation
    from .jobs.targets import target_to_tip as target_to_tip
    from .jobs.transfer import transfer as transfer
    from .kinematics import Body as Body
    from .kinematics import BodyPose as BodyPose
    from .kinematics import BodySegment as BodySegment
    from .kinematics import BodyTip as BodyTip
    from .kinematics import Chain as Chain
    from .kinematics import Cone as Cone
    from .kinematics import Cost as Cost
    from .kinematics import EulerLimits as EulerLimits
    from .kinematics import Free as Free
    from .kinematics import Freedom as Freedom
    from .kinematics import Hinge as Hinge
    from .kinematics import Joint as Joint
    from .kinematics import Locked as Locked
    from .kinematics import Pose as Pose
    from .maps.metric_map import MetricMap as MetricMap
    from .maps.metric_map import map_chain
    from .presets import find_preset as find_preset
    from .presets import names as preset_names
    from .presets.file import Preset as Preset
    from .presets.file import PresetJoint as PresetJoint
    from .presets.file import read_preset as read_preset
    from .presets.file import write_preset as write_preset
    from .presets.limb import apply_preset as apply_preset
    from .presets.limb import preset_of as preset_of
    from .rig.body import Contact, store_contacts, stored_contacts
    from .rig.body import RigBody as RigBody
    from .rig.limb import Limb as Limb
    from .rig.limb import enabled_limbs as enabled_limbs
    from .rig.targets.made import TargetSpace as TargetSpace
    from .solvers import SOLVERS as SOLVERS
    from .solvers import BodySolution as BodySolution
    from .solvers import Solution as Solution
    from .solvers import SolverSettings as SolverSettings
    from .solvers import TipResult as TipResult
    from .solvers import solve as solve
    from .solvers import solve_body as solve_body
    from .solvers import solve_goal as solve_goal
    from .solvers.compare import SolverResult as SolverResult

_HOMES = {
    alias.asname or alias.name: (f".{node.module}", alias.name)
    for node in ast.walk(ast.parse(Path(__file__).read_text(encoding="utf-8")))
    if isinstance(node, ast.ImportFrom) and node.level
    for alias in node.names
}
__all__ = list(_HOMES)
_PURE = {"errors", "kinematics", "goals", "solvers"}  # rooms that need no bpy

if not TYPE_CHECKING:  # type checkers report a name that is not in the list

    def __getattr__(name: str) -> Any:
        """Import and return the object of a public name. Raises ImportError where Blender's modules are missing."""
        if name not in _HOMES:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        module, original = _HOMES[name]
        _import_bpy(name, module.split(".")[1])
        try:
            globals()[name] = getattr(import_module(module, __package__), original)
        except ModuleNotFoundError as error:
            alone = "mathutils (pip install mathutils) or " if error.name == "mathutils" else ""
            remedy = f"{alone}Blender as a module: pip install bpy, for a Python that has it."
            text = f"'{name}' needs {error.name}. Run this in Blender, or install {remedy}"
            raise ImportError(text, name=error.name) from error
        return globals()[name]

    def _import_bpy(name: str, room: str) -> None:
        """Import bpy where it is installed, before anything imports mathutils.

        Raises ImportError if it is too late, and the room needs bpy.
        """
        other = sys.modules.get("mathutils") if "bpy" not in sys.modules else None
        if other is None:
            with suppress(ModuleNotFoundError):
                import_module("bpy")
        elif room not in _PURE and find_spec("bpy"):
            raise ImportError(
                f"'{name}' needs bpy, and mathutils was imported before it, from another package. Import bpy first."
            )

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
