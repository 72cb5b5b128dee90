# SPDX-License-Identifier: GPL-3.0-or-later
"""Measurement of solved frames on the evaluated rig, and their judgement: reached or missed by what Blender shows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import NamedTuple

import numpy as np
from bpy.types import Depsgraph, Scene
from mathutils import Matrix, Quaternion, Vector

from ...cooperative import Work
from ...goals import Goal
from ...goals.from_goals import HELD_ANGLE
from ...goals.orientation import missing_angle
from ...items import HELD
from ...kinematics import Pose
from ...kinematics.arrays import Mask, Numbers
from ...kinematics.rotation import orientation, rotation_angle
from ...rig.armature import is_flat
from ...rig.body import RigBody
from ...rig.by_hand.shown_limb import Switch, find_switch
from ...rig.controls import Links
from ...rig.dependencies import TipMoved, explained, may_interfere
from ...rig.frames.reader import FrameReader
from ...rig.frames.samples import Sample, frame_of, is_elsewhere, may_hang
from ...rig.limb import Limb
from ...rig.targets.goal import GoalReader
from ...rig.units import in_units_of, scale_of
from .frame_solver import FrameResult, JudgedFrames, Jumps, Shown, SolvedFrame
from .keys import WrittenKeys
from .report import NotFollowing, Remedy, Report, tip_of_frames
from .shot import SolvedShot, frames_of

AGREES = 1e-4  # of the reach: distance of the evaluated from the predicted tip that is not warned of
_ROUNDING = 1e-5  # of the reach: distance that single precision explains
_TURNED = 1e-4  # [rad] angle that single precision explains

_ROWS = 5  # of missed frames that a warning names


def is_within(
    distances: Numbers,
    tolerance: Numbers | float,
    angles: Numbers | None = None,
    angle_tolerance: Numbers | float = inf,
) -> Mask:
    """Return a mask of the tips that are at their goals: `distances` and `angles` (any shape) within the tolerances.

    Lengths are in the same units, angles in rad; NaN is an angle where no rotation is asked for.
    """
    close: Mask = np.asarray(distances) <= tolerance
    return close if angles is None else close & ((angles <= angle_tolerance) | np.isnan(angles))


def held_tolerances(rig: RigBody, tip: str, reach: float) -> tuple[float, float]:
    """Return how far a held tip may slip [Blender units, armature space] and turn [rad]; `reach` is that of its limb.

    These are the tolerances of the limb, but no less than what is solved for.
    """
    stored = getattr(rig.armature.pose.bones[tip], "ik_triangulation", None)
    slip, turn = (stored.tolerance / scale_of(rig.armature), stored.angle_tolerance) if stored else (0.0, 0.0)
    return max(slip, HELD * reach), max(turn, HELD_ANGLE)


class Watch:
    """The bones by which a limb is measured, found before anything is written.

    `closely` is True if every frame has to be measured, as something besides the limb's keys may move its bones. Limbs
    that are watched together share what is `known` of the links of armatures.
    """

    def __init__(self, limb: Limb, known: dict[int, Links | None] | None = None) -> None:
        self.limb = limb
        self.followers: dict[str, Matrix] = {}  # from the rest frame of each to that of the tip bone, 4x4
        self.between: tuple[str, ...] = ()  # the bones whose constraints make them follow
        known, uid = {} if known is None else known, limb.armature.session_uid
        if uid not in known:
            known[uid] = (
                Links(limb.armature) if any(len(each.constraints) for each in limb.armature.pose.bones) else None
            )
        links = known[uid]
        if links:
            rests = limb.armature.data.bones
            tip = rests[limb.tip].matrix_local
            followers = links.deforming(limb.tip, limb.bones)
            self.followers = {name: rests[name].matrix_local.inverted() @ tip for name in followers}
            self.between = tuple(dict.fromkeys(c for name in reversed(limb.in_order) for c in links.copies(name)))
        self._hangs = not limb.is_led_by_tip and may_hang(limb.target, limb.subtarget, limb.armature)
        self.closely = bool(self.followers) or may_interfere(limb)

    def look_at(
        self, reader: FrameReader, frames: Sequence[float], seconds: float = inf
    ) -> Work[dict[float, EvaluatedLimb]]:
        """Return the tip and its followers as evaluated at each of the frames."""
        return reader.evaluate(frames, lambda depsgraph, _: self.look(depsgraph), seconds)

    def look(self, depsgraph: Depsgraph) -> EvaluatedLimb:
        """Return the tip and its followers as evaluated now."""
        armature = self.limb.armature.evaluated_get(depsgraph)
        bones = armature.pose.bones
        followers = {name: shown_tip(bones[name].matrix @ offset, self.limb) for name, offset in self.followers.items()}
        tip = bones[self.limb.tip]
        own = shown_tip(tip.matrix, self.limb)._replace(tip=tip.tail.copy())
        target = frame_of(self.limb.target, self.limb.subtarget, depsgraph) if self._hangs else None
        return EvaluatedLimb(armature.matrix_world.copy(), own, followers, target)

    def remedy(self, follower: str, frame: float, scene: Scene) -> Remedy | None:
        """Return the remedy for a follower that does not follow at a frame, if a single property is one."""
        found = self.switch(follower, frame, scene)
        return remedy_of(*found, frame, scene) if found else None

    def switch(self, follower: str, frame: float, scene: Scene) -> tuple[Switch, float] | None:
        """Return that property, and the value to give it."""
        return find_switch(self.limb, self.between, partial(self.follows, follower), frame, scene)

    def explain(self, apart: float, where: str, scene: Scene) -> str:
        """Say what probably moves the tip that far away from the solution."""
        return explained(self.limb, [TipMoved(self.limb.tip, apart, where)], scene)[self.limb.tip]

    def follows(self, follower: str, depsgraph: Depsgraph) -> bool:
        """Tell whether a follower is at the limb's tip now."""
        return astray(self.limb, self.look(depsgraph), follower) is None


def shown_tip(frame: Matrix, limb: Limb) -> Shown:
    """Return the end of the limb's tip bone in a frame (4x4), and its rotation; armature space."""
    tail = Vector((0.0, limb.armature.data.bones[limb.tip].length, 0.0))
    return Shown(frame @ tail, Quaternion() if is_flat(frame) else orientation(frame.to_3x3()))


class EvaluatedLimb(NamedTuple):
    """A limb as evaluated: world matrix of the armature (4x4); in its space the tip, and the tip by each follower.

    `target` is the world matrix of its target (4x4), if that hangs on anything.
    """

    world: Matrix
    tip: Shown
    followers: Mapping[str, Shown]
    target: Matrix | None = None

    @property
    def places(self) -> list[Shown]:
        """The tip, and where its followers have it."""
        return [self.tip, *self.followers.values()]


class Measured(NamedTuple):
    """Measurements: the tip as `shown`, by frame, where it deviates from the solution; warnings; followers that do not.

    `alone` is the same for the limb's tip without its followers.
    """

    shown: dict[float, Shown]
    alone: dict[float, Shown]
    warnings: list[str]
    not_following: list[NotFollowing]


NOT_MEASURED = Measured({}, {}, [], [])


def measure_now(
    watch: Watch,
    solved: SolvedFrame,
    depsgraph: Depsgraph,
    scene: Scene,
    remedies: Mapping[str, Remedy | None] | None = None,
) -> Measured:
    """Measure one solved frame, which `depsgraph` shows; where `remedies` are given no others are searched for."""
    return _judge(watch, {0: solved}, {0: watch.look(depsgraph)}, (0,), scene, remedies)


def measure_frames(
    watch: Watch,
    reader: FrameReader,
    solved: Sequence[SolvedFrame],
    keyed: Sequence[int],
    seconds: float = inf,
    by_hand: bool = False,
) -> Work[Measured]:
    """Measure solved frames after their keys are written: all if anything may interfere, else as few as will do.

    That is the frame on screen, if it is `keyed` (indices) and agrees, else three of these, and all if one of them does
    not agree. A deviation at a keyed frame is warned of, unless there are keys made `by_hand`, which are meant to
    differ. No others of the solved frames are looked at than those that are measured.
    """
    frames = frames_of(solved)
    seen: dict[int, EvaluatedLimb] = {}
    rows: dict[int, SolvedFrame] = {}

    def agree() -> bool:
        rows.update((at, solved[at]) for at in seen)
        return bool(seen) and _agree(watch, rows, seen)

    agreed = False
    if not (watch.closely or by_hand):
        seen = _on_screen(watch, reader, frames, keyed)
        agreed = agree()
        if not agreed:
            some = list(dict.fromkeys((keyed[0], keyed[len(keyed) // 2], keyed[-1])))
            seen = yield from _seen(watch, reader, frames, some, seconds)
            agreed = agree()
    if not agreed:
        seen = yield from _seen(watch, reader, frames, range(len(frames)), seconds)
    warned = () if by_hand else set(keyed).intersection(seen)
    return _judge(watch, {at: rows.get(at) or solved[at] for at in seen}, seen, warned, reader.scene)


def _on_screen(
    watch: Watch, reader: FrameReader, frames: Sequence[float], keyed: Sequence[int]
) -> dict[int, EvaluatedLimb]:
    """Return the limb as it is on screen, by the index of the frame; nothing if that frame is not keyed.

    A temporary scene would have Blender build the dependency graph of the user's scene anew.
    """
    if reader.stepped:
        return {}
    scene, view_layer = reader.scene, reader.view_layer
    at = bisect_left(keyed, scene.frame_current + scene.frame_subframe, key=frames.__getitem__)
    if at == len(keyed) or frames[keyed[at]] != scene.frame_current + scene.frame_subframe:
        return {}
    view_layer.update()
    return {keyed[at]: watch.look(view_layer.depsgraph)}


def _seen(
    watch: Watch, reader: FrameReader, frames: Sequence[float], indices: Sequence[int], seconds: float
) -> Work[dict[int, EvaluatedLimb]]:
    """Return the limb as evaluated at the frames with these indices, by index."""
    seen = yield from watch.look_at(reader, [frames[at] for at in indices], seconds)
    return {at: seen[frames[at]] for at in indices}


def _agree(watch: Watch, solved: Mapping[int, SolvedFrame], seen: Mapping[int, EvaluatedLimb]) -> bool:
    pairs = ((solved[at], seen[at]) for at in seen)
    return all(_apart(each, here) <= _agrees(each) and _moved_goal(watch, each, here) is None for each, here in pairs)


def _judge(
    watch: Watch,
    solved: Mapping[int, SolvedFrame],
    seen: Mapping[int, EvaluatedLimb],
    keyed: Collection[int],
    scene: Scene,
    remedies: Mapping[str, Remedy | None] | None = None,
) -> Measured:
    pairs = [(each, seen[at]) for at, each in sorted(solved.items())]
    shown, alone, moved = {}, {}, list[str]()
    for each, here in pairs:
        frame, goal = each.now.frame, _moved_goal(watch, each, here)
        if goal is not None:
            name = each.now.limb.target_name
            moved = [f"Target '{name}' moves with the limb that reaches for it. Unparent it or choose another."]
            shown[frame] = alone[frame] = here.tip._replace(goal=goal)
            if here.followers:
                shown[frame] = worst_place(each.now, goal, here.places)._replace(goal=goal)
            continue
        own = here.tip if _differs(each, here.tip, each.pose.tip, each.pose.tip_rotation) else None
        if own:
            alone[frame] = own
        others = [s for s in here.followers.values() if _differs(each, s, here.tip.tip, here.tip.rotation)]
        if own or others:
            shown[frame] = worst_place(each.now, each.goal, [here.tip, *others])
    warnings = _disagreement(watch, [(solved[at], seen[at]) for at in sorted(keyed)], scene)
    notes = _not_following(watch, pairs, scene, remedies)
    return Measured(shown, alone, [*moved, *warnings, *(note.text(in_units_of(scene)) for note in notes)], notes)


def _reach(each: SolvedFrame) -> float:
    return float(each.pose.chain.reach)


def _agrees(each: SolvedFrame) -> float:
    return AGREES * _reach(each)


def _apart(each: SolvedFrame, seen: EvaluatedLimb) -> float:
    return float((seen.tip.tip - each.pose.tip).length)


def _differs(each: SolvedFrame, shown: Shown, tip: Vector, rotation: Quaternion) -> bool:
    """Tell whether the place that is shown, or the rotation where that counts, differs by more than rounding."""
    turned = bool(each.goal.soft) and rotation_angle(shown.rotation, rotation) > _TURNED
    return turned or (shown.tip - tip).length > _ROUNDING * _reach(each)


def _moved_goal(watch: Watch, each: SolvedFrame, seen: EvaluatedLimb) -> Goal | None:
    """Return the goal where the target is now, if it has moved since it was read; None if not."""
    own, limb = each.now.limb, watch.limb  # at the stops of a reach the target may be another one
    if seen.target is None or (own.target, own.subtarget) != (limb.target, limb.subtarget):
        return None
    if not is_elsewhere(each.now.target, seen.target):
        return None
    return GoalReader().at(each.now._replace(target=seen.target), each.pose)


def worst_place(now: Sample, goal: Goal, places: Sequence[Shown]) -> Shown:
    """Return the place farthest from the goal, and the rotation most off it, of several that should be there."""
    world, target = now.rig.world, goal.target
    place = max(places, key=lambda s: (world @ s.tip - world @ target.closest(s.tip)).length)
    turned = max(places, key=lambda s: missing_angle(goal.soft, s.tip, s.rotation) or 0.0)
    return Shown(place.tip, turned.rotation)


def _disagreement(watch: Watch, pairs: Sequence[tuple[SolvedFrame, EvaluatedLimb]], scene: Scene) -> list[str]:
    """Return a warning if Blender evaluates the tip elsewhere than the solution, with the probable reason."""
    far = [(_apart(each, here), each.now.frame) for each, here in pairs if _apart(each, here) > _agrees(each)]
    if not far:
        return []
    apart, frame = max(far)
    where = "" if len(pairs) == 1 else f" at frame {frame:g}"
    return [watch.explain(apart, where, scene)]


def _not_following(
    watch: Watch,
    pairs: Sequence[tuple[SolvedFrame, EvaluatedLimb]],
    scene: Scene,
    remedies: Mapping[str, Remedy | None] | None,
) -> list[NotFollowing]:
    """Each follower that is not at the limb's tip at some frames, with the property that prevents it."""
    limb, notes = watch.limb, []
    for name in watch.followers:
        both = ((astray(each.now.limb, here, name, each), each.now.frame) for each, here in pairs)
        far = [(apart, frame) for apart, frame in both if apart is not None]
        if far:
            distance, frame = max(far)
            remedy = watch.remedy(name, frame, scene) if remedies is None else remedies.get(name)
            notes.append(NotFollowing(name, limb.tip, distance, frame, len(far), len(pairs), remedy))
    return notes


def astray(limb: Limb, seen: EvaluatedLimb, follower: str, solved: SolvedFrame | None = None) -> float | None:
    """Distance of a follower from the limb's tip [Blender units, world space]; None if it is within tolerance.

    Its rotation counts as well, within the angle tolerance, unless the goal of the `solved` frame leaves it open.
    """
    tip, other = seen.tip, seen.followers[follower]
    apart = (seen.world @ other.tip - seen.world @ tip.tip).length
    turning = solved is None or missing_angle(solved.goal.soft, tip.tip, tip.rotation) is not None
    turned = turning and rotation_angle(other.rotation, tip.rotation) > limb.angle_tolerance
    return float(apart) if turned or apart > limb.tolerance else None


def remedy_of(switch: Switch, value: float, frame: float, scene: Scene) -> Remedy:
    """Describe a switch as data: its value at a frame, and the one to give it."""
    return Remedy(switch.holder, switch.name, switch.at(frame, scene), value)


def report_of(
    limb: Limb,
    solved: Sequence[SolvedFrame],
    seconds: float,
    written: WrittenKeys,
    warnings: Sequence[str],
    find_jumps: Jumps = list,
    measured: Measured = NOT_MEASURED,
) -> Report:
    """Return the report of solved frames; `seconds` is the time they took, `written` the keys made of them.

    A frame is judged by the tip that was `measured` as Blender evaluates it; where that agrees with the pose that was
    written, or was not measured, by that pose.
    """
    results = _judged(solved, measured.shown)
    off = results.errors[results.due & ~results.reached]
    turned_only = bool(len(off) and (off <= limb.tolerance).all())
    tip = replace(tip_of_frames(limb.armature.name, limb.tip, results), turned_only=turned_only)
    warnings = list(dict.fromkeys([*warnings, *written.warnings, *measured.warnings, *none_due(results)]))
    mended = solved.mended if isinstance(solved, SolvedShot) else 0
    notes = measured.not_following
    return Report(
        limb.armature.name,
        {limb.tip: tip},
        results,
        keys=written.keys,
        warnings=warnings,
        seconds=seconds,
        full_keys=written.full,
        not_following=notes,
        target=limb.target_name,
        solver=limb.solver,
        tolerance=limb.tolerance,
        angle_tolerance=limb.angle_tolerance,
        tip_deviation=written.tip_deviation,
        mended=mended,
        find_jumps=find_jumps,
        alone=_judged(solved, measured.alone) if notes else (),
    )


def _judged(solved: Sequence[SolvedFrame], shown: Mapping[float, Shown]) -> JudgedFrames:
    """Judge solved frames; those of a shot by its arrays, a row of the report is made where it is asked for."""

    def row(k: int) -> FrameResult:
        return _result(solved[k], shown.get(solved[k].now.frame))

    if not (isinstance(solved, SolvedShot) and solved.is_written):
        return JudgedFrames.of([row(k) for k in range(len(solved))])
    limb, angles, errors = solved.samples.first.limb, solved.angles, solved.distances.copy()
    if shown:
        places = {frame: k for k, frame in enumerate(frames_of(solved))}
        angles = None if angles is None else angles.copy()
        for frame in shown:
            k = places[frame]
            result = row(k)
            errors[k] = result.error
            if angles is not None:
                angles[k] = result.angle
    reached = is_within(errors, limb.tolerance, angles, limb.angle_tolerance)
    due = np.ones(len(solved), bool)
    return JudgedFrames(row, solved.samples.frames, errors, reached, due, angles, solved.measures)


def none_due(results: JudgedFrames) -> list[str]:
    """Return a warning if no frame is due at its target."""
    if results.due.any():
        return []
    return ["Influence is below 1 at every frame at the target: none can be said to be reached or missed."]


def _result(each: SolvedFrame, shown: Shown | None) -> FrameResult:
    """Judge one solved frame."""
    now, goal, solution, pose = each
    place = shown or Shown(pose.tip, pose.tip_rotation if goal.soft else Quaternion())
    seen = judged_at(now, place.goal or goal, place, pose)
    return seen._replace(iterations=solution.iterations, solution=solution.pose)


def judged_at(now: Sample, goal: Goal, shown: Shown, pose: Pose) -> FrameResult:
    """Judge a tip as it is shown, in a pose that nothing has solved; with an influence below 1 it is not due."""
    world, limb = now.rig.world, now.limb
    error = (world @ shown.tip - world @ goal.target.closest(shown.tip)).length
    angle = missing_angle(goal.soft, shown.tip, shown.rotation) if goal.soft else None
    reached = error <= limb.tolerance and (angle is None or angle <= limb.angle_tolerance)
    return FrameResult(now.frame, error, reached, 0, pose, pose, angle, limb.influence == 1.0)


def missed_frames(results: JudgedFrames) -> list[str]:
    """Return a warning that names the first frames of a bake that miss the target, consecutive ones as a range."""
    missed = results.due & ~results.reached
    if len(results) == 1 or not missed.any():
        return []
    begins = np.flatnonzero(missed & ~np.concatenate(([False], missed[:-1])))
    ends = np.flatnonzero(missed & ~np.concatenate((missed[1:], [False])))
    frames = results.frames
    rows = zip(begins[:_ROWS].tolist(), ends[:_ROWS].tolist(), strict=True)
    first = [f"{frames[a]:g}" if a == b else f"{frames[a]:g} to {frames[b]:g}" for a, b in rows]
    more = " and others" if len(begins) > _ROWS else ""
    return [f"The target is missed at frames {', '.join(first)}{more}."]


def moved_inside(names: Sequence[str], frame: float) -> list[str]:
    """Return a warning about bones that were outside their limits."""
    if not names:
        return []
    bones = ", ".join(f"'{name}'" for name in names)
    return [f"{bones} stood outside the limits at frame {frame:g} and had to be moved inside."]
