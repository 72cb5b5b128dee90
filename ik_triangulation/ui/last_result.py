# SPDX-License-Identifier: GPL-3.0-or-later
"""Results that the session keeps for the panels: of the last solve or bake of each limb and body; of Compare Solvers.

Nothing of it is saved. The chosen solver's pose of a comparison is shown as a ghost.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from math import degrees
from typing import TYPE_CHECKING

import bpy
import numpy as np
from bpy.app.handlers import persistent
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty
from bpy.props import StringProperty as Text
from bpy.types import Context, Object, PropertyGroup, Scene, WindowManager

from ..errors import IKError
from ..items import SOLVER_ROWS
from ..jobs import compare
from ..jobs.live import following as live
from ..jobs.shots import report as reporting
from ..rig import keyframes
from ..rig import limb as rig_limb
from ..rig.units import degrees_text, distance_text, scale_of
from .overlay.ghost import clear_ghosts, show_ghost
from .overlay.updates import redraw
from .translation import translated

if TYPE_CHECKING:
    from ..solvers.compare import SolverResult


class LastResult:
    """Report as the panel shows it: `reached` if all frames are, an `icon`, `lines`, and `warnings` besides these.

    The rest is made when it is drawn.
    """

    def __init__(self, report: "reporting.Report", scene: Scene, scale: float) -> None:
        self.reached, self.lines = report.all_reached, reporting.lines(report, scene)
        self.warnings = [warning for warning in dict.fromkeys(report.warnings) if warning not in self.lines]
        self.icon = ("CHECKMARK" if self.reached else "ERROR") if report.due_count else "INFO"
        self.report, self._scale = report, scale
        self.state, self.holds = b"", True  # of the animation or pose that it is about, where undo or redo asks
        missed = sorted((tip for tip in report.tips.values() if tip.missed), key=lambda tip: -tip.largest_distance)
        self._missed = [f"{tip.tip} {_miss_text(tip, scene)}" for tip in missed]

    @property
    def line(self) -> str:
        """The result in a few words; of a limb that is not reached at a single frame with the distance or the angle.

        Of a body it names the tips that are off, the farthest first, or else the bones that do not follow them.
        """
        if not self.report.hips:
            if self.report.due_count != 1 or self.reached:
                return self.lines[0]
            (tip,) = self.report.tips.values()
            why = self.lines[1 + int(tip.turned_only)]  # the distance, or the orientation
            return f"{self.lines[0]}: {why[0].lower()}{why[1:]}"
        if not self._missed and self.report.not_following:
            names = list(dict.fromkeys(note.bone for note in self.report.not_following))
            return f"{names[0]} does not follow" if len(names) == 1 else f"{len(names)} bones do not follow"
        if not self._missed:
            return f"Body: {translated(self.lines[0])}"
        if self.is_bake and len(self.report.missed) == 1:
            return f"Missed at frame {self.report.missed[0]:g}: {self._missed[0]}"
        if self.is_bake:
            return f"Missed at {len(self.report.missed)} frames: {self._missed[0]}"
        return f"Missed: {', '.join(self._missed)}"

    @property
    def switches(self) -> list[str]:
        """Names of the properties to set so that the bones which do not follow do."""
        remedies = [note.remedy for note in self.report.not_following]
        return list(dict.fromkeys(remedy.name for remedy in remedies if remedy))

    @property
    def is_bake(self) -> bool:
        """True for several frames."""
        return len(self.report.frames) > 1

    @cached_property
    def limits(self) -> list[str]:
        """Lines about the bones of a limb at a joint limit."""
        return reporting.on_limits(self.report)

    def cost(self, scene: Scene) -> str:
        """Return the cost of a limb's motion in one line."""
        turns, angle, travel = self._cost
        return f"{turns} turns, {angle:.0f}°, tip moved {distance_text(travel, scene)}"

    @cached_property
    def _cost(self) -> tuple[int, float, float]:
        cost = self.report.cost
        return cost.turns, degrees(cost.total_angle), cost.travel * self._scale


def _miss_text(tip: "reporting.TipReport", scene: Scene) -> str:
    """Return how far a tip is off in a word: its angle where its place is met, or where it looks."""
    by_angle = tip.turned_only or tip.aim == "LOOK"
    return degrees_text(tip.angle) if by_angle else distance_text(tip.largest_distance, scene)


_latest: dict[tuple[int, str], LastResult] = {}  # by the armature's session uid and the tip bone


def remember_result(report: "reporting.Report", armature: Object, scene: Scene) -> None:
    """Keep a report for the panel at each of its tips, and show it: a live pose is reported after it is drawn."""
    result = LastResult(report, scene, scale_of(armature))
    _latest.update(((armature.session_uid, tip), result) for tip in report.tips)
    redraw()


def forget_result(armature: Object, tip: str) -> None:
    """Drop the result of the limb that ends in bone `tip`."""
    _latest.pop((armature.session_uid, tip), None)


def latest(armature: Object, tip: str) -> LastResult | None:
    """Return the last result of the limb that ends in bone `tip`; None if what it is about has been undone."""
    result = _latest.get((armature.session_uid, tip))
    return result if result and result.holds else None


def _state(armature: Object, result: LastResult) -> bytes:
    """Return what tells whether an armature still is as a result says: its keys, or for a single frame its pose.

    Empty where another frame is shown than that one.
    """
    if not result.is_bake:
        scene = bpy.context.scene
        if scene.frame_current + scene.frame_subframe not in result.report.numbers:
            return b""
        values = np.empty(16 * len(armature.pose.bones), np.float32)
        armature.pose.bones.foreach_get("matrix_basis", values)
        return values.tobytes()
    curves = keyframes.curves_of(armature)
    keys = b"".join(keyframes.get_keys(each, ["co"])["co"].tobytes() for each in curves)
    data = armature.animation_data
    layers = [(track.name, *(strip.name for strip in track.strips)) for track in data.nla_tracks] if data else []
    return keys + repr(([each.data_path for each in curves], layers)).encode()


def _seen() -> Iterator[tuple[LastResult, bytes]]:
    """Yield each result, and how the armature that it is about is now; empty if that is gone."""
    objects = {ob.session_uid: ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.pose} if _latest else {}
    for (uid, _), result in _latest.items():
        yield result, _state(objects[uid], result) if uid in objects else b""


@persistent  # type: ignore[untyped-decorator]
def _before_undo(*_: object) -> None:
    for result, state in _seen():
        result.state = state if result.holds else result.state


@persistent  # type: ignore[untyped-decorator]
def _after_undo(*_: object) -> None:
    """Hide the results of what has been undone, and show again those of what has been redone."""
    for result, state in _seen():
        if result.state and state:
            result.holds = result.state == state


def _handlers() -> Sequence[tuple[list, Callable[..., None]]]:
    handlers = bpy.app.handlers
    before, after = (handlers.undo_pre, handlers.redo_pre), (handlers.undo_post, handlers.redo_post)
    return [*((each, _before_undo) for each in before), *((each, _after_undo) for each in after)]


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
    live.listeners.append(remember_result)
    for handlers, handler in _handlers():
        handlers.append(handler)
    _register_classes()
    WindowManager.ik_triangulation_duel = PointerProperty(
        name="IK Triangulation Duel", type=IKT_PG_duel, options={"SKIP_SAVE"}
    )


def unregister() -> None:
    del WindowManager.ik_triangulation_duel
    _unregister_classes()
    live.listeners.remove(remember_result)
    for handlers, handler in _handlers():
        handlers.remove(handler)
    _latest.clear()
