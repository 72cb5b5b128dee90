# SPDX-License-Identifier: GPL-3.0-or-later
"""The path of a tip along a flow over a range of frames: an integral of the field, inside reach and limits.

Each frame is one step from the frame before: the limb is solved for the place a step further along the field, from the
pose that it had, without restarts. Where its limits or its reach block the step, it comes as near as it can, and the
next step begins where the tip is: so it slides along what blocks it. The places that are reached are then the targets
of the frames, for whatever method solves them, over the whole shot or one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from mathutils import Vector

from ...cooperative import Work
from ...goals import Goal, Point
from ...rig.armature import Bones
from ...rig.frames.samples import Sample, Samples, evaluated_samples
from ...rig.limb import Limb
from ...rig.targets.flow import Streamline
from ...rig.targets.goal import allowed_distance
from ...solvers import solve_goal
from .frame_solver import NATURAL, Shown, SolvedFrame, at_frame, solver_settings, turned_like
from .measure import Measured
from .shot import frames_of

_BLOCKED = 0.1  # of a step: what is missing of one that is blocked


class AlongFlow(NamedTuple):
    """Samples whose targets are the path of the tip, and where the field led at frames whose step was `blocked`.

    These places (world space) are by frame.
    """

    samples: Samples
    blocked: Mapping[float, Vector]


def along_flow(limb: Limb, bones: Bones, samples: Samples) -> Work[AlongFlow]:
    """Follow the flow from the pose of the first sample; yields after each frame. Raises what follow() does."""
    settings = replace(solver_settings(limb), restarts=False)
    if limb.solver == NATURAL:  # which has no frame before: it stays near the pose made by hand
        settings = replace(settings, solver="GAUSS_NEWTON")
    found, blocked = list[Sample](), dict[float, Vector]()
    pose, line = at_frame(samples.first, bones).copy(), None
    pose.project()
    for now in samples:
        assert now.flow is not None
        world, into = now.rig.world, now.rig.into
        if line is None:
            line = Streamline(world @ pose.tip, now.frame)
        target, allowed = line.go(now.flow, now.frame), allowed_distance(now.limb, now.flow)
        if found:
            wanted = line.place.copy()
            goal = Goal(Point(into @ wanted), (), allowed / now.rig.stretch)
            pose = solve_goal(turned_like(pose, at_frame(now, bones)), goal, settings, follow=True).pose
            reached = world @ pose.tip
            missing = (reached - wanted).length
            if missing > allowed:
                line.place = target.translation = reached
            if missing > _BLOCKED * now.flow.step:
                blocked[now.frame] = wanted
        found.append(now._replace(target=target))
        yield
    return AlongFlow(evaluated_samples(found), blocked)


def judged_by_field(measured: Measured, solved: Sequence[SolvedFrame], blocked: Mapping[float, Vector]) -> Measured:
    """Return the measurement of solved frames with the places that the field leads to as the goals of blocked ones."""
    shown, rows = dict(measured.shown), {frame: k for k, frame in enumerate(frames_of(solved))}
    for frame, wanted in blocked.items():
        each = solved[rows[frame]]
        goal = each.goal._replace(target=Point(each.now.rig.into @ wanted))
        here = shown.get(frame) or Shown(each.pose.tip, each.pose.tip_rotation)
        shown[frame] = here._replace(goal=goal)
    return measured._replace(
        shown=shown, warnings=[*measured.warnings, _blocked(len(blocked), solved[0].now.limb.refines)]
    )


def _blocked(count: int, refines: bool) -> str:
    """Return a warning of frames at which the tip does not make the step of its field."""
    frames = "1 frame" if count == 1 else f"{count} frames"
    if not refines:
        return f"At {frames} the method alone does not go as far as the field leads. Turn on Refine Result."
    return f"The field leads out of reach or limits at {frames}: there the tip slides along what blocks it."
