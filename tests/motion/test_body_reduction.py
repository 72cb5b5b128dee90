# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of a body are dropped only as far as held tips, the other tips, balance and limits allow."""

import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.from_goals import hold_tasks
from ik_triangulation.goals.support import Support, balance_task
from ik_triangulation.kinematics import Body, BodyTip, Free, Hinge, Joint
from ik_triangulation.kinematics.batch import Geometry, States
from ik_triangulation.motion.frames import flowing
from ik_triangulation.motion.reduction import BodyBounds, FullBake, JointChannels, reduce

FRAMES = 25


def figure():
    """Hips, a leg of two bones with a hinge at the knee, and an arm; all 1 long."""
    knee = Hinge((1, 0, 0), 0.0, 2.5)
    joints = [
        Joint("hips", Vector((0, 0, 2)), Quaternion(), Free(), 0.0),
        Joint("thigh", Vector((0, 0, 0)), Quaternion(), Free(), 0.0),
        Joint("shin", Vector((0, 0, -1)), Quaternion(), knee, 0.0),
        Joint("arm", Vector((0, 0, 1)), Quaternion(), Free(), 0.0),
    ]
    tips = [BodyTip("foot", 2, Vector((0, 0, -1))), BodyTip("hand", 3, Vector((1, 0, 0)))]
    return Body(tuple(joints), (-1, 0, 1, 0), tuple(tips))


def crouch(bend=0.6, count=FRAMES):
    """Rotations (n, 4, F) and places of the hips (3, F) of a crouch that keeps the foot, exactly at each frame."""
    angles = bend * np.sin(np.linspace(0.0, np.pi, count)) ** 2
    rotations = np.zeros((4, 4, count))
    rotations[:, 0] = 1.0
    for row, turn in ((1, -angles), (2, 2.0 * angles), (3, 1.5 * angles)):
        rotations[row, 0], rotations[row, 1] = np.cos(0.5 * turn), np.sin(0.5 * turn)
    place = np.zeros((3, count))
    place[2] = 2.0 * np.cos(angles) - 2.0  # both halves of the leg lean by as much, one back and one ahead
    return rotations, place


def whole(near=0.01, held=1e-3, steady=False):
    body, (rotations, place) = figure(), crouch()
    times = np.arange(1.0, FRAMES + 1.0)
    values = np.hstack([*np.moveaxis(rotations, -1, 1), place.T])
    tracks = [JointChannels(row, "QUATERNION", slice(4 * row, 4 * row + 4), range(4)) for row in range(4)]
    samples = 2 * FRAMES - 1
    none = np.empty((0, samples)), np.empty((0, 4, samples))
    still = np.zeros((4, 4, samples))
    still[:, 0] = 1.0
    roots = np.broadcast_to(np.eye(3)[:, :, None], (3, 3, samples))
    rest = body.tree.posed(still, States(*none, still[[]], roots, np.zeros((3, samples))))
    frames = Geometry(body.tree, rest).frames
    hold, turn = hold_tasks(body, ["foot"], frames)
    square = np.array([(x, y, 0.0) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])[:, :, None] * 0.3
    support = Support.under(square, np.array((0.0, 0.0, 1.0)))
    masses, centres = np.array([1.0, 0.0, 0.0, 1.0]), np.zeros((4, 3))
    balance = balance_task(masses, centres, support, body.tree.size) if steady else None
    bounds = BodyBounds(
        body=body,
        rotations=np.moveaxis(rotations, -1, 0),
        animated=still,
        located=[16, 17, 18],
        roots=roots,
        placed=lambda locations, _: locations,
        held=[hold.within(np.array([held])), turn],
        steady=balance,
        near={1: near},
    )
    curves = flowing(times, values)
    return FullBake(curves, tracks, bounds, [16, 17, 18])


def worst(full, curves):
    """Farthest the foot is from where it is held and the hand from the full bake, at all samples."""
    every = np.arange(2 * FRAMES - 1)
    now, before = (full.bounds.geometry(*full.posed(each, every), every) for each in (curves, full.curves))
    foot = np.linalg.norm(now.tip(0) - np.array((0.0, 0.0, 0.0))[:, None], axis=0).max()
    return foot, np.linalg.norm(now.tip(1) - before.tip(1), axis=0).max()


def test_held_tips_and_the_others_stay_within_their_bounds():
    full = whole()
    kept, curves, most = finished(reduce(full, 1.0))
    assert len(kept) < 0.8 * FRAMES
    assert most <= 1.0
    foot, hand = worst(full, curves)
    assert foot <= 1.001e-3
    assert hand <= 0.01001


@pytest.mark.parametrize(("near", "held"), [(1e-4, 1e-3), (0.01, 1e-4)])
def test_a_tighter_bound_of_any_tip_keeps_more_keys(near, held):
    loose, tight = finished(reduce(whole(), 1.0)), finished(reduce(whole(near, held), 1.0))
    assert len(tight.kept) > len(loose.kept)


def test_what_the_full_bake_slips_itself_is_allowed():
    full = whole(held=1e-9)
    finished(full.measure())
    assert full.bounds.off(full.full)[0].max() > 1.0
    kept, _, most = finished(reduce(full, 1.0))
    assert kept[0] == 0
    assert kept[-1] == FRAMES - 1
    assert most <= 1.0


def test_segments_in_which_a_held_tip_slips_are_told():
    full = whole(held=1e-5)
    finished(full.measure())
    assert full.bounds.far(full, 1.0).any()
    assert not full.bounds.far(full, np.inf).any()
    assert len(full.bounds.far(full, 1.0)) == FRAMES - 1
    assert full.inner.sum() == FRAMES - 1
    assert full.times[full.inner][:2] == pytest.approx([1.5, 2.5])


def test_the_centre_of_mass_is_not_carried_outside():
    full = whole(near=10.0, held=10.0, steady=True)
    kept, curves, _ = finished(reduce(full, 1.0))
    every = np.arange(2 * FRAMES - 1)
    assert full.measured(full.curves, every)[-1].max() == 0.0
    assert full.measured(curves, every)[-1].max() < 1e-6
    assert len(kept) >= 2
    assert whole().measured(whole().curves, every)[-1].max() == 0.0
