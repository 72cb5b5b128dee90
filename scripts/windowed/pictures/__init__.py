# SPDX-License-Identifier: GPL-3.0-or-later
"""What the pictures of the documentation show, a file for each."""
