# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operators on a limb share."""

from bpy.types import Context, Operator

from ..blender.context import active_armature, why_not
from ..errors import IKError
from ..report import Report
from ..results import remember
from ..summary import summary


class LimbOperator(Operator):
    """Acts on the limb that ends in the active bone: gather, call one function, report."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        reason = why_not(context)
        if reason:
            cls.poll_message_set(reason)
        return reason is None

    def execute(self, context: Context) -> set[str]:
        try:
            report = self.run(context)
        except IKError as error:
            self.report({"ERROR"}, f"IK Triangulation: {error}")
            return {"CANCELLED"}
        remember(report, active_armature(context), context.scene)
        for warning in report.warnings:
            self.report({"WARNING"}, warning)
        self.report({"INFO" if report.all_reached else "WARNING"}, summary(report, context.scene))
        return {"FINISHED"}

    def run(self, context: Context) -> Report:
        """Do it; raises an IKError that says what is in the way."""
        raise NotImplementedError
