# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that do not follow a body: deform bones of a generated rig, and its own where constraints hold them back.

The head of a generated rig follows the torso and not the neck as long as a property such as head_follow is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from bpy.types import Depsgraph, Scene, ViewLayer
from mathutils import Matrix, Vector

from ..cooperative import Work, finished
from ..rig.armature import is_flat
from ..rig.body import RigBody
from ..rig.by_hand.shown_limb import Switch, find_switch
from ..rig.controls import Links
from ..rig.frames.body_samples import read_body
from ..rig.frames.reader import Evaluator, FrameReader
from ..rig.limb import Limb
from .controls import Track, frames_between, let_show, let_watched_follow, set_switches
from .frame_solver import Shown
from .measure import EvaluatedLimb, Watch, astray
from .report import NotFollowing, Remedy, Report
from .tips import judged_limb, tip_missing


class BodyWatch(Watch):
    """The bones by which the limb of a tip is measured, and those that `carry` it but may be moved by constraints.

    Only constraints that drivers switch count: there is a property to set.
    """

    def __init__(self, rig: RigBody, tip: str, known: dict[int, Links | None] | None = None) -> None:
        target = rig.armature  # not looked at, but limbs need one
        bones = rig.armature.pose.bones
        super().__init__(Limb.from_tip(rig.armature, tip, target, bones[tip].ik_triangulation.chain_count), known)
        animation = rig.armature.animation_data
        driven = tuple(curve.data_path for curve in animation.drivers) if animation else ()
        line = [name for name in rig.bones if name == tip or bones[name] in bones[tip].parent_recursive]
        self.carry = tuple(
            name
            for name in line
            if name != rig.hips
            and any(path.startswith(each.path_from_id() + ".") for each in bones[name].constraints for path in driven)
        )
        self.followers |= dict.fromkeys(self.carry, Matrix.Identity(4))

    def look(self, depsgraph: Depsgraph) -> EvaluatedLimb:
        """Return the tip and its followers as evaluated now; for a bone that carries it the tip where that takes it."""
        seen = super().look(depsgraph)
        if not self.carry:
            return seen
        bones, tip = self.limb.armature.evaluated_get(depsgraph).pose.bones, self.limb.tip
        tail = Vector((0.0, self.limb.armature.data.bones[tip].length, 0.0))
        taken = {}
        for name in self.carry:
            bone, above = bones[name], bones[name].parent
            asked = bone.bone.convert_local_to_pose(
                bone.matrix_basis,
                bone.bone.matrix_local,
                parent_matrix=above.matrix,
                parent_matrix_local=above.bone.matrix_local,
            )
            frame = bones[tip].matrix if is_flat(bone.matrix) else asked @ bone.matrix.inverted() @ bones[tip].matrix
            taken[name] = Shown(frame @ tail, frame.to_quaternion())
        return seen._replace(followers={**seen.followers, **taken})

    def switch(self, follower: str, frame: float, scene: Scene) -> tuple[Switch, float] | None:
        """Return the property that makes a bone follow, and the value to give it."""
        if follower not in self.carry:
            return super().switch(follower, frame, scene)
        return find_switch(self.limb, [follower], partial(self.follows, follower), frame, scene)

    def note(self, follower: str, distance: float, frame: float, count: int, remedy: Remedy | None) -> NotFollowing:
        """Describe a bone that does not follow; one that carries the tip keeps that from following its parent."""
        if follower not in self.carry:
            return NotFollowing(follower, self.limb.tip, distance, frame, count, remedy)
        above = self.limb.armature.pose.bones[follower].parent
        return NotFollowing(self.limb.tip, above.name, distance, frame, count, remedy)


def not_following(rig: RigBody, frames: Sequence[float], scene: Scene, view_layer: ViewLayer) -> list[NotFollowing]:
    """Return each bone that is meant to follow a tip, or to carry it, and does not at some of the frames."""
    notes: dict[tuple[str, str], NotFollowing] = {}
    links = dict[int, Links | None]()
    for tip in rig.tips:
        watch = BodyWatch(rig, tip, links)
        if not watch.followers:
            continue
        seen = finished(watch.look_at(FrameReader(watch.limb, scene, view_layer, frames), frames))
        for follower in watch.followers:
            away = [(apart, at) for at in frames if (apart := astray(watch.limb, seen[at], follower)) is not None]
            if away:
                distance, at = max(away)
                note = watch.note(follower, distance, at, len(away), watch.remedy(follower, at, scene))
                notes.setdefault((note.bone, note.tip), note)
    return list(notes.values())


def with_followers(report: Report, rig: RigBody, scene: Scene, view_layer: ViewLayer) -> Report:
    """Return a report with the bones that do not follow at its first, middle and last frame, and warnings of them."""
    ends, middle = (report.frames[0], report.frames[-1]), report.frames[len(report.frames) // 2]
    frames = list(dict.fromkeys((ends[0], middle, ends[1])))
    notes = not_following(rig, frames, scene, view_layer)
    warnings = [*report.warnings, *(note.text(len(frames)) for note in notes)]
    return replace(report, not_following=notes, warnings=warnings)


def let_body_follow(
    rig: RigBody,
    frame_start: float,
    frame_end: float,
    key: bool = True,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> list[Remedy]:
    """Set the properties that make all bones that are meant to follow a body do so, as let_follow() does for a limb."""
    ends = frame_start, frame_end
    return let_watched_follow(
        rig.armature, lambda: (BodyWatch(rig, tip) for tip in rig.tips), ends, key, scene, view_layer
    )


def follow_body(
    rig: RigBody, ends: tuple[int, int], track: Track | None, scene: Scene, view_layer: ViewLayer, undo: ExitStack
) -> Work[None]:
    """Set and key the properties by which the character follows a body that is written."""
    for tip in rig.tips:
        limb = BodyWatch(rig, tip).limb
        yield from let_show(limb, ends, track, undo, scene=scene, view_layer=view_layer)
    for tip in rig.tips:
        set_switches(BodyWatch(rig, tip), frames_between(*ends), True, scene, view_layer, undo, track)


def measured_again(rig: RigBody, report: Report, scene: Scene, view_layer: ViewLayer) -> Report:
    """Return a report whose tips that reach are measured as they are now, and whose bones all follow."""
    frames = list(report.frames)
    samples = finished(read_body(rig, scene, frames))

    def look(depsgraph: Depsgraph, frame: float) -> dict[str, tuple[float, float]]:
        bones, at = rig.armature.evaluated_get(depsgraph).pose.bones, frames.index(frame)
        return {limb.tip: tip_missing(samples.goals[limb.tip][at], bones, limb.tip) for limb in rig.limbs}

    seen = finished(Evaluator(rig, scene, view_layer, frames).evaluate(frames, look))
    view_layer.update()
    tips, found = dict(report.tips), {limb.tip for limb in rig.limbs}
    for limb in rig.limbs:
        tips[limb.tip] = judged_limb(rig, limb, samples, {frame: each[limb.tip] for frame, each in seen.items()})
    said = {note.text(count) for note in report.not_following for count in (1, 2, 3)}
    said |= {text for name, text in report.moved.items() if name in found and not tips[name].missed}
    warnings = [warning for warning in report.warnings if warning not in said]
    return replace(report, tips=tips, warnings=warnings, not_following=())
