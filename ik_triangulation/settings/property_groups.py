# SPDX-License-Identifier: GPL-3.0-or-later
"""The property groups that are saved with the rig, on bones and armatures, kept so that they can be restored."""

from contextlib import ExitStack
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.props import BoolProperty, FloatVectorProperty, PointerProperty, StringProperty
from bpy.types import Object, PoseBone, PropertyGroup

from ..errors import SettingError
from . import edition
from .body import BodySettings, ContactListSettings, ContactSettings, IKT_PG_contact
from .goal import BendSettings, ChainSettings, GoalSettings, JointSettings
from .keys import OVERRIDABLE, FrameSettings, IKT_PG_stop, KeySettings, ReachSettings, StopListSettings, StopSettings
from .solver import MethodSettings, PostureSettings
from .table import by_property, saved

_HIDDEN: dict[str, Any] = {"options": {"HIDDEN"}, "override": OVERRIDABLE}

LIMB_GROUPS = (
    ChainSettings,
    GoalSettings,
    BendSettings,
    PostureSettings,
    MethodSettings,
    FrameSettings,
    ReachSettings,
    StopListSettings,
    KeySettings,
)

_OF_OBJECT = ("ik_triangulation",)
_OF_BONE = ("ik_triangulation", "ik_triangulation_joint", "ik_triangulation_posed")
_NEVER_SET = object()


class IKT_PG_posed(PropertyGroup):
    """Rotation channels of a bone before a limb was posed and as they were written last, both in rotation `mode`.

    Of the hips of a body, which `is_moved`, the location as well; and the place at which the target of a limb waits.

    The mode is empty as long as nothing was written. There are no update functions, so that writing has nothing
    evaluated.
    """

    __annotations__ = {
        "mode": StringProperty(name="Mode", description="Rotation mode of the values", **_HIDDEN),
        "before": FloatVectorProperty(
            name="Before", description="Rotation before the limb was posed", size=4, **_HIDDEN
        ),
        "written": FloatVectorProperty(name="Written", description="Rotation as written last", size=4, **_HIDDEN),
        "is_moved": BoolProperty(name="Moved", description="The location was written as well", **_HIDDEN),
        "place_before": FloatVectorProperty(
            name="Place Before", description="Location before the body was posed", size=3, **_HIDDEN
        ),
        "place_written": FloatVectorProperty(
            name="Place Written", description="Location as written last", size=3, **_HIDDEN
        ),
        "waits": BoolProperty(name="Waits", description="The target was made and may not have been moved", **_HIDDEN),
        "waits_at": FloatVectorProperty(
            name="Waits At", description="Matrix of the target as it was made", size=16, **_HIDDEN
        ),
    }


def made_rotation() -> Any:
    """Return the property of an object that was made as the target of a hand: its rotation then; of others zero."""
    return FloatVectorProperty(
        name="Made Rotation",
        description="Rotation, a quaternion, with which the object was made as the target of a hand",
        size=4,
        default=(0.0, 0.0, 0.0, 0.0),
        **_HIDDEN,
    )


class IKT_PG_limb(PropertyGroup):
    """A limb that ends in this bone; the names are those of the Inverse Kinematics constraint where it has them."""

    __annotations__ = saved(*LIMB_GROUPS, override=OVERRIDABLE)


class IKT_PG_joint(PropertyGroup):
    """The rotations that this bone may make when it is solved, measured from rest in the bone's own axes."""

    __annotations__ = saved(JointSettings, override=OVERRIDABLE)


class IKT_PG_body(PropertyGroup):
    """The hips, the balance and the contacts of the body of this armature, and the edition of its defaults."""

    __annotations__ = saved(BodySettings, ContactListSettings, override=OVERRIDABLE) | edition.edition_property()


# The settings that each property group saves, by the names of its properties.
TABLE = {
    IKT_PG_limb: by_property(*LIMB_GROUPS),
    IKT_PG_joint: by_property(JointSettings),
    IKT_PG_body: by_property(BodySettings, ContactListSettings),
    IKT_PG_contact: by_property(ContactSettings),
    IKT_PG_stop: by_property(StopSettings),
}


def choices(name: str) -> list[str]:
    """Identifiers that a setting of a limb can have."""
    return TABLE[IKT_PG_limb][name].choices


@persistent  # type: ignore[untyped-decorator]
def _prepare_overrides(*_: object) -> None:
    """Give overridden rigs and their originals settings of their own, those that everything has at first.

    Blender 5.2 drops what an override changes in a group of settings that the linked bone has never had, and takes a
    group that only the linked bone has for one that was overridden whole, which it cannot read again.
    """
    for ob in bpy.data.objects:
        reference = ob.override_library.reference if ob.override_library else None
        if reference is not None:
            reference.ik_triangulation, ob.ik_triangulation  # noqa: B018  makes them
        for bone in (*reference.pose.bones, *ob.pose.bones) if reference is not None and reference.pose else ():
            bone.ik_triangulation, bone.ik_triangulation_joint, bone.ik_triangulation_posed  # noqa: B018  makes them


_register_classes, _unregister_classes = bpy.utils.register_classes_factory(
    (IKT_PG_stop, IKT_PG_contact, IKT_PG_limb, IKT_PG_joint, IKT_PG_body, IKT_PG_posed)
)


def check_registered() -> None:
    """Raise SettingError where bones have no settings, as nothing is registered."""
    if not hasattr(PoseBone, "ik_triangulation"):
        raise SettingError(
            "Bones have no saved settings while the extension is off. Enable it, or call ik_triangulation.register()."
        )


def register() -> None:
    _register_classes()
    PoseBone.ik_triangulation = PointerProperty(name="IK Triangulation", type=IKT_PG_limb, override=OVERRIDABLE)
    PoseBone.ik_triangulation_joint = PointerProperty(
        name="IK Triangulation Joint", type=IKT_PG_joint, override=OVERRIDABLE
    )
    PoseBone.ik_triangulation_posed = PointerProperty(
        name="IK Triangulation Pose", type=IKT_PG_posed, override=OVERRIDABLE
    )
    Object.ik_triangulation = PointerProperty(name="IK Triangulation Body", type=IKT_PG_body, override=OVERRIDABLE)
    Object.ik_triangulation_made_rotation = made_rotation()
    bpy.app.handlers.save_pre.append(_prepare_overrides)
    edition.register()


def unregister() -> None:
    edition.unregister()
    bpy.app.handlers.save_pre.remove(_prepare_overrides)
    del Object.ik_triangulation_made_rotation
    del Object.ik_triangulation
    del PoseBone.ik_triangulation_posed
    del PoseBone.ik_triangulation_joint
    del PoseBone.ik_triangulation
    _unregister_classes()


def keep_settings(armature: Object, undo: ExitStack) -> None:
    """Have the closing of `undo` restore the extension's settings of an armature and of all its bones."""
    bones = armature.pose.bones if armature.pose else ()
    owners = [(armature, _OF_OBJECT), *((bone, _OF_BONE) for bone in bones)]
    groups = [group for owner, names in owners for name in names if (group := getattr(owner, name, None)) is not None]
    undo.callback(armature.update_tag)
    for group, values in [(group, _read(group)) for group in groups]:
        undo.callback(_write, group, values)


def forget_settings(armature: Object) -> None:
    """Give an armature and its bones back the state in which the extension has never set anything on them."""
    owners = [(armature, _OF_OBJECT), *((bone, _OF_BONE) for bone in armature.pose.bones)]
    for owner, names in owners:
        for name in names:
            _write(getattr(owner, name), {})


def _read(group: PropertyGroup) -> dict[str, Any]:
    """Return the properties of a group that were ever set, by name; items of lists as such dictionaries."""
    found: dict[str, Any] = {}
    for name, prop in group.bl_rna.properties.items():
        if name == "rna_type" or not group.is_property_set(name):
            continue
        value = getattr(group, name)
        if prop.type == "COLLECTION":
            found[name] = [_read(item) for item in value]
        elif getattr(prop, "is_array", False):
            found[name] = tuple(value)
        else:
            found[name] = value
    return found


def _write(group: PropertyGroup, values: dict[str, Any]) -> None:
    """Restore the values of _read(); a value that is right already is not set, as Blender would evaluate it anew."""
    now = _read(group)
    for name, prop in group.bl_rna.properties.items():
        before, value = values.get(name, _NEVER_SET), now.get(name, _NEVER_SET)
        if name == "rna_type" or value == before:
            continue
        if before is _NEVER_SET:
            group.property_unset(name)
        elif prop.type == "COLLECTION":
            items = getattr(group, name)
            items.clear()
            for each in before:
                _write(items.add(), each)
        else:
            setattr(group, name, before)
