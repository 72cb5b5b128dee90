# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties that decide whether bones follow a limb, such as IK_FK on a generated rig, and the value to give them.

They are found through the drivers of the constraints in between, the value by trials in a temporary scene.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from math import isfinite
from typing import Any, NamedTuple

from bpy.types import ID, Constraint, Depsgraph, Driver, FCurve, Object, PoseBone, Scene

from .clock import Clock, evaluated_time
from .frames.restore import parts_of, set_value
from .frames.sampling import go_to, temporary_scene
from .keyframes import curves_of
from .limb import Limb

Follows = Callable[[Depsgraph], bool]  # tells whether all bones follow
_FEW = 8  # size of a range of whole numbers that are all tried


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
    """Give the switch another value in the body, whatever its keyframes are."""
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
