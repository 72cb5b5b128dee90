# SPDX-License-Identifier: GPL-3.0-or-later
"""A body in the overlay: its held tips, the area that they support, its center of mass, and their texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import pi
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, Object, Scene
from mathutils import Matrix, Quaternion, Vector

from ...goals.support import Support
from ...items import HELD
from ...jobs.shots.problem import body_of
from ...kinematics import Body
from ...kinematics.arrays import Array, Numbers
from ...rig.armature import Channels, base_of, channels_of
from ...rig.body import BodyRest, RigBody, stored_contacts
from ...rig.by_hand.reference import body_by_hand
from ...rig.checks import check_armature
from ...rig.frames.body_samples import unscaled_base
from ...rig.freedom import freedom_of
from ...rig.units import distance_text
from ..translation import translated
from .figure import dashed
from .labels import Anchors, Row
from .limb import shown_limbs
from .sketch import ArcStroke, LineStroke, Role, Sketch, facing, plane_of
from .updates import edits

_UP = Vector((0.0, 0.0, 1.0))

# Shares of the longest reach of the body's tips
_PIN = 0.022  # radius of the head of a pin, which is twice as high above its point
_MASS = 0.035  # radius of the mark of the center of mass
_BELOW = 0.025  # and of the mark of the place below it
_DASH = 0.02

_LEVEL = 0.05  # sine of the angle between a view and the vertical below which there is no upwards in it

_NONE = np.empty((0, 4))


class HeldTip(NamedTuple):
    """A held tip, armature space: `place` where it is planted, animated or in contact, `tip` where it is shown.

    `slip` [Blender units, world space] is between them; it `slips` if that is more than a bake allows.
    """

    name: str
    place: Vector
    tip: Vector
    slip: float
    slips: bool


class Balance(NamedTuple):
    """Center of mass (an estimate) and the area that held tips support, armature space.

    `corners` of the area, `below` the center of mass and `nearest`, the point of the area that is nearest to it, are on
    the floor, which is as high as the lowest point of the held tips. `outside` [Blender units, world space] is 0.0 for
    one above the area.
    """

    centre: Vector
    below: Vector
    corners: list[Vector]
    nearest: Vector
    outside: float


class DisplayedBody(NamedTuple):
    """The body at the current frame, armature space; `balance` is None where it is switched off."""

    world: Matrix  # of the armature, 4x4
    up: Vector
    size: float  # the longest reach of its tips
    held: list[HeldTip]
    balance: Balance | None


class _Rest(NamedTuple):
    """A body at rest, without a hold on Blender's data.

    `stands` are the rest poses of its bones in their parents' frames (4x4), `ways` lead from location channels there
    (3x3). Its mass is in shares (n) at places in the joints' frames (n, 3); `reach` is that of each tip.
    """

    stands: list[Matrix]
    ways: list[Matrix]
    body: Body
    masses: Numbers
    centres: Numbers
    reach: dict[str, float]


_kept: dict[str, Any] = {}  # the latest body at rest and its motion made by hand, with the keys to recognise them by


def displayed_body(context: Context) -> tuple[Object, DisplayedBody] | None:
    """Return the armature and the body of the active bone or the shown limb; None without one that has held tips.

    Raises IKError for a body that cannot be read.
    """
    chosen = _tip(context)
    rig = _rig_of(*chosen) if chosen else None
    if rig is None or not rig.held:
        return None
    active = context.active_object
    bone = active.data.bones.active if active == rig.armature else None
    if bone is not None and bone.name not in rig.bones:
        return None
    check_armature(rig.armature, context.view_layer)
    shown = rig.armature.evaluated_get(context.view_layer.depsgraph)
    world = shown.matrix_world.copy()
    up = (world.to_3x3().inverted_safe() @ _UP).normalized()
    channels = channels_of(shown, rig.bones)
    rest = _rest_of(rig, channels, up)
    scene = context.scene
    frames = _held_frames(rig, rest, channels, shown, scene, scene.frame_current_final)
    if rig.planted:
        first = _held_frames(rig, rest, channels, shown, scene, scene.frame_start)
        frames |= {name: first[name] for name in rig.planted}
    held = [_held_tip(rest, name, frames[name], shown) for name in rig.held]
    contacts = stored_contacts(rig.armature)
    if contacts:  # held where its contact has it, which only a bake knows
        now = context.scene.frame_current_final
        planted = {each.tip for each in contacts if each.frame_start <= now <= each.frame_end}
        held = [each._replace(place=each.tip, slip=0.0, slips=False) for each in held if each.name in planted]
    size = max(rest.reach.values())
    balance = _balance(rest, shown, up, rig.held, frames) if rig.balance else None
    return rig.armature, DisplayedBody(world, up, size, held, balance)


def forget_bodies() -> None:
    """Forget the body that is kept."""
    _kept.clear()


def _tip(context: Context) -> tuple[Object, str] | None:
    """Return armature and tip of a limb of the body to show: the active one, else one of those shown or held."""
    ob = context.active_object
    is_rig = ob is not None and ob.type == "ARMATURE" and ob.pose
    bone = ob.pose.bones.get(ob.data.bones.active.name) if is_rig and ob.data.bones.active else None
    if bone is not None and bone.ik_triangulation.hold:
        return ob, bone.name
    tips = [limb.tip for limb in shown_limbs(context) if limb.tip.ik_triangulation.target is not None]
    if not tips and bone is not None:
        tips = [each for each in ob.pose.bones if each.ik_triangulation.hold]
    return (tips[0].id_data, tips[0].name) if tips else None


def _rig_of(armature: Object, tip: str) -> RigBody | None:
    """Return the body that a limb is solved with, found anew only after an edit."""
    key = edits(), armature.session_uid, tip
    if _kept.get("asked") != key:
        _kept["rig"], _kept["asked"] = body_of(armature, tip), key
    rig: RigBody | None = _kept["rig"]
    return rig


def _held_frames(
    rig: RigBody, rest: _Rest, channels: Sequence[Channels], shown: Object, scene: Scene, frame: float
) -> dict[str, Matrix]:
    """Return the frames (4x4, armature space) in which the animation made by hand has the bones up to the held tips.

    The animation is that at a `frame`, on hips that hang in what is shown now.

    `channels` are those of all bones as `shown`, the evaluated armature.
    """
    above = {bone.name: bone.parent.name if bone.parent else "" for bone in rig.pose_bones}
    needed: set[str] = set()
    for name in rig.held:
        while name in above and name not in needed:
            needed.add(name)
            name = above[name]
    bones = [(number, bone) for number, bone in enumerate(rig.pose_bones) if bone.name in needed]
    turns, location = _made_by_hand(rig, [bone.name for _, bone in bones], scene, frame)
    frames = {rig.hips: unscaled_base(rig, base_of(shown, rig.hips), frame)}
    for (number, bone), turn in zip(bones, turns, strict=True):
        moved, parent = channels[number].location, frames[above[bone.name] if number else rig.hips]
        if not number:
            moved = Vector(location)
        stand, allowed = rest.stands[number], freedom_of(bone).nearest(Quaternion(turn))
        local = Matrix.LocRotScale(stand.translation + rest.ways[number] @ moved, stand.to_quaternion() @ allowed, None)
        frames[bone.name] = parent @ local
    return frames


def _made_by_hand(rig: RigBody, bones: Sequence[str], scene: Scene, frame: float) -> tuple[Numbers, Numbers]:
    """Return the rotations (n, 4) of bones and the location (3) of the hips that were made by hand, at a frame.

    While nothing is edited, as in playback, those of all frames of the scene are read at once and kept.
    """
    key = edits(), rig.armature.session_uid, rig.hips, *bones
    known: dict[float, tuple[Numbers, Numbers]] = _kept.get("by hand", {})
    frames: Sequence[float] = [frame]
    if _kept.get("of") != key:
        known = {}
    elif frame not in known and frame == scene.frame_current:
        frames = sorted({frame, *range(scene.frame_start, scene.frame_end + 1)})
    if frame not in known:
        turns, places = body_by_hand(rig, frames, scene, bones=bones)
        known |= {each: (turns[..., n], places[:, n]) for n, each in enumerate(frames)}
        _kept["of"], _kept["by hand"] = key, known
    return known[frame]


def _held_tip(rest: _Rest, name: str, frame: Matrix, shown: Object) -> HeldTip:
    place, tip = frame @ rest.body.tip(name).place, shown.pose.bones[name].tail.copy()
    slip = (shown.matrix_world.to_3x3() @ (tip - place)).length
    return HeldTip(name, place, tip, slip, (tip - place).length > HELD * rest.reach[name])


def _balance(rest: _Rest, shown: Object, up: Vector, held: Sequence[str], frames: dict[str, Matrix]) -> Balance:
    """Measure the center of mass of the pose that is shown above held tips with these frames."""
    body, poses = rest.body, shown.pose.bones
    matrices = np.array([poses[joint.name].matrix for joint in body.joints])
    places = np.einsum("nij,nj->ni", matrices[:, :3, :3], rest.centres) + matrices[:, :3, 3]
    centre, along = rest.masses @ places, np.array(up[:])
    points = [frames[name] @ point for name in held for point in body.tip(name).contacts]
    contacts = np.array([point[:] for point in points])
    support = Support.under(contacts[:, :, None], along)
    floor = along * float((contacts @ along).min())

    def on_floor(seen: Numbers) -> Vector:
        return Vector(seen @ support.across + floor)

    seen = support.across @ centre
    near, away = support.nearest(seen[:, None])
    below, nearest = on_floor(seen), on_floor(near[:, 0])
    corners = [on_floor(corner) for corner in support.corners[..., 0]]
    outside = (shown.matrix_world.to_3x3() @ (below - nearest)).length if away[0] > 0.0 else 0.0
    return Balance(Vector(centre), below, corners, nearest, outside)


def _rest_of(rig: RigBody, channels: Sequence[Channels], up: Vector) -> _Rest:
    """Return a body at rest, read anew only if its bones have changed; reading the masses takes time."""
    bones = rig.armature.data.bones
    rests = np.array([bones[name].matrix_local for name in rig.bones]).tobytes()
    moved: tuple[Any, ...] = tuple(
        tuple(each.scale) + tuple(each.location) * (number > 0) for number, each in enumerate(channels)
    )
    key = rig.armature.session_uid, rig.bones, rig.tips, rig.hips_motion, rests, moved, rig.size_above, len(bones)
    if _kept.get("key") != key:
        _kept.pop("key", None)  # what follows may fail
        rest = BodyRest(rig)
        body = rest.body(channels, up)
        masses = np.array([segment.mass for segment in body.segments])
        centres = np.array([segment.centre[:] for segment in body.segments])
        reach = {name: body.reach(name) for name in rig.tips}
        _kept.update(key=key, rest=_Rest(rest.rests, rest.locating, body, masses / masses.sum(), centres, reach))
    found: _Rest = _kept["rest"]
    return found


def area_role(balance: Balance) -> Role:
    """Return the role of the surface of the area, which is fainter than its outline."""
    return Role.AT_LIMIT if balance.outside else Role.REACHED


def support_area(balance: Balance) -> Array:
    """Return the triangles (n, 3) of the supported area."""
    first, *others = balance.corners
    corners = [(first, *pair) for pair in pairwise(others)]
    return np.array([[corner[:] for corner in triangle] for triangle in corners], np.float32).reshape(-1, 3)


def body_sketch(seen: DisplayedBody, eye: Vector) -> Sketch:
    """Return the strokes of a body; the `eye` (homogeneous) is in armature space."""
    sketch = Sketch()
    for held in seen.held:
        sketch.add(*_pin(held, seen, eye))
        if held.slips:
            sketch.add(*dashed(Role.AT_LIMIT, held.tip, held.place, _DASH * seen.size))
    if seen.balance is not None:
        _add_balance(sketch, seen, seen.balance, eye)
    return sketch


def _pin(held: HeldTip, seen: DisplayedBody, eye: Vector) -> Iterator[ArcStroke | LineStroke]:
    """Yield a pin whose point is where a tip is held."""
    radius, place, role = _PIN * seen.size, held.place, Role.AT_LIMIT if held.slips else Role.HELD
    side, high = _upright(place, seen.up, eye)
    head = place + high * (2.0 * radius)
    yield ArcStroke(role, head, side * radius, high * radius, -pi / 6.0, pi * 7.0 / 6.0)
    for way in (side, -side):  # tangents of the circle: they touch it 30 degrees below its middle
        yield LineStroke(role, head + way * (radius * 3.0**0.5 / 2.0) - high * (radius / 2.0), place)
    yield ArcStroke(role, head, side * (0.3 * radius), high * (0.3 * radius))


def _upright(place: Vector, up: Vector, eye: Vector) -> tuple[Vector, Vector]:
    """Return two unit vectors that face the eye, to its right and upwards."""
    towards = (eye.xyz - place * eye.w).normalized()
    side = up.cross(towards)
    side = side.normalized() if side.length > _LEVEL else plane_of(towards)[0]
    return side, towards.cross(side)


def _add_balance(sketch: Sketch, seen: DisplayedBody, balance: Balance, eye: Vector) -> None:
    """Add the area, the center of mass as a quartered disc, and the place below it: a ring inside, a cross outside."""
    role, corners, size = Role.OUTSIDE if balance.outside else Role.BALANCED, balance.corners, seen.size
    if len(corners) > 1:
        sketch.add(*(LineStroke(role, corners[i - 1], corner) for i, corner in enumerate(corners)))
    radius, centre, below = _MASS * size, balance.centre, balance.below
    x, y = _upright(centre, seen.up, eye)
    sketch.add(facing(role, centre, radius, eye))
    for start in (0.0, pi):
        sketch.add(ArcStroke(role, centre, x * radius, y * radius, start, start + pi / 2.0, centre))
    foot = centre + (below - centre).normalized() * min(radius, (below - centre).length)
    sketch.add(*dashed(role, foot, below, _DASH * size))
    x, y = plane_of(seen.up)  # flat on the floor
    x, y = x * (_BELOW * size), y * (_BELOW * size)
    if not balance.outside:
        sketch.add(ArcStroke(role, below, x, y))
        return
    for way in (x + y, x - y):
        sketch.add(LineStroke(role, below - way, below + way))
    sketch.add(*dashed(role, below, balance.nearest, _DASH * size))


class BodyNote(NamedTuple):
    """A line of text about a place of the body, with the places that it keeps clear of."""

    row: Row
    anchors: Anchors


def body_notes(seen: DisplayedBody, scene: Scene) -> Iterator[BodyNote]:
    """Yield a note for each held tip that slips, and one for a center of mass that is outside."""
    for held in seen.held:
        if held.slips:
            text = translated(f"{held.name} slips {distance_text(held.slip, scene)}")
            yield BodyNote(Row(Role.AT_LIMIT, "missed", text), _at([held.place, held.tip]))
    balance = seen.balance
    if balance is not None and balance.outside:
        text = translated(f"Center of mass {distance_text(balance.outside, scene)} outside the feet")
        yield BodyNote(Row(Role.OUTSIDE, "missed", text), _at([balance.below, balance.nearest]))


def _at(places: Sequence[Vector]) -> Anchors:
    around = np.array([(*place, 1.0) for place in places])
    return Anchors(around, _NONE, _NONE, _NONE)
