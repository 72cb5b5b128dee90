# SPDX-License-Identifier: GPL-3.0-or-later
"""What all operators share: they say why they are not there, and why they have done nothing."""

from bpy.types import Context, Operator

from ...errors import IKError
from ..context import active_bone, why_not_set


class IKOperator(Operator):
    """Gathers, calls one plain function, and reports; one step of undo."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def why_not(cls, context: Context) -> str | None:
        """What is missing; None if nothing is. By default an active bone whose settings can be changed."""
        return why_not_set(context) or (None if active_bone(context) else "Make the bone at the end of the limb active")

    @classmethod
    def poll(cls, context: Context) -> bool:
        reason = cls.why_not(context)
        if reason:
            cls.poll_message_set(reason)
        return reason is None

    def execute(self, context: Context) -> set[str]:
        try:
            return self.act(context)
        except IKError as error:
            return self.refuse(error)

    def act(self, context: Context) -> set[str]:
        """Do it and report; raises an IKError that says what is in the way, before anything is changed."""
        raise NotImplementedError

    def refuse(self, error: IKError) -> set[str]:
        """Say why nothing was done."""
        self.report({"ERROR"}, f"IK Triangulation: {error}")
        return {"CANCELLED"}
