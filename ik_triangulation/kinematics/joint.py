# SPDX-License-Identifier: GPL-3.0-or-later
"""One joint of a chain at rest."""

from dataclasses import dataclass

from mathutils import Quaternion, Vector

from .freedom import Freedom
from .inheritance import Inheritance


@dataclass(frozen=True)
class Joint:
    """A joint at rest. It rotates about its head, and everything after it in the chain rotates with it.

    `offset` is the head in the frame of the joint before it [Blender units], `rest` the orientation there, `freedom`
    the degrees of freedom with their limits, `stiffness` in 0..1 the resistance to rotation. The last two are for rigs
    with scaled bones only: `scale`, the bone's own scale, and `inheritance`, the part of the parent's rotation and
    scale that it inherits (None: all of it).
    """

    name: str
    offset: Vector
    rest: Quaternion
    freedom: Freedom
    stiffness: float = 0.0
    scale: Vector | None = None
    inheritance: Inheritance | None = None

    def __post_init__(self) -> None:
        # A frozen dataclass does not prevent changes of mathutils values in place.
        object.__setattr__(self, "offset", Vector(self.offset).freeze())
        rest = Quaternion(self.rest)
        if abs(rest.magnitude - 1.0) > 1e-6:  # normalising a unit quaternion again would change its last bits
            rest.normalize()
        object.__setattr__(self, "rest", rest.freeze())
        if self.scale is not None:
            object.__setattr__(self, "scale", Vector(self.scale).freeze())

    @property
    def plain(self) -> bool:
        """Whether the joint moves rigidly with its parent, as every joint of an unscaled rig does."""
        return self.scale is None and self.inheritance is None
