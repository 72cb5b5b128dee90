# SPDX-License-Identifier: GPL-3.0-or-later
"""Base of all operators: poll() with a reason, and errors reported instead of raised."""

import traceback
from collections.abc import Callable

from bpy.types import Context, Operator, UILayout

from ...errors import IKError
from ..context import active_bone, cannot_edit
from ..translation import translated


class IKOperator(Operator):
    """Base of the operators: act() reads the context, calls one plain function and reports the outcome; one undo step.

    An operator that takes a while is a JobOperator, which has job() and report_result() instead of act().
    """

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        """Return why the operator is not available, None if it is. By default it needs an active bone to edit."""
        return cannot_edit(context) or (None if active_bone(context) else "Make the bone at the end of the limb active")

    @classmethod
    def poll(cls, context: Context) -> bool:
        problem = cls.poll_problem(context)
        if problem:
            cls.poll_message_set(translated(problem))
        return problem is None

    def execute(self, context: Context) -> set[str]:
        try:
            return self.act(context)
        except IKError as error:
            return self.report_error(error)

    def act(self, context: Context) -> set[str]:
        """Do the work and report it. Raises an IKError before anything is changed."""
        raise NotImplementedError

    def conclude(self, tell: Callable[[], object]) -> set[str]:
        """Tell the result of work that is done, and return FINISHED, so that Blender can undo it.

        What goes wrong in telling must not look as if nothing had been done.
        """
        try:
            tell()
        except (Exception, KeyboardInterrupt) as error:
            traceback.print_exc()
            self.report({"WARNING"}, f"IK Triangulation: Done, but the result cannot be shown: {error!r}")
        return {"FINISHED"}

    def column(self) -> UILayout:
        """Return a column for draw(), with labels left and values right."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        return self.layout.column()

    def tell(self, kind: set[str], text: str) -> None:
        """Report a message in the language of the interface."""
        self.report(kind, translated(text))

    def report_error(self, error: IKError) -> set[str]:
        """Report the error and cancel the operator."""
        self.tell({"ERROR"}, f"IK Triangulation: {error}")
        return {"CANCELLED"}
