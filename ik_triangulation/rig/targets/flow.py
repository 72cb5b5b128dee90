# SPDX-License-Identifier: GPL-3.0-or-later
"""The force field of a target as a flow that the tip follows, world space.

Blender gives no access to the force at a place, so the field is made of the object's settings. Its noise, which is
drawn anew at each evaluation, and what depends on the velocity, charge or mass of particles are left out.
"""

from __future__ import annotations

from math import inf

import numpy as np
from bpy.types import Depsgraph, FieldSettings, Object
from mathutils import Matrix, Quaternion, Vector

from ...errors import SettingError, TargetError
from ...goals.flow import FOLLOWED, FieldFalloff, Flow, ForceField
from ...kinematics.arrays import Numbers
from ...kinematics.rotation import rotation_between
from ..limb import Limb
from .surface import mesh_tree

_KINDS = "Force, Wind, Vortex, Harmonic, Turbulence or Curve Guide"
_SIDES = {"BOTH": 0, "POSITIVE": 1, "NEGATIVE": -1}
_Z = Vector((0.0, 0.0, 1.0))
_RESTS = 1e-9  # [Blender units] a step as short as that has no direction


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
