# SPDX-License-Identifier: GPL-3.0-or-later
"""One joint of a chain at rest."""

from dataclasses import dataclass

from mathutils import Quaternion, Vector

from .freedom import Freedom
from .inheritance import Inheritance


@dataclass(frozen=True)
class Joint:
    """A joint at rest; it turns about its head, and what comes after it in the chain turns with it.

    `offset` is its head in the frame of the joint before it [Blender units], `rest` its orientation there, `freedom`
    what it may do, `stiffness` in 0..1 how reluctant it is. The last two are for rigs with scaled bones only: `scale`,
    the bone's own scale, and `inheritance`, what it takes over of its parent's (None: all of it).
    """

    name: str
    offset: Vector
    rest: Quaternion
    freedom: Freedom
    stiffness: float = 0.0
    scale: Vector | None = None
    inheritance: Inheritance | None = None

    def __post_init__(self) -> None:
        # mathutils values can be changed in place, which a frozen dataclass does not prevent.
        object.__setattr__(self, "offset", Vector(self.offset).freeze())
        rest = Quaternion(self.rest)
        if abs(rest.magnitude - 1.0) > 1e-6:  # normalising a unit quaternion again would change its last bits
            rest.normalize()
        object.__setattr__(self, "rest", rest.freeze())
        if self.scale is not None:
            object.__setattr__(self, "scale", Vector(self.scale).freeze())

    @property
    def plain(self) -> bool:
        """Whether the joint turns rigidly with its parent, as every joint of an unscaled rig does."""
        return self.scale is None and self.inheritance is None
