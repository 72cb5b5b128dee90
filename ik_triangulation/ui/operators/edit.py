# SPDX-License-Identifier: GPL-3.0-or-later
"""Edit what is animated: targets to their tips, pulls and drags in time, sides swapped, motions copied between rigs."""

from typing import Any, cast

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty
from bpy.types import Context, Event, Object, PoseBone
from mathutils import Vector

from ...cooperative import Job
from ...errors import ChainError, IKError, TargetError
from ...items import OWN, PROFILES
from ...jobs import follow_rig as following
from ...jobs import targets as target_jobs
from ...jobs import transfer as transfers
from ...jobs.edits import breakdown as breakdowns
from ...jobs.edits import edit as edits
from ...jobs.edits import mirror
from ...jobs.edits import retime as retiming
from ...jobs.edits import trail as trails
from ...jobs.live import following as live
from ...jobs.shots import report as reporting
from ...rig import limb as rig_limb
from ...rig import timeline
from ..context import active_armature, active_bone, cannot_pose, cannot_solve, is_limb
from ..gizmos import mouse
from ..overlay import trail as shown
from .adjust import changed
from .base import IKOperator, JobOperator, named_object, report_outcome
from .target_drag import MovingOperator, lengths_text

_ICONS = dict(zip(PROFILES, ("SMOOTH", "SPHERE", "ROOT", "INVERSESQUARE", "SHARP", "LIN", "NO"), strict=True))
PROFILE_ITEMS = [  # as proportional editing has them
    (name, name.replace("_", " ").title(), f"{name.replace('_', ' ').capitalize()} falloff", f"{icon}CURVE", number)
    for number, (name, icon) in enumerate(_ICONS.items())
]

_SIDES = [
    ("IK", "IK Controls", "Key the IK controls, and have the character follow them", 0),
    ("FK", "FK Controls", "Key the FK controls, and have the character follow them", 1),
]
_KEYS = [
    ("SOURCE", "As the Source", "Key only where the controls have keys that the character follows now", 0),
    ("ALL", "Every Frame", "Key every frame, so that the motion is the same between the keys as well", 1),
]


def chosen_tips(context: Context) -> list[PoseBone]:
    """Return the tips of the limbs that are selected, by their tips or their targets; else that of the active limb."""
    armature, active = active_armature(context), active_bone(context)
    names = rig_limb.selected_bones(armature) if context.mode == "POSE" else ()
    targets = [ob for ob in context.selected_objects if ob != armature]
    tips = [
        bone
        for bone in armature.pose.bones
        if is_limb(bone) and (bone.name in names or bone.ik_triangulation.target in targets)
    ]
    return tips or ([active] if active is not None else [])


class POSE_OT_ik_triangulation_target_to_tip(IKOperator):
    bl_idname = "pose.ik_triangulation_target_to_tip"
    bl_label = "Target to Tip"
    bl_description = (
        "Move the targets of the selected limbs to where their hands or feet are at this frame, as after posing by FK. "
        "A target whose rotation is requested turns as well. With Auto Keying it is keyed"
    )

    key: BoolProperty(name="Key", description="Key the targets at this frame", options={"SKIP_SAVE"})

    poll_problem = staticmethod(cannot_solve)

    def act(self, context: Context) -> set[str]:
        tips = [bone for bone in chosen_tips(context) if bone.ik_triangulation.target is not None]
        if not tips:
            raise ChainError("The selected limbs are held and have no target. Select one that reaches.")
        key = self.key or context.scene.tool_settings.use_keyframe_insert_auto
        names = target_jobs.target_to_tip(
            [rig_limb.selected_limb(bone) for bone in tips], key, context.scene, context.view_layer
        )
        count = len(names)
        if key:
            self.tell({"INFO"}, f"{count} targets moved to their tips and keyed")
        else:
            self.tell({"INFO"}, f"{count} targets moved to their tips")
        return {"FINISHED"}


def cannot_pull(context: Context) -> str | None:
    return cannot_pose(context) or (None if active_bone(context) else "Make the bone at the end of the limb active")


class _EditAroundFrame(JobOperator):
    """Base of edits of a tip at one frame, and with a falloff those around it; `shown` are the properties in order."""

    tip: StringProperty(name="Tip", description="Bone at the end of the limb; empty for the active one")
    falloff: IntProperty(
        name="Falloff", description="Frames on both sides that follow", default=15, min=1, soft_max=100
    )
    profile: EnumProperty(name="Profile", description="Shape of the falloff", items=PROFILE_ITEMS, default="SMOOTH")

    shown = "tip", "frame", "offset", "falloff", "profile"

    poll_problem = staticmethod(cannot_pull)

    def tip_and_frame(self, context: Context) -> tuple[Object, str, int]:
        """Return the armature, the tip, by default the active bone, and the frame, by default the present one."""
        given: dict[str, Any] = changed(self, {"frame": context.scene.frame_current})
        frame = given.get("frame", context.scene.frame_current)
        return active_armature(context), self.tip or active_bone(context).name, frame

    def draw(self, context: Context) -> None:
        column = self.column()
        for name in self.shown:
            column.prop(self, name)


class POSE_OT_ik_triangulation_pull(_EditAroundFrame):
    bl_idname = "pose.ik_triangulation_pull"
    bl_label = "Pull"
    bl_description = (
        "Move the hand or foot at one frame, and have the frames around follow. What drives it is keyed with a "
        "falloff, and the frames within that are solved again: limits and contacts hold, and the rest of the shot stays"
    )

    frame: IntProperty(name="Frame", description="Frame at which it is moved by all of the offset", default=1)
    offset: FloatVectorProperty(
        name="Offset", description="Way to move it, world space", subtype="TRANSLATION", unit="LENGTH", size=3
    )
    rotation: FloatVectorProperty(
        name="Rotation",
        description="Turn of the tip, world space, if it follows the rotation of its target",
        subtype="EULER",
        unit="ROTATION",
        size=3,
    )

    shown = "tip", "frame", "offset", "rotation", "falloff", "profile"
    doing = "Pulling"

    def job(self, context: Context, seconds: float) -> "Job[reporting.Report]":
        how = tuple(self.offset), self.falloff, self.profile, context.scene, context.view_layer
        return edits.pull.steps(*self.tip_and_frame(context), *how, rotation=tuple(self.rotation))

    def report_result(self, context: Context, result: "reporting.Report") -> set[str]:
        return report_outcome(self, context, [result])


class POSE_OT_ik_triangulation_retime(_EditAroundFrame):
    bl_idname = "pose.ik_triangulation_retime"
    bl_label = "Retime"
    bl_description = (
        "Have what the hand or foot does at one frame happen earlier or later. The keys of what drives it move with a "
        "falloff, and the frames within that are solved again: the path stays, and so does the timing of the rest"
    )

    frame: IntProperty(name="Frame", description="Frame of what is moved in time", default=1)
    offset: IntProperty(name="Offset", description="Frames by which it comes later; earlier if negative", default=0)

    doing = "Retiming"

    def job(self, context: Context, seconds: float) -> "Job[reporting.Report | None]":
        how = self.offset, self.falloff, self.profile, context.scene, context.view_layer
        return retiming.retime.steps(*self.tip_and_frame(context), *how)

    def report_result(self, context: Context, result: "reporting.Report | None") -> set[str]:
        if result is not None:
            return report_outcome(self, context, [result])
        if self.offset:
            self.tell({"INFO"}, f"Keys around frame {self.frame} moved by {self.offset} frames")
        else:
            self.tell({"INFO"}, "Set the Offset in Adjust Last Operation")
        return {"FINISHED"}


class POSE_OT_ik_triangulation_mirror(IKOperator):
    bl_idname = "pose.ik_triangulation_mirror"
    bl_label = "Mirror"
    bl_description = (
        "Swap left and right of the selected limbs over the whole motion: targets, held tips, contacts and keys. The "
        "limb on the other side is mirrored too, and of a body all of it"
    )

    frame_offset: IntProperty(
        name="Frame Offset", description="Frames by which the mirrored motion begins later, such as half a cycle"
    )

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return cannot_pull(context)

    def act(self, context: Context) -> set[str]:
        tips = [bone.name for bone in chosen_tips(context)]
        where = context.scene, context.view_layer
        done = mirror.mirror_motion(active_armature(context), tips, self.frame_offset, *where)
        self.tell({"INFO"}, f"{len(done.bones)} bones and {len(done.targets)} targets mirrored")
        return {"FINISHED"}


class POSE_OT_ik_triangulation_breakdown(IKOperator):
    bl_idname = "pose.ik_triangulation_breakdown"
    bl_label = "Breakdown"
    bl_translation_context = OWN
    bl_description = (
        "Pose all keyed bones between their keys before and after this frame. Hands and feet that are at one place in "
        "both stay there, and those that move are on their way. With Auto Keying the pose is keyed"
    )

    factor: FloatProperty(
        name="Factor", description="0 for the pose before, 1 for the one after", default=0.5, min=0.0, max=1.0
    )
    key: BoolProperty(name="Key", description="Key the pose at this frame", options={"SKIP_SAVE"})

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return cannot_pull(context)

    def act(self, context: Context) -> set[str]:
        key = self.key or context.scene.tool_settings.use_keyframe_insert_auto
        where = context.scene, context.view_layer
        done = breakdowns.breakdown(active_armature(context), self.factor, key, *where)
        names = ", ".join(f"'{name}'" for name in done.held) or "nothing"
        self.tell({"INFO"}, f"Between frames {done.before:g} and {done.after:g}, {names} held")
        return {"FINISHED"}


_MOST = 1000  # frames of falloff
_WIDER = {"WHEELUPMOUSE": 1, "PAGE_UP": 1, "WHEELDOWNMOUSE": -1, "PAGE_DOWN": -1}
_ALT = {"LEFT_ALT", "RIGHT_ALT"}
_AT_REST = 0.2  # seconds without an event after which the mouse rests
_STEP = 0.1  # share by which the wheel changes the falloff


class POSE_OT_ik_triangulation_trail_drag(MovingOperator):
    bl_idname = "pose.ik_triangulation_trail_drag"
    bl_label = "Drag Trail"
    bl_description = (
        "Move the hand or foot at one frame with the mouse, and have the frames around follow within the falloff, "
        "solved again meanwhile. Alt: along the trail, which changes its timing. Wheel: falloff, Shift O: its profile, "
        "Esc: as before"
    )

    frame: IntProperty(name="Frame", description="Frame at which it is moved by all of the offset", default=1)
    falloff: IntProperty(
        name="Falloff", description="Frames on both sides that follow", default=15, min=1, soft_max=100
    )
    profile: EnumProperty(name="Profile", description="Shape of the falloff", items=PROFILE_ITEMS, default="SMOOTH")
    shift: IntProperty(
        name="Retime",
        description="Frames by which what it does there comes later; earlier if negative. It is not moved then",
    )

    poll_problem = staticmethod(cannot_pull)

    def act(self, context: Context) -> set[str]:
        armature, tip, frame = active_armature(context), active_bone(context).name, self._frame(context)
        how = self.falloff, self.profile, context.scene, context.view_layer
        if self.shift:
            return self._report_edit(context, retiming.retime(armature, tip, frame, self.shift, *how))
        return self._report_edit(context, edits.pull(armature, tip, frame, tuple(self.value), *how))

    def _report_edit(self, context: Context, report: "reporting.Report | None") -> set[str]:
        return {"FINISHED"} if report is None else report_outcome(self, context, [report])

    def invoke(self, context: Context, event: Event) -> set[str]:
        begun = super().invoke(context, event)
        if begun == {"RUNNING_MODAL"}:
            self._rest = context.window_manager.event_timer_add(_AT_REST, window=context.window)
            self._is_at_rest, self._along = False, event.alt
        return begun

    def modal(self, context: Context, event: Event) -> set[str]:
        if event.type == "TIMER":
            # A body that is dragged is posed roughly; once the mouse rests, as it will be at the end.
            try:
                if self._is_at_rest and self._is_dragged and cast("trails.PullDrag", self._drag).settle():
                    self._show(context)
            except BaseException:
                self.cancel(context)
                raise
            self._is_at_rest = True
            return {"RUNNING_MODAL"}
        self._is_at_rest = False
        if event.type in _WIDER and event.value == "PRESS":
            step = max(1, round(_STEP * self.falloff)) * _WIDER[event.type]
            self.falloff = min(max(self.falloff + step, 1), _MOST)
        elif event.type == "O" and event.value == "PRESS" and event.shift:
            names = [name for name, *_ in PROFILE_ITEMS]
            self.profile = names[(names.index(self.profile) + 1) % len(names)]
        elif event.type in _ALT and event.value in {"PRESS", "RELEASE"}:
            self._along = event.value == "PRESS"
            self.drag_to(self._view, 0.0)
        else:
            return super().modal(context, event)
        try:
            self.apply()
            self._show(context)
        except BaseException:
            self.cancel(context)
            raise
        return {"RUNNING_MODAL"}

    def drag_to(self, view: "mouse.View", by_steps: float) -> None:
        super().drag_to(view, by_steps)
        # With Alt the mouse leads what is at the frame along the trail: to the time at which it passed there.
        drag = cast("trails.PullDrag", self._drag)
        self.shift = drag.nearest(drag.frame.translation + Vector(self.value)) if self._along else 0

    def apply(self) -> None:
        drag = cast("trails.PullDrag", self._drag)
        if self._along:
            drag.retime(self.shift, self.falloff, self.profile)
        else:
            drag.pull(Vector(self.value), self.falloff, self.profile)

    def text(self, context: Context) -> str:
        profile = self.properties.bl_rna.properties["profile"].enum_items[self.profile].name
        how = f"falloff {self.falloff} frames (wheel), {profile} (Shift O)"
        if self._along:
            return f"Retime frame {self.frame}:  {self.shift:+} frames   {how}"
        return f"Pull at frame {self.frame}:  {lengths_text(context, self.value)}   {how}, timing (Alt)"

    def draw(self, context: Context) -> None:
        column = self.column()
        for name in ("frame", "shift" if self.shift else "value", "falloff", "profile"):
            column.prop(self, name)

    _along = False  # whether Alt is held
    _rest: "bpy.types.Timer | None" = None

    def _frame(self, context: Context) -> int:
        return int(changed(self, {"frame": context.scene.frame_current}).get("frame", context.scene.frame_current))

    def _begin(self, context: Context) -> "trails.PullDrag":
        self.frame = self._frame(context)
        armature, tip = active_armature(context), active_bone(context).name
        drag = trails.PullDrag(armature, tip, self.frame, self.falloff, context.scene, context.view_layer)
        shown.begin_drag(drag)
        return drag

    def _finish(self) -> set[str]:
        drag = cast("trails.PullDrag", self._drag)
        try:
            report = drag.finish()
        except IKError as error:
            drag.cancel()
            return self.report_error(error)
        finally:
            shown.end_drag()
        return self._report_edit(bpy.context, report)

    def _clear(self, context: Context) -> None:
        super()._clear(context)
        if self._rest is not None:
            context.window_manager.event_timer_remove(self._rest)
            self._rest = None

    def cancel(self, context: Context) -> None:
        super().cancel(context)
        shown.end_drag()


class POSE_OT_ik_triangulation_transfer(JobOperator):
    bl_idname = "pose.ik_triangulation_transfer"
    bl_label = "Transfer to IK or FK"
    bl_description = (
        "Copy the motion that the character shows onto the IK or FK controls of the selected limbs, or of all limbs if "
        "no control of one is selected, and switch to them"
    )

    to: EnumProperty(name="To", description="Controls that get the motion", items=_SIDES, default="IK")
    frame_start: IntProperty(name="Start Frame", description="First frame", default=1)
    frame_end: IntProperty(name="End Frame", description="Last frame", default=250)
    keys: EnumProperty(name="Keys", description="Frames that get keys", items=_KEYS, default="SOURCE")

    doing = "Copying the motion"
    parts = "parts"

    poll_problem = staticmethod(cannot_pose)

    def job(self, context: Context, seconds: float) -> "Job[transfers.Transfer]":
        scene, armature = context.scene, active_armature(context)
        first, last = timeline.scene_range(scene)
        given: dict[str, Any] = changed(self, {"frame_start": first, "frame_end": last})
        ends = given.get("frame_start", first), given.get("frame_end", last)
        bones = rig_limb.selected_bones(armature) if context.mode == "POSE" else ()
        return transfers.transfer.steps(armature, self.to, *ends, self.keys, bones, True, scene, context.view_layer)

    def report_result(self, context: Context, result: "transfers.Transfer") -> set[str]:
        for warning in result.warnings:
            self.tell({"WARNING"}, warning)
        names = ", ".join(f"'{each.tip}'" for each in result.limbs)
        if result.to == "IK":
            self.tell({"INFO"}, f"The IK controls of {names} have the motion: {result.keys} keys")
        else:
            self.tell({"INFO"}, f"The FK controls of {names} have the motion: {result.keys} keys")
        return {"FINISHED"}

    def draw(self, context: Context) -> None:
        column = self.column()
        for name in ("to", "frame_start", "frame_end", "keys"):
            column.prop(self, name)


class POSE_OT_ik_triangulation_follow_rig(JobOperator):
    bl_idname = "pose.ik_triangulation_follow_rig"
    bl_label = "Follow Another Rig"
    bl_description = (
        "Set up the body so that it moves as the other selected armature does: hips, chest, hands, feet and head get "
        "targets with keys over the scene's range, scaled by limbs. Bake then keys the bones"
    )

    source: StringProperty(name="Source", description="Armature to follow; empty for the other selected one")
    keys_on: EnumProperty(
        name="Keys On",
        description="Controls of a generated rig that a bake keys, so that the character follows them",
        items=[
            ("FK", "FK Controls", "Key the rotations of the bones"),
            ("IK", "IK Controls", "Key the IK controls of arms and legs as well"),
        ],
    )

    doing = "Reading the other rig"

    poll_problem = staticmethod(cannot_pose)

    def job(self, context: Context, seconds: float) -> "Job[following.Following]":
        armature, scene = active_armature(context), context.scene
        source, ends = self._source(context, armature), timeline.scene_range(scene)
        return following.follow_rig.steps(armature, source, *ends, scene, context.view_layer, self.keys_on)

    def _source(self, context: Context, armature: Object) -> Object:
        if self.source:
            return named_object(context, self.source)
        others = [ob for ob in context.view_layer.objects.selected if ob.type == "ARMATURE" and ob != armature]
        if len(others) != 1:
            raise TargetError(
                "Which rig is followed is not clear. Select one other armature besides the active one, or choose a "
                "source."
            )
        return others[0]

    def report_result(self, context: Context, result: "following.Following") -> set[str]:
        armature = active_armature(context)
        for tip in result.tips:
            live.stop(armature, tip)
        if not is_limb(active_bone(context) or armature.pose.bones[0]):
            rig_limb.select_only(armature, result.tips[:1])
        for doubt in result.doubts:
            self.tell({"WARNING"}, f"Look at what was recognized: {doubt}")
        count = len(result.contacts)
        self.tell(
            {"INFO"},
            f"'{armature.name}' follows '{result.source}' over {result.frames} frames, with {count} contacts of feet. "
            "Press Bake",
        )
        return {"FINISHED"}

    def draw(self, context: Context) -> None:
        column = self.column()
        column.prop_search(self, "source", context.scene, "objects")
        column.prop(self, "keys_on")


register, unregister = bpy.utils.register_classes_factory(
    (
        POSE_OT_ik_triangulation_target_to_tip,
        POSE_OT_ik_triangulation_pull,
        POSE_OT_ik_triangulation_retime,
        POSE_OT_ik_triangulation_mirror,
        POSE_OT_ik_triangulation_breakdown,
        POSE_OT_ik_triangulation_trail_drag,
        POSE_OT_ik_triangulation_transfer,
        POSE_OT_ik_triangulation_follow_rig,
    )
)
