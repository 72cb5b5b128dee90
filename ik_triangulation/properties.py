# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that are saved with the rig: of a limb on its tip bone, of a joint on each bone."""

from math import pi

import bpy
from bpy.app.handlers import persistent
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Collection, Object, PoseBone, PropertyGroup

from .kinematics.euler import EULER_ORDERS
from .motion.timing import TIMINGS
from .solvers import SOLVERS

OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}


# Also of the operator.
TIMING_ITEMS = [(key, t.label, t.description, n) for n, (key, t) in enumerate(TIMINGS.items())]
EASING_ITEMS = [
    ("EASE_IN", "Ease In", "Slow at the start", 0),
    ("EASE_OUT", "Ease Out", "Slow at the end", 1),
    ("EASE_IN_OUT", "Ease In and Out", "Slow at both ends", 2),
]
PATH_ITEMS = [
    ("LINE", "Straight", "The tip goes along a straight line, by Gauss-Newton whatever the solver", 0),
    ("ARC", "Arc", "The joints turn from pose to pose, and the tip goes along the arcs that this makes", 1),
]


class IKT_PG_stop(PropertyGroup):
    """A target on the way of a reach through several."""

    target: PointerProperty(
        name="Target", description="Object to be at; a bone of it if one is named", type=Object, override=OVERRIDABLE
    )
    subtarget: StringProperty(name="Bone", description="Bone of the target whose head counts", override=OVERRIDABLE)
    frame: IntProperty(name="Frame", description="Frame at which it is reached", default=25, override=OVERRIDABLE)
    hold: IntProperty(
        name="Hold",
        description="For how many frames more to stay with it",
        min=0,
        soft_max=100,
        override=OVERRIDABLE,
    )


class IKT_PG_limb(PropertyGroup):
    """A limb that ends in this bone; the names are those of the Inverse Kinematics constraint where it has them."""

    enabled: BoolProperty(
        name="Enabled",
        description="Whether Bake All Limbs bakes this one as well",
        default=True,
        override=OVERRIDABLE,
    )
    target: PointerProperty(
        name="Target", description="Object that the tail of this bone shall reach", type=Object, override=OVERRIDABLE
    )
    subtarget: StringProperty(
        name="Bone", description="Bone of the target whose head is reached for", override=OVERRIDABLE
    )
    shape: EnumProperty(
        name="Shape",
        description="What of the target shall be reached: the nearest place of this",
        items=[
            ("AUTO", "As Displayed", "What the empty looks like: circle, sphere, cube, cone, image; else a point", 0),
            ("POINT", "Point", "Its origin, or the head of the bone", 1),
            ("PLANE", "Plane", "The endless plane across its Z axis", 2),
            ("LINE", "Line", "The endless line along its Z axis; of a bone along it", 3),
            ("RAY", "Ray", "The same line, but only from the origin onwards", 4),
            ("SEGMENT", "Segment", "The same line, but only as long as the empty or the bone", 5),
            ("SPHERE", "Sphere", "A sphere as large as the empty", 6),
            ("CYLINDER", "Cylinder", "An endless pole along its Y axis, as wide as the empty", 7),
            ("RING", "Ring", "A circle about its Y axis, as large as the empty", 8),
            ("BOX", "Box", "A box as large as the empty; inside is reached", 9),
            ("FIELD", "Force Field", "Where its force field leads to", 10),
        ],
        override=OVERRIDABLE,
    )
    orientation: EnumProperty(
        name="Orientation",
        description="How the tip shall be turned, as far as reaching and the limits leave room",
        items=[
            ("AUTO", "As Displayed", "Along the arrow if the target is a single arrow, else as it comes", 0),
            ("NONE", "Any", "As it comes", 1),
            ("DIRECTION", "Direction", "Pointing along the target's Z axis, or along its bone", 2),
            ("FULL", "Full", "Turned exactly as the target is", 3),
        ],
        override=OVERRIDABLE,
    )
    orient_weight: FloatProperty(
        name="Weight",
        description="How much the orientation counts beside the pole",
        default=1.0,
        min=0.0,
        soft_max=1.0,
        override=OVERRIDABLE,
    )
    use_offset: BoolProperty(
        name="Keep Offset",
        description="Keep the tip beside the target, where it was when the offset was set",
        override=OVERRIDABLE,
    )
    offset_location: FloatVectorProperty(
        name="Offset", description="Place of the tip in the target's space", subtype="TRANSLATION", override=OVERRIDABLE
    )
    offset_rotation: FloatVectorProperty(
        name="Rotation",
        description="Rotation of the tip in the target's space",
        size=4,
        subtype="QUATERNION",
        default=(1.0, 0.0, 0.0, 0.0),
        override=OVERRIDABLE,
    )
    pole_target: PointerProperty(
        name="Pole", description="Object that the limb shall bend towards", type=Object, override=OVERRIDABLE
    )
    pole_subtarget: StringProperty(
        name="Bone", description="Bone of the pole target whose head counts", override=OVERRIDABLE
    )
    pole_angle: FloatProperty(
        name="Pole Angle", description="Turn of the bend away from the pole", subtype="ANGLE", override=OVERRIDABLE
    )
    pole_weight: FloatProperty(
        name="Weight",
        description="How much the pole counts beside the orientation",
        default=1.0,
        min=0.0,
        soft_max=1.0,
        override=OVERRIDABLE,
    )
    effort_weight: FloatProperty(
        name="Low Effort",
        description="How much it counts that the limb's centre of gravity hangs low",
        min=0.0,
        soft_max=1.0,
        override=OVERRIDABLE,
    )
    rest_weight: FloatProperty(
        name="Comfort",
        description="How much it counts that the joints are near the pose chosen below",
        min=0.0,
        soft_max=1.0,
        override=OVERRIDABLE,
    )
    rest_pose: EnumProperty(
        name="Near",
        description="The pose to stay near to",
        items=[
            ("REST", "Rest Pose", "That of the armature at rest", 0),
            ("START", "Present Pose", "That which the limb has when it is solved, or at the first frame of a bake", 1),
        ],
        override=OVERRIDABLE,
    )
    obstacles: PointerProperty(
        name="Obstacles",
        description="Collection whose objects the limb shall stay out of: boxes round meshes, empties as displayed",
        type=Collection,
        override=OVERRIDABLE,
    )
    obstacle_margin: FloatProperty(
        name="Margin",
        description="Distance to keep from them",
        min=0.0,
        soft_max=1.0,
        subtype="DISTANCE",
        override=OVERRIDABLE,
    )
    obstacle_weight: FloatProperty(
        name="Weight",
        description="How much staying out of them counts beside the other wishes",
        default=1.0,
        min=0.0,
        soft_max=1.0,
        override=OVERRIDABLE,
    )
    influence: FloatProperty(
        name="Influence",
        description="How far to go from the animated pose to the solution",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )
    chain_count: IntProperty(
        name="Chain Length",
        description="How many bones are turned, counted up from this one; 0 for all up to the root",
        default=3,
        min=0,
        soft_max=32,
        override=OVERRIDABLE,
    )
    use_selected: BoolProperty(
        name="Selected Bones",
        description="Turn the selected bones; bones between them that are not selected stay as they are",
        override=OVERRIDABLE,
    )
    solver: EnumProperty(
        name="Solver",
        description="How the bones are turned",
        items=[(key, s.label, s.description, s.number) for key, s in SOLVERS.items()],
        default="TRIANGULATION",
        override=OVERRIDABLE,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Distance from the target up to which it counts as reached",
        default=1e-3,
        min=1e-6,
        soft_max=0.1,
        subtype="DISTANCE",
        precision=4,
        override=OVERRIDABLE,
    )
    iterations: IntProperty(
        name="Iterations",
        description="Most steps of the solver in a frame",
        default=100,
        min=1,
        soft_max=1000,
        override=OVERRIDABLE,
    )
    finish: BoolProperty(
        name="Finish",
        description="Polish by other means where the solver alone stops short of the target",
        default=True,
        override=OVERRIDABLE,
    )
    seed: IntProperty(name="Seed", description="Another seed makes Finish try other poses", min=0, override=OVERRIDABLE)
    start_from: EnumProperty(
        name="Start From",
        description="The pose from which each frame is solved",
        items=[
            ("PREVIOUS", "Frame Before", "The solution of the frame before; the first starts from its own pose", 0),
            ("ANIMATED", "Animated Pose", "The pose that the limb is keyed to have at that frame", 1),
            ("REST", "Rest Pose", "That of the armature at rest, so that a frame does not depend on others", 2),
        ],
        override=OVERRIDABLE,
    )
    smooth: BoolProperty(
        name="No Jumps",
        description="Choose the poses of a bake together, so that no joint jumps unless it must; needs Finish",
        default=True,
        override=OVERRIDABLE,
    )
    smoothing: FloatProperty(
        name="Smoothing",
        description="How much to smooth the turning of the joints in a bake, within the tolerance; needs Finish",
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )
    use_scene_range: BoolProperty(
        name="Scene Range",
        description="Bake the frame range of the scene, or its preview range where that is on",
        default=True,
        override=OVERRIDABLE,
    )
    frame_start: IntProperty(name="Start", description="First frame to bake", default=1, override=OVERRIDABLE)
    frame_end: IntProperty(name="End", description="Last frame to bake", default=250, override=OVERRIDABLE)
    step: IntProperty(
        name="Step", description="Bake every so many frames", default=1, min=1, soft_max=8, override=OVERRIDABLE
    )
    reach_start: IntProperty(
        name="Start", description="Frame of the pose to reach from", default=1, override=OVERRIDABLE
    )
    reach_end: IntProperty(
        name="End", description="Frame at which the target is reached", default=25, override=OVERRIDABLE
    )
    reach_hold: IntProperty(
        name="Hold",
        description="For how many frames more to stay with the target",
        min=0,
        soft_max=100,
        override=OVERRIDABLE,
    )
    reach_return: IntProperty(
        name="Return",
        description="In how many frames to come back to the pose of the start; 0 for not at all",
        min=0,
        soft_max=100,
        override=OVERRIDABLE,
    )
    reach_stops: CollectionProperty(
        name="Stops",
        description="Targets to reach one after the other, instead of the limb's own",
        type=IKT_PG_stop,
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    reach_stop: IntProperty(name="Stop", description="The stop that is chosen in the list", override=OVERRIDABLE)
    reach_path: EnumProperty(name="Path", description="How the tip goes there", items=PATH_ITEMS, override=OVERRIDABLE)
    reach_onset: FloatProperty(
        name="Root First",
        description="How much earlier the joints near the root begin and end on an arc; at 1 the last begins "
        "when the first is there",
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )
    reach_timing: EnumProperty(
        name="Timing", description="How fast the tip goes when", items=TIMING_ITEMS, override=OVERRIDABLE
    )
    reach_easing: EnumProperty(
        name="Easing",
        description="Where the timing is slow",
        items=EASING_ITEMS,
        default="EASE_IN_OUT",
        override=OVERRIDABLE,
    )
    reduce: BoolProperty(
        name="Reduce Keys",
        description="Drop keys that are not needed, and fit the handles of the others",
        override=OVERRIDABLE,
    )
    reduce_tolerance: FloatProperty(
        name="Tip Within",
        description="Distance up to which the tip may stray from the full bake; 0 for half a percent of the reach",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        subtype="DISTANCE",
        precision=4,
        override=OVERRIDABLE,
    )
    only_target_keys: BoolProperty(
        name="Target's Keys",
        description="Key the limb only at frames at which the target has a key of its own",
        override=OVERRIDABLE,
    )
    destination: EnumProperty(
        name="Write To",
        description="Where a bake leaves its keys; the animation there was before is always kept",
        items=[
            ("ACTION", "Active Action", "Merged into the active action, inside the range only", 0),
            ("NEW_ACTION", "New Action", "Merged into a copy of the active action, which takes its place", 1),
            ("NLA_TRACK", "NLA Track", "An action of their own on a new NLA track above the others", 2),
        ],
        override=OVERRIDABLE,
    )
    mark_misses: BoolProperty(
        name="Mark Misses",
        description="Put markers on the timeline at baked frames that miss the target",
        override=OVERRIDABLE,
    )
    interpolation: EnumProperty(
        name="Interpolation",
        description="What baked keys do until the next one",
        items=[
            ("AUTO", "Automatic", "Linear where every frame is baked, else Bézier", 0),
            ("LINEAR", "Linear", "Straight to the next key", 1),
            ("BEZIER", "Bézier", "Smoothly to the next key", 2),
            ("CONSTANT", "Constant", "Nothing until the next key: with a step of 2, animation on twos", 3),
        ],
        override=OVERRIDABLE,
    )


class IKT_PG_joint(PropertyGroup):
    """What this bone may do when it is solved, measured from rest in the bone's own axes."""

    source: EnumProperty(
        name="Limits",
        description="Where the limits of this bone come from",
        items=[
            ("BLENDER", "Bone's IK Settings", "Locks, limits and stiffness of the bone's Inverse Kinematics panel", 0),
            ("OWN", "Own", "The settings here, which know more than those of Blender", 1),
            ("CONSTRAINT", "Limit Rotation", "The bone's Limit Rotation constraint, which works in Local Space", 2),
        ],
        override=OVERRIDABLE,
    )
    kind: EnumProperty(
        name="Joint",
        description="How the bone turns",
        items=[
            ("FREE", "Free", "Any way, like a ball joint", 0),
            ("HINGE", "Hinge", "About one axis", 1),
            ("EULER", "Euler Limits", "Within a range about each axis", 2),
            ("CONE", "Cone", "Swinging up to an angle from rest, twisting within a range", 3),
            ("LOCKED", "Locked", "Not at all", 4),
        ],
        override=OVERRIDABLE,
    )
    axis: FloatVectorProperty(
        name="Axis",
        description="Direction of the hinge in the bone's rest axes",
        size=3,
        subtype="XYZ",
        default=(1.0, 0.0, 0.0),
        override=OVERRIDABLE,
    )
    use_limits: BoolProperty(
        name="Limit",
        description="Keep the hinge, or the twist of a cone, within a range",
        default=True,
        override=OVERRIDABLE,
    )
    lower: FloatProperty(
        name="From", description="Least angle of the hinge", subtype="ANGLE", default=0.0, override=OVERRIDABLE
    )
    upper: FloatProperty(
        name="To", description="Greatest angle of the hinge", subtype="ANGLE", default=0.8 * pi, override=OVERRIDABLE
    )
    minimum: FloatVectorProperty(
        name="Minimum",
        description="Least angle about each axis; the same as the greatest freezes it",
        size=3,
        subtype="EULER",
        unit="ROTATION",
        default=(-pi / 2.0,) * 3,
        override=OVERRIDABLE,
    )
    maximum: FloatVectorProperty(
        name="Maximum",
        description="Greatest angle about each axis",
        size=3,
        subtype="EULER",
        unit="ROTATION",
        default=(pi / 2.0,) * 3,
        override=OVERRIDABLE,
    )
    order: EnumProperty(
        name="Order",
        description="Order of the axes in which the ranges are understood",
        items=[("AUTO", "Default", "That of the bone's rotation mode, YXZ for a quaternion or axis and angle", 0)]
        + [(order, f"{order} Euler", "", n) for n, order in enumerate(EULER_ORDERS, 1)],
        override=OVERRIDABLE,
    )
    swing: FloatProperty(
        name="Swing",
        description="Greatest angle between the bone and where it is at rest",
        subtype="ANGLE",
        default=pi / 4.0,
        min=0.0,
        max=pi,
        override=OVERRIDABLE,
    )
    twist_lower: FloatProperty(
        name="Twist From",
        description="Least angle about the bone itself",
        subtype="ANGLE",
        default=-pi / 4.0,
        override=OVERRIDABLE,
    )
    twist_upper: FloatProperty(
        name="Twist To",
        description="Greatest angle about the bone itself",
        subtype="ANGLE",
        default=pi / 4.0,
        override=OVERRIDABLE,
    )
    stiffness: FloatProperty(
        name="Stiffness",
        description="How reluctant the bone is to turn where others can do it",
        min=0.0,
        max=0.99,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )


def choices(name: str) -> list[str]:
    """What a setting of a limb can be."""
    prop = IKT_PG_limb.bl_rna.properties[name]
    return [item.identifier for item in prop.enum_items]


@persistent  # type: ignore[untyped-decorator]
def _prepare_overrides(*_: object) -> None:
    """Give overridden rigs and their originals settings of their own, those that everything has at first.

    Blender 5.2 drops what an override changes in a group of settings that the linked bone has never had, and takes a
    group that only the linked bone has for one that was overridden whole, which it cannot read again.
    """
    for ob in bpy.data.objects:
        reference = ob.override_library.reference if ob.override_library else None
        for bone in (*reference.pose.bones, *ob.pose.bones) if reference is not None and reference.pose else ():
            bone.ik_triangulation, bone.ik_triangulation_joint  # noqa: B018  asking for them makes them


_register_classes, _unregister_classes = bpy.utils.register_classes_factory((IKT_PG_stop, IKT_PG_limb, IKT_PG_joint))


def register() -> None:
    _register_classes()
    PoseBone.ik_triangulation = PointerProperty(name="IK Triangulation", type=IKT_PG_limb, override=OVERRIDABLE)
    PoseBone.ik_triangulation_joint = PointerProperty(
        name="IK Triangulation Joint", type=IKT_PG_joint, override=OVERRIDABLE
    )
    bpy.app.handlers.save_pre.append(_prepare_overrides)


def unregister() -> None:
    bpy.app.handlers.save_pre.remove(_prepare_overrides)
    del PoseBone.ik_triangulation_joint
    del PoseBone.ik_triangulation
    _unregister_classes()
