# SPDX-License-Identifier: GPL-3.0-or-later
"""Types of the arrays over frames, poses, samples or pixels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Numbers = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
Columns = Any  # a selection of the last axis: indices, mask or slice
