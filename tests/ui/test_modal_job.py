# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake that runs in a window: watched, cancelled, interrupted by what else happens, and never half done."""

import gc
from dataclasses import replace
from random import Random
from types import SimpleNamespace

import bpy
import pytest

from ik_triangulation.cooperative import no_garbage_collection
from ik_triangulation.jobs.bake import bake_limbs, bake_spans
from ik_triangulation.rig.limb import Limb
from ik_triangulation.ui.operators import base as tasks
from ik_triangulation.ui.operators.bake import POSE_OT_ik_triangulation_bake

from ..interrupted import FailingWrite
from ..rigs import (
    all_keys,
    chain_rig,
    configure,
    empty,
    key_location,
    nothing_lost,
    push_down,
    random_rotation,
    rotate,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

FRAMES = 30
SPANS = [(1, FRAMES, 1)] * 2


class Recorder:
    """Stands for a window's manager, workspace and area: what is opened on it, and what is closed again."""

    def __init__(self):
        self.timers, self.handled, self.progress, self.texts = [], [], [], []

    def event_timer_add(self, pause, window):
        self.timers.append(object())
        return self.timers[-1]

    def event_timer_remove(self, timer):
        self.timers.remove(timer)

    def modal_handler_add(self, operator):
        self.handled.append(operator)

    def progress_begin(self, low, high):
        self.progress.append(low)

    def progress_update(self, value):
        self.progress[-1] = value

    def progress_end(self):
        self.progress.pop()

    def status_text_set(self, text):
        self.texts.append(text)

    header_text_set = status_text_set

    @property
    def is_clean(self):
        return not self.timers and not self.progress and self.texts[-1] is None


def pressed(cls, recorder, **given):
    """What Blender makes of an operator that is pressed: an instance with our methods and properties, and its context.

    Blender allows nobody else to make one.
    """
    ours = [kind for kind in reversed(cls.__mro__) if kind.__module__.startswith("ik_triangulation.")]
    methods = {name: value for kind in ours for name, value in vars(kind).items() if not name.startswith("__")}
    operator = type(cls.__name__, (), methods)()
    operator.said = []
    operator.report = lambda kind, text: operator.said.append((*kind, text))
    kind = SimpleNamespace(properties=given)
    operator.properties = SimpleNamespace(is_property_set=lambda name: name in given, bl_rna=kind, **given)
    operator.is_adjusted = False
    for name, value in given.items():
        setattr(operator, name, value)
    names = ("scene", "view_layer", "active_object", "mode")
    here = {name: getattr(bpy.context, name) for name in names}
    context = SimpleNamespace(window_manager=recorder, window=None, workspace=recorder, area=recorder, **here)
    return operator, context


def event(kind="TIMER", value="PRESS"):
    return SimpleNamespace(type=kind, value=value)


def two_limbs():
    """Two rigs with keys of many kinds, the second one's target on the first one's tip; the active one is set up."""
    rigs = []
    for name in ("Left", "Right"):
        rig = chain_rig(3, name=name)
        for bone in rig.pose.bones:
            for frame in (1, 8, 12.5):
                rotate(bone, random_rotation(Random(f"{name}{frame}")))
                bone.keyframe_insert("rotation_quaternion", frame=frame)
        rigs.append(rig)
    target = key_location(empty(), range(1, 42, 4))
    configure(rigs[1], "Bone 2", target=target)
    rigs[1].pose.bones["Bone 0"].location = (0.1, 0.2, 0.3)  # posed, not keyed
    return [Limb.from_tip(rig, "Bone 2", target) for rig in rigs]


def begun(limbs=None, **given):
    """A bake that was pressed in a window and has not begun to work."""
    limbs = limbs or two_limbs()
    recorder = Recorder()
    span = {"frame_start": 1, "frame_end": FRAMES, "step": 1} | given
    operator, context = pressed(POSE_OT_ik_triangulation_bake, recorder, **span)
    assert operator.begin(context) == {"RUNNING_MODAL"}
    return operator, context, recorder


def run(operator, context, rounds=10_000):
    for _ in range(rounds):
        result = operator.modal(context, event())
        if result != {"RUNNING_MODAL"}:
            return result
    return result


def test_it_ends_with_the_keys_of_the_call():
    operator, context, recorder = begun()
    assert len(recorder.timers) == 1
    assert recorder.handled == [operator]
    assert run(operator, context) == {"FINISHED"}
    keys = repr(all_keys(bpy.data.objects["Right"]))
    assert recorder.is_clean
    assert operator.said[-1][:1] == ("INFO",)
    assert operator.said[-1][1].startswith(f"Reached {FRAMES} of {FRAMES} frames")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bake_limbs(two_limbs()[1:], 1, FRAMES)
    assert keys == repr(all_keys(bpy.data.objects["Right"]))


def test_what_was_made_while_the_garbage_collector_rested_is_not_walked_over_next(request):
    walks = []

    def note(phase, info):
        walks.append(phase)

    gc.callbacks.append(note)
    request.addfinalizer(lambda: gc.callbacks.remove(note))
    with no_garbage_collection():
        made = [[] for _ in range(20_000)]
    made += [[] for _ in range(10)]
    assert not walks
    assert gc.isenabled()


def test_reading_for_a_moment_at_a_time_changes_no_key():
    limbs = two_limbs()
    bake_limbs(limbs, 1, FRAMES)
    keys = repr([all_keys(limb.armature) for limb in limbs])
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    limbs = two_limbs()
    bake_spans(limbs, SPANS, seconds=0.0)
    assert repr([all_keys(limb.armature) for limb in limbs]) == keys


def test_it_says_how_far_it_is_and_works_a_moment_at_a_time(monkeypatch):
    for seconds in ("_SLICE", "_LONGEST"):  # however long the machine is away from it
        monkeypatch.setattr(f"ik_triangulation.ui.operators.base.{seconds}", 0.0)
    monkeypatch.setattr("ik_triangulation.ui.operators.base._NEWS", 0.0)
    operator, context, recorder = begun()
    shown = []
    while operator.modal(context, event()) == {"RUNNING_MODAL"}:
        shown.append(recorder.progress[-1])
    assert shown == sorted(shown)
    assert (shown[0], shown[-1]) == (0, 100)
    texts = [f"Baking: {n} of {FRAMES} frames. Esc or right click: cancel" for n in (0, FRAMES)]
    assert set(texts) <= set(recorder.texts)


@pytest.mark.parametrize("key", ["ESC", "RIGHTMOUSE"])
def test_escape_and_the_right_button_take_everything_back_at_once(key, monkeypatch):
    monkeypatch.setattr("ik_triangulation.ui.operators.base._SLICE", 0.0)
    limbs = two_limbs()
    with nothing_lost():
        operator, context, recorder = begun(limbs)
        assert run(operator, context, 12) == {"RUNNING_MODAL"}
        assert operator.modal(context, event(key)) == {"CANCELLED"}
        assert recorder.is_clean
    assert operator.said == [("INFO", "Bake cancelled, nothing was changed")]


@pytest.mark.parametrize("other", ["Z", "LEFTMOUSE", "MOUSEMOVE", "SPACE"])
def test_whatever_else_is_pressed_is_swallowed(other):
    operator, context, recorder = begun()
    assert operator.modal(context, event(other)) == {"RUNNING_MODAL"}
    assert operator.modal(context, event("ESC", "RELEASE")) == {"RUNNING_MODAL"}
    assert run(operator, context) == {"FINISHED"}
    assert recorder.is_clean


@pytest.mark.parametrize("handlers", ["undo_pre", "redo_pre", "load_pre"])
def test_it_stops_before_blender_replaces_what_it_works_on(handlers):
    limbs = two_limbs()
    with nothing_lost():
        operator, context, recorder = begun(limbs)
        operator._task.work(0.0)
        for handler in getattr(bpy.app.handlers, handlers):
            handler("" if handlers == "load_pre" else bpy.context.scene, None)
        assert tasks._running == []
        assert operator.modal(context, event()) == {"CANCELLED"}
        assert recorder.is_clean


def test_another_file_may_be_opened_meanwhile():
    operator, context, recorder = begun()
    operator._task.work(0.0)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    operator.cancel(context)  # as Blender does
    assert recorder.is_clean
    operator.cancel(context)  # as it does once more at the end of a modal operator
    assert recorder.is_clean
    assert tasks._running == []


@pytest.mark.parametrize("what", ["Right", "Target"])
def test_what_it_works_on_may_be_removed_meanwhile(what, monkeypatch):
    """By a script, that is: all events are swallowed."""
    monkeypatch.setattr("ik_triangulation.ui.operators.base._SLICE", 0.0)
    operator, context, recorder = begun()
    operator._task.work(0.0)
    bpy.data.objects.remove(bpy.data.objects[what])
    assert run(operator, context) == {"CANCELLED"}
    assert operator.said == [
        ("ERROR", "IK Triangulation: Something that this needs has been removed in the meantime. Start it again.")
    ]
    assert recorder.is_clean
    assert len(bpy.data.scenes) == 1


def test_disabling_the_extension_takes_it_back():
    limbs = two_limbs()
    with nothing_lost():
        operator, _, _ = begun(limbs)
        operator._task.work(0.0)
        tasks.unregister()
        assert operator._task.stopped
    tasks.register()


@pytest.mark.parametrize("problem", [ZeroDivisionError("an oversight"), MemoryError()])
def test_an_error_of_ours_is_told_and_takes_everything_back(problem, capfd):
    limbs = two_limbs()
    with nothing_lost(), FailingWrite(3, problem=problem):
        operator, context, recorder = begun(limbs)
        assert run(operator, context) == {"CANCELLED"}
        assert recorder.is_clean
    assert operator.said[0][1].startswith("IK Triangulation: Internal error, nothing was changed: ")
    assert "Traceback" in capfd.readouterr().err


def test_what_is_in_the_way_is_told_before_it_begins_or_as_it_does():
    limbs = two_limbs()
    with nothing_lost():
        operator, context, recorder = begun(limbs, frame_start=9, frame_end=2)
        assert run(operator, context) == {"CANCELLED"}
        assert recorder.is_clean
    assert operator.said[0][1].startswith("IK Triangulation: The range ends at frame 2, before its start at 9.")


def parts_of(**given):
    """How often a bake of the two limbs stops until it is done."""
    parts = sum(1 for _ in bake_spans.steps(limbs_with(**given), SPANS, seconds=1.0))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return parts


def limbs_with(**settings):
    limbs = two_limbs()
    if settings.get("destination") == "NLA_TRACK":  # the active action would hide the track
        for limb in limbs:
            push_down(limb.armature)
    return [replace(limb, **settings) for limb in limbs]


def some_of(parts, long):
    """Parts to stop at: all, or the last ones, which put everything in its place, and some of those before."""
    if long:
        return range(parts)
    return [*sorted(Random(parts).sample(range(parts - 4), 2)), *range(parts - 4, parts)]


@pytest.mark.parametrize("settings", [{}, {"reduce": True}, {"destination": "NEW_ACTION"}, {"mark_misses": True}])
def test_a_bake_that_is_closed_at_any_part_of_writing_loses_nothing(settings, long):
    parts = parts_of(**settings)
    assert parts > 2 * 12  # a curve each
    limbs = limbs_with(**settings)
    with nothing_lost():
        for stop in some_of(parts, long):
            job = bake_spans.steps(limbs, SPANS, seconds=1.0)
            for _ in range(stop):
                next(job)
            job.close()


@pytest.mark.parametrize("settings", [{}, {"reduce": True, "destination": "NEW_ACTION"}])
def test_an_error_at_any_part_is_raised_and_loses_nothing(settings, long):
    parts = parts_of(**settings)
    limbs = limbs_with(**settings)
    random = Random(5)
    with nothing_lost():
        for stop in random.sample(range(1, parts), 40 if long else 4):
            job = bake_spans.steps(limbs, SPANS, seconds=1.0)
            for _ in range(stop):
                next(job)
            with pytest.raises(MemoryError):
                job.throw(MemoryError())


def test_no_more_than_a_curve_is_written_from_one_part_to_the_next():
    limbs = two_limbs()
    job = bake_spans.steps(limbs, SPANS, seconds=1.0)

    def state():
        return [repr(keys) for limb in limbs for keys in all_keys(limb.armature).values()]

    before = state()
    for _ in job:
        now = state()
        assert sum(a != b for a, b in zip(before, now, strict=True)) <= 1
        before = now


def test_cancelled_while_keys_are_written_it_takes_everything_back(monkeypatch):
    for seconds in ("_SLICE", "_LONGEST"):
        monkeypatch.setattr(f"ik_triangulation.ui.operators.base.{seconds}", 0.0)
    limbs = two_limbs()
    keys = repr(all_keys(limbs[1].armature))
    with nothing_lost():
        operator, context, recorder = begun(limbs)
        while repr(all_keys(limbs[1].armature)) == keys:
            assert operator.modal(context, event()) == {"RUNNING_MODAL"}
        assert operator.modal(context, event("ESC")) == {"CANCELLED"}
        assert recorder.is_clean


def test_a_bake_that_is_closed_at_any_frame_loses_nothing(long):
    """Of two limbs, one after the other: the keys of the first are there while the second is worked on."""
    parts, limbs = parts_of(), two_limbs()
    with nothing_lost():
        for turn, stop in enumerate(some_of(parts, long)):
            job = bake_spans.steps(limbs, SPANS, seconds=0.0 if turn % 7 == 0 else 1.0)
            for _ in range(stop):
                next(job)
            job.close()
