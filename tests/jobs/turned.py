# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand that is turned wrong."""

TIP = "Bone 2"
