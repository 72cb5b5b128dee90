# SPDX-License-Identifier: GPL-3.0-or-later
"""A storm of operator calls on a whole body: hands that reach, feet that are held, a mesh to walk on, a prop."""

import bpy
from mathutils import Vector

from ..bodies import FEET, HANDS, human_rig
from ..rigs import empty, random_vector, select
from .storm import SMALL, Storm

TIPS = (*HANDS, *FEET, "head", "spine.002", "forearm.L", "spine")


class StormOfBodies(Storm):
    """A storm on a rig that most often is set up as a body."""

    def begin(self) -> None:
        """A new file with a human, its targets, a grid and a prop."""
        random = self.random
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.context.scene.frame_end = 5
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, size=3.0)
        ground = bpy.context.object
        self.rig = human_rig(with_head=True)
        self.targets = [*(empty(f"Target {number}", random_vector(random)) for number in range(2)), ground]
        boxes = bpy.data.collections.new("Boxes")
        boxes.objects.link(empty("Box"))
        for bone in self.rig.pose.bones:
            bone.ik_triangulation.iterations = SMALL["iterations"]
        select(self.rig, "hand.L")
        if random.random() < 0.8:
            bpy.ops.pose.ik_triangulation_body_add()
        self.key()

    def bone(self) -> bpy.types.PoseBone:
        bones = self.rig.pose.bones
        return bones[self.random.choice(TIPS)] if self.random.random() < 0.85 else self.random.choice(list(bones))

    def scale(self) -> None:
        if self.random.random() < 0.1:
            super().scale()

    def pose(self) -> None:
        """Move the empties, and now and then bones to anywhere."""
        if self.random.random() < 0.15:
            super().pose()
        for thing in self.empties():
            thing.location = Vector(thing.location) + random_vector(self.random, -0.3, 0.3)

    def key(self) -> None:
        """Key some of the empties, and now and then bones."""
        for thing in self.random.sample(self.empties(), 2):
            thing.location = Vector(thing.location) + random_vector(self.random, -0.2, 0.2)
            thing.keyframe_insert("location", frame=self.random.choice((0, 1, 3, 5)))
        if self.random.random() < 0.3:
            super().key()

    def empties(self) -> list[bpy.types.Object]:
        return [ob for ob in bpy.data.objects if ob.type == "EMPTY"]

    def value(self, known: bpy.types.Property) -> object:
        """Any value of a property; names are those of tips."""
        if known.type == "STRING":
            return self.random.choice(("", *TIPS, "gone", "Target 0"))
        return super().value(known)

    def set_limb(self) -> None:
        self.set_one(self.bone().ik_triangulation)
