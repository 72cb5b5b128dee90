# SPDX-License-Identifier: GPL-3.0-or-later
"""Space of a target over time: a span of frames in which it moves with an object or bone, such as a table or the hips.

Keyframes of the target keep their places in the world, those that repeat the one before move with the space, and from
the last one on the target is held in it. The frame after the span has a keyframe where the space has carried the target
to: nothing moves at the change, and from there it goes on to its next keyframe. A change is one transaction: read where
the target is, write its keyframes, and look again. Source: none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import bpy
import numpy as np
from bpy.types import Depsgraph, FCurve, Object, Scene, ViewLayer
from mathutils import Matrix, Vector

from ...cooperative import finished
from ...errors import AnimationError, SettingError, TargetError
from ...kinematics.rotation import orientation
from ...rig.armature import find_bone, is_flat, object_or_bone
from ...rig.body import RigBody
from ...rig.checks import check_frames, check_readable, is_evaluated
from ...rig.dependencies import Dependencies, Node
from ...rig.frames.reader import FrameReader
from ...rig.frames.samples import frame_of
from ...rig.keyframes import (
    AnimatedValues,
    Channel,
    check_action,
    check_curves,
    check_unmodified,
    curves_of,
    ensure_channelbag,
    keep_curves,
    replace_keys,
)
from ...rig.keyframes.arrays import enum_number, get_keys, in_range, put_keys
from ...rig.keyframes.channelbags import find_curves, new_curve
from ...rig.limb import Limb, selected_limb
from ...rig.rotation import channel
from ...rig.targets.made import TargetSpace, is_space, new_space, spaces_on
from ...rig.targets.motion import keyable_owner, owner_of
from ...rig.targets.untouched import carriers_of, is_as_made
from ...rig.timeline import Clock, check_nla
from ...rig.units import distance_text
from ..shots.problem import body_of
from ..shots.writing import Undo
from .space_keys import (
    MADE,
    SpacePlan,
    TargetSeen,
    frames_to_change,
    next_after,
    plan_for_space,
    planned_keys,
    with_made_at,
    without_made,
)

_SHORTEST, _LONGEST = 0.1, 10.0  # steps of an iteration, by plain ones
_APART = 1e-4  # of the distance from the origin: more than rounding leaves


def spaces_of(armature: Object, tip: str, scene: Scene | None = None) -> tuple[TargetSpace, ...]:
    """Return the spaces of the target of the limb that ends in `tip`, in order of time."""
    limb = selected_limb(armature.pose.bones[find_bone(armature, tip).name])
    return tuple(each for _, each in spaces_on(owner_of(limb), scene or bpy.context.scene))


def set_space(
    armature: Object,
    tip: str,
    space: Object,
    bone: str = "",
    frame_start: int | None = None,
    frame_end: int | None = None,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> TargetSpace:
    """Have the target of a limb move with an object, or its `bone`, from `frame_start` to `frame_end`.

    They are the present frame and, by default, the end of a space that is there, the frame before the next one, or the
    last of the scene. The target does not move at the first frame, nor from the last to the one after: there it gets a
    keyframe where the space has carried it to. Its other keyframes stay where they are in the world, but within the
    span those that repeat the one before, and the time after the last one, are held in the space. Spaces that begin
    within the span are replaced, and one that is there at its first frame ends before. The same one again is fitted to
    where its object is by now: its keyframes stay, and nothing moves at the ends. Raises an IKError that names the
    culprit; then nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    limb = _readable(armature, tip, scene, view_layer)
    start = scene.frame_current if frame_start is None else frame_start
    there = spaces_on(owner_of(limb), scene)
    end = last_frame_from(armature, tip, start, scene) if frame_end is None else frame_end
    check_frames(start, end, 1)
    for _, each in there:
        if each.frame_start <= end < each.frame_end:
            raise SettingError(
                f"The target is in '{each.name}' from frame {each.frame_start} to {each.frame_end}, beyond frame "
                f"{end}. End that space first, or choose a later frame."
            )
    _check_space(limb, space, bone, scene, view_layer)
    change = SpaceChange(limb, start, end, scene, view_layer)
    made = TargetSpace(space, bone, start, end)
    with Undo() as undo:
        change.begin(undo)
        if any(span == made for _, span in there):
            change.fit({}, {}, AitkenSteps())
        else:
            for each, span in there:
                if span.frame_start <= end and start <= span.frame_end:
                    change.free(each, span, max(start, span.frame_start))
            change.hold(space, bone)
        undo.pop_all()
    change.finish()
    return made


def end_space(
    armature: Object,
    tip: str,
    frame: int | None = None,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> TargetSpace | None:
    """End the space that the target of a limb is in at `frame`, by default the present one: from there on it is free.

    Nothing moves at that frame. Returns the space as it is now, None where it began at the frame and is removed.
    Raises an IKError that names the culprit; then nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    limb = _readable(armature, tip, scene, view_layer)
    at = scene.frame_current if frame is None else frame
    for constraint, each in spaces_on(owner_of(limb), scene):
        if each.frame_start <= at <= each.frame_end:
            change = SpaceChange(limb, at, each.frame_end, scene, view_layer)
            with Undo() as undo:
                change.begin(undo)
                change.free(constraint, each, at)
                undo.pop_all()
            change.finish()
            return each._replace(frame_end=at - 1) if each.frame_start < at else None
    raise SettingError(f"The target '{limb.target_name}' is in no space at frame {at}. Go to a frame of one.")


def remove_space(
    armature: Object,
    tip: str,
    frame: int,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> None:
    """Remove the space that the target of a limb is in at a frame, with the keyframes that were made at its ends.

    The other keyframes stay where they are in the world. Raises an IKError that names the culprit; then nothing has
    changed.
    """
    for each in spaces_of(armature, tip, scene):
        if each.frame_start <= frame <= each.frame_end:
            end_space(armature, tip, each.frame_start, scene, view_layer)
            return
    raise SettingError(f"The target of '{tip}' is in no space at frame {frame}. Choose a frame of one.")


def _readable(armature: Object, tip: str, scene: Scene, view_layer: ViewLayer) -> Limb:
    """Return the limb that ends in a bone. Raises the IKError that explains why its target cannot be keyed."""
    limb = selected_limb(armature.pose.bones[find_bone(armature, tip).name])
    view_layer.update()
    check_readable(limb, scene, view_layer)
    owner = keyable_owner(limb)
    if isinstance(owner, Object) and any((*owner.delta_location, *owner.delta_rotation_euler)):
        raise TargetError(f"Target '{owner.name}' has delta transforms. Use Object > Apply > Deltas.")
    return limb


def fit_spaces(
    rig: RigBody,
    solved: Callable[[str, float], Matrix | None],
    relaxed: AitkenSteps,
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
) -> float:
    """Have targets of a body in spaces on its own bones not move at the changes, with these where they are `solved`.

    `solved` returns the world matrix (4x4) of a bone at a frame, None where that is not solved. Returns the largest
    distance by which a target would have jumped [Blender units]; closing `undo` restores all.
    """
    far = 0.0
    for limb in rig.limbs:
        own = carriers_of(rig, limb).spaces
        carriers = {name: (rig.armature, bone) for name, bone in own.items()}
        places = {}
        for each, span in spaces_on(owner_of(limb), scene) if own else ():
            for frame in span.changes:
                place = solved(own[each.name], frame) if each.name in own else None
                if place is not None:
                    places[each.name, float(frame)] = place
        if places:
            spans = [span for _, span in spaces_on(owner_of(limb), scene)]
            change = SpaceChange(limb, spans[0].frame_start, spans[-1].frame_end, scene, view_layer)
            change.begin(undo)
            far = max(far, change.fit(carriers, places, relaxed))
    return far


def last_frame_from(armature: Object, tip: str, start: int, scene: Scene) -> int:
    """Return the frame up to which a space of a limb's target that begins at `start` goes if nothing else is said."""
    for each in spaces_of(armature, tip, scene):
        if each.frame_start <= start <= each.frame_end:
            return each.frame_end
        if each.frame_start > start:
            return each.frame_start - 1
    return max(scene.frame_end, start)


def _check_space(limb: Limb, space: Object, bone: str, scene: Scene, view_layer: ViewLayer) -> None:
    """Raise the IKError that explains why a target cannot move with an object or bone."""
    if bone:
        find_bone(space, bone)
    name = bone or space.name
    if scene not in space.users_scene or not is_evaluated(space, view_layer):
        raise TargetError(f"'{space.name}' is not in this scene, or disabled in this view layer. Enable it first.")
    if is_flat(frame_of(space, bone, view_layer.depsgraph)):
        raise TargetError(f"'{name}' is scaled to zero, nothing has a place in it. Give it a scale.")
    known, body, bones = Dependencies([limb]), body_of(limb.armature, limb.tip), limb.armature.pose.bones
    others = [tip for tip in (body.tips if body else ()) if tip != limb.tip]
    led = {*limb.solved} - {above.name for tip in others for above in bones[tip].parent_recursive}
    for node in known.movers(Node(space, bone)):
        if node.object == limb.armature and node.bone in led:
            raise TargetError(f"'{name}' follows chain bone '{node.bone}', which the target leads. Choose another one.")
        if node.object == limb.target and node.bone == limb.subtarget:
            raise TargetError(f"'{name}' is the target '{limb.target_name}', or follows it. Choose another space.")


class AitkenSteps:
    """Steps of a fixed-point iteration, of vectors by name, made longer or shorter by Aitken's delta-squared method."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[Vector, float]] = {}

    def step(self, name: str, way: Vector) -> Vector:
        """Return the step to make where a plain one would be `way`."""
        share = 1.0
        if name in self._last:
            before, share = self._last[name]
            change = way - before
            if change.length_squared:
                share = min(max(-share * before.dot(change) / change.length_squared, _SHORTEST), _LONGEST)
        self._last[name] = way.copy(), share
        return way * share


class SpaceChange:
    """A change of the spaces of a target from `start` to `end`; all of it is undone by the stack that begin() takes."""

    def __init__(self, limb: Limb, start: int, end: int, scene: Scene, view_layer: ViewLayer) -> None:
        self._limb, self._start, self._end = limb, start, end
        self._scene, self._view_layer = scene, view_layer
        self._owner, self._target = keyable_owner(limb), limb.target
        self._clock = Clock(scene, self._target)
        turns = self._target != self._owner or not is_as_made(self._target)
        self._props = ["location", channel(self._owner)[0]] if turns else ["location"]
        self._paths = [self._owner.path_from_id(prop) for prop in self._props]
        self._group = limb.subtarget or "Object Transforms"
        self._gone: list[Any] = []

    def begin(self, undo: ExitStack) -> None:
        """Check that the target can be keyed, and have `undo` restore it. Raises the IKError that explains why not."""
        target, name = self._target, f"target '{self._limb.target_name}'"
        check_action(target)
        check_nla(target, self._scene, self._start, self._end + 1)
        known = self._curves()
        check_curves(known, name)
        check_unmodified(known, name)
        drivers = target.animation_data.drivers if target.animation_data else ()
        if any(curve.data_path in self._paths and not curve.mute for curve in drivers):
            raise AnimationError(f"The {name} has a driver. Put what drives it into the space, or remove the driver.")
        influences = [each.path_from_id("influence") for each, _ in spaces_on(self._owner, self._scene)]
        self._saved, self._undo = AnimatedValues(target, [*self._paths, *influences]), undo
        undo.callback(self._saved.update_and_restore, self._view_layer)
        self._bag = ensure_channelbag(target, undo)
        keep_curves(target, undo)

    def hold(self, space: Object, bone: str) -> None:
        """Put the target, which is in no space from the first to the last frame, into one."""
        made = new_space(self._owner, space, bone)
        self._undo.callback(self._owner.constraints.remove, made)
        self._view_layer.update()
        keyed = self._keyed()
        frames = frames_to_change(keyed, self._start, self._end)
        seen = self._look(frames, {made.name: (space, bone)})
        made.inverse_matrix = seen[float(self._start)].spaces[made.name].inverted()
        plan = plan_for_space(seen, keyed, made.name, float(self._start), float(self._end))
        self._write(plan)
        self._key_influence(made, self._start, self._end)
        self._show_and_compare(plan)

    def free(self, space: Any, span: TargetSpace, at: int) -> None:
        """Take the target out of a space from a frame on."""
        keyed, end = self._keyed(), float(span.frame_end)
        goes_on = any(each.frame_start == end + 1 for _, each in spaces_on(self._owner, self._scene))
        frames = sorted({float(at), *(frame for frame in keyed if at <= frame <= end)})
        seen = self._look(frames, {space.name: (space.target, space.subtarget)})
        begins, inverse = at == span.frame_start, space.inverse_matrix.copy()
        plan = SpacePlan({}, {}, None if begins else at - 1.0, held_before=end)
        after = [] if goes_on else [end + 1.0, *next_after(keyed, end + 1.0)]
        made = self._made([*frames, *after])
        plan.dropped = [*frames, *after] if begins else [frame for frame in made if frame != at]
        for frame in frames:
            if (frame == at and begins) or (frame in plan.dropped and frame in made):
                continue
            now = seen[frame]
            base = (now.spaces[space.name] @ inverse).inverted() @ now.world @ now.basis.inverted()
            plan.changes[frame] = base.inverted() @ now.world @ now.basis.inverted()
            if not begins:  # then channels that had no keyframes are as they were
                plan.wanted[frame] = now.world
        self._write(plan)
        if begins:
            self._gone.append(space)
        self._key_influence(space, span.frame_start, at - 1)
        self._show_and_compare(plan)

    def fit(
        self,
        carriers: Mapping[str, tuple[Object, str]],
        places: Mapping[tuple[str, float], Matrix],
        relaxed: AitkenSteps,
    ) -> float:
        """Have nothing move at the changes where bones that carry spaces will be elsewhere; return how far it was off.

        `carriers` are these bones by the names of spaces, and `places` their world matrices then by names of spaces and
        frames. The target is where it was in the world when a space begins, and left where that has carried it to.
        """
        there, keyed = spaces_on(self._owner, self._scene), self._keyed()
        ends = {each.name: (float(span.frame_start), float(span.frame_end)) for each, span in there}
        inside = {frame: name for name, (first, last) in ends.items() for frame in keyed if first <= frame <= last}
        frames = sorted({*inside, *(frame for first, last in ends.values() for frame in (first, last, last + 1.0))})
        spaces = {each.name: (each.target, each.subtarget) for each, _ in there}
        seen = self._look(frames, spaces | {f"/{name}": carrier for name, carrier in carriers.items()})
        inverses, plan, far = {each.name: each.inverse_matrix.copy() for each, _ in there}, SpacePlan({}, {}), 0.0

        def base(frame: float) -> Matrix:
            now, name = seen[frame], next((name for name, (a, b) in ends.items() if a <= frame <= b), "")
            carried = now.spaces[name] @ inverses[name] if name else Matrix()
            return carried.inverted() @ now.world @ now.basis.inverted()

        def space(name: str, frame: float) -> Matrix:
            now, then = seen[frame].spaces, places.get((name, frame))
            return then @ now[f"/{name}"].inverted() @ now[name] if then is not None else now[name]

        made = self._made([last + 1.0 for _, last in ends.values()])
        new: dict[float, Matrix] = {}
        for each, _ in there:
            name, (first, last) = each.name, ends[each.name]
            start = new.get(first, seen[first].basis)
            for frame in (frame for frame, within in inside.items() if within == name):
                new[frame] = start @ seen[first].basis.inverted() @ seen[frame].basis
            inverse, after = space(name, first).inverted(), last + 1.0
            if after in made:
                held = new[max(frame for frame, within in inside.items() if within == name)]
                left, before = (
                    base(after).inverted() @ space(name, f) @ inverse @ base(f) @ held for f in (after, last)
                )
                new[after], plan.leaving[after] = left, left.translation - before.translation
                way = left.translation - seen[after].basis.translation
                far = max(far, (base(after).to_3x3() @ way).length)
                left.translation += relaxed.step(name, way) - way
            shown = space(name, first) @ inverses[name] @ base(first) @ seen[first].basis
            far = max(far, (shown.translation - (base(first) @ start).translation).length)
            self._undo.callback(setattr, each, "inverse_matrix", inverses[name])
            each.inverse_matrix = inverse
        plan.changes = {frame: basis @ seen[frame].basis.inverted() for frame, basis in new.items()}
        self._write(plan)
        self._show_and_compare(plan)
        return far

    def finish(self) -> None:
        """Remove what has no effect any more, as that cannot be undone."""
        for path in self._paths:
            for curve in find_curves(self._bag, path).values():
                if curve.is_empty:
                    self._bag.fcurves.remove(curve)
        for each in self._gone:
            for curve in find_curves(self._bag, each.path_from_id("influence"), 1).values():
                self._bag.fcurves.remove(curve)
            self._owner.constraints.remove(each)
        self._view_layer.update()

    def _curves(self) -> list[FCurve]:
        return [curve for curve in curves_of(self._target) if curve.data_path in self._paths]

    def _keyed(self) -> list[float]:
        """Return the frames at which the target has keyframes."""
        times = {time for curve in self._curves() for time in get_keys(curve, ["co"])["co"][:, 0].tolist()}
        return sorted(round(self._clock.frame(time), 3) for time in times)

    def _made(self, frames: Sequence[float]) -> list[float]:
        """Return those of the frames at which all keyframes of the target were made for a space."""
        kind, found = enum_number("type", MADE), []
        for frame in frames:
            time = self._clock.time(frame)
            rows = [(keys["type"][in_range(keys, time, time)] == kind) for keys in map(get_keys, self._curves())]
            if all(row.all() for row in rows):
                found.append(frame)
        return found

    def _look(self, frames: Sequence[float], spaces: Mapping[str, tuple[Object, str]]) -> dict[float, TargetSeen]:
        """Read the target and these spaces at frames."""
        limb = self._limb

        def look(depsgraph: Depsgraph, _: float) -> TargetSeen:
            shown = limb.target.evaluated_get(depsgraph)
            owner = object_or_bone(shown, limb.subtarget)
            places = {name: frame_of(*each, depsgraph) for name, each in spaces.items()}
            return TargetSeen(frame_of(limb.target, limb.subtarget, depsgraph), owner.matrix_basis.copy(), places)

        return finished(FrameReader(limb, self._scene, self._view_layer, frames).evaluate(frames, look))

    def _key_influence(self, space: Any, first: int, last: int) -> None:
        """Key the influence of a space: 1 from the first to the last frame, 0 else; 0 if there is no such frame."""
        shares = {first - 1: 0.0, first: 1.0, last + 1: 0.0} if first <= last else {first: 0.0}
        values = np.array(list(shares.values()), np.float32)[:, None]
        channels = [Channel(self._group, space.path_from_id("influence"), values, [0])]
        times = [self._clock.time(frame) for frame in shares]
        finished(replace_keys(self._bag, channels, times, -np.inf, np.inf, self._undo, "CONSTANT"))

    def _write(self, plan: SpacePlan) -> None:
        """Give the keyframes of the target their new values."""
        for prop, path in zip(self._props, self._paths, strict=True):
            known = find_curves(self._bag, path)
            present = tuple(getattr(self._owner, prop))
            times = [self._clock.time(frame) for frame in sorted(plan.changes)]
            for index, value in enumerate(present):
                if index not in known and times:
                    known[index] = new_curve(self._bag, path, index, self._group, self._undo)
                    known[index].keyframe_points.insert(times[0], value, options={"FAST"}, keyframe_type=MADE)
            held = [] if plan.held is None else [self._clock.time(plan.held)]
            keys = {index: with_made_at(curve, [*times, *held]) for index, curve in known.items()}
            first = {index: float(curve.evaluate(self._clock.time(self._start))) for index, curve in known.items()}
            if times:
                keys = planned_keys(keys, plan, prop, self._owner, self._clock, present)
            for index, new in keys.items():
                for frame in held:
                    new["interpolation"][in_range(new, frame, frame)] = enum_number("interpolation", "CONSTANT")
                dropped = [self._clock.time(frame) for frame in plan.dropped]
                end = plan.held_before and self._clock.time(plan.held_before)
                put_keys(known[index], without_made(new, dropped, end))
            if known and all(curve.is_empty for curve in known.values()):
                setattr(self._owner, prop, [first[index] for index in range(len(present))])

    def _show_and_compare(self, plan: SpacePlan) -> None:
        """Show the target as keyed. Raises TargetError if it is not where it is to be."""
        influences = [each.path_from_id("influence") for each in self._owner.constraints if is_space(each)]
        self._saved.show_keyed([*self._paths, *influences], self._view_layer)
        if not plan.wanted:
            return
        seen, far = self._look(sorted(plan.wanted), {}), {}
        for frame, wanted in plan.wanted.items():
            now = seen[frame].world
            far[frame] = (now.translation - wanted.translation).length / max(1.0, wanted.translation.length)
            if len(self._props) > 1:
                far[frame] += orientation(now.to_3x3()).rotation_difference(orientation(wanted.to_3x3())).angle
        frame = max(far, key=far.__getitem__)
        if far[frame] > _APART:
            raise TargetError(
                f"Target '{self._limb.target_name}' would jump by {distance_text(far[frame], self._scene)} at frame "
                f"{frame:g}: something else moves it, or its space shears it. Mute its other constraints, and apply "
                "the scale of the space."
            )
