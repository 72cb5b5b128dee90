# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings with keys of their own: each is read at every frame, or a warning says that its keys are ignored."""

from dataclasses import replace
from math import dist

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.jobs.bake import bake, bake_limbs, rebake
from ik_triangulation.jobs.live import following as live
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.reach import reach
from ik_triangulation.jobs.shots.report import lines, summary, summary_of_all
from ik_triangulation.rig.frames.reader import FrameReader
from ik_triangulation.rig.limb import LIMB_SETTINGS, PER_FRAME, Limb, ignored
from ik_triangulation.settings import IKT_PG_joint, IKT_PG_limb

from ..rigs import chain_rig, configure, curves_of, empty, evaluated_tip, key_location, place

pytestmark = pytest.mark.usefixtures("empty_scene")

TIP = "Bone 2"
LAST = 11
FADE = {1: 0.0, 4: 1.0, 8: 1.0, LAST: 0.0}


def key(holder, path: str, values) -> None:
    """Key a property of an object, or one below it, at these frames."""
    owner, _, name = path.rpartition(".")
    place = holder.path_resolve(owner) if owner else holder
    for frame, value in values.items():
        setattr(place, name, value)
        holder.keyframe_insert(path, frame=frame)


def limb_path(rig, name: str) -> str:
    return f"{rig.pose.bones[TIP].path_from_id('ik_triangulation')}.{name}"


def distances(rig, target, frames=range(1, LAST + 1)) -> list[float]:
    """How far the tip is from the target as it is shown at each of the frames."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append(dist(evaluated_tip(rig, TIP), target.matrix_world.translation))
    return found


def fading(values=FADE):
    """A rig whose influence is keyed, and its moving target."""
    rig, target = chain_rig(3), key_location(empty(), (1, LAST))
    configure(rig, TIP, target=target, chain_count=0)
    key(rig, limb_path(rig, "influence"), values)
    return rig, target


def limb_of(rig) -> Limb:
    return Limb.of(rig.pose.bones[TIP])


def check_faded(report, rig, target) -> None:
    """The distances told are those shown, and frames count as due where the influence is 1."""
    shown = distances(rig, target)
    assert [result.error for result in report.frames] == pytest.approx(shown, abs=1e-4)
    assert [result.frame for result in report.frames if result.due] == [4, 5, 6, 7, 8]
    assert report.all_reached
    assert report.worst.due
    assert max(shown[3:8]) < 1e-3 < min(shown[0], shown[-1])


# Influence


@pytest.mark.parametrize("act", ["bake", "bake_limbs", "from Python", "by driver"])
def test_an_influence_that_fades_in_and_out_is_baked_so(act):
    rig, target = fading()
    if act == "by driver":
        rig.driver_remove(limb_path(rig, "influence"))
        for curve in list(rig.animation_data.action.layers[0].strips[0].channelbags[0].fcurves):
            rig.animation_data.action.layers[0].strips[0].channelbags[0].fcurves.remove(curve)
        driver = rig.driver_add(limb_path(rig, "influence")).driver
        driver.expression = "min(1, max(0, (frame - 1) / 3), max(0, (11 - frame) / 3))"
    limb = Limb.from_tip(rig, TIP, target) if act == "from Python" else limb_of(rig)
    report = bake_limbs([limb], 1, LAST)[0] if act == "bake_limbs" else bake(limb, 1, LAST)
    check_faded(report, rig, target)
    assert not report.warnings
    check_faded(rebake(rig, TIP), rig, target)


def test_an_influence_in_the_nla_is_read_at_every_frame():
    rig, _ = fading()
    animation = rig.animation_data
    action, animation.action = animation.action, None
    strip = animation.nla_tracks.new().strips.new("Fade", 1, action)
    strip.action_slot = action.slots[0]
    found = [now.limb.influence for now in of_limb(limb_of(rig), (1, 4, LAST))]
    assert found == pytest.approx([0.0, 1.0, 0.0])


def test_an_influence_that_is_given_is_that_of_every_frame():
    rig, target = fading()
    for limb in (Limb.from_tip(rig, TIP, target, influence=1.0), replace(limb_of(rig), influence=1.0)):
        bpy.context.scene.frame_set(1)
        report = bake(limb, 1, LAST)
        assert report.reached == LAST
        assert not report.warnings


def test_the_frame_that_is_shown_decides_nothing():
    found = []
    for present in (1, 5):
        rig, target = fading()
        bpy.context.scene.frame_set(present)
        bake(limb_of(rig), 1, LAST)
        found.append(distances(rig, target))
        bpy.data.objects.remove(rig)
    assert found[0] == pytest.approx(found[1], abs=1e-5)


def test_a_reach_fades_out():
    rig, target = fading({1: 1.0, 6: 1.0, LAST: 0.5})
    report = reach(limb_of(rig), 1, 6, hold=LAST - 6)
    assert [result.frame for result in report.frames if result.due] == [6]
    assert report.all_reached
    shown = distances(rig, target)
    assert shown[5] < 1e-3 < shown[-1]
    assert not any("straight" in warning for warning in report.warnings)


def test_a_solve_and_a_live_limb_have_the_influence_of_the_present_frame():
    rig, target = fading()
    bpy.context.scene.frame_set(5)
    assert solve_pose(limb_of(rig)).frames[0].due
    bpy.context.scene.frame_set(LAST)
    assert not solve_pose(limb_of(rig)).frames[0].due
    bpy.context.scene.frame_set(5)
    live.start(rig, TIP)
    target.location = target.location + Vector((0.1, 0.0, -0.2))
    bpy.context.view_layer.update()
    assert dist(evaluated_tip(rig, TIP), target.matrix_world.translation) < 1e-3
    live.stop_all()


@pytest.mark.parametrize("influence", [0.0, 0.5, 0.999])
def test_an_influence_below_1_at_every_frame_is_told_and_nothing_is_due(influence):
    rig, target = chain_rig(3), empty()
    reports = bake_limbs([Limb.from_tip(rig, TIP, target, influence=influence, mark_misses=True)], 1, 4)
    [report] = reports
    scene = bpy.context.scene
    assert (len(report.due), report.reached, report.missed) == (0, 0, [])
    assert report.all_reached
    assert [warning for warning in report.warnings if "Influence is below 1 at every frame" in warning]
    assert report.to_dict()["largest_distance"] == pytest.approx(max(distances(rig, target, range(1, 5))), abs=1e-5)
    assert "On the way" in summary(report, scene)
    assert "On the way" in lines(report, scene)[0]
    assert "0 of 0" in summary_of_all(reports, scene)
    assert not scene.timeline_markers


# What the target and obstacles look like


def test_a_ring_that_grows_is_reached_at_every_size():
    rig, target = chain_rig(3), empty()
    target.empty_display_type = "CIRCLE"
    key(target, "empty_display_size", {1: 0.2, LAST: 0.8})
    report = bake(Limb.from_tip(rig, TIP, target), 1, LAST)
    assert report.all_reached
    for frame, away in enumerate(distances(rig, target), 1):
        assert away == pytest.approx(target_size(target, frame), abs=2e-3)


def target_size(target, frame: int) -> float:
    bpy.context.scene.frame_set(frame)
    return target.empty_display_size


def test_a_target_that_moves_and_turns_into_another_shape_is_seen():
    rig, target = chain_rig(3), key_location(empty(), (1, LAST))
    key(target, "empty_display_type", {1: "PLAIN_AXES", 6: "SPHERE"})
    target.empty_display_size = 0.4
    report = bake(Limb.from_tip(rig, TIP, target), 1, LAST)
    assert report.all_reached
    shown = distances(rig, target)
    assert max(shown[:5]) < 2e-3
    assert shown[5:] == pytest.approx([0.4] * 6, abs=2e-3)


@pytest.mark.parametrize("kind", ["empty", "mesh"])
def test_an_obstacle_that_grows_is_sampled(kind):
    rig, target = chain_rig(3), empty()
    collection = bpy.data.collections.new("Obstacles")
    if kind == "empty":
        ob = place(bpy.data.objects.new("Ball", None))
        ob.empty_display_type = "SPHERE"
        key(ob, "empty_display_size", {1: 0.1, LAST: 0.6})
    else:
        bpy.ops.mesh.primitive_cube_add(size=0.2)
        ob = bpy.context.object
        ob.shape_key_add(name="Basis")
        large = ob.shape_key_add(name="Large")
        for point in large.data:
            point.co *= 6.0
        for frame, value in ((1, 0.0), (LAST, 1.0)):
            large.value = value
            large.keyframe_insert("value", frame=frame)
    collection.objects.link(ob)
    limb = Limb.from_tip(rig, TIP, target, obstacles=collection)
    sizes = []
    for now in of_limb(limb, (1, LAST)):
        [volume] = now.obstacles
        sizes.append(volume.looks.size if kind == "empty" else volume.highest.x)
    assert sizes == pytest.approx([0.1, 0.6])


# All other settings: those of the groups, one after the other

LIMB, JOINT = (list(group.__annotations__) for group in (IKT_PG_limb, IKT_PG_joint))
# The kind of joint that a setting belongs to.
KINDS = {"lower": "HINGE", "upper": "HINGE", "axis": "HINGE", "use_limits": "HINGE"}
KINDS |= {"minimum": "EULER", "maximum": "EULER", "order": "EULER"}
KINDS |= {"swing": "CONE", "twist_lower": "CONE", "twist_upper": "CONE"}
BONE = [f"{name}_{axis}" for name in ("lock_ik", "use_ik_limit", "ik_min", "ik_max", "ik_stiffness") for axis in "xyz"]
BONE += ["lock_rotation", "lock_rotation_w", "lock_rotations_4d", "rotation_mode"]
LIMIT = [f"{name}_{axis}" for name in ("use_limit", "min", "max") for axis in "xyz"]
LIMIT += ["influence", "enabled", "mute", "owner_space", "euler_order"]


def another(prop, value):
    """Another value that a property can have."""
    if prop.type == "ENUM":
        return next(item.identifier for item in prop.enum_items if item.identifier != value)
    if prop.type == "BOOLEAN":
        return [not each for each in value] if prop.is_array else not value
    if prop.type == "INT":
        return value + 1
    if prop.is_array:
        return [number + 0.25 for number in value]
    return value - 0.25 if value + 0.25 > prop.hard_max else value + 0.25


def key_another(rig, path: str) -> tuple:
    """Key a property below the rig with another value at first, and its present one at last; both, as they are kept."""
    holder, _, name = path.rpartition(".")
    owner = rig.path_resolve(holder)
    prop, present = owner.bl_rna.properties[name], plain(getattr(owner, name))
    found = []
    for frame, value in ((1, another(prop, present)), (LAST, present)):
        setattr(owner, name, value)
        assert rig.keyframe_insert(path, frame=frame)
        found.append(plain(getattr(owner, name)))
    assert found[0] != found[1]
    return tuple(found)


def plain(value):
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def is_named(warnings, holder, name: str, bone: str) -> bool:
    label = holder.bl_rna.properties[name].name
    return any(f"'{label}'" in text and f"of '{bone}' are ignored" in text for text in warnings)


@pytest.mark.parametrize("name", LIMB)
def test_keys_of_each_setting_of_a_limb_are_followed_or_named(name, long):
    rig = chain_rig(3)
    stored = configure(rig, TIP, target=empty(), chain_count=3, influence=0.75, frame_end=250).ik_triangulation
    if not stored.bl_rna.properties[name].is_animatable:
        with pytest.raises(TypeError):
            rig.keyframe_insert(limb_path(rig, name), frame=1)
        return
    values = key_another(rig, limb_path(rig, name))
    limb = limb_of(rig)
    if name in PER_FRAME:
        for now, value in zip(of_limb(limb, (1, LAST)), values, strict=True):
            assert getattr(now.limb, name) == pytest.approx(value)
    baked = long or name in (*PER_FRAME, "solver")  # the others are named by the same list
    warnings = bake(limb, 1, LAST, 5).warnings if baked else ignored(limb.pose_bones)
    assert is_named(warnings, stored, name, TIP) == (name not in PER_FRAME)


def test_keys_of_a_stop_are_named():
    rig = chain_rig(3)
    stored = configure(rig, TIP, target=empty(), chain_count=3).ik_triangulation
    stored.reach_stops.add()
    key_another(rig, limb_path(rig, "reach_stops[0].hold"))
    assert is_named(reach(limb_of(rig), 1, 5).warnings, stored, "reach_stops", TIP)


@pytest.mark.parametrize(
    ("where", "name"),
    [
        *(("ik_triangulation_joint.", name) for name in JOINT),
        *(("", name) for name in BONE),
        *(('constraints["Limit Rotation"].', name) for name in LIMIT),
    ],
)
def test_keys_of_each_setting_of_a_joint_are_followed_or_named(where, name):
    rig, target = chain_rig(3), empty()
    bone = rig.pose.bones["Bone 1"]
    for axis in "xyz":
        setattr(bone, f"use_ik_limit_{axis}", True)
    joint = bone.ik_triangulation_joint
    if "joint" in where:
        joint.source, joint.kind = "OWN", KINDS.get(name, "HINGE")
    if "constraint" in where:
        joint.source = "CONSTRAINT"
        limit = bone.constraints.new("LIMIT_ROTATION")
        limit.owner_space, limit.use_limit_x, limit.use_limit_y, limit.use_limit_z = "LOCAL", True, True, True
        limit.max_x, limit.max_y, limit.max_z, limit.euler_order = 0.5, 0.5, 0.5, "ZYX"
    path = f"{bone.path_from_id()}.{where}{name}"
    holder = rig.path_resolve(path.rpartition(".")[0])
    if not holder.bl_rna.properties[name].is_animatable:
        with pytest.raises(TypeError):
            rig.keyframe_insert(path, frame=1)
        return
    key_another(rig, path)
    limb = Limb.from_tip(rig, TIP, target)
    first, last = (now.rig.freedoms.get("Bone 1") for now in of_limb(limb, (1, LAST)))
    assert is_named(ignored(limb.pose_bones), holder, name, "Bone 1") == (first == last or "lock" in name)


def test_limits_that_are_animated_are_held_at_every_frame():
    rig, target = chain_rig(3), empty(location=(0.0, 1.0, 0.8))
    bone = rig.pose.bones["Bone 1"]
    joint = bone.ik_triangulation_joint
    joint.source, joint.kind, joint.lower, joint.upper = "OWN", "HINGE", 0.0, 2.0
    rig.pose.bones[TIP].ik_triangulation_joint.source = "OWN"
    rig.pose.bones[TIP].ik_triangulation_joint.kind = "LOCKED"
    key(rig, f"{joint_path(bone)}.upper", {1: 0.1, LAST: 2.0})
    report = bake(Limb.from_tip(rig, TIP, target), 1, LAST)
    assert report.warnings[0].startswith("Solved frame by frame")
    assert all("missed" in warning for warning in report.warnings[1:])
    angles = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        angles.append(bone.rotation_quaternion.angle)
        assert angles[-1] <= joint.upper + 1e-5
    assert angles[-1] > 0.3


def joint_path(bone) -> str:
    return bone.path_from_id("ik_triangulation_joint")


def test_keys_that_never_change_a_setting_are_not_named():
    rig, target = chain_rig(3), empty()
    stored = configure(rig, TIP, target=target, chain_count=3).ik_triangulation
    for name in ("seed", "step"):
        value = getattr(stored, name)
        key(rig, limb_path(rig, name), {1: value, LAST: value})
    assert not bake(limb_of(rig), 1, 3).warnings


def test_keys_of_what_is_no_longer_there_are_no_obstacle():
    rig, target = chain_rig(3), empty()
    bone = rig.pose.bones[TIP]
    stored = configure(rig, TIP, target=target, chain_count=3).ik_triangulation
    bone.ik_triangulation_joint.source = "CONSTRAINT"
    gone = bone.constraints.new("LIMIT_ROTATION")
    key(rig, gone.path_from_id("min_x"), {1: -1.0, LAST: -0.5})
    key(rig, limb_path(rig, "seed"), {1: 0, LAST: 3})
    bone.constraints.remove(gone)
    for curve in curves_of(rig):
        curve.data_path = curve.data_path.replace("seed", "sowing")
    bone.constraints.new("LIMIT_ROTATION").owner_space = "LOCAL"
    bone.constraints[0].name = "Another"
    assert not [text for text in bake(limb_of(rig), 1, LAST).warnings if "ignored" in text]
    assert stored.seed == 3


def of_limb(limb: Limb, frames):
    """The samples of a limb at these frames."""
    return list(finished(FrameReader(limb, bpy.context.scene, bpy.context.view_layer, frames).read()))


def test_every_setting_that_is_read_at_every_frame_is_one_of_a_limb():
    assert set(PER_FRAME) < set(LIMB_SETTINGS)


def test_keys_of_a_tip_that_are_none_of_its_settings_are_not_taken_for_some():
    rig = chain_rig(3)
    limb = Limb.from_tip(rig, "Bone 2", empty())
    for frame in (1, 9):
        for prop in ("scale", "location", "ik_stretch"):
            setattr(rig.pose.bones["Bone 2"], prop, 0.1 * frame if prop == "ik_stretch" else (frame,) * 3)
            rig.pose.bones["Bone 2"].keyframe_insert(prop, frame=frame)
    assert ignored(limb.pose_bones) == []
