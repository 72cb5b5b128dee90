# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job on a rig nobody here wrote: Rigify's human, both arms and both legs, saved and opened again.

Run by test_rigify.py in a Blender of its own: python use_rigify.py FOLDER. It names each rig with which all is well.
Blender 4.5 as a module hangs when it ends after Rigify has generated a rig (with or without this add-on), so this
leaves without ending it.
"""

import os
import sys
import traceback
from math import cos, sin
from pathlib import Path
from random import Random

import bpy  # isort: skip  # first: addon_utils is not found before it
import addon_utils

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mathutils import Matrix

from ik_triangulation.jobs import joint_tools as joints
from ik_triangulation.jobs.bake import bake
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.motion.jumps import turns
from ik_triangulation.presets import find_preset
from ik_triangulation.presets.file import read_preset
from ik_triangulation.presets.limb import apply_preset
from ik_triangulation.rig.freedom import freedom_of
from ik_triangulation.rig.limb import Limb

FRAMES = 40
MIRROR = Matrix.Diagonal((-1.0, 1.0, 1.0))
METARIG = {side: {"arm": ("upper_arm", "forearm", "hand"), "leg": ("thigh", "shin", "foot")} for side in "LR"}


def limbs(suffix):
    return [tuple(f"{bone}{suffix}.{side}" for bone in bones) for side in "LR" for bones in METARIG[side].values()]


def make_target(rig, bones):
    """An empty on a smooth way about the middle of what the limb can reach, keyed every ten frames."""
    root = rig.matrix_world @ rig.pose.bones[bones[0]].head
    tip = rig.matrix_world @ rig.pose.bones[bones[-1]].tail
    lengths = [rig.data.bones[name].length for name in bones]
    along = (tip - root).normalized()
    across = along.orthogonal().normalized()
    target = bpy.data.objects.new(f"Target {bones[-1]}", None)
    bpy.context.scene.collection.objects.link(target)
    for frame in range(1, FRAMES + 11, 10):
        distance = sum(lengths) * (0.65 + 0.2 * sin(frame / 9.0))
        target.location = root + (along + across * 0.4 * cos(frame / 7.0)).normalized() * distance
        target.keyframe_insert("location", frame=frame)
    return target


def bake_all(rig, suffix):
    targets = {}
    for bones in limbs(suffix):
        target = make_target(rig, bones)
        report = bake(Limb.from_bones(rig, bones, target), 1, FRAMES)
        assert report.all_reached, report.worst
        assert not report.warnings
        targets[bones[-1]] = target.name
    return targets


def worst_after_reopening(path, rig_name, targets):
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    scene, rig = bpy.context.scene, bpy.data.objects[rig_name]
    worst = 0.0
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        posed = rig.evaluated_get(depsgraph)
        for tip, target in targets.items():
            goal = bpy.data.objects[target].evaluated_get(depsgraph).matrix_world.to_translation()
            worst = max(worst, (posed.matrix_world @ posed.pose.bones[tip].tail - goal).length)
    return worst


def mirror_all(rig, suffix):
    """The left arm's and leg's limits hold on the right side for the mirrored rotations."""
    left = [f"{bone}{suffix}.L" for bones in METARIG["L"].values() for bone in bones]
    random = Random(1)
    for name in left:
        joint = rig.pose.bones[name].ik_triangulation_joint
        joint.source, joint.kind, joint.order = "OWN", "EULER", "YXZ"
        joint.minimum, joint.maximum = (-0.25, -0.5, -1.0), (1.25, 0.75, 0.5)
    right = joints.mirror(rig, left)
    assert right == [f"{name[:-1]}R" for name in left]
    for names in zip(left, right, strict=True):
        here, there = (freedom_of(rig.pose.bones[name]) for name in names)
        rest, other = (rig.data.bones[name].matrix_local.to_3x3() for name in names)
        for _ in range(20):
            posed = MIRROR @ rest @ here.random(random).to_matrix() @ rest.inverted() @ MIRROR
            reflected = (other.inverted() @ posed @ other).to_quaternion()
            # Rigify's feet are 0.002 rad off symmetry.
            assert rotation_angle(there.nearest(reflected), reflected) < 5e-3, names


def clear(rig):
    for bone in rig.pose.bones:
        bone.property_unset("ik_triangulation_joint")


def metarig(folder):
    bpy.ops.object.armature_human_metarig_add()
    rig = bpy.context.object
    rig.location, rig.rotation_euler, rig.scale = (1.0, -2.0, 0.3), (0.2, -0.1, 0.7), (1.3, 1.3, 1.3)
    bpy.context.view_layer.update()
    mirror_all(rig, "")
    clear(rig)
    assert worst_after_reopening(folder / "rig.blend", rig.name, bake_all(rig, "")) < 1e-5


def generated(folder):
    bpy.ops.object.armature_basic_human_metarig_add()
    assert bpy.ops.pose.rigify_generate() == {"FINISHED"}
    rig = bpy.context.object
    mirror_all(rig, "_fk")
    clear(rig)
    for side in "LR":
        for parent in ("upper_arm_parent", "thigh_parent"):
            rig.pose.bones[f"{parent}.{side}"]["IK_FK"] = 1.0
    targets = bake_all(rig, "_fk")
    curves = rig.animation_data.action.layers[0].strips[0].channelbags[0].fcurves
    keyed = {f'pose.bones["{name}"].rotation_quaternion' for bones in limbs("_fk") for name in bones}
    assert {curve.data_path for curve in curves} == keyed, "helper bones between the controls got keys"
    assert worst_after_reopening(folder / "rig.blend", rig.name, targets) < 1e-5


def stretched(folder):
    """An arm that strains for what goes out of its reach does not turn about itself at once."""
    bpy.ops.object.armature_human_metarig_add()
    rig, bones = bpy.context.object, ["upper_arm.L", "forearm.L", "hand.L"]
    apply_preset(rig, bones, read_preset(find_preset("Human_Arm")))
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    for frame, place in ((1, (0.55, -0.15, 1.3)), (60, (1.2, -0.6, 1.6))):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    reports = [bake(Limb.from_bones(rig, bones, target, smooth=smooth), 1, 60) for smooth in (False, True)]
    smooth = turns([result.pose.rotations for result in reports[1].frames])
    assert max(smooth) < 0.5, max(smooth)
    assert 10 < reports[0].reached == reports[1].reached < 30
    for before, after in zip(*(report.frames for report in reports), strict=True):
        assert after.error <= max(before.error, 1e-3) + 1e-3, after.frame


def main():
    addon_utils.enable("rigify", default_set=True)
    addon_utils.enable("ik_triangulation", default_set=True)
    for use in (metarig, generated, stretched):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        try:
            use(Path(sys.argv[1]))
        except Exception:
            traceback.print_exc()
        else:
            print(f"{use.__name__}: as it should be")


try:
    main()
except BaseException:
    traceback.print_exc()
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
