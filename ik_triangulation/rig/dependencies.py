# SPDX-License-Identifier: GPL-3.0-or-later
"""Dependencies of objects and bones, and influences by which bones may not show what is solved and keyed.

Dependencies are followed over parents, constraints, drivers and armature deformation.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple, Protocol, TypeVar

from bpy.types import AnimData, Constraint, Driver, DriverVariable, FCurve, Modifier, Object, Scene

from ..errors import ChainError, TargetError
from .by_hand.reference import Boned
from .keyframes import curves_of
from .layers import is_layer_on_top
from .limb import Limb
from .timeline import moving_curves, strips_of
from .units import distance_text

TARGETS = "Target", "Pole target"  # names of a limb's targets in messages
_BONE_IN_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
_SIMULATED = {"CLOTH", "SOFT_BODY", "FLUID", "DYNAMIC_PAINT"}  # modifiers whose result depends on the frame before
_OF_THE_CAMERA = {"FOLLOW_TRACK", "CAMERA_SOLVER", "OBJECT_SOLVER"}  # constraints that read the scene's clip or camera

_TRANSFORM = ("location", "rotation", "scale")  # beginnings of the properties that pose a bone


class Bound(NamedTuple):
    """The reason why only the user's scene shows a motion, and whether each frame of it depends on all before."""

    why: str
    from_start: bool


class Node(NamedTuple):
    """An object; one of its bones where `bone` is not empty; or only a custom property, where `path` leads to one."""

    object: Object
    bone: str = ""
    path: str = ""


class Moving(Protocol):
    """A limb or a whole body: it turns its `solved` bones, and hangs on the first of its bones and on its targets."""

    @property
    def armature(self) -> Object: ...

    @property
    def bones(self) -> Sequence[str]: ...

    @property
    def solved(self) -> Collection[str]: ...

    @property
    def targets(self) -> Sequence[tuple[Object, str]]: ...

    @property
    def obstacle_objects(self) -> Sequence[Object]: ...

    @property
    def surfaces(self) -> Sequence[Object]: ...

    @property
    def tip(self) -> str: ...


_M = TypeVar("_M", bound=Moving)
_Key = tuple[int, str, str]
IKConstraints = dict[str, list[Constraint]]


class Dependencies:
    """The direct dependencies of objects and bones, each read once: for as long as nothing of them changes.

    Meshes that an armature deforms depend on the solved bones that the `limbs` have there, whatever their weights are;
    so do targets whose surface is reached.
    """

    def __init__(self, limbs: Iterable[Moving] = ()) -> None:
        self._deforming: defaultdict[int, set[str]] = defaultdict(set)
        self._surfaces: set[int] = set()
        for limb in limbs:
            self._deforming[limb.armature.session_uid].update(limb.solved)
            self._surfaces.update(mesh.session_uid for mesh in limb.surfaces)
        self._causes: dict[_Key, list[Node]] = {}
        self._ik: dict[int, IKConstraints] = {}
        self._drivers: dict[int, dict[str, list[FCurve]]] = {}

    def movers(self, start: Node) -> Iterator[Node]:
        """Yield `start` and everything it depends on, directly or not."""
        seen: set[_Key] = set()
        waiting = [start]
        while waiting:
            node = waiting.pop()
            key = _key(node)
            if key not in seen:
                seen.add(key)
                yield node
                if key not in self._causes:
                    self._causes[key] = list(self._direct(node))
                waiting += self._causes[key]

    def follows(self, target: Node, limb: Limb, moving: frozenset[str] | None = None) -> str | None:
        """Return the name of a solved bone of the limb that a target depends on, directly or not; None without one.

        Other bones of its rig may be `moving` than those.
        """
        uid, solved = limb.armature.session_uid, limb.solved if moving is None else moving
        nodes = self.movers(target)
        return next((node.bone for node in nodes if node.bone in solved and node.object.session_uid == uid), None)

    def check_apart(self, limb: Limb, carried: bool = False) -> None:
        """Raise TargetError for a target, unless it is `carried`, a pole or an obstacle that the limb itself moves."""
        for what, (target, bone) in zip(TARGETS, limb.targets, strict=False):
            followed = None if carried and target == limb.target else self.follows(Node(target, bone), limb)
            if followed:
                name = f"{target.name}: {bone}" if bone else target.name
                raise TargetError(
                    f"{what} '{name}' follows chain bone '{followed}'; it would move while being "
                    f"{'reached' if what == TARGETS[0] else 'bent towards'}. "
                    "Unparent it or choose another."
                )
        self.check_obstacles(limb, limb.solved)

    def check_obstacles(self, limb: Limb, moving: frozenset[str]) -> None:
        """Raise TargetError for an obstacle of a limb that one of the `moving` bones of its rig moves."""
        for ob in limb.obstacle_objects:
            followed = self.follows(Node(ob), limb, moving)
            if followed:
                raise TargetError(
                    f"Obstacle '{ob.name}' follows chain bone '{followed}'. Take it out of the collection."
                )

    def needs_scene(self, start: Node) -> Bound | None:
        """Return why `start` moves only in the user's scene; None if it can be evaluated in another scene."""
        drivers_seen: set[int] = set()
        for node in self.movers(start):
            ob = node.object
            if ob.rigid_body and ob.rigid_body.type == "ACTIVE":
                return Bound(f"'{ob.name}' is moved by rigid body physics", True)
            for mesh in (ob, *_bearing(node)) if self._is_surface(node) else _bearing(node):
                if any(map(_simulates, mesh.modifiers)):
                    return Bound(f"'{mesh.name}' is deformed by a simulation", True)
            for constraint in _constraints_on(node):
                if constraint.type in _OF_THE_CAMERA and not constraint.mute:
                    return Bound(f"constraint '{constraint.name}' on '{ob.name}' reads the scene", False)
            if ob.session_uid not in drivers_seen and ob.animation_data:
                drivers_seen.add(ob.session_uid)
                if any(_is_of_the_scene(curve.driver) for curve in ob.animation_data.drivers):
                    return Bound(f"a driver on '{ob.name}' reads the scene", False)
        return None

    def drivers_on(self, node: Node) -> Sequence[FCurve]:
        """Return the drivers on the properties of an object or bone, or on the one property of the node."""
        animation = node.object.animation_data
        if animation is None or not len(animation.drivers):
            return ()
        if node.path:
            return [curve for curve in animation.drivers if curve.data_path == node.path]
        found = self._drivers.get(node.object.session_uid)
        if found is None:
            found = self._drivers[node.object.session_uid] = defaultdict(list)
            for curve in animation.drivers:
                bone = _BONE_IN_PATH.match(curve.data_path)
                found[_unescaped(bone[1]) if bone else ""].append(curve)
        return found.get(node.bone, ())

    def _direct(self, node: Node) -> Iterator[Node]:
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
            yield from sources_of(pose_bone.constraints)
            if ob.session_uid not in self._ik:
                self._ik[ob.session_uid] = ik_constraints(ob)
            yield from sources_of(self._ik[ob.session_uid].get(bone, ()))
        else:
            if ob.parent:
                yield Node(ob.parent, ob.parent_bone if ob.parent_type == "BONE" else "")
                if ob.parent_type in {"VERTEX", "VERTEX_3"}:
                    yield from self._deformed(ob.parent)
            if self._is_surface(node):
                yield from self._deformed(ob)
            yield from sources_of(ob.constraints)
            for constraint in ob.constraints:
                if getattr(constraint, "target", None) and constraint.target.type == "MESH":
                    yield from self._deformed(constraint.target)
        yield from self._driving(node)

    def _is_surface(self, node: Node) -> bool:
        return not node.bone and not node.path and node.object.session_uid in self._surfaces

    def _deformed(self, mesh: Object) -> Iterator[Node]:
        """Yield the solved bones of the armatures that deform a mesh."""
        for modifier in mesh.modifiers:
            if modifier.type == "ARMATURE" and modifier.object:
                names = self._deforming.get(modifier.object.session_uid, ())
                yield from (Node(modifier.object, name) for name in sorted(names))

    def _driving(self, node: Node) -> Iterator[Node]:
        """Yield the objects, bones and properties that the drivers on a node read."""
        for curve in self.drivers_on(node):
            for variable in curve.driver.variables:
                for source in variable.targets:
                    if isinstance(source.id, Object):
                        yield _source(source.id, source.bone_target, source.data_path)


def in_waves(limbs: Sequence[_M], known: Dependencies | None = None) -> list[list[_M]]:
    """Return limbs or bodies in groups that do not depend on each other, in their order.

    Each is in a group after those of what it depends on. A limb depends on another one that moves its root, its targets
    or its obstacles. Raises ChainError for a cycle.
    """
    known = known or Dependencies(limbs)
    owners = {(limb.armature.session_uid, name): n for n, limb in enumerate(limbs) for name in limb.solved}
    sorter = TopologicalSorter({n: set(_owners(limb, known, owners)) - {n} for n, limb in enumerate(limbs)})
    try:
        sorter.prepare()
    except CycleError as error:
        first, second, *_ = (limbs[n].tip for n in error.args[1])
        raise ChainError(f"The limbs of '{first}' and '{second}' move each other. Bake one of them first.") from error
    waves = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        waves.append([limbs[n] for n in ready])
        sorter.done(*ready)
    return waves


def _owners(limb: Moving, known: Dependencies, owners: Mapping[tuple[int, str], int]) -> Iterator[int]:
    """Yield the owners of the bones that this limb's root, targets or obstacles depend on, and its own."""
    nodes = [Node(limb.armature, limb.bones[0]), *(Node(*target) for target in limb.targets)]
    for start in (*nodes, *(Node(ob) for ob in limb.obstacle_objects)):
        keys = ((node.object.session_uid, node.bone) for node in known.movers(start) if node.bone)
        yield from (owners[key] for key in keys if key in owners)


def ik_constraints(armature: Object) -> IKConstraints:
    """Return the IK constraints that rotate bones above the one they are on, by the names of those bones."""
    found: IKConstraints = defaultdict(list)
    for bone in armature.pose.bones if armature.pose else ():
        if len(bone.constraints):
            for constraint in bone.constraints:
                if constraint.type in {"IK", "SPLINE_IK"}:
                    for above in bone.parent_recursive[: constraint.chain_count or None]:
                        found[above.name].append(constraint)
    return found


def _key(node: Node) -> _Key:
    return node.object.session_uid, node.bone, node.path


def _is_of_the_scene(driver: Driver) -> bool:
    """Tell whether a driver reads the scene."""
    scripted = driver.type == "SCRIPTED" and "bpy" in driver.expression
    return scripted or any(map(_reads_scene, driver.variables))


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


def sources_of(constraints: Iterable[Constraint]) -> Iterator[Node]:
    """Yield the objects and bones that constraints which are not muted follow, their poles too."""
    for constraint in constraints:
        if constraint.mute or not constraint.enabled:
            continue
        slots = constraint.targets if constraint.type == "ARMATURE" else [constraint]
        for slot in slots:
            if getattr(slot, "target", None):
                yield Node(slot.target, getattr(slot, "subtarget", "") if slot.target.type == "ARMATURE" else "")
        if getattr(constraint, "pole_target", None):
            yield Node(constraint.pole_target, constraint.pole_subtarget)


def _source(ob: Object, bone: str, path: str) -> Node:
    """Return the node that a driver's variable reads: a transform, or a property."""
    if not bone and path.endswith('"]'):
        return Node(ob, path=path)
    named = _BONE_IN_PATH.match(path)
    return Node(ob, bone or (_unescaped(named[1]) if named else ""))


def _unescaped(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


class Influence(NamedTuple):
    """Anything that may move a bone besides its keyframes, by its `name`; of the whole armature without a `bone`."""

    kind: str
    bone: str
    name: str

    def moves(self, tip: str, off: str, where: str) -> str:
        """Return a warning that it moves a tip `off` by a length, as text, from the solution, with the remedy."""
        kind, bone, name = self
        if kind == "CONSTRAINT":
            return (
                f"Constraint '{name}' on '{bone}' moves the tip of '{tip}' {off} away from the solution{where}. "
                "Mute it."
            )
        if kind == "DRIVER":
            return (
                f"The driver on {name} of '{bone}' moves the tip of '{tip}' {off} away from the solution{where}. "
                "Mute or remove it."
            )
        if kind == "MODIFIER":
            return (
                f"An F-Curve modifier of '{bone}' moves the tip of '{tip}' {off} away from the solution{where}. "
                "Mute or remove it."
            )
        if kind == "INFLUENCE":
            return (
                f"Action '{name}' has an influence below 1, which moves the tip of '{tip}' {off} away from the "
                f"solution{where}. Set it to 1."
            )
        if kind == "BLENDING":
            return (
                f"Action '{name}' is blended with what is below it, which moves the tip of '{tip}' {off} away from the "
                f"solution{where}. Set its blending to Replace."
            )
        if kind == "LAYER":
            return (
                f"Blender rounds small turns of the layer of '{name}': the tip of '{tip}' is {off} away from the "
                f"solution{where}. Bake into an action if that is too far."
            )
        return f"The NLA of '{name}' moves the tip of '{tip}' {off} away from the solution{where}. Mute its strips."


def may_interfere(limb: Boned) -> bool:
    """Tell whether constraints, drivers, the NLA or F-curve modifiers may move the bones at any frame.

    If not, the bones are shown as they are keyed.
    """
    return animates_otherwise(limb) or any(live_constraints(limb))


def animates_otherwise(limb: Boned) -> bool:
    """Tell whether drivers, the NLA or F-curve modifiers may change the channels of the bones at any frame."""
    animation = limb.armature.animation_data
    return bool(animation and (_blends(animation) or any(_modified(limb)) or any(_driven(limb, animation))))


def influences(limb: Boned) -> Iterator[Influence]:
    """Yield all that may move the bones of a limb or body at any frame, constraints first."""
    armature, animation = limb.armature, limb.armature.animation_data
    for constraint in live_constraints(limb):
        bone = armature.path_resolve(constraint.path_from_id().rpartition(".constraints")[0])
        yield Influence("CONSTRAINT", bone.name, constraint.name)
    if animation is None:
        return
    for curve, name in _driven(limb, animation):
        yield Influence("DRIVER", name, curve.data_path.rpartition(".")[2])
    yield from (Influence("MODIFIER", name, "") for name in dict.fromkeys(name for _, name in _modified(limb)))
    action = animation.action
    if action and animation.action_influence < 1.0:
        yield Influence("INFLUENCE", "", action.name)
    if action and animation.action_blend_type != "REPLACE":
        yield Influence("BLENDING", "", action.name)
    if _has_strips(animation):
        yield Influence("LAYER" if is_layer_on_top(animation) else "NLA", "", armature.name)


class TipMoved(NamedTuple):
    """A tip that is shown `apart` from its solution, and the bones that are `moved` off it, if these are known.

    `where` says at which frame, as part of a sentence.
    """

    tip: str
    apart: float
    where: str
    moved: Collection[str] | None = None


def explained(limb: Boned, tips: Iterable[TipMoved], scene: Scene) -> dict[str, str]:
    """Return warnings that something moves tips away from their solution, one for each probable reason.

    They are by the names of the tips that are moved most. The reason is on a bone that is moved, or of the armature.
    """
    bones, every = limb.armature.pose.bones, list(influences(limb))
    worst: dict[Influence | None, TipMoved] = {}
    for each in tips:
        reason = None
        for found in every:
            # An IK constraint is on a bone below those that it turns.
            below = found.bone and [found.bone, *(above.name for above in bones[found.bone].parent_recursive)]
            if not below or each.moved is None or any(name in each.moved for name in below):
                reason = found
                break
        if reason not in worst or worst[reason].apart < each.apart:
            worst[reason] = each
    return {
        tip: reason.moves(tip, distance_text(apart, scene), where)
        if reason
        else f"Something else moves the tip of '{tip}' {distance_text(apart, scene)} away from the solution{where} "
        "(NLA, drivers)."
        for reason, (tip, apart, where, _) in worst.items()
    }


def live_constraints(limb: Boned) -> Iterator[Constraint]:
    """Yield the constraints that may move the bones at any frame: their own, and IK on descendants."""
    bones, of_ik, seen = limb.armature.pose.bones, ik_constraints(limb.armature), set[str]()
    for name in limb.bones:
        for constraint in (*bones[name].constraints, *of_ik.get(name, ())):
            path = constraint.path_from_id()
            if path not in seen and _is_active(limb, constraint):
                seen.add(path)
                yield constraint


def _blends(animation: AnimData) -> bool:
    """Tell whether anything is blended with the active action."""
    return _has_strips(animation) or animation.action_influence < 1.0 or animation.action_blend_type != "REPLACE"


def _has_strips(animation: AnimData) -> bool:
    return bool(animation.use_nla) and any(not strip.mute for strip in strips_of(animation))


def _modified(limb: Boned) -> Iterator[tuple[FCurve, str]]:
    """Yield the F-curves with modifiers of transform channels, with the names of the bones."""
    curves = curves_of(limb.armature)
    return _of_bones(limb, (curve for curve in curves if any(not each.mute for each in curve.modifiers)))


def _driven(limb: Boned, animation: AnimData) -> Iterator[tuple[FCurve, str]]:
    """Yield the drivers on transform channels, with the names of the bones."""
    return _of_bones(limb, (curve for curve in animation.drivers if not curve.mute))


def _of_bones(limb: Boned, curves: Iterable[FCurve]) -> Iterator[tuple[FCurve, str]]:
    """Yield those of the F-curves that are on transform channels of the bones, with the names of the bones."""
    bones = limb.armature.pose.bones
    starts = {f"{bones[name].path_from_id()}.{kind}": name for name in limb.bones for kind in _TRANSFORM}
    every = tuple(starts)
    for curve in curves:
        if curve.data_path.startswith(every):
            yield curve, next(name for start, name in starts.items() if curve.data_path.startswith(start))


def _is_active(limb: Boned, constraint: Constraint) -> bool:
    """Tell whether a constraint has an effect, or may have one at another frame."""
    if not constraint.mute and constraint.influence > 0.0:
        return True
    path = constraint.path_from_id()
    return any(curve.data_path.startswith(path) for curve in moving_curves(limb.armature))
