# SPDX-License-Identifier: GPL-3.0-or-later
"""The property groups that are saved with the rig: of a limb on its tip bone, of joint and pose on each bone."""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent
from bpy.props import PointerProperty
from bpy.types import Object, PoseBone, PropertyGroup

from ..errors import SettingError
from . import edition
from .bend import BendSettings
from .body import BodySettings, ContactListSettings
from .chain import ChainSettings
from .contact import ContactSettings, IKT_PG_contact
from .frames import FrameSettings
from .goal import GoalSettings
from .joint import JointSettings
from .keys import KeySettings
from .posed import IKT_PG_posed, made_rotation
from .posture import PostureSettings
from .reach import ReachSettings, StopListSettings
from .solver import MethodSettings
from .stop import OVERRIDABLE, IKT_PG_stop, StopSettings
from .table import by_property, saved

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
