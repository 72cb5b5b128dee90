# SPDX-License-Identifier: GPL-3.0-or-later
"""The presets for humans on Rigify's human metarig, which nobody here wrote: both sides alike, bending the right way.

Run by test_limb.py in a Blender of its own, as scenarios/use_rigify.py is: python use_presets.py
"""

import os
import sys
import traceback
from pathlib import Path

import bpy  # isort: skip  # first: addon_utils is not found before it
import addon_utils

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from math import radians

from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.kinematics import Hinge
from ik_triangulation.kinematics.rotation import about, rotation_angle
from ik_triangulation.presets import find_preset
from ik_triangulation.presets.file import read_preset
from ik_triangulation.presets.limb import apply_preset
from ik_triangulation.rig.freedom import freedom_of
from ik_triangulation.rig.limb import Limb

LIMBS = {
    "Human_Arm": ["upper_arm", "forearm", "hand"],
    "Human_Leg": ["thigh", "shin", "foot"],
    "Human_Arm_(Hinge)": ["upper_arm", "forearm", "hand"],
    "Human_Leg_(Hinge)": ["thigh", "shin", "foot", "toe"],
    "Finger": ["f_index.01", "f_index.02", "f_index.03"],
}
SPINE = ["spine", "spine.001", "spine.002", "spine.003"]
FRONT, BACK, DOWN = Vector((0, -1, 0)), Vector((0, 1, 0)), Vector((0, 0, -1))
# Places that people reach without effort, from the root of the left limb in shares of its length: out, back, up.
NATURAL = {
    "Human_Arm": [(0.1, -0.5, 0.3), (-0.3, -0.4, 0.0), (0.2, -0.9, -0.1), (0.3, -0.2, 0.8), (0.2, 0.1, -0.85)],
    "Human_Leg": [(0.0, -0.6, -0.5), (0.1, 0.3, -0.8), (0.4, -0.2, -0.75), (0.0, -0.2, -0.6), (-0.2, -0.1, -0.85)],
    "Finger": [(0.1, 0.0, -0.75), (0.3, -0.1, -0.6), (-0.2, 0.0, -0.6)],
}


def named(bones, side):
    return [f"{bone}.{side}" for bone in bones]


def flexed(rig, bone, angle):
    """Where the tail of a bone is, from its head in armature space, when its hinge has turned by so much from rest."""
    hinge = freedom_of(rig.pose.bones[bone])
    assert isinstance(hinge, Hinge)
    rest = rig.data.bones[bone]
    return rest.matrix_local.to_3x3() @ about(hinge.axis, angle).to_matrix() @ Vector((0.0, rest.length, 0.0))


def allowed(rig, bone, axis, angle):
    """Whether a bone may turn from rest by an angle [degrees] about an axis in armature space."""
    rest = rig.data.bones[bone].matrix_local.to_3x3()
    rotation = Quaternion(rest.transposed() @ Vector(axis), radians(angle))
    return rotation_angle(freedom_of(rig.pose.bones[bone]).nearest(rotation), rotation) < 1e-3


def check_rest(rig, bones):
    for name in bones:
        freedom = freedom_of(rig.pose.bones[name])
        assert rotation_angle(freedom.nearest(Quaternion()), Quaternion()) < 1e-6, name


def check_natural(rig, preset, bones, side):
    root, tail = rig.data.bones[bones[0]].head_local, rig.data.bones[bones[-1]].tail_local
    length = sum(rig.data.bones[name].length for name in bones)
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    places = NATURAL[preset.removesuffix("_(Hinge)")]
    for place in [*places, (tail - root) / length]:
        away = Vector(place) * length
        if side == "R" and place in places:
            away.x = -away.x
        target.location = rig.matrix_world @ (root + away)
        report = solve_pose(Limb.from_bones(rig, bones, target))
        assert report.all_reached, (preset, side, place, report.worst)
        for name in bones:
            rig.pose.bones[name].matrix_basis = Matrix.Identity(4)


def main():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    addon_utils.enable("rigify", default_set=True)
    addon_utils.enable("ik_triangulation", default_set=True)
    bpy.ops.object.armature_human_metarig_add()
    rig = bpy.context.object
    for side in "LR":
        for preset, bones in LIMBS.items():
            limb = named(bones, side)
            applied = apply_preset(rig, limb, read_preset(find_preset(preset)))
            assert list(applied.joints) == limb
            assert not [note for note in applied.notes if not note.startswith("Left out")], applied
            check_rest(rig, limb)
            check_natural(rig, preset, limb, side)
        forearm, shin, finger = (f"{bone}.{side}" for bone in ("forearm", "shin", "f_index.02"))
        assert (flexed(rig, forearm, 1.5) - flexed(rig, forearm, 0.0)).dot(FRONT) > 0.1
        assert (flexed(rig, shin, 1.5) - flexed(rig, shin, 0.0)).dot(BACK) > 0.2
        hand = rig.data.bones[f"hand.{side}"].head_local - rig.data.bones[forearm].head_local
        assert (flexed(rig, finger, 1.5) - flexed(rig, finger, 0.0)).dot(hand) < 0.0
        out = 1.0 if side == "L" else -1.0
        thigh, foot, palm = (f"{bone}.{side}" for bone in ("thigh", "foot", "hand"))
        assert allowed(rig, thigh, (1, 0, 0), -115)
        assert not allowed(rig, thigh, (1, 0, 0), 40)
        assert allowed(rig, thigh, (0, -out, 0), 40), "outwards"
        assert not allowed(rig, thigh, (0, out, 0), 40), "inwards"
        assert allowed(rig, foot, (1, 0, 0), 40), "toes down"
        assert not allowed(rig, foot, (1, 0, 0), -40), "toes up"
        _, along, across = rig.data.bones[palm].matrix_local.to_3x3().col
        across = across if across.dot(along.cross(DOWN)) > 0.0 else -across
        assert allowed(rig, palm, across, 78), "the palm down"
        assert not allowed(rig, palm, across, -78), "the palm up"
    apply_preset(rig, SPINE, read_preset(find_preset("Spine (Shared)")))
    check_rest(rig, SPINE)
    for name in SPINE:
        assert allowed(rig, name, (1, 0, 0), 19), "forwards"
        assert not allowed(rig, name, (1, 0, 0), -10), "backwards"


try:
    main()
    code = 0
except BaseException:
    traceback.print_exc()
    code = 1
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)
