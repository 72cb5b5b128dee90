# SPDX-License-Identifier: GPL-3.0-or-later
"""Measurement of the tips of a body that was solved, on the bones that Blender shows, and of bones that do not follow.

These are deform bones of a generated rig, and the body's own where constraints hold them back: the head of a generated
rig follows the torso and not the neck as long as a property such as head_follow is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Depsgraph, Scene, ViewLayer, bpy_prop_collection
from mathutils import Matrix, Quaternion, Vector

from ...cooperative import Work, finished
from ...goals import Anywhere, Goal, Point
from ...goals.from_goals import body_tasks
from ...goals.orientation import Direction, LookAt, Orientation, missing_angle
from ...kinematics import Body
from ...kinematics.arrays import Mask, Numbers
from ...kinematics.batch import Geometry, States
from ...kinematics.batch.algebra import lengths, turn_vectors
from ...rig.armature import into_bone, is_flat
from ...rig.body import RigBody
from ...rig.by_hand.shown_limb import Switch, find_switch
from ...rig.controls import Links
from ...rig.dependencies import TipMoved, explained, may_interfere
from ...rig.frames.body_frames import frames_by_channels, lengths_of, plain_animation, shown_frames, tips_apart
from ...rig.frames.body_samples import AT_ONCE, BodySamples, read_body, sampled_body, view_layer_of
from ...rig.frames.reader import Evaluator, FrameReader
from ...rig.limb import Limb
from ...rig.timeline import Clock
from ...rig.units import in_units_of, scale_of
from .controls import Track, amid_switches, frames_between, let_show, let_watched_follow, set_switches
from .frame_solver import Shown
from .measure import AGREES, EvaluatedLimb, Watch, astray, held_tolerances, is_within
from .problem import BodyProblem, HeldPlaces, Planned
from .report import NotFollowing, Remedy, Report, TipReport

_DEEP, _IN_OBSTACLE = 0.06, 0.02  # of a limb's length: depth of it in body and obstacle that is worth a warning
_MOVED = 1e-4  # of a limb's reach, and [rad]: from which on a bone is off its place


def judged_tip(
    rig: RigBody,
    tip: str,
    off: tuple[Numbers, Numbers],
    tolerances: tuple[Numbers | float, float],
    frames: Sequence[float],
    goal: Goal | None = None,
    counted: Mask | None = None,
) -> TipReport:
    """Judge a tip that is `off` by these distances [armature space] and angles [rad] (F) at frames where it is due.

    Without a goal the tip is held. `counted` is a mask of the frames that can be missed, by default of all.
    """
    (distances, angles), scale = off, scale_of(rig.armature)
    late = ~is_within(distances, tolerances[0], angles, tolerances[1]) & (True if counted is None else counted)
    missed = [frames[at] for at in np.flatnonzero(late).tolist()]
    turned_only = bool(late.any() and (distances <= tolerances[0])[late].all())
    if not len(distances):
        distances, angles, frames = np.zeros(1), np.zeros(1), [0.0]
    worst = int(distances.argmax())
    return TipReport(
        armature=rig.armature.name,
        tip=tip,
        held=goal is None,
        missed=missed,
        largest_distance=float(distances[worst]) * scale,
        median_distance=float(np.median(distances)) * scale,
        worst_frame=frames[worst],
        angle=float(angles.max()),
        turns=goal is None or asks_rotation(goal),
        aim="REACH" if goal is None else aim_of(goal),
        turned_only=turned_only,
        scale=scale,
    )


def report_of_body(rig: RigBody, tips: Mapping[str, TipReport], frames: Sequence[float], **more: Any) -> Report:
    """Return the report on a body with these tips at these frames."""
    more |= {"hips": rig.hips, "contacts": rig.contacts, "scale": scale_of(rig.armature)}
    return Report(rig.armature.name, tips, frames, **more)


def report_written(
    problem: BodyProblem,
    states: States,
    samples: BodySamples,
    scene: Scene,
    *,
    between: BodyProblem | None = None,
    allowed: Mapping[str, float] | None = None,
    times: Sequence[float] | None = None,
    warnings: Sequence[str] = (),
    **more: Any,
) -> Work[Report]:
    """Measure a body whose solved `states` are written, and report on it.

    `samples` have the goals to measure by. Held tips are measured at the frames `between` as well. With the `times` at
    which all was keyed, tips that something else moves are named; without, keys made by hand are among the new ones.
    The report contains `more` as well.
    """
    rig, held = problem.rig, (between or problem).held_places
    planned = None if times is None else problem.planned(states, times, Clock(scene, rig.armature))
    report = yield from measure_body(rig, samples, held, scene, allowed, planned)
    report = with_floor(report, problem, samples.goals)
    warnings = [*warnings, *samples.warnings, *report.warnings, *warnings_of(problem, states)]
    return replace(report, **{"outside": problem.outside(states), **more}, warnings=warnings)


def warnings_of(problem: BodyProblem, states: States) -> list[str]:
    """Return warnings of settings that do not count, of tips too far away, and of limbs in the body or an obstacle."""
    found = [*problem.unheeded(), *problem.too_far()]
    if problem.thickness is None:
        return found
    body, frames = problem.body, np.array(problem.samples.frames)
    geometry, limbs = Geometry.of(body.tree, states), {limb.tip: limb for limb in problem.rig.limbs}
    found += [
        f"The arm of '{body.tips[tip].name}' goes into the body, deepest at frame {frames[deep.argmax()]:g}. "
        "Lead its target around the body, or lower Thickness."
        for tip, deep in problem.thickness.depths(geometry).items()
        if deep.max() > _DEEP * body.reach(body.tips[tip].name)
    ]
    for tip, every in problem.thickness.depths_in_obstacles(geometry).items():
        limb = limbs[body.tips[tip].name]
        least = limb.obstacle_margin / scale_of(problem.rig.armature) + _IN_OBSTACLE * body.reach(limb.tip)
        found += [
            f"The limb of '{limb.tip}' goes into obstacle '{ob.name}', deepest at frame {frames[deep.argmax()]:g}. "
            "Lead its target around it, or take it out of the collection."
            for ob, deep in zip(limb.obstacle_objects, every, strict=False)
            if deep.max() > least
        ]
    return found


class _Seen(NamedTuple):
    """A body as evaluated at one frame: matrices (n, 4, 4) of its bones, and off each due limb's goal by its tip."""

    matrices: Numbers
    off: dict[str, tuple[float, float]]


def measure_body(
    rig: RigBody,
    samples: BodySamples,
    held: HeldPlaces,
    scene: Scene,
    allowed: Mapping[str, float] | None = None,
    planned: Planned | None = None,
) -> Work[Report]:
    """Measure all tips as evaluated: held ones at all frames in `held`, the others at those of the samples.

    Where F-curves alone move bones and targets, some of the frames are evaluated, and if these agree the others are
    computed from the curves as they are written. Targets are measured where they are now. What fewer keys are `allowed`
    to move a tip that reaches, by its name [Blender units], is no miss. Warnings name what moves tips off the places
    that were `planned`, if these are given.
    """
    numbers = {frame: number for number, frame in enumerate(samples.frames)}
    moved: dict[str, None] = {}

    def look(depsgraph: Depsgraph, frame: float) -> _Seen:
        bones, off = rig.armature.evaluated_get(depsgraph).pose.bones, {}
        for limb in rig.limbs if frame in numbers else ():
            number, reader = numbers[frame], samples.readers.get(limb.tip)
            if samples.influence[limb.tip][number] == 1.0:
                goal = samples.goals[limb.tip][number]
                if reader is not None and reader.is_moved(depsgraph, frame):
                    goal, moved[limb.target_name] = reader.again(depsgraph, frame), None
                off[limb.tip] = tip_missing(goal, bones, limb.tip)
        return _Seen(np.array([bones[name].matrix for name in rig.bones], float), off)

    evaluator = Evaluator(rig, scene, view_layer_of(scene), held.frames)
    tips, body = {}, sampled_body(rig, samples)
    found = (yield from _by_curves(rig, body, samples, held, evaluator, look)) if evaluator.stepped is None else None
    if found is None:
        seen = yield from evaluator.evaluate(held.frames, look, AT_ONCE)
        found = _shown(rig, [seen[frame] for frame in held.frames]), {frame: seen[frame].off for frame in numbers}
    shown, off = found
    for name in rig.held:
        row, whole = rig.bones.index(name), np.array([frame in numbers for frame in held.frames])
        length = rig.length(name)
        slips, turns = slips_and_turns(shown[row], held.foot(row, name, shown, rig.ball(name)), length)
        due, tolerances = held.influence[name] == 1.0, held_tolerances(rig, name, body.reach(name))
        here = [held.frames[at] for at in np.flatnonzero(due).tolist()]
        here = [samples.frames[numbers[frame]] if frame in numbers else frame for frame in here]  # whole numbers stay
        tips[name] = judged_tip(rig, name, (slips[due], turns[due]), tolerances, here, counted=whole[due])
    for limb in rig.limbs:
        own = {frame: each[limb.tip] for frame, each in off.items() if limb.tip in each}
        tips[limb.tip] = judged_limb(rig, limb, samples, own, (allowed or {}).get(limb.tip, 0.0))
    warnings = [
        f"Target '{name}' moves with the body that reaches for it. Unparent it or choose another." for name in moved
    ]
    if planned is not None and len(planned.frames):
        at = {frame: k for k, frame in enumerate(held.frames)}
        off_plan = _moved_off(rig, body, planned, shown[..., [at[frame] for frame in planned.frames]], scene)
        return report_of_body(rig, tips, samples.frames, warnings=[*warnings, *off_plan.values()], moved=off_plan)
    return report_of_body(rig, tips, samples.frames, warnings=warnings)


def _shown(rig: RigBody, seen: Sequence[_Seen]) -> Numbers:
    """Return the frames (n, 3, 4, F) of all bones as they were evaluated."""
    return shown_frames(rig, np.moveaxis(np.array([each.matrices for each in seen]), 0, -1))


def _by_curves(
    rig: RigBody,
    body: Body,
    samples: BodySamples,
    held: HeldPlaces,
    evaluator: Evaluator,
    look: Callable[[Depsgraph, float], _Seen],
) -> Work[tuple[Numbers, dict[float, dict[str, tuple[float, float]]]] | None]:
    """Return the frames (n, 3, 4, S) of all bones by the F-curves as they are written, and off each goal by its tip.

    None where anything else may move bones or targets, and where Blender shows something else at some of the frames.
    """
    if samples.shown is not None or may_interfere(rig) or any(reader.hangs for reader in samples.readers.values()):
        return None
    moved = plain_animation(rig, Clock(evaluator.scene, rig.armature), held.frames)
    shown = frames_by_channels(rig, body, held.bases, moved)
    last = len(held.frames) - 1
    some = sorted({0, last // 4, last // 2, last // 2 + last % 2, last})
    seen = yield from evaluator.evaluate([held.frames[k] for k in some], look, AT_ONCE)
    evaluated = _shown(rig, [seen[held.frames[k]] for k in some])
    if tips_apart(rig, body, shown[..., some], evaluated) > AGREES:
        return None
    places = {frame: at for at, frame in enumerate(held.frames)}
    off: dict[float, dict[str, tuple[float, float]]] = {frame: {} for frame in samples.frames}
    for limb in rig.limbs:
        due = np.flatnonzero(samples.influence[limb.tip] == 1.0).tolist()
        frames, goals = [samples.frames[number] for number in due], [samples.goals[limb.tip][number] for number in due]
        at, targets = [places[frame] for frame in frames], [goal.target for goal in goals]
        points = [target.location[:] for target in targets if isinstance(target, Point)]
        if len(points) == len(goals) and not any(goal.soft for goal in goals):
            bone = shown[rig.bones.index(limb.tip)]
            tails = bone[:, 3, at] + rig.length(limb.tip) * bone[:, 1, at]
            for frame, far in zip(frames, lengths(tails - np.array(points).reshape(-1, 3).T).tolist(), strict=True):
                off[frame][limb.tip] = far, 0.0
            continue
        for frame, goal, number in zip(frames, goals, at, strict=True):
            matrix = tip_frame(rig, shown[..., number], limb.tip)
            off[frame][limb.tip] = _missing(goal, matrix.translation, matrix.to_quaternion())
    return shown, off


def slips_and_turns(shown: Numbers, wanted: Numbers, length: float) -> tuple[Numbers, Numbers]:
    """Return how far the tail of a bone of this `length` is off and how far it is turned [rad], (F) each.

    The bone is given by frames (3, 4, F).
    """
    ends = [each[:, 3] + length * each[:, 1] for each in (shown, wanted)]
    turned = np.einsum("jif,jkf->ikf", shown[:, :3], wanted[:, :3])
    return lengths(ends[0] - ends[1]), lengths(turn_vectors(turned))


def judged_limb(
    rig: RigBody, limb: Limb, samples: BodySamples, off: Mapping[float, tuple[float, float]], allowed: float = 0.0
) -> TipReport:
    """Judge a tip that reaches, by how far it is `off` [Blender units, rad] at frames of the samples, where it is due.

    What fewer keys are `allowed` to move it [Blender units] is no miss.
    """
    due = np.flatnonzero(samples.influence[limb.tip] == 1.0).tolist()
    frames, goals = [samples.frames[at] for at in due], samples.goals[limb.tip]
    distances, angles = np.array([off[frame] for frame in frames]).reshape(-1, 2).T
    tolerance = np.array([goals[at].tolerance + allowed for at in due])
    return judged_tip(rig, limb.tip, (distances, angles), (tolerance, limb.angle_tolerance), frames, goals[0])


def _moved_off(rig: RigBody, body: Body, planned: Planned, shown: Numbers, scene: Scene) -> dict[str, str]:
    """Return warnings that name what moves tips off the places that were planned, by the names of the tips.

    `shown` are the frames (n, 3, 4, F) of all bones.
    """
    far = list[TipMoved]()
    sizes, count = lengths_of(rig), len(planned.frames)
    for name in rig.tips:
        row, reach = rig.bones.index(name), body.reach(name)
        slips, _ = slips_and_turns(shown[row], planned.bones[row], sizes[row])
        at = int(slips.argmax())
        if slips[at] <= AGREES * reach:
            continue
        where = "" if count == 1 else f" at frame {planned.frames[at]:g}"
        moved = _turned_off(rig, planned.bones[..., at], shown[..., at], reach)
        far.append(TipMoved(name, float(slips[at]), where, moved))
    return explained(rig, far, scene) if far else {}


def _turned_off(rig: RigBody, planned: Numbers, shown: Numbers, reach: float) -> list[str]:
    """Return the bones that are not where they were planned on their parents, by frames (n, 3, 4) of all bones."""
    bones, found = rig.armature.data.bones, []
    for row, name in enumerate(rig.bones):
        own = [np.vstack((each[row], (0.0, 0.0, 0.0, 1.0))) for each in (planned, shown)]
        if row:
            above = rig.bones.index(bones[name].parent.name)
            own = [
                np.linalg.inv(np.vstack((each[above], (0.0, 0.0, 0.0, 1.0)))) @ mine
                for each, mine in zip((planned, shown), own, strict=True)
            ]
        off = np.abs(own[0] - own[1])
        if off[:3, :3].max() > _MOVED or off[:3, 3].max() > _MOVED * reach:
            found.append(name)
    return found


def aim_of(goal: Goal) -> str:
    """Return what a tip with this goal does, as TipReport has it."""
    return "REACH" if not isinstance(goal.target, Anywhere) else "LOOK" if goal.soft else "FOLLOW"


def asks_rotation(goal: Goal) -> bool:
    """Tell whether an orientation, a direction or a look counts for a tip with this goal."""
    return any(isinstance(each, Orientation | Direction | LookAt) for each in goal.soft)


def tip_missing(goal: Goal, bones: bpy_prop_collection, name: str) -> tuple[float, float]:
    """Distance of a tip from its goal, and the angle that is missing, by the evaluated bones of the armature."""
    place, matrix = bones[name].tail, bones[name].matrix
    if goal.on:
        into = into_bone(bones[goal.on])
        place, matrix = into @ place, into @ matrix
    return _missing(goal, place, matrix.to_quaternion())


def _missing(goal: Goal, place: Vector, rotation: Quaternion) -> tuple[float, float]:
    """Distance of a place from a goal, and the angle that is missing."""
    return (goal.target.closest(place) - place).length, missing_angle(goal.soft, place, rotation) or 0.0


def tip_frame(rig: RigBody, frames: Numbers, name: str) -> Matrix:
    """The frame of a bone (4x4, armature space) with its tail as the place, from those of all bones (n, 3, 4)."""
    frame = frames[rig.bones.index(name)]
    matrix = Matrix.Identity(4)
    for row in range(3):
        matrix[row] = frame[row]
    matrix.translation = matrix @ Vector((0.0, rig.length(name), 0.0))
    return matrix


def with_floor(report: Report, problem: BodyProblem, goals: Mapping[str, Sequence[Goal]]) -> Report:
    """Return a report in which tips that miss a goal below the floor say so; `goals` are those of its frames."""
    missed = {name: tip.missed for name, tip in report.tips.items() if tip.missed and name in goals}
    floor = problem.floor
    if floor is None or not missed:
        return report
    tips = dict(report.tips)
    for name, frames in missed.items():
        at = np.flatnonzero(np.isin(np.array(report.frames, float), frames))
        late = {name: [goals[name][number] for number in at.tolist()]}  # at other frames of a reach there are none
        for task in body_tasks(problem.body, late):
            if (floor.take(at).below(task) > task.tolerance).any():
                tips[name] = replace(tips[name], below_floor=True)
    return replace(report, tips=tips)


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

    def names(self, follower: str) -> tuple[str, str]:
        """Return who does not follow whom: a bone that carries the tip keeps that from following the bone's parent."""
        if follower not in self.carry:
            return follower, self.limb.tip
        return self.limb.tip, self.limb.armature.pose.bones[follower].parent.name


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
                names, remedy = watch.names(follower), watch.remedy(follower, at, scene)
                notes.setdefault(names, NotFollowing(*names, distance, at, len(away), len(frames), remedy))
    return list(notes.values())


def with_followers(report: Report, rig: RigBody, scene: Scene, view_layer: ViewLayer) -> Report:
    """Return a report with the bones that do not follow at some of its frames, and warnings of them.

    These are the first, the middle and the last one, and one of each run of frames over which properties keep values.
    A tip that a property keeps from following has no other reason named: what moves it may do so by that property.
    """
    every = report.frames
    some = {0, len(every) // 2, len(every) - 1, *amid_switches(rig.armature, every, scene)}
    frames = list(dict.fromkeys(every[at] for at in sorted(some)))
    notes = not_following(rig, frames, scene, view_layer)
    led = {report.moved.get(note.bone) for note in notes if note.remedy}
    warnings = [warning for warning in report.warnings if warning not in led]
    warnings += [note.text(in_units_of(scene)) for note in notes]
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
    rig: RigBody,
    ends: tuple[int, int],
    track: Track | None,
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
    tips: Sequence[str],
) -> Work[None]:
    """Set and key the properties by which the character follows these `tips` of a body that is written."""
    for tip in tips:
        limb = BodyWatch(rig, tip).limb
        yield from let_show(limb, ends, track, undo, scene=scene, view_layer=view_layer)
    for tip in tips:
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
    moved = {text: name in found and not tips[name].missed for name, text in report.moved.items()}
    following = report.without_followers(scene)
    warnings = [warning for warning in following.warnings if warning not in moved]
    warnings += [text for text, mended in moved.items() if not mended]
    return replace(following, tips=tips, warnings=warnings)
