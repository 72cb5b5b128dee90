# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure on the evaluated rig what was solved: the tip, and the deform bones that are meant to follow it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import inf
from time import perf_counter
from typing import NamedTuple

from bpy.types import Depsgraph, Scene, ViewLayer
from mathutils import Matrix, Quaternion, Vector

from ..cooperative import Work
from ..goals.orientation import missing_angle
from ..kinematics.rotation import orientation, rotation_angle
from ..rig.armature import is_flat
from ..rig.dependencies import Bound
from ..rig.frames.sampling import go_to, stage
from ..rig.frames.stepping import stepping, way_through
from ..rig.interference import live_constraints, may_interfere
from ..rig.limb import Limb
from ..rig.links import Links
from ..rig.switches import Switch, find_switch
from .frame_solver import Solved
from .report import NotFollowing, Remedy, Shown

AGREES = 1e-4  # of the reach: what the evaluated and the predicted tip may differ by without a warning
_ROUNDING = 1e-5  # of the reach: what they differ by as numbers in single precision do
_TURNED = 1e-4  # [rad] the same for rotations


class Watch:
    """The bones to look at to see whether a limb is where it was solved to be, found before anything is written.

    `closely` says whether every frame has to be looked at, as something besides the limb's keys may move its bones.
    """

    def __init__(self, limb: Limb) -> None:
        self.limb = limb
        self.followers: dict[str, Matrix] = {}  # from the rest frame of each to that of the tip bone, 4x4
        self.between: tuple[str, ...] = ()  # the bones whose constraints make them follow
        bones = limb.armature.pose.bones
        if any(len(bone.constraints) for bone in bones):
            links, rests = Links(limb.armature), limb.armature.data.bones
            tip = rests[limb.tip].matrix_local
            followers = links.deforming(limb.tip, limb.bones)
            self.followers = {name: rests[name].matrix_local.inverted() @ tip for name in followers}
            self.between = tuple(dict.fromkeys(c for name in reversed(limb.in_order) for c in links.copies(name)))
        self.closely = bool(self.followers) or may_interfere(limb)

    def look(self, depsgraph: Depsgraph) -> Seen:
        """The tip and its followers as evaluated now."""
        armature = self.limb.armature.evaluated_get(depsgraph)
        bones, tail = armature.pose.bones, Vector((0.0, self.limb.armature.data.bones[self.limb.tip].length, 0.0))
        followers = {name: _shown(bones[name].matrix @ offset, tail) for name, offset in self.followers.items()}
        tip = bones[self.limb.tip]
        own = _shown(tip.matrix, tail)._replace(tip=tip.tail.copy())
        return Seen(armature.matrix_world.copy(), own, followers)

    def remedy(self, follower: str, frame: float, scene: Scene) -> Remedy | None:
        """What makes a follower follow that does not at a frame, if one property alone does."""
        found = self.switch(follower, frame, scene)
        return remedy_of(*found, frame, scene) if found else None

    def switch(self, follower: str, frame: float, scene: Scene) -> tuple[Switch, float] | None:
        """That property, and the value to give it."""
        return find_switch(self.limb, self.between, partial(self.follows, follower), frame, scene)

    def follows(self, follower: str, depsgraph: Depsgraph) -> bool:
        """Whether a follower is with the limb's tip now."""
        return astray(self.limb, self.look(depsgraph), follower) is None


def _shown(frame: Matrix, tail: Vector) -> Shown:
    return Shown(frame @ tail, Quaternion() if is_flat(frame) else orientation(frame.to_3x3()))


class Seen(NamedTuple):
    """A frame as Blender shows it: the armature in the world (4x4); in its space the tip, and that on each follower."""

    world: Matrix
    tip: Shown
    followers: Mapping[str, Shown]


class Measured(NamedTuple):
    """What was measured: `shown` by frames, where that is not what was solved; what to say of it, and of followers.

    `alone` is what is shown of the limb's tip without its followers.
    """

    shown: dict[float, Shown]
    alone: dict[float, Shown]
    warnings: list[str]
    not_following: list[NotFollowing]


NOT_MEASURED = Measured({}, {}, [], [])


def measure_now(
    watch: Watch,
    solved: Solved,
    depsgraph: Depsgraph,
    scene: Scene,
    remedies: Mapping[str, Remedy | None] | None = None,
) -> Measured:
    """Measure one solved frame, which `depsgraph` shows; where `remedies` are given no others are looked for."""
    return _judge(watch, [solved], {solved.now.frame: watch.look(depsgraph)}, [solved], scene, remedies)


def measure(
    watch: Watch,
    solved: Sequence[Solved],
    keyed: Sequence[Solved],
    scene: Scene,
    view_layer: ViewLayer,
    bound: Bound | None,
    seconds: float = inf,
    by_hand: bool = False,
) -> Work[Measured]:
    """Measure frames after their keys are written: all if anything may interfere, else some, and all if these differ.

    A disagreement at `keyed` frames is warned of, unless there are keys made `by_hand`, which are meant to differ.
    `bound` says why the frames are only seen in the user's scene, which is left as it was.
    """
    see = partial(looking, watch, scene=scene, view_layer=view_layer, bound=bound, seconds=seconds)
    frames = [each.now.frame for each in solved]
    some = keyed[0], keyed[len(keyed) // 2], keyed[-1]
    seen: dict[float, Seen] = {}
    if not watch.closely and not by_hand:
        seen = yield from see(list(dict.fromkeys(each.now.frame for each in some)))
    if watch.closely or by_hand or any(_apart(each, seen[each.now.frame]) > _agrees(each) for each in some):
        seen = yield from see(frames)
    return _judge(watch, solved, seen, () if by_hand else keyed, scene)


def looking(
    watch: Watch, frames: Sequence[float], scene: Scene, view_layer: ViewLayer, bound: Bound | None, seconds: float
) -> Work[dict[float, Seen]]:
    """Look at each of the frames; stops now and then, and the temporary scene is gone meanwhile."""
    seen: dict[float, Seen] = {}
    if bound:
        wanted = set(frames)
        with stepping(scene, view_layer) as evaluate:
            for frame in way_through(scene, sorted(frames), bound):
                depsgraph = evaluate(frame)
                if frame in wanted:
                    seen[frame] = watch.look(depsgraph)
                yield
        return seen
    while len(seen) < len(frames):
        with stage(watch.limb, scene) as staged:
            until = perf_counter() + seconds
            for frame in frames[len(seen) :]:
                seen[frame] = watch.look(go_to(staged, frame))
                if perf_counter() > until:
                    break
        yield
    return seen


def _judge(
    watch: Watch,
    solved: Sequence[Solved],
    seen: Mapping[float, Seen],
    keyed: Sequence[Solved],
    scene: Scene,
    remedies: Mapping[str, Remedy | None] | None = None,
) -> Measured:
    pairs = [(each, seen[each.now.frame]) for each in solved if each.now.frame in seen]
    shown, alone = {}, {}
    for each, here in pairs:
        frame = each.now.frame
        own = here.tip if _differs(each, here.tip, each.pose.tip, each.pose.tip_rotation) else None
        if own:
            alone[frame] = own
        others = [s for s in here.followers.values() if _differs(each, s, here.tip.tip, here.tip.rotation)]
        if own or others:
            shown[frame] = _worst(each, [here.tip, *others])
    warnings = _disagreement(watch.limb, [(each, seen[each.now.frame]) for each in keyed if each.now.frame in seen])
    notes = _not_following(watch, pairs, scene, remedies)
    return Measured(shown, alone, [*warnings, *(note.text(len(pairs)) for note in notes)], notes)


def _reach(each: Solved) -> float:
    return float(each.pose.chain.reach)


def _agrees(each: Solved) -> float:
    return AGREES * _reach(each)


def _apart(each: Solved, seen: Seen) -> float:
    return float((seen.tip.tip - each.pose.tip).length)


def _differs(each: Solved, shown: Shown, tip: Vector, rotation: Quaternion) -> bool:
    """Whether what is shown is elsewhere, or, where that counts, turned otherwise, by more than rounding."""
    turned = bool(each.goal.soft) and rotation_angle(shown.rotation, rotation) > _TURNED
    return turned or (shown.tip - tip).length > _ROUNDING * _reach(each)


def _worst(each: Solved, places: Sequence[Shown]) -> Shown:
    """Of several that should be at the goal the place that is the farthest from it and the rotation most off it."""
    world, target = each.now.rig.world, each.goal.target
    place = max(places, key=lambda s: (world @ s.tip - world @ target.closest(s.tip)).length)
    turned = max(places, key=lambda s: missing_angle(each.goal.soft, s.rotation) or 0.0)
    return Shown(place.tip, turned.rotation)


def _disagreement(limb: Limb, pairs: Sequence[tuple[Solved, Seen]]) -> list[str]:
    """A warning if Blender puts the tip elsewhere than the solution, with what may be the reason."""
    far = [(_apart(each, here), each.now.frame) for each, here in pairs if _apart(each, here) > _agrees(each)]
    if not far:
        return []
    apart, frame = max(far)
    where = "" if len(pairs) == 1 else f" at frame {frame:g}"
    for constraint in live_constraints(limb):
        bone = limb.armature.path_resolve(constraint.path_from_id().rpartition(".constraints")[0])
        return [
            f"Constraint '{constraint.name}' on '{bone.name}' moves the tip {apart:.3g} away from the solution{where}. "
            "Mute it."
        ]
    return [f"Something else moves the tip of '{limb.tip}' {apart:.3g} away from the solution{where} (NLA, drivers)."]


def _not_following(
    watch: Watch,
    pairs: Sequence[tuple[Solved, Seen]],
    scene: Scene,
    remedies: Mapping[str, Remedy | None] | None,
) -> list[NotFollowing]:
    """Each follower that is not with the limb's tip at some frames, with the property that is in the way."""
    limb, notes = watch.limb, []
    for name in watch.followers:
        both = ((astray(each.now.limb, here, name, each), each.now.frame) for each, here in pairs)
        far = [(apart, frame) for apart, frame in both if apart is not None]
        if far:
            distance, frame = max(far)
            remedy = watch.remedy(name, frame, scene) if remedies is None else remedies.get(name)
            notes.append(NotFollowing(name, limb.tip, distance, frame, len(far), remedy))
    return notes


def astray(limb: Limb, seen: Seen, follower: str, solved: Solved | None = None) -> float | None:
    """How far a follower is from the limb's tip [Blender units, world space]; None if it is with it.

    That is within the limb's tolerance and that of its angle; at a `solved` frame of which any will do without that.
    """
    tip, other = seen.tip, seen.followers[follower]
    apart = (seen.world @ other.tip - seen.world @ tip.tip).length
    turning = solved is None or missing_angle(solved.goal.soft, tip.rotation) is not None
    turned = turning and rotation_angle(other.rotation, tip.rotation) > limb.angle_tolerance
    return float(apart) if turned or apart > limb.tolerance else None


def remedy_of(switch: Switch, value: float, frame: float, scene: Scene) -> Remedy:
    """In words that can be kept: what a switch is at a frame, and what it should be."""
    return Remedy(switch.holder, switch.name, switch.at(frame, scene), value)
