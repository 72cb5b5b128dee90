# SPDX-License-Identifier: GPL-3.0-or-later
"""Load a limb preset for the active limb, or save and remove presets of the user."""

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bpy.props import BoolProperty, StringProperty
from bpy.types import Context

from ...errors import SettingError
from ...presets import (
    SUBDIR,
    SUFFIX,
    apply_preset,
    built_in,
    find_preset,
    names,
    preset_of,
    read_preset,
    shown_as,
    write_preset,
)
from ..context import active_armature, active_chain
from .base import IKOperator


class POSE_OT_ik_triangulation_preset_load(IKOperator):
    bl_idname = "pose.ik_triangulation_preset_load"
    bl_label = "Load Limb Preset"
    bl_description = (
        "Set joint limits and solver settings of the limb from this preset; bone rolls are taken into account"
    )

    filepath: StringProperty(name="File", description="Preset file", subtype="FILE_PATH")

    def act(self, context: Context) -> set[str]:
        preset = read_preset(self.filepath)
        applied = apply_preset(active_armature(context), active_chain(context), preset)
        joints = ", ".join(f"{bone}: {joint}" for bone, joint in applied.joints.items())
        # One report: Blender shows only the last one.
        self.tell({"INFO"}, ". ".join((f"{shown_as(preset.name)}: {joints}", *applied.notes)))
        return {"FINISHED"}


class POSE_OT_ik_triangulation_preset_add(IKOperator):
    """Operator behind the + and - of Blender's preset menu; Blender's own handles only Python and XML presets."""

    bl_idname = "pose.ik_triangulation_preset_add"
    bl_label = "Add Limb Preset"
    bl_description = "Save joint limits and solver settings of the limb as a preset, or remove a preset"
    bl_options = {"REGISTER", "INTERNAL"}

    name: StringProperty(name="Name", description="Name of the preset", maxlen=64, options={"SKIP_SAVE"})
    remove_name: BoolProperty(
        name="Remove", description="Remove the preset of that name", options={"HIDDEN", "SKIP_SAVE"}
    )

    def act(self, context: Context) -> set[str]:
        return self._remove() if self.remove_name else self._add(context)

    def _add(self, context: Context) -> set[str]:
        name = AddPresetBase.as_filename(self.name)
        if not name:
            raise SettingError("The preset has no name. Enter one.")
        preset = preset_of(active_armature(context), active_chain(context), name)
        if name in names():
            raise SettingError(f"Preset '{name}' exists already. Remove it first, or choose another name.")
        folder = bpy.utils.user_resource("SCRIPTS", path=f"presets/{SUBDIR}", create=True)
        if not folder:
            raise SettingError("Blender's folder for presets cannot be created. Check its permissions.")
        write_preset(preset, Path(folder) / f"{name}{SUFFIX}")
        return {"FINISHED"}

    def _remove(self) -> set[str]:
        path = find_preset(self.name)
        if built_in(path):
            raise SettingError(f"Preset '{self.name}' comes with the extension and cannot be removed.")
        try:
            path.unlink()
        except OSError as error:
            raise SettingError(f"Preset '{path}' cannot be removed: {error.strerror}.") from error
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (POSE_OT_ik_triangulation_preset_load, POSE_OT_ik_triangulation_preset_add)
)
