# SPDX-License-Identifier: GPL-3.0-or-later
"""State of a live limb: what it followed and its pose when last seen, and poses to restore if a drag is cancelled."""

from __future__ import annotations

from math import inf
from typing import Any

import bpy
from bpy.types import ID, Depsgraph, Object, Scene
from mathutils import Quaternion

from ..rig.armature import Bones
from ..rig.checks import check_limb
from ..rig.frames.sampling import Sample, sample
from ..rig.keyframes import curves_of
from ..rig.limb import Limb
from ..rig.posed import remember_written
from ..rig.rotation import channel, rotation_of
from ..rig.selection import selected_limb
from ..rig.surface import surface_state
from .among_others import solve_among_others
from .frame_solver import SolvedFrame, at_frame, follow
from .live_channels import LiveChannels, Values
from .measure import Watch
from .referred import referred
from .report import Remedy
from .still_rig import StillRig

_REMEMBERED = 4  # a drag is recognised only from its second or third change on

Surroundings = tuple[Any, ...]  # everything that a limb follows, in a form that can be compared


class LiveLimb:
    """A limb that is live, with its state when it was last seen."""

    def __init__(self, armature: Object, limb: Limb, scene: Scene) -> None:
        self.name, self.uid, self.tip, self.scene = armature.name, armature.session_uid, limb.tip, scene.session_uid
        self.before = rotations_of(limb)  # of the pose before it was live, near which an influence below 1 stays
        self.posed = Values()  # as it was posed last
        self.limb: Limb | None = None
        self.bones: Bones | None = None
        self.watch: Watch | None = None
        self.channels: LiveChannels | None = None
        self.still: StillRig | None = None  # what was read of the rig, as long as nobody else changes it
        self.remedies: dict[str, Remedy | None] = {}  # of bones that do not follow; live there is no time to search
        self.solved: tuple[SolvedFrame, float] | None = None  # posed but not told yet, and the seconds it took
        self.surroundings: Surroundings | None = None  # None if they have not been seen yet
        self.left: dict[Surroundings, Values] = {}  # the poses before it was last posed, the latest last
        self.dragged = False
        self.changed = -inf  # time at which it was last posed, if it is not keyed yet,
        self.frame = 0.0  # and the frame
        self.problem = ""

    def forget(self) -> None:
        """Accept the state that is seen next as it is."""
        self.limb = self.bones = self.watch = self.channels = self.still = self.surroundings = self.solved = None
        self.left.clear()
        self.dragged, self.changed = False, -inf

    def armature(self) -> Object | None:
        """Return the armature, even if it was renamed; None if it or the bone at the tip was removed."""
        armature = bpy.data.objects.get(self.name)
        if armature is None or armature.session_uid != self.uid:
            armature = next((ob for ob in bpy.data.objects if ob.session_uid == self.uid), None)
        if armature is None or armature.pose is None or self.tip not in armature.pose.bones:
            return None
        self.name = armature.name
        return armature

    def look(
        self, armature: Object, scene: Scene, depsgraph: Depsgraph, touched: set[ID], new_frame: bool
    ) -> tuple[Sample, Limb, bool]:
        """Return what the depsgraph shows now, the limb, and whether its settings have changed since the last look.

        `touched` are the data-blocks that have been evaluated. Raises an IKError that names the culprit.
        """
        frame = scene.frame_current + scene.frame_subframe
        still, self.still = self.still, None
        if still is not None and not new_frame:
            now = still.sample(armature, depsgraph, frame, touched)
            if now is not None:
                self.still = still
                return now, still.limb, False
        limb, changed = self._refresh(armature, scene, depsgraph, touched)
        return sample(limb, depsgraph, frame), limb, changed

    def _refresh(self, armature: Object, scene: Scene, depsgraph: Depsgraph, touched: set[ID]) -> tuple[Limb, bool]:
        """Read the limb's settings, and its bones and followers if they may have changed; tell if the settings have."""
        limb = selected_limb(armature.pose.bones[self.tip])
        if self.bones is None or limb != self.limb or armature in touched or armature.data in touched:
            check_limb(limb, scene, depsgraph.view_layer)
            self.bones = Bones(armature, limb.bones, limb.solved)
        if self.watch is None or self.channels is None or limb != self.limb or armature.data in touched:
            self.watch, self.channels = Watch(limb), LiveChannels(limb)
        changed, self.limb = self.limb is not None and self.limb != limb, limb
        return limb, changed

    def solve(self, now: Sample, limb: Limb) -> SolvedFrame:
        """Solve the limb from its present pose and pose it; it is not evaluated yet."""
        assert self.bones is not None
        assert self.channels is not None
        if self.still is not None:
            start, solved = self.still.pose.rotations, self.still.solve(now)
        elif among := solve_among_others(limb, self.bones, now, bpy.context.scene, bpy.context.view_layer):
            sampled = dict(zip(limb.bones, now.rig.channels, strict=True))
            start, solved = [sampled[joint.name].rotation for joint in among.pose.chain.joints], among
        else:
            (begin,) = referred(limb, self.bones, [self._with_pose_before(now, limb)], bpy.context.scene)
            (solved,) = follow(limb, self.bones, [begin], begun=True)
            solved = solved._replace(now=now)
            sampled = dict(zip(limb.bones, now.rig.channels, strict=True))
            start = [sampled[joint.name].rotation for joint in solved.pose.chain.joints]
            self.still = StillRig(limb, solved, at_frame(begin, self.bones)) if StillRig.suits(limb) else None
        self.posed = self.channels.pose(limb.armature, start, solved.pose)
        return solved

    def cancel_drag(self, armature: Object) -> bool:
        """Restore the pose that the limb had in the present surroundings before it was dragged, if there is one."""
        if self.channels is None or self.surroundings not in self.left:
            return False
        self.posed, self.still = self.left[self.surroundings], None
        self.channels.restore(armature, self.posed)
        remember_written(armature.pose.bones[name] for name in self.before)
        return True

    def remember(self, limb: Limb, before: Surroundings, held: bool) -> bool:
        """Remember the pose as it is before the limb is posed; `before` are the surroundings that led to it.

        Returns whether somebody else has posed it.
        """
        assert self.channels is not None
        present = self.channels.read(limb.armature)
        by_others = present != self.posed
        if by_others:
            self.before, self.still = rotations_of(limb), None
        if not held:
            self.left.pop(before, None)
            self.left[before] = present
            if len(self.left) > _REMEMBERED:
                del self.left[next(iter(self.left))]
        return by_others

    def _with_pose_before(self, now: Sample, limb: Limb) -> Sample:
        """Return the sample with the pose before the limb was live, if its influence keeps it near that."""
        if now.limb.influence == 1.0 or set(self.before) != limb.solved:
            return now
        channels = [
            each._replace(rotation=self.before.get(name, each.rotation))
            for name, each in zip(limb.bones, now.rig.channels, strict=True)
        ]
        return now._replace(rig=now.rig._replace(channels=channels))


def surroundings_of(now: Sample, depsgraph: Depsgraph) -> Surroundings:
    """Return everything that a limb follows, in a form that can be compared.

    Of a surface it is the mesh: the place on it that is reached follows the limb itself.
    """
    obstacles = (
        (each.frame.freeze(), each.looks, each.lowest.freeze(), each.highest.freeze()) for each in now.obstacles
    )
    on_surface = now.limb.shape == "SURFACE"
    target = surface_state(now.limb.target, depsgraph) if on_surface else now.target.freeze()
    places = target, now.rig.world.freeze(), now.rig.base.freeze(), now.pole and now.pole.freeze()
    return *places, now.looks, *obstacles


def rotations_of(limb: Limb) -> dict[str, Quaternion]:
    """Return the rotation of each bone, in any rotation mode."""
    return {bone.name: rotation_of(bone) for bone in limb.pose_bones}


def is_animated(limb: Limb) -> bool:
    """Tell whether the limb has rotation keys of its own, or may have some in the NLA: these are not overridden."""
    animation = limb.armature.animation_data
    if animation is None:
        return False
    paths = {bone.path_from_id(channel(bone)[0]) for bone in limb.pose_bones}
    keyed = any(curve.data_path in paths and not curve.mute for curve in curves_of(limb.armature))
    return keyed or (animation.use_nla and any(track.strips and not track.mute for track in animation.nla_tracks))
