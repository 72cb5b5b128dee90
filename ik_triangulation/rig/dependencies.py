# SPDX-License-Identifier: GPL-3.0-or-later
"""Dependencies of objects and bones, followed over parents, constraints, drivers and armature deformation."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from bpy.types import Constraint, DriverVariable, FCurve, Modifier, Object, PoseBone, Scene

from ..errors import ChainError
from .limb import Limb

_BONE_IN_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
_SIMULATED = {"CLOTH", "SOFT_BODY", "FLUID", "DYNAMIC_PAINT"}  # modifiers whose result depends on the frame before
_OF_THE_CAMERA = {"FOLLOW_TRACK", "CAMERA_SOLVER", "OBJECT_SOLVER"}  # constraints that read the scene's clip or camera


class Bound(NamedTuple):
    """The reason why only the user's scene shows a motion, and whether each frame of it depends on all before."""

    why: str
    from_start: bool


class Node(NamedTuple):
    """An object; one of its bones where `bone` is not empty; or only a custom property, where `path` leads to one."""

    object: Object
    bone: str = ""
    path: str = ""


def follows(target: Node, armature: Object, chain: Collection[str]) -> str | None:
    """Return the name of a bone of `chain` that the target depends on, directly or not; None if there is none."""
    nodes = movers(target, armature, chain)
    return next((node.bone for node in nodes if node.object == armature and node.bone in chain), None)


def in_order(limbs: Sequence[Limb]) -> list[Limb]:
    """Return the limbs, each after those that its root or its targets depend on. Raises ChainError for a cycle."""
    before = {
        n: {m for m, other in enumerate(limbs) if m != n and _depends_on(limb, other)} for n, limb in enumerate(limbs)
    }
    try:
        return [limbs[n] for n in TopologicalSorter(before).static_order()]
    except CycleError as error:
        first, second, *_ = (limbs[n].tip for n in error.args[1])
        raise ChainError(f"The limbs of '{first}' and '{second}' move each other. Bake one of them first.") from error


def _depends_on(limb: Limb, other: Limb) -> bool:
    """Tell whether this limb's root, targets or obstacles depend on another limb."""
    nodes = [Node(limb.armature, limb.bones[0]), *(Node(*target) for target in limb.targets)]
    nodes += [Node(ob) for ob in limb.obstacle_objects]
    return any(follows(node, other.armature, other.solved) for node in nodes)


def needs_scene(start: Node) -> Bound | None:
    """Return why `start` moves only in the user's scene; None if it can be evaluated in another scene."""
    for node in movers(start):
        ob = node.object
        if ob.rigid_body and ob.rigid_body.type == "ACTIVE":
            return Bound(f"'{ob.name}' is moved by rigid body physics", True)
        for mesh in _bearing(node):
            if any(map(_simulates, mesh.modifiers)):
                return Bound(f"'{mesh.name}' is deformed by a simulation", True)
        for constraint in _constraints_on(node):
            if constraint.type in _OF_THE_CAMERA and not constraint.mute:
                return Bound(f"constraint '{constraint.name}' on '{ob.name}' reads the scene", False)
        for curve in ob.animation_data.drivers if ob.animation_data else ():
            driver = curve.driver
            if (driver.type == "SCRIPTED" and "bpy" in driver.expression) or any(map(_reads_scene, driver.variables)):
                return Bound(f"a driver on '{ob.name}' reads the scene", False)
    return None


def _simulates(modifier: Modifier) -> bool:
    waiting, seen = [getattr(modifier, "node_group", None)], set()
    while waiting:
        tree = waiting.pop()
        if tree is None or tree in seen:
            continue
        seen.add(tree)
        if any(node.bl_idname == "GeometryNodeSimulationOutput" for node in tree.nodes):
            return True
        waiting += [getattr(node, "node_tree", None) for node in tree.nodes]
    return modifier.type in _SIMULATED


def _reads_scene(variable: DriverVariable) -> bool:
    return variable.type == "CONTEXT_PROP" or any(isinstance(source.id, Scene) for source in variable.targets)


def _bearing(node: Node) -> Iterator[Object]:
    """Yield the meshes whose surface holds an object or bone."""
    ob = node.object
    if not node.bone and ob.parent and ob.parent_type in {"VERTEX", "VERTEX_3"}:
        yield ob.parent
    for constraint in _constraints_on(node):
        target = getattr(constraint, "target", None)
        of_mesh = target is not None and target.type == "MESH" and not constraint.mute
        if of_mesh and (constraint.type == "SHRINKWRAP" or getattr(constraint, "subtarget", "")):
            yield target


def _constraints_on(node: Node) -> Sequence[Constraint]:
    """Return the constraints on an object, or on its bone."""
    if node.path:
        return ()
    holder = node.object.pose.bones.get(node.bone) if node.bone and node.object.pose else node.object
    return holder.constraints if holder else ()


def movers(start: Node, armature: Object | None = None, chain: Collection[str] = ()) -> Iterator[Node]:
    """Yield `start` and everything it depends on, directly or not; meshes that `armature` deforms depend on `chain`."""
    seen: set[tuple[int, str, str]] = set()
    waiting = [start]
    while waiting:
        node = waiting.pop()
        key = (node.object.session_uid, node.bone, node.path)
        if key not in seen:
            seen.add(key)
            yield node
            waiting.extend(_causes(node, armature, chain))


def _causes(node: Node, armature: Object | None, chain: Collection[str]) -> Iterator[Node]:
    """Yield the direct dependencies of `node`."""
    ob, bone, path = node
    if path:
        pass  # it does not move with its owner
    elif bone:
        pose_bone = ob.pose.bones.get(bone) if ob.pose else None
        if pose_bone is None:
            return
        if pose_bone.parent:
            yield Node(ob, pose_bone.parent.name)
        yield Node(ob)
        yield from _constrained(pose_bone.constraints)
        yield from _constrained(solving(pose_bone))
    else:
        if ob.parent:
            yield Node(ob.parent, ob.parent_bone if ob.parent_type == "BONE" else "")
            if ob.parent_type in {"VERTEX", "VERTEX_3"}:
                yield from _deforming(ob.parent, armature, chain)
        yield from _constrained(ob.constraints)
        for constraint in ob.constraints:
            if getattr(constraint, "target", None) and constraint.target.type == "MESH":
                yield from _deforming(constraint.target, armature, chain)
    yield from _driving(node)


def solving(bone: PoseBone) -> Iterator[Constraint]:
    """Yield the IK constraints on descendants that rotate this bone."""
    for below in bone.children_recursive:
        for constraint in below.constraints:
            if constraint.type in {"IK", "SPLINE_IK"}:
                depth = len(below.parent_recursive) - len(bone.parent_recursive)
                if constraint.chain_count == 0 or depth <= constraint.chain_count:
                    yield constraint


def _constrained(constraints: Iterable[Constraint]) -> Iterator[Node]:
    for constraint in constraints:
        if constraint.mute or not constraint.enabled:
            continue
        slots = constraint.targets if constraint.type == "ARMATURE" else [constraint]
        for slot in slots:
            if getattr(slot, "target", None):
                yield Node(slot.target, getattr(slot, "subtarget", "") if slot.target.type == "ARMATURE" else "")
        if getattr(constraint, "pole_target", None):
            yield Node(constraint.pole_target, constraint.pole_subtarget)


def _deforming(mesh: Object, armature: Object | None, chain: Collection[str]) -> Iterator[Node]:
    """Yield the bones of `chain` if `armature` deforms the mesh, whatever its weights are."""
    for modifier in mesh.modifiers:
        if modifier.type == "ARMATURE" and modifier.object == armature:
            yield from (Node(armature, name) for name in chain)


def drivers_on(node: Node) -> Iterator[FCurve]:
    """Yield the drivers on the properties of an object or bone, or on the one property of the node."""
    animation = node.object.animation_data
    for curve in animation.drivers if animation else ():
        bone = _BONE_IN_PATH.match(curve.data_path)
        if (curve.data_path == node.path) if node.path else (_unescaped(bone[1]) if bone else "") == node.bone:
            yield curve


def _driving(node: Node) -> Iterator[Node]:
    """Yield the objects, bones and properties that the drivers on a node read."""
    for curve in drivers_on(node):
        for variable in curve.driver.variables:
            for source in variable.targets:
                if isinstance(source.id, Object):
                    yield _source(source.id, source.bone_target, source.data_path)


def _source(ob: Object, bone: str, path: str) -> Node:
    """Return the node that a driver's variable reads: a transform, or a property."""
    if not bone and path.endswith('"]'):
        return Node(ob, path=path)
    named = _BONE_IN_PATH.match(path)
    return Node(ob, bone or (_unescaped(named[1]) if named else ""))


def _unescaped(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)
