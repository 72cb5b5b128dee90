# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operators on a limb share."""

from collections.abc import Sequence

from bpy.types import Context, Operator

from ..blender.context import active_armature, why_not
from ..errors import IKError
from ..report import Report
from ..results import remember
from ..summary import summary, summary_of_all


class LimbOperator(Operator):
    """Acts on the limb that ends in the active bone: gather, call one function, report."""

    bl_options = {"REGISTER", "UNDO"}

    why_not = staticmethod(why_not)

    @classmethod
    def poll(cls, context: Context) -> bool:
        reason = cls.why_not(context)
        if reason:
            cls.poll_message_set(reason)
        return reason is None

    def execute(self, context: Context) -> set[str]:
        try:
            return self.tell(context, [self.run(context)])
        except IKError as error:
            return self.refuse(error)

    def run(self, context: Context) -> Report:
        """Do it; raises an IKError that says what is in the way."""
        raise NotImplementedError

    def refuse(self, error: IKError) -> set[str]:
        """Say why nothing was done."""
        self.report({"ERROR"}, f"IK Triangulation: {error}")
        return {"CANCELLED"}

    def tell(self, context: Context, reports: Sequence[Report]) -> set[str]:
        """Say what came of it, in one line for all limbs but for the warnings, and keep it for the panel."""
        several = len(reports) > 1
        for report in reports:
            remember(report, active_armature(context), context.scene)
            for warning in report.warnings:
                self.report({"WARNING"}, f"{report.tip}: {warning}" if several else warning)
        said = summary_of_all(reports, context.scene) if several else summary(reports[0], context.scene)
        self.report({"INFO" if all(report.all_reached for report in reports) else "WARNING"}, said)
        return {"FINISHED"}
