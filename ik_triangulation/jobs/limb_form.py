# SPDX-License-Identifier: GPL-3.0-or-later
"""The form of a limb as a part of the body, as the natural solver asks for it."""

from __future__ import annotations

from ..rig.anatomy.reading import Anatomy
from ..rig.controls import Controls
from ..rig.freedom import can_turn
from ..rig.limb import Limb
from ..rig.stance import has_hinge, outwards_of
from ..solvers.natural import PLAIN_LIMB, LimbForm

_JOINTS = (2, 3)


def limb_form(limb: Limb) -> LimbForm:
    """Return the form of a limb by the part of the body that it was added as, else that its bones are."""
    part, side = _part(limb)
    if not has_hinge(part):
        return PLAIN_LIMB
    return LimbForm(has_end=True, flexion=outwards_of(limb.armature, part, limb.bones, side))


def _part(limb: Limb) -> tuple[str, str]:
    """Return the part of the body that a limb is, and the side "L" or "R" that its bones tell."""
    if len(limb.solved) not in _JOINTS:
        return "NONE", ""
    stored = getattr(limb.armature.pose.bones[limb.tip], "ik_triangulation", None)  # not there unless it is registered
    turning = [name for name in limb.in_order if can_turn(limb.armature.pose.bones[name])]
    found = Anatomy(limb.armature, Controls(limb.armature)).limb_of(turning)
    side = found.side if found else ""
    if stored and stored.body_part != "NONE":
        return str(stored.body_part), side
    return (found.kind.name, side) if found else ("NONE", "")
