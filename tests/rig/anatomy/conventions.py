# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of bones as common rigs have them, with their parents, and the limbs that an animator expects of each bone.

A tree has a bone a line, below its parent by two spaces; names are split at a comma where bones follow one another.
Only the left side is written, and mirrored by the pairs of `sides`. In `limbs` the bones from root to tip of a limb are
followed by the other bones that stand for it. Bones in no limb are not recognised.
"""

from dataclasses import dataclass

from ik_triangulation.rig.anatomy.skeleton import RestBone


@dataclass(frozen=True)
class Convention:
    tree: str
    limbs: str
    sides: tuple = ()

    def bones(self):
        """The bones, all at one place: their shape tells nothing."""
        found, ends = {}, [None]  # ends: the last bone of the row above at each depth
        for row in self.tree.strip("\n").splitlines():
            depth = (len(row) - len(row.lstrip())) // 2
            parent = ends[depth]
            for name in row.strip().split(", "):
                found[name], parent = parent, name
            ends[depth + 1 :] = [parent]
        mirrored = {self.mirror(name): parent and self.mirror(parent) for name, parent in found.items()}
        origin = (0.0, 0.0, 0.0)
        return {name: RestBone(parent, origin, origin) for name, parent in (found | mirrored).items()}

    def mirror(self, name):
        for left, right in self.sides:
            if left in name:
                return name.replace(left, right, 1)
        return name

    def expected(self):
        """Kind, side and bones of the limb that each bone stands for."""
        found = {}
        for row in self.limbs.strip().splitlines():
            kind, _, rest = row.strip().partition(": ")
            bones, _, others = rest.partition(" | ")
            bones, others = (text.split(", ") if text else [] for text in (bones, others))
            clicked = [bones[-1], *others] if kind == "FINGER" else [*bones, *others]
            for name in clicked:
                side = "L" if self.mirror(name) != name else ""
                found[name] = (kind, side, tuple(bones))
                if side:
                    found[self.mirror(name)] = (kind, "R", tuple(map(self.mirror, bones)))
        return found


CONVENTIONS = {
    "Rigify metarig": Convention(
        """
spine
  spine.001, spine.002, spine.003
    spine.004, spine.005, spine.006, face, jaw, chin
    shoulder.L, upper_arm.L, forearm.L, hand.L
      palm.01.L
        f_index.01.L, f_index.02.L, f_index.03.L
        thumb.01.L, thumb.02.L, thumb.03.L
      palm.04.L, f_pinky.01.L, f_pinky.02.L, f_pinky.03.L
    breast.L
  pelvis.L
  thigh.L, shin.L, foot.L
    toe.L
    heel.02.L
""",
        """
SPINE: spine.001, spine.002, spine.003 | spine
NECK: spine.004, spine.005, spine.006
ARM: upper_arm.L, forearm.L, hand.L | shoulder.L, palm.01.L, f_index.01.L, f_index.02.L, thumb.01.L, thumb.02.L
ARM: upper_arm.L, forearm.L, hand.L | palm.04.L, f_pinky.01.L, f_pinky.02.L
FINGER: f_index.01.L, f_index.02.L, f_index.03.L
FINGER: thumb.01.L, thumb.02.L, thumb.03.L
FINGER: f_pinky.01.L, f_pinky.02.L, f_pinky.03.L
LEG: thigh.L, shin.L, foot.L | toe.L, heel.02.L
""",
        ((".L", ".R"),),
    ),
    "Rigify deform bones": Convention(
        """
root
  DEF-spine, DEF-spine.001, DEF-spine.002, DEF-spine.003
    DEF-spine.004, DEF-spine.005, DEF-spine.006
    DEF-shoulder.L, DEF-upper_arm.L, DEF-upper_arm.L.001, DEF-forearm.L, DEF-forearm.L.001, DEF-hand.L
      DEF-f_index.01.L, DEF-f_index.02.L, DEF-f_index.03.L
  DEF-thigh.L, DEF-thigh.L.001, DEF-shin.L, DEF-shin.L.001, DEF-foot.L, DEF-toe.L
""",
        """
SPINE: DEF-spine, DEF-spine.001, DEF-spine.002, DEF-spine.003
NECK: DEF-spine.004, DEF-spine.005, DEF-spine.006
ARM: DEF-upper_arm.L, DEF-forearm.L, DEF-hand.L | DEF-shoulder.L, DEF-upper_arm.L.001, DEF-forearm.L.001
ARM: DEF-upper_arm.L, DEF-forearm.L, DEF-hand.L | DEF-f_index.01.L, DEF-f_index.02.L
FINGER: DEF-f_index.01.L, DEF-f_index.02.L, DEF-f_index.03.L
LEG: DEF-thigh.L, DEF-shin.L, DEF-foot.L | DEF-thigh.L.001, DEF-shin.L.001, DEF-toe.L
""",
        ((".L", ".R"),),
    ),
    "Mixamo": Convention(
        """
mixamorig:Hips
  mixamorig:Spine, mixamorig:Spine1, mixamorig:Spine2
    mixamorig:Neck, mixamorig:Head, mixamorig:HeadTop_End
    mixamorig:LeftShoulder, mixamorig:LeftArm, mixamorig:LeftForeArm, mixamorig:LeftHand
      mixamorig:LeftHandThumb1, mixamorig:LeftHandThumb2, mixamorig:LeftHandThumb3, mixamorig:LeftHandThumb4
      mixamorig:LeftHandIndex1, mixamorig:LeftHandIndex2, mixamorig:LeftHandIndex3, mixamorig:LeftHandIndex4
  mixamorig:LeftUpLeg, mixamorig:LeftLeg, mixamorig:LeftFoot, mixamorig:LeftToeBase, mixamorig:LeftToe_End
""",
        """
SPINE: mixamorig:Spine, mixamorig:Spine1, mixamorig:Spine2 | mixamorig:Hips
NECK: mixamorig:Neck, mixamorig:Head | mixamorig:HeadTop_End
ARM: mixamorig:LeftArm, mixamorig:LeftForeArm, mixamorig:LeftHand | mixamorig:LeftShoulder, mixamorig:LeftHandThumb1
ARM: mixamorig:LeftArm, mixamorig:LeftForeArm, mixamorig:LeftHand | mixamorig:LeftHandThumb2, mixamorig:LeftHandIndex1
ARM: mixamorig:LeftArm, mixamorig:LeftForeArm, mixamorig:LeftHand | mixamorig:LeftHandIndex2
FINGER: mixamorig:LeftHandThumb1, mixamorig:LeftHandThumb2, mixamorig:LeftHandThumb3 | mixamorig:LeftHandThumb4
FINGER: mixamorig:LeftHandIndex1, mixamorig:LeftHandIndex2, mixamorig:LeftHandIndex3 | mixamorig:LeftHandIndex4
LEG: mixamorig:LeftUpLeg, mixamorig:LeftLeg, mixamorig:LeftFoot | mixamorig:LeftToeBase, mixamorig:LeftToe_End
""",
        (("Left", "Right"),),
    ),
    "Auto-Rig Pro, exported": Convention(
        """
root.x
  spine_01.x, spine_02.x, spine_03.x
    neck.x, head.x
    shoulder.l, arm_stretch.l
      arm_twist.l
      forearm_stretch.l
        forearm_twist.l
        hand.l
          c_index1.l, c_index2.l, c_index3.l
          c_thumb1.l, c_thumb2.l, c_thumb3.l
  thigh_stretch.l
    thigh_twist.l
    leg_stretch.l
      leg_twist.l
      foot.l, toes_01.l
""",
        """
SPINE: spine_01.x, spine_02.x, spine_03.x | root.x
NECK: neck.x, head.x
ARM: arm_stretch.l, forearm_stretch.l, hand.l | shoulder.l, arm_twist.l, forearm_twist.l
ARM: arm_stretch.l, forearm_stretch.l, hand.l | c_index1.l, c_index2.l, c_thumb1.l, c_thumb2.l
FINGER: c_index1.l, c_index2.l, c_index3.l
FINGER: c_thumb1.l, c_thumb2.l, c_thumb3.l
LEG: thigh_stretch.l, leg_stretch.l, foot.l | thigh_twist.l, leg_twist.l, toes_01.l
""",
        ((".l", ".r"),),
    ),
    "Auto-Rig Pro, controls": Convention(
        """
c_pos, c_traj
  c_root_master.x
    c_root.x
      c_thigh_b.l, c_thigh_fk.l, c_leg_fk.l, c_foot_fk.l, c_toes_fk.l
    c_spine_01.x, c_spine_02.x
      c_neck.x, c_head.x
      c_shoulder.l, c_arm_fk.l, c_forearm_fk.l, c_hand_fk.l
  c_hand_ik.l
  c_arms_pole.l
  c_foot_ik.l
    c_foot_roll.l
""",
        """
SPINE: c_spine_01.x, c_spine_02.x | c_root_master.x, c_root.x
NECK: c_neck.x, c_head.x
ARM: c_arm_fk.l, c_forearm_fk.l, c_hand_fk.l | c_shoulder.l, c_hand_ik.l, c_arms_pole.l
LEG: c_thigh_fk.l, c_leg_fk.l, c_foot_fk.l | c_thigh_b.l, c_toes_fk.l, c_foot_ik.l, c_foot_roll.l
""",
        ((".l", ".r"),),
    ),
    "Unreal mannequin": Convention(
        """
root
  pelvis
    spine_01, spine_02, spine_03
      neck_01, head
      clavicle_l, upperarm_l
        upperarm_twist_01_l
        lowerarm_l
          lowerarm_twist_01_l
          hand_l
            index_metacarpal_l, index_01_l, index_02_l, index_03_l
            thumb_01_l, thumb_02_l, thumb_03_l
            weapon_l
    thigh_l
      thigh_twist_01_l
      calf_l
        calf_twist_01_l
        foot_l, ball_l
  ik_foot_root, ik_foot_l
  ik_hand_root, ik_hand_gun, ik_hand_l
""",
        """
SPINE: spine_01, spine_02, spine_03 | pelvis
NECK: neck_01, head
ARM: upperarm_l, lowerarm_l, hand_l | clavicle_l, upperarm_twist_01_l, lowerarm_twist_01_l
ARM: upperarm_l, lowerarm_l, hand_l | index_metacarpal_l, ik_hand_l, index_01_l, index_02_l, thumb_01_l, thumb_02_l
FINGER: index_01_l, index_02_l, index_03_l
FINGER: thumb_01_l, thumb_02_l, thumb_03_l
LEG: thigh_l, calf_l, foot_l | thigh_twist_01_l, calf_twist_01_l, ball_l, ik_foot_l
""",
        (("_l", "_r"),),
    ),
    "VRoid": Convention(
        """
Root, J_Bip_C_Hips
  J_Bip_C_Spine, J_Bip_C_Chest, J_Bip_C_UpperChest
    J_Bip_C_Neck, J_Bip_C_Head
      J_Adj_L_FaceEye
      J_Sec_Hair1_01, J_Sec_Hair2_01
    J_Sec_L_Bust1, J_Sec_L_Bust2
    J_Bip_L_Shoulder, J_Bip_L_UpperArm, J_Bip_L_LowerArm, J_Bip_L_Hand
      J_Bip_L_Index1, J_Bip_L_Index2, J_Bip_L_Index3
      J_Bip_L_Little1, J_Bip_L_Little2, J_Bip_L_Little3
  J_Bip_L_UpperLeg, J_Bip_L_LowerLeg, J_Bip_L_Foot, J_Bip_L_ToeBase
""",
        """
SPINE: J_Bip_C_Spine, J_Bip_C_Chest, J_Bip_C_UpperChest | J_Bip_C_Hips
NECK: J_Bip_C_Neck, J_Bip_C_Head
ARM: J_Bip_L_UpperArm, J_Bip_L_LowerArm, J_Bip_L_Hand | J_Bip_L_Shoulder, J_Bip_L_Index1, J_Bip_L_Index2
ARM: J_Bip_L_UpperArm, J_Bip_L_LowerArm, J_Bip_L_Hand | J_Bip_L_Little1, J_Bip_L_Little2
FINGER: J_Bip_L_Index1, J_Bip_L_Index2, J_Bip_L_Index3
FINGER: J_Bip_L_Little1, J_Bip_L_Little2, J_Bip_L_Little3
LEG: J_Bip_L_UpperLeg, J_Bip_L_LowerLeg, J_Bip_L_Foot | J_Bip_L_ToeBase
""",
        (("_L_", "_R_"),),
    ),
    "VRM humanoid": Convention(
        """
hips
  spine, chest, upperChest
    neck, head, jaw
    leftShoulder, leftUpperArm, leftLowerArm, leftHand
      leftThumbMetacarpal, leftThumbProximal, leftThumbDistal
      leftIndexProximal, leftIndexIntermediate, leftIndexDistal
  leftUpperLeg, leftLowerLeg, leftFoot, leftToes
""",
        """
SPINE: spine, chest, upperChest | hips
NECK: neck, head
ARM: leftUpperArm, leftLowerArm, leftHand | leftShoulder, leftThumbMetacarpal, leftThumbProximal
ARM: leftUpperArm, leftLowerArm, leftHand | leftIndexProximal, leftIndexIntermediate
FINGER: leftThumbMetacarpal, leftThumbProximal, leftThumbDistal
FINGER: leftIndexProximal, leftIndexIntermediate, leftIndexDistal
LEG: leftUpperLeg, leftLowerLeg, leftFoot | leftToes
""",
        (("left", "right"),),
    ),
    "MMD": Convention(
        """
全ての親
  センター, グルーブ, 腰
    下半身
      左足, 左ひざ, 左足首, 左つま先
      左足D, 左ひざD, 左足首D, 左足先EX
    上半身, 上半身2
      首, 頭, 左目
      左肩P, 左肩, 左肩C, 左腕, 左腕捩, 左ひじ, 左手捩, 左手首
        左親指０, 左親指１, 左親指２
        左人指１, 左人指２, 左人指３
  左足IK親, 左足ＩＫ, 左つま先ＩＫ
""",
        """
SPINE: 上半身, 上半身2 | センター, グルーブ, 腰, 下半身
NECK: 首, 頭
ARM: 左腕, 左ひじ, 左手首 | 左肩P, 左肩, 左肩C, 左腕捩, 左手捩, 左親指０, 左親指１, 左人指１, 左人指２
FINGER: 左親指０, 左親指１, 左親指２
FINGER: 左人指１, 左人指２, 左人指３
LEG: 左足, 左ひざ, 左足首 | 左つま先, 左足D, 左ひざD, 左足首D, 左足先EX, 左足ＩＫ, 左つま先ＩＫ
""",
        (("左", "右"),),
    ),
    "MMD in Blender": Convention(
        """
センター
  下半身
    足.L, ひざ.L, 足首.L, つま先.L
  上半身, 上半身2, 上半身3
    首, 頭
    肩.L, 腕.L, 腕捩.L, ひじ.L, 手捩.L, 手首.L
      中指１.L, 中指２.L, 中指３.L
  足ＩＫ.L, つま先ＩＫ.L
""",
        """
SPINE: 上半身, 上半身2, 上半身3 | センター, 下半身
NECK: 首, 頭
ARM: 腕.L, ひじ.L, 手首.L | 肩.L, 腕捩.L, 手捩.L, 中指１.L, 中指２.L
FINGER: 中指１.L, 中指２.L, 中指３.L
LEG: 足.L, ひざ.L, 足首.L | つま先.L, 足ＩＫ.L, つま先ＩＫ.L
""",
        ((".L", ".R"),),
    ),
    "MMD in English": Convention(
        """
center
  lower body, leg_L, knee_L, ankle_L, toe_L
  upper body
    neck, head, eye_L
    shoulder_L, arm_L, arm twist_L, elbow_L, wrist twist_L, wrist_L
      fore1_L, fore2_L, fore3_L
      middle1_L, middle2_L, middle3_L
  leg IK_L, toe IK_L
""",
        """
NECK: neck, head
ARM: arm_L, elbow_L, wrist_L | shoulder_L, arm twist_L, wrist twist_L, middle1_L, middle2_L, fore1_L, fore2_L
FINGER: middle1_L, middle2_L, middle3_L
FINGER: fore1_L, fore2_L, fore3_L
LEG: leg_L, knee_L, ankle_L | toe_L, leg IK_L, toe IK_L
""",
        (("_L", "_R"),),
    ),
    "CMU motion capture": Convention(
        """
Hips
  LHipJoint, LeftUpLeg, LeftLeg, LeftFoot, LeftToeBase
  LowerBack, Spine, Spine1
    Neck, Neck1, Head
    LeftShoulder, LeftArm, LeftForeArm, LeftHand
      LeftFingerBase, LeftHandIndex1
      LThumb
""",
        """
SPINE: LowerBack, Spine, Spine1 | Hips
NECK: Neck, Neck1, Head
ARM: LeftArm, LeftForeArm, LeftHand | LeftShoulder, LeftFingerBase
FINGER: LeftHandIndex1
FINGER: LThumb
LEG: LeftUpLeg, LeftLeg, LeftFoot | LeftToeBase, LHipJoint
""",
        (("Left", "Right"), ("LHip", "RHip"), ("LThumb", "RThumb")),
    ),
    "BVH by joints": Convention(
        """
Hips
  Chest, Chest2, Chest3, Chest4
    Neck, Head
    LeftCollar, LeftShoulder, LeftElbow, LeftWrist
  LeftHip, LeftKnee, LeftAnkle, LeftToe
""",
        """
SPINE: Chest, Chest2, Chest3, Chest4 | Hips
NECK: Neck, Head
ARM: LeftShoulder, LeftElbow, LeftWrist | LeftCollar
LEG: LeftHip, LeftKnee, LeftAnkle | LeftToe
""",
        (("Left", "Right"),),
    ),
    "3ds Max Biped": Convention(
        """
Bip01, Bip01 Pelvis
  Bip01 L Thigh, Bip01 L Calf, Bip01 L Foot, Bip01 L Toe0
  Bip01 Spine, Bip01 Spine1, Bip01 Spine2, Bip01 Neck
    Bip01 Head
    Bip01 L Clavicle, Bip01 L UpperArm, Bip01 L Forearm, Bip01 L Hand
      Bip01 L Finger0, Bip01 L Finger01, Bip01 L Finger02
      Bip01 L Finger1, Bip01 L Finger11, Bip01 L Finger12
""",
        """
SPINE: Bip01 Spine, Bip01 Spine1, Bip01 Spine2 | Bip01 Pelvis
NECK: Bip01 Neck, Bip01 Head
ARM: Bip01 L UpperArm, Bip01 L Forearm, Bip01 L Hand | Bip01 L Clavicle, Bip01 L Finger0, Bip01 L Finger01
ARM: Bip01 L UpperArm, Bip01 L Forearm, Bip01 L Hand | Bip01 L Finger1, Bip01 L Finger11
FINGER: Bip01 L Finger0, Bip01 L Finger01, Bip01 L Finger02
FINGER: Bip01 L Finger1, Bip01 L Finger11, Bip01 L Finger12
LEG: Bip01 L Thigh, Bip01 L Calf, Bip01 L Foot | Bip01 L Toe0
""",
        ((" L ", " R "),),
    ),
    "Character Creator": Convention(
        """
CC_Base_BoneRoot, CC_Base_Hip
  CC_Base_Pelvis, CC_Base_L_Thigh
    CC_Base_L_ThighTwist01, CC_Base_L_ThighTwist02
    CC_Base_L_Calf
      CC_Base_L_CalfTwist01
      CC_Base_L_Foot, CC_Base_L_ToeBase
  CC_Base_Waist, CC_Base_Spine01, CC_Base_Spine02
    CC_Base_NeckTwist01, CC_Base_NeckTwist02, CC_Base_Head, CC_Base_JawRoot
    CC_Base_L_Clavicle, CC_Base_L_Upperarm
      CC_Base_L_UpperarmTwist01
      CC_Base_L_Forearm
        CC_Base_L_ForearmTwist01
        CC_Base_L_Hand
          CC_Base_L_Index1, CC_Base_L_Index2, CC_Base_L_Index3
          CC_Base_L_Mid1, CC_Base_L_Mid2, CC_Base_L_Mid3
""",
        """
SPINE: CC_Base_Waist, CC_Base_Spine01, CC_Base_Spine02 | CC_Base_Hip, CC_Base_Pelvis
NECK: CC_Base_NeckTwist01, CC_Base_NeckTwist02, CC_Base_Head
ARM: CC_Base_L_Upperarm, CC_Base_L_Forearm, CC_Base_L_Hand | CC_Base_L_Clavicle, CC_Base_L_UpperarmTwist01
ARM: CC_Base_L_Upperarm, CC_Base_L_Forearm, CC_Base_L_Hand | CC_Base_L_ForearmTwist01, CC_Base_L_Index1
ARM: CC_Base_L_Upperarm, CC_Base_L_Forearm, CC_Base_L_Hand | CC_Base_L_Index2, CC_Base_L_Mid1, CC_Base_L_Mid2
FINGER: CC_Base_L_Index1, CC_Base_L_Index2, CC_Base_L_Index3
FINGER: CC_Base_L_Mid1, CC_Base_L_Mid2, CC_Base_L_Mid3
LEG: CC_Base_L_Thigh, CC_Base_L_Calf, CC_Base_L_Foot | CC_Base_L_ThighTwist01, CC_Base_L_ThighTwist02
LEG: CC_Base_L_Thigh, CC_Base_L_Calf, CC_Base_L_Foot | CC_Base_L_CalfTwist01, CC_Base_L_ToeBase
""",
        (("_L_", "_R_"),),
    ),
    "Daz Genesis": Convention(
        """
hip
  pelvis, lThighBend, lThighTwist, lShin, lFoot, lMetatarsals, lToe, lBigToe
  abdomenLower, abdomenUpper, chestLower, chestUpper
    neckLower, neckUpper, head, upperTeeth
    lCollar, lShldrBend, lShldrTwist, lForearmBend, lForearmTwist, lHand
      lThumb1, lThumb2, lThumb3
      lCarpal1, lIndex1, lIndex2, lIndex3
    lPectoral
""",
        """
SPINE: abdomenLower, abdomenUpper, chestLower, chestUpper | hip, pelvis
NECK: neckLower, neckUpper, head
ARM: lShldrBend, lForearmBend, lHand | lCollar, lShldrTwist, lForearmTwist, lThumb1, lThumb2, lCarpal1, lIndex1, lIndex2
FINGER: lThumb1, lThumb2, lThumb3
FINGER: lIndex1, lIndex2, lIndex3
LEG: lThighBend, lShin, lFoot | lThighTwist, lMetatarsals, lToe, lBigToe
""",
        tuple((f"l{letter}", f"r{letter}") for letter in "TSFMBCHIP"),
    ),
    "SMPL": Convention(
        """
Pelvis
  L_Hip, L_Knee, L_Ankle, L_Foot
  Spine1, Spine2, Spine3
    Neck, Head
    L_Collar, L_Shoulder, L_Elbow, L_Wrist, L_Hand
""",
        """
SPINE: Spine1, Spine2, Spine3 | Pelvis
NECK: Neck, Head
ARM: L_Shoulder, L_Elbow, L_Wrist | L_Collar, L_Hand
LEG: L_Hip, L_Knee, L_Ankle | L_Foot
""",
        (("L_", "R_"),),
    ),
}
