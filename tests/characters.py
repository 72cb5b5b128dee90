# SPDX-License-Identifier: GPL-3.0-or-later
"""The same person as characters of several programs: their names of bones, axes, units and poses at rest."""

from math import radians

import bpy
from mathutils import Matrix, Quaternion, Vector

from .rigs import armature

_TRUNK = {  # part: parent, place of its head [m]
    "hips": ("", (0.0, 0.02, 0.98)),
    "spine": ("hips", (0.0, 0.02, 1.08)),
    "chest": ("spine", (0.0, 0.03, 1.24)),
    "neck": ("chest", (0.0, 0.04, 1.48)),
    "head": ("neck", (0.0, 0.01, 1.58)),
}
_LEFT = {
    "clavicle": ("chest", (0.03, 0.02, 1.42)),
    "upper_arm": ("clavicle", (0.17, 0.03, 1.42)),
    "forearm": ("upper_arm", (0.45, 0.045, 1.42)),
    "hand": ("forearm", (0.71, 0.03, 1.42)),
    "thigh": ("hips", (0.09, 0.01, 0.94)),
    "shin": ("thigh", (0.09, -0.01, 0.51)),
    "foot": ("shin", (0.09, 0.03, 0.09)),
    "toe": ("foot", (0.09, -0.10, 0.02)),
    "thumb1": ("hand", (0.74, 0.0, 1.405)),
    "thumb2": ("thumb1", (0.77, -0.03, 1.39)),
    "thumb3": ("thumb2", (0.795, -0.05, 1.38)),
}
_FINGERS = {"index": (0.81, 0.003, 1.42), "middle": (0.812, 0.025, 1.424), "ring": (0.806, 0.046, 1.421)}
_FINGERS["little"] = (0.795, 0.064, 1.416)
_PHALANGES = {"index": (0.042, 0.026), "middle": (0.046, 0.029), "ring": (0.042, 0.027), "little": (0.033, 0.02)}
_ENDS = {  # of bones without a child: from the head, on the left
    "head": (0.0, -0.02, 0.2),
    "toe": (0.0, -0.07, 0.0),
    "thumb3": (0.02, -0.014, -0.008),
    **{f"{name}3": (0.021, 0.0, -0.002) for name in _PHALANGES},
}
for _name, _root in _FINGERS.items():
    _at = Vector(_root)
    for _number, _length in enumerate((*_PHALANGES[_name], 0.0), 1):
        _LEFT[f"{_name}{_number}"] = (f"{_name}{_number - 1}" if _number > 1 else "hand", tuple(_at))
        _at = _at + Vector((_length, 0.0, -0.002))

_RIGIFY = (
    "spine spine.001 spine.003 spine.004 spine.006 shoulder.L upper_arm.L forearm.L hand.L thigh.L shin.L foot.L toe.L"
)
_PARTS = [*_TRUNK, "clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe"]
_MIXAMO = "Hips Spine Spine1 Neck Head LeftShoulder LeftArm LeftForeArm LeftHand LeftUpLeg LeftLeg LeftFoot LeftToeBase"


def _words(text):
    return text.split()


class Kind:
    """Names of bones in the order of `_PARTS`, of fingers by `finger` and `fingers`, and the conventions of axes."""

    def __init__(self, names, sides, finger, fingers, *, roll=0.0, off=False, y_up=False, down=0.0):
        self.names = dict(zip(_PARTS, names, strict=True))
        self.sides, self.roll, self.off, self.y_up, self.down = sides, roll, off, y_up, down
        words = dict(zip(("thumb", "index", "middle", "ring", "little"), fingers.split(), strict=True))
        for word, said in words.items():
            for number in (1, 2, 3):
                self.names[f"{word}{number}"] = finger.format(said, number)

    def name(self, part, side):
        left, right = self.sides
        return self.names[part] if side == "L" else self.names[part].replace(left, right, 1)


KINDS = {
    "Rigify metarig": Kind(
        _RIGIFY.split(), (".L", ".R"), "{}.0{}.L", "thumb f_index f_middle f_ring f_pinky", down=40.0
    ),
    "Mixamo": Kind(
        [f"mixamorig:{name}" for name in _MIXAMO.split()],
        ("Left", "Right"),
        "mixamorig:LeftHand{}{}",
        "Thumb Index Middle Ring Pinky",
        y_up=True,
    ),
    "Unreal": Kind(
        [
            "pelvis",
            "spine_01",
            "spine_03",
            "neck_01",
            "head",
            "clavicle_l",
            "upperarm_l",
            "lowerarm_l",
            "hand_l",
            "thigh_l",
            "calf_l",
            "foot_l",
            "ball_l",
        ],
        ("_l", "_r"),
        "{}_0{}_l",
        "thumb index middle ring pinky",
        off=True,
        down=55.0,
    ),
    "VRoid": Kind(
        [
            f"J_Bip_{name}"
            for name in [
                "C_Hips",
                "C_Spine",
                "C_Chest",
                "C_Neck",
                "C_Head",
                "L_Shoulder",
                "L_UpperArm",
                "L_LowerArm",
                "L_Hand",
            ]
        ]
        + [f"J_Bip_L_{name}" for name in ["UpperLeg", "LowerLeg", "Foot", "ToeBase"]],
        ("_L_", "_R_"),
        "J_Bip_L_{}{}",
        "Thumb Index Middle Ring Little",
        roll=1.2,
    ),
    "CMU": Kind(_MIXAMO.split(), ("Left", "Right"), "LeftHand{}{}", "Thumb Index Middle Ring Pinky", roll=-0.7),
    "Biped": Kind(
        [f"Bip01 {name}" for name in ("Pelvis", "Spine", "Spine1", "Neck", "Head", "L Clavicle", "L UpperArm")]
        + [f"Bip01 L {name}" for name in ["Forearm", "Hand", "Thigh", "Calf", "Foot", "Toe0"]],
        (" L ", " R "),
        "Bip01 L Finger{}{}",
        "0 1 2 3 4",
        off=True,
    ),
    "Character Creator": Kind(
        [f"CC_Base_{name}" for name in _words("Hip Waist Spine01 NeckTwist01 Head L_Clavicle L_Upperarm L_Forearm")]
        + [f"CC_Base_L_{name}" for name in ["Hand", "Thigh", "Calf", "Foot", "ToeBase"]],
        ("_L_", "_R_"),
        "CC_Base_L_{}{}",
        "Thumb Index Mid Ring Pinky",
        y_up=True,
        down=30.0,
    ),
    "VRM humanoid": Kind(
        [
            "hips",
            "spine",
            "chest",
            "neck",
            "head",
            "leftShoulder",
            "leftUpperArm",
            "leftLowerArm",
            "leftHand",
            "leftUpperLeg",
            "leftLowerLeg",
            "leftFoot",
            "leftToes",
        ],
        ("left", "right"),
        "left{}{}",
        "Thumb Index Middle Ring Little",
        roll=2.0,
    ),
}


def character(kind="Rigify metarig", name="", size=1.0, arms=1.0, fingers=True):
    """A person as a `kind` of character; `size` is relative to 1.75 m, `arms` the length of arms relative to it.

    All stand on the ground and look along -Y. Bones with the axes of Unreal or Biped do not point to their children.
    """
    made, joints = KINDS[kind], {}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for part, (_, place) in {**_TRUNK, **_LEFT}.items():
            joints[part, side] = Vector((sign * place[0], *place[1:]))
        shoulder = joints["upper_arm", side].copy()
        turn = Matrix.Rotation(sign * radians(made.down), 3, "Y")
        for part, place in joints.items():
            if part[1] == side and (part[0] in ("forearm", "hand") or part[0][-1].isdigit()):
                joints[part] = shoulder + turn @ (place - shoulder) * arms
    specs, into = [], Matrix.Rotation(radians(-90.0), 3, "X") * 100.0 if made.y_up else Matrix.Identity(3)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for part, (parent, _) in {**_TRUNK, **_LEFT}.items():
            if (part in _TRUNK and side == "R") or (part[-1].isdigit() and not fingers):
                continue
            head = joints[part, side]
            next_part = {"hips": "spine", "chest": "neck", "hand": "middle1"}.get(part)
            next_part = next_part or next((each for each, (above, _) in _LEFT.items() if above == part), None)
            next_part = {"spine": "chest", "neck": "head"}.get(part, next_part)
            if part in _ENDS:
                end = Vector(_ENDS[part])
                end = Vector((sign * end.x, end.y, end.z))
                turned = part[-1].isdigit()
                end = Matrix.Rotation(sign * radians(made.down), 3, "Y") @ end * arms if turned else end
            else:
                end = joints[next_part, side] - head
            if made.off:  # as files of such programs are imported: along an axis of the bone that is across it
                end = end.orthogonal().normalized() * end.length
            above = parent and made.name(parent, side)
            spec = {"name": made.name(part, side), "head": into @ head * size, "tail": into @ (head + end) * size}
            specs.append(spec | {"parent": above or None, "roll": sign * made.roll})
    rig = armature(name or kind, specs)
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    if made.y_up:
        rig.rotation_euler.x, rig.scale = radians(90.0), (0.01, 0.01, 0.01)
        bpy.context.view_layer.update()
    return rig


def part_of(rig, kind, part, side="L"):
    """The bone of a character that is a part of the body."""
    return rig.pose.bones[KINDS[kind].name(part, side)]


def pose_part(bone, rotation):
    """Rotate a bone by a quaternion about the axes of the world at rest, which are those of its armature object."""
    rest = (bone.id_data.matrix_world.to_3x3().normalized() @ bone.bone.matrix_local.to_3x3()).to_quaternion()
    bone.rotation_quaternion = rest.conjugated() @ Quaternion(rotation) @ rest
