# SPDX-License-Identifier: GPL-3.0-or-later
"""The gizmos of bones and dots: what the mouse is on is kept, marked, and given to the operator that drags it."""

from types import SimpleNamespace

import bpy
import pytest

from ik_triangulation.ui.gizmos import groups, mouse

from ...layouts import Recorder, context_now
from ...rigs import chain_rig, configure, empty
from ..overlay.viewport import viewport

pytestmark = pytest.mark.usefixtures("empty_scene")

KINDS = [
    (groups.VIEW3D_GGT_ik_triangulation_drag, groups.VIEW3D_GT_ik_triangulation_drag, "drag"),
    (groups.VIEW3D_GGT_ik_triangulation_trail, groups.VIEW3D_GT_ik_triangulation_trail, "trail_drag"),
]


class Gizmo(SimpleNamespace):
    """A gizmo that Blender has not made."""

    def target_set_operator(self, name):
        self.operator = name
        return SimpleNamespace()


@pytest.mark.parametrize(("group", "kind", "operator"), KINDS)
def test_a_drag_of_what_is_under_the_mouse_runs_the_operator_until_the_button_is_released(group, kind, operator):
    made = []

    def new(name):
        made.append(Gizmo(name=name))
        return made[-1]

    group.setup(SimpleNamespace(gizmos=SimpleNamespace(new=new)), None)
    (gizmo,) = made
    assert (gizmo.name, gizmo.operator) == (kind.bl_idname, f"pose.ik_triangulation_{operator}")
    assert gizmo.call.release_confirm
    assert gizmo.use_draw_modal is False


class Seen(SimpleNamespace):
    """A context of which the redraws are counted."""

    def __init__(self):
        super().__init__(redraws=0)
        self.area = self

    def tag_redraw(self):
        self.redraws += 1


@pytest.mark.parametrize(
    ("number", "under", "found", "given"),
    [
        (0, "Bone 2", "Bone 2", {"bone": "Bone 2"}),
        (0, "", "", {"bone": ""}),
        (1, (7, (3.0, 4.0)), (7, (3.0, 4.0)), {"frame": 7}),
        (1, None, None, {}),
    ],
)
def test_what_the_mouse_is_on_is_given_to_the_operator_and_marked_while_it_is_on_it(
    monkeypatch, number, under, found, given
):
    kind, asked, marked = KINDS[number][1], [], []
    for name in ("bone_under", "dot_under"):
        monkeypatch.setattr(mouse, name, lambda context, place: asked.append(place) or under)
    monkeypatch.setattr(mouse, "mark_bone", lambda context, *what: marked.append(what))
    monkeypatch.setattr(mouse, "mark_dot", lambda context, *what: marked.append(what))
    gizmo, context = SimpleNamespace(), Seen()
    kind.setup(gizmo)
    assert gizmo.call is None
    gizmo.call = SimpleNamespace()
    assert kind.test_select(gizmo, context, (12.0, 34.0)) == (0 if under else -1)
    assert asked == [(12.0, 34.0)]
    assert (gizmo.bone if number == 0 else gizmo.dot) == found
    assert vars(gizmo.call) == given
    assert context.redraws == (1 if number == 0 or under else 0), "a bone that is left is drawn without its mark"
    for gizmo.is_highlight in (False, True):
        kind.draw(gizmo, context)
    assert marked == ([] if number and under is None else [found if number else (found,)])


def test_bones_can_be_dragged_in_pose_mode_and_dots_where_overlays_are_shown():
    rig = chain_rig(4)
    configure(rig, "Bone 3", target=empty(), chain_count=3)
    drag, trail = (kind[0] for kind in KINDS)
    with viewport() as context:
        assert drag.poll(context)
        context.scene.ik_triangulation_trail.show = True
        for owner, name in (
            (context.space_data, "show_gizmo"),
            (context.space_data, "show_gizmo_context"),
            (context.space_data.overlay, "show_overlays"),
        ):
            assert trail.poll(context) is True
            setattr(owner, name, False)
            assert trail.poll(context) is False, name
            setattr(owner, name, True)
        rig.data.pose_position = "REST"
        assert not drag.poll(context)
        rig.data.pose_position = "POSE"
        bpy.ops.object.mode_set(mode="OBJECT")
        assert (drag.poll(context), trail.poll(context)) == (False, True)
        bpy.ops.object.mode_set(mode="EDIT")
        assert (drag.poll(context), trail.poll(context)) == (False, False)


def test_the_tool_has_auto_keying_in_its_header():
    layout = Recorder(context_now())
    groups.DragTool.draw_settings(bpy.context, layout, None)
    assert layout.picture() == ['.use_keyframe_insert_auto "Auto Keying" REC']


@pytest.mark.parametrize("name", ["show_gizmo", "show_gizmo_context"])
def test_its_switch_is_among_those_of_gizmos_and_greyed_out_where_none_are_shown(name):
    with viewport() as context:
        seen = SimpleNamespace(space_data=context.space_data, scene=context.scene)
        for shown in (True, False):
            setattr(context.space_data, name, shown)
            layout = Recorder(context_now())
            groups._draw(SimpleNamespace(layout=layout), seen)
            head = "column:" if shown else "column inactive:"
            field = f'    .{groups.PROPERTY} "Target"'
            (drawn,) = layout.children
            assert drawn.picture() == [head, '    "IK Triangulation"', field]
        setattr(context.space_data, name, True)
