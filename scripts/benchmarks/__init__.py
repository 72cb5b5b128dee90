# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmarks of scripts/benchmark.py: one module each, with add_arguments() and run()."""
