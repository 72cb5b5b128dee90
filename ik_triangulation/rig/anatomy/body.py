# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of the body that the bones of an armature are: by their names, and by the bones above and below them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .names import BESIDE, BodyPart, part_by_name

RestPoint = tuple[float, float, float]
Parts = dict[str, BodyPart]
ARM_ROOTS, LEG_ROOTS = {"clavicle", "upper_arm"}, {"thigh"}


@dataclass(frozen=True)
class RestBone:
    """A bone at rest: its parent's name, None for a root, and head and tail in armature space [Blender units]."""

    parent: str | None
    head: RestPoint
    tail: RestPoint

    @property
    def length(self) -> float:
        return sum((b - a) ** 2 for a, b in zip(self.head, self.tail, strict=True)) ** 0.5


RestBones = Mapping[str, RestBone]


def parents(bones: RestBones, name: str) -> Iterator[str]:
    """Yield the names of the bones above `name`, the nearest first."""
    above = bones[name].parent
    while above is not None:
        yield above
        above = bones[above].parent


def children(bones: RestBones) -> dict[str, list[str]]:
    """Return the names of the bones right below each bone."""
    found: dict[str, list[str]] = {name: [] for name in bones}
    for name, bone in bones.items():
        if bone.parent is not None:
            found[bone.parent].append(name)
    return found


def parts_by_name(bones: RestBones) -> Parts:
    """Return the parts of all bones whose names tell one; ambiguous names are decided by the bones around them."""
    parts = {name: part for name in bones if (part := part_by_name(name)) is not None}
    below = children(bones)
    for name, part in list(parts.items()):
        if "|" in part.part:
            parts[name] = replace(part, part=_decided(parts, bones, below, name))
    _divide_spine(parts, bones)
    return parts


def _decided(parts: Parts, bones: RestBones, below: Mapping[str, Sequence[str]], name: str) -> str:
    """Return the part that an ambiguous name tells among the others of its side; "hip" for a bone above a thigh."""
    part, side = parts[name].part, parts[name].side
    above = [parts[each].part for each in parents(bones, name) if each in parts and parts[each].side == side]
    under = _first_below(parts, below, name)
    if part == "clavicle|upper_arm":
        return "upper_arm" if "forearm" in under and "clavicle|upper_arm" not in under else "clavicle"
    if part == "thigh|shin":
        return "shin" if "thigh" in above or "hip|thigh" in above else "thigh"
    return "hip" if "thigh" in under else "thigh"


def _first_below(parts: Parts, below: Mapping[str, Sequence[str]], name: str) -> set[str]:
    """Return the parts of the first bones of the same side below, past bones without one."""
    found, waiting = set(), list(below[name])
    while waiting:
        each = waiting.pop()
        part = parts.get(each)
        if part is None or part.role == BESIDE:
            waiting += below[each]
        elif part.side == parts[name].side:
            found.add(part.part)
    return found


def _divide_spine(parts: Parts, bones: RestBones) -> None:
    """Tell hips, neck and tail from the spine where all are called the same, by the bones that arms and legs are on."""
    over_arms, over_legs = (
        {above for name, part in parts.items() if part.part in roots for above in parents(bones, name)}
        for roots in (ARM_ROOTS, LEG_ROOTS)
    )
    if not over_legs:
        return
    for name, part in list(parts.items()):
        if part.part not in {"spine", "trunk"}:
            continue
        if name in over_legs:
            parts[name] = replace(part, part="hips")
        elif part.part == "spine" and name not in over_arms:
            on = next((above for above in parents(bones, name) if above in over_arms), None)
            if on in parts and parts[on].role == part.role:
                parts[name] = replace(part, part="tail" if on in over_legs else "neck")
    numbered = [name for name, part in parts.items() if part.part == "neck" and not _named_neck(name)]
    on_neck = {bones[name].parent for name in numbered}
    headed = {above for name, part in parts.items() if part.part == "head" for above in parents(bones, name)}
    for name in numbered:
        if name not in on_neck and name not in headed:
            parts[name] = replace(parts[name], part="head")


def _named_neck(name: str) -> bool:
    told = part_by_name(name)
    return told is not None and told.part == "neck"
