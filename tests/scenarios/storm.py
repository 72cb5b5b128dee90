# SPDX-License-Identifier: GPL-3.0-or-later
"""A storm of operator calls in any order, with any values, on rigs that are scaled to nothing and otherwise degenerate.

Whatever comes of a call, it is done, or refused in words: by the operator's poll, or by an error with the prefix of the
extension. A traceback is a failure.
"""

import traceback
from collections.abc import Iterator
from math import inf
from random import Random

import bpy
from mathutils import Vector

from ..rigs import armature, empty, random_rotation, random_vector, rotate, select

PREFIX = "IK Triangulation: "
SMALL = {"iterations": 30, "size": 12, "resolution": 5, "step": 40, "count": 6}  # what takes long when it is large
FRAMES = (-3, 0, 1, 2, 5, 8, 9, 12, 1_048_574)
SCALES = (0.0, 1e-30, 1e-20, 1e-8, 1e-8, 1e-5, 1.0, 1.0, 1.0, 1.0, -1.0, 3.0, 1e4, 1e8, 1e30)
LEFT_OUT = {"pose.ik_triangulation_preset_load", "pose.ik_triangulation_preset_add"}  # these read and write files


class Storm:
    """One storm; `call()` does the next thing and returns what went wrong, if anything did."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.operators = sorted(f"pose.{name}" for name in dir(bpy.ops.pose) if name.startswith("ik_triangulation_"))
        self.operators = [name for name in self.operators if name not in LEFT_OUT]
        self.done = self.refused = 0
        self.begin()

    def begin(self) -> None:
        """A new file with a rig of a random kind and objects to reach for."""
        random = self.random
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.context.scene.frame_end = 6
        lengths = [random.choice((1.0, 1.0, 0.3, 1e-5, 1e-5, 100.0)) for _ in range(random.randint(1, 5))]
        specs, tail = [], Vector()
        for number, length in enumerate(lengths):
            head, tail = tail, tail + random_rotation(random) @ Vector((0.0, length, 0.0))
            parent = specs[-1]["name"] if specs else None
            specs.append({"name": f"Bone {number}", "head": head, "tail": tail, "parent": parent, "connect": True})
        self.rig = armature("Rig", specs)
        self.targets = [empty(f"Target {number}", random_vector(random, -2.0, 2.0)) for number in range(2)]
        boxes = bpy.data.collections.new("Boxes")
        boxes.objects.link(empty("Box"))
        for bone in self.rig.pose.bones:
            bone.bone.inherit_scale = random.choice(("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"))
            bone.rotation_mode = random.choice(("QUATERNION", "XYZ", "AXIS_ANGLE"))
            bone.ik_triangulation.chain_count = 0
            bone.ik_triangulation.iterations = SMALL["iterations"]
            bone.ik_triangulation.target = random.choice([None, *self.targets])

    def bone(self) -> bpy.types.PoseBone:
        return self.random.choice(list(self.rig.pose.bones))

    def call(self) -> str:
        """Change a thing or two, then call an operator."""
        if self.random.random() < 0.05:
            self.begin()
        for _ in range(self.random.randint(0, 2)):
            self.random.choice(
                (self.scale, self.scale, self.pose, self.set_limb, self.set_joint, self.key, self.choose)
            )()
        name = self.random.choice(self.operators)
        operator = getattr(bpy.ops.pose, name.partition(".")[2])
        properties = operator.get_rna_type().properties
        given = {p.identifier: self.value(p) for p in properties if p.identifier != "rna_type"}
        kept = {key for key in given if key in SMALL or self.random.random() < 0.6}
        given = {key: value for key, value in given.items() if value is not None and key in kept}
        try:
            operator(**given)
        except RuntimeError as error:
            said = str(error)
            if "Traceback" in said or (PREFIX not in said and "poll()" not in said):
                return f"{name} {given}: {said}"
            self.refused += 1
        except Exception:
            return f"{name} {given}: {traceback.format_exc()}"
        else:
            self.done += 1
        return ""

    def scale(self) -> None:
        """Scale something, or nothing any more."""
        random = self.random
        if random.random() < 0.2:
            for thing in (self.rig, *self.targets, *self.rig.pose.bones):
                thing.scale = (1.0, 1.0, 1.0)
            return
        thing = random.choice([self.rig, *self.targets, *self.rig.pose.bones, *self.rig.pose.bones])
        if random.random() < 0.5:
            thing.scale = [random.choice(SCALES)] * 3
        else:
            thing.scale = [random.choice(SCALES) for _ in range(3)]

    def pose(self) -> None:
        bone = self.bone()
        rotate(bone, random_rotation(self.random))
        bone.location = random_vector(self.random) * self.random.choice((0.0, 0.0, 1.0, 1e20))
        target = self.random.choice(self.targets)
        target.location = random_vector(self.random) * self.random.choice((0.0, 1.0, 1.0, 1.0, 1e8, 1e30))

    def key(self) -> None:
        thing = self.random.choice([*self.targets, *self.rig.pose.bones])
        names = ("location", "scale", "rotation_quaternion", "rotation_euler")
        name = self.random.choice(names)
        if self.random.random() < 0.3:
            setattr(thing, name, [self.random.choice((0.0, 0.0, 1e-8, 1.0, 1e8, 1e30)) for _ in getattr(thing, name)])
        thing.keyframe_insert(name, frame=self.random.choice((-2, 0, 1, 3, 5, 6, 9, 1_000_000)))

    def choose(self) -> None:
        select(self.rig, *{self.bone().name for _ in range(self.random.randint(1, 3))})

    def set_limb(self) -> None:
        self.set_one(self.bone().ik_triangulation)

    def set_joint(self) -> None:
        self.set_one(self.bone().ik_triangulation_joint)

    def set_one(self, group: bpy.types.PropertyGroup) -> None:
        for known in self.random.sample(list(group.bl_rna.properties), 4):
            value = self.value(known)
            if value is not None and (known.identifier != "chain_count" or self.random.random() < 0.2):
                setattr(group, known.identifier, value)

    def value(self, known: bpy.types.Property) -> object:
        """Any value of a property; None for one that cannot be set."""
        random = self.random
        if known.type == "POINTER":
            return self.pointed(known)
        if known.is_readonly or known.type == "COLLECTION":
            return None
        if known.type == "BOOLEAN":
            flags = [random.random() < 0.5 for _ in range(known.array_length or 1)]
            return flags if known.array_length else flags[0]
        if known.type == "ENUM":
            items = known.enum_items.keys()
            return {random.choice(items)} if known.is_enum_flag else random.choice(items) if items else None
        if known.type == "STRING":
            return random.choice(("", "Bone 0", "Bone 1", "gone"))
        numbers = self.numbers(known)
        length = known.array_length
        return [random.choice(numbers) for _ in range(length)] if length else random.choice(numbers)

    def pointed(self, known: bpy.types.Property) -> object:
        kinds = {"Object": [*self.targets, self.rig], "Collection": list(bpy.data.collections)}
        things = kinds.get(known.fixed_type.identifier)
        return self.random.choice(things) if things else None

    def numbers(self, known: bpy.types.Property) -> list[float]:
        """The bounds of a property, its default, and numbers between."""
        if known.type == "INT":
            if "frame" in known.identifier or known.identifier in {"reach_start", "reach_end", "hold", "return_frames"}:
                return [frame for frame in FRAMES if known.hard_min <= frame <= known.hard_max]
            most = min(known.hard_max, SMALL.get(known.identifier, 6))
            return [known.hard_min if known.hard_min > -(2**31) else -1, most]
        bounds = [known.hard_min, known.soft_min, known.default, known.soft_max, known.hard_max, 0.0, 1e-8, 0.5, 1e30]
        return [number for number in bounds if known.hard_min <= number <= known.hard_max and abs(number) < inf]


def storm(seed: int, calls: int, kind: type[Storm] = Storm) -> Iterator[str]:
    """What went wrong in so many calls."""
    found = kind(seed)
    for _ in range(calls):
        wrong = found.call()
        if wrong:
            yield wrong
    assert min(found.done, found.refused) > calls / 20, (found.done, found.refused)
