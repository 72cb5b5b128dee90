# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operators that bake share."""

from bpy.types import Context

from ..report import Report
from ..work import Job
from .limb import LimbOperator
from .modal import ModalOperator


class BakeOperator(ModalOperator, LimbOperator):
    """Bakes limbs, frame by frame."""

    doing = "Baking"
    parts = "frames"
    stopped = "Bake cancelled, nothing was changed"

    def job(self, context: Context, seconds: float) -> Job[list[Report]]:
        """What is to be baked, reading for no longer than `seconds` at once; raises an IKError if it cannot be."""
        raise NotImplementedError

    tell = LimbOperator.tell
