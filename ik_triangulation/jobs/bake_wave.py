# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking of limbs that do not depend on each other: solved, along flows too, written, evaluated and measured.

Along a flow each frame is one step from the frame before, an integral of the field inside reach and limits: the limb is
solved for the place a step further along the field, from the pose that it had, without restarts. Where its limits or
its reach block the step, it comes as near as it can, and the next step begins where the tip is: so it slides along what
blocks it. The places that are reached are then the targets of the frames, for whatever method solves them, over the
whole shot or one after the other.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import radians
from statistics import median
from time import perf_counter
from typing import NamedTuple

from bpy.types import Object, PoseBone, Scene
from mathutils import Vector

from ..cooperative import Work, relay
from ..errors import AnimationError
from ..goals import Goal, Point
from ..kinematics import Locked
from ..kinematics.rotation import rotation_angle
from ..motion.jumps import AROUND, FEW, ROUND, SEAM, TIMES, JointStep, Jump, turns
from ..rig.armature import Bones
from ..rig.body import RigBody
from ..rig.by_hand.record import record_bake
from ..rig.by_hand.reference import has_baked_below
from ..rig.frames.reader import FrameReader
from ..rig.frames.samples import Sample, Samples, evaluated_samples
from ..rig.keyframes import SAME_FRAME, ByHand, curves_of, keys_beside, made_by_hand
from ..rig.layers import OF_RANGE, Destination, Made, is_blended
from ..rig.limb import Limb
from ..rig.rotation import channel, rotation_from, turn_between
from ..rig.targets.goal import allowed_distance
from ..rig.targets.surface import Streamline
from ..rig.targets.untouched import is_untouched, is_waiting, place_at_tip
from ..rig.timeline import Clock, evaluated_time
from ..solvers import solve_goal
from .shots.contacts import mesh_under
from .shots.controls import kept_by_hand, write_by_settings
from .shots.frame_solver import (
    NATURAL,
    Jumps,
    Shown,
    SolvedFrame,
    already_right,
    at_frame,
    outside,
    smoothed,
    solver_settings,
    turned_like,
)
from .shots.keys import LimbBake, WrittenKeys
from .shots.measure import Measured, Watch, measure_frames, missed_frames, moved_inside, report_of
from .shots.natural_shot import rotations_below, shown_reference, solve_frames, solve_naturally
from .shots.report import Report
from .shots.shot import SolvedShot, frame_by_frame, frames_of, joints_at, solve_together
from .shots.writing import kept_text

_BLOCKED = 0.1  # of a step: what is missing of one that is blocked

_POINTS = {"ARROWS", "PLAIN_AXES"}  # how empties are displayed that are their origin
_AWAY = 1e-4  # of the tip bone's length, or [rad]: farther off its target a limb is not where it was set up

_DETOUR = radians(90.0)  # a way longer than the direct one by more than this is the long way round
_MOST_STEPS = 50  # in which a way is followed; fewer frames are followed one by one

Span = tuple[int, int, float]  # first frame, last frame, step


class AlongFlow(NamedTuple):
    """Samples whose targets are the path of the tip, and where the field led at frames whose step was `blocked`.

    These places (world space) are by frame.
    """

    samples: Samples
    blocked: Mapping[float, Vector]


def along_flow(limb: Limb, bones: Bones, samples: Samples) -> Work[AlongFlow]:
    """Follow the flow from the pose of the first sample; yields after each frame. Raises what follow() does."""
    settings = replace(solver_settings(limb), restarts=False)
    if limb.solver == NATURAL:  # which has no frame before: it stays near the pose made by hand
        settings = replace(settings, solver="GAUSS_NEWTON")
    found, blocked = list[Sample](), dict[float, Vector]()
    pose, line = at_frame(samples.first, bones).copy(), None
    pose.project()
    for now in samples:
        assert now.flow is not None
        world, into = now.rig.world, now.rig.into
        if line is None:
            line = Streamline(world @ pose.tip, now.frame)
        target, allowed = line.go(now.flow, now.frame), allowed_distance(now.limb, now.flow)
        if found:
            wanted = line.place.copy()
            goal = Goal(Point(into @ wanted), (), allowed / now.rig.stretch)
            pose = solve_goal(turned_like(pose, at_frame(now, bones)), goal, settings, follow=True).pose
            reached = world @ pose.tip
            missing = (reached - wanted).length
            if missing > allowed:
                line.place = target.translation = reached
            if missing > _BLOCKED * now.flow.step:
                blocked[now.frame] = wanted
        found.append(now._replace(target=target))
        yield
    return AlongFlow(evaluated_samples(found), blocked)


def judged_by_field(measured: Measured, solved: Sequence[SolvedFrame], blocked: Mapping[float, Vector]) -> Measured:
    """Return the measurement of solved frames with the places that the field leads to as the goals of blocked ones."""
    shown, rows = dict(measured.shown), {frame: k for k, frame in enumerate(frames_of(solved))}
    for frame, wanted in blocked.items():
        each = solved[rows[frame]]
        goal = each.goal._replace(target=Point(each.now.rig.into @ wanted))
        here = shown.get(frame) or Shown(each.pose.tip, each.pose.tip_rotation)
        shown[frame] = here._replace(goal=goal)
    return measured._replace(
        shown=shown, warnings=[*measured.warnings, _blocked(len(blocked), solved[0].now.limb.refines)]
    )


def _blocked(count: int, refines: bool) -> str:
    """Return a warning of frames at which the tip does not make the step of its field."""
    frames = "1 frame" if count == 1 else f"{count} frames"
    if not refines:
        return f"At {frames} the method alone does not go as far as the field leads. Turn on Refine Result."
    return f"The field leads out of reach or limits at {frames}: there the tip slides along what blocks it."


def check_something(bodies: Sequence[RigBody], limbs: Sequence[Limb] = ()) -> None:
    """Raise AnimationError if the targets of all these bodies and limbs are untouched, so that a bake has no effect.

    Targets of the user's own, hands keyed by hand, contacts and whatever else moves the rig are something.
    """
    if not (bodies or limbs) or not all(map(_is_idle_body, bodies)) or not all(map(_is_idle_limb, limbs)):
        return
    every = [*(limb for rig in bodies for limb in rig.limbs), *limbs]
    first = next((limb for limb in every if limb.orientation != "LOOK"), every[0])
    raise AnimationError(
        f"There is nothing to bake: no target was moved or keyed yet. Move '{first.target_name}', or key it."
    )


def _is_idle_body(rig: RigBody) -> bool:
    """Tell whether all that reaches waits, in a rig without keys, and held tips have no contact and no ground."""
    bones = rig.armature.pose.bones
    if not rig.limbs or not all(limb.target == bones[limb.tip].ik_triangulation.target for limb in rig.limbs):
        return False
    if not all(is_waiting(bones[limb.tip]) for limb in rig.limbs) or _has_keys(rig.armature):
        return False
    return not (rig.contacts or any(mesh_under(rig, tip) for tip in rig.held))


def _is_idle_limb(limb: Limb) -> bool:
    """Tell whether a limb is at the empty that was made for it, in a rig that nothing moves."""
    armature, bone = limb.armature, limb.armature.pose.bones[limb.tip]
    stored = getattr(bone, "ik_triangulation", None)
    if stored is None or stored.target != limb.target or not is_untouched(bone):
        return False
    if limb.offset or limb.pole_target or limb.obstacle_objects or limb.effort_weight or limb.rest_weight:
        return False
    if limb.shape not in {"AUTO", "POINT"} or limb.target.empty_display_type not in _POINTS:
        return False
    animation = armature.animation_data
    moved = armature.parent or len(armature.constraints) or (animation and len(animation.drivers))
    if moved or _has_keys(armature) or any(len(each.constraints) for each in (bone, *bone.parent_recursive)):
        return False
    place, now = limb.target.matrix_world, place_at_tip(bone, bone.matrix)
    turned = rotation_angle(place.to_quaternion(), now.to_quaternion())
    return turned <= _AWAY and (place.translation - now.translation).length <= _AWAY * bone.length


def _has_keys(armature: Object) -> bool:
    """Tell whether the armature has F-curves or NLA strips."""
    animation = armature.animation_data
    strips = animation is not None and any(len(track.strips) for track in animation.nla_tracks)
    return strips or any(True for _ in curves_of(armature))


def kept_last(limb: Limb, bones: Bones, now: Sample, goal: Goal, reader: FrameReader) -> SolvedFrame | None:
    """Return the last frame with its animated pose as the solution, if that reaches already and is to be kept.

    It is kept if the limb is animated towards it: by keys after it, or by one there that was made by hand. Remove Jumps
    then leads the path into it; without Remove Jumps it is left as solved.
    """
    if not (limb.smooth and limb.refines and limb.start_from != "REST"):
        return None
    if not _is_animated_to(limb, now.frame, reader.scene):
        return None
    # The samples of a bake have the rotations of the first frame unless something else moves the rig.
    animated = reader.as_animated(now)
    pose = at_frame(animated, bones)
    solution = already_right(limb, pose, goal)
    return SolvedFrame(animated, goal, solution, solution.pose) if solution else None


def _is_animated_to(limb: Limb, frame: float, scene: Scene) -> bool:
    """Tell whether the limb has rotation keys after this frame, or one at it that was made by hand."""
    if limb.destination in OF_RANGE or limb.keys_on == "IK":
        return False  # the keys there are those of a layer below, or of controls that are not followed
    time = Clock(scene, limb.armature).time(frame)
    later = (keys_beside(limb.armature, _path(bone), time, after=True) for bone in limb.pose_bones)
    return any(later) or bool(made_by_hand(limb.armature, limb.in_order, time, time))


def seams(limb: Limb, solved: Sequence[SolvedFrame], scene: Scene) -> list[Jump]:
    """Find jumps from the keys before the range to its first frame, and from its last frame to the keys after it.

    As within the range, a jump is a rotation that stands out from those of the frames around it; so is one that goes
    the long way round, as where the limb has wound about a joint. The indices are those of the frames at the ends.
    """
    if limb.destination in OF_RANGE or limb.keys_on == "IK":
        return []
    count = len(solved)
    ends = (0, False, range(min(AROUND + 1, count))), (count - 1, True, range(max(0, count - AROUND - 1), count))
    found = []
    for at, after, indices in ends:
        jumps = [*_turned(limb, solved, at, after, scene)]
        around = [*_speeds([solved[i] for i in indices])] if jumps else []
        farthest = [jump for jump in jumps if jump.reason == ROUND] or jumps
        jump = max(farthest, key=lambda each: each.turned.angle, default=None)
        if jump and (jump.reason == ROUND or jump.turned.angle > max(FEW, TIMES * median(around or [0.0]))):
            found.append(jump)
    return found


def _speeds(solved: Sequence[SolvedFrame]) -> Iterator[float]:
    """Largest rotation of a joint to each frame but the first [rad per frame]."""
    paths = [each.pose.rotations for each in solved]
    for before, now, angle in zip(solved, solved[1:], turns(paths)[1:], strict=False):
        yield angle / (now.now.frame - before.now.frame)


def _turned(limb: Limb, solved: Sequence[SolvedFrame], at: int, after: bool, scene: Scene) -> Iterator[Jump]:
    """Speed of each joint [rad per frame] between the key at an end, the frame of index `at`, and those beyond it."""
    clock, frame = Clock(scene, limb.armature), frames_of(solved)[at]
    time = clock.time(frame)
    just_inside = time - 2.0 * SAME_FRAME if after else time + 2.0 * SAME_FRAME
    bones = {bone.name: bone for bone in limb.pose_bones}
    for joint in joints_at(solved, at):
        if isinstance(joint.freedom, Locked):
            continue
        bone = bones[joint.name]
        keys = keys_beside(limb.armature, _path(bone), time, after)
        if keys:
            here = keys_beside(limb.armature, _path(bone), just_inside, after)
            gap = min(abs(clock.frame(key) - frame) for key, _ in keys.values())
            ways = _values(bone, here), _values(bone, keys)
            held = after and limb.interpolation == "CONSTANT"
            turn = turn_between(*ways, bone.rotation_mode, 1 if held else min(max(round(gap), 1), _MOST_STEPS))
            direct = rotation_angle(*(rotation_from(each, bone.rotation_mode) for each in ways))
            step = JointStep(at, joint.name, turn / max(gap, 1.0))
            yield Jump(step, ROUND if turn - direct > _DETOUR else SEAM)


def _values(bone: PoseBone, keys: dict[int, tuple[float, float]]) -> list[float]:
    """Return the channel values of these keys, with the present ones for channels that have none."""
    present = getattr(bone, channel(bone)[0])
    return [keys[index][1] if index in keys else value for index, value in enumerate(present)]


def _path(bone: PoseBone) -> str:
    return str(bone.path_from_id(channel(bone)[0]))


@dataclass
class BakePlan:
    """A limb of a bake with its span, reader, watch and the warnings so far, and finally the report on it.

    `took` are the seconds spent on it alone, `blocked` the places (world space) to which a flow would have led the tip,
    by frame, had its limits and its reach allowed it.
    """

    limb: Limb
    span: Span
    reader: FrameReader
    watch: Watch
    warnings: list[str]
    took: float = 0.0
    blocked: Mapping[float, Vector] = field(default_factory=dict)
    report: Report = field(init=False)

    @property
    def parts(self) -> int:
        """The number of frames to step through and to solve."""
        return len(self.reader.frames) + self.reader.parts


def bake_together(plans: Sequence[BakePlan], made: Made, undo: ExitStack, seconds: float, keep: bool) -> Iterator[int]:
    """Bake limbs that do not depend on each other: yields the frames that are done, and 0 in between.

    `made` are the channelbags that were made for limbs baked before. Closing `undo` restores everything.
    """
    scene, view_layer = plans[0].reader.scene, plans[0].reader.view_layer
    bakes, searches = [], []
    for plan in plans:
        started = perf_counter()
        first, last = (evaluated_time(scene, frame) for frame in plan.span[:2])
        bake, find_jumps = yield from _solved(plan, Destination(first, last, made), seconds, keep)
        bakes.append(bake)
        searches.append(find_jumps)
        plan.took = perf_counter() - started
    started = perf_counter()
    written = yield from relay(write_by_settings(bakes, undo, scene=scene, view_layer=view_layer), 0)
    for plan, bake in zip(plans, bakes, strict=True):
        bag = bake.destination.bag(plan.limb.destination, plan.limb.armature, undo)
        record_bake(plan.limb, plan.span, bag, undo)
    yield 0
    each = (perf_counter() - started) / len(plans)
    for plan, bake, find_jumps, keys in zip(plans, bakes, searches, written, strict=True):
        plan.took += each
        yield from _reported(plan, bake, find_jumps, keys, seconds)
    view_layer.update()


def _solved(
    plan: BakePlan, destination: Destination, seconds: float, keep: bool
) -> Generator[int, None, tuple[LimbBake, Jumps]]:
    """Read and solve the frames of a limb; nothing is written."""
    limb, reader, ends = plan.limb, plan.reader, plan.span[:2]
    bones = Bones(limb.armature, limb.bones, limb.solved)
    samples = yield from relay(reader.read(seconds), 1 if reader.stepped else 0)
    if limb.follows_flow:
        samples, plan.blocked = yield from relay(along_flow(limb, bones, samples), 0)
    solved, find_jumps, warnings = yield from _solved_frames(limb, bones, samples, reader)
    plan.warnings += [*reader.warnings, *warnings]
    begin = samples.first
    if not keep:  # a re-bake begins with the last bake
        plan.warnings += moved_inside(outside(bones, begin), begin.frame)
    times = map(Clock(reader.scene, limb.armature).time, ends)
    kept: Mapping[str, ByHand] = kept_by_hand(limb, *times) if keep else {}
    if kept:
        plan.warnings.append(kept_text(len(set().union(*kept.values()))))
    return LimbBake(limb, solved, ends, destination, kept), find_jumps


def _solved_frames(
    limb: Limb, bones: Bones, samples: Samples, reader: FrameReader
) -> Generator[int, None, tuple[Sequence[SolvedFrame], Jumps, list[str]]]:
    """Solve all frames together, or one after the other where they cannot be; yields the frames that are done.

    Returns the solved frames, the search for jumps in them, and the reasons why they were not solved together.
    """

    def keep_last(goal: Goal) -> SolvedFrame | None:
        return kept_last(limb, bones, samples[len(samples) - 1], goal, reader)

    natural = limb.solver == NATURAL
    shown = shown_reference(reader) if natural else None
    of_layer = natural and limb.destination == "LAYER"
    if shown is None and of_layer and (has_baked_below(limb) or is_blended(limb.armature)):
        shown = rotations_below(reader)
    together = (
        solve_naturally(limb, bones, samples, reader.scene, shown=shown)
        if natural
        else solve_together(limb, bones, samples, reader.scene, keep_last)
    )
    shot = yield from relay(together, 0)
    if isinstance(shot, SolvedShot):
        yield len(samples)
        return shot, shot.jumps, []
    solved = []
    for each in solve_frames(limb, bones, samples, reader.scene, shown=shown):
        solved.append(each)
        yield 1
    last = keep_last(solved[-1].goal) if len(solved) > 1 and not natural else None
    if last and len(last.pose) == len(solved[-1].pose):
        solved[-1] = last
    frames, find_jumps = yield from relay(smoothed(limb, bones, solved), 0)
    return frames, find_jumps, frame_by_frame(shot) if len(samples) > 1 else []


def _reported(
    plan: BakePlan, bake: LimbBake, find_jumps: Jumps, written: WrittenKeys, seconds: float
) -> Generator[int, None, None]:
    """Measure a limb that is written, and report on it."""
    started, reader, solved = perf_counter(), plan.reader, bake.solved
    measuring = measure_frames(plan.watch, reader, solved, written.at, seconds, by_hand=bool(bake.kept))
    measured = yield from relay(measuring, 0)
    if plan.blocked:
        measured = judged_by_field(measured, solved, plan.blocked)
    took, beyond = plan.took + perf_counter() - started, seams(plan.limb, solved, reader.scene)
    report = report_of(plan.limb, solved, took, written, plan.warnings, lambda: [*find_jumps(), *beyond], measured)
    plan.report = replace(report, warnings=[*report.warnings, *missed_frames(report.judged)])
