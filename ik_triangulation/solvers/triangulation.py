# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangulation, root first: each joint places the next one where the rest of the chain can reach from.

Source: Mueller-Cajar and Mukundan 2007, "Triangulation: A new algorithm for Inverse Kinematics", section 3 and
Algorithm 1.

With link length a, distance c to the aim and the next joint at distance b from it, the law of cosines (eq. 4) gives the
angle between link and aim: b^2 = a^2 + c^2 - 2 a c cos(angle). The paper sets b to the length of the straight remaining
chain. But any b that the remaining chain can span is a solution, and so is any angle of an interval. `step` rotates a
joint only if the next one is outside that span, and then just to its edge: the smallest rotation of all. About a hinge
the next joint moves on a circle, on which that interval is two arcs; they are intersected with the range of the hinge.
`step_right_angle` is the paper's future work (section 7): 90 degrees, or as near to it as the interval allows.
`step_2007` follows the paper.

Deviations of `step_2007` from the printed algorithm: a link longer than the rest of the chain plus the distance points
at the aim, not away from it; the last link always points at it (printed, rounding turns it away); where link and aim
are parallel the joint bends about its own axis, as the printed (0, 1, 0) runs along every Blender bone; where a link
turns away from the aim the next one turns back, which is how Mukundan 2009 counts the turns of this method in its
tables, and so the plane of the bend is not lost; what the paper says of limits (section 3.1.3) is read so that b
becomes that of the collapsed chain only where the straight one cannot be turned to the aim.

`step_cheapest_pair` turns the two joints that need the smallest rotations; all others keep theirs. The triangle is
closed not by one link and the rest of the chain but by any two parts of it, to keep the sum of the turns (eq. 3) low,
which the paper leaves open (section 8). Everything between two joints i < k, and everything beyond k, is rigid while
only these two rotate. So joint k opens or closes the angle between i and the tip until the tip is as far from i as the
aim is, and joint i points the tip at the aim. Of all pairs that can do this the one with the smallest sum of both
rotations is taken. Up to 16 pairs are rejected because of their limits; then the step is that of `step`.
"""

from math import pi

from mathutils import Vector

from ..kinematics import Hinge, Pose
from ..kinematics.rotation import angle_between
from .triangle import ROUNDING, close_triangle, opening, place, place_about, point

_POINTED = 1e-4  # [rad] angle up to which a link points along a direction


def step(pose: Pose, aim: Vector) -> None:
    """One pass; every joint rotates as little as puts the next one where the rest of the chain reaches `aim`.

    A hinge chooses among the angles in its range. What limits leave is closed by one more triangle, or made less.
    """
    one_pass(pose, aim)
    if pose.chain.limited:
        close_triangle(pose, aim, nearly=True)


def one_pass(pose: Pose, aim: Vector) -> None:
    """The same without the last triangle."""
    slack = ROUNDING * pose.chain.reach
    head = pose.head(0)
    for i, (shortest, longest) in enumerate(pose.spans):
        end = pose.end(i)
        distance = (aim - end).length
        far, near = distance > longest + slack, distance < shortest - slack
        if far or near:
            freedom = pose.chain.joints[i].freedom
            if isinstance(freedom, Hinge) and pose.chain.plain:
                place_about(pose, i, freedom, aim, shortest, longest)
            else:
                place(pose, i, end - head, aim - head, longest if far else shortest)
            end = pose.end(i)
        head = end


def step_right_angle(pose: Pose, aim: Vector) -> None:
    """One pass; every link is at right angles to `aim`, or as near to that as the rest of the chain can reach from."""
    for i, span in enumerate(pose.spans):
        link, to_aim = pose.link(i), aim - pose.head(i)
        least, most = (opening(pose, link.length, to_aim.length, b) for b in span)
        point(pose, i, link, to_aim, min(max(pi / 2.0, least), most))


def step_2007(pose: Pose, aim: Vector) -> None:
    """One pass of Algorithm 1, in which the links after the present one count as straight.

    If the next joint's limits do not allow it to point them at the aim, they count as collapsed (Figure 4).
    """
    last, folded = len(pose) - 1, None
    for i, (_, longest) in enumerate(pose.spans):
        after = pose.link(min(i + 1, last))
        rotations, turns = pose.rotations[:], len(pose.turns)
        angle = place(pose, i, pose.link(i), aim - pose.head(i), longest)
        if pose.chain.limited and 0.0 < angle < pi and i < last and not _can_point(pose, i + 1, aim):
            pose.restore(rotations, turns)
            folded = folded or _folded(pose)
            collapsed = (folded.tip - folded.head(i + 1)).length
            angle = place(pose, i, pose.link(i), aim - pose.head(i), collapsed)
        if angle == pi and i < last:
            pose.swing(i + 1, pose.link(i + 1), after)


def _can_point(pose: Pose, i: int, aim: Vector) -> bool:
    """Whether the limits of joint `i` allow its link to point at the aim."""
    trial = pose.copy()
    to_aim = aim - trial.head(i)
    trial.swing(i, trial.link(i), to_aim)
    return angle_between(trial.link(i), to_aim) < _POINTED


def _folded(pose: Pose) -> Pose:
    """The pose with every link folded back on the one before as far as limits allow."""
    folded = pose.copy()
    for j in range(1, len(folded)):
        folded.swing(j, folded.link(j), -folded.link(j - 1))
    return folded


def step_cheapest_pair(pose: Pose, aim: Vector) -> None:
    """Rotate the cheapest pair of joints that brings the tip to `aim`; if none does, one pass of triangulation."""
    if not close_triangle(pose, aim):
        step(pose, aim)
