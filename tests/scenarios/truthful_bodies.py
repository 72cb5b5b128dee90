# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies with something else that moves their bones: strips, blending, drivers, constraints and F-curve modifiers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..bodies import human_rig
from ..rigs import push_down

FRAMES = 8
HIPS, THIGH, SHIN = "spine", "thigh.L", "shin.L"
HELD, REACHING = ("foot.L", "foot.R"), ("hand.L", "hand.R")
Scene = Callable[[bpy.types.Object, Random], None]


def body(seed: int) -> bpy.types.Object:
    """A body that is set up, whose hands reach down and back by seeded ways; its feet are held as animated."""
    from ik_triangulation.jobs.setup import set_up_body  # noqa: PLC0415

    random, rig = Random(seed), human_rig()
    made = set_up_body(rig)
    for name in made.held:
        rig.pose.bones[name].ik_triangulation.hold_where = "ANIMATION"
    for name in made.reach:
        target = rig.pose.bones[name].ik_triangulation.target
        start, sign = target.location.copy(), 1.0 if name.endswith("L") else -1.0
        way = Vector((-0.2 * sign, -0.15, -0.25)) * random.uniform(0.5, 1.0)
        for frame, share in ((1, 0.0), ((1 + FRAMES) // 2, 1.0), (FRAMES, 0.0)):
            target.location = start + way * share
            target.keyframe_insert("location", frame=frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.frame_set(1)
    return rig


def key(rig: bpy.types.Object, random: Random, *bones: str) -> bpy.types.Action:
    """Key the rotation of these bones from rest to a seeded one, and of the hips the location as well."""
    for name in bones:
        bone = rig.pose.bones[name]
        ends = ((1, 0.0), (FRAMES, random.choice((-1.0, 1.0)) * random.uniform(0.2, 0.5)))
        for frame, turn in ends:
            bone.rotation_mode = "XYZ"
            if name == HIPS:
                bone.location = 0.6 * turn, 0.0, -0.1 * abs(turn)
                bone.keyframe_insert("location", frame=frame)
            else:
                bone.rotation_euler = turn, 0.0, 0.3 * turn
                bone.keyframe_insert("rotation_euler", frame=frame)
    return rig.animation_data.action


def strip(*bones: str, blend: str = "REPLACE", then: str = "", influence: float = 1.0, scale: float = 1.0) -> Scene:
    """A strip that keys these bones; then an active action that keys another one."""

    def make(rig: bpy.types.Object, random: Random) -> None:
        key(rig, random, *bones)
        made = push_down(rig, blend)
        made.influence, made.scale = influence, scale
        if then:
            rig.animation_data.action = bpy.data.actions.new("Then")
            key(rig, random, then)

    return make


def two_strips(*bones: str, above: str = "ADD") -> Scene:
    """A strip that keys these bones, and another one above it."""

    def make(rig: bpy.types.Object, random: Random) -> None:
        key(rig, random, *bones)
        push_down(rig)
        rig.animation_data.action = bpy.data.actions.new("Above")
        key(rig, random, *bones)
        push_down(rig, above)

    return make


def driven(bone: str, prop: str, index: int) -> Scene:
    """A driver on a channel of a bone, by the frame."""

    def make(rig: bpy.types.Object, random: Random) -> None:
        rig.pose.bones[bone].rotation_mode = "XYZ"
        curve = rig.pose.bones[bone].driver_add(prop, index)
        other = bpy.data.objects.new("Driving", None)
        bpy.context.scene.collection.objects.link(other)
        other.keyframe_insert("location", frame=1)
        other.location.x = random.uniform(0.2, 0.4)
        other.keyframe_insert("location", frame=FRAMES)
        variable = curve.driver.variables.new()
        variable.type, variable.targets[0].id = "TRANSFORMS", other
        curve.driver.type = "AVERAGE"

    return make


def constrained(bone: str, kind: str, **settings: object) -> Scene:
    """A constraint on a bone, to an object that moves where it takes one."""

    def make(rig: bpy.types.Object, random: Random) -> None:
        constraint = rig.pose.bones[bone].constraints.new(kind)
        if hasattr(constraint, "target"):
            other = bpy.data.objects.new("Other", None)
            bpy.context.scene.collection.objects.link(other)
            start = rig.matrix_world @ rig.pose.bones[bone].matrix
            for frame, share in ((1, 0.0), (FRAMES, 1.0)):
                turn = Matrix.Rotation(share * random.uniform(0.2, 0.4), 4, "X")
                other.matrix_world = Matrix.Translation((0.0, 0.1 * share, -0.05 * share)) @ start @ turn
                if kind == "STRETCH_TO":  # from head to tail
                    other.location.z -= rig.pose.bones[bone].length
                other.keyframe_insert("location", frame=frame)
                other.keyframe_insert("rotation_euler", frame=frame)
            constraint.target = other
        for name, value in settings.items():
            setattr(constraint, name, value)

    return make


def modified(bone: str, kind: str = "NOISE") -> Scene:
    """A modifier on the keyed F-curves of a bone."""

    def make(rig: bpy.types.Object, random: Random) -> None:
        key(rig, random, bone)
        bag = rig.animation_data.action.layers[0].strips[0].channelbag(rig.animation_data.action_slot)
        for curve in bag.fcurves:
            modifier = curve.modifiers.new(kind)
            if kind == "NOISE":
                modifier.strength, modifier.scale, modifier.phase = 0.3, 3.0, random.uniform(0.0, 9.0)
            elif kind == "GENERATOR":
                modifier.use_additive, modifier.coefficients = True, (0.0, 0.03)

    return make


def blended(*bones: str, **settings: object) -> Scene:
    """The active action's own influence or blending, above a strip: without any Blender does not blend."""

    def make(rig: bpy.types.Object, random: Random) -> None:
        key(rig, random, *bones)
        push_down(rig)
        rig.animation_data.action = bpy.data.actions.new("Above")
        key(rig, random, *bones)
        for name, value in settings.items():
            setattr(rig.animation_data, f"action_{name}", value)

    return make


def plain(*bones: str) -> Scene:
    """Keys alone."""
    return lambda rig, random: key(rig, random, *bones) and None


def hooked(rig: bpy.types.Object, random: Random) -> None:
    """The target of a hand follows a path whose point hangs on the shin by a hook."""
    curve = bpy.data.curves.new("Path", "CURVE")
    curve.dimensions, curve.use_path = "3D", True
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    end = rig.matrix_world @ rig.pose.bones["hand.L"].tail
    for point, place in zip(spline.points, (end, end + Vector((0.0, -0.1, -0.1))), strict=True):
        point.co = (*place, 1.0)
    path = bpy.data.objects.new("Path", curve)
    bpy.context.scene.collection.objects.link(path)
    hook = path.modifiers.new("Hook", "HOOK")
    hook.object, hook.subtarget = rig, SHIN
    hook.vertex_indices_set([0, 1])
    hook.matrix_inverse = (rig.matrix_world @ rig.pose.bones[SHIN].matrix).inverted() @ path.matrix_world
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    target.animation_data_clear()
    target.location = 0.0, 0.0, 0.0
    follow = target.constraints.new("FOLLOW_PATH")
    follow.target, follow.use_fixed_location, follow.offset_factor = path, True, 0.3


SHORT: dict[str, Scene] = {
    "strip on the hips": strip(HIPS),
    "strip added on the hips": strip(HIPS, blend="ADD"),
    "strip combined on the hips": strip(HIPS, blend="COMBINE"),
    "strip on the hips, and an action on a toe": strip(HIPS, then="toe.L"),
    "strip added on the thigh": strip(THIGH, blend="ADD"),
    "two strips on the hips": two_strips(HIPS),
    "driver on the shin": driven(SHIN, "rotation_euler", 0),
    "driver on the hips": driven(HIPS, "location", 0),
    "limit on the shin": constrained(SHIN, "LIMIT_ROTATION", use_limit_x=True, owner_space="LOCAL"),
    "copied hips": constrained(HIPS, "COPY_LOCATION"),
    "noise on the thigh": modified(THIGH),
    "influence of the action": blended(HIPS, THIGH, influence=0.5),
}

LONG: dict[str, Scene] = {
    **SHORT,
    "plain": plain(HIPS, THIGH, SHIN),
    "hook": hooked,
    "strip combined on the thigh": strip(THIGH, blend="COMBINE"),
    "strip on the thigh": strip(THIGH),
    "strip on the shin": strip(SHIN),
    "strip added on the shin": strip(SHIN, blend="ADD"),
    "strip on all": strip(HIPS, THIGH, SHIN),
    "strip of half influence": strip(HIPS, influence=0.5),
    "slow strip": strip(HIPS, scale=1.5),
    "subtracted strip": strip(HIPS, blend="SUBTRACT"),
    "multiplied strip": strip(THIGH, blend="MULTIPLY"),
    "two strips on the thigh": two_strips(THIGH),
    "two strips combined": two_strips(HIPS, above="COMBINE"),
    "strip on the hips, and an action on the thigh": strip(HIPS, then=THIGH),
    "strip on the thigh, and an action on the hips": strip(THIGH, then=HIPS),
    "driver on the thigh": driven(THIGH, "rotation_euler", 0),
    "driver on the hips' height": driven(HIPS, "location", 1),
    "driver on the hips' turn": driven(HIPS, "rotation_euler", 1),
    "limit on the thigh": constrained(THIGH, "LIMIT_ROTATION", use_limit_x=True, max_x=0.1, owner_space="LOCAL"),
    "limited hips": constrained(HIPS, "LIMIT_LOCATION", use_max_z=True, max_z=0.97),
    "copied turn of the shin": constrained(SHIN, "COPY_ROTATION"),
    "copied turn of the hips": constrained(HIPS, "COPY_ROTATION"),
    "half copied turn of the thigh": constrained(THIGH, "COPY_ROTATION", influence=0.5),
    "stretched shin": constrained(SHIN, "STRETCH_TO"),
    "tracking shin": constrained(SHIN, "DAMPED_TRACK"),
    "IK on the shin": constrained(SHIN, "IK", chain_count=2),
    "noise on the shin": modified(SHIN),
    "noise on the hips": modified(HIPS),
    "slope on the hips": modified(HIPS, "GENERATOR"),
    "cycles on the thigh": modified(THIGH, "CYCLES"),
    "added action": blended(HIPS, blend_type="ADD"),
    "combined action": blended(THIGH, blend_type="COMBINE"),
}


def shown(rig: bpy.types.Object) -> dict[str, np.ndarray]:
    """Matrices of all tips (F, 4, 4) at their tails, and of the hips, world space, as Blender shows them."""
    found: dict[str, list[Matrix]] = {name: [] for name in (*HELD, *REACHING, HIPS)}
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for name, matrices in found.items():
            bone = evaluated.pose.bones[name]
            matrix = evaluated.matrix_world @ bone.matrix
            matrix.translation = evaluated.matrix_world @ (bone.head if name == HIPS else bone.tail)
            matrices.append(matrix)
    return {name: np.array(matrices) for name, matrices in found.items()}


def turns(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Angles (F) [rad] between the rotations of matrices (F, 4, 4); those of sheared bones go by their axes."""
    traces = [np.trace(_square(a).T @ _square(b)) for a, b in zip(one, other, strict=True)]
    return np.arccos(np.clip((np.array(traces) - 1.0) / 2.0, -1.0, 1.0))


def _square(matrix: np.ndarray) -> np.ndarray:
    along = matrix[:3, 1] / np.linalg.norm(matrix[:3, 1])
    across = matrix[:3, 0] - along * (matrix[:3, 0] @ along)
    across /= np.linalg.norm(across)
    return np.column_stack((across, along, np.cross(across, along)))


def targets_shown(targets: dict[str, str]) -> dict[str, np.ndarray]:
    """Places (F, 3) of target objects, by the tips' names."""
    found: dict[str, list[Vector]] = {tip: [] for tip in targets}
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for tip, name in targets.items():
            found[tip].append(bpy.data.objects[name].evaluated_get(graph).matrix_world.translation.copy())
    return {tip: np.array(places) for tip, places in found.items()}


def reopened(path: Path) -> bpy.types.Object:
    """Save the file, open it again, and return the rig."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects["Rig"]
