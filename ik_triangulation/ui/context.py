# SPDX-License-Identifier: GPL-3.0-or-later
"""The active limb, the limbs that reach for what is active, their controls, and why a limb cannot be edited or solved.

Search of the scene for the limbs that reach for an object or a bone, and for those that a bone is part of. Panels and
poll() ask many times per redraw, so the last answer is kept until Blender evaluates a change other than of a pose or a
place: it does so after every change to a setting, also before an operator that a script calls.

The active limb, and the reasons why it cannot be edited, posed or solved. It is the limb that the active bone is the
tip or a part of; or, where that is a target, a pole or a stop, as an object or as a bone, the limb that reaches for it.
A mesh that is skinned to a rig with limbs counts as that rig.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import bpy
from bpy.types import Context, Object, PoseBone, PropertyGroup

from ..errors import ChainError, IKError, RigError
from ..jobs.shots import problem as problems
from ..rig import armature as rig_armature
from ..rig import body as rig_body
from ..rig import controls as rig_controls
from ..rig import ik_controls
from ..rig import limb as rig_limb
from ..rig.by_hand import shown_limb
from ..rig.scene_objects import map_key, shown_maps
from .overlay.updates import setups

Found = list[tuple[str, int, str]]  # name and session uid of the armature, name of the tip bone

_when: tuple | None = None  # the state of the scene in which these answers were found
_answers: dict[tuple[str, int, str], Found] = {}

_chosen: tuple[int, str] | None = None  # session uid of the armature and tip bone: of limbs at one target

_maps: dict[int, dict[str, tuple[str, int]]] = {}  # of the armature of a session uid: names and session uids by key

_known: dict[str, tuple[object, ControlNames | None]] = {}  # of the last limb


def limbs_using(context: Context, ob: Object, bone: str = "") -> list[PoseBone]:
    """Return the tip bones of the limbs that have this object, or a bone of it, as target, stop or pole, in this order.

    A bone also counts as its whole armature, if that has no limbs.
    """
    return _kept(context, ("users", ob.session_uid, bone), lambda: _users(context, ob, bone))


def limbs_around(context: Context, bone: PoseBone) -> list[PoseBone]:
    """Return the tip bones of the limbs of its armature that rotate this bone."""
    return _kept(context, ("around", bone.id_data.session_uid, bone.name), lambda: _around(bone))


def limbs_of(context: Context, armature: Object) -> list[PoseBone]:
    """Return the tip bones of the limbs of an armature, in the order of its bones."""
    return _kept(context, ("of", armature.session_uid, ""), lambda: _itself(filter(is_limb, armature.pose.bones)))


def holdable_of(context: Context, armature: Object) -> list[PoseBone]:
    """Return the tip bones of the limbs, and of feet that were let go of, which have no target."""
    return _kept(context, ("parts", armature.session_uid, ""), lambda: _itself(filter(_is_part, armature.pose.bones)))


def _is_part(bone: PoseBone) -> bool:
    return is_limb(bone) or bone.ik_triangulation.body_part != "NONE"


def is_limb(bone: PoseBone) -> bool:
    """Tell whether a bone is the tip of a limb: it has a target or is held."""
    limb = bone.ik_triangulation
    return limb.target is not None or limb.hold


def is_in_body(bone: PoseBone) -> bool:
    """Tell whether the limb that ends in a bone is solved with others as a body; also where that cannot be done."""
    uid, name = bone.id_data.session_uid, bone.name
    return bool(_kept(bpy.context, ("in a body", uid, name), lambda: _itself_in_body(bone)))


def _itself_in_body(bone: PoseBone) -> Found:
    """Return the bone itself if its limb is part of a body."""
    try:
        part = problems.body_of(bone.id_data, bone.name) is not None
    except IKError:
        part = True
    return _itself([bone] if part else [])


def _itself(bones: Iterable[PoseBone]) -> Found:
    return [(bone.id_data.name, bone.id_data.session_uid, bone.name) for bone in bones]


def has_limb(armature: Object) -> bool:
    """Tell whether a bone of the armature is the tip of a limb."""
    return any(map(is_limb, armature.pose.bones))


def map_of(context: Context, bone: PoseBone, kind: str) -> Object | None:
    """Return the map of a kind of the limb that ends in `bone`, or None."""
    _forget_old(context)
    uid = bone.id_data.session_uid
    if uid not in _maps:
        _maps[uid] = {key: (ob.name, ob.session_uid) for key, ob in shown_maps(bone.id_data).items()}
    found = _maps[uid].get(map_key(bone.name, kind))
    if found is None:
        return None
    ob = bpy.data.objects.get((found[0], None))
    return ob if ob is not None and ob.session_uid == found[1] else None


def _forget_old(context: Context) -> None:
    """Forget all answers that a change of the setup, of the scene or of the view layer has made old."""
    global _when
    when = setups(), context.scene.session_uid, context.view_layer.name
    if when != _when:
        _when = when
        _answers.clear()
        _maps.clear()


def _kept(context: Context, question: tuple[str, int, str], search: Callable[[], Found]) -> list[PoseBone]:
    """Return the tip bones of the last answer, or search anew; answers hold names, as an undo replaces objects."""
    _forget_old(context)
    if question not in _answers:
        _answers[question] = search()
    tips = (_bone_named(context, *found) for found in _answers[question])
    return [tip for tip in tips if tip is not None]


def _bone_named(context: Context, name: str, uid: int, tip: str) -> PoseBone | None:
    """Return a bone of a named armature; a linked one can have the same name as one of the file."""
    armature = context.view_layer.objects.get(name)
    if armature is not None and armature.session_uid != uid:
        armature = next((ob for ob in context.view_layer.objects if ob.session_uid == uid), None)
    return armature.pose.bones.get(tip) if armature is not None and armature.pose else None


def _users(context: Context, ob: Object, bone: str) -> Found:
    """Search all armatures of the view layer."""
    wanted = {bone, ""} if bone and not has_limb(ob) else {bone}
    ranked = []
    for armature in context.view_layer.objects:
        for tip in armature.pose.bones if armature.type == "ARMATURE" and armature.pose else ():
            ranks = [rank for rank, used, of in _uses(tip.ik_triangulation) if used == ob and of in wanted]
            if ranks:
                ranked.append((min(ranks), (armature.name, armature.session_uid, tip.name)))
    return [found for _, found in sorted(ranked, key=lambda each: each[0])]


def _uses(limb: PropertyGroup) -> Iterator[tuple[int, Object, str]]:
    """Yield rank, object and bone of what a limb reaches for or bends towards."""
    if limb.target is not None:
        yield 0, limb.target, rig_limb.bone_of(limb.target, limb.subtarget)
    for stop in limb.reach_stops:
        if stop.target is not None:
            yield 1, stop.target, rig_limb.bone_of(stop.target, stop.subtarget)
    if limb.pole_target is not None:
        yield 2, limb.pole_target, rig_limb.bone_of(limb.pole_target, limb.pole_subtarget)


def _around(bone: PoseBone) -> Found:
    """Search the armature of a bone."""
    armature, found = bone.id_data, []
    for tip in armature.pose.bones:
        limb = tip.ik_triangulation
        if not is_limb(tip) or limb.use_selected:
            continue
        try:
            if bone.name in rig_armature.bones_from_tip(armature, tip.name, limb.chain_count):
                found.append((armature.name, armature.session_uid, tip.name))
        except ChainError:  # a chain that is longer than what is above its tip
            continue
    return found


def active_armature(context: Context) -> Object | None:
    """Return the armature of the active limb; without one the active object if it is an armature."""
    bone = _limb_bone(context)
    return bone.id_data if bone is not None else own_armature(context)


def active_bone(context: Context) -> PoseBone | None:
    """Return the tip bone of the active limb; without one the active bone. In Pose Mode and in Object Mode."""
    bone = _limb_bone(context)
    return bone if bone is not None else picked_bone(context)


def own_armature(context: Context) -> Object | None:
    """Return the armature whose selected bones are meant.

    That is the active object if it is an armature. Otherwise it is the one that the active mesh is skinned to, if it
    has limbs; the only armature that is selected besides; or that of the limb that reaches for the active object.
    """
    ob = context.active_object
    if ob is None:
        return None
    if ob.type == "ARMATURE":
        return ob
    at_target = _preferred(limbs_using(context, ob))
    if at_target is not None:
        return at_target.id_data
    skin = ob.find_armature()
    if skin is not None and skin.name in context.view_layer.objects and has_limb(skin):
        return skin
    armatures = [other for other in context.selected_objects if other.type == "ARMATURE"]
    return armatures[0] if len(armatures) == 1 else None


def picked_bone(context: Context) -> PoseBone | None:
    """Return the active bone of own_armature(), regardless of limbs."""
    armature = own_armature(context)
    return _active_in(armature) if armature else None


def limbs_at_target(context: Context) -> list[PoseBone]:
    """Return the tip bones of all limbs that reach for the active object or bone; none while a limb itself is active.

    One of them is the active limb: see choose_limb().
    """
    ob = context.active_object
    if ob is None:
        return []
    if ob.type != "ARMATURE":
        return limbs_using(context, ob)
    bone = _active_in(ob)
    own = bone is not None and (is_limb(bone) or len(limbs_around(context, bone)) == 1)
    return [] if own or not ob.pose else limbs_using(context, ob, bone.name if bone else "")


def choose_limb(armature: Object, tip: str) -> None:
    """Make the limb that ends in `tip` the active one among limbs that share a target, for the rest of the session."""
    global _chosen
    _chosen = armature.session_uid, tip
    armature.data.bones.active = armature.data.bones[tip]


def _limb_bone(context: Context) -> PoseBone | None:
    """Return the tip bone of the active limb, None without one."""
    at_target = _preferred(limbs_at_target(context))
    if at_target is not None:
        return at_target
    bone = picked_bone(context)
    if bone is None or is_limb(bone):
        return bone
    around = limbs_around(context, bone)
    return around[0] if len(around) == 1 else None


def _preferred(tips: list[PoseBone]) -> PoseBone | None:
    """Return one of the limbs: that of its armature's active bone, else the one chosen last, else the first."""
    active = [tip for tip in tips if _active_in(tip.id_data) == tip]
    chosen = [tip for tip in active or tips if (tip.id_data.session_uid, tip.name) == _chosen]
    return next(iter(chosen or active or tips), None)


def _active_in(armature: Object) -> PoseBone | None:
    """Return the active bone of an armature."""
    bone = armature.data.bones.active if armature.pose else None
    return armature.pose.bones.get(bone.name) if bone else None


def cannot_edit(context: Context) -> str | None:
    """Return why settings of the active limb's bones cannot be changed; None if they can."""
    armature, ob = active_armature(context), context.active_object
    if armature is None:
        skin = ob.find_armature() if ob is not None else None
        if skin is not None:
            return f"Select an armature: '{skin.name}' moves '{ob.name}'"
        return "Select an armature, or the target of a limb"
    if context.mode not in {"POSE", "OBJECT"}:
        mode = context.bl_rna.properties["mode"].enum_items[context.mode].name
        return f"Leave {'Edit' if context.mode.startswith('EDIT') else mode} Mode first"
    if armature.library is not None:
        return f"'{armature.name}' is linked. Create a library override first"
    override = armature.override_library
    if override is not None and override.is_system_override:
        return f"'{armature.name}' is an override that is not editable. Use Object > Library Override > Make on it"
    return None


def cannot_pose(context: Context) -> str | None:
    """Return why no limb of the active armature can be posed; None if limbs can."""
    reason = cannot_edit(context)
    if reason:
        return reason
    armature = active_armature(context)
    if armature.data.pose_position == "REST":
        return f"'{armature.name}' is in Rest Position. Switch to Pose Position"
    return None


def cannot_solve(context: Context) -> str | None:
    """Return why the active limb cannot be solved, by checks quick enough for poll(); None if they find nothing."""
    reason = cannot_pose(context)
    if reason:
        return reason
    bone = active_bone(context)
    if bone is None:
        return "Make the bone at the end of the limb active"
    if not is_limb(bone):
        return f"Choose a target for '{bone.name}'"
    return None


def cannot_solve_alone(context: Context) -> str | None:
    """Return why the active limb cannot be solved without the other limbs of its body; None if it can."""
    reason = cannot_solve(context)
    if reason is None and active_bone(context).ik_triangulation.hold:
        return f"'{active_bone(context).name}' is held and has no target"
    return reason


def active_body(context: Context) -> rig_body.RigBody | None:
    """Return the body of the active limb; None for a lone limb. Raises what body_of() does."""
    bone = active_bone(context)
    return None if bone is None else problems.body_of(bone.id_data, bone.name)


def active_chain(context: Context) -> list[str]:
    """Return the names of the bones that the active limb rotates, with or without a target.

    Raises ChainError if they do not form a chain.
    """
    return chain_below(active_bone(context))


def chain_below(bone: PoseBone) -> list[str]:
    """Return the names of the bones that the limb which ends in `bone` rotates. Raises what active_chain() does."""
    armature, stored = bone.id_data, bone.ik_triangulation
    if stored.use_selected:
        chosen = rig_limb.selected_bones(armature)
        rig_limb.check_lowest(bone, chosen)
        return [name for name in rig_armature.bones_in_line(armature, chosen) if name in chosen]
    return list(rig_armature.bones_from_tip(armature, bone.name, stored.chain_count))


def active_limb(context: Context, target: Object | None = None) -> rig_limb.Limb:
    """Return the limb of the active bone, with this `target` if it has none. Raises IKError if something is missing."""
    armature, bone = active_armature(context), active_bone(context)
    if armature is None:
        raise RigError("No armature is active. Select one.")
    if bone is None:
        raise ChainError(f"'{armature.name}' has no active bone. Make the bone at the end of the limb active.")
    return rig_limb.selected_limb(bone, target)


class ControlNames(NamedTuple):
    """The tip of a limb, the properties by which the character follows its controls, and its IK controls."""

    tip: str
    switches: tuple[str, ...]
    controls: ik_controls.IKControls

    @property
    def with_switch(self) -> str:
        """The control that ends the limb, with the property that makes the character follow it."""
        return ", ".join((self.tip, *self.switches[:1]))

    @property
    def ik(self) -> str:
        """The IK control and its pole."""
        return ", ".join(name for name in (self.controls.control, self.controls.pole) if name)

    @property
    def bones(self) -> list[str]:
        """The bones of the IK controls."""
        return self.controls.keyed


def control_names(tip: PoseBone) -> ControlNames | None:
    """Return the names for the limb that ends in a bone; None if it has no IK controls.

    They are found anew if bones or constraints of the armature have changed since.
    """
    armature = tip.id_data
    try:
        chain = chain_below(tip)
    except IKError:
        return None
    state = setups(), armature.session_uid, tuple(chain), tip.name, is_in_body(tip)
    if _known.get("last", (None,))[0] != state:
        constrained = any(len(bone.constraints) for bone in armature.pose.bones)
        _known["last"] = state, _found(tip, chain) if constrained else None
    return _known["last"][1]


def _found(tip: PoseBone, chain: list[str]) -> ControlNames | None:
    try:
        limb = rig_limb.Limb.from_bones(tip.id_data, chain, tip.id_data)
        controls = rig_controls.ik_controls_of(limb, of_end=is_in_body(tip))
    except IKError:
        return None
    found = shown_limb.switches_of(limb.armature, controls.examined)
    rigs_own = [switch for switch in found if ".constraints[" not in switch.path]
    switches = dict.fromkeys(switch.name for switch in rigs_own or found)
    return ControlNames(tip.name, tuple(switches), controls)
