# SPDX-License-Identifier: GPL-3.0-or-later
"""What a target follows is known as Blender moves it."""

from random import Random

import bpy
import pytest

from ik_triangulation.errors import ChainError
from ik_triangulation.rig.dependencies import Dependencies, Node, ik_constraints, in_waves
from ik_triangulation.rig.limb import Limb

from ..rigs import armature, chain_rig, empty, place

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize("seed", range(40))
def test_what_follows_what_is_known_as_blender_moves_it(seed):
    """A random web of parents, constraints and bones: a target that is let through does not move with the chain."""
    random = Random(seed)
    rig = armature(
        "Rig",
        [
            {"name": "Bone 0", "head": (0, 0, 0), "tail": (0, 0, 1)},
            {"name": "Bone 1", "head": (0, 0, 1), "tail": (0, 0.1, 2), "parent": "Bone 0", "connect": True},
            {"name": "free", "head": (1, 0, 0), "tail": (1, 0, 1)},
            {"name": "finger", "head": (0, 0.1, 2), "tail": (0, 0.1, 2.5), "parent": "Bone 1"},
        ],
    )
    things = [empty(f"Empty {i}", location=(i, 1, 0)) for i in range(5)]
    for i, thing in enumerate(things[:-1]):
        other = random.choice([*things[i + 1 :], rig])
        bone = random.choice(["Bone 0", "Bone 1", "free", "finger", ""]) if other == rig else ""
        how = random.choice(["parent", "COPY_LOCATION", "CHILD_OF", "DAMPED_TRACK", "COPY_TRANSFORMS"])
        if how == "parent":
            thing.parent = other
            if bone:
                thing.parent_type, thing.parent_bone = "BONE", bone
        else:
            constraint = thing.constraints.new(how)
            constraint.target, constraint.subtarget = other, bone
    target = things[0]
    bpy.context.view_layer.update()
    before = target.matrix_world.translation.copy()
    rig.pose.bones["Bone 0"].rotation_quaternion = (0.9, 0.3, 0.2, 0.1)
    rig.pose.bones["Bone 1"].rotation_quaternion = (0.7, 0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    moves = (target.matrix_world.translation - before).length > 1e-6
    limb = Limb.from_tip(rig, "Bone 1", target)
    followed = Dependencies([limb]).follows(Node(target), limb)
    assert followed or not moves


def hand_on(rig, bone, name):
    """An empty that moves with a bone."""
    ob = empty(name)
    ob.parent, ob.parent_type, ob.parent_bone = rig, "BONE", bone
    return ob


def three_rigs():
    """Three limbs, of which the first reaches for something on the third, and the third's rig is on the second."""
    rigs = [chain_rig(2, name=f"Rig {i}") for i in range(3)]
    first = Limb.from_tip(rigs[0], "Bone 1", hand_on(rigs[2], "Bone 1", "On the third"))
    second = Limb.from_tip(rigs[1], "Bone 1", empty("Free"))
    third = Limb.from_tip(rigs[2], "Bone 1", empty("Free too"))
    rigs[2].parent, rigs[2].parent_type, rigs[2].parent_bone = rigs[1], "BONE", "Bone 0"
    return first, second, third


def test_limbs_come_after_those_that_they_depend_on():
    first, second, third = three_rigs()
    assert in_waves([first, second, third]) == [[second], [third], [first]]


def test_limbs_that_move_each_other_have_no_order():
    first, second, third = three_rigs()
    second.target.parent = first.armature
    second.target.parent_type, second.target.parent_bone = "BONE", "Bone 0"
    with pytest.raises(ChainError, match="move each other"):
        in_waves([first, second, third])


def test_dependencies_of_many_limbs_are_read_once(monkeypatch):
    rig = chain_rig(24)
    limbs = [Limb.from_tip(rig, f"Bone {i}", empty(f"Target {i}"), 2) for i in range(1, 24, 2)]
    read, direct = [], Dependencies._direct
    monkeypatch.setattr(Dependencies, "_direct", lambda known, node: read.append(node) or direct(known, node))
    assert in_waves(limbs) == [[limb] for limb in limbs]
    assert len(read) == len(set(read)) <= 24 + 1 + len(limbs)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_ik_is_known_on_the_bones_above_that_it_rotates(count):
    rig = chain_rig(4)
    constraint = rig.pose.bones["Bone 3"].constraints.new("IK")
    constraint.chain_count = count
    above = ["Bone 2", "Bone 1", "Bone 0"]
    assert list(ik_constraints(rig)) == above[: count or None]


def simulating():
    """Geometry nodes with a simulation inside a group."""
    inner, outer = (bpy.data.node_groups.new(name, "GeometryNodeTree") for name in ("Inner", "Outer"))
    outer.nodes.new("GeometryNodeGroup").node_tree = inner
    return inner, outer


def test_what_is_simulated_or_read_from_the_scene_moves_only_in_the_users_scene():
    mesh = bpy.data.meshes.new("Ground")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    ground, target, inner, outer = place(bpy.data.objects.new("Ground", mesh)), empty(), *simulating()
    target.parent, target.parent_type, target.parent_vertices = ground, "VERTEX", (0, 0, 0)
    modifier = ground.modifiers.new("Nodes", "NODES")
    modifier.node_group = outer

    def bound():
        return Dependencies().needs_scene(Node(target))

    assert bound() is None
    inner.nodes.new("GeometryNodeSimulationOutput")
    assert bound() == ("'Ground' is deformed by a simulation", True)
    ground.modifiers.clear()
    ground.modifiers.new("Cloth", "CLOTH")
    assert bound() == ("'Ground' is deformed by a simulation", True)
    target.parent = None
    assert bound() is None
    wrap = target.constraints.new("SHRINKWRAP")
    wrap.target = ground
    assert bound() == ("'Ground' is deformed by a simulation", True)
    wrap.mute = True
    assert bound() is None
    target.constraints.clear()
    camera = target.constraints.new("OBJECT_SOLVER")
    assert bound() == (f"constraint '{camera.name}' on 'Target' reads the scene", False)
    camera.mute = True
    assert bound() is None
    driver = target.driver_add("location", 0).driver
    driver.expression = "bpy.context.scene.frame_current"
    assert bound() == ("a driver on 'Target' reads the scene", False)
    driver.expression = "frame"
    assert bound() is None
    variable = driver.variables.new()
    variable.targets[0].id_type = "SCENE"
    variable.targets[0].id = bpy.context.scene
    assert bound() == ("a driver on 'Target' reads the scene", False)
