# SPDX-License-Identifier: GPL-3.0-or-later
"""A body to solve over a shot: the body that a limb is solved with, its joints, its animation by hand, its tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Object, Scene
from mathutils import Vector

from ..cooperative import Work
from ..errors import ChainError
from ..goals.from_goals import MARGIN, balance_of, body_tasks, hold_tasks
from ..goals.heels import Heel, HeelTask
from ..goals.orientation import OrientTask
from ..goals.support import BalanceTask
from ..goals.task import Task
from ..kinematics import Body
from ..kinematics.arrays import Columns, Numbers
from ..kinematics.batch import Geometry, States
from ..kinematics.batch.algebra import cross, normalized, product, quaternions
from ..kinematics.body_anatomy import Part
from ..motion.body_path import BodyPath
from ..motion.faded_path import faded_path, standing
from ..rig.body import BodyRest, RigBody
from ..rig.frames.body_frames import Animation, with_places
from ..rig.frames.body_samples import BodySamples
from ..rig.stored_body import stored_body
from ..rig.timeline import Clock
from ..solvers.body.floor import Floor, floor_of
from ..solvers.natural.posture import USUAL_FPS
from .contacts import Contacts, compliance_with_contacts, lifted, with_contacts


class HeldPlaces(NamedTuple):
    """The frames at which a body is measured, with the frames (n, 3, 4, S) of its bones as held at each.

    `influence` (S) is that of each tip, by its name; the hips hang in `bases` (4, 4, S). Feet that may lift their
    `heels`, by name, do so as far as their shins lean.
    """

    frames: Sequence[float]
    bones: Numbers
    influence: Mapping[str, Numbers]
    bases: Numbers
    heels: Mapping[str, Heel]

    def foot(self, number: int, name: str, shown: Numbers, length: float) -> Numbers:
        """Return the frames (3, 4, S) at which the bone of a held tip of this length is held, its tail in place.

        `number` is the bone's, and `shown` (n, 3, 4, S) are all bones as they are.
        """
        frame = self.bones[number]
        if name not in self.heels:
            return frame
        turned = np.empty((*frame.shape[:2], shown.shape[-1]))
        turned[:, :3] = self.heels[name].turned(frame[:, :3], shown[:, :, 3])
        turned[:, 3] = frame[:, 3] + length * (frame[:, 1] - turned[:, 1])
        return turned


class Planned(NamedTuple):
    """Frames (n, 3, 4, F) of the bones of a body that was solved, at frames of its samples that were keyed."""

    frames: Sequence[float]
    bones: Numbers


class BodyProblem:
    """A body to solve at all frames: its joints, its animation made by hand, and the tasks of its tips.

    `held_frames` (n, 3, 4, F) are the frames of the bones by which tips are held: at one place those
    that are planted, as animated the others, and in `contacts` where these are.
    """

    def __init__(
        self,
        rig: RigBody,
        samples: BodySamples,
        contacts: Contacts | None = None,
        animated: Animation | None = None,
    ) -> None:
        """Take a body as sampled; tips are held by the animation in the samples, or by another that is `animated`."""
        self.rig, self.samples, self.rest = rig, samples, BodyRest(rig)
        up = np.linalg.inv(samples.worlds[:3, :3, 0]) @ np.array((0.0, 0.0, 1.0))
        self.body: Body = self.rest.body(samples.channels, Vector(up))
        tree = self.body.tree
        self._ways = np.einsum("ijf,jk->ikf", samples.bases[:3, :3], np.array(self.rest.locating[0], float))
        self.reference = self._posed(samples.rotations, samples.locations)
        held_by = animated or Animation(samples.rotations, samples.locations, samples.shown)
        if held_by.shown is not None:
            self.held_frames = held_by.shown
        else:
            posed = self.reference if animated is None else self._posed(animated.rotations, animated.locations)
            self.held_frames = Geometry(tree, posed).frames
        self.held_frames = with_places(rig, self.held_frames, samples.places)
        if contacts:
            self.held_frames = with_contacts(self.body, contacts, rig.contact_fade, samples, self.held_frames)
            if contacts.ground and rig.hips_motion != "FIXED":
                self.reference = lifted(self.reference, contacts.ground, samples)
        self._stands = not rig.planted
        self.turned_toes = set[str]()  # those that are turned back in the rotations that were read last
        self.heels = self._heels()
        self._influence = {self.body.number_of[tip]: share for tip, share in samples.influence.items()}
        angle = min((limb.angle_tolerance for limb in rig.limbs), default=0.0)
        self.tasks: list[Task] = self.held_tasks(rig.held)
        self.tasks += body_tasks(self.body, samples.goals, angle)
        self._bound()

    def _bound(self) -> None:
        """Make the balance and the floor, of which what the reference itself exceeds is exempt, as a run."""
        begin, steady = Geometry(self.body.tree, self.reference), self.balance()
        self.steady = steady and steady.allowing(begin)
        self.floor: Floor | None = None
        if self.rig.floor:
            self.floor = floor_of(self.body, self.rig.held, self.held_frames, begin, self.samples.influence)

    def held_tasks(self, names: Sequence[str]) -> list[Task]:
        """Return the tasks of held tips, of which planted feet may lift their heels."""
        heels = {self.body.number_of[name]: heel for name, heel in self.heels.items()}
        return [
            HeelTask(task=task, heel=heels[task.tip]) if isinstance(task, OrientTask) and task.tip in heels else task
            for task in hold_tasks(self.body, names, self.held_frames)
        ]

    def _heels(self) -> dict[str, Heel]:
        """Return the feet that may lift their heels, by the names of their tips."""
        if not self.rig.heels or not self.rig.planted:
            return {}
        anatomy, rest = self.body.tree.anatomy, self.body.rest_pose().frames
        found = {}
        for name in self.rig.planted:
            tip = self.body.tip(name)
            leg = next((limb for limb in anatomy.limbs if limb.end == tip.joint), None)
            if leg is None or anatomy.parts[leg.upper] != Part.THIGH:
                continue
            shin = rest[tip.joint, :, :3].T @ (rest[leg.middle, :, 3] - rest[leg.end, :, 3])
            foot = self.held_frames[tip.joint][:, :3]
            upright, ahead = (normalized(np.einsum("ijf,j->if", foot, each)) for each in (shin, np.array(tip.place)))
            found[name] = Heel(leg.middle, leg.end, normalized(cross(upright, ahead)), upright)
        return found

    def rotations(self, states: States) -> Numbers:
        """Return the rotations (n, 4, F) of all joints in solved states, with toes that stay while heels lift."""
        tree, rotations = self.body.tree, self.body.tree.rotations(states)
        lifting = {toe: name for name, toe in self.rig.toes.items() if name in self.heels}
        self.turned_toes = set()
        if not lifting:
            return rotations
        rotations, geometry = rotations.copy(), Geometry(tree, states)
        for number, joint in enumerate(self.body.joints):
            name = lifting.get(joint.name)
            if name is None or not self.heels[name].lift(geometry.heads)[0].any():
                continue
            foot = self.body.tip(name).joint
            flat, now = self.held_frames[foot][:, :3], geometry.frames[foot][:, :3]
            rest = np.array(joint.rest.to_matrix(), float)
            back = np.einsum("ai,jif,jkf,kb->abf", rest.T, now, np.broadcast_to(flat, now.shape), rest)
            rotations[number] = normalized(product(quaternions(back), rotations[number]))
            self.turned_toes.add(joint.name)
        return rotations

    def path(self, scene: Scene, smoothing: float = 0.0, tasks: Sequence[Task] | None = None) -> Work[BodyPath]:
        """Solve all frames together, at the frame rate of the scene; `tasks` are by default those of the problem."""
        fps, frames = scene.render.fps / scene.render.fps_base, self.samples.frames
        if len(frames) > 1:
            fps /= max(1.0, (frames[-1] - frames[0]) / (len(frames) - 1))
        yield from self.stand(fps)
        tree, tasks = self.body.tree, tasks or self.tasks
        more: dict[str, Any] = {"floor": self.floor, "smoothing": smoothing, "fps": fps}
        more["compliance"] = compliance_with_contacts(self.rig, tree, tasks)
        return (yield from faded_path(tree, self.reference, tasks, self._influence, self.steady, **more))

    def stand(self, fps: float = USUAL_FPS) -> Work[None]:
        """Bend the limbs of planted tips in the reference to where these stay: so the hips keep their animation."""
        if self._stands:
            return
        planted = self.held_tasks(self.rig.planted)
        self.reference = yield from standing(self.body, self.reference, planted, self._influence, fps)
        self._stands = True
        self._bound()

    @property
    def held_places(self) -> HeldPlaces:
        """The places at which its tips are held, at all of its frames."""
        samples = self.samples
        return HeldPlaces(samples.frames, self.held_frames, samples.influence, samples.bases, self.heels)

    def planned(self, states: States, times: Sequence[float], clock: Clock) -> Planned:
        """Return the frames of all bones in solved states, at the frames that are keyed at these times."""
        keyed, frames = set(times), self.samples.frames
        here = [k for k, frame in enumerate(frames) if clock.time(frame) in keyed]
        return Planned([frames[k] for k in here], Geometry(self.body.tree, states.take(here)).frames)

    def locations(self, states: States, columns: Columns = slice(None)) -> Numbers:
        """Return the location channels of the hips (3, F) in states of these frames, by default of all."""
        way = states.place - self.samples.bases[:3, 3, columns]
        ways = np.moveaxis(self._ways[..., columns], -1, 0)
        return np.asarray(np.linalg.solve(ways, way.T[:, :, None])[:, :, 0].T)

    def placed(self, locations: Numbers, columns: Columns) -> Numbers:
        """Return the place of the first joint's parent (3, m) at frames where the hips have these locations (3, m).

        Without locations (0, m) the hips are where the animation has them.
        """
        if not len(locations):
            return self.reference.place[:, columns]
        ways = np.einsum("ijf,jf->if", self._ways[..., columns], locations)
        return np.asarray(self.samples.bases[:3, 3, columns] + ways)

    def _posed(self, rotations: Numbers, locations: Numbers) -> States:
        """Return the states with these rotations (n, 4, F) of all joints and locations (3, F) of the hips."""
        bases, tree, count = self.samples.bases, self.body.tree, len(self.samples.frames)
        place = bases[:3, 3] + np.einsum("ijf,jf->if", self._ways, locations)
        none, rotations = (np.empty((0, count)), np.empty((0, 4, count))), np.ascontiguousarray(rotations)
        return tree.posed(rotations, States(*none, rotations[tree.held], bases[:3, :3], place))

    def outside(self, states: States) -> float | None:
        """Return how far the centre of mass is outside at most [Blender units]; None without balance."""
        steady = self.balance(0.0)
        if steady is None:
            return None
        return float(steady.measure(Geometry(self.body.tree, states)).off.max())

    def balance(self, margin: float = MARGIN) -> BalanceTask | None:
        """Return the task of keeping the balance with this margin; None without balance."""
        if not self.rig.balance:
            return None
        return balance_of(self.body, self.rig.held, self.held_frames, margin, self.samples.influence)


def body_of(armature: Object, tip: str) -> RigBody | None:
    """Return the body that the limb which ends in `tip` is solved with; None for a limb that is solved alone.

    Limbs are solved together if a tip among them is held, or if they share bones. One that merely hangs on another is
    solved after it. Several held tips are a body without anything that reaches: the feet of an animal whose hips are
    animated. Raises what stored_body() does, and ChainError for a held limb that is alone.
    """
    bones = armature.pose.bones
    found = stored_body(armature, tip)
    if found is None or not (found.limbs or found.contacts or len(found.held) > 1):
        if bones[tip].ik_triangulation.hold:
            raise ChainError(
                f"'{tip}' is held, and no limb reaches. Give one that hangs on the same hips a target, "
                "or press Find Contacts."
            )
        if not bones[tip].ik_triangulation.enabled and any(bone.ik_triangulation.hold for bone in bones):
            raise ChainError(f"'{tip}' is not ticked in the list of limbs, and others are held. Tick it to solve them.")
        return None
    turned = [name for limb in found.limbs for name in limb.solved]
    return found if found.held or len(turned) > len(set(turned)) else None


def check_alone(armature: Object, tip: str, what: str) -> None:
    """Raise ChainError if a limb belongs to a body, as `what` is to be done can only be done to a lone limb."""
    if body_of(armature, tip) is not None:
        raise ChainError(f"'{tip}' is part of a body, and {what} works on single limbs. Use Pose or Bake.")


def bodies_and_tips(armature: Object) -> tuple[list[RigBody], list[str]]:
    """Return the bodies of an armature that are to be baked, and the tips of the limbs that are baked one by one."""
    bodies, alone = list[RigBody](), list[str]()
    for bone in armature.pose.bones:
        stored = bone.ik_triangulation
        if not stored.hold and not (stored.enabled and stored.target):
            continue
        if any(bone.name in body.tips for body in bodies):
            continue
        body = body_of(armature, bone.name)
        if body is None:
            alone.append(bone.name)
        else:
            bodies.append(body)
    return bodies, alone
