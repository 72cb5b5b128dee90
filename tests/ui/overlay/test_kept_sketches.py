# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay draws of joints, targets, aims and bodies is as it is kept (tests/kept.py), in any size.

Kept of a sketch are counts of its vertices by their roles, and sums of places and alphas in which each has a weight.
"""

from functools import partial

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.goals import Direction, Flow, LookAt, Orientation, Transformed
from ik_triangulation.kinematics import Cone, EulerLimits, Hinge, Locked, Pose
from ik_triangulation.ui.overlay.body import Balance, DisplayedBody, HeldTip, body_sketch
from ik_triangulation.ui.overlay.figure import add_distance, add_joint, add_locks, add_target, add_turn
from ik_triangulation.ui.overlay.sketch import Sketch

from ...chains import random_chain
from ...kept import check
from ...solvers.test_symmetry import scaled
from .test_aim_figure import aim
from .test_body_figure import EYES, UP, body
from .test_figure import EYE, SHAPES

WITHIN = {"places": 2e-3, "alphas": 1e-3, "counts": 0}
FREEDOMS = [
    Hinge((1.0, 0.0, 0.2), -0.4, 1.2),
    EulerLimits("XYZ", (-0.5, -0.2, -3.0), (1.0, 0.4, 3.0)),
    Cone(0.8, -0.5, 0.7),
    Locked(),
    Hinge((0.0, 1.0, 0.0)),
    EulerLimits("ZXY", (0.0, -0.4, 0.0), (0.0, 0.4, 0.0)),
]


def kept_of(sketches, size):
    """What is kept of sketches, with places as shares of a size."""
    found = {"places": [], "alphas": [], "counts": []}
    for sketch in sketches:
        for part in sketch.strokes():
            weights = np.cos(np.arange(len(part.places)))
            found["places"] += [
                *(weights @ part.places / size / max(1, len(weights))),
                np.abs(part.places).max(initial=0.0) / size,
            ]
            found["alphas"].append(weights @ part.alphas / max(1, len(weights)))
            found["counts"] += [each for role in np.unique(part.roles) for each in (role, (part.roles == role).sum())]
    return found


def joints(size, nudge):
    chain = scaled(random_chain(4, len(FREEDOMS), 1.0, FREEDOMS), size)
    for turn in (0.0, 0.3 + nudge, 1.4):
        pose = Pose(chain, Matrix.Identity(4), [Quaternion((1.0, 0.6, -0.3), turn)] * len(FREEDOMS))
        sketch = Sketch()
        for i, length in enumerate(pose.lengths):
            add_joint(sketch, pose, i, length)
        add_locks(sketch, pose, pose.lengths, far_off(EYE, size))
        yield sketch


def targets(size, nudge):
    tip, eye = Vector((0.4, 1.1, -0.6 + nudge)) * size, far_off(EYE, size)
    flow = Flow(lambda place: Vector((0.3, 0.2, 1.0)).cross(place) / size + Vector((0.0, 0.0, 0.2)), 0.1 * size)
    for target in [*(Transformed(shape, Matrix.Scale(size, 4)) for shape in SHAPES), flow]:
        sketch = Sketch()
        add_target(sketch, target, tip, 2.0 * size, eye)
        yield sketch


def aims(size, nudge):
    pose = Pose(
        scaled(random_chain(2, 2, 1.0), size), Matrix.Identity(4), [Quaternion((0.0, 1.0, 0.3), 0.4 + nudge)] * 2
    )
    place, eye = Vector((0.3, 0.8, 0.1)) * size, far_off(EYE, size)
    turn = Quaternion((0.3, 0.2, 1.0), 0.9) @ pose.tip_rotation
    turns = (
        None,
        Orientation(turn),
        Direction(Vector((0.2, 1.0, 0.5))),
        LookAt(place * 3.0, origin=Vector((0.1, 0.2, 0.0)) * size),
    )
    for each in turns:
        for close, turned in ((False, False), (True, False), (True, True)):
            which, sketch = aim(place, each, close, turned), Sketch()
            for one in (which, which._replace(waits=True)):
                add_distance(sketch, one, pose.tip, 2.0 * size, eye)
            add_turn(sketch, which, pose, eye)
            yield sketch


def bodies(size, nudge):
    for below, slip in (((0.5, 0.5 + nudge, 0.0), 0.3), ((1.5, 0.5, 0.0), 0.0)):
        seen = body(below, slip)
        held = [
            HeldTip(each.name, each.tip * size, each.place * size, each.slip * size, each.slips) for each in seen.held
        ]
        centre, floor, corners, nearest, outside = seen.balance
        scale = [corner * size for corner in corners]
        balance = Balance(centre * size, floor * size, scale, nearest * size, outside * size)
        for eye in EYES:
            yield body_sketch(DisplayedBody(Matrix.Identity(4), UP, size, held, balance), far_off(eye, size))


def far_off(eye, size):
    """The place of a viewer who sees all of it as large."""
    return Vector((*(eye.xyz * (size if eye.w else 1.0)), eye.w))


CASES = {"joints": joints, "targets": targets, "aims": aims, "bodies": bodies}


@pytest.mark.parametrize("case", CASES)
def test_what_is_drawn_is_as_it_is_kept_in_any_size(case, renew):
    for size in (1.0, 2.0**-6, 2.0**6):
        draw = partial(CASES[case], size)
        check("sketches", case, lambda nudge, s=size, d=draw: kept_of(d(nudge), s), WITHIN, renew and size == 1.0)
