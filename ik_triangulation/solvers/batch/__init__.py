# SPDX-License-Identifier: GPL-3.0-or-later
"""Many poses solved at once by bounded Gauss-Newton, and restarts as such a batch."""
