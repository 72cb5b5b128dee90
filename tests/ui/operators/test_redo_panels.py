# SPDX-License-Identifier: GPL-3.0-or-later
"""What operators show in Adjust Last Operation, and what of it is greyed out as it counts for nothing."""

from types import SimpleNamespace

import bpy
import pytest

from ik_triangulation.ui.operators.base import IKOperator

from ...layouts import Recorder, check_pictures, context_now

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")

RANGE = ["frame_start", "frame_end"]
COMFORT, NEAR = ["effort_weight", "rest_weight", "(rest_pose)"], ["effort_weight", "rest_weight", "rest_pose"]
ALL_KEYS, LESS_KEYS = ["reduce", "(reduce_tolerance)"], ["reduce", "reduce_tolerance"]
CURVED = ["path", "onset", "timing"]


@pytest.mark.parametrize(
    ("name", "given", "shown"),
    [
        ("solve", {}, ["preset", *COMFORT]),
        ("solve", {"rest_weight": 0.5}, ["preset", *NEAR]),
        ("bake", {}, ["preset", *RANGE, "step", "smoothing", "soft_edge", *COMFORT, *ALL_KEYS]),
        ("bake_all", {"reduce": True}, [*RANGE, "step", "smoothing", "soft_edge", *COMFORT, *LESS_KEYS]),
        (
            "reach",
            {"timing": "LINEAR"},
            ["preset", *RANGE, "hold", "return_frames", "path", "(onset)", "timing", "(easing)", "prop_by"],
        ),
        (
            "reach",
            {"path": "ARC", "timing": "SINE"},
            ["preset", *RANGE, "hold", "return_frames", *CURVED, "easing", "prop_by"],
        ),
        ("pull", {}, ["tip", "frame", "offset", "rotation", "falloff", "profile"]),
        ("retime", {}, ["tip", "frame", "offset", "falloff", "profile"]),
        ("trail_drag", {}, ["frame", "value", "falloff", "profile"]),
        ("trail_drag", {"shift": 2}, ["frame", "shift", "falloff", "profile"]),
        ("drag", {}, ["bone", "value"]),
        ("transfer", {}, ["to", *RANGE, "keys"]),
        ("follow_rig", {}, ["source", "keys_on"]),
        ("grasp", {}, ["prop", "key", "shift"]),
        ("contacts_find", {}, ["support"]),
        ("target_from_animation", {}, [*RANGE, "only_keys", "all_limbs"]),
        ("space_add", {}, ["space", *RANGE]),
        ("space_add", {"space": "Mesh"}, ["space", *RANGE]),
        ("space_add", {"space": "Rig"}, ["space", "bone", *RANGE]),
    ],
)
def test_an_operator_shows_what_can_be_adjusted(monkeypatch, name, given, shown):
    for kind, data in (("Rig", bpy.data.armatures.new("Rig")), ("Mesh", bpy.data.meshes.new("Mesh"))):
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(kind, data))
    operator, drawn = getattr(bpy.types, f"POSE_OT_ik_triangulation_{name}"), []

    def execute(self, context):
        layout = Recorder(context)
        monkeypatch.setattr(IKOperator, "column", lambda operator: layout)
        self.draw(context)
        drawn.extend(layout.drawn)
        title_of = " ".join(map(str, (name, *(f"{key}={value}" for key, value in given.items()))))
        drawn.append({("operators", title_of): "".join(f"{line}\n" for line in layout.picture())})
        return {"CANCELLED"}

    monkeypatch.setattr(operator, "execute", execute, raising=False)
    monkeypatch.setattr(operator, "poll", classmethod(lambda cls, context: True), raising=False)
    getattr(bpy.ops.pose, f"ik_triangulation_{name}")("EXEC_DEFAULT", **given)
    *drawn, picture = drawn
    shown = [*shown, *COMFORT, *ALL_KEYS] if name == "reach" else shown
    assert drawn == shown
    check_pictures(picture)


def test_their_labels_are_left_of_the_values_and_there_are_no_key_buttons():
    layout = Recorder(context_now(), kind="panel")
    IKOperator.column(SimpleNamespace(layout=layout)).label(text="A label")
    assert layout.picture() == ['panel use_property_split=True use_property_decorate=False: "A label"']
