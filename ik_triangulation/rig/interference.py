# SPDX-License-Identifier: GPL-3.0-or-later
"""Influences besides their own keyframes that may move bones, so that a solution may not be what is shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from bpy.types import AnimData, Constraint, FCurve, Scene

from .by_hand.reference import Boned
from .dependencies import ik_constraints
from .keyframes import curves_of
from .layers import is_layer_on_top
from .timeline import moving_curves, strips_of
from .units import distance_text

_TRANSFORM = ("location", "rotation", "scale")  # beginnings of the properties that pose a bone


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
    return (
        found
        for found in _of_bones(limb, curves_of(limb.armature))
        if any(not each.mute for each in found[0].modifiers)
    )


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
