# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of earlier versions keep their behaviour.

Blender does not store properties that were never set, so a changed default would silently change every file that
relies on it. An armature with limbs therefore carries the edition of the defaults that it was set up with; files from
before this mechanism carry none, which reads as 0. When such an armature arrives (a file is opened, data are appended
or linked, the extension is enabled), the defaults that have changed since are written out once, and its edition is
raised.

To change a default: raise EDITION and add a row with the previous default to PREVIOUS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.props import IntProperty
from bpy.types import Object, PoseBone, PropertyGroup

from .keys import OVERRIDABLE

EDITION = 4


@dataclass(frozen=True)
class PreviousDefault:
    """The default of a property before an edition, which bones or armatures that `concerns` accepts keep.

    A value that `meant` the same, and means something else since the edition, is replaced as well where it was set.
    """

    edition: int  # the first one with the new default
    name: str
    value: Any
    concerns: Callable[[Any], bool] = lambda _: True
    meant: Any = None


@dataclass(frozen=True)
class PreviousDefaults:
    """Previous defaults of a body (of the armature), of its limbs (of their tip bones) and of its joints (of bones)."""

    body: tuple[PreviousDefault, ...] = ()
    limb: tuple[PreviousDefault, ...] = ()
    joint: tuple[PreviousDefault, ...] = ()


def _has_limit_rotation(bone: PoseBone) -> bool:
    """Tell whether limits that are chosen automatically may be other ones than those of the IK panel."""
    return any(each.type == "LIMIT_ROTATION" for each in bone.constraints)


def _has_mesh(tip: PoseBone) -> bool:
    """Whether the target of a limb is a mesh that no force field gives a shape."""
    target = tip.ik_triangulation.target
    return target is not None and target.type == "MESH" and (target.field is None or target.field.type == "NONE")


def _follows_bone(tip: PoseBone) -> bool:
    """Whether the target of a limb is a bone."""
    limb = tip.ik_triangulation
    return limb.target is not None and limb.target.type == "ARMATURE" and bool(limb.subtarget)


PREVIOUS = PreviousDefaults(
    body=(
        PreviousDefault(1, "floor", False),
        PreviousDefault(1, "heels", False),
        PreviousDefault(4, "thickness", 0.0),
    ),
    limb=(
        PreviousDefault(1, "shape", "POINT", _has_mesh, meant="AUTO"),
        PreviousDefault(1, "hold_where", "ANIMATION", lambda tip: tip.ik_triangulation.hold),
        PreviousDefault(2, "match", "TIP", _follows_bone),
        PreviousDefault(3, "soft_edge", False),
        PreviousDefault(3, "reach_path", "ARC"),
    ),
    joint=(PreviousDefault(1, "source", "BLENDER", _has_limit_rotation),),
)


def edition_property() -> dict[str, Any]:
    """Return the annotation of the property that holds the edition of an armature."""
    options = {"options": {"HIDDEN"}, "override": OVERRIDABLE}
    return {"edition": IntProperty(name="Edition", description="Edition of the defaults in use", default=0, **options)}


def stamp(armature: Object) -> None:
    """Mark an armature as set up with the defaults of this edition; limbs it had before must have been migrated."""
    if armature.ik_triangulation.edition != EDITION:
        armature.ik_triangulation.edition = EDITION


def keep_previous_defaults(objects: Iterable[Object], previous: PreviousDefaults | None = None) -> None:
    """Write out, for armatures with limbs of an earlier edition, the defaults that have changed since."""
    previous = PREVIOUS if previous is None else previous
    for ob in objects:
        if ob.pose is None or ob.ik_triangulation.edition >= EDITION:
            continue
        limbs = list(_limbs(ob))
        if not limbs:
            continue
        since = ob.ik_triangulation.edition
        _write_out([(ob, ob.ik_triangulation)], previous.body, since)
        _write_out([(bone, bone.ik_triangulation) for bone in limbs], previous.limb, since)
        _write_out([(bone, bone.ik_triangulation_joint) for bone in ob.pose.bones], previous.joint, since)
        stamp(ob)


def _limbs(armature: Object) -> Iterator[PoseBone]:
    """Yield the tip bones of limbs: bones with a target, and held ones."""
    for bone in armature.pose.bones:
        stored = bone.ik_triangulation
        if stored.is_property_set("target") or stored.is_property_set("hold"):
            yield bone


def _write_out(owners: list[tuple[Any, PropertyGroup]], rows: Iterable[PreviousDefault], since: int) -> None:
    """Set properties that were never set, or whose value means something else since, to their previous defaults."""
    for row in rows:
        for owner, stored in owners if since < row.edition else ():
            unset = not stored.is_property_set(row.name) or getattr(stored, row.name) == row.meant
            if unset and row.concerns(owner):
                setattr(stored, row.name, row.value)


@persistent  # type: ignore[untyped-decorator]
def _on_load(*_: object) -> None:
    keep_previous_defaults(bpy.data.objects)


@persistent  # type: ignore[untyped-decorator]
def _on_import(context: Any, *_: object) -> None:
    """Migrate appended and linked objects only: those made in this session may not have been stamped yet."""
    arrived = [item.id for item in context.import_items if item.id_type == "OBJECT" and item.id is not None]
    keep_previous_defaults(arrived)


@persistent  # type: ignore[untyped-decorator]
def _on_save(*_: object) -> None:
    """Stamp armatures whose limbs were set up by scripts in this session; all others have been stamped before."""
    for ob in bpy.data.objects:
        if ob.pose is not None and ob.ik_triangulation.edition < EDITION and next(_limbs(ob), None) is not None:
            stamp(ob)


def register() -> None:
    handlers = bpy.app.handlers
    handlers.load_post.append(_on_load)
    handlers.blend_import_post.append(_on_import)
    handlers.save_pre.append(_on_save)
    if hasattr(bpy.data, "objects"):  # a script registers the extension with a file open
        _on_load()
    else:  # Blender enables it and gives no access to data meanwhile
        bpy.app.timers.register(_on_load, first_interval=0.0)


def unregister() -> None:
    handlers = bpy.app.handlers
    if bpy.app.timers.is_registered(_on_load):
        bpy.app.timers.unregister(_on_load)
    handlers.save_pre.remove(_on_save)
    handlers.blend_import_post.remove(_on_import)
    handlers.load_post.remove(_on_load)
