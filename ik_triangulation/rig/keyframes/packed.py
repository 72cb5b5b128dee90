# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes as text, bit by bit, for storing in a file."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

import numpy as np

from .arrays import ATTRIBUTES, KeyArrays


def packed(keys: KeyArrays) -> dict[str, Any]:
    """Return keyframes as JSON takes them; a value that all of them share is there once."""
    texts: dict[str, Any] = {"count": len(keys["co"])}
    for name in ATTRIBUTES:
        column = keys[name]
        shared = column.ndim == 1 and (column == column[0]).all()
        texts[name] = column[0].item() if shared else b64encode(column.tobytes()).decode()
    return texts


def unpacked(texts: dict[str, Any]) -> KeyArrays:
    """Return the keyframes again. Raises LookupError, TypeError or ValueError for what is none."""
    count, keys = texts["count"], {}
    for name, (width, dtype) in ATTRIBUTES.items():
        value = texts[name]
        column = np.frombuffer(b64decode(value), dtype) if isinstance(value, str) else np.full(count, value, dtype)
        keys[name] = column.reshape(count, 2) if width == 2 else column.reshape(count)
    return keys
