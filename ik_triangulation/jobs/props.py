# SPDX-License-Identifier: GPL-3.0-or-later
"""Props of a reach: taken at one stop and let go at another, or given to another limb, without a jump.

While it is held, a prop keeps its place in the frame of the tip's bone. Its transforms are read after the limb's keys
are written, so what is held follows what Blender shows of the limb.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import inf
from typing import NamedTuple

from bpy.types import Constraint, Depsgraph, Object, Scene, ViewLayer
from mathutils import Matrix

from ..cooperative import Work
from ..errors import AnimationError, RigError, SettingError, TargetError
from ..rig.armature import is_flat
from ..rig.dependencies import Dependencies, Node
from ..rig.frames.reader import FrameReader
from ..rig.frames.samples import frame_of
from ..rig.limb import Limb
from ..rig.targets.props import (
    KeyedPart,
    PropKeys,
    PropValues,
    check_prop,
    holds_on,
    is_holding,
    muted,
    values_at_places,
    values_of,
)
from ..rig.units import distance_text

HOLDING = ("CONSTRAINT", "KEYS")
TAKING = ("NONE", "TAKE", "GIVE")
_STILL = 1e-5  # of the largest element: a parent that changes less stands still
_JUMP = 1e-4  # of the distance from the origin: more than rounding leaves


class StopOfProp(NamedTuple):
    """The part of a stop that props depend on: frame, target, the prop (None for the target) and what is done there."""

    frame: int
    target: Object
    subtarget: str
    prop: Object | None
    take: str


class HeldProp(NamedTuple):
    """A prop that is held from the frame where it is taken to that where it is let go; None if it is not."""

    prop: Object
    take: int
    give: int | None


class _Place(NamedTuple):
    """A prop at a frame: world matrices of it and of the tip's bone, and the prop's values and their matrix."""

    world: Matrix
    tip: Matrix
    values: PropValues
    basis: Matrix


def held_props(stops: Sequence[StopOfProp], prop_by: str) -> list[HeldProp]:
    """Return the props that a reach takes. Raises SettingError for stops that do not make sense one after the other."""
    if prop_by not in HOLDING:
        raise SettingError(f"Props by '{prop_by}' is unknown. Choose one of {', '.join(HOLDING)}.")
    found: list[HeldProp] = []
    for stop in stops:
        if stop.take not in TAKING:
            raise SettingError(f"Prop action '{stop.take}' is unknown. Choose one of {', '.join(TAKING)}.")
        if stop.take == "NONE":
            continue
        holding = [held for held in found if held.give is None]
        if stop.take == "TAKE":
            if stop.prop is None and stop.subtarget:
                raise SettingError(f"The stop at frame {stop.frame} goes to a bone. Choose the prop that it takes.")
            prop = stop.prop or stop.target
            if any(held.prop == prop for held in holding):
                raise SettingError(f"'{prop.name}' is taken at frame {stop.frame} again. Let it go before that.")
            found.append(HeldProp(prop, stop.frame, None))
            continue
        given = [held for held in holding if stop.prop in {None, held.prop}]
        if not given:
            name = f"'{stop.prop.name}'" if stop.prop else "a prop"
            raise SettingError(f"The stop at frame {stop.frame} lets go of {name} not held. Add a stop that takes it.")
        if len(given) > 1:
            raise SettingError(f"Several props are held at frame {stop.frame}. Choose the one to let go of.")
        found[found.index(given[0])] = given[0]._replace(give=stop.frame)
    return found


def own_holds(held: Sequence[HeldProp], limb: Limb) -> list[Constraint]:
    """Return the constraints by which the limb itself holds these props: muted, the props can be reached for again."""
    return [hold for prop in {each.prop for each in held} for hold in holds_on(prop, limb)]


def check_held(
    held: Sequence[HeldProp],
    stops: Sequence[StopOfProp],
    limb: Limb,
    ends: tuple[int, int],
    scene: Scene,
    view_layer: ViewLayer,
) -> None:
    """Raise the IKError that explains why a limb cannot hold these props; its own holds have to be muted before."""
    known = Dependencies([limb])
    for each in held:
        check_prop(each.prop, limb, ends, scene, view_layer, known)
        until = ends[1] if each.give is None else each.give
        for stop in stops:
            moving = each.take < stop.frame <= until and known.movers(Node(stop.target, stop.subtarget))
            if moving and any(node.object == each.prop for node in moving):
                raise TargetError(
                    f"Target '{stop.target.name}' at frame {stop.frame} moves with '{each.prop.name}', which the limb "
                    "holds then. Choose another target."
                )


def hold_props(
    held: Sequence[HeldProp],
    limb: Limb,
    prop_by: str,
    ends: tuple[int, int],
    undo: ExitStack,
    *,
    scene: Scene,
    view_layer: ViewLayer,
    seconds: float = inf,
) -> Work[None]:
    """Attach props to the tip's bone, by a Child Of constraint or by keys on every frame, after the limb's are written.

    `ends` are the first and last frame of the reach. Closing `undo` restores everything, also if the work is abandoned.
    """
    free = {prop: _within(prop, limb, ends, scene) for prop in {each.prop for each in held}}
    for each in held:
        holder = _Holder(each, limb, ends[1], scene, view_layer, seconds, undo)
        hold = None
        if prop_by == "CONSTRAINT" and free[each.prop]:
            hold = free[each.prop].pop(0)
        yield from holder.write(prop_by, hold, free[each.prop])


def _within(prop: Object, limb: Limb, ends: tuple[int, int], scene: Scene) -> list[Constraint]:
    """Return the limb's holds that begin within the reach: an earlier one made them, and this one replaces them."""
    first, last = ends
    return [
        hold
        for hold in holds_on(prop, limb)
        if not is_holding(hold, first, scene)
        and any(is_holding(hold, frame, scene) for frame in range(first, last + 1))
    ]


class _Holder:
    """A prop in the hand of a limb up to the frame `last`, read and written."""

    def __init__(
        self,
        held: HeldProp,
        limb: Limb,
        last: int,
        scene: Scene,
        view_layer: ViewLayer,
        seconds: float,
        undo: ExitStack,
    ) -> None:
        self._prop, self._take, self._limb = held.prop, held.take, limb
        self._given = held.give is not None
        self._last = last if held.give is None else held.give
        self._scene, self._view_layer, self._seconds = scene, view_layer, seconds
        self._keys = PropKeys(held.prop, scene, view_layer, undo)

    def write(self, prop_by: str, hold: Constraint | None, replaced: Sequence[Constraint]) -> Work[None]:
        """Hold the prop by keys, or by this constraint or else a new one; those that are `replaced` hold no more."""
        prop, take, last, keys = self._prop, self._take, self._last, self._keys
        before = keys.last_before(take)
        frames = range(take if before is None else min(before + 1, take), last + 1)
        gone = [*replaced, *([hold] if hold else [])]
        with muted(gone):
            seen = yield from self._read(frames)
        others = [each for each in holds_on(prop) if each not in gone]
        parents = {frame: self._parent(seen[frame], frame) for frame in seen}
        if others:
            with muted(holds_on(prop)):
                alone = yield from self._read(range(take, last + 1))
            parents = {frame: self._parent(alone[frame], frame) for frame in alone}
        start = seen[take]
        carried = {f: seen[f].tip @ start.tip.inverted() @ start.world for f in range(take, last + 1)}
        if prop_by == "CONSTRAINT":
            self._check_parent(parents)
            hold = hold or keys.new_hold(self._limb)
            keys.take_by(hold, start.tip.inverted())
            yield from keys.key_hold(hold, {take - 1: 0.0, take: 1.0} | ({last: 0.0} if self._given else {}), last)
        for each in (*others, *(other for other in gone if other != hold or prop_by == "KEYS")):
            if any(is_holding(each, frame, self._scene) for frame in range(take, last + 1)):
                yield from keys.key_hold(each, {take: 0.0}, last)
        held = [take, *([last] if self._given else [])] if prop_by == "CONSTRAINT" else list(range(take, last + 1))
        places = [parents[frame].inverted() @ carried[frame] for frame in held]
        values = values_at_places(prop, places, start.values)
        if not others:
            values[0] = start.values  # without the rounding of matrices
        own = [seen[frame].values for frame in frames[: take - frames[0]]]
        if any(each != start.values for each in own):  # a curve to the new key would be another one
            yield from keys.key_values(KeyedPart(frames[: len(own)], own, "LINEAR"), take - 1)
        yield from keys.key_values(KeyedPart(held, values, "CONSTANT" if prop_by == "CONSTRAINT" else "LINEAR"), last)
        if prop_by == "KEYS":
            yield from keys.key_values(KeyedPart([last], values[-1:], "CONSTANT"), last)
        keys.show()
        wanted = {frame: seen[frame].world for frame in range(frames[0], take)} | carried
        self._compare(wanted, (yield from self._read(frames)))

    def _read(self, frames: Sequence[int]) -> Work[dict[float, _Place]]:
        reader = FrameReader(
            replace(self._limb, target=self._prop, subtarget="", pole_target=None, obstacles=None),
            self._scene,
            self._view_layer,
            frames,
        )
        return (yield from reader.evaluate(frames, self._look, self._seconds))

    def _look(self, depsgraph: Depsgraph, frame: float) -> _Place:
        prop = self._prop.evaluated_get(depsgraph)
        tip = frame_of(self._limb.armature, self._limb.tip, depsgraph)
        if is_flat(tip):
            raise RigError(f"Bone '{self._limb.tip}' is scaled to zero at frame {frame:g}, it cannot hold. Scale it.")
        return _Place(prop.matrix_world.copy(), tip, values_of(prop), prop.matrix_basis.copy())

    def _parent(self, place: _Place, frame: float) -> Matrix:
        """Return the world matrix that the prop's own transform is relative to."""
        if is_flat(place.basis) or is_flat(place.world):
            raise TargetError(f"Prop '{self._prop.name}' is scaled to zero at frame {frame:g}. Give it a scale.")
        return place.world @ place.basis.inverted()

    def _check_parent(self, parents: dict[float, Matrix]) -> None:
        start = parents[self._take]
        for frame in range(self._take, self._last + 1):
            if _apart(parents[frame], start) > _STILL * max(1.0, _largest(start)):
                raise AnimationError(
                    f"The parent of prop '{self._prop.name}' moves at frame {frame}, while the prop is held. "
                    "Hold props by keys, or unparent it."
                )

    def _compare(self, wanted: dict[float, Matrix], shown: dict[float, _Place]) -> None:
        """Raise RigError if Blender shows the prop elsewhere."""
        far = {frame: _apart(shown[frame].world, world) for frame, world in wanted.items()}
        frame = max(far, key=far.__getitem__)
        if far[frame] > _JUMP * max(1.0, _largest(wanted[frame])):
            raise RigError(
                f"Prop '{self._prop.name}' would jump by {distance_text(far[frame], self._scene)} at frame {frame:g}: "
                "its parent shears it, or something else moves it. Unparent it, or apply the scale of the parent."
            )


def _largest(matrix: Matrix) -> float:
    return max(abs(number) for row in matrix for number in row)


def _apart(a: Matrix, b: Matrix) -> float:
    return _largest(a - b)
