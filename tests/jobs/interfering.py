# SPDX-License-Identifier: GPL-3.0-or-later
"""What interferes with a limb."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.rig.limb import Limb

from ..rigs import armature, chain_rig, empty, evaluated_tip, key_location

LAST = 12


TIP = "Bone 2"


def point(frame):
    """Places that every chain reaches."""
    return Vector((0.9, 0.4 + 0.05 * frame, 1.4))


def moving():
    """A rig of three bones and a target that moves."""
    return chain_rig(3), key_location(empty(), range(1, LAST + 1), point)


def limb(rig, target, **settings):
    return Limb.from_tip(rig, TIP, target, **settings)


def copied(rig, bone="Bone 1", kind="COPY_ROTATION"):
    """A constraint to an object that is turned."""
    other = empty("Other", (0.3, -0.4, 0.8))
    other.rotation_euler = (0.4, 0.9, -0.3)
    constraint = rig.pose.bones[bone].constraints.new(kind)
    constraint.target = other
    return constraint


def faded_in(rig):
    constraint = copied(rig)
    for frame, influence in ((5, 0.0), (9, 1.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)
    constraint.influence = 0.0


def check(rig, target, report, follower=TIP):
    """Every frame is told as it is shown."""
    for result in report.frames:
        bpy.context.scene.frame_set(int(result.frame))
        shown = max((evaluated_tip(rig, name) - target.matrix_world.translation).length for name in {TIP, follower})
        assert result.error == pytest.approx(shown, abs=2e-5), result.frame
        assert result.reached == (shown <= report.tolerance), result.frame


def doubled():
    """A chain and a second one at the same place, whose bones copy those of the first."""
    specs, joints = [], [Vector((0.0, 0.2 * (i % 2), 0.98 * i)) for i in range(4)]
    for prefix in ("Bone", "Skin"):
        for i in range(3):
            parent = {"parent": f"{prefix} {i - 1}", "connect": True} if i else {}
            specs.append({"name": f"{prefix} {i}", "head": joints[i], "tail": joints[i + 1], **parent})
    rig = armature("Rig", specs)
    for i in range(3):
        copy = rig.pose.bones[f"Skin {i}"].constraints.new("COPY_TRANSFORMS")
        copy.target, copy.subtarget = rig, f"Bone {i}"
        rig.pose.bones[f"Bone {i}"].bone.use_deform = False
    return rig, key_location(empty(), range(1, LAST + 1), point)


def by_object(rig):
    """All copies are driven by a whole number on the object, 0 to 4, of which 3 switches them on."""
    rig["limb"] = 0
    rig.id_properties_ui("limb").update(min=0, max=4)
    for i in range(3):
        driver = rig.pose.bones[f"Skin {i}"].constraints[0].driver_add("influence").driver
        driver.type = "SCRIPTED"
        variable = driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = rig, '["limb"]'
        driver.expression = f"{variable.name} == 3"
    return rig.name, "limb", 0.0, 3.0
