# SPDX-License-Identifier: GPL-3.0-or-later
"""Empties that were made as targets, and the spaces in which targets move.

Such an empty is in a collection of its armature, and is removed with the limb if it is not used elsewhere. Its mark is
a custom property, so that an object of the user's own is never taken for one of these.

A space is an object or a bone with which a target moves over a span of frames, by a Child Of constraint. The influence
of the constraint has keyframes without interpolation: 1 from the first frame of the span, 0 after the last. So Blender
shows the target where it acts, also where the extension is not installed, and its own keyframes within the span are in
that space.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Collection, Constraint, Object, PoseBone, Scene, ViewLayer

from ..keyframes import get_keys
from ..keyframes.channelbags import channelbag_of, find_curves
from ..scene_objects import home
from ..timeline import Clock

# Custom property: of empties True, of collections the name that their armature had. A pointer to the armature would
# keep it in the file when the user deletes it.
_KEY = "ik_triangulation_made"


def keep_target(armature: Object, empty: Object, scene: Scene, view_layer: ViewLayer) -> None:
    """Put a new empty into the collection of the targets of an armature, which is beside that, and have it move along.

    The empty's channels stay its place in the world for as long as the armature is where it is now.
    """
    empty[_KEY] = True
    empty.parent, empty.matrix_parent_inverse = armature, armature.matrix_world.inverted_safe()
    around = home(armature, scene, view_layer)
    found = next((each for each in around.children if _is_of(each, armature)), None)
    if found is None:
        found = bpy.data.collections.new(f"{armature.name} Targets")
        found[_KEY] = armature.name
        around.children.link(found)
    found.objects.link(empty)


def is_made(target: Object | None) -> bool:
    """Tell whether an object is an empty that was made as the target of a limb."""
    return target is not None and target.type == "EMPTY" and bool(target.get(_KEY))


def hangs_at_most_on(armature: Object, target: Object) -> bool:
    """Tell whether a target has no parent, or the armature as a whole, as the targets made for it have."""
    return target.parent is None or (target.parent == armature and target.parent_type == "OBJECT")


def made_targets(armature: Object) -> list[Object]:
    """Return the empties in the collections of an armature's targets, unused ones as well."""
    return [ob for each in _collections(armature) for ob in each.objects if is_made(ob)]


def remove_unused(target: Object, armature: Object) -> bool:
    """Remove an empty that was made as a target, unless anything has a use for it; tell whether that was done.

    Its collection goes with the last one, and so does its action if nothing else has it.
    """
    if not is_made(target) or target.library is not None or _is_used(target, armature):
        return False
    action = target.animation_data.action if target.animation_data else None
    around = [each for each in target.users_collection if _KEY in each and each.library is None]
    bpy.data.objects.remove(target)
    if action is not None and not action.users and action.library is None:
        bpy.data.actions.remove(action)
    _remove_empty(around)
    return True


def remove_all_unused(targets: Sequence[Object], armature: Object) -> int:
    """Remove those of some empties that nothing else has a use for, as remove_unused() does; return their number.

    One that is used by another of them alone, which moves with it, goes after that.
    """
    left, before = list(targets), -1
    while len(left) != before:
        before, left = len(left), [target for target in left if not remove_unused(target, armature)]
    return len(targets) - len(left)


def remove_empty_collections(armature: Object) -> None:
    """Remove the collections of the targets of an armature in which nothing is left."""
    _remove_empty(_collections(armature))


def _remove_empty(collections: Iterable[Collection]) -> None:
    for collection in collections:
        if not collection.all_objects and not collection.children:
            bpy.data.collections.remove(collection)


def _collections(armature: Object) -> list[Collection]:
    return [each for each in bpy.data.collections if _is_of(each, armature)]


def _is_of(collection: Collection, armature: Object) -> bool:
    """Tell whether a collection is for the targets of an armature: it has one of them, or is called after it.

    Armatures are renamed, and others get their names: so a name counts only where no other armature has a target there.
    """
    if collection.library is not None or _KEY not in collection:
        return False
    if _has_target_in(armature, collection):
        return True
    others = (ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob != armature)
    return collection[_KEY] == armature.name and not any(_has_target_in(each, collection) for each in others)


def _has_target_in(armature: Object, collection: Collection) -> bool:
    targets = {bone.ik_triangulation.target for bone in armature.pose.bones}
    return any(ob in targets for ob in collection.objects)


def _is_used(target: Object, armature: Object) -> bool:
    """Tell whether anything in the file refers to a target, other than its collections and scenes."""
    users = bpy.data.user_map(subset=[target])[target]
    if any(user not in (target, armature) and not isinstance(user, (Collection, Scene)) for user in users):
        return True
    if any(contact.support == target for contact in armature.ik_triangulation.contacts):
        return True
    return any(_uses(bone.ik_triangulation, target) for bone in armature.pose.bones) or any(
        getattr(constraint, "target", None) == target
        for owner in (armature, *armature.pose.bones)
        for constraint in owner.constraints
    )


def _uses(limb: bpy.types.PropertyGroup, target: Object) -> bool:
    return target in (limb.target, limb.pole_target) or any(stop.target == target for stop in limb.reach_stops)


_NAME = "Space: "  # and the object or bone: the constraints that are ours
_ON = 0.5


class TargetSpace(NamedTuple):
    """A span of frames in which a target moves with an object, or with one of its bones."""

    object: Object | None
    bone: str
    frame_start: int
    frame_end: int

    @property
    def name(self) -> str:
        """The name of the bone or object."""
        return self.bone or (self.object.name if self.object else "")

    @property
    def changes(self) -> tuple[int, int, int]:
        """The frames at which the channels of a target may step: its first, its last and the one after."""
        return self.frame_start, self.frame_end, self.frame_end + 1


def is_space(constraint: Constraint) -> bool:
    """Tell whether a constraint was made as a space of a target."""
    return bool(constraint.type == "CHILD_OF" and constraint.name.startswith(_NAME) and not constraint.mute)


def space_constraints(owner: Object | PoseBone) -> list[Any]:
    """Return the constraints that are spaces of an object or bone, in their order on it."""
    return [each for each in owner.constraints if is_space(each)]


def new_space(owner: Object | PoseBone, space: Object, bone: str) -> Any:
    """Add a space without effect to an object or bone, and return its constraint."""
    made = owner.constraints.new("CHILD_OF")
    made.name = _NAME + (bone or space.name)
    made.target, made.subtarget = space, bone
    made.show_expanded, made.influence = False, 0.0
    return made


def span_of(constraint: Constraint, scene: Scene) -> tuple[int, int] | None:
    """Return the first and the last frame of a space; None where it has no keyframes, or no effect at any frame."""
    ob = constraint.id_data
    curve = find_curves(channelbag_of(ob), constraint.path_from_id("influence"), 1).get(0)
    if curve is None:
        return None
    times, values = get_keys(curve, ["co"])["co"].T
    on, clock = np.flatnonzero(values > _ON), Clock(scene, ob)
    if not len(on):
        return None
    after = np.flatnonzero((values <= _ON) & (times > times[on[0]]))
    last = clock.frame(float(times[after[0]])) - 1.0 if len(after) else float(scene.frame_end)
    return round(clock.frame(float(times[on[0]]))), round(last)


def spaces_on(owner: Object | PoseBone, scene: Scene) -> Sequence[tuple[Any, TargetSpace]]:
    """Return the constraints of an object or bone that are its spaces, each with the span, in order of time."""
    found = []
    for each in space_constraints(owner):
        span = span_of(each, scene)
        if span is not None:
            found.append((each, TargetSpace(each.target, each.subtarget, *span)))
    return sorted(found, key=lambda pair: pair[1].frame_start)
