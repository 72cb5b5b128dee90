# SPDX-License-Identifier: GPL-3.0-or-later
"""NumPy files of arrays, written safely."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rig.safe_files import write_file


def write_npy(path: Path | str, values: NDArray[Any]) -> None:
    """Write an array as numpy.load() reads it, without appending .npy to the name as numpy does. Raises OSError."""
    content = BytesIO()
    np.save(content, values)
    write_file(path, content.getvalue())
