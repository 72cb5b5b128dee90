# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's acts: empties made by + on hands, feet and heads, keyed along what a body does.

Places and directions are in the rest axes of the body, in metres: it looks along -Y, its left is +X.
"""

from math import cos, radians, sin, tau

import bpy
from mathutils import Euler, Matrix, Quaternion, Vector

from . import props

FRAMES = 120  # of each act; frame 121 would be the first again
TABLE = 1.1  # height of its top
THUMB = Vector((0.0, -1.0, 0.0))  # where the thumbs point at rest
HANG = (0.272, -0.03, 0.985), (-0.06, -0.14, -1.0), (-0.3, -1.0, 0.0)  # a left hand beside the hip


class Actor:
    """A body at a place on the ground, with what it acts with in a collection of its own."""

    def __init__(self, rig, collection, x):
        self.rig, self.collection, self.here = rig, collection, Vector((x, 0.0, 0.0))
        rig.location = self.here

    def body(self):
        """Press Set Up Body."""
        self.rig.select_set(True)
        bpy.context.view_layer.objects.active = self.rig
        bpy.ops.pose.ik_triangulation_body_add()

    def limb(self, tip):
        """Press + on a bone that is no limb yet; return the empty that it follows."""
        empty = self.rig.pose.bones[tip].ik_triangulation.target or press_plus(self.rig, tip)
        empty.rotation_mode = "QUATERNION"
        return empty

    def hand(self, side, *keys):
        """Have a hand follow keys: frame, place of its knuckles, where its fingers and its thumb point.

        All are those of a left hand; the right one mirrors them.
        """
        mirror = Vector((1.0 if side == "L" else -1.0, 1.0, 1.0))
        bone = self.rig.data.bones[f"hand.{side}"]
        rest = axes(bone.tail_local - bone.head_local, THUMB)
        empty = self.limb(bone.name)
        for frame, *told in keys:
            place, fingers, thumb = (mirror * Vector(each) for each in told)
            turn = (axes(fingers, thumb) @ rest.transposed()).to_quaternion()
            self.key(empty, frame, place, turn @ bone.matrix_local.to_quaternion())
        return empty

    def foot(self, side, *keys):
        """Have a foot follow keys: frame, place of its ball, degrees that its toes point up."""
        bone = self.rig.data.bones[f"foot.{side}"]
        empty = self.limb(bone.name)
        for frame, place, up in keys:
            turn = Euler((radians(-up), 0.0, 0.0)).to_quaternion()
            self.key(empty, frame, Vector(place), turn @ bone.matrix_local.to_quaternion())
        return empty

    def trunk(self, *keys):
        """Have chest and head follow keys: frame, then degrees that the chest leans ahead and turns to the left, and
        those that the head does on top of it."""
        chest, head = self.limb("spine.003"), self.limb("spine.006")
        for frame, *angles in keys:
            moved = self._bend("spine.001", "spine.003", *angles[:2])
            self.place(chest, frame, moved, "spine.003")
            self.place(head, frame, moved @ self._bend("spine.004", "spine.006", *angles[2:]), "spine.006")

    def _bend(self, first, last, ahead, left):
        """The motion of the last of some bones in armature space when all of them together turn by these degrees."""
        bones = self.rig.data.bones
        line = [bones[last], *bones[last].parent_recursive]
        line = line[line.index(bones[first]) :: -1]  # from root to tip
        turn = Euler((radians(ahead), 0.0, radians(left)), "XYZ").to_quaternion()
        end = line[0].head_local.copy()
        for number, bone in enumerate(line, 1):
            end += Quaternion().slerp(turn, number / len(line)) @ (bone.tail_local - bone.head_local)
        return Matrix.Translation(end) @ turn.to_matrix().to_4x4() @ Matrix.Translation(-line[-1].tail_local)

    def place(self, empty, frame, moved, bone):
        """Key an empty where a bone's tail comes to by a motion from rest."""
        bone = self.rig.data.bones[bone]
        rotation = moved.to_quaternion() @ bone.matrix_local.to_quaternion()
        self.key(empty, frame, moved @ bone.tail_local, rotation)

    def key(self, empty, frame, place, rotation):
        """Key an empty's location and rotation, the shorter way round from its key before."""
        if empty.rotation_quaternion.dot(rotation) < 0.0:
            rotation = -rotation
        empty.location, empty.rotation_quaternion = self.here + place, rotation
        empty.keyframe_insert("location", frame=frame)
        empty.keyframe_insert("rotation_quaternion", frame=frame)

    def curl(self, side, degrees):
        """Bend the joints of the four fingers; this pose is not animated."""
        for finger in ("f_index", "f_middle", "f_ring", "f_pinky"):
            for number in range(1, 4):
                bone = self.rig.pose.bones[f"{finger}.0{number}.{side}"]
                bone.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), radians(degrees))


def press_plus(rig, tip, target=None):
    """Press + with a bone selected, and a target if there is one; return what the limb follows."""
    bpy.ops.object.select_all(action="DESELECT")
    for ob in filter(None, (rig, target)):
        ob.select_set(True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == tip  # Blender 4.5 has it on the bone
    rig.data.bones.active = rig.data.bones[tip]
    bpy.ops.pose.ik_triangulation_limb_add()
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig.pose.bones[tip].ik_triangulation.target


def by_hand(rig, names, frames):
    """Key what is shown of bones that were baked, as an animator's own keys on these frames."""
    from ik_triangulation.api import delete_generated

    scene, shown = bpy.context.scene, {}
    for frame in frames:
        scene.frame_set(frame)
        shown[frame] = [rig.pose.bones[name].rotation_quaternion.copy() for name in names]
    delete_generated(rig, names)
    for frame, rotations in shown.items():
        for name, rotation in zip(names, rotations, strict=True):
            rig.pose.bones[name].rotation_quaternion = rotation
            rig.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)


def reach(actor):
    """A hand takes a cup from the table, lifts it to the mouth and puts it back."""
    grasp = (0.215, -0.325, TABLE + 0.055), (-0.35, -1.0, -0.05), (-0.1, 0.0, 1.0)
    sip = (0.06, -0.165, 1.745), (-0.75, -0.55, 0.25), (0.0, 0.4, 0.92)
    above = (0.34, -0.13, TABLE + 0.09), (-0.3, -0.9, -0.35), (-0.5, -0.3, 1.0)
    empty = actor.hand(
        "L",
        (1, *HANG),
        (14, *above),
        (28, *grasp),
        (34, *grasp),
        (58, *sip),
        (70, *sip),
        (92, *grasp),
        (98, *grasp),
        (109, *above),
        (FRAMES + 1, *HANG),
    )
    actor.hand("R", (1, *HANG))
    actor.trunk(
        (1, 0, 0, 6, 0),
        (10, 1, 2, 14, 12),
        (28, 9, -4, 22, 12),
        (34, 9, -4, 22, 12),
        (58, -1, 3, -8, 0),
        (70, -1, 3, -8, 0),
        (92, 9, -4, 22, 12),
        (98, 9, -4, 22, 12),
        (FRAMES + 1, 0, 0, 6, 0),
    )
    actor.curl("L", 12.0)
    props.table(actor.collection, actor.here, TABLE)
    cup = props.cup(actor.collection, actor.here + Vector((0.165, -0.365, TABLE)))
    scene = bpy.context.scene
    scene.frame_set(34)
    held = empty.matrix_world.inverted() @ cup.matrix_basis
    for frame in range(34, 93):
        scene.frame_set(frame)
        cup.matrix_basis = empty.matrix_world @ held
        cup.keyframe_insert("location", frame=frame)
        cup.keyframe_insert("rotation_euler", frame=frame)


def wipe(actor):
    """A hand wipes a table in circles; the other one lies on it."""
    hand, trunk = [], []
    for frame in range(1, FRAMES + 2, 5):
        turn = 2.0 * tau * (frame - 1) / FRAMES
        x, y = cos(turn), sin(turn)
        hand.append(
            (frame, (0.2 + 0.13 * x, -0.38 + 0.07 * y, TABLE + 0.04), (-0.3 + 0.1 * x, -1.0, -0.18), (-1.0, 0.3, 0.0))
        )
        trunk.append((frame, 11.0 - 3.0 * y, -3.0 + 3.0 * x, 18.0, 8.0 + 7.0 * x))
    empty = actor.hand("L", *hand)
    actor.hand("R", (1, (0.27, -0.3, TABLE + 0.03), (-0.3, -1.0, 0.0), (-1.0, 0.3, 0.0)))
    actor.trunk(*trunk)
    actor.curl("L", -14.0)
    actor.curl("R", -14.0)
    props.table(actor.collection, actor.here, TABLE)
    props.cloth(actor.collection, empty, TABLE)


def lift(actor):
    """A knee is lifted and let down, and the arms swing against it."""
    ground, high = (0.098, -0.093, 0.017), (0.098, -0.46, 0.52)
    actor.foot(
        "L",
        (1, ground, 0.0),
        (30, (0.098, -0.2, 0.22), -35.0),
        (58, high, -12.0),
        (66, high, -12.0),
        (94, (0.098, -0.2, 0.2), -25.0),
        (FRAMES + 1, ground, 0.0),
    )
    back = (0.27, 0.14, 1.0), (-0.06, 0.15, -1.0), (-0.3, -1.0, 0.0)
    ahead = (0.2, -0.4, 1.33), (-0.25, -0.85, 0.45), (-0.55, 0.25, 0.8)
    actor.hand("L", (1, *HANG), (58, *back), (66, *back), (FRAMES + 1, *HANG))
    actor.hand("R", (1, *HANG), (58, *ahead), (66, *ahead), (FRAMES + 1, *HANG))


def crouch(actor):
    """Both hands take a crate from the floor, lift it and put it back; the body is one, and nothing else is keyed."""
    grasp = (0.2, -0.43, 0.1), (-0.05, -0.8, -0.6), (0.0, -0.6, 0.8)
    lifted = (0.2, -0.4, 1.08), (-0.1, -1.0, -0.1), (0.0, -0.1, 1.0)
    ways = (
        (1, *HANG),
        (30, *grasp),
        (35, *grasp),
        (58, *lifted),
        (65, *lifted),
        (86, *grasp),
        (90, *grasp),
        (116, *HANG),
        (FRAMES + 1, *HANG),
    )
    actor.body()
    hands = [actor.hand(side, *ways) for side in "LR"]
    for side in "LR":
        actor.curl(side, 14.0)
    crate = props.crate(actor.collection, actor.here + Vector((0.0, -0.45, 0.0)))
    scene = bpy.context.scene
    for frame in range(35, 87):
        scene.frame_set(frame)
        left, right = (hand.matrix_world.translation for hand in hands)
        crate.location.yz = (left.y + right.y) / 2.0 - 0.02, (left.z + right.z) / 2.0 - grasp[0][2]
        crate.keyframe_insert("location", frame=frame)


def circle(rig, cup):
    """Key a cup that goes before the left shoulder, in a tilted figure of eight, and tells a hand no rotation.

    It is from half the reach of the arm to nearly all of it away.
    """
    bones = rig.data.bones
    shoulder = rig.matrix_world @ bones["upper_arm.L"].head_local
    length = sum(bones[name].length for name in ("upper_arm.L", "forearm.L", "hand.L"))
    for frame in range(1, FRAMES + 11, 10):
        turn = tau * frame / FRAMES
        way = Vector((0.25 + 0.35 * sin(turn), -0.62 - 0.12 * cos(turn), -0.15 + 0.35 * sin(2.0 * turn)))
        cup.location = shoulder + way * length
        cup.keyframe_insert("location", frame=frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES


ACTS = {"Reach": reach, "Wipe": wipe, "Lift": lift, "Crouch": crouch}


def axes(along, aside):
    """Axes of a hand as a matrix: along the fingers, to the thumb, out of the palm or the back."""
    first = Vector(along).normalized()
    second = (Vector(aside) - first * first.dot(Vector(aside))).normalized()
    return Matrix((first, second, first.cross(second))).transposed()
