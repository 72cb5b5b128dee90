# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of a body as they are stored with its armature."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from bpy.types import Object


class Contact(NamedTuple):
    """The span of frames, first and last one, in which the tail of the bone `tip` is planted."""

    tip: str
    frame_start: float
    frame_end: float


def stored_contacts(armature: Object) -> tuple[Contact, ...]:
    """Return the contacts of an armature in the order of time; those that end before they start are none."""
    rows = armature.ik_triangulation.contacts
    found = (Contact(row.tip, row.frame_start, row.frame_end) for row in rows if row.frame_start <= row.frame_end)
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
    stored.contact = len(stored.contacts) - 1
