# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve Pose, Live, Bake, Bake Again, Reach, Delete Generated Keys, and whether deform bones follow what is keyed."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import inf
from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty
from bpy.types import Context, OperatorProperties, PoseBone

from ...cooperative import Job
from ...errors import ChainError
from ...jobs import bake as bakes
from ...jobs import bake_wave
from ...jobs import pose as poses
from ...jobs import reach as reaches
from ...jobs.live import following as live
from ...jobs.shots import body_controls, controls, keys, tips
from ...jobs.shots import problem as problems
from ...jobs.shots import report as reporting
from ...motion.timing import TIMINGS
from ...rig import body as rig_body
from ...rig import limb as rig_limb
from ...rig.by_hand import record
from ...settings import FrameSettings, PostureSettings, ReachSettings, given, settings_of
from ..context import (
    active_armature,
    active_body,
    active_bone,
    active_chain,
    active_limb,
    cannot_pose,
    cannot_solve,
    control_names,
)
from ..last_result import latest, remember_result
from ..translation import translated
from .adjust import (
    COMFORT,
    REDUCTION,
    ComfortAdjustments,
    KeyAdjustments,
    PresetChoice,
    adjusted,
    changed,
    draw_comfort,
    draw_preset,
    draw_reduction,
    load_preset,
    with_comfort,
)
from .base import IKOperator, JobOperator, report_outcome
from .limbs import other_object

_OF_A_STOP = {"frame_end", "hold"}  # each stop has its own
_BETWEEN = 24  # frames from the last stop to a new one


class POSE_OT_ik_triangulation_solve(PresetChoice, ComfortAdjustments, IKOperator):
    bl_idname = "pose.ik_triangulation_solve"
    bl_label = "Solve Pose"
    bl_description = "Rotate the limb's bones so that the tip reaches the target; inserts keys if Auto Keying is on"

    poll_problem = staticmethod(cannot_solve)

    def act(self, context: Context) -> set[str]:
        key = context.scene.tool_settings.use_keyframe_insert_auto
        body = active_body(context)
        if body is not None:
            where = context.scene, context.view_layer
            body = with_comfort(self, body, active_bone(context).name)
            posed = poses.solve_body_pose(body, *where, key=key)
            return self.conclude(lambda: report_outcome(self, context, [tips.with_followers(posed, body, *where)]))
        with ExitStack() as undo:
            load_preset(self, context, undo)
            (limb,) = adjusted(self, [active_limb(context)], *COMFORT)
            report = poses.solve_pose(limb, context.scene, context.view_layer, key=key)
            undo.pop_all()
        return self.conclude(lambda: report_outcome(self, context, [report]))

    def draw(self, context: Context) -> None:
        column = self.column()
        draw_preset(column, self)
        draw_comfort(column, self)


class POSE_OT_ik_triangulation_live(IKOperator):
    bl_idname = "pose.ik_triangulation_live"
    bl_label = "Live"
    bl_description = (
        "Solve the limb, or its whole body, whenever a target moves, until switched off. Keys are inserted only if "
        "Auto Keying is on; frames that have keys are shown unchanged"
    )

    tip: StringProperty(
        name="Tip", description="Bone at the end of the limb; the active bone if empty", options={"SKIP_SAVE"}
    )

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        # poll() does not know the tip that is passed: it is enough that some limb could be started or stopped.
        reason = cannot_pose(context)
        if reason is None:
            can = live.under_way() or any(b.ik_triangulation.target for b in active_armature(context).pose.bones)
            reason = None if can else cannot_solve(context)
        return reason

    def act(self, context: Context) -> set[str]:
        armature, active = active_armature(context), active_bone(context)
        tip = self.tip or (active.name if active else "")
        if tip not in armature.pose.bones:
            raise ChainError(f"'{armature.name}' has no bone '{tip}'. Make the bone at the end of the limb active.")
        (live.stop if live.is_live(armature, tip) else live.start)(armature, tip)
        return {"FINISHED"}


class POSE_OT_ik_triangulation_live_stop(IKOperator):
    bl_idname = "pose.ik_triangulation_live_stop"
    bl_label = "Stop Live"
    bl_description = "Stop all live limbs; they keep their current pose"

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return None if live.under_way() else "No limb is live"

    def act(self, context: Context) -> set[str]:
        live.stop_all()
        return {"FINISHED"}


_RANGE = ("frame_start", "frame_end", "step")
_SETTINGS = ("smoothing", "soft_edge", *COMFORT, *REDUCTION)
_OF_BODY = ("smoothing", *REDUCTION)


def _tips(limbs: "Sequence[rig_limb.Limb]") -> list[PoseBone]:
    return [limb.armature.pose.bones[limb.tip] for limb in limbs]


class FrameRange:
    """Properties of the operators that bake a range of frames; by default the range saved on the tip bone."""

    __annotations__ = {
        name: row.as_property(options={"SKIP_PRESET"} if name != "step" else set())  # a range is that of one shot
        for name, row in settings_of(FrameSettings).items()
        if name in _RANGE
    }


class _AdjustableBake(FrameRange, ComfortAdjustments, KeyAdjustments, JobOperator):
    """Base of the operators that bake by the present settings, or by those in Adjust Last Operation."""

    __annotations__ = given(PostureSettings, "smoothing", "soft_edge")
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    doing = "Baking"

    def spans(self, context: Context, bones: Sequence[PoseBone]) -> "list[bake_wave.Span]":
        """Return first frame, last frame and step for the limb of each of these tip bones."""
        scene = context.scene
        saved = [rig_limb.saved_range(bone.ik_triangulation, scene, scene.use_preview_range) for bone in bones]
        given = changed(self, dict(zip(_RANGE, saved[0], strict=True)))
        return [tuple(given.get(name, own) for name, own in zip(_RANGE, each, strict=True)) for each in saved]

    def body_bake(self, rig: "rig_body.RigBody", bone: PoseBone, span: "bake_wave.Span") -> "bakes.BodyBake":
        """Return the bake of a body by the settings that are saved on this bone, or changed in the operator."""
        settings = keys.body_settings(rig, bone.name)
        given = changed(self, {name: getattr(settings, name) for name in _OF_BODY})
        if "reduce_tolerance" in given:
            given["within"] = dict.fromkeys(rig.tips, given["reduce_tolerance"])
        edge = changed(self, {"soft_edge": bone.ik_triangulation.soft_edge})
        if edge:
            rig = replace(rig, limbs=tuple(replace(limb, **edge) for limb in rig.limbs))
        return bakes.BodyBake(with_comfort(self, rig, bone.name), span, replace(settings, **given))

    def report_result(self, context: Context, result: "Sequence[reporting.Report]") -> set[str]:
        return report_outcome(self, context, result)

    def draw(self, context: Context) -> None:
        column = self.column()
        frames = column.column(align=True)
        for name in _RANGE:
            frames.prop(self, name)
        column.separator()
        column.prop(self, "smoothing")
        column.prop(self, "soft_edge")
        draw_comfort(column, self)
        column.separator()
        draw_reduction(column, self)


class POSE_OT_ik_triangulation_bake(PresetChoice, _AdjustableBake):
    bl_idname = "pose.ik_triangulation_bake"
    bl_label = "Bake"
    bl_description = (
        "Key the rotations of the limb so that its tip follows the target over the frame range. Where it is baked "
        "already, the baked keys are replaced, and keys that you have set since are kept"
    )

    poll_problem = staticmethod(cannot_solve)

    def job(self, context: Context, seconds: float) -> "Job[Sequence[reporting.Report]]":
        body, bone, where = active_body(context), active_bone(context), (context.scene, context.view_layer)
        if body is not None and bone is not None:
            bake = self.body_bake(body, bone, *self.spans(context, [bone]))
            bake = bake._replace(keep=bake.repeats)
            return (yield from bakes.bake_bodies.steps([bake], (), (), *where, seconds=seconds))[0]
        with ExitStack() as undo:
            load_preset(self, context, undo)
            limbs = adjusted(self, [active_limb(context)], *_SETTINGS)
            spans = self.spans(context, _tips(limbs))
            keep = bakes.repeats_bake(limbs[0], spans[0])
            reports = yield from bakes.bake_spans.steps(limbs, spans, *where, seconds=seconds, keep=keep)
            undo.pop_all()
        return reports

    def draw(self, context: Context) -> None:
        draw_preset(self.column(), self)
        super().draw(context)


class POSE_OT_ik_triangulation_bake_all(_AdjustableBake):
    bl_idname = "pose.ik_triangulation_bake_all"
    bl_label = "Bake All"
    bl_description = "Bake all enabled limbs of the armature that have a target, in the order of their dependencies"

    poll_problem = staticmethod(cannot_pose)

    def job(self, context: Context, seconds: float) -> "Job[Sequence[reporting.Report]]":
        armature, where = active_armature(context), (context.scene, context.view_layer)
        rigs, alone = problems.bodies_and_tips(armature)
        if not rigs:
            limbs = adjusted(self, rig_limb.enabled_limbs(armature, rig_limb.selected_bones(armature)), *_SETTINGS)
            return (
                yield from bakes.bake_spans.steps(limbs, self.spans(context, _tips(limbs)), *where, seconds=seconds)
            )
        names, active = [rig.tips[-1] for rig in rigs], active_bone(context)
        if active is not None:  # its settings are those that are seen
            names = [active.name if active.name in rig.tips else name for rig, name in zip(rigs, names, strict=True)]
        bones = [armature.pose.bones[name] for name in names]
        spans = self.spans(context, [*bones, *(armature.pose.bones[name] for name in alone)])
        bodies = [self.body_bake(*each) for each in zip(rigs, bones, spans, strict=False)]
        every = rig_limb.enabled_limbs(armature, rig_limb.selected_bones(armature)) if alone else []
        limbs = [limb for limb in every if limb.tip in alone]
        limbs = adjusted(self, limbs, *_SETTINGS) if limbs else []
        baking = bakes.bake_bodies.steps(bodies, limbs, spans[len(rigs) :], *where, seconds=seconds)
        of_bodies, of_limbs = yield from baking
        return [*of_bodies, *of_limbs]


class POSE_OT_ik_triangulation_rebake(JobOperator):
    bl_idname = "pose.ik_triangulation_rebake"
    bl_label = "Re-Bake"
    bl_description = (
        "Bake the limb again with the settings that the active action was baked with. Keys of type Generated are "
        "replaced; keys that you have set are kept"
    )

    doing = "Baking"

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        reason = cannot_pose(context)
        if reason is None and active_bone(context) is None:
            return "Make the bone at the end of the limb active"
        return reason

    def job(self, context: Context, seconds: float) -> "Job[reporting.Report]":
        bone, where = active_bone(context), (context.scene, context.view_layer)
        if record.is_recorded_body(bone.id_data, bone.name):
            return (yield from bakes.rebake_body.steps(bone.id_data, bone.name, *where))
        return (yield from bakes.rebake.steps(bone.id_data, bone.name, *where, seconds=seconds))

    def report_result(self, context: Context, result: "reporting.Report") -> set[str]:
        return report_outcome(self, context, [result])


class POSE_OT_ik_triangulation_generated_delete(IKOperator):
    bl_idname = "pose.ik_triangulation_generated_delete"
    bl_label = "Delete Generated Keys"
    bl_description = "Delete the baked keys of the limb, or of its body, and put back the keys that they replaced"

    use_range: BoolProperty(name="Only in Range", description="Delete only keys within the limb's frame range")

    def act(self, context: Context) -> set[str]:
        first, last, scene = -inf, inf, context.scene
        if self.use_range:
            first, last, _ = rig_limb.saved_range(active_bone(context).ik_triangulation, scene, scene.use_preview_range)
        body = active_body(context)
        chain = body_controls.bones_with_controls(body) if body is not None else active_chain(context)
        names = control_names(active_bone(context)) if body is None else None
        chain = [*chain, *(name for name in (names.bones if names else ()) if name not in chain)]
        where, notes = (context.view_layer, scene), list[str]()
        count = bakes.delete_generated(active_armature(context), chain, first, last, *where, notes)

        def tell() -> None:
            self.tell({"INFO"}, f"Deleted {count} keys")
            for note in notes:
                self.tell({"WARNING"}, note)

        told = self.conclude(tell)
        return told if count else {"CANCELLED"}


class POSE_OT_ik_triangulation_follow_set(IKOperator):
    bl_idname = "pose.ik_triangulation_follow_set"
    bl_label = "Let Bones Follow"
    bl_description = (
        "Set the property that makes the deform bones follow the limb, and key it over the frames of the last result; "
        "for a single frame it is keyed only if it has keys already or Auto Keying is on"
    )

    @classmethod
    def description(cls, context: Context, _: OperatorProperties) -> str:
        bone = active_bone(context)
        result = latest(bone.id_data, bone.name) if bone else None
        names = ", ".join(result.switches) if result else ""
        return f"{translated(cls.bl_description)}: {names}" if names else translated(cls.bl_description)

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        reason = cannot_solve(context)
        if reason:
            return reason
        bone = active_bone(context)
        result = latest(bone.id_data, bone.name)
        return None if result and result.switches else "All bones that can follow the limb do so"

    def act(self, context: Context) -> set[str]:
        armature, bone, where = active_armature(context), active_bone(context), (context.scene, context.view_layer)
        result = latest(armature, bone.name)
        key = result.is_bake or context.scene.tool_settings.use_keyframe_insert_auto
        report, ends = result.report, (result.report.numbers[0], result.report.numbers[-1])
        if report.hips:
            body = active_body(context)
            remedies = tips.let_body_follow(body, *ends, key, *where)
            report = tips.measured_again(body, report, *where)
        else:
            remedies, report = (
                controls.let_follow(active_limb(context), *ends, key, *where),
                report.following(context.scene),
            )
        remember_result(report, armature, context.scene)
        texts = [f"'{each.name}' of '{each.holder}' is now {each.value:g}" for each in remedies]
        said = ", ".join(texts) or "All bones follow the limb already"
        reached = latest(armature, bone.name)
        self.tell({"INFO"}, f"{said}. {reached.lines[0]}")
        return {"FINISHED"}


class POSE_OT_ik_triangulation_reach(PresetChoice, ComfortAdjustments, KeyAdjustments, JobOperator):
    bl_idname = "pose.ik_triangulation_reach"
    bl_label = "Reach"
    bl_description = (
        "Key the movement of the limb, or of its whole body, from its pose at one frame to the targets at another, or "
        "through the listed stops"
    )

    __annotations__ = {
        name: row.as_property(options={"SKIP_PRESET"} if name in {"frame_start", "frame_end"} else set())
        for name, row in settings_of(ReachSettings).items()
    }
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    doing = "Reaching"

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        bone = active_bone(context)
        return cannot_pose(context) if bone and bone.ik_triangulation.reach_stops else cannot_solve(context)

    def job(self, context: Context, seconds: float) -> "Job[reporting.Report]":
        body, bone = active_body(context), active_bone(context)
        if body is not None and bone is not None:
            return (yield from self._body_job(context, body, bone))
        with ExitStack() as undo:
            load_preset(self, context, undo)
            stops, chosen = self._stops_and_settings(active_bone(context))
            (limb,) = adjusted(self, [active_limb(context, stops[0].target if stops else None)], *COMFORT, *REDUCTION)
            last, hold = chosen.pop("frame_end"), chosen.pop("hold")
            where = {"scene": context.scene, "view_layer": context.view_layer, "seconds": seconds}
            report = yield from reaches.reach_through.steps(
                limb, stops or [reaches.own_stop(limb, last, hold)], **chosen, **where
            )
            undo.pop_all()
        return report

    def _stops_and_settings(self, bone: PoseBone) -> "tuple[list[reaches.Stop], dict[str, Any]]":
        """Return the stops saved on a tip bone, unless others are given, and the settings of the reach."""
        stops, own = reaches.saved_stops(bone.ik_triangulation), rig_limb.saved_reach(bone.ik_triangulation)
        different = changed(self, own)
        return [] if different.keys() & _OF_A_STOP else stops, {**own, **different}

    def _body_job(self, context: Context, body: "rig_body.RigBody", bone: PoseBone) -> "Job[reporting.Report]":
        """Reach with a body by the settings that are saved on this bone, or changed in the operator."""
        stops, chosen = self._stops_and_settings(bone)
        body, settings = with_comfort(self, body, bone.name), keys.body_settings(body, bone.name)
        given = changed(self, {name: getattr(settings, name) for name in REDUCTION})
        if "reduce_tolerance" in given:
            given["within"] = dict.fromkeys(body.tips, given["reduce_tolerance"])
        return (
            yield from reaches.reach_with_body.steps(
                body,
                stops or [reaches.body_stop(body, bone.name, chosen["frame_end"], chosen["hold"])],
                **{name: value for name, value in chosen.items() if name not in {*_OF_A_STOP, "prop_by"}},
                tip="" if bone.name in body.held else bone.name,
                settings=replace(settings, **given),
                scene=context.scene,
                view_layer=context.view_layer,
            )
        )

    def draw(self, context: Context) -> None:
        column = self.column()
        draw_preset(column, self)
        frames = column.column(align=True)
        for name in ("frame_start", "frame_end", "hold", "return_frames"):
            frames.prop(self, name)
        column.separator()
        column.prop(self, "path")
        onset = column.column()
        onset.active = self.path == "ARC"
        onset.prop(self, "onset", slider=True)
        column.prop(self, "timing")
        easing = column.column()
        easing.active = TIMINGS[self.timing].eased
        easing.prop(self, "easing")
        column.prop(self, "prop_by")
        column.separator()
        draw_comfort(column, self)
        column.separator()
        draw_reduction(column, self)

    def report_result(self, context: Context, result: "reporting.Report") -> set[str]:
        return report_outcome(self, context, [result])


class POSE_OT_ik_triangulation_stop_add(IKOperator):
    bl_idname = "pose.ik_triangulation_stop_add"
    bl_label = "Add Stop"
    bl_description = "Add a target for the reach to pass through: the other selected object, or the limb's own target"

    def act(self, context: Context) -> set[str]:
        stored = active_bone(context).ik_triangulation
        frames = [stop.frame + stop.hold for stop in stored.reach_stops]
        stop = stored.reach_stops.add()
        stop.target = other_object(context) or stored.target
        stop.frame = max(frames) + _BETWEEN if frames else stored.reach_end
        stored.reach_stop = len(stored.reach_stops) - 1
        return {"FINISHED"}


class POSE_OT_ik_triangulation_stop_remove(IKOperator):
    bl_idname = "pose.ik_triangulation_stop_remove"
    bl_label = "Remove Stop"
    bl_description = "Remove the chosen stop from the reach"

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        reason = super().poll_problem(context)
        return reason or (None if active_bone(context).ik_triangulation.reach_stops else "The list of stops is empty")

    def act(self, context: Context) -> set[str]:
        stored = active_bone(context).ik_triangulation
        stored.reach_stops.remove(stored.reach_stop)
        stored.reach_stop = max(min(stored.reach_stop, len(stored.reach_stops) - 1), 0)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        POSE_OT_ik_triangulation_solve,
        POSE_OT_ik_triangulation_live,
        POSE_OT_ik_triangulation_live_stop,
        POSE_OT_ik_triangulation_bake,
        POSE_OT_ik_triangulation_bake_all,
        POSE_OT_ik_triangulation_rebake,
        POSE_OT_ik_triangulation_generated_delete,
        POSE_OT_ik_triangulation_follow_set,
        POSE_OT_ik_triangulation_reach,
        POSE_OT_ik_triangulation_stop_add,
        POSE_OT_ik_triangulation_stop_remove,
    )
)
