# SPDX-License-Identifier: GPL-3.0-or-later
"""Report the outcome of a solve, bake or reach: in the status bar, the Info editor and the panel."""

from collections.abc import Sequence

from bpy.types import Context, Operator

from ...jobs.body_report import BodyReport, body_summary
from ...jobs.report import Report
from ...jobs.report_text import summary, summary_of_all
from ...rig.units import scale_of
from ..context import active_armature
from ..last_result import remember_body, remember_result


def report_outcome(operator: Operator, context: Context, reports: Sequence[Report]) -> set[str]:
    """Report all warnings and one line for all limbs together, keep the outcome for the panel, return FINISHED."""
    several = len(reports) > 1
    for report in reports:
        remember_result(report, active_armature(context), context.scene)
        for warning in report.warnings:
            operator.tell({"WARNING"}, f"{report.tip}: {warning}" if several else warning)
    line = summary_of_all(reports, context.scene) if several else summary(reports[0], context.scene)
    operator.tell({"INFO" if all(report.all_reached for report in reports) else "WARNING"}, line)
    return {"FINISHED"}


def report_body(operator: Operator, context: Context, report: BodyReport) -> set[str]:
    """Report all warnings and one line for the body, keep the outcome for the panel, return FINISHED."""
    armature = active_armature(context)
    remember_body(report, armature, context.scene)
    for warning in report.warnings:
        operator.tell({"WARNING"}, warning)
    line = body_summary(report, context.scene, scale_of(armature))
    operator.tell({"INFO" if report.reached and not report.not_following else "WARNING"}, line)
    return {"FINISHED"}
