# SPDX-License-Identifier: GPL-3.0-or-later
"""Add and remove limbs, bodies, targets and the reach demo; presets of limbs, and joint settings of many bones."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from math import pi
from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bpy.props import BoolProperty, FloatProperty, StringProperty
from bpy.types import Context, Event, Menu, Object, PropertyGroup

from ...errors import ChainError, SettingError
from ...items import OFF_AXIS, SHARE
from ...jobs import demo, removal, setup
from ...jobs import joint_tools as joints
from ...jobs.live import following as live
from ...presets import SUBDIR, SUFFIX, built_in, find_preset, names, shown_as
from ...presets import file as preset_file
from ...presets import limb as preset_limb
from ...rig import controls as rig_controls
from ...rig import limb as rig_limb
from ...rig.anatomy import names as bone_names
from ..context import active_armature, active_bone, active_chain, cannot_edit, is_limb, own_armature, picked_bone
from ..last_result import forget_result
from ..translation import translated
from .base import IKOperator

_FEWEST, _MOST = 2, 8  # ends of selected bones that are taken for tips; more are those of a whole rig


class POSE_OT_ik_triangulation_body_add(IKOperator):
    bl_idname = "pose.ik_triangulation_body_add"
    bl_label = "Set Up Body"
    bl_description = (
        "Make one body of arms, legs and head: hands that reach for new empties, feet that are held where the "
        "animation has them, a head that looks, joint limits, and balance. If several bones are selected, these are "
        "the hands and feet"
    )

    relax_arms: BoolProperty(
        name="Relax Arms",
        description="Let arms hang that nobody has posed or animated, and that the rest pose spreads, as in a T-pose",
        default=True,
    )

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return cannot_edit(context) or (None if own_armature(context) else "Select an armature")

    def act(self, context: Context) -> set[str]:
        armature = own_armature(context)
        chosen = rig_limb.selected_bones(armature) if context.mode == "POSE" else []
        ends = setup.lowest_of(armature, chosen)
        tips = ends if _FEWEST <= len(ends) <= _MOST else ()
        made = setup.set_up_body(armature, tips, self.relax_arms)
        return self.conclude(lambda: tell_body(self, armature, made, lambda body: f"Body: {body}"))


def tell_body(operator: IKOperator, armature: Object, made: "setup.NewBody", sentence: Callable[[str], str]) -> None:
    """Select a tip of a body that was set up, and report it by a `sentence` with its parts, and what is doubtful."""
    for tip in (*made.reach, *made.held, *made.looking):
        live.stop(armature, tip)
    rig_limb.select_only(armature, [(made.reach or made.looking or made.held)[0]])
    reach, held, head = (", ".join(f"'{tip}'" for tip in tips) for tips in (made.reach, made.held, made.looking))
    parts = [f"{reach} reach"] if reach else []
    parts += [f"{held} held", *([f"{head} looks"] if head else []), f"hips '{made.hips}' move", "balance is on"]
    if made.relaxed:
        shown = all(map(rig_controls.Controls(armature).is_shown, made.relaxed))
        parts.append("its arms hang now" if shown else "its arms hang once their FK controls are shown")
    operator.tell({"INFO"}, sentence(", ".join(map(translated, parts))))
    doubts = "; ".join(made.doubts)
    if doubts:
        operator.tell(
            {"WARNING"}, f"Check the limbs: {doubts}. If one is wrong, select the tips of all and set up again."
        )


class POSE_OT_ik_triangulation_limb_add(IKOperator):
    bl_idname = "pose.ik_triangulation_limb_add"
    bl_label = "Add Limb"
    bl_description = (
        "Make a limb of the selected bones; of a single one the arm, leg, spine, neck, finger or tail that it "
        "belongs to, or itself and its parents. If another object is selected, it becomes the target; otherwise a new "
        "empty at the tip does. Of most bones of a rig, or more than six tips, it sets up the body. In Pose Mode, drag "
        "the gizmo at the target to pose the limb"
    )

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return cannot_edit(context) or (None if chosen_bones(context) else "Select the bones of the limb")

    def act(self, context: Context) -> set[str]:
        armature = own_armature(context)
        chosen, target = chosen_bones(context), other_object(context)
        if context.mode == "POSE" and setup.is_whole_rig(armature, chosen) and self._add_body(armature, chosen, target):
            return {"FINISHED"}
        tips = setup.add_limbs(armature, chosen, target)
        return self.conclude(lambda: self._tell_about(armature, chosen, tips))

    def _tell_about(self, armature: Object, chosen: Sequence[str], tips: Sequence[str]) -> None:
        """Select the tips of the limbs that were made of the chosen bones, and tell of them."""
        rig_limb.select_only(armature, tips)
        taken = [f"'{tip}'" for tip in tips if tip not in chosen]
        others = ", ".join(f"'{name}'" for name in chosen if name not in tips)
        instead = f". {', '.join(taken)} used instead of {others}, which belongs to the limb" if taken else ""
        limbs = [armature.pose.bones[tip].ik_triangulation for tip in tips]
        self.tell({"INFO"}, f"Limbs: {', '.join(map(_full_label, limbs, tips))}{instead}")
        for tip, limb in zip(tips, limbs, strict=True):
            if limb.chain_count == 1 and limb.body_part == "NONE" and limb.orientation != "LOOK":
                self.tell({"WARNING"}, f"'{tip}' has no parent bone that can rotate, so the limb is this bone alone")

    def _add_body(self, armature: Object, chosen: list[str], target: Object | None) -> bool:
        """Set up a body instead of a limb for each of many tips; tell whether that was done.

        Raises ChainError where neither can be meant; then nothing has changed.
        """
        count = len(chosen)
        if target is not None:
            raise ChainError(
                f"{count} bones are selected. Click the bone at the end of the limb that is to reach '{target.name}', "
                "such as a hand, and select the object again."
            )
        try:
            made = setup.set_up_body(armature)
        except ChainError as error:
            if len(setup.lowest_of(armature, chosen)) <= setup.MOST_TIPS:
                return False
            raise ChainError(
                f"{count} bones are selected, and they are no body that is recognized. Click the bone at the end of a "
                "limb, such as a hand, and add it alone."
            ) from error
        self.conclude(
            lambda: tell_body(
                self, armature, made, lambda body: f"{count} bones are selected, so their body was set up: {body}"
            )
        )
        return True


class POSE_OT_ik_triangulation_limb_remove(IKOperator):
    bl_idname = "pose.ik_triangulation_limb_remove"
    bl_label = "Remove Limb"
    bl_description = "Remove the limb from the list and the empty that was made for it; its bones and keys stay"

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        bone = active_bone(context)
        there = bone is not None and is_limb(bone)
        return cannot_edit(context) or (None if there else "Choose a limb in the list")

    def act(self, context: Context) -> set[str]:
        armature, tip = active_armature(context), active_bone(context).name
        live.stop(armature, tip)
        _make_active(context, armature)
        removal.remove_limb(armature, tip)
        forget_result(armature, tip)
        return {"FINISHED"}


class _RemovalOperator(IKOperator):
    """Base of the operators that remove something of all limbs of a rig."""

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return cannot_edit(context) or (None if active_armature(context) else "Select an armature")


class POSE_OT_ik_triangulation_remove_everything(_RemovalOperator):
    bl_idname = "pose.ik_triangulation_remove_everything"
    bl_label = "Remove Everything"
    bl_description = (
        "Remove all limbs of the rig, their baked keys, the empties that were made for them, maps and settings; keys "
        "and poses that they replaced are put back"
    )

    def invoke(self, context: Context, event: Event) -> set[str]:
        return context.window_manager.invoke_confirm(self, event)

    def act(self, context: Context) -> set[str]:
        armature = active_armature(context)
        tips = [bone.name for bone in armature.pose.bones if is_limb(bone)]
        _make_active(context, armature)
        removed = removal.remove_everything(armature, context.view_layer, context.scene)
        for tip in tips:
            forget_result(armature, tip)
        text = f"Removed {removed.limbs} limbs, {removed.keys} keys, {removed.objects} objects"
        return self.conclude(lambda: self.tell({"INFO"}, text))


class POSE_OT_ik_triangulation_targets_remove(_RemovalOperator):
    bl_idname = "pose.ik_triangulation_targets_remove"
    bl_label = "Remove Targets"
    bl_description = (
        "Finish the shot: remove the empties that were made as targets of the rig, with their actions, and keep the "
        "baked keys, so that a game engine gets one take. Targets of your own stay"
    )

    def act(self, context: Context) -> set[str]:
        armature = active_armature(context)
        _make_active(context, armature)
        removed = removal.remove_targets(armature)
        if not removed:
            self.tell({"INFO"}, "There is no target that was made for a limb")
            return {"CANCELLED"}
        return self.conclude(lambda: self.tell({"INFO"}, f"{removed} targets removed, and the keys kept"))


def _make_active(context: Context, armature: Object) -> None:
    """Make the armature active in place of an object that may be removed."""
    if context.view_layer.objects.active != armature and armature.visible_get(view_layer=context.view_layer):
        context.view_layer.objects.active = armature
        armature.select_set(True, view_layer=context.view_layer)


class POSE_OT_ik_triangulation_target_add(IKOperator):
    bl_idname = "pose.ik_triangulation_target_add"
    bl_label = "New Target"
    bl_description = "Create an empty at the tip of the limb as its target"

    def act(self, context: Context) -> set[str]:
        setup.give_new_target(active_armature(context), active_bone(context).name)
        return {"FINISHED"}


_MIDDLE = {"NECK": "Head", "SPINE": "Spine", "TAIL": "Tail"}  # of which a body has one
_ENDS = {"ARM": "hand", "LEG": "foot"}


def _full_label(limb: PropertyGroup, tip: str) -> str:
    """Return the animator's name of a limb with the bone it ends in."""
    label = limb_label(limb, tip)
    return label if tip in label else f"{label} ({tip})"


def limb_label(limb: PropertyGroup, tip: str) -> str:
    """Return the animator's name of a limb, such as "Hand L"; that of its tip where it was not recognised as a part.

    A tip whose own name does not tell the part, such as a paw, is added to it.
    """
    if limb.body_part in _MIDDLE:
        return _MIDDLE[limb.body_part]
    if limb.body_part not in _ENDS:
        return tip
    by_name, end = bone_names.part_by_name(tip), _ENDS[limb.body_part]
    if by_name is not None and by_name.part == end:
        return f"{end.title()} {by_name.side}".rstrip()
    return f"{end.title()} ({tip})"


def other_object(context: Context) -> Object | None:
    """Return the only object selected besides the armature and what it moves; None if there are none or several."""
    armature = own_armature(context)
    others = [ob for ob in context.selected_objects if ob != armature and not _moves_with(ob, armature)]
    return others[0] if len(others) == 1 else None


def _moves_with(ob: Object, armature: Object) -> bool:
    """Return True for an object that the armature deforms, or that is a child of the armature or of a bone."""
    deformed = any(modifier.type == "ARMATURE" and modifier.object == armature for modifier in ob.modifiers)
    return deformed or (ob.parent == armature and ob.parent_type in {"ARMATURE", "BONE"})


class POSE_OT_ik_triangulation_preset_load(IKOperator):
    bl_idname = "pose.ik_triangulation_preset_load"
    bl_label = "Load Limb Preset"
    bl_description = (
        "Set joint limits and solver settings of the limb from this preset; bone rolls are taken into account"
    )

    filepath: StringProperty(name="File", description="Preset file", subtype="FILE_PATH")

    def act(self, context: Context) -> set[str]:
        preset = preset_file.read_preset(self.filepath)
        applied = preset_limb.apply_preset(active_armature(context), active_chain(context), preset)
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
        preset = preset_limb.preset_of(active_armature(context), active_chain(context), name)
        if name in names():
            raise SettingError(f"Preset '{name}' exists already. Remove it first, or choose another name.")
        folder = bpy.utils.user_resource("SCRIPTS", path=f"presets/{SUBDIR}", create=True)
        if not folder:
            raise SettingError("Blender's folder for presets cannot be created. Check its permissions.")
        preset_file.write_preset(preset, Path(folder) / f"{name}{SUFFIX}")
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


class OBJECT_OT_ik_triangulation_demo_add(IKOperator):
    bl_idname = "object.ik_triangulation_demo_add"
    bl_label = "Reach Demo"
    bl_description = "Add a figure that is set up as a body, with keys that take its hand to a ball. Bake does the rest"

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        if context.mode != "OBJECT":
            return "Go to Object Mode"
        return None if context.collection.is_editable else f"Collection '{context.collection.name}' is linked"

    def act(self, context: Context) -> set[str]:
        scene = context.scene
        added = demo.add_demo(context.collection, scene.cursor.location.copy(), scene, context.view_layer)
        bpy.ops.object.select_all(action="DESELECT")
        added.armature.select_set(True)
        bpy.ops.object.mode_set(mode="POSE")
        rig_limb.select_only(added.armature, [demo.HAND])
        text = f"Frames {added.frames[0]} to {added.frames[1]}: open the tab IK of the sidebar (N) and press Bake"
        return self.conclude(lambda: self.tell({"INFO"}, text))


def _draw_in_add_menu(menu: Menu, _context: Context) -> None:
    menu.layout.operator(OBJECT_OT_ik_triangulation_demo_add.bl_idname, icon="OUTLINER_OB_ARMATURE")


class JointOperator(IKOperator):
    """Base of the operators that change joint settings: each reports its changes."""

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return cannot_edit(context) or cls.missing_bones(context)

    @classmethod
    def missing_bones(cls, context: Context) -> str | None:
        """Return why there are no bones to change; None if there are."""
        return None if chosen_bones(context) else "Select bones"

    def act(self, context: Context) -> set[str]:
        for line in self.change(context):
            self.tell({"INFO"}, line)
        return {"FINISHED"}

    @abstractmethod
    def change(self, context: Context) -> list[str]:
        """Change the settings and return a line for each change. Raises IKError if that cannot be done."""


class POSE_OT_ik_triangulation_joint_own(JointOperator):
    bl_idname = "pose.ik_triangulation_joint_own"
    bl_label = "Copy to Custom Limits"
    bl_description = (
        "Copy the joint limits of the selected bones, from Blender's IK settings or a Limit Rotation constraint, "
        "to their custom limits, and use those from now on"
    )

    def change(self, context: Context) -> list[str]:
        return [f"Custom limits: {_names(joints.copy_to_own(own_armature(context), chosen_bones(context)))}"]


class POSE_OT_ik_triangulation_joint_copy(JointOperator):
    bl_idname = "pose.ik_triangulation_joint_copy"
    bl_label = "Copy to Selected"
    bl_description = (
        "Copy the joint limits and stiffness of the active bone to the other selected bones, as custom limits"
    )

    @classmethod
    def missing_bones(cls, context: Context) -> str | None:
        bone = picked_bone(context)
        if bone is None:
            return "Make the bone to copy from the active bone"
        others = set(rig_limb.selected_bones(own_armature(context))) - {bone.name}
        return None if others else "Select the bones to copy to, then the bone to copy from"

    def change(self, context: Context) -> list[str]:
        armature, source = own_armature(context), picked_bone(context).name
        others = joints.copy_to_others(armature, source, rig_limb.selected_bones(armature))
        return [f"Joint of {source} to: {_names(others)}"]


class POSE_OT_ik_triangulation_joint_mirror(JointOperator):
    bl_idname = "pose.ik_triangulation_joint_mirror"
    bl_label = "Mirror"
    bl_description = (
        "Copy the joint limits of the selected bones, mirrored, to the bones of the other side, found by name"
    )

    def change(self, context: Context) -> list[str]:
        return [f"Mirrored to: {_names(joints.mirror(own_armature(context), chosen_bones(context)))}"]


class POSE_OT_ik_triangulation_joint_learn(JointOperator):
    bl_idname = "pose.ik_triangulation_joint_learn"
    bl_label = "Learn from Keys"
    bl_description = (
        "Find the hinge axis, or the range about each axis, that the rotation keys of each selected bone use, "
        "and store it as custom limits"
    )

    off_axis: FloatProperty(
        name="Hinge Within",
        description="A bone is a hinge if its rotation stays this close to one axis in 95 % of the frames",
        subtype="ANGLE",
        default=OFF_AXIS,
        min=0.0,
        max=pi,
    )
    share: FloatProperty(
        name="Frames Covered",
        description="Share of the frames that each range covers; the most extreme angles are left out",
        subtype="PERCENTAGE",
        default=SHARE,
        min=1.0,
        max=100.0,
    )
    margin: FloatProperty(
        name="Margin",
        description="Angle added at both ends of each range",
        subtype="ANGLE",
        min=0.0,
        max=pi,
    )

    def change(self, context: Context) -> list[str]:
        bones = chosen_bones(context)
        found = joints.learn(own_armature(context), bones, self.off_axis, self.share, self.margin)
        return [f"{name}: {learned}" for name, learned in found.items()]


def chosen_bones(context: Context) -> list[str]:
    """Return the names of the selected bones of the active armature, or of the active bone if none is selected."""
    bone = picked_bone(context)
    return rig_limb.selected_bones(own_armature(context)) or ([bone.name] if bone else [])


def _names(bones: list[str]) -> str:
    return ", ".join(bones) if bones else "nothing to do"


_register_classes, _unregister_classes = bpy.utils.register_classes_factory(
    (
        POSE_OT_ik_triangulation_body_add,
        POSE_OT_ik_triangulation_limb_add,
        POSE_OT_ik_triangulation_limb_remove,
        POSE_OT_ik_triangulation_remove_everything,
        POSE_OT_ik_triangulation_targets_remove,
        POSE_OT_ik_triangulation_target_add,
        POSE_OT_ik_triangulation_preset_load,
        POSE_OT_ik_triangulation_preset_add,
        OBJECT_OT_ik_triangulation_demo_add,
        POSE_OT_ik_triangulation_joint_own,
        POSE_OT_ik_triangulation_joint_copy,
        POSE_OT_ik_triangulation_joint_mirror,
        POSE_OT_ik_triangulation_joint_learn,
    )
)


def register() -> None:
    _register_classes()
    bpy.types.VIEW3D_MT_armature_add.append(_draw_in_add_menu)


def unregister() -> None:
    bpy.types.VIEW3D_MT_armature_add.remove(_draw_in_add_menu)
    _unregister_classes()
