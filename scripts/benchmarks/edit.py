# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of a baked shot by dragging: steps of a pull of an arm and of a body, what it reaches, keeps and leaves alone.

The rigs are Rigify's human metarig, a T pose with Mixamo's names, and the same with those of VRM. There is no peer.
"""

from functools import partial
from math import degrees, tau
from statistics import median
from time import process_time

FRAMES, AT, FALLOFF, STEPS = 61, 30, 30, 10
OFFSET = (0.0, -0.1, 0.1)
_VRM = {
    "Hips": "J_Bip_C_Hips",
    "Spine": "J_Bip_C_Spine",
    "Spine1": "J_Bip_C_Chest",
    "Spine2": "J_Bip_C_UpperChest",
    "Neck": "J_Bip_C_Neck",
    "Head": "J_Bip_C_Head",
    "Shoulder": "Shoulder",
    "Arm": "UpperArm",
    "ForeArm": "LowerArm",
    "Hand": "Hand",
    "UpLeg": "UpperLeg",
    "Leg": "LowerLeg",
    "Foot": "Foot",
    "ToeBase": "ToeBase",
}


def mixamo():
    """A T pose with the names of Mixamo, and its left hand and foot."""
    from tests.edited import t_pose_rig

    return t_pose_rig(), "mixamorig:LeftHand", "mixamorig:LeftFoot"


def vrm():
    """The same with the names of VRM."""
    rig, _, _ = mixamo()
    for bone in rig.data.bones:
        name = bone.name.removeprefix("mixamorig:")
        side = next((each for each in ("Left", "Right") if name.startswith(each)), "")
        known = _VRM[name.removeprefix(side)]
        bone.name = f"J_Bip_{side[0]}_{known}" if side else known
    return rig, "J_Bip_L_Hand", "J_Bip_L_Foot"


def metarig():
    """Rigify's human, whose operators are registered once."""
    import addon_utils
    import bpy

    if not hasattr(bpy.types, "OBJECT_OT_armature_human_metarig_add"):
        addon_utils.enable("rigify")
    bpy.ops.object.armature_human_metarig_add()
    bpy.ops.object.mode_set(mode="POSE")
    return bpy.context.object, "hand.L", "foot.L"


def baked(make, whole):
    """The rig with a baked shot of a hand that is moved, of the `whole` body or the arm alone; hand and foot."""
    import bpy
    from mathutils import Vector

    from tests.rigs import select

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig, hand, foot = make()
    select(rig, hand)
    if whole:
        bpy.ops.pose.ik_triangulation_body_add()
    else:
        bpy.ops.pose.ik_triangulation_limb_add()
    target = rig.pose.bones[hand].ik_triangulation.target
    start = target.location.copy()
    for frame, share in ((1, 0.2), (FRAMES // 2, 1.0), (FRAMES, 0.4)):
        target.location = start + Vector((-0.25, -0.25, -0.1)) * share
        target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = FRAMES
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=FRAMES)
    return rig, hand, foot


def watched(rig, names, frames):
    """Tails of bones at frames, and the largest turn of any bone from frame to frame [degrees]."""
    import bpy

    places, turn, before = {name: [] for name in names}, 0.0, None
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        for name in names:
            places[name].append(rig.pose.bones[name].tail.copy())
        now = [bone.matrix_basis.to_quaternion() for bone in rig.pose.bones]
        if before is not None:
            turns = [a.rotation_difference(b).angle for a, b in zip(before, now, strict=True)]
            turn = max(turn, *(min(each, tau - each) for each in turns))
        before = now
    return places, degrees(turn)


def run(arguments):
    """A drag of ten steps at each rig, of the arm alone and of the body."""
    import bpy
    from mathutils import Vector

    import ik_triangulation
    from ik_triangulation.jobs.edits.trail import PullDrag

    ik_triangulation.register()
    print(f"Blender {bpy.app.version_string}, {FRAMES} frames, falloff {FALLOFF}, {STEPS} steps; ms of the processor")
    print(
        f"{'rig':<8} {'of':<5} {'begin':>6} {'step':>6} {'worst':>6} {'retime':>6} {'end':>6} {'off mm':>7} "
        f"{'slip':>8} {'turn':>5}"
    )
    for make in (metarig, mixamo, vrm):
        for whole in (False, True):
            rig, hand, foot = baked(make, whole)
            frames = range(1, FRAMES + 1)
            before, turned = watched(rig, (hand, foot), frames)
            started = process_time()
            drag = PullDrag(rig, hand, AT, FALLOFF, bpy.context.scene, bpy.context.view_layer)
            begin, steps = 1e3 * (process_time() - started), []
            for step in range(1, STEPS + 1):
                started = process_time()
                drag.pull(Vector(OFFSET) * step / STEPS, FALLOFF, "SMOOTH")
                steps.append(1e3 * (process_time() - started))
            later = PullDrag(rig, hand, AT, FALLOFF, bpy.context.scene, bpy.context.view_layer)
            timing = median(taken(partial(later.retime, shift, FALLOFF, "SMOOTH")) for shift in range(1, 6))
            later.cancel()
            started = process_time()
            drag.finish()
            end = 1e3 * (process_time() - started)
            after, turning = watched(rig, (hand, foot), frames)
            off = 1e3 * (after[hand][AT - 1] - before[hand][AT - 1] - Vector(OFFSET)).length
            leg = rig.pose.bones[foot].tail.length
            slip = max((a - b).length for a, b in zip(after[foot], before[foot], strict=True)) / leg
            print(
                f"{make.__name__:<8} {'body' if whole else 'arm':<5} {begin:6.0f} {median(steps):6.0f} "
                f"{max(steps):6.0f} {timing:6.0f} {end:6.0f} {off:7.2f} {slip:8.1e} {turning / turned:5.2f}",
                flush=True,
            )
    ghosts()
    ik_triangulation.unregister()


def ghosts():
    """Ghosts of the baked metarig: what a redraw costs where nothing changed, at another frame, and a reading."""
    import bpy
    import gpu

    from ik_triangulation.ui.overlay import onion

    if not hasattr(gpu, "init"):
        return
    gpu.init()
    baked(metarig, True)
    settings, scene = bpy.context.scene.ik_triangulation_ghosts, bpy.context.scene
    settings.show, screen = True, gpu.types.GPUOffScreen(1280, 720)
    area = next(area for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(area=area, region=region), screen.bind(), gpu.matrix.push_pop():
        gpu.matrix.load_matrix(bpy.context.region_data.view_matrix)
        gpu.matrix.load_projection_matrix(bpy.context.region_data.window_matrix)
        onion.figures_of(bpy.context)
        reading = taken(lambda: [None for _ in iter(onion._read_on, None)])
        scene.frame_set(AT)
        onion.draw_figures()  # makes the shaders
        same = median(taken(onion.draw_figures) for _ in range(50))
        planned = median(taken(lambda: onion.figures_of(bpy.context)) for _ in range(50))
        other = []
        for frame in range(10, 50):
            scene.frame_set(frame)
            other.append(taken(onion.draw_figures))
    bones = len(next(iter(onion._state.figures.values()))[0])
    onion.forget_figures()
    screen.free()
    print(
        f"{2 * settings.count} ghosts of {bones} bones: a redraw {same:.2f} ms with the pixels of a processor, "
        f"{planned:.2f} ms without, at another frame {median(other):.1f} ms; "
        f"{FRAMES} frames read in {reading:.0f} ms"
    )


def taken(work):
    """Return the time of the processor that a call takes [ms]."""
    started = process_time()
    work()
    return 1e3 * (process_time() - started)


def add_arguments(parser):
    """Add no arguments: all of it takes a minute."""
