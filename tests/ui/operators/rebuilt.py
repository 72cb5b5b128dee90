# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs for operators, and the same work done by a call."""

from ...rigs import (
    chain_rig,
    configure,
    empty,
    key_location,
)


def standard(bones=4, **settings):
    """A rig whose tip bone is active and set up to follow a moving target."""
    rig, target = chain_rig(bones), key_location(empty(), range(1, 42, 4))
    configure(rig, f"Bone {bones - 1}", target=target, chain_count=3, **settings)
    return rig, target
