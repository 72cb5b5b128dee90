# SPDX-License-Identifier: GPL-3.0-or-later
"""Set Up Body: hands that reach, feet that are held and a head that looks, in one press."""

import bpy
from bpy.types import Context, Object

from ...jobs import live
from ...jobs.body_setup import NewBody, lowest_of, set_up_body
from ...rig.selection import select_only, selected_bones
from ..context import cannot_edit, own_armature
from .base import IKOperator

_FEWEST, _MOST = 2, 8  # ends of selected bones that are taken for tips; more are those of a whole rig


class POSE_OT_ik_triangulation_body_add(IKOperator):
    bl_idname = "pose.ik_triangulation_body_add"
    bl_label = "Set Up Body"
    bl_description = (
        "Make one body of arms, legs and head: hands that reach for new empties, feet that are held where the "
        "animation has them, a head that looks, joint limits, and balance. If several bones are selected, these are "
        "the hands and feet"
    )

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return cannot_edit(context) or (None if own_armature(context) else "Select an armature")

    def act(self, context: Context) -> set[str]:
        armature = own_armature(context)
        chosen = selected_bones(armature) if context.mode == "POSE" else []
        ends = lowest_of(armature, chosen)
        made = set_up_body(armature, ends if _FEWEST <= len(ends) <= _MOST else ())
        return self.conclude(lambda: self._tell_about(armature, made))

    def _tell_about(self, armature: Object, made: NewBody) -> None:
        """Select a tip of the body and tell of all."""
        text, doubts = show_body(armature, made)
        self.tell({"INFO"}, f"Body: {text}")
        if doubts:
            self.tell({"WARNING"}, f"Check the limbs: {doubts}")


def show_body(armature: Object, made: NewBody) -> tuple[str, str]:
    """Select a tip of a body that was set up; return what was made, and what is doubtful."""
    for tip in (*made.reach, *made.held, *made.looking):
        live.stop(armature, tip)
    select_only(armature, [(made.reach or made.looking or made.held)[0]])
    reach, held, head = (", ".join(f"'{tip}'" for tip in tips) for tips in (made.reach, made.held, made.looking))
    reaches, looks = f"{reach} reach, " if reach else "", f"{head} looks, " if head else ""
    return f"{reaches}{held} held, {looks}hips '{made.hips}' move, balance is on", "; ".join(made.doubts)


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_body_add,))
