# SPDX-License-Identifier: GPL-3.0-or-later
"""The shot as the viewport shows it: the path of a tip, which can be dragged, and the character's bones at many frames.

While the path is dragged nothing is keyed: the frames within the falloff are solved from what was read at the begin,
and the present frame is posed. At the end pull() does the same with the keys. Bones are read from F-curves, else in a
temporary scene.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from time import perf_counter
from typing import NamedTuple

import numpy as np
from bpy.types import Depsgraph, Object, PoseBone, Scene, ViewLayer
from mathutils import Matrix, Vector

from ...cooperative import Work, finished
from ...errors import IKError, SettingError
from ...goals.task import Task
from ...kinematics.arrays import Array, Mask, Numbers
from ...kinematics.batch import States
from ...rig.anatomy.limbs import Anatomy
from ...rig.by_hand.keys import keep_location, keep_pose, remember_place, remember_written
from ...rig.controls import Controls
from ...rig.frames.keyed_motion import read_keyed_bones
from ...rig.frames.reader import Evaluator
from ...rig.frames.samples import frame_of, go_to, tip_location
from ...rig.keyframes import curves_of, generated, get_keys, key_frames, made_by_hand
from ...rig.keyframes.channelbags import is_muted
from ...rig.keyframes.unkeyed import scene_shown
from ...rig.limb import Limb
from ...rig.timeline import Clock
from ..shots.problem import body_of
from ..shots.report import Report
from ..shots.writing import show_first
from .edit import pull
from .edited_part import Pull, part_around
from .edited_shot import Edit, EditedBody, EditedLimb, EditedShot, moved_tasks, path_of_tip, retimed_tasks
from .retime import Retime, retime

_WIDEST = 2  # times the falloff: frames on both sides that are read at the begin of a drag
_LEAST = 30  # frames on both sides that are read

Figures = Mapping[int, Array]  # heads and tails (2, bones, 3) of the bones at frames, world space, single precision

_AGREE = 1e-4  # of the size of the figure: difference that single precision and bones without length explain


class Trail(NamedTuple):
    """The path of a tip: its `places` (F, 3) at `frames`, world space, and the frames (4, 4, F) it is shown in.

    `keys` (F) tells at which frames there are keyframes of what drives the tip.
    """

    frames: Sequence[int]
    places: Numbers
    spaces: Numbers
    keys: Numbers

    def shown(self, frame: float) -> Numbers:
        """Return the places (F, 3) as they are drawn at a frame: moved with the space that they are shown in."""
        k = int(np.clip(round(frame) - self.frames[0], 0, len(self.frames) - 1))
        now, into = self.spaces[..., k], np.linalg.inv(np.moveaxis(self.spaces, -1, 0))
        local = np.einsum("fij,fj->fi", into[:, :3, :3], self.places) + into[:, :3, 3]
        drawn: Numbers = local @ now[:3, :3].T + now[:3, 3]
        return drawn

    def moved(self, first: int, ways: Numbers) -> Trail:
        """Return the trail with the places from a frame on moved by ways (n, 3)."""
        begin, places = first - self.frames[0], self.places.copy()
        inside = slice(max(begin, 0), max(begin + len(ways), 0))
        some = places[inside]
        some += ways[inside.start - begin :][: len(some)]
        return self._replace(places=places)


def read_trail(
    bone: PoseBone,
    frames: Sequence[int],
    space: tuple[Object, str] | None,
    scene: Scene,
    view_layer: ViewLayer,
    seconds: float,
) -> Work[Trail]:
    """Read the path of a bone's tail at whole frames, to be shown in the `space` of an object or its bone.

    It is shown in world space without one. Gives way after about so many seconds.
    """
    armature = bone.id_data
    seen_by = Limb.from_bones(armature, [bone.name], space[0] if space else armature)

    def look(depsgraph: Depsgraph, _: float) -> tuple[Vector, Matrix]:
        return tip_location(seen_by, depsgraph), frame_of(*space, depsgraph) if space else Matrix.Identity(4)

    evaluator = Evaluator(seen_by, scene, view_layer, frames)
    reading = evaluator.evaluate(frames, look, seconds)
    # Between two parts the user would see the frames of a scene that is stepped.
    found = finished(reading) if evaluator.stepped else (yield from reading)
    keys = np.isin(frames, [round(frame) for frame in keyed_frames(bone, frames, scene)])
    places = np.array([found[frame][0] for frame in frames], float).reshape(-1, 3)
    return Trail(frames, places, np.moveaxis(np.array([found[frame][1] for frame in frames], float), 0, -1), keys)


def keyed_frames(bone: PoseBone, frames: Sequence[int], scene: Scene) -> list[float]:
    """Return the frames at which what drives a tip is keyed: its target, else its limb by hand."""
    armature, stored = bone.id_data, getattr(bone, "ik_triangulation", None)
    if stored is not None and stored.target is not None:
        clock = Clock(scene, stored.target)
        times = key_frames(stored.target, stored.subtarget, clock.time(frames[0]), clock.time(frames[-1]))
        if times:
            return [clock.frame(time) for time in times]
    clock, line = Clock(scene, armature), [bone.name, *(above.name for above in bone.parent_recursive[:3])]
    made = made_by_hand(armature, line, clock.time(frames[0]), clock.time(frames[-1]))
    return sorted({clock.frame(time) for keys in made.values() for time in keys})


def hips_above(bone: PoseBone) -> str:
    """Return the bone of the hips of the character that a bone is of; its topmost bone where there are none."""
    armature = bone.id_data
    try:
        rig = body_of(armature, bone.name) if hasattr(bone, "ik_triangulation") else None
    except IKError:
        rig = None
    if rig is not None:
        return rig.hips
    anatomy, line = Anatomy(armature, Controls(armature)), [bone, *bone.parent_recursive]
    hips = (each.name for each in line if anatomy.part(each.name) == "hips")
    return next(hips, line[-1].name)


class PullDrag:
    """A pull of a tip at the present frame that is shown while it is dragged, and keyed at its end."""

    def __init__(
        self, armature: Object, tip: str, frame: int, falloff: int, scene: Scene, view_layer: ViewLayer
    ) -> None:
        """Go to the frame and read those around. Raises an IKError that names the culprit; then nothing has changed."""
        self._armature, self._tip, self._scene, self._view_layer = armature, tip, scene, view_layer
        self._at, self._left = frame, scene.frame_current + scene.frame_subframe
        self._undo, self._shown_before = ExitStack(), scene_shown(scene) if self._left != frame else []
        self.problem = ""
        self._edit: Pull | Retime = Pull(float(frame), falloff, "SMOOTH")
        self._refusal: SettingError | None = None
        self._rough: Edit | None = None  # of a body that is shown as steps pose it
        self._shot: EditedShot | None = None
        self._wide, self._before = 0, np.empty((3, 0))
        self._bones: list[PoseBone] = []
        self.moved: tuple[int, Numbers] | None = None  # first frame and ways (n, 3) of what moves, world space
        if self._left != frame:
            scene.frame_set(frame)
        try:
            self._read(falloff)
        except BaseException:
            self.cancel()
            raise
        self.frame = Matrix.Translation(armature.matrix_world @ armature.pose.bones[tip].tail)

    def pull(self, offset: Vector, falloff: int, profile: str) -> None:
        """Show the tip pulled by an offset, world space, with a falloff in frames."""
        edit = Pull(float(self._at), falloff, profile, Vector(offset))
        self._edit, self._refusal = edit, None
        shot = self._read(falloff)
        shares = np.array([edit.share(frame) for frame in shot.frames])
        self._show(shot, moved_tasks(shot, shot.number(self._tip), edit.offset, shares))

    def retime(self, shift: int, falloff: int, profile: str) -> None:
        """Show what the tip does so many frames later, with a falloff; as it was before where the motion turned back.

        Then `problem` says so.
        """
        self._edit, self._refusal = Pull(float(self._at), falloff, profile), None
        shot = self._read(falloff)
        try:
            self._edit = edit = Retime(float(self._at), falloff, profile, float(shift))
        except SettingError as error:
            self._show(shot, shot.tasks)
            self.problem, self._refusal = str(error), error
            return
        sources = edit.sources(shot.frames)
        self._show(shot, retimed_tasks(shot, shot.number(self._tip), sources), sources)

    def settle(self) -> bool:
        """Show a body as the end of the drag poses it, which takes longer than a step; tell whether it was not yet."""
        edit, self._rough = self._rough, None
        if edit is None or self._shot is None:
            return False
        self._pose(self._shot, edit, *self._shot.solve_as_baked(edit))
        return True

    def nearest(self, place: Sequence[float]) -> int:
        """Return how many frames after that of the drag the tip is nearest to a place, world space, at whole frames."""
        away = np.linalg.norm(self._before.T - np.array(place), axis=1)
        return round(self._shot.frames[int(away.argmin())] - self._at) if self._shot else 0

    def _show(self, shot: EditedShot, tasks: Sequence[Task], sources: Sequence[float] | None = None) -> None:
        """Show the frames within the falloff, solved for these tasks."""
        frames = np.array(shot.frames, float)
        columns = np.flatnonzero(np.abs(frames - self._at) <= self._edit.falloff)
        edited = self._edit
        amount = (edited.shift,) if isinstance(edited, Retime) else tuple(edited.offset)
        edit = Edit(tasks, columns, float(self._at), amount, sources)
        self._rough = edit if isinstance(shot, EditedBody) else None
        self._pose(shot, edit, *shot.solve(edit))

    def _pose(self, shot: EditedShot, edit: Edit, states: States, met: Mask) -> None:
        """Pose the present frame as in states of the frames of an edit, and move the trail with them."""
        frames, columns, tip = np.array(shot.frames, float), edit.columns, shot.number(self._tip)
        missed = int((~met).sum())
        self.problem = f"{missed} frames out of reach" if missed else ""
        here = int(np.abs(frames[columns] - self._at).argmin())
        ways = path_of_tip(shot, states, tip, columns) - self._before[:, columns]
        # What was read of the trail has the tip where Blender shows it: only the way counts.
        self.moved = round(frames[columns[0]]), ways.T
        show_first(self._armature, shot.channels(states, int(columns[here]), here))
        remember_written(self._bones)
        remember_place(self._bones)
        self._view_layer.update()

    def finish(self) -> Report | None:
        """Do what was shown last with the keys, and return the report. Raises what pull() and retime() do.

        Then nothing has changed.
        """
        edit = self._edit
        if self._refusal is not None:
            raise self._refusal
        self._restore_pose()
        shape = edit.falloff, edit.profile
        where = self._scene, self._view_layer
        if isinstance(edit, Retime):
            return retime(self._armature, self._tip, edit.frame, edit.shift, *shape, *where)
        return pull(self._armature, self._tip, edit.frame, tuple(edit.offset), *shape, *where)

    def cancel(self) -> None:
        """Restore the frame and the pose before the drag."""
        self._restore_pose()
        if self._left != self._at:
            go_to(self._scene, self._left, self._view_layer)
            for show in self._shown_before:
                show()
        self._view_layer.update()

    def _restore_pose(self) -> None:
        self._undo.close()
        self.moved = None

    def _read(self, falloff: int) -> EditedShot:
        """Return the frames around the present one as read, anew if the falloff has become wider."""
        known = self._shot
        if known is not None and self._wide >= falloff:
            return known
        self._wide = max(_WIDEST * falloff, _LEAST)
        self._undo.close()
        bone, edit = self._armature.pose.bones[self._tip], Pull(float(self._at), self._wide, "SMOOTH")
        with ExitStack() as undo:
            part = finished(part_around(bone, edit, self._scene, self._view_layer, undo))
            reading: Work[EditedBody] | Work[EditedLimb] = (
                EditedBody.read(part.rig, part.frames, self._scene, self._view_layer)
                if part.rig
                else EditedLimb.read(part.limb, part.frames, self._scene, self._view_layer, part.helper is None)
            )
            shot = finished(reading)
            shot.tasks = list(shot.tasks)  # read before the helper is removed
            part.remove_helper()
            undo.pop_all()
        self._shot = shot
        self._before = path_of_tip(shot, shot.shown, shot.number(self._tip))
        self._bones = [self._armature.pose.bones[name] for name in part.solved]
        keep_pose(self._bones, self._undo)
        if part.rig is not None:
            keep_location(self._armature.pose.bones[part.rig.hips], self._undo)
        return shot


def figure_bones(armature: Object) -> list[str]:
    """Return the bones that a figure is drawn from: those that deform a mesh, all of them where none does."""
    bones = armature.data.bones
    return [bone.name for bone in bones if bone.use_deform] or bones.keys()


def read_figures(
    armature: Object,
    names: Sequence[str],
    frames: Sequence[int],
    scene: Scene,
    view_layer: ViewLayer,
    seconds: float,
) -> Work[Figures | None]:
    """Read bones of an armature at whole frames; None if only the user's scene, stepped, shows their motion.

    Gives way after about so many seconds.
    """
    if not names:
        return {}
    reading = read_keyed_bones(armature, names, scene, frames)
    until = perf_counter() + seconds
    while True:
        try:
            next(reading)
        except StopIteration as end:
            found = end.value
            break
        if perf_counter() > until:
            yield
            until = perf_counter() + seconds
    if found is not None:
        lengths = np.array([armature.data.bones[name].length for name in names])
        by_frame, now = (_ends(matrices, lengths) for matrices in found)
        shown = _shown(armature.evaluated_get(view_layer.depsgraph), names)
        if np.abs(now[0] - shown).max() <= _AGREE * max(float(np.ptp(shown, axis=1).max()), 1e-9):
            return dict(zip(frames, by_frame.astype(np.float32), strict=True))
    evaluator = Evaluator(Limb.from_bones(armature, names[:1], armature), scene, view_layer, frames)
    if evaluator.stepped:
        return None

    def look(depsgraph: Depsgraph, _: float) -> Array:
        return _shown(armature.evaluated_get(depsgraph), names).astype(np.float32)

    return (yield from evaluator.evaluate(frames, look, seconds))


def _ends(matrices: Array, lengths: Array) -> Array:
    """Return heads and tails (F, 2, bones, 3) of bones with these matrices (4, 4, bones, F) and lengths."""
    heads = matrices[:3, 3]
    ends: Array = np.stack((heads, heads + matrices[:3, 1] * lengths[:, None])).transpose(3, 0, 2, 1)
    return ends


def _shown(evaluated: Object, names: Sequence[str]) -> Array:
    """Return heads and tails (2, bones, 3) of bones of an evaluated armature, world space."""
    bones, ends = evaluated.pose.bones, []
    rows = [bones.find(name) for name in names]
    world = np.array(evaluated.matrix_world)
    for prop in ("head", "tail"):
        flat = np.empty(3 * len(bones), np.float32)
        bones.foreach_get(prop, flat)
        ends.append(flat.reshape(-1, 3)[rows] @ world[:3, :3].T + world[:3, 3])
    return np.array(ends)


def pose_frames(armature: Object, tips: Sequence[str], frames: Sequence[int], scene: Scene) -> list[int]:
    """Return the whole frames among `frames` at which a character was keyed by hand: targets of its tips, or bones.

    Where a bake has made all keys of an armature without targets, these count.
    """
    clock, bones = Clock(scene, armature), armature.pose.bones
    found = {round(frame) for tip in tips for frame in keyed_frames(bones[tip], frames, scene)}
    if not found:
        curves = [curve for curve in curves_of(armature) if not is_muted(curve)]
        keys = [get_keys(curve, ["co"])["co"][:, 0] for curve in curves]
        ours = [times[~generated(curve)] for curve, times in zip(curves, keys, strict=True)]
        by_hand = np.unique(np.concatenate(ours)) if ours else np.empty(0)
        times = by_hand if len(by_hand) or not keys else np.unique(np.concatenate(keys))
        found = {round(clock.frame(time)) for time in times.tolist()}
    return sorted(found & {*frames})
