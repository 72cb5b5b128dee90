# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's little theatre: a body with skin, what it acts with, and the light it is seen in."""
