# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of a body's motion from its pose to targets and back: the poses that reach them, and the transitions.

It is the motion of jobs.reach_motion for all bones at once. A transition blends two poses of the same frame: as if the
body had stayed where it leaves, and as if it were at its destination already; so tips leave and meet moving targets at
their speed. Last, held tips are put right at every frame, and along straight lines the others as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..cooperative import Work, finished
from ..goals import Goal
from ..goals.batch import Level, Task
from ..goals.batch.from_goals import point_task
from ..goals.batch.of_bodies import body_tasks, hold_tasks
from ..kinematics.arrays import Numbers
from ..kinematics.batch import Geometry, States
from ..motion.body_path import body_path
from ..motion.timing import window
from ..rig.units import length_text
from ..solvers.batch.descent import hold, precisely
from ..solvers.batch.system import System
from ..solvers.body.floor import kept_above
from ..solvers.body.settling import exactly
from ..solvers.natural.posture import Posture
from .body_problem import BodyProblem
from .reach_motion import ReachStyle


class BodyVisit(NamedTuple):
    """Goals of all tips, to be met from `frame` to `leave`, known at all frames of the motion, by the tips' names."""

    frame: int
    leave: int
    goals: Mapping[str, Sequence[Goal]]


class BodyReachMotion:
    """Motion of a body from the pose that its samples show at the first frame through `visits`, and back."""

    def __init__(self, problem: BodyProblem, visits: Sequence[BodyVisit], style: ReachStyle, fps: float) -> None:
        self._problem, self._visits, self._style, self._fps = problem, visits, style, fps
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
        finished(begun.stand(fps))
        self._begun = begun.reference  # the first pose, as the armature moves
        self._held = hold_tasks(problem.body, problem.rig.held, problem.held_frames)
        self._angle = min(limb.angle_tolerance for limb in problem.rig.limbs)
        self.warnings: list[str] = []

    def solved(self, return_frames: int) -> Work[States]:
        """Solve all frames."""
        first, states, stays, leave = self._problem.samples.frames[0], self._begun.copy(), self._begun, 0
        for number, visit in enumerate(self._visits):
            at, end = int(visit.frame - first), int(visit.leave - first)
            ahead = self._visits[number + 1 :]
            until = int(ahead[0].frame - first) if ahead else end + return_frames
            there = yield from self._staying(visit, at, range(leave + 1, until + 1))
            self._transition(states, stays, there, range(leave + 1, at), at - leave)
            rest = np.arange(at, until + 1)
            states.put(rest, there.take(rest))
            stays, leave = there, end
            yield
        if return_frames:
            self._transition(states, stays, self._begun, range(leave + 1, leave + return_frames), return_frames)
            states.put([leave + return_frames], self._begun.take([leave + return_frames]))
        return states

    def _staying(self, visit: BodyVisit, at: int, frames: range) -> Work[States]:
        """Poses of all frames, of which those of `frames` are as if the body were at a visit already."""
        tree, begun, steady = self._tree, self._begun, self._problem.steady
        tasks = [*self._held, *body_tasks(self._problem.body, visit.goals, self._angle)]
        floor = self._problem.floor
        tasks = floor.raised(tasks) if floor else tasks
        here, more = [task.take([at]) for task in tasks], {"floor": floor and floor.take([at]), "fps": self._fps}
        found = yield from body_path(tree, begun.take([at]), here, steady.take([at]) if steady else None, **more)
        offsets = Posture(tree, begun.take([at])).offsets(found.states)
        states = Posture(tree, begun).states(np.repeat(offsets, len(begun), 1)).copy()
        states.put([at], found.states)
        some = np.array([k for k in frames if k != at], np.intp)
        if len(some):
            own = states.take(some)
            # A tip that misses at the visit would drag the others along: it stays as the visit's pose has it.
            late = {task.tip for task in here if not System(tree, found.states, [task]).met.all()}
            every = [task.take(some) for task in tasks if task.level == Level.HOLD or task.tip not in late]
            every = kept_above(floor and floor.take(some), every, Geometry(tree, own))
            exactly(tree, own, precisely(tree, every))
            states.put(some, own)
        return states

    def _transition(self, states: States, leave: States, arrive: States, frames: range, whole: int) -> None:
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
        states.put(some, between)

    def _shares(self, times: Numbers) -> Numbers:
        """Share (k, F) of the way of every column at these times: those near the hips may start earlier."""
        tree, style = self._tree, self._style
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
                f"{length_text(off[worst])} off. Choose the path Arc."
            )
