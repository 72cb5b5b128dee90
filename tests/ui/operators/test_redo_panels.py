# SPDX-License-Identifier: GPL-3.0-or-later
"""What operators show in Adjust Last Operation, and what of it is greyed out as it counts for nothing."""

import bpy
import pytest

from ik_triangulation.ui.operators.base import IKOperator

from ...layouts import Recorder

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
        return {"CANCELLED"}

    monkeypatch.setattr(operator, "execute", execute, raising=False)
    monkeypatch.setattr(operator, "poll", classmethod(lambda cls, context: True), raising=False)
    getattr(bpy.ops.pose, f"ik_triangulation_{name}")("EXEC_DEFAULT", **given)
    shown = [*shown, *COMFORT, *ALL_KEYS] if name == "reach" else shown
    assert drawn == shown
