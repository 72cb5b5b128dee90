# SPDX-License-Identifier: GPL-3.0-or-later
"""Spans, keys, jumps, sides and limits that are found in seeded motions are those that are kept (tests/kept.py)."""

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.kinematics.rotation import from_euler
from ik_triangulation.motion.body_easing import _haste, _moving
from ik_triangulation.motion.contacts import Planted, Touchable, planted, planted_spans, shares_of_spans, stays_on
from ik_triangulation.motion.far_goals import _apart, _calmed, _filled
from ik_triangulation.motion.handles import clamp
from ik_triangulation.motion.jumps import abrupt, fast, hasty, jumps_of, leaps_of, standing_out
from ik_triangulation.motion.learning import learn_freedom
from ik_triangulation.motion.limb_motion import along_arc, bow_of
from ik_triangulation.motion.path import Path, meet
from ik_triangulation.motion.pole_path import Bend, StretchSearch, bend_sides, calm_sides
from ik_triangulation.motion.reduction import reduce
from ik_triangulation.motion.timing import EASINGS, TIMINGS, profile, window
from ik_triangulation.motion.tracking import _every, knots_of
from ik_triangulation.solvers.natural import LimbForm

from ..kept import check, turns
from ..solvers.natural.arms import arm as natural_arm
from ..solvers.natural.arms import motion
from . import test_body_reduction, test_control_reduction, test_handles, test_meeting
from .paths import elbow, first_pass, flipping, forced, free, in_plane
from .test_contacts import FADE, LEG, UP, walk
from .test_path_measures import path as measured_path
from .test_reduction import FREE, HUMAN, arm, baked, followed, hand_path
from .test_touching import ARM, visit

WITHIN = {"turns": 0.05, "values": 1e-4, "large": 1e-2, "frames": 0, "others": 0, "more": 0}


def noise(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def spans_case(nudge):
    """Feet that walk, slide, climb and shake, at several frame rates, one beside the other."""
    found = []
    for fps, how in (
        (24.0, {}),
        (30.0, {"slide": 0.12}),
        (60.0, {"slide": 0.25}),
        (30.0, {"rise": 0.15, "slide": 0.05}),
    ):
        left, hips, _ = walk(fps, 3.0, **how)
        right, _, _ = walk(fps, 3.0, phase=0.5, **how)
        feet = [each + 0.002 * noise(n, *each.shape) + nudge for n, each in enumerate((left, right))]
        for spans in planted_spans(feet, hips, UP, [LEG, 0.9 * LEG], fps, FADE):
            found += [*np.ravel(spans), -1]
    return {"frames": found}


def stays_case(nudge):
    """A hand that rests on things that compete for it: one that slides, one that shakes, and one that is left late."""
    found = []
    for fps in (24.0, 60.0):
        cup, near = visit(fps, 0.8, 2.0)
        rail, beside = visit(fps, 0.5, 2.5, slide=0.1)
        wall, along = visit(fps, 1.2, 2.8, slide=0.02)
        shaken = cup + 0.003 * noise(3, *cup.shape)
        for places, away in ((cup, near), (rail, beside), (wall, along), (shaken, near)):
            found += [each for stay in stays_on([Touchable(0, places + nudge, away)], ARM, fps, 4) for each in stay]
            found.append(-1)
        things = [Touchable(0, rail + nudge, beside), Touchable(1, wall, along), Touchable(2, shaken, near, 0.1 * cup)]
        found += [each for stay in stays_on(things, ARM, fps, 4) for each in stay]
        found += [each for stay in stays_on(things, ARM, fps, 4, [(30, 40)]) for each in stay]
        found += [each for stay in stays_on(things[:1], ARM, fps, 4, [(1, 2)]) for each in stay]
    few = [Touchable(0, np.zeros((3, count)) + nudge, np.zeros(count)) for count in (5, 7, 9)]
    return {"frames": found + [each for thing in few for stay in stays_on([thing], ARM, 24.0, 4) for each in stay]}


def planted_case(nudge):
    """A tip with two spans near each other, one at the end, and one on something that moves on since it was read."""
    places, frames = np.cumsum(noise(5, 3, 40), axis=1) + nudge, np.arange(40.0)
    carried = np.repeat(np.eye(4)[:, :, None], 40, 2)
    carried[0, 3] = 0.1 * frames
    spans = [Planted.of(span, places[:, span[0] : span[1] + 1]) for span in ((6, 9), (14, 18))]
    spans.append(Planted.of((26, 31), places[:, 26:32], "cart", carried[..., 26:32]))
    spans.append(Planted.of((38, 39), places[:, 38:40]))
    carried[1, 3] = 0.5
    result = planted(places, frames, spans, 5.0, {"cart": carried})
    shares = shares_of_spans(np.arange(0.0, 40.0, 0.5), spans, 5.0)
    return {"values": (result - places)[:, ::3], "large": shares.sum(0)[::3]}


def outliers_case(nudge):
    """Turns of which some stand out, more or less, alone and together, at the ends and amid others."""
    frames = []
    for seed, scale in enumerate((0.02, 0.05, 0.1, 0.3)):
        along = scale * np.abs(noise(seed, 60)) + nudge
        along[[1, 9, 30, 31, 58]] *= (9.0, 5.0, 12.0, 8.0, 6.0)
        along[40:44] = 0.0
        ways = 0.02 * np.abs(noise(seed + 9, 60))
        ways[[9, 30, 45]] = 0.05, 0.3, 0.021
        cuts = leaps_of(ways)
        few = [
            each for row in (along[:3], along[8:11], along[:1]) for each in (*hasty(row), *standing_out(row, 0.0), -1)
        ]
        every = (abrupt(along), hasty(along), fast(along.tolist()), cuts, jumps_of(along, ways, cuts))
        frames += [int(each) for row in every for each in (*row, -1)] + few
    return {"frames": frames}


def knots_case(nudge):
    """Knots of goals that go slowly, fast and leap; and every so many of the frames of rows."""
    ways = 0.1 * np.abs(noise(4, 150)) ** 3 + nudge
    ways[0], ways[60:110] = 0.0, 1e-4
    missed = np.flatnonzero(noise(5, 80) > -0.8)
    found = [knots_of(ways, np.array(cuts, int), way) for cuts in ((), (50,), (1, 149)) for way in (0.4, 0.15)]
    chosen = [missed[_every(missed, distance)] for distance in (16, 8, 3)]
    return {"frames": np.concatenate(found), "others": np.concatenate(chosen)}


def lengths_case(nudge):
    """Lengths with steps and dents, made calm and filled, and the frames at which places are as far apart."""
    way = np.abs(np.cumsum(noise(6, 40))) + nudge
    way[[10, 11, 25]] *= 0.3
    way[33:] = 0.0
    places = [np.cumsum(0.05 * noise(seed, 3, 60), axis=1) for seed in (7, 8)]
    frames = np.r_[2:20, 25:26, 30:58]
    hasty_turns = np.abs(0.1 * noise(9, 4, 30)) * np.array([[1.0], [3.0], [0.01], [0.3]])
    moving = [_moving(_haste(hasty_turns, np.zeros_like(hasty_turns)).max(0) > 1.0, margin) for margin in (1, 8)]
    return {
        "values": [*_calmed(way), *_filled(way)],
        "large": _haste(hasty_turns, np.zeros_like(hasty_turns))[:, ::3],
        "frames": _apart(places, frames, 1.0),
        "others": np.concatenate([np.flatnonzero(each) for each in moving]),
    }


def bows_case(nudge):
    """Bows of arcs between places near, far, through the root, along the line of up, and at one place."""
    places = 0.6 * noise(10, 12, 3)
    up = np.array((0.0, 0.0, 1.0))
    pairs = [*zip(places[::2], places[1::2], strict=True), (0.5 * up, 0.9 * up), (places[0], places[0])]
    pairs += [(places[0], -0.5 * places[0]), (0.1 * up, 0.3 * up)]
    return {"values": [bow_of(start * (1.0 + nudge), end, 1.0, 2.0 * up) for start, end in pairs]}


def arc_case(nudge):
    """Turns of an arm, and of one without a hand, whose wrist goes along an arc from one pose to another."""
    found = []
    for links in (3, 2):
        tree, there = motion(natural_arm(2, links=links), 2, count=13, share=0.9)
        left, arrived = (there.take(np.full(13, k)) for k in (0, 5))
        first, last = tree.rotations(left), tree.rotations(arrived)
        shares = np.array([profile()(k / 12.0) for k in range(13)])
        blend = first + shares * (last - first)
        between = tree.posed(blend / np.linalg.norm(blend, axis=1, keepdims=True), there)
        form = LimbForm(has_end=links == 3, flexion=Vector((0.3, 0.8, 0.2)))
        up = np.array((0.0, 0.1, 1.0 + nudge))
        found.append(turns(finished(along_arc(tree, form, (left, arrived, between), shares, up, 24.0)))[:, 2::4])
    return {"turns": np.concatenate(found)}


def sides_case(nudge):
    """Sides of elbows that are bent, nearly straight and straight, on axes of any kind; and scales that are sought."""
    count = 24
    roots, lines = 0.1 * noise(11, count, 3), np.array((1.5, 0.4, -0.2)) + 0.05 * noise(12, count, 3)
    heights = np.interp(np.arange(count), [0, 6, 12, 18, 23], [0.3, 0.004, 0.0008, 0.008, 0.4])[:, None]
    elbows = roots + 0.5 * lines + heights * (np.array((0.3, 0.9, 0.2)) + 0.3 * noise(13, count, 3)) + nudge
    wrists = roots + lines
    wrists[20] = roots[20]
    bend, hinges = Bend(roots, elbows, wrists, 2.0), np.array((0.1, 0.7, 0.6)) + 0.1 * noise(14, count, 3)
    frames = np.cumsum(1.0 + (np.arange(count) % 5 == 0))
    search, off = StretchSearch(bend), []
    for number in range(4):
        shown = bend._replace(elbows=elbows + 0.1 * noise(15 + number, count, 3) / (1 + number))
        off.append(search.step(shown))
    return {
        "values": [*bend_sides(bend, hinges)[::3], *calm_sides(bend, hinges, frames)[::2]],
        "large": [*search.scales, *off],
    }


def timing_case(nudge):
    """Shares of the path at a few times, with each easing; and times of joints that start one after the other."""
    times = (0.03, 0.2, 0.4, 0.55, 0.9)
    every = [[profile(name, easing)(time + nudge) for time in times] for name in TIMINGS for easing in EASINGS]
    starts = [
        window(0.37, joint, count, onset) for count in (1, 2, 4) for joint in range(count) for onset in (0.2, 0.9)
    ]
    return {"values": every, "large": starts}


def learning_case(nudge):
    """Ranges, axes and strays of motions about one axis, and about three of which one hardly turns."""
    found = []
    for order, scale in (("XYZ", (0.02, 1.0, 0.01)), ("ZXY", (0.8, 0.0001, 0.5)), ("YZX", (1.5, 0.7, 1.0))):
        triples = noise(20, 200, 3) * scale + (0.2, 0.1, -0.3) + nudge
        rotations = [from_euler(triple, order) for triple in triples]
        for how in ({}, {"share": 80.0, "margin": 0.1}, {"off_axis": 0.0, "triples": triples}):
            learned = learn_freedom(rotations, order, **how)
            freedom = learned.freedom
            axis = getattr(freedom, "axis", ())
            found += [learned.strays, learned.frames, *axis, *np.ravel((freedom.lower, freedom.upper))]
    return {"large": np.clip(found, -99.0, 999.0)}


def keys_case(nudge):
    """Keys of limbs, controls and bodies, and the slopes of some of their handles."""
    frames, values, more = [], [], []
    for freedoms, mode, tolerance in ((HUMAN, "QUATERNION", 0.004), (FREE, "XYZ", 0.002), (HUMAN, "YXZ", 0.001)):
        chain = arm(freedoms)
        full = baked(followed(chain, hand_path(3, 60)), mode)
        found = finished(reduce(full, tolerance + nudge, (20,) if mode == "XYZ" else ()))
        frames += [*found.kept, -1]
        values += [*found.curves.left[1], *found.curves.right[-2]]
    for how in ({}, {"turning": 2.0}, {"scale": 10.0}):
        frames += [*finished(reduce(test_control_reduction.full(**how), 0.01 + nudge)).kept, -1]
    for how in ({}, {"near": 0.002}, {"held": 1e-2}, {"steady": True}):
        frames += [*finished(reduce(test_body_reduction.whole(**how), 1.0 + nudge)).kept, -1]
    curves = test_handles.fitted(3)
    change = 0.08 * noise(21, *curves.values.shape)
    for tolerance in (0.03, 0.1, 0.6):
        found = finished(clamp(test_handles.Full(curves), curves, tolerance, test_handles.clamped(curves, change)))
        more += [int(each) for each in found.which.ravel()]
    return {"frames": frames, "large": values, "more": more}


def mended_case(nudge):
    """Paths of which jumps are removed, on elbows that flip, have to flip, or are free; relaxed, or in part held."""
    chain, places = forced()
    flips = flipping(elbow(), [0.02 * k + nudge for k in range(40)], 20)
    of_forced = first_pass(chain.rest_pose(), places)
    of_free = first_pass(
        free(4, 4, 2.0).rest_pose(), [in_plane(0.05 * k + nudge, 1.0 + 0.01 * k) for k in range(30)], "CCD"
    )
    found = []
    for moments, held, amount in ((flips, (), 0.0), (flips, (0, 39), 0.3), (of_forced, (), 0.0), (of_free, (0,), 1.0)):
        path = Path(moments, held)
        finished(path.without_jumps(1))
        if amount:
            finished(path.relax(amount))
        rotations = np.array([[tuple(q) for q in path.rotations[k]] for k in range(0, len(moments), 6)])
        found.append(turns(np.moveaxis(rotations, 0, -1)).ravel())
    return {"turns": np.concatenate(found)}


def met_case(nudge):
    """Frames that reach with the wrong orientation, and those that get another pose."""
    moments = test_meeting.followed(7)[::2]
    found = finished(meet(moments, 2))
    return {"frames": sorted(found)}


def costs_case(nudge):
    """Costs of the frames of a path, the limits that its joints are at, and its largest turn."""
    _, measures = measured_path(2)
    costs, (at, _, angle) = measures.costs, measures.largest_turn
    ends = [sum(len(each) for each in measures.on_limits_at(k).values()) for k in range(0, 40, 3)]
    return {"frames": [at, *ends], "large": [angle, *costs.total_angle[::4], *costs.travel[::4]], "more": costs.turns}


CASES = {
    "contacts of feet": spans_case,
    "contacts of a hand": stays_case,
    "a tip in contact": planted_case,
    "outliers": outliers_case,
    "knots": knots_case,
    "lengths of far tips, and haste": lengths_case,
    "bows": bows_case,
    "arcs": arc_case,
    "sides of elbows": sides_case,
    "timing": timing_case,
    "learned limits": learning_case,
    "keys": keys_case,
    "mended paths": mended_case,
    "orientations met": met_case,
    "costs": costs_case,
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_rule_finds_is_as_it_is_kept(case, renew):
    check("rules_of_motion", case, CASES[case], WITHIN, renew)
