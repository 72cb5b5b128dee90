# SPDX-License-Identifier: GPL-3.0-or-later
"""IK controls of a limb: the bone that carries its hand or foot, and the pole that its elbow or knee points at.

They are found from the IK constraint that turns the bones which show the limb, up to the bone that an animator moves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bpy.types import Constraint, Object, PoseBone
from mathutils import Matrix, Quaternion

from ..errors import ChainError, RigError
from .controls import Links
from .freedom import can_turn
from .limb import Limb

_COPYING = {"COPY_TRANSFORMS", "COPY_ROTATION", "COPY_LOCATION"}
_CARRYING = {"ARMATURE", "CHILD_OF"}  # of the space that a control is in: above them is what moves more than a limb
_WHOLE = 0.999  # influence that counts as all of it
_LONGEST = 4  # bones that the IK of a limb turns
_BETWEEN = 3  # most bones from what IK turns down to a hand or foot
_NO_LIMB = "'{}' has no limb with IK controls: no IK constraint turns two bones or more of it."
_REMEDY = "Choose FK controls for Keys On."
_NONE = f"The limb of '{{}}' has no IK controls: no IK constraint turns the bones that show it. {_REMEDY}"


class Showing(NamedTuple):
    """A bone of a limb and the bone that shows it, and what this copies: on the side of IK, and of the limb (`own`).

    They are the same where an IK constraint turns the limb's own bone.
    """

    bone: str
    shown: str
    leader: str
    own: str


class IKControls(NamedTuple):
    """The IK controls of a limb, by the names of bones.

    `control` carries the limb's tip; `pole` is empty if there is none, `base`, which scales the bones that an IK
    constraint stretches, if that does not or the scale is locked. `owner` has the IK `constraint`, which turns the
    bones that show the limb from `upper` to `lower`. `showing` are all bones of the limb, `turned` those that IK turns.
    """

    control: str
    pole: str
    base: str
    owner: str
    constraint: str
    upper: str
    lower: str
    showing: Sequence[Showing]
    turned: Sequence[str] = ()

    @property
    def keyed(self) -> list[str]:
        """The bones that may get keys."""
        return [name for name in (self.control, self.pole, self.base) if name]

    @property
    def examined(self) -> list[str]:
        """The bones whose constraints decide whether the limb follows the controls."""
        return list(dict.fromkeys([*(each.shown for each in self.showing if each.shown != each.leader), self.owner]))

    @property
    def tip(self) -> Showing:
        """The tip of the limb."""
        return self.showing[-1]

    def shown_by(self, bone: str) -> str:
        """Return the name of the bone that shows a bone of the limb."""
        return next(each.shown for each in self.showing if each.bone == bone)

    @property
    def own_side(self) -> OwnSide:
        """The bones that show the limb, as they follow the limb's own."""
        return OwnSide(self.showing, self.owner)

    def astray(self, armature: Object) -> str:
        """Return a bone of an evaluated armature that does not follow the controls; empty if all do."""
        return next((name for name in self.examined if not self.follows(name, armature)), "")

    def follows(self, name: str, armature: Object) -> bool:
        """Tell whether the constraints of a bone of an evaluated armature have it follow the controls."""
        if not self._copies(name, armature):
            return False
        return name != self.owner or self._turning(armature) == {self.constraint}

    def tip_axes(self, armature: Object) -> tuple[str, Quaternion] | None:
        """Return the bone that copies how its leader is turned off rest about its own axes, None if the tip turns along
        in the space of the armature; and the rotation of the leader's axes in those of that bone."""
        for name in (self.tip.shown, self.tip.leader):
            for each in armature.pose.bones[name].constraints:
                if each.type not in _COPYING - {"COPY_LOCATION"} or each.mute or each.target != armature:
                    continue
                if each.owner_space == "LOCAL" and each.target_space in {"LOCAL", "LOCAL_OWNER_ORIENT"}:
                    rests = [armature.data.bones[n].matrix_local.to_quaternion() for n in (name, each.subtarget)]
                    is_same = each.target_space == "LOCAL"
                    return name, Quaternion() if is_same else rests[0].conjugated() @ rests[1]
        return None

    def is_shown(self, armature: Object) -> bool:
        """Tell whether an evaluated armature shows the limb as IK has it, with the pole or without."""
        return all(self._copies(name, armature) for name in self.examined) and bool(self._turning(armature))

    def _copies(self, name: str, armature: Object) -> bool:
        leaders = [each.leader for each in self.showing if each.shown == name != each.leader]
        return not leaders or _share(armature.pose.bones[name], leaders[0]) >= _WHOLE

    def _turning(self, armature: Object) -> set[str]:
        """Return the IK constraints that are on, none if one is on in part."""
        found = [each for each in armature.pose.bones[self.owner].constraints if each.type == "IK" and not each.mute]
        on = {each.name: each.influence for each in found if each.influence > 0.0}
        return set(on) if all(influence >= _WHOLE for influence in on.values()) else set()


class OwnSide(NamedTuple):
    """The bones that show a limb, as they follow the bones of the limb itself, and the one with the IK constraint."""

    showing: Sequence[Showing]
    owner: str

    def astray(self, armature: Object) -> str:
        """Return a bone of an evaluated armature that does not follow the limb; empty if all do."""
        return next((each.shown for each in self.showing if not self.follows(each.shown, armature)), "")

    def follows(self, name: str, armature: Object) -> bool:
        """Tell whether the constraints of a bone of an evaluated armature have it follow the limb."""
        bone, each = armature.pose.bones[name], next(each for each in self.showing if each.shown == name)
        if each.own != name:
            return _share(bone, each.own) >= _WHOLE
        on = [each for each in bone.constraints if each.type == "IK" and not each.mute and each.influence > 0.0]
        return not (on and name == self.owner) and (each.leader == name or _share(bone, each.leader) <= 1.0 - _WHOLE)


def ik_controls_of(limb: Limb, of_end: bool = False) -> IKControls:
    """Return the IK controls of a limb, or of its end if that will do. Raises RigError that says why there are none."""
    armature = limb.armature
    by_ik = [(bone, each) for bone in armature.pose.bones for each in bone.constraints if each.type == "IK"]
    if not by_ik:  # before the links of hundreds of bones are read
        raise RigError(_NONE.format(limb.tip))
    links = Links(armature)
    found = list(_candidates(limb, links, by_ik))
    if not found:
        raise RigError(_NONE.format(limb.tip))
    owner, constraint, pairs = max(found, key=lambda each: (len(each[2]), each[1].pole_target is not None))
    others = _shared_controls(limb, armature, owner, constraint)
    lower, upper = pairs[0].bone, pairs[-1].bone
    turning = [name for name in limb.in_order if can_turn(armature.pose.bones[name])]
    after, before = turning[turning.index(lower) + 1 :], turning[: turning.index(upper)]
    if before and not of_end:
        raise RigError(f"'{before[-1]}' is above the bones that the IK of '{owner}' turns. Shorten the limb.")
    if len(after) > 1:
        raise RigError(f"'{after[-1]}' is beyond the bone that the IK control of '{after[0]}' carries. End there.")
    control = _control(limb, links, constraint, others)
    showing = [*reversed(pairs)]
    if after:
        showing.append(_carried(limb, links, control))
    pole, base = _pole(limb, constraint, others), _base(limb, constraint, pairs[-1].leader)
    turned = tuple(_turned(armature.pose.bones[owner], constraint))
    return IKControls(control, pole, base, owner, constraint.name, upper, lower, tuple(showing), turned)


def _candidates(
    limb: Limb, links: Links, by_ik: Sequence[tuple[PoseBone, Constraint]]
) -> Iterator[tuple[str, Constraint, list[Showing]]]:
    """Yield IK constraints that turn bones of the limb's line: their bone, and what they turn from there upwards."""
    for bone, constraint in by_ik:
        if constraint.target is not None:
            chain = _turned(bone, constraint)
            pairs = [pair for pair in (_pair(limb, links, name) for name in chain) if pair]
            if len(pairs) == len(chain) > 1:
                yield bone.name, constraint, pairs


def _turned(bone: PoseBone, constraint: Constraint) -> list[str]:
    """Return the bones that an IK constraint turns, from the lowest upwards."""
    line = [bone, *bone.parent_recursive] if constraint.use_tail else list(bone.parent_recursive)
    return [each.name for each in line[: constraint.chain_count or None]]


def _pair(limb: Limb, links: Links, turned: str) -> Showing | None:
    """Return the bone of the limb that shows what an IK constraint turns."""
    if turned in limb.in_order:
        return Showing(turned, turned, turned, turned)
    theirs = {turned, *links.copies(turned)}
    for name in limb.in_order:
        ours = {name, *links.copies(name)}
        for shown in sorted(ours & theirs, key=list(ours).index):
            leaders = [each for each, constrained in links.leaders[shown].items() if constrained]
            leader = next((each for each in leaders if each in theirs - ours), None)
            own = next((each for each in leaders if each in ours - theirs), None)
            if leader and own:
                return Showing(name, shown, leader, own)
    return None


def _carried(limb: Limb, links: Links, control: str) -> Showing:
    """Return how the tip of a limb follows its IK control. Raises RigError if it does not."""
    ours = [limb.tip, *links.copies(limb.tip)]
    for shown in ours:
        for leader, constrained in links.leaders[shown].items():
            if constrained and leader not in ours and control in _line_up(limb.armature, leader):
                own = next((name for name in ours if links.leaders[shown].get(name)), shown)
                return Showing(limb.tip, shown, leader, own)
    raise RigError(f"Nothing turns '{limb.tip}' with its IK control '{control}'. Give it a Copy Rotation.")


def _control(limb: Limb, links: Links, constraint: Constraint, others: set[str]) -> str:
    """Return the bone that an animator moves to move the target of an IK constraint: the topmost that does only that.

    Raises RigError if there is none.
    """
    armature = limb.armature
    if constraint.target != armature or constraint.subtarget not in armature.pose.bones:
        raise RigError(f"The IK of '{limb.tip}' is to '{constraint.target.name}', which is no bone of it. {_REMEDY}")
    line = [name for name in _line_up(armature, constraint.subtarget) if name not in others]
    line = [name for name in line if not all(armature.pose.bones[name].lock_location)]
    if not line:
        raise RigError(f"No bone that can be moved carries the IK target '{constraint.subtarget}'. {_REMEDY}")
    near = [name for name in line if links.at_one_place(name, constraint.subtarget)]
    return (near or line)[-1]


def _pole(limb: Limb, constraint: Constraint, others: set[str]) -> str:
    """Return the bone that an animator moves as pole of an IK constraint; empty without a pole.

    Raises RigError for a pole that is no bone of the armature.
    """
    armature = limb.armature
    if constraint.pole_target is None:
        return ""
    if constraint.pole_target != armature or constraint.pole_subtarget not in armature.pose.bones:
        raise RigError(f"The pole of '{limb.tip}' is '{constraint.pole_target.name}', which is no bone. {_REMEDY}")
    line = (name for name in _line_up(armature, constraint.pole_subtarget) if name not in others)
    free = next((name for name in line if not any(armature.pose.bones[name].lock_location)), None)
    if free is None:
        raise RigError(f"The location of the pole '{constraint.pole_subtarget}' is locked. Unlock it.")
    return free


def _base(limb: Limb, constraint: Constraint, first: str) -> str:
    """Return the first bone that an IK constraint turns if its scale makes up for the constraint's stretch.

    Blender shortens bones that may stretch, also where the target is within reach.
    """
    bone = limb.armature.pose.bones[first]
    stretches = constraint.use_stretch and bone.ik_stretch > 0.0
    return first if stretches and first not in limb.bones and not any(bone.lock_scale) else ""


def _line_up(armature: Object, start: str) -> list[str]:
    """Return a bone and those that carry it, the nearest first, up to where it changes its space."""
    bones, seen, waiting = armature.pose.bones, [start], deque([start])
    while waiting:
        bone = bones[waiting.popleft()]
        if any(each.type in _CARRYING for each in bone.constraints):
            continue
        copied = (each.subtarget for each in bone.constraints if each.type in _COPYING and each.target == armature)
        for name in (*copied, *([bone.parent.name] if bone.parent else ())):
            if name in bones and name not in seen:
                seen.append(name)
                waiting.append(name)
    return seen


def _led_by(armature: Object, bone: PoseBone) -> Iterator[str]:
    """Yield the bones that a bone hangs on, by its parent or by constraints of its own."""
    if bone.parent:
        yield bone.parent.name
    for constraint in bone.constraints:
        for slot in constraint.targets if constraint.type == "ARMATURE" else [constraint]:
            if getattr(slot, "target", None) == armature and slot.subtarget in armature.pose.bones:
                yield slot.subtarget


def _shared_controls(limb: Limb, armature: Object, owner: str, chosen: Constraint) -> set[str]:
    """Return the bones that move more than this limb: those that its root hangs on, and those of other IK targets."""
    parent, own = armature.pose.bones[limb.bones[0]].parent, _turned(armature.pose.bones[owner], chosen)
    found, waiting = set[str](), [parent] if parent else []
    while waiting:
        bone = waiting.pop()
        if bone.name not in found:
            found.add(bone.name)
            waiting += [armature.pose.bones[name] for name in _led_by(armature, bone)]
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.type == "IK" and constraint.target == armature and not {*own} & {*_turned(bone, constraint)}:
                found.update(_line_up(armature, constraint.subtarget) if constraint.subtarget else ())
    return found


def _share(bone: PoseBone, leader: str) -> float:
    """Return the part of a bone's transform that its constraints copy from `leader`: 1 if nothing else counts."""
    share = 0.0
    for constraint in bone.constraints:
        if constraint.mute or constraint.type not in _COPYING | {"ARMATURE"}:
            continue
        if constraint.type == "ARMATURE":
            weights = {each.subtarget: each.weight for each in constraint.targets if each.target}
            own = weights.get(leader, 0.0) / (sum(weights.values()) or 1.0)
        else:
            own = float(constraint.subtarget == leader)
        share += constraint.influence * (own - share)
    return share


def shown_offset(armature: Object, showing: Showing) -> Matrix:
    """Return the rest frame of a bone of the limb in that of the bone that shows it (4x4)."""
    rests = armature.data.bones
    return rests[showing.shown].matrix_local.inverted() @ rests[showing.bone].matrix_local


def limbs_with_ik(armature: Object) -> list[tuple[Limb, IKControls]]:
    """Return the limbs of an armature that have IK controls, each of its own bones from root to tip.

    Their target is the armature itself. Raises RigError that says why there are none.
    """
    links, found, problems = Links(armature), dict[tuple[str, ...], tuple[Limb, IKControls]](), list[RigError]()
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.type != "IK" or constraint.target is None:
                continue
            turned = [_own_of(links, name) for name in _turned(bone, constraint)]
            if not 1 < len(turned) <= _LONGEST or None in turned:
                continue
            names = [name for name in reversed(turned) if name is not None]
            try:
                limb = _with_tip(armature, links, names)
                found.setdefault(limb.bones, (limb, ik_controls_of(limb)))
            except (ChainError, RigError) as error:
                problems.append(RigError(str(error)))
    if not found:
        raise problems[0] if problems else RigError(_NO_LIMB.format(armature.name))
    return list(found.values())


def _own_of(links: Links, turned: str) -> str | None:
    """Return the bone of a limb for one that an IK constraint turns: itself if nothing shows both of them."""
    theirs = {turned, *links.copies(turned)}
    own = None
    for shown in theirs - {turned}:
        leaders = [each for each, constrained in links.leaders[shown].items() if constrained]
        if any(each in theirs for each in leaders):
            own = own or next((each for each in leaders if each not in theirs), None)
    return own or turned


def _with_tip(armature: Object, links: Links, names: Sequence[str]) -> Limb:
    """Return the limb of these bones and the hand or foot that its IK control carries, if there is one."""
    lowest = armature.pose.bones[names[-1]]
    for bone in lowest.children_recursive:
        between = len(bone.parent_recursive) - len(lowest.parent_recursive)
        if between > _BETWEEN or not can_turn(bone) or not (links.followers.get(bone.name) or len(bone.constraints)):
            continue
        try:
            limb = Limb.from_bones(armature, [*names, bone.name], armature)
            ik_controls_of(limb)
        except RigError:
            continue
        return limb
    return Limb.from_bones(armature, names, armature)


def moved_with(limb: Limb, controls: IKControls) -> list[str]:
    """Return the bones whose keys move a limb by IK: its controls, and those between them and what IK turns to."""
    armature = limb.armature
    constraint = armature.pose.bones[controls.owner].constraints[controls.constraint]
    others, names = _shared_controls(limb, armature, controls.owner, constraint), list(controls.keyed)
    for start in (constraint.subtarget, controls.tip.leader):
        names += [name for name in _line_up(armature, start) if name not in others and name not in limb.bones]
    return list(dict.fromkeys(names))
