# SPDX-License-Identifier: GPL-3.0-or-later
"""Write arrays as numpy.load() reads them."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rig.safe_files import write_file


def write_npy(path: Path | str, values: NDArray[Any]) -> None:
    """Write an array to a file of just this name, which numpy would add a suffix to. Raises OSError."""
    content = BytesIO()
    np.save(content, values)
    write_file(path, content.getvalue())
