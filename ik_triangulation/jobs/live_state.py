# SPDX-License-Identifier: GPL-3.0-or-later
"""State of whatever is live, a limb or a body: its surroundings and pose when last seen, and poses before drags."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack
from math import inf
from typing import Any

import bpy
from bpy.types import ID, Depsgraph, Object, Scene, ViewLayer

from ..rig.frames.sampling import Sample
from ..rig.keyframes import curves_of
from ..rig.posed import remember_written
from ..rig.reference import Boned
from ..rig.rotation import channel
from ..rig.surface import surface_state
from .body_report import BodyReport
from .live_channels import LiveChannels, Values
from .report import Report

_REMEMBERED = 4  # a drag is recognised only from its second or third change on

Surroundings = tuple[Any, ...]  # everything that is followed, in a form that can be compared


class LiveState(ABC):
    """A limb or a body that is live, with its state when it was last seen; found by the bone at its `tip`.

    `tips` are those of all limbs that are solved together. The methods after look() take the state now and the limb or
    body that it returns.
    """

    comes_to_rest = False  # whether the pose changes once the targets rest

    def __init__(self, armature: Object, tip: str, tips: Sequence[str], scene: Scene) -> None:
        self.tips = tuple(tips)
        self.name, self.uid, self.tip, self.scene = armature.name, armature.session_uid, tip, scene.session_uid
        self.posed = Values()  # as it was posed last
        self.channels: LiveChannels | None = None
        self.surroundings: Surroundings | None = None  # None if they have not been seen yet
        self.left: dict[Surroundings, Values] = {}  # the poses before it was last posed, the latest last
        self.dragged = False
        self.changed = -inf  # time at which it was last posed, if it is not keyed yet,
        self.frame = 0.0  # and the frame
        self.moved = -inf  # time at which it was last posed
        self.untold = False  # whether it was posed since the last report
        self.problem = ""

    def forget(self) -> None:
        """Accept the state that is seen next as it is."""
        self.channels = self.surroundings = None
        self.left.clear()
        self.dragged, self.changed, self.untold = False, -inf, False

    @abstractmethod
    def forget_reading(self) -> None:
        """Read the rig anew at the next look."""

    @abstractmethod
    def begin(self, rig: Any) -> Report | BodyReport:
        """Solve the limb or body as it is now; return the report."""

    @abstractmethod
    def keep(self, armature: Object, undo: ExitStack) -> None:
        """Have the closing of `undo` give back the present pose."""

    @abstractmethod
    def look(
        self, armature: Object, scene: Scene, depsgraph: Depsgraph, touched: set[ID], new_frame: bool
    ) -> tuple[Any, Any, bool]:
        """Return what the depsgraph shows now, the limb or body, and whether its settings have changed since.

        `touched` are the data-blocks that have been evaluated. Raises an IKError that names the culprit.
        """

    @abstractmethod
    def surroundings_of(self, now: Any, depsgraph: Depsgraph) -> Surroundings:
        """Return everything that is followed, in a form that can be compared."""

    @abstractmethod
    def is_animated(self, rig: Any) -> bool:
        """Tell whether there are keys, which are not overridden."""

    @abstractmethod
    def solve(self, now: Any, rig: Any) -> None:
        """Solve from the present pose and write the pose; it is not evaluated yet."""

    @abstractmethod
    def report(self, armature: Object, scene: Scene, depsgraph: Depsgraph) -> Report | BodyReport | None:
        """Return the report of the pose that was shown last; None if it was told, or somebody else has posed it."""

    @abstractmethod
    def key(self, armature: Object, scene: Scene, view_layer: ViewLayer) -> None:
        """Key the present pose. Raises an IKError that names the culprit."""

    def rest(self, armature: Object) -> bool:
        """Let a pose that is still shown come to rest; tell whether it has changed."""
        return False

    def armature(self) -> Object | None:
        """Return the armature, even if it was renamed; None if it or the bone at the tip was removed."""
        armature = bpy.data.objects.get(self.name)
        if armature is None or armature.session_uid != self.uid:
            armature = next((ob for ob in bpy.data.objects if ob.session_uid == self.uid), None)
        if armature is None or armature.pose is None or self.tip not in armature.pose.bones:
            return None
        self.name = armature.name
        return armature

    def cancel_drag(self, armature: Object) -> bool:
        """Restore the pose of the present surroundings from before they were dragged, if there is one."""
        if self.channels is None or self.surroundings not in self.left:
            return False
        self.posed = self.left[self.surroundings]
        self.forget_reading()
        self.channels.restore(armature, self.posed)
        remember_written(armature.pose.bones[name] for name in self.channels.bones)
        return True

    def remember(self, armature: Object, before: Surroundings, held: bool) -> bool:
        """Remember the pose as it is before it is changed; `before` are the surroundings that led to it.

        Returns whether somebody else has posed it.
        """
        assert self.channels is not None
        present = self.channels.read(armature)
        if not held:
            self.left.pop(before, None)
            self.left[before] = present
            if len(self.left) > _REMEMBERED:
                del self.left[next(iter(self.left))]
        return present != self.posed


def surroundings_of(now: Sample, depsgraph: Depsgraph) -> Surroundings:
    """Return everything that a limb follows, in a form that can be compared.

    Of a surface it is the mesh: the place on it that is reached follows the limb itself.
    """
    obstacles = (
        (each.frame.freeze(), each.looks, each.lowest.freeze(), each.highest.freeze()) for each in now.obstacles
    )
    on_surface = now.limb.on_surface
    target = surface_state(now.limb.target, depsgraph) if on_surface else now.target.freeze()
    places = target, now.rig.world.freeze(), now.rig.base.freeze(), now.pole and now.pole.freeze()
    return *places, now.looks, *obstacles


def is_animated(rig: Boned, moved: str = "") -> bool:
    """Tell whether there are rotation keys, or such of the location of the bone that is `moved`, or NLA strips.

    What is animated is not overridden.
    """
    animation = rig.armature.animation_data
    if animation is None:
        return False
    bones = [rig.armature.pose.bones[name] for name in rig.bones]
    paths = {bone.path_from_id(channel(bone)[0]) for bone in bones}
    if moved:
        paths.add(rig.armature.pose.bones[moved].path_from_id("location"))
    keyed = any(curve.data_path in paths and not curve.mute for curve in curves_of(rig.armature))
    return keyed or (animation.use_nla and any(track.strips and not track.mute for track in animation.nla_tracks))
