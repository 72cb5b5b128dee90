# SPDX-License-Identifier: GPL-3.0-or-later
"""Grasp: the fingers of a hand close around an object, keyed over the frames at which the hand holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from math import degrees, radians
from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import Depsgraph, Object, Scene, ViewLayer
from mathutils import Matrix, Quaternion, Vector

from ..cooperative import finished
from ..errors import RigError, TargetError
from ..kinematics import Free
from ..kinematics.rotation import orientation
from ..rig.anatomy.limbs import ARM, Anatomy, rest_body
from ..rig.armature import find_bone
from ..rig.checks import check_armature, is_evaluated
from ..rig.controls import Controls
from ..rig.fingers import HeldSurface
from ..rig.frames.reader import FrameReader
from ..rig.freedom import keyed
from ..rig.grasping import ClosedHand, GraspingHand, Stage, open_rotations
from ..rig.keyframes import Channel, check_keys, curves_of, write_keys
from ..rig.limb import Limb
from ..rig.rotation import channel, run_of, set_rotation
from ..rig.targets.props import holds_on, is_holding
from ..rig.timeline import Clock
from ..rig.units import distance_text
from .pose import solve_pose
from .shots.writing import Undo
from .targets import target_to_tip

_EASE = 8  # frames in which the hand opens, and in which it closes
_RETURNS = 8, 16, 24  # between the own pose and the open hand: the first of these in which fingers stay off the prop
_LOOK = 2  # from one of the frames at which fingers are compared with the object to the next
_ARRIVED = 0.002  # of the length of the hand, and in radians, off its place up to which the grasp found there holds
_FEW, _BESIDE = 3, radians(85.0)  # fingers that hold, and the angle to the thumb below which that is told


class Grasp(NamedTuple):
    """The outcome of a grasp: the bone of the `hand`, the `prop`, and what of the hand touches it.

    `fingers` is the number of fingers that touch, besides the thumb, `phalanges` that of all their phalanges and of the
    thumb's. `opposition` is the largest angle [rad] between the directions in which thumb and a finger touch,
    `penetration` the depth of the deepest phalanx, `shift` how far the hand was moved [Blender units, world space].
    `frames` are those that were keyed.
    """

    hand: str
    prop: str
    fingers: int
    phalanges: int
    opposition: float
    penetration: float
    shift: float
    frames: tuple[float, ...]
    warnings: tuple[str, ...]


def hand_at(armature: Object, bone: str) -> str:
    """Return the bone of the hand that a bone of an arm or a finger belongs to. Raises RigError if it has none."""
    name = find_bone(armature, bone).name
    body = rest_body(armature)
    part = body.part(name)
    if part is not None and part.part == "finger":
        above = body.hand_above(name)
        if above and body.part(above).part == "hand":
            return above
    limb = Anatomy(armature, Controls(armature)).limb_with(name)
    if limb is None or limb.kind is not ARM or body.part(limb.bones[-1]) is None:
        raise RigError(f"'{bone}' belongs to no arm or hand. Make a hand active.")
    return limb.bones[-1]


def prop_held(armature: Object, hand: str, scene: Scene) -> Object | None:
    """Return the object that a hand takes by Take; None if it takes none or several."""
    found = [ob for ob in scene.objects if _holds(ob, armature, hand)]
    return found[0] if len(found) == 1 else None


def _holds(prop: Object, armature: Object, hand: str) -> bool:
    return any(c.target == armature and c.subtarget == hand for c in holds_on(prop))


def grasp(
    armature: Object,
    hand: str,
    prop: Object,
    key: bool = True,
    shift: bool = True,
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> Grasp:
    """Close the fingers of a hand around a prop until each phalanx touches, with the thumb opposite of them.

    Where the hand holds the prop by Take, that is at the frame at which it takes it, and with `key` the fingers are
    keyed from there to where it lets go, and close and open in 8 frames; otherwise at the present frame. With `shift` a
    hand whose arm has no keys moves by at most 2 cm and 15 degrees. Joints keep their limits, and those of human
    fingers where the rig has none. Raises an IKError that names the culprit; then nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    view_layer.update()
    check_armature(armature, view_layer)
    hand = hand_at(armature, hand)
    if prop == armature or scene not in prop.users_scene or not is_evaluated(prop, view_layer):
        raise TargetError(f"'{prop.name}' cannot be held: it is the armature itself, hidden or not in this scene.")
    held = _frames_held(armature, hand, prop, scene)
    now = scene.frame_current + scene.frame_subframe
    frame = held[0] if held and key else now
    notes = list[str]()
    with Undo() as undo:
        shift = shift and frame == now and not _is_animated(armature, hand)
        found = _look(armature, hand, prop, frame, shift, scene, view_layer)
        moved = 0.0
        if not _is_still(found.way):
            moved, missed = _move_hand(armature, hand, found.way, scene, view_layer, undo)
            if missed:
                found = _look(armature, hand, prop, frame, False, scene, view_layer)
        closed = found.closed
        names = [name for finger in closed.all for name in finger.names]
        if key:
            notes += check_keys(armature, names)
        openings = list[_Opening]()
        for there, towards in zip(held if held and key else (), (-1, 1), strict=False):
            if there is not None:
                openings.append(_opening(armature, found, hand, prop, there, towards, scene, view_layer))
        frames = [frame, *(each for opening in openings for each in opening.frames)]
        frames = sorted(frames[1:] or frames)
        _write(armature, closed, frames, [each.rotations for each in openings], key, scene, view_layer, undo)
        undo.pop_all()
    notes += _notes(closed, hand, prop, scene)
    touching = sum(finger.touches > 0 for finger in closed.fingers)
    phalanges = sum(finger.touches for finger in closed.all)
    keyed_at = tuple(frames) if key else ()
    return Grasp(
        hand, prop.name, touching, phalanges, closed.opposition, closed.penetration, moved, keyed_at, tuple(notes)
    )


def _frames_held(armature: Object, hand: str, prop: Object, scene: Scene) -> tuple[int, int | None] | None:
    """Return the frame at which a hand takes a prop by Take, and the last at which it holds it; None of the latter for
    a prop that it keeps to the end."""
    holds = [c for c in holds_on(prop) if c.target == armature and c.subtarget == hand]
    frames = range(scene.frame_start, scene.frame_end + 1)
    found = {frame for frame in frames if any(is_holding(hold, frame, scene) for hold in holds)}
    if not found:
        return None
    first = min(found)
    last = next((frame for frame in range(first, scene.frame_end) if frame + 1 not in found), None)
    return first, last


class _Closed(NamedTuple):
    """The `way` of a hand (4x4, world space), the hand closed there, and both hand and surface as they were found."""

    way: Matrix
    closed: ClosedHand
    hand: GraspingHand
    surface: HeldSurface


def _look(
    armature: Object, hand: str, prop: Object, frame: float, shift: bool, scene: Scene, view_layer: ViewLayer
) -> _Closed:
    """Return the hand closed around a prop at a frame."""

    def close(depsgraph: Depsgraph, _: float) -> _Closed:
        own, surface = GraspingHand(armature.evaluated_get(depsgraph), hand), HeldSurface(prop, depsgraph)
        own.check(surface, prop.name, scene)
        way, closed = own.settle(surface) if shift else (Matrix.Identity(4), own.close(surface))
        return _Closed(way, closed, own.moved(way), surface)

    if frame == scene.frame_current + scene.frame_subframe:
        return close(view_layer.depsgraph, frame)
    limb = Limb.from_bones(armature, [hand], prop)
    return finished(FrameReader(limb, scene, view_layer, [frame]).evaluate([frame], close))[frame]


class _Opening(NamedTuple):
    """The open hand before or after a grasp: `frames` of the own pose, the open one and the grasp, and the rotations
    from rest of the bones of the open hand."""

    frames: tuple[float, float, float]
    rotations: Mapping[str, Quaternion]


def _opening(
    armature: Object,
    found: _Closed,
    hand: str,
    prop: Object,
    grasping: float,
    towards: int,
    scene: Scene,
    view_layer: ViewLayer,
) -> _Opening:
    """Return the open hand before (`towards` is -1) or after (1) the frame of a grasp, clear of the prop as both move.

    The own pose is as near to the grasp as lets the fingers come from it without passing through the prop.
    """
    bones = [name for finger in found.closed.all for name in finger.names]
    limb = Limb.from_bones(armature, [hand], prop)

    def look(depsgraph: Depsgraph, _: float) -> tuple[Matrix, dict[str, Quaternion]]:
        rig, held = armature.evaluated_get(depsgraph), prop.evaluated_get(depsgraph)
        own = {name: rig.pose.bones[name].matrix_basis.to_quaternion() for name in bones}
        place = held.matrix_world.inverted_safe() @ rig.matrix_world @ rig.pose.bones[hand].matrix
        return found.surface.frame @ place, own

    tried = list[_Opening]()
    for ease in _RETURNS:
        there = grasping + towards * _EASE
        own = there + towards * ease
        stages = {own - towards * n: n / ease - 1.0 for n in range(0, ease, _LOOK)}
        stages |= {there - towards * n: n / _EASE for n in range(0, _EASE, _LOOK)}
        frames = sorted([grasping, *stages])
        seen = finished(FrameReader(limb, scene, view_layer, frames).evaluate(frames, look))
        back = seen[grasping][0].inverted_safe()
        ways = [Stage(closed, seen[frame][0] @ back) for frame, closed in stages.items()]
        before = [[seen[own][1][name] for name in finger.names] for finger in found.closed.all]
        turns, is_clear = open_rotations(found.hand, found.closed, found.surface, ways, before)
        tried.append(_Opening((own, there, grasping), dict(zip(bones, chain(*turns), strict=True))))
        if is_clear:
            return tried[-1]
    return tried[0]


def _is_still(way: Matrix, least: float = 1e-6) -> bool:
    return all(abs(way[row][column] - (row == column)) < least for row in range(3) for column in range(4))


def _arm(armature: Object, hand: str) -> list[str]:
    limb = Anatomy(armature, Controls(armature)).limb_with(hand)
    return list(limb.bones) if limb is not None and limb.bones[-1] == hand else []


def _is_animated(armature: Object, hand: str) -> bool:
    """Tell whether the arm of a hand has keys, so that one pose of it would be a jump."""
    arm = _arm(armature, hand)
    paths = tuple(armature.pose.bones[name].path_from_id() for name in arm)
    return not arm or any(curve.data_path.startswith(paths) for curve in curves_of(armature))


def _move_hand(
    armature: Object, hand: str, way: Matrix, scene: Scene, view_layer: ViewLayer, undo: ExitStack
) -> tuple[float, bool]:
    """Pose the arm so that the hand goes this way (4x4, world space), its target with it.

    Return the distance, and whether the hand is elsewhere, as the arm does not reach that far.
    """
    bone, arm = armature.pose.bones[hand], _arm(armature, hand)
    before = [(armature.pose.bones[name], channel(armature.pose.bones[name])[0]) for name in arm]
    for each, prop in before:
        undo.callback(setattr, each, prop, tuple(getattr(each, prop)))
    target = bpy.data.objects.new("IK Triangulation Grasp", None)
    undo.callback(view_layer.update)
    try:
        target.empty_display_type = "ARROWS"
        scene.collection.objects.link(target)
        shown = armature.evaluated_get(view_layer.depsgraph).pose.bones[hand]
        tip = way @ armature.matrix_world @ shown.matrix
        end = tip @ Vector((0.0, shown.bone.length, 0.0))
        target.matrix_world = Matrix.LocRotScale(end, orientation(tip.to_3x3()), None)
        start = armature.matrix_world @ shown.head
        solve_pose(Limb.from_bones(armature, arm, target, orientation="FULL"), scene, view_layer)
    finally:
        bpy.data.objects.remove(target)
    view_layer.update()
    stored = getattr(bone, "ik_triangulation", None)
    if stored is not None and stored.target is not None and not stored.hold and stored.target.library is None:
        target_to_tip([Limb.of(bone)], False, scene, view_layer)
    shown = armature.matrix_world @ bone.matrix
    off = shown.inverted() @ tip
    off.translation /= bone.bone.length
    return float((shown.translation - start).length), not _is_still(off, _ARRIVED)


def _write(
    armature: Object,
    closed: ClosedHand,
    frames: Sequence[float],
    openings: Sequence[Mapping[str, Quaternion]],
    key: bool,
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
) -> None:
    """Pose the fingers, and with `key` key them at these frames: own pose, open, closed, and back."""
    clock, now = Clock(scene, armature), scene.frame_current + scene.frame_subframe
    times = [clock.time(each) for each in frames]
    curves = {(curve.data_path, curve.array_index): curve for curve in curves_of(armature)}
    shown = not openings or (frames[2] <= now and (len(openings) < 2 or now <= frames[3]))
    runs = []
    for name, rotation in (
        (n, r) for finger in closed.all for n, r in zip(finger.names, finger.rotations, strict=True)
    ):
        bone = armature.pose.bones[name]
        prop, _ = channel(bone)
        path, present = bone.path_from_id(prop), tuple(getattr(bone, prop))
        turns = [each[name] for each in openings]
        made = [*turns[:1], rotation, *([rotation, *turns[1:]] if len(turns) > 1 else [])]
        keyed_rows = run_of(np.array([tuple(each) for each in made], float), bone.rotation_mode, Free(), present)
        rows = keyed_rows.tolist()
        if openings:
            own = [
                [curves[path, n].evaluate(time) if (path, n) in curves else v for n, v in enumerate(present)]
                for time in (times[0], times[-1])
            ]
            rows = [own[0], *rows, *own[1 : len(openings)]]
        values = np.array(rows, np.float32)
        flat = np.zeros_like(values)  # handles that are not would close the hand further while it holds
        runs.append(Channel(name, path, values, keyed(bone), (flat, flat), (), np.ones(values.shape, bool)))
        undo.callback(setattr, bone, prop, present)
        if not key or shown:
            set_rotation(bone, keyed_rows[1 if openings else 0].tolist())
    if key:
        finished(write_keys(armature, runs, times, times[0], times[-1], view_layer, undo))
    view_layer.update()


def _notes(closed: ClosedHand, hand: str, prop: Object, scene: Scene) -> Sequence[str]:
    """Return warnings of a hand that does not hold."""
    touching = sum(finger.touches > 0 for finger in closed.fingers)
    if touching < min(_FEW, len(closed.fingers)):
        return [f"{touching} fingers of '{hand}' touch '{prop.name}'. Move the hand until the object is in its palm."]
    if closed.thumb is not None and closed.opposition < _BESIDE:
        return [
            f"The thumb of '{hand}' is not opposite of the fingers ({degrees(closed.opposition):.0f} degrees). Turn "
            f"the hand, or '{prop.name}'."
        ]
    if closed.penetration > closed.radius / 4.0:
        deep = distance_text(closed.penetration, scene)
        return [f"A finger of '{hand}' is {deep} in '{prop.name}'. Move the hand off it."]
    return []
