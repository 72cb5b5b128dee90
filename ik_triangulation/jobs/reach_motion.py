# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of a motion from a pose to targets and back: the poses that reach them, and the transitions.

A target's pose is solved first, by the limb's own solver. A transition then blends two things, both at the same frame:
as if the limb had stayed at the place that it leaves, and as if it were at its destination already. The start pose
moves with its armature, a place on a target with the target, so the tip leaves and meets moving things at their speed.

Along arcs these two are poses, and each joint rotates from the one to the other. Along a straight line they are
locations of the tip; a blend of two locations is the same in every space: none has to be chosen. The pose that is left
is carried along the line with the least rotation, and so is, in reverse, the pose at its end; the first blends into
the second.

Soft goals count at the targets, and fade in with the pose during a transition. The motion of a body is the same for all
bones at once; last, held tips are put right at every frame, and along straight lines the others as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from bpy.types import Scene
from mathutils import Quaternion, Vector

from ..cooperative import Work, finished
from ..goals import Goal, Point
from ..goals.from_goals import body_tasks, point_task
from ..goals.task import Level, Task
from ..kinematics import Locked, Pose
from ..kinematics.arrays import Numbers
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.tree import joined
from ..kinematics.body_anatomy import Part
from ..kinematics.framed import joint_path
from ..motion.arm_swing import swung
from ..motion.body_path import body_path
from ..motion.faded_path import looking_at_hands
from ..motion.limb_motion import along_arc
from ..motion.timing import Profile, window
from ..rig.armature import Bones
from ..rig.frames.samples import Sample
from ..rig.limb import Limb
from ..rig.targets.goal import GoalReader
from ..rig.timeline import fps_of
from ..rig.units import distance_text
from ..solvers import Solution, solve, solve_goal
from ..solvers.batch.change import System
from ..solvers.batch.descent import hold, precisely
from ..solvers.body.clearing import cleared
from ..solvers.body.flexing import parts_of_body
from ..solvers.body.floor import kept_above
from ..solvers.body.priorities import exactly
from ..solvers.body.swivelling import LimbOfBody, limbs_with_swivel
from ..solvers.natural.posture import Posture
from ..solvers.solver import PLAIN_LIMB
from .shots.frame_solver import NATURAL, SolvedFrame, at_frame, shown_pose, solver_settings, turned_like
from .shots.problem import BodyProblem

STRAIGHT = "GAUSS_NEWTON"  # rotates the joints least from frame to frame; others fold a chain anew each time
# Shares of the time in which head, trunk and hips arrive where a hand goes along an arc, and in which that waits:
# people look first, and turn before they reach.
_EARLIER = {Part.SIMPLE: 0.85, Part.TRUNK: 0.92, Part.HIPS: 0.92}
_HAND_LATER = 0.05
ON_THE_LINE = 0.01  # of the tolerance: closer than at a target, or the slow frames at both ends would jitter


class ReachStyle(NamedTuple):
    """Style of a reach: speed profile, straight line, arcs of the joints with the onset of the last one, or one arc of
    the wrist where it is `bowed`."""

    profile: Profile
    straight: bool = False
    onset: float = 0.0
    bowed: bool = False


class TargetVisit(NamedTuple):
    """The target of a limb, to be at from `frame` to `leave`, with samples of these frames and the transitions."""

    limb: Limb
    frame: int
    leave: int
    samples: Mapping[int, Sample]


class _Place(NamedTuple):
    """A pose that is left or arrived in, and the target of `visit` that its tip moves with, else the armature.

    `gap` is the vector from that target to the tip [Blender units, armature space]: almost zero if it is reached.
    """

    pose: Pose
    visit: TargetVisit | None = None
    gap: Vector | None = None


class _Step(NamedTuple):
    """A frame of a transition, its share of the time, its sample, and the pose that was sampled."""

    frame: int
    time: float
    now: Sample
    present: Pose


class ReachMotion:
    """Motion of a limb from its pose through `visits`, and back, at `fps` frames a second."""

    def __init__(self, bones: Bones, visits: Sequence[TargetVisit], style: ReachStyle, fps: float) -> None:
        self._bones, self._visits, self._style, self._fps = bones, visits, style, fps
        self._goals = {visit.frame: GoalReader() for visit in visits}

    def frames(self, frame_start: int, return_frames: int = 0) -> Iterator[SolvedFrame]:
        """Yield every solved frame from `frame_start`; back within `return_frames`, if any. Raises as follow() does."""
        now = self._visits[0].samples[frame_start]
        self._began = at_frame(now, self._bones)
        self._began.project()
        self._latest = self._began
        yield self._kept(now, Goal(Point(self._began.tip)), Solution(self._began, 0.0, 0, True))
        start = leave = _Place(self._began)
        frame = frame_start
        for visit in self._visits:
            found = self._reached(visit, visit.frame, leave.pose)
            if self._style.straight and visit.limb.solver != NATURAL:
                found = self._reached_straight(visit, leave, frame, found)
            yield from self._transition(leave, self._place(visit, *found), visit, frame, visit.frame)
            yield self._kept(*found)
            for frame in range(visit.frame + 1, visit.leave + 1):
                found = self._reached(visit, frame, self._latest, follow=True)
                yield self._kept(*found)
            leave, frame = self._place(visit, *found), visit.leave
        if return_frames:
            end = frame + return_frames
            yield from self._transition(leave, start, visit, frame, end)
            now = visit.samples[end]
            pose = turned_like(start.pose, at_frame(now, self._bones))
            yield self._kept(now, Goal(Point(pose.tip)), Solution(pose, 0.0, 0, True))

    def _reached(
        self, visit: TargetVisit, frame: int, pose: Pose, follow: bool = False
    ) -> tuple[Sample, Goal, Solution]:
        """Solve a frame for the target of a visit, from `pose`."""
        now = visit.samples[frame]
        goal = self._goal(visit, frame)
        if visit.limb.solver == NATURAL:
            pose = self._began  # whose posture it keeps, wherever it comes from
        start = turned_like(pose, at_frame(now, self._bones))
        return now, goal, _solve(visit.limb, start, goal, follow or not goal.soft)

    def _reached_straight(
        self, visit: TargetVisit, leave: _Place, first: int, found: tuple[Sample, Goal, Solution]
    ) -> tuple[Sample, Goal, Solution]:
        """Return the same place in the pose that the line leads to; unchanged if it does not lead there."""
        now, goal, solution = found
        steps = self._steps(visit, first, visit.frame + 1, visit.frame)
        goals = self._line(leave, self._place(visit, *found), steps)
        pose, tip = _along(visit.limb, leave.pose, steps, goals)[-1], solution.pose.tip
        spot = goal.target.closest(tip) if solution.reached else tip
        led = _solve(visit.limb, pose, goal._replace(target=Point(spot)), follow=True)
        return (now, goal, led) if led.reached else found

    def _transition(
        self, leave: _Place, arrive: _Place, visit: TargetVisit, first: int, last: int
    ) -> Iterator[SolvedFrame]:
        """Yield the frames between leaving and arriving."""
        steps = self._steps(visit, first, last, last)
        if self._style.straight:
            goals = self._line(leave, arrive, steps)
            solutions = self._along_line(visit.limb, leave.pose, arrive.pose, steps, goals)
        else:
            solutions = self._along_arcs(visit.limb, leave, arrive, steps)
            if steps and self._style.bowed and visit.limb.solver == NATURAL:
                solutions = self._bowed(visit.limb, leave, arrive, steps, solutions)
            goals = [Goal(Point(solution.pose.tip)) for solution in solutions]
        for step, goal, solution in zip(steps, goals, solutions, strict=True):
            yield self._kept(step.now, goal, solution)

    def _steps(self, visit: TargetVisit, first: int, end: int, last: int) -> list[_Step]:
        """Return the frames after `first` and before `end`, of a transition that ends at `last`."""
        steps = []
        for frame in range(first + 1, end):
            now = visit.samples[frame]
            steps.append(_Step(frame, (frame - first) / (last - first), now, at_frame(now, self._bones)))
        return steps

    def _line(self, leave: _Place, arrive: _Place, steps: Sequence[_Step]) -> list[Goal]:
        """Return the goals of the tip on the line."""
        goals = []
        for step in steps:
            begin, end = (self._tip(place, step.present, step.frame) for place in (leave, arrive))
            goals.append(Goal(Point(begin.lerp(end, self._style.profile(step.time)))))
        return goals

    def _along_line(
        self, limb: Limb, leave: Pose, arrive: Pose, steps: Sequence[_Step], goals: Sequence[Goal]
    ) -> list[Solution]:
        """Blend the poses carried along the line from its beginning into those carried back from its end."""
        onward, back = _along(limb, leave, steps, goals), _along(limb, arrive, steps[::-1], goals[::-1])[::-1]
        solutions = []
        for step, goal, before, after in zip(steps, goals, onward, back, strict=True):
            share = self._style.profile(step.time)
            solutions.append(_onto(limb, step, _blend(before, after, step.present, [share] * len(before)), goal))
        return solutions

    def _bowed(
        self, limb: Limb, leave: _Place, arrive: _Place, steps: Sequence[_Step], blended: Sequence[Solution]
    ) -> list[Solution]:
        """Lead the wrist along an arc, near poses that are blended; these are the result for chains that are scaled."""
        chain = leave.pose.chain
        every = [leave.pose, *(each.pose for each in blended), arrive.pose]
        if not chain.plain or any(pose.chain is not chain for pose in every):
            return list(blended)
        tree, form = Tree.of(chain), solver_settings(limb).form
        before, after = self._staying(limb, leave, steps), self._staying(limb, arrive, steps[::-1])[::-1]
        left, arrived = [leave.pose, *before, arrive.pose], [leave.pose, *after, arrive.pose]
        shares = np.array([0.0, *(self._style.profile(step.time) for step in steps), 1.0])
        up = (
            arrive.pose.base.to_3x3().inverted() @ steps[-1].now.rig.world.to_3x3().inverted() @ Vector((0.0, 0.0, 1.0))
        )
        poses = tree.states(left), tree.states(arrived), tree.states(every)
        form = form if len(chain.joints) > 2 else PLAIN_LIMB
        work = along_arc(tree, form, poses, shares, np.array(up), self._fps)
        rotations = finished(work)
        solutions = []
        for k, (step, each) in enumerate(zip(steps, blended, strict=True), 1):
            pose = turned_like(each.pose, step.present)
            for i, joint in enumerate(chain.joints):
                if not isinstance(joint.freedom, Locked):
                    pose.put(i, joint.freedom.nearest(Quaternion(rotations[i, :, k]).normalized()))
            solutions.append(Solution(pose, 0.0, 0, True))
        return solutions

    def _along_arcs(self, limb: Limb, leave: _Place, arrive: _Place, steps: Sequence[_Step]) -> list[Solution]:
        """Rotate each joint from one pose to the other, in its own part of the time."""
        solutions, count = [], len(leave.pose)
        before, after = self._staying(limb, leave, steps), self._staying(limb, arrive, steps[::-1])[::-1]
        for step, begin, end in zip(steps, before, after, strict=True):
            times = [window(step.time, joint, count, self._style.onset) for joint in range(count)]
            pose = _blend(begin, end, step.present, [self._style.profile(time) for time in times])
            solutions.append(Solution(pose, 0.0, 0, True))
        return solutions

    def _staying(self, limb: Limb, place: _Place, steps: Sequence[_Step]) -> list[Pose]:
        """Return the poses as the limb would stay at a place, one step after the other."""
        goals = [Goal(Point(self._tip(place, step.present, step.frame))) for step in steps]
        return _along(limb, place.pose, steps, goals)

    def _place(self, visit: TargetVisit, now: Sample, goal: Goal, solution: Solution) -> _Place:
        """Return the place of a solution, for leaving it or arriving there."""
        tip = solution.pose.tip
        return _Place(solution.pose, visit, tip - goal.target.closest(tip))

    def _tip(self, place: _Place, present: Pose, frame: int) -> Vector:
        """Return the location of the tip at a frame if it stayed at that place, armature space."""
        tip = turned_like(place.pose, present).tip
        if place.visit is None or place.gap is None:
            return tip
        return self._goal(place.visit, frame).target.closest(tip) + place.gap

    def _goal(self, visit: TargetVisit, frame: int) -> Goal:
        return self._goals[visit.frame].at(visit.samples[frame], self._began)

    def _kept(self, now: Sample, goal: Goal, solution: Solution) -> SolvedFrame:
        """Return the solved frame, with the cost of its rotations from the frame before."""
        present = at_frame(now, self._bones)
        pose = turned_like(self._latest, present)
        for i, rotation in enumerate(solution.pose.rotations):
            if rotation != pose.rotations[i]:
                pose.put(i, rotation)
        self._latest = pose
        return SolvedFrame(now, goal, solution._replace(pose=pose), shown_pose(now, present, pose))


def _blend(before: Pose, after: Pose, present: Pose, shares: Sequence[float]) -> Pose:
    """Blend two poses, each joint by its share, on the base of the `present` one."""
    pose = turned_like(before, present)
    for i, share in enumerate(shares):
        freedom = pose.chain.joints[i].freedom
        if not isinstance(freedom, Locked):
            pose.put(i, freedom.nearest(joint_path(freedom, before.rotations[i], after.rotations[i])(share)))
    return pose


def _along(limb: Limb, pose: Pose, steps: Sequence[_Step], goals: Sequence[Goal]) -> list[Pose]:
    """Carry a pose along the line: return the poses as its tip is moved from goal to goal."""
    poses = []
    for step, goal in zip(steps, goals, strict=True):
        pose = _onto(limb, step, turned_like(pose, step.present), goal).pose
        poses.append(pose)
    return poses


def _onto(limb: Limb, step: _Step, pose: Pose, goal: Goal) -> Solution:
    """Move the tip of a pose onto the line, without restarts: these would make a frame unlike its neighbours."""
    enough = ON_THE_LINE * step.now.limb.tolerance / step.now.rig.stretch
    return solve(pose, goal.target, solver=STRAIGHT, tolerance=enough, iterations=limb.iterations, finish=False)


def _solve(limb: Limb, start: Pose, goal: Goal, follow: bool) -> Solution:
    return solve_goal(start, goal, solver_settings(limb), follow=follow)


class BodyVisit(NamedTuple):
    """Goals of all tips, to be met from `frame` to `leave`, known at all frames of the motion, by the tips' names."""

    frame: int
    leave: int
    goals: Mapping[str, Sequence[Goal]]


class BodyReachMotion:
    """Motion of a body from the pose that its samples show at the first frame through `visits`, and back."""

    def __init__(self, problem: BodyProblem, visits: Sequence[BodyVisit], style: ReachStyle, scene: Scene) -> None:
        self._problem, self._visits, self._style, self._scene = problem, visits, style, scene
        samples, count = problem.samples, len(problem.samples.frames)
        rotations = np.array([each.rotation[:] for each in samples.channels], float)[:, :, None]
        place = np.array(samples.channels[0].location[:], float)[:, None]
        shown = samples._replace(
            rotations=np.repeat(rotations, count, 2),
            locations=np.repeat(place, count, 1),
            shown=None,
        )
        self._tree = problem.body.tree
        self._on_still_hips = replace(problem.body, hips_motion="FIXED").tree
        begun = BodyProblem(problem.rig, shown)
        finished(begun.stand(fps_of(scene, samples.frames)))
        self._begun = begun.reference  # the first pose, as the armature moves
        self._held = problem.held_tasks(problem.rig.held)
        self.warnings: list[str] = []

    def solved(self, return_frames: int) -> Work[States]:
        """Solve all frames."""
        first, states, stays, leave = self._problem.samples.frames[0], self._begun.copy(), self._begun, 0
        for number, visit in enumerate(self._visits):
            at, end = int(visit.frame - first), int(visit.leave - first)
            ahead = self._visits[number + 1 :]
            until = int(ahead[0].frame - first) if ahead else end + return_frames
            there = yield from self._staying(visit, at, range(leave + 1, until + 1))
            yield from self._transition(states, stays, there, range(leave + 1, at), at - leave)
            rest = np.arange(at, until + 1)
            states.put(rest, there.take(rest))
            stays, leave = there, end
            yield
        if return_frames:
            frames = range(leave + 1, leave + return_frames)
            yield from self._transition(states, stays, self._begun, frames, return_frames)
            states.put([leave + return_frames], self._begun.take([leave + return_frames]))
        tasks = [*self._held, *(task for visit in self._visits for task in body_tasks(self._problem.body, visit.goals))]
        shot = self._problem.shot(self._scene, tasks=tasks)
        on_the_way = np.ones(len(states), bool)
        for visit in self._visits:
            on_the_way[int(visit.frame - first) : int(visit.leave - first) + 1] = False
        on_the_way[[0, -1]] = False
        how = shot.fps, shot.smoothing, (), on_the_way  # comfort is in the poses of the visits
        states = yield from cleared(self._tree, states, shot.thickness, tasks, *how)
        return (yield from swung(shot, states, (0, len(states) - 1), False))

    def _staying(self, visit: BodyVisit, at: int, frames: range) -> Work[States]:
        """Poses of all frames, of which those of `frames` are as if the body were at a visit already."""
        tree, begun = self._tree, self._begun
        tasks = [*self._held, *body_tasks(self._problem.body, visit.goals)]
        floor = self._problem.floor
        tasks = floor.raised(tasks) if floor else tasks
        shot = replace(self._problem.shot(self._scene, tasks=tasks), reference=begun).take(np.array([at]))
        solved = looking_at_hands(shot, (yield from body_path(shot)).states)
        offsets = Posture(tree, begun.take([at])).offsets(solved)
        states = Posture(tree, begun).states(np.repeat(offsets, len(begun), 1)).copy()
        states.put([at], solved)
        some = np.array([k for k in frames if k != at], np.intp)
        if len(some):
            own = states.take(some)
            # A tip that misses at the visit would drag the others along: it stays as the visit's pose has it.
            late = {task.tip for task in shot.tasks if not System(tree, solved, [task]).met.all()}
            every = [task.take(some) for task in tasks if task.level == Level.HOLD or task.tip not in late]
            every = kept_above(floor and floor.take(some), every, Geometry(tree, own))
            exactly(tree, own, precisely(tree, every))
            states.put(some, own)
        return states

    def _transition(self, states: States, leave: States, arrive: States, frames: range, whole: int) -> Work[None]:
        """Write the frames between leaving, `whole` frames before the arrival, and that, into `states`."""
        if not len(frames):
            return
        tree, some, style = self._tree, np.array(frames, np.intp), self._style
        times = (some - frames[0] + 1) / whole
        before, after = leave.take(some), arrive.take(some)
        posture = Posture(tree, before)
        between = posture.states(self._shares(times) * posture.offsets(after))
        tasks: list[Task] = [task.take(some) for task in self._held]
        steady = self._problem.steady
        if style.straight:
            lines = self._lines(before, after, np.array([style.profile(time) for time in times]))
            tasks += lines
        if tasks:
            hold(self._on_still_hips, between, precisely(tree, tasks))  # they keep their time, the legs follow
            floor = self._problem.floor
            tasks = kept_above(floor and floor.take(some), tasks, Geometry(tree, between))
            exactly(tree, between, precisely(tree, tasks), steady.take(some) if steady else None)
        if style.straight:
            self._warn(System(tree, between, lines), some)
        if style.bowed:
            between = yield from self._bowed(leave, arrive, between, frames, whole)
        states.put(some, between)

    def _bowed(self, leave: States, arrive: States, between: States, frames: range, whole: int) -> Work[States]:
        """Lead the wrists of arms and legs that reach along arcs in the frame of the chest or hips, as these move."""
        problem, tree, first = self._problem, self._tree, frames[0] - 1
        every = np.arange(first, first + whole + 1)
        ends = leave.take([first]), arrive.take([first + whole])
        moving = joined([ends[0], between, ends[1]])
        left, arrived = (each.take(every) for each in (leave, arrive))
        rotations, geometry = tree.rotations(moving), Geometry(tree, moving)
        times = np.clip((np.arange(whole + 1) / whole - _HAND_LATER) / (1.0 - _HAND_LATER), 0.0, 1.0)
        shares = np.array([self._style.profile(time) for time in times])
        fps = fps_of(self._scene, problem.samples.frames)
        reaching = {problem.body.number_of[problem.body.tip(limb.tip).name] for limb in problem.rig.limbs}
        found, up = rotations.copy(), np.linalg.inv(problem.samples.worlds[:3, :3, 0]) @ np.array((0.0, 0.0, 1.0))
        for joint, tip in limbs_with_swivel(tree):
            limb = LimbOfBody.of(tree, joint, tip, rotations)
            if tip not in reaching or limb.tree.held:
                continue
            own = limb.frames(tree, geometry, rotations)
            poses = []
            for states in (left, arrived):
                there, turned = Geometry(tree, states), tree.rotations(states)
                seen = limb.frames(tree, there, turned)
                poses.append(limb.tree.posed(limb.tree.rotations(seen), own))
            upwards = own.root[..., -1].T @ up
            led = yield from along_arc(limb.tree, limb.form, (poses[0], poses[1], own), shares, upwards, fps)
            found[list(limb.joints)] = led
        states = tree.posed(found, moving).take(np.arange(1, whole))
        floor = problem.floor
        crossed = floor is not None and bool(floor.take(np.array(frames)).crossed(Geometry(tree, states)))
        return between if crossed else states

    def _shares(self, times: Numbers) -> Numbers:
        """Share (k, F) of the way of every column at these times: those near the hips may start earlier.

        With a bowed path the head leads, and the trunk arrives before the hand.
        """
        tree, style = self._tree, self._style
        if style.bowed:
            parts = parts_of_body(tree)
            spans = [_EARLIER.get(parts[joint], 1.0) for joint in tree.joint_of]
            spans += [_EARLIER[Part.HIPS]] * (tree.columns - len(spans))
            known = {span: [style.profile(time / span) for time in times] for span in set(spans)}
            return np.array([known[span] for span in spans])
        depths = tree.above.sum(0)[tree.joint_of] - 1
        count = int(tree.above.sum(0).max())
        by_depth = np.array(
            [
                [style.profile(window(time, depth, count, 0.0 if style.straight else style.onset)) for time in times]
                for depth in range(count)
            ]
        )
        root = np.repeat(by_depth[:1], tree.columns - len(tree.joint_of), 0)
        return np.concatenate((by_depth[depths], root))

    def _lines(self, before: States, after: States, shares: Numbers) -> list[Task]:
        """Tasks of the tips that reach: places on the straight lines between where they would be in two poses."""
        body, tasks = self._problem.body, list[Task]()
        one, other = Geometry(self._tree, before), Geometry(self._tree, after)
        for limb in self._problem.rig.limbs:
            number = body.number_of[body.tip(limb.tip).name]
            begin, end = one.tip(number), other.tip(number)
            tolerance = np.array([self._problem.samples.goals[limb.tip][0].tolerance])
            line = point_task(begin + shares * (end - begin), tolerance)
            tasks.append(replace(line, tip=number, level=Level.REACH))
        return tasks

    def _warn(self, system: System, frames: Numbers) -> None:
        """Keep a warning of tips that cannot follow their lines."""
        off = np.array([measured.off for measured in system.measured]).max(0)
        missed = np.flatnonzero(~system.met)
        if len(missed):
            worst = missed[off[missed].argmax()]
            frame = self._problem.samples.frames[int(frames[worst])]
            self.warnings.append(
                f"The body cannot follow the straight lines at {len(missed)} frames; at frame {frame:g} a tip is "
                f"{distance_text(off[worst], self._scene)} off. Choose the path Arc."
            )
