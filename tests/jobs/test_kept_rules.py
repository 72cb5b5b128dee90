# SPDX-License-Identifier: GPL-3.0-or-later
"""Times, shares and changes that jobs work with, of seeded cases, are those that are kept (tests/kept.py)."""

from types import SimpleNamespace

import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector

from ik_triangulation.items import PROFILES
from ik_triangulation.jobs.edits.edit import BakeChange, BakedPoses, _frames_around
from ik_triangulation.jobs.edits.edited_part import Falloff
from ik_triangulation.jobs.edits.edited_shot import Edit, _between, _Change, _turned_between
from ik_triangulation.jobs.edits.mirror import _turned
from ik_triangulation.jobs.edits.retime import Retime
from ik_triangulation.jobs.edits.space_keys import _continue, _fade, _leave, frames_to_change, next_after
from ik_triangulation.jobs.find_contacts import _Search
from ik_triangulation.jobs.reach import Stop, _ranges
from ik_triangulation.jobs.shots.contacts import Ground, _apart, _over
from ik_triangulation.jobs.shots.tips import slips_and_turns
from ik_triangulation.kinematics.batch.algebra import matrices, normalized
from ik_triangulation.motion.contacts import Stay
from ik_triangulation.rig.body import Contact

from ..kept import check

WITHIN = {"values": 1e-4, "frames": 0, "others": 0}
MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX")


def noise(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def rotation_of(values, mode):
    """The rotation that channel values of a mode mean, by mathutils."""
    if mode == "QUATERNION":
        return Quaternion(values).normalized().to_matrix()
    if mode == "AXIS_ANGLE":
        return Quaternion(Vector(values[1:]).normalized(), values[0]).to_matrix()
    return Euler(values, mode).to_matrix()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["inverse", "axes", "other"])
def test_channels_change_as_rotations_are_turned_on_both_sides(mode, kind):
    """Of a mirror image both turns are inverse to each other, and often along the axes; of a target they are not."""
    left = np.array(Quaternion((0.3, 0.5, -0.4, 0.7)).normalized().to_matrix(), float)
    if kind == "axes":
        left = np.diag((-1.0, 1.0, -1.0))
    right = left.T if kind != "other" else np.array(Quaternion((0.9, -0.2, 0.1, 0.3)).normalized().to_matrix(), float)
    rows = noise(3, 20, 4 if mode in MODES[:2] else 3)
    if mode == "QUATERNION":
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for row, found in zip(rows, _turned(left, right, mode)(rows), strict=True):
        wanted = left @ np.array(rotation_of(row, mode), float) @ right
        assert np.abs(np.array(rotation_of(found, mode)) - wanted).max() < 2e-6


def test_a_change_is_shared_by_edits_of_the_same_kind_in_proportion():
    change = _Change((2.0, 0.0, 1.0), np.zeros((1, 3, 1)), np.zeros((3, 1)))

    def share(*amount):
        return change.share(Edit([], np.arange(1), 0.0, amount))

    assert share(2.0, 0.0, 1.0) == 1.0
    assert share(1.0, 0.0, 0.5) == 0.5
    assert share(0.0, 3.0, 0.0) == share(-2.0, 0.0, -1.0) == 0.0
    assert share(2.0) == share(2.0, 0.0) == 0.0, "one of another kind"
    assert share(1e9, 0.0, 0.0) == share(1e6, 0.0, 0.0) > 1.0, "not farther than is safe"


def test_of_two_hands_on_each_other_the_one_that_moves_more_stays_on_the_other():
    moving, still = np.outer((1.0, 0.0, 0.0), np.arange(30.0)), np.zeros((3, 30))
    arms = {"hand.L": SimpleNamespace(bones=("arm.L", "hand.L")), "hand.R": SimpleNamespace(bones=("arm.R", "hand.R"))}
    for left, right, kept in ((moving, still, "hand.L"), (still, moving, "hand.R")):
        search = SimpleNamespace(_figure=SimpleNamespace(arms=arms), _places={"hand.L": left, "hand.R": right})
        stays = {
            "hand.L": [Stay(("rig", "arm.R"), 2, 9), Stay(None, 12, 14), Stay(("rig", "thigh"), 20, 25)],
            "hand.R": [Stay(("rig", "hand.L"), 9, 15), Stay(("rig", "arm.L"), 17, 19)],
        }
        found = _Search._uncrossed(search, stays)
        wanted = {tip: list(every) for tip, every in stays.items()}
        lost = "hand.R" if kept == "hand.L" else "hand.L"
        del wanted[lost][0]
        assert found == wanted
    apart = {"hand.L": [Stay(("rig", "arm.R"), 2, 8)], "hand.R": [Stay(("rig", "hand.L"), 9, 15)]}
    assert _Search._uncrossed(search, apart) == apart


def ground_case(nudge):
    """Ways of a foot at contacts near and far from each other, between them and beside them, and as it swings."""
    times = np.array((3.0, 4.0, 10.0, 20.0, 21.0))
    ground = Ground(times, noise(1, 3, 5), noise(2, 3, 5) + nudge)
    frames = np.arange(0.0, 24.0, 0.5)
    swings = {float(f): (0.3 * np.sin(f) + 0.2, 0.1 * f - 1.0) for f in (0, 1, 5, 6, 7, 8, 12, 15, 18, 22, 30)}
    over = _over(ground, swings, dict(zip(times.tolist(), noise(3, 5, 3), strict=True)))
    once = Ground(times[:1], noise(1, 3, 1), noise(2, 3, 1)).at(frames[:2])
    return {"values": [*np.concatenate(ground.at(frames))[:, ::5].ravel(), *over.ways.ravel(), *np.ravel(once)]}


def contacts_case(nudge):
    """Contacts of a foot that overlap, follow on each other, or are within each other, on the same and on others."""
    spans = (
        (1, 5, ""),
        (6, 9, ""),
        (8, 12, "a"),
        (13, 14, "a"),
        (14, 20, ""),
        (15, 16, "b"),
        (30, 31, ""),
        (33, 40, ""),
    )
    contacts = [Contact("foot", first, last, "rig" if bone else None, bone) for first, last, bone in spans]
    return {"frames": [each for span, on in _apart(contacts) for each in (*span, on is not None)]}


def edits_case(nudge):
    """Shares of edits that fade by each profile, and the times and sources of frames of edits in time."""
    shares = [Falloff(10.0, 6, name).share(frame) for name in PROFILES for frame in (5, 9.5, 13, 16)]
    retime = Retime(10.0, 8, "SMOOTH", 3.0)
    moved = [*(retime.moved(frame) for frame in (2, 5, 10, 14)), *retime.sources([1, 2, 4, 9, 13, 17.5, 18, 20])]
    fades = [Edit([], np.arange(*columns), 6.0, ()).fades(range(12)) for columns in ((0, 12), (2, 10), (0, 9), (3, 12))]
    return {"values": [*shares, *moved, *np.concatenate(fades, axis=1).ravel()]}


def between_case(nudge):
    """Values, rotations and poses between frames, and of a bake as an edit changes them."""
    at = np.array((0.0, 0.3, 2.0, 2.7, 3.0))
    turns = normalized(noise(4, 3, 4, 4))
    shown = normalized(noise(5, 2, 4, 6))
    before = BakedPoses([1, 3, 5, 7], ["a", "b", "c"], turns, noise(6, 3, 4))
    after = BakedPoses([1, 3, 5, 7], ["b", "c"], normalized(noise(7, 2, 4, 4)), noise(8, 3, 4))
    frames = [2, 3, 4, 5, 6, 6.5]
    change = BakeChange(before, after, 4.0 + nudge)
    one, other = change.rotations(["b", "d"], shown, frames, frames), change.locations(noise(9, 3, 6), frames, frames)
    found = (_between(turns[0], at), _turned_between(turns, at), before.at(frames).rotations, one[0], other)
    assert np.array_equal(one[1], shown[1]), "a bone that is not baked stays"
    return {"values": np.concatenate([np.ravel(each)[::3] for each in found])}


def spaces_case(nudge):
    """Frames that a change of space needs keys at, and keys that leave it, go back and go on."""
    keyed = [1.0, 4.0, 5.0, 11.0, 12.0, 13.0, 14.0, 30.0, 31.0]
    spans = ((1, 5), (3, 12), (12, 13), (20, 25), (30, 40))
    frames = [each for span in spans for each in (*frames_to_change(keyed, *span), -1, *next_after(keyed, span[1]), -2)]
    keys = {"co": np.array([[1.0, 2.0], [2.5, 3.0], [9.0, 1.0]]), "interpolation": np.zeros(3, int)}
    keys |= {"handle_left": keys["co"].copy(), "handle_right": keys["co"].copy()}
    for number in range(3):
        _leave(keys, number, 0.7)
    rows = 6.0 * noise(10, 3, 5)
    continued = []
    for mode, count in (("XYZ", 3), ("QUATERNION", 4), ("AXIS_ANGLE", 4)):
        before, changed = (
            {
                n: {
                    name: np.array([[k, scale * rows[n % 3, k] + n] for k in range(5)])
                    for name in ("co", "handle_left", "handle_right")
                }
                for n in range(count)
            }
            for scale in (0.3, 1.5)
        )
        _continue(changed, before, mode)
        continued += [changed[n][name][:, 1] for n in range(count) for name in ("co", "handle_right")]
    return {
        "frames": frames,
        "values": [*keys["handle_left"].ravel(), *keys["handle_right"].ravel(), *np.ravel(continued) + nudge],
    }


def fading_case(nudge):
    """Matrices by which keys on every frame after a span go back from where the space has left them."""
    seen = {
        float(frame): SimpleNamespace(
            world=Matrix.Translation((0.1 * frame, 0.0, 1.0)) @ Matrix.Rotation(0.1 * frame, 4, "Z"),
            basis=Matrix.Translation((0.1 * frame, 0.2 + nudge, 0.0)),
        )
        for frame in range(8, 24)
    }
    base = {frame: now.world @ now.basis.inverted() for frame, now in seen.items()}
    plan = SimpleNamespace(changes={11.0: Matrix.Translation((0.0, 0.5, 0.2)) @ Matrix.Rotation(0.8, 4, "X")})
    _fade(plan, seen, base, 10.0)
    return {
        "frames": sorted(plan.changes),
        "values": [np.array(plan.changes[frame])[:3].ravel() for frame in (12.0, 14.0)],
    }


def reaches_case(nudge):
    """Frames of stops one after the other, and of a bake around some of its frames; and how far bones are off."""
    stops = [Stop(None, 5, 2), Stop(None, 12), Stop(None, 20, 3)]
    frames = [[each.start, each.stop] for each in _ranges(stops, 1, 30)]
    around = [list(_frames_around(*each)) for each in (((1, 30, 3), [10, 13], 4), ((2, 9, 0.5), [4, 4.5], 1))]
    shown, wanted = (np.concatenate((matrices(normalized(noise(n, 4, 7))), noise(n, 3, 1, 7)), 1) for n in (11, 12))
    slips = slips_and_turns(shown + nudge, wanted, 0.4)
    return {"frames": np.ravel(frames), "others": 10.0 * np.concatenate(around), "values": np.ravel(slips)}


CASES = {
    "ground between contacts": ground_case,
    "contacts of a foot": contacts_case,
    "edits": edits_case,
    "between frames": between_case,
    "spaces": spaces_case,
    "fading spaces": fading_case,
    "reaches": reaches_case,
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_rule_of_a_job_finds_is_as_it_is_kept(case, renew):
    check("rules_of_jobs", case, CASES[case], WITHIN, renew)
