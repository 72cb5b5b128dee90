# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading the rig and its targets at the frames of a range, in a temporary scene or by stepping the user's."""
