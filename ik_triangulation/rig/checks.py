# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks before a solve: each error names the culprit and the remedy; drivers that Blender does not run.

Drivers that a limb depends on and that Blender does not run: a bake then follows properties that do not change. Blender
marks a driver as invalid once it fails, and does not try again: it may have refused to run a Python expression of a
file that it does not trust, the expression may be wrong, or a variable may read something that does not exist.
"""

import re
from collections.abc import Iterator, Sequence

import bpy
from bpy.types import (
    Action,
    Collection,
    Depsgraph,
    Driver,
    DriverTarget,
    DriverVariable,
    FCurve,
    LayerCollection,
    Object,
    Scene,
    ViewLayer,
)

from ..errors import AnimationError, ChainError, RigError, SettingError, TargetError
from .armature import find_bone
from .dependencies import TARGETS, Dependencies, Node
from .limb import Limb, has_volume
from .rotation import PROPERTIES
from .timeline import evaluated_time

LONGEST_RANGE = 100_000  # frames
FARTHEST_FRAME = 1_048_574  # of Blender
SHORTEST_STEP = 0.01  # frames; Blender takes nearer keys for one

Validity = dict[tuple[str, int], bool]  # of drivers, by path and array index

# Properties that move an object, a bone, or a limb that ends in it; a custom property does so only if it is read.
_MOVING = re.compile(
    r'(?:pose\.bones\["(?:[^"\\]|\\.)*"\]\.)?'
    r"(?:location|rotation_|scale|delta_|constraints\[|ik_|empty_display_size)"
)


def check_limb(
    limb: Limb, scene: Scene, view_layer: ViewLayer, known: Dependencies | None = None, carried: bool = False
) -> None:
    """Raise the IKError that explains why this limb cannot be solved; change nothing.

    Several limbs that are checked one after the other share what is `known` of dependencies. A target that is `carried`
    may follow the bones that are turned.
    """
    check_readable(limb, scene, view_layer)
    _check_obstacles(limb, scene, view_layer)
    _check_drivers(limb)
    if not 0.0 <= limb.influence <= 1.0:
        raise SettingError(f"Influence {limb.influence:g} is out of range. Give it a number from 0 to 1.")
    (known or Dependencies([limb])).check_apart(limb, carried)


def check_readable(limb: Limb, scene: Scene, view_layer: ViewLayer) -> None:
    """Raise the IKError that explains why limb and targets cannot be read: the quick part of check_limb()."""
    check_armature(limb.armature, view_layer)
    for name in limb.bones:
        find_bone(limb.armature, name)
    for what, (target, bone) in zip(TARGETS, limb.targets, strict=False):
        _check_target(what, limb, target, bone, scene, view_layer)


def check_separate(limbs: Sequence[Limb]) -> None:
    """Raise ChainError if a bone belongs to two of the limbs."""
    owners: dict[tuple[int, str], str] = {}
    for limb in limbs:
        for name in limb.in_order:
            other = owners.setdefault((limb.armature.session_uid, name), limb.tip)
            if other != limb.tip:
                raise ChainError(f"'{name}' belongs to the limbs of '{other}' and '{limb.tip}'. Shorten one of them.")


def check_range(scene: Scene, frame_start: int, frame_end: int, step: float) -> None:
    """Raise SettingError for a frame range that cannot be baked."""
    check_frames(frame_start, frame_end, step)
    if not evaluated_time(scene, step) >= SHORTEST_STEP:
        raise SettingError(f"A step of {step:g} frames is too small with this Time Stretching. Use a larger one.")


def check_frames(frame_start: int, frame_end: int, step: float) -> None:
    """Raise SettingError for a range that has no frames, or far too many."""
    for frame in (frame_start, frame_end):
        if not abs(frame) <= FARTHEST_FRAME:
            raise SettingError(f"There is no frame {frame}: Blender's last one is {FARTHEST_FRAME}. Choose another.")
    if frame_start > frame_end:
        raise SettingError(f"The range ends at frame {frame_end}, before its start at {frame_start}. Swap them.")
    if not step >= SHORTEST_STEP:
        raise SettingError(f"A step of {step:g} frames is too small. Use {SHORTEST_STEP} or more.")
    if (frame_end - frame_start) // step >= LONGEST_RANGE:
        count = int((frame_end - frame_start) // step) + 1
        raise SettingError(f"{count} frames are too many. Bake {LONGEST_RANGE} at most.")


def check_armature(armature: Object, view_layer: ViewLayer) -> None:
    """Raise RigError if the armature cannot be read or posed in its present state."""
    name = armature.name
    if armature.type != "ARMATURE":
        raise RigError(f"'{name}' is not an armature. Choose one.")
    if armature.library is not None:
        raise RigError(f"'{name}' is linked. Create a library override first.")
    if armature.data.is_editmode:
        raise RigError(f"'{name}' is in Edit Mode. Leave Edit Mode first.")
    if armature.data.pose_position == "REST":
        raise RigError(f"'{name}' is in Rest Position. Switch to Pose Position.")
    check_layers(armature)
    if not is_evaluated(armature, view_layer):
        raise RigError(f"'{name}' is disabled in this view layer, its pose cannot be read. Enable it in viewports.")
    matrix = armature.evaluated_get(view_layer.depsgraph).matrix_world.to_3x3()
    lengths = [column.length for column in matrix.col]
    flat = [axis for axis, length in zip("XYZ", lengths, strict=True) if not length > 1e-9]
    if flat:
        raise RigError(f"'{name}' (or a parent) has zero scale on {', '.join(flat)}. Give it a non-zero scale.")
    if not abs(matrix.determinant()) > 1e-9 * lengths[0] * lengths[1] * lengths[2]:
        raise RigError(f"'{name}' (or a parent) is scaled flat. Give it a scale that keeps three dimensions.")


def check_layers(ob: Object) -> None:
    """Raise AnimationError for an object with an action of several layers, of which one would be read for all."""
    animation = ob.animation_data
    if animation is None:
        return
    strips = (strip.action for track in animation.nla_tracks for strip in track.strips)
    for action in (animation.action, *strips):
        if action is not None and has_layers(action):
            raise AnimationError(
                f"Action '{action.name}' of '{ob.name}' has several layers, which cannot be read yet. "
                "Merge them into one."
            )


def has_layers(action: Action) -> bool:
    """Tell whether an action has more than one layer, or one of several strips."""
    return len(action.layers) > 1 or any(len(layer.strips) > 1 for layer in action.layers)


def _check_target(what: str, limb: Limb, target: Object, bone: str, scene: Scene, view_layer: ViewLayer) -> None:
    if scene not in target.users_scene:
        raise TargetError(f"{what} '{target.name}' is not in this scene. Choose another {what.lower()}.")
    if not is_evaluated(target, view_layer):
        raise TargetError(
            f"{what} '{target.name}' is disabled in this view layer, its motion cannot be read. Enable it in viewports."
        )
    if bone and (target.type != "ARMATURE" or bone not in target.pose.bones):
        raise TargetError(f"Bone '{bone}' is not in {what.lower()} '{target.name}'. Choose another bone.")
    check_layers(target)
    if target == limb.armature and not bone:
        raise TargetError(f"{what} '{target.name}' is the armature itself. Choose one of its bones, or another object.")


def _check_obstacles(limb: Limb, scene: Scene, view_layer: ViewLayer) -> None:
    for ob in limb.obstacle_objects:
        _check_obstacle(limb, ob, scene, view_layer)
    others = [] if limb.obstacles is None or not limb.obstacle_weight else [*limb.obstacles.all_objects]
    if others and not any(map(has_volume, others)):
        raise TargetError(
            f"Obstacle '{others[0].name}' has no volume, nor has another in '{limb.obstacles.name}'. "
            "Put a mesh in it, or have the empty displayed as Sphere or Cube."
        )


def _check_obstacle(limb: Limb, ob: Object, scene: Scene, view_layer: ViewLayer) -> None:
    if scene not in ob.users_scene or not is_evaluated(ob, view_layer):
        raise TargetError(
            f"Obstacle '{ob.name}' is disabled in this view layer, its place cannot be read. "
            "Enable it in viewports or take it out of the collection."
        )
    if any(modifier.type == "ARMATURE" and modifier.object == limb.armature for modifier in ob.modifiers):
        raise TargetError(
            f"Obstacle '{ob.name}' is deformed by '{limb.armature.name}' itself. Take it out of the collection."
        )


def _check_drivers(limb: Limb) -> None:
    animation = limb.armature.animation_data
    paths = {
        limb.armature.pose.bones[name].path_from_id(prop): (name, prop) for name in limb.solved for prop in PROPERTIES
    }
    for curve in animation.drivers if animation else ():
        if curve.data_path in paths:
            name, prop = paths[curve.data_path]
            raise AnimationError(
                f"{prop}[{curve.array_index}] of '{name}' is driven. Remove the driver or leave out the bone."
            )


def is_evaluated(ob: Object, view_layer: ViewLayer) -> bool:
    """Tell whether Blender evaluates the object in this view layer; if not, its matrices are stale.

    A disabled object may still be in the dependency graph, because a setting points to it.
    """
    known = bool(ob.evaluated_get(view_layer.depsgraph).is_evaluated)
    return known and not ob.hide_viewport and _has_enabled(view_layer.layer_collection, set(ob.users_collection))


def _has_enabled(layer: LayerCollection, collections: set[Collection]) -> bool:
    """Tell whether one of the collections is enabled in this part of a view layer."""
    if layer.collection.hide_viewport:
        return False
    return (not layer.exclude and layer.collection in collections) or any(
        _has_enabled(child, collections) for child in layer.children
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
