# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs and bodies that follow their targets while these are moved, as by a constraint, but on the bones' own channels.

The list of live limbs belongs to this session only: nothing of it is saved, and loading a file empties it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from math import inf
from time import perf_counter
from typing import Any

import bpy
from bpy.types import ID, Depsgraph, Object, Scene

from ...errors import IKError
from ...rig import checks
from ...rig import limb as rig_limb
from ...rig.by_hand import keys, reference
from ...rig.targets import untouched
from ..shots import problem as problems
from ..shots import report as reporting
from . import character as live_character
from . import state as live_state

_EVALUATED = 0.05  # seconds after which Blender has evaluated a live pose, so that it can be measured
_SLICE = 2e-3  # seconds for which frames to come are solved at a time
_SETTLED = 0.2  # seconds without a change after which a live pose is keyed, if Auto Keying is on
_DRAGGING = "TRANSFORM_OT", "POSE_OT_ik_triangulation_target_"  # how operators are called that drag

_live: dict[tuple[int, str], live_state.LiveState] = {}  # by the armature's session uid and the tip bone
_paused = False  # while Blender replaces its data
listeners: list[
    Callable[[reporting.Report, Object, Scene], None]
] = []  # called with the report of a live pose, soon after it is shown


def _tell(report: reporting.Report, armature: Object, scene: Scene) -> None:
    for listener in listeners:
        listener(report, armature, scene)


def start(armature: Object, tip: str, at_once: bool = True) -> None:
    """Solve the limb that ends in `tip`, or its body, whenever something it follows has moved, and `at_once` as well.

    Raises an IKError that names the culprit; then it is not live.
    """
    scene, body = bpy.context.scene, problems.body_of(armature, tip)
    live: live_state.LiveState
    if body is None:
        limb = rig_limb.selected_limb(armature.pose.bones[tip])
        live, limbs = live_character.LiveLimb(armature, limb, scene), (limb,)
    else:
        live, limbs = live_character.LiveBody(armature, body, tip, scene), body.limbs
    if at_once:
        _tell(live.begin(body or limbs[0]), armature, scene)
    elif body is not None:
        untouched.check_body_limbs(body, scene, bpy.context.view_layer)
    else:
        checks.check_limb(limbs[0], scene, bpy.context.view_layer)
    for each in live.tips:
        _drop(armature, each)
    _live[armature.session_uid, tip] = live
    _listen(bool(_live))
    _look(scene, bpy.context.evaluated_depsgraph_get())


def stop(armature: Object, tip: str) -> None:
    """Stop posing the limb, and the body that it is of; they stay as they are."""
    live = _found(armature, tip)
    if live is not None and live.untold:
        _measure()
    _drop(armature, tip)
    _listen(bool(_live))


def _found(armature: Object, tip: str) -> live_state.LiveState | None:
    own = (live for (uid, _), live in _live.items() if uid == armature.session_uid)
    return next((live for live in own if tip in live.tips), None)


def _drop(armature: Object, tip: str) -> None:
    live = _found(armature, tip)
    if live is not None:
        del _live[armature.session_uid, live.tip]


def stop_all(*_: object) -> None:
    """Stop posing all limbs; they stay as they are."""
    _live.clear()
    _listen(False)


def keep_poses(undo: ExitStack) -> None:
    """Have the closing of `undo` give back the poses that the live limbs have now, without asking why they changed."""
    for live in _live.values():
        armature = live.armature()
        if armature is not None:
            live.keep(armature, undo)
    undo.callback(_accept)


def under_way(beside: Object | None = None) -> list[str]:
    """Return the names of armature and tip bone of the live limbs, except those of one armature."""
    left_out = beside.session_uid if beside else None
    return [f"{live.name}: {live.tip}" for (uid, _), live in _live.items() if uid != left_out]


def is_live(armature: Object, tip: str) -> bool:
    """Tell whether the limb that ends in `tip` is live, by itself or with its body."""
    return _found(armature, tip) is not None


def problem(armature: Object, tip: str) -> str:
    """Return the error that keeps a live limb from following its target now; empty if there is none."""
    live = _found(armature, tip)
    return live.problem if live else ""


def _look(scene: Scene, depsgraph: Depsgraph, new_frame: bool = False) -> None:
    """Pose each live limb whose surroundings have changed since the last look."""
    if _paused or depsgraph.mode != "VIEWPORT":
        return
    touched = {update.id.original for update in depsgraph.updates}
    for key, live in list(_live.items()):
        armature = live.armature()
        if armature is None:
            del _live[key]
            _listen(bool(_live))
            continue
        if scene.session_uid != live.scene:
            continue
        live.problem = ""
        try:
            _follow(live, armature, scene, depsgraph, touched, new_frame)
        except IKError as error:
            live.problem = str(error)
            live.forget_reading()


def _follow(
    live: live_state.LiveState, armature: Object, scene: Scene, depsgraph: Depsgraph, touched: set[ID], new_frame: bool
) -> None:
    now, rig, changed = live.look(armature, scene, depsgraph, touched, new_frame)
    before, live.surroundings = live.surroundings, live.surroundings_of(now, depsgraph)
    changed = changed or before != live.surroundings or (new_frame and live.is_overwritten(armature))
    if before is None or not changed or (new_frame and live.is_animated(rig)):
        return
    held, live.dragged = live.dragged, _is_dragging()
    if held and not live.dragged and live.cancel_drag(armature):
        return
    if live.remember(armature, before, held, new_frame):
        reference.hold_reference(rig.pose_bones, scene)
        now, rig, _ = live.look(armature, scene, depsgraph, touched, new_frame)
    live.solve(now, rig)
    live.moved, live.untold = perf_counter(), True
    keys.remember_written(rig.pose_bones)  # at once: undo saves the end of a drag before that is seen here
    _call_later(_measure, _EVALUATED)
    if new_frame:
        _call_later(solve_upcoming, 0.0)
    if live.comes_to_rest:
        _call_later(_rest, _SETTLED)
    if scene.tool_settings.use_keyframe_insert_auto and not new_frame:
        live.changed, live.frame = perf_counter(), now.frame
        _call_later(_key, _SETTLED)


def _call_later(timer: Callable[[], float | None], seconds: float) -> None:
    if not bpy.app.timers.is_registered(timer):
        bpy.app.timers.register(timer, first_interval=seconds)


def _measure() -> None:
    """Report on the poses that were shown last, now that Blender has evaluated them."""
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    dragging = _is_dragging()
    view_layer.update()
    for live in list(_live.values()):
        armature, untold, live.untold = live.armature(), live.untold, False
        if untold and armature is not None and live.scene == scene.session_uid:
            report = live.report(armature, scene, view_layer.depsgraph)
            if report is not None:
                _tell(report, armature, scene)
        if not dragging:
            live.forget_reading()  # what a script does to settings without telling Blender is seen at the next move


def solve_upcoming() -> float | None:
    """Solve some frames to come, of one live limb after the other; return the seconds until more, None for no more."""
    return 0.0 if any(live.solve_upcoming(_SLICE) for live in _live.values()) else None


def _rest() -> float | None:
    """Let live poses come to rest whose targets do; return the seconds until the next look."""
    latest = max((live.moved for live in _live.values() if live.comes_to_rest), default=-inf)
    if perf_counter() - latest < _SETTLED:
        return _SETTLED
    rest_now()
    return None


def rest_now() -> None:
    """Let all live poses come to rest."""
    for live in _live.values():
        armature = live.armature()
        if armature is not None and live.rest(armature):
            live.untold = True
            _call_later(_measure, _EVALUATED)


def _is_dragging() -> bool:
    """Tell whether something is being transformed by hand now."""
    windows = bpy.context.window_manager.windows
    return any(op.bl_idname.startswith(_DRAGGING) for window in windows for op in window.modal_operators)


def _key() -> float | None:
    """Key the live poses that have settled, as one step of undo; return the seconds until the next look."""
    waiting = [live.changed for live in _live.values() if live.changed > -inf]
    if not waiting:
        return None
    if _is_dragging() or perf_counter() - max(waiting) < _SETTLED:
        return _SETTLED
    key_now()
    if not bpy.app.background:
        with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
            bpy.ops.ed.undo_push(message="Key Live Pose")
    return None


def key_now() -> None:
    """Key the live poses that have changed while Auto Keying was on, if they are still shown."""
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    for live in [live for live in _live.values() if live.changed > -inf]:
        live.changed, armature = -inf, live.armature()
        shown = live.scene == scene.session_uid and live.frame == scene.frame_current + scene.frame_subframe
        if armature is None or not shown:
            continue  # it was left before it rested
        try:
            live.key(armature, scene, view_layer)
        except IKError as error:
            live.problem = str(error)


def _on_update(scene: Scene, depsgraph: Depsgraph) -> None:
    _look(scene, depsgraph)


def _on_frame(scene: Scene, depsgraph: Depsgraph) -> None:
    _look(scene, depsgraph, new_frame=True)


def _pause(*_: object) -> None:
    global _paused
    _paused = True


def _go_on(*_: object) -> None:
    """Accept the state that undo or redo has restored."""
    global _paused
    _paused = False
    _accept()


def _accept() -> None:
    """Accept the state that is seen next as it is."""
    for live in _live.values():
        live.forget()


def _handlers() -> Sequence[tuple[list[Any], Callable[..., None]]]:
    handlers = bpy.app.handlers
    return (
        (handlers.depsgraph_update_post, _on_update),
        (handlers.frame_change_post, _on_frame),
        (handlers.undo_pre, _pause),
        (handlers.redo_pre, _pause),
        (handlers.undo_post, _go_on),
        (handlers.redo_post, _go_on),
        (handlers.load_pre, stop_all),
    )


def _listen(wanted: bool) -> None:
    """Have Blender call the handlers only while there is a live limb."""
    for handlers, handler in _handlers():
        if wanted and handler not in handlers:
            handlers.append(handler)
        elif not wanted and handler in handlers:
            handlers.remove(handler)
    for timer in () if wanted else (_key, _measure, _rest, solve_upcoming):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)


def register() -> None:
    """Begin without live limbs."""


def unregister() -> None:
    stop_all()
