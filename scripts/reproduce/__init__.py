# SPDX-License-Identifier: GPL-3.0-or-later
"""The source papers, a file each: what they print, the same measured here, a section of the page and the pictures.

Each file has measure(quick), section(found), claims(found) and draw(found, folder). Only draw() needs matplotlib.
"""
