# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of many limbs and of whole bodies, each by one press, beside one bpy.ops.nla.bake of the same bones.

Bake Action's IK is on all limbs at once. It balances nothing and holds no foot: the targets are all that it follows.
"""

from gc import collect
from math import sin
from statistics import median

from .scenes import empty_file, extension, silent

LIMBS = (10, 250), (60, 250)  # limbs of three bones, and frames
BODIES = 250, 2000  # frames


def limbs_in_blender(count, frames):
    """Bake the limbs by Blender's IK; return the seconds it took."""
    import bpy

    from .bake import bake_action
    from .bounds import make_limbs

    tips = make_limbs(count, frames)
    for tip in tips:
        constraint = tip.constraints.new("IK")
        constraint.target, constraint.chain_count = tip.ik_triangulation.target, tip.ik_triangulation.chain_count
    select(tips[0].id_data)
    bpy.context.view_layer.update()
    collect()
    return bake_action(frames)


def our_limbs(count, frames, clock):
    """Press Bake All for the limbs; return the seconds it took, and the frames reached of all."""
    import bpy

    from ik_triangulation.ui.last_result import latest

    from .bounds import make_limbs

    tips = make_limbs(count, frames)
    collect()
    with silent():
        started = clock()
        bpy.ops.pose.ik_triangulation_bake_all()
        took = clock() - started
    return took, sum(latest(tip.id_data, tip.name).report.reached for tip in tips)


def body(frames):
    """A body of Set Up Body whose hands go to the shins and back along smooth ways keyed every ten frames."""
    import bpy

    from tests.bodies import HANDS, set_up_rig

    empty_file()
    rig = set_up_rig(last=frames)
    for side, name in zip((1.0, -1.0), HANDS, strict=True):
        target = rig.pose.bones[name].ik_triangulation.target
        x, y, z = target.location
        target.animation_data_clear()
        for frame in range(1, frames + 11, 10):
            t = frame / 24.0
            across, ahead = 0.1 * sin(0.8 * t) - 0.15, 0.15 * sin(0.6 * t + (side < 0.0)) - 0.2
            target.location = x + side * across, y + ahead, z + 0.2 * sin(0.5 * t) - 0.25
            target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    bpy.context.view_layer.update()
    return rig


def body_in_blender(frames):
    """Bake all bones of the body with Blender's IK on arms and legs; return the seconds it took."""
    import bpy

    from tests.bodies import FEET, HANDS

    from .bake import bake_action

    rig = body(frames)
    for name in (*HANDS, *FEET):
        bone = rig.pose.bones[name]
        target = bone.ik_triangulation.target
        if target is None:
            target = bpy.data.objects.new("Foot", None)
            bpy.context.scene.collection.objects.link(target)
            target.matrix_world = rig.matrix_world @ bone.matrix
        constraint = bone.parent.constraints.new("IK")
        constraint.target, constraint.chain_count = target, 2
    select(rig)
    bpy.context.view_layer.update()
    collect()
    return bake_action(frames)


def our_body(frames, clock):
    """Press Bake for the body; return the seconds it took, and whether all was reached."""
    import bpy

    from ik_triangulation.ui.last_result import latest
    from tests.bodies import HANDS

    rig = body(frames)
    collect()
    with silent():
        started = clock()
        bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=frames)
        took = clock() - started
    return took, latest(rig, HANDS[0]).report.reached


def select(rig):
    """Select all bones of a rig, as Bake Action takes these."""
    for bone in rig.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = True


@extension()
def run(arguments):
    """Print the table of both."""
    from .bake import clock_of

    clock, kept = clock_of(arguments), []
    print("\n| What | Frames | nla.bake, ms | Ours, ms | Ratio | Frames reached |\n|---|---|---|---|---|---|")
    rows = [
        (f"{count} limbs by Bake All", frames, (count, frames), limbs_in_blender, our_limbs) for count, frames in LIMBS
    ]
    rows += [("a body of Set Up Body", frames, (frames,), body_in_blender, our_body) for frames in BODIES]
    for title, frames, size, peer, ours in rows:
        theirs, own, reached = [], [], 0
        for _ in range(arguments.rounds):
            theirs.append(peer(*size))
            took, reached = ours(*size, clock)
            own.append(took)
        before, after = (median(times) * 1e3 for times in (theirs, own))
        print(f"| {title} | {frames} | {before:.0f} | {after:.0f} | {before / after:.2f} | {reached} |", flush=True)
        kept.append([title, frames, before, after, reached])
    return kept
