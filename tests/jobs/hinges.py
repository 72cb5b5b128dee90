# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones whose joints are set."""

from mathutils import Vector

from ..rigs import (
    rotate,
    rotation_property,
)


def settings(rig):
    """All joint settings of a rig, copied."""
    return {bone.name: values_of(bone.ik_triangulation_joint) for bone in rig.pose.bones}


def values_of(joint):
    keys = joint.bl_rna.properties.keys()
    values = {key: getattr(joint, key) for key in keys if key not in {"rna_type", "name"}}
    return {k: tuple(v) if hasattr(v, "__len__") and not isinstance(v, str) else v for k, v in values.items()}


def keyed(rig, name, rotation, frames):
    """Key the rotation of a bone at each frame, in its mode."""
    bone = rig.pose.bones[name]
    for frame in frames:
        rotate(bone, rotation(frame))
        bone.keyframe_insert(rotation_property(bone), frame=frame)


AXIS = Vector((2.0, -1.0, 0.5)).normalized()


def own(bone, **values):
    """Own values of a bone."""
    joint = bone.ik_triangulation_joint
    for name, value in ({"source": "OWN"} | values).items():
        setattr(joint, name, value)
    return joint


def limit_rotation(bone, **values):
    """A Limit Rotation constraint that the bone takes its limits from."""
    bone.ik_triangulation_joint.source = "CONSTRAINT"
    limit = bone.constraints.new("LIMIT_ROTATION")
    for name, value in ({"owner_space": "LOCAL"} | values).items():
        setattr(limit, name, value)
    return limit
