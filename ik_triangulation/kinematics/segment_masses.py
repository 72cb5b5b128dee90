# SPDX-License-Identifier: GPL-3.0-or-later
"""Masses of a human body's segments, as shares of the whole.

Source: de Leva 1996, "Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters", mean of men and women. An
estimate for whatever figure it is used for.
"""

from __future__ import annotations

from collections.abc import Sequence

TRUNK, HEAD = 0.4302, 0.0681  # with the neck as a part of the trunk
OF_LIMBS = {
    "upper_arm": 0.0263,
    "forearm": 0.0150,
    "hand": 0.0059,
    "thigh": 0.1447,
    "shin": 0.0457,
    "foot": 0.0133,
}
_TRUNK = {"hips", "spine", "trunk", "neck", "clavicle"}
_NECK_SHARE = {"neck": 0.5, "clavicle": 0.5}  # of what the trunk weighs along a length


def anatomical_masses(parts: Sequence[tuple[str, str] | None], lengths: Sequence[float]) -> list[float] | None:
    """Masses of bones that are these parts of a body, each with its side, and this long; None where legs are unknown.

    Bones of one part share its mass by their lengths, and those of the trunk share the trunk's. Bones that are no such
    part, such as fingers, have none.
    """
    if not any(part and part[0] == "thigh" for part in parts):
        return None
    weights: list[tuple[str, float]] = []
    for part, length in zip(parts, lengths, strict=True):
        name, side = part or ("", "")
        if name in _TRUNK:
            weights.append(("trunk", length * _NECK_SHARE.get(name, 1.0)))
        elif name == "head" or name in OF_LIMBS:
            weights.append((f"{name} {side}", max(length, 1e-9)))
        else:
            weights.append(("", 0.0))
    totals: dict[str, float] = {}
    for key, weight in weights:
        totals[key] = totals.get(key, 0.0) + weight
    masses = []
    for key, weight in weights:
        whole = TRUNK if key == "trunk" else HEAD if key.startswith("head") else OF_LIMBS.get(key.split(" ")[0], 0.0)
        masses.append(whole * weight / totals[key] if totals[key] > 0.0 else 0.0)
    return masses
