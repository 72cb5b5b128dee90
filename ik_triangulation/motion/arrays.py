# SPDX-License-Identifier: GPL-3.0-or-later
"""Types of the arrays over frames, samples or pixels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Numbers = NDArray[np.float64]
