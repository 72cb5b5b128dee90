# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs, targets and motions made in code, and what a file holds, in a form that can be compared."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import cos, pi, sin
from pprint import pformat
from random import Random

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
EULER_MODES = MODES[2:]
INHERIT_SCALE = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
PROPERTIES = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def place(ob: bpy.types.Object) -> bpy.types.Object:
    """Put an object into the present scene."""
    bpy.context.scene.collection.objects.link(ob)
    return ob


def chain_rig(
    bones: int = 3,
    name: str = "Rig",
    names: Sequence[str] = (),
    gaps: Sequence[int] = (),
    rolls: Sequence[float] = (),
    mode: str = "QUATERNION",
) -> bpy.types.Object:
    """An armature in Pose Mode, active, with one slightly bent chain of `bones` of length 1, called Bone 0, Bone 1, ...

    The bones whose indices are in `gaps` stand off their parent's tail.
    """
    joints = [Vector((0.0, 0.2 * (i % 2), 0.98 * i)) for i in range(bones + 1)]
    specs, offset = [], Vector()
    for i in range(bones):
        if i in gaps:
            offset = offset + Vector((0.3, -0.2, 0.1))
        specs.append(
            {
                "name": names[i] if names else f"Bone {i}",
                "head": joints[i] + offset,
                "tail": joints[i + 1] + offset,
                "roll": rolls[i] if rolls else 0.0,
                "parent": specs[-1]["name"] if specs else None,
                "connect": i not in gaps,
            }
        )
    rig = armature(name, specs)
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    return rig


def armature(name: str, specs: Sequence[dict]) -> bpy.types.Object:
    """An armature in Pose Mode, active, with bones of these names, heads, tails, rolls, parents, connected or not."""
    rig = place(bpy.data.objects.new(name, bpy.data.armatures.new(name)))
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in bpy.context.selected_objects:
        other.select_set(False)
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    made = {}
    for spec in specs:
        bone = rig.data.edit_bones.new(spec["name"])
        bone.head, bone.tail, bone.roll = spec["head"], spec["tail"], spec.get("roll", 0.0)
        if spec.get("parent") is not None:
            bone.parent = made[spec["parent"]]
            bone.use_connect = spec.get("connect", False)
        made[spec["name"]] = bone
    bpy.ops.object.mode_set(mode="POSE")
    if specs:
        rig.data.bones.active = rig.data.bones[specs[-1]["name"]]
    return rig


def random_vector(random: Random, low: float = -1.0, high: float = 1.0) -> Vector:
    """Three numbers from a range."""
    return Vector([random.uniform(low, high) for _ in range(3)])


def random_rotation(random: Random) -> Quaternion:
    """Any rotation, all alike."""
    return Quaternion([random.gauss(0.0, 1.0) for _ in range(4)]).normalized()


def random_specs(random: Random, prefix: str, bones: int) -> list[dict]:
    """Bones of lengths 0.2 to 2 in any direction, with any roll, half of them connected."""
    specs, tail = [], random_vector(random)
    for i in range(bones):
        connect = i > 0 and random.random() < 0.5
        head = tail if connect else tail + random_vector(random, -0.5, 0.5)
        tail = head + (random_rotation(random) @ Vector((0.0, random.uniform(0.2, 2.0), 0.0)))
        specs.append(
            {
                "name": f"{prefix} {i}",
                "head": head,
                "tail": tail,
                "roll": random.uniform(-pi, pi),
                "parent": specs[-1]["name"] if specs else None,
                "connect": connect,
            }
        )
    return specs


SCALES = {
    "unscaled": lambda random: Vector((1.0, 1.0, 1.0)),
    "uniform": lambda random: Vector((random.uniform(0.3, 3.0),) * 3),
    "non-uniform": lambda random: random_vector(random, 0.4, 2.5),
    "mirrored": lambda random: Vector([random.choice((-1.0, 1.0)) * random.uniform(0.5, 2.0) for _ in range(3)]),
}


def pose_randomly(random: Random, bone: bpy.types.PoseBone, scale: str, mode: str) -> None:
    """Any rotation in this mode, a kind of scale, and a place off its rest."""
    bone.rotation_mode = mode
    rotate(bone, random_rotation(random))
    bone.scale = SCALES[scale](random)
    bone.location = random_vector(random, -0.4, 0.4)


def rotate(bone: bpy.types.PoseBone, rotation: Quaternion) -> None:
    """Give a bone a rotation in whatever mode it is."""
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = rotation
    elif bone.rotation_mode == "AXIS_ANGLE":
        axis, angle = rotation.to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = rotation.to_euler(bone.rotation_mode)


def rotation_property(bone: bpy.types.PoseBone) -> str:
    """The rotation property that counts in the bone's mode."""
    return PROPERTIES.get(bone.rotation_mode, "rotation_euler")


def rotation_from(mode: str, values: Sequence[float]) -> Quaternion:
    """The rotation that channel values mean in a rotation mode."""
    if mode == "QUATERNION":
        return Quaternion(values).normalized()
    if mode == "AXIS_ANGLE":
        return Quaternion(Vector(values[1:]), values[0])
    return Euler(values, mode).to_quaternion()


def empty(name: str = "Target", location: Sequence[float] = (0.8, 0.5, 1.2)) -> bpy.types.Object:
    """An empty to reach for, within reach of the default rig."""
    ob = place(bpy.data.objects.new(name, None))
    ob.location = location
    return ob


def path_point(frame: float) -> Vector:
    """A smooth motion round the default rig of three bones, within its reach."""
    t = frame * 2.0 * pi / 40.0
    return Vector((1.3 * cos(t), 1.3 * sin(t), 1.2 + 0.8 * sin(0.5 * t)))


def key_location(ob: bpy.types.Object, frames: Sequence[int], point=path_point) -> bpy.types.Object:
    """Key an object's location along a motion."""
    for frame in frames:
        ob.location = point(frame)
        ob.keyframe_insert("location", frame=frame)
    return ob


def select(rig: bpy.types.Object, *names: str, active: str | None = None) -> None:
    """Select these bones and no others; the last one, or `active`, is the active bone."""
    for bone in rig.pose.bones:
        # Selection moved from the bone to the pose bone in Blender 5.0.
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names
    rig.data.bones.active = rig.data.bones[active or names[-1]]


def configure(rig: bpy.types.Object, tip: str, **settings) -> bpy.types.PoseBone:
    """Make `tip` the active bone of the active rig and set its limb's settings."""
    bpy.context.view_layer.objects.active = rig
    rig.data.bones.active = rig.data.bones[tip]
    bone = rig.pose.bones[tip]
    for name, value in settings.items():
        setattr(bone.ik_triangulation, name, value)
    return bone


def curves_of(ob: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The F-Curves that move an object."""
    animation = ob.animation_data
    if animation is None or animation.action is None or animation.action_slot is None:
        return []
    bags = [strip.channelbag(animation.action_slot) for layer in animation.action.layers for strip in layer.strips]
    return [curve for bag in bags if bag for curve in bag.fcurves]


def curve_of(ob: bpy.types.Object, bone: str, index: int) -> bpy.types.FCurve | None:
    """The F-Curve of a rotation channel of a bone."""
    pose_bone = ob.pose.bones[bone]
    path = pose_bone.path_from_id(rotation_property(pose_bone))
    return next((c for c in curves_of(ob) if c.data_path == path and c.array_index == index), None)


def key_frames(curve: bpy.types.FCurve) -> list[float]:
    """When a curve has keys."""
    return [key.co.x for key in curve.keyframe_points]


def rows(ob: bpy.types.Object, bone: str) -> np.ndarray:
    """Values of all rotation keys of a bone: a row each, a column for each channel."""
    count = len(getattr(ob.pose.bones[bone], rotation_property(ob.pose.bones[bone])))
    columns = [[key.co.y for key in curve_of(ob, bone, index).keyframe_points] for index in range(count)]
    return np.array(columns).T


KEY_ATTRIBUTES = (
    "co",
    "handle_left",
    "handle_right",
    "handle_left_type",
    "handle_right_type",
    "interpolation",
    "easing",
    "type",
    "amplitude",
    "period",
    "back",
    "select_control_point",
    "select_left_handle",
    "select_right_handle",
)


def key_of(key: bpy.types.Keyframe) -> tuple:
    """Everything a key holds."""
    values = (getattr(key, name) for name in KEY_ATTRIBUTES)
    return tuple(value.to_tuple() if isinstance(value, Vector) else value for value in values)


def keys_of(curve: bpy.types.FCurve) -> list[tuple]:
    """Everything all keys of a curve hold."""
    return [key_of(key) for key in curve.keyframe_points]


def all_keys(ob: bpy.types.Object) -> dict[tuple[str, int], list[tuple]]:
    """Everything the keys of an object hold, by channel."""
    return {(curve.data_path, curve.array_index): keys_of(curve) for curve in curves_of(ob)}


def push_down(ob: bpy.types.Object, blend: str = "REPLACE") -> bpy.types.NlaStrip | None:
    """Make a strip of the active action, on a track above the others, as the NLA editor does; None without one."""
    animation = ob.animation_data
    if animation is None or animation.action is None:
        return None
    action, slot = animation.action, animation.action_slot
    strip = animation.nla_tracks.new().strips.new(action.name, int(action.frame_range[0]), action)
    strip.action_slot, strip.blend_type = slot, blend
    animation.action = None
    return strip


def evaluated_tip(rig: bpy.types.Object, bone: str) -> Vector:
    """Tail of a bone as Blender shows it now, world space."""
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return evaluated.matrix_world @ evaluated.pose.bones[bone].tail


def contents() -> dict[str, object]:
    """All that an artist has in a file and on screen, by name; two of these can be compared."""
    found: dict[str, object] = {}
    for action in bpy.data.actions:
        found |= _action(action)
    for ob in bpy.data.objects:
        found |= _object(ob)
    for scene in bpy.data.scenes:
        found[f"{scene.name}: frame"] = (scene.frame_current, scene.frame_subframe)
        found[f"{scene.name}: range"] = (scene.frame_start, scene.frame_end, scene.use_preview_range)
        found[f"{scene.name}: markers"] = sorted((m.frame, m.name, m.select) for m in scene.timeline_markers)
        found[f"{scene.name}: objects"] = sorted(ob.name for ob in scene.objects)
    context = bpy.context
    found["mode"] = context.mode
    found["scene"] = (context.scene.name, context.view_layer.name)
    found["active"] = getattr(context.view_layer.objects.active, "name", None)
    found["selected"] = sorted(ob.name for ob in context.selected_objects)
    for name in dir(bpy.data):
        collection = getattr(bpy.data, name)
        if isinstance(collection, bpy.types.bpy_prop_collection):
            found[f"number of {name}"] = len(collection)
    return found


def _action(action: bpy.types.Action) -> dict[str, object]:
    who = f"{action.name_full}"
    found: dict[str, object] = {
        f"{who}: flags": (action.use_fake_user, action.users, action.use_cyclic, action.use_frame_range),
        f"{who}: custom": sorted(map(_custom, action.items())),
        f"{who}: slots": [(slot.identifier, slot.handle, slot.target_id_type) for slot in action.slots],
    }
    for layer in action.layers:
        for number, strip in enumerate(layer.strips):
            where = f"{who}: {layer.name} {number}"
            found[f"{where}: slots"] = [bag.slot_handle for bag in strip.channelbags]
            for bag in strip.channelbags:
                here = f"{where} {bag.slot_handle}"
                found[f"{here}: groups"] = [(g.name, g.lock, g.mute, len(g.channels)) for g in bag.groups]
                found[f"{here}: order"] = [(c.data_path, c.array_index) for c in bag.fcurves]
                for curve in bag.fcurves:
                    found[f"{here}: {curve.data_path}[{curve.array_index}]"] = _curve(curve)
    return found


def _custom(item: tuple) -> str:
    """A custom property; of a group the order does not count."""
    name, value = item
    return f"{name}: {sorted(value.items()) if hasattr(value, 'to_dict') else value}"


def _curve(curve: bpy.types.FCurve) -> tuple:
    flags = (curve.extrapolation, curve.lock, curve.mute, curve.hide, curve.select, curve.color_mode)
    keys = hashlib.sha256(_keys(curve.keyframe_points)).hexdigest()
    group = curve.group.name if curve.group else None
    modifiers = [(m.type, m.mute) for m in curve.modifiers]
    return flags, group, modifiers, len(curve.keyframe_points), len(curve.sampled_points), keys


def _keys(keys: bpy.types.FCurveKeyframePoints) -> bytes:
    """Everything that keys hold, bit by bit: of all of them at once, as each number alone takes as long as a bake."""
    values = [bytes(len(keys))]
    for name in KEY_ATTRIBUTES:
        prop = bpy.types.Keyframe.bl_rna.properties[name]
        found = np.empty(
            len(keys) * max(1, getattr(prop, "array_length", 0)),
            {"FLOAT": np.float32, "BOOLEAN": np.bool_}.get(prop.type, np.int32),
        )
        keys.foreach_get(name, found)
        values.append(found.tobytes())
    return b"".join(values)


def _object(ob: bpy.types.Object) -> dict[str, object]:
    found: dict[str, object] = {}
    for thing in (ob, ob.data):
        animation = getattr(thing, "animation_data", None)  # the image of an empty has none
        if animation is None:
            found[f"{ob.name}: animation of {type(thing).__name__}"] = None
            continue
        found[f"{ob.name}: animation of {type(thing).__name__}"] = (
            getattr(animation.action, "name_full", None),
            getattr(animation.action_slot, "identifier", None),
            [(d.data_path, d.array_index, d.driver.expression) for d in animation.drivers],
            [(track.name, len(track.strips)) for track in animation.nla_tracks],
            animation.use_tweak_mode,
        )
    found[f"{ob.name}: place"] = (*_values(ob), ob.parent and ob.parent.name, ob.parent_type, ob.parent_bone)
    found[f"{ob.name}: constraints"] = [(c.name, c.mute, c.influence) for c in ob.constraints]
    if ob.type == "ARMATURE" and ob.pose:
        active = ob.data.bones.active
        found[f"{ob.name}: active bone"] = active.name if active else None
        found[f"{ob.name}: shows"] = (ob.data.pose_position, ob.mode)
        for bone in ob.pose.bones:
            selected = (bone if hasattr(bone, "select") else bone.bone).select
            found[f"{ob.name}: {bone.name}"] = (*_values(bone), selected, len(bone.constraints))
    return found


def _values(thing: bpy.types.Object | bpy.types.PoseBone) -> tuple:
    vectors = ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler", "scale")
    return thing.rotation_mode, *(repr(tuple(getattr(thing, name))) for name in vectors)


@contextmanager
def nothing_lost() -> Iterator[None]:
    """Fail if anything an artist has in the file or on screen is not afterwards as it was before, bit by bit."""
    bpy.context.view_layer.update()  # what the test has changed itself
    before = contents()
    yield
    after = contents()
    changed = {
        name: (before.get(name), after.get(name)) for name in before | after if before.get(name) != after.get(name)
    }
    assert not changed, pformat(changed, width=200)


def matrix_close(a: Matrix, b: Matrix, within: float) -> bool:
    """Whether two matrices agree entry by entry."""
    return max(abs(x - y) for r, s in zip(a, b, strict=True) for x, y in zip(r, s, strict=True)) < within
