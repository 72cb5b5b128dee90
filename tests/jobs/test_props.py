# SPDX-License-Identifier: GPL-3.0-or-later
"""Props are picked up, carried, let go and handed over without a jump, and nothing stays of a reach that fails."""

import bpy
import pytest
from mathutils import Euler, Matrix, Vector

from ik_triangulation.errors import AnimationError, IKError, SettingError, TargetError
from ik_triangulation.jobs.reach import Stop, reach_through

from ..modes import in_turn
from ..rigs import chain_rig, empty, nothing_lost
from .reaching import limb, posed

pytestmark = pytest.mark.usefixtures("empty_scene")

BY = ("CONSTRAINT", "KEYS")
NEAR = 1e-5  # of the distance


def scenario(place=(1.5, 1.0, 1.8)):
    """A rig, the cup that it takes, and the table where it puts that."""
    rig, cup = posed()
    cup.name = "Cup"
    cup.location = place
    cup.rotation_euler = (0.3, -0.8, 1.2)
    cup.scale = (0.5, 1.5, 2.0)
    return rig, cup, empty("Table", (-1.2, 1.4, 1.0))


def carry(rig, cup, table, by, **settings):
    stops = [Stop(cup, 12, 3, take="TAKE"), Stop(table, 30, 2, take="GIVE")]
    return reach_through(limb(rig, cup), stops, 1, prop_by=by, **settings)


def worlds(ob, frames, bone=""):
    """The world matrix of an object, or of its bone, at each frame."""
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found[frame] = (shown.matrix_world @ shown.pose.bones[bone].matrix if bone else shown.matrix_world).copy()
    return found


def apart(a, b):
    """The largest difference of two matrices, in shares of the distance."""
    return max(abs(x) for row in a - b for x in row) / max(1.0, b.translation.length)


def assert_held(rig, cup, first, last, start):
    """The cup keeps the place in the hand that it had when it was taken."""
    tips, cups = worlds(rig, range(first, last + 1), "Bone 3"), worlds(cup, range(first, last + 1))
    assert apart(cups[first], start) < NEAR
    for frame in tips:
        assert apart(cups[frame], tips[frame] @ tips[first].inverted() @ start) < NEAR, frame
    return cups


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION", "AXIS_ANGLE"])
def test_a_prop_is_carried_and_put_down_without_a_jump(by, mode):
    rig, cup, table = scenario()
    cup.rotation_mode = mode
    bpy.context.view_layer.update()
    start = cup.matrix_world.copy()
    report = carry(rig, cup, table, by, return_frames=10)
    assert report.all_reached
    assert report.warnings == []
    assert all(apart(world, start) < NEAR for world in worlds(cup, range(1, 13)).values())
    end = assert_held(rig, cup, 12, 30, start)[30]
    assert all(apart(world, end) < NEAR for world in worlds(cup, range(30, 60)).values())
    assert (end.translation - start.translation).length > 1.0
    assert len(cup.constraints) == (by == "CONSTRAINT")


@pytest.mark.parametrize("by", BY)
def test_a_scaled_parent_and_a_rig_far_away_are_no_trouble(by):
    rig, cup, table = scenario()
    root = empty("Root", (300.0, -200.0, 50.0))
    root.scale, root.rotation_euler = (2.0, 2.0, 2.0), (0.0, 0.0, 0.7)
    tray = empty("Tray", (100.0, 20.0, -30.0))
    tray.scale, tray.rotation_euler = (0.3, 0.3, 0.3), (0.5, 0.0, 0.2)
    bpy.context.view_layer.update()
    place = cup.matrix_world.copy()
    rig.parent = table.parent = root
    cup.parent = tray
    bpy.context.view_layer.update()
    cup.scale = (0.7, 0.7, 0.7)
    cup.matrix_world = root.matrix_world @ Matrix.LocRotScale(place.translation, Euler((0.3, 0.2, 0.1)), None)
    cup.delta_location = (0.1, 0.0, 0.0)
    bpy.context.view_layer.update()
    start = cup.matrix_world.copy()
    carry(rig, cup, table, by)
    assert_held(rig, cup, 12, 30, start)


@pytest.mark.parametrize("by", BY)
def test_a_flying_prop_is_caught_and_flies_as_before_until_then(by):
    rig, cup, table = scenario()
    for frame, x in ((1, -1.0), (25, 3.0)):
        cup.location.x = x
        cup.keyframe_insert("location", frame=frame)
    before = worlds(cup, range(1, 13))
    bpy.context.scene.frame_set(1)
    carry(rig, cup, table, by)
    after = worlds(cup, range(1, 13))
    assert max(apart(after[frame], before[frame]) for frame in before) < NEAR
    assert_held(rig, cup, 12, 30, before[12])


@pytest.mark.parametrize("second", BY)
@pytest.mark.parametrize("first", BY)
def test_one_hand_gives_to_another(first, second):
    rig, cup, _ = scenario()
    other = chain_rig(4, name="Other")
    other.location = (0.0, 2.5, 0.0)
    bpy.context.view_layer.update()
    start = cup.matrix_world.copy()
    meet = empty("Meet", (0.3, 1.4, 1.5))
    stops = [Stop(cup, 12, take="TAKE"), Stop(meet, 30, 20)]
    reach_through(limb(rig, cup), stops, 1, prop_by=first)
    handed = worlds(cup, [35])[35]
    far = empty("Far", (0.5, 3.5, 1.0))
    stops = [Stop(cup, 35, take="TAKE"), Stop(far, 50, take="GIVE")]
    reach_through(limb(other, cup), stops, 20, prop_by=second)
    assert_held(rig, cup, 12, 34, start)
    end = assert_held(other, cup, 35, 50, handed)[50]
    assert all(apart(world, end) < NEAR for world in worlds(cup, range(50, 70)).values())


def test_the_same_reach_again_replaces_its_hold():
    rig, cup, table = scenario()
    bpy.context.view_layer.update()
    start = cup.matrix_world.copy()
    carry(rig, cup, table, "CONSTRAINT")
    table.location.z += 0.3
    carry(rig, cup, table, "CONSTRAINT")
    assert len(cup.constraints) == 1
    assert_held(rig, cup, 12, 30, start)
    carry(rig, cup, table, "KEYS")
    assert_held(rig, cup, 12, 30, start)


@pytest.mark.parametrize(("take", "holds"), [(32, 1), (33, 2)])
def test_a_hold_that_begins_right_after_a_reach_stays(take, holds):
    rig, cup, table = scenario()
    bpy.context.view_layer.update()
    later = [Stop(cup, take, take="TAKE"), Stop(table, 45, take="GIVE")]
    reach_through(limb(rig, cup), later, 25, prop_by="CONSTRAINT")
    carry(rig, cup, table, "CONSTRAINT")
    assert len(cup.constraints) == holds


@pytest.mark.parametrize("by", BY)
def test_a_prop_is_taken_twice_in_one_reach(by):
    rig, cup, table = scenario()
    bpy.context.view_layer.update()
    start = cup.matrix_world.copy()
    back = empty("Back", (1.0, 1.3, 1.5))
    stops = [Stop(cup, 12, take="TAKE"), Stop(table, 24, take="GIVE"), Stop(table, 28, take="TAKE", prop=cup)]
    reach_through(limb(rig, cup), [*stops, Stop(back, 40, take="GIVE")], 1, prop_by=by)
    put = assert_held(rig, cup, 12, 24, start)[24]
    assert all(apart(world, put) < NEAR for world in worlds(cup, range(24, 28)).values())
    end = assert_held(rig, cup, 28, 40, put)[40]
    assert apart(worlds(cup, [50])[50], end) < NEAR


def test_a_prop_that_hangs_on_a_moving_parent_is_held_by_keys():
    rig, cup, table = scenario()
    tray = empty("Tray", (0.0, 0.0, 0.0))
    cup.parent = tray
    for frame in (1, 40):
        tray.location.x = 0.01 * frame
        tray.keyframe_insert("location", frame=frame)
    start = worlds(cup, [12])[12]
    with nothing_lost(), pytest.raises(AnimationError, match=r"parent of prop 'Cup' moves at frame.*keys"):
        carry(rig, cup, table, "CONSTRAINT")
    carry(rig, cup, table, "KEYS")
    assert_held(rig, cup, 12, 30, start)


def test_the_prop_may_be_another_object_than_the_target():
    rig, cup, table = scenario()
    handle = empty("Handle", cup.location)
    cup.location.x += 0.2
    bpy.context.view_layer.update()
    start = cup.matrix_world.copy()
    stops = [Stop(handle, 12, take="TAKE", prop=cup), Stop(table, 30)]
    reach_through(limb(rig, handle), stops, 1)
    assert_held(rig, cup, 12, 40, start)


REFUSED = {
    "let go before": (lambda c, t: [Stop(t, 9, take="GIVE")], SettingError, "lets go of a prop not held"),
    "taken twice": (lambda c, t: [Stop(c, 9, take="TAKE"), Stop(t, 20, take="TAKE", prop=c)], SettingError, "again"),
    "unknown": (lambda c, t: [Stop(c, 9, take="EAT")], SettingError, "'EAT'.*TAKE"),
    "target held": (lambda c, t: [Stop(c, 9, take="TAKE"), Stop(c, 20)], TargetError, "'Cup' at frame 20 moves with"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_stops_that_make_no_sense_are_refused_by_name(what):
    stops, error, message = REFUSED[what]
    rig, cup, table = scenario()
    with nothing_lost(), pytest.raises(error, match=message):
        reach_through(limb(rig, cup), stops(cup, table), 1)


def constrained(cup, rig):
    cup.constraints.new("LIMIT_LOCATION")


def driven(cup, rig):
    cup.driver_add("location", 0).driver.expression = "1.0"


def followed(cup, rig):
    rig.parent = cup


def locked(cup, rig):
    cup.keyframe_insert("scale", frame=1)
    cup.animation_data.action.layers[0].strips[0].channelbags[0].fcurves[0].lock = True


def sheared(cup, rig):
    cup.parent = empty("Sheared", (0.0, 0.0, 0.0))
    cup.parent.scale = (1.0, 3.0, 1.0)


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (constrained, "Limit Location.*Mute"),
        (driven, "location.*driven"),
        (followed, "follows prop 'Cup'"),
        (locked, "locked"),
        (sheared, "jump"),
    ],
)
def test_a_prop_that_cannot_be_held_is_refused_and_nothing_is_lost(spoil, message, by):
    rig, cup, table = scenario()
    handle = empty("Handle", cup.location)
    spoil(cup, rig)
    stops = [Stop(handle, 12, take="TAKE", prop=cup), Stop(table, 30, take="GIVE")]
    with nothing_lost(), pytest.raises(IKError, match=message):
        reach_through(limb(rig, handle), stops, 1, prop_by=by)


@pytest.mark.parametrize(("again", "by"), in_turn([False, True], BY))
def test_a_reach_that_is_stopped_anywhere_leaves_nothing(by, again, long):
    rig, cup, table = scenario()
    if again:
        carry(rig, cup, table, by)
    stops = [Stop(cup, 12, take="TAKE"), Stop(table, 20, take="GIVE")]
    parts = sum(1 for _ in reach_through.steps(limb(rig, cup), stops, 1, prop_by=by))
    if not again:
        rig.animation_data_clear()
        cup.animation_data_clear()
        cup.constraints.clear()
    for stop in range(1, parts, 2 if long else 9):
        with nothing_lost():
            job = reach_through.steps(limb(rig, cup), stops, 1, prop_by=by)
            for _ in range(stop):
                next(job)
            job.close()


def test_what_is_shown_at_once_is_what_is_keyed():
    rig, cup, table = scenario()
    bpy.context.scene.frame_set(25)
    carry(rig, cup, table, "CONSTRAINT")
    shown = cup.matrix_world.copy()
    assert apart(shown, worlds(cup, [25])[25]) < NEAR
    assert cup.constraints[0].influence == 1.0
    assert shown.translation != Vector((1.5, 1.0, 1.8))
    assert cup.constraints[0].name == "Held by Bone 3"
