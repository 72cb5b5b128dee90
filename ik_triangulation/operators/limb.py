# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operators on a limb share."""

from collections.abc import Sequence

from bpy.types import Context

from ..blender.context import active_armature, why_not
from ..report import Report
from ..results import remember
from ..summary import summary, summary_of_all
from .base import IKOperator


class LimbOperator(IKOperator):
    """Acts on the limb that ends in the active bone."""

    why_not = staticmethod(why_not)

    def act(self, context: Context) -> set[str]:
        return self.tell(context, [self.run(context)])

    def run(self, context: Context) -> Report:
        """Do it; raises an IKError that says what is in the way."""
        raise NotImplementedError

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
