# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of the controls that a bake of the active limb can key, as the rig itself calls them."""

from __future__ import annotations

from typing import NamedTuple

from bpy.types import PoseBone

from ..errors import IKError
from ..rig.ik_controls import IKControls, ik_controls_of
from ..rig.limb import Limb
from ..rig.switches import switches_of
from .context import chain_below

_known: dict[str, tuple[object, ControlNames | None]] = {}  # of the limb that was asked for last


class ControlNames(NamedTuple):
    """The tip of a limb, the properties by which the character follows its controls, and its IK controls."""

    tip: str
    switches: tuple[str, ...]
    controls: IKControls

    @property
    def with_switch(self) -> str:
        """The control that ends the limb, with the property that makes the character follow it."""
        return ", ".join((self.tip, *self.switches[:1]))

    @property
    def ik(self) -> str:
        """The IK control and its pole."""
        return ", ".join(name for name in (self.controls.control, self.controls.pole) if name)

    @property
    def bones(self) -> list[str]:
        """The bones of the IK controls."""
        return self.controls.keyed


def control_names(tip: PoseBone) -> ControlNames | None:
    """Return the names for the limb that ends in a bone; None if it has no IK controls.

    They are found anew if bones or constraints of the armature have changed since.
    """
    armature = tip.id_data
    try:
        chain = chain_below(tip)
    except IKError:
        return None
    constraints = tuple(len(bone.constraints) for bone in armature.pose.bones)
    state = armature.session_uid, tuple(chain), hash(constraints), tip.name
    if _known.get("last", (None,))[0] != state:
        _known["last"] = state, _found(tip, chain) if any(constraints) else None
    return _known["last"][1]


def _found(tip: PoseBone, chain: list[str]) -> ControlNames | None:
    try:
        limb = Limb.from_bones(tip.id_data, chain, tip.id_data)
        controls = ik_controls_of(limb)
    except IKError:
        return None
    found = switches_of(limb.armature, controls.examined)
    rigs_own = [switch for switch in found if ".constraints[" not in switch.path]
    switches = dict.fromkeys(switch.name for switch in rigs_own or found)
    return ControlNames(tip.name, tuple(switches), controls)
