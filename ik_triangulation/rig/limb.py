# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a limb: its bones, its target and its settings, animated ones too; and the limbs that bones make.

Some animated settings are read at every frame; the keyframes of all others are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Unpack

from bpy.types import ID, Bone, Constraint, FCurve, Object, PoseBone, PropertyGroup, Scene, bpy_struct
from mathutils import Quaternion, Vector

from ..errors import ChainError, TargetError
from ..settings import (
    TABLE,
    BendSettings,
    GoalSettings,
    IKT_PG_limb,
    KeySettings,
    MethodSettings,
    PostureSettings,
    ReachSettings,
    check_registered,
    settings_of,
)
from ..settings.typed import LimbOptions
from .armature import bones_from_tip, bones_in_line
from .stance import Offset, matched_offset, matches
from .timeline import actions_of, moving_curves, scene_range

# Settings of a limb that are read at every frame where they are animated.
PER_FRAME = tuple(name for name, row in TABLE[IKT_PG_limb].items() if row.per_frame)

_OF_A_BONE = re.compile(r'pose\.bones\["(?:[^"\\]|\\.)*"\]\.')
_NAME = re.compile(r"\w*")
# Settings of a bone that define its type of joint. The others only limit it, and are read at every frame.
_ONCE = re.compile(r"(source|kind|stiffness|mass|(lock_ik|ik_stiffness)_[xyz]|lock_rotation\w*|rotation_mode)$")
_BOUNDS = re.compile(r"(use_ik_limit|ik_min|ik_max)_[xyz]$")
_ONCE_CONSTRAINT = re.compile(r"(influence|enabled|mute|owner_space)$")


class MovingPaths:
    """The F-curves and drivers on the bones of an object that are not muted, read once for all limbs of a bake."""

    def __init__(self, owner: ID) -> None:
        self._counts = _counts(owner)
        self._by_bone: dict[str, dict[str, list[FCurve]]] = {}
        for curve in moving_curves(owner):
            path = curve.data_path
            place = _OF_A_BONE.match(path)
            if place:
                below = self._by_bone.setdefault(place[0], {})
                below.setdefault(path[place.end() :], []).append(curve)

    def suits(self, owner: ID) -> bool:
        """Tell whether the object still has as many curves in the same actions; of changes in these Blender tells."""
        return self._counts == _counts(owner)

    def below(self, bone: PoseBone) -> Mapping[str, Sequence[FCurve]]:
        """Return the curves on properties of a bone, by their paths from the bone on."""
        return self._by_bone.get(f"{bone.path_from_id()}.", {})


def _counts(owner: ID) -> tuple[int, ...]:
    """Return the actions, slots and counts of the curves that animate a data-block, in a form that can be compared."""
    animation = owner.animation_data
    if animation is None:
        return ()
    found = [len(animation.drivers)]
    for action, slot in actions_of(animation):
        if action and slot:
            bags = [strip.channelbag(slot) for layer in action.layers for strip in layer.strips]
            found += [action.session_uid, slot.handle, *(len(bag.fcurves) for bag in bags if bag)]
    return tuple(found)


def animated_settings(bone: PoseBone, names: Iterable[str], moving: MovingPaths | None = None) -> frozenset[str]:
    """Return the names of the settings, of those given, that are animated on a limb's tip bone."""
    if not hasattr(bone, "ik_triangulation"):  # a script that registers nothing
        return frozenset()
    paths = (moving or MovingPaths(bone.id_data)).below(bone)
    return frozenset(names).intersection(_without("ik_triangulation.", paths))


class _Setting(NamedTuple):
    """An animated setting: its path from the bone on, its name in the interface, and whether it is read only once."""

    path: str
    label: str
    once: bool


def moving_limits(bones: Sequence[PoseBone], moving: MovingPaths | None = None) -> frozenset[str]:
    """Return the names of the bones whose limits are animated while their type of joint stays the same."""
    moving = moving or MovingPaths(bones[0].id_data)
    found = {bone.name: list(_joint_settings(bone, moving.below(bone))) for bone in bones}
    return frozenset(name for name, settings in found.items() if settings and not any(each.once for each in settings))


def ignored(solved: Sequence[PoseBone], moving: MovingPaths | None = None) -> list[str]:
    """Return warnings that name the settings whose keyframes are ignored, of a limb and of its solved bones.

    `solved` runs from root to tip. Keyframes that never change a value give no warning.
    """
    tip, moving = solved[-1], moving or MovingPaths(solved[-1].id_data)
    warnings = _ignored(tip, list(_limb_settings(tip, moving.below(tip))), moving)
    for bone in solved:
        warnings += _ignored(bone, list(_joint_settings(bone, moving.below(bone))), moving)
    return warnings


def _ignored(bone: PoseBone, settings: Sequence[_Setting], moving: MovingPaths) -> list[str]:
    curves = moving.below(bone)
    once = [each.label for each in settings if each.once and any(map(_varies, curves[each.path]))]
    if not once:
        return []
    listed = ", ".join(f"'{label}'" for label in dict.fromkeys(once))
    return [f"Keys on {listed} of '{bone.name}' are ignored: the whole range has one value there. Delete these keys."]


def _limb_settings(tip: PoseBone, paths: Iterable[str]) -> Iterator[_Setting]:
    """Yield the settings of a limb that are among animated paths from the bone on."""
    of_limb, stored = "ik_triangulation.", getattr(tip, "ik_triangulation", None)
    for path in paths:
        if stored and path.startswith(of_limb):
            name = _NAME.match(path, len(of_limb))[0]
            yield from _setting(path, stored, name, name not in PER_FRAME)


def _joint_settings(bone: PoseBone, paths: Iterable[str]) -> Iterator[_Setting]:
    """Yield the settings of a joint and its limits that are among animated paths from the bone on."""
    own = getattr(bone, "ik_triangulation_joint", None)  # None in a script that registers nothing
    for path in paths:
        holder, _, name = path.rpartition(".")
        if own and holder == "ik_triangulation_joint":
            yield from _setting(path, own, name, bool(_ONCE.match(name)))
        elif not holder and (_ONCE.match(name) or _BOUNDS.match(name)):
            yield from _setting(path, bone, name, bool(_ONCE.match(name)))
        elif own and own.source in {"AUTO", "CONSTRAINT"} and holder in (places := _limits_of(bone)):
            yield from _setting(path, places[holder], name, bool(_ONCE_CONSTRAINT.match(name)))


def _limits_of(bone: PoseBone) -> dict[str, Constraint]:
    """Return the Limit Rotation constraints of a bone by their paths from the bone on."""
    start = len(bone.path_from_id()) + 1
    return {each.path_from_id()[start:]: each for each in bone.constraints if each.type == "LIMIT_ROTATION"}


def _setting(path: str, holder: bpy_struct, name: str, once: bool) -> Iterator[_Setting]:
    """Yield the setting if it exists: keyframes may outlive the property that they were made for."""
    prop = holder.bl_rna.properties.get(name)
    if prop is not None:
        yield _Setting(path, prop.name, once)


def _without(start: str, paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths that begin with `start`, without it."""
    return (path[len(start) :] for path in paths if path.startswith(start))


def _varies(curve: FCurve) -> bool:
    """Tell whether a curve has more than one value, or may have."""
    generated = curve.driver or len(curve.modifiers) or len(curve.sampled_points)
    return bool(generated) or len({key.co.y for key in curve.keyframe_points}) > 1


PULLING = {"FORCE", "HARMONIC", "CHARGE", "LENNARDJ"}  # kinds of force field that are shapes


@dataclass(frozen=True)
class Limb(GoalSettings, BendSettings, PostureSettings, MethodSettings, KeySettings):
    """A chain of bones, its target, and the settings of goal, posture, solver and keys with their defaults.

    `bones` run from root to tip; the `solved` ones rotate and the others keep their pose. The tail of the last bone
    goes to `target`, to the head of its bone `subtarget`, or to the nearest point of the target's `shape`. The settings
    are those of the sidebar, described in the groups that this class inherits; angles are in radians,
    `obstacle_margin`, `tolerance` and `reduce_tolerance` are distances in world space [Blender units].

    Settings in `left_open`, which holds their present values, follow their animation on the tip bone if they are in
    PER_FRAME. from_tip() and from_bones() leave the settings open that they are not given; of() leaves all open.

    A record lives for one call: it holds objects, which an undo replaces.
    """

    armature: Object
    bones: tuple[str, ...]
    solved: frozenset[str]
    target: Object
    left_open: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def tip(self) -> str:
        """Name of the bone whose tail is the end effector."""
        return self.bones[-1]

    @property
    def in_order(self) -> tuple[str, ...]:
        """Names of the solved bones from root to tip."""
        return tuple(name for name in self.bones if name in self.solved)

    @property
    def pose_bones(self) -> list[PoseBone]:
        """The solved bones from root to tip."""
        return [self.armature.pose.bones[name] for name in self.in_order]

    @property
    def target_name(self) -> str:
        """The target's name in messages."""
        return f"{self.target.name}: {self.subtarget}" if self.subtarget else str(self.target.name)

    @property
    def targets(self) -> list[tuple[Object, str]]:
        """The target and, if there is one, the pole target; each with the name of its bone, or an empty string."""
        pole = [(self.pole_target, self.pole_subtarget)] if self.pole_target else []
        return [(self.target, self.subtarget), *pole]

    @property
    def surfaces(self) -> list[Object]:
        """The target, if the place of it that is nearest to the tip is reached."""
        return [self.target] if self.on_surface else []

    @property
    def on_surface(self) -> bool:
        """Whether the place of a mesh that is nearest to the tip is reached."""
        return means_surface(self.shape, self.target, self.subtarget)

    @property
    def follows_flow(self) -> bool:
        """Whether the tip follows the force field of the target, so that where it goes depends on where it is."""
        return self.shape == "FLOW"

    @property
    def is_led_by_tip(self) -> bool:
        """Whether the place to reach depends on where the tip is, and not on the target alone."""
        return self.on_surface or self.follows_flow

    @cached_property
    def offset(self) -> Offset | None:
        """The place of the tip relative to the target: the stored offset, or that of a bone that is matched."""
        if self.follows_flow:
            return None
        if self.use_offset:
            return Offset(Vector(self.offset_location), Quaternion(self.offset_rotation))
        ends = self.armature, self.tip, self.target, self.subtarget
        if not self.subtarget or self.match == "TIP" or self.orientation == "LOOK":
            return None
        if self.match == "AUTO" and not (self._may_match and matches(*ends)):
            return None
        if self.subtarget not in self.target.data.bones or self.tip not in self.armature.data.bones:
            return None  # what is missing is said where it is read
        return matched_offset(*ends)

    @property
    def _may_match(self) -> bool:
        """Whether the settings leave a match to be chosen: other shapes, and tips that turn freely, do not."""
        return self.shape in {"AUTO", "POINT"} and self.orientation in {"AUTO", "FULL"}

    @cached_property
    def followed(self) -> frozenset[str]:
        """The settings that are read at every frame: left open, and animated on the tip bone."""
        return animated_settings(self.armature.pose.bones[self.tip], self._still_open)

    @cached_property
    def with_moving_limits(self) -> frozenset[str]:
        """Names of the solved bones whose limits are animated."""
        return moving_limits(self.pose_bones)

    def read_animation(self, moving: MovingPaths) -> None:
        """Read the settings and limits that are animated now: limbs of one armature can share what is `moving`."""
        vars(self).update(
            followed=animated_settings(self.armature.pose.bones[self.tip], self._still_open, moving),
            with_moving_limits=moving_limits(self.pose_bones, moving),
        )

    @property
    def _still_open(self) -> list[str]:
        """The settings that were left open and have not been replaced since."""
        return [name for name, value in self.left_open.items() if getattr(self, name) == value]

    def at(self, armature: Object) -> Limb:
        """Return the limb with the present values of the settings that it follows, from an evaluated armature."""
        if not self.followed:
            return self
        now = _plain_settings(armature.pose.bones[self.tip].ik_triangulation, self.followed)
        return replace(self, **now, left_open={})

    @cached_property
    def obstacle_objects(self) -> list[Object]:
        """The objects in the obstacles' collection that have a volume, with empties displayed as sphere or cube."""
        if self.obstacles is None or not (self.obstacle_weight or "obstacle_weight" in self.followed):
            return []
        others = {target for target, _ in self.targets} | {self.armature}
        return [ob for ob in self.obstacles.all_objects if ob not in others and has_volume(ob)]

    @staticmethod
    def from_tip(
        armature: Object, tip: str, target: Object | None, chain_count: int = 0, **settings: Unpack[LimbOptions]
    ) -> Limb:
        """Return the limb of the `chain_count` bones that end in `tip`; 0 for all up to the root.

        Raises ChainError for a bone that does not exist or a chain that is too long, TargetError without a target.
        """
        bones = bones_from_tip(armature, tip, chain_count)
        return Limb(armature, bones, frozenset(bones), _there(target), **_with_open(settings))

    @staticmethod
    def from_bones(
        armature: Object, bones: Sequence[str], target: Object | None, **settings: Unpack[LimbOptions]
    ) -> Limb:
        """Return the limb of the given bones, in any order; the bones between them keep their pose.

        Raises TargetError without a target, ChainError unless they are one line of descent.
        """
        there = _there(target)
        return Limb(armature, bones_in_line(armature, bones), frozenset(bones), there, **_with_open(settings))

    @staticmethod
    def of(bone: PoseBone, selected: Sequence[str] = (), target: Object | None = None) -> Limb:
        """Return the limb stored on its tip bone, with only its `selected` bones if its settings say so.

        Its target is the stored one, otherwise `target`. Raises what from_tip() and from_bones() do.
        """
        check_registered()
        stored = bone.ik_triangulation
        target = stored.target or target
        settings = saved_settings(stored)
        armature = bone.id_data
        if stored.use_selected:
            check_lowest(bone, selected)
            return Limb.from_bones(armature, selected, target, **settings)
        return Limb.from_tip(armature, bone.name, target, stored.chain_count, **settings)


# Names that settings have on a Limb and on the tip bone.
LIMB_SETTINGS = tuple(settings_of(Limb))
_OFFSETS = tuple(name for name in LIMB_SETTINGS if name.startswith("offset"))


def enabled_limbs(armature: Object, selected: Sequence[str] = ()) -> list[Limb]:
    """Return the limbs of an armature that are enabled and have a target; each takes the `selected` bones above it.

    Raises ChainError if there are none.
    """
    tips = [armature.pose.bones[name] for name in enabled_tips(armature)]
    lines = [{bone.name, *(above.name for above in bone.parent_recursive)} for bone in tips]
    return [Limb.of(bone, [n for n in selected if n in line]) for bone, line in zip(tips, lines, strict=True)]


def check_lowest(tip: PoseBone, selected: Sequence[str]) -> None:
    """Raise ChainError unless the selected bones are one line of descent that ends in `tip`."""
    lowest = bones_in_line(tip.id_data, selected)[-1]
    if lowest != tip.name:
        raise ChainError(
            f"The selected bones end in '{lowest}'. Make that the active one, or turn off Only Selected Bones."
        )


def enabled_tips(armature: Object) -> list[str]:
    """Return the tip bones of the limbs that are enabled and have a target. Raises ChainError if there are none."""
    if not has_limbs(armature):
        raise ChainError(f"No limb of '{armature.name}' is enabled and has a target. Choose a target for one.")
    return [bone.name for bone in armature.pose.bones if _is_enabled(bone)]


def has_limbs(armature: Object) -> bool:
    """Tell whether a limb of the armature is enabled and has a target."""
    check_registered()
    return any(map(_is_enabled, armature.pose.bones))


def _is_enabled(bone: PoseBone) -> bool:
    stored = bone.ik_triangulation
    return bool(stored.target and stored.enabled)


def has_volume(ob: Object) -> bool:
    """Tell whether an object can be an obstacle: what has bounds, however it is scaled, an empty as sphere or cube."""
    lowest, *_, highest, _ = map(tuple, ob.bound_box)
    return ob.empty_display_type in {"SPHERE", "CUBE"} if ob.type == "EMPTY" else lowest != highest


def saved_settings(stored: PropertyGroup) -> dict[str, Any]:
    """Return the settings saved on a tip bone, as Limb takes them; those in PER_FRAME are left open."""
    values = _plain_settings(stored, LIMB_SETTINGS)
    for target, bone in (("target", "subtarget"), ("pole_target", "pole_subtarget")):
        values[bone] = bone_of(getattr(stored, target), values[bone])
    return {**values, "left_open": {name: values[name] for name in PER_FRAME}}


def _plain_settings(stored: PropertyGroup, names: Iterable[str]) -> dict[str, Any]:
    """Return the present values of settings on a tip bone, as Limb takes them."""
    values = {name: getattr(stored, name) for name in names}
    return values | {name: tuple(values[name]) for name in _OFFSETS if name in values}


def _with_open(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings for a Limb, with those left open that are not given."""
    if "left_open" in settings:
        return dict(settings)
    defaults = {each.name: each.default for each in fields(Limb)}
    return {"left_open": {name: defaults[name] for name in PER_FRAME if name not in settings}, **settings}


def bone_of(target: Object | None, bone: str) -> str:
    """Return the name of a target's bone; empty for a target without bones, as the name may be an earlier target's."""
    return bone if target is not None and target.type == "ARMATURE" else ""


def means_surface(shape: str, target: Object | None, subtarget: str = "") -> bool:
    """Tell whether a shape of a target means its surface: the chosen one, or Automatic for a mesh with faces.

    A force field that pulls has its own shape.
    """
    if shape != "AUTO" or subtarget or target is None or target.type != "MESH":
        return shape == "SURFACE"
    pulls = target.field is not None and target.field.type in PULLING
    return len(target.data.polygons) > 0 and not pulls


def saved_range(stored: PropertyGroup, scene: Scene, preview: bool) -> tuple[int, int, int]:
    """Return first frame, last frame and step of a tip bone's settings; if chosen, the scene's (`preview`) range."""
    if not stored.use_scene_range:
        return stored.frame_start, stored.frame_end, stored.step
    return *scene_range(scene, preview), stored.step


def saved_reach(stored: PropertyGroup) -> dict[str, Any]:
    """Return the settings of a reach saved on a tip bone, as reach() takes them."""
    return {name: getattr(stored, row.name) for name, row in settings_of(ReachSettings).items()}


def _there(target: Object | None) -> Object:
    if target is None:
        raise TargetError("No target is set. Choose an object to reach for.")
    return target


def selected_bones(armature: Object) -> list[str]:
    """Return the names of the selected and visible bones of an armature."""
    return [bone.name for bone in armature.pose.bones if _is_selected(bone)]


def select_only(armature: Object, names: Sequence[str]) -> None:
    """Select these bones and no others, and make the last one active."""
    for bone in armature.pose.bones:
        _flagged(bone).select = bone.name in names
    armature.data.bones.active = armature.data.bones[names[-1]]


def selected_limb(tip: PoseBone, target: Object | None = None) -> Limb:
    """Return the limb that ends in this bone, for this `target` if it has none. Raises what Limb.of() does."""
    check_registered()
    chosen = selected_bones(tip.id_data) if tip.ik_triangulation.use_selected else ()
    return Limb.of(tip, chosen, target)


def _is_selected(bone: PoseBone) -> bool:
    """Tell whether a bone is selected as in Blender's own operators: a hidden one keeps its flag, but is not."""
    return _flagged(bone).select and is_visible(bone)


def is_visible(bone: PoseBone) -> bool:
    """Tell whether a bone is shown in Pose Mode."""
    collections = bone.bone.collections
    return not _flagged(bone).hide and (not collections or any(each.is_visible_effectively for each in collections))


def _flagged(bone: PoseBone) -> PoseBone | Bone:
    """Return the holder of the flags `select` and `hide`, which moved to the pose bone in Blender 5.0."""
    return bone if hasattr(bone, "select") else bone.bone
