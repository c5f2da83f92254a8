"""Adaptive benchmarking: which cells to run next, and when the ranking of the whole grid is settled."""
