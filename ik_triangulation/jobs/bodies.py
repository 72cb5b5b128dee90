# SPDX-License-Identifier: GPL-3.0-or-later
"""The body that a limb is solved with, and the refusal of what is done to lone limbs only."""

from __future__ import annotations

from bpy.types import Object

from ..errors import ChainError
from ..rig.body import RigBody
from ..rig.stored_body import stored_body


def body_of(armature: Object, tip: str) -> RigBody | None:
    """Return the body that the limb which ends in `tip` is solved with; None for a limb that is solved alone.

    Limbs are solved together if a tip among them is held, or if they share bones. One that merely hangs on another is
    solved after it. Raises what stored_body() does, and ChainError for a held limb beside which nothing reaches.
    """
    bones = armature.pose.bones
    found = stored_body(armature, tip)
    if found is None:
        if bones[tip].ik_triangulation.hold:
            raise ChainError(f"'{tip}' is held, and no limb reaches. Give one that hangs on the same hips a target.")
        return None
    turned = [name for limb in found.limbs for name in limb.solved]
    return found if found.held or len(turned) > len(set(turned)) else None


def check_alone(armature: Object, tip: str, what: str) -> None:
    """Raise ChainError if a limb belongs to a body, as `what` is to be done can only be done to a lone limb."""
    if body_of(armature, tip) is not None:
        raise ChainError(f"'{tip}' is part of a body, and {what} works on single limbs. Use Pose or Bake.")
