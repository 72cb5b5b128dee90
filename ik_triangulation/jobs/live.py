# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that follow their targets while these are moved, as a constraint would, but on the bones' own rotations.

Which limbs are live is known to this session only: nothing of it is saved, and loading a file ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from time import perf_counter
from typing import Any

import bpy
from bpy.types import Depsgraph, Object, Scene
from mathutils import Quaternion

from ..errors import IKError
from ..rig.armature import Bones
from ..rig.checks import check_limb
from ..rig.frames.sampling import Sample, sample
from ..rig.keyframes import check_keys, curves_of
from ..rig.limb import Limb
from ..rig.nla import check_nla
from ..rig.rotation import channel, rotation_of, set_rotation
from ..rig.selection import selected_limb
from . import write as commit
from .bake import report_of, solve_pose
from .frame_solver import Solved, follow
from .measure import Watch, measure_now
from .report import Remedy, Report

_REMEMBERED = 4  # a drag is seen as one only from its second or third change on
_EVALUATED = 0.05  # seconds after which Blender has evaluated a live pose, for what is shown to be measured
_SETTLED = 0.2  # seconds without a change after which a live pose is keyed, if Auto Keying is on

Aims = tuple[Any, ...]
Rotations = dict[str, tuple[float, ...]]  # of bones, as their channels say


class _Live:
    """A limb that is live, and what was last seen of it."""

    def __init__(self, armature: Object, tip: str, scene: Scene) -> None:
        self.name, self.tip, self.scene = armature.name, tip, scene.session_uid
        self.before: dict[str, Quaternion] = {}  # it was posed by this: what an influence below 1 stays near to
        self.shown: Rotations = {}  # as it was posed last
        self.limb: Limb | None = None
        self.bones: Bones | None = None
        self.watch: Watch | None = None
        self.remedies: dict[str, Remedy | None] = {}  # what makes bones follow that do not; there is no time to look
        self.solved: tuple[Solved, float] | None = None  # what was posed and is to be measured, and the time it took
        self.aims: Aims | None = None  # None for what has still to be seen
        self.left: dict[Aims, Rotations] = {}  # what there was before it was last posed, the latest last
        self.dragged = False
        self.changed = -inf  # when it was last posed and is not keyed yet,
        self.frame = 0.0  # and at which frame
        self.problem = ""

    def forget(self) -> None:
        """Take what is seen next as it is."""
        self.limb = self.bones = self.watch = self.aims = self.solved = None
        self.left.clear()
        self.dragged, self.changed = False, -inf


_live: dict[tuple[int, str], _Live] = {}  # by the armature's session uid and the tip bone
_paused = False  # while Blender replaces its data
listeners: list[Callable[[Report, Object, Scene], None]] = []  # called with the report of each live solve


def _tell(report: Report, armature: Object, scene: Scene) -> None:
    for listener in listeners:
        listener(report, armature, scene)


def start(armature: Object, tip: str) -> None:
    """Solve the limb that ends in `tip` now and whenever what it aims at has moved.

    Raises an IKError that says what is in the way; then it is not live.
    """
    live, limb = _Live(armature, tip, bpy.context.scene), selected_limb(armature.pose.bones[tip])
    live.before = _turned(limb)
    report = solve_pose(limb)
    live.remedies = {note.bone: note.remedy for note in report.not_following}
    _tell(report, armature, bpy.context.scene)
    live.shown = _rotations(limb)
    _live[armature.session_uid, tip] = live
    _listen(bool(_live))
    _look(bpy.context.scene, bpy.context.evaluated_depsgraph_get())


def stop(armature: Object, tip: str) -> None:
    """Leave the limb as it is from now on."""
    _live.pop((armature.session_uid, tip), None)
    _listen(bool(_live))


def stop_all(*_: object) -> None:
    """Leave all limbs as they are from now on."""
    _live.clear()
    _listen(False)


def under_way(beside: Object | None = None) -> list[str]:
    """The live limbs, but for those of one armature, in words: names of armature and tip bone."""
    left_out = beside.session_uid if beside else None
    return [f"{live.name}: {live.tip}" for (uid, _), live in _live.items() if uid != left_out]


def is_live(armature: Object, tip: str) -> bool:
    """Whether the limb that ends in `tip` follows its target."""
    return (armature.session_uid, tip) in _live


def problem(armature: Object, tip: str) -> str:
    """What keeps a live limb from following its target now; nothing if nothing does."""
    live = _live.get((armature.session_uid, tip))
    return live.problem if live else ""


def _look(scene: Scene, depsgraph: Depsgraph, new_frame: bool = False) -> None:
    """Pose each live limb of which something has moved since the last look."""
    if _paused or depsgraph.mode != "VIEWPORT":
        return
    for (uid, tip), live in list(_live.items()):
        armature = _armature_of(uid, live)
        if armature is None:
            del _live[uid, tip]
            continue
        if scene.session_uid != live.scene:
            continue
        live.problem = ""
        try:
            _follow(live, armature, scene, depsgraph, new_frame)
        except IKError as error:
            live.problem = str(error)
    _listen(bool(_live))


def _armature_of(uid: int, live: _Live) -> Object | None:
    """The armature of a live limb, whatever it is called now; None if it or the bone at the tip is gone."""
    armature = bpy.data.objects.get(live.name)
    if armature is None or armature.session_uid != uid:
        armature = next((ob for ob in bpy.data.objects if ob.session_uid == uid), None)
    if armature is None or armature.pose is None or live.tip not in armature.pose.bones:
        return None
    live.name = armature.name
    return armature


def _follow(live: _Live, armature: Object, scene: Scene, depsgraph: Depsgraph, new_frame: bool) -> None:
    limb = selected_limb(armature.pose.bones[live.tip])
    touched = {update.id.original for update in depsgraph.updates}
    if live.bones is None or limb != live.limb or armature in touched or armature.data in touched:
        check_limb(limb, scene, depsgraph.view_layer)
        live.bones = Bones(armature, limb.bones, limb.solved)
    if live.watch is None or limb != live.limb or armature.data in touched:
        live.watch = Watch(limb)
    known, live.limb = live.limb is None or live.limb == limb, limb
    now = sample(limb, depsgraph, scene.frame_current + scene.frame_subframe)
    before, live.aims = live.aims, _aims(now)
    if before is None or (known and before == live.aims) or (new_frame and _is_animated(limb)):
        return
    held, live.dragged = live.dragged, _is_dragging()
    if held and not live.dragged and live.aims in live.left:  # let go of where it was taken hold of: cancelled
        for name, values in live.left[live.aims].items():
            set_rotation(armature.pose.bones[name], values)
        live.shown = _rotations(limb)
        return
    rotations = _rotations(limb)
    if rotations != live.shown:  # posed by somebody else
        live.before = _turned(limb)
    if not held:
        live.left.pop(before, None)
        live.left[before] = rotations
        if len(live.left) > _REMEMBERED:
            del live.left[next(iter(live.left))]
    started = perf_counter()
    (solved,) = follow(limb, live.bones, [_as_before(now, limb, live.before)], begun=True)
    commit.show(limb, solved._replace(now=now))
    live.shown = _rotations(limb)
    took = perf_counter() - started
    _tell(report_of(limb, [solved], took, commit.Written(0, 0, [0]), []), armature, scene)
    if live.watch.closely:
        live.solved = solved, took
        if not bpy.app.timers.is_registered(_measure):
            bpy.app.timers.register(_measure, first_interval=_EVALUATED)
    if scene.tool_settings.use_keyframe_insert_auto and not new_frame:
        live.changed, live.frame = perf_counter(), now.frame
        if not bpy.app.timers.is_registered(_key):
            bpy.app.timers.register(_key, first_interval=_SETTLED)


def _measure() -> None:
    """Say what came of the poses that were shown last, now that Blender has evaluated them."""
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    view_layer.update()
    for (uid, _), live in list(_live.items()):
        waiting, live.solved = live.solved, None
        armature, watch = _armature_of(uid, live), live.watch
        if waiting is None or watch is None or armature is None or live.scene != scene.session_uid:
            continue
        if _rotations(watch.limb) != live.shown:
            continue  # posed by somebody else
        solved, took = waiting
        measured = measure_now(watch, solved, view_layer.depsgraph, scene, live.remedies)
        report = report_of(watch.limb, [solved], took, commit.Written(0, 0, [0]), [], measured=measured)
        _tell(report, armature, scene)


def _as_before(now: Sample, limb: Limb, before: Mapping[str, Quaternion]) -> Sample:
    """The sample with the pose that the limb had before this turned it, if it is to stay near to that."""
    if now.limb.influence == 1.0 or set(before) != limb.solved:
        return now
    channels = [
        each._replace(rotation=before.get(name, each.rotation))
        for name, each in zip(limb.bones, now.rig.channels, strict=True)
    ]
    return now._replace(rig=now.rig._replace(channels=channels))


def _aims(now: Sample) -> Aims:
    """All that a limb follows, in a form that can be compared."""
    frames = (now.target, now.rig.world, now.rig.base, *(each.frame for each in now.obstacles))
    looks = (now.looks, *((each.looks, each.lowest.to_tuple(), each.highest.to_tuple()) for each in now.obstacles))
    return (looks, now.pole and now.pole.to_tuple(), *(tuple(row[:]) for frame in frames for row in frame))


def _rotations(limb: Limb) -> Rotations:
    return {bone.name: tuple(getattr(bone, channel(bone)[0])) for bone in limb.pose_bones}


def _turned(limb: Limb) -> dict[str, Quaternion]:
    """The rotation of each bone, whatever its mode."""
    return {bone.name: rotation_of(bone) for bone in limb.pose_bones}


def _is_animated(limb: Limb) -> bool:
    """Whether the limb has rotation keys of its own, or may have some in the NLA: these are not to be fought."""
    animation = limb.armature.animation_data
    if animation is None:
        return False
    paths = {bone.path_from_id(channel(bone)[0]) for bone in limb.pose_bones}
    keyed = any(curve.data_path in paths and not curve.mute for curve in curves_of(limb.armature))
    return keyed or (animation.use_nla and any(track.strips and not track.mute for track in animation.nla_tracks))


def _is_dragging() -> bool:
    """Whether something is being moved by hand just now."""
    windows = bpy.context.window_manager.windows
    return any(op.bl_idname.startswith("TRANSFORM_OT") for window in windows for op in window.modal_operators)


def _key() -> float | None:
    """Key the live poses at which nothing has changed for a while, as one step of undo; seconds until the next look."""
    waiting = {key: live for key, live in _live.items() if live.changed > -inf}
    if not waiting:
        return None
    if _is_dragging() or perf_counter() - max(live.changed for live in waiting.values()) < _SETTLED:
        return _SETTLED
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    for (uid, _), live in waiting.items():
        live.changed, armature = -inf, _armature_of(uid, live)
        shown = live.scene == scene.session_uid and live.frame == scene.frame_current + scene.frame_subframe
        if armature is None or not shown:
            continue  # it was left before it rested
        try:
            limb = selected_limb(armature.pose.bones[live.tip])
            check_keys(armature, limb.in_order)
            check_nla(armature, scene, live.frame, live.frame)
            commit.key_shown(limb, scene, view_layer)
        except IKError as error:
            live.problem = str(error)
    if not bpy.app.background:
        with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
            bpy.ops.ed.undo_push(message="Key Live Pose")
    return None


def _on_update(scene: Scene, depsgraph: Depsgraph) -> None:
    _look(scene, depsgraph)


def _on_frame(scene: Scene, depsgraph: Depsgraph) -> None:
    _look(scene, depsgraph, new_frame=True)


def _pause(*_: object) -> None:
    global _paused
    _paused = True


def _go_on(*_: object) -> None:
    """What undo or redo has brought back is as it should be."""
    global _paused
    _paused = False
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
    """Have Blender call this as long as there is anything live, and no longer."""
    for handlers, handler in _handlers():
        if wanted and handler not in handlers:
            handlers.append(handler)
        elif not wanted and handler in handlers:
            handlers.remove(handler)
    for timer in () if wanted else (_key, _measure):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)


def register() -> None:
    """Nothing is live at first."""


def unregister() -> None:
    stop_all()
