# SPDX-License-Identifier: GPL-3.0-or-later
"""Influences besides its own keyframes that may move a limb's bones, so that a solution may not be what is shown."""

from __future__ import annotations

from collections.abc import Iterator

from bpy.types import AnimData, Constraint

from .animated import moving_curves
from .dependencies import ik_constraints
from .keyframes import curves_of
from .limb import Limb
from .nla import strips_of

_TRANSFORM = ("location", "rotation", "scale")  # beginnings of the properties that pose a bone


def may_interfere(limb: Limb) -> bool:
    """Tell whether constraints, drivers, the NLA or F-curve modifiers may move the chain's bones at any frame.

    If not, the bones are shown as they are keyed.
    """
    animation = limb.armature.animation_data
    if animation and (_blends(animation) or any(_modified(limb)) or any(_driven(limb, animation))):
        return True
    return any(live_constraints(limb))


def live_constraints(limb: Limb) -> Iterator[Constraint]:
    """Yield the constraints that may rotate the chain's bones at any frame: their own, and IK on descendants."""
    bones = limb.armature.pose.bones
    for name in limb.bones:
        yield from (constraint for constraint in bones[name].constraints if _is_active(limb, constraint))
    above = ik_constraints(limb.armature).get(limb.bones[0], ())
    yield from (constraint for constraint in above if _is_active(limb, constraint))


def _blends(animation: AnimData) -> bool:
    """Tell whether anything is blended with the active action."""
    strips = animation.use_nla and any(not strip.mute for strip in strips_of(animation))
    return strips or animation.action_influence < 1.0 or animation.action_blend_type != "REPLACE"


def _paths(limb: Limb) -> tuple[str, ...]:
    """Return the beginnings of the paths of all transform channels of the chain's bones."""
    bones = limb.armature.pose.bones
    return tuple(f"{bones[name].path_from_id()}.{kind}" for name in limb.bones for kind in _TRANSFORM)


def _modified(limb: Limb) -> Iterator[bool]:
    paths = _paths(limb)
    return (bool(len(curve.modifiers)) for curve in curves_of(limb.armature) if curve.data_path.startswith(paths))


def _driven(limb: Limb, animation: AnimData) -> Iterator[bool]:
    paths = _paths(limb)
    return (curve.data_path.startswith(paths) for curve in animation.drivers)


def _is_active(limb: Limb, constraint: Constraint) -> bool:
    """Tell whether a constraint has an effect, or may have one at another frame."""
    if not constraint.mute and constraint.influence > 0.0:
        return True
    path = constraint.path_from_id()
    return any(curve.data_path.startswith(path) for curve in moving_curves(limb.armature))
