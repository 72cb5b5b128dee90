# SPDX-License-Identifier: GPL-3.0-or-later
"""A change of the spaces of a target as one transaction: read where it is, write its keyframes, and look again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from bpy.types import Depsgraph, FCurve, Object, Scene, ViewLayer
from mathutils import Matrix, Vector

from ...cooperative import finished
from ...errors import AnimationError, TargetError
from ...kinematics.rotation import orientation
from ...rig.armature import object_or_bone
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
from ...rig.limb import Limb
from ...rig.rotation import channel
from ...rig.targets.made import TargetSpace, is_space, new_space, spaces_on
from ...rig.targets.motion import keyable_owner
from ...rig.targets.untouched import is_as_made
from ...rig.timeline import Clock, check_nla
from ...rig.units import distance_text
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
