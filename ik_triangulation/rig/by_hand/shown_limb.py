# SPDX-License-Identifier: GPL-3.0-or-later
"""The limb that a character shows, which may follow IK controls, and the properties that decide it.

Properties that decide whether bones follow a limb, such as IK_FK on a generated rig, and the value to give them. They
are found through the drivers of the constraints in between, the value by trials in a temporary scene.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple

from bpy.types import ID, Constraint, Depsgraph, Driver, FCurve, Object, PoseBone, Scene, ViewLayer
from mathutils import Matrix, Quaternion

from ...errors import IKError, RigError
from ...kinematics.rotation import orientation
from ..armature import is_flat
from ..controls import ik_controls_of, limbs_with_ik
from ..frames.samples import go_to, temporary_scene
from ..ik_controls import IKControls
from ..keyframes import GENERATED, AnimatedValues, curves_of, is_baked, made_by_hand
from ..keyframes.arrays import KeyArrays, enum_number, get_keys, merge_keys, put_keys
from ..keyframes.channelbags import channelbag_of, find_curves
from ..keyframes.reading import replaced_in
from ..keyframes.unkeyed import parts_of, set_value
from ..limb import Limb
from ..rotation import channel
from ..timeline import Clock, evaluated_time

Follows = Callable[[Depsgraph], bool]  # tells whether all bones follow
_FEW = 8  # size of a range of whole numbers that are all tried

_SAME = 1e-3  # of a bone's length
_ALWAYS = float("-inf"), float("inf")


class Switch(NamedTuple):
    """A property: its data-block, its path from there, and for messages its holder and its name."""

    owner: ID
    path: str
    holder: str
    name: str

    @property
    def now(self) -> Any:
        """The present value."""
        return self.owner.path_resolve(self.path)

    def set(self, value: float) -> None:
        """Set the value, converted to the property's type."""
        set_value(self.owner, self.path, type(self.now)(value))
        self.owner.update_tag()

    def show(self, otherwise: float, scene: Scene, undo: ExitStack) -> None:
        """Set the value that its keyframes give it now, or without any another one; closing `undo` restores it."""
        undo.callback(self.set, self.now)
        keyed = any(not curve.is_empty for curve in self.curves)
        self.set(self.at(scene.frame_current_final, scene) if keyed else otherwise)

    def at(self, frame: float, scene: Scene) -> float:
        """Return the value at a frame of a scene."""
        curves = self.curves
        return float(curves[0].evaluate(self.time(frame, scene)) if curves else self.now)

    def time(self, frame: float, scene: Scene) -> float:
        """Return the time of a frame in the action that moves the property."""
        if isinstance(self.owner, Object):
            return Clock(scene, self.owner).time(frame)
        return evaluated_time(scene, frame)

    @property
    def curves(self) -> list[FCurve]:
        """The F-curves of its data-block's active action that move it."""
        animated = getattr(self.owner, "animation_data", None) is not None
        return [curve for curve in curves_of(self.owner) if curve.data_path == self.path] if animated else []


def find_switch(
    limb: Limb, bones: Collection[str], follow: Follows, frame: float, scene: Scene
) -> tuple[Switch, float] | None:
    """Return the property and its value with which all bones `follow` at a frame; None if no single one does that.

    `bones` are those whose constraints are examined. Every trial is reverted.
    """
    for switch in switches_of(limb.armature, bones):
        for value in _values(switch):
            with _tried(switch, value), temporary_scene(limb, scene) as staged:
                if follow(go_to(staged, frame)):
                    return switch, value
    return None


@contextmanager
def _tried(switch: Switch, value: float) -> Iterator[None]:
    """Give the switch another value in the body, regardless of its keyframes."""
    with ExitStack() as undo:
        for curve in switch.curves:
            undo.callback(setattr, curve, "mute", curve.mute)
            curve.mute = True
        undo.callback(switch.set, switch.now)
        switch.set(value)
        yield


def switches_of(armature: Object, bones: Collection[str]) -> list[Switch]:
    """Return the properties on which the constraints of these bones depend, at the beginning of chains of drivers."""
    found: dict[tuple[str, str], Switch] = {}
    animation = armature.animation_data
    drivers = list(animation.drivers) if animation else []
    for name in bones:
        bone = armature.pose.bones[name]
        for constraint in bone.constraints:
            path = constraint.path_from_id() + "."
            driven = [curve for curve in drivers if curve.data_path.startswith(path)]
            sources = _sources((curve.driver for curve in driven), set()) if driven else _own(bone, constraint)
            for switch in sources:
                found.setdefault((switch.owner.name_full, switch.path), switch)
    return list(found.values())


def stretches_of(armature: Object, controls: IKControls) -> list[Switch]:
    """Return the properties by which the bones that IK turns may be stretched, those without a driver."""
    owner = armature.pose.bones[controls.owner]
    if not owner.constraints[controls.constraint].use_stretch:
        return []
    driven = {curve.data_path for curve in (armature.animation_data.drivers if armature.animation_data else ())}
    turned = (armature.pose.bones[name] for name in controls.turned)
    found = [Switch(armature, bone.path_from_id("ik_stretch"), bone.name, "ik_stretch") for bone in turned]
    return [each for each in found if each.now > 0.0 and each.path not in driven]


def _sources(drivers: Iterable[Driver], seen: set[tuple[str, str]]) -> Iterator[Switch]:
    """Yield the properties that drivers read, through further drivers if these are driven themselves."""
    for driver in drivers:
        for variable in driver.variables:
            for source in variable.targets if variable.type == "SINGLE_PROP" else ():
                if source.id is None or (source.id.name_full, source.data_path) in seen:
                    continue
                seen.add((source.id.name_full, source.data_path))
                animation = getattr(source.id, "animation_data", None)
                before = [c.driver for c in animation.drivers if c.data_path == source.data_path] if animation else []
                yield from _sources(before, seen) if before else _property(source.id, source.data_path)


def _property(owner: ID, path: str) -> Iterator[Switch]:
    """Yield the property at a path, if it exists and is a number."""
    try:
        place, name, _ = parts_of(owner, path)
        number = isinstance(owner.path_resolve(path), int | float)
    except (ValueError, KeyError):
        return
    if number and owner.library is None:
        yield Switch(owner, path, getattr(place, "name", owner.name), name)


def _own(bone: PoseBone, constraint: Constraint) -> Iterator[Switch]:
    """Yield the properties of a constraint without drivers: whether it is muted, and its influence."""
    for name in ("mute",) if constraint.mute else ("influence", "mute"):
        yield Switch(bone.id_data, f"{constraint.path_from_id()}.{name}", f"{bone.name}: {constraint.name}", name)


def _values(switch: Switch) -> list[float]:
    """Return the values of a property to try, on before off."""
    place, name, custom = parts_of(switch.owner, switch.path)
    now = None if switch.curves else switch.now  # with keyframes its value depends on the frame
    if isinstance(switch.now, bool):
        return [float(value) for value in (True, False) if value is not now]
    if custom:
        ends = place.id_properties_ui(name).as_dict()
        low, high = ends.get("min", 0.0), ends.get("max", 1.0)
    else:
        ends = place.bl_rna.properties[name]
        low, high = ends.hard_min, ends.hard_max
    whole = range(int(low), int(high) + 1) if isinstance(switch.now, int) and high - low <= _FEW else ()
    tried = [value for value in (1.0, 0.0, low, high, *whole) if low <= value <= high and abs(value) < 1e6]
    return [value for value in dict.fromkeys(map(float, tried)) if isfinite(value) and value != now]


def controls_or_none(limb: Limb, of_end: bool = False) -> IKControls | None:
    """Return the IK controls of a limb, or of its end if that will do; None if it has none."""
    try:
        return ik_controls_of(limb, of_end=of_end)
    except IKError:
        return None


def shown_limb(limb: Limb) -> Limb:
    """Return a limb whose tip is the bone that shows the tip of this one; itself on a rig without IK controls."""
    controls = controls_or_none(limb)
    if controls is None or controls.tip.bone != limb.tip:
        return limb
    rests = limb.armature.data.bones
    own, shown = rests[limb.tip], rests[controls.tip.shown]
    alike = (own.head_local - shown.head_local).length + (own.tail_local - shown.tail_local).length
    return replace(limb, bones=(*limb.bones[:-1], shown.name)) if alike <= _SAME * own.length else limb


def key_bones(limb: Limb) -> Sequence[str]:
    """Return the bones whose keys animate a limb: its own, and its IK controls if they are animated by hand."""
    controls = controls_or_none(limb)
    return [*limb.bones, *(controls.keyed if controls and is_animated_by_hand(limb.armature, controls) else ())]


def is_animated_by_hand(armature: Object, controls: IKControls) -> bool:
    """Tell whether IK controls have hand-made keys, or had some before they were baked.

    Keys beside baked ones do not count: they correct a bake.
    """
    bag = channelbag_of(armature)
    for name in controls.keyed:
        for path in _paths(armature, name):
            known = replaced_in(bag, path)
            if known and any(len(keys["co"]) for keys in known.keys.values()):
                return True
            if any(not _has_baked(get_keys(curve)) for curve in find_curves(bag, path).values()):
                return True
    return False


def shows_ik(limb: Limb) -> IKControls | None:
    """Return the IK controls if they animate what the character shows; None if the limb's own bones do.

    That is so where they were animated by hand, and the limb's own bones were not or the character does not follow
    those at present.
    """
    own_paths = tuple(bone.path_from_id() for bone in limb.pose_bones)
    if all(curve.data_path.startswith(own_paths) for curve in curves_of(limb.armature)):
        return None  # quickly: nothing else is animated
    controls = controls_or_none(limb)
    if controls is None or not is_animated_by_hand(limb.armature, controls):
        return None
    bag, bones = channelbag_of(limb.armature), limb.pose_bones
    replaced = (replaced_in(bag, bone.path_from_id(channel(bone)[0])) for bone in bones)
    own = made_by_hand(limb.armature, limb.in_order, *_ALWAYS) or any(known and known.keys for known in replaced)
    return controls if not own or controls.is_shown(limb.armature) else None


def idle_switches(armature: Object) -> list[tuple[Switch, float]]:
    """Return the properties that bakes have keyed so that the character follows limbs, none of which is baked now.

    Each comes with its value from before the bakes.
    """
    bag, idle, needed = channelbag_of(armature), dict[str, tuple[Switch, float]](), set[str]()
    with suppress(RigError):  # without any IK controls
        for limb, controls in limbs_with_ik(armature) if bag else ():
            found = {each.path: each for each in switches_of(armature, controls.examined) if each.owner == armature}
            if is_baked(armature, [*limb.bones, *controls.keyed]):
                needed |= found.keys()
            else:
                known = {path: replaced_in(bag, path) for path in found}
                idle |= {path: (found[path], before.before[0]) for path, before in known.items() if before}
    return [each for path, each in idle.items() if path not in needed]


@contextmanager
def baked_keys_aside(armature: Object, controls: IKControls, view_layer: ViewLayer) -> Iterator[None]:
    """Give IK controls and their switches in the body their hand-made animation, without the keys of bakes."""
    bag = channelbag_of(armature)
    paths = [path for name in controls.keyed for path in _paths(armature, name)]
    paths += [each.path for each in switches_of(armature, controls.examined) if each.owner == armature]
    baked = [path for path in paths if any(_has_baked(get_keys(each)) for each in find_curves(bag, path).values())]
    with ExitStack() as undo:
        if baked:
            saved = AnimatedValues(armature, baked)
            undo.callback(saved.update_and_restore, view_layer)
        for path in baked:
            known = replaced_in(bag, path)
            for index, curve in find_curves(bag, path).items():
                keys, before = get_keys(curve), known.keys.get(index) if known else None
                left = _by_hand(keys)
                if before is not None:
                    left = merge_keys(left, before, *reversed(_ALWAYS))
                if not len(left["co"]) and known:
                    left = {name: column[:1].copy() for name, column in keys.items()}
                    left["co"][0, 1] = known.before[index]
                undo.callback(put_keys, curve, keys)
                put_keys(curve, left)
        yield


def shown_rotations(limb: Limb, controls: IKControls, armature: Object) -> list[Quaternion]:
    """Return the rotations of a limb's bones, in their own rest axes, in the pose that its IK controls have.

    The armature is evaluated. Bones in between keep theirs.
    """
    rests, poses = armature.data.bones, dict[str, Matrix]()
    leaders = {each.bone: each.leader for each in controls.showing if each.leader != controls.control}
    found = []
    for name in limb.bones:
        bone, rest = armature.pose.bones[name], rests[name]
        above = bone.parent
        into = {"matrix_local": rest.matrix_local}
        if above:
            into |= {
                "parent_matrix": poses.get(above.name, above.matrix),
                "parent_matrix_local": rests[above.name].matrix_local,
            }
        if name in leaders or name == controls.tip.bone:
            leader = leaders.get(name, controls.tip.shown)
            poses[name] = armature.pose.bones[leader].matrix @ (
                rests[leader].matrix_local.inverted() @ rest.matrix_local
            )
            basis = rest.convert_local_to_pose(poses[name], invert=True, **into)
        else:
            basis = bone.matrix_basis
            poses[name] = rest.convert_local_to_pose(basis, **into)
        found.append(Quaternion() if is_flat(basis) else orientation(basis.to_3x3()))
    return found


def _paths(armature: Object, name: str) -> list[str]:
    bone = armature.pose.bones[name]
    return [bone.path_from_id(prop) for prop in ("location", channel(bone)[0], "scale")]


def _has_baked(keys: KeyArrays) -> bool:
    return bool((keys["type"] == enum_number("type", GENERATED)).any())


def _by_hand(keys: KeyArrays) -> KeyArrays:
    mask = keys["type"] != enum_number("type", GENERATED)
    return {name: column[mask] for name, column in keys.items()}
