# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets as they are shown at a frame: their display, their force field as a flow, and the place on a mesh.

The place on a mesh that a tip goes to: the nearest one to where the animation has the tip, with the mesh as shown. It
is one place a frame, chosen before the frame is solved, so that a tip which the animation keeps still stays still on a
mesh that does: nothing slides. Where that place is out of reach, a nearby one within reach is taken.

Blender gives no access to the force at a place, so the field is made of the object's settings, in world space. Its
noise, which is drawn anew at each evaluation, and what depends on the velocity, charge or mass of particles are left
out.
"""

from __future__ import annotations

from hashlib import blake2b
from math import inf
from typing import NamedTuple

import numpy as np
from bpy.types import Depsgraph, FieldSettings, Mesh, Object
from mathutils import Matrix, Quaternion, Vector
from mathutils.bvhtree import BVHTree
from mathutils.interpolate import poly_3d_calc

from ...errors import SettingError, TargetError
from ...goals.flow import FOLLOWED, FieldFalloff, Flow, ForceField
from ...kinematics.arrays import Numbers
from ...kinematics.rotation import orientation, orthogonal, rotation_between
from ..anatomy.hands import palm_of
from ..anatomy.limbs import rest_body
from ..armature import find_bone, is_flat
from ..limb import Limb
from ..stance import stance_of
from .untouched import is_as_made

_TRIES = 32  # places looked at, until one is within reach
_WITHIN = 0.98  # of the reach: the next place is looked for around one that is not stretched to
_UNIFORM = 1e-4  # relative difference of two scales that is no rounding
_BESIDE = 1.01  # of a face's size: a place farther from its middle is on another face
_PLAIN = 0.3  # sine of the angle between bone and palm below which the bone tells no palm
_BEHIND = 1e-4  # Blender units: a ray begins so far behind its point, and so meets a place right there
_BONE, _UP = Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0))

_KINDS = "Force, Wind, Vortex, Harmonic, Turbulence or Curve Guide"
_SIDES = {"BOTH": 0, "POSITIVE": 1, "NEGATIVE": -1}
_Z = Vector((0.0, 0.0, 1.0))
_RESTS = 1e-9  # [Blender units] a step as short as that has no direction


class Looks(NamedTuple):
    """Display type of an empty and its size [Blender units, its own space], and type and shape of a force field.

    The display type is an empty string unless the object is an empty, the field's type and shape without a force field.
    `as_made` tells that the object was made as the target of a hand and has not been turned since.
    """

    display: str = ""
    size: float = 1.0
    field: str = ""
    field_shape: str = ""
    as_made: bool = False


class Volume(NamedTuple):
    """An obstacle: its frame (4x4, world space), its looks, and two corners of its bounding box in its own space.

    The corners have the least and the greatest coordinates.
    """

    frame: Matrix
    looks: Looks
    lowest: Vector
    highest: Vector


def looks_of(ob: Object, bone: str, depsgraph: Depsgraph) -> Looks:
    """Return the looks of an object as evaluated, with keys and drivers of its display; of a bone only its length."""
    if bone:
        return Looks(size=find_bone(ob, bone).length)
    shown, is_empty = ob.evaluated_get(depsgraph), ob.type == "EMPTY"
    return Looks(
        shown.empty_display_type if is_empty else "",
        shown.empty_display_size if is_empty else 1.0,
        *((shown.field.type, shown.field.shape) if shown.field else ("", "")),
        is_as_made(ob),
    )


def volume_of(ob: Object, frame: Matrix, depsgraph: Depsgraph) -> Volume:
    """Return the volume of an object at this frame (4x4, world space) as evaluated: that of a mesh is deformed."""
    corners = ob.evaluated_get(depsgraph).bound_box
    return Volume(frame, looks_of(ob, "", depsgraph), Vector(corners[0]), Vector(corners[6]))


class Touch(NamedTuple):
    """A place on a mesh and the unit normal there, world space."""

    place: Vector
    normal: Vector


class ShownMesh:
    """A mesh as the dependency graph shows it, with its modifiers. Raises TargetError for one that has no faces."""

    def __init__(self, ob: Object, depsgraph: Depsgraph) -> None:
        if ob.type != "MESH":
            raise TargetError(f"Target '{ob.name}' is no mesh and has no surface. Choose a mesh, or another shape.")
        self._ob = ob.evaluated_get(depsgraph)
        self._out = self._ob.matrix_world.copy()
        if is_flat(self._out):
            raise TargetError(f"Target '{ob.name}' is scaled flat, its surface has no sides. Give it a scale.")
        if not len(self._ob.data.polygons):
            raise TargetError(
                f"Target '{ob.name}' shows no faces. Give it some, turn instances into a mesh with Realize Instances, "
                "or choose another shape."
            )
        self._into = self._out.inverted()
        self._turn = self._into.to_3x3().transposed()  # of normals into world space
        scales = [column.length for column in self._out.to_3x3().col]
        even = max(scales) - min(scales) <= _UNIFORM * max(scales)
        self._tree = None if even else mesh_tree(self._ob)

    def nearest(self, point: Vector) -> Touch:
        """Return the place nearest to a point (world space); its normal is smooth where the mesh is shaded so."""
        if self._tree:  # nearest in a space that is stretched unequally is not nearest in the world
            place, _, face, _ = self._tree.find_nearest(point)
            _, own, normal, _ = self._ob.closest_point_on_mesh(self._into @ place)
        else:
            _, own, normal, face = self._ob.closest_point_on_mesh(self._into @ point)
            place = self._out @ own
        return Touch(place, (self._turn @ _shaded(self._ob.data, face, own, normal)).normalized())

    def along(self, point: Vector, up: Vector) -> Touch | None:
        """Return the nearest place straight above or below a point (world space); None where there is none."""
        found: list[Touch] = []
        own, into = self._into @ point, self._into.to_3x3()
        for way in (up, -up):
            hit, place, normal, face = self._ob.ray_cast(own - (into @ way) * _BEHIND, into @ way)
            if hit:
                shaded = (self._turn @ _shaded(self._ob.data, face, place, normal)).normalized()
                found.append(Touch(self._out @ place, shaded))
        return min(found, key=lambda touch: (touch.place - point).length, default=None)


def surface_frame(limb: Limb, depsgraph: Depsgraph) -> Matrix:
    """Return the place that a limb with the shape Surface goes to as a frame (4x4, world space).

    Its Z axis is along the normal. If the tip is to match the target, the frame is that of the tip as animated, tilted
    as little as possible until its sole or palm lies on the surface. Raises TargetError for a target without surface.
    """
    surface, armature = ShownMesh(limb.target, depsgraph), limb.armature.evaluated_get(depsgraph)
    world, bones = armature.matrix_world, [armature.pose.bones[name] for name in limb.bones]
    joints = [world @ bone.head for bone in bones]
    tip, frame = world @ bones[-1].tail, world @ bones[-1].matrix
    lengths = [(b - a).length for a, b in zip(joints, [*joints[1:], tip], strict=True)]
    # An animated tip may have the offset from an earlier bake: it is taken off, or each bake would add it once more.
    aside = limb.offset.location if limb.offset else Vector()
    twist = limb.offset.rotation.normalized() if limb.offset else Quaternion()
    laid = limb.orientation == "FULL" and not is_flat(frame)
    rotation = orientation(frame.to_3x3()) @ twist.conjugated() if laid else Quaternion()
    sole = _sole(limb) if laid else None

    def turned_at(normal: Vector) -> Quaternion:
        return _laid_flat(rotation, sole, normal) if laid else rotation_between(_UP, normal)

    reach, hand = sum(lengths), -aside
    if laid and len(bones) > 1:  # the rest of the limb reaches for where the hand or foot then begins
        hand += twist @ _BONE * lengths[-1]
        reach -= lengths[-1]
    near = tip - turned_at(surface.nearest(tip).normal) @ aside
    for _ in range(_TRIES):
        place, normal = surface.nearest(near)
        goal, turned = place + normal * limb.surface_offset, turned_at(normal)
        stretched = goal - turned @ hand - joints[0]
        if stretched.length <= reach:
            break
        near = joints[0] + stretched.normalized() * (_WITHIN * reach) + turned @ hand
    return Matrix.LocRotScale(goal, turned, None)


def surface_state(ob: Object, depsgraph: Depsgraph) -> tuple[Matrix, bytes]:
    """Return the matrix of a mesh and a digest of its evaluated vertices: they differ if its surface has changed."""
    shown = ob.evaluated_get(depsgraph)
    digest = b""
    if shown.type == "MESH":
        places = np.empty(3 * len(shown.data.vertices), np.float32)
        shown.data.vertices.foreach_get("co", places)
        digest = blake2b(places.tobytes(), digest_size=16).digest()
    return shown.matrix_world.copy().freeze(), digest


def _laid_flat(tip: Quaternion, sole: Vector | None, normal: Vector) -> Quaternion:
    """Return the rotation of a tip as animated (world space), its sole or palm turned against the surface."""
    facing = tip @ sole if sole else orthogonal(-normal, tip @ _BONE) or -normal
    return rotation_between(facing, -normal) @ tip


def _sole(limb: Limb) -> Vector | None:
    """Return the direction in a tip's own space in which its sole or palm faces; None if the rest pose does not tell.

    A body rests with its soles on the ground. Its hands rest palm down, as far as the arms are raised, unless their
    fingers tell where the palm is; the palm is along the bone.
    """
    tip = limb.armature.data.bones[limb.tip]
    into, down = tip.matrix_local.to_3x3().transposed(), -stance_of(limb.armature).up
    if _part(limb) == "LEG":
        return into @ down
    body = rest_body(limb.armature)
    palms = (palm_of(body, bone.name) for bone in tip.children_recursive)
    facing = into @ next((palm for palm in palms if palm is not None), down)
    return Vector((facing.x, 0.0, facing.z)).normalized() if facing.xz.length > _PLAIN else None


def _part(limb: Limb) -> str:
    stored = getattr(limb.armature.pose.bones[limb.tip], "ik_triangulation", None)
    return str(stored.body_part) if stored else "NONE"


def mesh_tree(ob: Object) -> BVHTree:
    """Return the faces of an evaluated object in world space."""
    mesh, out = ob.to_mesh(), ob.matrix_world
    try:
        return BVHTree.FromPolygons([out @ vertex.co for vertex in mesh.vertices], [f.vertices for f in mesh.polygons])
    finally:
        ob.to_mesh_clear()


def _shaded(mesh: Mesh, face: int, place: Vector, normal: Vector) -> Vector:
    """Return the normal at a place of a face as it is shaded: that of the face, or interpolated between its corners."""
    if face >= len(mesh.polygons) or not mesh.polygons[face].use_smooth:
        return normal
    polygon = mesh.polygons[face]
    corners = [mesh.vertices[index] for index in polygon.vertices]
    size = max((corner.co - polygon.center).length for corner in corners)
    if (place - polygon.center).length > _BESIDE * size:  # a mesh subdivided by the graphics card has other faces
        return normal
    weights = poly_3d_calc([corner.co for corner in corners], place)
    smooth = sum((corner.normal * weight for corner, weight in zip(corners, weights, strict=True)), Vector())
    return smooth if smooth.length > _PLAIN else normal


def flow_of(limb: Limb, depsgraph: Depsgraph) -> Flow:
    """Return the flow that a limb follows, with the step of one frame of the scene, world space.

    Raises TargetError for a target without a force field that can be followed, SettingError for a speed that is none.
    """
    if not 0.0 < limb.flow_speed < inf:
        raise SettingError(f"Tip Speed {limb.flow_speed:g} is no speed. Give it a number above zero.")
    render = depsgraph.scene.render
    return Flow(field_of(limb.target, depsgraph), limb.flow_speed * render.fps_base / render.fps)


def field_of(ob: Object, depsgraph: Depsgraph) -> ForceField:
    """Return the force field of an object as evaluated, world space. Raises TargetError for none that is followed."""
    shown = ob.evaluated_get(depsgraph)
    settings = shown.field
    if settings is None or settings.type not in FOLLOWED:
        raise TargetError(
            f"'{ob.name}' has no force field to follow. Give it one of the type {_KINDS} in its Physics properties, "
            "or choose another shape."
        )
    nearest, path, is_closed = None, None, False
    if settings.type == "GUIDE":
        path, is_closed = _path_of(ob, depsgraph)
    elif settings.shape == "SURFACE":
        nearest = _Nearest(ob, depsgraph)
    elif settings.shape == "POINTS":
        raise TargetError(f"The field of '{ob.name}' has the shape Every Point. Choose Point, Line, Plane or Surface.")
    return ForceField(
        kind=settings.type,
        frame=shown.matrix_world.copy(),
        strength=settings.strength,
        shape=settings.shape,
        falloff=_falloff(settings),
        size=settings.rest_length if settings.type == "HARMONIC" else settings.size,
        is_global=settings.use_global_coords,
        is_gravity=settings.use_gravity_falloff,
        nearest=nearest,
        path=path,
        is_closed=is_closed,
    )


def _falloff(settings: FieldSettings) -> FieldFalloff:
    least = settings.distance_min if settings.use_min_distance else 0.0
    return FieldFalloff(
        kind=settings.falloff_type,
        power=settings.falloff_power,
        least=settings.guide_minimum if settings.type == "GUIDE" else least,
        most=settings.distance_max if settings.use_max_distance else inf,
        radial_power=settings.radial_falloff,
        radial_least=settings.radial_min if settings.use_radial_min else 0.0,
        radial_most=settings.radial_max if settings.use_radial_max else inf,
        side=_SIDES[settings.z_direction],
    )


class _Nearest:
    """The nearest place of a mesh as evaluated, and the unit normal there, world space."""

    def __init__(self, ob: Object, depsgraph: Depsgraph) -> None:
        if ob.type != "MESH" or not len(ob.evaluated_get(depsgraph).data.polygons):
            raise TargetError(f"'{ob.name}' shows no faces, and its field has the shape Surface. Choose another shape.")
        self._tree = mesh_tree(ob.evaluated_get(depsgraph))

    def __call__(self, point: Vector) -> tuple[Vector, Vector]:
        place, normal, _, _ = self._tree.find_nearest(point)
        return place, normal


def _path_of(ob: Object, depsgraph: Depsgraph) -> tuple[Numbers, bool]:
    """Return the places (n, 3) along the first spline of a curve, world space, and whether it is closed."""
    shown, found = ob.evaluated_get(depsgraph), np.empty((0, 3))
    mesh = shown.to_mesh() if ob.type == "CURVE" else None
    if mesh is None:
        raise TargetError(f"'{ob.name}' is no curve and guides nothing. Choose a curve as the target.")
    try:
        if len(mesh.polygons):
            raise TargetError(f"Curve '{ob.name}' has faces, which have no direction. Set its Bevel and Extrude to 0.")
        edges = [edge.vertices[:] for edge in mesh.edges]
        count = next((k for k, edge in enumerate(edges) if edge != (k, k + 1)), len(edges)) + 1 if edges else 0
        found = np.array([(shown.matrix_world @ vertex.co)[:] for vertex in mesh.vertices[:count]], float)
        is_closed = len(edges) >= count > 2 and sorted(edges[count - 1]) == [0, count - 1]
    finally:
        shown.to_mesh_clear()
    far = np.linalg.norm(np.diff(found, axis=0), axis=1) > _RESTS if count else np.empty(0, bool)
    if not far.any():
        raise TargetError(f"Curve '{ob.name}' has no length. Give it two points.")
    return found[np.concatenate(([True], far))], is_closed


class Streamline:
    """The path of a tip along a flow: its next place from frame to frame, as a frame (4x4, world space).

    Z is along the path, and the frame turns with that as little as possible.
    """

    def __init__(self, place: Vector, frame: float) -> None:
        self.place, self.frame = place, frame
        self._turn = Quaternion()

    def go(self, flow: Flow, frame: float) -> Matrix:
        """Go on to a later frame along the flow at that frame; at the frame where it is it only turns."""
        steps = frame - self.frame
        count = max(1, round(steps))
        share = Flow(flow.towards, flow.step * (steps / count if steps > 0.0 else 1.0))
        place = self.place
        for _ in range(count):
            place = share.after(place)
        way = place - self.place
        if way.length > _RESTS:
            along = way.normalized()
            before = self._turn @ _Z
            self._turn = rotation_between(before, along) @ self._turn
        if steps > 0.0:
            self.place = place
        self.frame = frame
        return Matrix.LocRotScale(self.place, self._turn, None)


class FieldBehind:
    """Places (4x4, world space) to which a flow leads a tip from where it is shown one frame before, frame by frame."""

    def __init__(self) -> None:
        self._line: Streamline | None = None

    def go(self, flow: Flow, frame: float, tip: Vector) -> Matrix:
        """Return the place to be at, given where the tip is shown; at the first frame that is where it is."""
        self._line = self._line or Streamline(tip, frame)
        target = self._line.go(flow, frame)
        self._line.place = tip.copy()
        return target
