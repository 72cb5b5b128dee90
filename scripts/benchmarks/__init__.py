# SPDX-License-Identifier: GPL-3.0-or-later
"""What scripts/benchmark.py measures: one module a benchmark, each with add_arguments() and run()."""
