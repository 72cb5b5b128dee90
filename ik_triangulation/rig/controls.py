# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls of a generated rig, by the graph of its copies: FK bones to rotate for other bones, IK controls of limbs.

An edge of the graph leads from a bone to one that copies its transform: by a constraint, whatever its present
influence, or as its child in the same rest frame. With all constraints at full influence, both keep the offset that
they have at rest. So it has the followers of a limb, such as the deform bones of a generated rig. A name with "fk" in
it only decides between several candidates. IK controls are found from the IK constraint that turns the bones which show
the limb, up to the bone that an animator moves.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from bpy.types import Constraint, Object, PoseBone
from mathutils import Matrix

from ..errors import ChainError, RigError
from .freedom import can_turn, locked_axes
from .ik_controls import IKControls, Showing
from .limb import Limb

_COPYING = {"COPY_TRANSFORMS", "COPY_ROTATION"}
_CARRYING = {"ARMATURE", "CHILD_OF"}  # move a bone like a child, from any rest pose: what is above moves more
_TRACKING = {"STRETCH_TO", "DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO"}  # copy a transform together with a location
_LEADING = {*_COPYING, "COPY_LOCATION"}  # by which a bone leads one on which a control hangs
_SAME_PLACE = 1e-3  # of a bone's length
_SAME_TURN = 1e-2  # of the entries of a rotation matrix: half a degree

_LONGEST = 4  # rotating bones of a whole limb, such as a leg with its toe
_USUAL = 3  # rotating bones of a limb that was chosen by its first bone
_LONGEST_IK = 4  # bones that the IK of a limb turns
_BETWEEN = 3  # most bones from what IK turns down to a hand or foot
_NO_LIMB = "'{}' has no limb with IK controls: no IK constraint turns two bones or more of it."
_REMEDY = "Choose FK controls for Keys On."
_NONE = f"The limb of '{{}}' has no IK controls: no IK constraint turns the bones that show it. {_REMEDY}"


class Links:
    """Edges of an armature's graph, by the names of bones, read once."""

    def __init__(self, armature: Object) -> None:
        self.armature = armature
        self.leaders: dict[str, dict[str, bool]] = {}  # of each bone, and whether it follows them by a constraint
        self.led: set[str] = set()  # bones that have the transform of a leader
        self.followers: defaultdict[str, dict[str, bool]] = defaultdict(dict)
        for bone in armature.pose.bones:
            found = self.leaders[bone.name] = {}
            for leader, constrained, exactly in self._leaders(bone):
                found[leader] = constrained or found.get(leader, False)
                if exactly:
                    self.led.add(bone.name)
                    self.followers[leader][bone.name] = found[leader]

    def _leaders(self, bone: PoseBone) -> Iterator[tuple[str, bool, bool]]:
        """Yield the bones that a bone follows, whether by a constraint, and whether it then has the same transform."""
        name = bone.name
        if bone.parent and self.in_one_frame(bone.parent.name, name):
            yield bone.parent.name, False, True
        if not len(bone.constraints):
            return
        tracks = any(constraint.type in _TRACKING for constraint in bone.constraints)
        for constraint in bone.constraints:
            if constraint.type in _CARRYING:
                yield from ((other, True, self.at_one_place(other, name)) for other in self._copied(constraint))
            elif constraint.type in _COPYING or (constraint.type == "COPY_LOCATION" and tracks):
                yield from ((other, True, self.in_one_frame(other, name)) for other in self._copied(constraint))

    def _copied(self, constraint: Constraint) -> Iterator[str]:
        """Yield the names of the bones of this armature that a constraint copies."""
        slots = constraint.targets if constraint.type == "ARMATURE" else [constraint]
        for slot in slots:
            if slot.target == self.armature and slot.subtarget in self.armature.pose.bones:
                yield slot.subtarget

    def at_one_place(self, first: str, second: str) -> bool:
        """Tell whether the heads of two bones coincide at rest."""
        bones = self.armature.data.bones
        one, other = bones[first], bones[second]
        return (one.head_local - other.head_local).length <= _SAME_PLACE * max(one.length, other.length)

    def in_one_frame(self, first: str, second: str) -> bool:
        """Tell whether two bones have the same rest frame: then one that copies the other has its transform."""
        bones = self.armature.data.bones
        return self.at_one_place(first, second) and _turned_alike(bones[first].matrix_local, bones[second].matrix_local)

    def copies(self, bone: str) -> dict[str, bool]:
        """Return the bones that follow `bone` if all constraints have full influence, and whether by a constraint."""
        found: dict[str, bool] = {}
        waiting = [(bone, False)]
        while waiting:
            name, constrained = waiting.pop()
            for follower, by_constraint in self.followers.get(name, {}).items():
                how = constrained or by_constraint
                known = found.get(follower)
                if follower != bone and (known is None or how > known):
                    found[follower] = how
                    waiting.append((follower, how))
        return found

    def deforming(self, bone: str, chain: Iterable[str] = ()) -> list[str]:
        """Return the names of the deform bones that follow `bone` by constraints, without those of its own chain."""
        bones, own = self.armature.data.bones, set(chain)
        copies = self.copies(bone).items()
        return sorted(
            name for name, constrained in copies if constrained and bones[name].use_deform and name not in own
        )

    def back_from(self, bone: str) -> Iterator[str]:
        """Yield `bone` and all that it follows, the nearest first: the bones it copies and its parents."""
        seen, waiting = {bone}, deque([bone])
        while waiting:
            name = waiting.popleft()
            yield name
            parent = self.armature.pose.bones[name].parent
            for leader in (*self.leaders.get(name, {}), *([parent.name] if parent else ())):
                if leader not in seen:
                    seen.add(leader)
                    waiting.append(leader)


def _turned_alike(first: Matrix, second: Matrix) -> bool:
    rows = (first[number][:3] + second[number][:3] for number in range(3))
    return all(abs(row[axis] - row[axis + 3]) <= _SAME_TURN for row in rows for axis in range(3))


class Controls:
    """FK chains of an armature; there are none in an armature without constraints."""

    def __init__(self, armature: Object) -> None:
        self._bones = armature.pose.bones
        self._links = Links(armature) if any(len(bone.constraints) for bone in self._bones) else None
        self._chains: dict[str, list[str]] = {}

    def control(self, bone: str) -> str:
        """Return the FK control that moves the same bones as `bone`: itself if it is one or there is none."""
        links = self._links
        if links is None or self._is_fk(bone):
            return bone
        for behind in [bone] if _swings(self._bones[bone]) else links.back_from(bone):
            fk = [b.name for b in self._bones if links.at_one_place(b.name, behind) and self._replaces(b.name, bone)]
            if fk:
                return max(fk, key=lambda name: ("fk" in name.lower(), len(self.chain(name))))
            if self._leads(behind):
                return behind
        return bone

    def end(self, bone: str) -> str:
        """Return the last bone of the limb that a control begins; itself if its chain has controls above it."""
        if self._turning(self.chain(bone)) != 1:
            return bone
        below = [b.name for b in self._bones[bone].children_recursive if bone in self.chain(b.name)]
        return max(
            (name for name in below if self._turning(self.chain(name)) <= _USUAL),
            key=lambda name: self._turning(self.chain(name)),
            default=bone,
        )

    def count(self, tip: str) -> int | None:
        """Return the number of bones of the limb that ends in `tip`; None without an FK chain or if it is too long."""
        line = self.chain(tip)
        up_to_others = len(line) <= len(self._bones[tip].parent_recursive)
        return len(line) if up_to_others and self._turning(line) <= _LONGEST and line else None

    def is_shown(self, bone: str) -> bool:
        """Tell whether the deform bones that follow a bone, once all constraints count, are turned as it is now."""
        links, turned = self._links, self._bones[bone].matrix
        return links is None or all(
            _turned_alike(turned, self._bones[follower].matrix) for follower in links.deforming(bone)
        )

    def chain(self, tip: str) -> list[str]:
        """Return the FK chain from `tip` upwards, with the bones in between; empty if `tip` is not in one.

        It ends below bones that follow others. Each bone of it that can rotate has followers.
        """
        if tip not in self._chains:
            self._chains[tip] = self._chain(tip)
        return self._chains[tip]

    def _chain(self, tip: str) -> list[str]:
        links = self._links
        if links is None or not self._leads(tip):
            return []
        line = [self._bones[tip], *self._bones[tip].parent_recursive]
        part = list(takewhile(lambda bone: can_turn(bone) or bone.name not in links.led, line))
        while not self._leads(part[-1].name):
            part.pop()
        return [bone.name for bone in part]

    def _turning(self, names: Sequence[str]) -> int:
        return sum(can_turn(self._bones[name]) for name in names)

    def _is_fk(self, name: str) -> bool:
        """Tell whether a bone belongs to a chain of several controls, above or below it."""
        if not self._leads(name):
            return False
        below: Sequence[PoseBone] = self._bones[name].children_recursive
        return self._turning(self.chain(name)) > 1 or any(name in self.chain(bone.name) for bone in below)

    def _replaces(self, control: str, bone: str) -> bool:
        """Tell whether an FK control replaces a bone: a bone with followers needs a control with a common follower."""
        links = self._links
        if links is None or not self._is_fk(control):
            return False
        ours, theirs = {bone, *links.copies(bone)}, {control, *links.copies(control)}
        return not self._leads(bone) or bool(ours & theirs)

    def _leads(self, name: str) -> bool:
        """Tell whether a bone is posed by hand, can swing, and has followers."""
        links, bone = self._links, self._bones[name]
        if links is None or not _swings(bone) or not links.followers.get(name):
            return False
        return not any(links.leaders[name].values())  # placed by a constraint


def _swings(bone: PoseBone) -> bool:
    """Tell whether the rotation channels let a bone rotate about more than one axis."""
    return sum(locked_axes(bone)) < 2


def ik_controls_of(limb: Limb, of_end: bool = False, known: Links | None = None) -> IKControls:
    """Return the IK controls of a limb, or of its end if that will do. Raises RigError that says why there are none.

    The links of its armature are read if they are not `known`.
    """
    armature = limb.armature
    by_ik = [(bone, each) for bone in armature.pose.bones for each in bone.constraints if each.type == "IK"]
    if not by_ik:  # before the links of hundreds of bones are read
        raise RigError(_NONE.format(limb.tip))
    links = known or Links(armature)
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
        copied = (each.subtarget for each in bone.constraints if each.type in _LEADING and each.target == armature)
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
            if not 1 < len(turned) <= _LONGEST_IK or None in turned:
                continue
            names = [name for name in reversed(turned) if name is not None]
            for line in [*_with_tips(armature, links, names), names]:
                try:
                    limb = Limb.from_bones(armature, line, armature)
                    found.setdefault(limb.bones, (limb, ik_controls_of(limb, known=links)))
                    break
                except (ChainError, RigError) as error:
                    failed = RigError(str(error))
            else:
                problems.append(failed)
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


def _with_tips(armature: Object, links: Links, names: Sequence[str]) -> list[list[str]]:
    """Return these bones with each hand or foot below that their IK control may carry."""
    lowest, found = armature.pose.bones[names[-1]], []
    for bone in lowest.children_recursive:
        between = len(bone.parent_recursive) - len(lowest.parent_recursive)
        if between <= _BETWEEN and can_turn(bone) and (links.followers.get(bone.name) or len(bone.constraints)):
            found.append([*names, bone.name])
    return found


def moved_with(limb: Limb, controls: IKControls) -> list[str]:
    """Return the bones whose keys move a limb by IK: its controls, and those between them and what IK turns to."""
    armature = limb.armature
    constraint = armature.pose.bones[controls.owner].constraints[controls.constraint]
    others, names = _shared_controls(limb, armature, controls.owner, constraint), list(controls.keyed)
    for start in (constraint.subtarget, controls.tip.leader):
        names += [name for name in _line_up(armature, start) if name not in others and name not in limb.bones]
    return list(dict.fromkeys(names))
