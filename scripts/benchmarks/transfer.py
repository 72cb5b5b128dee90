# SPDX-License-Identifier: GPL-3.0-or-later
"""FK and IK both ways on four limbs of five kinds of control rig, beside the operators of Rigify's own rigs.

IK controls with their poles are keyed at random, transferred to FK, then FK controls are keyed at random and go to IK.
What counts is what Blender shows of upper arms and thighs, forearms and shins, hands and feet at the keys.
"""

import re
import tempfile
from math import pi
from pathlib import Path
from random import Random
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from .likeness import angle
from .scenes import empty_file, extension, silent

KEYS, LAST = (1, 8, 15, 22, 29, 36), 40
SIDES = "L", "R"
PARTS = {"hand": ("upper_arm", "forearm", "hand"), "foot": ("thigh", "shin", "foot")}
RIGIFY, POLES, PLAIN, STRETCHING, CHAINS = (
    "Rigify",
    "Rigify with poles, turned and scaled",
    "IK on the limb's own bones",
    "IK on its own bones that stretches",
    "chains for FK, IK and what is shown",
)
KINDS = RIGIFY, POLES, PLAIN, STRETCHING, CHAINS
OURS, THEIRS = "transfer", "Rigify's"
HEAD = (
    "| rig | to | by | elbow, knee, hand, foot off, mm | hand, foot turned, degrees | ms, median of rounds |\n"
    "|---|---|---|---|---|---|"
)


class Limb(NamedTuple):
    """Names of a limb's bones: FK controls, what is shown, IK control, pole."""

    fk: list[str]
    shown: list[str]
    control: str
    pole: str


class Rig(NamedTuple):
    """A control rig, its limbs, and its size beside a person."""

    ob: Any
    limbs: list[Limb]
    size: float = 1.0


def made(kind, rigify):
    """Make a rig of a kind; `rigify` is a file with Rigify's human, generated."""
    if kind in (RIGIFY, POLES):
        return _rigify(rigify, kind == POLES)
    from tests.characters import character, part_of

    names = {PLAIN: "Mixamo", STRETCHING: "CMU", CHAINS: "VRoid"}[kind]
    empty_file()
    ob = character(names, "Rig")
    limbs = [
        Limb([part_of(ob, names, part, side).name for part in parts], [], f"IK {end}.{side}", f"Pole {end}.{side}")
        for end, parts in PARTS.items()
        for side in SIDES
    ]
    return Rig(ob, [_with_ik(ob, limb, kind) for limb in limbs])


def _rigify(file, poles):
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(file))
    ob = bpy.data.objects["rig"]
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="POSE")
    limbs, size = [], 1.0
    for end, parts in PARTS.items():
        for side in SIDES:
            fk, shown = [f"{part}_fk.{side}" for part in parts], [f"ORG-{part}.{side}" for part in parts]
            limbs.append(Limb(fk, shown, f"{end}_ik.{side}", f"{parts[0]}_ik_target.{side}"))
            ob.pose.bones[f"{parts[0]}_parent.{side}"]["pole_vector"] = poles
    if poles:
        ob.location, ob.rotation_euler, size = (1.0, -2.0, 0.3), (0.4, -0.3, 1.7), 1.6
        ob.scale = (size,) * 3
    bpy.context.view_layer.update()
    return Rig(ob, limbs, size)


def _with_ik(ob, limb, kind):
    """Add the control, the pole and the constraints of a limb to a character; return it with what is shown."""
    import bpy
    from mathutils import Vector

    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    edit, copies = ob.data.edit_bones, {}
    upper, lower, end = (edit[name] for name in limb.fk)
    base = upper.parent
    for suffix in ("IK", "shown") if kind == CHAINS else ():
        above = base
        for name in limb.fk:
            new = edit.new(f"{name} {suffix}")
            new.head, new.tail, new.roll, new.parent = edit[name].head, edit[name].tail, edit[name].roll, above
            above = copies[name, suffix] = new
    long = (lower.head - upper.head).length
    to = lower.head - upper.head.lerp(end.head, 0.5)
    flat = to.length < 0.02 * long
    pole = lower.head + (Vector((0.0, 1.0, 0.0)) if flat else to.normalized()) * long
    control, aim = edit.new(limb.control), edit.new(limb.pole)
    control.head, control.tail, control.roll = end.head, end.tail, end.roll
    aim.head, aim.tail = pole, pole + Vector((0.0, 0.0, 0.2 * long))
    turned = [copies[name, "IK"].name if copies else name for name in limb.fk]
    shown = [copies[name, "shown"].name if copies else name for name in limb.fk]
    bpy.ops.object.mode_set(mode="POSE")
    bones = ob.pose.bones
    bones[limb.control].rotation_mode = "QUATERNION"
    solve = bones[turned[1]].constraints.new("IK")
    solve.target, solve.subtarget, solve.chain_count = ob, limb.control, 2
    solve.pole_target, solve.pole_subtarget, solve.pole_angle = ob, limb.pole, -0.5 * pi
    solve.use_stretch = kind == STRETCHING
    for name in turned[:2] if kind == STRETCHING else ():
        bones[name].ik_stretch = 0.1
    turn = bones[turned[2]].constraints.new("COPY_ROTATION")
    turn.target, turn.subtarget = ob, limb.control
    if copies:
        ob["IK_FK"] = 0.0
        ob.id_properties_ui("IK_FK").update(min=0.0, max=1.0)
        for name in limb.fk:
            for source, driven in ((copies_name(name), False), (name, True)):
                copy = bones[f"{name} shown"].constraints.new("COPY_TRANSFORMS")
                copy.target, copy.subtarget = ob, source
                if driven:
                    driver = copy.driver_add("influence").driver
                    driver.type = "AVERAGE"
                    target = driver.variables.new().targets[0]
                    target.id, target.data_path = ob, '["IK_FK"]'
    bpy.context.view_layer.update()
    return limb._replace(shown=shown)


def copies_name(name):
    """The name of the bone for IK beside one for FK."""
    return f"{name} IK"


def key_ik(rig, random):
    """Key all IK controls and poles within reach."""
    from mathutils import Quaternion, Vector

    for frame in KEYS:
        for limb in rig.limbs:
            control, aim = (rig.ob.pose.bones[name] for name in (limb.control, limb.pole))
            root, end = (rig.ob.data.bones[name].head_local for name in (limb.fk[0], limb.fk[2]))
            size = (end - root).length
            way = (root - end) * random.uniform(0.15, 0.4) + _vector(random, 0.15 * size)
            control.location = control.bone.matrix_local.to_3x3().inverted() @ way
            control.rotation_mode = "QUATERNION"
            control.rotation_quaternion = Quaternion(_vector(random, 1.0), random.uniform(-0.6, 0.6))
            aim.location = Vector(_vector(random, 0.2 * size))
            for bone, path in ((control, "location"), (control, "rotation_quaternion"), (aim, "location")):
                bone.keyframe_insert(path, frame=frame)


def key_fk(rig, random):
    """Key all FK controls, with bent elbows and knees, as long as at rest."""
    from mathutils import Quaternion

    bones = rig.ob.pose.bones
    for frame in KEYS:
        for limb in rig.limbs:
            hinge = _hinge(rig.ob, limb)
            for number, name in enumerate(limb.fk):
                bone = bones[name]
                axis, turn = _vector(random, 1.0), random.uniform(-0.5, 0.5)
                if number == 1:
                    axis, turn = hinge, random.uniform(0.4, 1.3)
                bone.rotation_mode = "QUATERNION"
                bone.rotation_quaternion, bone.scale = Quaternion(axis, turn), (1.0, 1.0, 1.0)
                bone.keyframe_insert("rotation_quaternion", frame=frame)
                bone.keyframe_insert("scale", frame=frame)


def _hinge(ob, limb):
    """The axis of the bend at rest of an elbow or knee, in its own axes."""
    from mathutils import Vector

    upper, lower, end = (ob.data.bones[name].head_local for name in limb.fk)
    axis = (lower - upper).cross(end - lower)
    if axis.length < 1e-4 * (end - upper).length_squared:
        axis = (end - upper).cross(Vector((0.0, 0.0, 1.0)))
    return ob.data.bones[limb.fk[1]].matrix_local.to_3x3().inverted() @ axis.normalized()


def _vector(random, size):
    from mathutils import Vector

    return Vector([random.uniform(-size, size) for _ in range(3)])


def shown(rig):
    """Matrices (keys, limbs, 3, 4, 4) of what is shown, world space."""
    import bpy

    found = []
    for frame in KEYS:
        bpy.context.scene.frame_set(frame)
        bones = rig.ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        found.append([[rig.ob.matrix_world @ bones[name].matrix for name in limb.shown] for limb in rig.limbs])
    return np.array(found)


def off(rig, before, after):
    """How far middles and ends are off [mm of a person], and how far ends are turned [degrees], at most."""
    apart = np.linalg.norm(before[:, :, 1:, :3, 3] - after[:, :, 1:, :3, 3], axis=-1).max()
    ends = [each[:, :, 2, :3, :3] for each in (before, after)]
    turns = [end / np.linalg.norm(end[..., :1], axis=-2, keepdims=True) for end in ends]
    return 1000.0 * apart / rig.size, float(angle(*turns).max())


def by_ours(rig, to):
    """Transfer by the operator; return seconds."""
    import bpy

    began = process_time()
    with silent():
        done = bpy.ops.pose.ik_triangulation_transfer(to=to, frame_start=1, frame_end=LAST, keys="SOURCE")
    assert done == {"FINISHED"}, done
    return process_time() - began


def by_rigify(rig, to):
    """Transfer by the rig's own operators, limb by limb, and switch over as a user does; return seconds."""
    import bpy

    text = bpy.data.texts["rig_ui.py"].as_string()
    name = "rigify_generic_snap_bake_" if to == "FK" else "rigify_limb_ik2fk_bake_"
    pattern = rf"operator\('pose\.({name}\w+)', text='Action'[^\n]*\n((?: +props\.\w+ = [^\n]*\n)+)"
    calls = []
    for operator, lines in re.findall(pattern, text):
        values = dict(re.findall(r"props\.(\w+) = '([^\n]*)'\n", lines))
        if any(limb.control in lines for limb in rig.limbs):
            calls.append((operator, values))
    assert len(calls) == len(rig.limbs), len(calls)
    began = process_time()
    with silent():
        for operator, values in calls:
            getattr(bpy.ops.pose, operator)(**values)
    seconds = process_time() - began
    for upper, *_ in PARTS.values():
        for side in SIDES:
            rig.ob.pose.bones[f"{upper}_parent.{side}"]["IK_FK"] = float(to == "FK")
    rig.ob.update_tag()
    return seconds


def trial(kind, method, rigify, seed):
    """Return rows (to, mm, degrees, keys, seconds) of both ways."""
    import bpy

    rig, random, rows = made(kind, rigify), Random(f"{kind} {seed}"), []
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    if method == THEIRS:
        with silent():
            exec(compile(bpy.data.texts["rig_ui.py"].as_string(), "rig_ui.py", "exec"), {"__name__": "rig_ui"})
    key_ik(rig, random)
    for to in ("FK", "IK"):
        if to == "IK":
            key_fk(rig, random)
        before = shown(rig)
        seconds = (by_ours if method == OURS else by_rigify)(rig, to)
        rows.append((to, *off(rig, before, shown(rig)), seconds))
    return rows


def run(arguments):
    """A line for each kind of rig, way and method, of the worst of all rounds."""
    with extension(), tempfile.TemporaryDirectory() as folder:
        rigify = generated(Path(folder, "rigify.blend"))
        print(HEAD)
        for kind in arguments.rigs:
            for method in (OURS, THEIRS) if kind in (RIGIFY, POLES) else (OURS,):
                rows = [trial(kind, method, rigify, seed) for seed in range(arguments.rounds)]
                for both in zip(*rows, strict=True):
                    far, turned = (max(row[k] for row in both) for k in (1, 2))
                    took = 1e3 * median(row[3] for row in both)
                    print(f"| {kind} | {both[0][0]} | {method} | {far:.4f} | {turned:.4f} | {took:.0f} |", flush=True)


def generated(file):
    """Save Rigify's human as it is generated to a file."""
    import addon_utils
    import bpy

    empty_file()
    addon_utils.enable("rigify", default_set=True)
    with silent():
        bpy.ops.object.armature_basic_human_metarig_add()
        bpy.ops.pose.rigify_generate()
        bpy.ops.wm.save_as_mainfile(filepath=str(file))
    return file


def add_arguments(parser):
    """Add the benchmark's arguments to the command line."""
    parser.add_argument("--rigs", nargs="+", default=KINDS, choices=KINDS, help="kinds of control rig")
    parser.add_argument("--rounds", type=int, default=3, help="random motions of each")
