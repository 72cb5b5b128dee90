# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be solved: the bones, the target and how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from bpy.types import Object, PoseBone, PropertyGroup, Scene

from ..errors import ChainError, TargetError
from ..settings import (
    BendSettings,
    ComfortSettings,
    GoalSettings,
    KeySettings,
    PathSettings,
    ReachSettings,
    SolverSettings,
    check_registered,
    settings_of,
)
from .animated import PER_FRAME, animated_settings, moving_limits
from .armature import bones_from_tip, bones_in_line


@dataclass(frozen=True)
class Limb(GoalSettings, BendSettings, ComfortSettings, SolverSettings, PathSettings, KeySettings):
    """A chain of bones, its target, and the settings of goal, solver, path and keys with their defaults.

    `bones` run from root to tip; of these the `solved` ones turn and the others keep their pose. The tail of the last
    bone goes to `target`, or to the head of its bone `subtarget`, or to the nearest point of the `shape` that these
    stand for. The settings are those that the sidebar has, described in the groups that this class inherits; angles
    are in radians, `obstacle_margin`, `tolerance` and `reduce_tolerance` distances in world space [Blender units].

    Settings that were `left_open`, with the values they have here for now, follow their animation on the tip bone as
    far as they are among PER_FRAME. from_tip() and from_bones() leave open what they are not given; of() all.

    Made for one call and not to be kept: it holds objects, which an undo replaces.
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
        """How messages call the target."""
        return f"{self.target.name}: {self.subtarget}" if self.subtarget else str(self.target.name)

    @property
    def targets(self) -> list[tuple[Object, str]]:
        """The target and, if there is one, the pole target; each with the name of its bone, or nothing."""
        pole = [(self.pole_target, self.pole_subtarget)] if self.pole_target else []
        return [(self.target, self.subtarget), *pole]

    @cached_property
    def followed(self) -> frozenset[str]:
        """The settings that are read at every frame: those that were left open and are animated on the tip bone."""
        still_open = [name for name, value in self.left_open.items() if getattr(self, name) == value]
        return animated_settings(self.armature.pose.bones[self.tip], still_open)

    @cached_property
    def with_moving_limits(self) -> frozenset[str]:
        """Names of the solved bones whose limits are animated."""
        return moving_limits(self.pose_bones)

    def at(self, armature: Object) -> Limb:
        """The limb with the settings that it follows as they are on an evaluated armature."""
        if not self.followed:
            return self
        now = _plain_settings(armature.pose.bones[self.tip].ik_triangulation, self.followed)
        return replace(self, **now, left_open={})

    @cached_property
    def in_the_way(self) -> list[Object]:
        """The objects of the obstacles' collection that have a volume: what can be seen, and empties drawn as such."""
        if self.obstacles is None or not (self.obstacle_weight or "obstacle_weight" in self.followed):
            return []
        others = {target for target, _ in self.targets} | {self.armature}
        return [ob for ob in self.obstacles.all_objects if ob not in others and _has_volume(ob)]

    @staticmethod
    def from_tip(armature: Object, tip: str, target: Object | None, chain_count: int = 0, **settings: Any) -> Limb:
        """The `chain_count` bones that end in `tip`, all up to the root if that is 0.

        Raises ChainError for a bone that is not there or too long a chain, TargetError without a target.
        """
        bones = bones_from_tip(armature, tip, chain_count)
        return Limb(armature, bones, frozenset(bones), _there(target), **_with_open(settings))

    @staticmethod
    def from_bones(armature: Object, bones: Sequence[str], target: Object | None, **settings: Any) -> Limb:
        """The given bones, in any order; the bones between them keep their pose.

        Raises ChainError unless they are one line of descent, TargetError without a target.
        """
        return Limb(armature, bones_in_line(armature, bones), frozenset(bones), _there(target), **_with_open(settings))

    @staticmethod
    def of(bone: PoseBone, selected: Sequence[str] = (), target: Object | None = None) -> Limb:
        """The limb stored on its tip bone; the `selected` bones make the chain if the settings say so.

        It is for this `target` if none is stored. Raises what from_tip() and from_bones() do.
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


# Alike on a Limb and on the tip bone.
SETTINGS = tuple(settings_of(Limb))


def enabled_limbs(armature: Object, selected: Sequence[str] = ()) -> list[Limb]:
    """The limbs of an armature that are enabled and have a target; of the `selected` bones each takes those above it.

    Raises ChainError if there are none.
    """
    tips = [armature.pose.bones[name] for name in enabled_tips(armature)]
    lines = [{bone.name, *(above.name for above in bone.parent_recursive)} for bone in tips]
    return [Limb.of(bone, [n for n in selected if n in line]) for bone, line in zip(tips, lines, strict=True)]


def check_lowest(tip: PoseBone, selected: Sequence[str]) -> None:
    """Raise ChainError unless the selected bones are one line of descent that ends in `tip`."""
    lowest = bones_in_line(tip.id_data, selected)[-1]
    if lowest != tip.name:
        raise ChainError(f"The selected bones end in '{lowest}'. Make that the active one, or turn off Selected Bones.")


def enabled_tips(armature: Object) -> list[str]:
    """Names of the tip bones of the limbs that are enabled and have a target. Raises ChainError if there are none."""
    if not has_limbs(armature):
        raise ChainError(f"No limb of '{armature.name}' is enabled and has a target. Choose a target for one.")
    return [bone.name for bone in armature.pose.bones if _is_enabled(bone)]


def has_limbs(armature: Object) -> bool:
    """Whether a limb of the armature is enabled and has a target."""
    check_registered()
    return any(map(_is_enabled, armature.pose.bones))


def _is_enabled(bone: PoseBone) -> bool:
    stored = bone.ik_triangulation
    return bool(stored.target and stored.enabled)


def _has_volume(ob: Object) -> bool:
    return ob.empty_display_type in {"SPHERE", "CUBE"} if ob.type == "EMPTY" else any(ob.dimensions)


def saved_settings(stored: PropertyGroup) -> dict[str, Any]:
    """The settings saved on a tip bone, as Limb takes them: those that can be read at every frame left open."""
    values = _plain_settings(stored, SETTINGS)
    for target, bone in (("target", "subtarget"), ("pole_target", "pole_subtarget")):
        values[bone] = bone_of(getattr(stored, target), values[bone])
    return {**values, "left_open": {name: values[name] for name in PER_FRAME}}


def _plain_settings(stored: PropertyGroup, names: Iterable[str]) -> dict[str, Any]:
    """Settings as they are on a tip bone now, as Limb has them."""
    values = {name: getattr(stored, name) for name in names}
    return {name: tuple(value) if name.startswith("offset") else value for name, value in values.items()}


def _with_open(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings for a Limb, those left open that are not given."""
    defaults = {each.name: each.default for each in fields(Limb)}
    return {"left_open": {name: defaults[name] for name in PER_FRAME if name not in settings}, **settings}


def bone_of(target: Object | None, bone: str) -> str:
    """The name of a target's bone; that which was left from another target does not count where there are none."""
    return bone if target is not None and target.type == "ARMATURE" else ""


def saved_range(stored: PropertyGroup, scene: Scene, preview: bool) -> tuple[int, int, int]:
    """First frame, last frame and step saved on a tip bone; the scene's range, or its `preview` one, if it says so."""
    if not stored.use_scene_range:
        return stored.frame_start, stored.frame_end, stored.step
    if preview:
        return scene.frame_preview_start, scene.frame_preview_end, stored.step
    return scene.frame_start, scene.frame_end, stored.step


def saved_reach(stored: PropertyGroup) -> dict[str, Any]:
    """How to reach, as saved on a tip bone and as reach() takes it."""
    return {name: getattr(stored, row.name) for name, row in settings_of(ReachSettings).items()}


def _there(target: Object | None) -> Object:
    if target is None:
        raise TargetError("No target is set. Choose an object to reach for.")
    return target
