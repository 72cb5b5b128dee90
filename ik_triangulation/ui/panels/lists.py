# SPDX-License-Identifier: GPL-3.0-or-later
"""The lists in the sidebar: limbs of the armature, and joints of the active limb with kind, limits and angle.

Both show bones of the pose, so nothing is stored twice; the chosen entries are kept for the session.
"""

import bpy
from bpy.props import EnumProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Context, PoseBone, PropertyGroup, UI_UL_list, UILayout, UIList, WindowManager

from ...errors import IKError
from ...items import OWN
from ...jobs import joint_tools
from ...jobs.live import following as live
from ..context import active_armature, active_bone, active_chain, limbs_of, picked_bone
from ..last_result import latest
from ..operators.bake import POSE_OT_ik_triangulation_live
from ..operators.limbs import limb_label
from ..translation import translated
from .layout import RowList, is_narrow, is_wide

_EVERY, _FEW, _AT_KEYS, _ON_TWOS = range(4)  # choices of keys
_TWO = 2  # frames


class IKT_PG_lists(PropertyGroup):
    """Choices in the panels: the limb by the active bone, the joint by name, the keys by several of its settings."""

    def _limb(self) -> int:
        armature, bone = active_armature(bpy.context), active_bone(bpy.context)
        return armature.pose.bones.find(bone.name) if bone else -1

    def _choose_limb(self, index: int) -> None:
        armature = active_armature(bpy.context)
        if armature and 0 <= index < len(armature.pose.bones):
            armature.data.bones.active = armature.pose.bones[index].bone

    def _joint(self) -> int:
        armature, bone = active_armature(bpy.context), chosen_joint(bpy.context)
        return armature.pose.bones.find(bone.name) if bone else -1

    def _choose_joint(self, index: int) -> None:
        armature = active_armature(bpy.context)
        if armature and 0 <= index < len(armature.pose.bones):
            self.joint_name = armature.pose.bones[index].name

    def _keys(self) -> int:
        bone = active_bone(bpy.context)
        limb = bone.ik_triangulation if bone else None
        if limb is None or not (limb.only_target_keys or limb.reduce or limb.step == _TWO):
            return _EVERY
        if limb.only_target_keys:
            return _AT_KEYS
        return _FEW if limb.reduce else _ON_TWOS

    def _choose_keys(self, chosen: int) -> None:
        bone = active_bone(bpy.context)
        if bone is None:
            return
        limb = bone.ik_triangulation
        limb.reduce, limb.only_target_keys = chosen == _FEW, chosen == _AT_KEYS
        limb.step = _TWO if chosen == _ON_TWOS else 1
        limb.interpolation = "CONSTANT" if chosen == _ON_TWOS else "AUTO"

    keys: EnumProperty(
        name="Keys",
        translation_context=OWN,
        description="Keys that a bake writes; the panel Keys has the details",
        items=[
            ("EVERY", "Every Frame", "A key at every frame", _EVERY),
            ("FEW", "As Few as Possible", "Only the keys that the motion needs, with fitted handles", _FEW),
            ("AT_KEYS", "At My Keys", "A key wherever the target has one, with Bézier curves between", _AT_KEYS),
            ("ON_TWOS", "On Twos", "A key at every second frame, held until the next one", _ON_TWOS),
        ],
        get=_keys,
        set=_choose_keys,
    )
    limb: IntProperty(
        name="Limb",
        description="Limb whose settings are shown, that of the active bone",
        get=_limb,
        set=_choose_limb,
    )
    joint: IntProperty(
        name="Joint", description="Bone whose joint limits are shown below", get=_joint, set=_choose_joint
    )
    joint_name: StringProperty(name="Joint", description="Name of the bone whose joint limits are shown")
    space: IntProperty(name="Space", description="Chosen space of the target, by its constraint")


def chosen_joint(context: Context) -> PoseBone | None:
    """Return the bone chosen in the list of joints, else the active one, else the tip; None if no bone is active."""
    tip = active_bone(context)
    if tip is None:
        return None
    chain, active = chain_of(context), picked_bone(context)
    wanted = context.window_manager.ik_triangulation_lists.joint_name, active.name if active else ""
    return tip.id_data.pose.bones[next((name for name in wanted if name in chain), tip.name)]


def chain_of(context: Context) -> list[str]:
    """Return the names of the active limb's bones; only the active bone's if they do not form a chain."""
    try:
        return active_chain(context)
    except IKError:
        return [active_bone(context).name]


class VIEW3D_UL_ik_triangulation_limbs(RowList, UIList):
    """List of limbs: enabled for Bake All, limb, target, last result, Live."""

    @staticmethod
    def draw_row(context: Context, layout: UILayout, bone: PoseBone, _data: object) -> None:
        limb = bone.ik_triangulation
        armature = bone.id_data
        row = layout.row(align=True)
        row.use_property_split = False
        row.prop(limb, "enabled", text="")
        narrow = is_narrow(context)
        row.label(text=limb_label(limb, bone.name))
        if is_wide(context):
            row.label(text="Held" if limb.hold else limb.target.name if limb.target else "", icon="OBJECT_DATA")
        result = latest(armature, bone.name)
        if result is not None or not narrow:
            row.label(text="", icon="BLANK1" if result is None else result.icon)
        if limb.hold:
            row.label(text="", icon="PINNED")
            return
        on = live.is_live(armature, bone.name)
        switch = row.operator(
            POSE_OT_ik_triangulation_live.bl_idname, text="", icon="PLAY" if not on else "PAUSE", depress=on, emboss=on
        )
        switch.tip = bone.name

    def filter_items(self, context: Context, data: object, name: str) -> tuple[list[int], list[int]]:
        tips = limbs_of(context, data.id_data)
        return _only(self, getattr(data, name), [bone.name for bone in tips])


class VIEW3D_UL_ik_triangulation_joints(RowList, UIList):
    """List of the active limb's bones: kind of joint, limits, current angle, and an icon at a limit."""

    @staticmethod
    def draw_row(context: Context, layout: UILayout, bone: PoseBone, _data: object) -> None:
        narrow = is_narrow(context)
        split = layout.split(factor=_NAME if narrow else _NAME_AND_KIND, align=True)
        split.label(text=bone.name, icon=_SOURCES[bone.ik_triangulation_joint.source])
        row = split.row(align=True)
        try:
            now = joint_tools.joint_now(bone)
        except IKError:
            row.alert = True
            row.label(text="Cannot Be Used", icon="ERROR")
            return
        row.active = now.freedom.moves
        if not narrow:
            row.label(text=translated(joint_tools.kind_text(now.freedom)))
        if is_wide(context):
            row.label(text=translated(joint_tools.range_text(now.freedom)))
            row.label(text=f"{now.stiff:.2f}" if now.stiff else "")
        angle = row.row()
        angle.alert = now.outside
        angle.alignment = "RIGHT"
        angle.label(text=joint_tools.angle_text(now.angle))
        row.label(text="", icon="ERROR" if now.outside else "CON_ROTLIMIT" if now.ends else "BLANK1")

    def filter_items(self, context: Context, data: object, name: str) -> tuple[list[int], list[int]]:
        return _only(self, getattr(data, name), chain_of(context) if active_bone(context) else [])


_NAME, _NAME_AND_KIND = 0.65, 0.5  # width of the bone's name in a row of joints, without and with the kind of joint
_SOURCES = {"AUTO": "BONE_DATA", "BLENDER": "BONE_DATA", "OWN": "PREFERENCES", "CONSTRAINT": "CONSTRAINT_BONE"}


def _only(shown: UIList, bones: bpy.types.bpy_prop_collection, names: list[str]) -> tuple[list[int], list[int]]:
    """Return flags and order that show only bones of these names, filtered by the name searched for."""
    flags = [0] * len(bones)
    for name in names:
        flags[bones.find(name)] = shown.bitflag_filter_item
    if shown.filter_name:
        found = UI_UL_list.filter_items_by_name(shown.filter_name, shown.bitflag_filter_item, bones, "name")
        flags = [flag & other for flag, other in zip(flags, found, strict=True)]
    return flags, []


_register_classes, _unregister_classes = bpy.utils.register_classes_factory(
    (IKT_PG_lists, VIEW3D_UL_ik_triangulation_limbs, VIEW3D_UL_ik_triangulation_joints)
)


def register() -> None:
    _register_classes()
    WindowManager.ik_triangulation_lists = PointerProperty(name="IK Triangulation Lists", type=IKT_PG_lists)


def unregister() -> None:
    del WindowManager.ik_triangulation_lists
    _unregister_classes()
