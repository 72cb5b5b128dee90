# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig of a whole body, with hands that reach and feet that are held."""

import bpy
from mathutils import Quaternion, Vector

from .rigs import armature

_TRUNK = {  # name: parent, head, tail
    "spine": (None, (0, 0.05, 1.0), (0, 0.03, 1.14)),
    "spine.001": ("spine", (0, 0.03, 1.14), (0, 0.02, 1.27)),
    "spine.002": ("spine.001", (0, 0.02, 1.27), (0, 0.03, 1.42)),
}
_HEAD = {
    "neck": ("spine.002", (0, 0.03, 1.46), (0, 0.0, 1.55)),
    "head": ("neck", (0, 0.0, 1.55), (0, 0.02, 1.78)),
}
_SIDE = {
    "upper_arm": ("spine.002", (0.18, 0.04, 1.42), (0.42, 0.06, 1.30)),
    "forearm": ("upper_arm", (0.42, 0.06, 1.30), (0.64, 0.02, 1.18)),
    "hand": ("forearm", (0.64, 0.02, 1.18), (0.72, 0.0, 1.14)),
    "thigh": ("spine", (0.1, 0.0, 1.0), (0.1, -0.03, 0.54)),
    "shin": ("thigh", (0.1, -0.03, 0.54), (0.1, 0.02, 0.09)),
    "foot": ("shin", (0.1, 0.02, 0.09), (0.1, -0.1, 0.02)),
    "toe": ("foot", (0.1, -0.1, 0.02), (0.1, -0.17, 0.02)),
    "heel": ("foot", (0.06, 0.08, 0.0), (0.14, 0.08, 0.0)),
}
SMALL = (-0.1, -0.1, -0.15)  # of reaching_body(): solved in a third of the time, where what is written is tested
FEET, HANDS = ("foot.L", "foot.R"), ("hand.L", "hand.R")


def human_rig(name="Rig", with_head=False):
    """An armature of hips, spine, arms and legs, named as Rigify names them, 1 m from the floor to the hips.

    With `with_head` it has a neck and a head as well, which leans back a little.
    """
    specs = []
    for bone, (parent, head, tail) in {**_TRUNK, **(_HEAD if with_head else {})}.items():
        specs.append({"name": bone, "head": Vector(head), "tail": Vector(tail), "parent": parent})
    for bone, (parent, head, tail) in _SIDE.items():
        for side, sign in (("L", 1.0), ("R", -1.0)):
            mirror = Vector((sign, 1.0, 1.0))
            above = parent if parent in _TRUNK else f"{parent}.{side}"
            specs.append({"name": f"{bone}.{side}", "head": Vector(head) * mirror, "tail": Vector(tail) * mirror})
            specs[-1] |= {"parent": above, "connect": bone in ("forearm", "hand", "shin", "foot", "toe")}
    return armature(name, specs)


def keyed_target(rig, bone, ways, name=None):
    """An empty that is at a bone's tail, moved by vectors (world space) that are keyed at frames."""
    target = bpy.data.objects.new(name or f"Target {bone}", None)
    bpy.context.scene.collection.objects.link(target)
    start = rig.matrix_world @ rig.pose.bones[bone].tail
    for frame, way in ways.items():
        target.location = start + Vector(way)
        target.keyframe_insert("location", frame=frame)
    return target


def followed_rig(last):
    """A human whose left arm is a limb that follows a target, keyed at frames 1, 25 and the last one."""
    rig = human_rig()
    target = keyed_target(rig, "hand.L", {1: (0, 0, 0), 25: (-0.2, -0.3, 0.1), last: (-0.3, -0.1, -0.2)})
    stored = rig.pose.bones["hand.L"].ik_triangulation
    stored.target, stored.chain_count = target, 3
    return rig


def reaching_body(rig, last=24, down=(-0.45, -0.4, -0.8), **more):
    """Both hands to the shins and back, feet held."""
    from ik_triangulation.rig.body import RigBody  # noqa: PLC0415 in the window the extension has another name
    from ik_triangulation.rig.limb import Limb  # noqa: PLC0415

    limbs = []
    for name, sign in zip(HANDS, (1.0, -1.0), strict=True):
        way = Vector(down) * Vector((sign, 1.0, 1.0))
        target = keyed_target(rig, name, {1: (0, 0, 0), (1 + last) // 2: way, last: (0, 0, 0)})
        limbs.append(Limb.from_tip(rig, name, target))
    return RigBody(rig, tuple(limbs), FEET, **{"balance": True, **more})


def set_up_rig(last=24, down=(-0.45, -0.4, -0.8), rig=None):
    """The rig of a whole body, set up in one call, with targets that take both hands to the shins and back.

    By default it is a new human.
    """
    from ik_triangulation.jobs.setup import set_up_body  # noqa: PLC0415 in the window the extension has another name

    rig = rig or human_rig()
    made = set_up_body(rig, relax_arms=False)  # the moves are from spread arms
    for name in made.reach:
        target, sign = rig.pose.bones[name].ik_triangulation.target, 1.0 if name.endswith("L") else -1.0
        start = target.location.copy()
        for frame, share in ((1, 0.0), ((1 + last) // 2, 1.0), (last, 0.0)):
            target.location = start + Vector(down) * Vector((sign, 1.0, 1.0)) * share
            target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, last
    bpy.context.scene.frame_set(1)
    rig.data.bones.active = rig.data.bones["hand.L"]
    return rig


def sliding_rig(last=48, name="Rig"):
    """The rig of a whole body as recorded: its feet slide aside all the while, and the left one makes a step."""
    rig = human_rig(name)
    hips = rig.pose.bones["spine"]
    into = (rig.matrix_world @ hips.bone.matrix_local).to_3x3().inverted()
    for frame in range(1, last + 1):
        hips.location = into @ Vector((0.002 * (frame - 1), 0.0, 0.0))
        hips.keyframe_insert("location", frame=frame)
        share = max(0.0, 1.0 - ((frame - last / 2) / 7.0) ** 2)
        for bone, turn in (("thigh.L", -0.7 * share), ("shin.L", 1.0 * share)):
            rig.pose.bones[bone].rotation_quaternion = Quaternion((1, 0, 0), turn)
            rig.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, last
    bpy.context.scene.frame_set(1)
    return rig


def tails(rig, bone, frames):
    """Where the tail of a bone is at each frame, world space, as Blender shows it."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
        found.append(rig.matrix_world @ rig.pose.bones[bone].tail)
    return found


def walking_body(frames=72, slide=0.0):
    """The rig of a whole body, keyed at every frame, that walks 1.2 m along -Y on flat ground in steps of 12 frames.

    With `slide` its feet slide back by so much in a step, as those of a recording.
    """
    from ik_triangulation.jobs.bake import bake_body  # noqa: PLC0415
    from ik_triangulation.rig.body import RigBody  # noqa: PLC0415
    from ik_triangulation.rig.limb import Limb  # noqa: PLC0415

    model, step, way = human_rig("Model"), 12, 1.2 / frames
    every = range(1, frames + 1)
    into = model.pose.bones["spine"].bone.matrix_local.to_3x3().inverted()
    limbs = []
    for name, phase in (("foot.L", 0), ("foot.R", step)):
        target = bpy.data.objects.new(f"Step {name}", None)
        bpy.context.scene.collection.objects.link(target)
        start = model.pose.bones[name].tail.copy()
        for frame in every:
            lap, rest = divmod(frame - 1 + phase, 2 * step)
            swing = max(0.0, (rest - step + 1) / (step + 1))
            along = 2 * step * way * (lap + swing * swing * (3.0 - 2.0 * swing)) - way * phase + 0.5 * step * way
            back = slide * min(rest, step) / step
            target.location = start + Vector((0.0, back - along, 0.12 * (4.0 * swing * (1.0 - swing))))
            target.keyframe_insert("location", frame=frame)
        limbs.append(Limb.from_tip(model, name, target, 3))
    hips = model.pose.bones["spine"]
    for frame in every:
        hips.location = into @ Vector((0.0, -way * (frame - 1), -0.04))
        hips.keyframe_insert("location", frame=frame)
    bake_body(RigBody(model, tuple(limbs), (), hips="spine", hips_motion="FIXED"), 1, frames)
    rig = human_rig()
    for frame in every:
        bpy.context.scene.frame_set(frame)
        for bone in model.pose.bones:
            own = rig.pose.bones[bone.name]
            own.rotation_quaternion, own.location = bone.rotation_quaternion, bone.location
            own.keyframe_insert("rotation_quaternion", frame=frame)
            if bone.name == "spine":
                own.keyframe_insert("location", frame=frame)
    for limb in limbs:
        bpy.data.objects.remove(limb.target)
    bpy.data.objects.remove(model)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    bpy.context.scene.frame_set(1)
    return rig
