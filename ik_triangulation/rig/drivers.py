# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers that a limb depends on and that Blender does not run: a bake then follows properties that do not change.

Blender marks a driver as invalid once it fails, and does not try again: it may have refused to run a Python expression
of a file that it does not trust, the expression may be wrong, or a variable may read something that does not exist.
"""

import re
from collections.abc import Iterator, Sequence

import bpy
from bpy.types import Depsgraph, Driver, DriverTarget, DriverVariable, FCurve, Object

from .dependencies import Dependencies, Node
from .limb import Limb

Validity = dict[tuple[str, int], bool]  # of drivers, by path and array index

# Properties that move an object, a bone, or a limb that ends in it; a custom property does so only if it is read.
_MOVING = re.compile(
    r'(?:pose\.bones\["(?:[^"\\]|\\.)*"\]\.)?'
    r"(?:location|rotation_|scale|delta_|constraints\[|ik_|empty_display_size)"
)


def broken_drivers(limb: Limb, depsgraph: Depsgraph) -> list[str]:
    """Return warnings of the drivers that move the limb, its parents, its targets or obstacles and that do not run.

    Each names the property and its owner, the reason if it is known, and the remedy.
    """
    found: dict[str, None] = {}
    known = Dependencies()
    valid: dict[int, Validity] = {}
    nodes = [Node(limb.armature, limb.tip), *(Node(*target) for target in limb.targets)]
    for start in (*nodes, *(Node(ob) for ob in limb.obstacle_objects)):
        for node in known.movers(start):
            drivers = known.drivers_on(node)
            if drivers:
                uid = node.object.session_uid
                if uid not in valid:
                    valid[uid] = _valid(node.object, depsgraph)
                found |= {_warning(node, curve): None for curve in _broken(node, drivers, valid[uid])}
    return list(found)


def _broken(node: Node, drivers: Sequence[FCurve], valid: Validity) -> Iterator[FCurve]:
    """Yield those drivers on a node that move it and do not run."""
    for curve in drivers:
        relevant = node.path or _MOVING.match(curve.data_path)
        if relevant and not curve.mute and not valid.get((curve.data_path, curve.array_index), True):
            yield curve


def _valid(ob: Object, depsgraph: Depsgraph) -> Validity:
    """Return whether each driver of an object is valid, by path and array index.

    In a scene that is not shown, only the evaluated copy knows.
    """
    valid: Validity = {}
    for owner in (ob, ob.evaluated_get(depsgraph)):
        for curve in owner.animation_data.drivers if owner.animation_data else ():
            key = curve.data_path, curve.array_index
            valid[key] = curve.driver.is_valid and valid.get(key, True)
    return valid


def _warning(node: Node, curve: FCurve) -> str:
    index = f"[{curve.array_index}]" if _is_array(node.object, curve) else ""
    name = f"The driver of {curve.data_path}{index} of '{node.object.name}'"
    return f"{name} {_reason(curve.driver)}"


def _is_array(ob: Object, curve: FCurve) -> bool:
    try:
        return hasattr(ob.path_resolve(curve.data_path), "__len__")
    except ValueError:
        return False


def _reason(driver: Driver) -> str:
    """Return the part of a warning that explains why a driver does not run, and the remedy."""
    for variable in driver.variables:
        if not all(_is_there(variable, source) for source in variable.targets):
            return f"is broken: its variable '{variable.name}' reads what is not there. Give it another target."
    if driver.type == "SCRIPTED" and not driver.is_simple_expression and bpy.app.autoexec_fail and _is_python(driver):
        return "was refused: Blender runs no scripts of this file. Allow Auto Run Python Scripts and reload the file."
    return f"is broken: '{driver.expression}' cannot be evaluated. Correct the expression or delete the driver."


def _is_python(driver: Driver) -> bool:
    try:
        compile(driver.expression.strip(), "driver", "eval")
    except (SyntaxError, ValueError):
        return False
    return True


def _is_there(variable: DriverVariable, source: DriverTarget) -> bool:
    """Tell whether the source that a variable of a driver reads exists."""
    if variable.type == "CONTEXT_PROP":
        return True
    if source.id is None:
        return False
    if variable.type != "SINGLE_PROP":
        return not source.bone_target or (source.id.pose is not None and source.bone_target in source.id.pose.bones)
    try:
        source.id.path_resolve(source.data_path)
    except ValueError:
        return bool(source.use_fallback_value)
    return True
