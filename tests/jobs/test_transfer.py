# SPDX-License-Identifier: GPL-3.0-or-later
"""FK and IK both ways on rigs made by hand: what is shown stays, keys are where the source has them."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import RigError, SettingError
from ik_triangulation.jobs.transfer import FKMotion, Transferred, _apart, _carried, _limbs_of, _warnings, transfer
from ik_triangulation.rig.controls import limbs_with_ik

from ..ik_rigs import ARM, ik_arm
from ..rigs import all_keys, chain_rig, curves_of, key_frames, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")
KEYS = 1, 6, 12


def switched_arm(stretch=False):
    """An arm with bones for FK and for IK, and a third chain that copies one of them by the property Mode."""
    rig = ik_arm(stretch=stretch)
    bpy.ops.object.mode_set(mode="EDIT")
    edit = rig.data.edit_bones
    for suffix in ("fk", "shown"):
        above = edit["Base"]
        for name in ARM:
            new = edit.new(f"{name}.{suffix}")
            new.head, new.tail, new.roll, new.parent = edit[name].head, edit[name].tail, edit[name].roll, above
            above = new
    bpy.ops.object.mode_set(mode="POSE")
    rig["Mode"] = 0.0
    rig.id_properties_ui("Mode").update(min=0.0, max=1.0)
    for name in ARM:
        for leader, on_fk in ((name, False), (f"{name}.fk", True)):
            copy = rig.pose.bones[f"{name}.shown"].constraints.new("COPY_TRANSFORMS")
            copy.target, copy.subtarget = rig, leader
            driver = copy.driver_add("influence").driver if on_fk else None
            if driver:
                driver.type = "AVERAGE"
                target = driver.variables.new().targets[0]
                target.id, target.data_path = rig, '["Mode"]'
    for name in ARM[:2]:
        rig.pose.bones[name].ik_stretch = 0.1 if stretch else 0.0
    bpy.context.view_layer.update()
    return rig


RIGS = {
    "plain": ik_arm,
    "stretching": lambda: ik_arm(stretch=True),
    "turned pole": lambda: ik_arm(angle=-2.5),
    "switched": switched_arm,
    "switched, stretching": lambda: switched_arm(True),
}


def shown_bones(rig):
    suffix = ".shown" if f"{ARM[0]}.shown" in rig.pose.bones else ""
    return [name + suffix for name in ARM]


def key_ik(rig, frames=KEYS):
    random = np.random.default_rng(4)
    for frame in frames:
        grip, aim = rig.pose.bones["Grip"], rig.pose.bones["Aim"]
        grip.rotation_mode = "QUATERNION"
        grip.location = Vector((-0.15, 0.0, 0.0)) + Vector(random.uniform(-0.1, 0.1, 3))
        grip.rotation_quaternion = Quaternion(random.normal(size=3), random.uniform(-0.6, 0.6))
        aim.location = random.uniform(-0.1, 0.1, 3)
        for bone, path in ((grip, "location"), (grip, "rotation_quaternion"), (aim, "location")):
            bone.keyframe_insert(path, frame=frame)


def frames_of(rig, frames):
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        found[frame] = [bones[name].matrix.copy() for name in shown_bones(rig)]
    return found


def off(before, after):
    """The most that the bones that are shown are off [mm and degrees]."""
    pairs = [pair for frame in before for pair in zip(before[frame], after[frame], strict=True)]
    far = max((a.translation - b.translation).length for a, b in pairs)
    turned = [a.to_quaternion().rotation_difference(b.to_quaternion()).angle for a, b in pairs]
    return far * 1000.0, max(np.degrees(min(angle, 2 * np.pi - angle)) for angle in turned)


@pytest.mark.parametrize("space", ["LOCAL", "LOCAL_OWNER_ORIENT", "LOCAL_WITH_PARENT"])
@pytest.mark.parametrize("made", ["plain", "switched"])
def test_a_hand_may_copy_the_rotation_of_its_control_in_any_space(made, space):
    rig = RIGS[made]()
    copy = next(each for each in rig.pose.bones["Palm"].constraints if each.type == "COPY_ROTATION")
    copy.target_space, copy.owner_space = space, "LOCAL" if space == "LOCAL_OWNER_ORIENT" else space
    bpy.context.view_layer.update()
    key_ik(rig)
    before = frames_of(rig, KEYS)
    for side in ("FK", "IK"):
        transfer(rig, side, 1, 12)
        assert max(off(before, frames_of(rig, KEYS))) < 0.1


@pytest.mark.parametrize("made", RIGS)
def test_a_motion_goes_from_ik_to_fk_and_back(made):
    rig = RIGS[made]()
    rig.rotation_euler, rig.scale = (0.3, -0.2, 1.0), (1.5, 1.5, 1.5)
    key_ik(rig)
    before = frames_of(rig, KEYS)
    own = [f"{name}.fk" for name in ARM] if made.startswith("switched") else ARM
    out = transfer(rig, "FK", 1, 12)
    assert [each.tip for each in out.limbs] == [own[-1]]
    assert out.keys == out.limbs[0].keys > 0
    assert max(off(before, frames_of(rig, KEYS))) < 0.1
    turned = [curve for curve in curves_of(rig) if any(f'"{name}"].rotation' in curve.data_path for name in own)]
    assert {tuple(key_frames(curve)) for curve in turned} == {KEYS}
    for curve in curves_of(rig):  # the character does not follow them any more
        if "Grip" in curve.data_path or "Aim" in curve.data_path:
            for key in curve.keyframe_points:
                key.co.y += 0.2
    assert max(off(before, frames_of(rig, KEYS))) < 0.1
    if made == "stretching":
        return  # the stretched bones have another length than at rest
    out = transfer(rig, "IK", 1, 12)
    far, turned = off(before, frames_of(rig, KEYS))
    assert far < 0.1
    assert turned < 0.1
    assert out.limbs[0].distance < 1e-4
    assert out.limbs[0].angle < np.radians(0.1)


def test_fk_that_is_no_longer_than_at_rest_is_exact_on_ik_that_stretches():
    rig = ik_arm(stretch=True)
    for bone in rig.pose.bones:
        bone.ik_stretch = 0.1
        for constraint in bone.constraints:
            constraint.influence = 0.0
    random = np.random.default_rng(5)
    for frame in KEYS:
        for name, size in zip(ARM, (0.5, 0.9, 0.4), strict=True):
            bone = rig.pose.bones[name]
            bone.rotation_mode = "QUATERNION"
            bone.rotation_quaternion = Quaternion(random.normal(size=3), size)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    before = frames_of(rig, KEYS)
    transfer(rig, "IK", 1, 12)
    assert max(off(before, frames_of(rig, KEYS))) < 0.1


def test_controls_that_were_left_out_of_reach_are_fetched():
    rig = switched_arm()
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("Grip", "Aim"):
        rig.data.edit_bones[name].parent = None
    bpy.ops.object.mode_set(mode="POSE")
    rig["Mode"] = 1.0
    for frame, way in zip(KEYS, (0.0, 1.5, 3.0), strict=True):
        rig.pose.bones["Base"].location.y = way
        rig.pose.bones["Base"].keyframe_insert("location", frame=frame)
        bend = rig.pose.bones["Ulna.fk"]
        bend.rotation_mode = "XYZ"
        bend.rotation_euler = (0.3, 0.0, -0.4)
        bend.keyframe_insert("rotation_euler", frame=frame)
    before = frames_of(rig, KEYS)
    out = transfer(rig, "IK", 1, 12)
    assert out.limbs[0].distance < 1e-4
    far, _ = off(before, frames_of(rig, KEYS))  # upper and lower part are twisted as the pole has them
    assert far < 0.1


def test_every_frame_keeps_the_motion_between_the_keys():
    rig = ik_arm()
    key_ik(rig)
    frames = range(1, 13)
    before = frames_of(rig, frames)
    sparse = transfer(rig, "FK", 1, 12)
    assert sparse.limbs[0].between > 1e-3
    assert "Every Frame" in sparse.warnings[0]
    rig = ik_arm()
    key_ik(rig)
    every = transfer(rig, "FK", 1, 12, "ALL")
    assert every.warnings == ()
    assert max(off(before, frames_of(rig, frames))) < 0.1


def test_a_still_pose_gets_one_key():
    rig = ik_arm()
    rig.pose.bones["Grip"].location = (-0.1, 0.05, 0.1)
    bpy.context.view_layer.update()
    before = frames_of(rig, [1])
    out = transfer(rig, "FK", 1, 250)
    assert {len(keys) for (path, _), keys in all_keys(rig).items() if "rotation" in path} == {1}
    assert max(off(before, {1: frames_of(rig, [200])[200]})) < 0.1
    assert out.limbs[0].frames == 1


def test_what_cannot_be_transferred_is_told_and_nothing_changes():
    rig = chain_rig(3)
    with nothing_lost(), pytest.raises(RigError, match="no IK constraint turns two bones"):
        transfer(rig, "FK", 1, 10)
    rig = ik_arm()
    with nothing_lost(), pytest.raises(RigError, match="Select one of 'Palm'"):
        transfer(rig, "FK", 1, 10, bones=["Base"])
    with nothing_lost(), pytest.raises(SettingError, match="Choose one of IK, FK"):
        transfer(rig, "BOTH", 1, 10)
    with nothing_lost(), pytest.raises(SettingError, match="Choose one of SOURCE, ALL"):
        transfer(rig, "FK", 1, 10, "SOME")


def test_what_is_shown_elsewhere_is_aimed_at_by_as_much_more():
    rig = ik_arm()
    [(limb, controls)] = limbs_with_ik(rig)
    wanted = {name: rig.pose.bones[name].matrix.copy() for name in ARM}
    motion = FKMotion(limb, controls, {1.0: wanted})
    motion.see(bpy.context.evaluated_depsgraph_get(), 1.0)
    assert motion.is_close is True
    wanted["Ulna"].translation.x += 1e-3
    motion.see(bpy.context.evaluated_depsgraph_get(), 1.0)
    assert motion.is_close is False
    wanted["Ulna"].translation.x -= 1e-3
    way, turn, size = Vector((0.1, -0.2, 0.3)), Quaternion((1.0, 2.0, 3.0), 0.4), Vector((1.25, 0.5, 2.0))
    shown = {name: Matrix.LocRotScale(each.translation - way, turn.inverted() @ each.to_quaternion(), size)
             for name, each in wanted.items()}  # fmt: skip
    motion._shown[1.0] = shown
    motion.correct()
    for name, aim in motion._aims[1.0].items():
        before = wanted[name]
        assert (aim.translation - before.translation - way).length < 1e-6
        assert abs(aim.to_quaternion().dot(turn @ before.to_quaternion())) == pytest.approx(1.0, abs=1e-6)
        assert list(aim.to_scale()) == pytest.approx([1.0 / each for each in size], abs=1e-5)
    motion._shown[1.0] = {name: Matrix.Diagonal((0.0, 1.0, 1.0, 1.0)) for name in wanted}
    motion.correct()
    assert all(np.isfinite(aim).all() for aim in motion._aims[1.0].values())


def test_frames_are_apart_by_the_worst_of_place_rotation_and_scale():
    here = Matrix.Translation((1.0, 2.0, 3.0))
    assert _apart(here, here, 2.0) == 0.0
    assert _apart(here, Matrix.Translation((1.0, 2.0, 3.5)), 2.0) == pytest.approx(0.25)
    assert _apart(here, here @ Matrix.Rotation(0.3, 4, "Z"), 2.0) == pytest.approx(0.3, abs=1e-6)
    assert _apart(here, here @ Matrix.Diagonal((1.0, 0.6, 1.1, 1.0)), 2.0) == pytest.approx(0.4, abs=1e-6)


def test_what_hangs_on_a_moved_bone_is_carried():
    rig = chain_rig(4)
    bones, moved = rig.pose.bones, Matrix.Translation((0.0, 0.5, 0.0)) @ Matrix.Rotation(0.4, 4, "X")
    there = {"Bone 1": moved @ bones["Bone 1"].matrix}
    for name, by in (("Bone 0", Matrix()), ("Bone 1", moved), ("Bone 3", moved)):
        assert np.array(_carried(bones[name], there)) == pytest.approx(np.array(by @ bones[name].matrix), abs=1e-6)


def test_a_limb_is_found_by_any_of_its_bones_and_controls():
    rig = switched_arm()
    [(limb, controls)] = limbs_with_ik(rig)
    for name in ("Grip", "Aim", "Ulna", "Palm.fk", "Bicep.shown"):
        [found] = _limbs_of(rig, [name, "Base"], False)
        assert found == (limb, controls), name
    assert _limbs_of(rig, [], False) == _limbs_of(rig, ["Base"], True) == [(limb, controls)]
    with pytest.raises(RigError, match="None of the selected bones"):
        _limbs_of(rig, ["Base"], False)


def test_limbs_that_are_off_and_sparse_keys_are_told_of():
    for made, why in (({"pole": True}, "its keys."), ({"pole": False}, "its keys, as it has no pole.")):
        rig = ik_arm(**made)
        [chosen] = limbs_with_ik(rig)

        def told(*values, chosen=chosen):
            return _warnings([chosen], [Transferred("Palm", 6, 3, *values)], bpy.context.scene)

        assert told(0.0, 0.0, 0.0) == []
        assert told(1e-4, 1e-3, 1e-3) == []
        [off] = told(0.02, 0.0, 1.0)
        assert off.startswith(f"'Palm' is off by up to 2 cm and 0° at {why} Look at locked channels")
        [turned] = told(0.0, 0.1, 0.0)
        assert "and 5.7° at its keys" in turned
        [sparse] = told(0.0, 0.0, 0.03)
        assert sparse.startswith("Between the keys 'Palm' is up to 3 cm away from what it showed.")
