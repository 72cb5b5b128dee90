# SPDX-License-Identifier: GPL-3.0-or-later
"""A live limb: looks at what it follows, solves, reports and keys itself; and the goals of the limbs of a live body."""

from __future__ import annotations

from contextlib import ExitStack
from time import perf_counter

import bpy
from bpy.types import ID, Action, Depsgraph, Object, Scene, ViewLayer
from mathutils import Quaternion

from ..errors import IKError
from ..kinematics import Pose
from ..rig.armature import Bones, base_of
from ..rig.by_hand.keys import keep_pose
from ..rig.checks import check_limb
from ..rig.frames.samples import Sample, goals_at, sample
from ..rig.keyframes import check_keys
from ..rig.limb import Limb, selected_limb
from ..rig.rotation import rotation_of
from ..rig.targets.goal import GoalReader
from ..rig.timeline import check_nla
from ..solvers.natural import trailing
from ..solvers.solve import solve_goal
from .bake import solve_pose
from .frame_solver import NATURAL, SolvedFrame, at_frame, follow, solver_settings
from .keys import WrittenKeys
from .live_state import LiveChannels, LiveState, Surroundings, is_animated, surroundings_of
from .measure import NOT_MEASURED, Watch, measure_now, report_of
from .natural_shot import FramesAround, referred
from .report import Remedy, Report
from .writing import key_present_pose

_NO_KEYS = WrittenKeys(0, 0, [0])
_KEPT = 48  # frames that are solved together for the frame changes to come


class LiveLimb(LiveState):
    """A limb that is live, with its state when it was last seen."""

    def __init__(self, armature: Object, limb: Limb, scene: Scene) -> None:
        super().__init__(armature, limb.tip, [limb.tip], scene)
        self.before = rotations_of(limb)  # of the pose before it was live, near which an influence below 1 stays
        self.limb: Limb | None = None
        self.bones: Bones | None = None
        self.watch: Watch | None = None
        self.still: StillRig | None = None  # what was read of the rig, as long as nobody else changes it
        self.remedies: dict[str, Remedy | None] = {}  # of bones that do not follow; live there is no time to search
        self.solved: tuple[SolvedFrame, float] | None = None  # posed but not told yet, and the seconds it took
        self.around = FramesAround(_KEPT)

    def forget(self) -> None:
        super().forget()
        self.around.forget()
        self.limb = self.bones = self.watch = self.still = self.solved = None

    def forget_reading(self) -> None:
        self.still = self.solved = None

    def begin(self, limb: Limb) -> Report:
        report = solve_pose(limb)
        self.remedies = {note.bone: note.remedy for note in report.not_following}
        self.posed = LiveChannels(limb.pose_bones).read(limb.armature)
        return report

    def keep(self, armature: Object, undo: ExitStack) -> None:
        keep_pose((armature.pose.bones[name] for name in self.before if name in armature.pose.bones), undo)

    def look(
        self, armature: Object, scene: Scene, depsgraph: Depsgraph, touched: set[ID], new_frame: bool
    ) -> tuple[Sample, Limb, bool]:
        frame = scene.frame_current + scene.frame_subframe
        if not new_frame and any(each == armature.data or isinstance(each, (Scene, Action)) for each in touched):
            self.around.forget()  # a key, a limit, the range
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
            self.watch, self.channels = Watch(limb), LiveChannels(limb.pose_bones)
        changed, self.limb = self.limb is not None and self.limb != limb, limb
        return limb, changed

    def solve(self, now: Sample, limb: Limb) -> None:
        assert self.bones is not None
        assert self.channels is not None
        started = perf_counter()
        if self.still is not None:
            start, solved = self.still.pose.rotations, self.still.solve(now)
        elif isinstance(
            among := self.around.solve(limb, self.bones, now, bpy.context.scene, bpy.context.view_layer), SolvedFrame
        ):
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
        self.solved = solved, perf_counter() - started

    def solve_upcoming(self, seconds: float) -> bool:
        try:
            return self.around.solve_upcoming(seconds)
        except (IKError, ReferenceError):  # said once that frame is shown
            self.around.forget()
            return False

    def surroundings_of(self, now: Sample, depsgraph: Depsgraph) -> Surroundings:
        return surroundings_of(now, depsgraph)

    def is_animated(self, limb: Limb) -> bool:
        return is_animated(limb)

    def remember(self, armature: Object, before: Surroundings, held: bool) -> bool:
        by_others = super().remember(armature, before, held)
        if by_others:
            assert self.channels is not None
            self.around.forget()
            self.before, self.still = {n: rotation_of(armature.pose.bones[n]) for n in self.channels.bones}, None
        return by_others

    def report(self, armature: Object, scene: Scene, depsgraph: Depsgraph) -> Report | None:
        waiting, self.solved, watch = self.solved, None, self.watch
        if waiting is None or watch is None or self.channels is None or self.channels.read(armature) != self.posed:
            return None
        solved, took = waiting
        measured = NOT_MEASURED
        if watch.closely:
            measured = measure_now(watch, solved, depsgraph, scene, self.remedies)
        return report_of(watch.limb, [solved], took, _NO_KEYS, [], measured=measured)

    def key(self, armature: Object, scene: Scene, view_layer: ViewLayer) -> None:
        limb = selected_limb(armature.pose.bones[self.tip])
        check_keys(armature, limb.in_order)
        check_nla(armature, scene, self.frame, self.frame)
        key_present_pose(limb.pose_bones, scene, view_layer)

    def _with_pose_before(self, now: Sample, limb: Limb) -> Sample:
        """Return the sample with the pose before the limb was live, if its influence keeps it near that."""
        if now.limb.influence == 1.0 or set(self.before) != limb.solved:
            return now
        channels = [
            each._replace(rotation=self.before.get(name, each.rotation))
            for name, each in zip(limb.bones, now.rig.channels, strict=True)
        ]
        return now._replace(rig=now.rig._replace(channels=channels))


def rotations_of(limb: Limb) -> dict[str, Quaternion]:
    """Return the rotation of each bone, in any rotation mode."""
    return {bone.name: rotation_of(bone) for bone in limb.pose_bones}


class StillRig:
    """Settings, bones and pose of a live limb as they were when it was last posed."""

    def __init__(self, limb: Limb, solved: SolvedFrame, begin: Pose) -> None:
        self.limb, self.pose, self._goal = limb, solved.pose, solved.goal
        self._reference = begin if limb.solver == NATURAL else None
        self._rig, self._settings, self._goals = solved.now.rig, solver_settings(limb), GoalReader()

    @staticmethod
    def suits(limb: Limb) -> bool:
        """Tell whether everybody who changes the rig or the settings of this limb can be noticed.

        Drivers and animated settings change with anything, the selection without a trace; and where the solution is not
        what is shown, or not where the next one starts, the rig has to be read anew.
        """
        stored = limb.armature.pose.bones[limb.tip].ik_triangulation
        if limb.influence != 1.0 or limb.start_from == "REST" or stored.use_selected:
            return False
        animation = limb.armature.animation_data
        if animation is None:
            return True
        bones = tuple(limb.armature.pose.bones[name].path_from_id() for name in limb.bones)
        driven = any(curve.data_path.startswith(bones) for curve in animation.drivers)
        return not (driven or limb.followed or limb.with_moving_limits)

    def sample(self, armature: Object, depsgraph: Depsgraph, frame: float, touched: set[ID]) -> Sample | None:
        """Return what the depsgraph shows now; None if somebody may have changed more than what the limb follows.

        A live limb's own pose touches the armature but not its data; all other changes of bones and of settings do.
        """
        limb, rig = self.limb, self._rig
        if armature.data in touched or any(isinstance(each, (Scene, Action)) for each in touched):
            return None
        try:
            shown = armature.evaluated_get(depsgraph)
            if shown.matrix_world != rig.world or base_of(shown, limb.bones[0]) != rig.base:
                return None
            if any(bone and bone not in target.pose.bones for target, bone in limb.targets):
                return None
            return Sample(frame, rig, limb, *goals_at(limb, depsgraph, frame))
        except ReferenceError:  # a target was removed
            return None

    def solve(self, now: Sample) -> SolvedFrame:
        """Solve the sample from the last pose on, or from the reference.

        Raises TargetError for a shape that the target does not have.
        """
        begin = self._reference or self.pose
        goal = self._goals.at(now, begin)
        solution = solve_goal(begin, goal, self._settings, follow=True)
        if self._reference:
            pose = trailing(self._reference, goal, self._settings.form, self.pose, self._goal, solution.pose)
            if pose is not solution.pose:
                error = (pose.tip - goal.target.closest(pose.tip)).length
                solution = solution._replace(pose=pose, error=error, reached=error <= goal.tolerance)
        self.pose, self._goal = solution.pose, goal
        return SolvedFrame(now, goal, solution, solution.pose)
