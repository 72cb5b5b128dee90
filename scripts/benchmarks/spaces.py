# SPDX-License-Identifier: GPL-3.0-or-later
"""Spaces of a hand's target: a table, then the hips, then free; how far target and tip move at the changes.

The rigs are those of the edits. All distances are shares of the limb's reach. At a change the place before it, carried
on by the space, is compared with the place after it.
"""

FRAMES, TABLE, HIPS = 72, (12, 30), (31, 50)
_SIZE = 0.15  # of the reach: how far the hand is moved
_MOVES = ((1, (0.0, 0.0, 0.0)), (12, (1.0, 0.6, 0.2)), (60, (0.2, 0.6, 0.3)), (FRAMES, (0.0, 0.0, 0.0)))


def shot(make, whole=False):
    """A rig with a keyed hand, hips that sway and a table that is moved and turned; hand, hips and table."""
    import bpy
    from mathutils import Euler, Vector

    from ik_triangulation.rig.stance import stance_of
    from tests.rigs import empty, select

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig, hand, foot = make()
    bpy.context.scene.frame_end = FRAMES
    select(rig, hand)
    if whole:
        bpy.ops.pose.ik_triangulation_body_add()
    else:
        bpy.ops.pose.ik_triangulation_limb_add()
    stored, stance = rig.pose.bones[hand].ik_triangulation, stance_of(rig)
    world = rig.matrix_world.to_3x3()
    reach = sum(rig.pose.bones[name].length for name in limb_of(rig, hand).bones) * world.median_scale
    axes = [(world @ Vector(axis)).normalized() for axis in (stance.front, -Vector(stance.left), -Vector(stance.up))]
    target, start = stored.target, stored.target.matrix_world.translation.copy()
    for frame, way in _MOVES:
        along = (axis * part for axis, part in zip(axes, way, strict=True))
        target.location = start + sum(along, Vector()) * reach * _SIZE
        target.keyframe_insert("location", frame=frame)
    table = empty("Table", target.location)
    for frame, share in ((1, 0.0), (FRAMES, 1.0)):
        table.location = start + (axes[0] + axes[1] * 0.5) * (reach * _SIZE * share)
        table.rotation_euler = Euler((0.1 * share, 0.0, 0.4 * share))
        table.keyframe_insert("location", frame=frame)
        table.keyframe_insert("rotation_euler", frame=frame)
    line = [above.name for above in rig.pose.bones[foot].parent_recursive]
    hips = next(each.name for each in rig.pose.bones[hand].parent_recursive if each.name in line)
    bone = rig.pose.bones[hips]
    for frame, sway in ((1, 0.0), (40, 0.06), (FRAMES, 0.0)):
        bone.location = (sway * reach / world.median_scale, 0.0, 0.0)
        bone.keyframe_insert("location", frame=frame)
    return rig, hand, hips, table, reach


def limb_of(rig, hand):
    """The limb that ends in a hand."""
    from ik_triangulation.rig.limb import selected_limb

    return selected_limb(rig.pose.bones[hand])


def seen(rig, hand, target, spaces):
    """Places of target and tip at all frames, and world matrices of the spaces."""
    import bpy
    from mathutils import Matrix

    found = {}
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        places = [ob.matrix_world @ (ob.pose.bones[bone].matrix if bone else Matrix()) for ob, bone in spaces]
        tip = rig.matrix_world @ rig.pose.bones[hand].tail
        found[frame] = target.matrix_world.translation.copy(), tip.copy(), places
    return found


def spaces(make, whole=False):
    """Largest moves of target and tip at a change, of the tip in a space from its place there, and missed frames."""
    from ik_triangulation.jobs.bake import bake, bake_body
    from ik_triangulation.jobs.edits.spaces import set_space
    from ik_triangulation.jobs.shots.problem import body_of

    rig, hand, hips, table, reach = shot(make, whole)
    target = rig.pose.bones[hand].ik_triangulation.target
    where = [(table, ""), (rig, hips)]
    before = seen(rig, hand, target, where)
    set_space(rig, hand, table, "", *TABLE)
    set_space(rig, hand, rig, hips, *HIPS)
    report = bake_body(body_of(rig, hand), 1, FRAMES) if whole else bake(limb_of(rig, hand), 1, FRAMES)
    after = seen(rig, hand, target, where)
    moved, off = [0.0, 0.0], 0.0
    moved[0] = (after[TABLE[0]][0] - before[TABLE[0]][0]).length / reach
    for number, (first, last) in enumerate((TABLE, HIPS)):
        for frame in range(first, last + 1):
            there = [after[f][2][number].inverted() @ after[f][1] for f in (first, frame)]
            off = max(off, (there[0] - there[1]).length * after[frame][2][number].median_scale / reach)
        for part in (0, 1):
            carried = after[last + 1][2][number] @ after[last][2][number].inverted() @ after[last][part]
            moved[part] = max(moved[part], (carried - after[last + 1][part]).length / reach)
    missed = sum(len(tip.missed) for tip in report.tips.values())
    return moved[0], moved[1], off, missed


def add_arguments(parser):
    """Add no arguments."""


def run(arguments):
    """Print a line for each rig, its arm alone and its whole body."""
    import ik_triangulation

    from .edit import metarig, mixamo, vrm

    ik_triangulation.register()

    print("rig             target moves  tip moves  tip in space  missed")
    for name, make in (("metarig", metarig), ("Mixamo names", mixamo), ("VRM names", vrm)):
        for whole in (False, True):
            numbers = spaces(make, whole)
            what = f"{name}, body" if whole else name
            print(f"{what:20} {numbers[0]:.1e}  {numbers[1]:.1e}  {numbers[2]:.1e}  {numbers[3]}", flush=True)
