# SPDX-License-Identifier: GPL-3.0-or-later
"""The last solver comparison of the session (Compare Solvers): its table, and the chosen solver's pose as a ghost."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty
from bpy.props import StringProperty as Text
from bpy.types import Context, Object, PropertyGroup, WindowManager

from ..errors import IKError
from ..items import SOLVER_ROWS
from ..jobs import compare
from ..rig import limb as rig_limb
from ..rig.units import scale_of
from .overlay.ghost import clear_ghosts, show_ghost

if TYPE_CHECKING:
    from ..solvers.compare import SolverResult

MEASURES = ("naturalness", "total_angle", "error", "turns", "travel", "iterations", "seconds")
_GHOST = "Duel"


def _preview(rows: "IKT_PG_duel", context: Context) -> None:
    """Show the pose of the solver chosen in the list as a ghost."""
    clear_ghosts()
    if not 0 <= rows.chosen < len(rows.rows):
        return
    armature, row = context.view_layer.objects.get(rows.armature), rows.rows[rows.chosen]
    if armature is None or row.refusal or armature.pose is None or rows.tip not in armature.pose.bones:
        return
    try:
        limb = rig_limb.selected_limb(armature.pose.bones[rows.tip])
        show_ghost(armature, compare.preview(limb, row.name, context.scene, context.view_layer), name=_GHOST)
    except IKError:  # the limb has changed since the comparison and cannot be solved now
        return


class IKT_PG_duel_row(PropertyGroup):
    """Results of one solver over all frames, as in solvers.compare.SolverResult; `name` is the solver's key."""

    tasks: IntProperty(name="Frames", description="Number of frames solved")
    reached: IntProperty(name="Reached", description="Number of frames reached")
    naturalness: FloatProperty(
        name="Naturalness",
        description="Mean rotation of the joints away from the current pose, plus unnatural bends; 0 is best",
    )
    error: FloatProperty(name="Distance", description="Largest remaining distance between tip and target")
    iterations: IntProperty(name="Steps", description="Steps of the solver, including those that refine its result")
    turns: IntProperty(name="Turns", description="Number of joint rotations")
    total_angle: FloatProperty(name="Total Angle", description="Sum of all joint rotations", subtype="ANGLE")
    travel: FloatProperty(name="Travel", description="Path length of the tip")
    seconds: FloatProperty(name="Time", description="Time taken to solve")
    refusal: Text(name="Refusal", description="Reason why the solver cannot be used for this limb")


_MEASURES = {name: IKT_PG_duel_row.__annotations__[name] for name in MEASURES}


class IKT_PG_duel(PropertyGroup):
    """Settings of the comparison, and the rows of the last one: for the limb that ends in bone `tip` of `armature`."""

    by: EnumProperty(
        name="Best By",
        description="Measure that the solvers are sorted by",
        items=[(name, p.keywords["name"], p.keywords["description"]) for name, p in _MEASURES.items()],
    )
    use_range: BoolProperty(
        name="Whole Range", description="Compare over the limb's frame range instead of the current frame"
    )
    armature: Text(name="Armature", description="Armature of the limb that was compared")
    tip: Text(name="Tip", description="Bone at the end of the limb that was compared")
    rows: CollectionProperty(name="Rows", description="Results of each solver", type=IKT_PG_duel_row)
    chosen: IntProperty(name="Solver", description="Show the pose of this solver as a ghost", update=_preview)


def show_comparison(rows: "Sequence[SolverResult]", armature: Object, tip: str, context: Context) -> None:
    """Show these rows in the panel, and the pose of the first solver as a ghost."""
    duel = context.window_manager.ik_triangulation_duel
    duel.armature, duel.tip = armature.name, tip
    duel.rows.clear()
    for row in rows:
        entry = duel.rows.add()
        entry.name = row.solver
        for name in IKT_PG_duel_row.__annotations__:
            setattr(entry, name, getattr(row, name))
        for name in ("error", "travel"):
            setattr(entry, name, getattr(row, name) * scale_of(armature))
    duel.chosen = 0


def clear_comparison(context: Context) -> None:
    """Remove the rows and the ghosts."""
    context.window_manager.ik_triangulation_duel.rows.clear()
    clear_ghosts()


def solver_label(row: IKT_PG_duel_row) -> str:
    """Return the label of a row's solver."""
    return SOLVER_ROWS[row.name].label


_register_classes, _unregister_classes = bpy.utils.register_classes_factory((IKT_PG_duel_row, IKT_PG_duel))


def register() -> None:
    _register_classes()
    WindowManager.ik_triangulation_duel = PointerProperty(
        name="IK Triangulation Duel", type=IKT_PG_duel, options={"SKIP_SAVE"}
    )


def unregister() -> None:
    del WindowManager.ik_triangulation_duel
    _unregister_classes()
