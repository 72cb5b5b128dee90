# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of the documentation's pictures, a file for each."""
