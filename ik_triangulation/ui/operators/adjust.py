# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that operators offer in Adjust Last Operation.

They begin with the limb's own values. A changed one applies to that run and leaves the limb's settings as they are;
only a preset is stored, because joint limits belong to the bones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from bpy.props import StringProperty
from bpy.types import Context, Operator, PropertyGroup, UILayout

from ...presets import file as preset_file
from ...presets import find_preset, names, shown_as
from ...presets import limb as preset_limb
from ...rig import body as rig_body
from ...rig import limb as rig_limb
from ...settings import TABLE, IKT_PG_joint, KeySettings, PostureSettings, given
from ..context import active_armature, active_chain

COMFORT = ("effort_weight", "rest_weight", "rest_pose")
REDUCTION = ("reduce", "reduce_tolerance")


def _preset_names(operator: Operator, context: Context, text: str) -> list[str]:
    """Return the names that the field suggests."""
    return [shown_as(name) for name in names()]


class PresetChoice:
    """Property of an operator on one limb: the preset to begin with."""

    __annotations__ = {
        "preset": StringProperty(
            name="Limb Preset",
            description="Joint limits and settings to load for the limb first; empty to keep its own",
            search=_preset_names,
            search_options=set(),
            options={"SKIP_SAVE"},
        )
    }


class ComfortAdjustments:
    """Properties of an operator that poses: comfort."""

    __annotations__ = given(PostureSettings, *COMFORT)


class KeyAdjustments:
    """Properties of an operator that keys several frames: key reduction."""

    __annotations__ = given(KeySettings, *REDUCTION)


def changed(operator: Operator, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the operator's properties that were given or changed, and show the `own` values of the others."""
    begun = operator.__dict__.setdefault("_begun", {})
    found = {}
    for name, value in own.items():
        if operator.properties.is_property_set(name) and getattr(operator, name) != begun.get(name):
            found[name] = getattr(operator, name)
        else:
            setattr(operator, name, value)
            begun[name] = getattr(operator, name)
    return found


def with_comfort(operator: Operator, body: rig_body.RigBody, tip: str) -> rig_body.RigBody:
    """Return a body with the comfort of the limb that ends in `tip` as changed in the operator."""
    limbs = (adjusted(operator, [limb], *COMFORT)[0] if limb.tip == tip else limb for limb in body.limbs)
    return replace(body, limbs=tuple(limbs))


def different(operator: Operator) -> dict[str, Any]:
    """Return the properties of an operator that were given or changed, apart from those that show the limb's values."""
    known, begun = operator.properties, operator.__dict__.get("_begun", {})
    names = {*known.bl_rna.properties.keys()} - {"rna_type", "is_adjusted"}
    values = {name: getattr(known, name) for name in sorted(names) if known.is_property_set(name)}
    return {name: value for name, value in values.items() if name not in begun or value != begun[name]}


def adjusted(operator: Operator, limbs: Sequence[rig_limb.Limb], *settings: str) -> list[rig_limb.Limb]:
    """Return the limbs with those of these settings that were given or changed in the operator."""
    different = changed(operator, {name: getattr(limbs[0], name) for name in settings})
    return [replace(limb, **different) for limb in limbs] if different else list(limbs)


def load_preset(operator: Operator, context: Context, undo: ExitStack) -> None:
    """Load the chosen preset for the active limb; closing `undo` restores its limits and settings."""
    if not (operator.properties.is_property_set("preset") and operator.preset):
        return
    preset, armature, chain = (
        preset_file.read_preset(find_preset(operator.preset)),
        active_armature(context),
        active_chain(context),
    )
    bones = [armature.pose.bones[name] for name in chain]
    for bone in bones:
        _hold(bone.ik_triangulation_joint, TABLE[IKT_PG_joint], undo)
        _hold(bone.ik_triangulation, preset_file.PRESET_SETTINGS, undo)
    for note in preset_limb.apply_preset(armature, chain, preset).notes:
        operator.tell({"INFO"}, note)


def draw_preset(layout: UILayout, operator: Operator) -> None:
    """Draw the choice of a preset."""
    layout.prop(operator, "preset", icon="PRESET")
    layout.separator()


def draw_comfort(layout: UILayout, operator: Operator) -> None:
    """Draw the weights of comfort, and the pose to stay near where that counts."""
    for name in ("effort_weight", "rest_weight"):
        layout.prop(operator, name)
    near = layout.column()
    near.active = operator.rest_weight > 0.0
    near.prop(operator, "rest_pose")


def draw_reduction(layout: UILayout, operator: Operator) -> None:
    """Draw key reduction and its tolerance."""
    layout.prop(operator, "reduce")
    within = layout.column()
    within.active = operator.reduce
    within.prop(operator, "reduce_tolerance")


def _hold(group: PropertyGroup, settings: Sequence[str] | Mapping[str, Any], undo: ExitStack) -> None:
    """Have `undo` restore these settings."""
    for name in settings:
        value = getattr(group, name)
        is_vector = hasattr(value, "__len__") and not isinstance(value, str)
        undo.callback(setattr, group, name, tuple(value) if is_vector else value)
