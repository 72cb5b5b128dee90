# SPDX-License-Identifier: GPL-3.0-or-later
"""Report the outcome of a solve, bake or reach: in the status bar, the Info editor and the panel."""

from collections.abc import Sequence

from bpy.types import Context, Operator

from ...jobs.body_report import BodyReport, body_summary
from ...jobs.report import Report
from ...jobs.report_text import summary, summary_of_all
from ...rig.units import scale_of
from ..context import active_armature
from ..last_result import remember_result


def report_outcome(operator: Operator, context: Context, reports: Sequence[Report | BodyReport]) -> set[str]:
    """Report all warnings, a line for each body and one for all limbs together; return FINISHED.

    The outcome is kept for the panel.
    """
    armature, scene = active_armature(context), context.scene
    limbs = [report for report in reports if isinstance(report, Report)]
    for report in reports:
        remember_result(report, armature, scene)
        name = f"{report.tip}: " if isinstance(report, Report) and len(limbs) > 1 else ""
        for warning in report.warnings:
            operator.tell({"WARNING"}, f"{name}{warning}")
        if isinstance(report, BodyReport):
            line = body_summary(report, scene, scale_of(armature))
            operator.tell({"INFO" if report.all_reached else "WARNING"}, line)
    if limbs:
        line = summary(limbs[0], scene) if len(limbs) == 1 else summary_of_all(limbs, scene)
        operator.tell({"INFO" if all(report.all_reached for report in limbs) else "WARNING"}, line)
    return {"FINISHED"}
