# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies as sampled, posed as shots: their joints, animation by hand, tasks and settings, and the places of held tips.

Every shot that a job solves is made here or in limb_problem.py, whether for a bake, a pose, a reach, a pull or Live. By
the places of held tips, and of all bones as planned, a written body is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Object, PropertyGroup, Scene
from mathutils import Matrix, Vector

from ...cooperative import Work
from ...errors import ChainError
from ...goals import Avoid, Effort, Near
from ...goals.from_goals import MARGIN, CarriedTask, balance_of, body_tasks, hold_tasks, moved_from
from ...goals.obstacles import volumes_of
from ...goals.orientation import AlongTask, LookTask, OrientTask
from ...goals.support import BalanceTask, Heel, HeelTask
from ...goals.task import PlaceTask, Task, unwrapped
from ...items import SOLVER_ROWS, WHOLE_SOLVERS
from ...kinematics import Body
from ...kinematics.arrays import Columns, Numbers
from ...kinematics.batch import Geometry, States
from ...kinematics.batch.algebra import exponential, normalized, product, quaternions, rotate
from ...motion.faded_path import standing
from ...motion.method import BODY_REFUSAL, Natural
from ...motion.reduction import parts_between
from ...motion.shot import Shot, SolvedPath
from ...rig.body import RigBody
from ...rig.frames.body_frames import Animation, Preferred, with_places
from ...rig.frames.body_samples import BodySamples, read_between, sampled_body
from ...rig.limb import Limb
from ...rig.stance import look_of
from ...rig.stored_body import StoredLimbs, stored_body
from ...rig.timeline import Clock, fps_of
from ...settings import BendSettings, MethodSettings, PostureSettings, settings_of
from ...solvers.body.clearing import Comfort
from ...solvers.body.floor import Floor, floor_of, raised_toes
from ...solvers.body.reaching import reaching_of
from ...solvers.body.thickness import Avoided, Thickness, thickness_of, with_obstacles
from ...solvers.natural.posture import USUAL_FPS
from .contacts import (
    Contacts,
    compliance_with_contacts,
    heels_of,
    lifted,
    read_contacts,
    shares_of_carriers,
    with_contacts,
)

_OF_METHODS = ("finish", "iterations", "start_from", "smooth")  # settings of the published methods
_OF_REACHING = ("pole_target", "effort_weight", "rest_weight", "obstacles")  # settings of limbs that are not held
_TURNED = OrientTask | AlongTask  # of a foot that does not turn as it likes


class HeldPlaces(NamedTuple):
    """The frames at which a body is measured, with the frames (n, 3, 4, S) of its bones as held at each.

    `influence` (S) is that of each tip, by its name; the hips hang in `bases` (4, 4, S). Feet that may lift their
    `heels`, by name, do so as far as their shins lean. Where tips are on bones of the body, `carried` gives all frames
    as held while the bones are as shown.
    """

    frames: Sequence[float]
    bones: Numbers
    influence: Mapping[str, Numbers]
    bases: Numbers
    heels: Mapping[str, Heel]
    carried: Callable[[Numbers], Numbers] | None = None

    def foot(self, number: int, name: str, shown: Numbers, ball: Vector) -> Numbers:
        """Return the frames (3, 4, S) at which the bone of a held tip is held, its `ball` (in its own frame) in place.

        `number` is the bone's, and `shown` (n, 3, 4, S) are all bones as they are.
        """
        frame = (self.bones if self.carried is None else self.carried(shown))[number]
        if name not in self.heels:
            return frame
        turned = np.empty((*frame.shape[:2], shown.shape[-1]))
        turned[:, :3] = self.heels[name].turned(frame[:, :3], shown[:, :, 3])
        turned[:, 3] = frame[:, 3] + np.einsum("ijf,j->if", frame[:, :3] - turned[:, :3], np.array(ball))
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
        like: BodyProblem | None = None,
    ) -> None:
        """Take a body as sampled; tips are held by the animation in the samples, or by another that is `animated`.

        The problem of the same body at other frames, that this is `like`, spares reading its joints again.
        """
        self.rig, self.samples, self._contacts = rig, samples, contacts
        self.body: Body = like.body if like else sampled_body(rig, samples)
        tree = self.body.tree
        self._ways = np.einsum("ijf,jk->ikf", samples.bases[:3, :3], np.array(rig.rest.locating[0], float))
        self.reference = self.posed(samples.rotations, samples.locations)
        held_by = animated or Animation(samples.rotations, samples.locations, samples.shown)
        if held_by.shown is not None:
            self.held_frames = held_by.shown
        else:
            posed = self.reference if animated is None else self.posed(animated.rotations, animated.locations)
            self.held_frames = Geometry(tree, posed).frames
        self.held_frames = with_places(rig, self.held_frames, samples.places)
        self._carriers: Mapping[str, Mapping[int, Numbers]] = {}
        if contacts:
            self._rests = self.held_frames
            self._carriers = shares_of_carriers(rig, contacts, samples.frames)
            self.held_frames = with_contacts(rig, self.body, contacts, samples, self.held_frames)
            if contacts.ground and rig.hips_motion != "FIXED":
                self.reference = lifted(self.reference, contacts.ground, samples)
        self._by_hand = self.reference
        self._bent = list(dict.fromkeys([*rig.planted, *self._carriers]))
        self._stands = not self._bent
        self.turned_toes = set[str]()  # those that are turned back in the rotations that were read last
        self.heels = heels_of(rig, self.body, self.held_frames)
        self._influence = {self.body.number_of[tip]: share for tip, share in samples.influence.items()}
        self._asked = body_tasks(self.body, samples.goals)
        self.tasks: list[Task] = [*self.held_tasks(rig.held), *self._asked]
        self._not_comfortable = dict[str, str]()  # what is said of limbs whose comfort does not count
        readers = samples.readers if samples.goals else {}
        avoided = {tip: reader.avoided for tip, reader in readers.items() if reader.avoided}
        self.avoid({tip: [each[frame] for frame in samples.frames] for tip, each in avoided.items()})
        preferred = {tip: reader.preferred for tip, reader in readers.items() if reader.preferred}
        self._comfort = [each for tip, by_frame in preferred.items() for each in self._comfort_of(tip, by_frame)]

    @cached_property
    def _heads(self) -> list[LookTask]:
        """The looks of heads that look where hands go, unless they have a goal of their own."""
        found = []
        for name in self.rig.free_heads:
            number, look = self.body.number_of[name], look_of(self.rig.armature, name)
            axis, origin = (np.array(each, float)[:, None] for each in (look.axis, look.origin))
            up = None if look.up is None else np.array(look.up, float)[:, None]
            found.append(
                LookTask(tip=number, length=1.0, tolerance=np.ones(1), axis=axis, point=origin, origin=origin, up=up)
            )
        return found

    @cached_property
    def _bounds(self) -> tuple[BalanceTask | None, Thickness | None]:
        """Balance and thickness, of which what the reference itself exceeds is exempt, as a run."""
        begin, steady = Geometry.of(self.body.tree, self.reference), self.balance()
        thickness = thickness_of(self.body, self.rig.thickness)
        return steady and steady.allowing(begin), thickness and thickness.allowing(begin)

    def avoid(self, avoided: Mapping[str, Sequence[Avoid]]) -> None:
        """Have limbs stay out of these obstacles alone, by the names of the tips at each frame, by their influence."""
        self._obstacles, self._not_avoiding = dict[int, Avoided](), dict[str, str]()
        for tip, each in avoided.items():
            volumes, number = volumes_of([one.obstacles for one in each]), self.body.number_of[tip]
            weights = np.array([one.weight for one in each]) * self._influence.get(number, 1.0)
            if volumes is None:
                reason = "an obstacle is scaled flat, or has another kind of volume, at some frames"
                self._not_avoiding[tip] = f"Obstacles do not count, as {reason}"
            elif volumes and weights.any():
                self._obstacles[number] = Avoided(volumes, weights, np.array(self.body.up, float)[:, None])
        self.__dict__.pop("thickness", None)

    def _comfort_of(self, tip: str, by_frame: Mapping[float, Preferred]) -> Iterator[Comfort]:
        """Yield the comfort of the limb that ends in a tip; a weight that is animated has no form for all frames."""
        each, number = [by_frame.get(frame) for frame in self.samples.frames], self.body.number_of[tip]
        found = [({type(one): one for one in here.soft} if here else {}) for here in each]
        weights = {kind: {getattr(one.get(kind), "weight", 0.0) for one in found} for kind in (Effort, Near)}
        if any(len(some) > 1 for some in weights.values()):
            self._not_comfortable[tip] = "Gravity and Keep Pose do not count, as their weights are animated"
            return
        (gravity,), (keeping,) = weights[Effort], weights[Near]
        up, kept = np.array(self.body.up, float)[:, None], dict[int, Numbers]()
        if keeping:
            numbers = {joint.name: number for number, joint in enumerate(self.body.joints)}
            names = next(here.joints for here in each if here)
            near: list[Any] = [one[Near] for one in found]
            rotations = np.array([[rotation[:] for rotation in one.rotations] for one in near], float)
            kept = {numbers[name]: rotations[:, row].T for row, name in enumerate(names) if name in numbers}
        yield Comfort(number, gravity, up, keeping, kept, self._influence.get(number, np.ones(1)))

    def unheeded(self) -> list[str]:
        """Return warnings that name the settings of its limbs which the body does not heed, each with the reason."""
        arms = self.thickness.arms if self.thickness else ()
        kept_out, avoiding = {arm.tip for arm in arms if arm.avoided}, dict(self._not_avoiding)
        for tip in (self.body.tips[number].name for number in self._obstacles if number not in kept_out):
            reason = "in a body only arms and legs of two parts, with a hand or foot, avoid them"
            avoiding[tip] = f"Obstacles do not count, as {reason}"
        every = [*avoiding.items(), *self._not_comfortable.items()]
        return [*unheeded(self.rig), *(f"'{tip}': {text}." for tip, text in every)]

    @property
    def steady(self) -> BalanceTask | None:
        """The task of keeping the balance; None without balance."""
        return self._bounds[0]

    @cached_property
    def thickness(self) -> Thickness | None:
        """The thickness of the body, with the obstacles of its limbs; None without any of these."""
        return with_obstacles(self.body, self._bounds[1], self.rig.thickness, self._obstacles)

    @cached_property
    def floor(self) -> Floor | None:
        """The floor that the body stays above, but where the animation itself is lower; None without one."""
        if not self.rig.floor:
            return None
        begin = Geometry.of(self.body.tree, self._by_hand)
        return floor_of(self.body, self.rig.held, self.held_frames, begin, self.samples.influence)

    def place_of(self, states: States, bone: str, frame: float) -> Matrix | None:
        """Return the world matrix (4x4) of a bone at a frame in solved states; None at frames that are not solved."""
        if frame not in self.samples.frames:
            return None
        at = [*self.samples.frames].index(frame)
        frames = Geometry(self.body.tree, states.take(np.array([at]))).frames[..., 0]
        world = Matrix(self.samples.worlds[..., at].tolist())
        return world @ self.rig.shown_frame(bone, frames[self.rig.bones.index(bone)])

    def held_tasks(self, names: Sequence[str]) -> list[Task]:
        """Return the tasks of held tips: planted feet may lift their heels, and bones of the body carry some tips."""
        number_of = self.body.number_of
        heels = {number_of[name]: heel for name, heel in self.heels.items()}
        carriers = {number_of[name]: shares for name, shares in self._carriers.items()}
        tasks = list[Task]()
        for task in hold_tasks(self.body, names, self.held_frames):
            if isinstance(task, OrientTask) and task.tip in heels:
                tasks.append(HeelTask(task=task, heel=heels[task.tip]))
            elif isinstance(task, PlaceTask) and task.tip in carriers:
                rests = {row: self._rests[row] for row in carriers[task.tip]}
                tasks.append(CarriedTask(task=task, carriers=carriers[task.tip], rests=rests))
            else:
                tasks.append(task)
        return tasks

    def rotations(self, states: States) -> Numbers:
        """Return the rotations (n, 4, F) of all joints in solved states, with toes that stay while heels lift."""
        tree, rotations = self.body.tree, self.body.tree.rotations(states)
        numbers = {joint.name: number for number, joint in enumerate(self.body.joints)}
        turned = {self.body.tips[task.tip].name for task in self._asked if isinstance(unwrapped(task), _TURNED)}
        lifting = {numbers[toe]: name for name, toe in self.rig.toes.items() if name in self.heels}
        led = {toe for name, toe in self.rig.toes.items() if name not in (*self.rig.held, *turned)}
        self.turned_toes = set()
        if not (lifting or led):
            return rotations
        rotations, geometry = rotations.copy(), Geometry.of(tree, states)
        for number, name in lifting.items():
            joint = self.body.joints[number]
            if not self.heels[name].lift(geometry.heads)[0].any():
                continue
            foot = self.body.tip(name).joint
            flat, now = self.held_frames[foot][:, :3], geometry.frames[foot][:, :3]
            rest = np.array(joint.rest.to_matrix(), float)
            back = np.einsum("ai,jif,jkf,kb->abf", rest.T, now, np.broadcast_to(flat, now.shape), rest)
            rotations[number] = normalized(product(quaternions(back), rotations[number]))
            self.turned_toes.add(joint.name)
        if not led:
            return rotations
        toes, by_hand = {numbers[toe]: self.rig.length(toe) for toe in led}, Geometry.of(tree, self._by_hand)
        for number, turns in raised_toes(tree, geometry, by_hand, toes):
            rotations[number] = normalized(product(rotations[number], exponential(turns)))
            self.turned_toes.add(self.body.joints[number].name)
        return rotations

    def shot(self, scene: Scene, smoothing: float = 0.0, tasks: Sequence[Task] | None = None) -> Shot:
        """Return the shot of all frames; `tasks` are by default those of the problem."""
        tree, tasks = self.body.tree, tasks or self.tasks
        return Shot(
            tree=tree,
            reference=self.reference,
            tasks=tasks,
            influence=self._influence,
            steady=self.steady,
            floor=self.floor,
            thickness=self.thickness,
            comfort=self._comfort,
            heads=self._heads,
            arms=[self.body.number_of[name] for name in self.rig.may_swing],
            compliance=compliance_with_contacts(self.rig, tree),
            fps=fps_of(scene, self.samples.frames),
            smoothing=smoothing,
            soft=[self.body.number_of[limb.tip] for limb in self.rig.limbs if limb.soft_edge],
            seed=max((limb.seed for limb in self.rig.limbs), default=0),
        )

    def path(self, scene: Scene, smoothing: float = 0.0, tasks: Sequence[Task] | None = None) -> Work[SolvedPath]:
        """Solve all frames together, with limbs bent in the reference as stand() does."""
        yield from self.stand(fps_of(scene, self.samples.frames))
        return (yield from Natural().solve(self.shot(scene, smoothing, tasks)))

    def _carried(self, shown: Numbers) -> Numbers:
        """Return all frames as held while bones of the body that carry tips are as shown; (n, 3, 4, F) each."""
        found = self.held_frames.copy()
        for tip, carriers in self._carriers.items():
            end, held = self.body.tip(tip), self.held_frames[self.body.tip(tip).joint]
            place = rotate(held[:, :3], np.array(end.place)[:, None]) + held[:, 3]
            for row, share in carriers.items():
                motion = moved_from(self._rests[row], shown[row])
                found[end.joint, :, 3] += share * (rotate(motion[:, :3], place) + motion[:, 3] - place)
        return found

    def stand(self, fps: float = USUAL_FPS) -> Work[None]:
        """Bend the limbs of tips that are planted, or on bones of the body, in the reference to where these stay.

        So the hips and the trunk keep their animation as far as these limbs reach.
        """
        if self._stands:
            return
        held = self.held_tasks(self._bent)
        self.reference = yield from standing(self.body, self.reference, held, self._influence, fps, self.floor)
        self._stands = True
        for name in ("_bounds", "thickness"):
            self.__dict__.pop(name, None)

    @property
    def held_places(self) -> HeldPlaces:
        """The places at which its tips are held, at all of its frames."""
        samples = self.samples
        carried = self._carried if self._carriers else None
        return HeldPlaces(samples.frames, self.held_frames, samples.influence, samples.bases, self.heels, carried)

    def between(self, scene: Scene, without: tuple[float, float] | None = None) -> Work[BodyProblem]:
        """Return the body at its frames, at half frames and so far as needed between: as key reduction measures it.

        Keys between two times may be left out, those `without` which its held tips are held.
        """
        frames, clock = np.array(self.samples.frames, float), Clock(scene, self.rig.armature)
        parts = parts_between(np.array(clock.times(self.samples.frames)))
        inner = frames[:-1, None] + np.diff(frames)[:, None] * np.arange(parts) / parts
        every = [*inner.ravel().tolist(), frames[-1]]
        samples = yield from read_between(self.rig, self.samples, every, scene, without)
        return BodyProblem(self.rig, samples, self._contacts, like=self)

    def planned(self, states: States, times: Sequence[float], clock: Clock) -> Planned:
        """Return the frames of all bones in solved states, at the frames that are keyed at these times."""
        keyed, frames = set(times), self.samples.frames
        here = [k for k, frame in enumerate(frames) if clock.time(frame) in keyed]
        return Planned([frames[k] for k in here], Geometry(self.body.tree, states.take(here)).frames)

    def locations(self, states: States, columns: Columns = slice(None)) -> Numbers:
        """Return the location channels of the hips (3, F) in states of these frames, by default of all."""
        way = states.place - self.samples.bases[:3, 3, columns]
        ways = np.moveaxis(self._ways[..., columns], -1, 0)
        return np.asarray(np.linalg.solve(ways, way.T[:, :, None])[:, :, 0].T) + 0.0  # and no zero below zero

    def placed(self, locations: Numbers, columns: Columns) -> Numbers:
        """Return the place of the first joint's parent (3, m) at frames where the hips have these locations (3, m).

        Without locations (0, m) the hips are where the animation has them.
        """
        if not len(locations):
            return self.reference.place[:, columns]
        ways = np.einsum("ijf,jf->if", self._ways[..., columns], locations)
        return np.asarray(self.samples.bases[:3, 3, columns] + ways)

    def posed(self, rotations: Numbers, locations: Numbers) -> States:
        """Return the states with these rotations (n, 4, F) of all joints and locations (3, F) of the hips."""
        bases, tree, count = self.samples.bases, self.body.tree, len(self.samples.frames)
        place = bases[:3, 3] + np.einsum("ijf,jf->if", self._ways, locations)
        none, rotations = (np.empty((0, count)), np.empty((0, 4, count))), np.ascontiguousarray(rotations)
        return tree.posed(rotations, States(*none, rotations[tree.held], bases[:3, :3], place))

    def too_far(self) -> list[str]:
        """Return warnings that name tips to which a step would lead rather than a standing body."""
        reaching = reaching_of(self.body.tree, self.reference, self.tasks, self.steady)
        short = reaching.short(self.tasks) if reaching else {}
        frames = self.samples.frames
        return [
            f"'{self.body.tips[tip].name}' reaches farther than a standing body does, most at frame {frames[at]:g}. "
            "Step towards its target, or turn the feet."
            for tip, at in short.items()
        ]

    def outside(self, states: States) -> float | None:
        """Return how far the centre of mass is outside at most [Blender units]; None without balance."""
        steady = self.balance(0.0)
        if steady is None:
            return None
        return float(steady.measure(Geometry.of(self.body.tree, states)).off.max())

    def balance(self, margin: float = MARGIN) -> BalanceTask | None:
        """Return the task of keeping the balance with this margin; None without balance."""
        if not self.rig.balance:
            return None
        return balance_of(self.body, self.rig.held, self.held_frames, margin, self.samples.influence)


def read_problem(
    rig: RigBody, samples: BodySamples, scene: Scene, animated: Animation | None = None
) -> Work[BodyProblem]:
    """Return the problem of a body as sampled, in the contacts and on the ground that the scene has for it."""
    contacts = yield from read_contacts(rig, scene, samples.frames)
    return BodyProblem(rig, samples, contacts, animated)


def unheeded(rig: RigBody) -> list[str]:
    """Return warnings that name the settings of its limbs which a body does not heed, each with the reason."""
    bones, rows = rig.armature.pose.bones, settings_of(MethodSettings, PostureSettings, BendSettings)
    held = {name: stored for name in rig.held if (stored := getattr(bones[name], "ik_triangulation", None))}
    by_solver = dict[str, dict[str, Limb | PropertyGroup]]()
    for tip, limb in [*held.items(), *((limb.tip, limb) for limb in rig.limbs)]:
        by_solver.setdefault(limb.solver, {})[tip] = limb
    found = []
    for solver, limbs in by_solver.items():
        if solver in WHOLE_SOLVERS:
            continue
        changed = (
            name for name in _OF_METHODS if any(getattr(each, name) != rows[name].default for each in limbs.values())
        )
        options = ", ".join(rows[name].label for name in changed)
        found.append(
            f"{named(limbs)}: solved by Natural and not by {SOLVER_ROWS[solver].label}, as {BODY_REFUSAL.reason}."
            + (f" These do not count either: {options}." if options else "")
        )
    for tip, limb in held.items():
        unused = ", ".join(
            rows[name].label for name in _OF_REACHING if getattr(limb, name) not in (rows[name].default, None)
        )
        if unused:
            found.append(f"'{tip}': {unused} of a held limb: without effect, as these are for limbs that reach.")
    return found


def named(tips: Iterable[str]) -> str:
    """Return the names of tips as part of a text."""
    return ", ".join(f"'{tip}'" for tip in tips)


def body_of(armature: Object, tip: str, known: StoredLimbs | None = None) -> RigBody | None:
    """Return the body that the limb which ends in `tip` is solved with; None for a limb that is solved alone.

    Limbs are solved together if a tip among them is held, or if they share bones. One that merely hangs on another is
    solved after it. Several held tips are a body without anything that reaches: the feet of an animal whose hips are
    animated. `known` are the armature's limbs, if these are. Raises what stored_body() does, and ChainError for a held
    limb that is alone.
    """
    bones = armature.pose.bones
    found = stored_body(armature, tip, known)
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
    bodies, alone, known = list[RigBody](), list[str](), StoredLimbs(armature)
    for bone in armature.pose.bones:
        stored = bone.ik_triangulation
        if not stored.hold and not (stored.enabled and stored.target):
            continue
        if any(bone.name in body.tips for body in bodies):
            continue
        body = body_of(armature, bone.name, known)
        if body is None:
            alone.append(bone.name)
        else:
            bodies.append(body)
    return bodies, alone
