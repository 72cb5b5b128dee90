# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole body of an armature: the bones between hips and tips, and the contacts that are stored with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from bpy.types import Object, PoseBone, PropertyGroup
from mathutils import Matrix, Quaternion, Vector

from ..errors import ChainError
from ..kinematics import Body, BodyTip, Free, Freedom, Inheritance, Joint, Locked
from ..kinematics.arrays import Numbers
from ..kinematics.body import segments_by_length
from ..kinematics.body_anatomy import anatomical_masses
from .anatomy.limbs import rest_body, rest_bones
from .anatomy.skeleton import parts_by_name
from .armature import Channels, channels_of, find_bone, is_flat, locating, next_scale, uniform_scale
from .freedom import freedom_of, mass_of, stiffness_of
from .limb import Limb
from .stance import body_anatomy, stance_of

_TOES = "toe", "foot"  # what the bone of toes is called below the one of a foot
_STAYS = 1e-5  # deviation of a scale from 1, or from another one, that is none


ContactSupport = tuple[Object, str]  # an object, or one of its bones, that a tip is in contact with


class Contact(NamedTuple):
    """The span of frames, first and last one, in which the tail of the bone `tip` is planted.

    It keeps its place on a `support`, or on a `bone` of that, and goes along with it; without one it stays in the
    world. `lost` is the name of a support that was deleted.
    """

    tip: str
    frame_start: float
    frame_end: float
    support: Object | None = None
    bone: str = ""
    lost: str = ""

    @property
    def on(self) -> ContactSupport | None:
        """The support; None in the world."""
        return (self.support, self.bone) if self.support is not None else None

    def to_dict(self) -> dict[str, str | float]:
        """Return the contact for JSON: the support by its name, which is empty in the world."""
        known = {**self._asdict(), "support": self.support.name if self.support is not None else ""}
        del known["lost"]
        return known


def stored_contact(row: PropertyGroup) -> Contact:
    """Return a contact as an armature stores it."""
    support, bone, lost = (row.support, row.bone, "") if row.support else (None, "", row.support_name)
    return Contact(row.tip, row.frame_start, row.frame_end, support, bone, lost)


def stored_contacts(armature: Object) -> tuple[Contact, ...]:
    """Return the contacts of an armature in the order of time, except those that end before they start."""
    rows = armature.ik_triangulation.contacts
    found = (stored_contact(row) for row in rows if row.frame_start <= row.frame_end)
    return tuple(sorted(found, key=lambda each: (each.frame_start, each.tip)))


def store_contacts(armature: Object, contacts: Iterable[Contact]) -> None:
    """Replace the list of contacts of an armature."""
    stored = armature.ik_triangulation
    stored.contacts.clear()
    for contact in contacts:
        add_contact(armature, contact)
    stored.contact = 0
    armature.update_tag()


def add_contact(armature: Object, contact: Contact) -> None:
    """Add a contact to the list of an armature, and make it the active one."""
    stored = armature.ik_triangulation
    row = stored.contacts.add()
    row.tip, row.frame_start, row.frame_end = contact.tip, round(contact.frame_start), round(contact.frame_end)
    row.support, row.bone = contact.support, contact.bone
    if contact.support is None:
        row.support_name = contact.lost
    stored.contact = len(stored.contacts) - 1


@dataclass(frozen=True)
class RigBody:
    """The limbs of an armature that reach at once, and the bones whose tails are `held` where the animation has them.

    `hips` is the bone that may move as `hips_motion` says: FREE, UP_DOWN, or FIXED, which keeps its animation; without
    a name it is found. With `balance` the centre of mass stays above the held bones. Of the bones between them the
    `solved` ones turn, by default all. Held bones stay at one place in their `contacts`, in the world or on what
    carries them there, and return to their animation within `contact_fade` frames; those that are `planted` stay where
    the animation has them at the scene's first frame, in the space of the armature. With `floor` the body stays above
    the lower held foot, and with `heels` the planted feet lift theirs where ankles would bend too far; their toes stay
    as they are, and those of feet with a goal bend up on the floor. Arms stay out of trunk, head and thighs, which are
    that `thickness` beside those of a person with bones of their lengths; at 0 they do not. Where tips have no goal,
    those of `free_heads` look where hands go, and the arms of those that `may_swing` swing.

    Raises ChainError for bones that do not hang together, and for hips that cannot move.
    """

    armature: Object
    limbs: tuple[Limb, ...]
    held: tuple[str, ...] = ()
    hips: str = ""
    hips_motion: str = "FREE"
    balance: bool = False
    solved: frozenset[str] = frozenset()
    contacts: tuple[Contact, ...] = ()
    contact_fade: int = 8
    floor: bool = True
    planted: tuple[str, ...] = ()
    heels: bool = False
    thickness: float = 0.0
    free_heads: tuple[str, ...] = ()
    may_swing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        lines, bones = [self.line(tip) for tip in self.tips], self.armature.pose.bones
        if not lines:
            raise ChainError("The body has no limbs. Set the target of one, or hold one.")
        common = [name for name in lines[0] if all(name in line for line in lines)]
        if not common:
            raise ChainError(f"'{self.tips[0]}' and '{self.tips[-1]}' hang on no common bone. Bake them as limbs.")
        if not self.hips:
            found = next((name for name in common if not hindrance(bones[name])), None)
            object.__setattr__(self, "hips", found or common[0])
        elif self.hips not in common:
            raise ChainError(f"'{self.hips}' is not above all tips of the body. Choose the bone they all hang on.")
        hindered = hindrance(bones[self.hips])
        if self.hips_motion != "FIXED" and hindered:
            raise ChainError(f"The hips '{self.hips}' cannot move: {hindered}, or set their motion to Fixed.")

    @property
    def tips(self) -> tuple[str, ...]:
        """Names of the bones that end in tips: first the held ones, then the reaching ones."""
        return (*self.held, *(limb.tip for limb in self.limbs))

    @cached_property
    def bones(self) -> tuple[str, ...]:
        """Names of the bones from the hips to all tips, and of toes that stay, each after its parent."""
        found: dict[str, None] = {}
        for tip in self.tips:
            line = self.line(tip)
            found.update(dict.fromkeys(reversed(line[: line.index(self.hips) + 1])))
        found.update(dict.fromkeys(self.toes.values()))
        for name in self.carrying:
            line = self.line(name)
            found.update(dict.fromkeys(line[: line.index(self.hips) + 1]))
        depth = {name: len(self.armature.data.bones[name].parent_recursive) for name in found}
        return tuple(sorted(found, key=depth.__getitem__))

    @cached_property
    def size_above(self) -> float:
        """The scale of the frame that the hips hang in. Raises ChainError if it is uneven."""
        above = self.armature.pose.bones[self.hips].parent_recursive
        if not above:
            return 1.0
        with suppress(ChainError):  # by the channels, which are set at once, where they tell it
            return self._sizes([bone.name for bone in reversed(above)])[above[0].name]
        size = uniform_scale(above[0].matrix)
        if size is None:
            raise ChainError(f"A bone above the hips '{self.hips}' is scaled unevenly. Scale it alike along all axes.")
        return size

    @cached_property
    def sizes(self) -> dict[str, float]:
        """The scales of the bones in the armature's space, with those of the bones above them.

        Raises ChainError for a bone that is scaled unevenly: then what hangs on it changes its length as it turns.
        """
        return self._sizes(self.bones, self.size_above)

    def _sizes(self, names: Sequence[str], above: float = 1.0) -> dict[str, float]:
        """Return the scales of bones in the armature's space, by their names, each after its parent."""
        found, bones = dict[str, float](), self.armature.pose.bones
        for bone, channels in zip(map(bones.__getitem__, names), channels_of(self.armature, names), strict=True):
            before = found[bone.parent.name] if found else above
            inherited = Inheritance(bone.bone.inherit_scale, True, Matrix.Identity(3))
            size = next_scale(before, inherited, channels.scale)
            if size is None:
                raise ChainError(f"'{bone.name}' is scaled unevenly. Scale it alike along all axes.")
            found[bone.name] = size
        return found

    def length(self, name: str) -> float:
        """Return the length of a bone of the body, scaled [armature space]."""
        return float(self.armature.data.bones[name].length * self.sizes[name])

    def shown_frame(self, name: str, frame: Numbers) -> Matrix:
        """Return the frame (4x4) that a bone is shown in, scaled, whose solved `frame` (3, 4) has no scale."""
        return Matrix((*frame.tolist(), (0.0, 0.0, 0.0, 1.0))) @ Matrix.Scale(self.sizes[name], 4)

    @cached_property
    def toes(self) -> dict[str, str]:
        """The bones of toes, by those of the feet that they hang on, planted or with a goal, that may lift their heels.

        Of several ahead of the ankle it is the one that begins nearest to the tail of the foot.
        """
        if not self.heels:
            return {}
        known, every, found = rest_body(self.armature), self.armature.data.bones, {}
        front, _ = stance_of(self.armature)
        for bone in (every[foot] for foot in (*self.planted, *(limb.tip for limb in self.limbs))):
            for child in sorted(bone.children, key=lambda child: -(child.head_local - bone.tail_local).length):
                part, is_ahead = known.part(child.name), front.dot(child.head_local - bone.head_local) > 0.0
                is_toe = part is not None and part.part in _TOES
                if is_ahead and is_toe and _turns_freely(self.armature.pose.bones[child.name]):
                    found[bone.name] = child.name
        return found

    def has_ball(self, foot: str) -> bool:
        """Tell whether it is known about what a foot lifts its heel: its toes, or a tail that is ahead of the ankle and
        below it. Tails of imported feet may be anywhere.
        """
        front, up = stance_of(self.armature)
        bone = self.armature.data.bones[foot]
        way = bone.tail_local - bone.head_local
        return foot in self.toes or (front.dot(way) > 0.0 and up.dot(way) < 0.0)

    def ball(self, tip: str) -> Vector:
        """The place about which a foot lifts its heel, in the frame of its bone, scaled: where its toes begin.

        Of other tips, of feet with a goal and of those without toes, that is the tail.
        """
        bone, toe = self.armature.data.bones[tip], self.toes.get(tip)
        if toe is None or tip not in self.planted:
            return Vector((0.0, self.length(tip), 0.0))
        return self.sizes[tip] * (bone.matrix_local.inverted() @ self.armature.data.bones[toe].head_local)

    @cached_property
    def carrying(self) -> frozenset[str]:
        """Bones of the body itself, from the hips down, that a tip is in contact with: a thigh, the other hand."""
        own = {each.bone for each in self.contacts if each.support == self.armature}
        return frozenset(name for name in own if name in self.armature.pose.bones and self.hips in self.line(name))

    @property
    def supports(self) -> tuple[ContactSupport, ...]:
        """Objects and bones that contacts are on, except bones of the body itself: these move independently of it."""
        every = dict.fromkeys(on for each in self.contacts if (on := each.on) is not None)
        return tuple(on for on in every if not (on[0] == self.armature and on[1] in self.carrying))

    @property
    def pose_bones(self) -> list[PoseBone]:
        """The bones of the body."""
        return [self.armature.pose.bones[name] for name in self.bones]

    @property
    def targets(self) -> list[tuple[Object, str]]:
        """Targets and pole targets of all limbs, with the bone of each."""
        return [target for limb in self.limbs for target in limb.targets]

    @property
    def obstacle_objects(self) -> list[Object]:
        """Obstacles of all limbs."""
        return [ob for limb in self.limbs for ob in limb.obstacle_objects]

    @property
    def surfaces(self) -> list[Object]:
        """Meshes whose surface limbs reach."""
        return [mesh for limb in self.limbs for mesh in limb.surfaces]

    @cached_property
    def rest(self) -> BodyRest:
        """The rest pose of its bones."""
        return BodyRest(self)

    @cached_property
    def led(self) -> frozenset[str]:
        """Bones that lead to a tip."""
        return frozenset(name for tip in self.tips for name in self.line(tip))

    def line(self, tip: str) -> list[str]:
        """Return the names of the bones from a tip up to the root."""
        bone = find_bone(self.armature, tip)
        return [bone.name, *(above.name for above in bone.parent_recursive)]


def _turns_freely(toe: PoseBone) -> bool:
    """Tell whether a toe can be turned back by what its foot is turned."""
    unscaled = max(abs(scale - 1.0) for scale in toe.scale) <= _STAYS
    free = not any(toe.lock_rotation) and all(each.mute or each.type.startswith("LIMIT_") for each in toe.constraints)
    return toe.bone.use_inherit_rotation and not is_flat(toe.bone.matrix_local) and unscaled and free


def hindrance(bone: PoseBone) -> str:
    """Return the reason why a bone cannot move, with the remedy; nothing if it can."""
    if bone.bone.use_connect:
        return "it is connected to its parent. Disconnect it in Edit Mode"
    if any(bone.lock_location):
        return "its location is locked. Unlock it"
    return ""


class BodyRest:
    """The rest pose of a body's bones, read once; builds the joints for the channels of a frame."""

    def __init__(self, rig: RigBody) -> None:
        self.rig, bones = rig, rig.armature.data.bones
        self._made: Body | None = None
        self._read: Sequence[Channels] | None = None  # the channels with which it was made
        self.rests: list[Matrix] = []  # in the parent's frame without its scale, 4x4
        self.locating: list[Matrix] = []  # from a bone's location channels to that frame, 3x3
        for name in rig.bones:
            bone = bones[name]
            if is_flat(bone.matrix_local):
                raise ChainError(f"Bone '{name}' has an invalid rest pose. Re-create it in Edit Mode.")
            if not bone.use_inherit_rotation:
                raise ChainError(f"'{name}' does not inherit its parent's rotation. A body needs bones that do.")
            above = bone.parent.matrix_local if bone.parent else Matrix.Identity(4)
            rest = above.inverted() @ bone.matrix_local
            size = rig.sizes[bone.parent.name] if self.rests else rig.size_above
            self.locating.append(locating(bone, rest) * size)
            rest.translation *= size
            self.rests.append(rest)

    def body(self, channels: Sequence[Channels], up: Vector) -> Body:
        """Return the body with the bones where these channels have them; its hips are where their parent is.

        It has the anatomy, and the masses, of what its bones are. While its joints stay the same it is the one that was
        returned before; of the same reading of the channels they do. Raises ChainError for bones whose scale is not
        what it is now.
        """
        made, up = self._made, up.normalized()
        if made is not None and self._read is channels and made.up == up:
            return made
        rig, numbers = self.rig, {name: number for number, name in enumerate(self.rig.bones)}
        now = channels_of(rig.armature, rig.bones)
        bones = rig.armature.pose.bones
        joints, parents = [], []
        for number, (name, channel) in enumerate(zip(rig.bones, channels, strict=True)):
            if max(abs(change) for change in channel.scale - now[number].scale) > _STAYS:
                raise ChainError(f"'{name}' changes its scale. A body needs bones that keep theirs: remove its keys.")
            offset = self.rests[number].translation.copy()
            if number:
                offset += self.locating[number] @ channel.location
            freedom = self._freedom(bones[name])
            own = freedom, stiffness_of(bones[name])
            joints.append(Joint(name, offset, self.rests[number].to_quaternion(), *own, mass=mass_of(bones[name])))
            above = bones[name].parent
            parents.append(numbers[above.name] if number and above else -1)
        tips = [self._tip(name, numbers[name]) for name in rig.tips]
        self._read = channels
        if made is None or made.joints != tuple(joints) or made.up != up:
            body = Body(tuple(joints), tuple(parents), tuple(tips), rig.hips_motion, up)
            masses = self._masses()
            segments = body.segments if masses is None else segments_by_length(body, masses)
            made = self._made = replace(body, segments=segments, anatomy=body_anatomy(rig.armature, body))
        return made

    def _freedom(self, bone: PoseBone) -> Freedom:
        if bone.name == self.rig.hips and self.rig.hips_motion != "FREE":
            return Locked()  # keeps its animation
        if self.rig.solved and bone.name not in self.rig.solved and bone.name != self.rig.hips:
            return Locked()
        if bone.name in self.rig.toes.values():
            return Locked()  # as it is turned back by what its foot is turned
        if not self.rig.solved and bone.name not in self.rig.led:
            return Locked()  # only a contact is on it
        freedom = freedom_of(bone)
        return freedom if freedom.moves or isinstance(freedom, Locked) else Free()

    def _tip(self, name: str, number: int) -> BodyTip:
        """Return the tip at a bone's tail or ball, standing on head and tail of the bone and of those below."""
        bone = self.rig.armature.data.bones[name]
        back, size = bone.matrix_local.inverted(), self.rig.sizes[name]
        ends = [end for each in (bone, *bone.children) for end in (each.head_local, each.tail_local)]
        return BodyTip(name, number, self.rig.ball(name), Quaternion(), tuple(size * (back @ end) for end in ends))

    def _masses(self) -> list[float] | None:
        """Return the masses of the bones by their names; None where these do not tell the parts of a body."""
        parts = parts_by_name(rest_bones(self.rig.armature))
        known = [(found.part, found.side) if (found := parts.get(name)) else None for name in self.rig.bones]
        return anatomical_masses(known, [self.rig.length(name) for name in self.rig.bones])


def moving_bones(rig: RigBody, body: Body) -> Iterator[PoseBone]:
    """Yield the bones that a solve may turn."""
    for joint in body.joints:
        if not isinstance(joint.freedom, Locked) and joint.freedom.moves:
            yield rig.armature.pose.bones[joint.name]
