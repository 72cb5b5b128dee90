# SPDX-License-Identifier: GPL-3.0-or-later
"""Eyes by the names of their bones, in the conventions of common rigs."""

from __future__ import annotations

import re
from collections.abc import Container
from unicodedata import normalize

from .names import BESIDE, NOISE, ROLES, SIDES

_EYES = {"eye", "eyeball", "目"}
# Words beside that of an eye which say nothing; "master" is on the bone of a generated Rigify rig that turns one.
_BESIDE_EYES = {"master", "face", "facial", "head", "adj", "bind"}
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[左右]|[^\W\d_A-Za-z左右]+")
_NO_PART = {*" ".join(SIDES.values()).split(), *NOISE.split(), *_BESIDE_EYES}
_HELPS = set(ROLES[BESIDE].split()) - _NO_PART
_OTHER_ROLES = {word for role, words in ROLES.items() if role != BESIDE for word in words.split()}


def is_eye(name: str) -> bool:
    """Tell whether a bone is an eye by its name: no lid or brow, and no target or helper of one."""
    words = [word.lower() for word in _WORD.findall(normalize("NFKC", name).rpartition(":")[2])]
    if _HELPS.intersection(words):
        return False
    return "".join(word for word in words if word not in _NO_PART | _OTHER_ROLES) in _EYES


def turned_eye(name: str, among: Container[str]) -> str:
    """Return the bone that turns an eye: a generated Rigify rig has a target of the eye's name, and a master of it."""
    master = f"master_{name.removeprefix('DEF-').removeprefix('ORG-')}"
    return master if master in among else name
